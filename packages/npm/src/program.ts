// SPDX-License-Identifier: MIT
// The program that comes in the package for this platform.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SidecarClient } from "./client.js";
import { DEFAULT_WAIT_MS } from "./connection.js";
import { SidecarError } from "./errors.js";

const PLATFORMS = ["linux-x64", "linux-arm64"];

/** Path of the program: `SIDECAR_BIN`, or the one in `@coding-sidecar/<platform>`. */
export function programPath(): string {
  if (process.env["SIDECAR_BIN"]) return process.env["SIDECAR_BIN"];
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform))
    throw new SidecarError(
      "SPAWN_FAILED",
      `The program runs on ${PLATFORMS.join(" and ")}, not on ${platform}. On another system, run it in a Linux ` +
        "container or virtual machine, and connect to it: the client works everywhere.",
    );
  try {
    return require.resolve(`@coding-sidecar/${platform}/bin/sidecar`);
  } catch (cause) {
    throw new SidecarError(
      "SPAWN_FAILED",
      `The package @coding-sidecar/${platform} is missing. It is an optional dependency of coding-sidecar: install ` +
        "again without --omit=optional, or set SIDECAR_BIN to the path of a sidecar.",
      { cause },
    );
  }
}

export interface PrivateSidecarOptions {
  /** Absolute paths are literal, and may lead outside the directory. */
  allowOutside?: boolean;
  /** More arguments of `sidecar serve`. */
  args?: string[];
  waitForReadyMs?: number;
  session?: string;
}

/** A sidecar for this process alone, on one directory. It ends with `stop()`, or with this process. */
export class PrivateSidecar {
  private constructor(
    readonly client: SidecarClient,
    readonly socketPath: string,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(directory: string, options: PrivateSidecarOptions = {}): Promise<PrivateSidecar> {
    const program = programPath();
    const folder = await mkdtemp(join(tmpdir(), "coding-sidecar-"));
    const socketPath = join(folder, "s");
    const words = ["serve", "--workspace", directory, "--socket", socketPath, "--socket-mode", "0600"];
    if (options.allowOutside) words.push("--allow-outside");
    const child = spawn(program, [...words, ...(options.args ?? [])], { stdio: ["ignore", "ignore", "pipe"] });
    const ended = whyEnded(child);
    const waitForReadyMs = options.waitForReadyMs ?? DEFAULT_WAIT_MS;
    const session = options.session === undefined ? {} : { session: options.session };
    const client = new SidecarClient({ socketPath, waitForReadyMs, ...session });
    const sidecar = new PrivateSidecar(client, socketPath, folder, child);
    const ready = new AbortController();
    try {
      await Promise.race([client.waitForReady({ signal: ready.signal }), ended]);
    } catch (error) {
      await sidecar.stop();
      throw error;
    } finally {
      ready.abort();
    }
    process.once("exit", sidecar.#kill);
    return sidecar;
  }

  readonly #kill = (): void => void this.child.kill();

  /** Ends the sidecar and everything that it started. */
  async stop(): Promise<void> {
    process.off("exit", this.#kill);
    this.client.close();
    if (this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill();
      await once(this.child, "exit");
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Rejects when the program cannot be started or ends, with what it said last. */
function whyEnded(child: ChildProcess): Promise<never> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-2000)));
  const ended = new Promise<never>((_, reject) => {
    const fail = (why: string): void => reject(new SidecarError("SPAWN_FAILED", `The sidecar did not start: ${why}`));
    child.once("error", (error) => fail(error.message));
    child.once("close", (status) => fail(said.trim() || `exit status ${status}`));
  });
  ended.catch(() => undefined); // it ends one day, and nothing waits for that
  return ended;
}
