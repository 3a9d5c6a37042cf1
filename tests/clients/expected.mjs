// SPDX-License-Identifier: MIT
// expected: what the conformance suite must find, by revision. `pass` are the scenarios that pass; those in `except`
// but for the named checks. `fail` are all others. Every exception has its reason.

const TOOLS = "calls the suite's own test_* tools";
const RESOURCES = 'asks for resources; there are tools only';
const PROMPTS = 'asks for prompts; there are tools only';
const COMPLETION = 'asks for completion in prompts and resources; there are tools only';
const LOGGING = 'asks for logging, which has left the protocol';
const INPUT = "calls the suite's own tools that ask the client back; ours never do";
const TASKS = 'an extension, which is not offered; run_command has jobs instead';
const HEADERS = 'needs a tool whose arguments stand in headers; there is none';

/** The same reason for all of them. */
const each = (reason, ...names) => Object.fromEntries(names.map(name => [name, reason]));

const BOTH = {
	...each(TOOLS, 'tools-call-simple-text', 'tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource',
		'tools-call-mixed-content', 'tools-call-error', 'tools-call-with-progress', 'json-schema-2020-12'),
	...each(RESOURCES, 'resources-list', 'resources-read-text', 'resources-read-binary', 'resources-templates-read'),
	...each(PROMPTS, 'prompts-list', 'prompts-get-simple', 'prompts-get-with-args', 'prompts-get-embedded-resource',
		'prompts-get-with-image'),
	'completion-complete': COMPLETION,
};

export const EXPECTED = {
	'2025-11-25': {
		pass: ['server-initialize', 'ping', 'tools-list', 'server-sse-multiple-streams', 'dns-rebinding-protection',
			'server-session-lifecycle'],
		except: {},
		fail: {
			...BOTH,
			...each(TOOLS, 'tools-call-sampling', 'tools-call-elicitation', 'elicitation-sep1034-defaults',
				'elicitation-sep1330-enums', 'server-sse-polling'),
			...each(RESOURCES, 'resources-subscribe', 'resources-unsubscribe'),
			...each(LOGGING, 'logging-set-level', 'tools-call-with-logging'),
		},
	},
	'2026-07-28': {
		pass: ['server-stateless', 'tools-list', 'server-sse-multiple-streams', 'dns-rebinding-protection', 'caching',
			'http-header-validation', 'input-required-result-unsupported-methods', 'input-required-result-validate-input'],
		except: {
			'server-stateless': each(TOOLS, 'sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400',
				'sep-2575-http-server-no-independent-requests-on-stream', 'sep-2575-server-no-log-without-loglevel'),
			caching: {
				...each(PROMPTS, 'sep-2549-prompts-list-caching-hints'),
				...each(RESOURCES, 'sep-2549-resources-list-caching-hints', 'sep-2549-resources-templates-list-caching-hints'),
			},
		},
		fail: {
			...BOTH,
			...each(RESOURCES, 'sep-2164-resource-not-found'),
			...each(INPUT, 'input-required-result-basic-elicitation', 'input-required-result-basic-sampling',
				'input-required-result-basic-list-roots', 'input-required-result-request-state',
				'input-required-result-multiple-input-requests', 'input-required-result-multi-round',
				'input-required-result-missing-input-response', 'input-required-result-result-type',
				'input-required-result-tampered-state', 'input-required-result-capability-check',
				'input-required-result-ignore-extra-params'),
			'input-required-result-non-tool-request': PROMPTS,
			'http-custom-header-server-validation': HEADERS,
			...each(TASKS, 'tasks-lifecycle', 'tasks-capability-negotiation', 'tasks-wire-fields', 'tasks-request-state-removal',
				'tasks-mrtr-input', 'tasks-request-headers', 'tasks-dispatch-and-envelope', 'tasks-status-notifications',
				'tasks-required-task-error', 'tasks-mrtr-composition'),
		},
	},
};
