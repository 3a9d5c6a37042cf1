// SPDX-License-Identifier: MIT
// top: what is in force, in words; and the three things to see at a glance: what runs, what changed, what was refused.
import { button, counts, el, say, told } from './view.mjs';
import { caller, changeWords, isCommand, lastLine, lines, mainFile, matches, outcome } from './calls.mjs';
import { ago, count, duration, elapsed, size, plain } from './text.mjs';

const MOST_RUNNING = 3; // commands on the card

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
	list.push([null, true, 'Secrets', health.scrub ? 'Secrets that are known by their form are taken out of what models see of commands and searches, and of everything on this page.'
		: 'Models see output as it is (--scrub off). On this page secrets that are known by their form are taken out.']);
	list.push([null, true, 'Server', `sidecar ${health.version}, ` + [health.socket, health.tcp].filter(Boolean).join(', ') +
		(health.auth === 'required' ? ', with a token' : '')]);
	return list;
}

export function showHealth(health, at) {
	const parts = health.workspace.split('/').filter(Boolean);
	document.title = plain(parts.at(-1) ?? '/') + ' · sidecar';
	at.where.replaceChildren();
	say(at.where, parts.at(-1) ?? '/', true);
	at.above.replaceChildren();
	say(at.above, health.workspace, true);
	const list = inForce(health);
	at.chips.replaceChildren(...list.filter(one => one[0]).map(([chip, holds]) => el('span', holds ? 'chip' : 'chip loose', chip)));
	at.forces.replaceChildren(...list.map(([, , title, words]) => el('div', '', el('h3', '', title), told('p', '', words))));
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

/** Write a part again only if what it shows is something else: what is focused stays focused. */
export function refresh(node, signature, make) {
	if (node.signature === signature)
		return;
	node.signature = signature;
	node.replaceChildren(...make());
}

function link(call, text, act) {
	const made = button('', 'link mono cut', () => act.pick(call));
	say(made, text, true);
	made.title = plain(text);
	return made;
}

function heading(title, ...more) {
	return el('h2', '', title, el('span', '', ...more));
}

export function showNow(node, calls, now, act) {
	const running = calls.running(now);
	const last = running.length ? null : calls.list.findLast(call => !call.gap && matches(call, {}));
	node.className = running.length ? 'running' : '';
	refresh(node, running.map(call => [call.key, call.stopping, call.jobRuns].join()).join() + '|' + last?.key + last?.running, () => running.length
		? [heading('Running now', running.length > 1 ? count(running.length, 'call') : ''),
			...running.slice(0, MOST_RUNNING).map(call => el('div', 'line', el('div', '', link(call, call.subject || call.tool, act),
				el('div', 'soft cut', ticking('since', call.time), call.jobRuns ? ' · in the background' : '', el('span', 'says'))),
			stopButton(call, act))),
			running.length > MOST_RUNNING ? el('div', 'soft', `and ${running.length - MOST_RUNNING} more`) : '']
		: [heading('Running now'), el('div', '', 'Nothing is running.'), last
			? el('div', 'soft cut', 'Last: ', told('span', '', `${last.tool} ${last.subject}`, true), ', ', ticking('ago', last.ended ?? last.time))
			: el('div', 'soft', 'No call yet.')]);
	node.querySelectorAll('.says').forEach((says, i) => {
		const text = lastLine(running[i]);
		if (says.said !== text) {
			says.said = text;
			says.replaceChildren(text ? ' · ' : '');
			say(says, text, true);
		}
	});
}

export function stopButton(call, act) {
	const made = button(call.stopping ? 'Stopping…' : 'Stop', 'stop', () => act.stop(call));
	made.disabled = Boolean(call.stopping);
	made.setAttribute('aria-label', 'Stop ' + plain(call.subject || call.tool));
	return made;
}

export function showChange(node, calls, act) {
	const call = calls.newest('changed');
	node.className = call ? 'changed' : '';
	refresh(node, [call?.key, call?.undone, call?.count, call?.running, calls.partly].join(), () => {
		if (!call)
			return [heading('Last change'), el('div', '', calls.partly ? 'None in the calls that are kept.' : 'Nothing was changed yet.')];
		const name = (mainFile(call) ?? call.files[0])?.path ?? call.subject;
		return [heading('Last change', ticking('ago', call.ended ?? call.time)), el('div', 'line', el('div', '',
			link(call, name + (call.count > 1 ? ` and ${call.count - 1} more` : ''), act),
			el('div', 'soft cut', changeWords(call) + ' by ', told('span', '', isCommand(call) ? call.subject : call.tool, true),
				call.undone ? `, undone by change ${call.undone}` : '', ' ', counts(...lines(call)))),
		call.undone || call.run !== calls.run ? '' : button('Undo…', '', () => act.undo(call)))];
	});
}

export function showRefused(node, calls, act) {
	const call = calls.newest('refused');
	node.className = call ? 'refused' : '';
	const all = call ? calls.list.reduce((n, one) => n + (one.refusals?.length ?? 0), 0) : 0;
	const last = call?.refusals.at(-1);
	refresh(node, [call?.key, all, calls.partly].join(), () => {
		if (!call)
			return [heading('Last refused'), el('div', '', calls.partly ? 'None in the calls that are kept.' : 'Nothing was refused.')];
		const why = told('div', 'soft cut', last.why, true);
		why.title = plain(last.why);
		return [heading('Last refused', all > 1 ? `${all.toLocaleString('en')} in all · ` : '', ticking('ago', call.refused)),
			el('div', 'line', el('div', '', link(call, last.subject || call.subject || call.tool, act), why))];
	});
}

/** One row of the timeline. */
export function showRow(row, call, selected) {
	const [look, words] = outcome(call);
	const signature = [look, words, call.subject, call.ms, call.tool, call.count].join();
	row.id = 'row-' + call.key;
	row.setAttribute('aria-selected', selected);
	if (row.signature === signature)
		return;
	row.signature = signature;
	row.className = 'row ' + look;
	row.setAttribute('role', 'option');
	row.call = call;
	const by = caller(call);
	const who = [call.partly ? 'its start is not kept' : call.tool, /^uid -?\d+$/.test(by) ? '' : by].filter(Boolean).join(' · ');
	row.replaceChildren(
		el('div', '', told('span', 'what mono cut', call.subject || (call.change ? `change ${call.change}` : call.tool || `call ${call.call}`), true),
			told('span', 'how cut', words, true)),
		el('div', 'more', told('span', 'cut', call.gap ? '' : who, true), call.change ? counts(...lines(call)) : '',
			look === 'running' ? ticking('since', call.time) : call.ms >= 100 ? el('span', '', duration(call.ms)) : '',
			call.gap ? '' : el('span', '', new Date(call.time).toLocaleTimeString('en-GB'))));
}
