"""What an agent must not leave behind: names that a person's programs run later, outside the sandbox.

All repositories are this test's own, in a directory of its own outside of the private /tmp. What a hook
would do here is to make one file of that directory.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from harness import SidecarTest, needs_namespaces, needs_sandbox, needs_two_users, until
from test_events import Watcher

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]

WHO = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
       "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
EXPORTS = "export " + " ".join("%s=%s" % pair for pair in WHO.items()) + "; "

SINKS = (".git/hooks/pre-commit", ".git/config", ".git/info/attributes", ".git/commondir", ".git/config.worktree", ".mcp.json",
         ".claude/settings.json", ".claude/settings.local.json", ".claude/agents/x.md", ".codex/hooks.json", ".opencode/plugin/x.js", ".sidecarignore")

# %s is the sink, %d its directory, %n its name; $EVIL has what it shall contain.
WRITERS = {
    "redirect": "echo x > %s", "append": "echo x >> %s", "tee": "echo x | tee %s", "cp": "cp $EVIL %s", "mv": "cp $EVIL a; mv a %s",
    "install": "install -m 755 $EVIL %s", "dd": "dd if=$EVIL of=%s", "ln": "cp $EVIL a; ln -f a %s", "ln -s": "ln -sf $EVIL %s",
    "sed -i": "sed -i 1s/^/x/ %s", "truncate": "truncate -s 5 %s", "rm": "rm %s", "chmod": "chmod -R 777 %s && [ -x %s ] && exit 7; false",
    "tar": "mkdir -p t/%d && cp $EVIL t/%s && tar -C t -cf t.tar . && tar xf t.tar --overwrite",
    "the directory": "mv %d moved", "a directory in its place": "rm -rf w; mkdir w && cp $EVIL w/%n && mv -T w %d",
    "a link in its place": "rm -rf w; mkdir w && cp $EVIL w/%n && ln -sT $PWD/w %d",
    "exchange": "cp $EVIL a; python3 -c 'import ctypes; c = ctypes.CDLL(None); exit(c.renameat2(-100, b\"a\", -100, b\"%s\", 2) and 1)'",
    "python": "cp $EVIL a; python3 -c 'import os; os.rename(\"a\", \"%s\")'", "cwd in /proc": "echo x > /proc/self/cwd/%s",
    "an absolute path": "echo x > $PWD/%s", "dots": "mkdir -p q && echo x > q/../%s", "from inside": "cd %d && echo x > %n",
    "nameless": "python3 -c 'import os; f = os.open(\".\", os.O_TMPFILE | os.O_RDWR); os.write(f, b\"x\"); "
                "os.link(\"/proc/self/fd/%i\" % f, \"%s\", follow_symlinks=True)'",
    "a link to it": "ln -s $PWD/%s l; echo x > l", "hard link": "ln %s h && echo x > h",
    ".git": "mv .git g && cp -r g .git; rm -rf g", "a link in place of .git": "cp -r .git g && mv .git h && ln -s g .git; rm -rf g",
    "patch": "mkdir -p t/%d && cp $EVIL t/%s && cd t && git diff --no-index /dev/null %s > ../p; cd .. && git apply --unsafe-paths p",
    "template": "mkdir -p t/hooks && cp $EVIL t/hooks/%n && git init -q --template=$PWD/t", "worktree": "git worktree add -q w && cp $EVIL w/../%s",
    "cwd of a process": "mkdir -p %d; cd %d && echo x > /proc/$$/cwd/%n", "dots in /proc": "mkdir -p %d; cd %d && echo x > /proc/./self//cwd/%n",
    "back in /proc": "mkdir -p %d; cd %d && echo x > /proc/self/task/../cwd/%n", "a thread's": "mkdir -p %d; cd %d && echo x > /proc/self/task/$$/cwd/%n",
    "a descriptor": "mkdir -p %d; exec 9<%d && echo x > /proc/$$/fd/9/%n", "root of a process": "mkdir -p %d; echo x > /proc/$$/root$PWD/%s",
    "a link to a process": "mkdir -p %d; ln -s /proc/self l; W=$PWD; cd %d && echo x > $W/l/cwd/%n",
    "the other way": "mkdir -p w %d; cp $EVIL w/%n; python3 -c 'import ctypes; "
                     "exit(ctypes.CDLL(None).renameat2(-100, b\"%d\", -100, b\"w\", 2) and 1)'",
    "the other way with a link": "mkdir -p w %d; cp $EVIL w/%n; ln -s w l; python3 -c 'import ctypes; "
                                 "exit(ctypes.CDLL(None).renameat2(-100, b\"%d\", -100, b\"l\", 2) and 1)'; rm -f l; [ -L %d ] && mv %d l",
    "a directory that is not read": "mkdir w && cp $EVIL w/%n && chmod 311 w && mv -T w %d; chmod 755 w %d",
    "a large directory": "mkdir w && cp $EVIL w/%n && (cd w && seq 4200 | xargs touch) && mv -T w %d",
    "a link behind it": "ln -s $PWD/%s l; ln -L l h && echo x > h",
    "an opened file": "python3 -c 'import ctypes, os; f = os.open(\"%s\", 0); exit(ctypes.CDLL(None).linkat(f, b\"\", -100, b\"h\", 0x1000) and 1)'; "
                      "[ -e h ] && echo x > h",
}

# Opens two paths in turn, while a thread exchanges them in memory: sometimes another one is opened than was judged.
RACE = """
import ctypes, sys, threading, time
libc, end = ctypes.CDLL(None), time.monotonic() + %s
names = [n.ljust(99, b"\\0") for n in (b"free", *(n.encode() for n in sys.argv[1:]))]
path = ctypes.create_string_buffer(names[0])
def exchange():
    while time.monotonic() < end:
        for name in names:
            ctypes.memmove(path, name, 99)
