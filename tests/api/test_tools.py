"""The tools that models call: their definitions in every dialect, and files."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from conforms import faults
from harness import BIN, ROOT, SidecarTest

CORE = ["read_file", "write_file", "list_directory", "run_command", "search_files"]
FULL = CORE + ["edit_file", "multi_edit", "apply_patch", "find_files", "job_list", "job_output", "job_stop", "list_changes",
               "undo_change"]
FORMATS = ["ollama", "openai", "openai-strict", "openai-responses", "anthropic", "gemini", "mcp"]
REQUIRED = {
    "read_file": ["path"], "write_file": ["path", "content"], "list_directory": ["path"], "run_command": ["command"],
    "search_files": ["pattern"], "edit_file": ["path", "old_text", "new_text"], "multi_edit": ["path", "edits"],
    "apply_patch": ["patch"],
    "find_files": ["pattern"],
    "job_list": [], "job_output": ["job_id"], "job_stop": ["job_id"], "list_changes": [], "undo_change": ["id"],
}
# What the smallest models see, and nothing else.
SIMPLE = {
    "read_file": ["path", "start_line", "end_line", "line_numbers"], "write_file": ["path", "content", "create_dirs"],
    "list_directory": ["path", "recursive", "pattern"], "run_command": ["command", "timeout_ms"],
    "search_files": ["pattern", "path", "file_pattern", "max_results"],
}
OUTPUTS = {
    "read_file": {"content", "lines", "path", "total_lines", "truncated"},
    "write_file": {"path", "bytes_written", "created"},
    "list_directory": {"entries", "total", "path", "truncated"},
    "job_list": {"jobs"},
    "job_output": {"state", "exit_code", "output", "cursor", "dropped"},
    "job_stop": {"ok"},
    "list_changes": {"changes", "more"},
    "undo_change": {"change", "restored", "removed", "renamed", "conflicts"},
    "run_command": {"stdout", "stderr", "exit_code", "timed_out", "truncated", "duration_ms"},
    "search_files": {"matches", "total_matches", "files_searched", "truncated"},
    "edit_file": {"path", "diff", "replacements"}, "multi_edit": {"path", "diff", "replacements"},
    "apply_patch": {"files", "fuzz"},
    "find_files": {"files", "total", "truncated"},
}


def objects(schema):
    """Every object schema within a schema."""
    if isinstance(schema, dict):
        if "properties" in schema and "type" in schema:
            yield schema
        for value in schema.values():
            yield from objects(value)


class Definitions(SidecarTest):
    flags = ("--mcp-results", "structured")

    def get(self, query=""):
        answer = self.server.request("GET", "/tools" + query)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def tools(self, form, tool_set):
        """name: (description, schema of the arguments)"""
        listed = self.get("?format=%s&set=%s" % (form, tool_set))
        if form in ("ollama", "openai", "openai-strict"):
            self.assertEqual({t["type"] for t in listed}, {"function"})
            listed = [t["function"] for t in listed]
        if form == "openai-responses":
            self.assertEqual({(t["type"], t["strict"]) for t in listed}, {("function", False)})
        if form == "gemini":
            self.assertEqual(len(listed), 1)
            listed = listed[0]["functionDeclarations"]
        key = {"anthropic": "input_schema", "mcp": "inputSchema"}.get(form, "parameters")
        self.assertEqual({bool(t.get("strict")) for t in listed}, {form == "openai-strict"})
        return {t["name"]: (t["description"], t[key]) for t in listed}

    def test_sets_and_names_in_every_format(self):
        for form in FORMATS:
            for tool_set, names in (("core", CORE), ("full", FULL)):
                with self.subTest(form=form, set=tool_set):
                    tools = self.tools(form, tool_set)
                    self.assertEqual(list(tools), names)
                    for name, (about, schema) in tools.items():
                        self.assertRegex(name, r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")
                        self.assertTrue(about)
                        self.assertEqual(schema["type"], "OBJECT" if form == "gemini" else "object")
                        self.assertTrue(all(p["description"] for p in schema["properties"].values()))

    def test_images_are_promised_where_they_are_shown(self):
        for form in FORMATS:
            self.assertNotIn("image", self.tools(form, "core")["read_file"][0])
        shows = self.start()  # results by MCP are text
        listed = {tool["name"]: tool["description"] for tool in shows.request("GET", "/tools?format=mcp").json()}
        self.assertIn("image", listed["read_file"])

    def test_required(self):
        for form in FORMATS:
            for name, (_, schema) in self.tools(form, "full").items():
                with self.subTest(form=form, tool=name):
                    wanted = list(schema["properties"]) if form == "openai-strict" else REQUIRED[name]
                    self.assertEqual(schema["required"], wanted)

    def test_strict_means_required_and_nullable(self):
        for name, (_, schema) in self.tools("openai-strict", "full").items():
            for part in objects(schema):
                self.assertIs(part["additionalProperties"], False)
                self.assertEqual(part["required"], list(part["properties"]))
            for argument, p in schema["properties"].items():
                nullable = isinstance(p["type"], list) and "null" in p["type"]
                self.assertEqual(nullable, argument not in REQUIRED[name], (name, argument))
                if nullable and "enum" in p:
                    self.assertIn(None, p["enum"])

    def test_closed_where_the_dialect_knows_that(self):
        for form in FORMATS:
            for name, (_, schema) in self.tools(form, "full").items():
                for part in objects(schema):
                    self.assertEqual("additionalProperties" in part, form not in ("ollama", "gemini"), (form, name))

    def test_gemini_types_are_those_of_its_sdk(self):
        """The enum Type of @google/genai."""
        kinds = set()
        for _, schema in self.tools("gemini", "full").values():
            parts = [schema]
            while parts:
                part = parts.pop()
                kinds.add(part["type"])
                parts += [*part.get("properties", {}).values(), *([part["items"]] if "items" in part else [])]
        self.assertEqual(kinds, {"OBJECT", "STRING", "INTEGER", "BOOLEAN", "ARRAY"})

    def test_ollama_is_reduced_and_small(self):
        tools = self.tools("ollama", "core")
        for name, arguments in SIMPLE.items():
            self.assertEqual(list(tools[name][1]["properties"]), arguments)
        text = self.server.request("GET", "/tools").body
        self.assertLess(len(text), 4096)
        for word in (b"default\"", b"minimum", b"maximum", b"additionalProperties"):
            self.assertNotIn(word, text)

    def test_other_dialects_show_limits_and_defaults(self):
        p = self.tools("openai", "core")["run_command"][1]["properties"]["timeout_ms"]
        self.assertEqual((p["type"], p["default"], p["minimum"]), ("integer", 30000, 1))
        p = self.tools("openai", "core")["search_files"][1]["properties"]
        self.assertEqual((p["max_results"]["default"], p["mode"]["enum"]), (50, ["lines", "files", "counts"]))
        self.assertNotIn("default", self.tools("openai", "core")["read_file"][1]["properties"]["start_line"])

    def test_mcp_has_outputs_and_hints(self):
        for tool in self.get("?format=mcp"):
            name = tool["name"]
            observation = tool["outputSchema"]
            self.assertEqual(observation["required"], ["success", "tool", "output", "error"])
            output = observation["properties"]["output"]
            self.assertEqual(output["type"], ["object", "null"])
            self.assertLessEqual(OUTPUTS[name], set(output["properties"]))
            # A command in the background has nothing of these yet but its job's id.
            self.assertEqual(OUTPUTS[name] <= set(output["required"]), name != "run_command")
            self.assertTrue(tool["title"])
            hints = tool["annotations"]
            self.assertEqual(hints.pop("title"), tool["title"])
            self.assertEqual(set(hints), {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
            self.assertEqual(hints["readOnlyHint"],
                             name in ("read_file", "list_directory", "search_files", "find_files", "job_list",
                                      "job_output", "list_changes"))
            self.assertEqual(hints["openWorldHint"], name == "run_command")
            self.assertFalse(hints["readOnlyHint"] and hints["destructiveHint"])

    def test_defaults(self):
        self.assertEqual(self.get(), self.get("?format=ollama&set=core"))
        self.assertEqual(self.get("?format=mcp"), self.get("?format=mcp&set=full"))
        core = self.start(env={"SIDECAR_TOOL_SET": "core"})
        for query in ("?set=core", "?set=full"):
            self.assertEqual(core.request("GET", "/tools" + query).json(), self.get("?set=core"))
        self.assertEqual(len(core.request("GET", "/tools?format=mcp&set=full").json()), 5)
        self.assertEqual(core.request("GET", "/tools?set=all").status, 400)
        for env, query in (("full", "?set=full"), ("core", "?set=core")):
            server = self.start(env={"SIDECAR_TOOL_SET": env})
            self.assertEqual(server.request("GET", "/tools").json(), self.get(query))

    def test_anything_else_is_400(self):
        for query in ("?format=xml", "?format=OpenAI", "?set=all", "?set=core%zz", "?format=" + "a" * 100,
                      "?format=", "?set", "?format=ollama&set="):
            answer = self.server.request("GET", "/tools" + query)
            self.assertEqual((answer.status, answer.json()["ok"]), (400, False), query)

    def test_command_line_says_the_same(self):
        for form in FORMATS:
            for tool_set in ("core", "full"):
                done = subprocess.run([BIN, "tools", "--format", form, "--set=" + tool_set], check=True,
                                      capture_output=True)
                served = self.get("?format=%s&set=%s" % (form, tool_set))
                for tool in served if form == "mcp" else []:
                    del tool["outputSchema"]  # by default results are text, which images can stand beside
                    tool["description"] = tool["description"].replace("lines. Use", "lines, or an image. Use")
                self.assertEqual(json.loads(done.stdout), served)
        for wrong in (["--format", "xml"], ["--set"], ["--set", "all"], ["--bogus"], ["x"]):
            done = subprocess.run([BIN, "tools", *wrong], check=False, capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (2, b""), wrong)
            self.assertTrue(done.stderr)

    def test_the_page_is_up_to_date(self):
        done = subprocess.run([BIN, "tools", "--markdown"], check=True, capture_output=True)
        page = pathlib.Path(ROOT, "docs", "tools.md").read_bytes()
        self.assertEqual(page, done.stdout, "run: build/sidecar tools --markdown > docs/tools.md")
        for name in FULL:
            self.assertIn(b"## %s\n" % name.encode(), page)

    def test_outputs_conform_to_their_schemas(self):
        s = self.server
        s.put("c/a.txt", "one\ntwo\n")
        s.put("c/.gitignore", "no\n")
        s.put("c/no/a.txt", "hidden words\n")
        os.symlink("a.txt", s.path("c/link"))
        schemas = {t["name"]: t["outputSchema"] for t in self.get("?format=mcp")}
        calls = [
            ("read_file", {"path": "c/a.txt"}), ("read_file", {"path": "c/none"}),
            ("write_file", {"path": "c/new", "content": ""}), ("list_directory", {"path": "c", "recursive": True}),
            ("run_command", {"command": "sleep 60 & kill -9 $$"}), ("run_command", {"command": "false"}),
            ("run_command", {"command": "sleep 60", "timeout_ms": 50}), ("run_command", {"command": "dd"}),
            ("search_files", {"pattern": "t", "max_results": 1, "context": 1}),
            ("search_files", {"pattern": "hidden words"}), ("search_files", {"pattern": "o", "mode": "counts"}),
            ("search_files", {"pattern": "o", "mode": "files"}),
            ("edit_file", {"path": "c/a.txt", "old_text": "one", "new_text": "1"}),
            ("multi_edit", {"path": "c/a.txt", "edits": [{"old_text": "1", "new_text": "one"}]}),
            ("apply_patch", {"patch": "--- c/a.txt\n+++ c/a.txt\n@@ -1 +1 @@\n-one\n+1\n"}),
            ("find_files", {"pattern": "*", "limit": 1}), ("find_files", {"pattern": "none"}),
        ]
        for name, arguments in calls:
            with self.subTest(tool=name, arguments=arguments):
                self.assertEqual(faults(s.observe(name, **arguments), schemas[name]), [])


class Files(SidecarTest):
    def test_read_whole(self):
        self.server.put("a.txt", "one\ntwo\n")
        self.assertEqual(self.server.output("read_file", path="a.txt"),
                         {"content": "one\ntwo\n", "lines": 3, "path": "a.txt", "total_lines": 3, "truncated": False})
        self.server.put("empty", "")
        out = self.server.output("read_file", path="./empty")
        self.assertEqual((out["content"], out["lines"], out["total_lines"], out["path"]), ("", 1, 1, "empty"))

    def test_read_a_range(self):
        self.server.put("r.txt", "".join("line %d\n" % i for i in range(1, 21)))
        for arguments, first, last in (({"start_line": 3, "end_line": 5}, 3, 5), ({"end_line": 2}, 1, 2),
                                       ({"start_line": 20, "end_line": 20}, 20, 20)):
            out = self.server.output("read_file", path="r.txt", **arguments)
            self.assertEqual(out["content"], "\n".join("line %d" % i for i in range(first, last + 1)))
            self.assertEqual((out["lines"], out["total_lines"], out["truncated"]), (last - first + 1, 21, False))
        out = self.server.output("read_file", path="r.txt", start_line=19, end_line=10**9)
        self.assertEqual((out["content"], out["lines"]), ("line 19\nline 20\n", 3))

    def test_read_with_numbers(self):
        self.server.put("n.txt", "".join("x%d\n" % i for i in range(1, 12)))
        out = self.server.output("read_file", path="n.txt", start_line=9, end_line=10, line_numbers=True)
        self.assertEqual(out["content"], " 9\tx9\n10\tx10")

    def test_wrong_ranges(self):
        self.server.put("w.txt", "a\nb\n")
        code, message = self.server.failure("read_file", path="w.txt", start_line=4)
        self.assertEqual(code, "INVALID_ARGUMENTS")
        self.assertIn("3 lines", message)
        for wrong in ({"start_line": 0}, {"start_line": -1}, {"end_line": 0}, {"start_line": 3, "end_line": 2},
                      {"start_line": 1.5}, {"start_line": "one"}):
            self.assertEqual(self.server.failure("read_file", path="w.txt", **wrong)[0], "INVALID_ARGUMENTS", wrong)

    def test_large_files(self):
        line = "x" * 99 + "\n"
        self.server.put("big.txt", line * 52429)
        self.assertEqual(self.server.failure("read_file", path="big.txt"),
                         ("FILE_TOO_LARGE", "File is 5242900 bytes (max 1048576). Use start_line/end_line to read a range."))
        out = self.server.output("read_file", path="big.txt", start_line=50000, end_line=50001)
        self.assertEqual((out["content"], out["total_lines"]), (line + line[:-1], 52430))
        out = self.server.output("read_file", path="big.txt", start_line=1)
        self.assertTrue(out["truncated"])
        self.assertLessEqual(len(out["content"]), 1 << 20)
        self.assertEqual(out["lines"], len(out["content"].split("\n")))
        self.server.put("exact.txt", "y" * (1 << 20))
        self.assertEqual(len(self.server.output("read_file", path="exact.txt")["content"]), 1 << 20)
        self.server.put("one-line.txt", "z" * (2 << 20))
        self.assertEqual(self.server.failure("read_file", path="one-line.txt", start_line=1)[0], "FILE_TOO_LARGE")

    def test_binary(self):
        self.server.put("b.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        code, message = self.server.failure("read_file", path="b.png")
        self.assertEqual(code, "BINARY_FILE")
        self.assertIn("PNG image", message)
        self.assertIn("16 bytes", message)
        self.server.put("large.bin", bytes(3 << 20))
        self.assertEqual(self.server.failure("read_file", path="large.bin")[0], "BINARY_FILE")

    def test_write(self):
        seen = self.server.observe("write_file", path="d/e/f.txt", content="\u00e9")
        self.assertEqual(seen["output"], {"path": "d/e/f.txt", "bytes_written": 2, "created": True})
        self.assertEqual(seen["changes"]["created"], 3)
        self.assertFalse(self.server.output("write_file", path="d/e/f.txt", content="")["created"])
        self.assertEqual(self.server.get("d/e/f.txt"), b"")
        self.assertEqual(self.server.failure("write_file", path="x/y.txt", content="", create_dirs="false"),
                         ("FILE_NOT_FOUND", "The directory of x/y.txt does not exist. To have it made, leave out create_dirs."))
        self.assertFalse(os.path.exists(self.server.path("x")))

    def test_list(self):
        s = self.server
        s.put("l/b.txt", "12345")
        s.put("l/a/c.c", "")
        s.put("l/.hidden", "")
        os.symlink("/etc", s.path("l/out"))
        os.mkfifo(s.path("l/pipe"))
        out = s.output("list_directory", path="l")
        self.assertEqual((out["path"], out["total"], out["truncated"]), ("l", 5, False))
        self.assertEqual([(e["name"], e["type"]) for e in out["entries"]],
                         [(".hidden", "file"), ("a", "directory"), ("b.txt", "file"), ("out", "symlink"), ("pipe", "other")])
        self.assertEqual([e["size"] for e in out["entries"] if e["name"] == "b.txt"], [5])
        names = [e["name"] for e in s.output("list_directory", path="l", recursive=True, pattern="*.c")["entries"]]
        self.assertEqual(names, ["a/c.c"])
        self.assertEqual([e["name"] for e in s.output("list_directory", path="l", pattern="b*")["entries"]], ["b.txt"])

    def test_list_has_limits(self):
        for i in range(501):
            self.server.put("many/%03d" % i, "")
        out = self.server.output("list_directory", path="many")
        self.assertEqual((len(out["entries"]), out["total"], out["truncated"]), (500, 500, True))
        os.remove(self.server.path("many/500"))
        self.assertFalse(self.server.output("list_directory", path="many")["truncated"])
        self.server.put("deep/1/2/3/4/5/in", "")
        self.server.put("deep/1/2/3/4/5/6/out", "")
        names = [e["name"] for e in self.server.output("list_directory", path="deep", recursive=True)["entries"]]
        self.assertEqual(names, ["1", "1/2", "1/2/3", "1/2/3/4", "1/2/3/4/5", "1/2/3/4/5/6", "1/2/3/4/5/in"])

    def test_list_accounts_for_what_is_ignored(self):
        self.server.put("ign/.gitignore", "out/\n")
        self.server.put("ign/out/x", "")
        self.server.put("ign/in/x", "")
        out = self.server.output("list_directory", path="ign", recursive=True)
        self.assertEqual([e["name"] for e in out["entries"]], [".gitignore", "in", "in/x"])
        self.assertEqual(out["skipped"]["ignored"], 1)
        self.assertIn("out", [e["name"] for e in self.server.output("list_directory", path="ign")["entries"]])

    def test_find(self):
        s = self.server
        for name in ("f/a.c", "f/b.c", "f/sub/c.c", "f/d.h"):
            s.put(name, "")
        self.assertEqual(s.output("find_files", pattern="*.c", path="f"),
                         {"files": ["f/a.c", "f/b.c", "f/sub/c.c"], "total": 3, "truncated": False})
        seen, cursor = [], None
        while True:
            out = s.output("find_files", pattern="*", path="f", limit=2, cursor=cursor)
            seen += out["files"]
            cursor = out.get("next_cursor")
            if not out["truncated"]:
                break
            self.assertTrue(cursor)
        self.assertEqual(seen, s.output("find_files", pattern="*", path="f")["files"])
        self.assertEqual(s.failure("find_files", pattern="*", cursor="what")[0], "INVALID_ARGUMENTS")
        self.assertEqual(s.failure("find_files", pattern="a[")[0], "INVALID_GLOB")


class Edits(SidecarTest):
    def test_one(self):
        self.server.put("e.txt", "one\ntwo\n")
        out = self.server.output("edit_file", path="e.txt", old_text="two", new_text="2")
        self.assertEqual((out["path"], out["replacements"]), ("e.txt", 1))
        self.assertIn("-2 two\n+2 2", out["diff"])
        self.assertEqual(self.server.get("e.txt"), b"one\n2\n")

    def test_all(self):
        self.server.put("all.txt", "a b a b a\n")
        self.assertEqual(self.server.failure("edit_file", path="all.txt", old_text="a", new_text="c")[0], "TEXT_NOT_UNIQUE")
        out = self.server.output("edit_file", path="all.txt", old_text="a", new_text="c", replace_all="true")
        self.assertEqual((out["replacements"], self.server.get("all.txt")), (3, b"c b c b c\n"))

    def test_dry_run_changes_nothing(self):
        self.server.put("dry.txt", "one\n")
        before = os.stat(self.server.path("dry.txt"))
        out = self.server.output("edit_file", path="dry.txt", old_text="one", new_text="two", dry_run=True)
        self.assertIn("+1 two", out["diff"])
        self.assertEqual(self.server.get("dry.txt"), b"one\n")
        self.assertEqual(os.stat(self.server.path("dry.txt")).st_mtime_ns, before.st_mtime_ns)

    def test_several_all_or_none(self):
        self.server.put("m.txt", "one two three\n")
        edits = [{"old_text": "one", "new_text": "1"}, {"old_text": "1 two", "new_text": "12"}]
        out = self.server.output("multi_edit", path="m.txt", edits=edits)
        self.assertEqual((out["replacements"], self.server.get("m.txt")), (2, b"12 three\n"))
        bad = [{"old_text": "three", "new_text": "3"}, {"old_text": "gone", "new_text": ""}]
        code, message = self.server.failure("multi_edit", path="m.txt", edits=bad)
        self.assertEqual((code, self.server.get("m.txt")), ("TEXT_NOT_FOUND", b"12 three\n"))
        self.assertRegex(message, "Edit 2 of 2")
        self.assertIn("+1 12 3", self.server.output("multi_edit", path="m.txt", edits=bad[:1], dry_run=True)["diff"])
        self.assertEqual(self.server.get("m.txt"), b"12 three\n")

    def test_several_that_undo_each_other_are_no_change(self):
        self.server.put("undo.txt", "one\n")
        edits = [{"old_text": "one", "new_text": "1"}, {"old_text": "1", "new_text": "one"}]
        for dry_run in (True, False):
            code, message = self.server.failure("multi_edit", path="undo.txt", edits=edits, dry_run=dry_run)
            self.assertEqual(code, "NO_CHANGE")
            self.assertTrue(message.startswith("No changes made to undo.txt."), message)

    def test_members_stand_in_the_order_of_the_table(self):
        self.server.put("order.txt", "one\n")
        self.assertEqual(list(self.server.output("edit_file", path="order.txt", old_text="one", new_text="two")),
                         ["path", "diff", "replacements"])
        self.assertEqual(list(self.server.result("edit", path="order.txt", oldText="two", newText="one")), ["ok", "path", "diff"])

    def test_wrong_lists_of_edits(self):
        self.server.put("x.txt", "x\n")
        for edits, named in (([], "1 to"), ("x", "array"), ([1], "array of objects"), ({"old_text": "x"}, "array"),
                             ([{"old_text": "x"}], r"edits\[0\].new_text"),
                             ([{"old_text": "x", "new_text": "y"}, {"old_text": 1, "new_text": "y"}], r"edits\[1\].old_text"),
                             ([{"old_text": "x", "new_text": "y", "all": True}], r"edits\[0\].all"),
                             ([{"old_text": "", "new_text": "y"}], "must not be empty")):
            code, message = self.server.failure("multi_edit", path="x.txt", edits=edits)
            self.assertEqual(code, "INVALID_ARGUMENTS", edits)
            self.assertRegex(message, named)
        self.assertEqual(self.server.get("x.txt"), b"x\n")

    def test_a_long_diff_is_cut(self):
        self.server.put("long.txt", "word\n" * 5000)
        diff = self.server.output("edit_file", path="long.txt", old_text="word", new_text="w", replace_all=True)["diff"]
        self.assertLessEqual(len(diff), 52000)
        self.assertTrue(re.search(r"\n\[\d+ more lines\]$", diff))


class ReadBeforeWrite(SidecarTest):
    env = {"SIDECAR_READ_BEFORE_WRITE": "on"}

    def read(self, path, session="s", **arguments):
        self.server.output("read_file", path=path, sessionId=session, **arguments)

    def test_unread(self):
        self.server.put("u.txt", "old\n")
        for tool, arguments in (("write_file", {"content": "x"}), ("edit_file", {"old_text": "old", "new_text": "new"}),
                                ("multi_edit", {"edits": [{"old_text": "old", "new_text": "new"}]})):
            self.assertEqual(self.server.failure(tool, path="u.txt", sessionId="s", **arguments)[0], "FILE_NOT_READ")
        self.read("u.txt", session="other")
        self.assertEqual(self.server.failure("write_file", path="u.txt", content="x", sessionId="s")[0], "FILE_NOT_READ")
        self.assertEqual(self.server.get("u.txt"), b"old\n")

    def test_the_session_of_the_address(self):
        self.server.put("a.txt", "old\n")
        for name, arguments in (("read_file", {}), ("write_file", {"content": "new\n"})):
            answer = self.server.request("POST", f"/tools/{name}?session=of-address", json.dumps({"path": "a.txt", **arguments}),
                                         {"Content-Type": "application/json"})
            self.assertTrue(json.loads(answer.body)["success"], answer.body)
        self.assertEqual(self.server.failure("write_file", path="a.txt", content="x", sessionId="s")[0], "FILE_NOT_READ")

    def test_read_then_written_and_written_again(self):
        self.server.put("r.txt", "old\n")
        self.read("r.txt")
        for content in ("a\n", "b\n"):
            self.server.output("write_file", path="r.txt", content=content, sessionId="s")
        self.server.output("edit_file", path="r.txt", old_text="b", new_text="c", sessionId="s")
        self.server.output("write_file", path="r.txt", content="d\n", sessionId="s")

    def test_a_new_file_needs_no_reading(self):
        self.server.output("write_file", path="new.txt", content="a", sessionId="s")
        self.server.output("write_file", path="new.txt", content="b", sessionId="s")

    def test_a_part_counts_and_so_does_a_link(self):
        self.server.put("part.txt", "1\n2\n3\n")
        os.symlink("part.txt", self.server.path("name.txt"))
        self.read("name.txt", start_line=2, end_line=2)
        self.server.output("edit_file", path="part.txt", old_text="3", new_text="three", sessionId="s")

    def test_changed(self):
        self.server.put("c.txt", "one\ntwo\n")
        self.read("c.txt")
        self.server.put("c.txt", "ONE\ntwo\n")
        code, message = self.server.failure("write_file", path="c.txt", content="x", sessionId="s")
        self.assertEqual(code, "FILE_CHANGED")
        self.assertIn("-1 one\n+1 ONE\n", message)
        code, _ = self.server.failure("edit_file", path="c.txt", old_text="one", new_text="1", sessionId="s")
        self.assertEqual(code, "FILE_CHANGED")
        code, _ = self.server.failure("edit_file", path="c.txt", old_text="two", new_text="2", sessionId="s",
                                      replace_all=True)
        self.assertEqual(code, "FILE_CHANGED")
        # What stands as the session knows it can be replaced, but the rest is still unseen.
        self.server.output("edit_file", path="c.txt", old_text="two", new_text="2", sessionId="s")
        self.assertEqual(self.server.get("c.txt"), b"ONE\n2\n")
        self.assertEqual(self.server.failure("write_file", path="c.txt", content="x", sessionId="s")[0], "FILE_CHANGED")
        self.read("c.txt")
        self.server.output("write_file", path="c.txt", content="x", sessionId="s")

    def test_a_text_the_session_has_not_seen_is_not_replaced(self):
        self.server.put("known.txt", "one\ntwo\nthree\n")
        self.read("known.txt")
        self.server.put("known.txt", "ONE\ntwo\nthree\n")
        code, message = self.server.failure("edit_file", path="known.txt", old_text="ONE", new_text="1", sessionId="s")
        self.assertEqual(code, "FILE_CHANGED")
        self.assertIn("-1 one\n+1 ONE\n", message)
        both = [{"old_text": "two", "new_text": "2"}, {"old_text": "ONE", "new_text": "1"}]
        self.assertEqual(self.server.failure("multi_edit", path="known.txt", edits=both, sessionId="s")[0], "FILE_CHANGED")
        self.assertEqual(self.server.get("known.txt"), b"ONE\ntwo\nthree\n")
        # What it put there itself it knows.
        self.server.output("edit_file", path="known.txt", old_text="two", new_text="2", sessionId="s")
        self.server.output("edit_file", path="known.txt", old_text="2", new_text="II", sessionId="s")
        self.assertEqual(self.server.get("known.txt"), b"ONE\nII\nthree\n")
        code, message = self.server.failure("write_file", path="known.txt", content="x", sessionId="s")
        self.assertEqual(code, "FILE_CHANGED")
        self.assertNotIn("two", message)

    def test_a_large_change_is_told_as_far_as_it_fits(self):
        self.server.put("big.txt", "word\n" * 3000)
        self.read("big.txt", start_line=1, end_line=5)
        self.server.put("big.txt", "changed\n" * 3000)
        code, message = self.server.failure("write_file", path="big.txt", content="x", sessionId="s")
        self.assertEqual(code, "FILE_CHANGED")
        self.assertTrue(message.endswith("..."))
        self.assertLess(len(message), 1100)

    def test_touched_is_not_changed(self):
        self.server.put("t.txt", "same\n")
        self.read("t.txt")
        self.server.put("t.txt", "same\n")
        os.utime(self.server.path("t.txt"), (1, 1))
        self.server.output("write_file", path="t.txt", content="x", sessionId="s")

    def test_it_holds_on_the_wire_too(self):
        self.server.put("wire.txt", "old\n")
        self.assertEqual(self.server.error("write", path="wire.txt", content="x")[0], "FILE_NOT_READ")
        self.server.result("read", path="wire.txt")
        self.server.result("edit", path="wire.txt", oldText="old", newText="new")


class Aliases(SidecarTest):
    """Models were trained on other names for the same arguments."""

    def test_they_are_taken_as_what_they_mean(self):
        self.server.put("a.txt", "1\n2\n3\n4\n")
        self.assertEqual(self.server.output("read_file", file_path="a.txt", offset=2, limit=2)["content"], "2\n3")
        self.server.output("edit_file", file_path="a.txt", old_string="2", new_string="two")
        self.server.output("multi_edit", filePath="a.txt", edits=[{"old_string": "3", "new_string": "three"}])
        self.assertEqual(self.server.get("a.txt"), b"1\ntwo\nthree\n4\n")
        self.assertEqual(self.server.output("run_command", cmd="pwd", timeout=20, description="Where am I?")["exit_code"], 0)

    def test_a_call_is_known_by_what_it_means(self):
        """The log and those who watch see the path, whatever the model called it."""
        self.server.put("named.txt", "1\n")
        self.server.output("read_file", file_path="named.txt")
        self.server.wait_for_log(lambda line: line.get("subject") == "named.txt")

    def test_two_names_for_one_thing_are_refused(self):
        code, message = self.server.failure("read_file", path="a.txt", file_path="b.txt")
        self.assertEqual(code, "INVALID_ARGUMENTS")
        self.assertIn("file_path is not an argument", message)

    def test_no_schema_has_them(self):
        listed = self.server.request("GET", "/tools?format=mcp&set=full").body.decode()
        for name in ("file_path", "old_string", "offset", "cmd"):
            self.assertNotIn('"%s"' % name, listed)


if __name__ == "__main__":
    unittest.main()
