// SPDX-License-Identifier: MIT
// Whole agents, held by the commands of the README, with a model that is a script, where they are installed: `claude`,
// `codex`, `gemini`, `opencode` and `qwen`. They are too large to be installed for a test (2 GB). The script first tries the agent's own tools for
// shell, files and images: nothing may happen. Then it works with the sidecar.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BIN, environment, place } from './sidecar.mjs';

const README = readFileSync(resolve(dirname(fileURLToPath(import.meta.url)), '../../README.md'), 'utf8');
const patch = (...lines) => ['*** Begin Patch', '*** Add File: docs/answer.md', '+# The answer', '*** Update File: answer.sh', '@@',
	...lines, '*** End Patch', ''].join('\n');
const SCRIPT = [
	{ name: 'write_file', input: { path: 'answer.sh', content: 'echo $((6 * 7))\necho "done"\n' } },
	{ name: 'run_command', input: { command: 'sh answer.sh' } },
	{ name: 'edit_file', input: { path: 'answer.sh', old_text: '"done"', new_text: '"all done"' } },
	{ name: 'apply_patch', input: { patch: patch('-echo "all  done"', '+echo "now"') } },
	{ name: 'apply_patch', input: { patch: patch('-  echo "all done"', '+echo "now"') } },
	{ name: 'run_command', input: { command: 'seq 30000; echo LAST ERROR HERE >&2; exit 2' } },
	{ name: 'read_file', input: { path: 'output:1', start_line: 15000, end_line: 15002 } },
];
// The same with the names that models know from other tools. Gemini CLI and Qwen Code compare arguments with the schema
// and do not pass these on.
const OTHER = { path: 'file_path', old_text: 'old_string', new_text: 'new_string', command: 'cmd' };
const AKIN = SCRIPT.map(step => ({ ...step,
	input: Object.fromEntries(Object.entries(step.input).map(([name, value]) => [OTHER[name] ?? name, value])) }));
const LAST = 'The answer is 42.';

/** A model that streams: `speak` writes the next call of the script, or the last words, as its events. */
async function model(t, speak, always = () => false) {
	const heard = [];
	const http = createServer((req, res) => {
		let text = '';
		req.setEncoding('utf8').on('data', part => text += part).on('end', () => {
			const body = text ? JSON.parse(text) : {};
			if (!body.tools?.length && !always(body)) // who is there, which models, how many tokens
				return res.setHeader('Content-Type', 'application/json').end('{"data":[],"models":[],"input_tokens":1}');
			if (body.tools?.length)
				heard.push(body);
			res.setHeader('Content-Type', 'text/event-stream');
			for (const [type, data] of speak(body))
				res.write(type ? `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n` : `data: ${data}\n\n`);
			res.end();
		});
	});
	await new Promise(done => http.listen(0, '127.0.0.1', done));
	t.after(() => http.close());
	return { url: `http://127.0.0.1:${http.address().port}`, heard };
}

/** Every file of a folder, with its bytes. */
function files(folder) {
	return Object.fromEntries(readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
		.map(entry => join(entry.parentPath ?? entry.path, entry.name)).sort().map(name => [name, readFileSync(name, 'utf8')]));
}

/** A place outside the workspace, which only the agent's own tools could reach. */
function bait(t) {
	const agent = place();
	t.after(agent.remove);
	const outside = join(agent.folder, 'outside');
	mkdirSync(outside);
	writeFileSync(join(outside, 'secret.txt'), 'the secret of the bait\n');
	return { agent, outside, made: join(outside, 'made') };
}

/** Each of these runs something outside when the agent starts: without the sidecar it does, and `--check` names it. */
async function tryWays({ agent, outside, script = [], ways = [] }, check, start, options) {
	const steps = script.splice(0), names = readdirSync(agent.workspace), before = files(agent.workspace);
	for (const [name, text, reason] of ways) {
		const file = join(agent.folder, name), canary = join(outside, 'canary');
		const was = existsSync(file) ? readFileSync(file, 'utf8') : null;
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, text(canary, was && JSON.parse(was)));
		await start().catch(() => {}); // what it ran may be of no use to it
		assert.ok(existsSync(canary), `${name}: ${reason}`);
		rmSync(canary);
		const said = spawnSync('sh', ['-c', check], options);
		assert.equal(said.status, 1, reason);
		assert.ok(said.stdout.toString().includes(reason), `${said.stdout}${said.stderr}`);
		was === null ? rmSync(file) : writeFileSync(file, was);
	}
	readdirSync(agent.workspace).filter(name => !names.includes(name))
		.forEach(name => rmSync(join(agent.workspace, name), { recursive: true }));
	Object.entries(before).forEach(([name, text]) => writeFileSync(name, text));
	script.push(...steps);
}

