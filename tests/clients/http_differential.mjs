// SPDX-License-Identifier: MIT
// What Node's HTTP parser makes of texts: a JSON array of base64 strings on standard input, one
// verdict each as a JSON array on standard output: { requests: [[method, target, body]], end }.
// `end` is "end", "incomplete", or "refused" with the parser's code or the status it answered.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'http-differential-'));
const path = join(folder, 'socket');
let now; // the case under way: there is one at a time

const server = createServer({ insecureHTTPParser: false, keepAliveTimeout: 0 }, (req, res) => {
	const parts = [];
	now.open++;
	req.on('data', part => parts.push(part));
	req.on('end', () => {
		now.open--;
		now.requests.push([req.method, req.url, Buffer.concat(parts).toString('hex')]);
		res.end();
	});
});
server.on('connect', (req, socket) => {
	now.requests.push([req.method, req.url, '']);
	socket.destroy();
});
server.on('clientError', (error, socket) => {
	now.error ??= error.code;
	socket.destroy();
});

function verdict(text) {
	now = { requests: [], open: 0, error: undefined };
	return new Promise(resolve => {
		let answer = '';
		const client = connect(path, () => client.end(text));
		client.on('data', part => (answer += part.toString('latin1')));
		client.on('error', () => {});
		client.on('close', () => {
			const bad = answer.match(/HTTP\/1\.1 ([45]\d\d) /);
			const cut = ['HPE_INVALID_EOF_STATE', 'ECONNRESET'].includes(now.error);
			let end = 'end';
			if (now.error && !cut)
				end = 'refused ' + now.error;
			else if (bad)
				end = 'refused ' + bad[1];
			else if (cut || now.open || now.requests.length === 0)
				end = 'incomplete';
			resolve({ requests: now.requests, end });
		});
	});
}

const chunks = [];
for await (const chunk of process.stdin)
	chunks.push(chunk);
await new Promise(listening => server.listen(path, listening));
try {
	const verdicts = [];
	for (const text of JSON.parse(Buffer.concat(chunks)))
		verdicts.push(await verdict(Buffer.from(text, 'base64')));
	console.log(JSON.stringify(verdicts));
} finally {
	server.close();
	server.closeAllConnections();
	rmSync(folder, { recursive: true });
}
