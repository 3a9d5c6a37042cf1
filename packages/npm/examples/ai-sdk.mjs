// SPDX-License-Identifier: MIT
// An agent with the Vercel AI SDK, which runs the loop itself. npm install coding-sidecar ai
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { PrivateSidecar } from "coding-sidecar";
import { conclusion, script, task } from "./scripted.mjs";

const workspace = await mkdtemp(join(tmpdir(), "agent-"));
await writeFile(join(workspace, "hello.sh"), "echo Hello, wrold\n");
const sidecar = await PrivateSidecar.start(workspace); // or new SidecarClient({ socketPath }) for one that runs already
const { client } = sidecar;

let turn = 0;
const model = new MockLanguageModelV3({
  doGenerate: async () => {
    const call = script[turn++];
    return {
      content: call
        ? [{ type: "tool-call", toolCallId: `call_${turn}`, toolName: call.name, input: JSON.stringify(call.args) }]
        : [{ type: "text", text: conclusion }],
      finishReason: { unified: call ? "tool-calls" : "stop", raw: undefined },
      usage: {
        inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      },
      warnings: [],
    };
  },
});

const tools = await client.tools("ai-sdk", { set: "full" });
const { text } = await generateText({
  model,
  tools,
  prompt: task,
  stopWhen: stepCountIs(10),
  onStepFinish: ({ toolCalls }) => toolCalls.forEach((call) => console.log(`${call.toolName} ${JSON.stringify(call.input)}`)),
});
console.log(text);
console.log((await client.bash({ command: "sh hello.sh" })).stdout.trim());

await sidecar.stop();
await rm(workspace, { recursive: true });
