// SPDX-License-Identifier: MIT
// page: what the reader does, and when what is drawn.
import { Server } from './server.mjs';
import { Calls, caller, hasJustEnded, hasReason, isCommand, isRunning, matches } from './calls.mjs';
import { List } from './list.mjs';
import { Detail, undoDialog } from './detail.mjs';
import { isPressed, showChange, showHealth, showNow, showRefused, showRow, tickAll } from './top.mjs';
import { clock, count, plain } from './text.mjs';

const NARROW = matchMedia('(max-width: 760px)');
const DRAW = 80; // milliseconds between two drawings
const rowHeight = () => NARROW.matches ? 50 : 26; // pixels, as in the style
const heightOf = call => rowHeight() + (hasReason(call) ? 18 : 0);
const STAY = 700; // milliseconds that a call is shown before the next one is followed

const at = Object.fromEntries([...document.querySelectorAll('[id]')].map(node => [node.id, node]));
const calls = new Calls();
const filter = { text: '', tool: '', session: '', refused: false, changes: false };
let shown = []; // the calls that match, newest first
let pinned = null; // the call that the reader has chosen
let unseen = 0; // calls that came while the reader was further down
let followed = 0; // when the followed call was chosen

/** What the reader wants, for as long as the tab is open. */
const wish = {
	get(name) {
		try {
			return sessionStorage.getItem(name);
		} catch {
			return null;
		}
	},
	set(name, value) {
		try {
			sessionStorage.setItem(name, value);
		} catch {
			// It is remembered until the page is left.
		}
		return value;
	},
};

let side = wish.get('side') ? wish.get('side') === 'true' : at.detail.clientWidth > 900;

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
		side = wish.set('side', !side);
		later();
	},
	keep: {
		wrap: wish.get('wrap') !== 'false',
		toggleWrap() {
			return this.wrap = wish.set('wrap', !this.wrap);
		},
	},
	pick(call) {
		pin(call, true);
	},
	close() {
		document.body.classList.remove('open');
		pinned = null;
		name(null);
		at.list.focus();
		later();
	},
	async stop(call) {
		if (!isRunning(call))
			return;
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
	undo(call, path) {
		undoDialog(at.undo, call, path, server, () => detail.load()).catch(error => notice(error.message));
	},
};
const detail = new Detail(at.detail, server, act);
const list = new List(at.list, at.space, (row, call) => showRow(row, call, call === (pinned ?? detail.call)));

let noticed = 0;

function notice(text) {
	clearTimeout(noticed);
	at.notice.textContent = plain(text);
	at.notice.hidden = false;
	noticed = setTimeout(() => at.notice.hidden = true, 10000);
}

/** Let the address of the page name a call. */
function name(call) {
	wanted = null;
	history.replaceState(null, '', call?.call && call.run === calls.run ? '#call=' + call.call : location.pathname + location.search);
}

/** The call that the address names is shown once it is known. */
let wanted = null;

function readAddress() {
	wanted = Number(/^#call=(\d+)$/.exec(location.hash)?.[1]) || null;
}

function showWanted() {
	const call = calls.find(calls.run + ':' + wanted);
	if (call)
		pin(call, true);
}

function pin(call, open) {
	if (call.gap)
		return;
	pinned = call;
	name(call);
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
	const call = calls.list.findLast(one => isRunning(one) && isCommand(one)) ??
		calls.list.findLast(one => matches(one, {}) && !one.gap && (isCommand(one) || one.change || one.refused || one.ok === false)) ??
		calls.list.findLast(one => matches(one, {}) && !one.gap) ?? null;
	if (detail.call && (isPressed(at.detail) || hasJustEnded(detail.call, now)))
		return;
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
	unseen = at.list.scrollTop > rowHeight() ? unseen + Math.max(0, fresh) : 0;
	at.news.hidden = !unseen;
	at.news.textContent = `↑ ${count(unseen, 'new call')}`;
	const all = calls.list.reduce((n, call) => n + (!call.gap && matches(call, {})), 0);
	const here = shown.reduce((n, call) => n + !call.gap, 0);
	at.total.textContent = (filter.active ? `${here.toLocaleString('en')} of ${count(all, 'call')}` : count(here, 'call')) +
		(calls.forgotten ? `, ${calls.forgotten.toLocaleString('en')} earlier ones left out`
			: calls.partly ? '; earlier ones are not kept' : started ? ` since the server was started (${clock(started)})` : '');
	at.none.hidden = shown.length > 0;
	at.none.textContent = filter.active ? 'No call matches.' : 'No calls yet.';
	at.start.hidden = all > 0;
	at.detail.hidden = all === 0;
	list.show(shown, heightOf); // it is there now
	if (wanted)
		showWanted();
	at.follow.setAttribute('aria-pressed', !pinned);
	at.timeline.classList.toggle('one', [...options.session].filter(one => !one.startsWith('uid ')).length < 2);
	showNow(at.now, calls, now, act);
	showChange(at.changed, calls, journal, act);
	showRefused(at.refused, calls, act);
	at.cards.hidden = at.now.hidden && at.changed.hidden && at.refused.hidden;
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
	if (at.list.scrollTop <= rowHeight() && unseen)
		later();
}, { passive: true });
at.news.addEventListener('click', () => {
	at.list.scrollTop = 0;
	later();
});
at.follow.addEventListener('click', () => pinned ? act.close() : detail.call && pin(detail.call));
addEventListener('hashchange', () => {
	readAddress();
	later();
});
at.others.addEventListener('change', () => location.pathname = `/${at.others.value}/ui`);