/** Runs the README's command for the agent, then the agent, in a project of its own; then takes the command back. */
async function work(t, trap, line, settings, ...words) {
	const { agent, outside, config = {}, edits } = trap;
	const home = join(agent.folder, 'home'), bin = dirname(BIN);
	mkdirSync(home);
	for (const [name, value] of Object.entries(config)) {
		mkdirSync(dirname(join(agent.folder, name)), { recursive: true });
		writeFileSync(join(agent.folder, name), JSON.stringify(value));
	}
	const env = { ...environment('text'), ...settings, HOME: home, PATH: [bin, process.env.PATH].join(delimiter) };
	const options = { env, cwd: agent.workspace, timeout: 240_000 };
	const run = promisify(execFile);
	const shown = README.match(new RegExp(`^\\| \\[${line}\\].* \\| \`(.*)\` \\| yes.*\\|$`, 'm'));
	assert.ok(shown, `the README has a line for ${line}`);
	const start = () => {
		const started = run(words[0], words.slice(1), options);
		started.child.stdin.end();
		return started;
	};
	const check = shown[1].replace(/setup (\w+).*/, 'setup --check $1');
	await tryWays(trap, check, start, options);
	const before = files(agent.workspace);
	await run('sh', ['-c', `${shown[1]} --yes`], options);
	await run('sh', ['-c', check], options);
	const { stdout } = await start();
	assert.ok(stdout.includes(LAST), stdout);
	assert.equal(agent.read('answer.sh'), SCRIPT[0].input.content.replace('"done"', '"now"'));
	assert.equal(agent.read('docs/answer.md'), '# The answer\n');
	assert.deepEqual(readdirSync(outside), ['secret.txt']);
	await run('sh', ['-c', `${shown[1].replace('--only', '--undo')} --yes`], options);
	const after = files(agent.workspace);
	['answer.sh', 'docs/answer.md'].forEach(name => delete after[join(agent.workspace, name)]);
	if (edits) { // the agent itself adds a schema or a version to this file, so only our part is taken out of it
		const file = join(agent.workspace, edits), { $schema, $version, ...left } = JSON.parse(after[file]);
		assert.ok($schema ?? $version);
		assert.deepEqual(left, JSON.parse(before[file] ?? '{}'));
		[file, `${file}.orig`].forEach(name => [before, after].forEach(all => delete all[name]));
	}
	assert.deepEqual(after, before);
}

/** The attempts were answered, and no answer has what only the agent's own tools could have read. */
function checkAttempts(texts, refusal) {
	texts.forEach(text => assert.match(text, refusal));
	texts.forEach(text => assert.ok(!text.includes('the secret of the bait'), text));
}

