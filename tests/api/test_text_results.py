"""What a model reads of searches, listings and changes: text, in pages that clients pass on whole."""
import base64
import json
import os
import re
import struct
import unittest

from mcp_client import Stdio, initialize, output

LINES = "".join("line %d\n" % n for n in range(1, 41))


class Text(unittest.TestCase):
    def setUp(self):
        self.mcp = Stdio(results="text")
        self.addCleanup(self.mcp.close)

    def put(self, **files):
        for name, text in files.items():
            self.put_at(name.replace("__", "/").replace("_", "."), text)

    def put_at(self, path, text):
        whole = os.path.join(self.mcp.workspace, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    def text(self, tool, **arguments):
        result = self.mcp.call(tool, **arguments)["result"]
        self.assertFalse(result["isError"], result)
        self.assertNotIn("structuredContent", result)
        self.assertEqual([block["type"] for block in result["content"]], ["text"])
        text = result["content"][0]["text"]
        self.assertLessEqual(len(text.encode()), 32000)
        self.assertLessEqual(text.count("\n"), 1800)
        # How to take a change back is told in a line of its own, below the result.
        return re.sub(r"\n\[changed: [^\n]*; undo_change id=\d+\]$", "", text)

    def pages(self, tool, **arguments):
        """Every page, in order, each without its last line."""
        pages, cursor = [], {"cursor": "0:"}
        while True:
            text = self.text(tool, **arguments, **cursor)
            body, _, last = text.rpartition("\n")
            match = re.search(r"next: cursor=(\S+)\]$", last)
            pages.append(body if last.startswith("[") else text)
            if not match:
                return pages
            cursor = {"cursor": match[1]}
            self.assertLess(len(pages), 100, "the pages do not end")


class Search(Text):
    def test_hits_are_grouped_by_file(self):
        self.put(a_c="one\nneedle \"x\"\tend\n", b__c_txt="needle\n\nneedle\n", bin="needle\0\n")
        self.put_at(".gitignore", "hidden\n")
        self.put_at("hidden/x", "needle\n")
        self.assertEqual(self.text("search_files", pattern="needle"),
                         'a.c\n2: needle "x"\tend\n\nb/c.txt\n1: needle\n3: needle\n\n'
                         "[3 matches in 2 files; skipped: 1 binary, 1 ignored]")

    def test_what_surrounds_two_hits_is_shown_once(self):
        self.put(a_txt="1\nx\n3\nx\n5\n6\n7\n8\nx\n")
        self.assertEqual(self.text("search_files", pattern="x", context=1),
                         "a.txt\n1- 1\n2: x\n3- 3\n4: x\n5- 5\n8- 8\n9: x\n10- \n\n[3 matches in 1 file]")

    def test_files_and_counts(self):
        self.put(a_txt="x\nx\n", b_txt="x\n")
        self.assertEqual(self.text("search_files", pattern="x", mode="files"), "a.txt\nb.txt\n[2 files]")
        self.assertEqual(self.text("search_files", pattern="x", mode="counts"),
                         "a.txt: 2\nb.txt: 1\n[3 matches in 2 files]")

    def test_nothing_was_found(self):
        self.put(a_txt="x\n")
        self.put_at(".gitignore", "b.txt\n")
        self.put_at("b.txt", "needle\n")
        self.assertEqual(self.text("search_files", pattern="needle"),
                         "[no matches in 2 files; skipped: 1 ignored; 1 matching file is ignored by .gitignore]")
        self.assertEqual(self.text("search_files", pattern="x", file_pattern="*.zz"),
                         "[no matches: there was no file to search; skipped: 1 ignored]")

    def test_a_long_line_is_cut(self):
        self.put(a_txt="x" * 600 + "\n")
        self.assertEqual(self.text("search_files", pattern="x"), "a.txt\n1: " + "x" * 500 + "...\n\n[1 match in 1 file]")

    def test_pages_have_every_hit_once(self):
        for n in range(300):
            self.put_at("d%d/[n] %d.txt" % (n % 7, n), "needle %03d %s\nneedle\n" % (n, "y" * (n % 450)))
        for arguments in ({"max_results": 100}, {"max_results": 1000}, {"max_results": 1000, "max_bytes": 5000}):
            pages = self.pages("search_files", pattern="needle", **arguments)
            self.assertGreater(len(pages), 1)
            found = re.findall(r"^1: needle (\d+)", "\n".join(pages), re.M)
            self.assertEqual(sorted(found), ["%03d" % n for n in range(300)])
            self.assertEqual("\n".join(pages).count("2: needle"), 300)

    def test_the_first_hit_is_shown_however_long_its_context(self):
        self.put(a_txt="".join("%s\n" % ("\u65e5" * 490) for _ in range(20)) + "needle\n" + "z\n" * 20)
        text = self.text("search_files", pattern="needle", context=20, max_bytes=5000)
        self.assertEqual(text, "a.txt\n21: needle\n\n[1 match in 1 file]")


class List(Text):
    def test_names_and_sizes(self):
        self.put(a_txt="x" * 3100, B__c="")
        os.symlink("a.txt", os.path.join(self.mcp.workspace, "link"))
        self.assertEqual(self.text("list_directory", path="."), "B/\na.txt (3.0 KB)\nlink (symlink)")
        self.assertEqual(self.text("list_directory", path="B"), "c (0 bytes)")

    def test_a_tree_is_indented(self):
        self.put(a__b__c_txt="x", a__d_txt="xy", e_txt="")
        self.assertEqual(self.text("list_directory", path=".", recursive=True),
                         "a/\n  b/\n    c.txt (1 byte)\n  d.txt (2 bytes)\ne.txt (0 bytes)")
        # Directories that do not fit the pattern are named above what does.
        self.assertEqual(self.text("list_directory", path=".", recursive=True, pattern="*.txt"),
                         "a/\n  b/\n    c.txt (1 byte)\n  d.txt (2 bytes)\ne.txt (0 bytes)")

    def test_nothing(self):
        os.mkdir(os.path.join(self.mcp.workspace, "d"))
        self.assertEqual(self.text("list_directory", path="d"), "[empty directory]")
        self.assertEqual(self.text("list_directory", path=".", pattern="*.c"), "[no matches]")

    def test_pages(self):
        names = ["f%04d %s" % (n, "n" * (n % 90)) for n in range(1300)]
        for name in names:
            self.put_at("d/" + name, "")
        self.put_at("d/sub/x", "")
        for arguments in ({}, {"max_bytes": 3000}, {"recursive": True}):
            pages = self.pages("list_directory", path="d", **arguments)
            self.assertGreater(len(pages), 2)
            shown = [line[:-len(" (0 bytes)")] for page in pages for line in page.split("\n")]
            self.assertEqual([name for name in shown if name.startswith("f")], names)

    def test_observations_page_as_well(self):
        for n in range(700):
            self.put_at("f%04d" % n, "")
        with_members = Stdio(results="structured", cwd=self.mcp.workspace)
        self.addCleanup(with_members.close)
        names, cursor = [], {}
        while True:
            answer = with_members.call("list_directory", path=".", **cursor)
            self.assertLessEqual(len(json.dumps(answer["result"]["structuredContent"])), 32000 * 1.2)
            got = output(answer)
            names += [entry["name"] for entry in got["entries"]]
            self.assertEqual(got["truncated"], "next_cursor" in got)
            if not got["truncated"]:
                break
            cursor = {"cursor": got["next_cursor"]}
        self.assertEqual(names, ["f%04d" % n for n in range(700)])


class Find(Text):
    def test_a_path_a_line(self):
        self.put(a_txt="", b__c_txt="")
        self.assertEqual(self.text("find_files", pattern="*.txt"), "a.txt\nb/c.txt")
        self.assertEqual(self.text("find_files", pattern="*.txt", limit=1), "a.txt\n[next: cursor=0:a.txt]")
        self.assertEqual(self.text("find_files", pattern="*.zz"), "[no matches]")

    def test_pages(self):
        names = ["d/%04d%s" % (n, "n" * (n % 90)) for n in range(2500)]
        for name in names:
            self.put_at(name, "")
        for arguments in ({}, {"max_bytes": 3000}, {"limit": 10000}):
            pages = self.pages("find_files", pattern="d/*", **arguments)
            self.assertGreater(len(pages), 2)
            self.assertEqual("\n".join(pages).split("\n"), names)


class Change(Text):
    def test_what_changed_can_be_undone(self):
        got = self.mcp.call("write_file", path="d/a.txt", content="x")["result"]["content"][0]["text"]
        self.assertEqual(got, "[created d/a.txt, 1 byte]\n[changed: d (new), d/a.txt (new); undo_change id=1]")
        self.assertRegex(self.text("list_changes"), r"^1  \S+  write_file  d/a.txt  2 created$")
        got = self.mcp.call("undo_change", id=1)["result"]["content"][0]["text"]
        self.assertEqual(got, "removed d\nremoved d/a.txt\n"
                              "[changed: d (deleted), d/a.txt (deleted); undo_change id=2]")
        self.assertEqual(os.listdir(self.mcp.workspace), [])

    def test_an_edit_shows_its_diff(self):
        self.put(a_txt='one\n"two"\nthree\n')
        self.text("read_file", path="a.txt")
        self.assertEqual(self.text("edit_file", path="a.txt", old_text='"two"', new_text="2\n\t2"),
                         '[edited a.txt, +2 -1]\n 1 one\n-2 "two"\n+2 2\n+3 \t2\n 3 three')

    def test_several_places_and_a_dry_run(self):
        self.put(a_txt="x\ny\nx\n")
        self.text("read_file", path="a.txt")
        self.assertEqual(self.text("edit_file", path="a.txt", old_text="x", new_text="z", replace_all=True, dry_run=True),
                         "[dry run, not written: a.txt, +2 -2, 2 places]\n-1 x\n+1 z\n 2 y\n-3 x\n+3 z")
        self.assertEqual(self.text("read_file", path="a.txt"), "x\ny\nx\n")

    def test_a_new_file_is_not_repeated(self):
        self.assertEqual(self.text("write_file", path="d/a.txt", content=LINES), "[created d/a.txt, 311 bytes]")
        self.assertEqual(self.text("write_file", path="d/a.txt", content=LINES.replace("line 20\n", "")),
                         "[edited d/a.txt, -1]\n    ...\n 16 line 16\n 17 line 17\n 18 line 18\n 19 line 19\n-20 line 20\n"
                         " 21 line 21\n 22 line 22\n 23 line 23\n 24 line 24\n    ...")
        self.assertEqual(self.text("write_file", path="d/a.txt", content=LINES.replace("line 20\n", "")),
                         "[unchanged d/a.txt]")

    def test_a_binary_file_is_replaced_without_a_diff(self):
        self.put(a_bin=b"\xff\x00" * 50)
        self.mcp.call("run_command", command="true")
        result = self.mcp.call("write_file", path="a.bin", content="text\n")["result"]
        if result["isError"]:
            self.assertIn("FILE_NOT_READ", result["content"][0]["text"])
        else:
            self.assertEqual(result["content"][0]["text"], "[replaced a.bin, 5 bytes]")

    def test_a_long_diff_is_cut_at_a_hunk(self):
        text = "".join("%05d %s\n" % (n, "y" * 80) for n in range(6000))
        self.put(a_txt=text)
        self.text("read_file", path="a.txt")
        got = self.text("edit_file", path="a.txt", old_text="99 y", new_text="99 z", replace_all=True)
        lines = got.split("\n")
        self.assertEqual(lines[0], "[edited a.txt, +60 -60, 60 places]")
        hunks = sum(line.startswith("+") for line in lines)
        self.assertEqual(lines[-1], "[%d more hunks not shown: read_file shows the file as it is now]" % (60 - hunks))
        self.assertEqual(lines[-2].strip(), "...")
        self.assertGreater(hunks, 10)

    def test_a_long_hunk_is_cut_at_a_line(self):
        self.text("write_file", path="a.txt", content="x\n" * 5000)
        got = self.text("write_file", path="a.txt", content="y\n" * 5000).split("\n")
        self.assertEqual(got[0], "[edited a.txt, +5000 -5000]")
        self.assertRegex(got[-1], r"^\[\d+ more lines not shown: ")
        self.assertEqual(int(got[-1][1:].split()[0]), 10000 - (len(got) - 2))


def png(width, height, size=200):
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)
    return head + bytes(n % 251 for n in range(size - len(head)))


