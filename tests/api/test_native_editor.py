"""Anthropic's text editor on POST /tools: every command, every error, in the provider's form."""
import base64
import os
import unittest

from native_client import NativeTest

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


class Editor(NativeTest):
    tool = "str_replace_based_edit_tool"

    def setUp(self):
        self.server.put("src/a.py", "one\ntwo\nthree\ntwo\n")

    def ok(self, command, path, **given):
        return self.good(self.tool, command=command, path=path, **given)

    def fails(self, command, path, **given):
        text = self.bad(self.tool, command=command, path=path, **given)
        self.assertTrue(text.startswith("Error: "), text)
        return text[len("Error: "):]

    def text(self):
        return self.server.get("src/a.py").decode()


class View(Editor):
    def test_a_file_with_line_numbers(self):
        want = "     1\tone\n     2\ttwo\n     3\tthree\n     4\ttwo\n"
        for path in ("src/a.py", "/src/a.py", self.server.path("src/a.py"), "/src/../src/./a.py"):
            self.assertEqual(self.ok("view", path), want)

    def test_a_range(self):
        def view(*lines):
            return self.ok("view", "/src/a.py", view_range=list(lines))
        self.assertEqual(view(2, 3), "     2\ttwo\n     3\tthree\n[lines 2-3 of 4; next: view_range [4, -1]]")
        self.assertEqual(view(3, -1).split("\n")[:2], ["     3\tthree", "     4\ttwo"])
        self.assertEqual(view(1, 99).count("\t"), 4)

    def test_a_wrong_range(self):
        for wrong in ([0, 3], [3, 2], [1, -2], [1], [1, 2, 3], ["1", 2], [1.5, 2], [], [None, None]):
            self.assertIn("Invalid `view_range`", self.fails("view", "/src/a.py", view_range=wrong))
        self.assertIn("view_range", self.fails("view", "/src/a.py", view_range="1-2"))
        self.assertRegex(self.fails("view", "/src/a.py", view_range=[9, 10]),
                         r"Invalid `view_range`: \[9, 10\]. Line 9 is beyond the end of the file \(4 lines\)")
        self.assertIn("directory", self.fails("view", "/src", view_range=[1, 2]))

    def test_a_directory_two_levels_deep(self):
        server = self.start()
        for name in ("a/b/c/deep", "a/b/two", "a/one", ".hidden/x", "node_modules/m/i.js", "a/.dot"):
            server.put(name, "12345")
        server.put("large", b"x" * 1536)
        head = "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:"
        lines = self.good(self.tool, server=server, command="view", path="/").split("\n")
        self.assertEqual(lines[0], head % "/")
        self.assertEqual([line.split("\t")[1] for line in lines[1:]], ["/", "/a/", "/a/b/", "/a/one", "/large"])
        self.assertEqual([line.split("\t")[0] for line in lines[1:] if not line.endswith("/")], ["5B", "1.5K"])
        lines = self.good(self.tool, server=server, command="view", path="a/").split("\n")
        self.assertEqual(lines[0], head % "a")
        self.assertEqual([line.split("\t")[1] for line in lines[1:]], ["a", "a/b/", "a/b/c/", "a/b/two", "a/one"])

    def test_a_large_directory_says_that_there_is_more(self):
        server = self.start()
        for i in range(700):
            server.put("f%03d" % i, "")
        text = self.good(self.tool, server=server, command="view", path="/")
        self.assertTrue(text.endswith("\n[there are more: view a directory below it]"), text[-200:])
        self.assertEqual(text.count("\n"), 502)

    def test_what_is_left_out_hides_nothing(self):
        server = self.start()
        os.makedirs(server.path("node_modules/m"))
        os.makedirs(server.path("src"))
        for i in range(10100):
            os.close(os.open(server.path("node_modules/m/%d" % i), os.O_CREAT | os.O_WRONLY))
        os.mkdir(server.path("closed"), 0)
        lines = self.good(self.tool, server=server, command="view", path="/").split("\n")
        self.assertEqual([line.split("\t")[1] for line in lines[1:]], ["/", "/closed/", "/src/"])

    def test_what_is_not_there(self):
        self.assertEqual(self.fails("view", "src/other"), "File not found: src/other")
        self.assertEqual(self.fails("view", "/repo/other"),
                         "File not found: /repo/other (the workspace is %s)" % self.server.workspace)
        self.assertIn("Did you mean src/a.py?", self.fails("view", "/repo/src/a.py"))

    def test_an_empty_file(self):
        self.server.put("empty", "")
        self.assertEqual(self.ok("view", "/empty"), "[empty file]")

    def test_a_long_file_goes_on(self):
        self.server.put("long", "".join("line %d\n" % i for i in range(1, 5001)))
        text = self.ok("view", "/long")
        self.assertLessEqual(len(text), 32000)
        self.assertRegex(text, r"\[lines 1-\d+ of 5000; next: view_range \[\d+, -1\]\]$")

    def test_an_image(self):
        self.server.put("dot.png", PNG)
        image, note = self.ok("view", "/dot.png")
        self.assertEqual((image["type"], image["source"]["media_type"]), ("image", "image/png"))
        self.assertEqual(base64.b64decode(image["source"]["data"]), PNG)
        self.assertEqual(note["type"], "text")

    def test_a_binary_file(self):
        self.server.put("bin", b"\0\1\2" * 100)
        self.assertIn("binary", self.fails("view", "/bin").lower())


