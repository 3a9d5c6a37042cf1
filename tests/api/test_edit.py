"""/edit: exactly once, byte for byte; the diff; and why a text is not found."""
import os
import random
import threading
import unittest

from harness import SidecarTest


class Edit(SidecarTest):
    def edit(self, data, old, new, name="f"):
        """The edited bytes and the diff."""
        self.server.put(name, data)
        result = self.server.result("edit", path=name, oldText=old, newText=new)
        self.assertEqual((result["ok"], result["path"]), (True, name))
        return self.server.get(name), result["diff"]

    def refuse(self, data, old, new="x"):
        self.server.put("f", data)
        code, sentence = self.server.error("edit", path="f", oldText=old, newText=new)
        self.assertEqual(self.server.get("f"), data.encode() if isinstance(data, str) else data)
        return code, sentence

    def test_bytes_outside_the_match_stay(self):
        for before, after in ((b"\xff\xfe", b"\x80"), (b"\xef\xbb\xbfx\r\n", b"\r\ny"), (b"\0\0", b"\0"), (b"", b""),
                              (b"a\rb\n\r", b"\n\n\n"), ("latin ü".encode("latin-1"), b"\xe2\x82")):
            data, _ = self.edit(before + b"MARK" + after, "MARK", "new\ntext")
            self.assertEqual(data, before + b"new\ntext" + after)

    def test_diff(self):
        for data, old, new, diff in (
            ("a\nb\nc\n", "b", "B", " 1 a\n-2 b\n+2 B\n 3 c"),
            ("a", "a", "b", "-1 a\n+1 b"),
            ("a\n", "a\n", "", "-1 a"),
            ("a\nb\n", "a\n", "a\nx\n", " 1 a\n+2 x\n 2 b"),
            ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "5", "five", " 1 1\n 2 2\n 3 3\n 4 4\n-5 5\n+5 five\n 6 6\n 7 7\n 8 8\n 9 9".replace(
                "\n", "\n").replace(" 1 1", "  1 1", 1).replace("\n ", "\n  ").replace("\n-5", "\n- 5").replace("\n+5", "\n+ 5")),
        ):
            with self.subTest(old):
                self.assertEqual(self.edit(data, old, new)[1], diff)

    def test_options_that_the_contract_leaves_open(self):
        self.server.put("o", "a\tb\na\tb\n")
        result = self.server.result("edit", path="o", oldText="a", newText="c", replaceAll=True, dryRun=True)
        self.assertEqual((result["replacements"], self.server.get("o")), (2, b"a\tb\na\tb\n"))
        self.assertIn("+2 c\tb", result["diff"])
        self.assertEqual(self.server.result("edit", path="o", oldText="a", newText="c", replaceAll=True)["replacements"], 2)
        self.assertEqual(self.server.get("o"), b"c\tb\nc\tb\n")
        plain = self.server.error("edit", path="o", oldText="c b", newText="x")
        self.assertTrue(plain[1].endswith("including all whitespace and newlines."), plain)
        hint = self.server.error("edit", path="o", oldText="c b", newText="x", hints=True)
        self.assertEqual(hint[1], plain[1] + " A similar text is at line 1, but the file has tabs there and the old text has spaces.")

    def test_diff_leaves_out_what_is_far(self):
        data = "".join("%d\n" % i for i in range(1, 101))
        _, diff = self.edit(data, "\n50\n", "\nfifty\n")
        self.assertEqual(diff, "\n".join(
            ["     ..."] + ["  %d %d" % (i, i) for i in range(46, 50)] + ["- 50 50", "+ 50 fifty"] +
            ["  %d %d" % (i, i) for i in range(51, 55)] + ["     ..."]))

    def apply(self, old, diff):
        """The new lines a diff describes, by its numbers."""
        lines = old.split("\n")
        width = len(str(max(len(lines), 1)))
        removed, added = set(), {}
        for line in diff.split("\n"):
            if line.strip() == "...":
                continue
            width = next(i for i in range(1, 12) if line[i + 1] == " " and line[1:i + 1].strip().isdigit())
            number, text = int(line[1:width + 1]), line[width + 2:]
            if line[0] == "-":
                self.assertEqual(lines[number - 1], text)
                removed.add(number)
            elif line[0] == "+":
                added[number] = text
            else:
                self.assertEqual(lines[number - 1], text)
        kept = [text for i, text in enumerate(lines, 1) if i not in removed]
        for number in sorted(added):
            kept.insert(number - 1, added[number])
        return "\n".join(kept)

    def test_diff_describes_the_change(self):
        rng = random.Random(7)
        for _ in range(60):
            lines = [rng.choice("abc") * rng.randrange(3) for _ in range(rng.randrange(1, 40))]
            at = rng.randrange(len(lines))
            lines[at] = "UNIQUE"
            text = "\n".join(lines) + "\n"
            start = text.rfind("\n", 0, max(text.index("UNIQUE") - rng.randrange(12), 0)) + 1
            stop = text.index("\n", text.index("UNIQUE"))
            new = "\n".join(rng.choice("abcd") for _ in range(rng.randrange(1, 6)))
            if text[start:stop] == new:
                continue
            data, diff = self.edit(text, text[start:stop], new)
            self.assertEqual(self.apply(text, diff), data.decode())

    def test_not_unique(self):
        code, sentence = self.refuse("x x x", "x", "y")
        self.assertEqual(code, "TEXT_NOT_UNIQUE")
        self.assertEqual(sentence, "Found 3 occurrences of the text in f. The text must be unique. "
                                   "Please provide more context to make it unique.")

    def test_same(self):
        code, sentence = self.refuse("abc", "b", "b")
        self.assertEqual(code, "NO_CHANGE")
        self.assertTrue(sentence.startswith("No changes made to f. The replacement produced identical content."))

    def test_not_found(self):
        plain = ("Could not find the exact text in f. The old text must match exactly including all whitespace and "
                 "newlines.")
        for data, old, words in (
            ("hello", "absent", ()),
            ("", "absent", ()),
            ("one\n\treturn x;\n", "    return x;", ("line 2", "tabs")),
            ("one\n    return x;\n", "\treturn x;", ("line 2", "spaces")),
            ("a\r\nb\r\nc\r\n", "b\nc", ("line 2", "CRLF")),
            ("a\r\nb\r\nc\r\n", "b\n", ("line 2", "CRLF")),
            ("a\nb\nc\n", "a\r\nb", ("line 1", "CRLF")),
            ("if (a == b)\n", "if (a  == b)", ("line 1", "white space")),
            ("x\ny\nint Foo = 1;\n", "int foo = 1;", ("line 3", "case")),
            ("\tif (x)\n\t\ty();\n", "  if (x)\n    y();\n", ("line 1", "tabs")),
        ):
            with self.subTest(old):
                # The words of the existing API, for whoever compares them; a model is told the reason.
                self.assertEqual(self.refuse(data, old), ("TEXT_NOT_FOUND", plain))
                code, sentence = self.server.failure("edit_file", path="f", old_text=old, new_text="new")
                self.assertEqual(code, "TEXT_NOT_FOUND")
                self.assertTrue(sentence.startswith(plain))
                self.assertEqual(sentence == plain, not words)
                for word in words:
                    self.assertIn(word, sentence)

    def test_arguments(self):
        self.server.put("f", "x")
        for arguments, name in (({}, "path"), ({"path": "f"}, "oldText"), ({"path": "f", "oldText": "x"}, "newText"),
                                ({"path": "f", "oldText": "", "newText": "y"}, "oldText"),
                                ({"path": "f", "oldText": 1, "newText": "y"}, "oldText")):
            self.assertEqual(self.server.error("edit", **arguments), ("INVALID_ARGUMENTS", "Missing or invalid " + name))

    def test_no_file(self):
        self.assertEqual(self.server.error("edit", path="absent/x", oldText="a", newText="b")[0], "FILE_NOT_FOUND")
        self.assertFalse(os.path.exists(self.server.path("absent")))
        os.makedirs(self.server.path("dir"))
        self.assertEqual(self.server.error("edit", path="dir", oldText="a", newText="b")[0], "NOT_A_FILE")

    def test_replacement_is_literal(self):
        data, _ = self.edit("a.b*c", ".b*", "$& \\1 %s $1")
        self.assertEqual(data, b"a$& \\1 %s $1c")

    def test_no_update_is_lost(self):
        names = ["slot%02d" % i for i in range(40)]
        self.server.put("shared", "".join("%s=0\n" % n for n in names))
        os.symlink("shared", self.server.path("alias"))

        def work(mine, path):
            for name in mine:
                self.server.result("edit", path=path, oldText=name + "=0\n", newText=name + "=1\n")
        threads = [threading.Thread(target=work, args=(names[i::4], ("shared", "alias", "./shared", "/shared")[i]))
                   for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(self.server.get("shared").decode(), "".join("%s=1\n" % n for n in names))

    def test_large_insertion_shows_only_itself(self):
        """Thousands of new lines: what stands far behind them is not in the diff."""
        data = "".join("old %d\n" % i for i in range(30000))
        new = "".join("new %d\n" % i for i in range(3000))
        _, diff = self.edit(data, "old 100\n", "old 100\n" + new)
        self.assertLess(len(diff.split("\n")), 3100)
        self.assertEqual(sum(line.startswith("+") for line in diff.split("\n")), 3000)

    def test_large_replacement_shows_only_itself(self):
        data = "".join("old %d\n" % i for i in range(30000))
        middle = data[data.index("old 5000\n"):data.index("old 8000\n")]
        _, diff = self.edit(data, middle, "".join("new %d\n" % i for i in range(3000)))
        self.assertLess(len(diff.split("\n")), 6100)

    def test_change_too_large_to_show_is_refused_or_done(self):
        """Never an error for an edit that was made."""
        self.server.put("f", "start\n" + "\x01" * (9 << 20) + "\nend")
        answer = self.server.call("edit", path="f", oldText="start\n", newText="start: ")
        data = self.server.get("f")
        self.assertEqual(answer.status == 200, data.startswith(b"start: "))

    def test_large_file(self):
        data = "".join("line %d\n" % i for i in range(400000))
        edited, diff = self.edit(data, "line 399999\n", "the end\n")
        self.assertTrue(edited.endswith(b"the end\n"))
        self.assertLess(len(diff), 200)


if __name__ == "__main__":
    unittest.main()
