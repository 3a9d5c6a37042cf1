"""Starts the real binary on a temporary socket and workspace, and talks to it.

Every black-box test uses this: `Sidecar` is the server, `SidecarTest` a unittest case that has one.
The binary is the one named by SIDECAR_BIN (default: build/sidecar). Every answer to request() and send() is held
against the OpenAPI document of the binary. A server that crashes, or ends with another status than a test expects,
fails the test that closes it.
"""
import atexit
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from contract import Contract

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.path.abspath(os.environ.get("SIDECAR_BIN", str(ROOT / "build" / "sidecar")))
PATIENCE = 90  # seconds after which something is taken never to happen; a busy machine needs some of them

sys.path.append(str(ROOT / "tests"))
import machine  # noqa: E402, pylint: disable=wrong-import-position


def until(found, what, seconds=PATIENCE):
    """Asks again and again until found() returns something true, and returns that."""
    deadline = time.monotonic() + seconds
    while not (got := found()):
        assert time.monotonic() < deadline, "never happened: %s" % (what() if callable(what) else what)
        time.sleep(0.01)
    return got


def listens(path):
    """Whether a server takes connections there: there is a socket before it does."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
        s.connect(str(path))
        return True
    return False


TOOK = r"[\d.]+ m?s"  # how long something took, in words: on a busy machine everything may take seconds


def given_time(begun, call, ms=300):
    """What call(ms) returns for a limit that is long enough here: begun(it) says whether what comes before it was done."""
    while not begun(got := call(ms)) and ms < 1000 * PATIENCE:
        ms *= 4
    return got


STATE = tempfile.mkdtemp(prefix="sidecar-state-")  # where servers keep changes, unless a test says otherwise
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
os.environ["XDG_STATE_HOME"] = STATE
RUNTIME = tempfile.mkdtemp(prefix="sidecar-run-")  # where sidecars find each other
atexit.register(shutil.rmtree, RUNTIME, ignore_errors=True)
os.environ["XDG_RUNTIME_DIR"] = RUNTIME


def environment(**more):
    """What a program gets of our environment: the settings of a user must not change a test."""
    keep = ("PATH", "HOME", "LANG", "TERM", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "SIDECAR_OBSERVE")
    return {**{name: os.environ[name] for name in keep if name in os.environ}, "XDG_STATE_HOME": STATE,
            "XDG_RUNTIME_DIR": RUNTIME, "SIDECAR_CACHE": "off", **more}


def is_sanitized():
    """Whether the binary is built with a sanitizer, whose memory is not ours to judge."""
    data = pathlib.Path(BIN).read_bytes()
    return b"__asan_init" in data or b"__tsan_init" in data


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=30):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


def read_answer(stream, method="POST"):
    """The next answer on a connection (sock.makefile("rb")); None when it has ended."""
    line = stream.readline()
    if not line:
        return None
    version, status, _ = line.decode("latin-1").split(" ", 2)
    if version != "HTTP/1.1":
        raise ValueError("not an answer: %r" % line)
    headers = {}
    while (line := stream.readline()) not in (b"\r\n", b""):
        name, value = line.decode("latin-1").split(":", 1)
        headers[name.strip().lower()] = value.strip()
    size = 0 if method == "HEAD" or status[0] == "1" else int(headers.get("content-length", 0))
    return Answer(int(status), headers, stream.read(size))


def post(url, body=b"", headers=""):
    """The bytes of a request."""
    body = body.encode() if isinstance(body, str) else body
    head = ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Content-Length: %d\r\n%s\r\n" % (url, len(body), headers))
    return head.encode() + body


CONTRACTS = {}  # by surface


def contract_of(surface):
    """What the binary says of itself, asked once, of a server that no test has touched."""
    if surface not in CONTRACTS:
        CONTRACTS[surface] = None  # for the server that is asked
        server = Sidecar(env={"SIDECAR_SURFACE": surface} if surface else {})
        try:
            CONTRACTS[surface] = Contract(server.request("GET", "/openapi.json").json())
        finally:
            server.close()
    return CONTRACTS[surface]


class Sidecar:
    """One running server. `env` and `flags` are added to the defaults."""

    def __init__(self, env=None, flags=(), workspace=None, socket_path=True, wait=True, prefix=()):
        self.prefix = list(prefix)  # a program that starts the server
        self.dir = tempfile.mkdtemp(prefix="sidecar-test-")
        self.workspace = os.path.realpath(workspace or os.path.join(self.dir, "ws"))
        os.makedirs(self.workspace, exist_ok=True)
        self.socket = os.path.join(self.dir, "s.sock")
        self.log_path = os.path.join(self.dir, "log")
        self.env = environment(XDG_CONFIG_HOME=self.dir, XDG_STATE_HOME=os.path.join(self.dir, "state"),
                               WORKSPACE_ROOT=self.workspace)
        if socket_path:
            self.env["SOCKET_PATH"] = self.socket
        self.env.update(env or {})
        self.socket = self.env.get("SOCKET_PATH", self.socket)
        self.flags = list(flags)
        self.surface = self.env.get("SIDECAR_SURFACE", "")
        self.process = None
        try:
            self.start(wait)
        except RuntimeError:
            self.process.kill()
            self.process.wait()
            shutil.rmtree(self.dir, ignore_errors=True)
            raise

    def start(self, wait=True):
        self.expected = {0}  # exit statuses
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([*self.prefix, BIN, "serve", *self.flags], env=self.env, stderr=log,
                                            stdout=log, stdin=subprocess.DEVNULL)
        if wait:
            until(self.is_serving, lambda: "the server listens: " + self.log())

    def is_serving(self):
        """Whether it answers: one that cannot have its sandbox ends while a client waits to be served."""
        if self.process.poll() is not None:
            raise RuntimeError("server ended: " + self.log())
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
            s.connect(self.socket)
            s.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return bool(s.recv(1))
        return False

    def log(self):
        return pathlib.Path(self.log_path).read_text(errors="replace")

    def log_lines(self):
        return [json.loads(line) for line in self.log().split("\n")[:-1] if line.startswith("{")]

    def wait_for_log(self, wanted):
        """The first log line for which wanted(line) is true; lines are written a little later."""
        return until(lambda: next((line for line in self.log_lines() if wanted(line)), None),
                     lambda: "a line in the log: " + self.log())

    def stop(self, how=signal.SIGTERM):
        """Ends the server and returns its exit status."""
        if self.process.poll() is None:
            if how == signal.SIGKILL:
                self.expected = {-signal.SIGKILL}
            self.process.send_signal(how)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def close(self):
        """Ends the server, if it still runs; fails unless its end was the expected one."""
        if not os.path.exists(self.dir):
            return
        try:
            status = self.stop()
            assert status in self.expected, "the server ended with status %d: %s" % (status, self.log())
            assert "Sanitizer" not in self.log(), self.log()
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.workspace, name)

    def put(self, name, content, mode=None):
        full = self.path(name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            os.chmod(full, mode)
        return full

    def get(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def connect(self, timeout=30):
        """A raw connected socket."""
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        s.settimeout(timeout)
        s.connect(self.socket)
        return s

    def send(self, data, half_close=False, timeout=30):
        """Sends bytes on a connection of their own; the first answer, and all that came behind it."""
        with self.connect(timeout) as s, s.makefile("rb") as stream:
            with contextlib.suppress(BrokenPipeError):
                s.sendall(data)
            if half_close:
                s.shutdown(socket.SHUT_WR)
            answer = read_answer(stream)
            self.check_raw(data, answer)
            with contextlib.suppress(ConnectionResetError):
                return answer, stream.read()
            return answer, b""

    def rss(self, field="VmRSS"):
        """Kilobytes of memory in use."""
        for line in pathlib.Path("/proc/%d/status" % self.process.pid).read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        raise RuntimeError(field)

    def request(self, method, url, body=None, headers=None, timeout=60):
        connection = UnixConnection(self.socket, timeout)
        with contextlib.closing(connection):
            connection.request(method, url, body, headers or {})
            r = connection.getresponse()
            answer = Answer(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read())
        self.check(method, url, answer)
        return answer

    def check(self, method, url, answer):
        """Fails unless the answer is what the OpenAPI document says, and a browser takes it for nothing else."""
        assert answer.headers.get("x-content-type-options") == "nosniff", (method, url, answer.headers)
        contract = contract_of(self.surface)
        if contract:
            contract.check(method, url, answer)

    def check_raw(self, data, answer):
        """The same for the bytes of a request, if they begin with one whose answer is all there."""
        line = re.match(rb"([A-Z]+) (/[!-~]*) HTTP/1\.[01]\r\n", data)
        if line and answer and answer.status >= 200 and "content-length" in answer.headers:
            self.check(line[1].decode(), line[2].decode(), answer)

    def call(self, tool, headers=None, timeout=60, **arguments):
        """POST /<tool> with the arguments; the Answer."""
        all_headers = {"Content-Type": "application/json", **(headers or {})}
        return self.request("POST", "/" + tool, json.dumps(arguments), all_headers, timeout)

    def result(self, tool, **arguments):
        """The result of a call that must succeed."""
        answer = self.call(tool, **arguments)
        body = answer.json()
        assert answer.status == 200 and body["ok"], body
        return body["result"]

    def observe(self, tool, timeout=60, **arguments):
        """The observation of a model's call: POST /tools/<tool>."""
        answer = self.call("tools/" + tool, timeout=timeout, **arguments)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json()

    def output(self, tool, timeout=60, **arguments):
        """The output of a model's call that must succeed."""
        seen = self.observe(tool, timeout=timeout, **arguments)
        assert set(seen) - {"changes", "denied", "denied_count"} == {"success", "tool", "output", "error"}, seen
        assert seen["success"] is True and seen["tool"] == tool and seen["error"] is None, seen
        return seen["output"]

    def failure(self, tool, timeout=60, **arguments):
        """(code, message) of a model's call that must fail."""
        seen = self.observe(tool, timeout=timeout, **arguments)
        assert set(seen) - {"changes"} == {"success", "tool", "output", "error"}, seen
        assert seen["success"] is False and seen["tool"] == tool and seen["output"] is None, seen
        return seen["error"]["code"], seen["error"]["message"]

    def error(self, tool, **arguments):
        """(code, sentence) of a call that must fail."""
        answer = self.call(tool, **arguments)
        body = answer.json()
        assert answer.status == 400 and body["ok"] is False, body
        return body["code"], body["error"]


class SidecarTest(unittest.TestCase):
    """A test case with a server of its own for each test; `server` is shared by a class."""

    env = {}
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Sidecar(env=cls.env, flags=cls.flags)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def start(self, **options):
        server = Sidecar(**options)
        self.addCleanup(server.close)
        return server


needs_sandbox = unittest.skipUnless(machine.landlock(), "this kernel has no Landlock")
needs_namespaces = unittest.skipUnless(machine.namespaces(), "this machine gives no namespaces")
needs_two_users = unittest.skipUnless(machine.two_users(), "needs root and setpriv to become another user")


@needs_sandbox
class SandboxTest(SidecarTest):
    """The same with commands in the sandbox."""

    env = {"SIDECAR_SANDBOX": "workspace"}


def run_expecting_failure(env=None, flags=()):
    """Starts a server that must refuse to start: (status, stderr)."""
    done = subprocess.run([BIN, "serve", *flags], env=environment(**(env or {})), timeout=PATIENCE,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, done.stderr.decode(errors="replace")


if __name__ == "__main__":
    raise SystemExit("this is a module; run the test files")
