// SPDX-License-Identifier: MIT
// An agent with Anthropic's library: the model calls tools until it has an answer. npm install coding-sidecar @anthropic-ai/sdk
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { PrivateSidecar } from "coding-sidecar";
import { conclusion, scriptedModel, task } from "./scripted.mjs";

const workspace = await mkdtemp(join(tmpdir(), "agent-"));
await writeFile(join(workspace, "hello.sh"), "echo Hello, wrold\n");
const sidecar = await PrivateSidecar.start(workspace); // or new SidecarClient({ socketPath }) for one that runs already
const { client } = sidecar;

const model = await scriptedModel((call, id) => ({
  type: "message",
  role: "assistant",
  stop_reason: call ? "tool_use" : "end_turn",
  content: [call ? { type: "tool_use", id, name: call.name, input: call.args } : { type: "text", text: conclusion }],
  usage: { input_tokens: 0, output_tokens: 0 },
}));
const anthropic = new Anthropic({ apiKey: "none", baseURL: model.url });

const tools = await client.tools("anthropic", { set: "full" });
/** @type {Anthropic.MessageParam[]} */
const messages = [{ role: "user", content: task }];
for (;;) {
  const message = await anthropic.messages.create({ model: "scripted", max_tokens: 1024, messages, tools });
  messages.push({ role: "assistant", content: message.content });
  for (const block of message.content) if (block.type === "text") console.log(block.text);
  if (message.stop_reason !== "tool_use") break;
  const results = [];
  for (const block of message.content) {
    if (block.type !== "tool_use") continue;
    console.log(`${block.name} ${JSON.stringify(block.input)}`);
    results.push(await client.callTool(block));
  }
  messages.push({ role: "user", content: results });
}

console.log((await client.bash({ command: "sh hello.sh" })).stdout.trim());
model.close();
await sidecar.stop();
await rm(workspace, { recursive: true });
