// SPDX-License-Identifier: MIT
// The libraries of model providers through a whole loop: the definitions from GET /tools go into the request as
// they are, what the model calls goes to POST /tools as it is, and the answer goes back to the model as it is.
// The model is a script behind a local endpoint that speaks the provider's format.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { Sidecar } from './sidecar.mjs';

// What the model calls, turn by turn, and then says.
const SCRIPT = [
	[{ name: 'write_file', arguments: { path: 'loop/answer.sh', content: 'echo $((6 * 7))\n' } }],
	[{ name: 'run_command', arguments: { command: 'sh loop/answer.sh', timeout_ms: '20000' } }],
	[{ name: 'read_file', arguments: { path: 'loop/none.txt' } }],
	[
		{ name: 'search_files', arguments: { pattern: 'e.ho', path: 'loop' } },
		{ name: 'list_directory', arguments: { path: 'loop' } },
	],
];
const LAST = 'The answer is 42.';
const MODEL = 'scripted';

let server;
before(async () => server = await Sidecar.start());
after(() => server.stop());

/** An endpoint that answers each request with what `speak` makes of the script's next turn. */
async function endpoint(t, speak) {
	const heard = [];
	const http = createServer((req, res) => {
		let text = '';
		req.setEncoding('utf8').on('data', part => text += part).on('end', () => {
			const turn = SCRIPT[heard.length];
			heard.push(JSON.parse(text));
			const calls = turn?.map((call, i) => ({ ...call, id: `call_${heard.length}_${i}` }));
			res.setHeader('Content-Type', 'application/json').end(JSON.stringify(speak(calls)));
		});
	});
	await new Promise(done => http.listen(0, '127.0.0.1', done));
	t.after(() => http.close());
	return { url: `http://127.0.0.1:${http.address().port}`, heard };
}

/** What the model was told of its calls, in the order of the script: the observations. */
function judge(observations) {
	assert.equal(observations.length, SCRIPT.flat().length);
	observations.forEach((seen, i) => assert.equal(seen.tool, SCRIPT.flat()[i].name));
	const [written, run, missing, found, listed] = observations;
	assert.deepEqual(written.output, { path: 'loop/answer.sh', bytes_written: 16, created: written.output.created });
	assert.deepEqual([run.output.stdout, run.output.exit_code], ['42\n', 0]);
	assert.deepEqual([missing.success, missing.error.code], [false, 'FILE_NOT_FOUND']);
	assert.deepEqual(found.output.matches, [{ file: 'loop/answer.sh', line: 1, content: 'echo $((6 * 7))' }]);
	assert.deepEqual(listed.output.entries, [{ name: 'answer.sh', type: 'file', size: 16 }]);
	assert.equal(server.place.read('loop/answer.sh'), SCRIPT[0][0].arguments.content);
}

/** Sends what the model calls and collects what is to be fed back. */
async function answers(reply, calls) {
	const all = [];
	for (const call of calls)
		all.push(await server.post(`/tools?reply=${reply}`, call));
	return all;
}

test('ollama', async t => {
	const { url, heard } = await endpoint(t, calls => ({
		model: MODEL, created_at: '2026-01-01T00:00:00Z', done: true, done_reason: 'stop',
		message: calls ? { role: 'assistant', content: '', tool_calls: calls.map(({ name, arguments: args }) =>
			({ function: { name, arguments: args } })) } : { role: 'assistant', content: LAST },
	}));
	const client = new Ollama({ host: url });
	const tools = await server.get('/tools');
	const messages = [{ role: 'user', content: 'What is the answer?' }];
	let message;
	for (;;) {
		({ message } = await client.chat({ model: MODEL, messages, tools }));
		messages.push(message);
		if (!message.tool_calls)
			break;
		messages.push(...await answers('ollama', message.tool_calls));
	}
	assert.equal(message.content, LAST);
	assert.deepEqual(heard[0].tools, tools);
	const told = heard.at(-1).messages.filter(m => m.role === 'tool');
	assert.deepEqual(told.map(m => m.tool_name), SCRIPT.flat().map(call => call.name));
	judge(told.map(m => JSON.parse(m.content)));
});

async function openaiChat(t, format, fill) {
	const tools = await server.get(`/tools?format=${format}`);
	const { url, heard } = await endpoint(t, calls => ({
		id: 'chat', object: 'chat.completion', created: 1, model: MODEL,
		choices: [{ index: 0, finish_reason: calls ? 'tool_calls' : 'stop', message: calls ? {
			role: 'assistant', content: null, tool_calls: calls.map(({ id, name, arguments: args }) =>
				({ id, type: 'function', function: { name, arguments: JSON.stringify(fill(tools, name, args)) } })),
		} : { role: 'assistant', content: LAST } }],
	}));
	const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
	const messages = [{ role: 'user', content: 'What is the answer?' }];
	let message;
	for (;;) {
		({ choices: [{ message }] } = await client.chat.completions.create({ model: MODEL, messages, tools }));
		messages.push(message);
		if (!message.tool_calls)
			break;
		messages.push(...await answers('openai', message.tool_calls));
	}
	assert.equal(message.content, LAST);
	assert.deepEqual(heard[0].tools, tools);
	const said = heard.at(-1).messages;
	const told = said.filter(m => m.role === 'tool');
	assert.deepEqual(told.map(m => m.tool_call_id), said.flatMap(m => m.tool_calls ?? []).map(call => call.id));
	judge(told.map(m => JSON.parse(m.content)));
}

