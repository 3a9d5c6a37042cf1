// SPDX-License-Identifier: MIT
// The parts of the page that are pure: text, streams, diffs, calls, windows; and the contrast of its colours.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Calls, caller, lastLine, matches, outcome, reason } from '../../src/ui/calls.mjs';
import { differing, pairs, parseDiff } from '../../src/ui/diff.mjs';
import { rowAt, windowOf } from '../../src/ui/list.mjs';
import { painted } from '../../src/ui/output.mjs';
import { Splitter } from '../../src/ui/stream.mjs';
import { ago, duration, elapsed, pieces, plain, size } from '../../src/ui/text.mjs';

test('characters that hide or reorder others are named', () => {
	for (const [text, shown] of [
		['plain', 'plain'], ['a\u202eb', 'aU+202Eb'], ['\u0007', '␇'], ['\x1b[2J', '␛[2J'], ['\x7f', '␡'], ['\x9b', 'U+009B'],
		['a\u200bb', 'aU+200Bb'], ['\ufeffx', 'U+FEFFx'], ['\u2066x\u2069', 'U+2066xU+2069'], ['\ud800', 'U+D800'], ['😀', '😀'],
		['\u{e0041}', 'U+E0041'], ['\x1b[31mred\x1b[0m', 'red'], ['one\ntwo', 'one⏎ two'], ['a\tb', 'a␉b'], ['', ''], ['عربي', 'عربي'],
	])
		assert.equal(plain(text), shown);
	assert.deepEqual(pieces('a\u202eb'), [['a', false], ['U+202E', true], ['b', false]]);
	assert.deepEqual(pieces('a\nb\r\nc'), [['a\nb\nc', false]]);
	assert.deepEqual(pieces('1%\r2%'), [['1%', false], ['␍\n', true], ['2%', false]]);
});

test('numbers in words', () => {
	assert.deepEqual([0, 5, 999, 1000, 9940, 61_000, 3_600_000, 7_380_000].map(duration),
		['below 1 ms', '5 ms', '999 ms', '1.0 s', '9.9 s', '1 min 1 s', '1 h', '2 h 3 min']);
	assert.deepEqual([0, 1400, 59_400].map(elapsed), ['0 s', '1 s', '59 s']);
	assert.deepEqual([-5, 2000, 4000, 61_000, 3_700_000, 1e9].map(ago), ['just now', 'just now', '4 s ago', '1 min ago', '1 h ago', '11 d ago']);
	assert.deepEqual([0, 999, 1000, 3_203_072, 5e12].map(size), ['0 bytes', '999 bytes', '1.0 KB', '3.1 MB', '4.5 TB']);
});

test('a stream is the same however it is cut', () => {
	const text = ': hello\n\nid: b-1\ndata: {"a":1}\n\nid: b-2\r\ndata: x\r\ndata: y\r\n\r\ndata:z\n\nretry: 5\n\ndata: never';
	const whole = new Splitter().push(text);
	assert.deepEqual(whole, [{ id: 'b-1', data: '{"a":1}' }, { id: 'b-2', data: 'x\ny' }, { id: 'b-2', data: 'z' }]);
	for (let n = 1; n < text.length; n++) {
		const splitter = new Splitter(), found = [];
		for (let i = 0; i < text.length; i += n)
			found.push(...splitter.push(text.slice(i, i + n)));
		assert.deepEqual(found, whole, `pieces of ${n}`);
	}
});

const DIFF = `--- a/x.c
+++ b/x.c
@@ -1,3 +1,4 @@
 one
-two
+2
+--- a/no
 three
@@ -10 +11 @@
-last
\\ No newline at end of file
+end
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,1 @@
+hello
Binary file modified: logo.png
`;

