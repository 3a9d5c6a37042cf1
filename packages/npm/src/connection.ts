// SPDX-License-Identifier: MIT
// How requests reach a sidecar: over its Unix socket or TCP, again when that is safe, and never longer than allowed.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, statSync, type Stats } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CLIENT, checkSection, mistake } from "./config.js";
import { SidecarError, errorOfAnswer } from "./errors.js";

export interface ConnectionOptions {
  /** Path of the Unix socket. Give this or `url`. */
  socketPath?: string;
  /** Address of a sidecar that listens on TCP, such as `http://127.0.0.1:8080`; with a path, if a proxy wants one. */
  url?: string;
  /** Bearer token. Without it, one that a server at a numeric address has made for this user is found. */
  token?: string;
  /** The longest time an answer may take; of a stream, the longest silence. Default: no limit. */
  timeoutMs?: number;
  /** How long a call waits for a sidecar that is not there (yet, or because it restarts). Default: it fails at once. */
  waitForReadyMs?: number;
}

export interface CallOptions {
  /** Aborting it ends the call; a command on the other side is ended with everything that it started. */
  signal?: AbortSignal;
  /** Overrides `timeoutMs` of the client. */
  timeoutMs?: number;
}

export interface Request {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The call changes nothing, so it may be sent again if the connection is lost. */
  repeatable?: boolean;
}

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

const POLL_MS = 100;
const ATTEMPTS = 3;
export const DEFAULT_WAIT_MS = 10_000;

/** What may end a call early: the caller's signal, and the clock. */
class Limit {
  readonly #controller = new AbortController();
  readonly #cancel = (): void => {
    const cause = this.outer?.reason as unknown;
    this.#controller.abort(new SidecarError("CANCELLED", "The call was cancelled", { cause }));
  };
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly outer: AbortSignal | undefined,
    private readonly timeoutMs: number,
  ) {
    if (outer?.aborted) this.#cancel();
    else outer?.addEventListener("abort", this.#cancel, { once: true });
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something came, and the caller looks at it: that may take any time. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** The time begins anew. */
  restart(): void {
    this.pause();
    if (this.timeoutMs > 0)
      this.#timer = setTimeout(() => {
        const seconds = this.timeoutMs / 1000;
        this.#controller.abort(new SidecarError("TIMED_OUT", `The sidecar did not answer within ${seconds} s`));
      }, this.timeoutMs);
  }

  /** Why a call failed: because of this limit, or for its own reason. */
  reason(error: unknown): unknown {
    return this.signal.aborted ? this.signal.reason : error;
  }

  end(): void {
    this.pause();
    this.outer?.removeEventListener("abort", this.#cancel);
  }
}

export class Connection {
  /** `unix:/path` or `tcp://host:port`, for messages. */
  readonly endpoint: string;
  readonly #where: http.RequestOptions;
  readonly #prefix: string;
  readonly #transport: typeof http | typeof https;
  readonly #kept: http.Agent;
  readonly #token: () => string | undefined;
  readonly #timeoutMs: number;
  readonly #waitForReadyMs: number;
  readonly #socketPath: string | undefined;

  constructor(options: ConnectionOptions) {
    checkSection(options, CLIENT);
    const { socketPath, url, token } = options;
    if ((socketPath === undefined) === (url === undefined))
      throw mistake(`Give socketPath or url${url === undefined ? "; neither is set" : ", not both"}`);
    if (token !== undefined && !/^[!-~]+$/.test(token))
      throw mistake("token must be visible ASCII characters without blanks");
    if (url !== undefined) {
      const address = parseUrl(url);
      const port = address.port || (address.protocol === "https:" ? "443" : "80");
      const host = address.hostname.replace(/^\[|\]$/g, "");
      this.#where = { host, port };
      const isPlain = address.protocol === "http:" && isIP(host) !== 0;
      this.#token = () => token ?? (isPlain ? madeToken(host, port) : undefined);
      this.#prefix = address.pathname.replace(/\/$/, "");
      this.#transport = address.protocol === "https:" ? https : http;
      this.endpoint = `tcp://${address.hostname}:${port}`;
    } else {
      this.#where = { socketPath: socketPath as string };
      this.#token = () => token;
      this.#prefix = "";
      this.#transport = http;
      this.endpoint = `unix:${socketPath}`;
    }
    this.#socketPath = socketPath;
    this.#kept = new this.#transport.Agent({ keepAlive: true });
    this.#timeoutMs = options.timeoutMs ?? 0;
    this.#waitForReadyMs = options.waitForReadyMs ?? 0;
  }

  /** Whether a call waits for a sidecar that is not there. */
  get isPatient(): boolean {
    return this.#waitForReadyMs > 0;
  }

