// SPDX-License-Identifier: MIT
// diff: a unified diff as files, hunks and lines; and its lines in pairs, to be shown side by side.

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** "a/x" → "x"; /dev/null → null. */
function pathOf(line) {
	const name = line.slice(4).replace(/\t.*$/, '');
	return name === '/dev/null' ? null : name.replace(/^[ab]\//, '');
}

/** The files of a diff: { was, is, note, added, removed, hunks: [{ lines }] }. A line is { kind, text, old, now }:
 * kind is ' ', '-', '+' or '\\', old and now are its numbers. The counts of a hunk decide what belongs to it, because
 * the content of a file can look like a diff. */
export function parseDiff(text) {
	const lines = text.split('\n');
	const files = [];
	let file = null;
	if (lines.at(-1) === '')
		lines.pop();
	for (let i = 0; i < lines.length;) {
		const head = HUNK.exec(lines[i]);
		if (head && file) {
			const hunk = { lines: [] };
			file.hunks.push(hunk);
			i = readHunk(lines, i + 1, head, file, hunk);
		} else if (lines[i].startsWith('--- ') && i + 1 < lines.length && lines[i + 1].startsWith('+++ ')) {
			file = { was: pathOf(lines[i]), is: pathOf(lines[i + 1]), note: '', added: 0, removed: 0, hunks: [] };
			files.push(file);
			i += 2;
		} else {
			file = null;
			files.push({ was: null, is: null, note: lines[i++], added: 0, removed: 0, hunks: [] });
		}
	}
	return files;
}

function readHunk(lines, i, head, file, hunk) {
	let old = Number(head[1]), now = Number(head[3]);
	let left = Number(head[2] ?? 1), right = Number(head[4] ?? 1);
	while (i < lines.length && (left > 0 || right > 0 || lines[i].startsWith('\\'))) {
		const kind = lines[i][0] ?? ' ', text = lines[i].slice(1);
		i++;
		if (kind === '\\') {
			hunk.lines.push({ kind, text: text.trim(), old: null, now: null });
		} else if (kind === '-') {
			hunk.lines.push({ kind, text, old: old++, now: null });
			file.removed++;
			left--;
		} else if (kind === '+') {
			hunk.lines.push({ kind, text, old: null, now: now++ });
			file.added++;
			right--;
		} else {
			hunk.lines.push({ kind: ' ', text, old: old++, now: now++ });
			left--;
			right--;
		}
	}
	return i;
}

/** The lines of a hunk as [left, right]; null where one side has nothing. Removed lines stand beside the added ones
 * that follow them. */
export function pairs(lines) {
	const rows = [];
	let removed = [], added = [];
	const flush = () => {
		for (let i = 0; i < Math.max(removed.length, added.length); i++)
			rows.push([removed[i] ?? null, added[i] ?? null]);
		removed = [];
		added = [];
	};
	for (const line of lines) {
		if (line.kind === '-' && added.length)
			flush();
		if (line.kind === '-') {
			removed.push(line);
		} else if (line.kind === '+') {
			added.push(line);
		} else if (line.kind === '\\') {
			continue;
		} else {
			flush();
			rows.push([line, line]);
		}
	}
	flush();
	return rows;
}

/** Where two versions of a line begin and end to differ: [begin, end in a, end in b]; null if they have too little in
 * common for that to say anything. */
export function differing(a, b) {
	const most = Math.min(a.length, b.length);
	let begin = 0, end = 0;
	while (begin < most && a[begin] === b[begin])
		begin++;
	while (end < most - begin && a[a.length - 1 - end] === b[b.length - 1 - end])
		end++;
	const blank = a.slice(0, begin).trim() === '' && a.slice(a.length - end).trim() === '';
	return blank || (begin + end) * 3 < most ? null : [begin, a.length - end, b.length - end];
}
