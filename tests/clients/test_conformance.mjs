// SPDX-License-Identifier: MIT
// The public conformance suite: what each revision of the protocol requires of a server, one test for each scenario
// that can pass. The rest must fail exactly as listed here, so that the list cannot become stale.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { EXPECTED } from './expected.mjs';
import { Sidecar } from './sidecar.mjs';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

let server;
before(async () => server = await Sidecar.start({ results: 'text' }));
after(() => server.stop());

/** { scenario: { passed: [checks], failed: { check: why } } }, of everything the suite runs for a revision. */
async function conformance(revision) {
	const output = join(server.place.folder, revision);
	const words = [SUITE, 'server', '--url', `${server.url}/mcp`, '--requirements', revision, '-o', output];
	await promisify(execFile)(process.execPath, words).catch(error => assert.equal(error.code, 1, error.stderr)); // 1: some failed
	const results = {};
	for (const folder of readdirSync(output)) {
		const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
		const checks = JSON.parse(readFileSync(join(output, folder, 'checks.json'), 'utf8'));
		const having = (...statuses) => checks.filter(check => statuses.includes(check.status));
		results[scenario] = {
			passed: having('SUCCESS').map(check => check.id),
			failed: Object.fromEntries(having('FAILURE', 'WARNING').map(check => [check.id, check.errorMessage])),
		};
	}
	return results;
}

for (const [revision, { pass, except, fail }] of Object.entries(EXPECTED)) {
	let running;
	const results = () => running ??= conformance(revision);

	for (const scenario of pass)
		test(`${revision}: ${scenario}`, async () => {
			const { passed, failed } = (await results())[scenario];
			assert.ok(passed.length > 0, 'nothing was checked');
			assert.deepEqual(Object.keys(failed).sort(), Object.keys(except[scenario] ?? {}).sort(), JSON.stringify(failed, null, 1));
		});

	test(`${revision}: the rest cannot pass`, async () => {
		const others = Object.entries(await results()).filter(([scenario]) => !pass.includes(scenario));
		assert.deepEqual(others.map(([scenario]) => scenario).sort(), Object.keys(fail).sort());
		for (const [scenario, { passed, failed }] of others)
			assert.ok(passed.length === 0 || Object.keys(failed).length > 0, `${scenario} passes now`);
	});
}
