// SPDX-License-Identifier: MIT
// Written by packages/generate from /openapi.json. Do not edit: change the program, and run packages/generate.

import type { CallOptions } from "./connection.js";

/** Why the server refused a call. */
export type ServerErrorCode =
  | "UNKNOWN_TOOL"
  | "INVALID_ARGUMENTS"
  | "INVALID_PATH"
  | "INVALID_REGEX"
  | "INVALID_GLOB"
  | "PATH_OUTSIDE_WORKSPACE"
  | "SYMLINK_OUTSIDE_WORKSPACE"
  | "SYMLINK_LOOP"
  | "PATH_NOT_ALLOWED"
  | "PROTECTED_PATH"
  | "PATH_HIDDEN"
  | "FILE_NOT_FOUND"
  | "FILE_EXISTS"
  | "NOT_A_DIRECTORY"
  | "NOT_A_FILE"
  | "DIRECTORY_NOT_EMPTY"
  | "PERMISSION_DENIED"
  | "FILE_TOO_LARGE"
  | "BINARY_FILE"
  | "TEXT_NOT_FOUND"
  | "TEXT_NOT_UNIQUE"
  | "NO_CHANGE"
  | "INVALID_PATCH"
  | "FILE_NOT_READ"
  | "FILE_CHANGED"
  | "COMMAND_BLOCKED"
  | "SPAWN_FAILED"
  | "READ_ONLY"
  | "REDACTED_CONTENT"
  | "SEARCH_TIMEOUT"
  | "CHANGE_NOT_FOUND"
  | "JOB_NOT_FOUND"
  | "CALL_NOT_FOUND"
  | "CONFLICT"
  | "NOT_SAVED"
  | "AUDIT_FAILED"
  | "DISK_FULL"
  | "IO_ERROR"
  | "TOO_BUSY"
  | "EXECUTION_ERROR";

/** Forms in which `GET /tools` writes definitions. */
export type ServerToolFormat = "ollama" | "openai" | "openai-strict" | "openai-responses" | "anthropic" | "gemini" | "mcp" | "anthropic-native" | "openai-native";

export interface ReadText {
  /** A text. */
  type: "text";
  /** The selected lines; bytes that are not UTF-8 appear as U+FFFD. */
  content: string;
  /** Lines in the file; a final newline counts as one more, empty line. */
  totalLines: number;
  /** Whether the file continues after them. */
  hasMore: boolean;
  /** What was left out, if anything. */
  truncation?: Truncation;
}

export interface Truncation {
  /** What is left of the text. */
  content: string;
  /** Whether something was left out. */
  truncated: boolean;
  /** Which limit came first. */
  truncatedBy: "lines" | "bytes" | null;
  /** Lines of the selected part. */
  totalLines: number;
  /** Its bytes. */
  totalBytes: number;
  /** Lines that are left. */
  outputLines: number;
  /** Bytes that are left. */
  outputBytes: number;
  /** Never: lines are whole. */
  lastLinePartial: boolean;
  /** Whether the first line alone is too long. */
  firstLineExceedsLimit: boolean;
  /** The limit of lines. */
  maxLines: number;
  /** The limit of bytes. */
  maxBytes: number;
}

export interface ReadImage {
  /** An image. */
  type: "image";
  /** The file in base64. */
  data: string;
  /** What kind of image, by the file's name. */
  mimeType: string;
}

export interface ReadBytes {
  /** All bytes of a file, for encoding base64. */
  type: "bytes";
  /** The file in base64. */
  data: string;
  /** Its size. */
  bytes: number;
}

export interface WriteResult {
  /** It is written. */
  ok: boolean;
  /** The file, relative to the workspace. */
  path: string;
  /** Its size now. */
  bytes: number;
  /** The number of the change, for undo, if changes are kept. */
  change?: number;
  /** How many paths of the change cannot be brought back; missing if all can. */
  notKept?: number;
}

export interface EditResult {
  /** It is changed. */
  ok: boolean;
  /** The file, as it was asked for. */
  path: string;
  /** What changed, with line numbers and four lines of context. */
  diff: string;
  /** How many places were replaced; with replaceAll. */
  replacements?: number;
  /** The number of the change, for undo, if changes are kept. */
  change?: number;
  /** How many paths of the change cannot be brought back; missing if all can. */
  notKept?: number;
}

export interface PatchResult {
  /** In the order of the patch. */
  files: PatchFile[];
  /** What did not fit exactly and was accepted. */
  fuzz: string[];
  /** The number of the change, for undo, if changes are kept. */
  change?: number;
  /** How many paths of the change cannot be brought back; missing if all can. */
  notKept?: number;
}

export interface PatchFile {
  /** The file, relative to the workspace. */
  path: string;
  /** What became of it. */
  kind: "created" | "modified" | "deleted" | "renamed" | "copied";
  /** Its path before, if it was renamed or copied. */
  from?: string;
  /** Lines that are new. */
  added: number;
  /** Lines that are gone. */
  removed: number;
  /** What changed: sign, line number, text; empty if it is very long. */
  diff: string;
}

export interface LsResult {
  /** One name a line, "/" after directories. */
  output: string;
  /** What was left out, if anything. */
  truncation?: Truncation;
}

export interface FindResult {
  /** Paths below the searched directory, "/" after directories. */
  files: string[];
  /** Whether there are more. */
  truncated: boolean;
  /** Most that are returned. */
  limit: number;
  /** What was left out, if anything. */
  truncation?: Truncation;
  /** Give this as cursor to continue. */
  nextCursor?: string;
}

export interface GrepResult {
  /** path:line: text for a match, path-line- text for its context. */
  content: string;
  /** What limited the answer, if anything did. */
  details?: GrepDetails;
}

