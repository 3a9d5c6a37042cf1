# SPDX-License-Identifier: MIT
# mypy: warn-return-any=False
"""The operations of the HTTP API: results, and a method for each.

Written by packages/generate from /openapi.json. Do not edit: change the program, and run packages/generate.
"""

from dataclasses import dataclass, field
from typing import Any, Dict, FrozenSet, List, Literal, Optional, Tuple, Union


ERROR_CODES: FrozenSet[str] = frozenset((
    "UNKNOWN_TOOL",
    "INVALID_ARGUMENTS",
    "INVALID_PATH",
    "INVALID_REGEX",
    "INVALID_GLOB",
    "PATH_OUTSIDE_WORKSPACE",
    "SYMLINK_OUTSIDE_WORKSPACE",
    "SYMLINK_LOOP",
    "PATH_NOT_ALLOWED",
    "PROTECTED_PATH",
    "PATH_HIDDEN",
    "FILE_NOT_FOUND",
    "FILE_EXISTS",
    "NOT_A_DIRECTORY",
    "NOT_A_FILE",
    "DIRECTORY_NOT_EMPTY",
    "PERMISSION_DENIED",
    "FILE_TOO_LARGE",
    "BINARY_FILE",
    "TEXT_NOT_FOUND",
    "TEXT_NOT_UNIQUE",
    "NO_CHANGE",
    "INVALID_PATCH",
    "FILE_NOT_READ",
    "FILE_CHANGED",
    "COMMAND_BLOCKED",
    "SPAWN_FAILED",
    "READ_ONLY",
    "REDACTED_CONTENT",
    "SEARCH_TIMEOUT",
    "CHANGE_NOT_FOUND",
    "JOB_NOT_FOUND",
    "CALL_NOT_FOUND",
    "CONFLICT",
    "NOT_SAVED",
    "AUDIT_FAILED",
    "DISK_FULL",
    "IO_ERROR",
    "TOO_BUSY",
    "EXECUTION_ERROR",
))
"""Why the server refuses a call."""


TOOL_FORMATS: Tuple[str, ...] = ("ollama", "openai", "openai-strict", "openai-responses", "anthropic", "gemini", "mcp", "anthropic-native", "openai-native")
"""Forms in which the server writes definitions of tools."""


TOOL_NAMES: FrozenSet[str] = frozenset((
    "read_file",
    "write_file",
    "list_directory",
    "run_command",
    "search_files",
    "edit_file",
    "multi_edit",
    "apply_patch",
    "find_files",
    "job_list",
    "job_output",
    "job_stop",
    "list_changes",
    "undo_change",
))
"""The tools for models."""


READ_ONLY_TOOLS: FrozenSet[str] = frozenset((
    "find_files",
    "job_list",
    "job_output",
    "list_changes",
    "list_directory",
    "read_file",
    "search_files",
))
"""Those of them that change nothing."""


@dataclass(frozen=True)
class Truncation:
    content: str
    """What is left of the text."""
    truncated: bool
    """Whether something was left out."""
    truncated_by: Optional[Literal['lines', 'bytes']]
    """Which limit came first."""
    total_lines: int
    """Lines of the selected part."""
    total_bytes: int
    """Its bytes."""
    output_lines: int
    """Lines that are left."""
    output_bytes: int
    """Bytes that are left."""
    last_line_partial: bool
    """Never: lines are whole."""
    first_line_exceeds_limit: bool
    """Whether the first line alone is too long."""
    max_lines: int
    """The limit of lines."""
    max_bytes: int
    """The limit of bytes."""


@dataclass(frozen=True)
class ReadText:
    type: Literal['text']
    """A text."""
    content: str
    """The selected lines; bytes that are not UTF-8 appear as U+FFFD."""
    total_lines: int
    """Lines in the file; a final newline counts as one more, empty line."""
    has_more: bool
    """Whether the file continues after them."""
    truncation: Optional[Truncation] = None
    """What was left out, if anything."""


@dataclass(frozen=True)
class ReadImage:
    type: Literal['image']
    """An image."""
    data: str
    """The file in base64."""
    mime_type: str
    """What kind of image, by the file's name."""


@dataclass(frozen=True)
class ReadBytes:
    type: Literal['bytes']
    """All bytes of a file, for encoding base64."""
    data: str
    """The file in base64."""
    bytes: int
    """Its size."""


@dataclass(frozen=True)
class WriteResult:
    ok: bool
    """It is written."""
    path: str
    """The file, relative to the workspace."""
    bytes: int
    """Its size now."""
    change: Optional[int] = None
    """The number of the change, for undo, if changes are kept."""
    not_kept: Optional[int] = None
    """How many paths of the change cannot be brought back; missing if all can."""


@dataclass(frozen=True)
class EditResult:
    ok: bool
    """It is changed."""
    path: str
    """The file, as it was asked for."""
    diff: str
    """What changed, with line numbers and four lines of context."""
    replacements: Optional[int] = None
    """How many places were replaced; with replaceAll."""
    change: Optional[int] = None
    """The number of the change, for undo, if changes are kept."""
    not_kept: Optional[int] = None
    """How many paths of the change cannot be brought back; missing if all can."""


@dataclass(frozen=True)
class PatchFile:
    path: str
    """The file, relative to the workspace."""
    kind: Literal['created', 'modified', 'deleted', 'renamed', 'copied']
    """What became of it."""
    added: int
    """Lines that are new."""
    removed: int
    """Lines that are gone."""
    diff: str
    """What changed: sign, line number, text; empty if it is very long."""
    from_: Optional[str] = None
    """Its path before, if it was renamed or copied."""


@dataclass(frozen=True)
class PatchResult:
    files: List[PatchFile]
    """In the order of the patch."""
    fuzz: List[str]
    """What did not fit exactly and was accepted."""
    change: Optional[int] = None
    """The number of the change, for undo, if changes are kept."""
    not_kept: Optional[int] = None
    """How many paths of the change cannot be brought back; missing if all can."""


@dataclass(frozen=True)
class LsResult:
    output: str
    """One name a line, "/" after directories."""
    truncation: Optional[Truncation] = None
    """What was left out, if anything."""


@dataclass(frozen=True)
class FindResult:
    files: List[str]
    """Paths below the searched directory, "/" after directories."""
    truncated: bool
    """Whether there are more."""
    limit: int
    """Most that are returned."""
    truncation: Optional[Truncation] = None
    """What was left out, if anything."""
    next_cursor: Optional[str] = None
    """Give this as cursor to continue."""


