// SPDX-License-Identifier: MIT
// stream: server-sent events, from text that comes in pieces.

export class Splitter {
	#rest = '';
	#id = null;
	#data = [];

	/** The events that are complete with this piece: { id, data }. `id` is that of the last event that had one. */
	push(piece) {
		const lines = (this.#rest + piece).split('\n');
		const found = [];
		this.#rest = lines.pop();
		for (let line of lines) {
			line = line.replace(/\r$/, '');
			if (line === '') {
				if (this.#data.length)
					found.push({ id: this.#id, data: this.#data.join('\n') });
				this.#data = [];
				continue;
			}
			const colon = line.indexOf(':');
			const name = colon < 0 ? line : line.slice(0, colon);
			const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^\x20/, '');
			if (name === 'data')
				this.#data.push(value);
			else if (name === 'id')
				this.#id = value;
		}
		return found;
	}
}