test('a diff is files, hunks and lines', () => {
	const [one, two, three] = parseDiff(DIFF);
	assert.deepEqual([one.was, one.is, one.added, one.removed, one.hunks.length], ['x.c', 'x.c', 3, 2, 2]);
	assert.deepEqual(one.hunks[0].lines.map(line => [line.kind, line.text, line.old, line.now]), [
		[' ', 'one', 1, 1], ['-', 'two', 2, null], ['+', '2', null, 2], ['+', '--- a/no', null, 3], [' ', 'three', 3, 4]]);
	assert.deepEqual([two.was, two.is, two.added], [null, 'new.txt', 1]);
	assert.equal(three.note, 'Binary file modified: logo.png');
	assert.deepEqual(parseDiff(''), []);
	assert.equal(parseDiff('@@ -1 +1 @@\n-a')[0].note, '@@ -1 +1 @@'); // of no file
	assert.equal(parseDiff('--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n cut')[0].hunks[0].lines.length, 1);
});

test('removed lines stand beside those that replace them', () => {
	const rows = pairs(parseDiff(DIFF)[0].hunks[0].lines).map(([a, b]) => [a?.text ?? null, b?.text ?? null]);
	assert.deepEqual(rows, [['one', 'one'], ['two', '2'], [null, '--- a/no'], ['three', 'three']]);
	assert.deepEqual(pairs(parseDiff(DIFF)[0].hunks[1].lines).map(([a, b]) => [a.text, b.text]), [['last', 'end']]);
	assert.deepEqual(differing('let port = 80;', 'let port = 8080;'), [13, 13, 15]);
	assert.deepEqual(differing('call(a, b)', 'call(x, b)'), [5, 6, 6]);
	assert.equal(differing('abc', 'xyz'), null);
	assert.equal(differing('\t\tabcdefgh', '\t\tsomething'), null);
});

test('only the rows that can be seen exist', () => {
	const tops = Array.from({ length: 10_001 }, (_, i) => i * 50);
	assert.deepEqual(windowOf(tops, 0, 500), [0, 17]);
	assert.deepEqual(windowOf(tops, 250_000, 500), [4994, 5017]);
	assert.deepEqual(windowOf(tops, 499_500, 500), [9984, 10_000]);
	assert.deepEqual(windowOf([0], 0, 500), [0, 0]);
	assert.deepEqual(windowOf(tops.slice(0, 4), 5000, 500), [0, 3]); // the list has become shorter
	assert.deepEqual([0, 25, 26, 69, 70, 95, 200].map(place => rowAt([0, 26, 70, 96], place)), [0, 0, 1, 1, 2, 2, 2]);
});

const at = n => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();

function sequence(...events) {
	const calls = new Calls();
	events.forEach((event, i) => calls.apply({ id: i + 1, time: at(i), ...event }));
	return calls;
}

const START = { type: 'call.start', call: 1, tool: 'run_command', subject: 'make', session: '', client: 'uid 0 pid 7', front: 'http' };
const END = { type: 'call.end', call: 1, ok: true, code: null, exit_code: 0, signal: null, timed_out: false, ms: 5, bytes: 9 };

