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
        """All matches in order, a few at a time."""
        matches, cursor = [], "0:"
        for _ in range(1000):
            out = self.search(pattern, max_results=step, cursor=cursor, **arguments)
            self.assertLessEqual(len(out["matches"]), step)
            matches += out["matches"]
            cursor = out.get("next_cursor")
            self.assertEqual(out["truncated"], cursor is not None)
            self.assertNotIn("more_in", out)
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


class Spread(SidecarTest):
    """A search that is cut shows something of everywhere."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        s = cls.server
        for i in range(60):
            s.put("aaa/gen/f%02d.js" % i, "needle\n")
        s.put("package-lock.json", "needle\n" * 300)
        for i in range(70):
            s.put("one/src/deep/generated/g%d.c" % i, "pin needle\n")
        s.put("one/README", "pin\n")
        s.put("one/src/main.c", "pin\n")
        s.put("one/src/deep/mine.c", "pin\n")
        s.put("server.js", "needle\n")

    def counts(self, tool="search_files", key="matches", **arguments):
        """How many hits there are of each entry of the workspace, or of `below`; and the output."""
        out = self.server.output(tool, **arguments)
        tops = [(m["file"] if key == "matches" else m["name"] if key == "entries" else m).split("/")[0] for m in out[key]]
        return {top: tops.count(top) for top in tops}, out

    def test_each_entry_has_its_share(self):
        counts, out = self.counts(pattern="needle")
        self.assertEqual(counts, {"aaa": 17, "one": 16, "package-lock.json": 16, "server.js": 1})
        self.assertEqual([m["file"] for m in out["matches"]], sorted(m["file"] for m in out["matches"]))
        self.assertEqual((out["truncated"], out["stopped_because"]), (True, "limit"))
        self.assertEqual((out["more_in"], out["next_cursor"]), (["aaa/", "one/", "package-lock.json"], "0:"))
        for _ in range(10):
            self.assertEqual(self.counts(pattern="needle")[1]["matches"], out["matches"])
        text = self.server.call("tools/search_files?reply=openai&results=text", pattern="needle").json()["content"]
        self.assertIn("[50 matches in 35 files; more in aaa/, one/, package-lock.json; all, in order: cursor=0:]", text)
        self.assertIn("\nserver.js\n1: needle\n", text)

    def test_the_same_in_the_directory_that_has_most(self):
        files = [m["file"] for m in self.server.output("search_files", pattern="pin")["matches"]]
        self.assertEqual(len(files), 50)
        self.assertEqual({"one/README", "one/src/main.c", "one/src/deep/mine.c"} - set(files), set())

    def test_a_search_that_is_not_cut_is_not_spread(self):
        counts, out = self.counts(pattern="needle", max_results=1000)
        self.assertEqual((counts["aaa"], counts["package-lock.json"], out["truncated"]), (60, 300, False))
        self.assertNotIn("more_in", out)
        # In a single file, and among the entries of one directory, the first ones are shown, and the next follow.
        out = self.server.output("search_files", pattern="needle", path="package-lock.json")
        self.assertEqual((out["matches"][-1]["line"], out["next_cursor"]), (50, "50:package-lock.json"))
        out = self.server.output("search_files", pattern="needle", path="aaa")
        self.assertEqual((out["matches"][-1]["file"], out["next_cursor"]), ("aaa/gen/f49.js", "1:gen/f49.js"))

    def test_too_many_bytes_are_spread_too(self):
        s = self.server
        s.put("wide/a.txt", ("thread" + "w" * 480 + "\n") * 100)
        s.put("wide/z.txt", "thread\n")
        text = s.call("tools/search_files?reply=openai&results=text", pattern="thread", path="wide",
                      max_results=1000, max_bytes=5000).json()["content"]
        self.assertLessEqual(len(text), 5000)
        self.assertIn("\nwide/z.txt\n1: thread\n", text)
        self.assertIn("more in wide/a.txt; all, in order: cursor=0:]", text)

    def test_names_are_spread(self):
        counts, out = self.counts("find_files", "files", pattern="*", limit=20)
        self.assertEqual((counts["aaa"], counts["server.js"], out["more_in"]), (9, 1, ["aaa/", "one/"]))
        for i in range(600):
            self.server.put("tree/a/%d" % i, "")
        self.server.put("tree/z/last", "")
        counts, out = self.counts("list_directory", "entries", path="tree", recursive=True)
        self.assertEqual((counts, out["total"], out["more_in"]), ({"a": 498, "z": 2}, 500, ["a/"]))


class Filled(SidecarTest):
    """Directories that tools fill, in a workspace without ignore files."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        s = cls.server
        for i in range(60):
            s.put("app/node_modules/p%d/index.js" % i, "needle\n")
        s.put("app/node_modules/p1/package.json", "{}")
        s.put("app/node_modules/p1/dist/deep.js", "needle\n")
        s.put("app/package.json", "{}")
        s.put("app/server.js", "needle\n")
        s.put("app/src/app.js", "needle\n")

    def text(self, tool, **arguments):
        return self.server.call("tools/%s?reply=openai&results=text" % tool, **arguments).json()["content"]

    def files(self, **arguments):
        return {m["file"] for m in self.server.output("search_files", pattern="needle", **arguments)["matches"]}

    def test_the_projects_own_lines_are_found(self):
        out = self.server.output("search_files", pattern="needle", path="app")
        self.assertEqual([m["file"] for m in out["matches"]], ["app/server.js", "app/src/app.js"])
        self.assertEqual((out["truncated"], out["skipped"]["ignored"]), (False, 0))
        skipped = {"name": "node_modules", "path": "app/node_modules", "count": 1, "files": 62}
        self.assertEqual(out["skipped"]["directories"], [skipped])
        text = self.text("search_files", pattern="needle", path="app")
        self.assertIn("[2 matches in 2 files; skipped: node_modules (62 files); to include: path=app/node_modules]", text)

        out = self.server.output("find_files", pattern="*.js", path="app")
        self.assertEqual((out["files"], out["skipped"]), (["app/server.js", "app/src/app.js"], {"directories": [skipped]}))
        out = self.server.output("list_directory", path="app", recursive=True)
        self.assertEqual([e["name"] for e in out["entries"]],
                         ["node_modules", "package.json", "server.js", "src", "src/app.js"])
        self.assertEqual(out["skipped"]["directories"], [skipped])

    def test_named_they_are_searched(self):
        self.assertEqual(len(self.files(path="app/node_modules", max_results=100)), 61)
        # Nothing in it is skipped then: a package's dist is its code.
        self.assertEqual(self.files(path="app/node_modules/p1"), {"app/node_modules/p1/dist/deep.js", "app/node_modules/p1/index.js"})
        out = self.server.output("find_files", pattern="app/node_modules/p1/**/*.js")
        self.assertEqual(out["files"], ["app/node_modules/p1/dist/deep.js", "app/node_modules/p1/index.js"])
        self.assertEqual(self.server.output("list_directory", path="app/node_modules", recursive=True)["total"], 123)

    def test_what_a_glob_names_is_searched_as_it_is_found(self):
        package = {"app/node_modules/p1/dist/deep.js", "app/node_modules/p1/index.js"}
        for where in ({"file_pattern": "app/node_modules/p1/**"}, {"file_pattern": "app/node_modules/p1/**/*.js"},
                      {"path": "app", "file_pattern": "node_modules/p1/**"},
                      {"file_pattern": "./app/node_modules/p1/**"}):
            found = {f for f in self.server.output("find_files", pattern=where["file_pattern"], path=where.get("path", "."))["files"]
                     if f.endswith(".js")}
            self.assertEqual(self.files(**where), package, where)
            self.assertEqual({"app/" + f if not f.startswith("app") else f for f in found}, package, where)
        first = self.server.output("search_files", pattern="needle", file_pattern="app/node_modules/p1/**", max_results=1)
        rest = self.files(file_pattern="app/node_modules/p1/**", cursor=first["next_cursor"])
        self.assertEqual({first["matches"][0]["file"]} | rest, package)
        self.assertEqual(self.files(path="app", file_pattern="src/*.js"), {"app/src/app.js"})
        self.assertEqual(self.files(file_pattern="!app/node_modules/**", path="app"), {"app/server.js", "app/src/app.js"})
        self.assertEqual(self.files(file_pattern="nowhere/**"), set())
        self.assertEqual(self.server.failure("search_files", pattern="x", file_pattern="../x/**")[0],
                         self.server.failure("find_files", pattern="../x/**")[0])

    def test_nothing_found_is_no_silent_zero(self):
        self.server.put("app/node_modules/p2/more.js", "only_there\n")
        try:
            out = self.server.output("search_files", pattern="only_there", path="app")
            self.assertEqual((out["matches"], out["note"]), ([], "no matches; 1 matching file is in skipped directories"))
        finally:
            os.unlink(self.server.path("app/node_modules/p2/more.js"))

    def test_evidence_decides(self):
        s = self.server
        for name, evidence, skipped in (
                ("build", "Makefile", False), ("build", "package.json", False), ("build", "build/CMakeCache.txt", True),
                ("build", "build.gradle", True), ("target", "Makefile", False), ("target", "Cargo.toml", True),
                ("dist", "Makefile", False), ("dist", "package.json", True), ("venv", "package.json", False),
                ("venv", "venv/pyvenv.cfg", True), ("deps", "Makefile", False), ("deps", "mix.exs", True),
                ("node_modules", "Makefile", True), ("__pycache__", "Makefile", True), ("vendor", "vendor/mine.c", False),
                ("vendor", "vendor/modules.txt", True), ("_build", "conf.h", False), ("_build", "conf.py", True), (".next", "package.json", True),
                ("coverage", "package.json", False), ("coverage", "coverage/lcov.info", True)):
            top = "evidence-%s-%s" % (name, evidence.replace("/", "-"))
            s.put("%s/%s" % (top, evidence), "x\n")
            s.put("%s/%s/a.txt" % (top, name), "needle\n")
            self.assertEqual(self.files(path=top), set() if skipped else {"%s/%s/a.txt" % (top, name)}, (name, evidence))

    def test_an_ignore_file_that_speaks_of_it_decides(self):
        s = self.server
        s.put("spoken/package.json", "{}")
        s.put("spoken/node_modules/a.js", "needle\n")
        s.put("spoken/.gitignore", "!node_modules/\n")
        self.assertEqual(self.files(path="spoken"), {"spoken/node_modules/a.js"})
        s.put("spoken/.gitignore", "node_modules\n")
        out = s.output("search_files", pattern="needle", path="spoken")
        self.assertEqual((out["matches"], out["skipped"]["ignored"]), ([], 1))
        self.assertNotIn("directories", out["skipped"])

    def test_the_count_is_bounded(self):
        s = self.server
        s.put("huge/package.json", "{}")
        for i in range(1001):
            s.put("huge/node_modules/f%d" % i, "")
        out = s.output("find_files", pattern="*.json", path="huge")["skipped"]["directories"][0]
        self.assertEqual((out["files"], out["more"]), (1000, True))
        self.assertIn("skipped: node_modules (more than 1,000 files); to include: path=huge/node_modules",
                      self.text("find_files", pattern="*.json", path="huge"))
        s.put("many/one/__pycache__/a.pyc", "")
        s.put("many/two/__pycache__/b.pyc", "")
        self.assertIn("skipped: __pycache__ (2 directories, 2 files); to include: path=many/one/__pycache__]",
                      self.text("find_files", pattern="*.json", path="many"))

    def test_programs_get_what_they_got(self):
        self.assertEqual(self.server.result("grep", pattern="needle", path="app")["content"].count("node_modules"), 61)
        self.assertEqual(len(self.server.result("search", pattern="needle", path="app")["matches"]), 63)
        self.assertEqual(len(self.server.result("find", pattern="*.js", path="app")["files"]), 63)


if __name__ == "__main__":
    unittest.main()
