// SPDX-License-Identifier: MIT
// top: what is in force, in words; and the three things to see at a glance: what runs, what changed, what was refused.
import { button, counts, el, say, told } from './view.mjs';
import { caller, changeWords, hasReason, isCommand, isRunning, lastLine, lines, mainFile, outcome, reason } from './calls.mjs';
import { ago, clock, count, duration, elapsed, shortPaths, size, plain } from './text.mjs';

/** What is in force: [chip, whether it holds something back, title, what it means]. */
export function inForce(health) {
	const { sandbox, journal } = health;
	const weak = sandbox.protections.filter(one => !one.inForce && one.note !== 'not asked for');
	const offline = sandbox.protections.some(one => one.name === 'network-off' && one.inForce);
	const list = [];
	if (health.readOnly)
		list.push(['Read-only', true, 'Read-only', 'Nothing in the workspace may be changed.']);
	list.push(sandbox.mode === 'off'
		? ['No sandbox', false, 'No sandbox', `Commands can do what the user of the server can do (${sandbox.why}).`]
		: ['Sandbox', true, 'Sandbox: ' + sandbox.mode, (sandbox.mode === 'strict'
			? 'Commands can write only the workspace and a private /tmp, read little else, and have no network.'
			: 'Commands can write only the workspace and ' + (sandbox.namespaces ? 'a private /tmp' : 'their $TMPDIR') +
			'. They can read what the user of the server can read.') +
			(weak.length ? ' Not in force: ' + weak.map(one => `${one.name} (${one.note})`).join(', ') + '.' : '')]);
	list.push(offline ? ['Network off', true, 'Network: off', 'Commands cannot reach the network.']
		: ['Network open', false, 'Network: open', 'Commands can reach the network. --network none takes it away, in a sandbox.']);
	list.push(...{
		off: [['No policy', false, 'Command policy: off', 'No command is refused for its text.']],
		default: [['Policy', true, 'Command policy: default', 'Commands of models that the rules name (sudo, curl, rm -rf outside …) are refused before they run. This guards honest models; it is not a wall.']],
		strict: [['Strict policy', true, 'Command policy: strict', 'Commands of models are refused if the rules name them, and if they are more than one simple command.']],
	}[health.commandPolicy] ?? []);
	list.push(journal.on ? ['Undo' + (journal.days ? ' ' + count(journal.days, 'day') : ''), true, 'Undo: on',
		`What calls change can be taken back${journal.days ? ' for ' + count(journal.days, 'day') : ''}; at most ${size(journal.bytes)} are kept.`]
		: ['No undo', false, 'Undo: off', 'Changes cannot be taken back: ' + journal.why]);
	list.push([null, true, 'What runs later', health.sinks], [null, true, 'What agents do not see', health.hidden]);
	list.push([null, true, 'Secrets', health.scrub ? 'Secrets that are known by their form are taken out of what models see of commands and searches, and of everything on this page.'
		: 'Models see output as it is (--scrub off). On this page secrets that are known by their form are taken out.']);
	list.push([null, true, 'Server', `sidecar ${health.version}, ` + [health.socket, health.tcp].filter(Boolean).join(', ') +
		(health.auth === 'required' ? ', with a token' : '')]);
	return list.filter(one => one[3]);
}

export function showHealth(health, at) {
	const parts = health.workspace.split('/').filter(Boolean);
	document.title = plain(parts.at(-1) ?? '/') + ' · sidecar';
	at.where.replaceChildren();
	say(at.where, parts.at(-1) ?? '/', true);
	at.above.replaceChildren();
	say(at.above, health.workspace, true);
	showStart(at.start, health);
	const list = inForce(health);
	at.chips.replaceChildren(...list.filter(one => one[0]).map(([chip, holds]) => el('span', holds ? 'chip' : 'chip loose', chip)));
	at.forces.replaceChildren(...list.map(([, , title, words]) => el('div', '', el('h3', '', title), told('p', '', words))));
}

