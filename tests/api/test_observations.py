"""Observations: their envelope, every error code, what small models send, and providers' own forms."""
import json
import os
import threading
import unittest

from harness import SidecarTest, machine, needs_sandbox, needs_two_users, until

JSON = {"Content-Type": "application/json"}


class Envelope(SidecarTest):
    def post(self, url, body, headers=None):
        answer = self.server.request("POST", url, body, JSON if headers is None else headers)
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.headers["content-type"], "application/json; charset=utf-8")
        return answer.json()

    def test_success_and_failure(self):
        self.server.put("a.txt", "x")
        self.assertEqual(self.server.observe("read_file", path="a.txt"), {
            "success": True, "tool": "read_file", "error": None,
            "output": {"content": "x", "lines": 1, "path": "a.txt", "total_lines": 1, "truncated": False}})
        seen = self.server.observe("read_file", path="none")
        self.assertEqual((seen["success"], seen["tool"], seen["output"]), (False, "read_file", None))
        self.assertEqual(set(seen["error"]), {"code", "message"})
        self.assertIn("none", seen["error"]["message"])

    def test_bodies_that_are_no_arguments(self):
        for body in ("", "{", "[]", "null", "1", '"x"', '{"path":}', b"\xff{}", "{} x", '{"path":"\xff'.encode("latin-1")):
            seen = self.post("/tools/read_file", body)
            self.assertEqual((seen["success"], seen["error"]["code"]), (False, "INVALID_ARGUMENTS"), body)
        seen = self.post("/tools/read_file", '{"path":"a"}', {"Content-Type": "text/plain"})
        self.assertEqual(seen["error"]["code"], "INVALID_ARGUMENTS")

    def test_unknown_tools(self):
        for name in ("nope", "read", "READ_FILE", "read_file/", "", "%2e%2e", "a" * 500):
            seen = self.post("/tools/" + name, "{}")
            self.assertEqual(seen["error"]["code"], "UNKNOWN_TOOL", name)
            self.assertIn("read_file, write_file", seen["error"]["message"])

    def test_methods(self):
        for method, url, status in (("GET", "/tools/read_file", 200), ("PUT", "/tools", 405), ("DELETE", "/tools/read_file", 405),
                                    ("HEAD", "/tools", 200), ("POST", "/toolsx", 404)):
            self.assertEqual(self.server.request(method, url, headers=JSON).status, status, (method, url))

    def test_what_is_wrong_is_named(self):
        code, message = self.server.failure("write_file", path=1, contents="x", create_dirs="maybe")
        self.assertEqual(code, "INVALID_ARGUMENTS")
        for words in ("path must be a non-empty string", "content is missing", "create_dirs must be true or false",
                      '"maybe"', "contents is not an argument"):
            self.assertIn(words, message)
        for arguments, words in (({"start_line": 86400001.5}, "from 1, not 86400001.5"), ({"start_line": []}, "not an array"),
                                 ({"start_line": -86400001}, "not -86400001"), ({"start_line": 0.1}, "not 0.1")):
            self.assertIn(words, self.server.failure("read_file", path="a", **arguments)[1])
        self.assertIn("x is not an argument (there are none)", self.server.failure("job_list", x=1)[1])
        wrong = {("a%d" % i): i for i in range(2000)}
        code, message = self.server.failure("read_file", path="a", **wrong)
        self.assertEqual(code, "INVALID_ARGUMENTS")
        self.assertLess(len(message), 1100)

    def test_arguments_of_every_wrong_type(self):
        for value in (1, 1.5, True, [], {}, ["a"], {"a": 1}):
            self.assertEqual(self.server.failure("read_file", path=value)[0], "INVALID_ARGUMENTS", value)
        for value in ("x", "", [], {}, True, 1.5, -1, 0, "1.5", 1e300):
            self.assertEqual(self.server.failure("run_command", command="true", timeout_ms=value)[0],
                             "INVALID_ARGUMENTS", value)
        for value in (1, "yes", [], {}):
            self.assertEqual(self.server.failure("list_directory", path=".", recursive=value)[0], "INVALID_ARGUMENTS", value)

    def test_what_small_models_send(self):
        self.server.put("s.txt", "1\n2\n3\n")
        out = self.server.output("read_file", path="s.txt", start_line="2", end_line=" 2 ", line_numbers="TRUE")
        self.assertEqual(out["content"], "2\t2")
        out = self.server.output("read_file", path="s.txt", start_line=None, end_line=None, line_numbers=None, sessionId="x")
        self.assertEqual(out["content"], "1\n2\n3\n")
        for two in (2.0, "2.0", "2e0"):
            self.assertEqual(self.server.output("read_file", path="s.txt", start_line=two)["lines"], 3)
        # An empty text for what may be left out says nothing; an empty path is the workspace.
        out = self.server.output("search_files", pattern="3", path="", file_pattern="", type=" ", cursor="")
        self.assertIn("s.txt", [m["file"] for m in out["matches"]])
        self.assertIn("s.txt", self.server.output("find_files", pattern="s.*", path="")["files"])
        self.assertGreater(self.server.output("list_directory", path="", pattern="")["total"], 0)
        self.assertEqual(self.server.output("run_command", command="pwd", cwd="")["stdout"], self.server.workspace + "\n")
        self.assertEqual(self.server.failure("read_file", path=None)[0], "INVALID_ARGUMENTS")

    def test_calls_are_logged(self):
        self.server.failure("read_file", path="/etc/passwd", sessionId="log-me")
        line = self.server.wait_for_log(lambda e: e.get("session") == "log-me")
        self.assertEqual((line["tool"], line["success"], line["code"]), ("read_file", False, "PATH_OUTSIDE_WORKSPACE"))


