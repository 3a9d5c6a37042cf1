# SPDX-License-Identifier: MIT
"""What commands change is known and can be taken back: real programs, jobs, kills, crashes, in every strength of the sandbox."""
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from harness import Sidecar, SidecarTest, given_time, machine, needs_namespaces, needs_sandbox, needs_two_users, until
from test_changes import send, tree

PROGRAMS = pathlib.Path(__file__).parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]
ROUNDS = int(os.environ.get("OBSERVE_ROUNDS", "12"))

# Each of these is run in the tree of fill(), and must leave it as it was when it is undone.
COMMANDS = {
    "rm -rf": "rm -rf src docs link pipe",
    "python rewrites": "python3 -c \"import glob\nfor f in glob.glob('src/*.c'): open(f, 'w').write('gone')\"",
    "find -delete": "find . -name '*.c' -delete",
    "sed -i": "sed -i 's/int/long/' src/*.c",
    "mv over files": "mv src/0.c src/1.c; mv src/large docs/1.md; mv src/2.c new.c",
    "mv of directories": "mv src moved; echo more >> moved/0.c; rm moved/1.c; mkdir src; echo other > src/0.c",
    "ln -f": "ln -f src/0.c src/3.c; ln -sfn docs link; rm src/hard",
    "chmod -R": "chmod -R go-rwx . && chmod 700 docs/. && chmod a-w src/deep/..",
    "a child that stays": "setsid sh -c 'sleep 0.2; echo late > late; rm src/2.c' > /dev/null 2>&1 & exit 0",
    "make": "printf 'all: out/a out/b\\nout/%%:\\n\\tmkdir -p out; date > $@\\n' > Makefile; make -s; touch src/0.c; make -s",
    "an editor's save": "cp -p src/0.c .0.c.swp; echo new > src/.0.c.tmp; mv src/0.c src/0.c~; mv src/.0.c.tmp src/0.c; "
                        "rm src/0.c~ .0.c.swp",
    "in place": "python3 -c \"f = open('src/large', 'r+b'); f.seek(100); f.write(b'x' * 50)\"; truncate -s 3 src/1.c; "
                "echo more >> src/hard",
    "through links": "echo x > way/0.c; echo y > /proc/self/cwd/src/1.c; cd src/deep; echo z > ../../docs/1.md; rm -r ../../docs",
    "through a process": "cd src; echo y > /proc/$$/cwd/1.c; echo z > /proc/self/task/../cwd/2.c; ln -s /proc/self l; echo z > l/cwd/3.c; rm l; "
                         "exec 9< deep; echo x > /proc/./$$/fd/9/new; rm /proc/self//task/$$/cwd/4.c; exec 8< 5.c; echo w > /proc/./self/fd/8",
    "times and attributes": "touch -d 2001-02-03 src/1.c src; chmod 600 src/2.c; setfattr -n user.x -v y src/0.c 2> /dev/null; true",
    "the same size and time": "printf X 1<> src/0.c; touch -r src/1.c src/0.c",
    # The new link has the number of the old one, where that is free at once.
    "another link": "rm link; ln -s nowhere link",
    "special files": "rm pipe link; mkfifo src/other; mkdir pipe; ln -s nowhere link; python3 -c \"import socket\n"
                     "socket.socket(socket.AF_UNIX).bind('socket')\"",
    "exchange": "python3 -c \"import ctypes\n"
                "ctypes.CDLL(None).renameat2(-100, b'src', -100, b'docs', 2)\"; echo x > docs/0.c; rm src/1.md",
    "without a name": "python3 -c \"import os\nfd = os.open('.', os.O_TMPFILE | os.O_WRONLY); os.write(fd, b'x')\n"
                      "os.link('/proc/self/fd/%d' % fd, 'linked', follow_symlinks=True)\"; rm src/0.c",
    "tar": "tar cf - src | (mkdir t && cd t && tar xf -); rm -r src; tar cf all.tar docs; rm -r docs; tar xf all.tar",
    "killed": "rm -r docs; echo half > src/0.c; kill -9 $$",
}


