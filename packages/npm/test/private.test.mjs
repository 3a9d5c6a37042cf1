// SPDX-License-Identifier: MIT
// Private sidecars: one for each configuration, and none that outlives its host or keeps it from ending.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { LocalExecutor, PrivateSidecar } from "../dist/index.mjs";
import { place } from "./sidecar.mjs";

const PATIENCE_MS = 90_000;
const cwd = dirname(fileURLToPath(import.meta.url));

/** Waits until `left` gives nothing any more. */
async function untilNone(left, what) {
  for (const end = Date.now() + PATIENCE_MS; left().length > 0; await sleep(10))
    assert.ok(Date.now() < end, `${what} is left: ${left().join(", ")}`);
}

/** A place for hosts: where their sidecars have sockets, and a mark by which all their processes are found. */
function hostPlace(t) {
  const here = place(t);
  const tmp = join(here.folder, "tmp");
  const mark = `PRIVATE_TEST_MARK=${here.folder}`;
  mkdirSync(tmp);
  const env = { ...process.env, TMPDIR: tmp, PRIVATE_TEST_MARK: here.folder, WORKSPACE: here.workspace };
  const marked = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark);
    } catch {
      return false; // it has ended
    }
  };
  const processes = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name) && marked(name));
  const gone = async () => {
    await untilNone(processes, "a process");
    await untilNone(() => readdirSync(tmp), "a directory");
  };
  return { ...here, tmp, env, gone };
}

/** A program of a host that begins with `LocalExecutor` and its workspace. */
const program = (text) => `const { LocalExecutor } = require("../dist"); const workspaceRoot = process.env.WORKSPACE; ${text}`;

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
  test(`a host is ended by ${signal}`, async (t) => {
    const here = hostPlace(t);
    // Another child of the host, which goes on, must not hold what the sidecar waits for.
    const text = program(`const { PRIVATE_TEST_MARK, ...env } = process.env;
      new LocalExecutor({ workspaceRoot }).runBash("echo begun; sleep 1000", { onData: (text) => {
        require("child_process").spawn("cat", { stdio: ["inherit", "ignore", "ignore"], detached: true, env });
        process.stdout.write(text);
      } });`);
    const host = spawn(process.execPath, ["-e", text], { cwd, env: here.env, stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(host, "exit");
    assert.equal(String((await once(host.stdout, "data"))[0]), "begun\n");
    host.kill(signal);
    assert.deepEqual(await ended, [null, signal]);
    await here.gone();
    host.stdin.end();
  });

test("a hundred executors, never shut down: one sidecar, and the host ends", async (t) => {
  const here = hostPlace(t);
  const text = program(`(async () => {
    const call = () => new LocalExecutor({ workspaceRoot }).ls();
    await call();
    await Promise.all(Array.from({ length: 98 }, call));
    await new LocalExecutor({ workspaceRoot }).runBash("true");
    const { readdirSync } = require("fs");
    console.log(readdirSync(process.env.TMPDIR).filter((name) => name.startsWith("coding-sidecar-")).length);
  })();`);
  const host = spawnSync(process.execPath, ["-e", text], { cwd, env: here.env, encoding: "utf8", timeout: PATIENCE_MS });
  assert.deepEqual([host.status, host.stdout, host.stderr], [0, "1\n", ""]);
  await here.gone();
});

test("a host that exits, and one that throws", async (t) => {
  const here = hostPlace(t);
  for (const end of ["process.exit(3)", "process.exitCode = 3; setImmediate(() => { throw new Error('on purpose'); })"]) {
    const text = program(`new LocalExecutor({ workspaceRoot }).ls().then(() => { ${end}; });`);
    const host = spawnSync(process.execPath, ["-e", text], { cwd, env: here.env, timeout: PATIENCE_MS });
    assert.ok(host.status > 0);
    await here.gone();
  }
});

/** The process of this one that serves a directory. */
function serverOf(workspace) {
  const words = (pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean);
  return children.filter((pid) => words(pid).includes(workspace)).map(Number);
}

test("those who use a sidecar share it until the last one stops", async (t) => {
  const { workspace } = place(t);
  const executors = [1, 2, 3].map(() => new LocalExecutor({ workspaceRoot: workspace }));
  await Promise.all(executors.map((one) => one.writeFile("a", "b")));
  const first = serverOf(workspace);
  assert.equal(first.length, 1);
  const own = await PrivateSidecar.start(workspace, { session: "own" });
  const outside = new LocalExecutor({ workspaceRoot: workspace, allowOutsideWorkspaceRoot: true });
  await outside.ls();
  assert.equal(serverOf(workspace).length, 2);
  await outside.shutdown();
  for (const one of executors) {
    await one.shutdown();
    await one.shutdown();
  }
  assert.deepEqual([serverOf(workspace), own.ended], [first, false]);
  assert.equal((await own.client.read({ path: "a" })).content, "b");
  await own.stop();
  await own.stop();
  assert.deepEqual([serverOf(workspace), own.ended], [[], true]);
  assert.equal((await executors[0].readFile("a")).content, "b");
  await executors[0].shutdown();
  assert.deepEqual(serverOf(workspace), []);
});

test("a sidecar that was killed is replaced, and nothing is left of it", async (t) => {
  const { workspace } = place(t);
  const executor = new LocalExecutor({ workspaceRoot: workspace });
  const sidecar = await PrivateSidecar.start(workspace);
  await executor.ls();
  const [pid] = serverOf(workspace);
  process.kill(pid, "SIGKILL");
  await untilNone(() => [pid].filter((one) => existsSync(`/proc/${one}`)), "the server");
  await executor.ls();
  assert.notEqual(serverOf(workspace)[0], pid);
  await assert.rejects(sidecar.client.ls(), { code: "NOT_READY" });
  assert.throws(() => readdirSync(dirname(sidecar.socketPath)), { code: "ENOENT" });
  await sidecar.stop();
  await executor.ls();
  await executor.shutdown();
});

test("a program that says nothing is ended", async (t) => {
  const here = place(t);
  const program = process.env.SIDECAR_BIN;
  t.after(() => (process.env.SIDECAR_BIN = program));
  process.env.SIDECAR_BIN = join(cwd, "silent");
  await assert.rejects(PrivateSidecar.start(here.workspace, { waitForReadyMs: 50 }), { code: "NOT_READY" });
  assert.deepEqual(serverOf(here.workspace), []);
});