/** What to type to see something here. */
function showStart(node, health) {
	const line = text => {
		const copy = button('Copy', '', () => navigator.clipboard.writeText(text).then(() => copy.textContent = 'Copied'));
		return el('div', 'line', told('code', '', text, true), globalThis.isSecureContext ? copy : '');
	};
	const quote = text => /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
	const to = health.socket ? '--socket ' + quote(health.socket) : '--url http://' + health.tcp;
	node.replaceChildren(el('h2', '', 'Nothing has happened yet'), el('p', '', 'Calls appear here as they are made. Make one in a terminal:'),
		line(`sidecar run ${to} -- ls -l`), el('p', '', 'Connect an agent to this workspace (claude, codex, gemini, opencode, cursor, vscode or qwen):'),
		line(`cd ${quote(health.workspace)} && sidecar setup claude --only`),
		health.tcp ? el('p', '', 'A client of the Model Context Protocol over HTTP:') : '', health.tcp ? line(`http://${health.tcp}/mcp`) : '');
}

/** A time that goes on: how long ago it was, or since when something runs. */
export function ticking(kind, ms) {
	const made = el('time');
	made.dataset[kind] = ms;
	tick(made, Date.now());
	return made;
}

function tick(node, now) {
	const text = node.dataset.ago ? ago(now - node.dataset.ago) : elapsed(now - node.dataset.since);
	if (node.textContent !== text)
		node.textContent = text;
}

export function tickAll(now) {
	document.querySelectorAll('time[data-ago], time[data-since]').forEach(node => tick(node, now));
}

// What the pointer was pressed on, until it is released and the click has come.
let pressed = null;
globalThis.document?.addEventListener('pointerdown', event => pressed = event.target, true);
for (const released of ['pointerup', 'pointercancel'])
	globalThis.document?.addEventListener(released, () => setTimeout(() => pressed = null), true);

/** Whether the pointer is pressed here: then nothing may be exchanged under it. */
export function isPressed(node) {
	return pressed !== null && node.contains(pressed);
}

/** Write a part again only if what it shows is something else: what is focused stays focused. */
export function refresh(node, signature, make) {
	if (node.signature === signature || isPressed(node))
		return;
	node.signature = signature;
	node.replaceChildren(...make());
}

/** A card: what it is about, when, the call that it leads to, a line about that, and what can be done. */
function card(title, when, subject, call, about, action, act) {
	const name = call ? button('', 'link mono cut', () => act.pick(call)) : el('div', 'mono cut');
	name.title = plain(subject);
	return [el('h2', '', title, el('span', '', when)), say(name, subject, true), el('div', 'soft cut', ...about), el('div', 'act', action)];
}

/** The command that runs, the oldest first, before what is in the background; else the last one. */
export function showNow(node, calls, now, act) {
	const here = calls.running(now), call = here.find(one => !one.jobRuns) ?? here[0] ?? calls.list.findLast(one => isCommand(one) && !one.gap);
	const runs = here.length > 0;
	node.hidden = !call;
	node.className = runs ? 'running' : '';
	if (!call)
		return;
	if (runs)
		call.shown = true;
	const words = [here.length > 1 ? `1 of ${here.length}` : '', call.jobRuns ? 'in the background' : isRunning(call) ? '' : outcome(call)[1]]
		.filter(Boolean).join(' · ');
	refresh(node, [call.key, here.length, call.stopping, call.jobRuns, isRunning(call), outcome(call)[1]].join(), () => card(
		runs ? 'Running now' : 'Last command', isRunning(call) ? ticking('since', call.time) : ticking('ago', call.ended ?? call.time),
		call.subject || call.tool, call, [words, el('span', words ? 'says after' : 'says')], runs ? stopButton(call, act) : '', act));
	const says = node.querySelector('.says'), text = lastLine(call);
	if (isPressed(node) || says.said === text)
		return;
	says.said = text;
	says.replaceChildren();
	say(says, text, true);
}