/** The texts that the model has read are what a person would see in a terminal, and say how to read the rest. */
function check(texts) {
	const [written, ran, edited, refused, patched, long, rest] = texts;
	assert.equal(texts.length, SCRIPT.length);
	assert.match(written, /answer\.sh/);
	assert.match(ran, /^\[exit 0, .*\]\n42\ndone\n/);
	assert.match(edited, /^\[edited answer\.sh, \+1 -1\]\n[^]*\n-2 echo "done"\n\+2 echo "all done"/);
	assert.match(refused, /^TEXT_NOT_FOUND: answer\.sh: hunk 1 of 1 \(line 5 of the patch\)[^]* Line 2 of the file is [^]*Nothing was changed\.\n/);
	assert.match(patched, /^\[patched 2 files, \+2 -1\]\n\[created docs\/answer\.md, \+1\]\n\[edited answer\.sh, \+1 -1\]\n[^]*\n\+2 echo "now"\n\[fuzz: answer\.sh: /);
	assert.match(long, /^\[exit 2, .*; all of it: output:1\]\n1\n2\n/);
	assert.match(long, /\n30000\nLAST ERROR HERE\n/);
	assert.match(long, /\n\[… [\d,]+ lines, \d+ KB left out: read_file path="output:1" start_line=\d+\]\n/);
	assert.match(rest, /^15000\n15001\n15002\n/);
	texts.forEach(text => assert.ok(!text.includes('\\n'), text)); // nothing is escaped
}

/** An error does not bring the call's arguments again. */
function checkErrors(texts) {
	const refused = texts.at(3 - SCRIPT.length);
	assert.match(refused, /TEXT_NOT_FOUND: answer\.sh: hunk 1 of 1/);
	assert.ok(!refused.includes('Begin Patch'), refused);
}

/** The text of a tool's result, which clients pass on as a string or in blocks. */
function textOf(content) {
	return Array.isArray(content) ? content.map(block => block.text).join('') : content;
}

function missing(program) {
	return spawnSync(program, ['--version']).status === 0 ? false : `${program} is not installed`;
}

test('Claude Code', { skip: missing('claude') }, async t => {
	const results = body => body.messages.flatMap(m => Array.isArray(m.content) ? m.content : [])
		.filter(part => part.type === 'tool_result');
	const trap = bait(t);
	const attempts = [
		{ name: 'Bash', input: { command: `touch ${trap.made}`, description: 'try' } },
		{ name: 'Write', input: { file_path: trap.made, content: 'x' } },
		{ name: 'Read', input: { file_path: join(trap.outside, 'secret.txt') } },
		{ name: 'Edit', input: { file_path: join(trap.outside, 'secret.txt'), old_string: 'the', new_string: 'a' } },
		{ name: 'Grep', input: { pattern: 'secret', path: trap.outside, output_mode: 'content' } },
		{ name: 'Monitor', input: { command: `touch ${trap.made}`, description: 'try' } },
	];
	const script = [...attempts, ...AKIN.map(step => ({ ...step, name: `mcp__sidecar__${step.name}` }))];
	const { url, heard } = await model(t, body => {
		const step = script[results(body).length];
		const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null,
			stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
		const [block, delta] = step
			? [{ type: 'tool_use', id: `toolu_${results(body).length}`, name: step.name, input: {} },
				{ type: 'input_json_delta', partial_json: JSON.stringify(step.input) }]
			: [{ type: 'text', text: '' }, { type: 'text_delta', text: LAST }];
		return [
			['message_start', { message }],
			['content_block_start', { index: 0, content_block: block }],
			['content_block_delta', { index: 0, delta }],
			['content_block_stop', { index: 0 }],
			['message_delta', { delta: { stop_reason: step ? 'tool_use' : 'end_turn', stop_sequence: null },
				usage: { output_tokens: 1 } }],
			['message_stop', {}],
		];
	});
	const hook = canary => ({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `touch ${canary}` }] }] } });
	trap.script = script;
	trap.ways = [
		['ws/.claude/settings.local.json', canary => JSON.stringify(hook(canary)), 'hooks.SessionStart in'],
		['home/.claude/settings.json', canary => JSON.stringify(hook(canary)), 'hooks.SessionStart in'],
		['home/.claude.json', (canary, was) => JSON.stringify({ ...was, mcpServers: { x: { command: 'touch', args: [canary] } } }),
			'mcpServers.x in'],
	];
	const settings = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
	await work(t, trap, 'Claude Code', settings, 'claude', '-p', 'compute it',
		'--allowedTools', script.map(step => step.name).join());
	const texts = results(heard.at(-1)).map(part => textOf(part.content));
	checkAttempts(texts.slice(0, attempts.length), /No such tool available|Not available here/);
	check(texts.slice(attempts.length));
	const shown = heard.at(-1).tools.map(tool => tool.name);
	attempts.forEach(step => assert.ok(!shown.includes(step.name), step.name));
});

