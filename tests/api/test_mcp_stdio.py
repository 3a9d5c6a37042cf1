"""MCP through the pipes of `sidecar mcp`: both eras, concurrency, cancelling, progress, bad input, ends."""
import base64
import json
import os
import re
import signal
import subprocess
import tempfile
import unittest

from conforms import faults
from harness import BIN, PATIENCE
from mcp_client import META, VERSIONS, Marked, Stdio, call, initialize, message, output, wait_for_file


def complaints(errors):
    """What was said on stderr, but for what this machine cannot do."""
    return [line for line in errors.splitlines() if b"protection not in force" not in line]


class StdioTest(unittest.TestCase):
    def start(self, *flags, **options):
        client = Stdio(*flags, **options)
        self.addCleanup(client.close)
        return client

    def put(self, client, name, content):
        with open(os.path.join(client.workspace, name), "w") as f:
            f.write(content)


class Lifecycle(StdioTest):
    def test_every_legacy_version(self):
        for version in VERSIONS:
            client = self.start()
            client.send(initialize(0, version), message("notifications/initialized"))
            result = client.answer(0)["result"]
            self.assertEqual(result["protocolVersion"], version)
            self.assertEqual(result["capabilities"], {"tools": {}})
            self.assertEqual(client.ask("ping")["result"], {})

    def test_unknown_version_is_offered_ours(self):
        client = self.start()
        client.send(initialize(0, "1999-01-01"))
        self.assertEqual(client.answer(0)["result"]["protocolVersion"], "2025-11-25")

    def test_modern_needs_no_handshake(self):
        client = self.start()
        found = client.ask("server/discover", modern=True)["result"]
        self.assertEqual(found["supportedVersions"], ["2026-07-28", *reversed(VERSIONS)])
        self.assertEqual((found["resultType"], found["cacheScope"]), ("complete", "public"))
        shown = found["_meta"]["io.modelcontextprotocol/serverInfo"]
        self.assertTrue(shown["websiteUrl"].startswith("https://"))
        self.assertIn(b"<svg", base64.b64decode(shown["icons"][0]["src"].split(",")[1], validate=True))
        listed = client.ask("tools/list", modern=True)["result"]
        self.assertEqual(set(listed["_meta"]["io.modelcontextprotocol/serverInfo"]), {"name", "title", "version"})
        client.send(call(1, "list_directory", modern=True, path="."))
        self.assertEqual(client.answer(1)["result"]["resultType"], "complete")

    def test_both_eras_at_once(self):
        client = self.start()
        client.send(initialize(0), message("tools/list", number=1, modern=True), message("tools/list", number=2),
                    call(3, "list_directory", modern=True, path="."), call(4, "list_directory", path="."))
        self.assertIn("resultType", client.answer(1)["result"])
        self.assertNotIn("resultType", client.answer(2)["result"])
        self.assertIn("resultType", client.answer(3)["result"])
        self.assertNotIn("resultType", client.answer(4)["result"])

    def test_only_messages_on_stdout_and_nothing_on_stderr(self):
        client = self.start()
        client.send(initialize(0))
        client.answer(0)
        client.call("run_command", command="echo x; echo y >&2")
        client.close()
        self.assertEqual(complaints(client.errors), [])

    def test_workspace(self):
        with tempfile.TemporaryDirectory() as other:
            client = self.start("--workspace", other)
            output(client.call("write_file", path="a.txt", content="x"))
            self.assertEqual(os.listdir(other), ["a.txt"])
        client = self.start()
        output(client.call("write_file", path="b.txt", content="x"))
        self.assertTrue(os.path.exists(os.path.join(client.workspace, "b.txt")))

    def test_tool_sets(self):
        self.assertEqual(len(self.start("--tool-set", "core").ask("tools/list")["result"]["tools"]), 5)
        client = self.start(env={"SIDECAR_TOOL_SET": "core"})
        self.assertEqual(client.call("edit_file", path="a")["error"]["code"], -32602)
        self.assertGreater(len(self.start().ask("tools/list")["result"]["tools"]), 5)

    def test_a_bad_setting_is_told(self):
        done = subprocess.run([BIN, "mcp", "--sandbox", "what"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"--sandbox must be one of", done.stderr)


class FewDescriptors(unittest.TestCase):
    """Where there are too few descriptors for those who watch, calls are made all the same."""

    def test_calls_without_watchers(self):
        read = [call(n, "read_file", path="a") for n in (1, 2)]
        unwatched = 0
        for most in range(21, 30):
            with tempfile.TemporaryDirectory(prefix="sidecar-test-") as place:
                os.mkdir(place + "/ws")
                with open(place + "/ws/a", "w", encoding="utf-8") as f:
                    f.write("hello\n")
                done = subprocess.run(
                    ["prlimit", "--nofile=%d" % most, BIN, "mcp", "--workspace", place + "/ws", "--sandbox", "off"],
                    input="".join(json.dumps(m) + "\n" for m in [initialize(), *read]), capture_output=True, text=True,
                    env={**os.environ, "XDG_STATE_HOME": place, "XDG_RUNTIME_DIR": place}, check=False, timeout=PATIENCE)
            # With still fewer no file can be opened.
            if "calls cannot be watched" in done.stderr and "too many files are open" not in done.stdout:
                self.assertEqual(done.stdout.count('"text":"hello'), 2, "%d: %s" % (most, done.stdout))
                unwatched += 1
        self.assertTrue(unwatched)


class Calls(StdioTest):
    def test_results_conform_to_their_schema_also_when_they_fail(self):
        client = self.start()
        schemas = {t["name"]: t["outputSchema"] for t in client.ask("tools/list")["result"]["tools"]}
        self.put(client, "a.txt", "one\ntwo\n")
        for tool, arguments, error in (
                ("read_file", {"path": "a.txt"}, None), ("read_file", {"path": "none"}, "FILE_NOT_FOUND"),
                ("read_file", {"path": "../x"}, "PATH_OUTSIDE_WORKSPACE"), ("read_file", {}, "INVALID_ARGUMENTS"),
                ("write_file", {"path": "b", "content": "x"}, None), ("list_directory", {"path": "."}, None),
                ("list_directory", {"path": ".", "recursive": True}, None), ("find_files", {"pattern": "*"}, None),
                ("search_files", {"pattern": "t.o"}, None), ("search_files", {"pattern": "("}, "INVALID_REGEX"),
                ("run_command", {"command": "exit 3"}, None),
                ("run_command", {"command": "rm -rf /"}, "COMMAND_BLOCKED"),
                ("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "1"}, None), ("job_list", {}, None),
                ("job_output", {"job_id": "77"}, "JOB_NOT_FOUND")):
            with self.subTest(tool=tool, arguments=arguments):
                result = client.call(tool, **arguments)["result"]
                seen = result["structuredContent"]
                self.assertEqual(faults(seen, schemas[tool]), [])
                self.assertEqual(json.loads(result["content"][0]["text"]), seen)
                self.assertEqual(result["isError"], not seen["success"])
                self.assertEqual(error, None if seen["success"] else seen["error"]["code"])

    def test_arguments_of_every_wrong_type(self):
        client = self.start()
        for value in (1, 1.5, True, [], {}, ["a"], {"a": 1}):
            for arguments in ({"path": value}, {"path": "a", "start_line": "x"}, {"path": "a", "nonsense": value}):
                got = client.call("read_file", **arguments)["result"]["structuredContent"]
                self.assertEqual(got["error"]["code"], "INVALID_ARGUMENTS", arguments)
        for value in (1, "x", True, []):
            client.send(message("tools/call", {"name": "read_file", "arguments": value}, 1))
            self.assertEqual(client.answer(1)["error"]["code"], -32602)

    def test_a_file_must_be_read_before_it_is_replaced(self):
        client = self.start()
        self.put(client, "a.txt", "one\n")
        refused = client.call("write_file", path="a.txt", content="x")["result"]["structuredContent"]
        self.assertEqual(refused["error"]["code"], "FILE_NOT_READ")
        output(client.call("edit_file", path="a.txt", old_text="one", new_text="two"))
        output(client.call("read_file", path="a.txt"))
        output(client.call("write_file", path="a.txt", content="x"))

    def test_secrets_are_taken_out(self):
        client = self.start()
        answer = client.call("run_command", command="echo AKIA" + "IOSFODNN7EXAMPL3")
        self.assertEqual(output(answer)["stdout"], "[REDACTED:aws-access-key]\n")
        self.assertNotIn("AKIAIOS", json.dumps(answer))

    def test_no_answer_is_larger_than_clients_take(self):
        client = self.start()
        self.put(client, "quotes", '"' * ((1 << 20) - 1))
        self.assertLess(len(json.dumps(output(client.call("read_file", path="quotes")))), 32000)
        self.put(client, "escapes", "\x1b\n" * (1 << 19))
        self.assertLess(len(json.dumps(output(client.call("read_file", path="escapes")))), 32000)

    def test_twenty_at_once_and_a_list_meanwhile(self):
        client = self.start()
        client.send(*(call(i, "run_command", command="while [ ! -e go ]; do sleep 0.02; done; echo %d" % i)
                      for i in range(20)))
        self.assertIn("tools", client.ask("tools/list")["result"])
        self.assertEqual(client.ask("ping")["result"], {})
        self.put(client, "go", "")
        for i in range(20):
            self.assertEqual(output(client.answer(i))["stdout"], "%d\n" % i)

    def test_more_than_are_allowed_at_once_are_told_to_wait(self):
        client = self.start("--max-commands", "200")
        client.send(*(call(i, "run_command", command="while [ ! -e go ]; do sleep 0.05; done") for i in range(70)))
        for i in range(64, 70):
            self.assertEqual(client.answer(i)["result"]["structuredContent"]["error"]["code"], "TOO_BUSY")
        self.put(client, "go", "")
        for i in range(64):
            output(client.answer(i))

    def test_quick_calls_are_answered_in_order(self):
        client = self.start()
        client.send(*(m for i in range(0, 40, 2)
                      for m in (call(i, "write_file", path="f", content=str(i)), call(i + 1, "read_file", path="f"))))
        got = [client.next() for _ in range(40)]
        self.assertEqual([m["id"] for m in got], list(range(40)))
        self.assertEqual([output(m)["content"] for m in got[1::2]], [str(i) for i in range(0, 40, 2)])


class Cancelling(StdioTest):
    def test_leaves_no_process_and_no_answer(self):
        client, marked = self.start(), Marked()
        client.send(call("x", "run_command", token=1,
                         command=marked.command("setsid sleep 600 & (sleep 600; true) & sleep 600")))
        wait_for_file(os.path.join(client.workspace, "started"))
        client.send(message("notifications/cancelled", {"requestId": "x", "reason": "enough"}))
        marked.wait_until_gone()
        client.ask("ping")
        client.close()
        self.assertEqual((client.early, client.lines.get()), ({}, None))

    def test_at_once_behind_its_request(self):
        client, marked = self.start(), Marked()
        for i in range(10):
            client.send(call(i, "run_command", command=marked.command("sleep 600")),
                        message("notifications/cancelled", {"requestId": i}))
        marked.wait_until_gone()
        self.assertEqual(client.ask("ping")["result"], {})
        self.assertEqual(client.early, {})

    def test_what_is_not_running_is_ignored(self):
        client = self.start()
        for wrong in (1, "1", None, {}, [1], 1.5):
            client.send(message("notifications/cancelled", {"requestId": wrong}))
        client.send(message("notifications/cancelled"), {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7})
        self.assertEqual(client.answer(None)["error"]["code"], -32602)
        self.assertEqual(client.ask("ping")["result"], {})

    def test_an_id_is_a_string_or_a_number(self):
        client = self.start()
        client.send(call(1, "run_command", command="while [ ! -e go ]; do sleep 0.02; done"),
                    message("notifications/cancelled", {"requestId": "1"}))
        client.ask("ping")
        self.put(client, "go", "")
        output(client.answer(1))

    def test_an_id_in_use_is_refused(self):
        client = self.start()
        client.send(call(1, "run_command", command="while [ ! -e go ]; do sleep 0.02; done"),
                    call(1, "run_command", command="true"))
        self.assertEqual(client.answer(1)["error"]["code"], -32600)
        self.put(client, "go", "")
        output(client.answer(1))
        output(client.call("run_command", command="true"))


class Progress(StdioTest):
    def progress(self, client, token):
        """What was told for a token; checks what holds for all of it."""
        told = [n["params"] for n in client.notes if n["params"]["progressToken"] == token]
        self.assertEqual({n["method"] for n in client.notes}, {"notifications/progress"} if client.notes else set())
        values = [p["progress"] for p in told]
        self.assertEqual(values, sorted(set(values)))
        return told

    def test_output_is_told(self):
        client = self.start()
        client.send(call(1, "run_command", token="t", command="for i in 1 2 3; do echo line $i; sleep 0.3; done"))
        client.answer(1)
        told = self.progress(client, "t")
        self.assertTrue([p for p in told if re.fullmatch("line [0-9]", p["message"])], told)
        client.ask("ping")
        self.assertEqual(len(self.progress(client, "t")), len(told))

    def test_much_output_is_told_now_and_then(self):
        client = self.start()
        client.send(call(1, "run_command", token="t", command="for i in $(seq 100); do echo $i; sleep 0.01; done"))
        took_ms = client.answer(1)["result"]["structuredContent"]["output"]["duration_ms"]
        # Every 250 ms; the last may come when the command has ended already.
        self.assertIn(len(self.progress(client, "t")), range(1, took_ms // 250 + 3))

    def test_silence_is_told(self):
        client = self.start()
        script = "until [ -e go ]; do sleep 0.05; done"
        client.send(call(1, "run_command", token=7, command=script), call(2, "run_command", command=script))
        while not client.notes:
            client.take()
        self.put(client, "go", "")
        took_ms = client.answer(1)["result"]["structuredContent"]["output"]["duration_ms"]
        client.answer(2)
        # After two seconds, and every five; the last may come when the command has ended already.
        self.assertIn(len(self.progress(client, 7)), range(1, (took_ms - 2000) // 5000 + 3))
        self.assertEqual(len(client.notes), len(self.progress(client, 7)))

    def test_secrets_are_not_told(self):
        client = self.start()
        client.send(call(1, "run_command", token=1,
                         command="for i in 1 2 3; do printf 'key AKIA'; sleep 0.4; echo IOSFODNN7EXAMPL3; done"))
        client.answer(1)
        self.assertNotIn("IOSFOD", json.dumps(client.notes))
        self.assertTrue(self.progress(client, 1))

    def test_a_token_that_is_none_is_ignored(self):
        client = self.start()
        for i, token in enumerate((None, {}, [], 1.5, True)):
            client.send(message("tools/call", {"name": "run_command", "arguments": {"command": "echo a"},
                                               "_meta": {"progressToken": token}}, i))
            output(client.answer(i))
        self.assertEqual(client.notes, [])


class BadInput(StdioTest):
    def refused(self, client, line, code, number=None):
        client.write(line + b"\n")
        got = client.answer(number)
        self.assertEqual((got["id"], got["error"]["code"]), (number, code), line[:100])

    def test_the_connection_goes_on(self):
        client = self.start()
        for line, code in ((b"{", -32700), (b"x", -32700), (b"\xff\xfe", -32700), (b'{"a":"\xed\xa0\x80"}', -32700),
                           (b"\0", -32700), (b"[" * 1000, -32700), (b"{} {}", -32700), (b"null", -32600), (b"1", -32600),
                           (b'"x"', -32600), (b"{}", -32600), (b"[]", -32600), (b"[1]", -32600),
                           (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600)):
            self.refused(client, line, code)
        client.write(b"\n\n  \n\r\n")
        self.assertEqual(client.ask("ping")["result"], {})

    def test_ids_and_methods(self):
        client = self.start()
        for number in (None, 1.5, {}, [], True):
            self.refused(client, json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode(), -32600)
        self.refused(client, b'{"jsonrpc":"2.0","id":5,"method":"no/such"}', -32601, 5)
        self.refused(client, b'{"jsonrpc":"2.0","id":5,"method":7}', -32600, 5)
        self.refused(client, b'{"jsonrpc":"1.0","id":5,"method":"ping"}', -32600, 5)
        self.refused(client, json.dumps(call(5, "no_such")).encode(), -32602, 5)
        client.send({"jsonrpc": "2.0", "id": 9, "result": {}}, {"jsonrpc": "2.0", "id": 9, "error": {}})
        self.assertEqual(client.ask("ping")["result"], {})

    def test_modern_metadata(self):
        client = self.start()
        for meta, code in (({}, -32602), ({k: META[k] for k in list(META)[:1]}, -32602),
                           ({k: META[k] for k in list(META)[1:]}, -32602),
                           ({**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}, -32022),
                           ({**META, "io.modelcontextprotocol/protocolVersion": 5}, -32602),
                           ({**META, "io.modelcontextprotocol/clientCapabilities": 5}, -32602)):
            got = client.ask("server/discover", {"_meta": meta})
            self.assertEqual(got["error"]["code"], code, meta)
        self.assertEqual(got["error"].get("data"), None)

    def test_batches_of_the_one_version_that_has_them(self):
        client = self.start()
        client.send(initialize(0, "2025-03-26"))
        client.answer(0)
        client.send([message("ping", number=1), message("notifications/initialized"),
                     call(2, "run_command", command="echo hi"), 7])
        got = client.answer(None)
        self.assertEqual([m["id"] for m in got], [1, 2, None])
        self.assertEqual(output(got[1])["stdout"], "hi\n")
        self.refused(client, b"[]", -32600)
        client.send([message("notifications/initialized")])
        self.assertEqual(client.ask("ping")["result"], {})

    def test_twenty_megabytes(self):
        client = self.start()
        text = "x" * (20 << 20)
        output(client.call("write_file", path="big", content=text))
        self.assertEqual(os.path.getsize(os.path.join(client.workspace, "big")), len(text))
        client.write(b"y" * (20 << 20) + b"\n")
        self.assertEqual(client.answer(None)["error"]["code"], -32700)

    def test_a_line_without_end_is_skipped(self):
        client = self.start()
        for _ in range(3):
            client.write(b"z" * (16 << 20))
        client.write(b'"}\n')
        client.send(message("ping", number=1))
        self.assertEqual(client.next()["error"]["code"], -32600)
        self.assertEqual(client.answer(1)["result"], {})


class Ends(StdioTest):
    def test_at_once_without_anything_left(self):
        with tempfile.TemporaryDirectory() as there:
            for data in (b"", json.dumps(initialize()).encode() + b"\n"):
                done = subprocess.run([BIN, "mcp"], input=data, capture_output=True, cwd=there, check=False,
                                      env={**os.environ, "TMPDIR": there})
                self.assertEqual((done.returncode, complaints(done.stderr), os.listdir(there)), (0, [], []))

    def test_an_unfinished_message_is_answered_all_the_same(self):
        for data, code in ((b'{"jsonrpc":"2.0","id":1,"meth', -32700), (b'{"jsonrpc":"2.0","id":1,"method":"x"}', -32601)):
            done = subprocess.run([BIN, "mcp"], input=data, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(json.loads(done.stdout)["error"]["code"], code)

    def test_a_short_call_is_still_answered(self):
        data = json.dumps(call(1, "run_command", command="sleep 0.3; echo done")).encode() + b"\n"
        done = subprocess.run([BIN, "mcp"], input=data, capture_output=True, check=False,
                              cwd=tempfile.gettempdir())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(json.loads(done.stdout)["result"]["content"][0]["text"], "\ndone")

    def ends_with_a_call(self, end, script="sleep 600", status=0):
        client, marked = self.start(), Marked()
        client.send(call(1, "run_command", command=marked.command(script)))
        wait_for_file(os.path.join(client.workspace, "started"))
        end(client)
        self.assertEqual(client.end(), status)
        marked.wait_until_gone()

    def test_end_of_input_in_a_call(self):
        self.ends_with_a_call(lambda client: client.process.stdin.close())

    def test_end_of_input_in_a_call_that_does_not_want_to_end(self):
        self.ends_with_a_call(lambda client: client.process.stdin.close(), "trap '' TERM; while :; do sleep 1; done")

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.ends_with_a_call(lambda client, number=number: client.process.send_signal(number))

    def test_kill(self):
        self.ends_with_a_call(lambda client: client.process.kill(), status=-signal.SIGKILL)

    def test_background_jobs_end_with_it(self):
        client, marked = self.start(), Marked()
        output(client.call("run_command", command=marked.command("sleep 600"), background=True))
        wait_for_file(os.path.join(client.workspace, "started"))
        client.process.stdin.close()
        self.assertEqual(client.end(), 0)
        marked.wait_until_gone()

    def test_nobody_reads(self):
        marked = Marked()
        with tempfile.TemporaryDirectory() as there:
            ours, its = os.pipe()
            with subprocess.Popen([BIN, "mcp"], cwd=there, stdin=subprocess.PIPE, stdout=its) as p:
                os.close(its)
                p.stdin.write(json.dumps(call(1, "run_command", command=marked.command("sleep 600"))).encode() + b"\n")
                p.stdin.flush()
                wait_for_file(os.path.join(there, "started"))
                os.close(ours)
                self.assertEqual(p.wait(PATIENCE), 0)
            marked.wait_until_gone()

    def test_a_reader_that_stalls_does_not_keep_it_from_ending(self):
        with subprocess.Popen([BIN, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
            os.set_blocking(p.stdin.fileno(), False)
            line = json.dumps(message("tools/list", number=1)).encode() + b"\n"
            os.write(p.stdin.fileno(), line)
            p.stdout.readline()
            for _ in range(200):
                try:
                    os.write(p.stdin.fileno(), line)
                except BlockingIOError:
                    break
            p.send_signal(signal.SIGTERM)
            self.assertEqual(p.wait(PATIENCE), 0)


if __name__ == "__main__":
    unittest.main()