/** Set the width of the timeline, in hundredths of the page. */
function setWidth(percent) {
	const kept = wish.set('width', Math.min(80, Math.max(20, percent)));
	document.body.style.setProperty('--list', kept + '%');
	at.split.setAttribute('aria-valuenow', Math.round(kept));
	later();
}

at.split.addEventListener('pointerdown', event => {
	at.split.setPointerCapture(event.pointerId);
	event.preventDefault();
});
at.split.addEventListener('pointermove', event => {
	if (at.split.hasPointerCapture(event.pointerId))
		setWidth(event.clientX / innerWidth * 100);
});
at.split.addEventListener('keydown', event => {
	const by = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
	if (by)
		setWidth(Number(wish.get('width') ?? 54) + by);
});
setWidth(Number(wish.get('width') ?? 54));

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
	s: () => detail.call && !detail.call.stopping && act.stop(detail.call),
	u: () => detail.call?.change && !detail.call.undone && act.undo(detail.call),
	d: () => act.toggleSide(),
	f: () => detail.find(),
	'?': () => at.keys.showModal(),
	Escape: () => {
		at.force.open = false;
		act.close();
	},
};
const inList = {
	ArrowDown: keys.j, ArrowUp: keys.k, Home: keys.g, End: keys.G,
	PageDown: () => move(Math.max(1, Math.floor(at.list.clientHeight / rowHeight()) - 1)),
	PageUp: () => move(-Math.max(1, Math.floor(at.list.clientHeight / rowHeight()) - 1)),
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
let started = 0; // when the server was
let journal = null; // its last changes, and how many there are

let askedJournal = 0;

/** Ask the journal what there is, and which of it has been undone. */
async function askJournal() {
	askedJournal = Date.now();
	journal = await server.get('changes?limit=1000').catch(() => null);
	calls.setUndone(journal?.changes ?? []);
	later();
}

let mine = 0; // the pid of the one that is shown

/** The other sidecars of this user, if what serves the page knows them. */
async function askOthers(pid = mine) {
	mine = pid;
	const { sidecars } = await server.get('/' + server.all);
	at.others.replaceChildren(...sidecars.map(one => {
		const made = document.createElement('option');
		made.value = one.pid;
		made.textContent = plain(`${one.workspace.split('/').at(-1) || '/'} · ${one.client || one.kind} ${one.pid}`);
		made.selected = one.pid === pid;
		return made;
	}));
	at.others.hidden = sidecars.length < 2 || !sidecars.some(one => one.pid === pid);
	at.where.hidden = !at.others.hidden;
}

server.follow({
	async health(health) {
		showHealth(health, at);
		started = Date.now() - health.uptimeMs;
		if (health.journal.on)
			await askJournal();
		else
			journal = { changes: [], total: 0 };
		if (server.all)
			await askOthers(health.pid);
	},
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
		// An undo says which change it is, and the journal of which.
		if (event.type === 'change' && Date.parse(event.time) > askedJournal && (call.tool === 'undo' || !event.call))
			askJournal();
		later();
	},
});
readAddress();
at.link.textContent = 'Connecting…';
setInterval(later, 1000);
setInterval(() => {
	if (server.all && !document.hidden && document.activeElement !== at.others)
		askOthers().catch(() => {}); // it is said that there is no connection
}, 10000);
