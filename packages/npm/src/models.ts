// SPDX-License-Identifier: MIT
// The forms in which providers' libraries take definitions of tools, give calls of models, and take their results.
import type { Observation } from "./client.js";
import type { ServerToolFormat } from "./operations.js";

/** Whose library the definitions are for; `"ai-sdk"` is the Vercel AI SDK. */
export type ToolFormat = ServerToolFormat | "ai-sdk";

interface ObjectSchema {
  type: "object";
  [member: string]: unknown;
}

/** A tool of OpenAI's chat completions, and of Ollama. */
export interface OpenAITool {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema; strict?: boolean };
}

/** A tool of OpenAI's responses. */
export interface OpenAIResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: ObjectSchema;
  strict: boolean | null;
}

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: ObjectSchema;
}

/** One of OpenAI's own tools, for its responses. */
export type OpenAINativeTool = { type: "apply_patch" } | { type: "shell"; environment: { type: "local" } };

/** One of Anthropic's own tools. */
export type AnthropicNativeTool =
  | { type: "text_editor_20250728"; name: "str_replace_based_edit_tool" }
  | { type: "bash_20250124"; name: "bash" }
  | { type: "memory_20250818"; name: "memory" };

/** The tools of Gemini, in one object. */
export interface GeminiTools {
  functionDeclarations: { name: string; description: string; parameters: Record<string, unknown> }[];
}

/** A tool of the Model Context Protocol, as `tools/list` gives it. */
export interface McpTool {
  name: string;
  title?: string;
  description: string;
  inputSchema: ObjectSchema;
  [member: string]: unknown;
}

/** A tool of the Vercel AI SDK: `execute` calls the sidecar. */
export interface AiSdkTool {
  description: string;
  /** The JSON Schema of its arguments, by https://standardschema.dev. */
  inputSchema: StandardSchema;
  execute: (input: unknown, options?: { abortSignal?: AbortSignal }) => Promise<Observation>;
}

export interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** What `tools(format)` gives. */
export interface ToolDefinitions extends Record<ToolFormat, unknown> {
  ollama: OpenAITool[];
  openai: OpenAITool[];
  "openai-strict": OpenAITool[];
  "openai-responses": OpenAIResponsesTool[];
  anthropic: AnthropicTool[];
  gemini: GeminiTools[];
  mcp: McpTool[];
  "anthropic-native": AnthropicNativeTool[];
  "openai-native": OpenAINativeTool[];
  "ai-sdk": Record<string, AiSdkTool>;
}

/** An element of `tool_calls` in OpenAI's chat completions. */
export interface OpenAIToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** An item of the output in OpenAI's responses. */
export interface OpenAIFunctionCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
}

export interface AnthropicToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
}

export interface OllamaToolCall {
  function: { name: string; arguments: Record<string, unknown> };
}

export interface GeminiFunctionCall {
  name?: string;
  args?: Record<string, unknown>;
}

/** A `tool-call` of the Vercel AI SDK. */
export interface AiSdkToolCall {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** A call of one of OpenAI's own tools, in its responses. */
export interface OpenAINativeCall {
  type: "apply_patch_call" | "shell_call" | "local_shell_call";
}

/** A tool call as a provider's library gives it; what is not known here is passed on as it is. */
export type ProviderToolCall =
  | OpenAIToolCall
  | OpenAIFunctionCall
  | AnthropicToolUse
  | OllamaToolCall
  | GeminiFunctionCall
  | AiSdkToolCall
  | OpenAINativeCall
  | { type: string };

/** The message that goes back for a call. */
export type ToolReply<Call> = Call extends OpenAIToolCall
  ? { role: "tool"; tool_call_id: string; content: string }
  : Call extends OpenAIFunctionCall
    ? { type: "function_call_output"; call_id: string; output: string }
    : Call extends AnthropicToolUse
      ? { type: "tool_result"; tool_use_id: string; content: string | AnthropicBlock[]; is_error?: boolean }
      : Call extends AiSdkToolCall
        ? AiSdkToolResult
        : Call extends OllamaToolCall
          ? { role: "tool"; tool_name: string; content: string }
          : Call extends { type: keyof OpenAINativeReplies }
            ? OpenAINativeReplies[Call["type"]]
            : Record<string, unknown>;

export type AnthropicBlock =
  | { type: "text"; text: string }
  | {
      type: "image";
      source: { type: "base64"; media_type: "image/png" | "image/jpeg" | "image/gif" | "image/webp"; data: string };
    };

/** What answers calls of OpenAI's own tools. */
export interface OpenAINativeReplies {
  apply_patch_call: { type: "apply_patch_call_output"; call_id: string; status: "completed" | "failed"; output?: string };
  shell_call: {
    type: "shell_call_output";
    call_id: string;
    output: { stdout: string; stderr: string; outcome: { type: "timeout" } | { type: "exit"; exit_code: number } }[];
    max_output_length?: number;
  };
  local_shell_call: { type: "local_shell_call_output"; id: string; output: string };
}

export interface AiSdkToolResult {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "json" | "error-json"; value: Observation };
}

export function isAiSdkCall(call: object): call is AiSdkToolCall {
  return "toolCallId" in call && "toolName" in call;
}

export function aiSdkResult(call: AiSdkToolCall, value: Observation): AiSdkToolResult {
  const { toolCallId, toolName } = call;
  return { type: "tool-result", toolCallId, toolName, output: { type: value.success ? "json" : "error-json", value } };
}

/** Whose message answers this call; undefined: its own form says it, as that of a provider's built-in tool. */
export function replyFormat(call: object): string | undefined {
  const { type, function: called } = call as { type?: string; function?: { arguments: unknown } };
  if (called !== undefined) return typeof called.arguments === "string" ? "openai" : "ollama";
  if (type === "function_call") return "openai";
  if (type === "tool_use") return "anthropic";
  return "args" in call ? "gemini" : undefined;
}

export function aiSdkTools(
  definitions: OpenAITool[],
  run: (name: string, args: object, signal?: AbortSignal) => Promise<Observation>,
): Record<string, AiSdkTool> {
  const tools = definitions.map(({ function: { name, description, parameters } }): [string, AiSdkTool] => [
    name,
    {
      description,
      inputSchema: schemaOf(parameters),
      execute: (input, options) => run(name, input as object, options?.abortSignal),
    },
  ]);
  return Object.fromEntries(tools);
}

/** The sidecar validates arguments itself, with sentences that are written for models. */
function schemaOf(schema: Record<string, unknown>): StandardSchema {
  return {
    "~standard": {
      version: 1,
      vendor: "coding-sidecar",
      validate: (value) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}
