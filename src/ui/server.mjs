// SPDX-License-Identifier: MIT
// server: requests for data, with the secret of this tab or another one; and the stream of events, for as long as the page is open.
import { Splitter } from './stream.mjs';

const SILENCE = 40000; // milliseconds; the server says something every 15 seconds
const PAUSES = [300, 1000, 2000, 5000];
const KEPT = 'sidecar-secret';
const TABS = 300; // milliseconds that other tabs have to answer

/** What the server answered instead of what was asked for. */
export class Refusal extends Error {
	constructor(status, body) {
		super(body.error ?? `The server answered ${status}`);
		Object.assign(this, { status, body });
	}
}

/** The secret that came with the address, which then is without it; or the one that the tab has. `#call=41`, also after
 * a secret, names a call and stays. */
function takeSecret() {
	let [, secret, call] = /^#?(.*?)&?(call=\d+)?$/s.exec(location.hash);
	if (secret) {
		history.replaceState(null, '', call ? '#' + call : location.pathname + location.search);
		try {
			secret = decodeURIComponent(secret);
		} catch {
			// It is not encoded.
		}
		keep(secret);
	}
	try {
		return secret || sessionStorage.getItem(KEPT);
	} catch {
		return secret;
	}
}

function keep(secret) {
	try {
		sessionStorage.setItem(KEPT, secret);
	} catch {
		// It is known until the page is left.
	}
}

export class Server {
	#secret = takeSecret();
	#asking = null;
	#wake = () => {};
	#reader = null;
	#tabs = new BroadcastChannel(KEPT); // of the same browser and server
	#tell = () => {};

	/** `askSecret(wrong)` gets a secret from the reader. */
	constructor(askSecret) {
		this.askSecret = askSecret;
		this.#tabs.onmessage = ({ data }) => {
			if (data)
				this.#tell(data);
			else if (this.#secret)
				this.#tabs.postMessage(this.#secret);
		};
		addEventListener('hashchange', () => {
			const before = this.#secret;
			this.#secret = takeSecret();
			if (this.#secret !== before)
				this.again();
		});
		addEventListener('online', () => this.#wake());
	}

	/** Connect again now. */
	again() {
		this.#reader?.abort();
		this.#wake();
	}

	/** The secret of another tab, so that an address without it can be opened; no storage need keep it for that. */
	#askTabs() {
		return new Promise(done => {
			this.#tell = done;
			this.#tabs.postMessage('');
			setTimeout(done, TABS);
		});
	}

	/** Several requests may need it at once; the reader is asked once, and only if no tab has it. */
	async #newSecret() {
		const wrong = Boolean(this.#secret);
		this.#asking ??= (wrong ? Promise.resolve() : this.#askTabs()).then(secret => secret || this.askSecret(wrong)).then(secret => {
			this.#secret = secret;
			this.#asking = null;
			keep(secret);
		});
		await this.#asking;
	}

	#fetch(path, options) {
		const headers = { ...options.headers };
		if (this.#secret)
			headers.Authorization = 'Bearer ' + this.#secret;
		return fetch(path, { cache: 'no-store', credentials: 'omit', redirect: 'error', ...options, headers });
	}

	async ask(path, options = {}) {
		for (;;) {
			const answer = await this.#fetch(path, options);
			if (answer.ok)
				return answer;
			if (answer.status !== 401)
				throw new Refusal(answer.status, await answer.json().catch(() => ({})));
			await this.#newSecret();
		}
	}

	async get(path) {
		const answer = await (await this.ask(path)).json();
		return answer.result ?? answer;
	}

	async post(path, body = {}) {
		const answer = await this.ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
		return (await answer.json()).result;
	}

	/** The page says by a header whether it needs a secret that we do not have: so no request need be refused first; and
	 * by another whether all sidecars of the user can be asked for. */
	async #admit() {
		for (;;) {
			const answer = await this.#fetch('ui', { method: 'HEAD' });
			this.all = answer.headers.get('Sidecar-All');
			if (!answer.headers.has('WWW-Authenticate'))
				return;
			await this.#newSecret();
		}
	}

	/** Hand on what happens: told.health(what is in force), told.event(event), told.live(), told.gone(why). */
	async follow(told) {
		let last = null;
		for (let failed = 0;; failed++) {
			this.#reader = new AbortController();
			try {
				await this.#admit();
				await told.health(await this.get('health'));
				const headers = { Accept: 'text/event-stream' };
				if (last)
					headers['Last-Event-ID'] = last;
				const answer = await this.ask(last ? 'events' : 'events?since=0', { headers, signal: this.#reader.signal });
				failed = 0;
				told.live();
				last = await this.#read(answer.body, last, told);
				told.gone('The server has ended the stream.');
			} catch (error) {
				last = error.last ?? last;
				told.gone(error instanceof Refusal ? error.message : 'The server does not answer.');
			}
			await new Promise(done => {
				this.#wake = done;
				setTimeout(done, PAUSES[Math.min(failed, PAUSES.length - 1)]);
			});
		}
	}

	/** Read to the end; the id of the last event. */
	async #read(body, last, told) {
		const reader = body.pipeThrough(new TextDecoderStream()).getReader();
		const splitter = new Splitter();
		let timer;
		try {
			for (;;) {
				clearTimeout(timer);
				timer = setTimeout(() => this.#reader.abort(), SILENCE);
				const { done, value } = await reader.read();
				if (done)
					return last;
				for (const event of splitter.push(value)) {
					told.event(JSON.parse(event.data));
					last = event.id ?? last;
				}
			}
		} catch (error) {
			throw Object.assign(new Error(error.message), { last });
		} finally {
			clearTimeout(timer);
		}
	}
}
