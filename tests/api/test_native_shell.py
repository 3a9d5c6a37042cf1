"""Anthropic's bash on POST /tools: a shell that keeps its state between the calls of a session."""
import os
import pathlib
import subprocess
import threading
import unittest

from harness import given_time, is_sanitized, machine, needs_sandbox, until
from native_client import NativeTest
from processes import MARK, alive, below, wait_until_gone

STATE_NOTE = "its directory and variables are as before this command]"


class Shell(NativeTest):
    names = 0

    def setUp(self):
        Shell.names += 1
        self.session = "s%d" % self.names  # a new shell for each test

    def run_in(self, command, **options):
        return self.use("bash", **{"session": self.session, "command": command, **options})

    def out(self, command, **options):
        """What a command writes that must succeed."""
        content, is_error = self.run_in(command, **options)
        self.assertFalse(is_error, content)
        return content


class State(Shell):
    def test_the_output_is_all_there_is(self):
        self.assertEqual(self.out("echo out; echo err >&2"), "out\nerr\n")

    def test_no_output(self):
        self.assertRegex(self.out("true"), r"^\[exit 0, [\d.]+ s\]$")

    def test_the_directory_is_kept(self):
        self.out("mkdir -p a/b; cd a/b")
        self.assertEqual(self.out("pwd"), self.server.path("a/b") + "\n")
        self.out("cd ..")
        self.assertEqual(self.out("pwd; cd - >/dev/null; pwd").split(),
                         [self.server.path("a"), self.server.path("a/b")])

    def test_a_directory_with_any_name(self):
        name = "it's \"a\" $dir `x`\nü"
        os.makedirs(self.server.path(name), exist_ok=True)
        self.out("cd it*")
        self.assertEqual(self.out('printf %s "${PWD##*/}"'), name)

    def test_a_directory_that_is_gone(self):
        self.out("mkdir gone; cd gone; echo > ../keep")
        os.rmdir(self.server.path("gone"))
        text = self.out("pwd")
        self.assertEqual(text, "bash: the directory of the shell is gone\n%s\n" % self.server.workspace)

    def test_variables_are_kept(self):
        self.out("""A=1; export B='two words'; C=(x 'y z'); declare -A D=([k]=v); declare -i E=4; readonly F=6
                    G=$'line\\nwith "quotes" and \\'those\\' and $dollar'; export H=; unset NO_COLOR; IFS=:""")
        self.assertEqual(self.out("""echo "$A|$B|${C[1]}|${#C[@]}|${D[k]}|$F|${H-unset}|${NO_COLOR-gone}"
                                     E+=1; echo $E; echo "$G"; printf %s "$IFS"; env | grep -c '^B=two words'"""),
                         "1|two words|y z|2|v|6||gone\n5\nline\nwith \"quotes\" and 'those' and $dollar\n:1\n")
        self.assertNotIn("A=1", self.out("env"))  # it was not exported
        self.assertIn("readonly", self.run_in("F=7")[0])

    def test_functions_aliases_and_options_are_kept(self):
        self.out("""f() { local x=$1; cat <<END
got $x
END
}
export -f f
g() { [[ $1 == @(a|b) ]] && echo match; }
alias hello='echo hello alias'
shopt -s expand_aliases extglob
set -o pipefail
umask 077""")
        self.assertEqual(self.out("f one; g a; hello; false | true || echo piped; umask; bash -c 'f two'"),
                         "got one\nmatch\nhello alias\npiped\n0077\ngot two\n")
        self.assertEqual(self.out("shopt extglob | cut -f2; echo $-").split()[0], "on")

    def test_nothing_of_ours_is_seen(self):
        self.out("A=1")
        text = self.out("set; declare -f; trap; jobs; ls /proc/self/fd; echo $# $0")
        variables = [line for line in text.split("\n") if line.startswith("__sidecar") and "=" in line]
        self.assertEqual(variables, [])
        self.assertIn("0\n1\n2\n3\n0 bash", text)

    def test_tracing_shows_the_command_only(self):
        self.assertEqual(self.out("set -x; echo a"), "++ echo a\na\n")
        self.assertEqual(self.out("echo b"), "++ echo b\nb\n")
        self.out("set +x")
        self.assertEqual(self.out("echo c"), "c\n")

    def test_lines_have_their_numbers(self):
        self.out("A=1")
        self.assertIn("line 1: none1:", self.run_in("none1")[0])

    def test_restart(self):
        self.out("cd /tmp; A=1; f() { :; }")
        self.assertEqual(self.good("bash", session=self.session, restart=True), "The shell has been restarted.")
        self.assertEqual(self.out('pwd; echo "A=$A"; type -t f || echo none'), "%s\nA=\nnone\n" % self.server.workspace)

    def test_restart_with_a_command(self):
        self.out("A=1")
        self.assertEqual(self.out("echo ${A-new}; B=2", restart=True), "new\n")
        self.assertEqual(self.out("echo $B"), "2\n")

    def test_a_session_with_a_very_long_name(self):
        call = {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "true"}, "sessionId": "s" * 2000}
        self.assertIn("The name of the session has 2000 bytes", self.send(call).json()["content"])

    def test_sessions_have_shells_of_their_own(self):
        self.out("A=mine; cd /tmp")
        self.assertEqual(self.out("echo $A; pwd", session="another"), "\n%s\n" % self.server.workspace)
        self.assertEqual(self.out("echo $A; pwd"), "mine\n/tmp\n")
        call = {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "echo $A"}, "sessionId": self.session}
        self.assertEqual(self.send(call).json()["content"], "mine\n")

    def test_more_sessions_than_there_is_room_for(self):
        self.out("A=first", session="first")
        for i in range(64):
            self.assertEqual(self.out("echo $A; A=%d" % i, session="many%d" % i), "\n")
        self.assertEqual(self.out("echo $A", session="many63"), "63\n")
        # Whoever believes to be elsewhere is told before anything happens in the root; once.
        self.assertRegex(self.bad("bash", command="touch here", session="first"),
                         "Not run: the shell of this session is gone with its directory and variables.*root of the workspace")
        self.assertFalse(os.path.exists(self.server.path("here")))
        self.assertEqual(self.out("echo $A; pwd", session="first"), "\n%s\n" % self.server.workspace)
        # It took the place of the least recently used one. A restart is a new shell without a word.
        self.assertEqual(self.out("echo $A", session="many1"), "1\n")
        self.assertEqual(self.out("echo $A", restart=True, session="many0"), "\n")


