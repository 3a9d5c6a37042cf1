// SPDX-License-Identifier: MIT
import { Connection, type Answer, type CallOptions, type ConnectionOptions } from "./connection.js";
import { PathNotAllowedError, SidecarError, errorOfAnswer } from "./errors.js";
import * as models from "./models.js";
import {
  Operations,
  READ_ONLY_TOOLS,
  type BashArguments,
  type CallForm,
  type SidecarEvent,
  type ToolArguments,
  type ToolOutputs,
} from "./operations.js";

export interface SidecarClientOptions extends ConnectionOptions {
  /** A name for this client in the log and in the read tracker; sent as `sessionId` with every call. */
  session?: string;
}

/** A piece of a command's output, or its end. */
export type BashEvent =
  | { type: "delta"; stream: "stdout" | "stderr"; data: string }
  | { type: "done"; exitCode: number; timedOut?: boolean; stopped?: true; timeoutSeconds?: number; change?: number; notKept?: number };

export interface BashOptions extends CallOptions {
  onStdout?: (text: string) => void;
  onStderr?: (text: string) => void;
  /** Most characters kept of stdout, and of stderr; callbacks get everything. Default: 16 Mi. */
  maxOutput?: number;
}

export interface BashResult {
  /** -1 after a timeout; 128+n if signal n ended the command. */
  exitCode: number;
  timedOut: boolean;
  /** A person stopped it. */
  stopped?: true;
  /** The time that it had, if the server allows no more than that. */
  timeoutSeconds?: number;
  stdout: string;
  stderr: string;
  /** Whether there was more output than `maxOutput`. */
  truncated: boolean;
  /** The number of what it changed, for `undoChange`, as far as commands are observed. */
  change?: number;
  /** How many paths of that cannot be brought back, if there are any. */
  notKept?: number;
}

/** What a tool for models answers. */
export interface Observation<Output = unknown> {
  success: boolean;
  tool: string;
  output: Output | null;
  error: { code: string; message: string; [member: string]: unknown } | null;
  /** What it changed, for `undoChange`. */
  changes?: { id: number; [member: string]: unknown };
}

export interface McpOptions extends CallOptions {
  /** The session that `initialize` began. */
  sessionId?: string;
  /** More headers, such as `MCP-Protocol-Version`. */
  headers?: Record<string, string>;
}

export interface McpAnswer {
  /** The JSON-RPC message; `undefined` after a notification. */
  message: unknown;
  /** After `initialize`: the session, for later messages. */
  sessionId?: string;
}

const MAX_OUTPUT = 16 * 1024 * 1024;

/** A sidecar that is already running. The client never starts or stops one. */
export class SidecarClient extends Operations {
  readonly #connection: Connection;
  readonly #session: string | undefined;

  constructor(options: SidecarClientOptions) {
    super();
    this.#connection = new Connection(options);
    this.#session = options.session;
  }

  /** `unix:/path` or `tcp://host:port`. */
  get endpoint(): string {
    return this.#connection.endpoint;
  }

  /** Waits until the sidecar answers; one that starts late, or again, is waited for. `NOT_READY` after `timeoutMs`. */
  waitForReady(options: CallOptions = {}): Promise<void> {
    return this.#connection.waitForReady(options);
  }

  /**
   * Runs a command and gives all of its output. Aborting the signal ends the command; the error's `details.call` is then
   * the number of the call, whose `change` `watchedCall` knows once it has ended.
   */
  async bash(args: BashArguments, options: BashOptions = {}): Promise<BashResult> {
    const result: BashResult = { exitCode: -1, timedOut: false, stdout: "", stderr: "", truncated: false };
    const most = options.maxOutput ?? MAX_OUTPUT;
    for await (const event of this.bashStream(args, options)) {
      if (event.type === "done") {
        result.exitCode = event.exitCode;
        result.timedOut = event.timedOut ?? false;
        if (event.stopped) result.stopped = true;
        if (event.timeoutSeconds !== undefined) result.timeoutSeconds = event.timeoutSeconds;
        if (event.change !== undefined) result.change = event.change;
        if (event.notKept !== undefined) result.notKept = event.notKept;
        continue;
      }
      (event.stream === "stdout" ? options.onStdout : options.onStderr)?.(event.data);
      const room = most - result[event.stream].length;
      result[event.stream] += event.data.slice(0, Math.max(room, 0));
      result.truncated ||= event.data.length > room;
    }
    return result;
  }