  /** One request and its whole answer, whatever its status. */
  async ask(request: Request, options: CallOptions = {}): Promise<Answer> {
    const limit = this.#limit(options);
    try {
      return await this.#patiently(request, limit, () => this.#askOnce(request, limit));
    } catch (error) {
      throw limit.reason(error);
    } finally {
      limit.end();
    }
  }

  /**
   * One request whose answer is a stream of lines. Leaving the loop ends the call. If it fails after it began, the error's
   * `details.call` is the number in that header of the answer.
   */
  async *lines(request: Request, options: CallOptions = {}, callHeader = ""): AsyncGenerator<string, void, undefined> {
    const limit = this.#limit(options);
    let answer: http.IncomingMessage | undefined;
    try {
      answer = await this.#patiently(request, limit, () => this.#send(request, limit));
      if (answer.statusCode !== 200) throw errorOfAnswer(answer.statusCode ?? 0, await wholeText(answer));
      let rest = "";
      answer.setEncoding("utf8");
      for await (const piece of answer as AsyncIterable<string>) {
        limit.pause();
        const lines = (rest + piece).split("\n");
        rest = lines.pop() as string;
        yield* lines.filter((line) => line !== "");
        limit.restart();
      }
      if (rest !== "") yield rest;
    } catch (error) {
      const reason = limit.reason(error instanceof SidecarError ? error : lost(error));
      const call = Number(answer?.headers[callHeader]);
      if (reason instanceof SidecarError && call > 0) Object.assign(reason.details, { call });
      throw reason;
    } finally {
      answer?.destroy();
      limit.end();
    }
  }

  /** Waits until the sidecar answers `GET /health`; a sidecar that starts late, or again, is waited for. */
  async waitForReady(options: CallOptions = {}): Promise<void> {
    const timeoutMs = options.timeoutMs ?? (this.#waitForReadyMs || DEFAULT_WAIT_MS);
    const limit = new Limit(options.signal, 0);
    try {
      await this.#ready(limit, Date.now() + timeoutMs);
    } catch (error) {
      throw limit.reason(error);
    } finally {
      limit.end();
    }
  }

  /** Closes idle connections. The sidecar goes on. */
  close(): void {
    this.#kept.destroy();
  }

  #limit(options: CallOptions): Limit {
    return new Limit(options.signal, options.timeoutMs ?? this.#timeoutMs);
  }

  /** Sends again what was not sent, or may be repeated. */
  async #patiently<T>(request: Request, limit: Limit, send: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        limit.signal.throwIfAborted();
        return await send();
      } catch (error) {
        if (!(error instanceof SidecarError) || limit.signal.aborted || attempt === ATTEMPTS) throw error;
        const unsent = error.code === "NOT_READY" && this.#waitForReadyMs > 0;
        const repeat = error.code === "CONNECTION_LOST" && request.repeatable === true;
        if (!unsent && !repeat) throw error;
        await this.#ready(limit, Date.now() + this.#waitForReadyMs);
      }
    }
  }

  async #ready(limit: Limit, end: number): Promise<void> {
    let why = "";
    for (;;) {
      limit.signal.throwIfAborted();
      const left = Math.max(end - Date.now(), POLL_MS);
      const clock = new Limit(limit.signal, left);
      try {
        const answer = await this.#askOnce({ method: "GET", path: "/health" }, clock);
        if (answer.status === 200) return;
        if (answer.status === 401 || answer.status === 403) throw errorOfAnswer(answer.status, answer.text);
        why = `GET /health is answered with status ${answer.status}`;
      } catch (thrown) {
        const error = clock.reason(thrown);
        if (!(error instanceof SidecarError) || error.code === "UNAUTHORIZED") throw error;
        if (error.cause instanceof NotASocket) throw error;
        // The last attempt may only have run out of time; then the one before says why.
        if (error.code !== "TIMED_OUT") why = whyNotReady(error, this.#socketPath);
        else why ||= "it accepts connections and does not answer";
      } finally {
        clock.end();
      }
      if (Date.now() >= end) {
        const reason = why === "" ? "" : `: ${why}`;
        throw new SidecarError("NOT_READY", `Timed out waiting for coding sidecar at ${this.endpoint}${reason}`);
      }
      await sleep(POLL_MS, undefined, { signal: limit.signal });
    }
  }

  async #askOnce(request: Request, limit: Limit): Promise<Answer> {
    const answer = await this.#send(request, limit);
    const text = await wholeText(answer).catch((error: unknown) => {
      throw lost(error);
    });
    return { status: answer.statusCode ?? 0, headers: answer.headers, text };
  }

  /** Sends a request; the head of its answer. NOT_READY if no connection could be made, else CONNECTION_LOST. */
  #send(request: Request, limit: Limit): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const body = request.body === undefined ? undefined : JSON.stringify(request.body);
      const token = this.#token();
      const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      Object.assign(headers, request.headers);
      if (body !== undefined) {
        headers["Content-Type"] = "application/json";
        headers["Content-Length"] = String(Buffer.byteLength(body));
      }
      // A kept connection may have been closed by a server that restarted, and then it is not known whether the request
      // arrived. So what must not be repeated goes over a connection of its own.
      const agent = request.repeatable === true ? this.#kept : false;
      const path = this.#prefix + request.path;
      const options = { ...this.#where, method: request.method, path, headers, agent, signal: limit.signal };
      const sent = this.#transport.request(options, resolve);
      let connected = false;
      sent.on("socket", (socket) => {
        connected = !socket.connecting;
        if (!connected) socket.once("connect", () => (connected = true));
      });
      sent.on("error", (error) => {
        reject(connected ? lost(error) : cannotConnect(error, this.endpoint, this.#socketPath));
      });
      sent.end(body);
    });
  }
}