/** It stops the call that it was made for, also if that is shown no more. One that has just ended has it to keep the place. */
export function stopButton(call, act) {
	const made = button(!isRunning(call) ? 'Ended' : call.stopping ? 'Stopping…' : 'Stop', 'stop', () => act.stop(call));
	made.disabled = Boolean(call.stopping || !isRunning(call));
	made.setAttribute('aria-label', 'Stop ' + plain(call.subject || call.tool));
	return made;
}

/** The last change; if no call that is known has made one, what the journal has: the server may have been started again. */
export function showChange(node, calls, journal, act) {
	const known = calls.newest('changed'), earlier = journal?.changes.at(-1);
	const call = known ?? (earlier && { change: earlier.id, tool: earlier.tool, subject: earlier.subject, files: [],
		session: earlier.session, undone: earlier.undone_by, ended: Date.parse(earlier.time), run: calls.run });
	node.hidden = !call;
	node.className = call && !call.undone ? outcome(call)[0] : '';
	refresh(node, [call?.key, call?.change, call?.undone, call?.count, call?.running, journal?.total].join(), () => {
		if (!call)
			return [];
		const name = (mainFile(call) ?? call.files[0])?.path ?? (call.subject || call.tool);
		return card('Last change', ticking('ago', call.ended ?? call.time), name + (call.count > 1 ? ` and ${call.count - 1} more` : ''), known,
			[call.undone ? `undone by change ${call.undone} · ` : '', known ? changeWords(call) + ' ' : '', 'by ',
				told('span', '', isCommand(call) ? call.subject : call.tool, true), ' ', counts(...lines(call)),
				known ? '' : ` · ${count(journal.total, 'change')} in the journal`],
			call.undone || call.run !== calls.run ? '' : button('Undo…', '', () => act.undo(call)), act);
	});
}

export function showRefused(node, calls, act) {
	const call = calls.newest('refused');
	const all = call ? calls.list.reduce((n, one) => n + (one.refusals?.length ?? 0), 0) : 0;
	node.hidden = !call;
	node.className = 'refused';
	refresh(node, [call?.key, all].join(), () => {
		const last = call?.refusals.at(-1);
		return last ? card(last.done ? 'Guarded, and changed' : 'Last refused', ticking('ago', call.refused),
			last.subject || call.subject || call.tool, call, [told('span', '', shortPaths(last.why), true)],
			all > 1 ? el('span', 'soft', `${all.toLocaleString('en')} in all`) : '', act) : [];
	});
}

/** One row of the timeline: state, subject with how much, tool, session, how long, when; below them why it failed. */
export function showRow(row, call, selected) {
	const [look, state] = outcome(call), words = call.undone ? 'undone' : state, why = reason(call);
	const below = hasReason(call);
	const signature = [look, words, why, call.subject, call.ms, call.tool, call.count].join();
	row.id = 'row-' + call.key;
	row.setAttribute('aria-selected', selected);
	if (row.signature === signature)
		return;
	row.signature = signature;
	row.className = 'row ' + look + (call.undone ? ' undone' : '');
	row.setAttribute('role', 'option');
	row.call = call;
	const by = caller(call), cell = (name, text) => told('span', name + ' cut', text, true);
	if (call.gap)
		return row.replaceChildren(cell('what', call.subject));
	row.title = plain([call.subject, why].filter(Boolean).join('\n'));
	row.replaceChildren(cell('how', words),
		el('span', 'what', cell('mono', call.subject || (call.change ? `change ${call.change}` : call.tool || `call ${call.call}`)),
			why && !below && cell('why', why), call.change ? counts(...lines(call)) : ''),
		cell('tool', call.partly ? 'its start is not kept' : call.tool), cell('who', /^uid -?\d+$/.test(by) ? '' : by),
		el('span', 'took', look === 'running' ? ticking('since', call.time) : call.ms >= 100 ? duration(call.ms) : ''),
		el('span', 'when', clock(call.time)), below ? cell('why', shortPaths(why)) : '');
	return undefined;
}
