// SPDX-License-Identifier: MIT
// A bare Node server that does the work of /health, /read, /write and /ls and nothing else: no path
// rules, no checks, no truncation, no log.
//
//	node node_read.mjs SOCKET WORKSPACE

import { createServer } from 'node:http';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [socket, workspace] = process.argv.slice(2);

const tools = {
	async '/read'({ path }) {
		const content = await readFile(join(workspace, path), 'utf8');
		return { type: 'text', content };
	},
	async '/write'({ path, content }) {
		await writeFile(join(workspace, path), content);
		return { ok: true, path, bytes: Buffer.byteLength(content) };
	},
	async '/ls'({ path = '.' }) {
		const entries = await readdir(join(workspace, path), { withFileTypes: true });
		const names = entries.map((e) => (e.isDirectory() ? `${e.name}/` : e.name));
		names.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
		return { output: names.slice(0, 500).join('\n') };
	},
};

const send = (response, status, value) => {
	const text = JSON.stringify(value);
	response.writeHead(status, {
		'Content-Type': 'application/json',
		'Content-Length': Buffer.byteLength(text),
	});
	response.end(text);
};

createServer((request, response) => {
	if (request.url === '/health')
		return send(response, 200, { ok: true });
	const pieces = [];
	request.on('data', (piece) => pieces.push(piece));
	request.on('end', async () => {
		try {
			const body = JSON.parse(Buffer.concat(pieces).toString('utf8'));
			send(response, 200, { ok: true, result: await tools[request.url](body) });
		} catch (error) {
			send(response, 400, { ok: false, error: String(error) });
		}
	});
}).listen(socket);
