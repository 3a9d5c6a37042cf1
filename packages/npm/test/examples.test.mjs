// SPDX-License-Identifier: MIT
// The examples: whole loops of agents, with the providers' libraries and a scripted model.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { place } from "./sidecar.mjs";

const LOOP = [
  'search_files {"pattern":"wrold"}',
  'edit_file {"path":"hello.sh","old_text":"wrold","new_text":"world"}',
  'run_command {"command":"sh hello.sh"}',
  "Fixed: it says Hello, world.",
  "Hello, world",
];
const EXPECTED = {
  "openai.mjs": LOOP,
  "anthropic.mjs": LOOP,
  "ai-sdk.mjs": LOOP,
  "stream.mjs": ["line 1", "line 2", "line 3", "exit status 3", "CANCELLED"],
};

for (const [name, lines] of Object.entries(EXPECTED))
  test(name, (t) => {
    place(t);
    const program = fileURLToPath(new URL(`../examples/${name}`, import.meta.url));
    const { stdout, stderr, status } = spawnSync(process.execPath, [program], { encoding: "utf8" });
    assert.deepEqual([stdout.trimEnd().split("\n"), stderr, status], [lines, "", 0]);
  });