export interface GrepDetails {
  /** The limit, if it stopped the search. */
  matchLimitReached?: number;
  /** What was left out, if anything. */
  truncation?: Truncation;
  /** Whether long lines were cut. */
  linesTruncated?: boolean;
  /** Lines too long for such a pattern. */
  longLinesSkipped?: number;
  /** Whether its time was up before all was searched. */
  timedOut?: boolean;
  /** Matches in files that ignore rules hide, when there are no others. */
  ignoredMatches?: number;
}

export interface SearchResult {
  /** In byte order of the path, then by line. */
  matches: SearchMatch[];
  /** Whether a single file was searched. */
  isFile: boolean;
  /** Files whose content was searched for this answer. */
  filesSearched: number;
  /** Whether there may be more, and why. */
  stoppedBecause: "complete" | "limit" | "timeout" | "cancelled";
  /** What was not searched. */
  skipped: SearchSkipped;
  /** Give this as cursor to continue. */
  nextCursor?: string;
  /** Why nothing was found, if that is known. */
  note?: string;
}

export interface SearchMatch {
  /** Below the searched directory; a searched file is called as it was asked for. */
  path: string;
  /** Number of the first matching line; in mode lines. */
  line?: number;
  /** The matching line; several in a multiline search. */
  lines?: string[];
  /** Lines before it. */
  before?: string[];
  /** Lines after it. */
  after?: string[];
  /** Whether one of these lines is longer than shown. */
  cut?: boolean;
  /** Matching lines in the file; in mode counts. */
  count?: number;
}

export interface SearchSkipped {
  /** Entries that ignore files hide; a directory counts once. */
  ignored: number;
  /** Binary files. */
  binary: number;
  /** Entries that could not be read. */
  unreadable: number;
  /** Lines too long for such a pattern. */
  longLines: number;
}

export interface StatResult {
  /** Relative to the workspace. */
  path: string;
  /** What it is. */
  type: "file" | "directory" | "other";
  /** Its size in bytes. */
  size: number;
  /** Its permissions, as in 0644. */
  mode: string;
  /** When it was last changed, in milliseconds since 1970. */
  modifiedMs: number;
}

export interface ExistsResult {
  /** As it was asked for. */
  path: string;
  /** Whether there is such a file or directory. */
  exists: boolean;
}

export interface MkdirResult {
  /** It is done. */
  ok: boolean;
  /** Relative to the workspace. */
  path: string;
  /** The number of the change, for undo, if changes are kept. */
  change?: number;
  /** How many paths of the change cannot be brought back; missing if all can. */
  notKept?: number;
}

export interface RenameResult {
  /** It is done. */
  ok: boolean;
  /** Where it is now, relative to the workspace. */
  path: string;
  /** Where it was, relative to the workspace. */
  from: string;
  /** The number of the change, for undo, if changes are kept. */
  change?: number;
  /** How many paths of the change cannot be brought back; missing if all can. */
  notKept?: number;
}

export interface ValidatePathResult {
  /** The absolute path that it leads to, without links. */
  path: string;
}

export interface GetAllowedPathsResult {
  /** The directories whose contents may be used. */
  paths: string[];
}

export interface PolicyResult {
  /** Whether the command policy refuses it. */
  blocked: boolean;
  /** Which word, by which rule. */
  reason?: string;
}

export interface HealthResult {
  ok: true;
  version: string;
  uptimeMs: number;
  started: string;
  pid: number;
  kind: "serve" | "mcp" | "local";
  client?: string;
  calls: number;
  running: number;
  event?: number;
  audit?: "on" | "failing";
  workspace: string;
  socket: string | null;
  /** In octal digits. */
  socketMode: string | null;
  /** HOST:PORT. */
  tcp: string | null;
  auth: "required" | "optional" | "none";
  absolutePaths: "shorthand" | "strict" | "outside";
  allowedRoot: string | null;
  dataDir: string | null;
  resolver: "openat2" | "walk";
  readOnly: boolean;
  commandPolicy: "default" | "strict" | "off";
  survivors: "adopt" | "keep" | "end";
  readBeforeWrite: boolean;
  scrub: boolean;
  sandbox: HealthSandbox;
  /** Where the git directory of the workspace lies, if commands are sandboxed and it lies outside: linked worktree of ../main; and whether they cannot write it. */
  git?: string;
  /** How what a person's programs run later is kept from agents, in words. */
  sinks?: string;
  /** What is hidden from agents, in words. */
  hidden?: string;
  journal: HealthJournal;
  limits: HealthLimits;
  observed: HealthObserved;
  [member: string]: unknown;
}

export interface HealthSandbox {
  mode: "off" | "workspace" | "strict";
  why: string;
  namespaces: boolean;
  protections: HealthSandboxProtection[];
}

export interface HealthSandboxProtection {
  name: string;
  inForce: boolean;
  note?: string;
}

export interface HealthJournal {
  on: boolean;
  /** Why it is not on. */
  why?: string;
  /** How many bytes of old content it may copy. */
  bytes?: number;
  days?: number;
  /** How many it has copied. */
  used?: number;
  /** Bytes of removed files that it keeps without a copy. */
  linked?: number;
  /** Why it could not be written at the last attempt. */
  failing?: string;
}

export interface HealthLimits {
  bodyBytes: number;
  connections: number;
  commands: number;
  searchSeconds: number;
  memoryMb?: number;
  processes?: number;
  fileMb?: number;
  cpuSeconds?: number;
}

export interface HealthObserved {
  commands: "all" | "models" | "none";
  /** Why none. */
  why?: string;
}

export interface WatchedCall {
  call: number;
  running: boolean;
  events: SidecarEvent[];
  /** Long texts are cut. */
  arguments: Record<string, unknown> | null;
  /** What its caller got, at most the first 4 KB, of a command's texts both ends: members or, by MCP, a text; the sentence of a failure; null while it runs. */
  result: Record<string, unknown> | null;
  /** Whether the result was longer. */
  cut: boolean;
  /** What it changed, for undo. */
  change?: number;
  /** Whether its change can be taken back, if it made one. */
  undoable?: boolean;
  /** The change that took it back. */
  undone_by?: number | null;
  /** What it changed, as long as that is kept. */
  diff?: string | null;
  [member: string]: unknown;
}