class Change(Editor):
    def test_create(self):
        self.assertEqual(self.ok("create", "/new/deep/f.txt", file_text="x\n"),
                         "File created successfully at: /new/deep/f.txt")
        self.assertEqual(self.server.get("new/deep/f.txt"), b"x\n")

    def test_create_over_a_file_shows_the_change(self):
        text = self.ok("create", "/src/a.py", file_text="one\n2\n")
        self.assertTrue(text.startswith("The file /src/a.py has been overwritten. This is the change:\n"), text)
        self.assertIn("-2 two", text)
        self.assertIn("had this content already", self.ok("create", "/src/a.py", file_text="one\n2\n"))

    def test_create_over_a_file_that_is_not_text(self):
        self.server.put("bytes", b"\xff\xfe")
        self.assertEqual(self.ok("create", "/bytes", file_text="x"), "The file /bytes has been overwritten.")

    def test_create_an_empty_file(self):
        self.ok("create", "/nothing", file_text="")
        self.assertEqual(self.server.get("nothing"), b"")

    def test_str_replace(self):
        text = self.ok("str_replace", "/src/a.py", old_str="three\n", new_str="3\n")
        self.assertEqual(self.text(), "one\ntwo\n3\ntwo\n")
        self.assertEqual(text, "The file /src/a.py has been edited. This is the change, with line numbers:\n"
                               " 1 one\n 2 two\n-3 three\n+3 3\n 4 two")

    def test_str_replace_by_nothing(self):
        self.ok("str_replace", "/src/a.py", old_str="three\n", new_str="")
        self.ok("str_replace", "/src/a.py", old_str="one\n")
        self.assertEqual(self.text(), "two\ntwo\n")

    def test_str_replace_of_what_is_not_there(self):
        text = self.fails("str_replace", "/src/a.py", old_str="Three", new_str="3")
        self.assertIn("No replacement was performed, old_str `Three` did not appear verbatim in /src/a.py.", text)
        self.assertIn("line 3, but upper and lower case differ", text)

    def test_str_replace_of_what_is_there_twice(self):
        text = self.fails("str_replace", "/src/a.py", old_str="two", new_str="2")
        self.assertEqual(text, "No replacement was performed. Multiple occurrences of old_str `two` in lines: 2, 4. "
                               "Please ensure it is unique")
        self.assertEqual(self.text(), "one\ntwo\nthree\ntwo\n")

    def test_str_replace_of_nothing(self):
        self.assertIn("`old_str` is required", self.fails("str_replace", "/src/a.py", new_str="x"))
        self.assertIn("`old_str` is required", self.fails("str_replace", "/src/a.py", old_str="", new_str="x"))

    def test_insert(self):
        cases = [(0, "x", "x\none\ntwo\nthree\ntwo\n"), (2, "x\ny\n", "one\ntwo\nx\ny\nthree\ntwo\n"),
                 (4, "x", "one\ntwo\nthree\ntwo\nx\n"), (1, "", "one\n\ntwo\nthree\ntwo\n")]
        for line, text, want in cases:
            self.setUp()
            self.ok("insert", "/src/a.py", insert_line=line, insert_text=text)
            self.assertEqual(self.text(), want)
        self.setUp()
        self.ok("insert", "/src/a.py", insert_line=1, new_str="older")  # its name until 2025-04-29
        self.assertEqual(self.text(), "one\nolder\ntwo\nthree\ntwo\n")

    def test_insert_keeps_line_ends(self):
        for before, line, after in (("a\r\nb\r\n", 1, "a\r\nx\r\ny\r\nb\r\n"), ("a\nb", 2, "a\nb\nx\ny"),
                                    ("a\r\nb", 2, "a\r\nb\r\nx\r\ny"), ("", 0, "x\ny\n")):
            self.server.put("ends", before)
            self.ok("insert", "/ends", insert_line=line, insert_text="x\ny\n")
            self.assertEqual(self.server.get("ends").decode(), after)

    def test_insert_where_there_is_no_line(self):
        self.assertEqual(self.fails("insert", "/src/a.py", insert_line=5, insert_text="x"),
                         "Invalid `insert_line` parameter: 5. It should be within the range of lines of the file: "
                         "[0, 4]")
        self.assertIn("insert_line must be an integer from 0",
                      self.fails("insert", "/src/a.py", insert_line=-1, insert_text="x"))
        self.assertIn("`insert_line` is required", self.fails("insert", "/src/a.py", insert_text="x"))
        self.assertIn("`insert_text` is required", self.fails("insert", "/src/a.py", insert_line=1))

    def test_create_without_text(self):
        self.assertIn("`file_text` is required", self.fails("create", "/f"))

    def test_changes_are_kept(self):
        call = {"type": "tool_use", "id": "t", "name": self.tool,
                "input": {"command": "str_replace", "path": "/src/a.py", "old_str": "three", "new_str": "3"}}
        answer = self.send(call)
        change = answer.headers["sidecar-change"]
        self.assertNotIn("undo", answer.json()["content"])
        self.server.request("POST", "/changes/%s/undo" % change, "{}", {"Content-Type": "application/json"})
        self.assertEqual(self.text(), "one\ntwo\nthree\ntwo\n")

    def test_undo_edit_of_older_versions(self):
        old = "str_replace_editor"
        self.good(old, command="str_replace", path="/src/a.py", old_str="three", new_str="3")
        self.good(old, command="create", path="/other", file_text="x")
        self.assertEqual(self.good(old, command="undo_edit", path="/src/a.py"),
                         "Last edit to /src/a.py undone successfully.")
        self.assertEqual(self.text(), "one\ntwo\nthree\ntwo\n")
        self.assertEqual(self.server.get("other"), b"x")
        self.assertIn("No edit history", self.bad(old, command="undo_edit", path="/never", session="else"))

    def test_undo_edit_without_a_journal(self):
        server = self.start(env={"SIDECAR_JOURNAL": "off"})
        server.put("f", "x")
        self.assertIn("Error: ", self.bad(self.tool, server=server, command="undo_edit", path="/f"))


