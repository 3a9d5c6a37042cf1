// SPDX-License-Identifier: MIT
import type { ServerErrorCode } from "./operations.js";

/**
 * Why a call failed: a code of the server, or one of the client's own:
 *
 * - `NOT_READY`: no sidecar answered in time; nothing was sent
 * - `CONNECTION_LOST`: the connection ended before the answer; the call may have run
 * - `UNAUTHORIZED`: the token is missing or wrong
 * - `CANCELLED`: the `AbortSignal` was aborted
 * - `TIMED_OUT`: no answer within `timeoutMs`
 * - `BAD_ANSWER`: what answered is not a sidecar, or a newer one
 * - `INVALID_CONFIG`, `DISABLED`: the configuration is wrong, or says that there is no executor
 */
export type SidecarErrorCode =
  | ServerErrorCode
  | "NOT_READY"
  | "CONNECTION_LOST"
  | "UNAUTHORIZED"
  | "CANCELLED"
  | "TIMED_OUT"
  | "BAD_ANSWER"
  | "INVALID_CONFIG"
  | "DISABLED"
  | (string & {});

/** Every failure of this package. */
export class SidecarError extends Error {
  override readonly name: string = "SidecarError";
  readonly code: SidecarErrorCode;
  /** The status of the HTTP answer, if there was one. */
  readonly status?: number;
  /**
   * The rest of the answer: with `CONFLICT` its `conflicts`, with `NOT_SAVED` its `paths`. Of a command that was cancelled,
   * timed out or lost: `call`, the number of its call.
   */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: SidecarErrorCode,
    message: string,
    more: { status?: number; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    if (more.status !== undefined) this.status = more.status;
    this.details = more.details ?? {};
  }
}

const NOT_ALLOWED = ["PATH_OUTSIDE_WORKSPACE", "SYMLINK_OUTSIDE_WORKSPACE", "PATH_NOT_ALLOWED"];

/** The path leads out of the directories that may be used: `getAllowedPaths` lists them. `code` says in which way. */
export class PathNotAllowedError extends SidecarError {
  override readonly name: string = "PathNotAllowedError";
}

/** The error that an answer other than 2xx stands for. */
export function errorOfAnswer(status: number, text: string): SidecarError {
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Something in between answered, in its own words.
  }
  const { ok: _ok, error, code, ...details } = body;
  const message = typeof error === "string" ? error : `The server answered with status ${status}`;
  const known = typeof code === "string" ? code : codeOfStatus(status);
  const Kind = NOT_ALLOWED.includes(known) ? PathNotAllowedError : SidecarError;
  return new Kind(known, message, { status, details });
}

function codeOfStatus(status: number): SidecarErrorCode {
  switch (status) {
    case 401:
    case 403:
      return "UNAUTHORIZED";
    case 400:
    case 404:
    case 405:
      return "INVALID_ARGUMENTS";
    case 413:
      return "FILE_TOO_LARGE";
    case 408:
    case 503:
      return "TOO_BUSY";
    default:
      return "BAD_ANSWER";
  }
}
