// SPDX-License-Identifier: MIT
// How requests reach a sidecar: over its Unix socket or TCP, again when that is safe, and never longer than allowed.
import { stat } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { SidecarError, errorOfAnswer } from "./errors.js";

export interface ConnectionOptions {
  /** Path of the Unix socket. Give this or `url`. */
  socketPath?: string;
  /** Address of a sidecar that listens on TCP, such as `http://127.0.0.1:8080`; with a path, if a proxy wants one. */
  url?: string;
  /** Bearer token. */
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
  headers: http.IncomingHttpHeaders;
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
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  readonly #waitForReadyMs: number;
  readonly #socketPath: string | undefined;

  constructor(options: ConnectionOptions) {
    const { socketPath, url, token } = options;
    if ((socketPath === undefined) === (url === undefined))
      throw new SidecarError("INVALID_CONFIG", "Give either socketPath or url");
    if (url !== undefined) {
      const address = parseUrl(url);
      const port = address.port || (address.protocol === "https:" ? "443" : "80");
      this.#where = { host: address.hostname.replace(/^\[|\]$/g, ""), port };
      this.#prefix = address.pathname.replace(/\/$/, "");
      this.#transport = address.protocol === "https:" ? https : http;
      this.endpoint = `tcp://${address.hostname}:${port}`;
    } else {
      this.#where = { socketPath: socketPath as string };
      this.#prefix = "";
      this.#transport = http;
      this.endpoint = `unix:${socketPath}`;
    }
    this.#socketPath = socketPath;
    this.#kept = new this.#transport.Agent({ keepAlive: true });
    this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    this.#timeoutMs = options.timeoutMs ?? 0;
    this.#waitForReadyMs = options.waitForReadyMs ?? 0;
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

  /** One request whose answer is a stream of lines. Leaving the loop ends the call. */
  async *lines(request: Request, options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
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
      throw limit.reason(error instanceof SidecarError ? error : lost(error));
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
    for (;;) {
      limit.signal.throwIfAborted();
      if (this.#socketPath === undefined || (await isSocket(this.#socketPath))) {
        const left = Math.max(end - Date.now(), POLL_MS);
        const clock = new Limit(limit.signal, left);
        try {
          const answer = await this.#askOnce({ method: "GET", path: "/health" }, clock);
          if (answer.status === 200) return;
          if (answer.status === 401 || answer.status === 403) throw errorOfAnswer(answer.status, answer.text);
        } catch (error) {
          if (error instanceof SidecarError && error.code === "UNAUTHORIZED") throw error;
        } finally {
          clock.end();
        }
      }
      if (Date.now() >= end)
        throw new SidecarError("NOT_READY", `Timed out waiting for coding sidecar at ${this.endpoint}`);
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
      const headers: Record<string, string> = { ...this.#headers, ...request.headers };
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
        const why = error instanceof Error ? error.message : String(error);
        const notReady = `Cannot connect to the sidecar at ${this.endpoint}: ${why}`;
        reject(connected ? lost(error) : new SidecarError("NOT_READY", notReady, { cause: error }));
      });
      sent.end(body);
    });
  }
}

function lost(cause: unknown): SidecarError {
  return new SidecarError("CONNECTION_LOST", "The connection to the sidecar was lost", { cause });
}

function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new SidecarError("INVALID_CONFIG", `Not a URL: ${text}`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new SidecarError("INVALID_CONFIG", `The URL of a sidecar begins with http:// or https://, not ${url.protocol}`);
  return url;
}

/** Whether a socket is at this path; false if nothing is. */
async function isSocket(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new SidecarError("NOT_READY", `Cannot look at ${path}: ${error.message}`, { cause: error });
  });
  if (found !== undefined && !found.isSocket())
    throw new SidecarError("NOT_READY", `Socket path exists and is not a socket: ${path}`);
  return found !== undefined;
}

async function wholeText(answer: http.IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece);
  if (!answer.complete) throw new Error("the answer ended early");
  return Buffer.concat(pieces).toString("utf8");
}