@dataclass(frozen=True)
class GrepDetails:
    match_limit_reached: Optional[int] = None
    """The limit, if it stopped the search."""
    truncation: Optional[Truncation] = None
    """What was left out, if anything."""
    lines_truncated: Optional[bool] = None
    """Whether long lines were cut."""
    long_lines_skipped: Optional[int] = None
    """Lines too long for such a pattern."""
    timed_out: Optional[bool] = None
    """Whether its time was up before all was searched."""
    ignored_matches: Optional[int] = None
    """Matches in files that ignore rules hide, when there are no others."""


@dataclass(frozen=True)
class GrepResult:
    content: str
    """path:line: text for a match, path-line- text for its context."""
    details: Optional[GrepDetails] = None
    """What limited the answer, if anything did."""


@dataclass(frozen=True)
class SearchMatch:
    path: str
    """Below the searched directory; a searched file is called as it was asked for."""
    line: Optional[int] = None
    """Number of the first matching line; in mode lines."""
    lines: Optional[List[str]] = None
    """The matching line; several in a multiline search."""
    before: Optional[List[str]] = None
    """Lines before it."""
    after: Optional[List[str]] = None
    """Lines after it."""
    cut: Optional[bool] = None
    """Whether one of these lines is longer than shown."""
    count: Optional[int] = None
    """Matching lines in the file; in mode counts."""


@dataclass(frozen=True)
class SearchSkipped:
    ignored: int
    """Entries that ignore files hide; a directory counts once."""
    binary: int
    """Binary files."""
    unreadable: int
    """Entries that could not be read."""
    long_lines: int
    """Lines too long for such a pattern."""


@dataclass(frozen=True)
class SearchResult:
    matches: List[SearchMatch]
    """In byte order of the path, then by line."""
    is_file: bool
    """Whether a single file was searched."""
    files_searched: int
    """Files whose content was searched for this answer."""
    stopped_because: Literal['complete', 'limit', 'timeout', 'cancelled']
    """Whether there may be more, and why."""
    skipped: SearchSkipped
    """What was not searched."""
    next_cursor: Optional[str] = None
    """Give this as cursor to continue."""
    note: Optional[str] = None
    """Why nothing was found, if that is known."""


@dataclass(frozen=True)
class StatResult:
    path: str
    """Relative to the workspace."""
    type: Literal['file', 'directory', 'other']
    """What it is."""
    size: int
    """Its size in bytes."""
    mode: str
    """Its permissions, as in 0644."""
    modified_ms: int
    """When it was last changed, in milliseconds since 1970."""


@dataclass(frozen=True)
class ExistsResult:
    path: str
    """As it was asked for."""
    exists: bool
    """Whether there is such a file or directory."""


@dataclass(frozen=True)
class MkdirResult:
    ok: bool
    """It is done."""
    path: str
    """Relative to the workspace."""
    change: Optional[int] = None
    """The number of the change, for undo, if changes are kept."""
    not_kept: Optional[int] = None
    """How many paths of the change cannot be brought back; missing if all can."""


@dataclass(frozen=True)
class RenameResult:
    ok: bool
    """It is done."""
    path: str
    """Where it is now, relative to the workspace."""
    from_: str
    """Where it was, relative to the workspace."""
    change: Optional[int] = None
    """The number of the change, for undo, if changes are kept."""
    not_kept: Optional[int] = None
    """How many paths of the change cannot be brought back; missing if all can."""


@dataclass(frozen=True)
class ValidatePathResult:
    path: str
    """The absolute path that it leads to, without links."""


@dataclass(frozen=True)
class GetAllowedPathsResult:
    paths: List[str]
    """The directories whose contents may be used."""


@dataclass(frozen=True)
class PolicyResult:
    blocked: bool
    """Whether the command policy refuses it."""
    reason: Optional[str] = None
    """Which word, by which rule."""


@dataclass(frozen=True)
class HealthSandboxProtection:
    name: str
    in_force: bool
    note: Optional[str] = None


@dataclass(frozen=True)
class HealthSandbox:
    mode: Literal['off', 'workspace', 'strict']
    why: str
    namespaces: bool
    protections: List[HealthSandboxProtection]


@dataclass(frozen=True)
class HealthJournal:
    on: bool
    why: Optional[str] = None
    """Why it is not on."""
    bytes: Optional[int] = None
    """How many bytes of old content it may copy."""
    days: Optional[int] = None
    used: Optional[int] = None
    """How many it has copied."""
    linked: Optional[int] = None
    """Bytes of removed files that it keeps without a copy."""
    failing: Optional[str] = None
    """Why it could not be written at the last attempt."""


@dataclass(frozen=True)
class HealthLimits:
    body_bytes: int
    connections: int
    commands: int
    search_seconds: int
    memory_mb: Optional[int] = None
    processes: Optional[int] = None
    file_mb: Optional[int] = None
    cpu_seconds: Optional[int] = None


@dataclass(frozen=True)
class HealthObserved:
    commands: Literal['all', 'models', 'none']
    why: Optional[str] = None
    """Why none."""


@dataclass(frozen=True)
class HealthResult:
    ok: bool
    version: str
    uptime_ms: int
    started: str
    pid: int
    kind: Literal['serve', 'mcp', 'local']
    calls: int
    running: int
    workspace: str
    socket: Optional[str]
    socket_mode: Optional[str]
    """In octal digits."""
    tcp: Optional[str]
    """HOST:PORT."""
    auth: Literal['required', 'optional', 'none']
    absolute_paths: Literal['shorthand', 'strict', 'outside']
    allowed_root: Optional[str]
    data_dir: Optional[str]
    resolver: Literal['openat2', 'walk']
    read_only: bool
    command_policy: Literal['default', 'strict', 'off']
    survivors: Literal['adopt', 'keep', 'end']
    read_before_write: bool
    scrub: bool
    sandbox: HealthSandbox
    journal: HealthJournal
    limits: HealthLimits
    observed: HealthObserved
    client: Optional[str] = None
    event: Optional[int] = None
    audit: Optional[Literal['on', 'failing']] = None
    git: Optional[str] = None
    """Where the git directory of the workspace lies, if commands are sandboxed and it lies outside: linked worktree of ../main; and whether they cannot write it."""
    sinks: Optional[str] = None
    """How what a person's programs run later is kept from agents, in words."""
    hidden: Optional[str] = None
    """What is hidden from agents, in words."""
    more: Dict[str, Any] = field(default_factory=dict)
    """What else the server says."""