test('events become calls', () => {
	for (const [events, look, words] of [
		[[START], 'running', 'running'],
		[[START, END], 'ok', 'exit 0'],
		[[START, { ...END, exit_code: 2 }], 'failed', 'exit 2'],
		[[START, { ...END, ok: false, timed_out: true, exit_code: -1, code: 'TIMED_OUT' }], 'failed', 'timed out'],
		[[START, { ...END, ok: false, code: 'CANCELLED', exit_code: -1 }], 'failed', 'stopped'],
		[[START, { ...END, signal: 'SIGSEGV', exit_code: 139 }], 'failed', 'SIGSEGV'],
		[[START, { type: 'refused', call: 1, what: 'command', subject: 'make', why: 'no' },
			{ ...END, ok: false, exit_code: null }], 'refused', 'refused'],
		[[START, { type: 'refused', call: 1, what: 'sandbox', subject: '/etc/x', why: 'no' }], 'running', 'running'],
		[[START, { type: 'refused', call: 1, what: 'sandbox', subject: '/etc/x', why: 'no' }, { ...END, exit_code: 1 }], 'refused',
			'exit 1, 1 refused'],
		[[START, { type: 'change', call: 1, change: 3, files: [{ path: 'a', kind: 'created' }], count: 1 }, { ...END, change: 3 }],
			'changed', 'created'],
		[[START, { type: 'change', call: 1, change: 3, files: [], count: 7 }, { ...END, change: 3 }], 'changed', '7 files'],
		[[START, { type: 'change', call: 1, change: 3, files: [{ path: 'a', kind: 'deleted' }, { path: 'b', kind: 'deleted' }], count: 10 },
			{ ...END, change: 3 }], 'deleted', '10 deleted'],
		[[START, { type: 'guard.changed', call: 1, what: 'guard', subject: '.git/config', why: 'no' }, END], 'refused', 'exit 0, 1 guarded'],
		[[START, { type: 'job.start', call: 1, job: 2, subject: 'make' }, END], 'running', 'in background'],
	]) {
		const call = sequence(...events).last;
		assert.deepEqual(outcome(call), [look, words]);
		assert.equal(caller(call), 'uid 0');
	}
	for (const [client, session, name] of [['uid 0 pid 7', 's', 's'], ['', '', ''], ['an-agent', 'stdio', 'an-agent'],
		['an-agent', '0123456789abcdef', 'an-agent 01234567']])
		assert.equal(caller({ client, session }), name);
});

test('why a call failed is said in a line', () => {
	for (const [events, words] of [
		[[START, { type: 'output', call: 1, stream: 'stderr', text: 'one\nKeyError\n' }, { ...END, exit_code: 1 }], 'KeyError'],
		[[START, { ...END, ok: false, code: 'FILE_NOT_FOUND', exit_code: null }], 'file not found'],
		[[START, { type: 'refused', call: 1, what: 'path', subject: '/x', why: 'outside' }, { ...END, ok: false }], 'outside'],
		[[START, { type: 'output', call: 1, stream: 'stdout', text: 'fine\n' }, END], ''],
	])
		assert.equal(reason(sequence(...events).last), words);
});

test('what the journal says is undone is marked', () => {
	const change = { type: 'change', call: 1, change: 3, files: [], count: 1 };
	const calls = sequence(START, change, END);
	calls.setUndone([{ id: 3, undone_by: 4 }]);
	assert.equal(calls.last.undone, 4);
	calls.setUndone([{ id: 3, undone_by: null }]); // and done again
	assert.equal(calls.last.undone, null);
});

test('codes of colours become a look', () => {
	for (const [before, codes, look] of [[{}, '31', { colour: 1 }], [{ colour: 1 }, '1', { colour: 1, bold: true }], [{}, '1;92', { bold: true, colour: 2 }],
		[{ colour: 3, bold: true }, '0', {}], [{ colour: 3 }, '', {}], [{ bold: true, colour: 4 }, '22', { colour: 4 }], [{ colour: 2 }, '39', { colour: 0 }],
		[{}, '38;5;31;1', { bold: true }], [{}, '38;2;1;1;1', {}], [{}, '37', { colour: 0 }], [{}, '4', {}]])
		assert.deepEqual(painted(before, codes), look, codes);
});

test('what is missing is said, and numbers of another run are not mixed up', () => {
	const calls = sequence(START, { type: 'gap', lost: 12 }, { type: 'output', call: 9, stream: 'stdout', text: 'a\nb\n' },
		{ type: 'gap', lost: null }, START);
	assert.deepEqual(calls.list.map(call => call.subject), ['make', '12 events are missing here', '', 'The server was started again', 'make']);
	assert.equal(calls.list[0].running, false); // of a server that is no more
	assert.equal(calls.running(Date.now()).length, 1);
	assert.equal(lastLine(calls.list[2]), 'b');
	assert.notEqual(calls.list[0].key, calls.list[4].key);
	assert.equal(sequence(START, { type: 'gap', lost: null }, { type: 'gap', lost: null }, START).list.length, 3);
});

