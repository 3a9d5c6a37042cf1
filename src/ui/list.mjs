// SPDX-License-Identifier: MIT
// list: a list of rows, of which only those that can be seen exist.

const SPARE = 6; // rows above and below what is seen

/** The last row that begins at or above that place. `tops` has where each begins, and where the last one ends. */
export function rowAt(tops, place) {
	let low = 0, high = tops.length - 1;
	while (high - low > 1) {
		const middle = (low + high) >> 1;
		if (tops[middle] <= place)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/** The rows that must exist: [first, the one after the last]. */
export function windowOf(tops, top, height) {
	const count = tops.length - 1;
	return [Math.max(0, rowAt(tops, top) - SPARE), Math.min(count, rowAt(tops, top + height) + 1 + SPARE)];
}

export class List {
	#items = [];
	#rows = new Map(); // by key
	#scroller;
	#space;
	#fill;
	#tops = [0];

	/** `fill(row, item)` writes an item into its row, again whenever it may have changed. */
	constructor(scroller, space, fill) {
		this.#scroller = scroller;
		this.#space = space;
		this.#fill = fill;
		scroller.addEventListener('scroll', () => this.draw(), { passive: true });
	}

	/** Show these items; `height(item)` says how high a row is. What is seen stays where it is, unless it is the top. */
	show(items, height) {
		const top = this.#scroller.scrollTop;
		const at = rowAt(this.#tops, top);
		const seen = top > 0 ? this.#items[at] : null, before = this.#tops[at];
		this.#items = items;
		this.#tops = [0];
		for (const item of items)
			this.#tops.push(this.#tops.at(-1) + height(item));
		this.#space.style.height = this.#tops.at(-1) + 'px';
		const now = seen ? items.indexOf(seen) : -1;
		if (now >= 0 && this.#tops[now] !== before)
			this.#scroller.scrollTop = top + this.#tops[now] - before;
		this.draw();
	}

	draw() {
		const [first, end] = windowOf(this.#tops, this.#scroller.scrollTop, this.#scroller.clientHeight);
		const wanted = new Map();
		for (let i = first; i < end; i++)
			wanted.set(this.#items[i].key, i);
		for (const [key, row] of this.#rows)
			if (!wanted.has(key)) {
				row.remove();
				this.#rows.delete(key);
			}
		let next = this.#space.firstChild; // rows stand in the order in which they are read
		for (const [key, i] of wanted) {
			const row = this.#rows.get(key) ?? document.createElement('div');
			this.#rows.set(key, row);
			if (row === next)
				next = row.nextSibling;
			else
				this.#space.insertBefore(row, next);
			row.style.transform = `translateY(${this.#tops[i]}px)`;
			row.style.height = this.#tops[i + 1] - this.#tops[i] + 'px';
			row.setAttribute('aria-posinset', i + 1);
			row.setAttribute('aria-setsize', this.#items.length);
			this.#fill(row, this.#items[i]);
		}
	}

	/** Scroll so that an item can be seen. */
	reveal(index) {
		const top = this.#tops[index], end = this.#tops[index + 1], s = this.#scroller;
		if (top < s.scrollTop)
			s.scrollTop = top;
		else if (end > s.scrollTop + s.clientHeight)
			s.scrollTop = end - s.clientHeight;
		this.draw();
	}
}
