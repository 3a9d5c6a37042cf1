"""--read-before-write overwrites: what a session must have seen before it replaces a file, and what counts as seen."""
import json
import os
import unittest

from harness import SidecarTest
from mcp_client import Stdio

LONG = "".join("line %d %s\n" % (i, "x" * 60) for i in range(1, 2001))


class Overwrites(SidecarTest):
    env = {"SIDECAR_READ_BEFORE_WRITE": "overwrites"}

    def read(self, path, **arguments):
        return self.server.output("read_file", path=path, sessionId="s", **arguments)

    def write(self, path, content="new\n"):
        return self.server.output("write_file", path=path, content=content, sessionId="s")

    def refused(self, path, code="FILE_NOT_READ"):
        got, text = self.server.failure("write_file", path=path, content="new\n", sessionId="s")
        self.assertEqual(got, code)
        return text

    def test_unread(self):
        self.server.put("unread.txt", "old\n")
        self.refused("unread.txt")
        self.server.output("read_file", path="unread.txt", sessionId="another")
        self.refused("unread.txt")
        self.read("unread.txt")
        self.write("unread.txt")
        self.write("unread.txt", "written is known\n")

    def test_a_new_file_needs_nothing(self):
        self.write("new.txt")
        self.write("new.txt", "again\n")

    def test_changed(self):
        self.server.put("changed.txt", "one\ntwo\n")
        self.read("changed.txt")
        self.server.put("changed.txt", "ONE\ntwo\n")
        self.assertIn("-1 one\n+1 ONE\n", self.refused("changed.txt", "FILE_CHANGED"))

    def test_a_part_is_not_enough(self):
        self.server.put("part.txt", "1\n2\n3\n")
        self.read("part.txt", start_line=1, end_line=2)
        self.assertIn("a part of part.txt", self.refused("part.txt"))
        self.read("part.txt", start_line=3)
        self.write("part.txt")

    def test_the_last_line_is_the_last(self):
        """A final newline begins no line that would have to be read."""
        self.server.put("last.txt", "1\n2\n3\n")
        self.read("last.txt", start_line=1, end_line=3)
        self.write("last.txt")

    def test_pages_add_up(self):
        self.server.put("pages.txt", LONG)
        self.read("pages.txt", start_line=1, end_line=900)
        self.read("pages.txt", start_line=1500, end_line=2001)
        self.refused("pages.txt")
        self.read("pages.txt", start_line=901, end_line=1499)
        self.read("pages.txt", start_line=1500)
        self.write("pages.txt")

    def test_an_exact_match_is_knowledge(self):
        self.server.put("exact.txt", "one\ntwo\ntwo\nthree\n")
        self.server.output("edit_file", path="exact.txt", old_text="one", new_text="1", sessionId="s")
        self.server.output("multi_edit", path="exact.txt", sessionId="s",
                           edits=[{"old_text": "three", "new_text": "3"}, {"old_text": "1", "new_text": "I"}])
        self.assertEqual(self.server.get("exact.txt"), b"I\ntwo\ntwo\n3\n")
        self.refused("exact.txt")  # the rest has still not been seen
        once = dict(path="exact.txt", old_text="3", new_text="III", replace_all=True, sessionId="s")
        self.server.output("edit_file", **once)

    def test_what_occurs_more_often_is_not(self):
        self.server.put("often.txt", "two\ntwo\n")
        edit = dict(path="often.txt", old_text="two", new_text="2", replace_all=True, sessionId="s")
        self.assertEqual(self.server.failure("edit_file", **edit)[0], "FILE_NOT_READ")
        self.assertEqual(self.server.get("often.txt"), b"two\ntwo\n")
        self.read("often.txt")
        self.server.output("edit_file", **edit)

    def test_what_is_not_there_is_said(self):
        self.server.put("missing.txt", "one\n")
        edit = dict(path="missing.txt", old_text="two", new_text="2", sessionId="s")
        self.assertEqual(self.server.failure("edit_file", **edit)[0], "TEXT_NOT_FOUND")

    def test_an_edit_of_a_changed_file(self):
        self.server.put("both.txt", "one\ntwo\nthree\n")
        self.read("both.txt")
        self.server.put("both.txt", "ONE\ntwo\nthree\n")
        self.server.output("edit_file", path="both.txt", old_text="ONE", new_text="1", sessionId="s")
        self.server.output("edit_file", path="both.txt", old_text="two", new_text="2", sessionId="s")
        self.assertEqual(self.server.get("both.txt"), b"1\n2\nthree\n")
        self.refused("both.txt", "FILE_CHANGED")
        self.read("both.txt")
        self.server.output("edit_file", path="both.txt", old_text="2", new_text="II", sessionId="s")
        self.write("both.txt")  # it knew all, and the edit was its own

    def test_a_search_may_show_a_whole_file(self):
        self.server.put("small/a.txt", "alpha\nneedle\nomega\n")
        self.server.put("small/b.txt", "needle")
        self.server.put("small/c.txt", "1\n2\n3\n4\nneedle\n")
        self.server.put("small/d.txt", "needle\n2\n3\n4\n")
        self.server.put("small/e.txt", "needle " + "x" * 600 + "\n")
        self.server.put("small/f.txt", "needle\n2\nneedle\n4\nneedle\n")
        self.server.output("search_files", pattern="needle", path="small", context=1, sessionId="s")
        for name in ("a", "b", "f"):
            self.write("small/%s.txt" % name)
        for name in ("c", "d", "e"):
            self.refused("small/%s.txt" % name)

    def test_hits_that_were_not_shown_do_not_count(self):
        for name in "ab":
            self.server.put("limit/%s.txt" % name, "needle\n")
        self.server.output("search_files", pattern="needle", path="limit", max_results=1, sessionId="s")
        self.write("limit/a.txt")
        self.refused("limit/b.txt")

    def test_an_ordinary_search_shows_lines(self):
        self.server.put("lines.txt", "needle\nunseen\n")
        self.server.output("search_files", pattern="needle", path="lines.txt", sessionId="s")
        self.refused("lines.txt")
        self.server.output("search_files", pattern="needle", path="lines.txt", mode="files", sessionId="s")
        self.refused("lines.txt")

    def test_a_link_is_no_way_round(self):
        self.server.put("target.txt", "old\n")
        os.symlink("target.txt", self.server.path("link.txt"))
        self.refused("link.txt")


