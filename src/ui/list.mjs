// SPDX-License-Identifier: MIT
// list: a list of rows of one height, of which only those that can be seen exist.

const SPARE = 6; // rows above and below what is seen

/** The rows that must exist: [first, the one after the last]. */
export function windowOf(top, height, row, count) {
	const first = Math.max(0, Math.floor(top / row) - SPARE);
	return [Math.min(first, count), Math.min(count, Math.ceil((top + height) / row) + SPARE)];
}

export class List {
	#items = [];
	#rows = new Map(); // by key
	#scroller;
	#space;
	#fill;
	#height = 1;

	/** `fill(row, item)` writes an item into its row, again whenever it may have changed. */
	constructor(scroller, space, fill) {
		this.#scroller = scroller;
		this.#space = space;
		this.#fill = fill;
		scroller.addEventListener('scroll', () => this.draw(), { passive: true });
	}

	/** Show these items in rows of that height. What is seen stays where it is, unless it is the top. */
	show(items, height) {
		this.#height = height;
		const top = this.#scroller.scrollTop;
		const at = Math.floor(top / this.#height);
		const seen = top > 0 ? this.#items[at] : null;
		this.#items = items;
		this.#space.style.height = items.length * this.#height + 'px';
		const now = seen ? items.indexOf(seen) : -1;
		if (now >= 0 && now !== at)
			this.#scroller.scrollTop = top + (now - at) * this.#height;
		this.draw();
	}

	draw() {
		const [first, end] = windowOf(this.#scroller.scrollTop, this.#scroller.clientHeight, this.#height, this.#items.length);
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
			row.style.transform = `translateY(${i * this.#height}px)`;
			row.setAttribute('aria-posinset', i + 1);
			row.setAttribute('aria-setsize', this.#items.length);
			this.#fill(row, this.#items[i]);
		}
	}

	/** Scroll so that an item can be seen. */
	reveal(index) {
		const top = index * this.#height, s = this.#scroller;
		if (top < s.scrollTop)
			s.scrollTop = top;
		else if (top + this.#height > s.scrollTop + s.clientHeight)
			s.scrollTop = top + this.#height - s.clientHeight;
		this.draw();
	}
}