export interface BootEvent {
  /** The first of the lines: BOOT-ID is a place in the stream. */
  type: "boot";
  /** A name for this run of the server. */
  boot: string;
  /** After which one the stream begins. */
  event: number;
}

export interface CallStartEvent {
  /** A call has begun. */
  type: "call.start";
  id: number;
  /** RFC 3339. */
  time: string;
  call: number;
  tool: string;
  /** A path, a command, a pattern. */
  subject: string;
  session: string;
  client: string;
  front: "http" | "mcp";
}

export interface OutputEvent {
  /** A command has written. */
  type: "output";
  id: number;
  /** RFC 3339. */
  time: string;
  call: number;
  job?: number;
  stream: "stdout" | "stderr";
  /** Bytes of output before it that are in no event. */
  dropped?: number;
  text: string;
}

export interface CallEndEvent {
  /** A call has ended. */
  type: "call.end";
  id: number;
  /** RFC 3339. */
  time: string;
  call: number;
  ok: boolean;
  /** As in Error. */
  code: string | null;
  exit_code: number | null;
  signal: string | null;
  timed_out: boolean;
  cpu_ms?: number;
  peak_memory_bytes?: number;
  /** How many processes it left. */
  survivors?: number;
  ms: number;
  bytes: number;
  /** Bytes of output that are in no event. */
  dropped?: number;
  change?: number;
}

export interface ChangeEvent {
  /** Files have changed. */
  type: "change";
  id: number;
  /** RFC 3339. */
  time: string;
  call?: number;
  change: number;
  files: EventFile[];
  /** How many files there are. */
  count: number;
}

export interface EventFile {
  path: string;
  kind: string;
  /** A person's programs run it later, outside. */
  runs_later?: boolean;
  added: number | null;
  removed: number | null;
}

export interface RefusedEvent {
  /** Something was refused; or a guarded path has changed. */
  type: "refused" | "guard.changed";
  id: number;
  /** RFC 3339. */
  time: string;
  call?: number;
  what: "path" | "command" | "sandbox" | "guard" | "network" | "auth";
  /** A path, a command, a pattern. */
  subject: string;
  why: string;
}

export interface JobStartEvent {
  /** A job has begun. */
  type: "job.start";
  id: number;
  /** RFC 3339. */
  time: string;
  call?: number;
  job: number;
  tool?: string;
  /** A path, a command, a pattern. */
  subject: string;
  session: string;
  client: string;
  front: "http" | "mcp";
}

export interface JobEndEvent {
  /** A job has ended. */
  type: "job.end";
  id: number;
  /** RFC 3339. */
  time: string;
  call?: number;
  job: number;
  ok: boolean;
  /** As in Error. */
  code: string | null;
  exit_code: number | null;
  signal: string | null;
  timed_out: boolean;
  ms: number;
  bytes: number;
  /** Bytes of output that are in no event. */
  dropped?: number;
  change?: number;
}

export interface GapEvent {
  /** Events are missing here. */
  type: "gap";
  /** How many; null if that is not known. */
  lost: number | null;
}

export interface StopCallResult {
  call: number;
  stopping: boolean;
  [member: string]: unknown;
}

export interface ChangesResult {
  /** Oldest first. */
  changes: Change[];
  /** Whether there are newer ones: ask for those since the last id. */
  more: boolean;
  /** How many there are of those that were asked for. */
  total: number;
  /** If there are older ones: ask for those before this id; else null. */
  older: number | null;
}

export interface Change {
  /** Its number. */
  id: number;
  /** When it began. */
  time: string;
  /** The tool that made it. */
  tool: string;
  /** The path or command it was called with. */
  subject: string;
  /** The session that made it, or empty. */
  session: string;
  /** How many paths are new. */
  created: number;
  /** How many were changed. */
  modified: number;
  /** How many are gone. */
  deleted: number;
  /** How many have another name. */
  renamed: number;
  /** Whether everything is known that it changed. */
  complete: boolean;
  /** Whether something of its command still runs. */
  open: boolean;
  /** Whether what was there is saved. */
  undoable: boolean;
  /** The change that undid it, or null. */
  undone_by: number | null;
}

export interface ChangeResult {
  /** Its number. */
  id: number;
  /** When it began. */
  time: string;
  /** The tool that made it. */
  tool: string;
  /** The path or command it was called with. */
  subject: string;
  /** The session that made it, or empty. */
  session: string;
  /** How many paths are new. */
  created: number;
  /** How many were changed. */
  modified: number;
  /** How many are gone. */
  deleted: number;
  /** How many have another name. */
  renamed: number;
  /** Whether everything is known that it changed. */
  complete: boolean;
  /** Whether something of its command still runs. */
  open: boolean;
  /** Whether what was there is saved. */
  undoable: boolean;
  /** The change that undid it, or null. */
  undone_by: number | null;
  /** What it changed. */
  paths: ChangePath[];
  /** Whether there are more paths: ask with offset. */
  more: boolean;
}

export interface ChangePath {
  /** Where it is now; of a deleted one, where it was. */
  path: string;
  /** created, modified, deleted or renamed. */
  kind: string;
  /** Where it was before, if that is another path. */
  from?: string;
  /** What was there; null if nothing was. */
  before: PathState | null;
  /** What is there then; null if nothing is. */
  after: PathState | null;
  /** Whether what was there can be restored. */
  saved: boolean;
  /** It is hidden from agents: what it was and is is not shown. */
  hidden?: boolean;
}

export interface PathState {
  /** file, directory, link …. */
  type: string;
  /** Its bytes. */
  size: number;
  /** Its permissions, in octal. */
  mode: string;
  /** SHA-256 of a file's content; null if it is not known. */
  hash: string | null;
}

