# SPDX-License-Identifier: MIT
"""What both clients share: where a sidecar is, what goes over the wire, and what it means. Nothing here waits."""

import base64
import dataclasses
import functools
import json
import os
import re
import stat
import typing
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union

from .errors import SidecarError, error_of_answer

POLL_SECONDS = 0.1
ATTEMPTS = 3
WAIT_SECONDS = 10.0
MAX_OUTPUT = 16 * 1024 * 1024


@dataclass(frozen=True)
class Address:
    """A Unix socket, or a host and port."""

    socket_path: Optional[str]
    host: str = "localhost"
    port: int = 0
    tls: bool = False
    #: Below which path a proxy has the sidecar.
    prefix: str = ""

    @classmethod
    def of(cls, socket_path: Optional[str], url: Optional[str]) -> "Address":
        if (socket_path is None) == (url is None):
            raise SidecarError("INVALID_CONFIG", "Give either socket_path or url")
        if url is None:
            return cls(os.fspath(socket_path or ""))
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SidecarError("INVALID_CONFIG", f"The URL of a sidecar is http://HOST:PORT or https://…, not {url}")
        tls = parts.scheme == "https"
        return cls(None, parts.hostname, parts.port or (443 if tls else 80), tls, parts.path.rstrip("/"))

    @property
    def endpoint(self) -> str:
        return f"unix:{self.socket_path}" if self.socket_path is not None else f"tcp://{self.host}:{self.port}"

    def exists(self) -> bool:
        """Whether there may be a listener. NOT_READY if something else has the socket's name."""
        if self.socket_path is None:
            return True
        try:
            mode = os.stat(self.socket_path).st_mode
        except FileNotFoundError:
            return False
        except OSError as error:
            raise SidecarError("NOT_READY", f"Cannot look at {self.socket_path}: {error.strerror}") from error
        if not stat.S_ISSOCK(mode):
            raise SidecarError("NOT_READY", f"Socket path exists and is not a socket: {self.socket_path}")
        return True

    def not_ready(self) -> SidecarError:
        return SidecarError("NOT_READY", f"Timed out waiting for coding sidecar at {self.endpoint}")

    def cannot_connect(self, error: OSError) -> SidecarError:
        return SidecarError("NOT_READY", f"Cannot connect to the sidecar at {self.endpoint}: {error}")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: Optional[bytes] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The call changes nothing, so it may be sent again if the connection is lost.
    repeatable: bool = False


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


HEALTH = Request("GET", "/health")


def make_request(method: str, path: str, args: Mapping[str, Any], session: Optional[str] = None,
                 repeatable: bool = False) -> Request:
    """The request for an operation: its arguments become path, query or body. None means absent."""
    rest = {name: value for name, value in args.items() if value is not None}

    def fill(match: "re.Match[str]") -> str:
        return urllib.parse.quote(str(rest.pop(match[1])), safe="")

    path = re.sub(r"\{(\w+)\}", fill, path)
    if method == "GET":
        query = urllib.parse.urlencode(rest)
        return Request(method, f"{path}?{query}" if query else path, repeatable=repeatable)
    return Request(method, path, body_of(rest, session), JSON, repeatable)


def events_request(since: Union[int, str, None]) -> Request:
    request = make_request("GET", "/events", {"since": since}, repeatable=True)
    return dataclasses.replace(request, headers={"Accept": "application/x-ndjson"})


JSON = {"Content-Type": "application/json"}


def body_of(value: Mapping[str, Any], session: Optional[str]) -> bytes:
    return json.dumps({"sessionId": session, **value} if session is not None else value).encode()


def lost(error: Optional[BaseException] = None) -> SidecarError:
    failure = SidecarError("CONNECTION_LOST", "The connection to the sidecar was lost")
    failure.__cause__ = error
    return failure


def timed_out(seconds: Optional[float]) -> SidecarError:
    return SidecarError("TIMED_OUT", f"The sidecar did not answer within {seconds} s")


# --- answers ---

def content_of(answer: Answer) -> Any:
    """The JSON of an answer; any status but 200 is an error."""
    if answer.status != 200:
        raise error_of_answer(answer.status, answer.body)
    return parse(answer.body)


def parse(text: Union[str, bytes]) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise SidecarError("BAD_ANSWER", "The answer is not JSON") from error


def result_of(want: Any, answer: Answer) -> Any:
    """The result of an operation as ``want``: without its envelope, objects as dataclasses."""
    if want is str and answer.status == 200:
        return answer.body.decode("utf-8", "replace")
    content = content_of(answer)
    if isinstance(content, dict) and content.get("ok") is True and "result" in content:
        content = content["result"]
    return decode(want, content)


