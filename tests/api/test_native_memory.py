"""Anthropic's memory tool on POST /tools: files below /memories, kept in the data directory."""
import os
import shutil
import tempfile
import threading
import unittest

from native_client import NativeTest

HEAD = "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:"


class Memory(NativeTest):
    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.mkdtemp(prefix="sidecar-data-")
        cls.addClassCleanup(shutil.rmtree, cls.data)
        cls.env = {"DATA_DIR": cls.data}
        super().setUpClass()

    def setUp(self):
        shutil.rmtree(os.path.join(self.data, "memories"), ignore_errors=True)

    def ok(self, command, **given):
        return self.good("memory", command=command, **given)

    def fails(self, command, **given):
        text = self.bad("memory", command=command, **given)
        self.assertTrue(text.startswith("Error: "), text)
        self.assertNotIn(self.data, text)  # a model knows /memories, and not where that is
        return text[len("Error: "):]

    def kept(self, name, session="default"):
        with open(os.path.join(self.data, "memories", session, name)) as f:
            return f.read()


class Commands(Memory):
    def test_there_is_nothing_at_first(self):
        lines = self.ok("view", path="/memories").split("\n")
        self.assertEqual(lines[0], HEAD % "/memories")
        self.assertEqual([line.split("\t")[1] for line in lines[1:]], ["/memories"])

    def test_create_and_view(self):
        self.assertEqual(self.ok("create", path="/memories/notes/a.md", file_text="one\ntwo\n"),
                         "File created successfully at: /memories/notes/a.md")
        self.assertEqual(self.kept("notes/a.md"), "one\ntwo\n")
        self.assertEqual(self.ok("view", path="/memories/notes/a.md"),
                         "Here's the content of /memories/notes/a.md with line numbers:\n     1\tone\n     2\ttwo\n")
        self.assertIn("     2\ttwo\n", self.ok("view", path="/memories/notes/a.md", view_range=[2, 2]))
        lines = self.ok("view", path="/memories").split("\n")
        self.assertEqual([line.split("\t")[1] for line in lines[1:]],
                         ["/memories", "/memories/notes/", "/memories/notes/a.md"])
        self.assertEqual(lines[-1], "8B\t/memories/notes/a.md")

    def test_create_does_not_overwrite(self):
        self.ok("create", path="/memories/a", file_text="one")
        self.assertEqual(self.fails("create", path="/memories/a", file_text="two"), "File /memories/a already exists")
        self.assertEqual(self.kept("a"), "one")

    def test_str_replace(self):
        self.ok("create", path="/memories/a", file_text="red\ngreen\nred\n")
        text = self.ok("str_replace", path="/memories/a", old_str="green", new_str="blue")
        self.assertTrue(text.startswith("The memory file has been edited."), text)
        self.assertEqual(self.kept("a"), "red\nblue\nred\n")
        self.assertIn("No replacement was performed, old_str `grey` did not appear verbatim in /memories/a.",
                      self.fails("str_replace", path="/memories/a", old_str="grey", new_str="x"))
        self.assertIn("Multiple occurrences of old_str `red` in lines: 1, 3. Please ensure it is unique",
                      self.fails("str_replace", path="/memories/a", old_str="red", new_str="x"))

    def test_insert(self):
        self.ok("create", path="/memories/a", file_text="one\n")
        text = self.ok("insert", path="/memories/a", insert_line=1, insert_text="two\n")
        self.assertTrue(text.startswith("The file /memories/a has been edited."), text)
        self.assertEqual(self.kept("a"), "one\ntwo\n")
        self.assertEqual(self.fails("insert", path="/memories/a", insert_line=7, insert_text="x"),
                         "Invalid `insert_line` parameter: 7. It should be within the range of lines of the file: "
                         "[0, 2]")

    def test_delete(self):
        self.ok("create", path="/memories/d/e/f", file_text="x")
        self.assertEqual(self.ok("delete", path="/memories/d/e/f"), "Successfully deleted /memories/d/e/f")
        self.ok("create", path="/memories/d/e/g", file_text="x")
        self.assertEqual(self.ok("delete", path="/memories/d"), "Successfully deleted /memories/d")
        self.assertEqual(os.listdir(os.path.join(self.data, "memories/default")), [])

    def test_rename(self):
        self.ok("create", path="/memories/a", file_text="x")
        self.ok("create", path="/memories/taken", file_text="y")
        self.assertEqual(self.ok("rename", old_path="/memories/a", new_path="/memories/new/b"),
                         "Successfully renamed /memories/a to /memories/new/b")
        self.assertEqual(self.kept("new/b"), "x")
        self.assertEqual(self.fails("rename", old_path="/memories/new/b", new_path="/memories/taken"),
                         "The destination /memories/taken already exists")
        self.assertEqual(self.ok("rename", old_path="/memories/new", new_path="/memories/old"),
                         "Successfully renamed /memories/new to /memories/old")
        self.assertEqual((self.kept("old/b"), self.kept("taken")), ("x", "y"))

    def test_what_is_not_there(self):
        self.server.put("memories/nine", "of the workspace")
        for command, more in (("view", {}), ("delete", {}), ("str_replace", {"old_str": "a", "new_str": "b"}),
                              ("insert", {"insert_line": 0, "insert_text": "x"})):
            self.assertEqual(self.fails(command, path="/memories/none", **more),
                             "The path /memories/none does not exist. Please provide a valid path.")
        self.assertIn("/memories/none does not exist",
                      self.fails("rename", old_path="/memories/none", new_path="/memories/b"))

    def test_missing_arguments(self):
        for command, given, name in (("view", {}, "path"), ("create", {"path": "/memories/a"}, "file_text"),
                                     ("rename", {"new_path": "/memories/a"}, "old_path"), ("delete", {}, "path"),
                                     ("rename", {"old_path": "/memories/a"}, "new_path"),
                                     ("str_replace", {"path": "/memories/a"}, "old_str"),
                                     ("insert", {"path": "/memories/a"}, "insert_line")):
            self.assertIn("`%s` is required for command: %s" % (name, command), self.fails(command, **given))
        self.assertIn("view, create, str_replace, insert, delete, rename", self.fails("forget", path="/memories/a"))

    def test_the_directory_itself_stays(self):
        self.assertIn("Cannot delete", self.fails("delete", path="/memories"))
        self.assertIn("Cannot rename", self.fails("rename", old_path="/memories/", new_path="/memories/a"))
        self.fails("rename", old_path="/memories/a/..", new_path="/memories/b")