export interface UndoResult {
  /** The number of the undo itself; null if nothing was changed. */
  change: number | null;
  /** Paths that are as they were; of each kind the first 1,000. */
  restored: string[];
  /** How many there are in all. */
  restored_count: number;
  /** Paths that are gone again. */
  removed: string[];
  /** How many there are in all. */
  removed_count: number;
  /** What has its old name again. */
  renamed: UndoRename[];
  /** How many there are in all. */
  renamed_count: number;
  /** What was overwritten, with force. */
  conflicts: Conflict[];
  /** How many there are in all. */
  conflict_count: number;
  /** Whether everything is known that was changed. */
  complete: boolean;
}

export interface UndoRename {
  /** Where it was after the change. */
  from: string;
  /** Where it is again. */
  to: string;
}

export interface Conflict {
  /** What is not as the change left it. */
  path: string;
  /** How it differs. */
  why: string;
}

export interface JobsResult {
  /** Oldest first. */
  jobs: Job[];
}

export interface Job {
  /** Which job. */
  jobId: string;
  /** The beginning of its command. */
  command: string;
  /** Whether it still runs. */
  state: "running" | "exited";
  /** Once it has exited; else null. */
  exitCode: number | null;
  /** Its time was up. */
  timedOut?: boolean;
  /** The job in which what it left running continues. */
  leftJobId?: string;
  /** Why it could not be run. */
  error?: string;
  /** When it was started, in milliseconds since 1970. */
  startedMs: number;
  /** Bytes of output so far. */
  cursor: number;
  /** Ports that its processes listen on. */
  ports: number[];
}

export interface JobResult {
  /** Whether it still runs. */
  state: "running" | "exited";
  /** Once it has exited; else null. */
  exitCode: number | null;
  /** Its time was up. */
  timedOut?: boolean;
  /** The job in which what it left running continues. */
  leftJobId?: string;
  /** Why it could not be run. */
  error?: string;
  /** Standard output and error as they came. */
  output: string;
  /** Give this as since to continue. */
  cursor: number;
  /** Bytes after since that are no longer kept. */
  dropped: number;
}

export interface StopJobResult {
  /** It is being ended; its state tells when it has. */
  ok: boolean;
}

export interface ReadFileOutput {
  /** The text; bytes that are not UTF-8 appear as U+FFFD. */
  content: string;
  /** Lines returned; a final newline counts as one more, empty line. */
  lines: number;
  /** The file, relative to the workspace. */
  path: string;
  /** Lines in the file. */
  total_lines: number;
  /** Whether the selected lines did not fit into the answer. Whether the file has more than the selected lines: compare start_line + lines - 1 with total_lines. */
  truncated: boolean;
  /** If they did not: start_line for the next call. */
  next_start_line?: number;
}

export interface WriteFileOutput {
  /** The file, relative to the workspace. */
  path: string;
  /** Its size now. */
  bytes_written: number;
  /** Whether there was no such file before. */
  created: boolean;
}

export interface ListDirectoryOutput {
  /** In byte order of their names. */
  entries: ListDirectoryEntry[];
  /** Entries returned. */
  total: number;
  /** The directory, relative to the workspace. */
  path: string;
  /** Whether there are more entries. */
  truncated: boolean;
  /** What was left out, if anything. */
  skipped?: ListDirectorySkipped;
  /** Where there are more, if the entries are spread over all directories. */
  more_in?: string[];
  /** Give this as cursor to continue. */
  next_cursor?: string;
}

export interface ListDirectoryEntry {
  /** Path relative to the listed directory. */
  name: string;
  /** What it is; links are not followed. */
  type: "file" | "directory" | "symlink" | "other";
  /** Bytes. */
  size: number;
}

export interface ListDirectorySkipped {
  /** Entries left out because of .gitignore; a directory counts once. */
  ignored: number;
  /** Entries called .git. */
  hidden: number;
  /** Entries that could not be read. */
  unreadable: number;
  /** Directories that tools fill. */
  directories?: ListDirectorySkippedDirectory[];
}

export interface ListDirectorySkippedDirectory {
  /** Its name, as node_modules. */
  name: string;
  /** Give this as path to include it; of several the first. */
  path: string;
  /** How many there are. */
  count: number;
  /** Files in them. */
  files: number;
  /** True: there are more files than that. */
  more?: boolean;
}

export interface RunCommandOutput {
  /** Standard output; of more than 50 KiB both ends, and between them a line with the number of bytes left out. */
  stdout?: string;
  /** Standard error, cut likewise. */
  stderr?: string;
  /** 0 is success; 128 and more: ended by a signal; null if it was ended. */
  exit_code?: number | null;
  /** Name of the signal that ended it, or null. */
  signal?: string | null;
  /** Whether it took longer than timeout_ms. */
  timed_out?: boolean;
  /** If it was stopped by a person. */
  stopped?: boolean;
  /** Whether output was left out. */
  truncated?: boolean;
  /** If so: the path under which read_file and search_files find all of it. */
  output_id?: string;
  /** How long it took. */
  duration_ms?: number;
  /** What it cost. */
  usage?: RunCommandUsage;
  /** Processes it left running; hint tells what became of them. */
  survivors?: RunCommandSurvivor[];
  /** Advice, if there is any. */
  hint?: string;
  /** false: what it changed is not known and cannot be undone; else missing. */
  observed?: boolean;
  /** If so: that timeout_ms was more than calls may have here; once in a session, why commands are not observed. */
  note?: string;
  /** With background: the job, and nothing else but observed and note. */
  job_id?: string;
}

export interface RunCommandUsage {
  /** CPU time of all its processes. */
  cpu_ms: number;
  /** Memory of its largest process. */
  peak_memory_bytes: number;
  /** Whether it was killed because memory ran out. */
  oom_killed: boolean;
  /** Which limit it ran into. */
  limit: "none" | "timeout" | "cpu" | "file_size" | "memory" | "processes";
}