class Text(unittest.TestCase):
    """The same for what a search shows as text, which is what models read by MCP."""

    def setUp(self):
        self.client = Stdio(results="text")
        self.addCleanup(self.client.close)

    def put(self, name, content):
        with open(os.path.join(self.client.workspace, name), "w") as f:
            f.write(content)

    def test_a_search(self):
        self.put("whole.txt", "alpha\nneedle\nomega\n")
        self.put("part.txt", "needle\n2\n3\n4\n")
        self.put("two.txt", "needle\nneedle\n")
        self.client.call("search_files", pattern="needle", context=1)
        for name, refused in (("whole.txt", False), ("part.txt", True), ("two.txt", False)):
            result = self.client.call("write_file", path=name, content="new")["result"]
            self.assertEqual(result["isError"], refused, name)

    def test_what_is_left_to_the_next_answer_was_not_shown(self):
        self.put("two.txt", "needle\nbetween\nneedle\n")
        self.client.call("search_files", pattern="needle", context=1, max_results=1)
        self.assertTrue(self.client.call("write_file", path="two.txt", content="new")["result"]["isError"])

    def test_pages(self):
        self.put("long.txt", LONG)
        text = self.client.call("read_file", path="long.txt")["result"]["content"][0]["text"]
        pages = 1
        while "next: start_line=" in text[-100:]:
            self.assertTrue(self.client.call("write_file", path="long.txt", content="new")["result"]["isError"])
            start = int(text.rsplit("start_line=", 1)[1].rstrip("]\n"))
            text = self.client.call("read_file", path="long.txt", start_line=start)["result"]["content"][0]["text"]
            pages += 1
        self.assertGreater(pages, 1)
        self.assertFalse(self.client.call("write_file", path="long.txt", content="new")["result"]["isError"])


class Attached(SidecarTest):
    """By default only MCP asks; what a client has read for its session counts there."""

    def mcp(self, tool, **arguments):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": {**arguments, "sessionId": "mine"}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}}}
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Mcp-Method": "tools/call",
                   "Mcp-Name": tool, "MCP-Protocol-Version": "2026-07-28"}
        return self.server.request("POST", "/mcp", json.dumps(body), headers).json()["result"]

    def test_read_by_the_client(self):
        self.server.put("attached.txt", "old\n")
        self.assertTrue(self.mcp("write_file", path="attached.txt", content="x")["isError"])
        self.server.result("read", path="attached.txt", sessionId="mine")
        self.assertFalse(self.mcp("write_file", path="attached.txt", content="x")["isError"])

    def test_an_edit_by_the_client_shows_nothing(self):
        self.server.put("edited.txt", "one\ntwo\n")
        self.server.result("edit", path="edited.txt", oldText="one", newText="1", sessionId="mine")
        self.assertTrue(self.mcp("write_file", path="edited.txt", content="x")["isError"])

    def test_the_wire_asks_nothing(self):
        self.server.put("wire.txt", "old\n")
        self.server.result("write", path="wire.txt", content="new\n", sessionId="mine")
        self.server.output("write_file", path="wire.txt", content="newer\n", sessionId="other")

    def test_off(self):
        server = self.start(env={"SIDECAR_READ_BEFORE_WRITE": "off"})
        server.put("off.txt", "old\n")
        self.server = server
        self.assertFalse(self.mcp("write_file", path="off.txt", content="x")["isError"])


if __name__ == "__main__":
    unittest.main()
