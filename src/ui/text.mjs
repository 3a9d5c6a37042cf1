// SPDX-License-Identifier: MIT
// text: text from outside as it may be shown, and numbers in words.

// Characters that have no look of their own, or change how others are shown: control characters, marks of writing
// direction, blanks without width, halves of characters, tags.
const ODD = new RegExp('[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f' +
	'\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\ud800-\\udfff\\u{e0000}-\\u{e0fff}]', 'gu');
const COLOUR = /\x1b\[[0-9;:]*[mK]/g; // and what clears the rest of a line

/** How an odd character is shown. */
function nameOf(character) {
	const code = character.codePointAt(0);
	if (code < 0x20)
		return String.fromCharCode(0x2400 + code);
	return code === 0x7f ? '\u2421' : 'U+' + code.toString(16).toUpperCase().padStart(4, '0');
}

/** The parts of a text, in order: [text, whether it is the name of an odd character]. Colours of a terminal are left
 * out. On one line, ends of lines and tabs are odd as well. */
export function pieces(text, oneLine) {
	text = String(text).replace(COLOUR, '').replace(/\r\n/g, '\n');
	const found = [];
	let at = 0;
	const odd = oneLine ? new RegExp(ODD.source.replace('\\x08\\x0b', '\\x0a\\x0b'), 'gu') : ODD;
	for (const match of text.matchAll(odd)) {
		if (match.index > at)
			found.push([text.slice(at, match.index), false]);
		const end = match[0] === '\n' ? '\u23ce ' : nameOf(match[0]);
		found.push([oneLine || match[0] !== '\r' ? end : end + '\n', true]);
		at = match.index + match[0].length;
	}
	if (at < text.length)
		found.push([text.slice(at), false]);
	return found;
}

/** A text in which odd characters are named, for labels and titles. */
export function plain(text) {
	return pieces(text, true).map(piece => piece[0]).join('');
}

/** A text for one line, in which long paths keep both ends. */
export function shortPaths(text) {
	return text.replace(/\/[^\s'"`;,]{40,}/gu, path => path.slice(0, 14) + '\u2026' + path.slice(-24));
}

export function duration(ms) {
	if (ms < 1000)
		return ms < 1 ? 'below 1 ms' : Math.round(ms) + ' ms';
	return ms < 9950 ? (ms / 1000).toFixed(1) + ' s' : elapsed(ms);
}

/** A duration that goes on, in whole seconds. */
export function elapsed(ms) {
	const s = Math.max(0, Math.round(ms / 1000));
	if (s < 60)
		return s + ' s';
	if (s < 3600)
		return Math.floor(s / 60) + ' min' + (s % 60 ? ' ' + s % 60 + ' s' : '');
	return Math.floor(s / 3600) + ' h' + (s % 3600 >= 60 ? ' ' + Math.floor(s % 3600 / 60) + ' min' : '');
}

/** How long ago, in whole units. */
export function ago(ms) {
	const s = Math.max(0, Math.floor(ms / 1000));
	if (s < 3)
		return 'just now';
	if (s < 60)
		return s + ' s ago';
	if (s < 3600)
		return Math.floor(s / 60) + ' min ago';
	return s < 86400 ? Math.floor(s / 3600) + ' h ago' : Math.floor(s / 86400) + ' d ago';
}

export function size(bytes) {
	const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
	let i = 0;
	while (bytes >= 1000 && i < units.length - 1) {
		bytes /= 1024;
		i++;
	}
	return (i && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)) + ' ' + units[i];
}

export function count(n, one, many = one + 's') {
	return n.toLocaleString('en') + ' ' + (n === 1 ? one : many);
}

/** The time of day, as the clock of the reader has it. */
export function clock(ms) {
	return new Date(ms).toLocaleTimeString('en-GB');
}
