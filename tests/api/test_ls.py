"""/ls: names, order, limits."""
import os
import unittest
from random import Random

from harness import SidecarTest


class Ls(SidecarTest):
    def names(self, path=".", **arguments):
        return self.server.result("ls", path=path, **arguments)["output"].split("\n")

    def make(self, directory, names):
        os.makedirs(self.server.path(directory), exist_ok=True)
        for name in names:
            if name.endswith("/"):
                os.makedirs(self.server.path(directory + "/" + name), exist_ok=True)
            else:
                self.server.put(directory + "/" + name, "")

    def test_order_and_slashes(self):
        wanted = ["..x", ".hidden/", "_a", "Alpha", "beta/", "Beta.txt", "gamma", "Zeta/", "zeta1"]
        self.make("o", wanted)
        self.assertEqual(sorted(self.names("o")), sorted(wanted))
        lower = [n.rstrip("/").lower() for n in self.names("o")]
        self.assertEqual(lower, sorted(lower))

    def test_order_of_many(self):
        """Names that begin alike, end early, differ late or only in case, and have bytes that no letter has."""
        random = Random(1)
        for folder, start in (("m1", ""), ("m2", "Some-Long-Shared-"), ("m3", "\u00e9\u00c9")):
            names = {start + "".join(random.choice("aAbB_-~.1\u00e9\u20ac") for _ in range(random.randint(1, 14))) for _ in range(400)}
            names -= {".", ".."}
            for name in names:
                self.server.put(folder + "/" + name, "")
            by_bytes = {name: name.encode() for name in names}
            self.assertEqual(self.names(folder), sorted(names, key=lambda name: (by_bytes[name].lower(), by_bytes[name])))

    def test_same_but_for_case_is_always_the_same_order(self):
        self.make("c", ["readme", "README", "Readme"])
        self.assertEqual(self.names("c"), ["README", "Readme", "readme"])

    def test_empty(self):
        os.makedirs(self.server.path("e"))
        self.assertEqual(self.server.result("ls", path="e"), {"output": "(empty directory)"})

    def test_links_are_shown_not_followed(self):
        self.make("l", ["dir/"])
        os.symlink("dir", self.server.path("l/to_dir"))
        os.symlink("/etc", self.server.path("l/outside"))
        os.symlink("nowhere", self.server.path("l/dangling"))
        self.assertEqual(self.names("l"), ["dangling", "dir/", "outside", "to_dir"])

    def test_a_link_to_a_directory_inside_can_be_listed(self):
        self.make("t", ["x"])
        os.symlink("t", self.server.path("t_link"))
        os.symlink(self.server.path("t"), self.server.path("t_absolute"))
        self.assertEqual(self.names("t_link"), ["x"])
        self.assertEqual(self.names("t_absolute"), ["x"])

    def test_limit(self):
        self.make("many", ["%04d" % i for i in range(700)])
        self.assertEqual(len(self.names("many")), 500)
        for limit, count in ((1, 1), (3, 3), (699, 699), (10000, 700), (2.9, 2), (0, 500), (-1, 500), ("3", 500), (None, 500)):
            self.assertEqual(len(self.names("many", limit=limit)), count, limit)

    def test_truncated_by_lines(self):
        self.make("lines", ["%04d" % i for i in range(2100)])
        result = self.server.result("ls", path="lines", limit=5000)
        self.assertEqual(len(result["output"].split("\n")), 2000)
        self.assertEqual(result["truncation"]["truncatedBy"], "lines")
        self.assertEqual(result["truncation"]["totalLines"], 2100)

    def test_truncated_by_bytes(self):
        self.make("bytes", ["%03d" % i + "n" * 200 for i in range(400)])
        result = self.server.result("ls", path="bytes")
        self.assertLessEqual(len(result["output"]), 51200)
        self.assertEqual(result["truncation"]["truncatedBy"], "bytes")
        self.assertEqual(result["truncation"]["totalLines"], 400)

    def test_names_after_an_offset(self):
        for i in range(10):
            self.server.put("offset/n%d" % i, "")
        for offset, limit, wanted in ((0, 3, "012"), (3, 3, "345"), (9, 3, "9"), (10, 3, ""), (99, 3, ""), (-1, 1, "0")):
            output = self.server.result("ls", path="offset", offset=offset, limit=limit)["output"]
            self.assertEqual(output, "\n".join("n" + c for c in wanted), offset)

    def test_odd_names(self):
        os.makedirs(self.server.path("odd"))
        for name in (b"\xff\xfe", b"new\nline", b'q"uote', b"tab\t"):
            with open(os.path.join(self.server.path("odd").encode(), name), "wb"):
                pass
        output = self.server.result("ls", path="odd")["output"]
        for name in ("��", "new\nline", 'q"uote', "tab\t"):
            self.assertIn(name, output)

    def test_errors(self):
        self.server.put("plain", "")
        self.assertEqual(self.server.error("ls", path="plain"), ("NOT_A_DIRECTORY", "Path is not a directory"))
        self.assertEqual(self.server.error("ls", path="absent")[0], "FILE_NOT_FOUND")
        self.assertEqual(self.server.error("ls", path="..")[0], "PATH_OUTSIDE_WORKSPACE")
        os.mkfifo(self.server.path("fifo"))
        self.assertEqual(self.server.error("ls", path="fifo")[0], "NOT_A_DIRECTORY")

    def test_root_by_every_name(self):
        for path in (".", "/", "", None, 5, "./", "x/..", self.server.workspace):
            self.assertEqual(self.server.call("ls", path=path).status, 200, path)


if __name__ == "__main__":
    unittest.main()
