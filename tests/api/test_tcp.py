# SPDX-License-Identifier: MIT
"""TCP: a sandboxed command never reaches the server's own port, and on a bare host a client needs a token."""
import errno
import json
import pathlib
import socket
import sys
import unittest

from harness import SandboxTest, needs_namespaces, needs_sandbox

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]
UNJUDGED = [sys.executable, str(PROGRAMS / "under_listener.py")]
OPEN = {"SIDECAR_SANDBOX": "workspace", "SIDECAR_REQUIRE_AUTH": "false", "SIDECAR_GRACE_SECONDS": "0"}


def port_of(server):
    return int(server.request("GET", "/health").json()["tcp"].rsplit(":", 1)[1])


def own_address():
    """An address of this machine that is not of the loopback; none without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
            return [s.getsockname()[0]]
        except OSError:
            return []


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
        self.assertEqual([(d["operation"], d["by"], d["rule"]) for d in told], [("connect", "seccomp", "this server listens there")])
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
            other = self.start(env={"SIDECAR_REQUIRE_AUTH": "false"}, flags=["--tcp", "127.0.0.1:0"])
            results, denied = self.attempts(server, port_of(other))
            self.assertEqual([results[way] for way in ("127.0.0.1", "0.0.0.0", "without waiting", "put off")], [None] * 4)
            self.assertEqual(denied, [])

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


if __name__ == "__main__":
    unittest.main()
