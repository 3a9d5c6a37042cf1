"""A file that is not there: which one was probably meant."""
import os
import subprocess
import unittest

from harness import BIN, SidecarTest


class Suggestions(SidecarTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        put = cls.server.put
        put("src/calc.py", "x\n")
        put("src/deep/only.txt", "x\n")
        put("docs/guide.md", "x\n")
        for name in ("a", "b"):
            put("twice/%s/index.js" % name, "x\n")
        put(".gitignore", "hidden/\n")
        put("hidden/secret.txt", "x\n")
        put("Makefile", "x\n")

    def message(self, tool="read_file", **arguments):
        code, message = self.server.failure(tool, **arguments)
        self.assertEqual(code, "FILE_NOT_FOUND")
        return message

    def suggested(self, path, tool="read_file", **arguments):
        message = self.message(tool, path=path, **arguments)
        before, mark, after = message.partition(" Did you mean ")
        self.assertIn(path.rstrip("/"), before)
        return after[:-1] if mark else None

    def test_the_nearest_name_in_the_directory(self):
        self.assertEqual(self.suggested("src/cacl.py"), "src/calc.py")
        self.assertEqual(self.suggested("src/calc.pyx"), "src/calc.py")
        self.assertEqual(self.suggested("Makefil"), "Makefile")
        self.assertEqual(self.suggested("makefile"), "Makefile")
        self.assertIn("Did you mean src/calc.py?", self.message(path="./docs/../src/cacl.py"))

    def test_the_only_file_of_that_name(self):
        self.assertEqual(self.suggested("calc.py"), "src/calc.py")
        self.assertEqual(self.suggested("lib/calc.py"), "src/calc.py")
        self.assertEqual(self.suggested("docs/only.txt"), "src/deep/only.txt")

    def test_nothing_when_it_is_not_clear(self):
        self.assertIsNone(self.suggested("index.js"))
        self.assertIsNone(self.suggested("nothing-like-it.bin"))
        self.assertIsNone(self.suggested("src/secret.txt"))

    def test_every_tool_of_a_model(self):
        self.assertEqual(self.suggested("src/cacl.py", "edit_file", old_text="x", new_text="y"), "src/calc.py")
        self.assertEqual(self.suggested("sr", "list_directory"), "src")
        self.assertEqual(self.suggested("dosc", "search_files", pattern="x"), "docs")
        self.assertIn("Did you mean docs?", self.message("run_command", command="true", cwd="doc"))

    def test_a_new_file_is_no_mistake(self):
        self.server.output("write_file", path="src/cacl2.py", content="x")
        os.remove(self.server.path("src/cacl2.py"))
        message = self.message("write_file", path="srcs/calc.py", content="x", create_dirs=False)
        self.assertTrue(message.endswith("leave out create_dirs."), message)

    def test_many_names_cost_nothing(self):
        server = self.start()
        os.mkdir(server.path("many"))
        for i in range(11000):
            os.close(os.open(server.path("many/file%05d" % i), os.O_CREAT | os.O_WRONLY))
        code, message = server.failure("read_file", path="many/fle00001")
        self.assertEqual((code, "Did you mean" in message), ("FILE_NOT_FOUND", False))

    def test_the_wire_stays_as_it_is(self):
        for tool in ("read", "ls"):
            body = self.server.call(tool, path="src/cacl.py").body
            self.assertNotIn(b"mean", body)
        hinted = self.server.call("read", headers={"Sidecar-Hints": "1"}, path="src/cacl.py").body
        self.assertIn(b"File not found: src/cacl.py. Did you mean src/calc.py?", hinted)

    def test_the_command_line(self):
        for verb in (["read", "src/cacl.py"], ["ls", "scr"], ["edit", "src/cacl.py", "--old", "x", "--new", "y"]):
            done = subprocess.run([BIN, *verb], env={**os.environ, "SOCKET_PATH": self.server.socket}, timeout=60,
                                  cwd=self.server.workspace, capture_output=True, text=True, check=False)
            self.assertIn("Did you mean src", done.stderr, verb)


if __name__ == "__main__":
    unittest.main()
