// SPDX-License-Identifier: MIT
// output: what a command has printed, in lines with numbers and colours; to be searched, copied and wrapped.
import { button, el, say, told } from './view.mjs';
import { count, size } from './text.mjs';

const SGR = /\x1b\[([0-9;:]*)m/;
const BEGUN = /\x1b(\[[0-9;:]*)?$/; // a sequence whose rest has not come

/** What the codes of a sequence make of the look of text: { colour: 1 to 6, bold, dim }. */
export function painted(look, codes) {
	const list = codes.split(/[;:]/).map(Number);
	for (let i = 0; i < list.length; i++) {
		const code = list[i], colour = code % 10;
		if (code === 0)
			look = {};
		else if (code === 1)
			look = { ...look, bold: true };
		else if (code === 2)
			look = { ...look, dim: true };
		else if (code === 22)
			look = { colour: look.colour };
		else if (code === 38 || code === 48)
			i += list[i + 1] === 5 ? 2 : 4; // of another palette
		else if ([3, 9].includes(Math.floor(code / 10)) && colour !== 8)
			look = { ...look, colour: colour > 0 && colour < 7 ? colour : 0 };
	}
	return look;
}

export class Output {
	node;
	#pre = el('pre', 'output');
	#note = el('p', 'note');
	#found = el('span', 'soft');
	#find = el('input');
	#hits = [];
	#at = -1;
	#line = null;
	#rest = '';
	#look = {};
	#plain = ''; // no numbers: it is not known how many lines came before

	/** `keep` is { wrap, toggleWrap() }: what the reader wants. */
	constructor(keep) {
		Object.assign(this.#find, { type: 'search', placeholder: 'Find', spellcheck: false });
		this.#find.setAttribute('aria-label', 'Find in the output');
		this.#find.addEventListener('input', () => this.#search());
		this.#find.addEventListener('keydown', event => {
			if (event.key === 'Enter')
				this.#step(event.shiftKey ? 1 : -1);
			else if (event.key === 'Escape')
				this.#pre.focus();
		});
		const wrap = button('Wrap', '', () => show(keep.toggleWrap()));
		const show = on => {
			wrap.setAttribute('aria-pressed', on);
			this.#pre.classList.toggle('wide', !on);
		};
		show(keep.wrap);
		const copy = button('Copy', '', () => this.#copy().then(() => copy.textContent = 'Copied', () => copy.textContent = 'Press Ctrl-C'));
		this.#pre.tabIndex = 0;
		this.#pre.setAttribute('aria-label', 'Output');
		this.bar = el('span', 'bar', this.#found, this.#find, wrap, copy);
		this.node = el('div', 'part', el('h3', '', 'Output', this.bar), this.#pre, this.#note);
	}

	get isEmpty() {
		return !this.#pre.firstChild;
	}

	/** Add output. The end stays in view if it is. */
	add(text, isError) {
		const pre = this.#pre, atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4;
		text = this.#rest + text;
		this.#rest = BEGUN.exec(text)?.[0] ?? '';
		text.slice(0, text.length - this.#rest.length).split(SGR).forEach((part, i) => {
			if (i % 2)
				this.#look = painted(this.#look, part);
			else
				this.#write(part, isError);
		});
		if (atEnd)
			this.toEnd();
	}

	#write(text, isError) {
		const { colour, bold, dim } = this.#look;
		const look = [isError && !colour && 'stderr', colour && 'c' + colour, bold && 'bold', dim && 'soft'].filter(Boolean).join(' ');
		text.split('\n').forEach((one, i, all) => {
			if (i)
				this.#line = null;
			if (!one && i === all.length - 1)
				return;
			this.#line ??= this.#pre.appendChild(el('div', this.#plain));
			const shown = i < all.length - 1 ? one.replace(/\r$/, '') : one;
			if (look)
				this.#line.append(told('span', look, shown));
			else
				say(this.#line, shown);
		});
	}

	/** Some of it is not here. */
	skip(bytes) {
		this.#plain = 'far';
		this.#line = null;
		this.#pre.append(el('div', 'far odd', `⋯ ${size(bytes)} of output are not kept ⋯`));
	}

	toEnd() {
		this.#pre.scrollTop = this.#pre.scrollHeight;
	}

	say(note) {
		this.#note.textContent = note;
		this.#pre.hidden = this.bar.hidden = this.isEmpty;
	}

	#search() {
		const wanted = this.#find.value.toLowerCase();
		this.#hits.forEach(line => line.classList.remove('hit', 'now'));
		this.#hits = wanted ? [...this.#pre.children].filter(line => line.textContent.toLowerCase().includes(wanted)) : [];
		this.#hits.forEach(line => line.classList.add('hit'));
		this.#at = this.#hits.length;
		this.#found.textContent = wanted && !this.#hits.length ? 'nothing' : '';
		this.#step(-1);
	}

	/** The last hit first: failures are at the end. */
	#step(by) {
		const n = this.#hits.length;
		if (!n)
			return;
		this.#hits[this.#at]?.classList.remove('now');
		this.#at = (this.#at + by + n) % n;
		this.#hits[this.#at].classList.add('now');
		this.#hits[this.#at].scrollIntoView({ block: 'nearest' });
		this.#found.textContent = `${this.#at + 1} of ${count(n, 'line')}`;
	}

	/** Where a page may not write to the clipboard the text is chosen, for the reader to copy. */
	async #copy() {
		const text = [...this.#pre.children].map(line => line.textContent + '\n').join('');
		getSelection().selectAllChildren(this.#pre);
		await navigator.clipboard.writeText(text);
		getSelection().removeAllRanges();
	}
}
