"""search_files: matches, accounts, modes, and going on where a limit stopped."""
import os
import unittest

from harness import SidecarTest


class Search(SidecarTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        s = cls.server
        s.put("src/a.c", "int alpha;\nint beta;\nint alpha_two;\n")
        s.put("src/b.py", "alpha = 1\n")
        s.put("src/sub/c.c", "/* alpha */\n")
        s.put("src/bin", b"alpha\0")
        s.put(".gitignore", "build/\n")
        for i in range(14):
            s.put("build/%d.c" % i, "only_ignored\n")
        s.put(".git/config", "alpha\n")
        s.put("long.txt", "needle" + "x" * 600 + "\n" + "needle" + "\U0001f600" * 300 + "\n")

    def search(self, pattern, **arguments):
        return self.server.output("search_files", pattern=pattern, **arguments)

    def places(self, out):
        return [(m["file"], m.get("line")) for m in out["matches"]]

    def test_matches(self):
        out = self.search("alpha")
        self.assertEqual(out["matches"][0], {"file": "src/a.c", "line": 1, "content": "int alpha;"})
        self.assertEqual(self.places(out), [("src/a.c", 1), ("src/a.c", 3), ("src/b.py", 1), ("src/sub/c.c", 1)])
        self.assertEqual((out["total_matches"], out["truncated"]), (4, False))
        self.assertNotIn("stopped_because", out)
        self.assertNotIn("next_cursor", out)
        self.assertGreaterEqual(out["files_searched"], 3)
        self.assertEqual(set(out["skipped"]), {"ignored", "hidden", "binary", "too_large", "unreadable"})
        self.assertEqual((out["skipped"]["ignored"], out["skipped"]["hidden"], out["skipped"]["binary"]), (1, 1, 1))

    def test_where(self):
        self.assertEqual(self.places(self.search("alpha", path="src/sub")), [("src/sub/c.c", 1)])
        self.assertEqual(self.places(self.search("alpha", path="src/b.py")), [("src/b.py", 1)])
        self.assertEqual(self.places(self.search("alpha", file_pattern="*.py")), [("src/b.py", 1)])
        self.assertEqual(self.places(self.search("alpha", type="py")), [("src/b.py", 1)])
        self.assertEqual(self.server.failure("search_files", pattern="a", type="nonsense")[0], "INVALID_ARGUMENTS")
        self.assertEqual(self.server.failure("search_files", pattern="a", path="none")[0], "FILE_NOT_FOUND")
        self.assertEqual(self.server.failure("search_files", pattern="a", path="..")[0], "PATH_OUTSIDE_WORKSPACE")

    def test_no_silent_zero(self):
        out = self.search("only_ignored")
        self.assertEqual(out["matches"], [])
        self.assertEqual(out["note"], "no matches; 14 matching files are ignored by .gitignore")
        self.assertNotIn("note", self.search("nowhere at all"))

    def test_long_lines_left_out_are_counted(self):
        self.server.put("wide/a.txt", "needle " + "y" * 9000 + "\nneedle\n" + "needle " + "y" * 9000)
        out = self.server.observe("search_files", pattern="needle(?= )", path="wide")
        if not out["success"]:
            self.skipTest("built without PCRE2")
        self.assertEqual((out["output"]["matches"], out["output"]["skipped"]["long_lines"]), ([], 2))
        self.assertIn("2 lines over 8 KB", out["output"]["note"])
        found = self.search("needle(?!x)", path="wide")
        self.assertEqual((self.places(found), found["skipped"]["long_lines"]), ([("wide/a.txt", 2)], 2))
        wire = self.server.result("grep", pattern="needle(?= )", path="wide")
        self.assertEqual((wire["content"], wire["details"]), ("No matches found", {"longLinesSkipped": 2}))
        self.assertNotIn("long_lines", self.search("needle", path="wide")["skipped"])

    def test_a_pattern_that_tries_too_much_is_told_so(self):
        self.server.put("slow/slow.txt", "a" * 8000 + "\n")
        code, message = self.server.failure("search_files", pattern="(?=a)a*a*a*a*[bc]", path="slow")
        if code == "INVALID_REGEX":
            self.skipTest("built without PCRE2")
        self.assertEqual(code, "SEARCH_TIMEOUT")
        self.assertIn("too many ways", message)

    def test_modes(self):
        self.assertEqual(self.search("alpha", mode="files", path="src")["matches"],
                         [{"file": "src/a.c"}, {"file": "src/b.py"}, {"file": "src/sub/c.c"}])
        self.assertEqual(self.search("alpha", mode="counts", path="src")["matches"][0], {"file": "src/a.c", "count": 2})

    def test_options(self):
        self.assertEqual(self.places(self.search("ALPHA", file_pattern="*.py")), [])
        self.assertEqual(self.places(self.search("ALPHA", file_pattern="*.py", ignore_case=True)), [("src/b.py", 1)])
        self.assertEqual(self.places(self.search("/* alpha", literal=True)), [("src/sub/c.c", 1)])
        out = self.search("alpha;\\nint b", multiline=True)
        self.assertEqual(out["matches"], [{"file": "src/a.c", "line": 1, "content": "int alpha;\nint beta;"}])
        self.assertEqual(self.search("beta", context=1)["matches"],
                         [{"file": "src/a.c", "line": 2, "content": "int beta;", "before": ["int alpha;"],
                           "after": ["int alpha_two;"]}])
        self.assertEqual(self.server.failure("search_files", pattern="a", context=21)[0], "INVALID_ARGUMENTS")

    def test_white_space_is_a_pattern(self):
        self.server.put("tab.txt", "a b\nc\td\n")
        for pattern, line in ((" ", 1), ("\t", 2)):
            self.assertEqual(self.places(self.search(pattern, path="tab.txt")), [("tab.txt", line)])
        code, message = self.server.failure("search_files", pattern="")
        self.assertEqual(code, "INVALID_ARGUMENTS")
        self.assertIn("pattern must be a non-empty string", message)

    def test_long_lines_are_cut(self):
        contents = [m["content"] for m in self.search("needle", path="long.txt")["matches"]]
        self.assertEqual(contents[0], "needle" + "x" * 494 + "...")
        self.assertEqual(contents[1], "needle" + "\U0001f600" * 247 + "...")

    def test_fifty_by_default(self):
        self.server.put("many.txt", "hit\n" * 51)
        out = self.search("hit", path="many.txt")
        self.assertEqual((len(out["matches"]), out["total_matches"], out["truncated"], out["stopped_because"]),
                         (50, 50, True, "limit"))
        self.server.put("many.txt", "hit\n" * 50)
        self.assertFalse(self.search("hit", path="many.txt")["truncated"])
        for wrong in (0, -1, 1001, "many"):
            self.assertEqual(self.server.failure("search_files", pattern="a", max_results=wrong)[0], "INVALID_ARGUMENTS")

    def collect(self, pattern, step, **arguments):
        """All matches, a few at a time."""
        matches, cursor = [], None
        for _ in range(1000):
            out = self.search(pattern, max_results=step, cursor=cursor, **arguments)
            self.assertLessEqual(len(out["matches"]), step)
            matches += out["matches"]
            cursor = out.get("next_cursor")
            self.assertEqual(out["truncated"], cursor is not None)
            if cursor is None:
                return matches
        self.fail("it does not end")

    def test_going_on_is_exact(self):
        for i in range(7):
            self.server.put("page/d%d/f %d%%.txt" % (i % 3, i), "hit\nmiss\n" * i + "hit")
        self.server.put(os.fsdecode(b"page/\xff\xc3.txt"), "hit\n")
        for arguments in ({}, {"mode": "files"}, {"mode": "counts"}, {"path": "page/d0/f 6%.txt"}, {"path": "page/d1"},
                          {"context": 1}):
            arguments = {"path": "page", **arguments}
            whole = self.search("hit", max_results=1000, **arguments)
            self.assertFalse(whole["truncated"])
            for step in (1, 2, 3, 7):
                self.assertEqual(self.collect("hit", step, **arguments), whole["matches"], (arguments, step))

    def test_going_on_after_too_much_for_one_answer(self):
        self.server.put("wide.txt", ("hit" + "w" * 490 + "\n") * 900)
        out = self.search("hit", path="wide.txt", max_results=1000)
        self.assertTrue(out["truncated"])
        self.assertLess(len(out["matches"]), 900)
        self.assertEqual(len(self.collect("hit", 1000, path="wide.txt")), 900)

    def test_bad_cursors(self):
        for cursor in ("x", ":", "1:", "-1:a", "1:%", "1:%zz", "1:%00", "99999999999999999999:a"):
            self.assertEqual(self.server.failure("search_files", pattern="a", cursor=cursor)[0], "INVALID_ARGUMENTS", cursor)
        self.assertEqual(self.search("alpha", cursor="1:../../etc/passwd")["truncated"], False)

    def test_a_search_is_the_same_every_time(self):
        first = self.search("a")
        for _ in range(20):
            self.assertEqual(self.search("a"), first)


class Budget(SidecarTest):
    env = {"SIDECAR_SEARCH_SECONDS": "1"}

    def test_a_pattern_that_takes_too_long(self):
        # Look-ahead makes it one for PCRE2, which tries all ways to divide the line in four.
        self.server.put("slow.txt", "a" * 8000 + "\n")
        pattern = "(?=a)a*a*a*a*[bc]"
        code, message = self.server.failure("search_files", pattern=pattern)
        if code == "INVALID_REGEX":
            self.skipTest("built without PCRE2")
        self.assertEqual(code, "SEARCH_TIMEOUT")
        self.assertIn("pattern", message)
        self.assertEqual(self.server.failure("search_files", pattern=pattern, path="slow.txt")[0], "SEARCH_TIMEOUT")
        self.server.put("quick.txt", "aab\n")
        out = self.server.output("search_files", pattern=pattern)
        self.assertEqual(out["matches"], [{"file": "quick.txt", "line": 1, "content": "aab"}])
        self.assertEqual((out["truncated"], out["stopped_because"]), (True, "timeout"))
        self.assertNotIn("next_cursor", out)
        wire = self.server.result("grep", pattern=pattern)
        self.assertEqual((wire["content"], wire["details"]), ("quick.txt:1: aab", {"timedOut": True}))


if __name__ == "__main__":
    unittest.main()
