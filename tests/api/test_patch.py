# SPDX-License-Identifier: MIT
"""Patches: three formats, planned as a whole, applied all or nothing, with errors that say where and why."""
import json
import os
import random
import shutil
import stat
import subprocess
import tempfile
import threading
import unittest

from harness import BIN, SidecarTest, environment, is_sanitized, needs_two_users

NOTHING = "Nothing was changed."


def v4a(*lines):
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def tree(root):
    """Contents by path; a link is its text, an empty directory is None."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[os.path.relpath(path, root)] = "-> " + os.readlink(path)
            else:
                with open(path, "rb") as f:
                    found[os.path.relpath(path, root)] = f.read().decode("latin-1")
        if not files and not folders and folder != root:
            found[os.path.relpath(folder, root)] = None
    return found


# What OpenAI's own program does, as facts: the files before, the patch, and the files after, or the code of the error.
SCENARIOS = {
    "a new file": ({}, v4a("*** Add File: notes.md", "+hello"), {"notes.md": "hello\n"}),
    "three operations": (
        {"gone.txt": "x\n", "kept.txt": "one\ntwo\n"},
        v4a("*** Add File: deep/er/new.txt", "+made", "*** Delete File: gone.txt", "*** Update File: kept.txt", "@@",
            "-two", "+2"),
        {"deep/er/new.txt": "made\n", "kept.txt": "one\n2\n"}),
    "several hunks": ({"f": "a\nb\nc\nd\n"}, v4a("*** Update File: f", "@@", "-b", "+B", "@@", "-d", "+D"),
                      {"f": "a\nB\nc\nD\n"}),
    "a move makes directories": (
        {"from/f": "was\n", "from/other": "stays\n"},
        v4a("*** Update File: from/f", "*** Move to: to/sub/g", "@@", "-was", "+is"),
        {"from/other": "stays\n", "to/sub/g": "is\n"}),
    "nothing at all": ({"f": "x\n"}, v4a(), "INVALID_PATCH"),
    "context that is not there": ({"f": "a\nb\n"}, v4a("*** Update File: f", "@@", "-nowhere", "+x"), "TEXT_NOT_FOUND"),
    "deleting what is not there": ({"f": "x\n"}, v4a("*** Delete File: g"), "FILE_NOT_FOUND"),
    "an update without a hunk": ({"f": "x\n"}, v4a("*** Update File: f"), "INVALID_PATCH"),
    "updating what is not there": ({"f": "x\n"}, v4a("*** Update File: g", "@@", "-x", "+y"), "FILE_NOT_FOUND"),
    "a move over a file": (
        {"a/f": "was\n", "a/other": "stays\n", "b/f": "there\n"},
        v4a("*** Update File: a/f", "*** Move to: b/f", "@@", "-was", "+is"), {"a/other": "stays\n", "b/f": "is\n"}),
    "adding over a file": ({"f": "old\n"}, v4a("*** Add File: f", "+new"), {"f": "new\n"}),
    "deleting a directory": ({"d/f": "x\n"}, v4a("*** Delete File: d"), "NOT_A_FILE"),
    "an unknown header": ({"f": "x\n"}, v4a("*** Rename File: f"), "INVALID_PATCH"),
    "a line becomes two": ({"f": "one line\n"}, v4a("*** Update File: f", "@@", "-one line", "+first", "+second"),
                           {"f": "first\nsecond\n"}),
    # The one difference: there, the first file would have been made.
    "a second file that fails": ({}, v4a("*** Add File: first", "+x", "*** Update File: second", "@@", "-a", "+b"),
                                 "FILE_NOT_FOUND"),
    "lines that are only added": ({"f": "a\nb\n"}, v4a("*** Update File: f", "@@", "+c", "+d"), {"f": "a\nb\nc\nd\n"}),
    "blanks before a header": ({"f": "old\n"}, v4a("  *** Update File: f", "@@", "-old", "+new"), {"f": "new\n"}),
    "blanks around the markers": (
        {"f": "1\n"}, " *** Begin Patch \n*** Update File: f\n@@\n-1\n+2\n *** End Patch \n", {"f": "2\n"}),
    "letters that are not ASCII": (
        {"f": "eins\nZürich\ndrei\n"}, v4a("*** Update File: f", "@@", " eins", "-Zürich", "+Zürich ✓"),
        {"f": "eins\nZürich ✓\ndrei\n"}),
    "only a deletion": ({"keep": "k\n", "old": "o\n"}, v4a("*** Delete File: old"), {"keep": "k\n"}),
    "lines that are only removed": ({"f": "1\n2\n3\n"}, v4a("*** Update File: f", "@@", " 1", "-2", " 3"), {"f": "1\n3\n"}),
    "the end of the file": (
        {"f": "x\nlast\nx\nlast\n"}, v4a("*** Update File: f", "@@", " x", "-last", "+end", "*** End of File"),
        {"f": "x\nlast\nx\nend\n"}),
    "CRLF": ({"f": "1\r\n2\r\n3\r\n"}, v4a("*** Update File: f", "@@", "-1", "+eins", " 2", "+2.5", " 3"),
             {"f": "eins\r\n2\r\n2.5\r\n3\r\n"}),
    "a here-document": ({"f": "1\n"}, "<<'EOF'\n" + v4a("*** Update File: f", "@@", "-1", "+2") + "EOF\n", {"f": "2\n"}),
    "no end marker": ({"f": "1\n"}, "*** Begin Patch\n*** Update File: f\n@@\n-1\n+2\n", {"f": "2\n"}),
    "no newline at the end": ({"f": "1\n2"}, v4a("*** Update File: f", "@@", "-2", "+3"), {"f": "1\n3"}),
    "a later part about an earlier one": (
        {"f": "1\n"}, v4a("*** Update File: f", "*** Move to: g", "@@", "-1", "+2", "*** Update File: g", "@@", "-2", "+3",
                          "*** Add File: f", "+again"), {"f": "again\n", "g": "3\n"}),
}


class ScenarioTest(SidecarTest):
    maxDiff = None

    def test_scenarios(self):
        for number, (name, (before, patch, after)) in enumerate(SCENARIOS.items()):
            with self.subTest(name):
                folder = "case%d" % number
                root = self.server.path(folder)
                os.makedirs(root)
                for path, content in before.items():
                    self.server.put(os.path.join(folder, path), content.encode())
                server = self.start(workspace=root)
                was = tree(root)
                if isinstance(after, str):
                    code, sentence = server.error("patch", patch=patch)
                    self.assertEqual(code, after, sentence)
                    self.assertIn(NOTHING, sentence)
                    self.assertEqual(tree(root), was)
                else:
                    shown = server.result("patch", patch=patch, dryRun=True)
                    self.assertEqual(tree(root), was)
                    self.assertEqual(server.result("patch", patch=patch), shown)
                    self.assertEqual({k: v.encode("latin-1").decode() for k, v in tree(root).items() if v is not None},
                                     after)


class PartsTest(SidecarTest):
    """Patches of random parts, each about what the earlier ones have left, against a model of files in memory."""

    NAMES = ("a", "b", "d/a", "d/b", "d/e/c", "x")
    ROUNDS = 40 if is_sanitized() else 120

    def part(self, rng, number, files):
        """The lines of a part, done to the files as well; whether it fits."""
        kind, name = rng.choice("AUDM"), rng.choice(self.NAMES)
        if kind == "A":
            files[name] = "new %d\n" % number
            return ["*** Add File: " + name, "+new %d" % number], True
        if kind == "D":
            return ["*** Delete File: " + name], files.pop(name, None) is not None
        to = rng.choice(self.NAMES) if kind == "M" else name
        first, _, rest = files.get(name, "missing\n").partition("\n")
        lines = ["*** Update File: " + name, *(["*** Move to: " + to] if kind == "M" else []), "@@", "-" + first,
                 "+changed %d" % number]
        if name not in files:
            return lines, False
        del files[name]
        files[to] = "changed %d\n" % number + rest
        return lines, True

    def test_random_parts(self):
        rng = random.Random(3)
        done = []
        for number in range(self.ROUNDS):
            for name in os.listdir(self.server.workspace):
                path = self.server.path(name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            before = {name: "%s\nline\n" % name for name in self.NAMES if rng.random() < 0.6}
            for name, content in before.items():
                self.server.put(name, content)
            after, lines, fits = dict(before), [], True
            for part in range(rng.randrange(1, 7)):
                more, fit = self.part(rng, part, after)
                lines += more
                fits = fits and fit
            answer = self.server.call("patch", patch=v4a(*lines))
            what = (number, before, lines, answer.body)
            self.assertEqual(answer.json()["ok"], fits, what)
            self.assertEqual(files_of(self.server.workspace), after if fits else before, what)
            change = answer.headers.get("sidecar-change")
            if change:
                undone = self.server.request("POST", "/changes/%s/undo" % change, "{}", {"Content-Type": "application/json"})
                self.assertEqual((undone.status, files_of(self.server.workspace)), (200, before), what)
            done.append(fits)
        self.assertEqual(set(done), {True, False})


def files_of(root):
    return {name: content for name, content in tree(root).items() if content is not None}


class PatchTest(SidecarTest):
    maxDiff = None

    def setUp(self):
        self.server = self.start()
        self.root = self.server.workspace

    def put(self, files):
        for name, content in files.items():
            self.server.put(name, content)

    def refuse(self, code, patch, *words, server=None, **more):
        """The patch must be refused with that code, and change nothing."""
        was = tree(self.root)
        got, sentence = (server or self.server).error("patch", patch=patch, **more)
        self.assertEqual(got, code, sentence)
        for word in (NOTHING, *words):
            self.assertIn(word, sentence)
        self.assertEqual(tree(self.root), was)
        return sentence

    def test_result(self):
        self.put({"a.c": "int a;\nint b;\n", "old.c": "x\ny\n", "gone": "1\n2\n"})
        result = self.server.result("patch", patch=(
            "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n int a;\n-int b;\n+int c;\n"
            "diff --git a/old.c b/new.c\nsimilarity index 50%\nrename from old.c\nrename to new.c\n"
            "--- a/old.c\n+++ b/new.c\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"
            "--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n"
            "--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+m\n"
            "diff --git a/a.c b/copy.c\ncopy from a.c\ncopy to copy.c\n"))
        self.assertEqual(result, {"fuzz": [], "files": [
            {"path": "a.c", "kind": "modified", "added": 1, "removed": 1, "diff": " 1 int a;\n-2 int b;\n+2 int c;"},
            {"path": "new.c", "kind": "renamed", "from": "old.c", "added": 1, "removed": 1, "diff": " 1 x\n-2 y\n+2 z"},
            {"path": "gone", "kind": "deleted", "added": 0, "removed": 2, "diff": "-1 1\n-2 2"},
            {"path": "made", "kind": "created", "added": 1, "removed": 0, "diff": "+1 m"},
            {"path": "copy.c", "kind": "copied", "from": "a.c", "added": 0, "removed": 0, "diff": ""},
        ]})
        self.assertEqual(tree(self.root), {"a.c": "int a;\nint c;\n", "new.c": "x\nz\n", "made": "m\n",
                                           "copy.c": "int a;\nint b;\n"})

    def test_blocks(self):
        self.put({"a.py": "def f():\n    return 1\n\n\ndef g():\n    return 1\n"})
        one = "a.py\n<<<<<<< SEARCH\ndef g():\n    return 1\n=======\ndef g():\n    return 2\n>>>>>>> REPLACE\n"
        self.assertEqual(self.server.result("patch", patch=one)["files"][0]["added"], 1)
        self.put({"a.py": "x = 1\ny = 1\nx = 1\n"})
        sentence = self.refuse("TEXT_NOT_UNIQUE", "a.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n")
        self.assertIn("1, 3", sentence)
        self.refuse("FILE_EXISTS", "a.py\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n", "a.py")
        self.server.result("patch", patch="b/new.py\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n")
        self.assertEqual(self.server.get("b/new.py"), b"x\n")

    def test_errors_say_where(self):
        self.put({"f.c": "one\ntwo\nthree\nfour\n", "exists": "x\n"})
        self.refuse("TEXT_NOT_FOUND", v4a("*** Update File: f.c", "@@", " two", "-threee", "+3"), "f.c: hunk 1 of 1",
                    "line 3 of the patch", "nearest text is at line 2", '"three"', '"threee"')
        self.refuse("INVALID_PATCH", v4a("*** Update File: f.c", "@@", "two"), "Line 4 of the patch")
        self.refuse("FILE_EXISTS", "--- /dev/null\n+++ b/exists\n@@ -0,0 +1 @@\n+y\n", "exists")
        self.refuse("FILE_NOT_FOUND", v4a("*** Delete File: f.cc"), "f.cc", "Line 2 of the patch")
        self.refuse("INVALID_PATCH", "diff --git a/p.png b/p.png\nindex 1..2 100644\nGIT binary patch\nliteral 1\n",
                    "binary", "p.png")
        self.refuse("INVALID_PATCH", "hello", "not a patch")
        self.refuse("NOT_A_DIRECTORY", v4a("*** Add File: exists/below", "+x"), "exists/below")

    def test_fuzz_is_told(self):
        self.put({"f": "\tif (x)  \n\t\treturn “y”;\n"})
        result = self.server.result("patch", patch=v4a("*** Update File: f", "@@", "     if (x)", '-    return "y";', "+z"))
        self.assertEqual(len(result["fuzz"]), 1)
        self.assertIn("f: hunk 1", result["fuzz"][0])
        self.assertEqual(self.server.get("f"), b"\tif (x)  \nz\n")

    def test_strip_and_format(self):
        self.put({"f": "1\n", "deep/f": "1\n"})
        patch = "--- x/y/f\n+++ x/y/f\n@@ -1 +1 @@\n-1\n+2\n"
        self.server.result("patch", patch=patch, strip=2)
        self.assertEqual(self.server.get("f"), b"2\n")
        self.refuse("FILE_NOT_FOUND", patch, strip=0)
        self.refuse("INVALID_PATCH", patch, format="v4a")

    def test_metadata_is_kept(self):
        full = self.server.put("run.sh", "echo 1\n", 0o751)
        os.utime(full, (1, 1))
        try:
            os.setxattr(full, "user.colour", b"red")
        except OSError:
            self.skipTest("no extended attributes here")
        self.server.result("patch", patch=v4a("*** Update File: run.sh", "@@", "-echo 1", "+echo 2"))
        self.assertEqual(stat.S_IMODE(os.stat(full).st_mode), 0o751)
        self.assertEqual(os.getxattr(full, "user.colour"), b"red")
        self.server.result("patch", patch=v4a("*** Update File: run.sh", "*** Move to: bin/run"))
        moved = self.server.path("bin/run")
        self.assertEqual(stat.S_IMODE(os.stat(moved).st_mode), 0o751)
        self.assertEqual(os.getxattr(moved, "user.colour"), b"red")

    def test_modes(self):
        full = self.server.put("f", "1\n", 0o640)
        head = "diff --git a/f b/f\n"
        self.server.result("patch", patch=head + "old mode 100644\nnew mode 100755\n")
        self.assertEqual(stat.S_IMODE(os.stat(full).st_mode), 0o750)
        self.server.result("patch", patch=head + "old mode 100755\nnew mode 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n")
        self.assertEqual((stat.S_IMODE(os.stat(full).st_mode), self.server.get("f")), (0o640, b"2\n"))
        self.server.result("patch", patch="diff --git a/g b/g\nnew file mode 100755\n--- /dev/null\n+++ b/g\n@@ -0,0 +1 @@\n+x\n")
        self.assertTrue(os.stat(self.server.path("g")).st_mode & 0o100)

    def test_hard_links_stay_together(self):
        full = self.server.put("f", "1\n")
        os.link(full, self.server.path("other"))
        self.put({"z": "1\n"})
        number = os.stat(full).st_ino
        self.server.result("patch", patch=v4a("*** Update File: f", "@@", "-1", "+2"))
        self.assertEqual((self.server.get("other"), os.stat(full).st_ino), (b"2\n", number))
        os.utime(full, ns=(5, 5))
        # One after it cannot be changed: the file in place is put back as well.
        os.mkdir(self.server.path("y"))
        self.refuse("NOT_A_FILE", v4a("*** Update File: f", "@@", "-2", "+3", "*** Add File: y", "+x"))
        self.assertEqual(os.stat(full).st_mtime_ns, 5)

    def test_two_names_of_one_file(self):
        full = self.server.put("f", "1\n")
        os.link(full, self.server.path("g"))
        both = v4a(*["*** Update File: %s\n@@\n-1\n+2" % name for name in "fg"])
        self.refuse("INVALID_PATCH", both.replace("+2", "+3", 1), "f and g are names of one file")
        self.server.result("patch", patch=both)
        self.assertEqual((self.server.get("g"), os.stat(full).st_nlink), (b"2\n", 2))
        self.server.result("patch", patch=v4a("*** Update File: f", "@@", "-2", "+3", "*** Delete File: g"))
        self.assertEqual(tree(self.root), {"f": "3\n"})

    def test_swap_as_in_git(self):
        self.put({"a": "A\n", "b": "B\n"})
        self.server.result("patch", patch=(
            "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"
            "diff --git a/b b/a\nsimilarity index 100%\nrename from b\nrename to a\n"))
        self.assertEqual(tree(self.root), {"a": "B\n", "b": "A\n"})

    def test_a_file_where_a_directory_was(self):
        self.put({"d": "file\n", "e/f": "1\n"})
        self.server.result("patch", patch=(
            "--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-file\n--- /dev/null\n+++ b/d/x\n@@ -0,0 +1 @@\n+x\n"))
        self.assertEqual(tree(self.root), {"d/x": "x\n", "e/f": "1\n"})

    def test_empty_directories(self):
        """A unified patch removes directories that it empties, as git does; the other formats leave them."""
        self.put({"a/b/f": "1\n", "c/d/f": "1\n", "c/g": "1\n"})
        self.server.result("patch", patch="--- a/a/b/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
                                          "--- a/c/d/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n")
        self.assertEqual(tree(self.root), {"c/g": "1\n"})
        self.server.result("patch", patch=v4a("*** Delete File: c/g"))
        self.assertEqual(tree(self.root), {"c": None})

    def test_undo(self):
        self.put({"a/b/f": "1\n", "g": "2\n"})
        os.chmod(self.server.path("g"), 0o600)
        was = tree(self.root)
        answer = self.server.call("patch", patch=(
            "--- a/a/b/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-2\n+3\n"
            "--- /dev/null\n+++ b/n/e/w\n@@ -0,0 +1 @@\n+x\n"))
        self.assertEqual(answer.headers["sidecar-change"], "1")
        self.assertEqual(tree(self.root), {"g": "3\n", "n/e/w": "x\n"})
        change = self.server.request("GET", "/changes/1").json()["result"]
        self.assertEqual((change["tool"], change["subject"]), ("patch", "a/b/f and 2 more"))
        undone = self.server.request("POST", "/changes/1/undo", "{}", {"Content-Type": "application/json"})
        self.assertEqual(undone.status, 200, undone.body)
        self.assertEqual(tree(self.root), was)
        self.assertEqual(stat.S_IMODE(os.stat(self.server.path("g")).st_mode), 0o600)
        again = self.server.request("POST", "/changes/2/undo", "{}", {"Content-Type": "application/json"})
        self.assertEqual(again.status, 200, again.body)
        self.assertEqual(tree(self.root), {"g": "3\n", "n/e/w": "x\n"})

    def test_failure_takes_back(self):
        """Whatever has been done when a step fails is undone, and leaves no entry in the journal."""
        self.put({"a": "1\n", "m/f": "1\n", "z": "1\n"})
        os.mkdir(self.server.path("y"))
        inode = os.stat(self.server.path("a")).st_ino
        self.refuse("NOT_A_FILE", v4a("*** Update File: a", "@@", "-1", "+2", "*** Delete File: m/f", "*** Add File: n/e/w",
                                      "+x", "*** Add File: y", "+x", "*** Update File: z", "@@", "-1", "+2"))
        self.assertEqual(os.stat(self.server.path("a")).st_ino, inode)
        self.assertEqual(self.server.request("GET", "/changes").json()["result"]["changes"], [])

    def test_paths(self):
        os.symlink("/etc", self.server.path("out"))
        self.put({"f": "1\n", "real": "1\n"})
        os.symlink("real", self.server.path("link"))
        self.refuse("PATH_OUTSIDE_WORKSPACE", v4a("*** Update File: f", "@@", "-1", "+2", "*** Add File: ../x", "+x"),
                    "Line 6 of the patch")
        self.refuse("SYMLINK_OUTSIDE_WORKSPACE", v4a("*** Add File: out/x", "+x"))
        # Refused before anything is read: the first file is not even there.
        self.refuse("PATH_OUTSIDE_WORKSPACE", v4a("*** Delete File: missing", "*** Delete File: ../../x"))
        self.refuse("NOT_A_FILE", v4a("*** Delete File: link"), "symbolic link")
        self.server.result("patch", patch=v4a("*** Update File: link", "@@", "-1", "+2"))
        self.assertEqual(self.server.get("real"), b"2\n")
        self.assertTrue(os.path.islink(self.server.path("link")))
        code, _ = self.server.failure("apply_patch", patch=v4a("*** Add File: /tmp/absolute", "+x"))
        self.assertEqual(code, "PATH_OUTSIDE_WORKSPACE")

    def test_limits(self):
        self.refuse("INVALID_PATCH", v4a(*["*** Delete File: f%d" % i for i in range(2001)]), "more than 2000 files")
        self.refuse("INVALID_PATCH", v4a("*** Add File: f", "+" + "x" * (8 << 20)), "bytes")
        many = self.server.result("patch", patch=v4a(*[line for i in range(2000)
                                                       for line in ("*** Add File: d%d/f%d" % (i % 7, i), "+%d" % i)]))
        self.assertEqual(len(many["files"]), 2000)
        self.assertEqual(self.server.get("d4/f1999"), b"1999\n")
        gone = self.server.result("patch", patch=v4a(*["*** Update File: d%d/f%d\n@@\n-%d\n+x" % (i % 7, i, i)
                                                       for i in range(2000)]))
        self.assertEqual(len(gone["files"]), 2000)
        self.assertEqual(set(tree(self.root).values()), {"x\n"})

    def test_large_files(self):
        """What is too large to be patched can still be removed."""
        server = self.start(flags=("--journal", "off"))
        with open(server.put("large", ""), "wb") as f:
            f.truncate(65 << 20)
        server.put("lines", "\n" * ((1 << 20) + 1))
        server.put("a", "1\n")
        for name in ("large", "lines"):
            code, sentence = server.error("patch", patch=v4a("*** Update File: " + name, "@@", "-1", "+2"))
            self.assertEqual(code, "FILE_TOO_LARGE")
            self.assertIn(NOTHING, sentence)
        files = server.result("patch", patch=v4a("*** Delete File: large", "*** Delete File: lines",
                                                 "*** Update File: a", "@@", "-1", "+2"))["files"]
        self.assertEqual([f["removed"] for f in files], [0, (1 << 20) + 1, 1])
        self.assertEqual(tree(server.workspace), {"a": "2\n"})

    def test_without_journal(self):
        server = self.start(flags=("--journal", "off"))
        for name in ("a", "b", "c/d"):
            server.put(name, "1\n")
        os.mkdir(server.path("y"))
        was = tree(server.workspace)
        code, sentence = server.error("patch", patch=v4a(
            "*** Update File: a", "@@", "-1", "+2", "*** Delete File: b", "*** Add File: n/w", "+x", "*** Add File: y", "+x"))
        self.assertEqual((code, NOTHING in sentence, tree(server.workspace)), ("NOT_A_FILE", True, was))
        answer = server.call("patch", patch=v4a("*** Update File: a", "@@", "-1", "+2", "*** Delete File: b"))
        self.assertNotIn("sidecar-change", answer.headers)
        self.assertEqual(tree(server.workspace), {"a": "2\n", "c/d": "1\n", "y": None})

    def test_read_only(self):
        server = self.start(flags=("--read-only",))
        server.put("f", "1\n")
        patch = v4a("*** Update File: f", "@@", "-1", "+2")
        self.assertEqual(server.error("patch", patch=patch)[0], "READ_ONLY")
        self.assertEqual(server.result("patch", patch=patch, dryRun=True)["files"][0]["added"], 1)

    def test_read_before_write(self):
        server = self.start(flags=("--read-before-write", "overwrites"))
        for name in ("f", "g", "h"):
            server.put(name, "1\n")
        one = {"sessionId": "one"}
        server.result("patch", patch=v4a("*** Update File: f", "@@", "-1", "+2"), **one)
        for patch in (v4a("*** Add File: g", "+x"), v4a("*** Delete File: g"),
                      v4a("*** Update File: f", "*** Move to: g", "@@", "-2", "+3")):
            self.assertEqual(server.error("patch", patch=patch, **one)[0], "FILE_NOT_READ", patch)
        server.result("read", path="g", **one)
        server.result("patch", patch=v4a("*** Add File: g", "+x"), **one)
        server.result("patch", patch=v4a("*** Delete File: g"), **one)
        # A unified patch has removed every line of what it deletes: it knew them.
        server.result("patch", patch="--- a/h\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", **one)
        strict = self.start(flags=("--read-before-write", "on"))
        strict.put("f", "1\n")
        update = v4a("*** Update File: f", "@@", "-1", "+2")
        self.assertEqual(strict.error("patch", patch=update, **one)[0], "FILE_NOT_READ")
        strict.result("read", path="f", **one)
        strict.result("patch", patch=update, **one)

    def test_redaction_marks_are_refused(self):
        server = self.start(flags=("--scrub", "all"))
        server.put("f", "1\n")
        code, sentence = server.failure("apply_patch", patch=v4a("*** Update File: f", "@@", "-1", "+[REDACTED:github-token]"))
        self.assertEqual((code, NOTHING in sentence), ("REDACTED_CONTENT", True), sentence)


class MeanwhileTest(SidecarTest):
    """Other processes that change files at the wrong moment never lose anything."""

    def test_changed_meanwhile(self):
        """A file that is written or swapped all the time: each patch fits what it replaces, or changes nothing."""
        stop = threading.Event()
        server = self.start()
        for name in ("a", "m", "z"):
            server.put(name, "1\n")
        server.put("real", "1\n")

        def disturb():
            kinds = 0
            while not stop.is_set():
                temp = server.path("temp")
                if kinds % 3 == 2:
                    os.symlink("real", temp)
                else:
                    with open(temp, "w", encoding="ascii") as f:
                        f.write("1\n" if kinds % 3 else "other %d\n" % kinds)
                os.rename(temp, server.path("m"))
                kinds += 1

        thread = threading.Thread(target=disturb)
        thread.start()
        codes = set()
        try:
            for i in range(60):
                before = [server.get(n) for n in ("a", "z", "real")]
                answer = server.call("patch", patch=v4a(
                    "*** Update File: a", "@@", "-%s" % before[0].decode().strip(), "+%d" % i,
                    "*** Update File: m", "@@", "-1", "+mine", "*** Update File: z", "@@",
                    "-%s" % before[1].decode().strip(), "+%d" % i))
                done = answer.json()
                codes.add(done.get("code"))
                after = [server.get(n) for n in ("a", "z", "real")]
                if not done["ok"]:
                    self.assertIn(NOTHING, done["error"])
                    self.assertEqual(after, before)
                else:
                    self.assertEqual(after[:2], [b"%d\n" % i] * 2)
                    server.put("real", "1\n")
        finally:
            stop.set()
            thread.join()
        self.assertLessEqual(codes, {None, "FILE_CHANGED", "TEXT_NOT_FOUND", "FILE_NOT_FOUND"})
        self.assertEqual([n for n in os.listdir(server.workspace) if n.startswith(".sidecar")], [])

    def test_patches_and_edits_at_once(self):
        """Counters in three files: no patch and no edit of another call is lost."""
        server = self.start()
        names = ("a", "b", "c")
        for name in names:
            server.put(name, "".join("line %d: 0\n" % i for i in range(8)))
        done = []

        def work(me):
            for i in range(12):
                old, new = "line %d: %d" % (me, i), "line %d: %d" % (me, i + 1)
                if me % 2:
                    for name in names:
                        server.result("edit", path=name, oldText=old, newText=new)
                else:
                    server.result("patch", patch=v4a(*["*** Update File: %s\n@@\n-%s\n+%s" % (name, old, new)
                                                       for name in names]))
            done.append(me)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(done), list(range(8)))
        for name in names:
            self.assertEqual(server.get(name).decode(), "".join("line %d: 12\n" % i for i in range(8)))

    @needs_two_users
    def test_no_permission(self):
        """A file that may not be written, or a directory, as the third: the first two stay as they were."""
        for protect in ("file", "directory"):
            with self.subTest(protect):
                server = self.start(prefix=("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"),
                                    **shared_workspace(self))
                for name in ("a", "b", "c/f", "d"):
                    os.chmod(server.put(name, "1\n"), 0o666)
                os.chmod(server.path("c"), 0o755 if protect == "directory" else 0o777)
                os.chmod(server.path("c/f"), 0o444 if protect == "file" else 0o666)
                was = tree(server.workspace)
                code, sentence = server.error("patch", patch=v4a(*[
                    line for n in ("a", "b", "c/f", "d") for line in ("*** Update File: " + n, "@@", "-1", "+2")]))
                self.assertEqual(code, "PERMISSION_DENIED", sentence)
                self.assertIn("c/f", sentence)
                self.assertIn(NOTHING, sentence)
                self.assertEqual(tree(server.workspace), was)


def shared_workspace(case):
    """A workspace, a socket and a state that another user may use."""
    top = tempfile.mkdtemp(prefix="sidecar-shared-")
    case.addCleanup(shutil.rmtree, top, ignore_errors=True)
    os.chmod(top, 0o777)
    workspace = os.path.join(top, "ws")
    os.mkdir(workspace)
    os.chmod(workspace, 0o777)
    return {"workspace": workspace, "env": {"SOCKET_PATH": os.path.join(top, "s"),
                                            "XDG_STATE_HOME": os.path.join(top, "st"),
                                            "XDG_CONFIG_HOME": top}}


class ModelTest(SidecarTest):
    """What a model reads."""

    def test_text(self):
        server = self.start()
        server.put("src/m.c", "int main(void)\n{\n\treturn 0;\n}\n")
        server.put("old.txt", "x\n")
        patch = v4a("*** Update File: src/m.c", "@@ int main(void)", "-    return 0;", "+\treturn 1;", "*** Add File: n/new.md",
                    "+# n", "+text", "*** Update File: old.txt", "*** Move to: kept.txt", "*** Delete File: nothing")
        text, failed = mcp_text(server, patch)
        self.assertTrue(failed)
        self.assertIn("FILE_NOT_FOUND: File not found: nothing", text)
        self.assertIn(NOTHING, text)
        text, failed = mcp_text(server, patch.replace("*** Delete File: nothing\n", ""))
        self.assertFalse(failed, text)
        lines = text.split("\n")
        self.assertEqual(lines[:8], ["[patched 3 files, +3 -1]", "[edited src/m.c, +1 -1]", " 1 int main(void)", " 2 {",
                                     "-3 \treturn 0;", "+3 \treturn 1;", " 4 }", "[created n/new.md, +2]"])
        self.assertEqual(lines[8], "[renamed kept.txt, was old.txt]")
        self.assertTrue(lines[9].startswith("[fuzz: src/m.c: hunk 1"), lines[9])
        self.assertIn("undo_change id=", lines[10])

    def test_text_is_bounded(self):
        server = self.start()
        for i in range(300):
            server.put("f%d" % i, "".join("%d\n" % k for k in range(100)))
        patch = v4a(*["*** Update File: f%d\n@@\n-50\n+x" % i for i in range(300)])
        text, failed = mcp_text(server, patch)
        self.assertFalse(failed)
        self.assertLess(len(text), 33000)
        self.assertLess(text.count("\n"), 1900)
        self.assertIn("[patched 300 files, +300 -300]", text)
        self.assertRegex(text, r"\n\[\d+ more files are not shown\]")


def mcp_text(server, patch):
    """The text of a call by MCP, and whether it is an error."""
    calls = [{"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
              "params": {"name": "apply_patch", "arguments": {"patch": patch}}}]
    done = subprocess.run([BIN, "mcp", "--workspace", server.workspace], text=True, capture_output=True, check=True,
                          input="".join(json.dumps(call) + "\n" for call in calls), timeout=90,
                          env=environment(XDG_STATE_HOME=os.path.join(server.dir, "mcp-state"), XDG_CONFIG_HOME=server.dir))
    answer = next(m for m in map(json.loads, done.stdout.splitlines()) if m.get("id") == 2)["result"]
    return answer["content"][0]["text"], answer.get("isError", False)


if __name__ == "__main__":
    unittest.main()
