// SPDX-License-Identifier: MIT
// The executor of hosts, the private sidecar and the launcher.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LocalExecutor, PrivateSidecar, SidecarSocketExecutor, createToolExecutor, programPath } from "../dist/index.mjs";
import { freePort, place, serve } from "./sidecar.mjs";

/** The seven operations, as a host calls them. */
async function work(executor, workspace) {
  assert.deepEqual(await executor.writeFile("src/a.txt", "one\ntwo\n"), { ok: true, path: "src/a.txt", bytes: 8, change: 1 });
  assert.deepEqual(await executor.readFile("src/a.txt", { offset: 2, limit: 1 }),
    { type: "text", content: "two", totalLines: 3, hasMore: true });
  assert.match((await executor.editFile("src/a.txt", "two", "zwei")).diff, /^\+2 zwei$/m);
  assert.deepEqual(await executor.ls(), { output: "src/" });
  assert.deepEqual(await executor.ls("src", { limit: 1 }), { output: "a.txt" });
  assert.deepEqual((await executor.find({ pattern: "*.txt", path: "src" })).files, ["a.txt"]);
  assert.equal((await executor.grep({ pattern: "ZWEI", ignoreCase: true })).content, "src/a.txt:2: zwei");
  const chunks = [];
  const run = await executor.runBash("echo out; echo err >&2; exit 3", { onData: (text, source) => chunks.push([source, text]) });
  assert.deepEqual([run.ok, run.exitCode, run.timedOut], [false, 3, undefined]);
  assert.deepEqual(run.output.split("\n").sort(), ["", "err", "out"]);
  assert.deepEqual(chunks.sort(), [["stderr", "err\n"], ["stdout", "out\n"]]);
  assert.deepEqual(await executor.runBash("sleep 1000", { timeoutSeconds: 0.2 }), { ok: false, output: "", exitCode: -1, timedOut: true });
  await assert.rejects(executor.find({ pattern: "*" }, AbortSignal.abort()), { code: "CANCELLED" });
  assert.equal(readFileSync(join(workspace, "src/a.txt"), "utf8"), "one\nzwei\n");
}

test("connect only: late, restarted, and left alone", async (t) => {
  const here = place(t);
  const coding = { enabled: true, mode: "sidecar", sidecar: { socketPath: here.socketPath, waitForReadyMs: 60_000 } };
  const executor = createToolExecutor({ plugins: { coding } });
  assert.ok(executor instanceof SidecarSocketExecutor);
  const waiting = executor.ensureReady();
  let server = serve(t, here);
  await waiting;
  await work(executor, here.workspace);
  await assert.rejects(executor.runBash("sleep 1000", { abortSignal: AbortSignal.timeout(50) }), { code: "CANCELLED" });
  assert.equal((await executor.runBash("seq 1 2500")).output.split("\n").length, 2501);
  await server.stop("SIGKILL");
  server = serve(t, here);
  assert.equal((await executor.readFile("src/a.txt")).totalLines, 3);
  await executor.shutdown();
  assert.equal(server.child.exitCode, null);
  assert.equal((await executor.runBash("echo still here")).output, "still here\n");
  await executor.shutdown();
});

test("TCP, a token, and a workspace with two names", async (t) => {
  const here = place(t);
  const port = await freePort();
  serve(t, here, { flags: ["--tcp", `127.0.0.1:${port}`], env: { SIDECAR_AUTH_TOKEN: "secret" } });
  const tcp = { host: "127.0.0.1", port };
  const workspace = { host: "/srv/project", container: here.workspace };
  const executor = new SidecarSocketExecutor({ tcp, authToken: "secret", workspace, waitForReadyMs: 60_000 });
  t.after(() => executor.shutdown());
  await work(executor, here.workspace);
  assert.equal((await executor.readFile("/srv/project/src/a.txt")).content, "one\nzwei\n");
  assert.equal((await executor.editFile("/srv/project/src/a.txt", "one", "eins")).path, "/srv/project/src/a.txt");
  assert.deepEqual(await executor.ls("/srv/project"), { output: "src/" });
  assert.equal(executor.toContainerPath("/srv/project"), here.workspace);
  assert.equal(executor.toContainerPath("/srv/projects"), "/srv/projects");
  assert.equal(executor.toContainerPath("a/b"), "a/b");
  assert.equal(executor.toHostPath(`${here.workspace}/src`), "/srv/project/src");
});