class Refused(Editor):
    def test_paths_that_lead_out(self):
        os.symlink("/etc/passwd", self.server.path("link"))
        os.symlink("/etc", self.server.path("dir"))
        self.addCleanup(os.unlink, self.server.path("link"))
        self.addCleanup(os.unlink, self.server.path("dir"))
        for path in ("../x", "/../x", "src/../../x", "/link", "/dir/passwd", "link", "a\0b", "\\..\\..\\x"):
            for command, more in (("view", {}), ("create", {"file_text": "x"}), ("undo_edit", {}),
                                  ("str_replace", {"old_str": "root", "new_str": "x"}),
                                  ("insert", {"insert_line": 0, "insert_text": "x"})):
                self.fails(command, path, **more)
        self.assertFalse(os.path.exists(os.path.join(self.server.dir, "x")))

    def test_an_absolute_path_is_below_the_workspace(self):
        self.ok("create", "/etc/passwd", file_text="mine")
        self.assertEqual(self.server.get("etc/passwd"), b"mine")
        strict = self.start(env={"SIDECAR_ABSOLUTE_PATHS": "strict"})
        self.assertIn("outside", self.bad(self.tool, server=strict, command="create", path="/etc/x", file_text=""))
        self.good(self.tool, server=strict, command="create", path=strict.path("x"), file_text="")

    def test_wrong_calls(self):
        for given, why in (({}, "command is missing"), ({"command": "view"}, "`path` is required"),
                           ({"command": "erase", "path": "/f"}, "view, create, str_replace, insert"),
                           ({"command": "view", "path": "/f", "color": 1}, "color is not an argument"),
                           ({"command": "view", "path": 7}, "path must be")):
            self.assertIn(why, self.bad(self.tool, **given))
        answer = self.send({"type": "tool_use", "id": "t", "name": self.tool, "input": "view"}).json()
        self.assertTrue(answer["is_error"])
        self.assertIn('no object "input"', answer["content"])

    def test_a_directory_cannot_be_edited(self):
        self.fails("str_replace", "/src", old_str="a", new_str="b")
        self.fails("create", "/src", file_text="b")

    def test_read_only(self):
        server = self.start(env={"SIDECAR_READ_ONLY": "true"})
        server.put("f", "x")
        self.assertIn("read-only", self.bad(self.tool, server=server, command="create", path="/f", file_text="y"))
        self.good(self.tool, server=server, command="view", path="/f")

    def test_read_before_write(self):
        server = self.start(env={"SIDECAR_READ_BEFORE_WRITE": "on"})
        server.put("f", "x\n")
        edit = {"server": server, "command": "str_replace", "path": "/f", "old_str": "x", "new_str": "y"}
        self.assertIn("has not been read", self.bad(self.tool, **edit))
        self.good(self.tool, server=server, command="view", path="/f")
        self.good(self.tool, **edit)

    def test_secrets(self):
        server = self.start(env={"SIDECAR_SCRUB": "all"})
        server.put("env", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY\n")
        self.assertIn("[REDACTED", self.good(self.tool, server=server, command="view", path="/env"))

    def test_the_log_names_the_path(self):
        self.ok("view", "/src/a.py")
        line = self.server.wait_for_log(lambda line: line.get("tool") == "text_editor")
        self.assertIn("subject", line)


if __name__ == "__main__":
    unittest.main()