def fill(root):
    """A tree without git, with everything that undo has to keep."""
    root = pathlib.Path(root)
    for name in ("src/deep/er", "docs", "empty"):
        (root / name).mkdir(parents=True)
    for i in range(6):
        (root / ("src/%d.c" % i)).write_text("int f%d(void);\n" % i * 20)
        (root / ("docs/%d.md" % i)).write_text("# %d\n" % i)
        (root / ("src/deep/er/%d.h" % i)).write_text("deep %d\n" % i)
    (root / "src/large").write_bytes(random.Random(1).randbytes(100000))
    os.link(root / "src/4.c", root / "src/hard")
    os.symlink("src/0.c", root / "link")
    os.symlink("src", root / "way")
    os.mkfifo(root / "pipe")
    os.chmod(root / "src/1.c", 0o751)
    os.setxattr(root / "src/2.c", "user.mark", b"kept")
    for path in sorted(root.rglob("*"), reverse=True):
        os.utime(path, ns=(1, 1234567890123456789), follow_symlinks=False)


def differences(found, wanted):
    """The paths whose states differ, with both."""
    return {name: (found.get(name), wanted.get(name)) for name in {**found, **wanted}
            if found.get(name) != wanted.get(name)}


def run(server, command, **more):
    return send(server, "POST", "/tools/run_command", {"command": command, **more}).json()


def settled(server):
    """All changes, once none is open."""
    def closed():
        changes = send(server, "GET", "/changes?limit=1000&since=0").json()["result"]["changes"]
        return None if any(c["open"] for c in changes) else [changes]
    return until(closed, "every change ends")[0]


needs_listener = unittest.skipUnless(machine.listener(), "system calls cannot be passed on here")


