"""Files, commands and jobs as text, which is what models read over MCP: the right size, nothing lost."""
import json
import re
import unittest

from harness import TOOK, SidecarTest, given_time, until
from mcp_client import Stdio

MOST, LINES = 32000, 1800


class TextTest(unittest.TestCase):
    flags = ()

    def setUp(self):
        self.client = Stdio(*self.flags, results="text")
        self.addCleanup(self.client.close)

    def put(self, name, content):
        with open(f"{self.client.workspace}/{name}", "w" if isinstance(content, str) else "wb") as f:
            f.write(content)

    def result(self, tool, **arguments):
        result = self.client.call(tool, **arguments)["result"]
        self.assertNotIn("structuredContent", result)
        return result

    def text(self, tool, **arguments):
        """The text of a call that must succeed; no result is too long."""
        result = self.result(tool, **arguments)
        self.assertFalse(result["isError"], result)
        (block,) = result["content"]
        self.assertEqual(block["type"], "text")
        self.assertLessEqual(len(block["text"].encode()), MOST)
        self.assertLessEqual(block["text"].count("\n"), LINES)
        return block["text"]

    def error(self, tool, **arguments):
        result = self.result(tool, **arguments)
        self.assertTrue(result["isError"], result)
        return result["content"][0]["text"]


class Definitions(TextTest):
    def test_tools_have_no_schema_of_results(self):
        for tool in self.client.ask("tools/list")["result"]["tools"]:
            self.assertNotIn("outputSchema", tool)
            self.assertGreater(tool["_meta"]["anthropic/maxResultSizeChars"], MOST)
            self.assertIs(tool["_meta"]["anthropic/alwaysLoad"], True)


class ReadFile(TextTest):
    def test_a_file_is_shown_byte_for_byte(self):
        for content in ("one\ntwo\n", "no newline", '"quotes" \\ and\ttabs\n\n', "\r\n", "[empty file]"):
            self.put("a", content)
            self.assertEqual(self.text("read_file", path="a"), content.replace("\r\n", "\r\n"))
        self.put("a", b"a\xffb\n")
        self.assertEqual(self.text("read_file", path="a"), "a\ufffdb\n")
        self.put("a", "")
        self.assertEqual(self.text("read_file", path="a"), "[empty file]")

    def read_all(self, path, **arguments):
        """All pages together; and how many there were."""
        whole, start, pages = "", 1, 0
        while start:
            page = self.text("read_file", path=path, start_line=start, **arguments)
            content, _, note = page.rpartition("\n[")
            more = re.fullmatch(r"lines? (\d+)(?:-(\d+))? of (\d+)(?:; next: start_line=(\d+))?]", note)
            self.assertTrue(more, page[-200:])
            self.assertEqual(int(more[1]), start)
            whole += content + "\n"
            start = int(more[4]) if more[4] else 0
            pages += 1
        return whole, pages

    def test_pages_add_up(self):
        for name, content in (("lines", "".join("%d\n" % i for i in range(9000))),
                              ("wide", "".join("é" * 900 + "\n" for i in range(200))),
                              ("quotes", ('"' * 70 + "\n") * 3000)):
            self.put(name, content)
            whole, pages = self.read_all(name)
            self.assertEqual(whole, content)
            self.assertGreater(pages, 2)
        self.assertEqual(self.read_all("lines", max_bytes=2000)[0], "".join("%d\n" % i for i in range(9000)))

    def test_the_first_page_of_a_long_file_comes_without_a_range(self):
        self.put("long", "x" * 99 + "\n" + ("y" * 99 + "\n") * 40000)
        text = self.text("read_file", path="long")
        self.assertTrue(text.startswith("x" * 99 + "\ny"))
        self.assertRegex(text, r"\n\[lines 1-31\d of 40001; next: start_line=31\d\]$")

    def test_a_line_longer_than_a_page(self):
        self.put("a", "short\n" + "z" * 64200 + "\nafter\n")
        self.assertTrue(self.text("read_file", path="a").endswith("short\n[line 1 of 3; next: start_line=2]"))
        text = self.text("read_file", path="a", start_line=2)
        self.assertEqual(text, "z" * 16000 + "\n[line 2 goes on for 48,200 bytes: run_command with cut -c shows a part]\n"
                               "[line 2 of 3; next: start_line=3]")
        self.assertEqual(self.text("read_file", path="a", start_line=3), "after\n[line 3 of 3]")

    def test_line_numbers(self):
        self.put("a", "".join("line\n" for _ in range(12)))
        self.assertTrue(self.text("read_file", path="a", line_numbers=True).startswith(" 1\tline\n 2\tline\n"))
        self.assertEqual(self.text("read_file", path="a", start_line=9, end_line=10, line_numbers=True),
                         " 9\tline\n10\tline\n[lines 9-10 of 12; next: start_line=11]")

    def test_errors_say_what_to_do_on_a_line_of_its_own(self):
        self.put("b", b"\0" * 100)
        first, _, second = self.error("read_file", path="b").partition("\n")
        self.assertTrue(first.startswith("BINARY_FILE: "), first)
        self.assertIn("xxd", second)
        self.put("a", "x\n")
        self.assertEqual(self.error("read_file", path="a", start_line=2),
                         "INVALID_ARGUMENTS: start_line 2 is beyond the end of the file (1 lines)")


