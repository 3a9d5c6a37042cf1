#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Runs the program that came with the package, as if it had been called itself.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { programPath } = require("../dist/index.js");

const fail = (why) => {
  console.error(`coding-sidecar: ${why}`);
  process.exitCode = 1;
};

try {
  const child = spawn(programPath(), process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(error.message));
  child.on("exit", (status, signal) => (process.exitCode = status ?? 128 + constants.signals[signal]));
} catch (error) {
  fail(error.message);
}