@dataclass(frozen=True)
class BootEvent:
    type: Literal['boot']
    """The first of the lines: BOOT-ID is a place in the stream."""
    boot: str
    """A name for this run of the server."""
    event: int
    """After which one the stream begins."""


@dataclass(frozen=True)
class CallStartEvent:
    type: Literal['call.start']
    """A call has begun."""
    id: int
    time: str
    """RFC 3339."""
    call: int
    tool: str
    subject: str
    """A path, a command, a pattern."""
    session: str
    client: str
    front: Literal['http', 'mcp']


@dataclass(frozen=True)
class OutputEvent:
    type: Literal['output']
    """A command has written."""
    id: int
    time: str
    """RFC 3339."""
    call: int
    stream: Literal['stdout', 'stderr']
    text: str
    job: Optional[int] = None
    dropped: Optional[int] = None
    """Bytes of output before it that are in no event."""


@dataclass(frozen=True)
class CallEndEvent:
    type: Literal['call.end']
    """A call has ended."""
    id: int
    time: str
    """RFC 3339."""
    call: int
    ok: bool
    code: Optional[str]
    """As in Error."""
    exit_code: Optional[int]
    signal: Optional[str]
    timed_out: bool
    ms: int
    bytes: int
    cpu_ms: Optional[int] = None
    peak_memory_bytes: Optional[int] = None
    survivors: Optional[int] = None
    """How many processes it left."""
    dropped: Optional[int] = None
    """Bytes of output that are in no event."""
    change: Optional[int] = None


@dataclass(frozen=True)
class EventFile:
    path: str
    kind: str
    added: Optional[int]
    removed: Optional[int]
    runs_later: Optional[bool] = None
    """A person's programs run it later, outside."""


@dataclass(frozen=True)
class ChangeEvent:
    type: Literal['change']
    """Files have changed."""
    id: int
    time: str
    """RFC 3339."""
    change: int
    files: List[EventFile]
    count: int
    """How many files there are."""
    call: Optional[int] = None


@dataclass(frozen=True)
class RefusedEvent:
    type: Literal['refused', 'guard.changed']
    """Something was refused; or a guarded path has changed."""
    id: int
    time: str
    """RFC 3339."""
    what: Literal['path', 'command', 'sandbox', 'guard', 'network', 'auth']
    subject: str
    """A path, a command, a pattern."""
    why: str
    call: Optional[int] = None


@dataclass(frozen=True)
class JobStartEvent:
    type: Literal['job.start']
    """A job has begun."""
    id: int
    time: str
    """RFC 3339."""
    job: int
    subject: str
    """A path, a command, a pattern."""
    session: str
    client: str
    front: Literal['http', 'mcp']
    call: Optional[int] = None
    tool: Optional[str] = None


@dataclass(frozen=True)
class JobEndEvent:
    type: Literal['job.end']
    """A job has ended."""
    id: int
    time: str
    """RFC 3339."""
    job: int
    ok: bool
    code: Optional[str]
    """As in Error."""
    exit_code: Optional[int]
    signal: Optional[str]
    timed_out: bool
    ms: int
    bytes: int
    call: Optional[int] = None
    dropped: Optional[int] = None
    """Bytes of output that are in no event."""
    change: Optional[int] = None


@dataclass(frozen=True)
class GapEvent:
    type: Literal['gap']
    """Events are missing here."""
    lost: Optional[int]
    """How many; null if that is not known."""


SidecarEvent = Union[BootEvent, CallStartEvent, OutputEvent, CallEndEvent, ChangeEvent, RefusedEvent, JobStartEvent, JobEndEvent, GapEvent]


@dataclass(frozen=True)
class WatchedCall:
    call: int
    running: bool
    events: List[SidecarEvent]
    arguments: Optional[Dict[str, Any]]
    """Long texts are cut."""
    result: Optional[Dict[str, Any]]
    """What its caller got, at most the first 4 KB, of a command's texts both ends: members or, by MCP, a text; the sentence of a failure; null while it runs."""
    cut: bool
    """Whether the result was longer."""
    change: Optional[int] = None
    """What it changed, for undo."""
    undoable: Optional[bool] = None
    """Whether its change can be taken back, if it made one."""
    undone_by: Optional[int] = None
    """The change that took it back."""
    diff: Optional[str] = None
    """What it changed, as long as that is kept."""
    more: Dict[str, Any] = field(default_factory=dict)
    """What else the server says."""


@dataclass(frozen=True)
class StopCallResult:
    call: int
    stopping: bool
    more: Dict[str, Any] = field(default_factory=dict)
    """What else the server says."""


@dataclass(frozen=True)
class Change:
    id: int
    """Its number."""
    time: str
    """When it began."""
    tool: str
    """The tool that made it."""
    subject: str
    """The path or command it was called with."""
    session: str
    """The session that made it, or empty."""
    created: int
    """How many paths are new."""
    modified: int
    """How many were changed."""
    deleted: int
    """How many are gone."""
    renamed: int
    """How many have another name."""
    complete: bool
    """Whether everything is known that it changed."""
    open: bool
    """Whether something of its command still runs."""
    undoable: bool
    """Whether what was there is saved."""
    undone_by: Optional[int]
    """The change that undid it, or null."""


@dataclass(frozen=True)
class ChangesResult:
    changes: List[Change]
    """Oldest first."""
    more: bool
    """Whether there are newer ones: ask for those since the last id."""
    total: int
    """How many there are of those that were asked for."""
    older: Optional[int]
    """If there are older ones: ask for those before this id; else null."""


@dataclass(frozen=True)
class PathState:
    type: str
    """file, directory, link …."""
    size: int
    """Its bytes."""
    mode: str
    """Its permissions, in octal."""
    hash: Optional[str]
    """SHA-256 of a file's content; null if it is not known."""


@dataclass(frozen=True)
class ChangePath:
    path: str
    """Where it is now; of a deleted one, where it was."""
    kind: str
    """created, modified, deleted or renamed."""
    before: Optional[PathState]
    """What was there; null if nothing was."""
    after: Optional[PathState]
    """What is there then; null if nothing is."""
    saved: bool
    """Whether what was there can be restored."""
    from_: Optional[str] = None
    """Where it was before, if that is another path."""
    hidden: Optional[bool] = None
    """It is hidden from agents: what it was and is is not shown."""


