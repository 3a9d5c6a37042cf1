"""Sockets of other programs are closed to sandboxed commands, with namespaces and without; their own are not.

All sockets are this test's own, in directories of its own.
"""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from harness import Sidecar, given_time, needs_namespaces, needs_sandbox

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]

NODE = "require('net').connect(process.argv[1]).on('data', d => { process.stdout.write(d); process.exit() })" \
       ".on('error', e => console.log(e.code))"

PYTHON = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint(s.recv(9).decode(), end='')\n"

C = r"""
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char text[9];
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	strncpy(a.sun_path, argv[argc - 1], sizeof a.sun_path - 1);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
		return perror("connect"), 1;
	return fwrite(text, 1, read(fd, text, sizeof text), stdout) == 0;
}
"""

TCP = """import select, socket, sys
port = int(sys.argv[1])
socket.create_connection(('127.0.0.1', port)).close()
s = socket.socket()
s.setblocking(False)
print(s.connect_ex(('127.0.0.1', port)) in (0, 115))
select.select([], [s], [])
print(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
"""

# Connect by a path, while another thread sends a request as soon as that can be done; print what became of it.
ASK = """import socket, sys, threading
s = socket.socket(socket.AF_UNIX)
if len(sys.argv) > 3:
    s.bind(sys.argv[3])
request = open(sys.argv[2], 'rb').read()
ended = False
def send():
    while not ended:
        try:
            return s.sendall(request)
        except OSError:
            pass
thread = threading.Thread(target=send)
thread.start()
try:
    s.connect(sys.argv[1])
    print('connected')
except OSError as e:
    print(e.strerror)
ended = True
thread.join()
"""

# Which pairs and netlink sockets can be made, and how others fail; then the names of the network's interfaces.
FAMILIES = """import ctypes, errno, json, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
two = (ctypes.c_int * 2)()
def result(done):
    return errno.errorcode[ctypes.get_errno()] if done < 0 else 'made'
pairs = {family: result(libc.socketpair(family, socket.SOCK_STREAM, 0, two)) for family in [*range(48), 64, -1]}
links = {kind: result(libc.socket(socket.AF_NETLINK, socket.SOCK_RAW, kind)) for kind in [*range(32), -1]}
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.send(struct.pack('IHHIIB3x', 20, 18, 0x301, 1, 0, 0))
kinds = {struct.unpack('H', s.recv(65536)[4:6])[0]}
print(json.dumps([pairs, links, sorted(kinds), len(socket.if_nameindex()), len(socket.getaddrinfo('localhost', 80))]))
"""

# A listener without room: the second connection waits.
FULL = """import socket, sys
l = socket.socket(socket.AF_UNIX)
l.bind('full.sock')
l.listen(0)
waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
for s in waiting:
    print('connecting', flush=True)
    s.connect('full.sock')
"""


def listen(stack, path, kind=socket.SOCK_STREAM):
    s = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
    s.bind(path)
    s.setblocking(False)
    if kind != socket.SOCK_DGRAM:
        s.listen(600)
    return s


