// SPDX-License-Identifier: MIT
// The executor that hosts of the Node sidecar know: seven operations, on a sidecar that others run or on one of our own.
import { isAbsolute, posix } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SidecarClient, type BashResult } from "./client.js";
import { CODING, EXECUTOR, LOCAL, SIDECAR, checkMembers, checkPresent, checkSection, mistake } from "./config.js";
import { DEFAULT_WAIT_MS } from "./connection.js";
import { SidecarError } from "./errors.js";
import type { EditResult, FindResult, GrepResult, LsResult, Truncation, WriteResult } from "./operations.js";
import { PrivateSidecar } from "./program.js";

export interface BashRunOptions {
  timeoutSeconds?: number;
  onData?: (chunk: string, source?: "stdout" | "stderr") => void;
  /** Aborting it ends the command with everything that it started. */
  abortSignal?: AbortSignal;
}

export interface BashRunResult {
  ok: boolean;
  /** Standard output and error as they came. */
  output: string;
  /** -1 after a timeout, and of a `LocalExecutor` after an abort. */
  exitCode: number;
  timedOut?: boolean;
  /** A person stopped it. */
  stopped?: true;
  /** The number of what it changed, for `undoChange` of a client, as far as commands are observed. */
  change?: number;
  /** What a `LocalExecutor` left out of the output; `onData` gets everything. */
  truncation?: Truncation;
}

export interface ReadFileResult {
  type: "text" | "image";
  content?: string;
  data?: string;
  mimeType?: string;
  totalLines?: number;
  hasMore?: boolean;
  truncation?: Truncation;
}

export interface FindOptions {
  pattern: string;
  path?: string;
  limit?: number;
}

export interface GrepOptions {
  pattern: string;
  path?: string;
  glob?: string;
  ignoreCase?: boolean;
  literal?: boolean;
  context?: number;
  limit?: number;
}

/** What a host's coding tools call. */
export interface ToolExecutor {
  runBash(command: string, options?: BashRunOptions): Promise<BashRunResult>;
  readFile(path: string, options?: { offset?: number; limit?: number }): Promise<ReadFileResult>;
  writeFile(path: string, content: string): Promise<WriteResult>;
  editFile(path: string, oldText: string, newText: string): Promise<EditResult>;
  ls(path?: string, options?: { limit?: number }): Promise<LsResult>;
  find(options: FindOptions, abortSignal?: AbortSignal): Promise<FindResult>;
  grep(options: GrepOptions, abortSignal?: AbortSignal): Promise<GrepResult>;
  /** Waits for the sidecar, or starts it; the operations do this themselves. */
  ensureReady(): Promise<void>;
  /** Lets go of the sidecar. One that others run goes on; a private one ends. */
  shutdown(): Promise<void>;
}

export interface SidecarSocketExecutorOptions {
  /** Path of the Unix socket, as this host sees it. Give this or `tcp`. */
  socketPath?: string;
  tcp?: { host: string; port: number };
  /** How long to wait for a sidecar that is not there. Default: 10000. */
  waitForReadyMs?: number;
  timeoutMs?: number;
  authToken?: string;
  session?: string;
  /** The workspace under two names, if it has two: an absolute path below `host` is sent as one below `container`. */
  workspace?: { host: string; container: string };
}

type BashEnd = Pick<BashResult, "exitCode" | "timedOut" | "stopped" | "change">;

/** The seven operations on a client that `connect` gives. */
abstract class ClientExecutor implements ToolExecutor {
  protected abstract connect(): Promise<SidecarClient>;
  abstract ensureReady(): Promise<void>;
  abstract shutdown(): Promise<void>;

  /** The path to send for a path of this host. */
  toContainerPath(path: string): string {
    return path;
  }

  /** What collects the output of a command. */
  protected output(): { add(text: string): void; taken(): { output: string; truncation?: Truncation } } {
    let output = "";
    return { add: (text) => (output += text), taken: () => ({ output }) };
  }

  /** What `runBash` gives if the call failed. */
  protected unfinished(error: unknown, _client: SidecarClient): Promise<BashEnd> {
    throw error;
  }

  async runBash(command: string, options: BashRunOptions = {}): Promise<BashRunResult> {
    const { timeoutSeconds, onData, abortSignal } = options;
    const client = await this.connect();
    const args = timeoutSeconds === undefined ? { command } : { command, timeoutSeconds };
    const output = this.output();
    const take = (source: "stdout" | "stderr") => (text: string) => {
      output.add(text);
      onData?.(text, source);
    };
    const callbacks = { onStdout: take("stdout"), onStderr: take("stderr"), maxOutput: 0 };
    const { exitCode, timedOut, stopped, change } = await client
      .bash(args, { ...callbacks, ...signalOf(abortSignal) })
      .catch((error: unknown) => this.unfinished(error, client));
    const how = { ...(timedOut ? { timedOut } : {}), ...(stopped ? { stopped } : {}) };
    const more = { ...how, ...(change === undefined ? {} : { change }) };
    return { ok: exitCode === 0, exitCode, ...more, ...output.taken() };
  }

