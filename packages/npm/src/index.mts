// SPDX-License-Identifier: MIT
// The same objects for `import` as for `require`, so that there is one class SidecarError in a program that has both.
export type * from "./index.js";
export {
  LocalExecutor,
  PrivateSidecar,
  SidecarClient,
  PathNotAllowedError,
  SidecarError,
  SidecarSocketExecutor,
  createToolExecutor,
  programPath,
} from "./index.js";
