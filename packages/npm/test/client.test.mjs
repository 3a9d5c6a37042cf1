// SPDX-License-Identifier: MIT
// Every operation of the client against the real program.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as esm from "../dist/index.mjs";
import { freePort, place, serve } from "./sidecar.mjs";

const { PathNotAllowedError, SidecarClient, SidecarError } = esm;

// Which methods the tests have called, to see at the end that none is missing.
const methods = [];
const called = new Set();
for (let type = SidecarClient.prototype; type !== Object.prototype; type = Object.getPrototypeOf(type))
  for (const name of Object.getOwnPropertyNames(type).filter((name) => name !== "constructor")) {
    methods.push(name);
    const { value } = Object.getOwnPropertyDescriptor(type, name);
    if (typeof value !== "function") continue;
    type[name] = function (...args) {
      called.add(name);
      return value.apply(this, args);
    };
  }

const done = [];
const suite = { after: (work) => done.unshift(work) };
let here, client;
before(async () => {
  here = place(suite);
  serve(suite, here);
  client = new SidecarClient({ socketPath: here.socketPath });
  await client.waitForReady();
});
after(async () => {
  client.close();
  for (const work of done) await work();
});

const file = (name) => join(here.workspace, name);
const failing = (code, status) => (error) => {
  assert.ok(error instanceof SidecarError, error);
  assert.deepEqual([error.name, error.code, error.status], ["SidecarError", code, status], error.message);
  return true;
};

test("the same classes by import and require", () => {
  const cjs = createRequire(import.meta.url)("../dist/index.js");
  assert.deepEqual(Object.keys(esm).sort(), Object.keys(cjs).sort());
  assert.equal(cjs.SidecarError, SidecarError);
});

test("every operation of /openapi.json is a method or a tool", async () => {
  const { paths } = await client.openapi();
  const tools = new Set((await client.tools("mcp", { set: "full" })).map(({ name }) => name));
  for (const [path, operations] of Object.entries(paths))
    for (const { operationId } of Object.values(operations))
      assert.ok(methods.includes(operationId) || (path === `/tools/${operationId}` && tools.has(operationId)),
        `${operationId}: run packages/generate`);
});

test("files", async () => {
  assert.deepEqual(await client.write({ path: "src/a.txt", content: "one\ntwo\n" }), { ok: true, path: "src/a.txt", bytes: 8, change: 1 });
  assert.deepEqual(await client.read({ path: "src/a.txt", offset: 2, limit: 1 }),
    { type: "text", content: "two", totalLines: 3, hasMore: true });
  const edited = await client.edit({ path: "src/a.txt", oldText: "two", newText: "zwei" });
  assert.match(edited.diff, /^-2 two$/m);
  assert.deepEqual(await client.ls(), { output: "src/" });
  assert.deepEqual((await client.find({ pattern: "*.txt" })).files, ["src/a.txt"]);
  assert.deepEqual(await client.grep({ pattern: "zw" }), { content: "src/a.txt:2: zwei" });
  const { matches } = await client.search({ pattern: "one", globs: ["*.txt"] });
  assert.deepEqual(matches, [{ path: "src/a.txt", line: 1, lines: ["one"] }]);
});

test("a patch of several files", async () => {
  const patch = "*** Begin Patch\n*** Add File: p/new.txt\n+one\n*** Update File: src/a.txt\n@@\n-one\n+eins\n*** End Patch\n";
  const { files } = await client.patch({ patch });
  assert.deepEqual(files.map(({ path, kind }) => [path, kind]), [["p/new.txt", "created"], ["src/a.txt", "modified"]]);
  await assert.rejects(client.patch({ patch: "no patch" }), failing("INVALID_PATCH", 400));
});

