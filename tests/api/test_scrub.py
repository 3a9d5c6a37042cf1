"""Secrets are taken out of what models see of commands and searches."""
import base64
import json
import os
import re
import time
import unittest

from harness import SidecarTest, until

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3  # assembled: it is no one's
OWN = "the-server's-own-secret"
MARK = "[REDACTED:github-token]"


class Scrub(SidecarTest):
    env = {"SIDECAR_AUTH_TOKEN": OWN}

    def test_command_output(self):
        out = self.server.output("run_command", command="echo before %s after; echo %s >&2" % (TOKEN, TOKEN))
        self.assertEqual((out["stdout"], out["stderr"]), ("before %s after\n" % MARK, MARK + "\n"))

    def test_names_of_files_that_a_command_changes(self):
        command = "cd \"$(mktemp -d -p .)\" && echo x > %s" % TOKEN
        for query in ("", "?reply=anthropic&results=text"):
            body = {"name": "run_command", "arguments": {"command": command}}
            headers = {"Content-Type": "application/json", "Authorization": "Bearer " + OWN}
            answer = self.server.request("POST", "/tools" + query, json.dumps(body), headers)
            self.assertEqual(answer.status, 200)
            self.assertNotIn(TOKEN, answer.body.decode())
            self.assertIn(MARK, answer.body.decode())

    def test_a_value_in_an_environment_goes_to_the_end_of_its_line(self):
        command = "env DB_PASSWORD='Xk9;mQ2vLp8w' API_TOKEN='Xk9mQ2vLp8w,Zt4rrr' USER_PASSPHRASE='my dog has no name' env"
        lines = self.server.output("run_command", command=command)["stdout"].splitlines()
        for name in ("DB_PASSWORD", "API_TOKEN", "USER_PASSPHRASE"):
            self.assertIn(name + "=[REDACTED:secret]", lines)
        self.server.put(".env", "A=b\nDB_PASSWORD=Xk9;mQ2vLp8w\n")
        for command in ("grep -rn PASSWORD .", "cat -n .env", "diff -u /dev/null .env"):
            out = self.server.output("run_command", command=command)["stdout"]
            self.assertIn("DB_PASSWORD=[REDACTED:secret]", out, command)
            self.assertNotIn("mQ2v", out, command)
        self.server.put("env.sh", "".join(line + "\n" for line in (
            "  export DB_PASSWORD=Xk9;mQ2vLp8w", "Environment=DB_PASSWORD=Xk9;mQ2vLp8w", "ENV DB_PASSWORD=Xk9;mQ2vLp8w",
            "DB_PASSWORD=<Xk9mQ2vLp8w", "API_TOKEN=$'Xk9mQ2vLp8w\\nzz'", "DB_PASS=Xk9mQ2vLp8w", "MYSQL_PWD=Xk9;mQ2vLp8w",
            "postgres://u:Xk9;mQ2v@h/db")))
        out = self.server.output("run_command", command="cat env.sh; API_TOKEN=$'Xk9;mQ2vLp8w\nzz' bash -c 'export -p'")["stdout"]
        self.assertNotIn("mQ2v", out)
        self.assertEqual(out.count("[REDACTED:"), 9, out)
        out = self.server.output("run_command", command="echo 'connect(password=pw, user=bar7, PASSWORD=hunter2hunter2, x=1)'")
        self.assertEqual(out["stdout"], "connect(password=pw, user=bar7, PASSWORD=[REDACTED:secret], x=1)\n")

    def test_a_secret_that_a_job_prints_in_pieces(self):
        """What may still become a secret, or goes on as one, is not given out before it is decided."""
        key = "-----BEGIN RSA PRIVATE KEY-----\\n%s\\n-----END RSA PRIVATE KEY-----\\n" % "\\n".join(["MIIE" + "a1B2" * 15] * 6)
        for text, kind in (("key AKIAIOSFODNN7EXAMPL2 end\\n", "aws-access-key"),
                           ("token ghp_0123456789abcdefABCDEF0123456789abcd end\\n", "github-token"),
                           ("a \\nDB_PASSWORD=Xk9;mQ2vLp8w\\n end\\n", "secret"),
                           ("pem " + key + " end\\n", "private-key")):
            for cut in (10, len(text) // 2, len(text) - 12):
                with self.subTest(kind, cut=cut):
                    command = "printf -- '%s'; echo > go; while [ -e go ]; do sleep 0.02; done; printf -- '%s'" % (
                        text[:cut], text[cut:])
                    job = self.server.output("run_command", command=command, background=True)["job_id"]
                    until(lambda: os.path.exists(self.server.path("go")), "the first piece is printed")
                    first = self.server.output("job_output", job_id=job)
                    os.unlink(self.server.path("go"))
                    seen, cursor, state = first["output"], first["cursor"], ""
                    while state != "exited":
                        more = self.server.output("job_output", job_id=job, since=cursor, wait_ms=5000)
                        seen, cursor, state = seen + more["output"], more["cursor"], more["state"]
                    more = self.server.output("job_output", job_id=job, since=cursor)
                    seen += more["output"]
                    head, _, tail = seen.partition("[REDACTED:%s]" % kind)
                    name = "\nDB_PASSWORD=" if kind == "secret" else ""
                    self.assertEqual((head, tail.strip()), (text.split(" ")[0] + " " + name, "end"), seen)

    SECRETS = (("ghp_0123456789abcdefABCDEF0123456789abcd", "0123456789abcdef"),
               ("DB_PASSWORD=hunter2-and-some-more", "hunter2-and"),
               ("-----BEGIN RSA PRIVATE KEY-----\\n%s\\n-----END RSA PRIVATE KEY-----" % "\\n".join(["MIIE" + "a1B2" * 15] * 100), "a1B2"))

    def test_a_secret_where_the_output_is_cut(self):
        """Neither end of a long output has a half of a secret that lies across the cut, and the count is exact."""
        for secret, part in self.SECRETS:
            size = len(secret.replace("\\n", "\n"))
            shown = len(self.server.output("run_command", command="printf -- '%s'" % secret)["stdout"])
            for at in (1, 8, size // 2, size - 4, size - 1):
                for before, after in ((12800 - at, 300000), (300000, 38400 - size + at), (12800 - at, 38500 + size)):
                    with self.subTest(secret[:8], at=at, before=before):
                        command = "printf '%%%ds' ''; printf -- '%s'; printf '%%%ds' ''" % (before, secret, after)
                        text = self.server.output("run_command", command=command)["stdout"]
                        self.assertNotIn(part, text)
                        count = re.search(r"\[\.\.\. (\d+) bytes omitted \.\.\.\]\n", text)
                        self.assertTrue(count, text.strip())
                        ends = text[:count.start()].removesuffix("\n") + text[count.end():]
                        self.assertEqual(len(ends) + int(count[1]), before + shown + after)

    def test_a_cursor_inside_of_a_secret(self):
        for secret, part in self.SECRETS:
            size = len(secret.replace("\\n", "\n"))
            command = "echo before; printf -- '%s'; echo; echo after" % secret
            job = self.server.output("run_command", command=command, background=True)["job_id"]
            while self.server.output("job_output", job_id=job, wait_ms=5000)["state"] == "running":
                pass
            for at in (1, 8, size // 2, size - 4, size - 1):
                with self.subTest(secret[:8], at=at):
                    out = self.server.output("job_output", job_id=job, since=7 + at)
                    self.assertNotIn(part[:8], out["output"])
                    self.assertTrue(out["output"].endswith("\nafter\n"), out["output"])

    def test_a_secret_where_a_jobs_output_begins(self):
        """What a job keeps begins in the middle of what it said."""
        for secret, part in self.SECRETS:
            size = len(secret.replace("\\n", "\n"))
            command = "printf '%%%ds' ''; printf -- '%s'; printf '%%%ds' ''" % (300000, secret, (1 << 20) - size // 2)
            job = self.server.output("run_command", command=command, background=True)["job_id"]
            state = "running"
            while state == "running":
                out = self.server.output("job_output", job_id=job, since=1 << 30, wait_ms=5000)
                state = out["state"]
            out = self.server.output("job_output", job_id=job)
            self.assertNotIn(part[:8], out["output"].strip(" ")[:200])
            self.assertGreater(out["dropped"], 300000)

    def test_search_results(self):
        self.server.put("config", "key = %s\n" % TOKEN)
        out = self.server.output("search_files", pattern="ghp_", path="config")
        self.assertEqual([m["content"] for m in out["matches"]], ["key = " + MARK])

    def test_a_secret_where_a_line_is_cut(self):
        for before in (462, 490, 499):
            self.server.put("long", "needle " + "x" * (before - 8) + " " + TOKEN + " y" * 400 + "\n")
            out = self.server.output("search_files", pattern="needle", path="long")
            self.assertEqual(out["matches"][0]["content"], "needle " + "x" * (before - 8) + " ...")
        self.server.put("long", "needle " + "x" * 900 + "\n")
        out = self.server.output("search_files", pattern="needle", path="long")
        self.assertEqual(out["matches"][0]["content"], "needle " + "x" * 493 + "...")

    def test_a_secret_where_a_command_is_cut(self):
        for n in (200, 230, 248):
            self.server.output("run_command", command=": " + "x" * n + " " + TOKEN, background=True)
            listed = self.server.output("job_list")["jobs"][-1]["command"]
            self.assertNotIn(TOKEN[:12], listed)
            self.assertTrue(listed.startswith(": " + "x" * 100))
            out = self.server.output("run_command", command="bash -c 'sleep 60; :' %s %s & until pgrep -P $! sleep; do sleep 0.02; done"
                                     % ("x" * n, TOKEN))
            shown = [s["command"] for s in out["survivors"] if s["command"].startswith("bash")]
            self.assertEqual([TOKEN[:12] in command for command in shown], [False], out)

    def test_what_waits_for_its_end_is_no_news(self):
        job = self.server.output("run_command", command="printf AKIA; sleep 60", background=True)["job_id"]
        until(lambda: self.server.output("job_list")["jobs"][-1]["cursor"] >= 4, "it is printed")
        start = time.monotonic()
        out = self.server.output("job_output", job_id=job, wait_ms=300)
        self.assertEqual((out["output"], out["cursor"]), ("", 0))
        self.assertGreater(time.monotonic() - start, 0.25)
        self.server.output("job_stop", job_id=job)

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
        for mark in (MARK, MARK.replace("-", "_"), "[REDACTED:SECRET]"):
            self.assertEqual(self.server.failure("write_file", path="new", content=mark)[0], "REDACTED_CONTENT", mark)
        self.server.output("write_file", path="new", content="[REDACTED: see above] [REDACTED:]")

    def test_a_mark_that_was_there_may_stay(self):
        self.server.put("doc", "shown as %s\n" % MARK)
        self.server.output("write_file", path="doc", content="shown as %s, always\n" % MARK)
        self.server.output("edit_file", path="doc", old_text="always", new_text="never")
        self.assertEqual(self.server.get("doc"), b"shown as %s, never\n" % MARK.encode())

    def test_all_covers_what_models_read_of_files(self):
        server = self.start(flags=["--scrub", "all"])
        content = "NAME=x\nGITHUB_TOKEN=" + TOKEN + "\nEND=1\n"
        server.put("env.txt", content)
        self.assertIn(MARK, server.output("read_file", path="env.txt")["content"])
        for tool, arguments in (("read_file", {"start_line": 2}), ("search_files", {"pattern": "TOKEN"}),
                                ("edit_file", {"old_text": "NAME=x", "new_text": "NAME=y"})):
            self.assertNotIn(TOKEN, str(server.output(tool, path="env.txt", **arguments)), tool)
        # A mark is never written back over the secret.
        for tool, arguments in (("write_file", {"content": "GITHUB_TOKEN=%s\n" % MARK}),
                                ("edit_file", {"old_text": "END=1", "new_text": "END=" + MARK})):
            self.assertEqual(server.failure(tool, path="env.txt", **arguments)[0], "REDACTED_CONTENT")
        self.assertEqual(server.get("env.txt").decode(), content.replace("=x", "=y"))
        # Nor does an error show what a result would not.
        message = server.failure("edit_file", path="env.txt", old_text=" GITHUB_TOKEN= " + TOKEN, new_text="x")[1]
        self.assertNotIn(TOKEN, message)
        # Programs get what is there.
        self.assertIn(TOKEN, server.result("read", path="env.txt")["content"])

    def test_off(self):
        server = self.start(flags=["--scrub", "off"])
        self.assertEqual(server.output("run_command", command="echo " + TOKEN)["stdout"], TOKEN + "\n")
        server.output("write_file", path="x", content=MARK)


if __name__ == "__main__":
    unittest.main()
