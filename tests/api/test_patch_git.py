# SPDX-License-Identifier: MIT
"""Patches of several files as git makes them, against git apply: the same verdict, the same bytes and modes.

Trees are changed at random: lines, whole files, names, modes, the newline at the end. git diff makes a patch of it, which
is applied to the old tree, or to one with other changes in it. PATCH_ROUNDS says how often; the seed is fixed.
"""
import os
import random
import shutil
import stat
import subprocess
import tempfile
import unittest

from harness import SidecarTest, machine

ROUNDS = int(os.environ.get("PATCH_ROUNDS", "300"))
NAMES = ["a", "b.c", "dir/c", "dir/d e", "dir/sub/é", "x/y/z", "x/w"]


def write(root, files):
    for name in os.listdir(root):
        path = os.path.join(root, name)
        if name != ".git":
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    for name, (content, executable) in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        os.chmod(path, 0o755 if executable else 0o644)


def read(root):
    found = {}
    for folder, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, root)] = (f.read(), bool(os.stat(path).st_mode & stat.S_IXUSR))
    return found


class GitTest(SidecarTest):
    def setUp(self):
        self.repository = tempfile.mkdtemp(prefix="sidecar-git-")
        self.addCleanup(shutil.rmtree, self.repository)
        self.git("init", "-q", ".")

    def git(self, *words, cwd=None, stdin=None, check=True):
        done = subprocess.run(["git", "-c", "core.quotepath=on", *words], cwd=cwd or self.repository, input=stdin,
                              capture_output=True, check=check,
                              env={"PATH": os.environ["PATH"], "HOME": self.repository, "GIT_CONFIG_NOSYSTEM": "1"})
        return done if not check else done.stdout

    def content(self, rng):
        lines = [rng.choice(["%d" % i, "same", "", "\tindented", "other words"]) for i in range(rng.randrange(0, 40))]
        ends = "\r\n" if rng.random() < 0.1 else "\n"
        text = "".join(line + ends for line in lines)
        return (text[:-len(ends)] if lines and lines[-1] and rng.random() < 0.15 else text).encode()

    def edit(self, rng, content):
        lines = content.split(b"\n")
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(lines))
            kind = rng.random()
            if kind < 0.4:
                lines[at] = b"new %d" % rng.randrange(100)
            elif kind < 0.7:
                lines[at:at] = [b"more %d" % rng.randrange(100)] * rng.randrange(1, 3)
            elif len(lines) > 1:
                del lines[at]
        return b"\n".join(lines)

    def change(self, rng, files):
        """Another tree, by a few random operations."""
        after = dict(files)
        for _ in range(rng.randrange(1, 5)):
            kind, name = rng.random(), rng.choice(NAMES)
            if name not in after:
                after[name] = (self.content(rng), rng.random() < 0.2)
            elif kind < 0.6:
                after[name] = (self.edit(rng, after[name][0]), after[name][1])
            elif kind < 0.7:
                after[name] = (after[name][0], not after[name][1])
            elif kind < 0.85:
                content, mode = after.pop(name)
                new = rng.choice([n for n in ["moved", "dir/moved", "x/moved/here"] if n not in after])
                after[new] = (self.edit(rng, content) if rng.random() < 0.5 else content, mode)
            else:
                del after[name]
        return after

    def tree_of(self, files):
        write(self.repository, files)
        self.git("add", "-A")
        return self.git("write-tree").decode().strip()

    @unittest.skipUnless(machine.tool("git"), "git is not installed")
    def test_against_git(self):
        rng = random.Random(7)
        counts = {"applied": 0, "refused": 0, "noted": 0}
        number = 0
        while number < ROUNDS:
            before = {name: (self.content(rng), rng.random() < 0.2) for name in NAMES if rng.random() < 0.7}
            after = self.change(rng, before)
            patch = self.git("diff", "-M", "-C", "--find-copies-harder", self.tree_of(before), self.tree_of(after))
            if not patch or b"Binary files" in patch:
                continue
            number += 1
            present = dict(before)
            if rng.random() < 0.4:
                present = self.change(rng, before)
            counts[self.compare(number, patch, present)] += 1
        if ROUNDS >= 100:
            self.assertTrue(all((counts["applied"], counts["refused"])), counts)

    def compare(self, number, patch, present):
        with tempfile.TemporaryDirectory(prefix="sidecar-git-") as theirs:
            write(theirs, present)
            write(self.server.workspace, present)
            accepted = self.git("apply", "-", cwd=theirs, stdin=patch, check=False)
            answer = self.server.call("patch", patch=patch.decode()).json()
            what = (number, patch.decode(), accepted.stderr, answer)
            if accepted.returncode == 0:
                self.assertTrue(answer["ok"], what)
                self.assertEqual(read(self.server.workspace), read(theirs), what)
                return "applied"
            if answer["ok"]:  # with white space that differs, which is told
                self.assertTrue(answer["result"]["fuzz"], what)
                return "noted"
            self.assertIn("Nothing was changed.", answer["error"])
            self.assertEqual(read(self.server.workspace), {k: v for k, v in present.items()}, what)
            return "refused"


if __name__ == "__main__":
    unittest.main()
