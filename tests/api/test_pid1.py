"""As process 1 of a container: orphans are reaped, signals end it in order."""
import os
import signal
import subprocess
import time
import unittest

from harness import BIN, SidecarTest


def can_unshare():
    return subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True).returncode == 0


@unittest.skipUnless(can_unshare(), "this machine gives no PID namespaces")
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
        deadline = time.monotonic() + 10
        zombies = None
        while time.monotonic() < deadline:
            time.sleep(0.2)
            with open("/proc/%s/task/%s/children" % (inner, inner)) as f:
                children = f.read().split()
            zombies = []
            for child in children:
                try:
                    with open("/proc/%s/stat" % child) as f:
                        if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                            zombies.append(child)
                except OSError:
                    pass
            if not zombies and len(children) <= 1:
                break
        self.assertEqual(zombies, [])
        self.assertIn("exitCode", server.call("bash", command="true").body.decode())
        os.kill(int(inner), signal.SIGTERM)
        self.assertEqual(server.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
