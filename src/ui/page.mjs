// SPDX-License-Identifier: MIT
// page: what the reader does, and when what is drawn.
import { Server } from './server.mjs';
import { Calls, caller, isCommand, matches } from './calls.mjs';
import { List } from './list.mjs';
import { Detail, undoDialog } from './detail.mjs';
import { showChange, showHealth, showNow, showRefused, showRow, tickAll } from './top.mjs';
import { clock, count, plain } from './text.mjs';

const ROW = 52; // pixels, as in the style
const DRAW = 80; // milliseconds between two drawings
const STAY = 700; // milliseconds that a call is shown before the next one is followed

const at = Object.fromEntries([...document.querySelectorAll('[id]')].map(node => [node.id, node]));
const calls = new Calls();
const filter = { text: '', tool: '', session: '', refused: false, changes: false };
let shown = []; // the calls that match, newest first
let pinned = null; // the call that the reader has chosen
let unseen = 0; // calls that came while the reader was further down
let followed = 0; // when the followed call was chosen

let side = wide('side') ?? at.detail.clientWidth > 900;

function wide(name) {
	try {
		const kept = sessionStorage.getItem(name);
		return kept === null ? null : kept === 'true';
	} catch {
		return null;
	}
}

const server = new Server(wrong => new Promise(done => {
	at['ask-title'].textContent = wrong ? 'The token was not accepted' : 'This server asks for a token';
	at.token.value = '';
	at.ask.showModal();
	at.token.focus();
	at.ask.querySelector('form').onsubmit = event => {
		event.preventDefault();
		at.ask.close();
		done(at.token.value.trim());
	};
}));
at.ask.addEventListener('cancel', event => event.preventDefault());

const act = {
	run: () => calls.run,
	side: () => side,
	following: () => !pinned,
	toggleSide() {
		side = !side;
		try {
			sessionStorage.setItem('side', side);
		} catch {
			// It is remembered until the page is left.
		}
		later();
	},
	pick(call) {
		pin(call, true);
	},
	close() {
		document.body.classList.remove('open');
		pinned = null;
		at.list.focus();
		later();
	},
	async stop(call) {
		call.stopping = true;
		later();
		try {
			await server.post(`calls/${call.call}/stop`);
		} catch (error) {
			call.stopping = false;
			notice(error.message);
			later();
		}
	},
	undo(call) {
		undoDialog(at.undo, call, server, change => {
			call.undone = change;
			if (detail.call === call)
				detail.load();
			later();
		}).catch(error => notice(error.message));
	},
};
const detail = new Detail(at.detail, server, act);
const list = new List(at.list, at.space, ROW, (row, call) => showRow(row, call, call === (pinned ?? detail.call)));

let noticed = 0;

function notice(text) {
	clearTimeout(noticed);
	at.notice.textContent = plain(text);
	at.notice.hidden = false;
	noticed = setTimeout(() => at.notice.hidden = true, 10000);
}

function pin(call, open) {
	if (call.gap)
		return;
	pinned = call;
	if (open)
		document.body.classList.add('open');
	const index = shown.indexOf(call);
	detail.show(call);
	later();
	if (index >= 0)
		list.reveal(index);
	at.list.setAttribute('aria-activedescendant', 'row-' + call.key);
}

/** What a reader who has chosen nothing wants to see: what runs, else the last thing that did something. */
function follow(now) {
	const call = calls.running(now).find(isCommand) ??
		calls.list.findLast(one => matches(one, {}) && !one.gap && (isCommand(one) || one.change || one.refused || one.ok === false)) ??
		calls.list.findLast(one => matches(one, {}) && !one.gap) ?? null;
	if (call !== detail.call && (now - followed > STAY || !detail.call)) {
		followed = now;
		detail.show(call);
	}
}

const options = { tool: new Set(), session: new Set() };

function addOption(name, value) {
	if (!value || options[name].has(value) || options[name].size > 200)
		return;
	options[name].add(value);
	const made = document.createElement('option');
	made.value = value;
	made.textContent = plain(value);
	at[name].append(made);
}

function choose() {
	filter.active = Boolean(filter.text || filter.tool || filter.session || filter.refused || filter.changes);
	shown = [];
	for (let i = calls.list.length; i-- > 0;)
		if (matches(calls.list[i], filter))
			shown.push(calls.list[i]);
}

let drawing = 0, drawn = 0;

function later() {
	drawing ||= setTimeout(() => requestAnimationFrame(draw), Math.max(0, drawn + DRAW - performance.now()));
}

