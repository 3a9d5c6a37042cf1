// SPDX-License-Identifier: MIT
// What stands for the model in the examples, so that they run without a network: it fixes a bug in four turns. A real
// model is used the same way: leave out baseURL and give your key.
import { createServer } from "node:http";

/** What the model calls, turn by turn, and what it says in the end. */
export const script = [
  { name: "search_files", args: { pattern: "wrold" } },
  { name: "edit_file", args: { path: "hello.sh", old_text: "wrold", new_text: "world" } },
  { name: "run_command", args: { command: "sh hello.sh" } },
];
export const conclusion = "Fixed: it says Hello, world.";
export const task = "The greeting has a typing error. Fix it.";

/** An endpoint that answers each request with what `speak` makes of the next turn; its address, and how to close it. */
export async function scriptedModel(speak) {
  let turn = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const call = script[turn++];
      response.setHeader("Content-Type", "application/json").end(JSON.stringify(speak(call, `call_${turn}`)));
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", () => listening(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