test("errors have a code and a status", async () => {
  await assert.rejects(client.read({ path: "none" }), failing("FILE_NOT_FOUND", 400));
  const outside = { name: "PathNotAllowedError", code: "PATH_OUTSIDE_WORKSPACE", status: 400 };
  await assert.rejects(client.read({ path: "../none" }), outside);
  await assert.rejects(client.grep({ pattern: "(" }), failing("INVALID_REGEX", 400));
  await assert.rejects(client.read({}), failing("INVALID_ARGUMENTS", 400));
  await assert.rejects(client.bash({}), failing("INVALID_ARGUMENTS", 400));
  await assert.rejects(client.bash({ argv: ["/nowhere/program"] }), (error) => error instanceof SidecarError);
  const nowhere = new SidecarClient({ socketPath: "/nowhere/s" });
  await assert.rejects(nowhere.health(), failing("NOT_READY", undefined));
  for (const options of [{}, { socketPath: "/a", url: "http://b" }, { url: "ftp://b" }, { url: "b" }])
    assert.throws(() => new SidecarClient(options), failing("INVALID_CONFIG", undefined));
});

test("a token that the server has made", async (t) => {
  const [there, port, token] = [place(t), await freePort(), "0123456789abcdef".repeat(4)];
  const made = join(there.folder, "sidecar", `tcp-127.0.0.1-${port}.token`);
  const { XDG_RUNTIME_DIR } = process.env;
  t.after(() => XDG_RUNTIME_DIR === undefined ? delete process.env.XDG_RUNTIME_DIR : (process.env.XDG_RUNTIME_DIR = XDG_RUNTIME_DIR));
  process.env.XDG_RUNTIME_DIR = there.folder;
  serve(t, there, { flags: ["--tcp", `127.0.0.1:${port}`], env: { SIDECAR_AUTH_TOKEN: token } });
  await new SidecarClient({ socketPath: there.socketPath }).waitForReady({ timeoutMs: 60_000 });
  const url = `http://127.0.0.1:${port}`;
  const found = new SidecarClient({ url });
  for (const text of [undefined, token.slice(1), `${token}0`]) {
    if (text) writeFileSync(made, text);
    await assert.rejects(found.ls(), failing("UNAUTHORIZED", 401));
  }
  writeFileSync(made, token);
  assert.deepEqual(await found.ls(), { output: "(empty directory)" });
  await assert.rejects(new SidecarClient({ url, token: "wrong" }).ls(), failing("UNAUTHORIZED", 401));
  renameSync(made, join(there.folder, "elsewhere"));
  symlinkSync(join(there.folder, "elsewhere"), made);
  await assert.rejects(found.ls(), failing("UNAUTHORIZED", 401));
});

