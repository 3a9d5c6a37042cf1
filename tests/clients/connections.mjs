// SPDX-License-Identifier: MIT
// connections: every way in which the MCP SDKs reach the program. Both generations of the SDK, the newer one in each
// of its modes; over stdio (`sidecar mcp`), TCP and the Unix socket (`POST /mcp`).
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { BIN, environment } from './sidecar.mjs';

const ME = { name: 'sidecar-tests', version: '1' };
const LEGACY = '2025-11-25', MODERN = '2026-07-28';
const MODES = [
	{ name: 'legacy', mode: 'legacy', version: LEGACY },
	{ name: 'auto', mode: 'auto', version: MODERN },
	{ name: 'modern', mode: { pin: MODERN }, version: MODERN },
];

const CLIENTS = [
	{ name: 'v1', version: LEGACY, Stdio: StdioV1, Http: HttpV1, client: () => new ClientV1(ME),
		call: (client, params, options) => client.callTool(params, undefined, options) },
	...MODES.map(({ name, mode, version }) => ({
		name: `v2 ${name}`, version, Stdio: StdioV2, Http: HttpV2,
		client: () => new ClientV2(ME, { versionNegotiation: { mode } }),
		call: (client, params, options) => client.callTool(params, options),
	})),
];

const CARRIERS = {
	stdio: (kind, server) => new kind.Stdio({
		command: BIN, args: ['mcp'], cwd: server.workspace, env: environment(server.results), stderr: 'ignore',
	}),
	tcp: (kind, server) => new kind.Http(new URL('/mcp', server.url)),
	unix: (kind, server) => new kind.Http(new URL('http://localhost/mcp'), { fetch: server.unix.fetch }),
};

/** One open connection; `call` resolves to the result, also of a tool that failed. */
class Connection {
	constructor(kind, transport) {
		Object.assign(this, { kind, transport, client: kind.client() });
	}

	list() {
		return this.client.listTools();
	}

	call(name, args, options) {
		return this.kind.call(this.client, { name, arguments: args }, options);
	}

	async close() {
		await this.transport.terminateSession?.(); // HTTP of the older revisions
		await this.client.close();
	}
}

/** [{ name, carrier, version, open(server) }]: `version` is the revision that must be agreed upon. */
export const CONNECTIONS = CLIENTS.flatMap(kind => Object.entries(CARRIERS).map(([carrier, transport]) => ({
	name: `${kind.name}, ${carrier}`, carrier, version: kind.version,
	open: async server => {
		const connection = new Connection(kind, transport(kind, server));
		await connection.client.connect(connection.transport);
		return connection;
	},
})));
