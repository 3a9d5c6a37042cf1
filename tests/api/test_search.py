"""POST /find and /grep beyond the recorded cases."""
import contextlib
import json
import os
import random
import select
import shutil
import subprocess
import threading
import unittest

from harness import SidecarTest, is_sanitized, machine, post


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
        self.assertEqual(self.find(pattern="only-here"), ["b/deep/only-here"])
        # As the Node server did; for models and in pages the rules apply here too.
        self.assertEqual(self.find(pattern="**/only-here"), ["b/deep/only-here", "b/only-here"])
        self.assertEqual(self.find(pattern="**/*.log"), ["b/keep.log", "out.log"])
        self.assertEqual(self.find(pattern="b/*.log"), ["b/keep.log"])
        self.assertEqual(self.find(pattern="b/only*"), ["b/only-here"])
        self.assertEqual(self.find(pattern="*/only-here", path="."), ["b/only-here"])
        self.assertEqual(self.find(pattern="**/only-here", cursor=""), ["b/deep/only-here"])
        self.assertEqual(self.find(pattern="b/only*", cursor=""), [])
        self.assertEqual(self.server.output("find_files", pattern="**/only-here")["files"], ["b/deep/only-here"])
        self.assertEqual(self.find(pattern="b/*.c"), ["b/B.c"])
        self.assertEqual(self.find(pattern="B.C"), [])
        self.assertEqual(self.find(pattern="b.c"), ["b/B.c"])

    def test_a_glob_may_be_meant_from_the_workspace(self):
        shown = ["B.c:1: int three; /* é */"]
        for glob in ("B.c", "/B.c", "b/*.c", "/b/*.c", "b/**/B.c", "b/[A-C].c"):
            self.assertEqual(self.lines(pattern="int", path="b", glob=glob), shown, glob)
        self.assertEqual(self.lines(pattern="int", path="b", glob="b/.hidden/**"), [".hidden/h.c:1: int hidden;"])
        for glob in ("b/h.c", "b/b/*.c", "a/*.c", "b/", "b"):
            self.assertEqual(self.lines(pattern="int", path="b", glob=glob), ["No matches found"], glob)
        self.assertNotIn(shown[0], self.lines(pattern="int", path="b", glob="!b/B.c"))
        self.assertIn(".hidden/h.c:1: int hidden;", self.lines(pattern="int", path="b", glob="!b/*.c"))
        found = self.server.output("search_files", pattern="int", path="b", file_pattern="b/*.c")
        self.assertEqual([m["file"] for m in found["matches"]], ["b/B.c"])

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
        for pattern, offset, reason in (("ab(c", 2, "group is not closed"), ("x[a", 1, "not closed"), ("a{2,1}", 1, "out of order")):
            sentence = self.server.error("grep", pattern=pattern)[1]
            self.assertIn("byte %d" % offset, sentence)
            self.assertIn(reason, sentence)
            self.assertIn("literal:true", sentence)
        for glob in ("[a", "[z-a]", "[[:no:]]"):
            self.assertEqual(self.server.error("find", pattern=glob)[0], "INVALID_GLOB")
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

    def test_find_enters_the_plain_part_of_a_pattern(self):
        root = self.server.workspace
        self.server.put("elsewhere/One.ts", "")
        self.server.put("elsewhere/deep/two.ts", "")
        os.symlink("elsewhere", self.server.path("linkdir"))
        self.addCleanup(os.unlink, self.server.path("linkdir"))
        for pattern, path, files in (
                ("build/*", None, ["build/x.c"]),                       # although it is ignored
                ("build/**", None, ["build/x.c"]),
                ("./build/x.c", None, ["build/x.c"]),
                ("/build/*.c", None, ["build/x.c"]),
                ("build/*.log", None, []),
                ("*/x.c", None, ["build/x.c"]),                         # no plain part
                ("linkdir/*.ts", None, ["linkdir/One.ts"]),             # although it is a link
                ("linkdir/**/*.ts", None, ["linkdir/One.ts", "linkdir/deep/two.ts"]),
                ("linkdir/deep/two.ts", None, ["linkdir/deep/two.ts"]),
                ("**/one.ts", None, ["elsewhere/One.ts"]),
                (root + "/linkdir/*.ts", None, [root + "/linkdir/One.ts"]),
                (root + "/a.*", None, [root + "/a.c"]),
                (root + "/**/two.ts", None, [root + "/elsewhere/deep/two.ts"]),
                ("deep/*.ts", "linkdir", ["deep/two.ts"]),
                (root + "/linkdir/deep/*.ts", "linkdir", [root + "/linkdir/deep/two.ts"]),
                ("/deep/*.ts", "elsewhere", ["deep/two.ts"]),           # from the top of the searched directory
                ("../build/*.c", "b", ["../build/x.c"]),
                ("else*/*.ts", None, ["elsewhere/One.ts"]),
                ("else\\where/*.ts", None, ["elsewhere/One.ts"]),
                ("ELSEWHERE/*.ts", None, []),
                ("elsewhere/one.*", None, ["elsewhere/One.ts"]),        # any case, because no letter is upper-case
                ("elsewhere/ONE.*", None, []),
                ("B/b.*", None, []),
                ("b/b.*", None, ["b/B.c"]),
                ("a.c/*", None, []),
                ("nowhere/*", None, [])):
            arguments = {"pattern": pattern, **({"path": path} if path else {})}
            self.assertEqual(self.find(**arguments), files, arguments)
        self.server.put("Upper/x.TS", "")
        self.assertEqual(self.find(pattern="upper/*.ts"), ["Upper/x.TS"])
        self.assertEqual(self.find(pattern="Upper/*.ts"), [])
        self.assertEqual(self.server.error("find", pattern="../../*")[0], "PATH_OUTSIDE_WORKSPACE")
        self.assertEqual(self.server.output("find_files", pattern="build/*")["files"], ["build/x.c"])
        self.assertEqual(self.server.output("find_files", pattern="deep/*", path="linkdir")["files"], ["linkdir/deep/two.ts"])
        self.assertEqual(self.server.output("find_files", pattern=root + "/linkdir/*.ts")["files"], ["linkdir/One.ts"])
        self.assertEqual(self.server.output("find_files", pattern="/b/*.c")["files"], ["b/B.c"])

    def test_what_a_pattern_enters_is_contained(self):
        outside = os.path.join(self.server.dir, "outside")
        os.makedirs(outside, exist_ok=True)
        with open(os.path.join(outside, "secret.c"), "w", encoding="ascii"):
            pass
        os.symlink(outside, self.server.path("leads-out"))
        self.addCleanup(os.unlink, self.server.path("leads-out"))
        self.assertEqual(self.server.error("find", pattern="leads-out/*.c")[0], "SYMLINK_OUTSIDE_WORKSPACE")
        self.assertEqual(self.server.failure("find_files", pattern="leads-out/*.c")[0], "SYMLINK_OUTSIDE_WORKSPACE")
        self.assertEqual(self.find(pattern=outside + "/*.c"), [])

    def test_what_a_pattern_enters_in_pages(self):
        names = ["many/%d.ts" % i for i in range(10, 40)]
        for name in names:
            self.server.put(name, "")
        found, cursor = [], ""
        while cursor is not None:
            result = self.server.result("find", pattern="many/*.ts", limit=7, cursor=cursor)
            found += result["files"]
            cursor = result.get("nextCursor")
        self.assertEqual(found, names)

    def test_extended_globs(self):
        for name in ("main.ts", "other.ts", "more.tsx", "mm.ts"):
            self.server.put("ext/" + name, "")
        for pattern, files in (("!(main).ts", ["mm.ts", "other.ts"]), ("!(main|other).ts", ["mm.ts"]),
                               ("@(main|other).ts", ["main.ts", "other.ts"]), ("*.ts?(x)", ["main.ts", "mm.ts", "more.tsx", "other.ts"]),
                               ("+(m).ts", ["mm.ts"]), ("*(m)@(ain|ore).*", ["main.ts", "more.tsx"])):
            self.assertEqual(self.find(pattern="ext/" + pattern), ["ext/" + name for name in files], pattern)
            self.assertEqual(self.find(pattern=pattern, path="ext"), files, pattern)
        self.assertEqual(self.server.error("find", pattern="ext/!(a|!(b))")[0], "INVALID_GLOB")
        found = self.lines(pattern="^", glob="*.@(c|h)", path="b")
        self.assertIn("B.c:1: int three; /* é */", found)

    def test_a_late_match_in_a_very_long_line(self):
        """What is shown of it is not its beginning, and says so."""
        self.server.put("endless", "first\n" + "x" * (1 << 20) + "needle, and the end\nlast\n")
        self.addCleanup(os.unlink, self.server.path("endless"))
        result = self.server.result("grep", pattern="needle", path="endless", context=1)
        lines = result["content"].split("\n")
        self.assertRegex(lines[0], r"^endless:2: \[truncated\] \.\.\.x*needle, and the end$")
        self.assertEqual(lines[1:], ["endless-3- last", "", "[Some lines truncated to 500 chars. Use read tool to see full lines]"])
        self.assertTrue(result["details"]["linesTruncated"])
        # As context, too.
        lines = self.server.result("grep", pattern="^last", path="endless", context=1)["content"].split("\n")
        self.assertRegex(lines[0], r"^endless-2- \[truncated\] \.\.\.x*needle, and the end$")
        self.assertEqual(lines[1], "endless:3: last")
        # The first part of the line has its beginning.
        lines = self.server.result("grep", pattern="^x", path="endless")["content"].split("\n")
        self.assertRegex(lines[0], r"^endless:2: x{500}\.\.\. \[truncated\]$")
        out = self.server.output("search_files", pattern="needle", path="endless")
        self.assertRegex(out["matches"][0]["content"], r"^\.\.\.x*needle, and the end$")
        match = self.server.result("search", pattern="needle", path="endless")["matches"][0]
        self.assertTrue(match["cut"])
        self.server.put("whole", "x" * 1000 + "\nneedle\n")
        self.addCleanup(os.unlink, self.server.path("whole"))
        self.assertEqual(self.lines(pattern="needle", path="whole"), ["whole:2: needle"])

    def test_slow_patterns_are_not_slow(self):
        self.server.put("long", "a" * 1000000 + "\n")
        self.addCleanup(os.unlink, self.server.path("long"))
        # Exponential and quadratic for those who backtrack; the time a search has is the limit.
        for pattern in ("(a+)+$b", "(a|a)*b", "(a*)*c", "a*a*a*a*a*b", "(x+x+)+y", "(.*)*x", "(a+)+[^a]", "(a|aa)+[^a]",
                        "a*a*a*a*a*[^a]", "(a?){30}a{30}[^a]", ".*.*[^a]", r"\w+\d", "[ab]*a[ab]{11}[^ab]"):
            self.assertEqual(self.lines(pattern=pattern, path="long"), ["No matches found"])

    def test_a_pattern_built_to_be_slow_ends_by_its_budget(self):
        server = self.start(flags=["--search-seconds", "1"])
        server.put("slow", ("a" * 4000 + "\n") * 2000)
        answer = server.call("grep", pattern=r"(?=(a+)+b)(a+)+\1c", path="slow")
        self.assertIn(answer.status, (200, 400))
        if answer.status == 400:
            self.assertEqual(answer.json()["code"], "SEARCH_TIMEOUT")
        for pattern in (r"(a+)+\1[^a]", "(?=a)a*a*a*a*[bc]", "(?<=a)(a|a)*[bc]", r"(a|aa)+\1[bc]"):
            code, sentence = server.error("grep", pattern=pattern, path="slow")
            if code == "INVALID_REGEX" and "PCRE2" in sentence:
                self.skipTest("built without PCRE2")
            self.assertEqual(code, "SEARCH_TIMEOUT", pattern)
        self.assertEqual(server.request("GET", "/health").status, 200)

    def test_others_are_served_beside_slow_searches(self):
        # Random letters need more states than there is memory for: about the slowest there is.
        line = "".join(random.Random(1).choices("ab", k=1 << 20)) + "\n"
        self.server.put("states", line * 16)
        self.addCleanup(os.unlink, self.server.path("states"))
        request = post("/grep", json.dumps({"pattern": "[ab]*a[ab]{14}[^ab]", "path": "states"}))
        with contextlib.ExitStack() as stack:
            searches = [stack.enter_context(self.server.connect()) for _ in range(4)]
            for s in searches:
                s.sendall(request)
            for _ in range(10):
                self.assertEqual(self.server.request("GET", "/health").status, 200)
            self.assertEqual(select.select(searches, [], [], 0)[0], [], "a search was over before /health was answered")
        # Hanging up has ended them: the next search has the machine for itself.
        self.assertEqual(self.find(pattern="states"), ["states"])

    def test_the_same_answer_every_time(self):
        answers = {self.server.call("grep", pattern="int", context=1, limit=5).body for _ in range(30)}
        self.assertEqual(len(answers), 1)


