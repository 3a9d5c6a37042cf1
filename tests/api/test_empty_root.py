"""The release binary in a root that holds nothing but itself and a shell: files, searches and commands, and
no process left behind, with and without /proc."""
import os
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import BIN, Sidecar, machine, until

BUSYBOX = shutil.which("busybox")


class InRoot(Sidecar):
    """A server whose root is `root`; seen from outside, its files are below that."""

    def __init__(self, root, prefix):
        self.root = root
        super().__init__(workspace=root + "/work", prefix=prefix, wait=False, env={
            "WORKSPACE_ROOT": "/work", "SOCKET_PATH": "/tmp/s.sock", "PATH": "/bin:/usr/bin:/usr/sbin", "TMPDIR": "/tmp"})
        self.socket = root + "/tmp/s.sock"
        until(self.is_serving, lambda: "the server listens: " + self.log())


@unittest.skipUnless(machine.root(), "chroot needs root")
@unittest.skipUnless(machine.static_shell(), "needs busybox-static for the shell")
class EmptyRoot(unittest.TestCase):
    def make_root(self):
        root = tempfile.mkdtemp(prefix="sidecar-root-")
        self.addCleanup(shutil.rmtree, root)
        for name in ("bin", "work", "tmp"):
            os.mkdir(os.path.join(root, name))
        shutil.copy(BIN, root + "/bin/sidecar")
        shutil.copy(BUSYBOX, root + "/bin/sh")
        for applet in ("sleep", "setsid", "cat"):
            os.link(root + "/bin/sh", root + "/bin/" + applet)
        return root

    def start(self, root, *before):
        harness_bin, harness.BIN = harness.BIN, "/bin/sidecar"
        try:
            server = InRoot(root, [*before, "chroot", root])
        finally:
            harness.BIN = harness_bin
        self.addCleanup(server.close)
        return server

    def everything(self, s):
        s.result("write", path="d/a.txt", content="one\ntwo\n")
        self.assertEqual(s.result("read", path="d/a.txt")["content"], "one\ntwo\n")
        s.result("edit", path="d/a.txt", oldText="two", newText="three")
        self.assertIn("a.txt", s.result("ls", path="d")["output"])
        self.assertEqual(s.result("find", pattern="*.txt")["files"], ["d/a.txt"])
        self.assertIn("three", s.result("grep", pattern="(?<=th)re+")["content"])
        self.assertIn("one", str(s.output("run_command", command="cd d && cat a.txt")))
        self.assertEqual(s.observe("run_command", command="exit 7")["output"]["exit_code"], 7)
        self.assertEqual(s.failure("read_file", path="../bin/sh")[0], "PATH_OUTSIDE_WORKSPACE")

    def trees(self, s):
        """Neither what detached itself nor what the shell waits for outlives its command."""
        mark = "98765%d" % os.getpid()
        seen = s.observe("run_command", command="setsid sleep %s & setsid setsid sleep %s & sleep %s" % (mark, mark, mark),
                         timeout_ms=300)
        self.assertTrue(seen["output"]["timed_out"] if seen["output"] else seen["error"]["code"] == "TIMEOUT", seen)
        until(lambda: subprocess.run(["pgrep", "-f", "sleep " + mark], capture_output=True, check=False).returncode,
              "every process has ended")

    def test_nothing_but_the_binary_and_a_shell(self):
        server = self.start(self.make_root())
        self.everything(server)
        self.trees(server)
        self.assertIn("/proc does not list children", server.log())
        self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(machine.mounts(), "this machine gives no mount namespaces")
    def test_with_proc(self):
        root = self.make_root()
        os.mkdir(root + "/proc")
        # In a mount namespace of its own, which ends with the server: nothing stays mounted.
        script = 'mount -t proc proc "$0/proc" && exec "$@"'
        server = self.start(root, "unshare", "-m", "sh", "-c", script, root)
        self.everything(server)
        self.trees(server)
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
