# SPDX-License-Identifier: MIT
"""The client for asyncio. Cancelling a task ends its call; a command is ended with everything that it started."""

import asyncio
import json
import ssl
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import quote

from . import models, wire
from .errors import SidecarError, error_of_answer
from .operations import READ_ONLY_TOOLS, AsyncOperations, SidecarEvent
from .wire import Address, Answer, BashDone, BashEvent, BashResult, McpAnswer, OnText, Request

T = TypeVar("T")
LONGEST_LINE = 1 << 26


class _Exchange:
    """One request on a connection of its own, and its answer piece by piece."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout: Optional[float]) -> None:
        self._reader, self._writer, self._timeout = reader, writer, timeout
        self.status = 0
        self.headers: Dict[str, str] = {}

    @classmethod
    async def begin(cls, address: Address, request: Request, headers: Mapping[str, str],
                    timeout: Optional[float]) -> "_Exchange":
        try:
            if address.socket_path is not None:
                opening = asyncio.open_unix_connection(address.socket_path, limit=LONGEST_LINE)
            else:
                context = ssl.create_default_context() if address.tls else None
                opening = asyncio.open_connection(address.host, address.port, limit=LONGEST_LINE, ssl=context)
            exchange = cls(*await asyncio.wait_for(opening, timeout), timeout)
        except asyncio.TimeoutError as error:
            raise wire.timed_out(timeout) from error
        except OSError as error:
            raise address.cannot_connect(error) from error
        try:
            await exchange._send(address, request, headers)
        except BaseException:
            exchange.close()
            raise
        return exchange

    async def _send(self, address: Address, request: Request, headers: Mapping[str, str]) -> None:
        host = "localhost" if address.socket_path is not None else f"{address.host}:{address.port}"
        lines = {"Host": host, "Connection": "close", **headers, **request.headers}
        if request.body is not None:
            lines["Content-Length"] = str(len(request.body))
        head = f"{request.method} {address.prefix}{request.path} HTTP/1.1\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        try:
            self._writer.write(head.encode("ascii") + b"\r\n" + (request.body or b""))
            await self._writer.drain()
        except OSError as error:
            raise wire.lost(error) from error
        while self.status < 200:  # interim answers come before the final one
            status = (await self._line()).split(b" ", 2)
            if len(status) < 2 or not status[0].startswith(b"HTTP/1.") or not status[1].isdigit():
                raise SidecarError("BAD_ANSWER", "The answer is not HTTP")
            self.status = int(status[1])
            self.headers = await self._fields()

    async def _fields(self) -> Dict[str, str]:
        fields: Dict[str, str] = {}
        while True:
            line = (await self._line()).decode("latin-1").strip()
            if not line:
                return fields
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body. CONNECTION_LOST if it ends early."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while True:
                size = int((await self._line()).split(b";")[0], 16)
                if size == 0:
                    await self._fields()
                    return
                yield await self._within(self._reader.readexactly(size))
                await self._line()
        else:
            left = int(self.headers.get("content-length", "0"))
            while left > 0:
                piece = await self._within(self._reader.read(min(left, 65536)))
                if not piece:
                    raise wire.lost()
                left -= len(piece)
                yield piece

    async def body(self) -> bytes:
        return b"".join([piece async for piece in self.pieces()])

    async def lines(self) -> AsyncIterator[bytes]:
        rest = b""
        async for piece in self.pieces():
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line.strip() and not line.startswith(b":"):
                    yield line

    def close(self) -> None:
        self._writer.transport.abort()

    async def _line(self) -> bytes:
        line = await self._within(self._reader.readline())
        if not line.endswith(b"\n"):
            raise wire.lost()
        return line

    async def _within(self, reading: Awaitable[bytes]) -> bytes:
        try:
            return await asyncio.wait_for(reading, self._timeout)
        except asyncio.TimeoutError as error:
            raise wire.timed_out(self._timeout) from error
        except (OSError, asyncio.IncompleteReadError) as error:
            raise wire.lost(error) from error
        except ValueError as error:
            raise SidecarError("BAD_ANSWER", f"The answer is not what a sidecar gives: {error}") from error


class AsyncClient(AsyncOperations):
    """As ``Client``, for asyncio. Every call has a connection of its own, so any number can run at once."""

    def __init__(self, socket_path: Optional[str] = None, *, url: Optional[str] = None, token: Optional[str] = None,
                 timeout: Optional[float] = None, wait_for_ready: float = 0, session: Optional[str] = None) -> None:
        wire.check_options(token, session, timeout=timeout, wait_for_ready=wait_for_ready)
        self._address = Address.of(socket_path, url)
        self._token = token
        self._timeout = timeout
        self._wait = wait_for_ready
        self._session = session

    def _headers(self) -> Dict[str, str]:
        return wire.token_header(self._token, self._address)

    @property
    def endpoint(self) -> str:
        """``unix:/path`` or ``tcp://host:port``."""
        return self._address.endpoint

    async def wait_for_ready(self, timeout: float = wire.WAIT_SECONDS) -> None:
        """Wait until the sidecar answers; one that starts late, or again, is waited for. NOT_READY after ``timeout``."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        readiness = wire.Readiness(self._address)
        while True:
            try:
                if readiness.is_ready(await self._exchange(wire.HEALTH, max(end - loop.time(), wire.POLL_SECONDS))):
                    return
            except SidecarError as error:
                if error.status is not None:
                    raise
                readiness.failed(error)
            if loop.time() >= end:
                raise readiness.timed_out()
            await asyncio.sleep(wire.POLL_SECONDS)

    async def bash(self, command: Union[str, Sequence[str]], *, timeout_seconds: Optional[float] = None,
                   cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None,
                   stdin: Union[str, bytes, None] = None, on_stdout: OnText = None, on_stderr: OnText = None,
                   max_output: int = wire.MAX_OUTPUT, timeout: Optional[float] = None) -> BashResult:
        """Run a command and return all of its output; a sequence is a program and its arguments, without a shell.

        At most ``max_output`` characters are kept of each stream; the callbacks get everything.
        """
        collector = wire.Collector(on_stdout, on_stderr, max_output)
        async for event in self.bash_stream(command, timeout_seconds=timeout_seconds, cwd=cwd, env=env, stdin=stdin,
                                            timeout=timeout):
            collector.take(event)
        return collector.result

    async def bash_stream(self, command: Union[str, Sequence[str]], *, timeout_seconds: Optional[float] = None,
                          cwd: Optional[str] = None, env: Optional[Mapping[str, str]] = None,
                          stdin: Union[str, bytes, None] = None,
                          timeout: Optional[float] = None) -> AsyncIterator[BashEvent]:
        """Run a command: its output as it comes, then BashDone. Closing the iterator ends the command."""
        args = wire.bash_arguments(command, timeout_seconds=timeout_seconds, cwd=cwd, env=env, stdin=stdin)
        request = wire.make_request("POST", "/bash", args, self._session)
        exchange = await self._begin(request, timeout)
        try:
            event: Optional[BashEvent] = None
            async for line in exchange.lines():
                event = wire.bash_event(line)
                yield event
            if not isinstance(event, BashDone):
                raise wire.lost()
        except SidecarError as error:
            raise wire.of_call(error, exchange.headers.get("sidecar-call"))
        finally:
            exchange.close()

    async def start_job(self, command: Union[str, Sequence[str]], *, cwd: Optional[str] = None,
                        env: Optional[Mapping[str, str]] = None, stdin: Union[str, bytes, None] = None,
                        timeout: Optional[float] = None) -> str:
        """Start a command in the background; its id, for ``job`` and ``stop_job``."""
        args = wire.bash_arguments(command, timeout_seconds=None, cwd=cwd, env=env, stdin=stdin)
        started = await self._call(dict, "POST", "/bash", {**args, "background": True}, timeout, repeatable=False)
        return str(started["jobId"])

    async def events(self, *, since: Union[int, str, None] = None,
                     timeout: Optional[float] = None) -> AsyncIterator[SidecarEvent]:
        """What happens in the sidecar, as it happens: from now on, or after the event ``since``.

        That is ``BOOT-ID`` of an earlier stream (docs/undo.md). With ``wait_for_ready`` the stream goes on after a
        restart; a GapEvent says that events are missing.
        """
        reader = wire.EventReader(since)
        while True:
            exchange = await self._begin(reader.request(), timeout)
            try:
                async for line in exchange.lines():
                    yield reader(line)
            except SidecarError as error:
                if error.code != "CONNECTION_LOST" or self._wait <= 0:
                    raise
            finally:
                exchange.close()
            if self._wait <= 0:
                return
            await self.wait_for_ready(self._wait)

    async def tools(self, format: str = "openai", *, set: str = "core", timeout: Optional[float] = None) -> List[Any]:
        """Definitions of the tools in the form that a provider's request takes; "langchain": coroutine functions."""
        wanted = "openai" if format == "langchain" else format
        request = wire.make_request("GET", "/tools", {"format": wanted, "set": set}, repeatable=True)
        definitions: List[Any] = wire.content_of(await self._ask(request, timeout))
        if format != "langchain":
            return definitions

        async def run(name: str, args: Dict[str, Any]) -> str:
            return json.dumps(await self._observe(name, args, None))
        return [models.ToolFunction(one, run) for one in definitions]

    async def get_tool_by_name(self, name: str, format: str = "openai", *,
                         timeout: Optional[float] = None) -> Dict[str, Any]:
        """The definition of one tool, of any set; UNKNOWN_TOOL if there is none."""
        request = wire.make_request("GET", f"/tools/{quote(name, safe='')}", {"format": format}, repeatable=True)
        definition: Dict[str, Any] = wire.content_of(await self._ask(request, timeout))
        return definition

    async def is_path_allowed(self, path: str, *, timeout: Optional[float] = None) -> bool:
        """Whether a path may be used, after its links are followed. It need not exist."""
        try:
            await self.validate_path(path, timeout=timeout)
        except SidecarError as error:
            if error.status != 400:
                raise
            return False
        return True

    async def is_command_blocked(self, command: str, *, timeout: Optional[float] = None) -> bool:
        """Whether the command policy refuses a command. It is not run."""
        return (await self.policy(command, timeout=timeout)).blocked

    async def tool(self, name: str, timeout: Optional[float] = None, **args: Any) -> models.Observation:
        """Call one tool as a model would."""
        observation: models.Observation = wire.decode(models.Observation, await self._observe(name, args, timeout))
        return observation

    async def call_tool(self, call: Any, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Take a model's tool call as it came from the provider's library; the message to send back."""
        given = models.plain(call)
        if models.is_langchain(given):
            given = models.langchain_call(given)
        reply = models.reply_format(given)
        path = "/tools" if reply is None else f"/tools?reply={reply}"
        request = Request("POST", path, wire.body_of(given, self._session), wire.JSON)
        message: Dict[str, Any] = wire.content_of(await self._ask(request, timeout))
        return message

    async def mcp(self, message: Any, *, session_id: Optional[str] = None, headers: Optional[Mapping[str, str]] = None,
                  timeout: Optional[float] = None) -> McpAnswer:
        """Send one message of the Model Context Protocol."""
        return wire.mcp_answer(await self._ask(wire.mcp_request(message, session_id, headers), timeout))

    async def end_session(self, session_id: str, *, timeout: Optional[float] = None) -> None:
        """End a session of the Model Context Protocol."""
        wire.check_ended(await self._ask(wire.end_session_request(session_id), timeout))

    async def close(self) -> None:
        """Does nothing: no connection is kept. The sidecar goes on."""

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def _call(self, want: Any, method: str, path: str, args: Dict[str, Any], timeout: Optional[float],
                    repeatable: bool) -> Any:
        request = wire.make_request(method, path, args, self._session, repeatable)
        return wire.result_of(want, await self._ask(request, timeout))

    async def _observe(self, name: str, args: Dict[str, Any], timeout: Optional[float]) -> Any:
        path = wire.make_request("POST", "/tools/{name}", {"name": name}).path
        request = Request("POST", path, wire.body_of(args, self._session), wire.JSON, name in READ_ONLY_TOOLS)
        return wire.content_of(await self._ask(request, timeout))

    async def _ask(self, request: Request, timeout: Optional[float]) -> Answer:
        return await self._patiently(request, lambda: self._exchange(request, self._limit(timeout)))

    async def _begin(self, request: Request, timeout: Optional[float]) -> _Exchange:
        """The beginning of a stream."""
        async def begin() -> _Exchange:
            exchange = await _Exchange.begin(self._address, request, self._headers(), self._limit(timeout))
            if exchange.status == 200:
                return exchange
            try:
                raise error_of_answer(exchange.status, await exchange.body())
            finally:
                exchange.close()
        return await self._patiently(request, begin)

    def _limit(self, timeout: Optional[float]) -> Optional[float]:
        return self._timeout if timeout is None else timeout

    async def _patiently(self, request: Request, send: Callable[[], Awaitable[T]]) -> T:
        """Send again what was not sent, or may be repeated."""
        for attempt in range(1, wire.ATTEMPTS + 1):
            try:
                return await send()
            except SidecarError as error:
                unsent = error.code == "NOT_READY" and self._wait > 0
                repeat = error.code == "CONNECTION_LOST" and request.repeatable
                if attempt == wire.ATTEMPTS or not (unsent or repeat):
                    raise
            await self.wait_for_ready(self._wait)
        raise AssertionError("the last attempt returns or raises")

    async def _exchange(self, request: Request, timeout: Optional[float]) -> Answer:
        exchange = await _Exchange.begin(self._address, request, self._headers(), timeout)
        try:
            return Answer(exchange.status, exchange.headers, await exchange.body())
        finally:
            exchange.close()