  /** Runs a command and gives its output as it comes, then `done`. Leaving the loop ends the command. */
  async *bashStream(args: BashArguments, options: CallOptions = {}): AsyncGenerator<BashEvent, void, undefined> {
    const request = { method: "POST", path: "/bash", body: this.#body(args) };
    let done = false;
    for await (const line of this.#connection.lines(request, options, "sidecar-call")) {
      const event = parse(line) as BashEvent | { type: "error"; message: string; code?: string };
      if (event.type === "error") throw new SidecarError(event.code ?? "EXECUTION_ERROR", event.message, { status: 200 });
      done = event.type === "done";
      yield event;
    }
    if (!done) throw new SidecarError("CONNECTION_LOST", "The connection to the sidecar was lost while a command ran");
  }

  /** Starts a command in the background; `job`, `jobs` and `stopJob` take its id. */
  startJob(args: BashArguments, options: CallOptions = {}): Promise<{ jobId: string }> {
    return this.call("POST", "/bash", { ...args, background: true }, options, {});
  }

  /**
   * What happens in the sidecar, as it happens: from now on, or after the event `since`, which is `BOOT-ID` of an earlier
   * stream. With `waitForReadyMs` it goes on after a restart; a `gap` says that events are missing.
   */
  async *events(
    args: { since?: number | string } = {},
    options: CallOptions = {},
  ): AsyncGenerator<SidecarEvent, void, undefined> {
    const headers = { Accept: "application/x-ndjson" };
    let { since } = args;
    let boot: string | undefined;
    for (;;) {
      const request = { method: "GET", path: `/events${queryOf({ since })}`, headers, repeatable: true };
      try {
        for await (const line of this.#connection.lines(request, options)) {
          if (line.startsWith(":")) continue;
          const event = parse(line) as SidecarEvent;
          if (event.type === "boot") boot = event.boot;
          const id = event.type === "boot" ? event.event : "id" in event ? event.id : undefined;
          if (boot !== undefined && id !== undefined) since = `${boot}-${id}`;
          yield event;
        }
      } catch (error) {
        const lost = error instanceof SidecarError && error.code === "CONNECTION_LOST";
        if (!lost || !this.#connection.isPatient) throw error;
      }
      if (!this.#connection.isPatient) return;
      await this.#connection.waitForReady(options.signal === undefined ? {} : { signal: options.signal });
    }
  }

  /**
   * Definitions of the tools, in the form that a provider's request takes. With `"ai-sdk"`: tools for the Vercel AI
   * SDK (6 and later), which call the sidecar by themselves.
   */
  async tools<Format extends models.ToolFormat>(
    format: Format,
    options: CallOptions & { set?: "core" | "full" } = {},
  ): Promise<models.ToolDefinitions[Format]> {
    const wanted = format === "ai-sdk" ? "openai" : format;
    const query = `?format=${wanted}&set=${options.set ?? "core"}`;
    const request = { method: "GET", path: `/tools${query}`, repeatable: true };
    const definitions = contentOf(await this.#connection.ask(request, options));
    const run = (name: string, args: object, signal?: AbortSignal): Promise<Observation> =>
      this.#observe(name, args, signal ? { signal } : {});
    const made = format === "ai-sdk" ? models.aiSdkTools(definitions as models.OpenAITool[], run) : definitions;
    return made as models.ToolDefinitions[Format];
  }

  /** The definition of one tool, of any set; `UNKNOWN_TOOL` if there is none. */
  async getToolByName<Format extends "ollama" | "openai" | "anthropic" = "ollama">(
    name: string,
    options: CallOptions & { format?: Format } = {},
  ): Promise<models.ToolDefinitions[Format][number]> {
    const path = `/tools/${encodeURIComponent(name)}?format=${options.format ?? "ollama"}`;
    const definition = contentOf(await this.#connection.ask({ method: "GET", path, repeatable: true }, options));
    return definition as models.ToolDefinitions[Format][number];
  }

  /** Whether a path may be used, after its links are followed. It need not exist. */
  async isPathAllowed(path: string, options: CallOptions = {}): Promise<boolean> {
    try {
      await this.validatePath({ path }, options);
      return true;
    } catch (error) {
      const refused = error instanceof PathNotAllowedError || (error instanceof SidecarError && error.status === 400);
      if (refused) return false;
      throw error;
    }
  }

  /** Whether the command policy refuses a command. It is not run. */
  async isCommandBlocked(command: string, options: CallOptions = {}): Promise<boolean> {
    return (await this.policy({ command }, options)).blocked;
  }

  /** Calls one tool as a model would. A tool that fails is an observation with `success: false`, not an error. */
  tool<Name extends keyof ToolArguments>(
    name: Name,
    args: ToolArguments[Name],
    options: CallOptions = {},
  ): Promise<Observation<ToolOutputs[Name]>> {
    return this.#observe(name, args, options);
  }

  /** Takes a model's tool call as it came from the provider's library; the message to send back. */
  async callTool<Call extends models.ProviderToolCall>(
    call: Call,
    options: CallOptions = {},
  ): Promise<models.ToolReply<Call>> {
    if (models.isAiSdkCall(call)) {
      const observation = await this.#observe(call.toolName, call.input as object, options);
      return models.aiSdkResult(call, observation) as models.ToolReply<Call>;
    }
    const reply = models.replyFormat(call);
    const path = reply === undefined ? "/tools" : `/tools?reply=${reply}`;
    const request = { method: "POST", path, body: this.#body(call) };
    return contentOf(await this.#connection.ask(request, options)) as models.ToolReply<Call>;
  }

  /** Sends one message of the Model Context Protocol. For whole sessions use an MCP library with `/mcp`. */
  async mcp(message: object, options: McpOptions = {}): Promise<McpAnswer> {
    const headers = { Accept: "application/json", ...sessionHeader(options), ...options.headers };
    const answer = await this.#connection.ask({ method: "POST", path: "/mcp", body: message, headers }, options);
    const sessionId = answer.headers["mcp-session-id"];
    return {
      message: answer.text === "" ? undefined : contentOf(answer, (status) => status < 500 && status !== 401),
      ...(typeof sessionId === "string" ? { sessionId } : {}),
    };
  }

  /** Ends a session of the Model Context Protocol. */
  async endSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    const headers = sessionHeader({ sessionId });
    const answer = await this.#connection.ask({ method: "DELETE", path: "/mcp", headers }, options);
    if (answer.status >= 300) throw errorOfAnswer(answer.status, answer.text);
  }

  /** Closes idle connections. The sidecar goes on. */
  close(): void {
    this.#connection.close();
  }

  /** The operations are made of this. */
  protected async call<T>(method: string, path: string, args: object, options: CallOptions, form: CallForm): Promise<T> {
    const rest: Record<string, unknown> = { ...args };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest[name];
      delete rest[name];
      return encodeURIComponent(String(value));
    });
    const query = method === "GET" ? queryOf(rest) : "";
    const body = method === "GET" ? {} : { body: this.#body(rest) };
    const request = { method, path: filled + query, ...body, repeatable: form.repeatable ?? false };
    const answer = await this.#connection.ask(request, options);
    if (form.text && answer.status === 200) return answer.text as T;
    const result = resultOf(contentOf(answer)) as T;
    const { "sidecar-change": change, "sidecar-not-kept": lost } = answer.headers;
    if (change === undefined) return result;
    return { change: Number(change), ...(lost === undefined ? {} : { notKept: Number(lost) }), ...result };
  }

  #observe<Output>(name: string, args: object, options: CallOptions): Promise<Observation<Output>> {
    const form = { repeatable: READ_ONLY_TOOLS.has(name) };
    return this.call("POST", `/tools/${encodeURIComponent(name)}`, args, options, form);
  }

  #body(args: object): object {
    return this.#session === undefined ? args : { sessionId: this.#session, ...args };
  }
}

function sessionHeader(options: { sessionId?: string }): Record<string, string> {
  return options.sessionId === undefined ? {} : { "Mcp-Session-Id": options.sessionId };
}

function queryOf(args: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) if (value !== undefined) query.set(name, String(value));
  return `${query}` === "" ? "" : `?${query}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SidecarError("BAD_ANSWER", "The answer is not JSON", { cause });
  }
}

/** The JSON of an answer; other statuses than 200 are errors unless `accepted`. */
function contentOf(answer: Answer, accepted: (status: number) => boolean = () => false): unknown {
  if (answer.status !== 200 && !accepted(answer.status)) throw errorOfAnswer(answer.status, answer.text);
  return parse(answer.text);
}

/** `{"ok":true,"result":…}` without its envelope. */
function resultOf(content: unknown): unknown {
  const envelope = content as { ok?: unknown; result?: unknown };
  return envelope.ok === true && "result" in envelope ? envelope.result : content;
}