class Ends(Shell):
    def test_a_command_that_fails(self):
        content, is_error = self.run_in("echo before; false")
        self.assertTrue(is_error)
        self.assertRegex(content, r"^\[exit 1, [\d.]+ s\]\nbefore\n$")
        self.assertIn("command not found", self.bad("bash", command="no-such-program"))

    def test_a_command_that_is_no_shell_text(self):
        content, is_error = self.run_in("A=1; if (")
        self.assertTrue(is_error)
        self.assertIn("syntax error", content)
        self.assertEqual(self.out("echo next"), "next\n")

    def test_exit_keeps_the_state(self):
        self.assertRegex(self.run_in("cd /tmp; A=1; exit 3")[0], r"^\[exit 3")
        self.assertEqual(self.out("pwd; echo $A"), "/tmp\n1\n")
        self.run_in("set -e; B=2; false; C=3")
        self.assertEqual(self.out("echo $A $B ${C-none}; set +e"), "1 2 none\n")

    def test_exec_leaves_the_shell_as_it_was(self):
        self.out("A=1")
        content, is_error = self.run_in("A=2; exec echo replaced")
        self.assertEqual((content[:9], is_error), ("replaced\n", False))
        self.assertTrue(content.endswith(STATE_NOTE), content)
        self.assertEqual(self.out("echo $A"), "1\n")

    def test_a_shell_that_is_killed(self):
        self.out("A=1")
        content, is_error = self.run_in("A=2; kill -9 $$")
        self.assertTrue(is_error)
        self.assertIn("[ended by SIGKILL", content)
        self.assertTrue(content.endswith(STATE_NOTE), content)
        self.assertEqual(self.out("echo $A"), "1\n")

    def test_separators_of_words_do_not_matter(self):
        self.assertTrue(self.run_in("IFS=0123456789; A=1; (exit 120)")[0].startswith("[exit 120,"))
        self.assertEqual(self.out('printf %s "$IFS $A"'), "0123456789 1")

    def test_a_trap_of_the_command(self):
        self.assertEqual(self.out("trap 'echo bye' EXIT; A=1; echo hi"), "hi\nbye\n")
        self.assertEqual(self.out("echo $A; trap"), "1\ntrap -- '{ __sidecar_save; } 2>/dev/null' EXIT\n")

    def test_standard_input_is_empty(self):
        self.assertEqual(self.out("cat; read -r x; echo \"read: $? [$x]\""), "read: 1 []\n")
        self.assertEqual(self.out("A=1; python3 -c 'import sys; print(repr(sys.stdin.read()))'; echo $A"), "''\n1\n")

    def test_a_state_that_is_too_large(self):
        self.out("A=1")
        content, _ = self.run_in("A=2; BIG=$(head -c 3000000 /dev/zero | tr '\\0' x); echo ${#BIG}")
        self.assertIn("3000000", content)
        self.assertTrue(content.endswith(STATE_NOTE), content)
        self.assertEqual(self.out("echo $A ${#BIG}"), "1 0\n")

    def test_the_state_cannot_be_made_to_grow(self):
        """Not even by a command that finds its file, which its shell has open."""
        content, _ = self.run_in("""A=1; for f in /proc/$$/fd/*; do case $(readlink $f) in *memfd:shell*)
            echo found; truncate -s 64M $f 2>/dev/null && echo grown; head -c 64M /dev/zero 2>/dev/null > $f;
            stat -Lc %s $f;; esac; done; true""")
        found, size = content.split("\n")[:2]
        self.assertEqual(found, "found")
        self.assertLess(int(size), 2 << 20)

    def test_a_hundred_megabytes_of_output(self):
        megabytes = 10 if is_sanitized() else 100
        content = self.out("A=1; seq -f '%%063.0f' %d" % (megabytes << 14), timeout=300)
        self.assertLessEqual(len(content.encode()), 32000)
        self.assertRegex(content, r"\n\[… [\d,]+ lines, \d+ MB left out\]\n")
        self.assertTrue(content.endswith("%063d\n" % (megabytes << 14)), content[-100:])
        self.assertEqual(self.out("echo $A"), "1\n")

    def test_a_long_command(self):
        text = "x" * 300000
        self.assertEqual(self.out("A=%s; echo ${#A}" % text), "300000\n")
        self.assertIn("too long", self.bad("bash", command="'" * (1 << 20)))

    def test_wrong_calls(self):
        for given in ({}, {"command": ""}, {"command": "  \n"}, {"restart": False}):
            self.assertIn("command is missing", self.bad("bash", **given))
        self.assertIn("NUL", self.bad("bash", command="a\0b"))
        self.assertIn("is not an argument", self.bad("bash", command="true", color=3))

    def test_policy(self):
        self.assertIn("Command blocked", self.bad("bash", command="sudo true"))
        self.out("export http_proxy=http://127.0.0.1:9")
        self.assertIn("Command blocked", self.run_in("curl http://localhost:1/")[0])

    def test_secrets_are_taken_out(self):
        self.assertIn("[REDACTED", self.out("K=ghp_0123456789abcdefghijABCDEFGHIJ456789; echo $K"))

    def test_changes_can_be_undone(self):
        self.server.put("undo/f", "old\n")
        self.out("cd undo")
        answer = self.send({"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "echo new > f; touch g"},
                            "sessionId": self.session})
        change = answer.headers["sidecar-change"]
        self.server.request("POST", "/changes/%s/undo" % change, "{}", {"Content-Type": "application/json"})
        self.assertEqual(self.server.get("undo/f"), b"old\n")
        self.assertFalse(os.path.exists(self.server.path("undo/g")))