class Binary(Text):
    def test_an_image_is_shown_as_one(self):
        for name, data, about in (
            ("a.png", png(640, 480, 12000), "image/png, 640\u00d7480, 12 KB"),
            ("named.txt", b"GIF89a" + struct.pack("<HH", 30, 2) + b"\0" * 10, "image/gif, 30\u00d72, 20 bytes"),
            ("b", b"\xff\xd8\xff\xe0\0\4ab\xff\xd9" + b"\0" * 40, "image/jpeg, 50 bytes"),
        ):
            self.put_at(name, data)
            result = self.mcp.call("read_file", path=name)["result"]
            self.assertFalse(result["isError"], result)
            image, text = result["content"]
            self.assertEqual((image["type"], image["mimeType"]), ("image", about.split(",")[0]))
            self.assertEqual(base64.b64decode(image["data"]), data)
            self.assertEqual(text, {"type": "text", "text": "[%s]" % about})

    def test_an_image_that_is_too_large(self):
        self.put_at("a.png", png(9000, 9000, 10000001))
        result = self.mcp.call("read_file", path="a.png")["result"]
        self.assertTrue(result["isError"])
        self.assertEqual(result["content"][0]["text"],
                         "BINARY_FILE: PNG image of 9.5 MB cannot be shown: the most is 4.8 MB.\n"
                         "Make a smaller copy of it with run_command.")

    def test_another_binary_file_has_its_facts(self):
        self.put_at("a.gz", b"\x1f\x8b\x08\0" + b"\0" * 96)
        self.put_at("a.png", png(640, 480))
        result = self.mcp.call("read_file", path="a.gz")["result"]
        self.assertTrue(result["isError"])
        self.assertTrue(result["content"][0]["text"].startswith("BINARY_FILE: File is binary (gzip archive, 100 bytes)"))
        with_members = Stdio(results="structured", cwd=self.mcp.workspace)
        self.addCleanup(with_members.close)
        for name, size, mime in (("a.gz", 100, "application/gzip"), ("a.png", 200, "image/png")):
            error = with_members.call("read_file", path=name)["result"]["structuredContent"]["error"]
            self.assertEqual((error["code"], error["size"], error["mime"]), ("BINARY_FILE", size, mime))
        error = with_members.call("read_file", path="none")["result"]["structuredContent"]["error"]
        self.assertEqual(sorted(error), ["code", "message"])


