"""As process 1 of a container: orphans are reaped, signals end it in order."""
import os
import signal
import subprocess
import unittest

from harness import BIN, SidecarTest, machine, until


@unittest.skipUnless(machine.mounts(), "this machine gives no mount namespaces")
class Pid1(SidecarTest):
    def test_orphans_do_not_stay_as_zombies(self):
        server = self.start(prefix=("unshare", "--pid", "--fork", "--mount-proc", "--kill-child=SIGTERM"))
        inner = None
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open("/proc/%s/cmdline" % entry, "rb") as f, open("/proc/%s/status" % entry) as status:
                        words = f.read().split(b"\0")
                        if words[0] == BIN.encode() and words[1:2] == [b"serve"] and \
                           "PPid:\t%d\n" % server.process.pid in status.read():
                            inner = entry
                except OSError:
                    pass
        self.assertIsNotNone(inner)
        # Each leaves a grandchild behind, which falls to process 1 of the namespace.
        for _ in range(5):
            subprocess.run(["nsenter", "-t", inner, "-p", "sh", "-c", "sh -c 'sleep 0.1' & exit 0"], check=True)
        def children():
            with open("/proc/%s/task/%s/children" % (inner, inner), encoding="ascii") as f:
                return f.read().split()
        until(lambda: len(children()) <= 1, lambda: "only the keeper is left of %s" % children())
        self.assertIn("exitCode", server.call("bash", command="true").body.decode())
        os.kill(int(inner), signal.SIGTERM)
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
