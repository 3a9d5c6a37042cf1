// SPDX-License-Identifier: MIT
// The MCP SDKs over every connection: the tools are listed, and called in every way that succeeds or fails,
// and many at once.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CALLS, furnish } from './calls.mjs';
import { CONNECTIONS } from './connections.mjs';
import { Sidecar, until } from './sidecar.mjs';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const MANY = 20;
const INVALID_PARAMS = -32602;

let server, declared, validators;
before(async () => {
	server = await Sidecar.start();
	declared = await server.get('/tools?format=mcp');
	validators = new Map(declared.map(tool => [tool.name, ajv.compile(tool.outputSchema)]));
});
after(() => server.stop());

/** A result's structured content, which conforms to the schema and stands in a text block as well. */
function observation(tool, result) {
	const seen = result.structuredContent;
	const conforms = validators.get(tool);
	assert.ok(conforms(seen), `${ajv.errorsText(conforms.errors)}: ${JSON.stringify(result).slice(0, 500)}`);
	assert.deepEqual(result.content.map(block => block.type), ['text']);
	assert.deepEqual(JSON.parse(result.content[0].text), seen);
	assert.equal(result.isError ?? false, !seen.success);
	assert.equal(seen.tool, tool);
	return seen;
}

for (const { name, version, carrier, open } of CONNECTIONS)
	test(`${name}: every tool`, async t => {
		furnish(server.place);
		const connection = await open(server);
		t.after(() => connection.close());
		assert.equal(connection.client.getNegotiatedProtocolVersion?.() ?? version, version);
		assert.equal(connection.client.getServerVersion().name, 'sidecar');
		const { tools } = await connection.list();
		assert.deepEqual(tools.map(tool => tool.name), declared.map(tool => tool.name));
		tools.forEach((tool, i) => assert.deepEqual({ ...declared[i], ...tool }, tool));
		let job;
		for (const [tool, args, code] of CALLS) {
			const result = await connection.call(tool, args.job_id === '1' ? { ...args, job_id: job } : args);
			const seen = observation(tool, result);
			assert.equal(seen.error?.code ?? null, code, `${tool} ${JSON.stringify(args)}: ${JSON.stringify(seen).slice(0, 300)}`);
			job = seen.output?.job_id ?? job;
		}
		await assert.rejects(connection.call('no_such_tool', {}), { code: INVALID_PARAMS });
		const text = '\u00e9\u{1f600} "\\ \u2028\n'.repeat(1000);
		observation('write_file', await connection.call('write_file', { path: `${carrier}.txt`, content: text }));
		assert.equal(server.place.read(`${carrier}.txt`), text);
		assert.equal(observation('read_file', await connection.call('read_file', { path: `${carrier}.txt` })).output.content, text);
	});

for (const [i, { name, open }] of CONNECTIONS.entries())
	test(`${name}: ${MANY} calls at once`, async t => {
		const connection = await open(server);
		t.after(() => connection.close());
		// None of them ends before all have started, and the tools have been listed meanwhile.
		const numbers = [...Array(MANY).keys()];
		const mark = join(server.workspace, `${i}-`); // whatever directory the program takes for its workspace
		const command = n => `: >${mark}${n}; while [ ! -e ${mark}gate ]; do sleep 0.1; done; echo ${n}`;
		const calls = numbers.map(n => connection.call('run_command', { command: command(n), timeout_ms: 50000 }));
		await until(() => numbers.every(n => existsSync(`${mark}${n}`)), 'all commands run');
		assert.equal((await connection.list()).tools.length, declared.length);
		server.place.put(`${i}-gate`, '');
		const results = await Promise.all(calls);
		assert.deepEqual(results.map(result => Number(result.structuredContent.output.stdout)), numbers);
	});
