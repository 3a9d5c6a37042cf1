// SPDX-License-Identifier: MIT
// sidecar: the real program in a workspace of its own, for the tests of this folder. The program is the one
// named by SIDECAR_BIN (default: build/sidecar).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, fetch as undiciFetch } from 'undici';

const TOP = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const BIN = resolve(process.env.SIDECAR_BIN ?? join(TOP, 'build/sidecar'));
const PATIENCE = 90_000; // milliseconds after which something is taken never to happen

// Where programs keep changes: not where the user's programs do.
const STATE = mkdtempSync(join(tmpdir(), 'sidecar-state-'));
process.on('exit', () => rmSync(STATE, { recursive: true, force: true }));

/** A directory with a workspace in it, which goes with `remove`. A workspace with a name is beside it, where pictures
 * can show its path; there must be none yet. */
export function place(name) {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sidecar-clients-')));
	const workspace = name ? join(dirname(folder), name) : join(folder, 'ws');
	mkdirSync(workspace);
	return {
		folder, workspace,
		put: (name, text) => {
			mkdirSync(dirname(join(workspace, name)), { recursive: true });
			writeFileSync(join(workspace, name), text);
		},
		clear: () => readdirSync(workspace).forEach(name => rmSync(join(workspace, name), { recursive: true })),
		read: name => readFileSync(join(workspace, name), 'utf8'),
		remove: () => [folder, workspace].forEach(one => rmSync(one, { recursive: true, force: true })),
	};
}

/** What the program gets of our environment: settings that a user has must not change a test. `results` is what
 * MCP clients get. */
export function environment(results = 'structured') {
	const kept = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS'];
	const env = Object.fromEntries(kept.filter(name => name in process.env).map(name => [name, process.env[name]]));
	return { ...env, SIDECAR_MCP_RESULTS: results, SIDECAR_REQUIRE_AUTH: 'false', XDG_STATE_HOME: STATE, SIDECAR_CACHE: 'off' };
}

/** Looks again and again until `found` gives something true. */
export async function until(found, what) {
	for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(10)) {
		const got = await found();
		if (got)
			return got;
	}
	throw new Error(`never happened: ${what}`);
}

/** Numbers of the processes whose command line contains a text. */
export function running(text) {
	return readdirSync('/proc').filter(name => /^\d+$/.test(name) && Number(name) !== process.pid).filter(pid => {
		try {
			return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text);
		} catch {
			return false; // it has just gone
		}
	});
}

function freePort() {
	return new Promise((done, failed) => {
		const probe = createServer().once('error', failed);
		probe.listen(0, '127.0.0.1', () => {
			const { port } = probe.address();
			probe.close(() => done(port));
		});
	});
}

/** fetch over the server's Unix socket. */
function overSocket(socketPath) {
	const dispatcher = new Agent({ connect: { socketPath } });
	const fetch = (url, init) => undiciFetch(url, { ...init, dispatcher });
	return { fetch, close: () => dispatcher.destroy() };
}

/** One running server, on a Unix socket and on TCP. */
export class Sidecar {
	static async start({ flags = [], env = {}, results = 'structured', name } = {}) {
		const it = new Sidecar();
		it.results = results;
		it.place = place(name);
		it.workspace = it.place.workspace;
		it.socket = join(it.place.folder, 's');
		it.address = `127.0.0.1:${await freePort()}`;
		it.url = `http://${it.address}`;
		it.words = ['serve', '--workspace', it.workspace, '--socket', it.socket, '--tcp', it.address, ...flags];
		it.env = { ...environment(results), ...env };
		it.unix = overSocket(it.socket);
		await it.run();
		return it;
	}

	/** Starts the program, which a new object has done; to be called again after `end`. */
	async run() {
		this.log = '';
		this.process = spawn(BIN, this.words, { env: this.env, stdio: ['ignore', 'ignore', 'pipe'] });
		this.process.stderr.setEncoding('utf8').on('data', text => this.log += text);
		this.ended = new Promise(done => this.process.once('exit', (status, signal) => done(signal ?? status)));
		await until(async () => {
			if (this.process.exitCode !== null)
				throw new Error(`the server ended: ${this.log}`);
			return await this.get('/health').catch(() => null);
		}, 'the server listens');
	}

	/** Ends the program; its place stays. */
	async end() {
		this.process.kill('SIGTERM');
		const status = await this.ended;
		assert.equal(status, 0, `the server ended: ${status}\n${this.log}`);
	}

	/** One request over the Unix socket; what was answered. */
	ask(method, path, body) {
		return new Promise((done, failed) => {
			const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
			request({ socketPath: this.socket, method, path, headers }, answer => {
				let text = '';
				answer.setEncoding('utf8').on('data', part => text += part);
				answer.on('end', () => answer.statusCode === 200 ? done(JSON.parse(text)) :
					failed(new Error(`${method} ${path}: ${answer.statusCode} ${text}`)));
			}).on('error', failed).end(body === undefined ? undefined : JSON.stringify(body));
		});
	}

	get(path) {
		return this.ask('GET', path);
	}

	post(path, body) {
		return this.ask('POST', path, body);
	}

	async stop() {
		this.unix.close();
		await this.end().finally(() => this.place.remove());
	}
}