class RunCommand(TextTest):
    def run_text(self, command, **arguments):
        return self.text("run_command", command=command, **arguments)

    def test_the_end_comes_first(self):
        self.assertRegex(self.run_text("true"), r"^\[exit 0, %s\]$" % TOOK)
        self.assertRegex(self.run_text("echo out; echo err >&2; echo out; exit 2"),
                         r"^\[exit 2, %s\]\nout\nerr\nout\n$" % TOOK)
        self.assertRegex(self.run_text("kill -TERM $$"), r"^\[ended by SIGTERM, %s\]$" % TOOK)
        self.assertRegex(given_time(lambda text: "\na\n" in text, lambda ms: self.run_text("echo a; sleep 600", timeout_ms=ms)),
                         r"^\[timed out after %s; everything it started was ended\]\na\n\[.*background.*\]$" % TOOK)

    def test_the_streams_are_in_order(self):
        text = self.run_text("for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done")
        self.assertEqual(text.split("\n")[1:-1], ["%s%d" % (s, i) for i in range(1, 10) for s in "oe"])

    def test_both_ends_and_the_whole(self):
        text = self.run_text("seq 20000; echo LAST ERROR >&2; exit 3")
        self.assertRegex(text, r"^\[exit 3, [\d.]+ s; all of it: output:\d+\]\n")
        self.assertTrue(text.endswith("\n20000\nLAST ERROR\n"))
        gap = re.search(r'\n\[… ([\d,]+) lines, (\d+) KB left out: read_file path="(output:\d+)" start_line=(\d+)\]\n', text)
        self.assertTrue(gap, text[:200])
        self.assertEqual(text[:gap.start()].rsplit("\n", 1)[1], str(int(gap[4]) - 1))
        after = text[gap.end():].split("\n", 1)[0]
        self.assertEqual(int(after) - int(gap[4]), int(gap[1].replace(",", "")))
        # Everything that was left out can be read, page by page, and searched.
        page = self.text("read_file", path=gap[3], start_line=int(gap[4]), end_line=int(gap[4]) + 1)
        self.assertTrue(page.startswith("%s\n%d\n[" % (gap[4], int(gap[4]) + 1)), page)
        self.assertIn("20001", self.text("search_files", path=gap[3], pattern="LAST"))

    def test_a_file_may_have_such_a_name(self):
        self.put("output:1", "a file\n")
        self.assertRegex(self.error("read_file", path="output:1"), "^FILE_NOT_FOUND: There is no output:1")
        self.assertEqual(self.text("read_file", path="./output:1"), "a file\n")

    def test_kept_output_expires(self):
        # Of 64 MB there is room for four of these; each shows where it is.
        names = [re.search(r"output:\d+", self.run_text("yes 0123456789abcde | head -c 16000000"))[0] for _ in range(5)]
        self.assertEqual(names, ["output:%d" % i for i in range(1, 6)])
        self.assertRegex(self.error("read_file", path=names[0]), r"^FILE_NOT_FOUND: output:1 is not kept any more\.\n.")
        self.assertTrue(self.text("read_file", path=names[4]).startswith("0123456789abcde\n"))

    def test_secrets_are_out_before_it_is_kept(self):
        text = self.run_text("seq 9000; echo AKIA" + "IOSFODNN7EXAMPL3; seq 9000")
        name = re.search(r"output:\d+", text)[0]
        self.assertIn("9001:", self.text("search_files", path=name, pattern="REDACTED"))
        self.assertNotIn("AKIA", self.text("search_files", path=name, pattern="AKIA|REDACTED"))

    def test_what_a_terminal_would_show(self):
        self.assertTrue(self.run_text(r"printf 'abcdef\rXY\n\033[31mred\033[0m\n10%%\r20%%\r100%%\n'")
                        .endswith("]\nXYcdef\nred\n100%\n"))
        self.assertRegex(self.run_text("head -c 12000 /dev/urandom"), r"\]\n\[12 KB of binary output\]\n$")

    def test_one_endless_line(self):
        text = self.run_text("head -c 300000 /dev/zero | tr '\\0' x")
        self.assertRegex(text, r'x\n\[… 26\d KB left out: read_file path="output:1" start_line=1\]\nx')


