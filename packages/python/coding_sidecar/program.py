# SPDX-License-Identifier: MIT
"""The program that comes with the package."""

import contextlib
import os
import pathlib
import re
import selectors
import shutil
import subprocess
import sysconfig
import threading
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import wire
from .client import Client
from .errors import SidecarError


def program_path() -> str:
    """Path of the program: SIDECAR_BIN, the one that was installed with this package, or the one on the PATH."""
    installed = pathlib.Path(sysconfig.get_path("scripts"), "sidecar")
    user = pathlib.Path(sysconfig.get_path("scripts", f"{os.name}_user"), "sidecar")
    for path in (os.environ.get("SIDECAR_BIN"), installed, user):
        if path and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("sidecar")
    if found is None:
        raise SidecarError("SPAWN_FAILED", "There is no program 'sidecar': install coding-sidecar on Linux (x86-64 or "
                           "arm64), or set SIDECAR_BIN to its path")
    return found


class PrivateSidecar:
    """A sidecar for this process alone, on one directory; for a ``with`` statement, which lets go of it.

        with PrivateSidecar("project") as client:
            print(client.read("README.md").content)

    Those with the same directory and arguments share one. It ends when the last of them is stopped, or with this process,
    however that ends. A fork of this process has none of them, and may start its own.
    """

    def __init__(self, directory: str, *, args: Sequence[str] = (), wait_for_ready: float = wire.WAIT_SECONDS) -> None:
        self._directory, self._args, self._wait = os.fspath(directory), list(args), wait_for_ready
        self._server: Optional[_Server] = None
        self.socket_path = ""

    def start(self) -> Client:
        if self._server is None or not self._server.is_running():
            words = ["serve", "--private", "--workspace", os.path.abspath(self._directory), *self._args]
            self._server = _Server.join(words, self._wait)
            self.socket_path = self._server.socket_path
        return self._server.client

    def stop(self) -> None:
        """Let go of the sidecar. The last one to do so ends it, with everything that it started."""
        server, self._server = self._server, None
        if server is not None:
            server.leave()

    def __enter__(self) -> Client:
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()


class _Server:
    """A process ``sidecar serve --private``. It ends when its standard input does, and this process has the other end."""

    #: Held while one starts and while this process forks, so that every fork knows all of them.
    _lock = threading.Lock()
    _running: Dict[Tuple[str, ...], "_Server"] = {}

    @classmethod
    def join(cls, words: List[str], wait: float) -> "_Server":
        with cls._lock:
            words = [program_path(), *words]  # one at a time: sysconfig is not made for threads
            server = cls._running.get(tuple(words))
            if server is None or not server.is_running():
                server = cls._running[tuple(words)] = cls(words, wait)
            server._users += 1
            return server

    def __init__(self, words: List[str], wait: float) -> None:
        self._key, self._users = tuple(words), 0
        # It has a session of its own, because Ctrl-C in a terminal is for this process, which may go on.
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        self._process: Optional["subprocess.Popen[bytes]"] = process
        try:
            self.socket_path = _first_line(process, wait)
        except BaseException:
            _end(process)
            raise
        finally:
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        self.client = Client(self.socket_path)

    def is_running(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            self._clean_up(self._process)
        return self._process is not None

    def leave(self) -> None:
        """The last one who leaves ends it."""
        with self._lock:
            self._users -= 1
            if self._users > 0 or self._process is None:
                return
            if self._running.get(self._key) is self:
                del self._running[self._key]
        self.client.close()
        self._clean_up(self._process)

    def _clean_up(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = None
        _end(process)
        folder = os.path.dirname(self.socket_path)
        if re.fullmatch(r"coding-sidecar-\w{6}", os.path.basename(folder)):
            with contextlib.suppress(OSError):  # only one that was killed has left them
                os.unlink(self.socket_path)
                os.rmdir(folder)

    @classmethod
    def _forget(cls) -> None:
        """In a fork, which must not hold the sidecars of its parent."""
        for server in cls._running.values():
            process, server._process = server._process, None
            if process is not None and process.stdin is not None:
                process.stdin.close()
                process.returncode = 0  # it is not ours to wait for
        cls._running.clear()
        cls._lock.release()


os.register_at_fork(before=_Server._lock.acquire, after_in_parent=_Server._lock.release,
                    after_in_child=_Server._forget)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _first_line(process: "subprocess.Popen[bytes]", wait: float) -> str:
    """What the program says first, which is where it listens."""
    assert process.stdout is not None and process.stderr is not None
    line, end = b"", time.monotonic() + wait
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(end - time.monotonic(), 0)):
                raise SidecarError("NOT_READY", f"The sidecar did not start within {wait} s")
            piece = os.read(process.stdout.fileno(), 4096)
            if not piece:
                process.terminate()  # unless it has ended
                said = process.stderr.read().decode("utf-8", "replace")[-2000:].strip()
                raise SidecarError("SPAWN_FAILED", f"The sidecar did not start: {said or 'it said nothing'}")
            line += piece
    return os.fsdecode(line[:-1])