  async readFile(path: string, options: { offset?: number; limit?: number } = {}): Promise<ReadFileResult> {
    return (await this.connect()).read({ ...options, path: this.toContainerPath(path) }) as Promise<ReadFileResult>;
  }

  async writeFile(path: string, content: string): Promise<WriteResult> {
    return (await this.connect()).write({ path: this.toContainerPath(path), content });
  }

  async editFile(path: string, oldText: string, newText: string): Promise<EditResult> {
    const result = await (await this.connect()).edit({ path: this.toContainerPath(path), oldText, newText });
    return { ...result, path };
  }

  async ls(path?: string, options: { limit?: number } = {}): Promise<LsResult> {
    return (await this.connect()).ls({ ...options, ...this.#place(path) });
  }

  async find(options: FindOptions, abortSignal?: AbortSignal): Promise<FindResult> {
    return (await this.connect()).find({ ...options, ...this.#place(options.path) }, signalOf(abortSignal));
  }

  async grep(options: GrepOptions, abortSignal?: AbortSignal): Promise<GrepResult> {
    return (await this.connect()).grep({ ...options, ...this.#place(options.path) }, signalOf(abortSignal));
  }

  #place(path: string | undefined): { path?: string } {
    return path === undefined || path === "" ? {} : { path: this.toContainerPath(path) };
  }
}

/** The end of a text that may be long: its last lines, as many as fit. A line that is too long alone loses its beginning. */
class Tail {
  static readonly #LINES = 2000;
  static readonly #BYTES = 50 * 1024;
  #kept = "";
  #bytes = 0;
  #lines = 1;

  add(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    this.#lines += text.split("\n").length - 1;
    this.#kept += text;
    // A character has at least one byte, so more than this cannot be shown.
    if (this.#kept.length > 4 * Tail.#BYTES) this.#kept = this.#kept.slice(-2 * Tail.#BYTES);
  }

  taken(): { output: string; truncation?: Truncation } {
    const [maxLines, maxBytes] = [Tail.#LINES, Tail.#BYTES];
    if (this.#lines <= maxLines && this.#bytes <= maxBytes) return { output: this.#kept };
    const byLines = Buffer.from(this.#kept.split("\n").slice(-maxLines).join("\n"));
    let start = Math.max(byLines.length - maxBytes, 0);
    const truncatedBy = start > 0 ? "bytes" : "lines";
    const next = start > 0 ? byLines.indexOf("\n", start - 1) + 1 : 0;
    const lastLinePartial = start > 0 && (next === 0 || next === byLines.length);
    if (start > 0 && !lastLinePartial) start = next;
    while (((byLines[start] ?? 0) & 0xc0) === 0x80) start++; // the rest of a character
    const content = byLines.toString("utf8", start);
    const counts = { totalLines: this.#lines, totalBytes: this.#bytes, maxLines, maxBytes };
    const left = { outputLines: content.split("\n").length, outputBytes: byLines.length - start };
    const how = { truncated: true, truncatedBy, lastLinePartial, firstLineExceedsLimit: false } as const;
    return { output: content, truncation: { content, ...how, ...counts, ...left } };
  }
}

/** Connects to a sidecar that others run, and never starts, stops or manages it. */
export class SidecarSocketExecutor extends ClientExecutor {
  readonly client: SidecarClient;
  readonly #workspace: { host: string; container: string } | undefined;
  #ready = false;

  constructor(options: SidecarSocketExecutorOptions) {
    super();
    checkSection(options, EXECUTOR);
    const { socketPath, tcp, authToken, timeoutMs, session, workspace } = options;
    if (tcp) checkPresent(tcp, ["host", "port"], "tcp");
    if (workspace) checkPresent(workspace, ["host", "container"], "workspace");
    if ((socketPath === undefined) === (tcp === undefined))
      throw mistake(`Give socketPath or tcp${tcp === undefined ? "; neither is set" : ", not both"}`);
    const host = tcp?.host.includes(":") ? `[${tcp.host}]` : tcp?.host;
    this.client = new SidecarClient({
      ...(tcp ? { url: `http://${host}:${tcp.port}` } : { socketPath: socketPath as string }),
      ...(authToken === undefined ? {} : { token: authToken }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(session === undefined ? {} : { session }),
      waitForReadyMs: options.waitForReadyMs || DEFAULT_WAIT_MS,
    });
    this.#workspace = workspace;
  }

  async ensureReady(): Promise<void> {
    if (!this.#ready) await this.client.waitForReady();
    this.#ready = true;
  }

  override toContainerPath(path: string): string {
    return this.#workspace ? moved(path, this.#workspace.host, this.#workspace.container) : path;
  }

  /** The path on this host of a path in the container. */
  toHostPath(path: string): string {
    return this.#workspace ? moved(path, this.#workspace.container, this.#workspace.host) : path;
  }

  async shutdown(): Promise<void> {
    this.#ready = false;
    this.client.close();
  }

  protected override async connect(): Promise<SidecarClient> {
    await this.ensureReady();
    return this.client;
  }
}

/**
 * Starts a private sidecar on a directory at the first call. Executors with the same options share it. It ends when the
 * last of them is shut down, or with this process, which need not shut down any.
 */
export class LocalExecutor extends ClientExecutor {
  #sidecar: Promise<PrivateSidecar> | undefined;

  constructor(private readonly options: { workspaceRoot: string; allowOutsideWorkspaceRoot?: boolean }) {
    super();
  }

  async ensureReady(): Promise<void> {
    await this.connect();
  }

  async shutdown(): Promise<void> {
    const sidecar = this.#sidecar;
    this.#sidecar = undefined;
    await (await sidecar?.catch(() => undefined))?.stop();
  }

  protected override output(): Tail {
    return new Tail();
  }

  /** An aborted command has ended, with the output that came until then, and its change is known. */
  protected override async unfinished(error: unknown, client: SidecarClient): Promise<BashEnd> {
    if (!(error instanceof SidecarError) || error.code !== "CANCELLED") throw error;
    const id = error.details["call"];
    const change = typeof id === "number" ? await changeOf(client, id).catch(() => undefined) : undefined;
    return { exitCode: -1, timedOut: false, ...(change === undefined ? {} : { change }) };
  }

  protected override async connect(): Promise<SidecarClient> {
    const { workspaceRoot, allowOutsideWorkspaceRoot: allowOutside = false } = this.options;
    const starting = (this.#sidecar ??= PrivateSidecar.start(workspaceRoot, { allowOutside }));
    try {
      const sidecar = await starting;
      if (!sidecar.ended) return sidecar.client;
    } catch (error) {
      this.#drop(starting); // the next call tries again
      throw error;
    }
    this.#drop(starting); // it was killed
    return this.connect();
  }

  #drop(one: Promise<PrivateSidecar>): void {
    if (this.#sidecar === one) this.#sidecar = undefined;
  }
}

/** `plugins.coding` of a host's configuration. */
export interface CodingConfig {
  enabled?: boolean;
  mode?: "sidecar" | "local";
  sidecar?: {
    socketPath?: string;
    tcp?: { host: string; port: number };
    auth?: { token?: string; required?: boolean };
    waitForReadyMs?: number;
    timeoutMs?: number;
    session?: string;
    workspace?: { host: string; container: string };
  };
  local?: { workspaceRoot: string; allowOutsideWorkspaceRoot?: boolean };
  /** Short for `mode: "local"` with this `workspaceRoot`. */
  localRoot?: string;
}

/** The executor that a configuration describes: `plugins.coding`, or a whole configuration that contains it. */
export function createToolExecutor(
  config: CodingConfig | { plugins: { coding: CodingConfig } },
): SidecarSocketExecutor | LocalExecutor {
  if ("plugins" in config) checkPresent(config.plugins, ["coding"], "plugins");
  const coding: CodingConfig = "plugins" in config ? config.plugins.coding : config;
  checkMembers(coding, CODING, "plugins.coding");
  if (coding.enabled === false) throw new SidecarError("DISABLED", "plugins.coding.enabled is false");
  const mode = coding.mode ?? (coding.localRoot === undefined ? undefined : "local");
  if (mode === "local") {
    const local = { ...coding.local, ...(coding.localRoot === undefined ? {} : { workspaceRoot: coding.localRoot }) };
    checkSection(local, LOCAL, "plugins.coding.local");
    checkPresent(local, ["workspaceRoot"], "plugins.coding.local");
    return new LocalExecutor(local as { workspaceRoot: string });
  }
  if (mode !== "sidecar") {
    const is = mode === undefined ? "; it is missing" : `, not ${JSON.stringify(mode)}`;
    throw mistake(`plugins.coding.mode must be "sidecar" or "local"${is}`);
  }
  const name = "plugins.coding.sidecar";
  checkSection(coding.sidecar ?? {}, SIDECAR, name);
  const { auth, ...sidecar } = coding.sidecar ?? {};
  if (sidecar.tcp) checkPresent(sidecar.tcp, ["host", "port"], `${name}.tcp`);
  if (sidecar.workspace) checkPresent(sidecar.workspace, ["host", "container"], `${name}.workspace`);
  if (sidecar.tcp && sidecar.socketPath) throw mistake(`${name} must have socketPath or tcp, not both`);
  if (!sidecar.tcp && !sidecar.socketPath) throw mistake(`${name} must have socketPath or tcp; it has neither`);
  if (auth?.required && !auth.token) throw mistake(`${name}.auth.required is true and ${name}.auth.token is missing`);
  return new SidecarSocketExecutor({ ...sidecar, ...(auth?.token === undefined ? {} : { authToken: auth.token }) });
}

/** What a call that is being ended has changed. It has five seconds, and then it is killed. */
async function changeOf(client: SidecarClient, id: number): Promise<number | undefined> {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(20)) {
    const { running, change } = await client.watchedCall({ id });
    if (!running) return change;
  }
  return undefined;
}

function signalOf(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** A path below one directory as a path below another; any other path as it is. */
function moved(path: string, from: string, to: string): string {
  if (!isAbsolute(path)) return path;
  const rest = posix.relative(from, path);
  return rest === ".." || rest.startsWith("../") ? path : posix.join(to, rest);
}
