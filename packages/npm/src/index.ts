// SPDX-License-Identifier: MIT
export { SidecarClient } from "./client.js";
export type {
  BashEvent,
  BashOptions,
  BashResult,
  McpAnswer,
  McpOptions,
  Observation,
  SidecarClientOptions,
} from "./client.js";
export type { CallOptions } from "./connection.js";
export { PathNotAllowedError, SidecarError } from "./errors.js";
export type { SidecarErrorCode } from "./errors.js";
export { LocalExecutor, SidecarSocketExecutor, createToolExecutor } from "./executor.js";
export type {
  BashRunOptions,
  BashRunResult,
  CodingConfig,
  FindOptions,
  GrepOptions,
  ReadFileResult,
  SidecarSocketExecutorOptions,
  ToolExecutor,
} from "./executor.js";
export type * from "./models.js";
export type * from "./operations.js";
export { PrivateSidecar, programPath } from "./program.js";
export type { PrivateSidecarOptions } from "./program.js";