test("configurations that cannot be", () => {
  const tcp = { host: "localhost", port: 1 };
  for (const [config, code, message] of [
    [{ mode: "sidecar" }, "INVALID_CONFIG", /^plugins\.coding\.sidecar must have socketPath or tcp; it has neither$/],
    [{ mode: "sidecar", sidecar: { socketPath: "/s", tcp } }, "INVALID_CONFIG", /^plugins\.coding\.sidecar must have .*not both$/],
    [{ mode: "sidecar", sidecar: { tcp: { host: "h" } } }, "INVALID_CONFIG", /^plugins\.coding\.sidecar\.tcp\.port is missing$/],
    [{ mode: "sidecar", sidecar: { tcp: { ...tcp, port: 0 } } }, "INVALID_CONFIG", /sidecar\.tcp\.port must be a whole number from 1 to 65535, not 0$/],
    [{ mode: "sidecar", sidecar: { tcp: "h:1" } }, "INVALID_CONFIG", /sidecar\.tcp must be an object, not "h:1"$/],
    [{ mode: "sidecar", sidecar: { socketpath: "/s" } }, "INVALID_CONFIG", /^plugins\.coding\.sidecar has no member "socketpath"; it may have: socketPath /],
    [{ mode: "sidecar", sidecar: { socketPath: "" } }, "INVALID_CONFIG", /sidecar\.socketPath must be a string that is not empty, not ""$/],
    [{ mode: "sidecar", sidecar: { socketPath: "/s", waitForReadyMs: -1 } }, "INVALID_CONFIG", /sidecar\.waitForReadyMs must be/],
    [{ mode: "sidecar", sidecar: { socketPath: "/s", workspace: { host: "/a" } } }, "INVALID_CONFIG", /sidecar\.workspace\.container is missing/],
    [{ mode: "sidecar", sidecar: { tcp, auth: { required: true } } }, "INVALID_CONFIG", /^plugins\.coding\.sidecar\.auth\.required .*auth\.token is missing$/],
    [{ mode: "sidecar", sidecar: { tcp, auth: { required: "yes" } } }, "INVALID_CONFIG", /sidecar\.auth\.required must be true or false, not "yes"$/],
    [{ mode: "local" }, "INVALID_CONFIG", /^plugins\.coding\.local\.workspaceRoot is missing$/],
    [{ mode: "local", local: { workspaceRoot: 5 } }, "INVALID_CONFIG", /^plugins\.coding\.local\.workspaceRoot must be/],
    [{ mode: "container" }, "INVALID_CONFIG", /must be "sidecar" or "local", not "container"/],
    [{}, "INVALID_CONFIG", /mode must be "sidecar" or "local"; it is missing$/],
    [{ plugins: { coding: { enabled: false } } }, "DISABLED", /false/],
    [{ plugins: {} }, "INVALID_CONFIG", /^plugins\.coding is missing$/],
    [{ mode: "sidecar", enabled: "no", sidecar: { tcp } }, "INVALID_CONFIG", /^plugins\.coding\.enabled must be true or false, not "no"$/],
  ])
    assert.throws(() => createToolExecutor(config), (error) => error.code === code && message.test(error.message), message);
  for (const [options, message] of [
    [{ tcp: { host: "h" } }, "tcp.port is missing"],
    [{ socketPath: "/s", workspace: { host: "/a" } }, "workspace.container is missing"],
    [{ socketPath: "/s", waitForReadyMS: 5 }, /^options has no member "waitForReadyMS"; it may have: socketPath tcp authToken /],
    [{ socketPath: "/s", authToken: 5 }, "authToken must be a string that is not empty, not 5"],
  ])
    assert.throws(() => new SidecarSocketExecutor(options), { code: "INVALID_CONFIG", message });
});

test("a private sidecar on a directory", async (t) => {
  const here = place(t);
  const executor = createToolExecutor({ localRoot: here.workspace });
  assert.ok(executor instanceof LocalExecutor);
  await work(executor, here.workspace);
  await assert.rejects(executor.readFile("../s"), { code: "PATH_OUTSIDE_WORKSPACE" });
  const { output } = await executor.runBash("echo $PPID");
  await executor.shutdown();
  assert.ok(!existsSync(`/proc/${output.trim()}`));
  await executor.shutdown(); // nothing is left to end
  const outside = createToolExecutor({ mode: "local", local: { workspaceRoot: here.workspace, allowOutsideWorkspaceRoot: true } });
  await outside.ensureReady();
  assert.equal((await outside.readFile("/etc/hostname")).type, "text");
  await outside.shutdown();
});

