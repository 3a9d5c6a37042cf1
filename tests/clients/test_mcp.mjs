// SPDX-License-Identifier: MIT
// The MCP SDKs over every connection: the tools are listed, and called in every way that succeeds or fails,
// and many at once.
import assert from 'node:assert/strict';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CALLS, furnish } from './calls.mjs';
import { CONNECTIONS } from './connections.mjs';
import { Sidecar, until } from './sidecar.mjs';

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const MANY = 20;
const INVALID_PARAMS = -32602;

const servers = {}, declared = {};
let validators;
before(async () => {
	for (const results of ['structured', 'text']) {
		servers[results] = await Sidecar.start({ results });
		declared[results] = await servers[results].get('/tools?format=mcp');
	}
	validators = new Map(declared.structured.map(tool => [tool.name, ajv.compile(tool.outputSchema)]));
});
after(() => Promise.all(Object.values(servers).map(server => server.stop())));

/** What a result says: its error's code or null, and its text or the text of its output. */
const READERS = {
	/** Structured content, which conforms to the schema and stands in a text block as well. */
	structured(tool, result) {
		const seen = result.structuredContent;
		const conforms = validators.get(tool);
		assert.ok(conforms(seen), `${ajv.errorsText(conforms.errors)}: ${JSON.stringify(result).slice(0, 500)}`);
		assert.deepEqual(result.content.map(block => block.type), ['text']);
		assert.deepEqual(JSON.parse(result.content[0].text), seen);
		assert.equal(result.isError ?? false, !seen.success);
		assert.equal(seen.tool, tool);
		const { job_id: job, content, stdout } = seen.output ?? {};
		return { code: seen.error?.code ?? null, job, text: content ?? stdout };
	},
	/** One block of text and nothing else. */
	text(tool, result) {
		assert.deepEqual(result.content.map(block => block.type), ['text']);
		assert.equal(result.structuredContent, undefined);
		const { text } = result.content[0];
		assert.ok(text.length > 0 && Buffer.byteLength(text) <= 32000, `${tool}: ${text.slice(0, 100)}`);
		const code = result.isError ? text.match(/^([A-Z_]+): ./)[1] : null;
		return { code, job: text.match(/^\[job (\d+) runs/)?.[1], text: text.replace(/^\[exit .*?\]\n/, '') };
	},
};

const WAYS = Object.keys(READERS).flatMap(results =>
	CONNECTIONS.map(connection => ({ ...connection, results, read: READERS[results], title: `${connection.name}, ${results}` })));

for (const { title, version, carrier, open, results, read } of WAYS)
	test(`${title}: every tool`, async t => {
		const server = servers[results];
		furnish(server.place);
		const connection = await open(server);
		t.after(() => connection.close());
		assert.equal(connection.client.getNegotiatedProtocolVersion?.() ?? version, version);
		assert.equal(connection.client.getServerVersion().name, 'sidecar');
		const { tools } = await connection.list();
		assert.deepEqual(tools.map(tool => tool.name), declared[results].map(tool => tool.name));
		tools.forEach((tool, i) => assert.deepEqual({ ...declared[results][i], ...tool }, tool));
		let job;
		for (const [tool, args, code] of CALLS) {
			const result = await connection.call(tool, args.job_id === '1' ? { ...args, job_id: job } : args);
			const seen = read(tool, result);
			const wanted = code === 'FILE_TOO_LARGE' ? null : code; // the first page is shown instead
			assert.equal(seen.code, wanted, `${tool} ${JSON.stringify(args)}: ${JSON.stringify(result).slice(0, 300)}`);
			job = seen.job ?? job;
		}
		await assert.rejects(connection.call('no_such_tool', {}), { code: INVALID_PARAMS });
		const text = '\u00e9\u{1f600} "\\ \u2028\n'.repeat(1000);
		read('write_file', await connection.call('write_file', { path: `${carrier}.txt`, content: text }));
		assert.equal(server.place.read(`${carrier}.txt`), text);
		assert.equal(read('read_file', await connection.call('read_file', { path: `${carrier}.txt` })).text, text);
	});

for (const [i, { title, open, results, read }] of WAYS.entries())
	test(`${title}: ${MANY} calls at once`, async t => {
		const server = servers[results];
		const connection = await open(server);
		t.after(() => connection.close());
		// None of them ends before all have started, and the tools have been listed meanwhile.
		const numbers = [...Array(MANY).keys()];
		const mark = join(server.workspace, `${i}-`); // whatever directory the program takes for its workspace
		const command = n => `: >${mark}${n}; while [ ! -e ${mark}gate ]; do sleep 0.1; done; echo ${n}`;
		const calls = numbers.map(n => connection.call('run_command', { command: command(n), timeout_ms: 50000 }));
		await until(() => numbers.every(n => existsSync(`${mark}${n}`)), 'all commands run');
		assert.equal((await connection.list()).tools.length, declared[results].length);
		server.place.put(`${i}-gate`, '');
		const answers = await Promise.all(calls);
		assert.deepEqual(answers.map(result => Number.parseInt(read('run_command', result).text, 10)), numbers);
	});

test('a search in an installed project finds its own lines', async t => {
	const server = await Sidecar.start({ results: 'text' });
	t.after(() => server.stop());
	const [from, to] = [import.meta.dirname, server.place.workspace].map(top => join(top, 'node_modules/@modelcontextprotocol'));
	cpSync(from, to, { recursive: true });
	server.place.put('package.json', '{}');
	server.place.put('src/app.js', 'export const own = 1;\n');
	const connection = await CONNECTIONS[0].open(server);
	t.after(() => connection.close());
	const search = async args => (await connection.call('search_files', { pattern: 'export', ...args })).content[0].text;
	assert.match(await search({}), /^src\/app.js\n1: export const own = 1;\n\n\[1 match in 1 file; skipped: node_modules \(/);
	assert.match(await search({ path: 'node_modules' }), /^node_modules\/@modelcontextprotocol\//);
});
