# SPDX-License-Identifier: MIT
"""Patches when the server dies in the middle, and when the disk is full: all old or all new.

PATCH_ROUNDS says how often the server is killed.
"""
import os
import random
import signal
import threading
import time
import unittest

from harness import Sidecar, SidecarTest, is_sanitized, machine, until

ROUNDS = int(os.environ.get("PATCH_ROUNDS", "8" if is_sanitized() else "25"))
FILES = 24


def tree(root):
    """Everything of the files below a directory but their times; and the names of directories."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders:
            found[os.path.relpath(os.path.join(folder, name), root)] = oct(os.lstat(os.path.join(folder, name)).st_mode)
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, root)] = (oct(os.lstat(path).st_mode), f.read())
    return found


def patch_of(number):
    """Changes, makes, removes, moves and renames: every kind of step."""
    lines = ["*** Begin Patch"]
    for i in range(FILES):
        kind, name = i % 4, "d%d/f%02d" % (i % 3, i)
        if kind == 0:
            lines += ["*** Update File: " + name, "@@", "-%d" % (number - 1), "+%d" % number]
        elif kind == 1:
            lines += ["*** Update File: %s" % name, "*** Move to: moved/%d/f%02d" % (number, i), "@@",
                      "-%d" % (number - 1), "+%d" % number]
        elif kind == 2:
            lines += ["*** Delete File: " + name]
        else:
            lines += ["*** Add File: new/%d/f%02d" % (number, i), "+%d" % number]
    return "\n".join([*lines, "*** End Patch", ""])


class KilledTest(unittest.TestCase):
    def test_killed(self):
        rng = random.Random(11)
        server = Sidecar()
        self.addCleanup(server.close)
        outcomes = {"old": 0, "new": 0}
        longest = 0.004
        for number in range(1, ROUNDS + 1):
            for i in range(FILES):
                if i % 4 != 3:
                    server.put("d%d/f%02d" % (i % 3, i), "%d\n" % (number - 1), 0o640 if i % 2 else 0o755)
            os.link(server.path("d0/f00"), server.path("d0/hard%d" % number))
            before = tree(server.workspace)
            if number == 1:  # how long it takes, and what it leaves
                began = time.monotonic()
                server.result("patch", patch=patch_of(number))
                longest = (time.monotonic() - began) * 1.3
                continue
            outcomes[self.round(server, number, before, rng.random() * longest)] += 1
        if not is_sanitized() and ROUNDS >= 25:
            self.assertTrue(outcomes["old"], outcomes)

    def round(self, server, number, before, delay):
        answers = []

        def apply():
            try:
                answers.append(server.call("patch", patch=patch_of(number)).json()["ok"])
            except (OSError, ValueError, AssertionError):
                pass  # it was killed
            except Exception as e:  # the connection ended in the middle of an answer
                if type(e).__module__ != "http.client":
                    raise

        thread = threading.Thread(target=apply)
        thread.start()
        time.sleep(delay)
        server.stop(signal.SIGKILL)
        thread.join()
        server.start()
        now = tree(server.workspace)
        if now == before:
            self.assertNotEqual(answers, [True])
            return "old"
        left = [name for name in now if ".sidecar" in name]
        self.assertEqual(left, [])
        text = b"%d\n" % number
        for i in range(FILES):
            name = ("d%d/f%02d" % (i % 3, i), "moved/%d/f%02d" % (number, i), None, "new/%d/f%02d" % (number, i))[i % 4]
            if name:
                self.assertEqual(now[name][1], text, name)
            if i % 4 in (1, 2):
                self.assertNotIn("d%d/f%02d" % (i % 3, i), now)
        changes = server.request("GET", "/changes?limit=1000").json()["result"]["changes"]
        undone = server.request("POST", "/changes/%d/undo" % changes[-1]["id"], "{}", {"Content-Type": "application/json"})
        self.assertEqual(undone.status, 200, undone.body)
        self.assertEqual(tree(server.workspace), before)
        return "new"


@unittest.skipUnless(machine.mounts(), "this machine gives no mount namespaces")
class DiskFullTest(SidecarTest):
    def on_disk(self, options, what="WORKSPACE_ROOT"):
        """A server whose workspace, or journal, is a small disk; and that directory as we see it."""
        mount = 'mkdir -p "$%s" && mount -t tmpfs -o mode=755,%s none "$%s" && exec "$@"' % (what, options, what)
        server = self.start(prefix=["unshare", "-m", "sh", "-c", mount, "sh"], env={"SIDECAR_SANDBOX": "off"})
        return server, "/proc/%d/root%s" % (server.process.pid, server.workspace)

    def fill(self, root):
        for name in ("a", "b", "c"):
            with open(os.path.join(root, name), "w", encoding="ascii") as f:
                f.write("1\n")
        os.link(os.path.join(root, "a"), os.path.join(root, "linked"))

    def check(self, server, root, patch):
        """Applies the patch; it is done, or nothing is, and the disk is said to be full."""
        before = tree(root)
        answer = server.call("patch", patch=patch).json()
        if answer["ok"]:
            self.assertNotEqual(tree(root), before)
            return True
        self.assertEqual(answer["code"], "DISK_FULL", answer)
        self.assertIn("Nothing was changed.", answer["error"])
        self.assertEqual(tree(root), before)
        return False

    def test_no_space(self):
        server, root = self.on_disk("size=256k")
        self.fill(root)
        for name, big in (("b", 400000), ("c", 400000), ("a", 400000)):
            lines = ["*** Begin Patch"]
            for other in ("a", "b", "c"):
                lines += ["*** Update File: " + other, "@@", "-1", "+2", *(["+" + "x" * big] if other == name else [])]
            self.assertFalse(self.check(server, root, "\n".join([*lines, "*** End Patch", ""])), name)
        self.assertEqual(server.result("read", path="linked")["content"], "1\n")

    def test_no_names(self):
        """The disk has no room for another name: that is found when files are put in place."""
        patch = ("*** Begin Patch\n*** Update File: b\n@@\n-1\n+2\n*** Update File: c\n@@\n-1\n+2\n*** Add File: d/e\n+x\n"
                 "*** Add File: f\n+x\n*** Delete File: a\n*** End Patch\n")
        done = []
        for inodes in range(5, 16):
            server, root = self.on_disk("size=1m,nr_inodes=%d" % inodes)
            self.fill(root)
            done.append(self.check(server, root, patch))
            server.close()
        self.assertEqual(done, sorted(done))
        self.assertEqual((done[0], done[-1]), (False, True))

    def test_no_space_in_the_journal(self):
        server, _ = self.on_disk("size=64k", "XDG_STATE_HOME")
        big = "".join("line %d\n" % i for i in range(10000))
        for name in ("a", "b", "c"):
            server.put(name, big if name == "c" else "1\n")
        patch = ("*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Update File: b\n@@\n-1\n+2\n"
                 "*** Update File: c\n@@\n-line 5000\n+x\n*** End Patch\n")
        self.assertFalse(self.check(server, server.workspace, patch))
        self.assertIn("--undo-bytes", server.error("patch", patch=patch)[1])


if __name__ == "__main__":
    unittest.main()