test('what has ended keeps its place for a moment', () => {
	const calls = sequence(START, { ...START, call: 2, subject: 'test' });
	const subjects = later => calls.running(Date.now() + later).map(call => call.subject);
	assert.deepEqual(subjects(0), ['make', 'test']);
	calls.apply({ id: 3, time: at(3), ...END, call: 2 });
	assert.deepEqual(subjects(0), ['make']); // it was not shown
	calls.list[0].shown = true;
	calls.apply({ id: 4, time: at(4), ...END });
	assert.deepEqual(subjects(0), ['make']);
	assert.deepEqual(subjects(1100), []);
});

test('a change of another program is a change', () => {
	const calls = sequence({ type: 'change', change: 7, files: [{ path: 'a/b', kind: 'deleted' }], count: 1 });
	assert.deepEqual(outcome(calls.last), ['deleted', 'deleted']);
	assert.equal(calls.last.subject, 'a/b');
	assert.equal(calls.newest('changed'), calls.last);
	assert.equal(calls.newest('refused'), undefined);
});

test('only the newest calls are remembered', () => {
	const calls = new Calls();
	for (let i = 1; i <= 12_000; i++)
		calls.apply({ ...START, call: i, id: i, time: at(i) });
	assert.ok(calls.list.length <= 10_000);
	assert.equal(calls.list.length + calls.forgotten, 12_000);
	assert.equal(calls.last.call, 12_000);
});

test('filters', () => {
	const [call] = sequence(START, { type: 'change', call: 1, change: 3, files: [{ path: 'src/Deep.c', kind: 'modified' }], count: 1 }, END).list;
	for (const [filter, shown] of [[{}, true], [{ text: 'mak' }, true], [{ text: 'deep.c' }, true], [{ text: 'nothing' }, false],
		[{ tool: 'run_command' }, true], [{ tool: 'read' }, false], [{ session: 'uid 0' }, true], [{ session: 'other' }, false],
		[{ changes: true }, true], [{ refused: true }, false]])
		assert.equal(Boolean(matches(call, filter)), shown, JSON.stringify(filter));
	assert.equal(matches(sequence({ ...START, tool: 'changes' }).last, {}), false); // the page's own looking
});

/** The contrast of two colours, by WCAG. */
function contrast(a, b) {
	const light = hex => {
		const parts = (hex.length === 4 ? [...hex.slice(1)].map(c => c + c) : hex.slice(1).match(/../g)).map(c => parseInt(c, 16) / 255)
			.map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
		return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
	};
	const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
	return (x + 0.05) / (y + 0.05);
}

test('text can be read on its ground, light and dark', () => {
	const css = readFileSync(new URL('../../src/ui/page.css', import.meta.url), 'utf8');
	const [light, dark] = [...css.matchAll(/:root \{(.*?)\}/gs)].map(([, body]) =>
		Object.fromEntries([...body.matchAll(/--([\w-]+): (#[0-9a-f]{3,6});/g)].map(match => [match[1], match[2]])));
	for (const theme of [light, dark]) {
		for (const ground of ['bg', 'face', 'sunk', 'pick', 'add', 'del'])
			for (const ink of ['text', 'soft'])
				assert.ok(contrast(theme[ink], theme[ground]) >= 4.5, `${ink} on ${ground}: ${contrast(theme[ink], theme[ground])}`);
		for (const ink of ['run', 'good', 'warn', 'bad', 'accent'])
			for (const ground of ['bg', 'face', 'sunk', 'pick', ...(ink === 'accent' ? [] : [ink + '-bg'])])
				assert.ok(contrast(theme[ink], theme[ground]) >= 4.5, `${ink} on ${ground}: ${contrast(theme[ink], theme[ground])}`);
		for (const ground of ['add-word', 'del-word'])
			assert.ok(contrast(theme.text, theme[ground]) >= 4.5, `text on ${ground}`);
		assert.ok(contrast(theme.face, theme.accent) >= 4.5);
	}
});