export interface RunCommandSurvivor {
  /** Process number. */
  pid: number;
  /** Its command line. */
  command: string;
  /** Ports it listened on. */
  ports: number[];
  /** The job in which it continues. */
  job_id?: string;
}

export interface SearchFilesOutput {
  /** In byte order of the file, then by line. */
  matches: SearchFilesMatch[];
  /** Matches returned. */
  total_matches: number;
  /** Files whose content was searched. */
  files_searched: number;
  /** Whether there may be more matches. */
  truncated: boolean;
  /** Why there may be more. */
  stopped_because?: "complete" | "limit" | "timeout" | "cancelled";
  /** What was not searched. */
  skipped: SearchFilesSkipped;
  /** Where there are more, if the matches are spread over all directories. */
  more_in?: string[];
  /** Give this as cursor to continue. */
  next_cursor?: string;
  /** Why nothing was found, if that is known. */
  note?: string;
}

export interface SearchFilesMatch {
  /** Path relative to the workspace. */
  file: string;
  /** Number of the first matching line; in mode lines. */
  line?: number;
  /** The matching line; over 500 characters it is cut and ends in ...; one that begins in ... is so long that only a later part of it was shown. */
  content?: string;
  /** Lines before it, with context. */
  before?: string[];
  /** Lines after it, with context. */
  after?: string[];
  /** Matching lines in the file; in mode counts. */
  count?: number;
}

export interface SearchFilesSkipped {
  /** Entries that .gitignore hides; a directory counts once. */
  ignored: number;
  /** Entries called .git. */
  hidden: number;
  /** Binary files. */
  binary: number;
  /** Files that are too large. */
  too_large: number;
  /** Entries that could not be read. */
  unreadable: number;
  /** Lines over 8 KB, when the pattern needs look-around or the like. */
  long_lines?: number;
  /** Directories that tools fill. */
  directories?: ListDirectorySkippedDirectory[];
}

export interface EditFileOutput {
  /** The file, relative to the workspace. */
  path: string;
  /** What changed: sign, line number, text. */
  diff: string;
  /** How many places were replaced. */
  replacements: number;
}

export interface MultiEditEdit {
  /** Exact text, as it is after the edits before. */
  old_text: string;
  /** Text in its place. */
  new_text: string;
  /** Replace every occurrence. */
  replace_all?: boolean;
}

export interface FindFilesOutput {
  /** Paths relative to the workspace, in byte order; directories end in /. */
  files: string[];
  /** Paths returned. */
  total: number;
  /** Whether there may be more. */
  truncated: boolean;
  /** What was left out, if anything. */
  skipped?: FindFilesSkipped;
  /** Where there are more, if the paths are spread over all directories. */
  more_in?: string[];
  /** Give this as cursor to continue. */
  next_cursor?: string;
  /** Why nothing was found, if that is known. */
  note?: string;
}

export interface FindFilesSkipped {
  /** Directories that tools fill. */
  directories: ListDirectorySkippedDirectory[];
}

export interface JobListOutput {
  /** Oldest first. */
  jobs: JobListJob[];
}

export interface JobListJob {
  /** Which job. */
  job_id: string;
  /** The beginning of its command. */
  command: string;
  /** running or exited. */
  state: string;
  /** Once it has exited; null before that, and after a timeout. */
  exit_code: number | null;
  /** Whether its time was up. */
  timed_out?: boolean;
  /** The job in which what it left running continues. */
  left_job_id?: string;
  /** Why it could not be run. */
  error?: string;
  /** When it was started, in milliseconds since 1970. */
  started_ms: number;
  /** Bytes of output so far. */
  cursor: number;
  /** Ports that its processes listen on. */
  ports: number[];
}

export interface JobOutputOutput {
  /** running or exited. */
  state: string;
  /** Once it has exited; null before that, and after a timeout. */
  exit_code: number | null;
  /** Whether its time was up. */
  timed_out?: boolean;
  /** The job in which what it left running continues. */
  left_job_id?: string;
  /** Why it could not be run. */
  error?: string;
  /** Standard output and error as they came. */
  output: string;
  /** Give this as since to continue. */
  cursor: number;
  /** Bytes after since that are no longer kept. */
  dropped: number;
}

export type ReadResult = ReadText | ReadImage | ReadBytes;

export type SidecarEvent = BootEvent | CallStartEvent | OutputEvent | CallEndEvent | ChangeEvent | RefusedEvent | JobStartEvent | JobEndEvent | GapEvent;

