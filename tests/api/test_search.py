"""POST /find and /grep beyond the recorded cases."""
import os
import shutil
import subprocess
import unittest

from harness import SidecarTest


class Search(SidecarTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        put = cls.server.put
        put(".gitignore", "*.log\nbuild/\n")
        put("a.c", "int one;\nint two;\r\n")
        put("b/B.c", "int three; /* é */\n")
        put("b/.hidden/h.c", "int hidden;\n")
        put("b/.gitignore", "!keep.log\n/only-here\n")
        put("b/keep.log", "int kept;\n")
        put("b/only-here", "int nothing;\n")
        put("b/deep/only-here", "int deeper;\n")
        put("out.log", "int ignored;\n")
        put("build/x.c", "int built;\n")
        put(".git/config", "int git;\n")
        put("binary", b"int\0x\n")
        put("new\nline.c", "int odd;\n")

    def find(self, **arguments):
        return self.server.result("find", **arguments)["files"]

    def lines(self, **arguments):
        return self.server.result("grep", **arguments)["content"].split("\n")

    def test_find_respects_rules_and_order(self):
        self.assertEqual(self.find(pattern="*.c"), ["a.c", "b/.hidden/h.c", "b/B.c", "new\nline.c"])
        self.assertEqual(self.find(pattern="*.log"), ["b/keep.log"])
        self.assertEqual(self.find(pattern="**/only-here"), ["b/deep/only-here"])
        self.assertEqual(self.find(pattern="b/*.c"), ["b/B.c"])
        self.assertEqual(self.find(pattern="B.C"), [])
        self.assertEqual(self.find(pattern="b.c"), ["b/B.c"])

    def test_rules_of_directories_above_count(self):
        self.assertEqual(self.find(pattern="*", path="b/deep"), ["only-here"])
        self.assertEqual(self.find(pattern="*.log", path="b"), ["keep.log"])

    def test_grep(self):
        self.assertEqual(self.lines(pattern=r"int \w+;", path="a.c"), ["a.c:1: int one;", "a.c:2: int two;"])
        found = self.lines(pattern="^int")
        self.assertEqual(found[0], "a.c:1: int one;")
        self.assertFalse(any("ignored" in f or "built" in f or "git" in f or "binary" in f for f in found))
        self.assertEqual(self.lines(pattern="INT THREE", ignoreCase=True), ["b/B.c:1: int three; /* é */"])
        self.assertEqual(self.lines(pattern="/* é", literal=True), ["b/B.c:1: int three; /* é */"])
        self.assertEqual(self.lines(pattern=r"(\w)\1(?=ee)"), ["No matches found"])
        self.assertEqual(self.lines(pattern=r"(e)\1;"), ["b/B.c:1: int three; /* é */"])

    def test_ignored_matches_are_no_silent_zero(self):
        result = self.server.result("grep", pattern="built")
        self.assertEqual((result["content"], result["details"]["ignoredMatches"]), ("No matches found", 1))

    def test_bad_patterns(self):
        for pattern in ("(", "[a", "a{2,1}", "*a", "(?<x", "x" * 100000 + "(", "(.{1,100}x){1,100}"):
            code, sentence = self.server.error("grep", pattern=pattern)
            self.assertEqual(code, "INVALID_REGEX", pattern[:20])
            self.assertTrue(sentence)
        self.assertEqual(self.server.error("find", pattern="[a")[0], "INVALID_GLOB")
        self.assertEqual(self.server.error("grep", pattern="a", glob="{a")[0], "INVALID_GLOB")

    def test_bad_places(self):
        for tool in ("find", "grep"):
            self.assertEqual(self.server.error(tool, pattern="a", path="missing")[0], "FILE_NOT_FOUND")
            self.assertEqual(self.server.error(tool, pattern="a", path="../..")[0], "PATH_OUTSIDE_WORKSPACE")
        self.assertEqual(self.server.error("find", pattern="a", path="a.c")[0], "NOT_A_DIRECTORY")

    def test_links_are_not_followed(self):
        outside = os.path.join(self.server.dir, "outside")
        os.makedirs(outside, exist_ok=True)
        with open(os.path.join(outside, "secret.c"), "w") as f:
            f.write("int secret;\n")
        os.symlink(outside, self.server.path("link"))
        os.symlink(os.path.join(outside, "secret.c"), self.server.path("link.c"))
        self.addCleanup(os.unlink, self.server.path("link"))
        self.addCleanup(os.unlink, self.server.path("link.c"))
        self.assertEqual(self.lines(pattern="int secret"), ["No matches found"])
        self.assertEqual(self.find(pattern="secret.c"), [])
        self.assertIn("link.c", self.find(pattern="link*"))
        self.assertEqual(self.server.error("grep", pattern="int", path="link")[0], "SYMLINK_OUTSIDE_WORKSPACE")

    def test_slow_patterns_are_not_slow(self):
        self.server.put("long", "a" * 1000000 + "\n")
        self.addCleanup(os.unlink, self.server.path("long"))
        for pattern in ("(a+)+$b", "(a|a)*b", "(a*)*c", "a*a*a*a*a*b", "(x+x+)+y", "(.*)*x"):
            self.assertEqual(self.lines(pattern=pattern, path="long"), ["No matches found"])

    def test_a_pattern_built_to_be_slow_ends_by_its_budget(self):
        server = self.start(flags=["--search-seconds", "1"])
        server.put("slow", ("a" * 4000 + "\n") * 2000)
        answer = server.call("grep", pattern=r"(?=(a+)+b)(a+)+\1c", path="slow")
        self.assertIn(answer.status, (200, 400))
        if answer.status == 400:
            self.assertEqual(answer.json()["code"], "SEARCH_TIMEOUT")
        self.assertEqual(server.request("GET", "/health").status, 200)

    def test_the_same_answer_every_time(self):
        answers = {self.server.call("grep", pattern="int", context=1, limit=5).body for _ in range(30)}
        self.assertEqual(len(answers), 1)


class AgainstGit(SidecarTest):
    def test_find_lists_what_git_would(self):
        if not shutil.which("git"):
            self.skipTest("git is not installed")
        ws = self.server.workspace
        subprocess.run(["git", "init", "-q", ws], check=True)
        self.server.put(".gitignore", "*.o\n!keep.o\nnode_modules\n/top\ndocs/**/tmp\nspace\\ \n")
        for name in ("a.o", "keep.o", "x/a.o", "node_modules/m/i.js", "top/f", "x/top/f", "docs/a/b/tmp", "docs/tmp", "src/m.c", "space "):
            self.server.put(name, "x\n")
        listed = subprocess.run(["git", "-C", ws, "ls-files", "-z", "-co", "--exclude-standard"], check=True,
                                capture_output=True).stdout.decode().split("\0")[:-1]
        found = [f for f in self.server.result("find", pattern="*", limit=10000)["files"] if not f.endswith("/")]
        self.assertEqual(sorted(found), sorted(listed))


if __name__ == "__main__":
    unittest.main()
