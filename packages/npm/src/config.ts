// SPDX-License-Identifier: MIT
// What a configuration may say, and the sentence about what it must not: it names the member.
import { SidecarError } from "./errors.js";

/** What a member must be; or, if it is an object, its members. */
export type Rule = "text" | "switch" | "port" | "time" | Members;
export interface Members {
  readonly [member: string]: Rule;
}

/** The longest time that a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1;

export const CLIENT: Members = {
  socketPath: "text",
  url: "text",
  token: "text",
  timeoutMs: "time",
  waitForReadyMs: "time",
  session: "text",
};

export const EXECUTOR: Members = {
  socketPath: "text",
  tcp: { host: "text", port: "port" },
  authToken: "text",
  waitForReadyMs: "time",
  timeoutMs: "time",
  session: "text",
  workspace: { host: "text", container: "text" },
};

const { authToken, ...SHARED } = EXECUTOR;
export const SIDECAR: Members = { ...SHARED, auth: { token: authToken as Rule, required: "switch" } };

export const CODING: Members = { enabled: "switch", mode: "text", localRoot: "text" };

export const LOCAL: Members = { workspaceRoot: "text", allowOutsideWorkspaceRoot: "switch" };

export function mistake(message: string): SidecarError {
  return new SidecarError("INVALID_CONFIG", message);
}

/** That each member which is there is what it must be; other members are not looked at. */
export function checkMembers(value: object, rules: Members, name = ""): void {
  for (const [member, rule] of Object.entries(rules)) {
    const given = (value as Record<string, unknown>)[member];
    if (given !== undefined && given !== null) checkValue(given, rule, name === "" ? member : `${name}.${member}`);
  }
}

/** The same for a whole section, in which an unknown member is probably misspelt. Without a name: a constructor's options. */
export function checkSection(value: unknown, rules: Members, name = ""): void {
  const title = name || "options";
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw mistake(`${title} must be an object, not ${shown(value)}`);
  const unknown = Object.keys(value).find((member) => !(member in rules));
  if (unknown !== undefined)
    throw mistake(`${title} has no member ${JSON.stringify(unknown)}; it may have: ${Object.keys(rules).join(" ")}`);
  checkMembers(value, rules, name);
}

/** That these members are there. */
export function checkPresent(value: object | undefined, members: string[], name: string): void {
  const missing = members.find((member) => (value as Record<string, unknown> | undefined)?.[member] === undefined);
  if (missing !== undefined) throw mistake(`${name}.${missing} is missing`);
}

function checkValue(value: unknown, rule: Rule, name: string): void {
  const must = (good: boolean, what: string): void => {
    if (!good) throw mistake(`${name} must be ${what}, not ${shown(value)}`);
  };
  const within = (least: number, most: number): boolean => typeof value === "number" && value >= least && value <= most;
  switch (rule) {
    case "text":
      return must(typeof value === "string" && value !== "" && !value.includes("\0"), "a string that is not empty");
    case "switch":
      return must(typeof value === "boolean", "true or false");
    case "port":
      return must(within(1, 65535) && Number.isInteger(value), "a whole number from 1 to 65535");
    case "time":
      return must(within(0, LONGEST_MS), `a number from 0 to ${LONGEST_MS}`);
    default:
      return checkSection(value, rule, name);
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 100) ?? typeof value;
}