class Core(SidecarTest):
    """With --tool-set core there are five tools, on every way in."""

    env = {"SIDECAR_TOOL_SET": "core"}

    def test_no_other_can_be_called(self):
        self.server.put("a.txt", "one\n")
        code, message = self.server.failure("edit_file", path="a.txt", old_text="one", new_text="two")
        self.assertEqual(code, "UNKNOWN_TOOL")
        self.assertTrue(message.endswith(": read_file, write_file, list_directory, run_command, search_files"), message)
        call = {"function": {"name": "job_list", "arguments": {}}}
        seen = self.server.request("POST", "/tools", json.dumps(call), {"Content-Type": "application/json"}).json()
        self.assertEqual(seen["error"]["code"], "UNKNOWN_TOOL")
        self.assertEqual(self.server.get("a.txt"), b"one\n")
        self.server.output("read_file", path="a.txt")

    def test_unset_every_tool_can_be_called(self):
        server = self.start()
        server.put("a.txt", "one\n")
        server.output("edit_file", path="a.txt", old_text="one", new_text="two")


class Providers(SidecarTest):
    ARGUMENTS = {"path": "p.txt"}
    FORMS = [
        {"function": {"name": "read_file", "arguments": ARGUMENTS}},
        {"id": "call_1", "function": {"index": 0, "name": "read_file", "arguments": ARGUMENTS}},
        {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": json.dumps(ARGUMENTS)}},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file", "arguments": json.dumps(ARGUMENTS)},
        {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": ARGUMENTS},
        {"functionCall": {"name": "read_file", "args": ARGUMENTS}},
        {"functionCall": {"id": "g1", "name": "read_file", "args": ARGUMENTS}, "thoughtSignature": "x"},
        {"name": "read_file", "args": ARGUMENTS},
        {"name": "read_file", "arguments": ARGUMENTS},
    ]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.put("p.txt", 'quoted "text" \u00e9\n')

    def send(self, call, query="", status=200):
        answer = self.server.request("POST", "/tools" + query, json.dumps(call), JSON)
        self.assertEqual(answer.status, status, answer.body)
        return answer.json()

    def test_every_form_is_understood(self):
        plain = self.server.observe("read_file", **self.ARGUMENTS)
        self.assertTrue(plain["success"])
        for call in self.FORMS:
            self.assertEqual(self.send(call), plain, call)

    def test_the_session_may_stand_beside(self):
        for call in ({"name": "read_file", "arguments": self.ARGUMENTS, "sessionId": "beside-1"},
                     {"functionCall": {"name": "read_file", "args": {**self.ARGUMENTS, "sessionId": "beside-2"}}}):
            self.assertTrue(self.send(call)["success"])
        for session in ("beside-1", "beside-2"):
            self.assertEqual(self.server.wait_for_log(lambda e, s=session: e.get("session") == s)["tool"], "read_file")

    def test_arguments_may_be_absent(self):
        for call in ({"name": "read_file"}, {"function": {"name": "read_file", "arguments": ""}},
                     {"function": {"name": "read_file", "arguments": None}}, {"type": "tool_use", "name": "read_file", "input": {}}):
            seen = self.send(call)
            self.assertIn("path is missing", seen["error"]["message"])

    def test_bad_calls(self):
        for call, code in (({}, "INVALID_ARGUMENTS"), ({"name": 1}, "INVALID_ARGUMENTS"), ({"function": []}, "INVALID_ARGUMENTS"),
                           ({"function": {"name": "read_file", "arguments": "{"}}, "INVALID_ARGUMENTS"),
                           ({"function": {"name": "read_file", "arguments": "[]"}}, "INVALID_ARGUMENTS"),
                           ({"function": {"name": "read_file", "arguments": 5}}, "INVALID_ARGUMENTS"),
                           ({"name": "nope"}, "UNKNOWN_TOOL"), ([], "INVALID_ARGUMENTS")):
            seen = self.send(call)
            self.assertEqual((seen["success"], seen["error"]["code"]), (False, code), call)

    def test_replies(self):
        plain = self.server.observe("read_file", **self.ARGUMENTS)
        ollama = self.send(self.FORMS[0], "?reply=ollama")
        self.assertEqual((ollama["role"], ollama["tool_name"]), ("tool", "read_file"))
        self.assertEqual(json.loads(ollama["content"]), plain)
        openai = self.send(self.FORMS[2], "?reply=openai")
        self.assertEqual((openai["role"], openai["tool_call_id"]), ("tool", "call_1"))
        self.assertEqual(json.loads(openai["content"]), plain)
        item = self.send(self.FORMS[3], "?reply=openai")
        self.assertEqual((item["type"], item["call_id"]), ("function_call_output", "call_1"))
        self.assertEqual(json.loads(item["output"]), plain)
        anthropic = self.send(self.FORMS[4], "?reply=anthropic")
        self.assertEqual((anthropic["type"], anthropic["tool_use_id"], anthropic["is_error"]), ("tool_result", "toolu_1", False))
        self.assertEqual(json.loads(anthropic["content"]), plain)
        gemini = self.send(self.FORMS[6], "?reply=gemini")
        self.assertEqual(gemini, {"functionResponse": {"id": "g1", "name": "read_file", "response": plain}})

    def test_a_failure_is_an_error_to_anthropic(self):
        call = {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "none"}}
        self.assertTrue(self.send(call, "?reply=anthropic")["is_error"])

    def test_unknown_reply(self):
        for query in ("?reply=xml", "?reply=%zz", "?reply=" + "o" * 99):
            self.assertFalse(self.send(self.FORMS[0], query, 400)["ok"])

    def test_a_whole_loop(self):
        """Definitions in, a scripted model's calls out, observations back."""
        names = [t["function"]["name"] for t in self.server.request("GET", "/tools").json()]
        script = [{"function": {"name": "write_file", "arguments": {"path": "loop.py", "content": "print(6 * 7)\n"}}},
                  {"function": {"name": "search_files", "arguments": {"pattern": "print", "file_pattern": "loop.py"}}},
                  {"function": {"name": "run_command", "arguments": {"command": "cat loop.py"}}}]
        messages = []
        for call in script:
            self.assertIn(call["function"]["name"], names)
            messages.append(self.send(call, "?reply=ollama"))
        self.assertEqual(json.loads(messages[-1]["content"])["output"]["stdout"], "print(6 * 7)\n")


