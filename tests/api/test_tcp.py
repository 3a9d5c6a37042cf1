# SPDX-License-Identifier: MIT
"""TCP: a sandboxed command never reaches the server's own port, and on a bare host a client needs a token."""
import contextlib
import errno
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

from harness import BIN, PATIENCE, SandboxTest, SidecarTest, environment, needs_namespaces, needs_sandbox, needs_two_users, until

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]
BARE = [sys.executable, str(PROGRAMS / "place.py"), "bare"]
CONTAINER = [sys.executable, str(PROGRAMS / "place.py"), "container"]
UNJUDGED = [sys.executable, str(PROGRAMS / "under_listener.py")]
OPEN = {"SIDECAR_SANDBOX": "workspace", "SIDECAR_REQUIRE_AUTH": "false", "SIDECAR_GRACE_SECONDS": "0"}


def port_of(server):
    return int(server.request("GET", "/health").json()["tcp"].rsplit(":", 1)[1])


def listen_at(address, port):
    """A socket that listens there; None if another one does."""
    try:
        return socket.create_server((address, port))
    except OSError:
        return None


def own_address():
    """An address of this machine that is not of the loopback; none without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
            return [s.getsockname()[0]]
        except OSError:
            return []


class Health(http.server.BaseHTTPRequestHandler):
    """A program that is no sidecar."""

    def do_GET(self):
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@needs_sandbox
class OwnPort(SandboxTest):
    def attempts(self, server, port, *addresses):
        """How each way failed, and what was told of it. The server asked is this test's own."""
        server.put("own_port.py", (PROGRAMS / "own_port.py").read_text())
        seen = server.observe("run_command", command="", argv=[sys.executable, "own_port.py", str(port), *addresses])
        self.assertTrue(seen["success"], seen)
        self.assertEqual(seen["output"]["exit_code"], 0, seen)
        return json.loads(seen["output"]["stdout"]), seen.get("denied", [])

    def refused(self, launcher=(), host="127.0.0.1", addresses=(), **env):
        server = self.start(env={**OPEN, **env}, flags=["--tcp", host + ":0"], prefix=launcher)
        port = port_of(server)
        results, denied = self.attempts(server, port, *addresses)
        self.assertEqual(len(results), 14 + len(addresses))
        for way, why in results.items():
            with self.subTest(way):
                self.assertIsNotNone(why)
        self.assertEqual({results[way] for way in ("127.0.0.1", "without waiting", "put off")}, {"EACCES"})
        self.assertEqual({results["by " + way] for way in ("sendto", "sendmsg", "sendmmsg")}, {errno.errorcode[errno.EOPNOTSUPP]})
        told = [d for d in denied if d["path"] == "127.0.0.1:%d" % port]
        self.assertEqual([(d["operation"], d["by"], d["rule"]) for d in told], [("connect", "seccomp", "a sidecar listens there")])
        return server

    def test_it_is_closed(self):
        self.refused()

    def test_it_is_closed_without_namespaces(self):
        self.refused(FLOOR)

    def test_it_is_closed_at_every_address(self):
        everywhere = "[::]" if socket.has_dualstack_ipv6() else "0.0.0.0"
        for launcher in ((), FLOOR):
            self.refused(launcher, everywhere, own_address(), SIDECAR_AUTH_TOKEN="secret")

    def test_other_ports_are_open(self):
        for launcher in ((), FLOOR):
            server = self.start(env=OPEN, flags=["--tcp", "127.0.0.1:0"], prefix=launcher)
            with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health) as other:
                thread = threading.Thread(target=other.serve_forever)
                thread.start()
                try:
                    results, denied = self.attempts(server, other.server_port)
                finally:
                    other.shutdown()
                    thread.join()
            self.assertEqual([results[way] for way in ("127.0.0.1", "0.0.0.0", "without waiting", "put off")], [None] * 4)
            self.assertEqual(denied, [])

    def test_those_of_other_sidecars_are_closed(self):
        """Also if the server itself listens nowhere, and after the other one was started."""
        for launcher in ((), FLOOR):
            server = self.start(env=OPEN, prefix=launcher)
            other = self.start(env={"SIDECAR_REQUIRE_AUTH": "false"}, flags=["--tcp", "127.0.0.1:0"])
            results, denied = self.attempts(server, port_of(other), *own_address())
            self.assertNotIn(None, results.values())
            self.assertEqual({results[way] for way in ("127.0.0.1", "0.0.0.0", "without waiting", "put off", "::ffff:127.0.0.1")}, {"EACCES"})
            self.assertIn(("connect", "127.0.0.1:%d" % port_of(other), "a sidecar listens there"),
                          [(d["operation"], d["path"], d["rule"]) for d in denied])

    @needs_namespaces
    def test_a_network_of_its_own_has_its_own_ports(self):
        """Without a network the loopback is the command's own, and so is every port of it."""
        server = self.start(env={**OPEN, "SIDECAR_NETWORK": "none"}, flags=["--tcp", "127.0.0.1:0"])
        script = "import socket\nwith socket.create_server(('127.0.0.1', %d)) as s:\n" \
                 "    socket.create_connection(s.getsockname()).close()\n    print('own')\n" % port_of(server)
        server.put("own.py", script)
        self.assertEqual(server.output("run_command", command="%s own.py" % sys.executable)["stdout"], "own\n")

    def test_where_connections_cannot_be_judged(self):
        """Another listener above this server: commands get no network, and the log says why."""
        server = self.start(env=OPEN, flags=["--tcp", "127.0.0.1:0"], prefix=UNJUDGED)
        results, _ = self.attempts(server, port_of(server))
        self.assertNotIn(None, results.values())
        facts = {p["name"]: p for p in server.request("GET", "/health").json()["sandbox"]["protections"]}
        self.assertTrue(facts["network-off"]["inForce"])
        self.assertIn("listens on TCP", facts["network-off"]["note"])
        self.assertIn("listens on TCP", server.wait_for_log(lambda line: line.get("name") == "network-off")["note"])
        # Without a port of its own there is nothing to keep them from.
        closed = self.start(env=OPEN, prefix=UNJUDGED)
        self.assertEqual(closed.output("run_command", command="%s -c 'import socket; socket.socket()'" % sys.executable)["exit_code"], 0)


