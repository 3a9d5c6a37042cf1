// SPDX-License-Identifier: MIT
// The real program in a workspace of its own, for the tests of this folder. SIDECAR_BIN names it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const top = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
process.env.SIDECAR_BIN = resolve(process.env.SIDECAR_BIN ?? join(top, "build/sidecar"));

/** A directory with a workspace in it, which goes with the test. */
export function place(t) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sidecar-npm-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = join(folder, "ws");
  mkdirSync(workspace);
  process.env.XDG_STATE_HOME = join(folder, "state");
  return { folder, workspace, socketPath: join(folder, "s") };
}

export async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  return port;
}

/** A running server; `stop` ends it, and the test does. */
export function serve(t, { workspace, socketPath }, { flags = [], env = {} } = {}) {
  const words = ["serve", "--workspace", workspace, "--socket", socketPath, "--grace", "0", ...flags];
  const child = spawn(process.env.SIDECAR_BIN, words, { env: { ...process.env, ...env }, stdio: "ignore" });
  const ended = once(child, "exit");
  const stop = (signal = "SIGTERM") => (child.kill(signal), ended);
  t.after(() => stop("SIGTERM"));
  return { stop, child };
}
