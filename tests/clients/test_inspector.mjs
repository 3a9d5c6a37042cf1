// SPDX-License-Identifier: MIT
// The Inspector's command line, in every era it speaks, over stdio and HTTP.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BIN, Sidecar, environment } from './sidecar.mjs';

const INSPECTOR = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/package.json'))
	.replace('package.json', 'clients/launcher/build/index.js');
const TARGETS = {
	stdio: server => ['--cwd', server.workspace, '--', BIN, 'mcp', '--mcp-results', server.results],
	http: server => ['--server-url', `${server.url}/mcp`, '--transport', 'http'],
};

const servers = {};
before(async () => {
	for (const results of ['structured', 'text']) {
		servers[results] = await Sidecar.start({ results });
		servers[results].place.put('a.txt', 'one\n');
	}
});
after(() => Promise.all(Object.values(servers).map(server => server.stop())));

/** { code, result, stderr } of one run of the Inspector. */
async function inspect(results, target, era, ...options) {
	const server = servers[results];
	const words = [INSPECTOR, '--cli', '--protocol-era', era, '--format', 'json', ...options, ...TARGETS[target](server)];
	const env = { ...environment(results), HOME: server.place.folder }; // it keeps a catalog there
	const done = await promisify(execFile)(process.execPath, words, { env }).catch(error => error);
	assert.ok(done.stdout, done.stderr);
	return { code: done.code ?? 0, result: JSON.parse(done.stdout).result, stderr: done.stderr };
}

for (const target of Object.keys(TARGETS))
	for (const era of ['legacy', 'auto', 'modern']) {
		test(`${target}, ${era}: the tools are listed, and are portable`, async () => {
			const { code, result, stderr } = await inspect('structured', target, era, '--method', 'tools/list', '--strict');
			assert.equal(code, 0, stderr);
			// Schemas of results say "or null"; nothing that a model has to fill in does.
			for (const [, path] of stderr.matchAll(/^ *Path: (.*)$/gm))
				assert.match(path, /^outputSchema\b/, stderr);
			const declared = await servers.structured.get('/tools?format=mcp');
			assert.deepEqual(result.tools.map(tool => tool.name), declared.map(tool => tool.name));
		});

		test(`${target}, ${era}: tools are called`, async () => {
			const good = await inspect('structured', target, era, '--method', 'tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=a.txt');
			assert.deepEqual([good.code, good.result.structuredContent.output.content], [0, 'one\n']);
			const bad = await inspect('structured', target, era, '--method', 'tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=none');
			assert.equal(bad.result.isError, true);
			assert.equal(bad.result.structuredContent.error.code, 'FILE_NOT_FOUND');
		});

		test(`${target}, ${era}: results are text`, async () => {
			const { code, stderr } = await inspect('text', target, era, '--method', 'tools/list', '--strict');
			assert.deepEqual([code, stderr.match(/^ *Path:/m)], [0, null], stderr);
			const { result } = await inspect('text', target, era, '--method', 'tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=a.txt');
			assert.deepEqual(result.content, [{ type: 'text', text: 'one\n' }]);
		});
	}
