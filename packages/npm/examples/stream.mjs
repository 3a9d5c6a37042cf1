// SPDX-License-Identifier: MIT
// A command's output as it comes, and a time limit of our own. npm install coding-sidecar
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrivateSidecar, SidecarError } from "coding-sidecar";

const workspace = await mkdtemp(join(tmpdir(), "agent-"));
const sidecar = await PrivateSidecar.start(workspace);
const { client } = sidecar;

for await (const event of client.bashStream({ command: "for i in 1 2 3; do echo line $i; done; exit 3" }))
  console.log(event.type === "delta" ? event.data.trimEnd() : `exit status ${event.exitCode}`);

try {
  await client.bash({ command: "sleep 1000" }, { signal: AbortSignal.timeout(100) });
} catch (error) {
  if (!(error instanceof SidecarError)) throw error;
  console.log(error.code); // the command has been ended, with everything that it started
}

await sidecar.stop();
await rm(workspace, { recursive: true });