threading.Thread(target=exchange).start()
while time.monotonic() < end:
    fd = libc.open(path, 0o101, 0o755)
    if fd >= 0:
        libc.write(fd, b"#!/bin/sh\\n", 10)
        libc.close(fd)
"""
RACE_SECONDS = float(os.environ.get("RACE_SECONDS", "1"))


def git(*arguments, at=None, **env):
    return subprocess.run(["git", "-c", "protocol.file.allow=always", *arguments], cwd=at, env={**os.environ, **WHO, **env},
                          check=True, capture_output=True, text=True).stdout


class Guards(SidecarTest):
    prefix, share = (), 0  # of the writers

    @classmethod
    def setUpClass(cls):
        cls.server = None

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.workspace, self.canary = self.dir / "ws", self.dir / "canary"
        git("init", "-q", "-b", "main", str(self.workspace))
        (self.workspace / "f.txt").write_text("f\n")
        git("add", ".", at=self.workspace)
        git("commit", "-qm", "first", at=self.workspace)
        (self.workspace / ".claude").mkdir()
        (self.workspace / ".claude/settings.json").write_text("{}\n")
        (self.workspace / "evil").write_text("#!/bin/sh\ntouch %s\n" % self.canary)
        (self.workspace / "evil").chmod(0o755)

    def serve(self, **env):
        return self.start(workspace=self.workspace, prefix=self.prefix, env={"SIDECAR_SANDBOX": "workspace", **env})

    def run_in(self, server, command):
        return server.observe("run_command", command=EXPORTS + "EVIL=$PWD/evil; " + command)

    def guarded(self):
        """What is there of everything that is guarded, and of its directories."""
        found = {}
        for path in sorted([self.workspace / ".git", *(self.workspace / ".git").rglob("*"), *self.workspace.glob(".[cmos]*"),
                            *self.workspace.glob(".[cmos]*/**/*")]):
            name = str(path.relative_to(self.workspace))
            free = (".git/index", ".git/objects", ".git/COMMIT", ".git/info/exclude", ".git/worktrees", ".git/refs", ".git/logs", ".git/packed-refs")
            if not name.startswith(free) and not path.is_dir():
                found[name] = os.readlink(path) if path.is_symlink() else (path.read_bytes(), path.stat().st_mode)
        return found


@needs_sandbox
class WithoutNamespaces(Guards):
    prefix = FLOOR

    def test_writers(self):
        """Each writer with each sink, with and without namespaces, as root and as another user: any two of these once."""
        server = self.serve()
        before = self.guarded()
        for i, sink in enumerate(SINKS):
            for k, (name, writer) in enumerate(WRITERS.items()):
                if (i + k) % 4 != self.share:
                    continue
                there = os.path.lexists(self.workspace / sink)
                if not there and name in ("rm", "sed -i", "hard link", "chmod", "truncate", "a link behind it", "an opened file") or "/" not in sink and "%d" in writer:
                    continue
                text = writer.replace("%s", sink).replace("%d", os.path.dirname(sink)).replace("%n", os.path.basename(sink))
                with self.subTest(sink=sink, writer=name):
                    self.run_in(server, text)
                    after = self.guarded()
                    self.assertEqual({n for n in {*after, *before} if after.get(n) != before.get(n)}, set())
                before = after
                self.run_in(server, "rm -rf a l h q t t.tar w moved p g; git worktree prune; git branch -qD w")
        for command in (("status",), ("commit", "--allow-empty", "-qm", "x"), ("log", "-p"), ("checkout", "-qb", "other"), ("fetch", "-q", ".")):
            (self.dir / "config").write_text("[safe]\n\tdirectory = *\n")
            git(*command, at=self.workspace, GIT_CONFIG_GLOBAL=str(self.dir / "config"))
        self.assertFalse(self.canary.exists())

    def test_a_race(self):
        """What existed holds, with namespaces; what else gets past the judge is named."""
        (self.workspace / "race.py").write_text(RACE % RACE_SECONDS)
        before = self.guarded()
        server = self.serve()
        there, new = (".git/config", ".claude/settings.json"), (".git/hooks/post-commit", ".mcp.json")
        out = self.run_in(server, "python3 race.py %s" % " ".join((*there, *new)))
        after = self.guarded()
        # A name may also be made of two that are exchanged; nobody runs that.
        changed = {name for name in (*there, *new) if before.get(name) != after.get(name)}
        if not self.prefix:
            self.assertEqual(changed & {*there}, set())
        self.assertLessEqual(changed, set(out.get("guard_changed", ())))
        print("got past the judge:", sorted(changed), file=sys.stderr)

    def test_a_refusal_names_rule_and_remedy(self):
        denied = self.run_in(self.serve(), "echo x > .git/hooks/pre-commit")["denied"][0]
        self.assertEqual((denied["by"], denied["operation"]), ("guard", "write"))
        self.assertIn("rule hooks", denied["rule"])
        self.assertIn("--sink '!.git/hooks/pre-commit'", denied["rule"])

    def test_git_configures_itself(self):
        server = self.serve()
        subprocess.run(["git", "clone", "-q", "--bare", str(self.workspace), str(self.workspace / "origin.git")], check=True,
                       capture_output=True)
        for command in ("git config user.name x && [ $(git config user.name) = x ]", "git remote add o $PWD/origin.git && git fetch -q o",
                        "git push -qu o main && git config branch.main.remote", "git init -q && [ $(git config core.filemode) = true ]",
                        "git init -q sub && cd sub && git config alias.x '!y'", "git clone -q origin.git cloned",
                        "git worktree add -q wt && cd wt && git commit -q --allow-empty -m x", "git worktree remove wt",
                        "git -c protocol.file.allow=always submodule add -q $PWD/origin.git module && git commit -qm module",
                        "cd module && git commit -q --allow-empty -m x", "git sparse-checkout set --no-cone f.txt && git sparse-checkout disable",
                        "git config --unset user.name; ! git config user.name", "git branch -q topic && git switch -q topic && git gc -q"):
            with self.subTest(command):
                out = self.run_in(server, command)
                self.assertEqual(out["output"]["exit_code"], 0, out)
                self.assertNotIn("guard_changed", out)
        self.assertFalse((self.workspace / ".git/config.lock").exists())

    def test_keys_that_execute(self):
        server = self.serve()
        before = self.guarded()
        for key, value in (("core.fsmonitor", "$PWD/evil"), ("core.hooksPath", "$PWD"), ("alias.st", "!x"), ("diff.x.textconv", "x"),
                           ("include.path", "x"), ("credential.helper", "x")):
            with self.subTest(key):
                out = self.run_in(server, "git config %s '%s'" % (key, value))
                self.assertNotEqual(out["output"]["exit_code"], 0)
                self.assertIn(key.lower(), out["denied"][0]["rule"])
        self.run_in(server, "cp .git/config .git/config.lock; printf '[core]\\n\\tpager = x\\n' >> .git/config.lock; "
                            "mv .git/config.lock .git/config; rm -f .git/config.lock")
        self.assertEqual(self.guarded(), before)

    def test_an_allowed_change_of_the_configuration_is_undone(self):
        """A large one: of a small file a copy is kept in any case."""
        server = self.serve()
        with open(self.workspace / ".git/config", "a", encoding="ascii") as config:
            config.writelines("[branch \"b%d\"]\n\tremote = origin\n" % i for i in range(1000))
        before = (self.workspace / ".git/config").read_bytes()
        change = self.run_in(server, "git config user.email somebody@example.org")["changes"]
        self.assertIn(".git/config", str(change))
        self.assertNotEqual((self.workspace / ".git/config").read_bytes(), before)
        answer = server.request("POST", "/changes/%s/undo" % change["id"], "{}", {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual((self.workspace / ".git/config").read_bytes(), before)

    def test_what_is_noted(self):
        server = self.serve()
        watcher = Watcher(server)
        self.addCleanup(watcher.close)
        out = self.run_in(server, "mkdir -p .vscode .idea && echo {} > .vscode/tasks.json && echo x > README && git init -q sub && "
                                        "cp evil sub/.git/hooks/post-commit")
        self.assertEqual(set(out["runs_later"]), {".vscode/tasks.json", "sub/.git/hooks/post-commit"})
        more = self.run_in(server, "git clone -q --bare . bare.git && cp evil bare.git/hooks/pre-receive && git worktree add -q wt && "
                                   "printf '[core]\\n\\tfsmonitor = ../evil\\n' > .git/worktrees/wt/config.worktree")
        self.assertEqual(set(more["runs_later"]), {"bare.git/hooks/pre-receive", ".git/worktrees/wt/config.worktree"})
        told = watcher.until(lambda event: event["type"] == "change")[-1]["files"]
        self.assertEqual({file["path"] for file in told if file.get("runs_later")}, set(out["runs_later"]))
        self.assertNotIn("denied", out)

    def test_the_second_look(self):
        """A person's change while a command runs stands for what a race gets past the judge."""
        server = self.serve()
        job = server.output("run_command", command="touch begun; until [ -e go ]; do sleep 0.05; done", background=True)["job_id"]
        while not (self.workspace / "begun").exists():
            pass
        (self.workspace / ".git/hooks/post-commit").write_text("x")
        out = self.run_in(server, "touch other")
        self.assertEqual(out["guard_changed"], [".git/hooks/post-commit"])
        settings = self.workspace / ".claude/settings.json"
        command = "touch later begun2; until [ -e go2 ]; do sleep 0.05; done"
        seen = []
        caller = threading.Thread(target=lambda: seen.append(self.run_in(server, command)))
        caller.start()
        until(lambda: (self.workspace / "begun2").exists(), "it has changed something")
        settings.write_text("evil")
        (self.workspace / "go2").write_text("")
        caller.join()
        self.assertEqual(seen[0]["guard_changed"], [".claude/settings.json"])
        change = seen[0]["changes"]
        self.assertIn(".claude/settings.json", str(change))
        answer = server.request("POST", "/changes/%s/undo" % change["id"], "{}", {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(settings.read_text(), "{}\n", "what was there is put back")
        self.assertNotIn("guard_changed", self.run_in(server, "touch third"))
        (self.workspace / ".mcp.json").write_text("x")
        (self.workspace / "go").write_text("")
        server.wait_for_log(lambda line: "run later has changed" in str(line) and ".mcp.json" in str(line))
        self.assertTrue(job)

    def test_what_excuses_nothing(self):
        """An allowed change of a file does not excuse a later one, and no time of a file that can be set does."""
        server = self.serve()
        (self.workspace / ".git/hooks/pre-commit").write_text("#!/bin/sh\ntrue a\n")
        seen = []
        command = "git config user.name x; touch begun; until [ -e go ]; do sleep 0.05; done"
        caller = threading.Thread(target=lambda: seen.append(self.run_in(server, command)))
        caller.start()
        until((self.workspace / "begun").exists, "git has changed its configuration")
        with open(self.workspace / ".git/config", "a", encoding="ascii") as config:
            config.write("[core]\n\tfsmonitor = ./evil\n")
        hook = self.workspace / ".git/hooks/pre-commit"
        was = hook.stat()
        with open(hook, "r+", encoding="ascii") as file:
            file.write("#!/bin/sh\nevil a\n")
        os.utime(hook, ns=(was.st_atime_ns, was.st_mtime_ns))
        (self.workspace / "go").write_text("")
        caller.join()
        self.assertEqual(sorted(seen[0]["guard_changed"]), [".git/config", ".git/hooks/pre-commit"])
        self.assertNotIn("guard_changed", self.run_in(server, "git config user.name y; chmod u+x .git/config; touch x"))

    def brings(self, server, prepare):
        """Does a directory that was made so get the name .codex, with a guarded file in it?"""
        self.run_in(server, "mkdir w && cp $EVIL w/config.toml && %s; mv -T w .codex; chmod -R u+r w; rm -rf w" % prepare)
        self.assertFalse((self.workspace / ".codex").exists())

    def test_a_large_directory(self):
        """Level by level, the guarded name is the last."""
        self.brings(self.serve(SIDECAR_SINK=".codex/deep/x"), "rm w/* && mkdir w/deep && touch w/deep/x && (cd w && seq 5000 | xargs touch)")

    def test_a_directory_that_is_not_read(self):
        server = self.serve(SIDECAR_SINK=".codex/deep/x")
        self.brings(server, "chmod 311 w")
        self.brings(server, "rm -rf w && mkdir -p w/deep && touch w/deep/x && chmod 311 w/deep")

    def test_links_of_another_kind(self):
        server = self.serve()
        before = self.guarded()
        self.run_in(server, WRITERS["a link behind it"].replace("%s", ".claude/settings.json"))
        self.run_in(server, "rm -f h l; " + WRITERS["an opened file"].replace("%s", ".claude/settings.json"))
        self.assertEqual(self.guarded(), before)
        self.assertFalse((self.workspace / "h").exists())

    def test_hooks_elsewhere(self):
        """What core.hooksPath names in the workspace: in a linked worktree, and by the person's own configuration."""
        (self.workspace / "hooks.d").mkdir()
        (self.workspace / "hooks.d/pre-commit").write_text("#!/bin/sh\n")
        git("add", "hooks.d", at=self.workspace)
        git("commit", "-qm", "hooks", at=self.workspace)
        main, self.workspace = self.workspace, self.dir / "linked"
        git("worktree", "add", "-q", str(self.workspace), at=main)
        shutil.copy(main / "evil", self.workspace / "evil")
        home, xdg = self.dir / "home", self.dir / "xdg/git"
        home.mkdir()
        xdg.mkdir(parents=True)
        (home / "dotfile").write_text("[core]\n\thooksPath = ~/../linked/absent/hooks/\n[includeIf \"gitdir:/\"]\n\tpath = more\n")
        (home / ".gitconfig").symlink_to("dotfile")
        (home / "more").write_text("[include]\n\tpath = ../linked/conf/git.local\n")
        (xdg / "config").write_text("[core]\n\thooksPath = %s/third\n" % self.workspace)
        for kind in ("config", "config.worktree"):
            with self.subTest(kind):
                git("config", "extensions.worktreeConfig", "true", at=main)
                git("config", "--worktree" if kind != "config" else "--local", "core.hooksPath", "hooks.d", at=self.workspace)
                server = self.serve(HOME=str(home), XDG_CONFIG_HOME=str(xdg.parent))
                for name in ("hooks.d/pre-commit", "hooks.d/post-commit", "absent/hooks/pre-commit", "third/pre-commit", "conf/git.local"):
                    with self.subTest(name):
                        before = (self.workspace / name).exists() and (self.workspace / name).read_text()
                        self.run_in(server, "mkdir -p $(dirname %s); cp $EVIL %s" % (name, name))
                        self.run_in(server, "mkdir -p w/hooks; cp $EVIL w/hooks/%s; mv -T w $(dirname $(dirname %s)); rm -rf w"
                                    % (os.path.basename(name), name))
                        self.assertEqual(server.failure("write_file", path=name, content="x")[0], "PROTECTED_PATH")
                        self.assertEqual((self.workspace / name).exists() and (self.workspace / name).read_text(), before)
                git("config", "--unset-all", "--worktree" if kind != "config" else "--local", "core.hooksPath", at=self.workspace)
                self.run_in(server, "rm -rf absent")

    def test_a_hook_of_the_person_runs_inside(self):
        (self.workspace / ".git/hooks/pre-commit").write_text("#!/bin/sh\necho ran > hooked\n")
        (self.workspace / ".git/hooks/pre-commit").chmod(0o755)
        self.run_in(self.serve(), "git commit -q --allow-empty -m x")
        self.assertEqual((self.workspace / "hooked").read_text(), "ran\n")

    def test_a_hard_link_made_before(self):
        (self.workspace / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
        os.link(self.workspace / ".git/hooks/pre-commit", self.workspace / "other")
        server = self.serve()
        self.run_in(server, "echo x >> other; chmod 777 other; ln other more; echo x >> more")
        self.assertEqual(server.failure("write_file", path="other", content="x")[0], "PROTECTED_PATH")
        self.assertEqual((self.workspace / "other").read_text(), "#!/bin/sh\n")

    def test_a_link_that_a_person_made(self):
        """What it leads to is guarded, whether it exists or not."""
        shutil.rmtree(self.workspace / ".claude")
        shutil.rmtree(self.workspace / ".git/hooks")
        for name in ("conf", "githooks", "scripts"):
            (self.workspace / name).mkdir()
        (self.workspace / "conf/mcp").write_text("{}")
        (self.workspace / "githooks/pre-push").symlink_to("../scripts/push")
        (self.workspace / "scripts/push").write_text("#!/bin/sh\n")
        for link, to in ((".claude", "conf"), (".git/hooks", "../githooks"), (".mcp.json", "conf/mcp"), (".git/info/attributes", "../../absent")):
            (self.workspace / link).unlink(missing_ok=True)
            (self.workspace / link).symlink_to(to)
        server = self.serve()
        for name in ("conf/settings.json", ".claude/settings.local.json", "githooks/pre-commit", ".git/hooks/post-commit", ".mcp.json", "conf/mcp",
                     "scripts/push", "absent"):
            with self.subTest(name):
                before = (self.workspace / name).read_text() if (self.workspace / name).exists() else None
                self.assertNotEqual(self.run_in(server, "cp $EVIL %s" % name)["output"]["exit_code"], 0)
                self.assertEqual(server.failure("write_file", path=name, content="x")[0], "PROTECTED_PATH")
                self.assertEqual((self.workspace / name).read_text() if (self.workspace / name).exists() else None, before)
        self.assertEqual(self.run_in(server, "echo x > conf/other; echo x > scripts/other")["output"]["exit_code"], 0)
        server = self.serve(SIDECAR_SINK="!scripts/push")
        self.assertEqual(self.run_in(server, "echo x > scripts/push")["output"]["exit_code"], 0)

    def test_what_the_operator_decides(self):
        server = self.serve(SIDECAR_SINK="Makefile\n!.mcp.json\n!.git/hooks/")
        (self.workspace / "Makefile").write_text("x")
        self.run_in(server, "echo y > Makefile; echo y > .mcp.json; echo y > .git/hooks/x; echo y > .git/config")
        self.assertEqual((self.workspace / "Makefile").read_text(), "x")
        self.assertTrue((self.workspace / ".mcp.json").exists())
        self.assertTrue((self.workspace / ".git/hooks/x").exists())
        self.assertNotEqual((self.workspace / ".git/config").read_text(), "y\n")
        server = self.serve(SIDECAR_SINK="deploy/run.sh\n**/ci/*.sh")
        for command in ("ln -s d deploy", "mv -T d deploy", "mkdir -p q && mv d q/ci", "mkdir -p q && ln -s ../d q/ci"):
            with self.subTest(command):
                out = self.run_in(server, "mkdir d && cp $EVIL d/run.sh; %s; ls -d deploy q/ci; rm -rf d q deploy" % command)
                self.assertEqual((out["output"]["stdout"], len(out["denied"])), ("", 1), out)
        self.assertEqual(self.run_in(server, "mkdir d e; ln -s d deployed; mv e ci; rm -rf d e ci deployed")["output"]["exit_code"], 0)
        server = self.serve(SIDECAR_SINKS="allow")
        self.run_in(server, "echo y > .git/hooks/y")
        self.assertTrue((self.workspace / ".git/hooks/y").exists())

    def test_file_tools(self):
        server = self.serve()
        before = self.guarded()
        calls = (("write_file", {"path": ".git/hooks/x", "content": "x"}), ("write_file", {"path": "./.claude/../.mcp.json", "content": "x"}),
                 ("write_file", {"path": ".opencode/a/b.js", "content": "x"}),
                 ("edit_file", {"path": ".claude/settings.json", "old_text": "{}", "new_text": "{x}"}),
                 ("apply_patch", {"patch": "*** Begin Patch\n*** Add File: .git/hooks/x\n+x\n*** End Patch"}),
                 ("apply_patch", {"patch": "*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch"}))
        for tool, arguments in calls:
            with self.subTest(tool=tool, **arguments):
                code, message = server.failure(tool, **arguments)[:2]
                self.assertEqual(code, "PROTECTED_PATH")
                self.assertIn("--sink", message)
        os.symlink(".git", self.workspace / "g")
        self.assertEqual(server.failure("write_file", path="g/config", content="x")[0], "PROTECTED_PATH")
        for tool, arguments in (("write", {"path": ".git/config", "content": "x"}), ("remove", {"path": ".git", "recursive": True}),
                                ("rename", {"from": ".claude", "to": "c"}), ("rename", {"from": "evil", "to": ".mcp.json"})):
            with self.subTest(tool=tool, **arguments):
                self.assertEqual(server.error(tool, **arguments)[0], "PROTECTED_PATH")
        for new, name in ((".codex", "config.toml"), (".cursor", "mcp.json")):
            (self.workspace / "d").mkdir()
            (self.workspace / "d" / name).write_text("x")
            self.assertEqual(server.error("rename", **{"from": "d", "to": new})[0], "PROTECTED_PATH")
            (self.workspace / "d" / name).rename(self.workspace / "d/free")
            server.result("rename", **{"from": "d", "to": new})
            (self.workspace / new / "free").unlink()
        (self.workspace / "l").symlink_to("d")
        self.assertEqual(server.error("rename", **{"from": "l", "to": ".gemini"})[0], "PROTECTED_PATH")
        self.assertEqual(self.guarded(), before)

    def test_a_model_undoes_no_move_that_brings_it(self):
        server = self.serve()
        self.run_in(server, "mkdir .codex && touch .codex/x")
        change = self.run_in(server, "mv .codex d")["changes"]["id"]
        self.run_in(server, "echo x > d/config.toml")
        self.assertEqual(server.failure("undo_change", id=change)[0], "PROTECTED_PATH")
        self.assertFalse((self.workspace / ".codex/config.toml").exists())

    def test_a_model_does_not_undo_it_and_a_person_does(self):
        server = self.serve()
        change = self.run_in(server, "git config user.email somebody@example.org")["changes"]["id"]
        self.assertEqual(server.failure("undo_change", id=change)[0], "PROTECTED_PATH")
        answer = server.request("POST", "/changes/%s/undo" % change, "{}", {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 200, answer.body)


@needs_sandbox
@needs_namespaces
class WithNamespaces(WithoutNamespaces):
    prefix, share = (), 1

    def test_a_file_that_a_person_replaced_is_covered_again(self):
        server = self.serve()
        self.run_in(server, "true")
        new = self.workspace / "new"
        new.write_text('{"new": 1}\n')
        new.rename(self.workspace / ".claude/settings.json")
        out = self.run_in(server, "grep settings.json /proc/self/mountinfo")
        self.assertIn(".claude/settings.json", out["output"]["stdout"])


class OtherUser(Guards):
    """The server of an ordinary user; this test may be root."""

    def serve(self, **env):
        home = self.dir / "home"
        home.mkdir()
        for path in (self.dir, *self.dir.rglob("*")):
            os.chown(path, 65534, 65534, follow_symlinks=False)
        places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")}
        return super().serve(SOCKET_PATH=str(home / "s"), **places, **env)


BECOME = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@needs_sandbox
@needs_two_users
class OtherUserWithoutNamespaces(OtherUser):
    prefix, share = (*FLOOR, *BECOME), 2
    test_writers = WithoutNamespaces.test_writers
    test_keys_that_execute = WithoutNamespaces.test_keys_that_execute
    test_a_directory_that_is_not_read = WithoutNamespaces.test_a_directory_that_is_not_read
    brings = WithoutNamespaces.brings


@needs_sandbox
@needs_namespaces
@needs_two_users
class OtherUserWithNamespaces(OtherUser):
    prefix, share = BECOME, 3
    test_writers = WithoutNamespaces.test_writers
    test_keys_that_execute = WithoutNamespaces.test_keys_that_execute


class WithoutSandbox(Guards):
    def test_the_wire_is_as_before(self):
        server = self.start(workspace=self.workspace, env={"SIDECAR_SANDBOX": "off"})
        server.result("write", path=".git/hooks/x", content="x")
        self.assertTrue((self.workspace / ".git/hooks/x").exists())
        self.assertEqual(server.failure("write_file", path=".git/hooks/x", content="y")[0], "PROTECTED_PATH")

    def test_models_commands_are_judged(self):
        server = self.start(workspace=self.workspace, env={"SIDECAR_SANDBOX": "off"})
        out = server.observe("run_command", command="echo x > .git/hooks/y; git config user.name x")
        self.assertEqual(out["denied"][0]["by"], "guard")
        self.assertFalse((self.workspace / ".git/hooks/y").exists())
        self.assertIn("name = x", (self.workspace / ".git/config").read_text())


@needs_sandbox
@needs_two_users
class Unreadable(Guards):
    def test_a_process_that_hides_its_memory(self):
        """Only root can read it. What it changes is refused; where nothing is guarded, its change says that it is not whole."""
        (self.workspace / "hide.py").write_text("import ctypes\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"  # PR_SET_DUMPABLE
                                                "for name in ('.git/hooks/post-commit', '.mcp.json'):\n    open(name, 'w').write('x')\n")
        for path in (self.dir, *self.dir.rglob("*")):
            os.chown(path, 65534, 65534)
        prefix = [*FLOOR, "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        env = {"SIDECAR_SANDBOX": "workspace", "HOME": str(self.dir), "XDG_STATE_HOME": str(self.dir), "XDG_CONFIG_HOME": str(self.dir)}
        for sinks in ("protect", "allow"):
            server = self.start(workspace=self.workspace, prefix=prefix,
                                env={**env, "SOCKET_PATH": str(self.dir / sinks), "SIDECAR_SINKS": sinks})
            out = self.run_in(server, "python3 hide.py")
            if sinks == "protect":
                self.assertEqual([(d["operation"], d["by"]) for d in out["denied"]], [("write", "guard")])
                self.assertIn("cannot be read", out["denied"][0]["rule"])
            else:
                self.assertIs(out["changes"]["complete"], False)
            self.assertEqual((self.workspace / ".mcp.json").exists(), sinks == "allow")


del Guards, OtherUser

if __name__ == "__main__":
    unittest.main()