test('openai, chat completions', t => openaiChat(t, 'openai', (tools, name, args) => args));

// A strict schema makes the model give every argument: null stands for those it does not want.
test('openai, chat completions, strict', t => openaiChat(t, 'openai-strict', (tools, name, args) => {
	const { parameters } = tools.map(tool => tool.function).find(f => f.name === name);
	return Object.fromEntries(parameters.required.map(argument => [argument, args[argument] ?? null]));
}));

test('openai, responses', async t => {
	const { url, heard } = await endpoint(t, calls => ({
		id: 'resp', object: 'response', created_at: 1, model: MODEL, status: 'completed', tools: [],
		output: calls ? calls.map(({ id, name, arguments: args }) =>
			({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: JSON.stringify(args), status: 'completed' })) :
			[{ type: 'message', id: 'msg', role: 'assistant', status: 'completed',
				content: [{ type: 'output_text', text: LAST, annotations: [] }] }],
	}));
	const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
	const tools = await server.get('/tools?format=openai-responses');
	const input = [{ role: 'user', content: 'What is the answer?' }];
	let response;
	for (;;) {
		response = await client.responses.create({ model: MODEL, input, tools });
		input.push(...response.output);
		const calls = response.output.filter(item => item.type === 'function_call');
		if (calls.length === 0)
			break;
		input.push(...await answers('openai', calls));
	}
	assert.equal(response.output_text, LAST);
	assert.deepEqual(heard[0].tools, tools);
	const said = heard.at(-1).input;
	const told = said.filter(item => item.type === 'function_call_output');
	assert.deepEqual(told.map(item => item.call_id), said.filter(item => item.type === 'function_call').map(item => item.call_id));
	judge(told.map(item => JSON.parse(item.output)));
});

test('anthropic', async t => {
	const { url, heard } = await endpoint(t, calls => ({
		id: 'msg', type: 'message', role: 'assistant', model: MODEL, usage: { input_tokens: 1, output_tokens: 1 },
		stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null,
		content: calls ? calls.map(({ id, name, arguments: args }) => ({ type: 'tool_use', id, name, input: args })) :
			[{ type: 'text', text: LAST }],
	}));
	const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
	const tools = await server.get('/tools?format=anthropic');
	const messages = [{ role: 'user', content: 'What is the answer?' }];
	let message;
	for (;;) {
		message = await client.messages.create({ model: MODEL, max_tokens: 1000, messages, tools });
		messages.push({ role: 'assistant', content: message.content });
		if (message.stop_reason !== 'tool_use')
			break;
		const calls = message.content.filter(block => block.type === 'tool_use');
		messages.push({ role: 'user', content: await answers('anthropic', calls) });
	}
	assert.equal(message.content[0].text, LAST);
	assert.deepEqual(heard[0].tools, tools);
	const blocks = heard.at(-1).messages.flatMap(m => Array.isArray(m.content) ? m.content : []);
	const told = blocks.filter(block => block.type === 'tool_result');
	assert.deepEqual(told.map(block => block.tool_use_id), blocks.filter(block => block.type === 'tool_use').map(block => block.id));
	assert.deepEqual(told.map(block => block.is_error ?? false), [false, false, true, false, false]);
	judge(told.map(block => JSON.parse(block.content)));
});

test('gemini', async t => {
	const { url, heard } = await endpoint(t, calls => ({
		modelVersion: MODEL,
		candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: calls ?
			calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } })) : [{ text: LAST }] } }],
	}));
	const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } });
	const tools = await server.get('/tools?format=gemini');
	const contents = [{ role: 'user', parts: [{ text: 'What is the answer?' }] }];
	let response;
	for (;;) {
		response = await client.models.generateContent({ model: MODEL, contents, config: { tools } });
		contents.push(response.candidates[0].content);
		if (!response.functionCalls)
			break;
		contents.push({ role: 'user', parts: await answers('gemini', response.functionCalls) });
	}
	assert.equal(response.text, LAST);
	assert.deepEqual(heard[0].tools, tools);
	const parts = heard.at(-1).contents.flatMap(content => content.parts);
	const told = parts.filter(part => part.functionResponse).map(part => part.functionResponse);
	assert.deepEqual(told.map(({ id, name }) => [id, name]),
		parts.filter(part => part.functionCall).map(({ functionCall: { id, name } }) => [id, name]));
	judge(told.map(answer => answer.response));
});