test('Codex', { skip: missing('codex') }, async t => {
	const results = body => body.input.filter(item => /^(function|custom_tool)_call_output$/.test(item.type));
	const trap = bait(t);
	const patch = `*** Begin Patch\n*** Add File: ${trap.made}\n+x\n*** End Patch\n`;
	const call = (name, args, more) => ({ type: 'function_call', name, arguments: JSON.stringify(args), ...more });
	const attempts = [
		call('exec_command', { cmd: `touch ${trap.made}` }),
		call('shell', { command: ['touch', trap.made] }),
		{ type: 'custom_tool_call', name: 'apply_patch', input: patch },
		{ type: 'custom_tool_call', name: 'apply_patch', input: patch.replace(trap.made, 'made-in-the-project') },
		call('view_image', { path: join(trap.outside, 'secret.txt') }),
	];
	const script = [...attempts, ...AKIN.map(step => call(step.name, step.input, { namespace: 'mcp__sidecar' }))];
	const { url, heard } = await model(t, body => {
		const n = results(body).length;
		const item = script[n] ? { id: `fc_${n}`, call_id: `call_${n}`, ...script[n] }
			: { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: LAST }] };
		const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
		return [
			['response.created', { response: { id: 'resp_1' } }],
			['response.output_item.done', { output_index: 0, item }],
			['response.completed', { response: { id: 'resp_1', usage } }],
		];
	});
	trap.script = script;
	trap.ways = [['home/.codex/config.toml', canary => `notify = ["touch", "${canary}"]\n`, 'notify in'],
		['home/.codex/config.toml', canary => `[mcp_servers.x]\ncommand = "touch"\nargs = ["${canary}"]\n`, 'the MCP server x in']];
	// A model of its catalogue that has apply_patch: an unknown one does not.
	await work(t, trap, 'Codex', { NO_KEY: 'none' }, 'codex', 'exec', '--skip-git-repo-check', '-c', 'model="gpt-5.5"',
		'-c', 'model_provider="scripted"',
		'-c', `model_providers.scripted={name="scripted",base_url="${url}/v1",wire_api="responses",env_key="NO_KEY"}`, 'compute it');
	const texts = results(heard.at(-1)).map(item => textOf(item.output));
	checkAttempts(texts.slice(0, attempts.length), /unsupported (custom tool )?call|patch rejected/);
	// It puts a line of its own before each result.
	check(texts.slice(attempts.length).map(text => text.replace(/^(Wall time: .*\n)?Output:\n?/, '')));
});

/** What every agent of the next three calls: its own tools, by their names, then the sidecar's. */
function scriptOf(attempts, prefix, first = []) {
	return [...attempts, ...first, ...SCRIPT.map(step => ({ ...step, name: prefix + step.name }))];
}

test('Gemini CLI', { skip: missing('gemini') }, async t => {
	const results = body => body.contents.flatMap(m => m.parts).filter(part => part.functionResponse);
	const trap = bait(t);
	const secret = join(trap.outside, 'secret.txt');
	const attempts = [
		{ name: 'run_shell_command', input: { command: `touch ${trap.made}` } },
		{ name: 'write_file', input: { file_path: trap.made, content: 'x' } },
		{ name: 'read_file', input: { file_path: secret, absolute_path: secret } },
		{ name: 'replace', input: { file_path: secret, old_string: 'the', new_string: 'a', instruction: 'try' } },
	];
	const script = scriptOf(attempts, 'mcp_sidecar_');
	const { url, heard } = await model(t, body => {
		const n = body.tools ? results(body).length : script.length;
		const part = script[n] ? { functionCall: { name: script[n].name, args: script[n].input, id: `g${n}` } } : { text: LAST };
		return [[null, JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }] })]];
	});
	trap.config = { 'home/.gemini/settings.json': { security: { auth: { selectedType: 'gemini-api-key' } },
		privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false } } };
	trap.script = script;
	trap.ways = [['home/.gemini/settings.json', (canary, was) => JSON.stringify({ ...was, tools: { discoveryCommand: `touch ${canary}` } }),
		'tools.discoveryCommand in'],
		['home/.gemini/settings.json', (canary, was) => JSON.stringify({ ...was,
			hooks: { SessionStart: [{ hooks: [{ type: 'command', name: 'x', command: `touch ${canary}` }] }] } }), 'hooks.SessionStart in']];
	await work(t, trap, 'Gemini CLI', { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
		'gemini', '-m', 'gemini-2.5-flash', '--approval-mode=yolo', '-p', 'compute it');
	const texts = results(heard.at(-1)).map(part => JSON.stringify(part.functionResponse.response));
	assert.equal(texts.length, script.length);
	checkAttempts(texts.slice(0, attempts.length), /not found/);
	checkErrors(texts);
});

