# SPDX-License-Identifier: MIT
"""What both clients share: where a sidecar is, what goes over the wire, and what it means. Nothing here waits."""

import base64
import dataclasses
import functools
import ipaddress
import json
import math
import os
import re
import socket
import stat
import typing
import urllib.parse
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union

from .errors import SidecarError, error_of_answer
from .operations import BootEvent, SidecarEvent

POLL_SECONDS = 0.1
ATTEMPTS = 3
WAIT_SECONDS = 10.0
MAX_OUTPUT = 16 * 1024 * 1024


def _running_places() -> List[str]:
    """The directories in which running sidecars of this user may be entered."""
    runtime, uid = os.environ.get("XDG_RUNTIME_DIR", ""), os.geteuid()
    usual = f"/run/user/{uid}"
    if runtime.startswith("/") and runtime != usual:
        return [f"{runtime}/sidecar"]
    return [f"{usual}/sidecar", *(["/run/sidecar"] if uid == 0 else []), f"/tmp/sidecar-{uid}"]


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
            raise mistake(f"Give socket_path or url{'; neither is set' if url is None else ', not both'}")
        if url is None:
            if not isinstance(socket_path, (str, os.PathLike)) or not os.fspath(socket_path):
                raise mistake(f"socket_path must be a path that is not empty, not {socket_path!r}")
            return cls(os.fspath(socket_path))
        try:
            parts = urllib.parse.urlsplit(url)
            host, port = parts.hostname, parts.port
            (host or "").encode("idna")
        except (ValueError, AttributeError, TypeError):
            host, port = None, None
        if not host or parts.scheme not in ("http", "https"):
            raise mistake(f"url must be http://HOST:PORT or https://HOST:PORT, not {url!r}")
        tls = parts.scheme == "https"
        try:
            host = str(ipaddress.ip_address(host))
        except ValueError:
            pass
        return cls(None, host, port or (443 if tls else 80), tls, parts.path.rstrip("/"))

    @property
    def endpoint(self) -> str:
        return f"unix:{self.socket_path}" if self.socket_path is not None else f"tcp://{self.host}:{self.port}"

    def made_token(self) -> Optional[str]:
        """The token in the file that a server keeps while it listens at this address. Another program that listens there
        later can do nothing with it, because each server makes its own."""
        if self.socket_path is not None or self.tls:
            return None
        for place in _running_places():
            path = f"{place}/tcp-{self.host}-{self.port}.token"
            try:
                with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="ascii") as file:
                    at = os.fstat(file.fileno())
                    if stat.S_ISREG(at.st_mode) and at.st_uid == os.lstat(place).st_uid == os.geteuid():
                        found = re.fullmatch("[0-9a-f]{64}", file.read(65))
                        return found[0] if found else None
            except (OSError, ValueError):
                pass
        return None

    def cannot_connect(self, error: OSError) -> SidecarError:
        found = self.found()
        # The kernel answers the same for a socket without a server and for any other file.
        if found is not None and not stat.S_ISSOCK(found.st_mode):
            return SidecarError("NOT_READY", f"Socket path exists and is not a socket: {self.socket_path}")
        why = self.reason(error) or "there is no such socket"
        return SidecarError("NOT_READY", f"Cannot connect to the sidecar at {self.endpoint}: {why}")

    def found(self) -> Optional[os.stat_result]:
        """What is at the path of the socket; None if that cannot be seen."""
        try:
            return None if self.socket_path is None else os.stat(self.socket_path)
        except OSError:
            return None

    def reason(self, error: OSError) -> str:
        """Why a connection could not be made; "" if there is nothing at the path."""
        if isinstance(error, socket.gaierror):
            return f"the name is not known ({error.strerror})"
        numbers = set(re.findall(r"\[Errno (\d+)\]", str(error)))
        if error.errno is None and len(numbers) == 1:  # asyncio's words for several addresses that all fail so
            error = OSError(int(min(numbers)), os.strerror(int(min(numbers))))
        if isinstance(error, FileNotFoundError):
            return ""
        if isinstance(error, ConnectionRefusedError):
            return f"no server listens on the {'port' if self.socket_path is None else 'socket'}"
        if isinstance(error, PermissionError) and self.socket_path is not None:
            found = self.found()
            if found is None:
                return "permission denied: this user may not enter the socket's directory"
            return (f"permission denied: the socket is for user {found.st_uid} and group {found.st_gid} "
                    f"(mode {stat.S_IMODE(found.st_mode):04o})")
        if isinstance(error, BlockingIOError):
            return "the socket takes no more connections"
        return error.strerror or str(error)


def mistake(message: str) -> SidecarError:
    return SidecarError("INVALID_CONFIG", message)


def check_options(token: Any, session: Any, **seconds: Any) -> None:
    """That the options of a client are what they must be."""
    if token is not None and not (isinstance(token, str) and re.fullmatch("[!-~]+", token)):
        raise mistake("token must be visible ASCII characters without blanks")
    if session is not None and not isinstance(session, str):
        raise mistake(f"session must be a string, not {session!r}")
    for name, value in seconds.items():
        if value is not None and not (type(value) in (int, float) and 0 <= value < math.inf):
            raise mistake(f"{name} must be a number of seconds, 0 or more, not {value!r}")


