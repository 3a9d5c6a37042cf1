"""--audit: every call on disk, in lines that cannot be changed unseen; `sidecar audit verify` and `show`."""
import datetime
import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from harness import (BIN, PATIENCE, TOOK, SidecarTest, environment, is_sanitized, needs_namespaces, needs_sandbox, post,
                     run_expecting_failure, until)
from mcp_client import Stdio, initialize

KEY = "0123456789abcdef0123456789abcdef"
TOKEN = "ghp_" + "a1B2" * 9


class Audit(SidecarTest):
    @classmethod
    def setUpClass(cls):
        cls.server = None

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sidecar-audit-"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.file, self.key = self.dir / "audit.log", self.dir / "key"
        self.key.write_text(KEY + "\n")
        self.key.chmod(0o600)

    def serve(self, *flags, **options):
        return self.start(flags=["--audit", str(self.file), "--audit-key-file", str(self.key), *flags], **options)

    def lines(self, path=None):
        return [json.loads(line) for line in (path or self.file).read_text().splitlines()]

    def audit(self, *words, **env):
        return subprocess.run([BIN, "audit", *map(str, words)], env=environment(**env), timeout=PATIENCE, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)

    def verify(self, *files, key=True):
        return self.audit("verify", *(files or (self.file,)), *(("--key-file", self.key) if key else ()))

    def faults(self, *files):
        said = json.loads(self.audit("verify", "--json", *(files or (self.file,)), "--key-file", self.key).stdout)
        return [(f["line"], f["fault"]) for one in said["files"] for f in one["faults"]]

    def recorded(self):
        """A file with a few calls, closed in order; its lines."""
        server = self.serve()
        server.call("write", path="f", content="x")
        server.call("read", path="f")
        server.output("run_command", command="exit 3")
        server.stop()
        return self.file.read_bytes().splitlines(keepends=True)

    def test_what_is_recorded(self):
        server = self.serve()
        server.call("write", path="f", content="x", sessionId="me")
        server.call("read", path="f")
        server.failure("run_command", command="sudo true")
        server.output("run_command", command="exit 3")
        server.failure("no_such_tool")
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertEqual(server.request("GET", "/health").json()["audit"], "on")
        server.stop()
        got = self.lines()
        self.assertEqual([line["seq"] for line in got], list(range(1, 13)))
        self.assertEqual([line["type"] for line in got], ["audit.start"] + ["call.start", "call.end"] * 5 + ["audit.stop"])
        self.assertEqual([got[1][name] for name in ("tool", "subject", "session", "uid", "pid", "front", "changes")],
                         ["write", "f", "me", os.geteuid(), os.getpid(), "http", True])
        self.assertEqual((got[2]["ok"], got[2]["change"]), (True, 1))
        self.assertIs(got[3]["changes"], False)
        self.assertEqual((got[6]["ok"], got[6]["code"]), (False, "COMMAND_BLOCKED"))
        self.assertEqual((got[8]["ok"], got[8]["exit_code"]), (True, 3))
        self.assertEqual(got[10]["code"], "UNKNOWN_TOOL")
        done = self.verify()
        self.assertEqual((done.returncode, done.stdout), (0, "%s: 12 lines, nothing was changed, removed, put in or moved\n" % self.file))
        shown = self.audit("show", self.file).stdout
        self.assertRegex(shown, r"(?m)^\d\d:\d\d:\d\d  run_command +sudo true +refused +%s$" % TOOK)
        self.assertRegex(shown, r"(?m)^\d\d:\d\d:\d\d  run_command +exit 3 +exit 3 +%s$" % TOOK)
        self.assertEqual(len(self.audit("show", self.file, "--refused").stdout.splitlines()), 4)
        self.assertEqual(self.audit("show", "--json", self.file).stdout, self.file.read_text())

    def test_days_and_times_are_local(self):
        self.recorded()
        began = [line["time"] for line in self.lines() if line["type"] != "call.end"]
        for zone, ahead in (("UTC0", datetime.timedelta()), ("ZONE-14", datetime.timedelta(hours=14)), ("ZONE12", datetime.timedelta(hours=-12))):
            local = [datetime.datetime.fromisoformat(time[:19]) + ahead for time in began]
            wanted = list(dict.fromkeys(str(time.date()) for time in local)) + [str(time.time()) for time in local]
            shown = [line.split()[0] for line in self.audit("show", self.file, TZ=zone).stdout.splitlines() if line[0].isdigit()]
            self.assertEqual(sorted(shown), sorted(wanted))

    def test_a_planted_token_is_never_there(self):
        server = self.serve("--scrub", "off")
        server.put("token", TOKEN)
        server.call("bash", command="echo %s; cat token" % TOKEN)
        server.call("write", path=TOKEN, content=TOKEN, sessionId="my " + TOKEN)
        server.failure("read_file", path="../" + TOKEN)
        server.failure(TOKEN)
        server.stop()
        for secret in (TOKEN, TOKEN[10:], KEY):
            self.assertNotIn(secret, self.file.read_text())

    def test_a_file_that_was_cut_is_found_by_the_log(self):
        server = self.serve()
        server.call("read", path="f")
        server.stop()
        closed = server.log_lines()[-1]
        self.assertEqual(closed["msg"], "the audit file is closed")
        good = self.file.read_bytes()
        end = json.loads(good.splitlines()[-1])
        self.assertEqual(closed["last"], "%d:%s" % (end["seq"], end["mac"]))
        check = ("verify", self.file, "--key-file", self.key, "--last", closed["last"])
        self.assertEqual(self.audit(*check).returncode, 0)
        self.assertEqual(self.audit(*check[:-1], "1:" + json.loads(good.splitlines()[0])["mac"]).returncode, 0)
        self.file.write_bytes(b"".join(good.splitlines(keepends=True)[:-1]))
        self.assertEqual(self.verify().returncode, 0)
        done = self.audit(*check)
        self.assertEqual((done.returncode, "the line %d is not there" % end["seq"] in done.stdout), (1, True), done.stdout)
        said = json.loads(self.audit(*check, "--json").stdout)
        self.assertEqual((said["ok"], said["last"]), (False, False))
        for last in ("", "4", "4:", "x:" + end["mac"], "4:" + end["mac"][1:]):
            self.assertEqual(self.audit(*check[:-1], last).returncode, 2, last)

    def test_who_stopped_a_call(self):
        server = self.serve()
        with server.connect() as client:
            client.sendall(post("/bash", json.dumps({"command": "sleep 1000"})))
            until(lambda: server.request("GET", "/health").json()["running"], "the command runs")
            self.assertEqual(server.request("POST", "/calls/1/stop").status, 200)
            self.assertTrue(client.recv(1))
        server.stop()
        (stop,) = [line for line in self.lines() if line["type"] == "call.stop"]
        self.assertEqual((stop["call"], stop["uid"], stop["pid"]), (1, os.geteuid(), os.getpid()))

    def test_every_changed_byte_is_found(self):
        server = self.serve()
        server.call("read", path="f")
        server.stop()
        good = self.file.read_bytes()
        other = self.dir / "other"
        for i in range(0, len(good), 29 if is_sanitized() else 1):
            other.write_bytes(good[:i] + bytes([good[i] ^ (1 << i % 8)]) + good[i + 1:])
            self.assertEqual(self.verify(other).returncode, 1, (i, good[max(0, i - 20):i + 20]))
        self.assertEqual(self.verify().returncode, 0)

    def test_faults_are_named_by_line(self):
        good = self.recorded()
        for lines, said in (
                (good[:3] + [good[3].replace(b'"read"', b'"head"')] + good[4:], [(4, "changed")]),
                (good[:3] + good[5:], [(4, "missing")]),
                (good[:3] + [good[1]] + good[3:], [(4, "put in")]),
                (good[:2] + [b'{"seq":3,"type":"call.end"}\n'] + good[2:], [(3, "put in")]),
                (good[:3] + [good[4], good[3]] + good[5:], [(4, "moved")]),
                (good[:-1] + [good[-1][:40]], [(8, "cut off")]),
                (good[1:], [(1, "missing")])):
            self.file.write_bytes(b"".join(lines))
            self.assertEqual(self.faults(), said)
        self.file.write_bytes(b"".join(good[:-1]))
        done = self.verify()
        self.assertEqual(done.returncode, 0)
        self.assertIn("the end may be missing", done.stdout)
        self.file.write_bytes(b"".join(good[:3] + good[5:]))
        self.assertIn("before line 4 the lines numbered 4 to 5 are missing", self.verify().stdout)

    def test_keys(self):
        self.recorded()
        done = self.verify(key=False)
        self.assertEqual((done.returncode, "--key-file" in done.stdout), (1, True))
        self.key.write_text("another key, long enough")
        done = self.verify()
        self.assertEqual((done.returncode, "the right key" in done.stdout), (1, True))
        self.file.unlink()
        server = self.start(flags=["--audit", str(self.file)])
        server.call("ls")
        server.stop()
        done = self.verify(key=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("without a key", done.stdout)

    def test_a_server_that_was_killed_and_the_next_one(self):
        server = self.serve()
        server.call("write", path="f", content="x")
        server.stop(signal.SIGKILL)
        self.assertEqual([line["type"] for line in self.lines()], ["audit.start", "call.start", "call.end"])
        self.assertIn("the end may be missing", self.verify().stdout)
        with open(self.file, "ab") as f:
            f.write(b'{"seq":4,"time":"20')  # the power failed in the middle of a line
        server.start()
        server.call("ls")
        server.stop()
        done = self.verify()
        self.assertIn("line 4 has no end", done.stdout)
        self.assertIn("did not end in order", done.stdout)
        self.assertEqual(self.faults(), [(4, "cut off")])

    def test_rotation(self):
        server = self.serve()
        server.call("write", path="a", content="x")
        old = self.dir / "audit.log.1"
        os.rename(self.file, old)
        server.process.send_signal(signal.SIGHUP)
        until(self.file.exists, "a new file")
        server.call("write", path="b", content="x")
        server.process.send_signal(signal.SIGHUP)  # nothing was put aside: nothing happens
        server.call("read", path="b")
        server.stop()
        self.assertEqual([line["type"] for line in self.lines(old)][-1], "audit.rotate")
        got = self.lines()
        self.assertEqual((got[0]["type"], got[-1]["type"]), ("audit.continue", "audit.stop"))
        self.assertEqual([line["seq"] for line in self.lines(old) + got], list(range(1, len(got) + 5)))
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        done = self.verify(old, self.file)
        self.assertEqual((done.returncode, "missing" in done.stdout), (0, False))
        self.assertIn("goes on from another file", self.verify(self.file).stdout)
        self.assertEqual(self.verify(self.file, old).returncode, 1)

    def test_a_full_disk(self):
        server = self.serve()
        server.put("f", "x")
        server.call("write", path="a", content="x")
        pid = server.process.pid
        full = self.file.stat().st_size
        _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (full, most))
        for _ in range(3):
            code, sentence = server.error("write", path="b", content="x")
            self.assertEqual(code, "AUDIT_FAILED")
            self.assertIn("Nothing was changed", sentence)
            self.assertEqual(server.failure("run_command", command="touch c")[0], "AUDIT_FAILED")
            self.assertEqual(server.result("read", path="f")["content"], "x")
        self.assertEqual(sorted(os.listdir(server.workspace)), ["a", "f"])
        self.assertEqual(server.request("GET", "/health").json()["audit"], "failing")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
        server.call("write", path="b", content="x")
        self.assertEqual(server.get("b"), b"x")
        self.assertEqual(server.request("GET", "/health").json()["audit"], "on")
        server.stop()
        self.assertEqual(self.verify().returncode, 0)
        lost = [line for line in self.lines() if line["type"] == "audit.lost"]
        self.assertEqual([line["lines"] > 0 for line in lost], [True])
        self.assertEqual(self.verify().returncode, 0)

    def test_places_that_are_refused(self):
        work = self.dir / "ws"
        (work / "deep").mkdir(parents=True)
        (self.dir / "link").symlink_to(work / "deep")
        (self.dir / "more").mkdir()
        loose, short = self.dir / "loose", self.dir / "short"
        loose.write_text(KEY)
        loose.chmod(0o644)
        short.write_text("short")
        short.chmod(0o600)
        (work / "key").write_text(KEY)
        (work / "key").chmod(0o600)
        (self.dir / "text").write_text("not an audit file\n")
        (self.dir / "elsewhere").symlink_to(self.dir / "target")
        env = {"WORKSPACE_ROOT": str(work), "SOCKET_PATH": str(self.dir / "s"), "SIDECAR_SANDBOX_WRITE": str(self.dir / "to-written") + ":" + str(self.dir / "more")}
        (self.dir / "written").mkdir()
        (self.dir / "to-written").symlink_to(self.dir / "written")
        private = pathlib.Path(tempfile.gettempdir(), "sidecar-tmp-" + self.dir.name[-6:])  # as that of a server is called
        private.mkdir()
        self.addCleanup(shutil.rmtree, private)
        cache = self.dir / "caches" / "cache-0123456789abcdef" / "sub"
        cache.mkdir(parents=True)
        git = ["git", "-C", str(self.dir / "main"), "-c", "user.name=n", "-c", "user.email=e@x"]
        (self.dir / "main").mkdir()
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "m"], check=True)
        subprocess.run([*git, "worktree", "add", "-q", str(self.dir / "tree")], check=True)
        env["SIDECAR_SANDBOX_WRITE"] += ":" + str(self.dir / "tree")
        env["SIDECAR_CACHE"] = str(self.dir / "caches")
        for flags, said in ((["--audit", str(work / "a")], "outside the workspace"),
                            (["--audit", str(work / "deep/a")], "outside the workspace"),
                            (["--audit", str(self.dir / "link/a")], "outside the workspace"),
                            (["--audit", str(self.dir / "more/a")], "can write"),
                            (["--audit", str(self.dir / "written/a")], "can write"),
                            (["--audit", str(cache / "a")], "can write"),
                            (["--audit", str(self.dir / "main/.git/objects/a")], "can write"),
                            (["--audit", "/dev/shm/sidecar-test-audit"], "can write"),
                            (["--audit", str(private / "a")], "can write"),
                            (["--audit", str(self.dir / "none/a")], "Cannot use"),
                            (["--audit", str(self.dir / "text")], "not an audit file"),
                            (["--audit", str(self.dir / "elsewhere")], "Cannot open"),
                            (["--audit", "/dev/null"], "must be a file"),
                            (["--audit", str(self.file), "--audit-key-file", str(work / "key")], "can write"),
                            (["--audit", str(self.file), "--audit-key-file", str(loose)], "chmod 600"),
                            (["--audit", str(self.file), "--audit-key-file", str(short)], "from 16"),
                            (["--audit-key-file", str(self.key)], "--audit")):
            status, stderr = run_expecting_failure(env, flags)
            self.assertEqual((status, said in stderr), (1, True), (flags, stderr))
        self.assertEqual(os.listdir(work / "deep"), [])
        self.serve()
        status, stderr = run_expecting_failure(env, ["--audit", str(self.file)])
        self.assertEqual((status, "Another sidecar" in stderr), (1, True), stderr)

    @needs_sandbox
    def test_commands_cannot_touch_it(self):
        server = self.serve(env={"SIDECAR_SANDBOX": "workspace"})
        server.call("bash", command="echo forged >> %s; rm -f %s; true" % (self.file, self.file))
        server.stop()
        self.assertEqual(self.verify().returncode, 0)

    @needs_namespaces
    def test_commands_do_not_see_the_key(self):
        server = self.serve(env={"SIDECAR_SANDBOX": "workspace"})
        server.call("bash", command="cat %s > copy; true" % self.key)
        self.assertEqual(server.get("copy"), b"")

    def test_mcp(self):
        client = Stdio("--audit", str(self.file), "--audit-key-file", str(self.key), results="text")
        self.addCleanup(client.close)
        client.send(initialize(0))
        client.answer(0)
        client.call("write_file", path="a", content="x")
        client.close()
        got = self.lines()
        self.assertEqual([line["type"] for line in got], ["audit.start", "call.start", "call.end", "audit.stop"])
        self.assertEqual((got[1]["front"], got[1]["client"]), ("mcp", "test"))
        self.assertEqual(self.verify().returncode, 0)


if __name__ == "__main__":
    unittest.main()