/** The wire of opencode and Qwen Code. */
const chatResults = body => body.messages.filter(message => message.role === 'tool');

function chatModel(t, script) {
	return model(t, body => {
		const n = body.tools?.length ? chatResults(body).length : script.length;
		const call = script[n] && { index: 0, id: `call_${n}`, type: 'function',
			function: { name: script[n].name, arguments: JSON.stringify(script[n].input) } };
		const chunk = (delta, finish) => [null, JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'scripted',
			choices: [{ index: 0, delta, finish_reason: finish }] })];
		return [chunk(call ? { role: 'assistant', tool_calls: [call] } : { role: 'assistant', content: LAST }, null),
			chunk({}, call ? 'tool_calls' : 'stop'), [null, '[DONE]']];
	}, body => body.stream);
}

test('opencode', { skip: missing('opencode') }, async t => {
	const trap = bait(t);
	const attempts = [
		{ name: 'bash', input: { command: `touch ${trap.made}`, description: 'try' } },
		{ name: 'write', input: { filePath: trap.made, content: 'x' } },
		{ name: 'read', input: { filePath: join(trap.outside, 'secret.txt') } },
		{ name: 'grep', input: { pattern: 'secret', path: trap.outside } },
	];
	const script = scriptOf(attempts, 'sidecar_');
	const { url, heard } = await chatModel(t, script);
	trap.edits = 'opencode.json';
	trap.config = { 'ws/opencode.json': { autoupdate: false, share: 'disabled', model: 'mock/scripted', small_model: 'mock/scripted',
		permission: { bash: 'allow', '*': 'allow' }, // what setup has to take back
		provider: { mock: { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: 'none' },
			models: { scripted: { limit: { context: 200000, output: 8000 } } } } } } };
	trap.script = script;
	trap.ways = [['ws/.opencode/plugin/x.js', canary => `import { writeFileSync } from 'node:fs';
		export const X = async () => { writeFileSync('${canary}', ''); return {}; };`, 'plugin is loaded'],
	['ws/opencode.json', (canary, was) => JSON.stringify({ ...was, mcp: { x: { type: 'local', command: ['touch', canary] } } }), 'mcp.x in']];
	await work(t, trap, 'opencode', { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
		'opencode', 'run', 'compute it');
	const texts = chatResults(heard.at(-1)).map(message => textOf(message.content));
	assert.equal(texts.length, script.length);
	checkAttempts(texts.slice(0, attempts.length), /unavailable tool/);
	assert.ok(heard.at(-1).tools.every(tool => tool.function.name.startsWith('sidecar_')));
});

test('Qwen Code', { skip: missing('qwen') }, async t => {
	const trap = bait(t);
	const attempts = [
		{ name: 'run_shell_command', input: { command: `touch ${trap.made}`, description: 'try', is_background: false } },
		{ name: 'write_file', input: { file_path: trap.made, content: 'x' } },
		{ name: 'read_file', input: { file_path: join(trap.outside, 'secret.txt') } },
		{ name: 'monitor', input: { command: `touch ${trap.made}`, description: 'try' } },
	];
	const names = SCRIPT.map(step => `mcp__sidecar__${step.name}`);
	const script = scriptOf(attempts, 'mcp__sidecar__', [{ name: 'tool_search', input: { query: `select:${names.join()}` } }]);
	const { url, heard } = await chatModel(t, script);
	trap.edits = '.qwen/settings.json';
	trap.config = { 'home/.qwen/settings.json': { security: { auth: { selectedType: 'openai' } }, privacy: { usageStatisticsEnabled: false } } };
	trap.script = script;
	trap.ways = [['home/.qwen/settings.json', (canary, was) => JSON.stringify({ ...was, tools: { discoveryCommand: `touch ${canary}` } }),
		'tools.discoveryCommand in']];
	await work(t, trap, 'Qwen Code', { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'scripted' },
		'qwen', '--approval-mode=yolo', '-p', 'compute it');
	const texts = chatResults(heard.at(-1)).map(message => textOf(message.content));
	assert.equal(texts.length, script.length);
	checkAttempts(texts.slice(0, attempts.length), /declined|not found/);
	checkErrors(texts);
});
