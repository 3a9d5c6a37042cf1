// SPDX-License-Identifier: MIT
// An agent with OpenAI's library: the model calls tools until it has an answer. npm install coding-sidecar openai
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrivateSidecar } from "coding-sidecar";
import OpenAI from "openai";
import { conclusion, scriptedModel, task } from "./scripted.mjs";

const workspace = await mkdtemp(join(tmpdir(), "agent-"));
await writeFile(join(workspace, "hello.sh"), "echo Hello, wrold\n");
const sidecar = await PrivateSidecar.start(workspace); // or new SidecarClient({ socketPath }) for one that runs already
const { client } = sidecar;

const model = await scriptedModel((call, id) => ({
  choices: [{
    message: call
      ? { role: "assistant", tool_calls: [{ id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.args) } }] }
      : { role: "assistant", content: conclusion },
  }],
}));
const openai = new OpenAI({ apiKey: "none", baseURL: model.url });

const tools = await client.tools("openai", { set: "full" });
/** @type {OpenAI.ChatCompletionMessageParam[]} */
const messages = [{ role: "user", content: task }];
for (;;) {
  const completion = await openai.chat.completions.create({ model: "scripted", messages, tools });
  const message = completion.choices[0]?.message;
  if (!message) throw new Error("the model said nothing");
  messages.push(message);
  if (!message.tool_calls) {
    console.log(message.content);
    break;
  }
  for (const call of message.tool_calls) {
    if (call.type !== "function") continue;
    console.log(`${call.function.name} ${call.function.arguments}`);
    messages.push(await client.callTool(call));
  }
}

console.log((await client.bash({ command: "sh hello.sh" })).stdout.trim());
model.close();
await sidecar.stop();
await rm(workspace, { recursive: true });