@dataclass(frozen=True)
class ChangeResult:
    id: int
    """Its number."""
    time: str
    """When it began."""
    tool: str
    """The tool that made it."""
    subject: str
    """The path or command it was called with."""
    session: str
    """The session that made it, or empty."""
    created: int
    """How many paths are new."""
    modified: int
    """How many were changed."""
    deleted: int
    """How many are gone."""
    renamed: int
    """How many have another name."""
    complete: bool
    """Whether everything is known that it changed."""
    open: bool
    """Whether something of its command still runs."""
    undoable: bool
    """Whether what was there is saved."""
    undone_by: Optional[int]
    """The change that undid it, or null."""
    paths: List[ChangePath]
    """What it changed."""
    more: bool
    """Whether there are more paths: ask with offset."""


@dataclass(frozen=True)
class UndoRename:
    from_: str
    """Where it was after the change."""
    to: str
    """Where it is again."""


@dataclass(frozen=True)
class Conflict:
    path: str
    """What is not as the change left it."""
    why: str
    """How it differs."""


@dataclass(frozen=True)
class UndoResult:
    change: Optional[int]
    """The number of the undo itself; null if nothing was changed."""
    restored: List[str]
    """Paths that are as they were; of each kind the first 1,000."""
    restored_count: int
    """How many there are in all."""
    removed: List[str]
    """Paths that are gone again."""
    removed_count: int
    """How many there are in all."""
    renamed: List[UndoRename]
    """What has its old name again."""
    renamed_count: int
    """How many there are in all."""
    conflicts: List[Conflict]
    """What was overwritten, with force."""
    conflict_count: int
    """How many there are in all."""
    complete: bool
    """Whether everything is known that was changed."""


@dataclass(frozen=True)
class Job:
    job_id: str
    """Which job."""
    command: str
    """The beginning of its command."""
    state: Literal['running', 'exited']
    """Whether it still runs."""
    exit_code: Optional[int]
    """Once it has exited; else null."""
    started_ms: int
    """When it was started, in milliseconds since 1970."""
    cursor: int
    """Bytes of output so far."""
    ports: List[int]
    """Ports that its processes listen on."""
    timed_out: Optional[bool] = None
    """Its time was up."""
    left_job_id: Optional[str] = None
    """The job in which what it left running continues."""
    error: Optional[str] = None
    """Why it could not be run."""


@dataclass(frozen=True)
class JobsResult:
    jobs: List[Job]
    """Oldest first."""


@dataclass(frozen=True)
class JobResult:
    state: Literal['running', 'exited']
    """Whether it still runs."""
    exit_code: Optional[int]
    """Once it has exited; else null."""
    output: str
    """Standard output and error as they came."""
    cursor: int
    """Give this as since to continue."""
    dropped: int
    """Bytes after since that are no longer kept."""
    timed_out: Optional[bool] = None
    """Its time was up."""
    left_job_id: Optional[str] = None
    """The job in which what it left running continues."""
    error: Optional[str] = None
    """Why it could not be run."""


@dataclass(frozen=True)
class StopJobResult:
    ok: bool
    """It is being ended; its state tells when it has."""


ReadResult = Union[ReadText, ReadImage, ReadBytes]