def token_header(token: Optional[str], address: Address) -> Dict[str, str]:
    """The token that was given, else the one that the server has made for this user."""
    token = address.made_token() if token is None else token
    return {} if token is None else {"Authorization": f"Bearer {token}"}


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


class Readiness:
    """What is known while a client waits for a sidecar."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._why = ""

    def is_ready(self, answer: Answer) -> bool:
        if answer.status in (401, 403):
            raise error_of_answer(answer.status, answer.body)
        self._why = f"GET /health is answered with status {answer.status}"
        return answer.status == 200

    def failed(self, error: SidecarError) -> None:
        """Nothing has answered. Raises the error if there is no use in waiting."""
        cause, found = error.__cause__, self._address.found()
        if found is not None and not stat.S_ISSOCK(found.st_mode):
            raise error
        if error.code == "CONNECTION_LOST":
            self._why = "it closes connections without an answer"
        elif error.code == "TIMED_OUT":  # maybe it had no time left; then the attempt before says why
            self._why = self._why or "it accepts connections and does not answer"
        else:
            self._why = self._address.reason(cause) if isinstance(cause, OSError) else error.message

    def timed_out(self) -> SidecarError:
        reason = f": {self._why}" if self._why else ""
        return SidecarError("NOT_READY", f"Timed out waiting for coding sidecar at {self._address.endpoint}{reason}")


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


class EventReader:
    """Makes events of lines, and knows where to go on when the stream ends."""

    def __init__(self, since: Union[int, str, None]) -> None:
        self._since = since
        self._boot: Optional[str] = None

    def request(self) -> Request:
        request = make_request("GET", "/events", {"since": self._since}, repeatable=True)
        return dataclasses.replace(request, headers={"Accept": "application/x-ndjson"})

    def __call__(self, line: bytes) -> SidecarEvent:
        event: SidecarEvent = decode(SidecarEvent, parse(line))
        if isinstance(event, BootEvent):
            self._boot = event.boot
        number = event.event if isinstance(event, BootEvent) else getattr(event, "id", None)
        if self._boot is not None and number is not None:
            self._since = f"{self._boot}-{number}"
        return event


JSON = {"Content-Type": "application/json"}


def body_of(value: Mapping[str, Any], session: Optional[str]) -> bytes:
    return json.dumps({"sessionId": session, **value} if session is not None else value).encode()


def lost(error: Optional[BaseException] = None) -> SidecarError:
    failure = SidecarError("CONNECTION_LOST", "The connection to the sidecar was lost")
    failure.__cause__ = error
    return failure


def of_call(error: SidecarError, header: Optional[str]) -> SidecarError:
    """The error of a command that began, with the number of its call as the answer's header has it."""
    if header is not None and header.isdigit():
        error.details["call"] = int(header)
    return error


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
    headers = {"change": "sidecar-change", "notKept": "sidecar-not-kept"}
    told = {name: int(answer.headers[header]) for name, header in headers.items() if header in answer.headers}
    return decode(want, {**told, **content} if told else content)


def decode(want: Any, value: Any) -> Any:
    """JSON as the type ``want``. Members that it does not know are left out, or are in its ``more``."""
    origin = typing.get_origin(want)
    if origin is list and isinstance(value, list):
        return [decode(typing.get_args(want)[0], one) for one in value]
    if origin is Union:
        variant = None if value is None else _variant(typing.get_args(want), value)
        return value if variant is None else decode(variant, value)
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
    """Of the variants of a union the one whose ``type`` the value has; None if that is a newer one."""
    options = [one for one in options if one is not type(None)]
    for one in options:
        if dataclasses.is_dataclass(one) and isinstance(value, dict) and "type" in value and \
                value["type"] in typing.get_args(_hints(one).get("type")):
            return one
    return options[0] if len(options) == 1 else None


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
    #: The number of what it changed, for ``undo_change``, as far as commands are observed.
    change: Optional[int] = None
    #: A person stopped it.
    stopped: bool = False
    #: The time that it had, if the server allows no more than that.
    timeout_seconds: Optional[int] = None
    #: How many paths of ``change`` cannot be brought back.
    not_kept: int = 0


BashEvent = Union[BashOutput, BashDone]


@dataclass
class BashResult:
    exit_code: int = -1
    timed_out: bool = False
    stdout: str = ""
    stderr: str = ""
    #: Whether there was more output than ``max_output``.
    truncated: bool = False
    #: The number of what it changed, for ``undo_change``, as far as commands are observed.
    change: Optional[int] = None
    #: A person stopped it.
    stopped: bool = False
    #: The time that it had, if the server allows no more than that.
    timeout_seconds: Optional[int] = None
    #: How many paths of ``change`` cannot be brought back.
    not_kept: int = 0


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
            self.result.exit_code, self.result.timed_out, self.result.change = event.exit_code, event.timed_out, event.change
            self.result.stopped, self.result.timeout_seconds = event.stopped, event.timeout_seconds
            self.result.not_kept = event.not_kept
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
        return BashDone(event["exitCode"], event.get("timedOut", False), event.get("change"), event.get("stopped", False),
                        event.get("timeoutSeconds"), event.get("notKept", 0))
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