class Codes(SidecarTest):
    """Every code of the table is reached; the rest of them in test_tools, test_run_command, test_search_files."""

    def test_paths(self):
        s = self.server
        s.put("f.txt", "x")
        os.symlink("/etc/hostname", s.path("out"))
        os.symlink("loop", s.path("loop"))
        for tool, path, code in (
                ("read_file", "../x", "PATH_OUTSIDE_WORKSPACE"), ("read_file", "/etc/hostname", "PATH_OUTSIDE_WORKSPACE"),
                ("write_file", "/x", "PATH_OUTSIDE_WORKSPACE"), ("list_directory", "/etc", "PATH_OUTSIDE_WORKSPACE"),
                ("read_file", "out", "SYMLINK_OUTSIDE_WORKSPACE"), ("write_file", "out", "SYMLINK_OUTSIDE_WORKSPACE"),
                ("read_file", "loop", "SYMLINK_LOOP"), ("read_file", "a\0b", "INVALID_PATH"), ("read_file", "a" * 5000, "INVALID_PATH"),
                ("read_file", "none", "FILE_NOT_FOUND"), ("list_directory", "none", "FILE_NOT_FOUND"),
                ("list_directory", "f.txt", "NOT_A_DIRECTORY"), ("read_file", "f.txt/x", "NOT_A_DIRECTORY"),
                ("read_file", ".", "NOT_A_FILE"), ("write_file", ".", "NOT_A_FILE")):
            arguments = {"content": ""} if tool == "write_file" else {}
            code_seen, message = s.failure(tool, path=path, **arguments)
            self.assertEqual(code_seen, code, (tool, path))
            self.assertTrue(message)

    def test_absolute_paths_inside_are_fine(self):
        self.server.put("abs.txt", "x")
        self.assertEqual(self.server.output("read_file", path=self.server.path("abs.txt"))["path"], "abs.txt")

    def test_not_allowed(self):
        server = self.start(env={"SIDECAR_ALLOW_OUTSIDE_WORKSPACE_ROOT": "true", "ALLOWED_ROOT_DIRECTORY": self.server.dir},
                            workspace=self.server.path("inner"))
        self.assertEqual(server.failure("read_file", path="/etc/hostname")[0], "PATH_NOT_ALLOWED")

    def test_content(self):
        self.server.put("e.txt", "a a\n")
        for arguments, code in (({"old_text": "zz", "new_text": "y"}, "TEXT_NOT_FOUND"),
                                ({"old_text": "a", "new_text": "b"}, "TEXT_NOT_UNIQUE"),
                                ({"old_text": "a a", "new_text": "a a"}, "NO_CHANGE"),
                                ({"old_text": "", "new_text": "b"}, "INVALID_ARGUMENTS")):
            self.assertEqual(self.server.failure("edit_file", path="e.txt", **arguments)[0], code)

    def test_patterns(self):
        self.assertEqual(self.server.failure("search_files", pattern="(")[0], "INVALID_REGEX")
        self.assertEqual(self.server.failure("search_files", pattern="a", file_pattern="[")[0], "INVALID_GLOB")
        self.assertEqual(self.server.failure("list_directory", path=".", pattern="{a")[0], "INVALID_GLOB")

    def test_read_only(self):
        server = self.start(env={"SIDECAR_READ_ONLY": "true"})
        server.put("r.txt", "x\n")
        for tool, arguments in (("write_file", {"content": "y"}), ("edit_file", {"old_text": "x", "new_text": "y"}),
                                ("multi_edit", {"edits": [{"old_text": "x", "new_text": "y"}]})):
            self.assertEqual(server.failure(tool, path="r.txt", **arguments)[0], "READ_ONLY")
        server.output("edit_file", path="r.txt", old_text="x", new_text="y", dry_run=True)
        self.assertEqual(server.get("r.txt"), b"x\n")

    @needs_sandbox
    def test_a_write_refused_in_read_only_mode_is_explained(self):
        server = self.start(env={"SIDECAR_READ_ONLY": "true"})
        out = server.output("run_command", command="echo x > f")
        self.assertEqual(out["hint"], "The workspace is read-only: a command can write to /tmp and nowhere else.")

    @needs_two_users
    def test_permission_denied(self):
        server = self.start(prefix=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"], wait=False)
        # The socket's directory is root's: give both to the other user, and start anew.
        server.stop()
        os.chmod(server.dir, 0o755)
        for name in (server.dir, server.workspace):
            os.chown(name, 65534, 65534)
        server.put("secret.txt", "x", mode=0o600)
        server.start()
        self.assertEqual(server.failure("read_file", path="secret.txt")[0], "PERMISSION_DENIED")
        self.assertEqual(server.failure("write_file", path="secret.txt", content="")[0], "PERMISSION_DENIED")

    def test_too_busy(self):
        server = self.start(env={"SIDECAR_MAX_COMMANDS": "1"})
        first = threading.Thread(target=server.output, args=("run_command",),
                                 kwargs={"command": "touch on; until [ -e off ]; do sleep 0.02; done"})
        first.start()
        until(lambda: os.path.exists(server.path("on")), "the command runs")
        seen = server.observe("run_command", command="true")
        server.put("off", "")
        first.join()
        self.assertEqual(seen["error"]["code"], "TOO_BUSY")

    def test_io_error(self):
        server = self.start(env={"SIDECAR_ALLOW_OUTSIDE_WORKSPACE_ROOT": "true"})
        self.assertEqual(server.failure("read_file", path="/proc/self/mem")[0], "IO_ERROR")

    @unittest.skipUnless(machine.mounts(), "this machine gives no mount namespaces")
    def test_disk_full(self):
        mount = 'mount -t tmpfs -o size=64k none "$WORKSPACE_ROOT" && exec "$@"'
        server = self.start(prefix=["unshare", "-m", "sh", "-c", mount, "sh"], env={"SIDECAR_SANDBOX": "off"})
        server.output("write_file", path="small", content="x")
        self.assertEqual(server.failure("write_file", path="small", content="x" * (1 << 20))[0], "DISK_FULL")
        self.assertEqual(server.output("read_file", path="small")["content"], "x")

    def test_models_do_not_change_the_wire(self):
        self.server.put("w.txt", "x")
        self.assertEqual(self.server.result("read", path="/w.txt")["content"], "x")


if __name__ == "__main__":
    unittest.main()
