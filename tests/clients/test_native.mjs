// SPDX-License-Identifier: MIT
// Providers' own tools: every definition, call and answer against the types of the providers' libraries, judged by the
// TypeScript compiler. The packages are those of packages/, which come with their types.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Sidecar } from './sidecar.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGES = resolve(HERE, '../../packages');
const TSC = join(PACKAGES, 'node_modules/typescript/bin/tsc');

const use = (name, input, id = 'toolu_1') => ({ type: 'tool_use', id, name, input });
const edit = (command, more) => use('str_replace_based_edit_tool', { command, path: '/src/a.txt', ...more });
const remember = (command, more) => use('memory', { command, ...more });
const patch = operation => ({ type: 'apply_patch_call', call_id: 'call_1', status: 'completed', operation });
const shell = action => ({ type: 'shell_call', call_id: 'call_2', action });
const local = action => ({
	type: 'local_shell_call', id: 'lsh_1', call_id: 'call_3', status: 'completed', action: { type: 'exec', env: {}, ...action },
});

// In this order: some find what others have made. [call, whether it succeeds]
const ANTHROPIC = [
	[edit('create', { file_text: 'one\ntwo\nthree\n' }), true],
	[edit('view'), true],
	[edit('view', { view_range: [2, -1] }), true],
	[use('str_replace_based_edit_tool', { command: 'view', path: '/' }), true],
	[edit('str_replace', { old_str: 'two', new_str: '2' }), true],
	[edit('str_replace', { old_str: 'none', new_str: '2' }), false],
	[edit('insert', { insert_line: 1, insert_text: 'x' }), true],
	[use('str_replace_editor', { command: 'undo_edit', path: '/src/a.txt' }), true],
	[use('str_replace_based_edit_tool', { command: 'view', path: '/dot.png' }), true],
	[edit('view', { path: '../x' }), false],
	[use('bash', { command: 'echo hi; cd src' }), true],
	[use('bash', { command: 'exit 3' }), false],
	[use('bash', { command: 'sudo ls' }), false],
	[use('bash', { restart: true }), true],
	[remember('create', { path: '/memories/a', file_text: 'x\n' }), true],
	[remember('create', { path: '/memories/a', file_text: 'x\n' }), false],
	[remember('view', { path: '/memories' }), true],
	[remember('view', { path: '/memories/a', view_range: [1, 1] }), true],
	[remember('str_replace', { path: '/memories/a', old_str: 'x', new_str: 'y' }), true],
	[remember('insert', { path: '/memories/a', insert_line: 0, insert_text: 'z' }), true],
	[remember('rename', { old_path: '/memories/a', new_path: '/memories/b' }), true],
	[remember('delete', { path: '/memories/b' }), true],
	[remember('delete', { path: '/memories/b' }), false],
];
// [name of the type, call, what says that it succeeded]
const OPENAI = [
	['ApplyPatchCall', patch({ type: 'create_file', path: 'p.txt', diff: '+one\n+two\n' }), a => a.status === 'completed'],
	['ApplyPatchCall', patch({ type: 'update_file', path: 'p.txt', diff: '@@\n-one\n+1\n' }), a => a.status === 'completed'],
	['ApplyPatchCall', patch({ type: 'update_file', path: 'p.txt', diff: '@@\n-one\n+1\n' }), a => a.status === 'failed'],
	['ApplyPatchCall', patch({ type: 'delete_file', path: 'p.txt' }), a => a.status === 'completed'],
	['ShellCall', shell({ commands: ['echo out; echo err >&2', 'exit 3'] }), a => a.output[1].outcome.exit_code === 3],
	['ShellCall', shell({ commands: ['sleep 60'], timeout_ms: 200, max_output_length: 100 }),
		a => a.output[0].outcome.type === 'timeout' && a.max_output_length === 100],
	['ShellCall', shell({ commands: ['sudo ls'] }), a => a.output[0].outcome.exit_code === 126],
	['LocalShellCall', local({ command: ['echo', 'hi'], env: { A: 'b' }, working_directory: '/', timeout_ms: 5000 }),
		a => JSON.parse(a.output).stdout === 'hi\n' && a.id === 'call_3'],
	['LocalShellCall', local({ command: ['none'] }), a => JSON.parse(a.output).outcome.exit_code === 126],
];