@needs_sandbox
class Sockets(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.base = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.base, True)
        os.makedirs(os.path.join(self.base, "home", ".agent"))
        self.out, self.home = os.path.join(self.base, "out"), os.path.join(self.base, "home", ".agent", "sock")
        self.abstract = "sidecar-test-%d-%s" % (os.getpid(), os.path.basename(self.base))
        self.datagram = os.path.join(self.base, "datagram")
        self.foreign = {name: listen(self.stack, path, kind) for name, path, kind in (
            ("out", self.out, socket.SOCK_STREAM), ("home", self.home, socket.SOCK_STREAM),
            ("abstract", "\0" + self.abstract, socket.SOCK_STREAM), ("datagram", self.datagram, socket.SOCK_DGRAM))}

    def serve(self, launcher=(), **env):
        state = tempfile.mkdtemp(prefix="sidecar-test-")
        self.addCleanup(shutil.rmtree, state, True)
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", "XDG_STATE_HOME": state, "HOME": os.path.join(self.base, "home"), **env},
                         prefix=launcher)
        self.addCleanup(server.close)
        return server

    def inside(self, server):
        """A socket in the workspace, which answers each connection with a word."""
        here = os.getcwd()
        os.chdir(server.workspace)
        try:
            s = listen(self.stack, "in.sock")
        finally:
            os.chdir(here)
        return s

    def run_in(self, server, command, **arguments):
        out = server.output("run_command", command=command, **arguments)
        return out["stdout"] + out["stderr"]

    def hostile(self, launcher=(), **env):
        server = self.serve(launcher, **env)
        self.inside(server)
        server.put("sockets.py", (PROGRAMS / "sockets.py").read_text())
        place = {"out": self.out, "home": self.home, "abstract": self.abstract, "datagram": self.datagram, "server": server.socket}
        seen = server.observe("run_command", command="", argv=[sys.executable, "sockets.py", json.dumps(place)])
        results = json.loads(seen["output"]["stdout"])
        self.assertEqual(len(results), 15)
        for way, why in results.items():
            with self.subTest(way):
                self.assertIsNotNone(why)
        for name, s in self.foreign.items():
            with self.subTest(name), self.assertRaises(BlockingIOError, msg="something arrived"):
                s.recv(9) if name == "datagram" else s.accept()
        return {(d["operation"], d["path"], d["by"]) for d in seen.get("denied", ())}

    def denied(self):
        return {("connect", self.out, "seccomp"), ("connect", self.home, "seccomp"), ("connect", "@" + self.abstract, "seccomp"),
                ("socket", "a datagram Unix socket", "seccomp")}

    @needs_namespaces
    def test_hostile(self):
        self.assertEqual(self.hostile(), self.denied())

    def test_hostile_without_namespaces(self):
        self.assertLessEqual(self.denied(), self.hostile(FLOOR))

    def test_hostile_without_a_network(self):
        self.hostile(SIDECAR_NETWORK="none")
        self.hostile(FLOOR, SIDECAR_NETWORK="none")

    def test_hostile_where_nothing_is_observed(self):
        self.hostile(SIDECAR_OBSERVE="off", SIDECAR_JOURNAL="off")

    def answers(self, listener, text):
        """Answer the connection that has come."""
        listener.settimeout(60)
        with listener.accept()[0] as s:
            s.sendall(text)

    def reached(self, server, listener, path):
        """By three programs, while this one answers."""
        server.put("client.py", PYTHON)
        programs = ["%s client.py" % sys.executable]
        if shutil.which("node"):
            programs.append('node -e "%s"' % NODE)
        if shutil.which("cc") and subprocess.run(["cc", "-static", "-x", "c", "-", "-o", server.path("client")], input=C, text=True,
                                                 capture_output=True, check=False).returncode == 0:
            programs.append("./client")
        for program in programs:
            with self.subTest(program):
                job = server.output("run_command", command="%s %s > answer 2>&1" % (program, path), background=True)["job_id"]
                self.answers(listener, b"hello")
                server.output("job_output", job_id=job, wait_ms=60000)
                self.assertEqual(server.get("answer"), b"hello")

    def test_one_in_the_workspace(self):
        server = self.serve()
        self.reached(server, self.inside(server), "in.sock")

    def test_one_in_the_workspace_without_namespaces(self):
        server = self.serve(FLOOR)
        self.reached(server, self.inside(server), os.path.join(server.workspace, "in.sock"))

    def test_one_that_the_operator_allows(self):
        hidden = tempfile.mkdtemp(prefix="sidecar-test-", dir="/tmp")
        self.addCleanup(shutil.rmtree, hidden, True)
        path = os.path.join(hidden, "agent")
        later = os.path.join(self.base, "later")
        for launcher in ((), FLOOR):
            server = self.serve(launcher, SIDECAR_SANDBOX_SOCKETS="%s:%s" % (path, later))
            for allowed in (path, later):
                s = listen(self.stack, allowed)
                self.reached(server, s, allowed)
                self.stack.callback(s.close)
                os.unlink(allowed)
            self.assertIn("Permission denied", self.run_in(server, "%s client.py %s" % (sys.executable, self.out)))

    def refused(self, server, *others):
        """No way leads to a sidecar's socket, nor does a request that another thread sends meanwhile."""
        body = json.dumps({"path": "written", "content": "x"}).encode()
        server.put("request", b"POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                              b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        server.put("ask.py", ASK)
        sidecars = (server, *others)
        for sidecar in sidecars:
            name = os.path.join(self.base, "%d.sock" % sidecars.index(sidecar))
            ways = [sidecar.socket, name, name + "-link", name + "-moved"]
            os.link(sidecar.socket, name)
            os.symlink(name, name + "-link")
            os.link(sidecar.socket, name + "-away")
            os.rename(name + "-away", name + "-moved")
            for way in ways:
                with self.subTest(way):
                    seen = server.observe("run_command", command="", argv=[sys.executable, "ask.py", way, "request"])
                    self.assertEqual(seen["output"]["stdout"], "Permission denied\n")
                    self.assertIn("connect", [d["operation"] for d in seen.get("denied", ())])
            bound = self.run_in(server, "%s ask.py %s request named" % (sys.executable, name))
            self.assertEqual(bound, "Permission denied\n")
            os.unlink(server.path("named"))
        for sidecar in sidecars:
            sidecar.result("ls")  # what had come before is answered
            self.assertFalse(os.path.exists(sidecar.path("written")))

    def test_sidecars_even_if_the_operator_allows_their_sockets(self):
        for launcher in ((), FLOOR):
            with self.subTest(launcher), tempfile.TemporaryDirectory(prefix="sidecar-test-", dir="/var/tmp") as self.base:
                other = self.serve(SOCKET_PATH=self.base + "/other", XDG_RUNTIME_DIR=self.base)
                server = self.serve(launcher, SOCKET_PATH=self.base + "/own", SIDECAR_SANDBOX_SOCKETS=self.base)
                self.refused(server, other)
                other.close()
                server.close()

    def test_a_client_whose_socket_has_a_name(self):
        """As those of sandboxed commands have."""
        server = self.serve()
        for name in ("", "\0sidecar-test-%d" % os.getpid(), os.path.join(self.base, "named")):
            with self.subTest(name), socket.socket(socket.AF_UNIX) as s:
                s.bind(name)
                s.settimeout(60)
                s.connect(server.socket)
                s.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b" 403 ", s.recv(99))

    def test_families(self):
        """Pairs are of Unix sockets, and netlink only tells of the network's interfaces and routes."""
        for launcher, env in (((), {}), (FLOOR, {}), ((), {"SIDECAR_NETWORK": "none"}), (FLOOR, {"SIDECAR_NETWORK": "none"})):
            with self.subTest(launcher=launcher, env=env):
                server = self.serve(launcher, **env)
                server.put("families.py", FAMILIES)
                out = server.output("run_command", command="", argv=[sys.executable, "families.py"])
                pairs, links, kinds, interfaces, addresses = json.loads(out["stdout"] or out["stderr"])
                self.assertEqual({family for family, result in pairs.items() if result != "EPERM"}, {"1"})
                self.assertEqual(pairs["1"], "made")
                self.assertEqual({kind for kind, result in links.items() if result == "made"}, {"0"})
                self.assertEqual({result for kind, result in links.items() if kind != "0"}, {"EPROTONOSUPPORT"})
                self.assertEqual(kinds, [16])  # RTM_NEWLINK
                self.assertGreater(min(interfaces, addresses), 0)

    def test_own_ones(self):
        script = "import socket, threading, os\nl = socket.socket(socket.AF_UNIX)\nl.bind(os.environ['TMPDIR'] + '/own')\n" \
                 "l.listen(100)\ndef one():\n    socket.socket(socket.AF_UNIX).connect(os.environ['TMPDIR'] + '/own')\n" \
                 "t = [threading.Thread(target=one) for _ in range(60)]\n[x.start() for x in t]\n[x.join() for x in t]\n" \
                 "l.setblocking(False)\nn = 0\ntry:\n    while l.accept():\n        n += 1\nexcept BlockingIOError:\n    print(n)\n" \
                 "os.unlink(os.environ['TMPDIR'] + '/own')\n"
        for launcher in ((), FLOOR):
            server = self.serve(launcher)
            server.put("own.py", script)
            self.assertEqual(self.run_in(server, "%s own.py" % sys.executable), "60\n")

    def test_a_client_that_has_a_name_of_its_own(self):
        """It keeps the name, which the peer sees."""
        script = "import os, socket\nfor kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):\n" \
                 "    l, c = socket.socket(socket.AF_UNIX, kind), socket.socket(socket.AF_UNIX, kind)\n" \
                 "    l.bind('listens')\n    c.bind('calls')\n    l.listen(1)\n    c.connect('listens')\n" \
                 "    print(l.accept()[1])\n    os.unlink('listens')\n    os.unlink('calls')\n"
        for launcher in ((), FLOOR):
            server = self.serve(launcher)
            server.put("named.py", script)
            self.assertEqual(self.run_in(server, "%s named.py" % sys.executable), "calls\n" * 2)

    def test_tcp_on_the_loopback(self):
        s = self.stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for launcher in ((), FLOOR):
            server = self.serve(launcher)
            server.put("tcp.py", TCP)
            self.assertEqual(self.run_in(server, "%s tcp.py %d" % (sys.executable, s.getsockname()[1])), "True\n0\n")

    def test_a_blocked_connection_ends_with_its_command(self):
        server = self.serve()
        server.put("full.py", FULL)
        command = "rm -f full.sock; %s full.py" % sys.executable
        out = given_time(lambda out: "connecting\nconnecting\n" in out["stdout"],
                         lambda ms: server.output("run_command", command=command, timeout_ms=ms), 700)
        self.assertTrue(out["timed_out"])
        self.assertIn("connecting\nconnecting\n", out["stdout"])
        # A signal that is handled interrupts it, as without a sandbox.
        script = FULL.replace("import socket, sys\n", "import signal, socket, sys\ndef stop(*_):\n    sys.exit(3)\n"
                              "signal.signal(signal.SIGALRM, stop)\nsignal.setitimer(signal.ITIMER_REAL, 0.3)\n")
        server.put("full.py", script)
        self.assertEqual(server.output("run_command", command=command)["exit_code"], 3)
        self.assertEqual(self.run_in(server, "echo well"), "well\n")

    def test_health_says_so(self):
        for launcher in ((), FLOOR):
            facts = {p["name"]: p for p in self.serve(launcher).request("GET", "/health").json()["sandbox"]["protections"]}
            self.assertTrue(facts["foreign-sockets-refused"]["inForce"])
            self.assertEqual(facts["foreign-sockets-refused"].get("note", ""), "")

    def test_where_connections_cannot_be_judged(self):
        """Another listener above this server: commands get no Unix sockets, but pairs."""
        server = self.serve([sys.executable, str(PROGRAMS / "under_listener.py")])
        facts = {p["name"]: p for p in server.request("GET", "/health").json()["sandbox"]["protections"]}
        self.assertTrue(facts["foreign-sockets-refused"]["inForce"])
        self.assertIn("cannot use Unix sockets at all", facts["foreign-sockets-refused"]["note"])
        self.inside(server)
        server.put("client.py", PYTHON)
        self.assertIn("not permitted", self.run_in(server, "%s client.py in.sock" % sys.executable))
        self.assertEqual(self.run_in(server, "%s -c 'import socket; print(len(socket.socketpair()))'" % sys.executable), "2\n")


if __name__ == "__main__":
    unittest.main()
