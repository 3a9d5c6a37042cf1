"""Service managers: sockets that are passed on, and what they are told."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

from harness import BIN, PATIENCE, UnixConnection, environment, needs_namespaces, needs_sandbox
from processes import PYTHON

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"

# Puts the descriptors it inherited at 3 and up, as a service manager does, and becomes the server.
PARENT = """
import os, sys
fds = [int(x) for x in sys.argv[1].split(",") if x]
spare = [os.dup(fd) for fd in fds]
high = [__import__("fcntl").fcntl(fd, 0, 100) for fd in spare]
for i, fd in enumerate(high):
    os.dup2(fd, 3 + i, inheritable=True)
os.environ["LISTEN_FDS"] = str(len(fds))
os.environ["LISTEN_PID"] = str(os.getpid() + int(sys.argv[2]))
os.execv(sys.argv[3], sys.argv[3:])
"""


class Activation(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="sidecar-test-")
        self.addCleanup(temporary.cleanup)
        self.dir = temporary.name
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(self.dir + "/notify")
        self.notify.settimeout(PATIENCE)
        self.addCleanup(self.notify.close)

    def run_server(self, sockets=(), other_pid=0, env=None, place=()):
        fds = [s.fileno() for s in sockets]
        settings = environment(**{"WORKSPACE_ROOT": self.dir + "/ws", "SOCKET_PATH": self.dir + "/own.sock",
                                  "NOTIFY_SOCKET": self.dir + "/notify", **(env or {})})
        process = subprocess.Popen(
            [sys.executable, "-c", PARENT, ",".join(map(str, fds)), str(other_pid), *place, BIN, "serve"],
            env=settings, pass_fds=fds, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        """Ends a server that the test has not ended itself."""
        if process.returncode is None:
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0, process.stderr.read())

    def listening(self, name):
        s = socket.socket(socket.AF_UNIX)
        s.bind(self.dir + "/" + name)
        s.listen()
        self.addCleanup(s.close)
        return s

    def health(self, name):
        connection = UnixConnection(self.dir + "/" + name)
        connection.request("GET", "/health")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    @needs_sandbox
    @needs_namespaces
    def test_a_passed_socket_is_shown_and_out_of_reach_of_commands(self):
        place = tempfile.TemporaryDirectory(prefix="sidecar-test-", dir="/var/tmp")  # /tmp is hidden anyway
        self.addCleanup(place.cleanup)
        env = {"SIDECAR_SANDBOX": "workspace", "NOTIFY_SOCKET": self.dir + "/notify"}
        self.dir = place.name
        sockets = [self.listening("one"), self.listening("two")]
        os.chmod(self.dir + "/one", 0o640)
        self.run_server(sockets, env=env)
        self.assertEqual(self.notify.recv(100), b"READY=1")
        health = self.health("one")
        self.assertEqual((health["socket"], health["socketMode"]), (self.dir + "/one", "0640"))
        connection = UnixConnection(self.dir + "/two")
        for name in ("one", "two"):
            code = "import socket; socket.socket(socket.AF_UNIX).connect('%s/%s')" % (self.dir, name)
            connection.request("POST", "/tools/run_command", json.dumps({"command": '%s -c "%s"' % (PYTHON, code)}),
                               {"Content-Type": "application/json"})
            out = json.loads(connection.getresponse().read())["output"]
            self.assertIn("Error", out["stderr"], out)
        connection.close()

    def test_passed_sockets_are_served(self):
        process = self.run_server([self.listening("one"), self.listening("two")])
        self.assertEqual(self.notify.recv(100), b"READY=1")
        self.assertTrue(self.health("one")["ok"])
        self.assertTrue(self.health("two")["ok"])
        self.assertFalse(os.path.exists(self.dir + "/own.sock"))
        process.terminate()
        self.assertEqual(self.notify.recv(100), b"STOPPING=1")
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertTrue(os.path.exists(self.dir + "/one"), "the manager's socket is not ours to remove")

    def test_health_does_not_name_a_socket_that_is_not_there(self):
        self.run_server([self.listening("one")])
        self.notify.recv(100)
        self.assertNotEqual(self.health("one")["socket"], self.dir + "/own.sock")

    def test_sockets_for_another_process_are_not_used(self):
        self.run_server([self.listening("one")], other_pid=1)
        self.assertEqual(self.notify.recv(100), b"READY=1")
        self.assertTrue(self.health("own.sock")["ok"])

    def test_what_is_no_listener_is_refused(self):
        with open(self.dir + "/file", "w+b") as file:
            process = self.run_server([file])
            self.assertEqual(process.wait(PATIENCE), 1)
            self.assertIn(b"not a listening socket", process.stderr.read())
        with socket.socket(socket.AF_UNIX) as idle:
            self.assertEqual(self.run_server([idle]).wait(PATIENCE), 1)

    def test_tcp_socket_needs_no_token_on_loopback_if_the_operator_says_so(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.run_server([s], env={"SIDECAR_REQUIRE_AUTH": "false"})
            self.assertEqual(self.notify.recv(100), b"READY=1")

    @needs_namespaces
    def test_tcp_socket_needs_a_token_on_a_bare_host(self):
        bare = [sys.executable, str(PROGRAMS / "place.py"), "bare"]
        with socket.create_server(("127.0.0.1", 0)) as s:
            process = self.run_server([s], place=bare)
            self.assertEqual(process.wait(PATIENCE), 1)
            self.assertIn(b"--require-auth=false", process.stderr.read())
            self.run_server([s], place=bare, env={"SIDECAR_AUTH_TOKEN": "mine"})
            self.assertEqual(self.notify.recv(100), b"READY=1")

    @needs_sandbox
    def test_commands_do_not_reach_a_tcp_socket(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            unix = self.listening("a.sock")
            self.run_server([unix, s], env={"SIDECAR_REQUIRE_AUTH": "false", "SIDECAR_SANDBOX": "workspace"})
            self.assertEqual(self.notify.recv(100), b"READY=1")
            c = UnixConnection(self.dir + "/a.sock", PATIENCE)
            self.addCleanup(c.close)
            command = "%s -c 'import socket; socket.create_connection((\"127.0.0.1\", %d))'" % (sys.executable, s.getsockname()[1])
            c.request("POST", "/tools/run_command", json.dumps({"command": command}), {"Content-Type": "application/json"})
            self.assertIn("PermissionError", json.loads(c.getresponse().read())["output"]["stderr"])

    def test_ready_means_connectable(self):
        self.run_server()
        self.assertEqual(self.notify.recv(100), b"READY=1")
        self.assertTrue(self.health("own.sock")["ok"])

    def test_watchdog_is_fed_also_while_busy(self):
        self.run_server(env={"WATCHDOG_USEC": "200000"})
        self.assertEqual(self.notify.recv(100), b"READY=1")
        with socket.socket(socket.AF_UNIX) as idle:
            idle.connect(self.dir + "/own.sock")
            for _ in range(5):
                self.assertEqual(self.notify.recv(100), b"WATCHDOG=1")


if __name__ == "__main__":
    unittest.main()