class Jobs(TextTest):
    def test_from_start_to_end(self):
        self.assertEqual(self.text("job_list"), "[no jobs]")
        text = self.text("run_command", command="echo begun; while [ ! -e go ]; do sleep 0.1; done; seq 20000; exit 7",
                         background=True)
        self.assertRegex(text, r'^\[job 1 runs in the background: job_output job_id="1" .*\]$')
        self.assertRegex(self.text("job_list"), r"^id +state +started +command\n1 +running +%s +ago +echo begun" % TOOK)
        self.assertEqual(self.text("job_output", job_id="1", wait_ms=20000), "[running]\nbegun\n[next: since=6]")
        self.put("go", "")
        until(lambda: re.search("(?m)^1 +exit 7 ", self.text("job_list")), "the job ends")
        text = self.text("job_output", job_id="1", since=6)
        self.assertTrue(text.startswith("[exit 7]\n1\n2\n") and text.endswith("\n20000\n"), text[:100] + text[-100:])
        gap = re.search(r'\[… [\d,]+ lines, \d+ KB left out: job_output job_id="1" since=(\d+)\]\n', text)
        last = int(text[:gap.start()].rstrip("\n").rsplit("\n", 1)[1])
        self.assertTrue(self.text("job_output", job_id="1", since=int(gap[1])).startswith("[exit 7]\n%d\n" % (last + 1)))


class Structured(unittest.TestCase):
    """The same limit holds for the encoded JSON."""

    def setUp(self):
        self.client = Stdio()
        self.addCleanup(self.client.close)

    def observation(self, tool, **arguments):
        result = self.client.call(tool, **arguments)["result"]
        self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
        self.assertLessEqual(len(result["content"][0]["text"].encode()), MOST)
        return result["structuredContent"]["output"]

    def test_both_streams_are_long(self):
        for script in ('yes "\\"" | head -n 90000; yes "\\\\" | head -n 90000 >&2', "seq 90000; echo err >&2",
                       "echo out; seq 90000 >&2", "head -c 200000 /dev/zero | tr '\\0' '\\1'"):
            seen = self.observation("run_command", command=script)
            self.assertIn(seen["truncated"], (True, False))
            if seen["truncated"]:
                self.assertRegex(seen["stdout"] + seen["stderr"], 'left out: read_file path="%s"' % seen["output_id"])
        seen = self.observation("run_command", command="seq 90000; echo err >&2")
        self.assertEqual(seen["stderr"], "err\n")
        self.assertTrue(seen["stdout"].endswith("\n90000\n"))
        self.assertGreater(len(seen["stdout"]), 8000)

    def test_pages_of_a_file(self):
        content = "".join('%d: "quoted"\n' % i for i in range(9000))
        with open(self.client.workspace + "/a", "w", encoding="utf-8") as f:
            f.write(content)
        whole, start = [], 1
        while start:
            seen = self.observation("read_file", path="a", start_line=start)
            whole.append(seen["content"])
            start = seen.get("next_start_line")
        self.assertEqual("\n".join(whole), content)


class Replies(SidecarTest):
    def reply(self, query, call, status=200):
        answer = self.server.request("POST", "/tools" + query, json.dumps(call).encode(),
                                     {"Content-Type": "application/json"})
        self.assertEqual(answer.status, status, answer.body)
        return answer.json()

    def test_text_in_the_form_of_each_provider(self):
        self.server.put("a.txt", 'say "hi"\n')
        args = {"path": "a.txt"}
        said = 'say "hi"\n'
        self.assertEqual(self.reply("?reply=openai&results=text", {"id": "c1", "function": {"name": "read_file", "arguments": args}}),
                         {"role": "tool", "tool_call_id": "c1", "content": said})
        self.assertEqual(self.reply("?reply=openai&results=text",
                                    {"type": "function_call", "call_id": "c2", "name": "read_file", "arguments": json.dumps(args)}),
                         {"type": "function_call_output", "call_id": "c2", "output": said})
        self.assertEqual(self.reply("?reply=anthropic&results=text", {"type": "tool_use", "id": "t", "name": "read_file", "input": args}),
                         {"type": "tool_result", "tool_use_id": "t", "content": said, "is_error": False})
        self.assertEqual(self.reply("?reply=ollama&results=text", {"function": {"name": "read_file", "arguments": args}}),
                         {"role": "tool", "tool_name": "read_file", "content": said})
        self.assertEqual(self.reply("?reply=gemini&results=text", {"functionCall": {"name": "read_file", "args": args}}),
                         {"functionResponse": {"name": "read_file", "response": {"output": said}}})

    def test_errors(self):
        call = {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "../x"}}
        seen = self.reply("?reply=anthropic&results=text", call)
        self.assertTrue(seen["is_error"])
        self.assertRegex(seen["content"], "^PATH_OUTSIDE_WORKSPACE: ")
        seen = self.reply("?reply=gemini&results=text", {"functionCall": {"name": "nonsense", "args": {}}})
        self.assertRegex(seen["functionResponse"]["response"]["error"], "^UNKNOWN_TOOL: ")

    def test_other_queries_are_refused(self):
        call = {"name": "read_file", "arguments": {"path": "a"}}
        for query in ("?results=text", "?reply=openai&results=xml", "?results=", "?reply=openai&results"):
            self.reply(query, call, 400)


if __name__ == "__main__":
    unittest.main()