class OddTrees(SidecarTest):
    def setUp(self):
        self.server = self.start()

    def test_names(self):
        self.server.put(os.fsdecode(b"caf\xe9/\xff.txt"), "needle\n")
        self.server.put("two\nlines", "needle\n")
        self.assertEqual(self.server.result("find", pattern="*")["files"], ["caf\ufffd/", "caf\ufffd/\ufffd.txt", "two\nlines"])
        self.assertEqual(self.server.result("grep", pattern="needle")["content"],
                         "caf\ufffd/\ufffd.txt:1: needle\ntwo\nlines:1: needle")

    @unittest.skipIf(machine.root() and not machine.two_users(), "root may read everything, and there is no setpriv")
    def test_what_may_not_be_read_is_counted(self):
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        server = self.server
        if prefix:
            server.stop()
            os.chmod(server.dir, 0o777)
            os.chmod(server.workspace, 0o777)
            server.prefix = prefix
            os.chmod(server.log_path, 0o666)
            server.start()
        server.put("open/a", "needle\n", 0o644)
        server.put("closed/b", "needle\n", 0o644)
        server.put("c", "needle\n", 0)
        os.chmod(server.path("open"), 0o755)
        os.chmod(server.path("closed"), 0)
        self.addCleanup(os.chmod, server.path("closed"), 0o755)
        out = server.output("search_files", pattern="needle")
        self.assertEqual(([m["file"] for m in out["matches"]], out["skipped"]["unreadable"]), (["open/a"], 2))
        self.assertEqual(server.result("find", pattern="*")["files"], ["c", "closed/", "open/", "open/a"])
        self.assertEqual(server.error("grep", pattern="x", path="closed")[0], "PERMISSION_DENIED")
        self.assertEqual(server.error("grep", pattern="x", path="c")[0], "PERMISSION_DENIED")

    def test_huge_files_cost_little_memory(self):
        with open(self.server.path("hole"), "wb") as f:
            f.truncate(2 << 30)
        with open(self.server.path("text then hole"), "wb") as f:
            f.write(b"needle\n" * 40 + b"hay\n" * 40000)
            f.truncate(2 << 30)
        self.server.put("one line", b"x" * (24 << 20) + b"needle")
        before = self.server.rss("VmHWM")
        out = self.server.output("search_files", pattern="needle")
        self.assertEqual(([m["file"] for m in out["matches"]], out["skipped"]["binary"]), (["one line"], 2))
        self.assertEqual(out["matches"][0]["line"], 1)
        if not is_sanitized():
            self.assertLess(self.server.rss("VmHWM") - before, 16 << 10)

    def test_trees_that_change_meanwhile(self):
        for i in range(40):
            self.server.put("d%d/e/f" % i, "needle\n")
        stop = threading.Event()

        def change():
            while not stop.is_set():
                for i in range(0, 40, 2):
                    with open(self.server.path("d%d/e/f" % (i + 1)), "ab") as f:
                        f.write(b"needle\n" * 100)
                    shutil.rmtree(self.server.path("d%d" % i))
                    self.server.put("d%d/e/f" % i, "needle\n")

        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(30):
                found = self.server.output("search_files", pattern="needle", mode="files")["matches"]
                stay = [m["file"] for m in found if int(m["file"].split("/")[0][1:]) % 2]
                self.assertEqual(stay, sorted("d%d/e/f" % i for i in range(1, 40, 2)))
        finally:
            stop.set()
            thread.join()


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


