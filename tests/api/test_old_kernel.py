"""Kernels of the last ten years: with the later system calls taken away, everything is served and the log
says what is missing."""
import os
import sys
import unittest

from harness import Sidecar, SidecarTest, machine
from processes import MARK, wait_until_gone

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


if __name__ == "__main__":
    unittest.main()