export interface ReadArguments {
  /** File to read. */
  path: string;
  /** First line, from 1. */
  offset?: number;
  /** Number of lines; 0 for all. */
  limit?: number;
  /** How the answer has the content; base64 for all bytes of any file. */
  encoding?: "utf-8" | "base64";
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface WriteArguments {
  /** File to write. */
  path: string;
  /** Its whole new content. */
  content: string;
  /** What the content is; base64 for a file that is not text. */
  encoding?: "utf-8" | "base64";
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface EditArguments {
  /** File to edit. */
  path: string;
  /** Text to replace, exactly as it stands. */
  oldText: string;
  /** Text to put in its place. */
  newText: string;
  /** Replace every occurrence. */
  replaceAll?: boolean;
  /** Only show the diff, change nothing. */
  dryRun?: boolean;
  /** If the text is not found, say why where that is known. */
  hints?: boolean;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface PatchArguments {
  /** The patch. */
  patch: string;
  /** Its format. */
  format?: "auto" | "v4a" | "unified" | "blocks";
  /** Directory in which its relative paths start; the workspace if absent. */
  cwd?: string;
  /** Only show what would change. */
  dryRun?: boolean;
  /** Directories to take off the paths of a unified patch; -1: "a/" and "b/". */
  strip?: number;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface LsArguments {
  /** Directory to list; the workspace root if absent. */
  path?: string;
  /** Most names to return. */
  limit?: number;
  /** Names to leave out at the start. */
  offset?: number;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface FindArguments {
  /** Glob to match. */
  pattern: string;
  /** Directory to search; the root if absent. */
  path?: string;
  /** Most results. */
  limit?: number;
  /** Only entries of this type. */
  type?: "any" | "file" | "directory" | "link";
  /** Answer in pages: empty for the first, then nextCursor of the one before. */
  cursor?: string;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface GrepArguments {
  /** Pattern to search for. */
  pattern: string;
  /** Directory or file; the root if absent. */
  path?: string;
  /** Only files whose path fits this glob. */
  glob?: string;
  /** Upper and lower case alike. */
  ignoreCase?: boolean;
  /** The pattern is plain text. */
  literal?: boolean;
  /** Lines shown around a match. */
  context?: number;
  /** Most matches. */
  limit?: number;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface SearchArguments {
  /** Pattern to search for. */
  pattern: string;
  /** Directory or file; the root if absent. */
  path?: string;
  /** Only files that these choose; the last that matches decides, !x decides against. */
  globs?: string[];
  /** Only files of these kinds: c, py, js ... */
  types?: string[];
  /** Upper and lower case alike. */
  ignoreCase?: boolean;
  /** The pattern is plain text. */
  literal?: boolean;
  /** A match may cross lines. */
  multiline?: boolean;
  /** Also what ignore files hide. */
  noIgnore?: boolean;
  /** Lines that do not match. */
  invert?: boolean;
  /** Matching lines, files with a match, the number of matching lines of each, or files without a match. */
  mode?: "lines" | "files" | "counts" | "without";
  /** Lines to show before each match. */
  before?: number;
  /** Lines to show after each match. */
  after?: number;
  /** Most matches in this answer. */
  limit?: number;
  /** nextCursor of the answer before. */
  cursor?: string;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface StatArguments {
  /** File or directory; links are followed. */
  path: string;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface ExistsArguments {
  /** Which file or directory. */
  path: string;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface MkdirArguments {
  /** Directory to make. */
  path: string;
  /** Make missing parents, and accept one that exists. */
  recursive?: boolean;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface RenameArguments {
  /** What is there. */
  from: string;
  /** Its new path; missing directories are made. */
  to: string;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface RemoveArguments {
  /** File or directory to remove; of a link the link. */
  path: string;
  /** With everything in it. */
  recursive?: boolean;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface CopyArguments {
  /** What is there. */
  from: string;
  /** Its new path; missing directories are made. */
  to: string;
  /** Replace the file that is there. */
  overwrite?: boolean;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface ValidatePathArguments {
  /** An absolute path, or one below the workspace. */
  path: string;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface PolicyArguments {
  /** A shell command. */
  command: string;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface WatchedCallArguments {
  /** Which call. */
  id: number;
}

export interface StopCallArguments {
  /** Which call. */
  id: number;
}

export interface ChangesArguments {
  /** Only after this number; default: the newest. */
  since?: number;
  /** Only before this number. */
  before?: number;
  /** Most changes. */
  limit?: number;
  /** Only of this session. */
  session?: string;
  /** Only by this tool. */
  tool?: string;
  /** Only of this path, or what is below it. */
  path?: string;
}

export interface ChangeArguments {
  /** Which change. */
  id: number;
  /** Leave out this many paths. */
  offset?: number;
  /** At most this many paths. */
  limit?: number;
}

export interface ChangeDiffArguments {
  /** Which change. */
  id: number;
}

export interface UndoChangeArguments {
  /** Which change. */
  id: number;
  /** Only these paths and what is below them. */
  paths?: string[];
  /** Only say what would be done. */
  dryRun?: boolean;
  /** Overwrite what has changed since, and restore what was saved. */
  force?: boolean;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface UndoArguments {
  /** Which changes. */
  ids?: number[];
  /** Or this one and all after it. */
  since?: number;
  /** Or all of this session. */
  session?: string;
  /** Only these paths and what is below them. */
  paths?: string[];
  /** Only say what would be done. */
  dryRun?: boolean;
  /** Overwrite what has changed since, and restore what was saved. */
  force?: boolean;
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface JobArguments {
  /** Which job. */
  id: string;
  /** Cursor of the last answer. */
  since?: number;
  /** Wait for news so long. */
  waitMs?: number;
}

export interface StopJobArguments {
  /** Which job. */
  id: string;
}

export interface BashArguments {
  /** Script for the shell. */
  command?: string;
  /** Instead: a program and its arguments, no shell. */
  argv?: string[];
  /** Longest run time. */
  timeoutSeconds?: number;
  /** Directory to run in; the root if absent. */
  cwd?: string;
  /** Variables to add to the environment. */
  env?: Record<string, string>;
  /** What it reads as standard input; else nothing. */
  stdin?: string;
  /** What stdin is; base64 for bytes that are not text. */
  stdinEncoding?: "utf-8" | "base64";
  /** A name for the log and the read tracker. */
  sessionId?: string;
}

export interface ReadFileToolArguments {
  /** File in the workspace, or output:<n>. */
  path: string;
  /** First line, from 1. */
  start_line?: number;
  /** Last line. */
  end_line?: number;
  /** Number the lines. */
  line_numbers?: boolean;
  /** Largest result. */
  max_bytes?: number;
}

export interface WriteFileToolArguments {
  /** File in the workspace. */
  path: string;
  /** The whole content. */
  content: string;
  /** Make missing directories (default true). */
  create_dirs?: boolean;
}

export interface ListDirectoryToolArguments {
  /** Directory, . for the workspace. */
  path: string;
  /** Also what is below, 5 levels deep. */
  recursive?: boolean;
  /** Glob for names: *.py. */
  pattern?: string;
  /** Goes on from an earlier result. */
  cursor?: string;
  /** Largest result. */
  max_bytes?: number;
}

export interface RunCommandToolArguments {
  /** Shell command: make test. */
  command: string;
  /** Time limit in milliseconds. */
  timeout_ms?: number;
  /** Program and arguments, without a shell; command is empty then. */
  argv?: string[];
  /** Directory to run in. */
  cwd?: string;
  /** Variables, each NAME=value. */
  env?: string[];
  /** Return a job_id at once, for servers and long work: see job_output and job_stop. */
  background?: boolean;
}

export interface SearchFilesToolArguments {
  /** Regular expression. */
  pattern: string;
  /** Directory, file or output:<n>; default: the workspace. */
  path?: string;
  /** Glob for files: *.js. */
  file_pattern?: string;
  /** Most matches (default 50). */
  max_results?: number;
  /** Ignore case. */
  ignore_case?: boolean;
  /** The pattern is plain text. */
  literal?: boolean;
  /** Lines around each match. */
  context?: number;
  /** What is returned of each file. */
  mode?: "lines" | "files" | "counts";
  /** Matches may cross lines. */
  multiline?: boolean;
  /** Kind of files: c, py, js, rust. */
  type?: string;
  /** Goes on from an earlier result. */
  cursor?: string;
  /** Largest result. */
  max_bytes?: number;
}

export interface EditFileToolArguments {
  /** File in the workspace. */
  path: string;
  /** Exact text, with its white space. */
  old_text: string;
  /** Text in its place. */
  new_text: string;
  /** Replace every occurrence. */
  replace_all?: boolean;
  /** Only show the diff. */
  dry_run?: boolean;
}

export interface MultiEditToolArguments {
  /** File in the workspace. */
  path: string;
  /** In this order. */
  edits: MultiEditEdit[];
  /** Only show the diff. */
  dry_run?: boolean;
}

export interface ApplyPatchToolArguments {
  /** *** Begin Patch, then for each file *** Add File: path, *** Delete File: path, or *** Update File: path and hunks (@@ and a line above, then lines that begin with blank, - or +), then *** End Patch. Or a unified diff, or SEARCH/REPLACE blocks. */
  patch: string;
  /** Its format. */
  format?: "auto" | "v4a" | "unified" | "blocks";
  /** Only show what would change. */
  dry_run?: boolean;
  /** Directories to take off the paths of a unified diff. */
  strip?: number;
}

export interface FindFilesToolArguments {
  /** Glob: *.c anywhere, src/**\/*.h below src. */
  pattern: string;
  /** Directory; default: the workspace. */
  path?: string;
  /** Most paths (default 1000). */
  limit?: number;
  /** Goes on from an earlier result. */
  cursor?: string;
  /** Largest result. */
  max_bytes?: number;
}

export type JobListToolArguments = Record<string, never>;

export interface JobOutputToolArguments {
  /** Job. */
  job_id: string;
  /** Cursor of the last result; 0: from the start. */
  since?: number;
  /** Wait so long for more. */
  wait_ms?: number;
}

export interface JobStopToolArguments {
  /** Job. */
  job_id: string;
}

export interface ListChangesToolArguments {
  /** Only after this number; default: the newest. */
  since?: number;
  /** Only before this number. */
  before?: number;
  /** Most changes. */
  limit?: number;
  /** Only of this session. */
  session?: string;
  /** Only by this tool. */
  tool?: string;
  /** Only of this path, or what is below it. */
  path?: string;
}

export interface UndoChangeToolArguments {
  /** The number of the change. */
  id: number;
  /** Only these paths and what is below them. */
  paths?: string[];
  /** Only say what would be done. */
  dry_run?: boolean;
  /** Overwrite what has changed since. */
  force?: boolean;
}

/** The arguments of each tool for models, by its name. */
export interface ToolArguments {
  read_file: ReadFileToolArguments;
  write_file: WriteFileToolArguments;
  list_directory: ListDirectoryToolArguments;
  run_command: RunCommandToolArguments;
  search_files: SearchFilesToolArguments;
  edit_file: EditFileToolArguments;
  multi_edit: MultiEditToolArguments;
  apply_patch: ApplyPatchToolArguments;
  find_files: FindFilesToolArguments;
  job_list: JobListToolArguments;
  job_output: JobOutputToolArguments;
  job_stop: JobStopToolArguments;
  list_changes: ListChangesToolArguments;
  undo_change: UndoChangeToolArguments;
}

/** What each tool for models gives, by its name. */
export interface ToolOutputs {
  read_file: ReadFileOutput;
  write_file: WriteFileOutput;
  list_directory: ListDirectoryOutput;
  run_command: RunCommandOutput;
  search_files: SearchFilesOutput;
  edit_file: EditFileOutput;
  multi_edit: EditFileOutput;
  apply_patch: PatchResult;
  find_files: FindFilesOutput;
  job_list: JobListOutput;
  job_output: JobOutputOutput;
  job_stop: StopJobResult;
  list_changes: ChangesResult;
  undo_change: UndoResult;
}

/** Tools that change nothing. */
export const READ_ONLY_TOOLS: ReadonlySet<string> = new Set([
  "find_files",
  "job_list",
  "job_output",
  "list_changes",
  "list_directory",
  "read_file",
  "search_files",
]);

/** How an operation is sent: `text` if its answer is not JSON, `repeatable` if it changes nothing. */
export interface CallForm {
  text?: boolean;
  repeatable?: boolean;
}

/** One method for each operation; `SidecarClient` adds those that stream. */
export abstract class Operations {
  protected abstract call<T>(
    method: string,
    path: string,
    args: object,
    options: CallOptions,
    form: CallForm,
  ): Promise<T>;

  /** Read a text file, whole or by lines, or an image. */
  read(args: ReadArguments, options: CallOptions = {}): Promise<ReadResult> {
    return this.call("POST", "/read", args, options, { repeatable: true });
  }

  /** Write a whole file; missing directories are made. */
  write(args: WriteArguments, options: CallOptions = {}): Promise<WriteResult> {
    return this.call("POST", "/write", args, options, {});
  }

  /** Replace a text that occurs exactly once in a file. */
  edit(args: EditArguments, options: CallOptions = {}): Promise<EditResult> {
    return this.call("POST", "/edit", args, options, {});
  }

  /** Apply a patch of several files, all of it or nothing. */
  patch(args: PatchArguments, options: CallOptions = {}): Promise<PatchResult> {
    return this.call("POST", "/patch", args, options, {});
  }

  /** List the names in a directory. */
  ls(args: LsArguments = {}, options: CallOptions = {}): Promise<LsResult> {
    return this.call("POST", "/ls", args, options, { repeatable: true });
  }

  /** Find files and directories by a glob. */
  find(args: FindArguments, options: CallOptions = {}): Promise<FindResult> {
    return this.call("POST", "/find", args, options, { repeatable: true });
  }

  /** Search the contents of files for a pattern. */
  grep(args: GrepArguments, options: CallOptions = {}): Promise<GrepResult> {
    return this.call("POST", "/grep", args, options, { repeatable: true });
  }

  /** Search the contents of files; page by page, without a limit in all. */
  search(args: SearchArguments, options: CallOptions = {}): Promise<SearchResult> {
    return this.call("POST", "/search", args, options, { repeatable: true });
  }

  /** What a path leads to. */
  stat(args: StatArguments, options: CallOptions = {}): Promise<StatResult> {
    return this.call("POST", "/stat", args, options, { repeatable: true });
  }

  /** Whether there is such a file or directory. */
  exists(args: ExistsArguments, options: CallOptions = {}): Promise<ExistsResult> {
    return this.call("POST", "/exists", args, options, { repeatable: true });
  }

  /** Make a directory. */
  mkdir(args: MkdirArguments, options: CallOptions = {}): Promise<MkdirResult> {
    return this.call("POST", "/mkdir", args, options, {});
  }

  /** Give a file or directory another path. */
  rename(args: RenameArguments, options: CallOptions = {}): Promise<RenameResult> {
    return this.call("POST", "/rename", args, options, {});
  }

  /** Remove a file or directory. */
  remove(args: RemoveArguments, options: CallOptions = {}): Promise<MkdirResult> {
    return this.call("POST", "/remove", args, options, {});
  }

  /** Copy a file, with its permissions. */
  copy(args: CopyArguments, options: CallOptions = {}): Promise<RenameResult> {
    return this.call("POST", "/copy", args, options, {});
  }

  /** Where a path leads, if it may be used. */
  validatePath(args: ValidatePathArguments, options: CallOptions = {}): Promise<ValidatePathResult> {
    return this.call("POST", "/paths", args, options, { repeatable: true });
  }

  /** The directories whose contents may be used. */
  getAllowedPaths(options: CallOptions = {}): Promise<GetAllowedPathsResult> {
    return this.call("GET", "/paths", {}, options, { repeatable: true });
  }

  /** Whether the command policy refuses a command of a model. */
  policy(args: PolicyArguments, options: CallOptions = {}): Promise<PolicyResult> {
    return this.call("POST", "/policy", args, options, { repeatable: true });
  }

  /** What is in force. */
  health(options: CallOptions = {}): Promise<HealthResult> {
    return this.call("GET", "/health", {}, options, { repeatable: true });
  }

  /** What it has done, for Prometheus. */
  metrics(options: CallOptions = {}): Promise<string> {
    return this.call("GET", "/metrics", {}, options, { text: true, repeatable: true });
  }

  /** This document. */
  openapi(options: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.call("GET", "/openapi.json", {}, options, { repeatable: true });
  }

  /** One call: its arguments, events, result and diff. */
  watchedCall(args: WatchedCallArguments, options: CallOptions = {}): Promise<WatchedCall> {
    return this.call("GET", "/calls/{id}", args, options, { repeatable: true });
  }

  /** End a running call, with everything that it started. */
  stopCall(args: StopCallArguments, options: CallOptions = {}): Promise<StopCallResult> {
    return this.call("POST", "/calls/{id}/stop", args, options, {});
  }

  /** The page that shows this in a browser. */
  ui(options: CallOptions = {}): Promise<string> {
    return this.call("GET", "/ui", {}, options, { text: true, repeatable: true });
  }

  /** List the changes that calls have made. */
  changes(args: ChangesArguments = {}, options: CallOptions = {}): Promise<ChangesResult> {
    return this.call("GET", "/changes", args, options, { repeatable: true });
  }

  /** One change with the paths that it changed. */
  change(args: ChangeArguments, options: CallOptions = {}): Promise<ChangeResult> {
    return this.call("GET", "/changes/{id}", args, options, { repeatable: true });
  }

  /** What a change did to the content of files, as a unified diff. */
  changeDiff(args: ChangeDiffArguments, options: CallOptions = {}): Promise<string> {
    return this.call("GET", "/changes/{id}/diff", args, options, { text: true, repeatable: true });
  }

  /** Take changes back, all of them or none. */
  undoChange(args: UndoChangeArguments, options: CallOptions = {}): Promise<UndoResult> {
    return this.call("POST", "/changes/{id}/undo", args, options, {});
  }

  /** Take changes back, all of them or none. */
  undo(args: UndoArguments = {}, options: CallOptions = {}): Promise<UndoResult> {
    return this.call("POST", "/changes/undo", args, options, {});
  }

  /** List the commands that run, or ran, in the background, and what others left running. */
  jobs(options: CallOptions = {}): Promise<JobsResult> {
    return this.call("GET", "/jobs", {}, options, { repeatable: true });
  }

  /** The output of a background command since a cursor, and how it ended. */
  job(args: JobArguments, options: CallOptions = {}): Promise<JobResult> {
    return this.call("GET", "/jobs/{id}", args, options, { repeatable: true });
  }

  /** End a background command and everything it started. */
  stopJob(args: StopJobArguments, options: CallOptions = {}): Promise<StopJobResult> {
    return this.call("POST", "/jobs/{id}/stop", args, options, {});
  }
}
