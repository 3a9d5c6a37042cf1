"""Secrets are taken out of what models see of commands and searches."""
import base64
import unittest

from harness import SidecarTest

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3  # assembled: it is no one's
OWN = "the-server's-own-secret"
MARK = "[REDACTED:github-token]"


class Scrub(SidecarTest):
    env = {"SIDECAR_AUTH_TOKEN": OWN}

    def test_command_output(self):
        out = self.server.output("run_command", command="echo before %s after; echo %s >&2" % (TOKEN, TOKEN))
        self.assertEqual((out["stdout"], out["stderr"]), ("before %s after\n" % MARK, MARK + "\n"))

    def test_search_results(self):
        self.server.put("config", "key = %s\n" % TOKEN)
        out = self.server.output("search_files", pattern="ghp_", path="config")
        self.assertEqual([m["content"] for m in out["matches"]], ["key = " + MARK])

    def test_the_servers_own_token_in_any_spelling(self):
        for spelling in (OWN, base64.b64encode(OWN.encode()).decode(), "x" + base64.b64encode(b"y" + OWN.encode() + b"z").decode()):
            out = self.server.output("run_command", argv=["echo", spelling])
            self.assertIn("[REDACTED:configured]", out["stdout"], spelling)

    def test_files_and_the_wire_are_left_alone(self):
        self.server.put("plain", TOKEN + "\n")
        self.assertEqual(self.server.output("read_file", path="plain")["content"], TOKEN + "\n")
        self.assertIn(TOKEN, self.server.call("bash", command="cat plain").body.decode())
        self.assertIn(TOKEN, self.server.result("grep", pattern="ghp_", path="plain")["content"])

    def test_a_mark_is_not_written_over_a_secret(self):
        self.server.put("secret", "key = %s\n" % TOKEN)
        code, message = self.server.failure("write_file", path="secret", content="key = %s\nmore\n" % MARK)
        self.assertEqual(code, "REDACTED_CONTENT")
        self.assertIn("secret", message)
        self.assertEqual(self.server.failure("edit_file", path="secret", old_text=TOKEN, new_text=MARK)[0], "REDACTED_CONTENT")
        self.assertEqual(self.server.get("secret"), b"key = %s\n" % TOKEN.encode())
        self.assertEqual(self.server.failure("write_file", path="new", content=MARK)[0], "REDACTED_CONTENT")

    def test_a_mark_that_was_there_may_stay(self):
        self.server.put("doc", "shown as %s\n" % MARK)
        self.server.output("write_file", path="doc", content="shown as %s, always\n" % MARK)
        self.server.output("edit_file", path="doc", old_text="always", new_text="never")
        self.assertEqual(self.server.get("doc"), b"shown as %s, never\n" % MARK.encode())

    def test_off(self):
        server = self.start(flags=["--scrub", "off"])
        self.assertEqual(server.output("run_command", command="echo " + TOKEN)["stdout"], TOKEN + "\n")
        server.output("write_file", path="x", content=MARK)


if __name__ == "__main__":
    unittest.main()
