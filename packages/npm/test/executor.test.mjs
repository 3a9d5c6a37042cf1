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
  assert.deepEqual(await executor.writeFile("src/a.txt", "one\ntwo\n"), { ok: true, path: "src/a.txt", bytes: 8 });
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
  await assert.rejects(executor.runBash("sleep 1000", { abortSignal: AbortSignal.timeout(50) }), { code: "CANCELLED" });
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
    [{ mode: "sidecar" }, "INVALID_CONFIG", /socketPath or tcp/],
    [{ mode: "sidecar", sidecar: { socketPath: "/s", tcp } }, "INVALID_CONFIG", /not both/],
    [{ mode: "sidecar", sidecar: { tcp, auth: { required: true } } }, "INVALID_CONFIG", /token is missing/],
    [{ mode: "local" }, "INVALID_CONFIG", /workspaceRoot/],
    [{ mode: "container" }, "INVALID_CONFIG", /must be "sidecar" or "local", not "container"/],
    [{}, "INVALID_CONFIG", /mode/],
    [{ plugins: { coding: { enabled: false } } }, "DISABLED", /false/],
  ])
    assert.throws(() => createToolExecutor(config), (error) => error.code === code && message.test(error.message), message);
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
