# SPDX-License-Identifier: MIT
"""The program that comes with the package."""

import os
import pathlib
import shutil
import subprocess
import sysconfig
import tempfile
import time
from typing import Any, Optional, Sequence

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
    """A sidecar for this process alone, on one directory; for a ``with`` statement, which ends it.

        with PrivateSidecar("project") as client:
            print(client.read("README.md").content)
    """

    def __init__(self, directory: str, *, args: Sequence[str] = (), wait_for_ready: float = wire.WAIT_SECONDS) -> None:
        self._directory, self._args, self._wait = os.fspath(directory), list(args), wait_for_ready
        self._folder: Optional["tempfile.TemporaryDirectory[str]"] = None
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._client: Optional[Client] = None
        self.socket_path = ""

    def start(self) -> Client:
        self._folder = tempfile.TemporaryDirectory(prefix="coding-sidecar-")
        self.socket_path = os.path.join(self._folder.name, "s")
        log_path = os.path.join(self._folder.name, "log")
        words = [program_path(), "serve", "--workspace", self._directory, "--socket", self.socket_path,
                 "--socket-mode", "0600", *self._args]
        with open(log_path, "wb") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
        self._client = Client(self.socket_path, wait_for_ready=self._wait)
        end = time.monotonic() + self._wait
        while True:
            if self._process.poll() is not None:
                said = pathlib.Path(log_path).read_text(encoding="utf-8", errors="replace")[-2000:].strip()
                self.stop()
                raise SidecarError("SPAWN_FAILED", f"The sidecar did not start: {said}")
            try:
                self._client.wait_for_ready(0)
                return self._client
            except SidecarError:
                if time.monotonic() >= end:
                    self.stop()
                    raise
                time.sleep(0.01)

    def stop(self) -> None:
        """End the sidecar and everything that it started."""
        if self._client is not None:
            self._client.close()
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
        if self._folder is not None:
            self._folder.cleanup()
        self._client = self._process = self._folder = None

    def __enter__(self) -> Client:
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()
