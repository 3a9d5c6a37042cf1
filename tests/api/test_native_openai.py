"""OpenAI's apply_patch, shell and local_shell on POST /tools, and the definitions of all built-in tools."""
import json
import os
import subprocess
import unittest

from harness import BIN, given_time, is_sanitized, needs_sandbox
from native_client import JSON, NativeTest
from processes import MARK, wait_until_gone


class Patch(NativeTest):
    def apply(self, server=None, **operation):
        answer = self.item("apply_patch", server=server, operation=operation)
        self.assertEqual(set(answer), {"type", "call_id", "status", "output"})
        self.assertEqual(answer["call_id"], "call_1")
        return answer["status"], answer["output"]

    def ok(self, **operation):
        status, output = self.apply(**operation)
        self.assertEqual(status, "completed", output)
        return output

    def fails(self, **operation):
        status, output = self.apply(**operation)
        self.assertEqual(status, "failed", output)
        return output

    def test_create_file(self):
        self.assertEqual(self.ok(type="create_file", path="p/new.txt", diff="+one\n+two\n"), "[created p/new.txt, +2]\n")
        self.assertEqual(self.server.get("p/new.txt"), b"one\ntwo\n")
        self.ok(type="create_file", path="p/empty", diff="")
        self.assertEqual(self.server.get("p/empty"), b"")
        self.assertIn("Line 2 of the diff", self.fails(type="create_file", path="p/bad", diff="+a\nb\n"))
        self.assertFalse(os.path.exists(self.server.path("p/bad")))

    def test_update_file(self):
        self.server.put("u.py", "def f():\n    return 1\n\n\ndef g():\n    return 1\n")
        text = self.ok(type="update_file", path="/u.py", diff="@@ def g():\n-    return 1\n+    return 2\n")
        self.assertIn("[edited u.py, +1 -1]", text)
        self.assertEqual(self.server.get("u.py").decode(), "def f():\n    return 1\n\n\ndef g():\n    return 2\n")
        self.ok(type="update_file", path=self.server.path("u.py"), diff="@@\n+# end\n*** End of File\n")
        self.assertTrue(self.server.get("u.py").endswith(b"return 2\n# end\n"))

    def test_an_update_that_does_not_fit(self):
        self.server.put("n.py", "one\ntwo\n")
        text = self.fails(type="update_file", path="n.py", diff="@@\n one\n-too\n+2\n")
        self.assertIn('TEXT_NOT_FOUND', text)
        self.assertIn("Nothing was changed", text)
        self.assertEqual(self.server.get("n.py"), b"one\ntwo\n")

    def test_delete_file(self):
        self.server.put("gone.txt", "x\n")
        self.assertIn("[deleted gone.txt", self.ok(type="delete_file", path="gone.txt"))
        self.assertFalse(os.path.exists(self.server.path("gone.txt")))
        self.assertIn("FILE_NOT_FOUND", self.fails(type="delete_file", path="gone.txt"))

    def test_the_core_set_has_no_such_tools(self):
        core = self.start(env={"SIDECAR_TOOL_SET": "core"})
        status, output = self.apply(server=core, type="create_file", path="new", diff="+a\n")
        self.assertEqual((status, output[:13]), ("failed", "UNKNOWN_TOOL:"))
        self.assertFalse(os.path.exists(core.path("new")))
        self.assertEqual(core.request("GET", "/tools?format=openai-native").status, 400)

    def test_an_operation_is_about_its_own_file(self):
        self.server.put("mine", "a\n")
        self.server.put("other", "b\n")
        for more in ("*** Delete File: other", "*** Update File: other\n@@\n-b\n+c", "*** Move to: elsewhere",
                     "*** End Patch", "*** Begin Patch", "***Delete File: other"):
            self.assertIn("INVALID_PATCH", self.fails(type="update_file", path="mine", diff="@@\n-a\n+x\n%s\n" % more))
        self.assertIn("INVALID_P", self.fails(type="delete_file", path="mine\n*** Delete File: other"))
        self.assertEqual((self.server.get("mine"), self.server.get("other")), (b"a\n", b"b\n"))

    def test_paths_that_lead_out(self):
        os.symlink("/etc/passwd", self.server.path("plink"))
        for path in ("../x", "/../../x", "plink", "a\0b"):
            for operation in ({"type": "create_file", "diff": "+x"}, {"type": "delete_file"},
                              {"type": "update_file", "diff": "@@\n+x\n"}):
                if path == "plink" and operation["type"] != "update_file":
                    continue
                self.fails(path=path, **operation)
        os.unlink(self.server.path("plink"))

    def test_wrong_calls(self):
        for operation in ({}, {"type": "create_file"}, {"type": "rename_file", "path": "a"}, {"path": "a"},
                          {"type": "update_file", "path": "a"}, {"type": "update_file", "path": "a", "diff": ""}):
            self.assertIn("INVALID_", self.fails(**operation))
        answer = self.send({"type": "apply_patch_call", "call_id": "c", "operation": []}).json()
        self.assertEqual((answer["call_id"], answer["status"]), ("c", "failed"))

    def test_changes_and_read_only(self):
        call = {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "create_file", "path": "q", "diff": "+x"}}
        change = self.send(call).headers["sidecar-change"]
        self.server.request("POST", "/changes/%s/undo" % change, "{}", JSON)
        self.assertFalse(os.path.exists(self.server.path("q")))
        server = self.start(env={"SIDECAR_READ_ONLY": "true"})
        self.assertEqual(self.apply(server=server, type="create_file", path="q", diff="+x")[0], "failed")