@needs_listener
class CommandsTest(SidecarTest):
    """Whatever a command did, undo restores the tree, and redo does it again."""

    maxDiff = None
    env = {"SIDECAR_SANDBOX": "off"}
    prefix = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Sidecar(env=cls.env, prefix=cls.prefix)

    def setUp(self):
        # A command may have left directories that only root could empty.
        subprocess.run(["chmod", "-R", "u+rwX", self.server.workspace], check=True)
        for path in pathlib.Path(self.server.workspace).iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        fill(self.server.workspace)
        self.last = max([c["id"] for c in settled(self.server)], default=0)

    def undo(self, first):
        answer = send(self.server, "POST", "/changes/undo", {"since": first})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["result"]["change"]

    def check(self, command):
        root = self.server.workspace
        before = tree(root)
        done = run(self.server, command)
        self.assertTrue(done["success"], done)
        until(lambda: not any(job["state"] == "running" for job in
                              send(self.server, "POST", "/tools/job_list", {}).json()["output"]["jobs"]), "what it left ends")
        change, = [c for c in settled(self.server) if c["id"] > self.last]
        self.assertTrue(change["complete"] and change["undoable"], change)
        after = tree(root)
        self.assertNotEqual(after, before)
        redo = self.undo(change["id"])
        self.assertEqual(differences(tree(root), before), {})
        self.undo(redo)
        self.assertEqual(differences(self.counted(tree(root)), self.counted(after)), {})
        self.last = max(c["id"] for c in settled(self.server))

    @staticmethod
    def counted(found):
        """Without the number of names, which a redo need not restore."""
        return {name: line[:4] + line[5:] if len(line) == 7 else line for name, line in found.items()}

    def test_every_command_is_taken_back(self):
        for name, command in COMMANDS.items():
            with self.subTest(name):
                self.setUp()
                self.check(command)

    def test_git_clean(self):
        subprocess.run("git init -q . && git add docs && git -c user.name=n -c user.email=e commit -qm x && "
                       "echo src > .gitignore && echo y >> docs/1.md", shell=True, cwd=self.server.workspace, check=True)
        self.check("git clean -fdxq; git checkout -q .")

    def test_sqlite(self):
        base = sqlite3.connect(os.path.join(self.server.workspace, "data.db"))
        base.execute("create table t(x)")
        base.executemany("insert into t values(?)", [("x" * 100,)] * 1000)
        base.commit()
        base.close()
        self.check("python3 -c \"import sqlite3\nb = sqlite3.connect('data.db')\n"
                   "b.execute('delete from t where rowid % 3'); b.execute('create table u(y)'); b.commit()\"")

    @unittest.skipUnless(machine.tool("npm"), "npm is not installed")
    def test_npm_install(self):
        root = pathlib.Path(self.server.workspace)
        for folder, name in (("pack", "small"), (".", "app")):
            (root / folder).mkdir(exist_ok=True)
            (root / folder / "package.json").write_text(json.dumps({"name": name, "version": "1.0.0"}))
        (root / "pack/index.js").write_text("module.exports = 1\n")
        subprocess.run(["npm", "pack", "--silent"], cwd=root / "pack", check=True, capture_output=True)
        self.check("npm install --offline --no-audit --no-fund --silent --cache .npm ./pack/small-1.0.0.tgz")

    def test_what_another_process_writes_stays(self):
        root = pathlib.Path(self.server.workspace)
        before = tree(root)
        done = run(self.server, "rm src/0.c; echo made > made; sleep 0.3", background=True)
        until(lambda: (root / "made").exists(), "the command has begun")
        (root / "docs/other").write_text("by another")
        os.utime(root / "docs", ns=(1, 1234567890123456789))
        settled(self.server)
        self.assertTrue(done["success"])
        self.undo(self.last + 1)
        after = tree(root)
        self.assertEqual(after.pop("docs/other")[3], hashlib.sha256(b"by another").hexdigest())
        self.assertEqual(differences(after, before), {})

    def test_a_conflict_is_named(self):
        root = pathlib.Path(self.server.workspace)
        done = run(self.server, "echo one > src/0.c; rm src/1.c; echo new > made")
        (root / "src/0.c").write_text("by another")
        before = tree(root)
        answer = send(self.server, "POST", "/changes/%d/undo" % done["changes"]["id"], {})
        self.assertEqual((answer.status, answer.json()["code"]), (409, "CONFLICT"))
        self.assertEqual([c["path"] for c in answer.json()["conflicts"]], ["src/0.c"])
        self.assertEqual(differences(tree(root), before), {})

    def test_models_are_told(self):
        done = run(self.server, "rm src/0.c; echo x > made; mv docs/1.md docs/9.md; echo x >> src/1.c")
        changes = done["changes"]
        self.assertEqual([changes[k] for k in ("created", "modified", "deleted", "renamed")], [1, 1, 1, 1], changes)
        self.assertEqual(sorted((p["kind"], p["path"]) for p in changes["paths"]),
                         [("created", "made"), ("deleted", "src/0.c"), ("modified", "src/1.c"), ("renamed", "docs/9.md")])
        self.assertNotIn("changes", run(self.server, "cat src/1.c; grep -r int . > /dev/null; echo x > n; rm n"))
        one = send(self.server, "GET", "/changes/%d" % changes["id"]).json()["result"]
        self.assertEqual((one["tool"], one["open"]), ("run_command", False))
        self.assertEqual({p["path"]: p["saved"] for p in one["paths"]},
                         {"src/0.c": True, "made": True, "docs/9.md": True, "src/1.c": True})

    def test_a_job_keeps_its_change_open(self):
        root = pathlib.Path(self.server.workspace)
        done = run(self.server, "rm src/0.c; while [ ! -e stop ]; do sleep 0.05; done; rm src/1.c", background=True)
        until(lambda: not (root / "src/0.c").exists(), "the job has begun")
        change = send(self.server, "GET", "/changes").json()["result"]["changes"][-1]
        self.assertTrue(change["open"] and not change["undoable"], change)
        answer = send(self.server, "POST", "/changes/%d/undo" % change["id"], {})
        self.assertEqual((answer.status, answer.json()["code"]), (409, "CONFLICT"))
        (root / "stop").write_text("")
        after, = [c for c in settled(self.server) if c["id"] == change["id"]]
        self.assertEqual((after["deleted"], after["tool"]), (2, "run_command"))
        self.assertTrue(done["success"])

    def test_a_change_that_ends_is_always_listed(self):
        """Who lists the changes while commands end sees each of them, open or over, from its beginning on."""
        seen, lost, over = set(), [], threading.Event()

        def look():
            while not over.is_set():
                before = set(seen)
                answer = send(self.server, "GET", "/changes?limit=1000&since=%d" % self.last)
                listed = {c["id"] for c in answer.json()["result"]["changes"]}
                lost.extend(before - listed)
                seen.update(listed)

        threads = [threading.Thread(target=look) for _ in range(2)]
        for thread in threads:
            thread.start()
        for i in range(60):
            run(self.server, "echo x > made%d" % i)
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(lost, [])

    def test_what_a_timeout_ended_is_a_change(self):
        before = tree(self.server.workspace)
        script = "rm -r docs; trap 'echo bye > src/0.c' TERM; sleep 30 & wait; sleep 30"
        done = given_time(lambda done: "changes" in done, lambda ms: run(self.server, script, timeout_ms=ms))
        self.assertTrue(done["output"]["timed_out"], done)
        self.undo(done["changes"]["id"])
        self.assertEqual(differences(tree(self.server.workspace), before), {})

    def test_many_at_once(self):
        before = tree(self.server.workspace)

        def work(n):
            run(self.server, "mkdir w%d; for i in $(seq 30); do echo $i > w%d/$i; done; rm w%d/1*" % (n, n, n))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        made = [c for c in settled(self.server) if c["id"] > self.last]
        self.assertEqual([c["created"] for c in made], [20] * 8)
        self.undo(self.last + 1)
        found = tree(self.server.workspace)
        self.assertEqual(found.pop(".")[:2], before.pop(".")[:2])  # each saw the time that another one had left
        self.assertEqual(differences(found, before), {})


