// SPDX-License-Identifier: MIT
// The program that comes in the package for this platform.
import { spawn, type ChildProcess } from "node:child_process";
import { rmdirSync, unlinkSync } from "node:fs";
import type { Socket } from "node:net";
import { basename, dirname, resolve } from "node:path";
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

/**
 * A sidecar for this process alone, on one directory. Those that are started with the same directory and options share
 * one. It ends when the last of them is stopped, or with this process, however that ends; until then it does not keep
 * the process from ending.
 */
export class PrivateSidecar {
  #server: Server | undefined;

  private constructor(
    readonly client: SidecarClient,
    readonly socketPath: string,
    server: Server,
  ) {
    this.#server = server;
  }

  static async start(directory: string, options: PrivateSidecarOptions = {}): Promise<PrivateSidecar> {
    const { allowOutside, args = [], waitForReadyMs = DEFAULT_WAIT_MS, session } = options;
    const words = ["serve", "--private", "--workspace", resolve(directory)];
    if (allowOutside) words.push("--allow-outside");
    const server = Server.join(programPath(), [...words, ...args]);
    try {
      const { client, socketPath } = await withinTime(server.ready, waitForReadyMs);
      return new PrivateSidecar(session === undefined ? client : new SidecarClient({ socketPath, session }), socketPath, server);
    } catch (error) {
      await server.leave();
      throw error;
    }
  }

  /** Whether the sidecar has ended, by itself or because it was stopped. */
  get ended(): boolean {
    return this.#server?.ended ?? true;
  }

  /** Lets go of the sidecar. The last one to do so ends it, with everything that it started. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined && (await server.ready).client !== this.client) this.client.close();
    await server?.leave();
  }
}

/** A process `sidecar serve --private`. It ends when its standard input does, and this process has the other end. */
class Server {
  static readonly #running = new Map<string, Server>();

  /** Where it listens, and a client for all who use it: many that are never stopped would keep many connections. */
  readonly ready: Promise<{ client: SidecarClient; socketPath: string }>;
  ended = false;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #users = 0;

  static join(program: string, words: string[]): Server {
    const key = JSON.stringify([program, ...words]);
    const server = Server.#running.get(key) ?? new Server(key, program, words);
    server.#users++;
    return server;
  }

  private constructor(
    private readonly key: string,
    program: string,
    words: string[],
  ) {
    Server.#running.set(key, this);
    // It has a session of its own, because Ctrl-C in a terminal is for this process, which may go on.
    this.#child = spawn(program, words, { stdio: "pipe", detached: true });
    this.#child.stdin?.on("error", () => undefined); // it has ended
    this.#gone = new Promise((done) => this.#child.once("error", done).once("exit", done)).then(() => {
      this.ended = true;
      this.#forget();
    });
    this.ready = firstLine(this.#child).then((socketPath) => {
      this.#child.once("exit", (_, signal) => signal !== null && removeSocket(socketPath));
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
      (this.#child.stdin as Socket).unref();
      this.#child.unref();
      return { client: new SidecarClient({ socketPath }), socketPath };
    });
  }

  /** The last one who leaves ends it. */
  async leave(): Promise<void> {
    if (--this.#users > 0) return;
    this.#forget();
    this.#child.ref();
    this.#child.kill();
    await this.#gone;
    await this.ready.then(({ client }) => client.close()).catch(() => undefined);
  }

  #forget(): void {
    if (Server.#running.get(this.key) === this) Server.#running.delete(this.key);
  }
}

/** What the program says first, which is where it listens; or why it ended. */
function firstLine(child: ChildProcess): Promise<string> {
  let line = "";
  let said = "";
  return new Promise((found, reject) => {
    const fail = (why: string): void => reject(new SidecarError("SPAWN_FAILED", `The sidecar did not start: ${why}`));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-2000)));
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      line += text;
      if (line.endsWith("\n")) found(line.slice(0, -1));
    });
    child.once("error", (error) => fail(error.message));
    child.once("close", (status) => fail(said.trim() || `exit status ${status}`));
  });
}

async function withinTime<T>(ready: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new SidecarError("NOT_READY", `The sidecar did not start within ${ms / 1000} s`);
    timer = setTimeout(() => reject(error), ms);
  });
  try {
    return await Promise.race([ready, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Removes what a sidecar that was killed has left: its socket, and the directory if that was made for it. */
function removeSocket(path: string): void {
  if (!/^coding-sidecar-\w{6}$/.test(basename(dirname(path)))) return;
  try {
    unlinkSync(path);
    rmdirSync(dirname(path));
  } catch {
    // somebody else has done it
  }
}