def decode(want: Any, value: Any) -> Any:
    """JSON as the type ``want``. Members that it does not know are left out, or are in its ``more``."""
    origin = typing.get_origin(want)
    if origin is list and isinstance(value, list):
        return [decode(typing.get_args(want)[0], one) for one in value]
    if origin is Union:
        return None if value is None else decode(_variant(typing.get_args(want), value), value)
    if not dataclasses.is_dataclass(want) or not isinstance(value, dict):
        return value
    hints = _hints(want)
    members = {_python_name(name): one for name, one in value.items()}
    known = {name: decode(hints[name], one) for name, one in members.items() if name in hints}
    if "more" in hints:
        known["more"] = {name: one for name, one in value.items() if _python_name(name) not in hints}
    try:
        return want(**known)
    except TypeError as error:
        raise SidecarError("BAD_ANSWER", f"The answer is not a {want.__name__}: {error}") from error


@functools.lru_cache(maxsize=None)
def _hints(want: Any) -> Dict[str, Any]:
    return typing.get_type_hints(want)


def _variant(options: Sequence[Any], value: Any) -> Any:
    """Of the variants of a union the one whose ``type`` the value has."""
    options = [one for one in options if one is not type(None)]
    for one in options:
        if dataclasses.is_dataclass(one) and isinstance(value, dict) and "type" in value and \
                value["type"] in typing.get_args(_hints(one).get("type")):
            return one
    return options[0]


def _python_name(name: str) -> str:
    """``totalLines`` as ``total_lines``."""
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
    return "from_" if snake == "from" else snake


# --- commands ---

@dataclass(frozen=True)
class BashOutput:
    """A piece of a command's output."""

    stream: Literal["stdout", "stderr"]
    data: str


@dataclass(frozen=True)
class BashDone:
    """The end of a command: ``exit_code`` is -1 after a timeout, 128+n if signal n ended it."""

    exit_code: int
    timed_out: bool = False


BashEvent = Union[BashOutput, BashDone]


@dataclass
class BashResult:
    exit_code: int = -1
    timed_out: bool = False
    stdout: str = ""
    stderr: str = ""
    #: Whether there was more output than ``max_output``.
    truncated: bool = False


OnText = Optional[Callable[[str], None]]


class Collector:
    """Makes a BashResult of events."""

    def __init__(self, on_stdout: OnText, on_stderr: OnText, max_output: int) -> None:
        self.result = BashResult()
        self._kept: Dict[str, List[str]] = {"stdout": [], "stderr": []}
        self._room = {"stdout": max_output, "stderr": max_output}
        self._told = {"stdout": on_stdout, "stderr": on_stderr}

    def take(self, event: BashEvent) -> None:
        if isinstance(event, BashDone):
            self.result.exit_code, self.result.timed_out = event.exit_code, event.timed_out
            self.result.stdout, self.result.stderr = ("".join(self._kept[name]) for name in ("stdout", "stderr"))
            return
        tell = self._told[event.stream]
        if tell is not None:
            tell(event.data)
        self._kept[event.stream].append(event.data[:self._room[event.stream]])
        self.result.truncated |= len(event.data) > self._room[event.stream]
        self._room[event.stream] = max(self._room[event.stream] - len(event.data), 0)


def bash_arguments(command: Union[str, Sequence[str]], *, timeout_seconds: Optional[float], cwd: Optional[str],
                   env: Optional[Mapping[str, str]], stdin: Union[str, bytes, None]) -> Dict[str, Any]:
    """The body of /bash. A command in one string is for a shell; a sequence is a program and its arguments."""
    args: Dict[str, Any] = {"timeoutSeconds": timeout_seconds, "cwd": cwd, "env": None if env is None else dict(env)}
    if isinstance(command, str):
        args["command"] = command
    else:
        args["argv"] = list(command)
    if isinstance(stdin, bytes):
        args.update(stdin=base64.b64encode(stdin).decode("ascii"), stdinEncoding="base64")
    elif stdin is not None:
        args["stdin"] = stdin
    return args


def bash_event(line: bytes) -> BashEvent:
    event = parse(line)
    if event["type"] == "delta":
        return BashOutput(event["stream"], event["data"])
    if event["type"] == "done":
        return BashDone(event["exitCode"], event.get("timedOut", False))
    raise SidecarError(event.get("code", "EXECUTION_ERROR"), event["message"], status=200)


# --- the Model Context Protocol ---

@dataclass(frozen=True)
class McpAnswer:
    #: The JSON-RPC message; None after a notification.
    message: Any
    #: After ``initialize``: the session, for later messages.
    session_id: Optional[str]


def mcp_request(message: Any, session_id: Optional[str], headers: Optional[Mapping[str, str]]) -> Request:
    session = {} if session_id is None else {"Mcp-Session-Id": session_id}
    return Request("POST", "/mcp", json.dumps(message).encode(),
                   {**JSON, "Accept": "application/json", **session, **(headers or {})})


def mcp_answer(answer: Answer) -> McpAnswer:
    if answer.status == 401 or answer.status >= 500:
        raise error_of_answer(answer.status, answer.body)
    return McpAnswer(parse(answer.body) if answer.body else None, answer.headers.get("mcp-session-id"))


def end_session_request(session_id: str) -> Request:
    return Request("DELETE", "/mcp", headers={"Mcp-Session-Id": session_id})


def check_ended(answer: Answer) -> None:
    if answer.status >= 300:
        raise error_of_answer(answer.status, answer.body)