@needs_sandbox
class FloorTest(CommandsTest):
    """The same in a sandbox without namespaces."""

    env = {"SIDECAR_SANDBOX": "workspace"}
    prefix = FLOOR


@needs_namespaces
class NamespacesTest(CommandsTest):
    """The same in a sandbox with namespaces."""

    env = {"SIDECAR_SANDBOX": "workspace"}


@needs_listener
class ReachTest(unittest.TestCase):
    """Which commands are observed, and what is said of it."""

    def start(self, *flags, **options):
        server = Sidecar(flags=flags, **options)
        self.addCleanup(server.close)
        fill(server.workspace)
        return server

    def bash(self, server):
        send(server, "POST", "/bash", {"command": "rm src/0.c"})
        return len(settled(server))

    def observed(self, server):
        return send(server, "GET", "/health").json()["observed"]

    def test_without_a_sandbox_those_of_models_and_of_root(self):
        server = self.start("--sandbox", "off")
        root = os.geteuid() == 0
        self.assertEqual(self.observed(server), {"commands": "all" if root else "models"})
        self.assertEqual(self.bash(server), int(root))
        self.assertIn("changes", run(server, "rm src/1.c"))

    @needs_two_users
    def test_root_loses_nothing(self):
        """Without CAP_SYS_ADMIN, as in most containers, an observed command cannot gain privileges, and root needs none."""
        server = self.start("--sandbox", "off", prefix=["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"])
        self.assertEqual(self.observed(server), {"commands": "all"})
        body = send(server, "POST", "/bash", {"command": "setpriv --reuid 65534 --clear-groups id -u; grep NoNewPrivs: /proc/self/status"}).body
        self.assertIn(b"65534", body)
        self.assertIn(b'"exitCode":0', body)

    @needs_two_users
    def test_another_user_without_a_sandbox(self):
        top = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, top, True)
        for name in ("ws", "state"):
            os.mkdir(os.path.join(top, name))
            os.chown(os.path.join(top, name), 65534, 65534)
        os.chown(top, 65534, 65534)
        server = Sidecar(flags=["--sandbox", "off"], workspace=os.path.join(top, "ws"),
                         env={"SOCKET_PATH": os.path.join(top, "s"), "XDG_STATE_HOME": os.path.join(top, "state"), "XDG_CONFIG_HOME": top},
                         prefix=["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
        self.addCleanup(server.close)
        self.assertEqual(self.observed(server), {"commands": "models"})
        said = server.wait_for_log(lambda line: line["msg"] == "changes are kept")
        self.assertEqual((said["level"], said["commands_observed"]), ("info", "models"))

    def test_all_if_asked(self):
        server = self.start("--sandbox", "off", "--observe", "on")
        self.assertEqual(self.observed(server), {"commands": "all"})
        self.assertEqual(self.bash(server), 1)

    def test_none_if_asked(self):
        server = self.start("--observe", "off")
        self.assertEqual(self.observed(server)["commands"], "none")
        self.assertNotIn("changes", run(server, "rm src/1.c"))
        self.assertEqual(send(server, "POST", "/write", {"path": "a", "content": "x"}).headers["sidecar-change"], "1")

    def test_none_without_a_journal(self):
        server = self.start("--journal", "off")
        self.assertEqual(self.observed(server), {"commands": "none", "why": "changes are not kept"})
        self.assertTrue(run(server, "rm src/1.c")["success"])

    def test_below_another_listener_commands_run_unobserved(self):
        server = self.start("--sandbox", "off", prefix=[sys.executable, str(PROGRAMS / "under_listener.py")])
        self.assertTrue(run(server, "rm src/1.c; echo x > made")["success"])
        self.assertEqual(self.observed(server)["commands"], "none")
        self.assertIn("already", self.observed(server)["why"])
        self.assertEqual(settled(server), [])
        self.assertEqual(send(server, "POST", "/write", {"path": "a", "content": "x"}).headers["sidecar-change"], "1")

    def test_the_last_line_names_the_change(self):
        server = self.start("--sandbox", "off", "--observe", "on")
        for command, wanted in (("echo x > a; exit 3", {"exitCode": 3, "change": 1}), ("cat a", {"exitCode": 0}),
                                ("rm a; kill -9 $$", {"exitCode": 137, "change": 2})):
            answer = server.call("bash", command=command)
            self.assertEqual(json.loads(answer.body.splitlines()[-1]), {"type": "done", **wanted})
        self.assertEqual(server.call("changes/2/undo").status, 200)
        self.assertEqual(server.get("a"), b"x\n")

    def test_the_header_names_the_change(self):
        server = self.start("--sandbox", "off", "--observe", "on", env={"SIDECAR_SURFACE": "agent-sandbox"})
        answer = send(server, "POST", "/execute", {"command": "rm src/0.c"})
        self.assertEqual((answer.status, answer.headers.get("sidecar-change")), (200, "1"), answer.body)


@needs_listener
class PartTest(unittest.TestCase):
    """A change of which not everything is known: its undo says so."""

    def test_an_undo_that_may_be_a_part_says_so(self):
        server = Sidecar(env={"SIDECAR_SANDBOX": "off"})
        self.addCleanup(server.close)
        whole = send(server, "POST", "/write", {"path": "whole", "content": "x"}).headers["sidecar-change"]
        server.put("gone", "1")
        send(server, "POST", "/tools/run_command", {"command": "rm gone; sleep 600 & disown", "background": True})
        until(lambda: not os.path.exists(server.path("gone")), "the command removes it")
        server.stop(signal.SIGKILL)
        server.start()
        (change,) = (c for c in settled(server) if c["tool"] == "run_command")
        self.assertFalse(change["complete"])
        answer = send(server, "POST", "/changes/%d/undo" % change["id"], {}).json()["result"]
        self.assertEqual((answer["restored"], answer["complete"]), (["gone"], False))
        self.assertIs(send(server, "POST", "/changes/%s/undo" % whole, {}).json()["result"]["complete"], True)

    def test_deeper_than_a_path_can_say(self):
        """What a command removes there is not known, so it cannot come back."""
        server = Sidecar()
        self.addCleanup(server.close)
        script = "import os\nfor i in range(24):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\nopen('lost', 'w').close()\n"
        server.put("deep.py", script)
        self.assertTrue(run(server, "%s deep.py" % sys.executable)["success"])
        self.assertTrue(run(server, "rm -r dd*")["success"])
        self.assertEqual([c["complete"] for c in settled(server)], [False, False])
        self.assertIs(send(server, "POST", "/changes/2/undo", {}).json()["result"]["complete"], False)


class KillTest(unittest.TestCase):
    """The server is killed at random moments while a command runs, and while it is undone."""

    def test_rounds(self):
        server = Sidecar(env={"SIDECAR_SANDBOX": "off"})
        rng = random.Random(2)
        try:
            for number in range(ROUNDS):
                with self.subTest(number):
                    self.round(server, rng)
        finally:
            server.close()

    @staticmethod
    def quietly(work, *args):
        try:
            work(*args)
        except (OSError, ValueError):
            pass  # it was killed

    def kill_during(self, server, rng, work, *args):
        thread = threading.Thread(target=self.quietly, args=(work, *args))
        thread.start()
        time.sleep(rng.random() * 0.06)
        server.stop(signal.SIGKILL)
        thread.join()
        until(lambda: not [f for _, _, files in os.walk(server.workspace) for f in files if f.startswith(".sidecar-")],
              "the keeper removes temporary files")
        until(lambda: not commands_below(server.workspace), "the reapers end the command")
        server.start()

    def round(self, server, rng):
        for path in pathlib.Path(server.workspace).iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        fill(server.workspace)
        last = max([c["id"] for c in settled(server)], default=0)
        self.kill_during(server, rng, run, server, "rm -rf src/deep; sed -i s/int/long/ src/*.c; mv docs d; "
                                                   "echo x > d/1.md; rm -rf empty; chmod -R go-r .")
        made = [c for c in settled(server) if c["id"] > last]
        self.assertLessEqual(len(made), 1, made)
        self.assert_old_or_new(server.workspace)
        if not made:
            return
        # What a command does between the death of the server and its own is not known.
        one = send(server, "GET", "/changes/%d?limit=1000" % made[0]["id"]).json()["result"]
        self.kill_during(server, rng, send, server, "POST", "/changes/undo", {"since": one["id"], "force": True})
        undone = [c for c in settled(server) if c["tool"] == "undo" and c["id"] > one["id"]]
        if not undone:
            answer = send(server, "POST", "/changes/undo", {"since": one["id"], "force": True})
            self.assertEqual(answer.status, 200, answer.body)
        self.assert_restored(server.workspace, one)

    def assert_old_or_new(self, root):
        for path in pathlib.Path(root).rglob("*.c"):
            text = path.read_text()
            self.assertIn(text.replace("long", "int"), ["", "int f%s(void);\n" % path.stem * 20], path)

    def assert_restored(self, root, change):
        """Every path of the change is what it was before, in full."""
        for item in change["paths"]:
            path = pathlib.Path(root, item.get("from", item["path"]))
            before = item["before"]
            self.assertEqual(os.path.lexists(path), before is not None, (item, [(i["kind"], i["path"], i.get("from")) for i in change["paths"]]))
            if before and before["type"] == "file" and before["hash"]:
                self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), before["hash"], item)
                self.assertEqual("%04o" % (path.stat().st_mode & 0o7777), before["mode"], item)


def commands_below(root):
    """Processes whose directory is the workspace."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink("/proc/%s/cwd" % pid).startswith(root):
                found.append(pid)
        except OSError:
            pass
    return found


if __name__ == "__main__":
    unittest.main()
