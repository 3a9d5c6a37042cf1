# SPDX-License-Identifier: MIT
"""The history belongs to the workspace: several programs write it at once, and it outlives all of them."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from harness import BIN, PATIENCE, Sidecar, environment, is_sanitized, listens, needs_two_users, until
from mcp_client import Stdio
from test_changes import send, tree
from test_events import Watcher


class HistoryTest(unittest.TestCase):
    maxDiff = None

    def serve(self, like=None, **options):
        """One more server on the same workspace as another one."""
        env = dict(options.pop("env", {}))
        if like:
            options["workspace"] = like.workspace
            env["XDG_STATE_HOME"] = like.env["XDG_STATE_HOME"]
        server = Sidecar(env=env, **options)
        self.addCleanup(server.close)
        return server

    def write(self, server, path, content):
        answer = send(server, "POST", "/write", {"path": path, "content": content})
        self.assertEqual(answer.status, 200, answer.body)
        return int(answer.headers["sidecar-change"])

    def changes(self, server):
        return send(server, "GET", "/changes?limit=1000").json()["result"]["changes"]

    def home(self, server):
        return next(pathlib.Path(server.env["XDG_STATE_HOME"], "sidecar").iterdir())


class WritersTest(HistoryTest):
    def test_all_show_what_each_of_them_did(self):
        one = self.serve()
        two = self.serve(one)
        ids = [self.write(one if i % 2 else two, "f%d" % i, str(i)) for i in range(10)]
        self.assertEqual(ids, list(range(1, 11)))
        for server in one, two:
            self.assertEqual([(c["id"], c["undoable"]) for c in self.changes(server)], [(i, True) for i in ids])
        # What one of them did another one undoes; all of them show that.
        undone = send(two, "POST", "/changes/4/undo", {}).json()["result"]
        self.assertEqual(undone["removed"], ["f3"])
        self.assertFalse(os.path.exists(os.path.join(one.workspace, "f3")))
        self.assertEqual([c["undone_by"] for c in self.changes(one) if c["id"] == 4], [undone["change"]])
        answer = send(one, "POST", "/changes/4/undo", {})
        self.assertEqual((answer.status, answer.json()["code"]), (409, "CONFLICT"))

    def test_nobody_takes_over_the_segment_of_a_program_that_runs(self):
        one = self.serve()
        self.write(one, "a", "1")
        own = sorted(path.name for path in self.home(one).glob("*-*.log"))
        self.assertEqual(len(own), 1)
        two = self.serve(one)
        self.write(two, "b", "2")
        self.changes(two)
        send(two, "POST", "/changes/1/undo", {})
        left = sorted(path.name for path in self.home(one).glob("*-*.log"))
        self.assertEqual([name for name in left if name in own], own)
        # A third one appends to a segment of its own, too.
        self.write(self.serve(one), "c", "3")
        self.assertEqual(len(list(self.home(one).glob("*-*.log"))), 3)
        self.write(one, "d", "4")
        self.assertEqual([c["id"] for c in self.changes(two)], [1, 2, 3, 4, 5])

    def test_who_watches_one_sees_the_changes_of_all(self):
        one = self.serve()
        two = self.serve(one)
        self.write(two, "before", "1")  # nobody watches yet
        for lines in False, True:
            watcher = Watcher(one, lines=lines)
            self.addCleanup(watcher.close)
            number = self.write(two, "a", "%s\n" % lines)

            def seen(number, watcher=watcher):
                return [e for e in watcher.until(lambda e: e.get("change") == number) if e["type"] == "change"][-1]
            event = seen(number)
            self.assertNotIn("call", event)
            self.assertEqual((event["count"], [f["path"] for f in event["files"]]), (1, ["a"]))
            undone = send(two, "POST", "/changes/%d/undo" % number, {}).json()["result"]["change"]
            self.assertEqual([f["path"] for f in seen(undone)["files"]], ["a"])
            # A change of its own is told once, with its call.
            own = self.write(one, "own", str(lines))
            last = self.write(two, "last", str(lines))
            events = watcher.until(lambda e, last=last: e.get("change") == last)
            told = [e for e in events if e["type"] == "change" and e["change"] == own]
            self.assertEqual([bool(e["call"]) for e in told], [True])

    def test_what_a_session_has_read_is_stale_after_an_undo_elsewhere(self):
        one = self.serve(env={"SIDECAR_READ_BEFORE_WRITE": "on"})
        two = self.serve(one)
        self.write(two, "a", "first\n")
        number = self.write(two, "a", "second\n")
        self.assertEqual(send(one, "POST", "/read", {"path": "a"}).status, 200)
        self.assertEqual(send(two, "POST", "/changes/%d/undo" % number, {}).status, 200)
        answer = send(one, "POST", "/write", {"path": "a", "content": "third\n"})
        self.assertNotEqual(answer.status, 200, answer.body)
        self.assertEqual(pathlib.Path(one.workspace, "a").read_text(encoding="ascii"), "first\n")
        self.assertEqual(send(one, "POST", "/read", {"path": "a"}).status, 200)
        self.write(one, "a", "third\n")

    def test_a_copy_that_another_program_has_made_is_found(self):
        """One looks for what the other has kept of a file with two names; and for what that keeps later."""
        one = self.serve()
        two = self.serve(one)
        for name in "ab":
            os.link(one.put(name, name), one.path("of-" + name))
            removed = send(one, "POST", "/tools/run_command", {"command": "rm " + name}).json()["changes"]["id"]
            written = send(one, "POST", "/tools/run_command", {"command": "echo more > of-" + name}).json()["changes"]["id"]
            undone = send(two, "POST", "/changes/undo", {"ids": [removed, written]})
            self.assertEqual(undone.status, 200, undone.body)
            self.assertEqual((one.get(name), one.get("of-" + name)), (name.encode(), name.encode()))

    def edit_at_once(self, *servers):
        """Two servers edit one file, which each knows by a path of its own."""
        count = 40
        (one, path), _ = servers
        one.put(path, "".join("a%d\nb%d\n" % (i, i) for i in range(count)))
        failed = []

        def edit(server, path, letter):
            for i in range(count):
                answer = send(server, "POST", "/edit", {"path": path, "oldText": "%s%d\n" % (letter, i),
                                                        "newText": "%s%d done\n" % (letter, i)})
                if answer.status != 200:
                    failed.append(answer.body)
        threads = [threading.Thread(target=edit, args=(*pair, letter)) for pair, letter in zip(servers, "ab")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        lines = pathlib.Path(one.workspace, path).read_text(encoding="ascii").splitlines()
        self.assertEqual([line for line in lines if not line.endswith(" done")], [])

    def test_edits_of_one_file_are_made_one_after_the_other(self):
        one = self.serve()
        self.edit_at_once((one, "list"), (self.serve(one), "list"))

    def test_also_of_workspaces_that_lie_in_each_other(self):
        one = self.serve()
        one.put("d/list", "")
        self.edit_at_once((one, "d/list"), (self.serve(workspace=os.path.join(one.workspace, "d")), "list"))

    def test_also_without_a_journal_or_with_another_one(self):
        for flags in ("off", "off"), ("off", "auto"), ("auto", "auto"):
            with self.subTest(flags):
                one = self.serve(flags=["--journal", flags[0]])
                self.edit_at_once((one, "list"), (self.serve(workspace=one.workspace, flags=["--journal", flags[1]]), "list"))

    def test_who_holds_a_lock_is_named(self):
        server = self.serve()
        self.write(server, "a", "1")
        script = """if True:
            import fcntl, os, signal, struct, sys
            fd = os.open(sys.argv[1], os.O_RDWR)
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            print("locked", flush=True)
            os.kill(os.getpid(), signal.SIGSTOP)"""
        with subprocess.Popen([sys.executable, "-c", script, str(self.home(server) / "turns")],
                              stdout=subprocess.PIPE) as holder:
            try:
                holder.stdout.readline()
                until(lambda: pathlib.Path("/proc/%d/stat" % holder.pid).read_text(encoding="ascii").split(")")[1].split()[0]
                      == "T", "it is stopped")
                answer = send(server, "POST", "/write", {"path": "a", "content": "2"})
                self.assertEqual(answer.json()["code"], "TOO_BUSY")
                self.assertIn("pid %d (python" % holder.pid, answer.json()["error"])
                self.assertIn("which is stopped", answer.json()["error"])
                # Reading and listing wait for nobody.
                self.assertEqual(len(self.changes(server)), 1)
            finally:
                holder.kill()
        self.write(server, "a", "2")

    def test_who_holds_a_lock_of_another_workspace_is_named(self):
        with tempfile.TemporaryDirectory() as runtime:
            server = self.serve(env={"XDG_RUNTIME_DIR": runtime}, flags=["--journal", "off"])
            script = """if True:
                import fcntl, os, struct, sys
                fd = os.open(sys.argv[1], os.O_RDWR)
                fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, int(sys.argv[2]), int(sys.argv[3]), 0))
                print("locked", flush=True)
                sys.stdin.read()"""
            holders = []
            try:
                # Bystanders, who have other bytes of that file, and between them the holder.
                for byte, count in (0, 1), (1, 1 << 61), ((1 << 61) + 1, 1):
                    holders.append(subprocess.Popen(
                        [sys.executable, "-c", script, os.path.join(runtime, "sidecar", "turns"), str(byte), str(count)],
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE))
                    self.assertEqual(holders[-1].stdout.readline(), b"locked\n")
                answer = send(server, "POST", "/write", {"path": "a", "content": "2"})
                self.assertEqual(answer.json()["code"], "TOO_BUSY")
                self.assertIn("pid %d (python" % holders[1].pid, answer.json()["error"])
            finally:
                for holder in holders:
                    holder.communicate()
            self.assertEqual(send(server, "POST", "/write", {"path": "a", "content": "2"}).status, 200)
            server.close()

    def test_all_of_them_die(self):
        rounds = 3 if is_sanitized() else 12
        first = self.serve()
        for number in range(rounds):
            before = len(self.changes(first))
            servers = [self.serve(first), self.serve(first)]
            wrote = {}

            def work(server, name, wrote=wrote):
                for i in range(1000):
                    try:
                        wrote["%s-%d" % (name, i)] = self.write(server, "%s-%d" % (name, i), name)
                    except (OSError, AssertionError, ValueError, KeyError):
                        return  # it was killed
                    except Exception as e:  # the connection ended in the middle of an answer
                        if type(e).__module__ != "http.client":
                            raise
                        return
            threads = [threading.Thread(target=work, args=(s, "r%d-%d" % (number, i))) for i, s in enumerate(servers)]
            for thread in threads:
                thread.start()
            until(lambda wrote=wrote: len(wrote) > 20, "some are written")
            for server in servers:
                server.stop(signal.SIGKILL)
            for thread in threads:
                thread.join()
            changes = self.changes(first)
            ids = [c["id"] for c in changes]
            self.assertEqual(ids, sorted(set(ids)))
            self.assertLessEqual(set(wrote.values()), set(ids))
            # A call that was killed may be known although nobody was told.
            self.assertLessEqual(len(changes) - before, len(wrote) + len(servers))
        first.stop()
        first.start()
        self.assertEqual([c["id"] for c in self.changes(first)], ids)
        self.assertEqual({c["undoable"] for c in self.changes(first)}, {True})
        writers = list((self.home(first) / "writers").iterdir())
        self.assertEqual(len(writers), 1)

    def test_a_patch_of_a_killed_server_is_taken_back_by_another(self):
        one = self.serve()
        two = self.serve(one)
        self.write(two, "other", "x")
        names = ["f%d" % i for i in range(200)]
        for name in names:
            one.put(name, "old\n")
        patch = "*** Begin Patch\n%s*** End Patch\n" % "".join(
            "*** Update File: %s\n@@\n-old\n+new\n" % name for name in names)
        killed = False
        for delay in [0.005 * i for i in range(1, 12)]:
            thread = threading.Thread(target=lambda: self.assertIsNotNone(self.try_patch(one, patch)))
            thread.start()
            thread.join(delay)
            one.stop(signal.SIGKILL)
            thread.join()
            self.changes(two)  # it looks, and settles
            found = {pathlib.Path(one.workspace, name).read_text(encoding="ascii") for name in names}
            self.assertEqual(len(found), 1, "all old or all new")
            killed |= found == {"old\n"}
            for name in names:
                one.put(name, "old\n")
            one.start()
        self.assertTrue(killed)

    def test_a_patch_of_a_living_server_is_left_alone(self):
        one = self.serve()
        two = self.serve(one)
        names = ["f%d" % i for i in range(40)]
        for name in names:
            one.put(name, "0\n")
        over = threading.Event()

        def look():
            while not over.is_set():
                self.changes(two)
        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            for number in range(15):
                answer = send(one, "POST", "/patch", {"patch": "*** Begin Patch\n%s*** End Patch\n" % "".join(
                    "*** Update File: %s\n@@\n-%d\n+%d\n" % (name, number, number + 1) for name in names)})
                self.assertEqual(answer.status, 200, answer.body)
        finally:
            over.set()
            watcher.join()
        found = {pathlib.Path(one.workspace, name).read_text(encoding="ascii") for name in names}
        self.assertEqual(found, {"15\n"})
        self.assertEqual(len(self.changes(two)), 15)

    @staticmethod
    def try_patch(server, patch):
        try:
            return send(server, "POST", "/patch", {"patch": patch})
        except Exception:  # pylint: disable=broad-exception-caught
            return "killed"  # in the middle

    def test_a_job_of_another_program_is_open_until_it_ends(self):
        one = self.serve(env={"SIDECAR_OBSERVE": "on"})
        two = self.serve(one, env={"SIDECAR_OBSERVE": "on"})
        answer = send(one, "POST", "/tools/run_command", {"command": "echo 1 > a; sleep 1000", "background": True})
        self.assertEqual(answer.status, 200, answer.body)
        until(lambda: os.path.exists(os.path.join(one.workspace, "a")), "it has begun")
        until(lambda: [c.get("open") for c in self.changes(two)] == [True], "the other one shows it")
        later = self.write(two, "later", "1")
        for server in one, two:
            self.assertEqual([(c["id"], c.get("open", False)) for c in self.changes(server)], [(1, True), (later, False)])
            self.assertEqual(send(server, "GET", "/changes?limit=1").json()["result"]["older"], later)
        one.stop(signal.SIGKILL)
        # It is finished when its processes are gone, and not before.
        until(lambda: [c.get("open", False) for c in self.changes(two)] == [False, False], "it has ended")
        change = self.changes(two)[0]
        self.assertFalse(change["complete"])
        self.assertEqual(change["created"], 1)
        undone = send(two, "POST", "/changes/undo", {"ids": [change["id"], later]}).json()["result"]
        self.assertEqual((undone["complete"], sorted(undone["removed"])), (False, ["a", "later"]))
        self.assertEqual(os.listdir(one.workspace), [])


class PersonTest(unittest.TestCase):
    """A person at a terminal, beside the agent that `sidecar setup` has connected, and after it was closed."""

    def setUp(self):
        top = tempfile.TemporaryDirectory(prefix="sidecar-test-")
        self.addCleanup(top.cleanup)
        self.top = pathlib.Path(top.name)
        self.ws = self.top / "project"
        (self.ws / "src").mkdir(parents=True)
        for name in "ab":
            (self.ws / "src" / name).write_text(name, encoding="ascii")
        os.link(self.ws / "src/a", self.ws / "src/c")
        self.env = environment(XDG_STATE_HOME=str(self.top / "state"), XDG_RUNTIME_DIR=str(self.top), SIDECAR_OBSERVE="on",
                               XDG_CONFIG_HOME=str(self.top), SIDECAR_JOURNAL=str(self.top / "state"))

    def agent(self):
        agent = Stdio(env=self.env, cwd=self.ws, results="text")
        self.addCleanup(lambda: None if agent.process.returncode is not None else agent.close())
        agent.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                 "clientInfo": {"name": "t", "version": "1"}})
        return agent

    def sidecar(self, *words, cwd=None, status=0, stdin=""):
        done = subprocess.run([BIN, *words], env=self.env, cwd=cwd or self.ws, input=stdin, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_undo_beside_the_agent_and_after_it(self):
        def state():
            return {k: v for k, v in tree(self.ws).items() if k != "."}  # a start may touch the root
        before = state()
        agent = self.agent()
        agent.call("run_command", command="rm -rf src")
        self.assertFalse((self.ws / "src").exists())
        self.assertIn("rm -rf src", self.sidecar("changes"))
        self.sidecar("undo", "--yes")
        self.assertEqual(state(), before)
        # The agent shows it, and goes on.
        self.assertIn("undone by", str(agent.call("list_changes")))
        agent.call("run_command", command="rm -rf src; echo 1 > new")
        agent.close()
        self.sidecar("undo", "--yes")
        self.assertEqual(state(), before)
        self.sidecar("redo", "--yes")
        self.assertEqual((self.ws / "new").read_text(encoding="ascii"), "1\n")
        self.sidecar("undo", "--yes", cwd=self.ws)
        self.assertEqual(sorted(state()), sorted(before))
        self.assertEqual([(self.ws / "src" / name).read_text(encoding="ascii") for name in "abc"], ["a", "b", "a"])

    def test_a_second_agent_has_undo_too(self):
        one, two = self.agent(), self.agent()
        one.call("run_command", command="echo 1 > one")
        two.call("run_command", command="echo 2 > two; rm src/b")
        self.assertIn("(undone by", str((two.call("undo_change", id=1), one.call("list_changes"))))
        one.call("undo_change", id=2)
        self.assertEqual(sorted(os.listdir(self.ws)), ["src"])
        self.assertTrue((self.ws / "src/b").exists())

    def test_the_right_workspace_or_none(self):
        other = self.top / "project2"  # which begins like the other one
        other.mkdir()
        server = subprocess.Popen([BIN, "serve", str(self.ws), "--socket", str(self.top / "s")], env=self.env,
                                  stderr=subprocess.DEVNULL)
        try:
            until(lambda: str(self.ws) in self.sidecar("ps"), "it runs")
            self.assertIn(str(self.ws), self.sidecar("run", "pwd", cwd=self.ws / "src"))
            said = self.sidecar("run", "touch here", cwd=other, status=3)
            self.assertIn("No sidecar serves %s" % other, said)
            self.assertIn("%s (pid %d)" % (self.ws, server.pid), said)
            self.assertIn("src", self.sidecar("ls", "--workspace", str(self.ws), cwd=other))
            self.assertFalse((self.ws / "here").exists() or (other / "here").exists())
        finally:
            server.terminate()
            server.wait()

    def test_a_mistyped_workspace_is_not_made_without_asking(self):
        missing = self.top / "projekt"
        words = [BIN, "serve", str(missing), "--socket", str(self.top / "s")]
        done = subprocess.run(words, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("No such file", done.stderr)
        self.assertFalse(missing.exists())
        for answer in b"n\n", b"y\n":
            ours, its = os.openpty()
            with subprocess.Popen(words, env=self.env, stdin=its, stderr=its, start_new_session=True) as server:
                os.close(its)
                seen = b""
                while b"[y/N]" not in seen:
                    seen += os.read(ours, 1000)
                self.assertIn(b"There is no %s. Make this directory?" % str(missing).encode(), seen)
                self.assertFalse(missing.exists())
                os.write(ours, answer)
                if answer == b"n\n":
                    self.assertEqual(server.wait(PATIENCE), 1)
                    self.assertFalse(missing.exists())
                else:
                    until(missing.is_dir, "it is made")
                    server.terminate()
            os.close(ours)

    def test_all_programs_are_killed_and_everything_can_be_undone(self):
        """Two agents, a server and the command line; each of them dies once, in the middle."""
        calls = int(os.environ.get("CALLS", "100"))
        for i in range(10):
            (self.ws / ("f%d" % i)).write_text("0\n", encoding="ascii")

        def state():
            return {k: v for k, v in tree(self.ws).items() if k != "."}
        before, told, rng = state(), [], random.Random(26)
        server = self.server_on("s0")
        agents = [self.agent(), self.agent()]
        deaths = {calls * (i + 1) // 4: i for i in range(3)}
        for number in range(calls):
            if number in deaths:
                who = deaths[number]
                command = "echo > g%d; sleep 1000" % number
                if who == 2:
                    with subprocess.Popen([BIN, "run", "--socket", self.socket, command], env=self.env, cwd=self.ws,
                                          stderr=subprocess.DEVNULL):
                        self.kill(server, number)
                    server = self.server_on("s1")
                else:
                    agents[who].call("run_command", command=command, background=True)
                    self.kill(agents[who].process, number)
                    agents[who] = self.agent()
            kind, name = rng.randrange(5), "f%d" % rng.randrange(10)
            if kind == 0:
                self.sidecar("write", name, "--socket", self.socket, stdin="%d\n" % number)
            elif kind == 1:
                command = "echo %d >> %s; mkdir -p d; echo > d/n%d" % (number, name, number)
                said = agents[number % 2].call("run_command", command=command)
                told.append(int(re.search("undo_change id=([0-9]+)", str(said))[1]))
            elif kind == 2:
                agents[number % 2].call("run_command", command="ln -f %s link; chmod 600 %s" % (name, name))
            elif kind == 3:
                self.sidecar("run", "--socket", self.socket, "mv %s t && cp -p t %s && rm t" % (name, name))
            else:
                listed = json.loads(self.sidecar("changes", "--json", "--limit", "1").splitlines()[0])["changes"]
                if listed and listed[0]["tool"] != "undo" and not listed[0].get("open"):
                    told.append(listed[0]["id"])
                    self.sidecar("undo", "--yes", str(listed[0]["id"]))
        for process in (server, *(agent.process for agent in agents)):
            process.kill()
            process.wait()
        until(lambda: not any(c.get("open") for c in self.all_changes()), "the commands of the dead have ended")
        changes = self.all_changes()
        ids = [c["id"] for c in changes]  # what came to nothing has used a number as well
        self.assertEqual(ids, sorted(set(ids)))
        self.assertLessEqual(set(told), set(ids))
        self.assertEqual(sum(not c["complete"] for c in changes), 3)
        for change in reversed(changes):
            if not change["undone_by"] and change["tool"] != "undo":
                self.sidecar("undo", "--yes", str(change["id"]))
        self.assertEqual(state(), before)

    def server_on(self, name):
        self.socket = str(self.top / name)
        server = subprocess.Popen([BIN, "serve", str(self.ws), "--socket", self.socket, "--sandbox", "off"], env=self.env,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (server.kill(), server.wait()))
        until(lambda: listens(self.socket), "it listens")
        return server

    def all_changes(self):
        found, last = [], None
        while last is None or last.get("older"):
            before = ["--before", str(last["older"])] if last else []
            said = self.sidecar("changes", "--json", "--limit", "100", *before)
            last = json.loads(said.splitlines()[0])  # it may say that it has settled something
            found = last["changes"] + found
        return found

    def kill(self, process, number):
        until((self.ws / ("g%d" % number)).exists, "its command has begun")
        process.kill()
        process.wait()

    @needs_two_users
    def test_where_each_user_s_history_lies(self):
        """Another user cannot use that of root, and has its own; what it could not read is said not to be kept."""
        (self.ws / "secret").write_text("root's", encoding="ascii")
        os.chmod(self.ws / "secret", 0o600)
        os.chmod(self.ws, 0o777)
        os.chmod(self.top, 0o755)
        home = self.top / "home"
        home.mkdir()
        os.chown(home, 65534, 65534)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        env = environment(HOME=str(home), XDG_RUNTIME_DIR=str(home), SIDECAR_OBSERVE="on")
        env.pop("XDG_STATE_HOME", None)
        for prefix, command in ([], "echo > of-root"), (nobody, "rm -f secret"):
            with subprocess.Popen([*prefix, BIN, "serve", str(self.ws), "--socket", str(home / "s")], env=env,
                                  stderr=subprocess.DEVNULL) as server:
                try:
                    until(lambda: listens(home / "s"), "it listens")
                    subprocess.run([*prefix, BIN, "run", "--socket", str(home / "s"), command], env=env, check=True)
                finally:
                    server.terminate()
            said = subprocess.run([*prefix, BIN, "journals", "--json"], env=env, capture_output=True, check=True).stdout
            places = [os.path.dirname(j["directory"]) for j in json.loads(said)["journals"] if j["workspace"] == str(self.ws)]
            self.assertEqual(places, [str(home / ".local/state/sidecar") if prefix else "/var/lib/sidecar"])
            said = subprocess.run([*prefix, BIN, "changes", "--json"], cwd=self.ws, env=env, capture_output=True,
                                  check=True).stdout
            self.assertEqual([c["undoable"] for c in json.loads(said)["changes"]], [not prefix])
            subprocess.run([*prefix, BIN, "journals", "rm", "--yes", str(self.ws)], env=env, capture_output=True, check=True)

    @needs_two_users
    def test_servers_at_the_usual_socket(self):
        """As another user, whose usual socket is in its own directory."""
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        other = self.top / "elsewhere"
        other.mkdir()
        for path in (self.top, self.ws, other):
            os.chown(path, 65534, 65534)
        servers = []

        def serve(where):
            servers.append(subprocess.Popen([*prefix, BIN, "serve", str(where)], env=self.env, stderr=subprocess.PIPE, text=True))
            return servers[-1]

        def sidecar(*words, cwd):
            return subprocess.run([*prefix, BIN, *words], env=self.env, cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                                  capture_output=True, check=False).stdout
        try:
            first = serve(self.ws)
            until(lambda: str(self.ws) in sidecar("ps", cwd=other), "the first runs")
            # The same workspace again is an error that says who has it.
            again = serve(self.ws)
            self.assertEqual(again.wait(PATIENCE), 1)
            self.assertIn("serves %s already: pid %d, on %s" % (self.ws, first.pid, self.top), again.stderr.read())
            # Another workspace gets a socket of its own, by which its commands find it.
            serve(other)
            until(lambda: str(other) in sidecar("ps", cwd=other), "the second runs")
            for place in (self.ws, other):
                self.assertIn('"workspace":"%s"' % place, sidecar("health", "--json", cwd=place))
        finally:
            for server in servers:
                server.terminate()
                server.wait()
                server.stderr.close()

    def test_lists_are_whole_and_can_be_narrowed(self):
        agent = self.agent()
        for i in range(5):
            agent.call("write_file", path="d%d/f" % (i % 2), content=str(i))
        agent.close()
        self.assertIn("2 of 5 changes; older ones: --before 4", self.sidecar("changes", "--limit", "2"))
        listed = json.loads(self.sidecar("changes", "--json", "--limit", "2", "--before", "4"))
        self.assertEqual(([c["id"] for c in listed["changes"]], listed["total"], listed["older"], listed["more"]),
                         ([2, 3], 5, 2, True))
        self.assertEqual([c["id"] for c in json.loads(self.sidecar("changes", "--json", "--path", "d1"))["changes"]], [2, 4])
        self.assertEqual(json.loads(self.sidecar("changes", "--json", "--tool", "edit_file"))["total"], 0)
        self.assertEqual(len(json.loads(self.sidecar("changes", "--json", "--since", "1h"))["changes"]), 5)
        self.sidecar("undo", "5", "4")
        self.assertEqual((self.ws / "d1/f").read_text(encoding="ascii"), "1")
        self.assertIn("not the number", self.sidecar("changes", "abc", status=2))

    def test_an_undo_says_how_many_paths_it_has(self):
        count = 2020
        agent = self.agent()
        agent.call("run_command", command="mkdir d; for i in $(seq %d); do : > d/$i; done" % count)
        said = self.sidecar("undo", "--dry-run")
        self.assertIn("… and %d more\n" % (count + 1 - 1000), said)
        done = json.loads(self.sidecar("undo", "--json", "--yes", "1").splitlines()[0])
        self.assertEqual([done[k] for k in ("removed_count", "restored_count", "renamed_count", "conflict_count")],
                         [count + 1, 0, 0, 0])
        self.assertEqual(len(done["removed"]), 1000)
        self.assertIn("undone (%d paths); to do it again" % (count + 1), self.sidecar("redo", "--yes"))

    def test_journals(self):
        agent = self.agent()
        agent.call("write_file", path="a", content="1")
        self.assertIn("(in use)", self.sidecar("journals"))
        self.assertIn("is in use", self.sidecar("journals", "rm", "--yes", ".", status=1))
        agent.close()
        def listed():
            found = json.loads(self.sidecar("journals", "--json"))["journals"]
            return [(j["changes"], j["gone"], j["used"]) for j in found if j["workspace"] == str(self.ws)]
        self.assertEqual(listed(), [(1, False, False)])
        self.assertIn("1 removed", self.sidecar("journals", "rm", "--yes", "."))
        self.assertEqual(listed(), [])
        self.assertIn("no changes of it are kept", self.sidecar("undo", status=3))
        self.assertIn("with SIDECAR_JOURNAL the directory", self.sidecar("undo", status=3))


class KeptTest(HistoryTest):
    def test_a_change_that_does_not_fit_keeps_nothing_and_costs_nothing(self):
        server = self.serve(flags=["--undo-bytes", "1M"], env={"SIDECAR_OBSERVE": "on"})
        first = self.write(server, "first", "old")
        second = self.write(server, "first", "new")
        for i in range(120):
            server.put("d/f%d" % i, "%d " % i * 10000)
        command = "for f in d/*; do echo more >> $f; done"
        answer = send(server, "POST", "/tools/run_command", {"command": command})
        self.assertEqual(answer.status, 200, answer.body)
        listed = {c["id"]: c for c in self.changes(server)}
        self.assertEqual(len(listed), 3)
        last = listed[max(listed)]
        self.assertEqual((last["modified"], last["complete"], last["undoable"]), (120, True, False))
        answer = send(server, "POST", "/changes/%d/undo" % last["id"], {})
        self.assertEqual(answer.json()["code"], "NOT_SAVED")
        # What was there before is there still.
        self.assertEqual([listed[i]["undoable"] for i in (first, second)], [True, True])
        send(server, "POST", "/changes/%d/undo" % second, {})
        self.assertEqual(pathlib.Path(server.workspace, "first").read_text(encoding="ascii"), "old")

    def test_what_a_receipt_offers_can_be_undone(self):
        for size, fits in (90000, True), (104700, False):
            with self.subTest(size):
                server = self.serve(flags=["--undo-bytes", "1M"], env={"SIDECAR_OBSERVE": "on"})
                earlier = [self.write(server, "old", str(i)) for i in range(5)]
                for i in range(10):
                    server.put("d/f%d" % i, ("%d" % i) * size)
                before = tree(os.path.join(server.workspace, "d"))
                command = "for f in d/*; do echo more >> $f; done"
                receipt = send(server, "POST", "/tools/run_command", {"command": command}).json()["changes"]
                self.assertEqual(all(path.get("saved", True) for path in receipt["paths"]), fits)
                listed = {c["id"]: c["undoable"] for c in self.changes(server)}
                self.assertEqual(listed, {**{i: True for i in earlier}, receipt["id"]: fits})
                answer = send(server, "POST", "/changes/%d/undo" % receipt["id"], {})
                self.assertEqual(answer.status, 200 if fits else 400, answer.body)
                self.assertEqual(tree(os.path.join(server.workspace, "d")) == before, fits)
                server.close()

    def test_what_is_not_kept_is_said_at_once(self):
        server = self.serve(flags=["--undo-max-file", "100K"], env={"SIDECAR_OBSERVE": "on"})
        for name in "ab":
            server.put(name, "x" * 150000)
            os.link(os.path.join(server.workspace, name), os.path.join(server.workspace, name + "2"))  # written in place

        def person(*words):
            done = subprocess.run([BIN, *words], env=server.env, stdin=subprocess.DEVNULL, text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr
        answer = send(server, "POST", "/write", {"path": "a", "content": "y" * 140000})
        self.assertEqual(answer.headers["sidecar-not-kept"], "1")
        self.assertNotIn("sidecar-not-kept", send(server, "POST", "/write", {"path": "c", "content": "new"}).headers)
        command = {"command": "echo more >> a; echo more >> b; echo > d"}
        last = json.loads(send(server, "POST", "/bash", command).body.splitlines()[-1])
        self.assertEqual((last["type"], last["notKept"]), ("done", 2))
        last = json.loads(send(server, "POST", "/bash", {"command": "echo >> d"}).body.splitlines()[-1])
        self.assertNotIn("notKept", last)
        said = "what 1 path of change %d had before is NOT kept and cannot be undone"
        self.assertIn(said % (last["change"] + 1), person("write", "a", "--content", "z"))
        self.assertIn(said % (last["change"] + 2), person("run", "echo >> b"))
        self.assertNotIn("NOT kept", person("run", "echo >> d"))

    def test_a_journal_that_cannot_be_written_is_said_to_fail(self):
        server = self.serve()
        self.assertNotIn("failing", server.request("GET", "/health").json()["journal"])
        shutil.rmtree(self.home(server))
        answer = send(server, "POST", "/write", {"path": "a", "content": "1"})
        self.assertEqual((answer.status, answer.headers.get("sidecar-change")), (200, None))
        self.assertIn("No such file", server.request("GET", "/health").json()["journal"]["failing"])
        self.assertIn(b"\nsidecar_journal_failing 1\n", server.request("GET", "/metrics").body)

    def test_what_is_removed_is_kept_whatever_its_size(self):
        with tempfile.TemporaryDirectory(dir=pathlib.Path.home()) as parent:
            ws = pathlib.Path(parent, "ws")
            ws.mkdir()
            server = self.serve(workspace=str(ws), flags=["--undo-bytes", "1M", "--undo-max-file", "100K"],
                                env={"SIDECAR_OBSERVE": "on", "XDG_STATE_HOME": os.path.join(parent, "state")})
            for i in range(6):
                server.put("d/big%d" % i, "%d" % i * (3 << 20))

            def state():
                return {k: v for k, v in tree(server.workspace).items() if k != "."}
            before = state()
            for url, body, counts in (
                    ("/tools/run_command", {"command": "rm d/big*"}, (0, 6)),
                    ("/remove", {"path": "d", "recursive": True}, (0, 7)),
                    ("/remove", {"path": "d/big1"}, (0, 1)),
                    ("/write", {"path": "d/big2", "content": "small"}, (1, 0))):
                with self.subTest((url, body)):
                    answer = send(server, "POST", url, body)
                    self.assertEqual(answer.status, 200, answer.body)
                    last = self.changes(server)[-1]
                    self.assertEqual((last["modified"], last["deleted"], last["undoable"]), (*counts, True))
                    self.assertEqual(send(server, "POST", "/changes/%d/undo" % last["id"], {}).status, 200)
                    self.assertEqual(state(), before)
            server.close()


if __name__ == "__main__":
    unittest.main()