function draw() {
	drawing = 0;
	drawn = performance.now();
	if (!known)
		return;
	const now = Date.now();
	const before = shown[0];
	choose();
	const fresh = before ? shown.indexOf(before) : 0;
	unseen = at.list.scrollTop > ROW ? unseen + Math.max(0, fresh) : 0;
	list.show(shown);
	at.news.hidden = !unseen;
	at.news.textContent = `↑ ${count(unseen, 'new call')}`;
	const all = calls.list.reduce((n, call) => n + !call.gap, 0);
	const here = shown.reduce((n, call) => n + !call.gap, 0);
	at.total.textContent = (filter.active ? `${here.toLocaleString('en')} of ${count(all, 'call')}` : count(here, 'call')) +
		(calls.forgotten ? `, ${calls.forgotten.toLocaleString('en')} earlier ones left out` : '');
	at.none.hidden = shown.length > 0;
	at.none.textContent = filter.active ? 'No call matches.' : 'Nothing has happened yet.\nCalls appear here as the agent makes them.';
	showNow(at.now, calls, now, act);
	showChange(at.changed, calls, act);
	showRefused(at.refused, calls, act);
	if (!pinned)
		follow(now);
	detail.draw();
	tickAll(now);
}

function setFilter(name, value) {
	filter[name] = value;
	at.list.scrollTop = 0;
	later();
}

at.search.addEventListener('input', () => setFilter('text', at.search.value.trim().toLowerCase()));
at.tool.addEventListener('change', () => setFilter('tool', at.tool.value));
at.session.addEventListener('change', () => setFilter('session', at.session.value));
for (const name of ['changes', 'refused'])
	at['only-' + name].addEventListener('click', () => {
		setFilter(name, !filter[name]);
		at['only-' + name].setAttribute('aria-pressed', filter[name]);
	});
at.list.addEventListener('click', event => {
	const row = event.target.closest('.row');
	if (row)
		pin(row.call, true);
});
at.list.addEventListener('scroll', () => {
	if (at.list.scrollTop <= ROW && unseen)
		later();
}, { passive: true });
at.news.addEventListener('click', () => {
	at.list.scrollTop = 0;
	later();
});
at.help.addEventListener('click', () => at.keys.showModal());
at['keys-close'].addEventListener('click', () => at.keys.close());
document.addEventListener('click', event => {
	if (at.force.open && !at.force.contains(event.target))
		at.force.open = false;
});
addEventListener('resize', later);

function move(by) {
	const from = shown.indexOf(pinned ?? detail.call);
	for (let i = from < 0 ? 0 : from + by; i >= 0 && i < shown.length; i += Math.sign(by))
		if (!shown[i].gap)
			return pin(shown[i], document.body.classList.contains('open'));
	return undefined;
}

function moveTo(end) {
	pin(end < 0 ? shown.findLast(call => !call.gap) : shown.find(call => !call.gap));
}

const keys = {
	j: () => move(1),
	k: () => move(-1),
	g: () => shown.length && moveTo(1),
	G: () => shown.length && moveTo(-1),
	'/': () => at.search.focus(),
	c: () => at['only-changes'].click(),
	r: () => at['only-refused'].click(),
	s: () => (detail.call?.running || detail.call?.jobRuns) && !detail.call.stopping && act.stop(detail.call),
	u: () => detail.call?.change && !detail.call.undone && act.undo(detail.call),
	d: () => act.toggleSide(),
	'?': () => at.keys.showModal(),
	Escape: () => {
		at.force.open = false;
		act.close();
	},
};
const inList = {
	ArrowDown: keys.j, ArrowUp: keys.k, Home: keys.g, End: keys.G,
	PageDown: () => move(Math.max(1, Math.floor(at.list.clientHeight / ROW) - 1)),
	PageUp: () => move(-Math.max(1, Math.floor(at.list.clientHeight / ROW) - 1)),
	Enter: () => {
		if (detail.call)
			pin(detail.call, true);
		at.detail.focus();
	},
};

document.addEventListener('keydown', event => {
	const target = event.target;
	if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.('dialog'))
		return;
	if (target === at.search && event.key === 'Escape') {
		at.search.value = '';
		setFilter('text', '');
		at.list.focus();
		return;
	}
	if (target === at.search && (event.key === 'ArrowDown' || event.key === 'Enter')) {
		at.list.focus();
		event.preventDefault();
		return;
	}
	if (['INPUT', 'SELECT'].includes(target.tagName))
		return;
	const action = (target === at.list || target === document.body ? inList[event.key] : null) ?? keys[event.key];
	if (action) {
		event.preventDefault();
		action();
	}
});

let goneSince = 0, known = false; // known: the server has told what there is

server.follow({
	health: health => showHealth(health, at),
	live() {
		goneSince = 0;
		known = true;
		at.link.className = 'live';
		at.link.textContent = 'Live';
		at.notice.hidden = true;
		later();
	},
	gone(why) {
		goneSince ||= Date.now();
		at.link.className = 'gone';
		at.link.textContent = 'Not connected';
		clearTimeout(noticed);
		at.notice.textContent = `${plain(why)} Nothing new is shown since ${clock(goneSince)}. Trying again…`;
		at.notice.hidden = false;
	},
	event(event) {
		const call = calls.apply(event);
		addOption('tool', call.tool);
		if (!call.gap && matches(call, {}))
			addOption('session', caller(call));
		if (call === detail.call)
			detail.event(event);
		later();
	},
});
at.link.textContent = 'Connecting…';
setInterval(later, 1000);