class Places(Memory):
    def test_sessions_have_memories_of_their_own(self):
        self.ok("create", path="/memories/a", file_text="mine", session="one")
        self.fails("view", path="/memories/a", session="two")
        self.fails("view", path="/memories/a")
        self.assertEqual(self.kept("a", "one"), "mine")

    def test_names_of_sessions(self):
        for name in ("..%2F..%2Fetc", ".", "..", "a%2Fb", "%00", "x" * 300, "%C3%BC", "a%20b"):
            self.ok("create", path="/memories/a", file_text=name, session=name)
            self.assertIn(name, self.ok("view", path="/memories/a", session=name))
        names = os.listdir(os.path.join(self.data, "memories"))
        self.assertEqual(len(names), 8)
        self.assertTrue(all(name.startswith("sha256-") for name in names), names)
        self.assertEqual(os.listdir(self.data), ["memories"])
        answer = self.server.request("POST", "/tools?session=" + "x" * 2000, "{}", {"Content-Type": "application/json"})
        self.assertEqual((answer.status, answer.json()["code"]), (400, "INVALID_ARGUMENTS"))

    def test_paths_that_lead_out(self):
        secret = os.path.join(self.data, "secret")
        with open(secret, "w") as f:
            f.write("secret")
        self.addCleanup(os.unlink, secret)
        self.ok("create", path="/memories/a", file_text="x")
        for path in ("/etc/passwd", "/memories/../secret", "/memories/../../etc/passwd", "../x", "/memories2/a",
                     "/memoriesx", "/memories/..\\..\\x", "/memories/a/../../b", self.data + "/secret", "/", "\0",
                     "/memories/\0"):
            for command, more in (("view", {}), ("create", {"file_text": "x"}), ("delete", {}),
                                  ("str_replace", {"old_str": "secret", "new_str": "x"}),
                                  ("insert", {"insert_line": 0, "insert_text": "x"})):
                text = self.bad("memory", command=command, path=path, **more)
                self.assertTrue(text.startswith("Error: Path must be below /memories"), text)
            self.bad("memory", command="rename", old_path="/memories/a", new_path=path)
            self.bad("memory", command="rename", old_path=path, new_path="/memories/b")
        with open(secret) as f:
            self.assertEqual(f.read(), "secret")

    def test_links_that_lead_out(self):
        outside = tempfile.mkdtemp(prefix="sidecar-outside-")
        self.addCleanup(shutil.rmtree, outside)
        with open(os.path.join(outside, "f"), "w") as f:
            f.write("outside")
        home = os.path.join(self.data, "memories/default")
        self.ok("create", path="/memories/a", file_text="x")
        os.symlink(outside, os.path.join(home, "dir"))
        os.symlink(os.path.join(outside, "f"), os.path.join(home, "file"))
        for path in ("/memories/dir/f", "/memories/file", "/memories/dir"):
            self.fails("view", path=path)
            self.fails("create", path=path + "2/../" + path.rsplit("/", 1)[1], file_text="x")
            self.fails("str_replace", path=path, old_str="outside", new_str="x")
        self.fails("create", path="/memories/dir/new", file_text="x")
        self.fails("rename", old_path="/memories/a", new_path="/memories/dir/a")
        self.fails("delete", path="/memories/dir/f")
        self.ok("delete", path="/memories/dir")  # the link, and not what it leads to
        self.assertEqual(os.listdir(outside), ["f"])
        # The directory of all memories may not be a link either.
        shutil.rmtree(os.path.join(self.data, "memories"))
        os.symlink(outside, os.path.join(self.data, "memories"))
        self.addCleanup(os.unlink, os.path.join(self.data, "memories"))
        self.fails("create", path="/memories/b", file_text="x")
        self.assertEqual(os.listdir(outside), ["f"])

    def test_no_update_is_lost(self):
        self.ok("create", path="/memories/n", file_text="".join("<%d>\n" % i for i in range(16)))
        threads = [threading.Thread(target=self.ok, args=("str_replace",),
                                    kwargs={"path": "/memories/n", "old_str": "<%d>" % i, "new_str": "(%d)" % i})
                   for i in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(self.kept("n"), "".join("(%d)\n" % i for i in range(16)))

    def test_without_a_data_directory(self):
        server = self.start()
        text = self.bad("memory", server=server, command="view", path="/memories")
        self.assertIn("DATA_DIR", text)

    def test_read_only(self):
        self.ok("create", path="/memories/a", file_text="x")
        server = self.start(env={"DATA_DIR": self.data, "SIDECAR_READ_ONLY": "true"})
        for command, more in (("create", {"path": "/memories/b", "file_text": "x"}), ("delete", {"path": "/memories/a"}),
                              ("rename", {"old_path": "/memories/a", "new_path": "/memories/b"})):
            self.assertIn("read-only", self.bad("memory", server=server, command=command, **more))
        self.good("memory", server=server, command="view", path="/memories/a")

    def test_it_stays_when_the_server_ends(self):
        self.ok("create", path="/memories/a", file_text="later")
        server = self.start(env={"DATA_DIR": self.data})
        self.assertIn("later", self.good("memory", server=server, command="view", path="/memories/a"))


if __name__ == "__main__":
    unittest.main()
