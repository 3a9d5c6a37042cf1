"""Running sidecars find each other: the registry, and the socket on which `sidecar mcp` can be watched."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import termios
import threading
import unittest

from harness import (BIN, PATIENCE, TOOK, SidecarTest, UnixConnection, environment, listens, needs_sandbox, needs_two_users,
                     until)
from mcp_client import Stdio, call, initialize

CONNECT = """
import socket, sys
try:
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    s.sendall(b"GET /health HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
    print(s.recv(4096).split(b"\\r\\n")[0].decode())
except OSError as error:
    print("no way:", error.strerror)
"""


def screen(said):
    """What a terminal shows after that, in lines, as far as `sidecar watch` uses one."""
    lines, row, column = [""], 0, 0
    for word in re.findall(r"\x1b\[(\d*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)", said):
        if word[1] == "A":
            row -= int(word[0] or 1)
        elif word[1] in ("J", "K"):
            lines[row] = lines[row][:column]
            lines = lines[:row + 1] + (lines[row + 1:] if word[1] == "K" else [])
        elif word[2] == "\r":
            column = 0
        elif word[2] == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif word[3]:
            lines[row] = lines[row][:column] + word[3] + lines[row][column + len(word[3]):]
            column += len(word[3])
    return lines


class Running(SidecarTest):
    """Each test has a runtime directory of its own."""

    def setUp(self):
        self.run = pathlib.Path(tempfile.mkdtemp(prefix="sidecar-run-"))
        self.addCleanup(shutil.rmtree, self.run, True)
        self.place = self.run / "sidecar"

    def serve(self, **options):
        return self.start(env={"XDG_RUNTIME_DIR": str(self.run), **options.pop("env", {})}, **options)

    def mcp(self, *flags, env=None):
        client = Stdio(*flags, env={"XDG_RUNTIME_DIR": str(self.run), **(env or {})}, results="text")
        self.addCleanup(client.close)
        client.send(initialize(0))
        client.answer(0)
        return client

    def names(self):
        """But that of the file which all share, and which stays."""
        return sorted(set(os.listdir(self.place)) - {"turns"}) if self.place.exists() else []

    def ask(self, path, method, url, body=None):
        connection = UnixConnection(path, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, url, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def cli(self, *words, **more):
        return subprocess.run([BIN, *words], env=environment(**{"XDG_RUNTIME_DIR": str(self.run), **more}), timeout=PATIENCE,
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


class Registry(Running):
    def test_a_server_leaves_its_address_while_it_runs(self):
        server = self.serve()
        self.assertEqual(self.names(), ["serve-%d.json" % server.process.pid])
        found = self.place.stat()
        self.assertEqual((stat.S_IMODE(found.st_mode), found.st_uid), (0o700, os.geteuid()))
        entry = self.place / self.names()[0]
        self.assertEqual(stat.S_IMODE(entry.stat().st_mode), 0o600)
        said = json.loads(entry.read_text())
        self.assertEqual((said["pid"], said["workspace"], said["socket"]), (server.process.pid, server.workspace, server.socket))
        server.stop()
        self.assertEqual(self.names(), [])

    def test_a_token_is_not_entered(self):
        self.serve(env={"SIDECAR_AUTH_TOKEN": "T0KEN-OF-SERVER", "TCP_HOST": "127.0.0.1", "TCP_PORT": "0"})
        text = (self.place / self.names()[0]).read_text()
        self.assertNotIn("T0KEN", text)
        self.assertIs(json.loads(text)["token"], True)
        self.assertRegex(json.loads(text)["tcp"], r"^127\.0\.0\.1:\d+$")

    def test_left_overs_are_removed(self):
        dead = self.serve()
        dead.stop(signal.SIGKILL)
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(self.place / "mcp-999999.sock"))
        with socket.socket(socket.AF_UNIX) as s:
            self.assertEqual(len(self.names()), 2)
            # Those that look like left-overs and are not: they stay.
            s.bind(str(self.place / "mcp-999998.sock"))
            s.listen()
            (self.place / "mcp-999997.sock").write_text("a file")
            (self.place / "mcp-999996.sock").symlink_to("mcp-999998.sock")
            (self.place / "serve-x.json").write_text("another name")
            (self.place / "other").mkdir()
            stay = ["mcp-999996.sock", "mcp-999997.sock", "mcp-999998.sock", "other", "serve-x.json"]
            server = self.serve()
            self.assertEqual(self.names(), sorted([*stay, "serve-%d.json" % server.process.pid]))
        for name in stay:
            path = self.place / name
            path.rmdir() if name == "other" else path.unlink()
        self.assertEqual(json.loads(self.cli("ps", "--json").stdout)["sidecars"][0]["pid"], server.process.pid)
        self.assertEqual(self.names(), ["serve-%d.json" % server.process.pid])

    def test_a_directory_that_is_a_link_is_not_used(self):
        elsewhere = self.run / "elsewhere"
        elsewhere.mkdir()
        self.place.symlink_to(elsewhere)
        self.serve()
        self.assertEqual(os.listdir(elsewhere), [])

    @needs_two_users
    def test_a_directory_of_another_user_is_not_used(self):
        self.place.mkdir(0o777)
        os.chown(self.place, 65534, 65534)
        self.serve()
        self.assertEqual(self.names(), [])


class Mcp(Running):
    def test_a_probing_client_leaves_no_trace(self):
        client = self.mcp()
        for method in ("tools/list", "ping"):
            self.assertIn("result", client.ask(method), method)
        self.assertEqual(self.names(), [])
        client.close()
        self.assertEqual(self.names(), [])

    def test_the_socket_of_a_killed_one_goes_with_the_next(self):
        killed, client = self.mcp(), self.mcp()
        killed.call("write_file", path="a", content="x\n")
        killed.ended = True  # by us
        killed.process.kill()
        killed.process.wait()
        self.assertEqual(self.names(), ["mcp-%d.sock" % killed.process.pid])
        client.call("write_file", path="b", content="x\n")
        self.assertEqual(self.names(), ["mcp-%d.sock" % client.process.pid])

    def test_the_socket_comes_with_the_first_call(self):
        client = self.mcp()
        client.call("write_file", path="a", content="x\n")
        self.assertEqual(self.names(), ["mcp-%d.sock" % client.process.pid])
        path = str(self.place / self.names()[0])
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(self.place).st_mode), 0o700)
        status, body = self.ask(path, "GET", "/health")
        health = json.loads(body)
        self.assertEqual((status, health["kind"], health["client"], health["pid"], health["calls"]),
                         (200, "mcp", "test", client.process.pid, 1))
        start = json.loads(self.ask(path, "GET", "/calls/1")[1])["result"]["events"][0]
        self.assertEqual((start["front"], start["client"], start["tool"]), ("mcp", "test", "write_file"))
        self.assertEqual(self.ask(path, "POST", "/changes/1/undo", "{}")[0], 200)
        self.assertFalse((pathlib.Path(client.workspace) / "a").exists())
        for method, url in (("POST", "/read"), ("POST", "/bash"), ("POST", "/tools"), ("POST", "/tools/read_file"),
                            ("POST", "/mcp"), ("POST", "/jobs/1/stop"), ("POST", "/events"), ("POST", "/write")):
            self.assertIn(self.ask(path, method, url, "{}")[0], (404, 405), url)
        for url in ("/jobs", "/tools", "/metrics", "/openapi.json", "/healthy", "/changesx"):
            self.assertIn(self.ask(path, "GET", url)[0], (404, 405), url)
        client.close()
        self.assertEqual(self.names(), [])

    def test_a_call_can_be_stopped(self):
        client = self.mcp()
        client.send(call(1, "run_command", command="setsid sleep 1000 & sleep 1000"))
        path = str(self.place / ("mcp-%d.sock" % client.process.pid))
        until(lambda: listens(path), "the socket")
        until(lambda: json.loads(self.ask(path, "GET", "/health")[1])["running"] == 1, "it runs")
        until(lambda: self.ask(path, "POST", "/calls/1/stop")[0] == 200, "it is stopped")
        self.assertIn("result", client.answer(1))

    def test_off(self):
        client = self.mcp("--watchable", "off")
        client.call("list_directory", path=".")
        self.assertEqual(self.names(), [])
        client = self.mcp("--events", "off")
        client.call("list_directory", path=".")
        path = str(self.place / self.names()[0])
        self.assertEqual([self.ask(path, "GET", url)[0] for url in ("/health", "/changes", "/events")], [200, 200, 405])

    def test_commands_cannot_reach_it(self):
        for flags in ((), ("--sandbox", "off"), ("--network", "none")):
            client = self.mcp(*flags)
            client.call("list_directory", path=".")
            path = str(self.place / self.names()[0])
            (pathlib.Path(client.workspace) / "connect.py").write_text(CONNECT)
            for command in ("python3 connect.py %s", "setsid -f python3 connect.py %s > said; until [ -s said ]; do sleep 0.05; done; cat said"):
                said = client.call("run_command", command=command % path)["result"]["content"][0]["text"]
                self.assertTrue("403 Forbidden" in said or "no way:" in said, said)
            # And one that is no command can.
            self.assertEqual(self.ask(path, "GET", "/health")[0], 200)
            client.close()

    def test_another_server_s_commands_cannot_reach_it_either(self):
        client = self.mcp()
        client.call("list_directory", path=".")
        server = self.serve(env={"SIDECAR_SANDBOX": "off"})
        server.put("connect.py", CONNECT)
        said = server.output("run_command", command="python3 connect.py " + str(self.place / ("mcp-%d.sock" % client.process.pid)))
        self.assertIn("403 Forbidden", said["stdout"])


class Ps(Running):
    def test_what_is_listed(self):
        self.assertEqual(json.loads(self.cli("ps", "--json").stdout), {"sidecars": []})
        self.assertIn("no sidecar", self.cli("ps").stderr)
        server, client = self.serve(), self.mcp()
        server.call("ls")
        client.call("list_directory", path=".")
        listed = {one["pid"]: one for one in json.loads(self.cli("ps", "--json").stdout)["sidecars"]}
        self.assertEqual(set(listed), {server.process.pid, client.process.pid})
        mine, other = listed[server.process.pid], listed[client.process.pid]
        self.assertEqual((mine["kind"], mine["workspace"], mine["client"], mine["running"]), ("serve", server.workspace, "", 0))
        self.assertEqual((other["kind"], other["workspace"], other["client"], other["calls"]), ("mcp", client.workspace, "test", 1))
        for one in listed.values():
            self.assertRegex(one["since"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d")
        # Who looks makes no calls of tools, and the start stays the same.
        for url in ("/changes", "/jobs", "/calls/1"):
            server.request("GET", url)
        again = {one["pid"]: one for one in json.loads(self.cli("ps", "--json").stdout)["sidecars"]}
        self.assertEqual(again[server.process.pid]["calls"], 1)
        for pid, one in again.items():
            health = server if pid == server.process.pid else None
            started = health.request("GET", "/health").json()["started"] if health else json.loads(
                self.ask(str(self.place / ("mcp-%d.sock" % pid)), "GET", "/health")[1])["started"]
            self.assertEqual((one["since"], listed[pid]["since"]), (started, started))
        table = self.cli("ps").stdout.splitlines()
        self.assertEqual(table[0].split()[:4], ["PID", "KIND", "WORKSPACE", "CLIENT"])
        self.assertEqual(len(table), 3)
        self.assertIn(server.workspace, "\n".join(table))

    def test_a_server_that_wants_a_token_is_listed_with_what_is_known(self):
        server = self.serve(env={"SIDECAR_AUTH_TOKEN": "T0KEN-OF-SERVER", "SIDECAR_REQUIRE_AUTH": "1"})
        one = json.loads(self.cli("ps", "--json").stdout)["sidecars"][0]
        self.assertEqual((one["pid"], one["workspace"], one["calls"]), (server.process.pid, server.workspace, None))
        one = json.loads(self.cli("ps", "--json", SIDECAR_AUTH_TOKEN="T0KEN-OF-SERVER").stdout)["sidecars"][0]
        self.assertEqual(one["calls"], 0)

    def test_the_table_fits_the_terminal(self):
        server = self.serve()
        for columns, left_out in ((100, []), (76, []), (75, ["SINCE"]), (60, ["SINCE"]), (50, ["CLIENT", "SINCE"])):
            ours, its = pty.openpty()
            fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            subprocess.run([BIN, "ps"], env=environment(XDG_RUNTIME_DIR=str(self.run), TERM="xterm"), timeout=PATIENCE, check=True,
                           stdin=subprocess.DEVNULL, stdout=its)
            head, line = os.read(ours, 65536).decode().splitlines()
            os.close(ours)
            os.close(its)
            self.assertLessEqual(max(len(head), len(line)), columns)
            self.assertEqual([one for one in ("PID", "KIND", "WORKSPACE", "CLIENT", "SINCE", "CALLS", "RUNNING") if one not in head], left_out)
            self.assertIn(server.workspace[-11:], line)

    def test_a_directory_name_cannot_write_on_the_terminal(self):
        server = self.serve(workspace=tempfile.mkdtemp(suffix="\x1b[31m"))
        self.addCleanup(shutil.rmtree, server.workspace, True)
        self.assertNotIn("\x1b", self.cli("ps").stdout)


    def test_one_that_an_agent_started_without_the_variable_is_found(self):
        client = self.mcp(env={"XDG_RUNTIME_DIR": ""})
        client.call("write_file", path="a", content="x\n")
        for runtime, found in (("/run/user/%d" % os.geteuid(), True), ("", True), (str(self.run), False)):
            listed = json.loads(self.cli("ps", "--json", XDG_RUNTIME_DIR=runtime).stdout)["sidecars"]
            self.assertEqual(client.process.pid in {one["pid"] for one in listed}, found, runtime)


class Watch(Running):
    def watch(self, *flags, cwd=None, **more):
        process = subprocess.Popen([BIN, "watch", *flags], env=environment(XDG_RUNTIME_DIR=str(self.run), **more), cwd=cwd,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

        def end():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
            process.stdout.close()
            process.stderr.close()
        self.addCleanup(end)
        return process

    def lines(self, process, last):
        """The lines up to the one that is looked for."""
        got = []
        while not got or last not in got[-1]:
            line = process.stdout.readline().decode()
            self.assertTrue(line, (got, process.poll()))
            got.append(line.rstrip("\n"))
        return got

    def test_a_line_a_call_and_what_came_of_it(self):
        server = self.serve()
        server.put("f", "one\n")
        server.observe("edit_file", path="f", old_text="one", new_text="two")
        server.failure("read_file", path="../secret")
        server.failure("run_command", command="sudo true")
        server.failure("read_file", path="absent")
        server.output("run_command", command="echo out; exit 3")
        server.output("run_command", command="echo last")
        got = self.lines(self.watch(), "    last")
        text = "\n".join(got)
        self.assertNotIn("\x1b", text)
        self.assertRegex(text, r"(?m)^\d\d:\d\d:\d\d  edit_file +f +change 1 +%s$" % TOOK)
        self.assertIn("    -one\n    +two", text)
        self.assertRegex(text, r"(?m)^.*read_file +\.\./secret +refused +%s\n    Path is outside" % TOOK)
        self.assertRegex(text, r"(?m)^.*run_command +sudo true +refused +%s\n    Command blocked" % TOOK)
        self.assertRegex(text, r"(?m)^.*read_file +absent +file not found +%s\n    File not found" % TOOK)
        self.assertRegex(text, r"(?m)^.*run_command +echo out; exit 3 +exit 3 +%s\n    out$" % TOOK)

    def test_times_are_local(self):
        server = self.serve()
        server.output("run_command", command="echo last")
        clocks = []
        for zone in ("UTC0", "ZONE-5:30"):
            line = next(x for x in self.lines(self.watch(TZ=zone), "    last") if "echo last" in x)
            clocks.append([int(n) for n in line.split()[0].split(":")])
        (h, m, s), later = clocks
        self.assertEqual(later, [(h + 5 + (m >= 30)) % 24, (m + 30) % 60, s])

    @needs_sandbox
    def test_what_the_sandbox_refuses_to_a_command(self):
        server = self.serve(env={"SIDECAR_SANDBOX": "workspace", "SIDECAR_NETWORK": "none"})
        outside = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, outside, True)
        server.output("run_command", command="echo x 2>&1 > %s/f; echo went on" % outside)
        server.put("connect.py", "import socket\ntry: socket.create_connection(('192.0.2.1', 9), 1)\nexcept OSError: print('no')\n")
        server.output("run_command", command="python3 connect.py")
        server.output("run_command", command="echo last")
        text = "\n".join(self.lines(self.watch(), "    last"))
        refused = [json.loads(line) for line in self.cli_lines(server)]
        kinds = {e["what"] for e in refused}
        self.assertLessEqual(kinds, {"sandbox", "network"})
        self.assertIn("sandbox", kinds)
        self.assertRegex(text, r"(?m)^.*run_command +echo x .* (ok, refused|exit \d+) +%s\n    .*/f is not allowed" % TOOK)
        if any("192.0.2.1" in e["subject"] for e in refused):
            self.assertIn("network", kinds)

    def cli_lines(self, server):
        """The refusals of the past, as JSON."""
        process = self.watch("--json", "--since", "1h", "--socket", server.socket)
        return [line for line in self.lines(process, '"call":3,"ok"') if '"type":"refused"' in line]

    def test_output_comes_while_the_command_runs(self):
        server = self.serve()
        process = self.watch("--socket", server.socket)
        thread = threading.Thread(target=server.call, args=("bash",), kwargs={"command": "echo early; until [ -e go ]; do sleep 0.05; done; echo late"})
        thread.start()
        self.assertIn("running", self.lines(process, "    early")[-2])
        server.put("go", "")
        self.assertRegex("\n".join(self.lines(process, "    late")), r" ok +\d")
        thread.join()

    def test_filters_and_json(self):
        server = self.serve()
        for path in ("a", "b"):
            server.failure("read_file", path="../" + path)
            server.output("list_directory", path=".")
            server.output("run_command", command="echo " + path)
        server.request("GET", "/health", headers={"Authorization": "Bearer x"})
        got = self.lines(self.watch("--tool", "list_directory", "--since", "1h"), "list_directory")
        self.assertEqual(len(got), 1)
        got = self.lines(self.watch("--refused"), "../b")
        self.assertEqual([line.split()[1] for line in got if "refused" in line], ["read_file", "read_file"])
        got = [json.loads(line) for line in self.lines(self.watch("--json", "--since", "10m", "--tool", "run_command"), '"call":6,"ok"')]
        self.assertEqual({e["call"] for e in got}, {3, 6})
        self.assertEqual([e["type"] for e in got], ["call.start", "output", "call.end"] * 2)
        got = [json.loads(line) for line in self.lines(self.watch("--json", "--since", "10m", "--refused"), "../b")]
        self.assertEqual([(e["type"], e["subject"]) for e in got], [("refused", "../a"), ("refused", "../b")])
        done = self.cli("watch", "--since", "tomorrow")
        self.assertEqual((done.returncode, "--since" in done.stderr), (2, True))

    def test_hostile_text_reaches_no_terminal(self):
        server = self.serve()
        evil = "e\x1b]0;pwned\x07\x1b[2J\u009b31m\u202ename"
        server.observe("write_file", path=evil, content="x\x1b[31m\u009b0c\n")
        server.output("run_command", command="printf 'a\\033[31mb\\033]52;c;AAAA\\007c\\rd\\n'; true '%s'" % evil)
        server.failure("read_file", path="../" + evil)
        server.output("run_command", command="true end")
        for env in ({}, {"TERM": "xterm"}):
            text = "\n".join(self.lines(self.watch(**env), "true end"))
            for bad in "\x1b\x07\r\u009b\u202e":
                self.assertNotIn(bad, text)

    def test_it_comes_back_after_a_restart(self):
        server = self.serve()
        process = self.watch("--json", "--socket", server.socket)
        seen = threading.Thread(target=lambda: until(lambda: server.call("ls").status == 200 and self.first is not None, "an event"))
        self.first = None
        seen.start()
        self.first = json.loads(process.stdout.readline())
        seen.join()
        server.stop()
        server.start()
        server.call("ls", path=".")
        while json.loads(process.stdout.readline()).get("type") != "gap":
            pass
        self.assertEqual(json.loads(process.stdout.readline())["id"], 1)

    def test_it_waits_for_the_first_call(self):
        process = self.watch()
        self.assertIn(b"waiting for an agent's first call", process.stderr.readline())
        client = self.mcp()
        client.call("run_command", command="echo here it is")
        self.lines(process, "here it is")

    def test_which_one_is_watched(self):
        done = self.cli("watch", SOCKET_PATH=str(self.run / "none"))
        self.assertEqual((done.returncode, "No sidecar is listening" in done.stderr), (3, True))
        first, second = self.serve(), self.serve()
        for server in (first, second):
            server.output("run_command", command="echo " + server.workspace)
        done = self.cli("watch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--pid", done.stderr)
        self.assertIn(str(first.process.pid), done.stderr)
        self.assertEqual(self.cli("watch", "--pid", "1").returncode, 3)
        os.mkdir(second.path("deep"))
        self.lines(self.watch("--pid", str(first.process.pid)), "    " + first.workspace)
        self.lines(self.watch(cwd=second.path("deep")), "    " + second.workspace)

    def terminal(self, rows, columns, *flags, **more):
        """A watch on a terminal of its own: the descriptor of its other end, and the process."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        before = termios.tcgetattr(its)

        def attach():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        process = subprocess.Popen([BIN, "watch", *flags], env=environment(XDG_RUNTIME_DIR=str(self.run), TERM="xterm", **more),
                                   stdin=its, stdout=its, stderr=its, preexec_fn=attach)
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, its)
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.kill)
        return ours, its, process, before

    def read_until(self, fd, wanted):
        got = b""
        while not re.search(wanted, got):
            self.assertTrue(select.select([fd], [], [], PATIENCE)[0], got)
            got += os.read(fd, 65536)
        return got

    def test_a_terminal_is_drawn_on_and_left_as_it_was(self):
        server = self.serve()
        for rows, columns, keys in ((24, 80, b"q"), (12, 40, b"\x03")):
            ours, its, process, before = self.terminal(rows, columns)
            self.read_until(ours, rb"q ends it")
            self.assertNotEqual(termios.tcgetattr(its)[3], before[3])
            thread = threading.Thread(target=server.call, args=("bash",), kwargs={
                "command": "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; until [ -e go ]; do sleep 0.05; done"})
            thread.start()
            got = self.read_until(ours, rb"line 9")
            self.assertIn(b"running", got)
            self.assertIn(b"\x1b[2m", got)
            server.put("go", "")
            thread.join()
            got = self.read_until(ours, rb"\x1b\[32mok")
            self.assertRegex(got, rb"\x1b\[\d+A\r\x1b\[J")  # the bottom is drawn again
            os.unlink(server.path("go"))
            os.write(ours, keys)
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assertEqual(termios.tcgetattr(its), before)

    @needs_sandbox
    def test_colours_say_what_happened(self):
        server = self.serve(env={"SIDECAR_SANDBOX": "workspace"})
        outside = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, outside, True)
        server.put("f", "one\n")
        server.put("g", "one\n")
        server.output("run_command", command="rm f")
        server.output("run_command", command="echo x 2>&1 > %s/f; true" % outside)
        server.output("run_command", command="echo new > f; rm g")
        ours, _, process, _ = self.terminal(24, 120)
        got = self.read_until(ours, rb"change 2")
        self.assertIn(b"\x1b[31mchange 1", got)
        self.assertIn(b"\x1b[33mok, refused", got)
        self.assertIn(b"\x1b[32mchange 2", got)
        os.write(ours, b"q")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_change_of_another_program(self):
        state = {"XDG_STATE_HOME": str(self.run / "state")}
        server = self.serve(env=state)
        watch = self.watch("--socket", server.socket)
        other = self.serve(workspace=server.workspace, env=state)
        server.call("bash", command="echo begun")
        self.lines(watch, "    begun")
        other.result("write", path="theirs", content="x")
        self.assertRegex(self.lines(watch, "(another)")[-1], r"\(another\) +theirs +change 1")

    def test_keys_stop_and_undo(self):
        server = self.serve(env={"XDG_STATE_HOME": str(self.run / "state")})
        server.result("write", path="kept", content="x", sessionId="a-session")
        ours, _, process, _ = self.terminal(24, 100)
        self.read_until(ours, rb"session a-session")
        os.write(ours, b"s")
        self.read_until(ours, rb"Nothing runs")
        thread = threading.Thread(target=server.call, args=("bash",), kwargs={"command": "echo begun; sleep 600"})
        thread.start()
        self.read_until(ours, rb"begun")
        os.write(ours, b"s")
        self.read_until(ours, rb"Stop with y: echo begun")
        os.write(ours, b"ny")  # it was not agreed to
        os.write(ours, b"s")
        self.read_until(ours, rb"Stop with y: echo begun")
        os.write(ours, b"y")
        self.read_until(ours, rb"stopped")
        thread.join()
        os.write(ours, b"u")
        self.read_until(ours, rb"Undo change 1 with y: write kept")
        self.assertTrue(os.path.exists(server.path("kept")))
        os.write(ours, b"y")
        until(lambda: not os.path.exists(server.path("kept")), "the change is undone")
        self.read_until(ours, rb"undo ")
        server.request("GET", "/changes")  # looking is not shown
        os.write(ours, b"u")
        got = self.read_until(ours, rb"no change that could be undone")
        self.assertNotIn(b"changes", got)
        os.write(ours, b"q")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_question_that_is_not_agreed_to_goes(self):
        server = self.serve(env={"XDG_STATE_HOME": str(self.run / "state")})
        server.result("write", path="kept", content="x")
        ours, _, process, _ = self.terminal(24, 100)
        said = b""

        def shows(*wanted, times=1):
            nonlocal said
            while [sum(word in line for line in screen(said.decode())) for word in wanted] != [times] * len(wanted):
                self.assertTrue(select.select([ours], [], [], PATIENCE)[0], "\n".join(screen(said.decode())))
                said += os.read(ours, 65536)
        shows("q ends it", "write  ")
        for _ in range(3):
            os.write(ours, b"u")
            shows("write  ", "Undo change 1 with y")
            os.write(ours, b"n")
            shows("Undo change 1 with y", times=0)
        os.write(ours, b"s")
        shows("q ends it", "write  ", "Nothing runs")
        os.write(ours, b"q")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_session_is_named_while_its_call_runs(self):
        server = self.serve()
        command = {"command": "echo begun; until [ -e go ]; do sleep 0.05; done", "sessionId": "a-session"}
        ours, _, process, _ = self.terminal(24, 100)
        thread = threading.Thread(target=server.call, args=("bash",), kwargs=command)
        thread.start()
        got = self.read_until(ours, rb"    \x1b\[2mbegun")
        self.assertRegex("\n".join(screen(got.decode())), "    session a-session\n.* bash .* running")
        server.put("go", "")
        thread.join()
        got += self.read_until(ours, rb"\x1b\[32mok")
        shown = screen(got.decode())
        self.assertEqual(sum("session a-session" in line for line in shown), 1, shown)
        os.write(ours, b"q")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_dry_run_is_not_shown_as_an_undo(self):
        server = self.serve(env={"XDG_STATE_HOME": str(self.run / "state")})
        server.result("write", path="kept", content="x")
        server.request("POST", "/changes/1/undo", '{"dryRun":true}', {"Content-Type": "application/json"})
        server.request("POST", "/changes/1/undo", "{}", {"Content-Type": "application/json"})
        got = [line for line in self.lines(self.watch(), "-x") if " undo " in line]
        self.assertRegex(got[0], r"undo +1 \(dry run\) +ok +%s$" % TOOK)
        self.assertRegex(got[1], r"undo +1 +change 2 +%s$" % TOOK)

    def test_no_color(self):
        server = self.serve()
        server.failure("read_file", path="../secret")
        ours, _, process, _ = self.terminal(24, 80, NO_COLOR="1")
        self.assertNotIn(b"\x1b[3", self.read_until(ours, rb"Path is outside"))
        os.write(ours, b"q")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_the_end_of_an_mcp_server_is_the_end(self):
        client = self.mcp()
        client.call("list_directory", path=".")
        process = self.watch()
        self.lines(process, "list_directory")
        client.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertIn(b"has ended", process.stderr.read())

    def test_off(self):
        server = self.serve(flags=["--events", "off"])
        done = self.cli("watch", "--socket", server.socket)
        self.assertEqual((done.returncode, "cannot be watched" in done.stderr), (3, True))


if __name__ == "__main__":
    unittest.main()
