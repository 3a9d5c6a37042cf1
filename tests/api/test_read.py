"""/read: lines, limits, images, bytes that are no text."""
import base64
import json
import os
import unittest

from harness import SidecarTest, is_sanitized, machine


def truncated(lines, most_lines=2000, most_bytes=51200):
    """What the contract says of a text that is cut: the lines that are given out, and why it ends."""
    out, size = [], 0
    for i, line in enumerate(lines[:most_lines]):
        length = len(line.encode()) + (i > 0)
        if size + length > most_bytes:
            return out, size, "bytes"
        out.append(line)
        size += length
    return out, size, "lines"


class Read(SidecarTest):
    def check(self, text, offset=None, limit=None):
        """The whole answer, worked out here from the text."""
        self.server.put("t.txt", text)
        arguments = {k: v for k, v in (("offset", offset), ("limit", limit)) if v is not None}
        result = self.server.result("read", path="t.txt", **arguments)
        lines = text.split("\n")
        chosen = lines[(offset or 1) - 1:]
        more = limit is not None and limit < len(chosen)
        chosen = chosen[:limit] if limit else chosen
        whole = "\n".join(chosen)
        want = {"type": "text", "content": whole, "totalLines": len(lines), "hasMore": more}
        if len(chosen) > 2000 or len(whole.encode()) > 51200:
            out, size, by = truncated(chosen)
            want["content"] = "\n".join(out)
            want["hasMore"] = True
            want["truncation"] = {
                "content": want["content"], "truncated": True, "truncatedBy": by, "totalLines": len(chosen),
                "totalBytes": len(whole.encode()), "outputLines": len(out), "outputBytes": size,
                "lastLinePartial": False, "firstLineExceedsLimit": not out, "maxLines": 2000, "maxBytes": 51200}
        self.assertEqual(result, want)

    def test_small(self):
        for text in ("", "\n", "a", "a\n", "a\nb", "a\nb\n", "\n\n\n", "a\r\nb\r\n", "\ufeffbom\n", "é\n漢字\n😀"):
            self.check(text)

    def test_line_limit(self):
        for count in (1999, 2000, 2001, 2500):
            self.check("\n".join(str(i) for i in range(count)))
        self.check("x\n" * 1999)
        self.check("x\n" * 2000)

    def test_byte_limit(self):
        for size in (51199, 51200, 51201):
            self.check("x" * size)
            self.check("ab\n" + "x" * (size - 3))
        self.check(("y" * 99 + "\n") * 511 + "y" * 100)
        self.check(("y" * 99 + "\n") * 512)
        self.check(("é" * 60 + "\n") * 500)
        self.check("漢" * 17066 + "xx")
        self.check("漢" * 17067)
        self.check("\n" * 1500 + "z" * 60000)

    def test_offset_and_limit(self):
        text = "\n".join("line %d" % i for i in range(1, 5001))
        for offset, limit in ((1, 1), (1, 5000), (1, 5001), (2000, 10), (3001, None), (2999, 2001), (5000, None), (5000, 7),
                              (1, 2000), (1, 2001), (4999, 1), (None, 3)):
            self.check(text, offset, limit)

    def test_every_offset_of_a_text_across_pieces(self):
        text = "".join("%d%s\n" % (i, "-" * (i * 37 % 300)) for i in range(1, 1200))
        for offset in range(1, 1200, 97):
            for limit in (1, 2, 150):
                self.check(text, offset, limit)

    def test_numbers_as_clients_send_them(self):
        self.server.put("n", "a\nb\nc")
        for offset, content in ((2.0, "b\nc"), (2.9, "b\nc"), ("2", "a\nb\nc"), (None, "a\nb\nc"), (True, "a\nb\nc"), ([], "a\nb\nc")):
            self.assertEqual(self.server.result("read", path="n", offset=offset)["content"], content)
        for limit in (-1, 0, "1", 1e300, 2**70):
            self.assertEqual(self.server.result("read", path="n", limit=limit)["content"], "a\nb\nc")
        for offset in (0, -5, -1e300, 0.5):
            self.assertEqual(self.server.error("read", path="n", offset=offset), ("INVALID_ARGUMENTS", "Offset must be >= 1"))
        self.assertEqual(self.server.error("read", path="n", offset=4)[1], "Offset 4 is beyond end of file (3 lines total)")
        self.assertEqual(self.server.call("read", path="n", offset=1e300).status, 400)

    def test_not_utf8(self):
        for data in (b"gr\xfc\xdfe", b"\xf0\x9f\x98", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf", b"\xff\xfe", b"a\xf0\x9fb\xe2c"):
            self.server.put("b", data)
            self.assertEqual(self.server.result("read", path="b")["content"], data.decode("utf-8", "replace"))

    def test_lengths_of_broken_text(self):
        """Bytes are counted as the U+FFFD they become, also across the pieces a file is read in."""
        for at in range(65530, 65540):
            for broken in (b"\xf0\x9f\x98\xf0\x9f\x98\x80", b"\xe2\x82\xe2\x82\xac", b"\xf0\xf0\xf0\xf0\x9f\x98\x80", b"\xff\xe2\x82"):
                data = b"a\n" + b"x" * (at - 2) + broken + b"y" * 100
                self.server.put("b", data)
                text = data.decode("utf-8", "replace")
                self.assertEqual(self.server.result("read", path="b")["truncation"]["totalBytes"], len(text.encode()), broken)

    def test_binary(self):
        self.server.put("elf", b"\x7fELF\x02\x01\x01" + b"\0" * 50)
        code, sentence = self.server.error("read", path="elf")
        self.assertEqual(code, "BINARY_FILE")
        self.assertIn("57 bytes", sentence)
        self.assertIn("ELF", sentence)
        self.server.put("late", b"x" * 8191 + b"\0")
        self.assertEqual(self.server.error("read", path="late")[0], "BINARY_FILE")
        self.server.put("later", b"x" * 8192 + b"\0")
        self.assertEqual(self.server.result("read", path="later")["content"], "x" * 8192 + "\0")

    def test_controls_survive(self):
        data = bytes(range(1, 32)) + b'"\\\x7f' + "\u2028\u0085".encode()
        self.server.put("c", data)
        self.assertEqual(self.server.result("read", path="c")["content"].encode(), data)

    def test_images(self):
        data = os.urandom(1000)
        for name, kind in (("a.png", "image/png"), ("a.jpg", "image/jpeg"), ("a.JPEG", "image/jpeg"), ("a.gif", "image/gif"),
                           ("a.webp", "image/webp"), ("x.tar.png", "image/png")):
            for size in (0, 1, 2, 3, 1000):
                self.server.put(name, data[:size])
                self.assertEqual(self.server.result("read", path=name),
                                 {"type": "image", "data": base64.b64encode(data[:size]).decode(), "mimeType": kind})
        for name in ("png", "a.png.txt", "a.svg", "a.bmp"):
            self.server.put(name, "text")
            self.assertEqual(self.server.result("read", path=name)["type"], "text")

    def test_an_image_has_no_lines(self):
        self.server.put("part.png", b"\x89PNG")
        for numbers in ({"offset": 0}, {"offset": -1}, {"offset": 9, "limit": 0}):
            with self.subTest(numbers):
                self.assertEqual(self.server.result("read", path="part.png", **numbers)["type"], "image")

    def test_image_size(self):
        self.server.put("max.png", b"\x89" * (20 << 20))
        self.assertEqual(len(self.server.result("read", path="max.png")["data"]), ((20 << 20) + 2) // 3 * 4)
        self.server.put("over.png", b"\x89" * ((20 << 20) + 1))
        self.assertEqual(self.server.error("read", path="over.png")[0], "FILE_TOO_LARGE")

    def test_what_is_no_file(self):
        os.makedirs(self.server.path("dir"))
        os.mkfifo(self.server.path("fifo"))
        self.assertEqual(self.server.error("read", path="dir")[0], "NOT_A_FILE")
        self.assertEqual(self.server.error("read", path="fifo")[0], "NOT_A_FILE")
        self.assertEqual(self.server.error("read", path=".")[0], "NOT_A_FILE")
        self.assertEqual(self.server.error("read", path="absent")[0], "FILE_NOT_FOUND")
        self.assertEqual(self.server.error("read", path="dir/absent")[0], "FILE_NOT_FOUND")
        self.server.put("plain", "")
        self.assertIn(self.server.error("read", path="plain/x")[0], ("FILE_NOT_FOUND", "NOT_A_DIRECTORY"))

    def test_missing_path(self):
        for arguments in ({}, {"path": None}, {"path": 5}, {"path": ""}, {"path": " \n"}, {"path": ["x"]}):
            self.assertEqual(self.server.error("read", **arguments), ("INVALID_ARGUMENTS", "Missing or invalid path"))

    def test_end_of_a_huge_file(self):
        size = 200 << 20
        with open(self.server.path("huge"), "wb") as f:
            block = b"".join(b"%07d\n" % i for i in range(1 << 17))  # 1 MiB
            for _ in range(size >> 20):
                f.write(block)
        before = self.server.rss()
        total = (size >> 3) + 1
        result = self.server.result("read", path="huge", offset=total - 3, limit=3)
        self.assertEqual(result["content"], "0131069\n0131070\n0131071")
        self.assertEqual((result["totalLines"], result["hasMore"]), (total, True))
        if not is_sanitized():
            self.assertLess(self.server.rss() - before, 8 << 10)
        os.unlink(self.server.path("huge"))

    def test_a_hole_takes_no_time(self):
        """8 TB would take longer to read than there is time for."""
        if not machine.huge_files():
            self.skipTest("no file can be so large here")
        server = self.start(env={"SIDECAR_SEARCH_SECONDS": "1"})
        full = server.put("huge", "text\n" * 2000)
        os.truncate(full, 1 << 43)
        with open(full, "r+b") as f:
            f.seek((1 << 43) - 10)
            f.write(b"\nthe end\n\n")
        result = server.result("read", path="huge", offset=2, limit=1)
        self.assertEqual((result["content"], result["totalLines"]), ("text", 2004))
        self.assertEqual(server.result("read", path="huge", offset=2002, limit=1)["content"], "the end")
        self.assertEqual(server.output("read_file", path="huge", start_line=2002, end_line=2002)["content"], "the end")
        result = server.result("read", path="huge", offset=2001)
        self.assertEqual((result["content"], result["truncation"]["totalBytes"]), ("", (1 << 43) - 10000))

    def test_file_that_grows_meanwhile(self):
        full = self.server.put("grow", "x\n" * 10000)
        with open(full, "ab") as f:
            for _ in range(200):
                f.write(b"more\n" * 1000)
                f.flush()
                self.assertEqual(self.server.call("read", path="grow").status, 200)

    def test_names(self):
        for name in ("sp ace", "ünïcode", "..dots", "-dash", "new\nline", "quo\"te", "tab\tx", "%2e%2e", "a:b", "*", "~"):
            self.server.put(name, name)
            self.assertEqual(self.server.result("read", path=name)["content"], name)

    def test_answer_is_valid_json_in_utf8(self):
        self.server.put("all", bytes(range(1, 256)) * 20)
        answer = self.server.call("read", path="all")
        json.loads(answer.body.decode("utf-8"))


class Sentences(SidecarTest):
    """What docs/migration.md says of errors of the system."""

    def test_they_name_no_path_of_the_machine(self):
        s = self.server
        s.put("file", "x")
        s.put("dir/f", "x")
        os.symlink("loop", s.path("loop"))
        for tool, path, code, sentence in (
                ("read", "none", "FILE_NOT_FOUND", "File not found: none"),
                ("ls", "none", "FILE_NOT_FOUND", "File not found: none"),
                ("read", "dir", "NOT_A_FILE", "Path is a directory, not a file: dir"),
                ("write", "dir", "NOT_A_FILE", "Cannot write dir: is a directory"),
                ("read", "file/x", "NOT_A_DIRECTORY", "Cannot open file/x: not a directory"),
                ("write", "file/x", "NOT_A_DIRECTORY", "Cannot open file/x: not a directory"),
                ("read", "loop", "SYMLINK_LOOP", "Too many levels of symbolic links: loop")):
            more = {"content": "y"} if tool == "write" else {}
            self.assertEqual(s.error(tool, path=path, **more), (code, sentence), (tool, path))


if __name__ == "__main__":
    unittest.main()