class Pages(SidecarTest):
    """POST /search, and /find with a cursor: everything, page by page."""

    def all_matches(self, **arguments):
        matches, cursor, pages = [], "", 0
        while cursor is not None:
            result = self.server.result("search", cursor=cursor, **arguments)
            matches += result["matches"]
            cursor = result.get("nextCursor")
            self.assertEqual(result["stoppedBecause"], "limit" if cursor else "complete")
            pages += 1
        return matches, pages

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        put = cls.server.put
        put("many/a.txt", "".join("line %d\n" % i for i in range(1, 251)))
        put("many/b.txt", "".join("line %d\n" % i for i in range(1, 251)))
        put("few/x.c", "int one;\nint two(void);\nreturn one;\nstone\nend\n")
        put("few/y.py", "one = 1\nprint(one)\n")
        put("few/.gitignore", "hidden.c\n")
        put("few/hidden.c", "one\n")
        put("few/sub/z.c", "one\n")
        for i in range(60):
            put("names/%s%02d" % ("n" * 200, i), "")

    def test_pages_join_to_the_whole(self):
        whole, _ = self.all_matches(pattern="line", path="many")
        self.assertEqual([(m["path"], m["line"], m["lines"]) for m in whole],
                         [(f, i, ["line %d" % i]) for f in ("a.txt", "b.txt") for i in range(1, 251)])
        for limit in (1000, 499, 100, 7):
            got, pages = self.all_matches(pattern="line", path="many", limit=limit)
            self.assertEqual(got, whole, limit)
            self.assertEqual(pages, -(-500 // limit))
        result = self.server.result("search", pattern="line", path="many/a.txt", limit=3)
        self.assertEqual(([m["line"] for m in result["matches"]], result["isFile"]), ([1, 2, 3], True))
        self.assertEqual(self.server.result("search", pattern="line", path="many/a.txt", limit=2,
                                            cursor=result["nextCursor"])["matches"][0]["line"], 4)

    def found(self, **arguments):
        return [(m["path"], m.get("line"), m.get("count")) for m in self.server.result("search", path="few", **arguments)["matches"]]

    def test_what_models_have(self):
        self.assertEqual(self.found(pattern="one", mode="files"), [("sub/z.c", None, None), ("x.c", None, None), ("y.py", None, None)])
        self.assertEqual(self.found(pattern="one", mode="counts"), [("sub/z.c", None, 1), ("x.c", None, 3), ("y.py", None, 2)])
        self.assertEqual(self.found(pattern="one", types=["py"]), [("y.py", 1, None), ("y.py", 2, None)])
        self.assertEqual(self.found(pattern="stone", types=["py", "c"]), [("x.c", 4, None)])
        self.assertEqual(self.found(pattern="one", globs=["*.c", "!sub"], mode="files"), [("x.c", None, None)])
        self.assertEqual(self.found(pattern="one", globs=["few/*.c"], mode="files"), [("x.c", None, None)])
        self.assertEqual(self.found(pattern=r"two.*\n.*one", multiline=True), [("x.c", 2, None)])
        self.assertEqual(self.server.result("search", path="few", pattern=r"two.*\n.*one", multiline=True)["matches"],
                         [{"path": "x.c", "line": 2, "lines": ["int two(void);", "return one;"]}])
        self.assertEqual(self.found(pattern="one", noIgnore=True, mode="files")[0], ("hidden.c", None, None))
        self.assertEqual(self.found(pattern="ONE", ignoreCase=True, types=["py"]), [("y.py", 1, None), ("y.py", 2, None)])

    def test_context_on_each_side(self):
        for before, after in ((0, 0), (1, 0), (0, 2), (2, 1)):
            match = self.server.result("search", path="few/x.c", pattern="return", before=before, after=after)["matches"][0]
            self.assertEqual(match.get("before", []), ["int one;", "int two(void);"][2 - before:])
            self.assertEqual(match.get("after", []), ["stone", "end"][:after])
            self.assertEqual((match["line"], match["lines"]), (3, ["return one;"]))

    def test_odd_numbers(self):
        for before, after, limit in ((-1, -1, -1), (1e300, -1e300, 1e300), (1 << 62, 1 << 62, 1 << 62), ("1", None, [])):
            matches = self.server.result("search", path="few/x.c", pattern="return", before=before, after=after, limit=limit)["matches"]
            self.assertEqual([m["line"] for m in matches], [3])

    def test_long_lines_are_marked(self):
        self.server.put("long/l", "x" * 5000 + "\nx\n")
        first, second = self.server.result("search", path="long", pattern="x")["matches"]
        self.assertEqual((first["cut"], len(first["lines"][0]) > 500, "cut" in second), (True, True, False))

    def test_what_is_refused(self):
        for arguments, code in (({"pattern": ""}, "INVALID_ARGUMENTS"), ({}, "INVALID_ARGUMENTS"), ({"pattern": "("}, "INVALID_REGEX"),
                                ({"pattern": "x", "types": ["nope"]}, "INVALID_ARGUMENTS"),
                                ({"pattern": "x", "globs": ["*"] * 65}, "INVALID_ARGUMENTS"),
                                ({"pattern": "x", "cursor": "nonsense"}, "INVALID_ARGUMENTS"),
                                ({"pattern": "x", "path": "../.."}, "PATH_OUTSIDE_WORKSPACE")):
            self.assertEqual(self.server.error("search", **arguments)[0], code, arguments)

    def test_find_in_pages(self):
        names, cursor = [], ""
        while cursor is not None:
            result = self.server.result("find", pattern="*", path="names", limit=25, cursor=cursor)
            names += result["files"]
            cursor = result.get("nextCursor")
            self.assertEqual(result["truncated"], cursor is not None)
        self.assertEqual(names, sorted(os.listdir(self.server.path("names"))))
        self.assertEqual(self.server.result("find", pattern="*", path="names", limit=9999, cursor="")["files"], names)


if __name__ == "__main__":
    unittest.main()