/** The directories in which running sidecars of this user may be entered. */
function runningPlaces(uid: number | undefined): string[] {
  const runtime = process.env["XDG_RUNTIME_DIR"];
  const usual = `/run/user/${uid}`;
  if (runtime?.startsWith("/") && runtime !== usual) return [`${runtime}/sidecar`];
  return [`${usual}/sidecar`, ...(uid === 0 ? ["/run/sidecar"] : []), `/tmp/sidecar-${uid}`];
}

/**
 * The token in the file that a server keeps while it listens at this address. Another program that listens there later
 * can do nothing with it, because each server makes its own.
 */
function madeToken(host: string, port: string): string | undefined {
  const uid = process.geteuid?.();
  for (const place of runningPlaces(uid)) {
    let file: number | undefined;
    try {
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      file = openSync(`${place}/tcp-${host}-${port}.token`, flags);
      const found = fstatSync(file);
      if (!found.isFile() || found.uid !== uid || lstatSync(place).uid !== uid) continue;
      return /^[0-9a-f]{64}$/.exec(readFileSync(file, "ascii"))?.[0];
    } catch {
      // None is there.
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }
  return undefined;
}

function lost(cause: unknown): SidecarError {
  return new SidecarError("CONNECTION_LOST", "The connection to the sidecar was lost", { cause });
}

function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw mistake(`url must be http://HOST:PORT or https://HOST:PORT, not ${text}`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw mistake(`url must begin with http:// or https://, not ${url.protocol}`);
  return url;
}

/** The path names something else: there is no use in waiting. */
class NotASocket extends Error {}

function cannotConnect(error: NodeJS.ErrnoException, endpoint: string, path: string | undefined): SidecarError {
  // The kernel answers the same for a socket without a server and for any other file.
  if (path !== undefined && error.code !== "ENOENT" && statOf(path)?.isSocket() === false) {
    const message = `Socket path exists and is not a socket: ${path}`;
    return new SidecarError("NOT_READY", message, { cause: new NotASocket(message, { cause: error }) });
  }
  const why = reasonOf(error, path) || "there is no such socket";
  return new SidecarError("NOT_READY", `Cannot connect to the sidecar at ${endpoint}: ${why}`, { cause: error });
}

/** Why a connection could not be made; "" if there is nothing at the path. */
function reasonOf(error: NodeJS.ErrnoException, path: string | undefined): string {
  switch (error.code) {
    case "ENOENT":
      return "";
    case "ECONNREFUSED":
      return `no server listens on the ${path === undefined ? "port" : "socket"}`;
    case "EACCES": {
      const found = path === undefined ? undefined : statOf(path);
      if (found === undefined) return "permission denied: this user may not enter the socket's directory";
      const mode = (found.mode & 0o7777).toString(8).padStart(4, "0");
      return `permission denied: the socket is for user ${found.uid} and group ${found.gid} (mode ${mode})`;
    }
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name is not known (${error.code})`;
    case "EAGAIN":
      return "the socket takes no more connections";
    default:
      return error.message;
  }
}

function whyNotReady(error: SidecarError, path: string | undefined): string {
  if (error.code === "CONNECTION_LOST") return "it closes connections without an answer";
  return error.cause instanceof Error ? reasonOf(error.cause, path) : error.message;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

async function wholeText(answer: http.IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece);
  if (!answer.complete) throw new Error("the answer ended early");
  return Buffer.concat(pieces).toString("utf8");
}