class Processes(Shell):
    flags = ("--sandbox", "off")

    def run_out(self, ms):
        """What commands that have so little time say: one before, one that needs more, and one after it."""
        server = self.start(flags=(*self.flags, "--command-timeout", str(ms // 1000)))
        script = "export %s=%s; A=2; sleep 60 & (setsid sleep 60 &) ; echo begun; sleep 60" % (MARK, self.session)
        first, late = self.run_in("A=1; cd /tmp", server=server), self.run_in(script, server=server)
        wait_until_gone(self.session)
        return first, late, self.run_in("echo $A; pwd", server=server)

    def test_a_time_out_ends_everything_and_keeps_the_state(self):
        def begun(got):
            (_, too_late), (content, _), (_, again) = got
            return not too_late and "begun" in content and not again
        _, (content, is_error), last = given_time(begun, self.run_out, 1000)
        self.assertTrue(is_error)
        self.assertRegex(content, r"^\[timed out after [\d.]+ s; everything it started was ended\]\nbegun\n")
        self.assertIn("can be started with &", content)
        self.assertTrue(content.endswith("[the shell was ended: " + STATE_NOTE), content)
        self.assertEqual(last, ("1\n/tmp\n", False))

    def test_what_is_left_running_goes_on(self):
        content = self.out("export %s=%s; sleep 60 > /dev/null 2>&1 & echo pid $!" % (MARK, self.session))
        pid = content.split()[1]
        self.assertIn("[still running: sleep 60 (pid %s); kill %s ends it]" % (pid, pid), content)
        self.assertEqual(self.out("A=1; kill -0 %s && echo there" % pid), "there\n")
        jobs = self.server.request("GET", "/jobs").json()["result"]["jobs"]
        self.assertIn("export %s=%s; sleep" % (MARK, self.session), jobs[-1]["command"])
        self.out("kill %s" % pid)
        wait_until_gone(self.session)

    def test_our_part_of_a_command_line_is_not_shown(self):
        content = self.out("(export %s=%s; sleep 60; true) > /dev/null 2>&1 & echo $!" % (MARK, self.session))
        self.assertIn("[still running: bash -c (export %s=%s; sleep 60; true)" % (MARK, self.session), content)
        self.assertNotIn("__sidecar", content)
        self.good("bash", session=self.session, restart=True)
        wait_until_gone(self.session)

    def test_restart_ends_what_the_shell_left(self):
        self.out("export %s=%s; sleep 60 > /dev/null 2>&1 & setsid sleep 60 > /dev/null 2>&1 &" % (MARK, self.session))
        self.assertTrue(alive(self.session))
        self.good("bash", session=self.session, restart=True)
        wait_until_gone(self.session)

    def test_restart_ends_what_runs(self):
        server = self.start()
        ended = []
        thread = threading.Thread(target=lambda: ended.append(
            self.use("bash", server=server, session="s", command="A=1; touch begun; sleep 60")))
        thread.start()
        until(lambda: os.path.exists(server.path("begun")), "the command runs")
        self.good("bash", server=server, session="s", restart=True)
        thread.join()
        self.assertTrue(ended[0][1], ended)
        self.assertEqual(self.good("bash", server=server, session="s", command="echo ${A-none}"), "none\n")

    def test_calls_of_a_session_take_turns(self):
        self.out("N=0")
        threads = [threading.Thread(target=self.out, args=("n=$N; sleep 0.02; N=$((n + 1))",)) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(self.out("echo $N"), "8\n")

    def test_sessions_run_at_the_same_time(self):
        self.out("mkfifo pipe$$; P=pipe$$; echo $P")
        name = self.out("printf %s $P")
        got = []
        thread = threading.Thread(target=lambda: got.append(self.out("cat " + name, session="reader")))
        thread.start()
        self.out("echo through > " + name)
        thread.join()
        self.assertEqual(got, ["through\n"])

    def test_nothing_is_left_when_the_server_ends(self):
        server = self.start()
        mark = self.session + "end"
        call = {"server": server, "session": "s"}
        self.good("bash", command="export %s=%s; cd /tmp; (sleep 60 >/dev/null 2>&1 &)" % (MARK, mark), **call)
        self.good("bash", command="A=1; setsid sleep 60 >/dev/null 2>&1 & true", **call)
        children = [pid for pid, _ in below(server.process.pid)]
        self.assertEqual(len(alive(mark)), 2)
        self.assertEqual(server.stop(), 0)
        wait_until_gone(mark)
        until(lambda: not any(pathlib.Path("/proc", str(pid)).exists() for pid in children), "all processes end")

    def test_an_idle_shell_is_no_process(self):
        server = self.start()
        self.good("bash", server=server, command="A=1")
        for i in range(5):
            self.good("bash", server=server, session="idle%d" % i, command="A=1")
        until(lambda: "bash" not in [name for _, name in below(server.process.pid)], "no shell is left")


@needs_sandbox
class Sandboxed(Shell):
    env = {"SIDECAR_SANDBOX": "workspace"}

    def test_the_state_is_kept_in_the_sandbox(self):
        self.out("mkdir -p in; cd in; A=1; export B=2; f() { echo f; }")
        self.assertEqual(self.out("pwd; echo $A $B; f"), "%s\n1 2\nf\n" % self.server.path("in"))
        self.assertTrue(self.run_in("echo x > /etc/sidecar-test")[1])
        self.assertEqual(self.out("echo y > file; cat file"), "y\n")


@unittest.skipUnless(machine.tool("dash"), "dash is not installed")
class AnotherShell(Shell):
    """Where there is no bash."""

    def test_dash_keeps_directory_and_variables(self):
        script = self.start_script()
        state = b""
        for command, want in (("cd /tmp; A='it'\"'\"'s'; export B=2; umask 077; echo one", b"one\n"),
                              ("pwd; echo \"$A\"; env | grep ^B=; umask; exit 3", b"/tmp\nit's\nB=2\n0077\n"),
                              ("echo $A; cat", b"it's\n")):
            out, state = script(command, state)
            self.assertEqual(out, want)

    def start_script(self):
        """The script as the server makes it, run by dash."""
        seen = self.server.path("seen")
        self.out("tr '\\0' '\\n' < /proc/$$/cmdline | tail -n +3 > %s" % seen)
        text = pathlib.Path(seen).read_text()
        head, tail = text.split("; exec 9<&0", 1)
        self.assertTrue(head.startswith("set -- '"))
        body = "; exec 9<&0" + tail

        def run(command, state):
            fd = os.memfd_create("state")
            os.ftruncate(fd, len(state) + 1 + (1 << 20))
            os.pwrite(fd, state, 0)
            size = body.index("bs=") + 3
            end = body.index(")", size)
            script = "set -- '%s'" % command.replace("'", "'\\''") + body[:size] + str(len(state) + 1) + body[end:]
            done = subprocess.run(["dash", "-c", script], stdin=fd, capture_output=True, cwd="/", check=False)
            self.assertEqual(done.stderr, b"")
            left = os.pread(fd, 1 << 20, len(state) + 1).split(b"\0")[0]
            os.close(fd)
            self.assertTrue(left.endswith(b"\n#end\n"), left[-200:])
            return done.stdout, left
        return run


if __name__ == "__main__":
    unittest.main()