class Operations:
    """One method for each operation; the client adds those that stream."""

    def _call(self, want: Any, method: str, path: str, args: Dict[str, Any],
            timeout: Optional[float], repeatable: bool) -> Any:
        raise NotImplementedError

    def read(self, path: str, *, offset: Optional[int] = None, limit: Optional[int] = None,
            encoding: Optional[Literal['utf-8', 'base64']] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> ReadResult:
        """Read a text file, whole or by lines, or an image.

        path: File to read.
        offset: First line, from 1.
        limit: Number of lines; 0 for all.
        encoding: How the answer has the content; base64 for all bytes of any file.
        session_id: A name for the log and the read tracker.
        """
        return self._call(ReadResult, "POST", "/read", {"path": path, "offset": offset, "limit": limit,
            "encoding": encoding, "sessionId": session_id}, timeout, repeatable=True)

    def write(self, path: str, content: str, *, encoding: Optional[Literal['utf-8', 'base64']] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> WriteResult:
        """Write a whole file; missing directories are made.

        path: File to write.
        content: Its whole new content.
        encoding: What the content is; base64 for a file that is not text.
        session_id: A name for the log and the read tracker.
        """
        return self._call(WriteResult, "POST", "/write", {"path": path, "content": content, "encoding": encoding,
            "sessionId": session_id}, timeout, repeatable=False)

    def edit(self, path: str, old_text: str, new_text: str, *, replace_all: Optional[bool] = None,
            dry_run: Optional[bool] = None, hints: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> EditResult:
        """Replace a text that occurs exactly once in a file.

        path: File to edit.
        old_text: Text to replace, exactly as it stands.
        new_text: Text to put in its place.
        replace_all: Replace every occurrence.
        dry_run: Only show the diff, change nothing.
        hints: If the text is not found, say why where that is known.
        session_id: A name for the log and the read tracker.
        """
        return self._call(EditResult, "POST", "/edit", {"path": path, "oldText": old_text, "newText": new_text,
            "replaceAll": replace_all, "dryRun": dry_run, "hints": hints, "sessionId": session_id},
            timeout, repeatable=False)

    def patch(self, patch: str, *, format: Optional[Literal['auto', 'v4a', 'unified', 'blocks']] = None,
            cwd: Optional[str] = None, dry_run: Optional[bool] = None, strip: Optional[int] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> PatchResult:
        """Apply a patch of several files, all of it or nothing.

        patch: The patch.
        format: Its format.
        cwd: Directory in which its relative paths start; the workspace if absent.
        dry_run: Only show what would change.
        strip: Directories to take off the paths of a unified patch; -1: "a/" and "b/".
        session_id: A name for the log and the read tracker.
        """
        return self._call(PatchResult, "POST", "/patch", {"patch": patch, "format": format, "cwd": cwd,
            "dryRun": dry_run, "strip": strip, "sessionId": session_id}, timeout, repeatable=False)

    def ls(self, path: Optional[str] = None, *, limit: Optional[int] = None, offset: Optional[int] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> LsResult:
        """List the names in a directory.

        path: Directory to list; the workspace root if absent.
        limit: Most names to return.
        offset: Names to leave out at the start.
        session_id: A name for the log and the read tracker.
        """
        return self._call(LsResult, "POST", "/ls", {"path": path, "limit": limit, "offset": offset,
            "sessionId": session_id}, timeout, repeatable=True)

    def find(self, pattern: str, *, path: Optional[str] = None, limit: Optional[int] = None,
            type: Optional[Literal['any', 'file', 'directory', 'link']] = None, cursor: Optional[str] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> FindResult:
        """Find files and directories by a glob.

        pattern: Glob to match.
        path: Directory to search; the root if absent.
        limit: Most results.
        type: Only entries of this type.
        cursor: Answer in pages: empty for the first, then nextCursor of the one before.
        session_id: A name for the log and the read tracker.
        """
        return self._call(FindResult, "POST", "/find", {"pattern": pattern, "path": path, "limit": limit,
            "type": type, "cursor": cursor, "sessionId": session_id}, timeout, repeatable=True)

    def grep(self, pattern: str, *, path: Optional[str] = None, glob: Optional[str] = None,
            ignore_case: Optional[bool] = None, literal: Optional[bool] = None, context: Optional[int] = None,
            limit: Optional[int] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> GrepResult:
        """Search the contents of files for a pattern.

        pattern: Pattern to search for.
        path: Directory or file; the root if absent.
        glob: Only files whose path fits this glob.
        ignore_case: Upper and lower case alike.
        literal: The pattern is plain text.
        context: Lines shown around a match.
        limit: Most matches.
        session_id: A name for the log and the read tracker.
        """
        return self._call(GrepResult, "POST", "/grep", {"pattern": pattern, "path": path, "glob": glob,
            "ignoreCase": ignore_case, "literal": literal, "context": context, "limit": limit,
            "sessionId": session_id}, timeout, repeatable=True)

    def search(self, pattern: str, *, path: Optional[str] = None, globs: Optional[List[str]] = None,
            types: Optional[List[str]] = None, ignore_case: Optional[bool] = None, literal: Optional[bool] = None,
            multiline: Optional[bool] = None, no_ignore: Optional[bool] = None, invert: Optional[bool] = None,
            mode: Optional[Literal['lines', 'files', 'counts', 'without']] = None, before: Optional[int] = None,
            after: Optional[int] = None, limit: Optional[int] = None, cursor: Optional[str] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> SearchResult:
        """Search the contents of files; page by page, without a limit in all.

        pattern: Pattern to search for.
        path: Directory or file; the root if absent.
        globs: Only files that these choose; the last that matches decides, !x decides against.
        types: Only files of these kinds: c, py, js ...
        ignore_case: Upper and lower case alike.
        literal: The pattern is plain text.
        multiline: A match may cross lines.
        no_ignore: Also what ignore files hide.
        invert: Lines that do not match.
        mode: Matching lines, files with a match, the number of matching lines of each, or files without a match.
        before: Lines to show before each match.
        after: Lines to show after each match.
        limit: Most matches in this answer.
        cursor: nextCursor of the answer before.
        session_id: A name for the log and the read tracker.
        """
        return self._call(SearchResult, "POST", "/search", {"pattern": pattern, "path": path, "globs": globs,
            "types": types, "ignoreCase": ignore_case, "literal": literal, "multiline": multiline,
            "noIgnore": no_ignore, "invert": invert, "mode": mode, "before": before, "after": after, "limit": limit,
            "cursor": cursor, "sessionId": session_id}, timeout, repeatable=True)

    def stat(self, path: str, *, session_id: Optional[str] = None, timeout: Optional[float] = None) -> StatResult:
        """What a path leads to.

        path: File or directory; links are followed.
        session_id: A name for the log and the read tracker.
        """
        return self._call(StatResult, "POST", "/stat", {"path": path, "sessionId": session_id},
            timeout, repeatable=True)

    def exists(self, path: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> ExistsResult:
        """Whether there is such a file or directory.

        path: Which file or directory.
        session_id: A name for the log and the read tracker.
        """
        return self._call(ExistsResult, "POST", "/exists", {"path": path, "sessionId": session_id},
            timeout, repeatable=True)

    def mkdir(self, path: str, *, recursive: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> MkdirResult:
        """Make a directory.

        path: Directory to make.
        recursive: Make missing parents, and accept one that exists.
        session_id: A name for the log and the read tracker.
        """
        return self._call(MkdirResult, "POST", "/mkdir", {"path": path, "recursive": recursive,
            "sessionId": session_id}, timeout, repeatable=False)

    def rename(self, from_: str, to: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> RenameResult:
        """Give a file or directory another path.

        from_: What is there.
        to: Its new path; missing directories are made.
        session_id: A name for the log and the read tracker.
        """
        return self._call(RenameResult, "POST", "/rename", {"from": from_, "to": to, "sessionId": session_id},
            timeout, repeatable=False)

    def remove(self, path: str, *, recursive: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> MkdirResult:
        """Remove a file or directory.

        path: File or directory to remove; of a link the link.
        recursive: With everything in it.
        session_id: A name for the log and the read tracker.
        """
        return self._call(MkdirResult, "POST", "/remove", {"path": path, "recursive": recursive,
            "sessionId": session_id}, timeout, repeatable=False)

    def copy(self, from_: str, to: str, *, overwrite: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> RenameResult:
        """Copy a file, with its permissions.

        from_: What is there.
        to: Its new path; missing directories are made.
        overwrite: Replace the file that is there.
        session_id: A name for the log and the read tracker.
        """
        return self._call(RenameResult, "POST", "/copy", {"from": from_, "to": to, "overwrite": overwrite,
            "sessionId": session_id}, timeout, repeatable=False)

    def validate_path(self, path: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> ValidatePathResult:
        """Where a path leads, if it may be used.

        path: An absolute path, or one below the workspace.
        session_id: A name for the log and the read tracker.
        """
        return self._call(ValidatePathResult, "POST", "/paths", {"path": path, "sessionId": session_id},
            timeout, repeatable=True)

    def get_allowed_paths(self, *, timeout: Optional[float] = None) -> GetAllowedPathsResult:
        """The directories whose contents may be used."""
        return self._call(GetAllowedPathsResult, "GET", "/paths", {}, timeout, repeatable=True)

    def policy(self, command: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> PolicyResult:
        """Whether the command policy refuses a command of a model.

        command: A shell command.
        session_id: A name for the log and the read tracker.
        """
        return self._call(PolicyResult, "POST", "/policy", {"command": command, "sessionId": session_id},
            timeout, repeatable=True)

    def health(self, *, timeout: Optional[float] = None) -> HealthResult:
        """What is in force."""
        return self._call(HealthResult, "GET", "/health", {}, timeout, repeatable=True)

    def metrics(self, *, timeout: Optional[float] = None) -> str:
        """What it has done, for Prometheus."""
        return self._call(str, "GET", "/metrics", {}, timeout, repeatable=True)

    def openapi(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """This document."""
        return self._call(Dict[str, Any], "GET", "/openapi.json", {}, timeout, repeatable=True)

    def watched_call(self, id: int, *, timeout: Optional[float] = None) -> WatchedCall:
        """One call: its arguments, events, result and diff.

        id: Which call.
        """
        return self._call(WatchedCall, "GET", "/calls/{id}", {"id": id}, timeout, repeatable=True)

    def stop_call(self, id: int, *, timeout: Optional[float] = None) -> StopCallResult:
        """End a running call, with everything that it started.

        id: Which call.
        """
        return self._call(StopCallResult, "POST", "/calls/{id}/stop", {"id": id}, timeout, repeatable=False)

    def ui(self, *, timeout: Optional[float] = None) -> str:
        """The page that shows this in a browser."""
        return self._call(str, "GET", "/ui", {}, timeout, repeatable=True)

    def changes(self, since: Optional[int] = None, *, before: Optional[int] = None, limit: Optional[int] = None,
            session: Optional[str] = None, tool: Optional[str] = None, path: Optional[str] = None,
            timeout: Optional[float] = None) -> ChangesResult:
        """List the changes that calls have made.

        since: Only after this number; default: the newest.
        before: Only before this number.
        limit: Most changes.
        session: Only of this session.
        tool: Only by this tool.
        path: Only of this path, or what is below it.
        """
        return self._call(ChangesResult, "GET", "/changes", {"since": since, "before": before, "limit": limit,
            "session": session, "tool": tool, "path": path}, timeout, repeatable=True)

    def change(self, id: int, *, offset: Optional[int] = None, limit: Optional[int] = None,
            timeout: Optional[float] = None) -> ChangeResult:
        """One change with the paths that it changed.

        id: Which change.
        offset: Leave out this many paths.
        limit: At most this many paths.
        """
        return self._call(ChangeResult, "GET", "/changes/{id}", {"id": id, "offset": offset, "limit": limit},
            timeout, repeatable=True)

    def change_diff(self, id: int, *, timeout: Optional[float] = None) -> str:
        """What a change did to the content of files, as a unified diff.

        id: Which change.
        """
        return self._call(str, "GET", "/changes/{id}/diff", {"id": id}, timeout, repeatable=True)

    def undo_change(self, id: int, *, paths: Optional[List[str]] = None, dry_run: Optional[bool] = None,
            force: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> UndoResult:
        """Take changes back, all of them or none.

        id: Which change.
        paths: Only these paths and what is below them.
        dry_run: Only say what would be done.
        force: Overwrite what has changed since, and restore what was saved.
        session_id: A name for the log and the read tracker.
        """
        return self._call(UndoResult, "POST", "/changes/{id}/undo", {"id": id, "paths": paths, "dryRun": dry_run,
            "force": force, "sessionId": session_id}, timeout, repeatable=False)

    def undo(self, ids: Optional[List[int]] = None, *, since: Optional[int] = None, session: Optional[str] = None,
            paths: Optional[List[str]] = None, dry_run: Optional[bool] = None, force: Optional[bool] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> UndoResult:
        """Take changes back, all of them or none.

        ids: Which changes.
        since: Or this one and all after it.
        session: Or all of this session.
        paths: Only these paths and what is below them.
        dry_run: Only say what would be done.
        force: Overwrite what has changed since, and restore what was saved.
        session_id: A name for the log and the read tracker.
        """
        return self._call(UndoResult, "POST", "/changes/undo", {"ids": ids, "since": since, "session": session,
            "paths": paths, "dryRun": dry_run, "force": force, "sessionId": session_id}, timeout, repeatable=False)

    def jobs(self, *, timeout: Optional[float] = None) -> JobsResult:
        """List the commands that run, or ran, in the background, and what others left running."""
        return self._call(JobsResult, "GET", "/jobs", {}, timeout, repeatable=True)

    def job(self, id: str, *, since: Optional[int] = None, wait_ms: Optional[int] = None,
            timeout: Optional[float] = None) -> JobResult:
        """The output of a background command since a cursor, and how it ended.

        id: Which job.
        since: Cursor of the last answer.
        wait_ms: Wait for news so long.
        """
        return self._call(JobResult, "GET", "/jobs/{id}", {"id": id, "since": since, "waitMs": wait_ms},
            timeout, repeatable=True)

    def stop_job(self, id: str, *, timeout: Optional[float] = None) -> StopJobResult:
        """End a background command and everything it started.

        id: Which job.
        """
        return self._call(StopJobResult, "POST", "/jobs/{id}/stop", {"id": id}, timeout, repeatable=False)


class AsyncOperations:
    """One method for each operation; the client adds those that stream."""

    async def _call(self, want: Any, method: str, path: str, args: Dict[str, Any],
            timeout: Optional[float], repeatable: bool) -> Any:
        raise NotImplementedError

    async def read(self, path: str, *, offset: Optional[int] = None, limit: Optional[int] = None,
            encoding: Optional[Literal['utf-8', 'base64']] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> ReadResult:
        """Read a text file, whole or by lines, or an image.

        path: File to read.
        offset: First line, from 1.
        limit: Number of lines; 0 for all.
        encoding: How the answer has the content; base64 for all bytes of any file.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(ReadResult, "POST", "/read", {"path": path, "offset": offset, "limit": limit,
            "encoding": encoding, "sessionId": session_id}, timeout, repeatable=True)

    async def write(self, path: str, content: str, *, encoding: Optional[Literal['utf-8', 'base64']] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> WriteResult:
        """Write a whole file; missing directories are made.

        path: File to write.
        content: Its whole new content.
        encoding: What the content is; base64 for a file that is not text.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(WriteResult, "POST", "/write", {"path": path, "content": content,
            "encoding": encoding, "sessionId": session_id}, timeout, repeatable=False)

    async def edit(self, path: str, old_text: str, new_text: str, *, replace_all: Optional[bool] = None,
            dry_run: Optional[bool] = None, hints: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> EditResult:
        """Replace a text that occurs exactly once in a file.

        path: File to edit.
        old_text: Text to replace, exactly as it stands.
        new_text: Text to put in its place.
        replace_all: Replace every occurrence.
        dry_run: Only show the diff, change nothing.
        hints: If the text is not found, say why where that is known.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(EditResult, "POST", "/edit", {"path": path, "oldText": old_text,
            "newText": new_text, "replaceAll": replace_all, "dryRun": dry_run, "hints": hints,
            "sessionId": session_id}, timeout, repeatable=False)

    async def patch(self, patch: str, *, format: Optional[Literal['auto', 'v4a', 'unified', 'blocks']] = None,
            cwd: Optional[str] = None, dry_run: Optional[bool] = None, strip: Optional[int] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> PatchResult:
        """Apply a patch of several files, all of it or nothing.

        patch: The patch.
        format: Its format.
        cwd: Directory in which its relative paths start; the workspace if absent.
        dry_run: Only show what would change.
        strip: Directories to take off the paths of a unified patch; -1: "a/" and "b/".
        session_id: A name for the log and the read tracker.
        """
        return await self._call(PatchResult, "POST", "/patch", {"patch": patch, "format": format, "cwd": cwd,
            "dryRun": dry_run, "strip": strip, "sessionId": session_id}, timeout, repeatable=False)

    async def ls(self, path: Optional[str] = None, *, limit: Optional[int] = None, offset: Optional[int] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> LsResult:
        """List the names in a directory.

        path: Directory to list; the workspace root if absent.
        limit: Most names to return.
        offset: Names to leave out at the start.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(LsResult, "POST", "/ls", {"path": path, "limit": limit, "offset": offset,
            "sessionId": session_id}, timeout, repeatable=True)

    async def find(self, pattern: str, *, path: Optional[str] = None, limit: Optional[int] = None,
            type: Optional[Literal['any', 'file', 'directory', 'link']] = None, cursor: Optional[str] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> FindResult:
        """Find files and directories by a glob.

        pattern: Glob to match.
        path: Directory to search; the root if absent.
        limit: Most results.
        type: Only entries of this type.
        cursor: Answer in pages: empty for the first, then nextCursor of the one before.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(FindResult, "POST", "/find", {"pattern": pattern, "path": path, "limit": limit,
            "type": type, "cursor": cursor, "sessionId": session_id}, timeout, repeatable=True)

    async def grep(self, pattern: str, *, path: Optional[str] = None, glob: Optional[str] = None,
            ignore_case: Optional[bool] = None, literal: Optional[bool] = None, context: Optional[int] = None,
            limit: Optional[int] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> GrepResult:
        """Search the contents of files for a pattern.

        pattern: Pattern to search for.
        path: Directory or file; the root if absent.
        glob: Only files whose path fits this glob.
        ignore_case: Upper and lower case alike.
        literal: The pattern is plain text.
        context: Lines shown around a match.
        limit: Most matches.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(GrepResult, "POST", "/grep", {"pattern": pattern, "path": path, "glob": glob,
            "ignoreCase": ignore_case, "literal": literal, "context": context, "limit": limit,
            "sessionId": session_id}, timeout, repeatable=True)

    async def search(self, pattern: str, *, path: Optional[str] = None, globs: Optional[List[str]] = None,
            types: Optional[List[str]] = None, ignore_case: Optional[bool] = None, literal: Optional[bool] = None,
            multiline: Optional[bool] = None, no_ignore: Optional[bool] = None, invert: Optional[bool] = None,
            mode: Optional[Literal['lines', 'files', 'counts', 'without']] = None, before: Optional[int] = None,
            after: Optional[int] = None, limit: Optional[int] = None, cursor: Optional[str] = None,
            session_id: Optional[str] = None, timeout: Optional[float] = None) -> SearchResult:
        """Search the contents of files; page by page, without a limit in all.

        pattern: Pattern to search for.
        path: Directory or file; the root if absent.
        globs: Only files that these choose; the last that matches decides, !x decides against.
        types: Only files of these kinds: c, py, js ...
        ignore_case: Upper and lower case alike.
        literal: The pattern is plain text.
        multiline: A match may cross lines.
        no_ignore: Also what ignore files hide.
        invert: Lines that do not match.
        mode: Matching lines, files with a match, the number of matching lines of each, or files without a match.
        before: Lines to show before each match.
        after: Lines to show after each match.
        limit: Most matches in this answer.
        cursor: nextCursor of the answer before.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(SearchResult, "POST", "/search", {"pattern": pattern, "path": path, "globs": globs,
            "types": types, "ignoreCase": ignore_case, "literal": literal, "multiline": multiline,
            "noIgnore": no_ignore, "invert": invert, "mode": mode, "before": before, "after": after, "limit": limit,
            "cursor": cursor, "sessionId": session_id}, timeout, repeatable=True)

    async def stat(self, path: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> StatResult:
        """What a path leads to.

        path: File or directory; links are followed.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(StatResult, "POST", "/stat", {"path": path, "sessionId": session_id},
            timeout, repeatable=True)

    async def exists(self, path: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> ExistsResult:
        """Whether there is such a file or directory.

        path: Which file or directory.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(ExistsResult, "POST", "/exists", {"path": path, "sessionId": session_id},
            timeout, repeatable=True)

    async def mkdir(self, path: str, *, recursive: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> MkdirResult:
        """Make a directory.

        path: Directory to make.
        recursive: Make missing parents, and accept one that exists.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(MkdirResult, "POST", "/mkdir", {"path": path, "recursive": recursive,
            "sessionId": session_id}, timeout, repeatable=False)

    async def rename(self, from_: str, to: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> RenameResult:
        """Give a file or directory another path.

        from_: What is there.
        to: Its new path; missing directories are made.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(RenameResult, "POST", "/rename", {"from": from_, "to": to, "sessionId": session_id},
            timeout, repeatable=False)

    async def remove(self, path: str, *, recursive: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> MkdirResult:
        """Remove a file or directory.

        path: File or directory to remove; of a link the link.
        recursive: With everything in it.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(MkdirResult, "POST", "/remove", {"path": path, "recursive": recursive,
            "sessionId": session_id}, timeout, repeatable=False)

    async def copy(self, from_: str, to: str, *, overwrite: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> RenameResult:
        """Copy a file, with its permissions.

        from_: What is there.
        to: Its new path; missing directories are made.
        overwrite: Replace the file that is there.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(RenameResult, "POST", "/copy", {"from": from_, "to": to, "overwrite": overwrite,
            "sessionId": session_id}, timeout, repeatable=False)

    async def validate_path(self, path: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> ValidatePathResult:
        """Where a path leads, if it may be used.

        path: An absolute path, or one below the workspace.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(ValidatePathResult, "POST", "/paths", {"path": path, "sessionId": session_id},
            timeout, repeatable=True)

    async def get_allowed_paths(self, *, timeout: Optional[float] = None) -> GetAllowedPathsResult:
        """The directories whose contents may be used."""
        return await self._call(GetAllowedPathsResult, "GET", "/paths", {}, timeout, repeatable=True)

    async def policy(self, command: str, *, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> PolicyResult:
        """Whether the command policy refuses a command of a model.

        command: A shell command.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(PolicyResult, "POST", "/policy", {"command": command, "sessionId": session_id},
            timeout, repeatable=True)

    async def health(self, *, timeout: Optional[float] = None) -> HealthResult:
        """What is in force."""
        return await self._call(HealthResult, "GET", "/health", {}, timeout, repeatable=True)

    async def metrics(self, *, timeout: Optional[float] = None) -> str:
        """What it has done, for Prometheus."""
        return await self._call(str, "GET", "/metrics", {}, timeout, repeatable=True)

    async def openapi(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """This document."""
        return await self._call(Dict[str, Any], "GET", "/openapi.json", {}, timeout, repeatable=True)

    async def watched_call(self, id: int, *, timeout: Optional[float] = None) -> WatchedCall:
        """One call: its arguments, events, result and diff.

        id: Which call.
        """
        return await self._call(WatchedCall, "GET", "/calls/{id}", {"id": id}, timeout, repeatable=True)

    async def stop_call(self, id: int, *, timeout: Optional[float] = None) -> StopCallResult:
        """End a running call, with everything that it started.

        id: Which call.
        """
        return await self._call(StopCallResult, "POST", "/calls/{id}/stop", {"id": id}, timeout, repeatable=False)

    async def ui(self, *, timeout: Optional[float] = None) -> str:
        """The page that shows this in a browser."""
        return await self._call(str, "GET", "/ui", {}, timeout, repeatable=True)

    async def changes(self, since: Optional[int] = None, *, before: Optional[int] = None,
            limit: Optional[int] = None, session: Optional[str] = None, tool: Optional[str] = None,
            path: Optional[str] = None, timeout: Optional[float] = None) -> ChangesResult:
        """List the changes that calls have made.

        since: Only after this number; default: the newest.
        before: Only before this number.
        limit: Most changes.
        session: Only of this session.
        tool: Only by this tool.
        path: Only of this path, or what is below it.
        """
        return await self._call(ChangesResult, "GET", "/changes", {"since": since, "before": before, "limit": limit,
            "session": session, "tool": tool, "path": path}, timeout, repeatable=True)

    async def change(self, id: int, *, offset: Optional[int] = None, limit: Optional[int] = None,
            timeout: Optional[float] = None) -> ChangeResult:
        """One change with the paths that it changed.

        id: Which change.
        offset: Leave out this many paths.
        limit: At most this many paths.
        """
        return await self._call(ChangeResult, "GET", "/changes/{id}", {"id": id, "offset": offset, "limit": limit},
            timeout, repeatable=True)

    async def change_diff(self, id: int, *, timeout: Optional[float] = None) -> str:
        """What a change did to the content of files, as a unified diff.

        id: Which change.
        """
        return await self._call(str, "GET", "/changes/{id}/diff", {"id": id}, timeout, repeatable=True)

    async def undo_change(self, id: int, *, paths: Optional[List[str]] = None, dry_run: Optional[bool] = None,
            force: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> UndoResult:
        """Take changes back, all of them or none.

        id: Which change.
        paths: Only these paths and what is below them.
        dry_run: Only say what would be done.
        force: Overwrite what has changed since, and restore what was saved.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(UndoResult, "POST", "/changes/{id}/undo", {"id": id, "paths": paths,
            "dryRun": dry_run, "force": force, "sessionId": session_id}, timeout, repeatable=False)

    async def undo(self, ids: Optional[List[int]] = None, *, since: Optional[int] = None,
            session: Optional[str] = None, paths: Optional[List[str]] = None, dry_run: Optional[bool] = None,
            force: Optional[bool] = None, session_id: Optional[str] = None,
            timeout: Optional[float] = None) -> UndoResult:
        """Take changes back, all of them or none.

        ids: Which changes.
        since: Or this one and all after it.
        session: Or all of this session.
        paths: Only these paths and what is below them.
        dry_run: Only say what would be done.
        force: Overwrite what has changed since, and restore what was saved.
        session_id: A name for the log and the read tracker.
        """
        return await self._call(UndoResult, "POST", "/changes/undo", {"ids": ids, "since": since,
            "session": session, "paths": paths, "dryRun": dry_run, "force": force, "sessionId": session_id},
            timeout, repeatable=False)

    async def jobs(self, *, timeout: Optional[float] = None) -> JobsResult:
        """List the commands that run, or ran, in the background, and what others left running."""
        return await self._call(JobsResult, "GET", "/jobs", {}, timeout, repeatable=True)

    async def job(self, id: str, *, since: Optional[int] = None, wait_ms: Optional[int] = None,
            timeout: Optional[float] = None) -> JobResult:
        """The output of a background command since a cursor, and how it ended.

        id: Which job.
        since: Cursor of the last answer.
        wait_ms: Wait for news so long.
        """
        return await self._call(JobResult, "GET", "/jobs/{id}", {"id": id, "since": since, "waitMs": wait_ms},
            timeout, repeatable=True)

    async def stop_job(self, id: str, *, timeout: Optional[float] = None) -> StopJobResult:
        """End a background command and everything it started.

        id: Which job.
        """
        return await self._call(StopJobResult, "POST", "/jobs/{id}/stop", {"id": id}, timeout, repeatable=False)