test("a private sidecar: an aborted command has a result, and long output is cut to its end", async (t) => {
  const here = place(t);
  const executor = new LocalExecutor({ workspaceRoot: here.workspace });
  t.after(() => executor.shutdown());
  const controller = new AbortController();
  const options = { abortSignal: controller.signal, onData: () => controller.abort() };
  const aborted = await executor.runBash("echo x > made; echo begun; exec sleep 1000", options);
  const { change, ...rest } = aborted;
  assert.deepEqual(rest, { ok: false, output: "begun\n", exitCode: -1 });
  const same = await PrivateSidecar.start(here.workspace);
  assert.equal(change, (await same.client.health()).observed.commands === "all" ? 1 : undefined);
  await same.stop();
  assert.deepEqual(await executor.runBash("touch never", options), { ok: false, output: "", exitCode: -1 });
  assert.ok(!existsSync(join(here.workspace, "never")));
  await assert.rejects(executor.grep({ pattern: "x" }, controller.signal), { code: "CANCELLED" });

  const pieces = [];
  const long = await executor.runBash("seq 1 2500", { onData: (text) => pieces.push(text) });
  const numbers = (first) => Array.from({ length: 2501 - first }, (_, at) => `${first + at}\n`).join("");
  assert.equal(pieces.join(""), numbers(1));
  assert.equal(long.output, numbers(502)); // 1999 lines, and the empty one after the last newline
  const { content, ...counts } = long.truncation;
  assert.equal(content, long.output);
  assert.deepEqual(counts, { truncated: true, truncatedBy: "lines", totalLines: 2501, totalBytes: 11_393, outputLines: 2000,
    outputBytes: 9497, lastLinePartial: false, firstLineExceedsLimit: false, maxLines: 2000, maxBytes: 51_200 });

  const wide = await executor.runBash("yes 123456789 | head -n 10000");
  assert.deepEqual([wide.output.length, wide.truncation.truncatedBy, wide.truncation.outputLines], [19_990, "lines", 2000]);
  const lines = await executor.runBash(`yes ${"x".repeat(99)} | head -n 1000`);
  assert.deepEqual([lines.output.length, lines.truncation.truncatedBy, lines.truncation.totalBytes], [51_200, "bytes", 100_000]);
  const one = await executor.runBash("head -c 300000 /dev/zero | tr '\\0' x; printf é");
  assert.equal(one.output, `${"x".repeat(51_198)}é`);
  assert.deepEqual([one.truncation.lastLinePartial, one.truncation.totalLines], [true, 1]);
  const ended = await executor.runBash("head -c 60000 /dev/zero | tr '\\0' x; echo");
  assert.deepEqual([ended.output.length, ended.truncation.lastLinePartial], [51_200, true]);
  const whole = await executor.runBash("seq 1 1999");
  assert.deepEqual([whole.output.split("\n").length, whole.truncation], [2000, undefined]);
});

test("a private sidecar that cannot start says why", async (t) => {
  const here = place(t);
  await assert.rejects(PrivateSidecar.start(here.workspace, { args: ["--no-such-option"] }),
    (error) => error.code === "SPAWN_FAILED" && /no-such-option/.test(error.message));
  const program = process.env.SIDECAR_BIN;
  t.after(() => (process.env.SIDECAR_BIN = program));
  process.env.SIDECAR_BIN = "/nowhere/sidecar";
  await assert.rejects(PrivateSidecar.start(here.workspace), { code: "SPAWN_FAILED" });
});

const launcher = fileURLToPath(new URL("../bin/coding-sidecar.js", import.meta.url));

test("the launcher is the program", async () => {
  assert.equal(programPath(), process.env.SIDECAR_BIN);
  const said = spawnSync(process.execPath, [launcher, "--version"], { encoding: "utf8" });
  assert.deepEqual([said.status, said.stderr], [0, ""]);
  assert.match(said.stdout, /^sidecar \d/);
  assert.equal(spawnSync(process.execPath, [launcher, "no-such-command"]).status, 2);
});

test("the launcher passes signals on", async (t) => {
  const here = place(t);
  const child = spawn(process.execPath, [launcher, "serve", here.workspace, "--socket", here.socketPath], { stdio: "ignore" });
  const executor = createToolExecutor({ mode: "sidecar", sidecar: { socketPath: here.socketPath, waitForReadyMs: 60_000 } });
  await executor.ensureReady();
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
  await executor.shutdown();
  assert.ok(!existsSync(here.socketPath));
});

test("the launcher on another platform, or without its package", (t) => {
  const here = place(t);
  const as = (platform, more = {}) => {
    const preload = join(here.folder, "platform.cjs");
    writeFileSync(preload, `Object.defineProperty(process, "platform", { value: ${JSON.stringify(platform)} });`);
    const env = { ...process.env, SIDECAR_BIN: "", ...more };
    return spawnSync(process.execPath, ["-r", preload, launcher, "mcp"], { env, encoding: "utf8" });
  };
  const foreign = as("darwin");
  assert.equal(foreign.status, 1);
  assert.match(foreign.stderr, /^coding-sidecar: The program runs on linux-x64 and linux-arm64, not on darwin-.*\n$/);
  const missing = as("linux");
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /The package @coding-sidecar\/linux-\w+ is missing\./);
  assert.equal(as("linux", { SIDECAR_BIN: join(here.folder, "none") }).status, 1);
});