class Clients(unittest.TestCase):
    """Results fit what a client passes on, by the name it gives itself."""

    def start(self, client, *flags):
        mcp = Stdio(*flags, results="text")
        self.addCleanup(mcp.close)
        mcp.send(initialize(client=client))
        mcp.answer(0)
        for name in "ab":
            with open(os.path.join(mcp.workspace, name + ".txt"), "w") as f:
                f.write("".join("line %d of a file with many of them\n" % n for n in range(5000)))
        return mcp

    def test_sizes(self):
        for client, flags, most, lines in (("codex-mcp-client", (), 11500, 1800), ("qwen-cli-mcp-client-sidecar", (), 24000, 950),
                                           ("someone", (), 32000, 1800), ("claude-code", (), 32000, 1800), ("codex-mcp-client", ("--result-bytes", "20000"), 20000, 1800)):
            mcp = self.start(client, *flags)
            for tool, arguments in (("read_file", {"path": "a.txt"}), ("run_command", {"command": "cat a.txt; exit 2"}),
                                    ("search_files", {"pattern": "line", "max_results": 1000})):
                with self.subTest(client, tool=tool, flags=flags):
                    text = mcp.call(tool, **arguments)["result"]["content"][0]["text"]
                    self.assertLessEqual(len(text.encode()), most)
                    self.assertLessEqual(text.count("\n"), lines)
                    # It is not much shorter than it may be.
                    self.assertTrue(len(text.encode()) > most * 0.7 or text.count("\n") > lines * 0.7, (len(text), text.count("\n")))

    def test_no_model_asks_for_more_than_is_passed_on(self):
        for client, most in (("claude-code", 39000), ("gemini-cli-mcp-client", 39000), ("opencode", 50000)):
            with self.subTest(client):
                mcp = self.start(client)
                wanted = [mcp.call("read_file", path="a.txt", max_bytes=size)["result"]["content"][0]["text"] for size in (36000, 900000)]
                self.assertLessEqual(len(wanted[1].encode()), most)
                self.assertGreater(len(wanted[1].encode()), most * 0.9)
                self.assertGreater(len(wanted[0].encode()), 32400, "what fits may be asked for")
        mcp = self.start("codex-mcp-client")
        text = mcp.call("read_file", path="a.txt", max_bytes=30000)["result"]["content"][0]["text"]
        self.assertLessEqual(len(text.encode()), 11500)
        text = mcp.call("read_file", path="a.txt", max_bytes=5000)["result"]["content"][0]["text"]
        self.assertLessEqual(len(text.encode()), 5000)

    def test_errors_of_clients_that_repeat_arguments(self):
        for client, is_error in (("gemini-cli-mcp-client", False), ("qwen-cli-mcp-client-sidecar", False), ("claude-code", True)):
            result = self.start(client).call("read_file", path="none")["result"]
            self.assertEqual(result["isError"], is_error, client)
            self.assertRegex(result["content"][0]["text"], "^FILE_NOT_FOUND: ")


if __name__ == "__main__":
    unittest.main()
