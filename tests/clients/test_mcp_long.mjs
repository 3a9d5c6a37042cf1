// SPDX-License-Identifier: MIT
// Calls that take long, over every connection: progress that keeps a client waiting, and calls taken
// back, which leave no process.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CONNECTIONS } from './connections.mjs';
import { Sidecar, running, until } from './sidecar.mjs';

const PATIENCE_MS = 8000; // of a client without news; the calls that keep it waiting take twice as long

const server = await Sidecar.start();
after(() => server.stop());

/** The cases are under way together, because they do little but wait. */
function together(cases) {
	for (const [name, run] of cases) {
		const result = run().then(() => null, error => error);
		test(name, async () => assert.ifError(await result));
	}
}

/** Runs with a connection, which is closed whatever happens. */
async function using(open, run) {
	const connection = await open(server);
	try {
		await run(connection);
	} finally {
		await connection.close();
	}
}

async function keepsWaiting(connection, command) {
	const heard = [];
	const options = { timeout: PATIENCE_MS, resetTimeoutOnProgress: true, onprogress: ({ progress }) => heard.push(progress) };
	const result = await connection.call('run_command', { command, timeout_ms: 60000 }, options);
	assert.equal(result.structuredContent.output.exit_code, 0);
	assert.ok(heard.length >= 2, `progress: ${heard}`);
	assert.deepEqual(heard, [...new Set(heard)].sort((a, b) => a - b));
	return result.structuredContent.output.stdout;
}

async function takenBack(connection) {
	const marker = `sleep 98765.${String(Math.random()).slice(2)}`;
	const abort = new AbortController();
	const call = connection.call('run_command', { command: `(${marker} & ${marker}); true`, timeout_ms: 600000 },
		{ signal: abort.signal, onprogress: () => {} });
	call.catch(() => {});
	await until(() => running(marker).length >= 2, 'the command runs');
	abort.abort('not needed any more');
	await assert.rejects(call);
	await until(() => running(marker).length === 0, 'its processes have ended');
	const result = await connection.call('run_command', { command: 'echo still here' });
	assert.equal(result.structuredContent.output.stdout, 'still here\n');
}

async function leftAlone(open) {
	const marker = `sleep 98764.${String(Math.random()).slice(2)}`;
	const connection = await open(server);
	connection.call('run_command', { command: `${marker}; true`, timeout_ms: 600000 }).catch(() => {});
	await until(() => running(marker).length > 0, 'the command runs');
	await connection.client.close();
	await until(() => running(marker).length === 0, 'its processes have ended');
}

together(CONNECTIONS.flatMap(({ name, open }) => [
	[`${name}: a call taken back leaves no process`, () => using(open, takenBack)],
	[`${name}: a command that tells something keeps a client waiting`, () => using(open, async connection => {
		const said = await keepsWaiting(connection, 'for i in 1 2 3 4 5; do echo $i; sleep 3.4; done');
		assert.equal(said, '1\n2\n3\n4\n5\n');
	})],
	[`${name}: a silent command keeps a client waiting`, () => using(open, connection => keepsWaiting(connection, 'sleep 17'))],
]));
// Over HTTP this is so in the newest revision only: before, a lost connection is no cancellation.
together(CONNECTIONS.filter(({ carrier, version }) => carrier === 'stdio' || version >= '2026').map(({ name, open }) =>
	[`${name}: a client that leaves leaves no process`, () => leftAlone(open)]));