class Shell(NativeTest):
    def run_all(self, *commands, server=None, **action):
        answer = self.item("shell", server=server, action={"commands": list(commands), **action})
        self.assertEqual(answer["call_id"], "call_1")
        self.assertEqual(answer.get("max_output_length"), action.get("max_output_length"))
        for output in answer["output"]:
            self.assertEqual(set(output), {"stdout", "stderr", "outcome"})
        return [(o["stdout"], o["stderr"], o["outcome"]) for o in answer["output"]]

    def test_each_command_has_its_output(self):
        done = self.run_all("echo out; echo err >&2", "exit 3", "kill -9 $$", "cat; pwd")
        self.assertEqual(done, [("out\n", "err\n", {"type": "exit", "exit_code": 0}),
                                ("", "", {"type": "exit", "exit_code": 3}),
                                ("", "", {"type": "exit", "exit_code": 137}),
                                (self.server.workspace + "\n", "", {"type": "exit", "exit_code": 0})])

    def test_many_commands_of_large_results(self):
        server = self.start(env={"SIDECAR_RESULT_BYTES": "1048576"})
        done = self.run_all(*["echo %d" % i for i in range(64)], server=server)
        self.assertEqual([out for out, _, _ in done], ["%d\n" % i for i in range(64)])

    def test_what_is_left_running_is_named(self):
        server = self.start(env={"SIDECAR_SANDBOX": "off"})
        (out, err, _), = self.run_all("sleep 60 > /dev/null 2>&1 & echo $!", server=server)
        pid = out.strip()
        self.assertEqual(err, "[still running: sleep 60 (pid %s); kill %s ends it]\n" % (pid, pid))
        self.assertEqual(self.run_all("kill " + pid, server=server)[0][2]["exit_code"], 0)

    @needs_sandbox
    def test_a_sandboxed_command_is_not_told_to_kill_it(self):
        server = self.start(env={"SIDECAR_SANDBOX": "workspace"})
        (out, err, _), = self.run_all("sleep 60 > /dev/null 2>&1 & echo $!", server=server)
        self.assertEqual(err, "[still running: sleep 60 (pid %s); it ends with the sidecar]\n" % out.strip())

    def test_each_command_is_a_shell_of_its_own(self):
        self.assertEqual(self.run_all("A=1; cd /tmp", "echo $A; pwd")[1][0], "\n%s\n" % self.server.workspace)

    def test_the_time_is_for_all_of_them(self):
        done = given_time(lambda done: done[0][0], lambda ms: self.run_all(
            "echo a", "export %s=openai; sleep 60 & sleep 60" % MARK, "echo c", timeout_ms=ms), 1000)
        self.assertEqual(done[0], ("a\n", "", {"type": "exit", "exit_code": 0}))
        self.assertEqual([d[2] for d in done[1:]], [{"type": "timeout"}] * 2)
        self.assertIn("not run", done[2][1])
        wait_until_gone("openai")

    def test_output_has_a_largest_length(self):
        (out, err, _), = self.run_all("seq 100000; seq 100000 >&2", max_output_length=400)
        self.assertLess(len(out) + len(err), 400 + 2 * 60)
        self.assertRegex(out, r"^1\n(?s:.*)\[… [\d,]+ lines, \d+ KB left out\](?s:.*)\n100000\n$")
        for n in (1, 0, 10**12):
            (out, _, _), = self.run_all("echo hi", max_output_length=n)
            self.assertEqual("hi" in out, n != 1, out)
        done = self.run_all(*["seq 100000"] * 4)
        self.assertTrue(all(d[0].endswith("\n100000\n") for d in done))
        self.assertLess(sum(len(d[0]) for d in done), 33000)

    def test_much_output(self):
        megabytes = 10 if is_sanitized() else 100
        (out, _, outcome), = self.run_all("seq -f '%%063.0f' %d" % (megabytes << 14))
        self.assertLess(len(out), 32000)
        self.assertEqual(outcome["exit_code"], 0)

    def test_policy(self):
        (out, err, outcome), = self.run_all("touch ran", "sudo true")
        self.assertEqual((out, outcome), ("", {"type": "exit", "exit_code": 126}))
        self.assertIn("COMMAND_BLOCKED", err)
        self.assertFalse(os.path.exists(self.server.path("ran")))
        self.server.wait_for_log(lambda line: line.get("tool") == "shell" and line.get("code") == "COMMAND_BLOCKED")

    def test_wrong_calls(self):
        for action in ({}, {"commands": []}, {"commands": "ls"}, {"commands": [1]}, {"commands": ["x"] * 65},
                       {"commands": ["ls"], "timeout_ms": -5}):
            answer = self.item("shell", action=action)
            self.assertIn("INVALID_ARGUMENTS", answer["output"][0]["stderr"])
        answer = self.send({"type": "shell_call", "call_id": "c"}).json()
        self.assertIn('no object', answer["output"][0]["stderr"])

    def test_null_is_absent(self):
        self.assertEqual(self.item("shell", action={"commands": ["echo x"], "timeout_ms": None,
                                                    "max_output_length": None})["output"][0]["stdout"], "x\n")

    def test_a_time_that_is_too_long_is_cut(self):
        self.assertEqual(self.run_all("echo x", timeout_ms=10**12)[0][0], "x\n")


