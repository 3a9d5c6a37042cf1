# SPDX-License-Identifier: MIT
"""The client that blocks."""

import http.client
import json
import socket
import threading
import time
from typing import Any, Callable, Dict, Generic, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union
from urllib.parse import quote

from . import models, wire
from .errors import SidecarError, error_of_answer
from .operations import READ_ONLY_TOOLS, Operations, SidecarEvent
from .wire import Address, Answer, BashDone, BashEvent, BashResult, McpAnswer, OnText, Request

T = TypeVar("T")


class _Connection(http.client.HTTPConnection):
    """HTTP over the socket of an address."""

    def __init__(self, address: Address, timeout: Optional[float]) -> None:
        super().__init__(address.host, address.port, timeout=timeout)
        self._address = address

    def connect(self) -> None:
        try:
            if self._address.socket_path is not None:
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.settimeout(self.timeout)
                self.sock.connect(self._address.socket_path)
            else:
                super().connect()
                if self._address.tls:
                    import ssl
                    context = ssl.create_default_context()
                    self.sock = context.wrap_socket(self.sock, server_hostname=self._address.host)
        except OSError as error:
            self.close()
            raise self._address.cannot_connect(error) from error


_Begun = Tuple[_Connection, http.client.HTTPResponse]


class Stream(Generic[T], Iterator[T]):
    """What comes, as it comes. ``close``, from any thread, ends the call; so does leaving its ``with`` block."""

    def __init__(self, begun: _Begun, make: Callable[[bytes], T], timeout: Optional[float],
                 again: Optional[Callable[[], _Begun]] = None) -> None:
        self._connection, self._answer = begun
        self._make = make
        self._timeout = timeout
        self._again = again  # goes on where it has ended
        self._closed = False
        self._last: Optional[T] = None

    def __iter__(self) -> "Stream[T]":
        return self

    def __next__(self) -> T:
        while True:
            if self._closed:
                raise StopIteration
            try:
                line = self._answer.readline()
            except (OSError, ValueError, AttributeError, http.client.HTTPException) as error:
                if isinstance(error, socket.timeout) or not self._resume():
                    raise self._failed(error) from error
                continue
            if not line:
                if self._resume():
                    continue
                self._end()
                raise StopIteration
            if line.strip() and not line.startswith(b":"):
                self._last = self._make(line)
                return self._last

    def close(self) -> None:
        self._closed = True
        sock = self._connection.sock
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)  # wakes a thread that reads
            except OSError:
                pass  # it is not connected any more
        self._connection.close()

    def __enter__(self) -> "Stream[T]":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _resume(self) -> bool:
        if self._again is None or self._closed:
            return False
        self._connection.close()
        self._connection, self._answer = self._again()
        if self._closed:
            self._connection.close()  # meanwhile; reading finds it
        return True

    def _end(self) -> None:
        cancelled = self._closed
        self.close()
        if cancelled:
            raise self._of_call(SidecarError("CANCELLED", "The call was cancelled"))
        if self._make is wire.bash_event and not isinstance(self._last, BashDone):
            raise self._of_call(wire.lost())

    def _failed(self, error: Exception) -> SidecarError:
        if self._closed:
            return self._of_call(SidecarError("CANCELLED", "The call was cancelled"))
        self.close()
        return self._of_call(wire.timed_out(self._timeout) if isinstance(error, socket.timeout) else wire.lost(error))

    def _of_call(self, error: SidecarError) -> SidecarError:
        return wire.of_call(error, self._answer.getheader("Sidecar-Call"))


