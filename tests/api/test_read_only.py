"""Read-only: everything can be looked at, nothing changed."""
import os
import unittest

from harness import SidecarTest


class ReadOnly(SidecarTest):
    env = {"SIDECAR_READ_ONLY": "true"}

    def test_changes_are_refused(self):
        self.server.put("f", "old")
        for tool, arguments in (("write", {"path": "f", "content": "x"}), ("write", {"path": "new/f", "content": "x"}),
                                ("edit", {"path": "f", "oldText": "old", "newText": "x"})):
            code, sentence = self.server.error(tool, **arguments)
            self.assertEqual(code, "READ_ONLY")
            self.assertIn("read-only", sentence)
        self.assertEqual(self.server.get("f"), b"old")
        self.assertEqual(os.listdir(self.server.workspace), ["f"])

    def test_looking_is_allowed(self):
        self.server.put("f", "old")
        self.assertEqual(self.server.result("read", path="f")["content"], "old")
        self.assertEqual(self.server.result("ls")["output"], "f")
        self.assertIs(self.server.request("GET", "/health").json()["readOnly"], True)

    def test_arguments_are_checked_first(self):
        self.assertEqual(self.server.error("write", path="x")[1], "Missing or invalid content")


if __name__ == "__main__":
    unittest.main()
