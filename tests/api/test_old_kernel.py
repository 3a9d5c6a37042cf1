"""Kernels of the last ten years: with the later system calls taken away, everything is served and the log
says what is missing."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from harness import BIN, Sidecar, SidecarTest, environment, machine, needs_sandbox
from processes import MARK, wait_until_gone

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
OLD = (sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "old_kernel.py"))


@unittest.skipUnless(machine.filters(), "no system-call filter can be set here")
class OldKernel(SidecarTest):
    @classmethod
    def setUpClass(cls):
        cls.server = Sidecar(prefix=OLD)

    def test_files(self):
        s = self.server
        s.result("write", path="d/a.txt", content="one\ntwo\n")
        self.assertEqual(s.result("read", path="d/a.txt")["content"], "one\ntwo\n")
        s.result("edit", path="d/a.txt", oldText="two", newText="three")
        self.assertEqual(s.get("d/a.txt"), b"one\nthree\n")
        self.assertIn("a.txt", s.result("ls", path="d")["output"])
        self.assertEqual(s.result("find", pattern="*.txt")["files"], ["d/a.txt"])
        self.assertIn("three", s.result("grep", pattern="th?ree")["content"])

    def test_links_that_leave_are_refused(self):
        os.symlink("/etc/passwd", self.server.path("out"))
        self.assertNotIn("root:", self.server.call("read", path="out").body.decode())
        self.assertEqual(self.server.call("read", path="out").status, 400)

    def test_commands_and_their_trees(self):
        s = self.server
        seen = s.output("run_command", command="echo hello; exit 0")
        self.assertIn("hello", str(seen))
        s.observe("run_command", command="setsid sleep 4321 & sleep 4321", timeout_ms=300, env={MARK: "old"})
        wait_until_gone("old")

    def test_says_what_is_missing(self):
        health = self.server.request("GET", "/health").json()
        self.assertEqual(health["resolver"], "walk")
        self.assertEqual(health["sandbox"]["mode"], "off")

    def test_a_sandbox_that_cannot_be_had_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "no Landlock"):
            Sidecar(prefix=OLD, env={"SIDECAR_SANDBOX": "workspace"}).close()

    def test_ends_in_order(self):
        server = Sidecar(prefix=OLD)
        server.output("run_command", command="true")
        self.assertEqual(server.stop(), 0)
        server.close()


def refusing(calls):
    """What runs a server where these calls are refused."""
    return (sys.executable, str(PROGRAMS / "refused_calls.py"), calls)


def doctor(server, *flags):
    """What the doctor says of the same machine and settings, by name."""
    done = subprocess.run([*server.prefix, BIN, "doctor", "--json", *flags], env=environment(**server.env), text=True,
                          capture_output=True, check=False, timeout=300)
    return {f["name"]: (f["verdict"], f["text"]) for f in json.loads(done.stdout)["findings"]}


@unittest.skipUnless(machine.filters(), "no system-call filter can be set here")
@unittest.skipUnless(machine.listener(), "system calls cannot be passed on here")
class Unreadable(SidecarTest):
    """Yama's ptrace_scope=2, or a container: the server may not look into its commands."""

    def serve(self, calls, sandbox="workspace"):
        server = self.start(prefix=refusing(calls), env={"SIDECAR_SANDBOX": sandbox})
        server.put("kept", "1")
        return server

    def facts(self, server):
        health = server.request("GET", "/health").json()
        return health["observed"], {p["name"]: p.get("note", "") for p in health["sandbox"]["protections"]}

    def check_unobserved(self, server):
        """No change of a command is offered to be undone; before the command as after it."""
        seen = server.observe("run_command", command="rm kept", sessionId="a")
        self.assertNotIn("changes", seen)
        self.assertIs(seen["output"]["observed"], False)
        self.assertRegex(seen["output"]["note"], "^not observed: .*ptrace_scope.*cannot be undone$")
        for session, background, told in (("a", False, False), ("a", True, False), ("b", True, True), ("b", False, False)):
            out = server.output("run_command", command="true", sessionId=session, background=background)
            self.assertIs(out["observed"], False)
            self.assertEqual("note" in out, told, (session, background))
        self.check_told_in_text(server)
        self.assertEqual(server.request("GET", "/changes").json()["result"]["changes"], [])
        observed, _ = self.facts(server)
        self.assertEqual(observed["commands"], "none")
        self.assertIn("ptrace_scope", observed["why"])
        verdict, text = doctor(server)["observing commands"]
        self.assertEqual(verdict, "warn")
        self.assertIn("ptrace_scope", text)

    def check_told_in_text(self, server):
        said = []
        for _ in range(2):
            body = {"name": "run_command", "arguments": {"command": "true", "sessionId": "c"}}
            answer = server.request("POST", "/tools?results=text&reply=anthropic", json.dumps(body), {"Content-Type": "application/json"})
            self.assertEqual(answer.status, 200)
            said.append(answer.body.decode())
        self.assertIn("[not observed: ", said[0])
        self.assertNotIn("not observed", said[1])

    def test_what_is_not_to_be_observed_is_not_told(self):
        server = self.start(prefix=refusing("process_vm_readv=EPERM,pidfd_getfd=EPERM"),
                            env={"SIDECAR_SANDBOX": "off", "SIDECAR_OBSERVE": "off"})
        out = server.output("run_command", command="true")
        self.assertNotIn("observed", out)
        self.assertNotIn("note", out)

    @needs_sandbox
    def test_memory(self):
        server = self.serve("process_vm_readv=EPERM,pidfd_getfd=EPERM")
        self.check_unobserved(server)
        self.assertIn("Unix sockets", self.facts(server)[1]["foreign-sockets-refused"])
        self.assertIn("ptrace_scope", server.wait_for_log(lambda line: "not observed" in line["msg"])["why"])
        self.assertIn("Unix sockets", server.wait_for_log(lambda line: line.get("name") == "foreign-sockets-refused")["note"])
        self.assertIn("Unix sockets", doctor(server)["sandbox of serve"][1])

    def test_memory_without_a_sandbox(self):
        self.check_unobserved(self.serve("process_vm_readv=EPERM,pidfd_getfd=EPERM", "off"))

    @needs_sandbox
    def test_descriptors_alone(self):
        server = self.serve("pidfd_getfd=EPERM")
        seen = server.observe("run_command", command="rm kept")
        self.assertIn("changes", seen)
        self.assertNotIn("observed", seen["output"])
        observed, notes = self.facts(server)
        self.assertEqual(observed, {"commands": "all"})
        self.assertIn("Unix sockets", notes["foreign-sockets-refused"])
        self.assertEqual(doctor(server)["sandbox of serve"][0], "warn")


if __name__ == "__main__":
    unittest.main()
