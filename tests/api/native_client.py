"""Calls of providers' own tools, as their models write them, and the answers in their form."""
import json
import unittest

from harness import SidecarTest

JSON = {"Content-Type": "application/json"}


class NativeTest(SidecarTest):
    def send(self, call, server=None, session="", timeout=60):
        """The Answer to a call."""
        url = "/tools" + ("?session=" + session if session else "")
        answer = (server or self.server).request("POST", url, json.dumps(call), JSON, timeout)
        self.assertEqual(answer.status, 200, answer.body)
        return answer

    def use(self, tool, server=None, session="", timeout=60, **given):
        """(content, is_error) of a tool_use."""
        call = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": given}
        answer = self.send(call, server, session, timeout).json()
        self.assertEqual(set(answer), {"type", "tool_use_id", "content", "is_error"})
        self.assertEqual((answer["type"], answer["tool_use_id"]), ("tool_result", "toolu_1"))
        return answer["content"], answer["is_error"]

    def good(self, tool, **given):
        content, is_error = self.use(tool, **given)
        self.assertFalse(is_error, content)
        return content

    def bad(self, tool, **given):
        content, is_error = self.use(tool, **given)
        self.assertTrue(is_error, content)
        return content

    def item(self, kind, server=None, session="", timeout=60, **members):
        """The answer to an item of OpenAI's responses."""
        call = {"type": kind + "_call", "id": "item_1", "call_id": "call_1", "status": "completed", **members}
        answer = self.send(call, server, session, timeout).json()
        self.assertEqual(answer["type"], kind + "_call_output")
        return answer


if __name__ == "__main__":
    unittest.main()
