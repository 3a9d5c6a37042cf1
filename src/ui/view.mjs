// SPDX-License-Identifier: MIT
// view: elements made of text. What comes from outside becomes text nodes and nothing else.
import { pieces, size, duration, clock } from './text.mjs';
import { parseDiff, pairs, differing } from './diff.mjs';

const MOST_LINES = 1500; // of a diff, before the reader asks for more

/** An element with classes; children are elements, and strings that are our own. */
export function el(tag, classes, ...children) {
	const made = document.createElement(tag);
	if (classes)
		made.className = classes;
	made.append(...children.filter(child => child !== null && child !== undefined && child !== false));
	return made;
}

/** A button; `act` gets the button. */
export function button(label, classes, act) {
	const made = el('button', classes, label);
	made.type = 'button';
	made.addEventListener('click', event => {
		event.stopPropagation();
		act(made);
	});
	return made;
}

/** Add text from outside: odd characters are named, so that none can hide or reorder the others. */
export function say(to, text, oneLine) {
	for (const [piece, odd] of pieces(text, oneLine))
		to.append(odd ? el('span', 'odd', piece) : piece);
	return to;
}

/** An element with text from outside. */
export function told(tag, classes, text, oneLine) {
	return say(el(tag, classes), text, oneLine);
}

export function part(title, ...children) {
	return el('div', 'part', el('h3', '', ...[title].flat()), ...children);
}

/** Facts that are known, as [name, value]. */
export function facts(list) {
	const made = el('dl', 'facts');
	for (const [name, value] of list)
		if (value !== null && value !== undefined && value !== '')
			made.append(el('div', '', el('dt', '', name), told('dd', '', value, true)));
	return made;
}

/** What a call cost and left. */
export function receipt(call) {
	return facts([
		['Started', clock(call.time)],
		['Took', call.ms === undefined ? '' : duration(call.ms)],
		['CPU time', call.cpuMs === undefined ? '' : duration(call.cpuMs)],
		['Peak memory', call.memory ? size(call.memory) : ''],
		['Processes left', call.survivors === undefined ? '' : call.survivors ? String(call.survivors) : 'none'],
		['Exit code', call.exitCode === null || call.exitCode === undefined ? '' : String(call.exitCode)],
		['Signal', call.signal],
		['Result', call.bytes ? size(call.bytes) : ''],
		['Change', call.change ? String(call.change) : ''],
		['Job', call.job ? String(call.job) : ''],
		['Session', call.session],
		['Caller', call.client],
		['By', call.front === 'mcp' ? 'MCP' : call.front ? 'HTTP' : ''],
		['Call', call.call ? String(call.call) : ''],
	]);
}

/** The members of an object, by name. */
export function members(object) {
	const made = el('dl', 'args');
	for (const [name, value] of Object.entries(object)) {
		const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
		made.append(told('dt', '', name, true), el('dd', '', told(text.includes('\n') || text.length > 80 ? 'pre' : 'code', '', text)));
	}
	return made;
}

/** The arguments of a call, without the one that is its title. */
export function args(object, subject) {
	const made = members(Object.fromEntries(Object.entries(object ?? {}).filter(one => one[1] !== subject)));
	return made.firstChild ? [part('Arguments', made)] : [];
}

/** "+3 −1" */
export function counts(added, removed) {
	return added || removed ? el('span', 'counts', added ? el('span', 'plus', '+' + added) : '', ' ',
		removed ? el('span', 'minus', '−' + removed) : '') : '';
}

/** `undo(file)` takes one of them back; or false. */
export function fileList(files, more, undo) {
	const made = el('ul', 'files');
	for (const file of files)
		made.append(el('li', file.kind, el('b', '', file.kind), told('span', 'mono', file.path, true),
			file.runs_later ? el('span', 'soft', 'runs later, outside') : '', counts(file.added, file.removed),
			undo && button('Undo…', 'link', () => undo(file))));
	if (more > 0)
		made.append(el('li', 'soft', `and ${more} more`));
	return made;
}

/** The text of a line, with the part that differs marked. */
function lineText(to, text, from, end) {
	if (from === undefined)
		return say(to, text);
	say(to, text.slice(0, from));
	to.append(told('mark', '', text.slice(from, end)));
	return say(to, text.slice(end));
}

function cell(line, classes, marks) {
	return lineText(el('td', classes), line.text, ...marks);
}

const LOOK = { '+': 'add', '-': 'del', ' ': '', '\\': 'soft' };

/** What differs between lines that were replaced, by line. */
function marksOf(lines) {
	const marks = new Map();
	for (const [a, b] of pairs(lines)) {
		const found = a && b && a !== b && differing(a.text, b.text);
		if (found) {
			marks.set(a, [found[0], found[1]]);
			marks.set(b, [found[0], found[2]]);
		}
	}
	return line => marks.get(line) ?? [];
}

function number(n, more = '') {
	return el('td', 'n' + more, n === null ? '' : String(n));
}

function inline(hunk, body) {
	const marks = marksOf(hunk.lines);
	for (const line of hunk.lines) {
		const look = LOOK[line.kind];
		body.append(el('tr', look, number(line.old), number(line.now), el('td', 'sign', line.kind === '\\' ? '' : line.kind),
			cell(line, '', marks(line))));
	}
}

function beside(hunk, body) {
	const marks = marksOf(hunk.lines);
	for (const [a, b] of pairs(hunk.lines))
		body.append(el('tr', '',
			...(a ? [number(a.old, ' ' + LOOK[a.kind]), cell(a, LOOK[a.kind], marks(a))] : [el('td', 'n void'), el('td', 'void')]),
			...(b ? [number(b.now, ' split ' + LOOK[b.kind]), cell(b, LOOK[b.kind], marks(b))] : [el('td', 'n void split'), el('td', 'void')])));
}

function oneFile(file, side, room) {
	const title = told('div', '', file.note || (file.is ?? file.was), true);
	const made = el('div', 'diff', title);
	if (file.was && file.is && file.was !== file.is)
		title.append(told('span', 'soft', 'was ' + file.was, true));
	if (file.hunks.length)
		title.append(counts(file.added, file.removed));
	const body = el('tbody');
	const columns = side ? ['n', '', 'n', ''] : ['n', 'n', 'sign', ''];
	// A table with fixed columns takes their widths from its first row.
	const widths = el('tr', '', ...columns.map(name => el('td', name)));
	widths.setAttribute('aria-hidden', 'true');
	body.append(widths);
	let shown = 0;
	file.hunks.forEach((hunk, i) => {
		if (shown >= room)
			return;
		if (i) {
			const skip = el('td', '', '⋯');
			skip.colSpan = 4;
			body.append(el('tr', 'skip', skip));
		}
		const lines = hunk.lines.slice(0, room - shown);
		shown += lines.length;
		(side ? beside : inline)({ lines }, body);
	});
	if (file.hunks.length)
		made.append(el('table', '', body));
	return [made, shown];
}

/** A diff. What is very long is cut; `all` is asked for the rest. */
export function diffView(text, side, everything, all) {
	const made = el('div');
	const files = parseDiff(text);
	let room = everything ? Infinity : MOST_LINES;
	for (const file of files) {
		if (file.note.startsWith('Directory '))
			continue; // the list of files has it
		const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
		const [view, shown] = oneFile(file, side, room);
		made.append(view);
		room -= shown;
		if (shown < lines || room <= 0) {
			made.append(el('p', 'note', 'The rest is long. ', button('Show all of it', '', all)));
			break;
		}
	}
	return made;
}
