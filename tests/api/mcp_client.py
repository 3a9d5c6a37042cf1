"""What both MCP tests need: messages, a client on pipes, and a look for processes that were left."""
import contextlib
import glob
import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import uuid

from harness import BIN, PATIENCE, environment, until

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def message(method, params=None, number=None, modern=False, token=None):
    """A JSON-RPC message as a dict."""
    whole = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        whole["id"] = number
    params = dict(params or {})
    meta = {**(META if modern else {}), **({} if token is None else {"progressToken": token})}
    if meta:
        params["_meta"] = meta
    if params:
        whole["params"] = params
    return whole


def call(number, tool, modern=False, token=None, **arguments):
    return message("tools/call", {"name": tool, "arguments": arguments}, number, modern, token)


def initialize(number=0, version="2025-11-25", client="test"):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": client, "version": "1"}}
    return message("initialize", params, number)


def output(answer):
    """The output of a call that must have succeeded; checks that the result stands there twice."""
    result = answer["result"]
    assert result["isError"] is False, answer
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"], answer
    return result["structuredContent"]["output"]


class Marked:
    """Commands that carry a mark in their environment, and whether any of them is alive."""

    def __init__(self):
        self.mark = "MCP_TEST_MARK=" + uuid.uuid4().hex

    def command(self, script):
        return "exec env %s sh -c %s" % (self.mark, shlex.quote("touch started; " + script))

    def alive(self):
        found = []
        for name in glob.glob("/proc/[0-9]*/environ"):
            with contextlib.suppress(OSError), open(name, "rb") as f:
                if self.mark.encode() in f.read().split(b"\0"):
                    found.append(name)
        return found

    def wait_until_gone(self):
        until(lambda: not self.alive(), lambda: "these end: %s" % self.alive())


def wait_for_file(path):
    until(lambda: os.path.exists(path), path)


class Stdio:
    """One `sidecar mcp` and its pipes. Lines are read by a thread as they come."""

    def __init__(self, *flags, env=None, cwd=None, results="structured"):
        self.dir = tempfile.mkdtemp(prefix="sidecar-test-")
        self.workspace = os.path.realpath(cwd or self.dir)
        self.process = subprocess.Popen([BIN, "mcp", "--mcp-results", results, *flags], cwd=self.workspace, env=environment(**(env or {})),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.ended = False  # seen by the test, which has judged the exit status
        self.lines = queue.Queue()
        self.errors = b""
        self.early = {}
        self.notes = []
        self.number = 100
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self.read_lines, self.read_errors)]
        for thread in self.threads:
            thread.start()

    def read_lines(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def read_errors(self):
        self.errors = self.process.stderr.read()

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages):
        self.write(b"".join(json.dumps(m).encode() + b"\n" for m in messages))

    def next(self):
        """The next message; None at the end of the output."""
        line = self.lines.get(timeout=PATIENCE)
        if line is None:
            return None
        assert line.endswith(b"\n"), line
        return json.loads(line)

    def take(self):
        """Take in the next message: answers are kept, notifications go to notes."""
        got = self.next()
        assert got is not None, "the output ended: " + self.errors.decode()
        if isinstance(got, list) or "method" not in got:
            self.early[None if isinstance(got, list) else got["id"]] = got
        else:
            self.notes.append(got)

    def answer(self, number):
        """The answer with that id."""
        while number not in self.early:
            self.take()
        return self.early.pop(number)

    def ask(self, method, params=None, modern=False):
        self.number += 1
        self.send(message(method, params, self.number, modern))
        return self.answer(self.number)

    def call(self, tool, **arguments):
        self.number += 1
        self.send(call(self.number, tool, **arguments))
        return self.answer(self.number)

    def end(self):
        """Waits for the process to end by itself; its exit status, which the caller judges."""
        self.ended = True
        return self.process.wait(PATIENCE)

    def close(self):
        """Ends it by the end of its input; fails unless it ends in order."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            raise
        finally:
            for thread in self.threads:
                thread.join(PATIENCE)
            self.process.stdout.close()
            self.process.stderr.close()
            shutil.rmtree(self.dir, ignore_errors=True)
        assert self.ended or status == 0, "ended with status %d: %s" % (status, self.errors.decode(errors="replace"))