let server;
before(async () => {
	server = await Sidecar.start({ env: { DATA_DIR: join(mkdtempSync('/var/tmp/sidecar-data-'), 'data') } });
	server.place.put('dot.png', Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA' +
		'AABJRU5ErkJggg==', 'base64'));
});
after(async () => {
	await server.stop();
	rmSync(dirname(server.env.DATA_DIR), { recursive: true });
});

/** Whether the packages with their types are there, or can be had. */
function install(t) {
	const done = spawnSync('flock', [join(HERE, 'install'), join(HERE, 'install'), PACKAGES], { encoding: 'utf8' });
	if (done.status === 3)
		t.skip(done.stderr.trim());
	else
		assert.equal(done.status, 0, done.stderr);
	return done.status === 0;
}

/** Has a program compiled without an error; what the compiler says otherwise. */
function compile(name, text) {
	const folder = mkdtempSync(join(PACKAGES, 'native-'));
	try {
		const file = join(folder, `${name}.ts`);
		writeFileSync(file, text);
		const flags = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022',
			'--module', 'nodenext', '--moduleResolution', 'nodenext', '--types', 'node'];
		const done = spawnSync(process.execPath, [TSC, ...flags, file], { encoding: 'utf8', cwd: PACKAGES });
		return done.status === 0 ? '' : done.stdout + done.stderr;
	} finally {
		rmSync(folder, { recursive: true });
	}
}

const constant = (name, type, value) => `export const ${name}: ${type} = ${JSON.stringify(value)};\n`;

test('Anthropic: the types of its library accept every definition, call and answer', async t => {
	const tools = await server.get('/tools?format=anthropic-native');
	let text = "import type Anthropic from '@anthropic-ai/sdk';\n";
	text += constant('tools', 'Anthropic.Messages.ToolUnion[]', tools);
	text += constant('betaTools', 'Anthropic.Beta.Messages.BetaToolUnion[]', tools);
	for (const [i, [call, success]] of ANTHROPIC.entries()) {
		const answer = await server.post('/tools', call);
		assert.equal(answer.is_error, !success, JSON.stringify([call, answer]));
		assert.equal(answer.tool_use_id, call.id);
		text += constant(`call${i}`, 'Anthropic.Messages.ToolUseBlockParam', call);
		text += constant(`answer${i}`, 'Anthropic.Messages.ToolResultBlockParam', answer);
		text += constant(`betaAnswer${i}`, 'Anthropic.Beta.Messages.BetaToolResultBlockParam', answer);
		if (call.name === 'memory')
			text += constant(`memory${i}`, 'Anthropic.Beta.Messages.BetaMemoryTool20250818Command', call.input);
	}
	if (!install(t))
		return;
	assert.equal(compile('anthropic', text), '');
	assert.match(compile('wrong', text.replaceAll('"tool_result"', '"tool_reslut"')), /tool_reslut/);
});

test('OpenAI: the types of its library accept every definition, call and answer', async t => {
	let text = "import type OpenAI from 'openai';\n";
	text += constant('tools', 'OpenAI.Responses.Tool[]', await server.get('/tools?format=openai-native&set=full'));
	for (const [i, [type, call, succeeded]] of OPENAI.entries()) {
		const answer = await server.post('/tools', call);
		assert.ok(succeeded(answer), JSON.stringify([call, answer]));
		text += constant(`call${i}`, `OpenAI.Responses.ResponseInputItem.${type}`, call);
		text += constant(`answer${i}`, `OpenAI.Responses.ResponseInputItem.${type}Output`, answer);
		text += constant(`input${i}`, 'OpenAI.Responses.ResponseInput', [call, answer]);
	}
	if (!install(t))
		return;
	assert.equal(compile('openai', text), '');
	assert.match(compile('wrong', text.replaceAll('"exit_code"', '"exitCode"')), /exitCode/);
});