test("the server itself", async () => {
  const health = await client.health();
  assert.deepEqual([health.ok, health.workspace], [true, here.workspace]);
  assert.match(await client.ui(), /^<!doctype html>/i);
  assert.match(await client.metrics(), /^sidecar_build_info\{version="/m);
  assert.equal(client.endpoint, `unix:${here.socketPath}`);
});

test("a command, collected", async () => {
  const seen = [];
  const result = await client.bash({ command: "echo out; echo err >&2; exit 3", env: { A: "1" } },
    { onStdout: (text) => seen.push(text), onStderr: (text) => seen.push(text) });
  assert.deepEqual(result, { exitCode: 3, timedOut: false, stdout: "out\n", stderr: "err\n", truncated: false });
  assert.deepEqual(seen.sort(), ["err\n", "out\n"]);
  const slow = await client.bash({ command: "sleep 1000", timeoutSeconds: 0.2 });
  assert.deepEqual([slow.exitCode, slow.timedOut], [-1, true]);
  const long = await client.bash({ command: "head -c 100000 /dev/zero | tr '\\0' x" }, { maxOutput: 1000 });
  assert.deepEqual([long.stdout.length, long.truncated], [1000, true]);
  assert.equal((await client.bash({ argv: ["cat"], stdin: "é" })).stdout, "é");
});

test("a command, as it runs", async () => {
  const events = [];
  // It ends only if the first line has arrived while it runs.
  for await (const event of client.bashStream({ command: "echo ready; while ! test -e go; do sleep 0.01; done; echo gone" })) {
    events.push(event);
    if (event.type === "delta" && event.data === "ready\n") writeFileSync(file("go"), "");
  }
  assert.deepEqual(events, [
    { type: "delta", data: "ready\n", stream: "stdout" },
    { type: "delta", data: "gone\n", stream: "stdout" },
    { type: "done", exitCode: 0 },
  ]);
});

const mark = () => `${process.pid}${Math.random().toString().slice(2, 8)}`;
const running = async (text) => (await client.bash({ command: `pgrep -fc '[s]leep ${text}' || true` })).stdout.trim() !== "0";
async function untilGone(text) {
  while (await running(text)) await sleep(20);
}

test("a time limit is of the server's silence, not of the loop's work", async () => {
  const listen = async (timeoutMs) => {
    const seen = [];
    for await (const event of client.bashStream({ command: "echo 1; echo 2" }, { timeoutMs })) {
      seen.push(event.type);
      if (seen.length === 1) await sleep(timeoutMs + 200);
    }
    assert.equal(seen.at(-1), "done");
    return true;
  };
  // The limit is one within which this machine starts a command.
  const isShort = (limit) => (error) => {
    if (error.code !== "TIMED_OUT" || limit > 30_000) throw error;
  };
  for (let limit = 500; !(await listen(limit).catch(isShort(limit))); limit *= 4);
});

test("aborting ends a command", async () => {
  const controller = new AbortController();
  const seconds = mark();
  const run = client.bash({ command: `echo up; sleep ${seconds}` }, { signal: controller.signal, onStdout: () => controller.abort("enough") });
  await assert.rejects(run, (error) => failing("CANCELLED", undefined)(error) && error.cause === "enough");
  await untilGone(seconds);
});

test("leaving the loop ends a command", async () => {
  const seconds = mark();
  for await (const event of client.bashStream({ command: `echo up; sleep ${seconds}` })) if (event.type === "delta") break;
  await untilGone(seconds);
});

test("signals and times for everything else", async () => {
  await assert.rejects(client.read({ path: "go" }, { signal: AbortSignal.abort() }), failing("CANCELLED", undefined));
  await assert.rejects(client.bash({ command: "sleep 1000" }, { timeoutMs: 100 }), failing("TIMED_OUT", undefined));
  const { jobId } = await client.startJob({ command: "sleep 1000" });
  await assert.rejects(client.job({ id: jobId, since: 0, waitMs: 60_000 }, { timeoutMs: 100 }), failing("TIMED_OUT", undefined));
  await client.stopJob({ id: jobId });
});

test("jobs", async () => {
  const { jobId } = await client.startJob({ command: "echo up; exec sleep 1000" });
  const first = await client.job({ id: jobId, since: 0, waitMs: 60_000 });
  assert.deepEqual([first.state, first.output], ["running", "up\n"]);
  assert.ok((await client.jobs()).jobs.some((job) => job.jobId === jobId && job.state === "running"));
  assert.deepEqual(await client.stopJob({ id: jobId }), { ok: true });
  let state = first;
  while (state.state === "running") state = await client.job({ id: jobId, since: state.cursor, waitMs: 60_000 });
  assert.equal(state.exitCode, -1);
});

test("what changes something says by which number it is undone", async (t) => {
  const here = place(t);
  serve(t, here, { flags: ["--observe", "on", "--undo-max-file", "1K"] });
  const client = new SidecarClient({ socketPath: here.socketPath, waitForReadyMs: 60_000 });
  t.after(() => client.close());
  const { change, ...rest } = await client.write({ path: "a", content: "1\n" });
  assert.deepEqual([change, rest], [1, { ok: true, path: "a", bytes: 2 }]);
  assert.equal((await client.edit({ path: "a", oldText: "1", newText: "2" })).change, 2);
  const patch = "*** Begin Patch\n*** Update File: a\n@@\n-2\n+3\n*** End Patch\n";
  assert.equal((await client.patch({ patch })).change, 3);
  assert.ok(!("change" in (await client.patch({ patch: patch.replace("-2", "-3").replace("+3", "+4"), dryRun: true }))));
  const { commands } = (await client.health()).observed;
  const removed = await client.bash({ command: "rm a" });
  assert.equal(removed.change, commands === "none" ? undefined : 4);
  if (removed.change === undefined) await client.write({ path: "a", content: "3\n" });
  else await client.undoChange({ id: removed.change });
  assert.equal((await client.read({ path: "a" })).content, "3\n");
  assert.ok(!("change" in (await client.bash({ command: "true" }))));
  // A file with two names is written in place, so it would have to be copied.
  await client.write({ path: "large", content: "x".repeat(2000) });
  await client.bash({ command: "ln large twice" });
  assert.equal((await client.write({ path: "large", content: "y".repeat(2000) })).notKept, 1);
  if (commands !== "none") assert.equal((await client.bash({ command: "echo >> large" })).notKept, 1);

  // A command that was given up: its call knows.
  const controller = new AbortController();
  const options = { signal: controller.signal, onStdout: () => controller.abort() };
  const failed = await client.bash({ command: "echo 4 > a; echo up; exec sleep 1000" }, options).catch((error) => error);
  assert.equal(failed.code, "CANCELLED");
  let call = { running: true };
  while (call.running) call = await client.watchedCall({ id: failed.details.call });
  assert.equal(call.change === undefined, commands === "none");
  if (call.change !== undefined) assert.deepEqual((await client.undoChange({ id: call.change })).restored, ["a"]);
});

test("changes and undo", async () => {
  await client.write({ path: "undo.txt", content: "old\n" });
  await client.write({ path: "undo.txt", content: "new\n" });
  const { changes } = await client.changes({ since: 0 });
  const { id } = changes.filter((change) => change.subject === "undo.txt").at(-1);
  const change = await client.change({ id });
  assert.deepEqual(change.paths.map(({ path, kind }) => [path, kind]), [["undo.txt", "modified"]]);
  assert.match(await client.changeDiff({ id }), /^-old$/m);
  assert.deepEqual((await client.undoChange({ id, dryRun: true })).restored, ["undo.txt"]);
  const undone = await client.undoChange({ id });
  assert.equal(readFileSync(file("undo.txt"), "utf8"), "old\n");
  await client.undo({ ids: [undone.change] });
  assert.equal(readFileSync(file("undo.txt"), "utf8"), "new\n");
  writeFileSync(file("undo.txt"), "other\n");
  await assert.rejects(client.undoChange({ id }), (error) =>
    failing("CONFLICT", 409)(error) && error.details.conflicts[0].path === "undo.txt");
});

test("a time limit that the server allows no more of", async (t) => {
  const here = place(t);
  serve(t, here, { flags: ["--command-timeout-max", "1"] });
  const client = new SidecarClient({ socketPath: here.socketPath, waitForReadyMs: 60_000 });
  t.after(() => client.close());
  const { timedOut, timeoutSeconds } = await client.bash({ command: "sleep 1000", timeoutSeconds: 500 });
  assert.deepEqual([timedOut, timeoutSeconds], [true, 1]);
});

test("events, one call, and stopping it", async () => {
  const command = `sleep ${mark()}`;
  const run = client.bash({ command }).catch((error) => error);
  let call;
  // From the first event on, so that none is missed; leaving the loop closes the stream.
  for await (const event of client.events({ since: 0 })) {
    if (call === undefined) assert.notEqual(event.type, "gap");
    if (event.type === "call.start" && event.subject === command) {
      call = event.call;
      assert.equal((await client.watchedCall({ id: call })).running, true);
      await client.stopCall({ id: call });
    }
    if (event.type === "call.end" && event.call === call) {
      assert.equal(event.ok, false);
      break;
    }
  }
  const ended = await run;
  assert.deepEqual([ended.exitCode, ended.timedOut, ended.stopped], [-1, false, true]);
  await assert.rejects(async () => {
    for await (const _ of client.events({}, { signal: AbortSignal.timeout(50) }));
  }, failing("CANCELLED", undefined));
});

test("events go on after a restart, with a gap", async (t) => {
  const here = place(t);
  let server = serve(t, here);
  const client = new SidecarClient({ socketPath: here.socketPath, waitForReadyMs: 60_000 });
  t.after(() => client.close());
  await client.waitForReady();
  const events = client.events({ since: 0 });
  const next = async (type) => {
    for (;;) {
      const { value } = await events.next();
      if (value.type === type) return value;
    }
  };
  const first = await next("boot");
  assert.equal(first.event, 0);
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    await client.write({ path: "a", content: signal });
    const end = await next("call.end");
    await server.stop(signal);
    server = serve(t, here);
    // As many events as before, so that the number alone says nothing.
    while ((await client.health()).event < end.id) await client.write({ path: "a", content: "again" });
    assert.notEqual((await next("boot")).boot, first.boot);
    assert.deepEqual((await events.next()).value, { type: "gap", lost: null });
    assert.equal((await events.next()).value.id, 1);
    await next("call.end");
  }
  await events.return();
  const { event: newest } = await client.health();
  const now = client.events();
  const { boot } = (await now.next()).value;
  await now.return();
  await client.write({ path: "a", content: "more" });
  const later = client.events({ since: `${boot}-${newest}` });
  const [begin, start] = [(await later.next()).value, (await later.next()).value];
  await later.return();
  assert.deepEqual([begin, start.type, start.id], [{ type: "boot", boot, event: newest }, "call.start", newest + 1]);
});

test("tools for models", async () => {
  const written = await client.tool("write_file", { path: "m.txt", content: "x\n" });
  assert.deepEqual([written.success, written.output.bytes_written], [true, 2]);
  assert.equal(typeof written.changes.id, "number");
  const missing = await client.tool("read_file", { path: "none" });
  assert.deepEqual([missing.success, missing.output, missing.error.code], [false, null, "FILE_NOT_FOUND"]);
  assert.equal((await client.tools("openai")).length, 5);
  assert.equal((await client.tools("anthropic"))[0].input_schema.type, "object");
  assert.ok((await client.tools("openai-responses", { set: "full" })).length > 5);
  const tools = await client.tools("ai-sdk");
  assert.equal((await tools.read_file.execute({ path: "m.txt" })).output.content, "x\n");
});

test("a provider's call and its reply", async () => {
  const args = { path: "m.txt" };
  const text = JSON.stringify(args);
  const name = "read_file";
  const openai = await client.callTool({ id: "1", type: "function", function: { name, arguments: text } });
  assert.deepEqual([openai.role, openai.tool_call_id, JSON.parse(openai.content).success], ["tool", "1", true]);
  const responses = await client.callTool({ type: "function_call", call_id: "2", name, arguments: text });
  assert.deepEqual([responses.type, responses.call_id], ["function_call_output", "2"]);
  const anthropic = await client.callTool({ type: "tool_use", id: "3", name, input: { path: "none" } });
  assert.deepEqual([anthropic.type, anthropic.tool_use_id, anthropic.is_error], ["tool_result", "3", true]);
  const ollama = await client.callTool({ function: { name, arguments: args } });
  assert.deepEqual([ollama.role, ollama.tool_name], ["tool", name]);
  const gemini = await client.callTool({ name, args });
  assert.equal(gemini.functionResponse.name, name);
  const sdk = await client.callTool({ type: "tool-call", toolCallId: "4", toolName: name, input: args });
  assert.deepEqual([sdk.type, sdk.toolCallId, sdk.output.type, sdk.output.value.output.content], ["tool-result", "4", "json", "x\n"]);
});

test("calls of providers' own tools", async () => {
  const own = new SidecarClient({ socketPath: here.socketPath, session: "own" });
  const bash = (command) => own.callTool({ type: "tool_use", id: "1", name: "bash", input: { command } });
  await bash("cd src && NAME=value");
  const said = await bash("echo $NAME; pwd"); // one shell for the session
  assert.deepEqual(said.content.split("\n").slice(0, 2), ["value", join(here.workspace, "src")]);
  const shell = await own.callTool({ type: "shell_call", call_id: "2", action: { commands: ["echo hi"] } });
  assert.deepEqual([shell.type, shell.call_id, shell.output[0].stdout], ["shell_call_output", "2", "hi\n"]);
  const operation = { type: "create_file", path: "made.txt", diff: "+made\n" };
  const patched = await own.callTool({ type: "apply_patch_call", call_id: "3", operation });
  assert.deepEqual([patched.type, patched.call_id, patched.status], ["apply_patch_call_output", "3", "completed"]);
  assert.deepEqual((await own.tools("openai-native")).map(({ type }) => type), ["apply_patch", "shell"]);
  own.close();
});

test("the Model Context Protocol", async () => {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const begun = await client.mcp({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  assert.equal(begun.message.result.serverInfo.name, "sidecar");
  const { sessionId } = begun;
  const noted = await client.mcp({ jsonrpc: "2.0", method: "notifications/initialized" }, { sessionId });
  assert.equal(noted.message, undefined);
  const listed = await client.mcp({ jsonrpc: "2.0", id: 2, method: "tools/list" }, { sessionId });
  assert.ok(listed.message.result.tools.length > 5);
  await client.endSession(sessionId);
  await assert.rejects(client.endSession("none"), SidecarError);
});

test("TCP with a token", async (t) => {
  const there = place(t);
  const port = await freePort();
  serve(t, there, { flags: ["--tcp", `127.0.0.1:${port}`], env: { SIDECAR_AUTH_TOKEN: "secret" } });
  const url = `http://127.0.0.1:${port}`;
  const known = new SidecarClient({ url, token: "secret", waitForReadyMs: 60_000 });
  await known.write({ path: "a", content: "b" });
  assert.equal((await known.read({ path: "a" })).content, "b");
  assert.equal((await known.bash({ command: "cat a" })).stdout, "b");
  for (const token of [undefined, "wrong"]) {
    const stranger = new SidecarClient({ url, ...(token && { token }) });
    await assert.rejects(stranger.read({ path: "a" }), failing("UNAUTHORIZED", 401));
    await assert.rejects(stranger.waitForReady(), failing("UNAUTHORIZED", 401));
    stranger.close();
  }
  known.close();

  // A proxy that has the sidecar below a path.
  const proxy = createServer((request, response) => {
    const { method, headers } = request;
    const passed = httpRequest(`${url}${request.url.replace(/^\/box/, "")}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  }).listen(0, "127.0.0.1");
  t.after(() => proxy.close());
  await once(proxy, "listening");
  const proxied = new SidecarClient({ url: `http://127.0.0.1:${proxy.address().port}/box/`, token: "secret" });
  assert.equal((await proxied.read({ path: "a" })).content, "b");
  proxied.close();
});

test("a server that starts late, and again", async (t) => {
  const there = place(t);
  const patient = new SidecarClient({ socketPath: there.socketPath, waitForReadyMs: 60_000, session: "me" });
  t.after(() => patient.close());
  const early = patient.write({ path: "a", content: "1" });
  let server = serve(t, there);
  assert.equal((await early).bytes, 1);
  assert.equal((await patient.read({ path: "a" })).content, "1");
  await server.stop("SIGKILL");
  server = serve(t, there); // the kept connection is dead, and the socket file stale for a while
  assert.equal((await patient.read({ path: "a" })).content, "1");
  assert.equal((await patient.write({ path: "a", content: "22" })).bytes, 2);

  // A command that was running is not run again, whether its answer had begun or not; a read is.
  for (const call of [(command) => patient.bash({ command }), (command) => patient.tool("run_command", { command })]) {
    const run = assert.rejects(call("echo x >> count; exec sleep 1000"), failing("CONNECTION_LOST", undefined));
    const { jobId } = await patient.startJob({ command: "exec sleep 1000" });
    const read = assert.rejects(patient.job({ id: jobId, waitMs: 60_000 }), failing("JOB_NOT_FOUND", 404));
    const count = join(there.workspace, "count");
    while (!existsSync(count) || !readFileSync(count, "utf8")) await sleep(10);
    await server.stop("SIGKILL");
    server = serve(t, there);
    await run;
    await read; // the new server does not know the job
    assert.equal((await patient.read({ path: "count" })).content, "x\n");
    await patient.bash({ command: "rm count" });
  }
});

test("many kept connections are dead after a restart", async (t) => {
  const there = place(t);
  const server = serve(t, there);
  const patient = new SidecarClient({ socketPath: there.socketPath, waitForReadyMs: 60_000 });
  t.after(() => patient.close());
  const { jobId } = await patient.startJob({ command: "while ! test -e go; do sleep 0.01; done; echo gone" });
  const waiting = Array.from({ length: 5 }, () => patient.job({ id: jobId, since: 0, waitMs: 60_000 }));
  while ((await patient.health()).running < waiting.length) await sleep(10);
  await patient.write({ path: "go", content: "" });
  await Promise.all(waiting);
  await server.stop("SIGKILL");
  serve(t, there);
  assert.equal((await patient.read({ path: "go" })).content, "");
});

test("waiting for what does not come", async (t) => {
  const there = place(t);
  const impatient = new SidecarClient({ socketPath: there.socketPath, waitForReadyMs: 200 });
  const message = `Timed out waiting for coding sidecar at unix:${there.socketPath}`;
  await assert.rejects(impatient.health(), { code: "NOT_READY", message });
  await assert.rejects(impatient.waitForReady({ timeoutMs: 60_000, signal: AbortSignal.timeout(50) }), failing("CANCELLED", undefined));
  const where = `Cannot connect to the sidecar at unix:${there.socketPath}`;
  const atOnce = new SidecarClient({ socketPath: there.socketPath });
  await assert.rejects(atOnce.health(), { code: "NOT_READY", message: `${where}: there is no such socket` });
  writeFileSync(there.socketPath, "");
  await assert.rejects(impatient.waitForReady({ timeoutMs: 60_000 }), { code: "NOT_READY", message: /is not a socket/ });
});

test("why a sidecar is not ready", async (t) => {
  const there = place(t);
  const waiting = async (options, message) => {
    const client = new SidecarClient({ waitForReadyMs: 150, ...options });
    const all = message instanceof RegExp ? message : `Timed out waiting for coding sidecar at ${client.endpoint}: ${message}`;
    await assert.rejects(client.waitForReady(), { code: "NOT_READY", message: all });
  };
  const { socketPath } = there;
  const server = serve(t, there);
  await new SidecarClient({ socketPath, waitForReadyMs: 60_000 }).waitForReady();
  // Files of root are for root: another user then, and otherwise a mode that shuts the owner out.
  const user = process.getuid();
  const other = user === 0 ? () => process.seteuid(65534) : () => {};
  const back = () => process.seteuid(user);
  chmodSync(socketPath, 0o000);
  chmodSync(there.folder, 0o755);
  try {
    other();
    await waiting({ socketPath }, `permission denied: the socket is for user ${user} and group ${process.getgid()} (mode 0000)`);
    back();
    chmodSync(there.folder, 0o000);
    other();
    await waiting({ socketPath }, "permission denied: this user may not enter the socket's directory");
  } finally {
    back();
    chmodSync(there.folder, 0o755);
    chmodSync(socketPath, 0o600);
  }
  await server.stop("SIGKILL");
  await waiting({ socketPath }, "no server listens on the socket");
  await waiting({ url: `http://127.0.0.1:${await freePort()}` }, "no server listens on the port");
  await waiting({ url: `http://localhost:${await freePort()}` }, "no server listens on the port");
  // So long a name is not asked for anywhere.
  await waiting({ url: `http://${"x".repeat(64)}.invalid:1` }, "the name is not known (ENOTFOUND)");
  const sick = createServer((request, response) => (request.headers.authorization ? response.destroy() : response.writeHead(500).end()));
  t.after(() => sick.close());
  await once(sick.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${sick.address().port}`;
  await waiting({ url }, "GET /health is answered with status 500");
  await waiting({ url, token: "x" }, "it closes connections without an answer");
  const mute = createServer(() => {});
  t.after(() => (mute.closeAllConnections(), mute.close()));
  await once(mute.listen(0, "127.0.0.1"), "listening");
  await waiting({ url: `http://127.0.0.1:${mute.address().port}` }, "it accepts connections and does not answer");
});

test("options that cannot be", () => {
  for (const [options, message] of [
    [{}, "Give socketPath or url; neither is set"],
    [{ socketPath: "/a", url: "http://b" }, "Give socketPath or url, not both"],
    [{ url: "ftp://b" }, "url must begin with http:// or https://, not ftp:"],
    [{ url: "b" }, "url must be http://HOST:PORT or https://HOST:PORT, not b"],
    [{ socketPath: 5 }, "socketPath must be a string that is not empty, not 5"],
    [{ socketPath: "/a", timeoutMs: "5" }, 'timeoutMs must be a number from 0 to 2147483647, not "5"'],
    [{ socketPath: "/a", token: "a b" }, "token must be visible ASCII characters without blanks"],
    [{ sokcetPath: "/a" }, 'options has no member "sokcetPath"; it may have: socketPath url token timeoutMs waitForReadyMs session'],
    [undefined, "options must be an object, not undefined"],
  ])
    assert.throws(() => new SidecarClient(options), { code: "INVALID_CONFIG", message });
});

test("names in the workspace, and what is allowed", async () => {
  await client.mkdir({ path: "names/deep", recursive: true });
  await client.write({ path: "names/a.bin", content: "AAEC", encoding: "base64" });
  assert.deepEqual(await client.read({ path: "names/a.bin", encoding: "base64" }), { type: "bytes", data: "AAEC", bytes: 3 });
  assert.equal((await client.copy({ from: "names/a.bin", to: "names/b.bin" })).path, "names/b.bin");
  await client.rename({ from: "names/b.bin", to: "names/c.bin" });
  const { type, size } = await client.stat({ path: "names/c.bin" });
  assert.deepEqual({ type, size }, { type: "file", size: 3 });
  assert.equal((await client.exists({ path: "names/b.bin" })).exists, false);
  await assert.rejects(client.remove({ path: "names" }), failing("DIRECTORY_NOT_EMPTY", 400));
  await client.remove({ path: "names", recursive: true });
  const { paths } = await client.getAllowedPaths();
  assert.deepEqual(await client.validatePath({ path: "x" }), { path: `${paths[0]}/x` });
  await assert.rejects(client.validatePath({ path: "/etc/passwd" }), PathNotAllowedError);
  assert.deepEqual([await client.isPathAllowed("x"), await client.isPathAllowed("/etc/passwd")], [true, false]);
  assert.deepEqual([await client.isCommandBlocked("ls"), await client.isCommandBlocked("sudo ls")], [false, true]);
  assert.equal((await client.policy({ command: "ls" })).blocked, false);
  assert.equal((await client.getToolByName("edit_file")).function.name, "edit_file");
  await assert.rejects(client.getToolByName("none"), failing("UNKNOWN_TOOL", 404));
});

test("the README's tables have every method", () => {
  const rows = readFileSync(new URL("../README.md", import.meta.url), "utf8").match(/^\| `.*$/gm).join("\n");
  const hidden = new Set(["call", "endpoint"]);
  assert.deepEqual(methods.filter((name) => !hidden.has(name) && !rows.includes(`\`${name}\``)), []);
});

test("every public method was called", () => {
  client.close();
  const missing = methods.filter((name) => name !== "call" && name !== "endpoint" && !called.has(name));
  assert.deepEqual(missing, []);
});