class LocalShell(NativeTest):
    def run_one(self, *command, **action):
        answer = self.item("local_shell", action={"type": "exec", "command": list(command), "env": {}, **action})
        self.assertEqual(answer["id"], "call_1")  # that of the call, and not of its item
        output = json.loads(answer["output"])
        self.assertEqual(set(output), {"stdout", "stderr", "outcome"})
        return output["stdout"], output["stderr"], output["outcome"]

    def test_a_program(self):
        self.server.put("dir/f", "")
        self.assertEqual(self.run_one("printf", "%s|", "a b", "$HOME", "*"),
                         ("a b|$HOME|*|", "", {"type": "exit", "exit_code": 0}))
        self.assertEqual(self.run_one("sh", "-c", "echo $X; ls; echo e >&2; exit 5", env={"X": "y"},
                                      working_directory="/dir"), ("y\nf\n", "e\n", {"type": "exit", "exit_code": 5}))
        self.assertEqual(self.run_one("pwd", working_directory=self.server.path("dir"), timeout_ms=None,
                                      user=None)[0], self.server.path("dir") + "\n")

    def test_a_time_out(self):
        self.assertEqual(self.run_one("sleep", "60", timeout_ms=300)[2], {"type": "timeout"})

    def test_what_does_not_run(self):
        for command, action, why in ((("no-such-program",), {}, "SPAWN_FAILED"), ((), {}, "INVALID_ARGUMENTS"),
                                     (("sudo", "ls"), {}, "COMMAND_BLOCKED"),
                                     (("ls",), {"working_directory": "../.."}, "PATH_OUTSIDE_WORKSPACE"),
                                     (("ls",), {"working_directory": "/none"}, "FILE_NOT_FOUND"),
                                     (("ls",), {"user": "root"}, "leave out user"),
                                     (("ls",), {"env": {"A=B": "c"}}, "INVALID_ARGUMENTS")):
            out, err, outcome = self.run_one(*command, **action)
            self.assertEqual((out, outcome["exit_code"]), ("", 126))
            self.assertIn(why, err)


class Definitions(NativeTest):
    anthropic = [{"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
                 {"type": "bash_20250124", "name": "bash"}]
    memory = [{"type": "memory_20250818", "name": "memory"}]
    openai = [{"type": "apply_patch"}, {"type": "shell", "environment": {"type": "local"}}]

    def tools(self, query, server=None):
        return (server or self.server).request("GET", "/tools?format=" + query).json()

    def test_what_a_server_offers(self):
        self.assertEqual(self.tools("anthropic-native"), self.anthropic)
        server = self.start(env={"DATA_DIR": os.path.join(self.server.dir, "data")})
        self.assertEqual(self.tools("anthropic-native", server), self.anthropic + self.memory)
        self.assertEqual(self.tools("openai-native"), self.openai)
        self.assertEqual(self.tools("openai-native&set=full"), self.openai + [{"type": "local_shell"}])
        answer = self.server.request("GET", "/tools?format=native")
        self.assertEqual(answer.status, 400)
        self.assertIn("openai-native", answer.json()["error"])

    def test_the_command_line_knows_them(self):
        def tools(*flags):
            return json.loads(subprocess.run([BIN, "tools", *flags], check=True, capture_output=True).stdout)
        self.assertEqual(tools("--format", "anthropic-native"), self.anthropic + self.memory)
        self.assertEqual(tools("--format", "openai-native"), self.openai)

    def test_they_are_no_tools_of_other_forms(self):
        for name in ("text_editor", "shell_session", "memory", "shell", "local_shell", "patch_operation", "bash"):
            self.assertEqual(self.server.failure(name)[0], "UNKNOWN_TOOL")
            answer = self.send({"function": {"name": name, "arguments": {}}}).json()
            self.assertEqual(answer["error"]["code"], "UNKNOWN_TOOL")

    def test_our_own_tools_are_answered_as_before(self):
        self.server.put("f", "x")
        call = {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "f"}}
        self.assertEqual(self.send(call).json()["output"]["content"], "x")
        call = {"type": "function_call", "call_id": "t", "name": "read_file", "arguments": '{"path":"f"}'}
        answer = self.server.request("POST", "/tools?reply=openai", json.dumps(call), JSON).json()
        self.assertEqual(answer["type"], "function_call_output")


if __name__ == "__main__":
    unittest.main()