class Client(Operations):
    """A sidecar that is already running. The client never starts or stops one. Threads may share it.

    socket_path, url: where the sidecar listens; give one of them.
    token: the bearer token. Without it, one that a server at a numeric address has made for this user is found.
    timeout: the longest silence in seconds, for every call that has no timeout of its own. Default: no limit.
    wait_for_ready: how many seconds a call waits for a sidecar that is not there (yet, or because it restarts).
    session: a name for this client in the log and in the read tracker.
    """

    def __init__(self, socket_path: Optional[str] = None, *, url: Optional[str] = None, token: Optional[str] = None,
                 timeout: Optional[float] = None, wait_for_ready: float = 0, session: Optional[str] = None) -> None:
        wire.check_options(token, session, timeout=timeout, wait_for_ready=wait_for_ready)
        self._address = Address.of(socket_path, url)
        self._token = token
        self._timeout = timeout
        self._wait = wait_for_ready
        self._session = session
        self._idle: List[_Connection] = []
        self._lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        """``unix:/path`` or ``tcp://host:port``."""
        return self._address.endpoint

    def wait_for_ready(self, timeout: float = wire.WAIT_SECONDS) -> None:
        """Wait until the sidecar answers; one that starts late, or again, is waited for. NOT_READY after ``timeout``."""
        end = time.monotonic() + timeout
        readiness = wire.Readiness(self._address)
        while True:
            try:
                if readiness.is_ready(self._exchange(wire.HEALTH, max(end - time.monotonic(), wire.POLL_SECONDS))):
                    return
            except SidecarError as error:
                if error.status is not None:
                    raise
                readiness.failed(error)
            if time.monotonic() >= end:
                raise readiness.timed_out()
            time.sleep(wire.POLL_SECONDS)

    def bash(self, command: Union[str, Sequence[str]], *, timeout_seconds: Optional[float] = None,
             cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None, stdin: Union[str, bytes, None] = None,
             on_stdout: OnText = None, on_stderr: OnText = None, max_output: int = wire.MAX_OUTPUT,
             timeout: Optional[float] = None) -> BashResult:
        """Run a command and return all of its output; a sequence is a program and its arguments, without a shell.

        At most ``max_output`` characters are kept of each stream; the callbacks get everything.
        """
        collector = wire.Collector(on_stdout, on_stderr, max_output)
        with self.bash_stream(command, timeout_seconds=timeout_seconds, cwd=cwd, env=env, stdin=stdin,
                              timeout=timeout) as events:
            for event in events:
                collector.take(event)
        return collector.result

    def bash_stream(self, command: Union[str, Sequence[str]], *, timeout_seconds: Optional[float] = None,
                    cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None,
                    stdin: Union[str, bytes, None] = None, timeout: Optional[float] = None) -> Stream[BashEvent]:
        """Run a command: its output as it comes, then BashDone. Closing the stream ends the command."""
        args = wire.bash_arguments(command, timeout_seconds=timeout_seconds, cwd=cwd, env=env, stdin=stdin)
        limit = self._limit(timeout)
        request = wire.make_request("POST", "/bash", args, self._session)
        return Stream(self._begin(request, limit), wire.bash_event, limit)

    def start_job(self, command: Union[str, Sequence[str]], *, cwd: Optional[str] = None,
                  env: Optional[Mapping[str, str]] = None, stdin: Union[str, bytes, None] = None,
                  timeout: Optional[float] = None) -> str:
        """Start a command in the background; its id, for ``job`` and ``stop_job``."""
        args = wire.bash_arguments(command, timeout_seconds=None, cwd=cwd, env=env, stdin=stdin)
        started = self._call(dict, "POST", "/bash", {**args, "background": True}, timeout, repeatable=False)
        return str(started["jobId"])

    def events(self, *, since: Union[int, str, None] = None, timeout: Optional[float] = None) -> Stream[SidecarEvent]:
        """What happens in the sidecar, as it happens: from now on, or after the event ``since``.

        That is ``BOOT-ID`` of an earlier stream (docs/undo.md). With ``wait_for_ready`` the stream goes on after a
        restart; a GapEvent says that events are missing.
        """
        reader, limit = wire.EventReader(since), self._limit(timeout)

        def again() -> _Begun:
            self.wait_for_ready(self._wait)
            return self._begin(reader.request(), limit)
        return Stream(self._begin(reader.request(), limit), reader, limit, again if self._wait > 0 else None)

    def tools(self, format: str = "openai", *, set: str = "core", timeout: Optional[float] = None) -> List[Any]:
        """Definitions of the tools in the form that a provider's request takes; "langchain": functions."""
        wanted = "openai" if format == "langchain" else format
        request = wire.make_request("GET", "/tools", {"format": wanted, "set": set}, repeatable=True)
        definitions: List[Any] = wire.content_of(self._ask(request, timeout))
        if format != "langchain":
            return definitions
        return [models.ToolFunction(one, lambda name, args: json.dumps(self._observe(name, args, None)))
                for one in definitions]

    def get_tool_by_name(self, name: str, format: str = "openai", *,
                         timeout: Optional[float] = None) -> Dict[str, Any]:
        """The definition of one tool, of any set; UNKNOWN_TOOL if there is none."""
        request = wire.make_request("GET", f"/tools/{quote(name, safe='')}", {"format": format}, repeatable=True)
        definition: Dict[str, Any] = wire.content_of(self._ask(request, timeout))
        return definition

    def is_path_allowed(self, path: str, *, timeout: Optional[float] = None) -> bool:
        """Whether a path may be used, after its links are followed. It need not exist."""
        try:
            self.validate_path(path, timeout=timeout)
        except SidecarError as error:
            if error.status != 400:
                raise
            return False
        return True

    def is_command_blocked(self, command: str, *, timeout: Optional[float] = None) -> bool:
        """Whether the command policy refuses a command. It is not run."""
        return (self.policy(command, timeout=timeout)).blocked

    def tool(self, name: str, timeout: Optional[float] = None, **args: Any) -> models.Observation:
        """Call one tool as a model would."""
        observation: models.Observation = wire.decode(models.Observation, self._observe(name, args, timeout))
        return observation

    def call_tool(self, call: Any, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Take a model's tool call as it came from the provider's library; the message to send back."""
        given = models.plain(call)
        if models.is_langchain(given):
            given = models.langchain_call(given)
        reply = models.reply_format(given)
        path = "/tools" if reply is None else f"/tools?reply={reply}"
        request = Request("POST", path, wire.body_of(given, self._session), wire.JSON)
        message: Dict[str, Any] = wire.content_of(self._ask(request, timeout))
        return message

    def mcp(self, message: Any, *, session_id: Optional[str] = None, headers: Optional[Mapping[str, str]] = None,
            timeout: Optional[float] = None) -> McpAnswer:
        """Send one message of the Model Context Protocol."""
        return wire.mcp_answer(self._ask(wire.mcp_request(message, session_id, headers), timeout))

    def end_session(self, session_id: str, *, timeout: Optional[float] = None) -> None:
        """End a session of the Model Context Protocol."""
        wire.check_ended(self._ask(wire.end_session_request(session_id), timeout))

    def close(self) -> None:
        """Close idle connections. The sidecar goes on."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _call(self, want: Any, method: str, path: str, args: Dict[str, Any], timeout: Optional[float],
              repeatable: bool) -> Any:
        return wire.result_of(want, self._ask(wire.make_request(method, path, args, self._session, repeatable), timeout))

    def _observe(self, name: str, args: Dict[str, Any], timeout: Optional[float]) -> Any:
        path = wire.make_request("POST", "/tools/{name}", {"name": name}).path
        request = Request("POST", path, wire.body_of(args, self._session), wire.JSON, name in READ_ONLY_TOOLS)
        return wire.content_of(self._ask(request, timeout))

    def _ask(self, request: Request, timeout: Optional[float]) -> Answer:
        return self._patiently(request, lambda: self._exchange(request, self._limit(timeout)))

    def _begin(self, request: Request, limit: Optional[float]) -> _Begun:
        """The beginning of a stream."""
        def begin() -> _Begun:
            connection = _Connection(self._address, limit)
            answer = self._send(connection, request, limit)
            if answer.status != 200:
                body = answer.read()
                connection.close()
                raise error_of_answer(answer.status, body)
            return connection, answer
        return self._patiently(request, begin)

    def _limit(self, timeout: Optional[float]) -> Optional[float]:
        return self._timeout if timeout is None else timeout

    def _patiently(self, request: Request, send: Callable[[], T]) -> T:
        """Send again what was not sent, or may be repeated."""
        for attempt in range(1, wire.ATTEMPTS + 1):
            try:
                return send()
            except SidecarError as error:
                unsent = error.code == "NOT_READY" and self._wait > 0
                repeat = error.code == "CONNECTION_LOST" and request.repeatable
                if attempt == wire.ATTEMPTS or not (unsent or repeat):
                    raise
            self.wait_for_ready(self._wait)
        raise AssertionError("the last attempt returns or raises")

    def _exchange(self, request: Request, timeout: Optional[float]) -> Answer:
        """One request and its whole answer, whatever its status.

        A kept connection may have been closed by a server that restarted, and then it is not known whether the request
        arrived. So what must not be repeated goes over a connection of its own; for the rest that was no attempt.
        """
        connection = self._kept() if request.repeatable else None
        if connection is not None:
            if connection.sock is not None:
                connection.sock.settimeout(timeout)
            try:
                return self._exchange_on(connection, request, timeout)
            except SidecarError as error:
                if error.code != "CONNECTION_LOST":
                    raise
            self.close()  # the others are as old
        return self._exchange_on(_Connection(self._address, timeout), request, timeout)

    def _exchange_on(self, connection: _Connection, request: Request, timeout: Optional[float]) -> Answer:
        try:
            answer = self._send(connection, request, timeout)
            body = answer.read()
        except socket.timeout as error:
            connection.close()
            raise wire.timed_out(timeout) from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise wire.lost(error) from error
        except BaseException:
            connection.close()
            raise
        if request.repeatable and not answer.will_close:
            with self._lock:
                self._idle.append(connection)
        else:
            connection.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)

    def _kept(self) -> Optional[_Connection]:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _send(self, connection: _Connection, request: Request, timeout: Optional[float]) -> http.client.HTTPResponse:
        try:
            connection.request(request.method, self._address.prefix + request.path, request.body,
                               {**wire.token_header(self._token, self._address), **request.headers})
            return connection.getresponse()
        except socket.timeout as error:
            connection.close()
            raise wire.timed_out(timeout) from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise wire.lost(error) from error
