// SPDX-License-Identifier: MIT
// What tools answer against the schemas they are declared with, judged by a validator of JSON Schema 2020-12.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CALLS, furnish } from './calls.mjs';
import { Sidecar } from './sidecar.mjs';

const FORMATS = {
	ollama: tools => tools.map(tool => tool.function.parameters),
	openai: tools => tools.map(tool => tool.function.parameters),
	'openai-strict': tools => tools.map(tool => tool.function.parameters),
	'openai-responses': tools => tools.map(tool => tool.parameters),
	anthropic: tools => tools.map(tool => tool.input_schema),
	mcp: tools => tools.flatMap(tool => [tool.inputSchema, tool.outputSchema]),
};

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true });
let server;
before(async () => {
	server = await Sidecar.start();
	furnish(server.place);
});
after(() => server.stop());

test('every schema of every dialect is a valid schema', async () => {
	for (const [format, schemas] of Object.entries(FORMATS))
		for (const schema of schemas(await server.get(`/tools?format=${format}&set=full`)))
			assert.ok(ajv.validateSchema(schema), `${format}: ${ajv.errorsText()}`);
});

test('every observation conforms to the output schema', async () => {
	const tools = await server.get('/tools?format=mcp&set=full');
	const outputs = new Map(tools.map(tool => [tool.name, ajv.compile(tool.outputSchema)]));
	for (const [tool, args, code] of CALLS) {
		const seen = await server.post(`/tools/${tool}`, args);
		const what = `${tool} ${JSON.stringify(args)}: ${JSON.stringify(seen).slice(0, 500)}`;
		assert.equal(seen.error?.code ?? null, code, what);
		const conforms = outputs.get(tool);
		assert.ok(conforms(seen), `${ajv.errorsText(conforms.errors)}\n${what}`);
	}
	const called = new Set(CALLS.filter(([, , code]) => code === null).map(([tool]) => tool));
	assert.deepEqual([...outputs.keys()].filter(name => !called.has(name)), [], 'tools that no call has succeeded with');
});

test('the input schema accepts what the tools accept', async () => {
	const lenient = new Ajv2020({ allowUnionTypes: true, coerceTypes: true }); // numbers as text are accepted as well
	for (const { name, inputSchema } of await server.get('/tools?format=mcp&set=full')) {
		const accepts = lenient.compile(inputSchema);
		for (const [, args] of CALLS.filter(([tool, , code]) => tool === name && code === null))
			assert.ok(accepts(structuredClone(args)), `${name} ${JSON.stringify(args)}: ${lenient.errorsText(accepts.errors)}`);
	}
});
