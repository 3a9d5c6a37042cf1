"""What models' commands get without asking: variables, time, and a sandbox."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from harness import BIN, PATIENCE, SidecarTest, environment, machine, needs_sandbox, run_expecting_failure
from mcp_client import Stdio, initialize

OLD = (sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "old_kernel.py"))

QUIET = {"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0",
         "GIT_EDITOR": "true", "DEBIAN_FRONTEND": "noninteractive"}
# What a person's terminal has, which must not reach a model's command.
TERMINAL = {"TERM": "xterm-256color", "PAGER": "less", "GIT_PAGER": "delta", "GIT_EDITOR": "vi",
            "DEBIAN_FRONTEND": "dialog"}


def show(names):
    return "printf %s " + " ".join('"%s=$%s|"' % (n, n) for n in names)


def shown(values):
    return "".join("%s=%s|" % item for item in values.items())


class Variables(SidecarTest):
    env = TERMINAL

    def test_a_model_gets_quiet_programs(self):
        self.assertEqual(self.server.output("run_command", command=show(QUIET))["stdout"], shown(QUIET))
        argv = ["sh", "-c", show(QUIET)]
        self.assertEqual(self.server.output("run_command", command="", argv=argv)["stdout"], shown(QUIET))

    def test_a_job_too(self):
        job = self.server.output("run_command", command=show(QUIET), background=True)["job_id"]
        out = self.server.output("job_output", job_id=job, wait_ms=20000)
        while out["state"] == "running":
            out = self.server.output("job_output", job_id=job, wait_ms=20000)
        self.assertEqual(out["output"], shown(QUIET))

    def test_the_call_decides(self):
        out = self.server.output("run_command", command=show(QUIET), env=["TERM=vt100", "NO_COLOR="])
        self.assertEqual(out["stdout"], shown({**QUIET, "TERM": "vt100", "NO_COLOR": ""}))

    def test_the_contract_keeps_its_environment(self):
        self.assertIn(shown(TERMINAL), self.server.call("bash", command=show(TERMINAL)).body.decode())


class TheOperatorDecides(SidecarTest):
    def check(self, wanted, env=None, flags=()):
        server = self.start(env=env or {}, flags=flags)
        self.assertEqual(server.output("run_command", command=show(wanted))["stdout"], shown(wanted))
        return server

    def test_flags_add_up(self):
        server = self.check({"TERM": "vt100", "A": "1=2", "B": ""},
                            flags=("--command-env", "TERM=vt100", "--command-env=A=1=2", "--command-env", "B="))
        out = server.output("run_command", command=show(["TERM", "A"]), env=["A=call"])["stdout"]
        self.assertEqual(out, "TERM=vt100|A=call|")

    def test_a_variable_has_one_a_line(self):
        self.check({"TERM": "vt100", "A": "x y"}, env={"SIDECAR_COMMAND_ENV": "TERM=vt100\nA=x y\n"})

    def test_a_flag_replaces_what_a_variable_says(self):
        self.check({"A": "flag", "B": "", "TERM": "dumb"}, env={"SIDECAR_COMMAND_ENV": "A=variable\nB=variable"},
                   flags=("--command-env", "A=flag"))

    def test_a_file_has_a_list(self):
        server = self.start()
        server.stop()
        os.makedirs(os.path.join(server.dir, "sidecar"))
        with open(os.path.join(server.dir, "sidecar", "config.json"), "w") as f:
            json.dump({"command-env": ["A=1", "TERM=vt52"]}, f)
        server.start()
        self.assertEqual(server.output("run_command", command=show(["A", "TERM"]))["stdout"], "A=1|TERM=vt52|")

    def test_the_contract_does_not_get_them(self):
        server = self.start(flags=("--command-env", "ONLY_MODELS=1"))
        self.assertIn("<>", server.call("bash", command="echo \"<$ONLY_MODELS>\"").body.decode())

    def test_what_is_no_variable_is_an_error(self):
        for value in ("NAME", "=value", "A=1\nB"):
            self.assertIn("NAME=value", run_expecting_failure(flags=("--command-env", value))[1])


class Times(SidecarTest):
    def definition(self, server, form, tool_set="full"):
        tools = server.request("GET", "/tools?format=%s&set=%s" % (form, tool_set)).json()
        tool = next(t for t in tools if t.get("name", t.get("function", {}).get("name")) == "run_command")
        schema = tool.get("inputSchema") or tool.get("input_schema") or tool["function"]["parameters"]
        return schema["properties"]["timeout_ms"]

    def test_definitions_tell_the_truth(self):
        for flags, http, mcp in (((), (30000, 86400000), (120000, 3600000)),
                                 (("--command-timeout", "50"), (50000, 86400000), (50000, 3600000)),
                                 (("--command-timeout-max", "20"), (20000, 20000), (20000, 20000)),
                                 (("--command-timeout", "7200"), (7200000, 86400000), (7200000, 7200000)),
                                 (("--command-timeout=9", "--command-timeout-max=12"), (9000, 12000), (9000, 12000))):
            server = self.start(flags=flags)
            for form, wanted in (("anthropic", http), ("openai", http), ("mcp", mcp)):
                p = self.definition(server, form)
                self.assertEqual((p["default"], p["maximum"]), wanted, (flags, form))
                self.assertNotIn("default", p["description"])
            self.assertIn("(default %d)" % http[0], self.definition(server, "ollama")["description"])

    def test_they_are_kept(self):
        server = self.start(flags=("--command-timeout", "1", "--command-timeout-max", "20"))
        out = server.output("run_command", command="sleep 60")
        self.assertTrue(out["timed_out"])
        self.assertIn("background", out["hint"])
        self.assertFalse(server.output("run_command", command="sleep 2", timeout_ms=20000)["timed_out"])

    def test_more_than_the_most_is_cut_to_it(self):
        server = self.start(flags=("--command-timeout-max", "600"))
        out = server.output("run_command", command="echo x", timeout_ms=10**12)
        self.assertEqual((out["stdout"], out["note"]), ("x\n", "timeout_ms was cut to 600000, the most that a call may have here"))
        self.assertNotIn("note", server.output("run_command", command="true", timeout_ms=600000))
        text = server.call("tools/run_command?reply=openai&results=text", command="true", timeout_ms=600001).json()["content"]
        self.assertRegex(text, r"^\[exit 0, .*\]\n\[timeout_ms was cut to 600000, the most that a call may have here\]$")
        server = self.start(flags=("--command-timeout-max", "1"))
        out = server.output("run_command", command="sleep 60", timeout_ms=60000)
        self.assertTrue(out["timed_out"])
        self.assertIn("No call has more time here", out["hint"])

    def test_the_tools_of_providers_say_so_too(self):
        server = self.start(flags=("--command-timeout-max", "600"))
        note = "[timeout_ms was cut to 600000, the most that a call may have here]\n"
        for asked_ms, said in ((600001, [note, ""]), (600000, ["", ""])):
            action = {"commands": ["echo a", "echo b"], "timeout_ms": asked_ms}
            answer = server.call("tools", type="shell_call", call_id="c", action=action).json()
            self.assertEqual([o["stderr"] for o in answer["output"]], said, answer)
            action = {"type": "exec", "command": ["true"], "env": {}, "timeout_ms": asked_ms}
            answer = server.call("tools", type="local_shell_call", call_id="c", action=action).json()
            self.assertEqual(note.strip() in answer["output"], asked_ms > 600000, answer)

    def end_of_bash(self, server, **asked):
        return json.loads(server.call("bash", **asked).body.splitlines()[-1])

    def test_bash_has_no_more_either(self):
        server = self.start(flags=("--command-timeout-max", "1"))
        for asked in ({"timeoutSeconds": 3600}, {}):
            done = self.end_of_bash(server, command="sleep 60; echo done", **asked)
            self.assertEqual((done["exitCode"], done["timedOut"], done["timeoutSeconds"]), (-1, True, 1))
        self.assertNotIn("timeoutSeconds", self.end_of_bash(server, command="true", timeoutSeconds=1))

    def test_without_a_most_bash_is_as_it_was(self):
        server = self.start()
        for asked in ({}, {"timeoutSeconds": 10**6}):
            self.assertEqual(self.end_of_bash(server, command="true", **asked), {"type": "done", "exitCode": 0})

    def test_a_job_has_none(self):
        server = self.start(flags=("--command-timeout", "1"))
        job = server.output("run_command", command="sleep 2; echo through", background=True)["job_id"]
        out = server.output("job_output", job_id=job, wait_ms=30000)
        while out["state"] == "running":
            out = server.output("job_output", job_id=job, wait_ms=30000)
        self.assertEqual((out["exit_code"], out["output"]), (0, "through\n"))


class Mcp(unittest.TestCase):
    def test_variables_and_times(self):
        client = Stdio("--command-timeout", "1", env=TERMINAL)
        self.addCleanup(client.close)
        self.assertIn(shown(QUIET), json.dumps(client.call("run_command", command=show(QUIET), timeout_ms=60000)["result"]["content"]))
        late = json.dumps(client.call("run_command", command="sleep 60")["result"]["content"])
        self.assertIn("background", late)
        tools = client.ask("tools/list")["result"]["tools"]
        p = next(t for t in tools if t["name"] == "run_command")["inputSchema"]["properties"]["timeout_ms"]
        self.assertEqual((p["default"], p["maximum"]), (1000, 3600000))


class Held(unittest.TestCase):
    """What holds the commands of `sidecar mcp`, and that it is said."""

    def instructions(self, client):
        client.send(initialize(0))
        said = client.answer(0)["result"]["instructions"]
        self.assertEqual(client.ask("server/discover", modern=True)["result"]["instructions"], said)
        return said

    def start(self, *flags, **options):
        client = Stdio(*flags, **options)
        self.addCleanup(client.close)
        return client

    @needs_sandbox
    def test_a_sandbox_needs_no_setting(self):
        """Not even in a container, and whatever the variables say."""
        with tempfile.TemporaryDirectory() as outside:
            for env in ({}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "container": "docker"}):
                client = self.start(env=env)
                self.assertIn("Commands run in a sandbox", self.instructions(client))
                client.call("run_command", command="echo in > inside; echo out > %s/file" % outside)
                self.assertTrue(os.path.exists(os.path.join(client.workspace, "inside")))
                self.assertEqual(os.listdir(outside), [])

    def test_off_is_said(self):
        self.assertIn("without a sandbox", self.instructions(self.start("--sandbox", "off")))

    def test_the_server_says_it_too(self):
        server = SidecarTest.start(self, env={"SIDECAR_SANDBOX": "off"})
        body = json.dumps(initialize(0)).encode()
        answer = server.request("POST", "/mcp", body, {"Content-Type": "application/json", "Accept": "application/json"})
        self.assertIn("without a sandbox", answer.json()["result"]["instructions"])

    @unittest.skipUnless(machine.filters(), "no system-call filter can be set here")
    def test_where_none_can_be_had_it_starts_without(self):
        with tempfile.TemporaryDirectory() as workspace:
            message = json.dumps(initialize(0)).encode() + b"\n"
            done = subprocess.run([*OLD, BIN, "mcp"], cwd=workspace, env=environment(), input=message, timeout=PATIENCE,
                                  capture_output=True, check=True)
            self.assertIn("without a sandbox", json.loads(done.stdout)["result"]["instructions"])
            self.assertIn(b"commands run without a sandbox", done.stderr)
            asked = subprocess.run([*OLD, BIN, "mcp", "--sandbox", "workspace"], cwd=workspace, env=environment(),
                                   input=message, timeout=PATIENCE, capture_output=True, check=False)
            self.assertEqual(asked.returncode, 1)
            self.assertIn(b"no Landlock", asked.stderr)


if __name__ == "__main__":
    unittest.main()
