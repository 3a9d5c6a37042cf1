# SPDX-License-Identifier: MIT
"""The real program in a workspace of its own, for the tests of this folder. SIDECAR_BIN names it."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import unittest.mock

TOP = pathlib.Path(__file__).resolve().parents[3]
os.environ.setdefault("SIDECAR_BIN", str(TOP / "build/sidecar"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def running(text):
    """Whether a process has this text in its command line."""
    return subprocess.run(["pgrep", "-f", text], check=False, capture_output=True).stdout != b""


class MadeToken:
    """The token that a server keeps in a file while it listens at that port, as tests/api/test_tcp.py sees it do."""

    def __init__(self, test, port):
        folder = tempfile.TemporaryDirectory(prefix="sidecar-python-")
        test.addCleanup(folder.cleanup)
        changed = unittest.mock.patch.dict(os.environ, XDG_RUNTIME_DIR=folder.name)
        changed.start()
        test.addCleanup(changed.stop)
        self.file = pathlib.Path(folder.name, "sidecar", f"tcp-127.0.0.1-{port}.token")
        self.file.parent.mkdir(mode=0o700)

    def write(self, text):
        self.file.write_text(text, encoding="ascii")


class Place:
    """A directory with a workspace in it, and the servers that serve it; all of it goes with the test."""

    def __init__(self, test):
        folder = tempfile.TemporaryDirectory(prefix="sidecar-python-")
        test.addCleanup(folder.cleanup)
        self.test = test
        self.workspace = pathlib.Path(folder.name).resolve() / "ws"
        self.workspace.mkdir()
        self.socket_path = str(self.workspace.parent / "s")
        self.state = str(self.workspace.parent / "state")

    def serve(self, *flags, **env):
        words = [os.environ["SIDECAR_BIN"], "serve", "--workspace", str(self.workspace), "--socket", self.socket_path,
                 "--grace", "0", *flags]
        server = subprocess.Popen(words, env={**os.environ, "XDG_STATE_HOME": self.state, **env},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.test.addCleanup(self.stop, server)
        return server

    @staticmethod
    def stop(server, how=signal.SIGTERM):
        server.send_signal(how)
        server.wait()


class Recorder:
    """Which public methods of a class the tests have called."""

    def __init__(self, kind):
        self.names = {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))}
        self.called = set()
        for name in self.names:
            setattr(kind, name, self._recording(name, getattr(kind, name)))

    def _recording(self, name, method):
        def call(*args, **keywords):
            self.called.add(name)
            return method(*args, **keywords)
        return call

    def missing(self):
        return sorted(self.names - self.called)