@needs_namespaces
class Token(SidecarTest):
    """A server that listens on TCP and has no token."""

    def setUp(self):
        self.runtime = tempfile.mkdtemp(prefix="sidecar-run-")
        self.addCleanup(shutil.rmtree, self.runtime, True)

    def serve(self, place, *flags, tcp="127.0.0.1:0", **env):
        env = {"XDG_RUNTIME_DIR": self.runtime, "SIDECAR_SANDBOX": "off", **env}
        return self.start(env=env, flags=["--tcp", tcp, *flags], prefix=place)

    def tokens(self):
        return sorted(pathlib.Path(self.runtime, "sidecar").glob("*.token"))

    def ask(self, server, token=None, host="127.0.0.1"):
        with contextlib.closing(http.client.HTTPConnection(host, port_of(server), timeout=30)) as c:
            c.request("GET", "/health", headers={"Authorization": "Bearer " + token} if token else {})
            return c.getresponse().status

    def sidecar(self, *words, **env):
        done = subprocess.run([BIN, *words], env=environment(**{"XDG_RUNTIME_DIR": self.runtime, **env}), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_one_is_made_on_a_bare_host(self):
        server = self.serve(BARE)
        self.assertEqual(self.ask(server), 401)
        self.assertEqual(server.request("GET", "/health").status, 200)  # the socket's mode is enough
        [path] = self.tokens()
        self.assertEqual(path.name, "tcp-127.0.0.1-%d.token" % port_of(server))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        token = path.read_text()
        self.assertRegex(token, r"\A[0-9a-f]{64}\Z")
        self.assertEqual(self.ask(server, token), 200)
        self.assertEqual(self.ask(server, token[:-1] + ("0" if token[-1] != "0" else "1")), 401)
        line = server.wait_for_log(lambda line: "token_file" in line)
        self.assertEqual(line["token_file"], str(path))
        server.put("a", "x")
        env = environment(PATH=os.path.dirname(BIN) + ":" + os.environ["PATH"])  # and another XDG_RUNTIME_DIR
        done = subprocess.run(["sh", "-c", line["connect"]], env=env, capture_output=True, text=True, check=True, timeout=PATIENCE)
        self.assertIn("a\n", done.stdout)
        server.stop()
        self.assertNotIn(token, server.log())
        self.assertEqual(self.tokens(), [])

    def test_a_new_one_at_each_start(self):
        server = self.serve(BARE)
        first = self.tokens()[0].read_text()
        server.stop()
        server.start()
        self.assertNotEqual(self.tokens()[0].read_text(), first)

    def test_own_commands_find_it(self):
        server = self.serve(BARE)
        server.put("a", "found\n")
        port = port_of(server)
        for host in ("127.0.0.1", "localhost"):
            self.assertEqual(self.sidecar("read", "--url", "http://%s:%d" % (host, port), "a"), (0, "found\n", ""))
        self.assertEqual(self.sidecar("health", TCP_HOST="127.0.0.1", TCP_PORT=str(port))[0], 0)
        # What was given is sent, and nothing else.
        status, _, err = self.sidecar("read", "--url", "http://127.0.0.1:%d" % port, "a", SIDECAR_AUTH_TOKEN="wrong")
        self.assertEqual(status, 4, err)

    def test_those_who_watch_find_it(self):
        """By TCP alone: the registry says where."""
        with tempfile.TemporaryDirectory() as place, open(os.path.join(place, "log"), "wb") as log:
            server = subprocess.Popen([*BARE, BIN, "serve", place, "--tcp", "127.0.0.1:0", "--sandbox", "off"], stderr=log,
                                      stdin=subprocess.DEVNULL, env=environment(XDG_RUNTIME_DIR=self.runtime))
            with server:
                try:
                    until(self.tokens, "a token")
                    row = until(lambda: next((r for r in json.loads(self.sidecar("ps", "--json")[1])["sidecars"]), None), "it is listed")
                    self.assertEqual((row["pid"], row["calls"]), (server.pid, 0))
                finally:
                    server.terminate()

    def test_one_of_a_dead_server_is_not_sent(self):
        address = "127.0.0.77"  # where no other test takes the port in between
        server = self.serve(BARE, tcp=address + ":0")
        port = port_of(server)
        server.stop(signal.SIGKILL)
        self.assertEqual(len(self.tokens()), 1)
        with until(lambda: listen_at(address, port), "what the server was just starting lets go of its port") as s:
            client = subprocess.Popen([BIN, "health", "--url", "http://%s:%d" % (address, port)], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(XDG_RUNTIME_DIR=self.runtime))
            with client, s.accept()[0] as c:
                self.assertNotIn(b"uthorization", c.recv(4096))
        self.assertEqual(self.tokens(), [])

    def test_it_is_not_sent_to_another_address(self):
        """Another user may listen there."""
        port = port_of(self.serve(BARE))
        with socket.create_server(("127.0.0.78", port)) as s:
            client = subprocess.Popen([BIN, "health", "--url", "http://127.0.0.78:%d" % port], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(XDG_RUNTIME_DIR=self.runtime))
            with client, s.accept()[0] as c:
                self.assertNotIn(b"uthorization", c.recv(4096))

    def test_commands_do_not_see_it(self):
        server = self.serve(BARE, SIDECAR_SANDBOX="workspace")
        [path] = self.tokens()
        if server.request("GET", "/health").json()["sandbox"]["namespaces"]:
            self.assertEqual(server.output("run_command", command="cat '%s' | wc -c" % path)["stdout"], "0\n")

    def test_none_is_made_if_there_is_one(self):
        server = self.serve(BARE, SIDECAR_AUTH_TOKEN="mine")
        self.assertEqual(self.tokens(), [])
        self.assertEqual((self.ask(server), self.ask(server, "mine")), (401, 200))

    def test_none_is_made_if_the_operator_says_so(self):
        server = self.serve(BARE, SIDECAR_REQUIRE_AUTH="false")
        self.assertEqual(self.tokens(), [])
        self.assertEqual(self.ask(server), 200)

    def test_none_is_made_without_tcp(self):
        self.start(env={"XDG_RUNTIME_DIR": self.runtime}, prefix=BARE)
        self.assertEqual(self.tokens(), [])

    def test_in_a_container_it_is_as_before(self):
        server = self.serve(CONTAINER)
        self.assertEqual(self.ask(server), 200)
        self.assertEqual(self.tokens(), [])
        self.assertEqual(server.wait_for_log(lambda line: "by TCP" in line["msg"])["level"], "warn")
        said = self.serve(CONTAINER, SIDECAR_REQUIRE_AUTH="false")
        said.stop()
        self.assertNotIn("by TCP", said.log())

    def test_where_it_cannot_be_kept(self):
        taken = pathlib.Path(self.runtime, "sidecar")
        taken.write_text("not a directory")
        with self.assertRaisesRegex(RuntimeError, re.escape(str(taken))):
            self.serve(BARE)

    @needs_two_users
    def test_other_users_do_not_get_it(self):
        server = self.serve(BARE)
        os.chmod(self.runtime, 0o755)
        done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "cat", str(self.tokens()[0])],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "")
        self.assertIn("Permission denied", done.stderr)
        self.assertEqual(self.ask(server), 401)


if __name__ == "__main__":
    unittest.main()
