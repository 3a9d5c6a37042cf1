"""Git in a sandbox where `.git` is a file: linked worktrees and submodules.

All repositories are this test's own, in a directory of its own outside of the private /tmp.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import BIN, Sidecar, needs_namespaces, needs_sandbox

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]
BECOME = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

WHO = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
       "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
EXPORTS = "export " + " ".join("%s=%s" % pair for pair in WHO.items()) + "; "

# What people do, one after the other in one repository; each has to succeed.
WORKFLOWS = [
    ("add", "echo one > new.txt && git add new.txt"),
    ("commit", "git commit -qm one"),
    ("amend", "git commit -q --amend -m other"),
    ("branch", "git branch topic && git branch -D topic"),
    ("switch", "git switch -qc side && echo side > side.txt && git add . && git commit -qm side && git switch -q -"),
    ("merge", "git merge -q --no-ff -m merged side"),
    ("conflict", "git switch -qc left && echo l > f.txt && git commit -qam l && git switch -q - && echo r > f.txt && "
                 "git commit -qam r && ! git merge -q left && echo both > f.txt && git add f.txt && git commit -qm both"),
    ("abort", "git switch -qc far HEAD~1 && echo far > f.txt && git commit -qam far && ! git merge -q left && git merge --abort && "
              "git switch -q -"),
    ("rebase", "git switch -qc base HEAD~1 && echo a > a.txt && git add . && git commit -qm a && echo b > b.txt && git add . && "
               "git commit -qm b && GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -q -i HEAD~2 && git switch -q -"),
    ("stash", "echo s >> f.txt && git stash -q && git stash pop -q && git checkout -q f.txt"),
    ("cherry-pick", "git cherry-pick base"),
    ("revert", "git revert --no-edit HEAD"),
    ("tag", "git tag v1 && git tag -a -m two v2 && git tag -d v1"),
    ("reset", "git reset -q --hard HEAD~1"),
    ("fetch", "git fetch -q $ORIGIN && git fetch -q $ORIGIN main:refs/remotes/origin/main"),
    ("push", "git push -q $ORIGIN HEAD:refs/heads/pushed"),
    ("worktree add", "git worktree add -q -b nested nested && cd nested && echo n > n.txt && git add . && git commit -qm n"),
    ("worktree remove", "git worktree remove nested && git worktree prune && git branch -qD nested"),
    ("pack refs", "git pack-refs --all && git branch -qD side"),
    ("repack", "git repack -qad && git prune"),
    ("bisect", "git bisect start -q HEAD HEAD~1 && git bisect reset"),
    ("notes", "git notes add -m note"),
    ("clean", "git clean -qfdx && git status --porcelain"),
    ("init", "git init -q inner && cd inner && echo i > i && git add i && git commit -qm i && git config user.name x"),
    ("clone", "git clone -q $ORIGIN cloned && cd cloned && echo c > c && git add c && git commit -qm c"),
    ("config", "git config user.name x && [ $(git config user.name) = x ] && git config --unset user.name"),
    ("remote", "git remote add up $ORIGIN && git fetch -q up && git branch -q -u up/main && git remote remove up"),
    ("push -u", "git remote add up $ORIGIN && git push -qu up HEAD:refs/heads/pushed-u && git remote remove up"),
    ("submodule", "git -c protocol.file.allow=always submodule --quiet add $ORIGIN module && git commit -qm module && "
                  "git -c protocol.file.allow=always submodule --quiet update --init && cd module && git log --oneline"),
    ("sparse-checkout", "git sparse-checkout set --no-cone /f.txt && [ ! -e g.txt ] && git sparse-checkout disable && [ -e g.txt ]"),
    ("gc", "git gc -q; git fsck"),
    ("tracked settings", "git switch -q settings 2>&1 | grep \"unable to unlink old '.mcp.json'\" && [ $(git branch --show-current) = settings ] && "
                         "[ $(cat .vscode/settings.json) = 2 ] && git status --porcelain | grep -q ' M .mcp.json'"),
]


def git(*arguments, at=None):
    return subprocess.run(["git", "-c", "protocol.file.allow=always", "-c", "safe.directory=*", *arguments], cwd=at, env={**os.environ, **WHO},
                          check=True, capture_output=True, text=True).stdout


def tree(*paths):
    """Every file below, and what is in it."""
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "" for path in paths
            for p in sorted(path.rglob("*"))}


class Repositories:
    """A repository with a person's hook and a sibling worktree; and what it is used from."""

    def __init__(self, test):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp"))
        test.addCleanup(shutil.rmtree, self.dir, True)
        self.main, self.origin = self.dir / "main", self.dir / "origin.git"
        git("init", "-q", "-b", "main", str(self.main))
        (self.main / "f.txt").write_text("f\n")
        git("add", ".", at=self.main)
        git("commit", "-qm", "first", at=self.main)
        (self.main / "g.txt").write_text("g\n")
        git("add", ".", at=self.main)
        git("commit", "-qm", "second", at=self.main)
        git("switch", "-qc", "settings", at=self.main)
        for value in ("1", "2"):
            (self.main / ".vscode").mkdir(exist_ok=True)
            for name in (".vscode/settings.json", ".mcp.json"):
                (self.main / name).write_text(value)
            git("add", ".", at=self.main)
            git("commit", "-qm", value, at=self.main)
            if value == "1":
                git("branch", "-f", "main", at=self.main)
        git("switch", "-q", "main", at=self.main)
        git("clone", "-q", "--bare", str(self.main), str(self.origin))
        git("worktree", "add", "-q", "-b", "sibling", str(self.dir / "sibling"), at=self.main)

    def plain(self):
        return self.main

    def worktree(self):
        git("worktree", "add", "-q", "-b", "work", str(self.dir / "work"), at=self.main)
        return self.dir / "work"

    def bare_worktree(self):
        git("clone", "-q", "--bare", str(self.main), str(self.dir / "bare.git"))
        git("worktree", "add", "-q", "-b", "work", str(self.dir / "of-bare"), at=self.dir / "bare.git")
        return self.dir / "of-bare"

    def submodule(self):
        git("submodule", "--quiet", "add", str(self.origin), "sub", at=self.main)
        git("commit", "-qm", "sub", at=self.main)
        return self.main / "sub"

    def siblings(self):
        """Their files, and what they have in the git directory. `git gc` in the main repository may expire what they remember."""
        return {name: text for name, text in tree(self.dir / "sibling", self.main / ".git/worktrees/sibling").items() if "/logs/" not in name}


class GitTest(unittest.TestCase):
    prefix = ()

    def setUp(self):
        self.repositories = Repositories(self)

    def serve_ordinary(self, workspace):
        """The server of an ordinary user, to whom the repositories belong."""
        home = self.repositories.dir / "home"
        home.mkdir()
        for path in (self.repositories.dir, *self.repositories.dir.rglob("*")):
            os.chown(path, 65534, 65534, follow_symlinks=False)
        places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")}
        return self.serve(workspace, [*self.prefix, *BECOME], SOCKET_PATH=str(home / "s"), **places)

    def serve(self, workspace, prefix=None, **env):
        server = Sidecar(workspace=str(workspace), prefix=self.prefix if prefix is None else prefix,
                         env={"SIDECAR_SANDBOX": "workspace", "SIDECAR_SANDBOX_WRITE": str(self.repositories.origin), **env})
        self.addCleanup(server.close)
        return server

    def run_in(self, server, command, **more):
        return server.output("run_command", command=EXPORTS + "export ORIGIN=%s; " % self.repositories.origin + command, **more)


class Work:
    """What the strengths have in common. Each kind of workspace is root's with the one, an ordinary user's with the other."""

    def try_workflows(self, workspace, ordinary):
        before = self.repositories.siblings()
        server = self.serve_ordinary(workspace) if ordinary and os.geteuid() == 0 else self.serve(workspace)
        for name, command in WORKFLOWS:
            with self.subTest(name):
                out = server.observe("run_command", command=EXPORTS + "export ORIGIN=%s; " % self.repositories.origin + command)
                self.assertEqual(out["output"]["exit_code"], 0, out)
                self.assertNotIn("guard_changed", out)
        self.assertEqual(self.repositories.siblings(), before)
        self.assertEqual((workspace / ".mcp.json").read_text(), "1", "what is guarded stays")
        git("fsck", at=workspace)
        return server

    def test_a_plain_repository(self):
        server = self.try_workflows(self.repositories.plain(), ordinary=not self.prefix)
        self.assertNotIn("git", server.request("GET", "/health").json())

    def test_a_linked_worktree(self):
        server = self.try_workflows(self.repositories.worktree(), ordinary=self.prefix)
        self.assertEqual(server.request("GET", "/health").json()["git"], "linked worktree of ../main")

    def test_a_worktree_of_a_bare_repository(self):
        server = self.try_workflows(self.repositories.bare_worktree(), ordinary=self.prefix)
        self.assertEqual(server.request("GET", "/health").json()["git"], "linked worktree of ../bare.git")

    def test_a_submodule(self):
        server = self.try_workflows(self.repositories.submodule(), ordinary=not self.prefix)
        self.assertEqual(server.request("GET", "/health").json()["git"], "submodule of ..")

    def test_what_is_never_written(self):
        for workspace in (self.repositories.worktree(), self.repositories.submodule()):
            own = pathlib.Path(git("rev-parse", "--absolute-git-dir", at=workspace).strip())
            common = pathlib.Path(git("rev-parse", "--path-format=absolute", "--git-common-dir", at=workspace).strip())
            server = self.serve(workspace)
            before = tree(self.repositories.main / ".git")
            (common / "objects/new-dir").mkdir()
            for place in (common / "hooks/pre-commit", common / "config", common / "config.worktree",
                          own / "config.worktree", own / "commondir", own / "gitdir", common / "info/attributes",
                          self.repositories.main / ".git/worktrees/sibling/HEAD", self.repositories.main / ".git/modules/x",
                          self.repositories.main / "f.txt"):
                for writer in ("echo x >> %s", "mkdir -p $(dirname %s) && echo x > a && cp a %s", "ln -sf /x %s", "rm -f %s && exit 1",
                               "git init -q t && mv -T t %s", "echo x > $GIT/objects/o && mv -T $GIT/objects/o %s",
                               "echo x > $GIT/objects/o && ln -T $GIT/objects/o %s", "ln %s $GIT/objects/linked && echo x > $GIT/objects/linked",
                               "mkdir $GIT/objects/d; mv -T $GIT/objects/d %s"):
                    command = "export GIT=%s; " % common + writer.replace("%s", str(place))
                    with self.subTest(command):
                        self.assertNotEqual(self.run_in(server, command)["exit_code"], 0)
                    shutil.rmtree(common / "objects/d", True)
                    for name in ("objects/o", "objects/linked"):
                        (common / name).unlink(missing_ok=True)
            for command in ("mkdir -p $GIT/objects/i && echo x > $GIT/objects/i/attributes && mv -T $GIT/objects/i $GIT/info",
                            "mv -T $GIT/info $GIT/objects/info2", "mv -T $GIT/hooks $GIT/objects/hooks",
                            "mkdir -p $GIT/objects/w && mv -T $GIT/objects/w $GIT/worktrees/sibling"):
                with self.subTest(command):
                    self.assertNotEqual(self.run_in(server, "export GIT=%s; " % common + command)["exit_code"], 0)
            for name in ("i", "w", "new-dir"):
                shutil.rmtree(common / "objects" / name, True)
            self.assertEqual(tree(self.repositories.main / ".git"), before)

    def test_a_submodule_of_a_worktree(self):
        """Git makes its git directory below that of the worktree; what runs later is not put there."""
        workspace = self.repositories.worktree()
        own = self.repositories.main / ".git/worktrees/work/modules/lib/m"
        server = self.serve(workspace)
        add = "git -c protocol.file.allow=always submodule --quiet add --name lib/m $ORIGIN module && git commit -qm module"
        add += " && [ $(git -C module config core.filemode) = true ] && ! git -C module config core.symlinks"
        made = server.observe("run_command", command=EXPORTS + "export ORIGIN=%s; " % self.repositories.origin + add)
        self.assertEqual(made["output"]["exit_code"], 0, made)
        for again in (False, True):
            if again:
                server = self.serve(workspace)  # to which it is not new
            before = tree(own)
            for command in ("echo x > $OWN/hooks/post-commit", "git -C module config core.fsmonitor x", "echo x >> $OWN/config",
                            "mkdir $COMMON/objects/d && echo x > $COMMON/objects/d/pre-commit && mv -T $COMMON/objects/d $OWN/hooks",
                            "mkdir -p $COMMON/objects/e/n/hooks && echo x > $COMMON/objects/e/n/hooks/x && mv $COMMON/objects/e $OWN/../e",
                            "echo x > $OWN/pre-commit && mv $OWN/pre-commit $OWN/hooks/", "ln -s /x $OWN/hooks/x", "rm $OWN/config",
                            "git -C module config core.worktree %s" % self.repositories.dir, "mv $OWN/hooks $OWN/gone", "echo x > $OWN/info/attributes"):
                with self.subTest(command, again=again):
                    out = self.run_in(server, "COMMON=%s OWN=%s; %s" % (self.repositories.main / ".git", own, command))
                    self.assertNotEqual(out["exit_code"], 0)
            for name in ("d", "e"):
                shutil.rmtree(self.repositories.main / ".git/objects" / name, True)
            (own / "pre-commit").unlink(missing_ok=True)
            self.assertEqual(tree(own), before)
            self.assertEqual(self.run_in(server, "cd module && git commit -q --allow-empty -m x")["exit_code"], 0)

    def test_a_refusal_is_named(self):
        server = self.serve(self.repositories.worktree())
        out = server.observe("run_command", command="git config core.pager x; echo x > $(git rev-parse --git-common-dir)/hooks/x")
        self.assertIn("of %s what a commit needs" % (self.repositories.main / ".git"), str(out))

    def test_changes_are_told_and_undone(self):
        workspace = self.repositories.worktree()
        server = self.serve(workspace)
        before, head = tree(self.repositories.main / ".git"), git("rev-parse", "HEAD", at=workspace)
        self.run_in(server, "echo two > f.txt && git add f.txt && git commit -qm two && git branch more")
        self.assertNotEqual(git("rev-parse", "HEAD", at=workspace), head)
        changes = server.request("GET", "/changes").json()
        change = (changes.get("changes") or changes["result"]["changes"])[0]
        self.assertIn(str(self.repositories.main / ".git/refs/heads/work"), str(server.request("GET", "/changes/%s" % change["id"]).json()))
        answer = server.request("POST", "/changes/%s/undo" % change["id"], "{}", {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(tree(self.repositories.main / ".git"), before)
        self.assertEqual((workspace / "f.txt").read_text(), "f\n")
        redo = answer.json()
        redo = redo.get("change") or redo["result"]["change"]
        answer = server.request("POST", "/changes/%s/undo" % redo, "{}", {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(git("log", "-1", "--format=%s", at=workspace), "two\n")

    def test_file_tools_do_not_reach_it(self):
        server = self.serve(self.repositories.worktree())
        name = str(self.repositories.main / ".git/refs/heads/new")
        self.assertEqual(server.failure("write_file", path=name, content="x")[0], "PATH_OUTSIDE_WORKSPACE")

    def test_off(self):
        server = self.serve(self.repositories.worktree(), SIDECAR_GIT="off")
        self.assertNotIn("git", server.request("GET", "/health").json())
        self.assertNotEqual(self.run_in(server, "echo x > x; git add x")["exit_code"], 0)

    def test_without_observing(self):
        server = self.serve(self.repositories.worktree(), SIDECAR_OBSERVE="off")
        self.assertEqual(self.run_in(server, "echo x > x && git add x && git commit -qm x")["exit_code"], 0)

    def test_a_git_directory_that_does_not_point_back(self):
        """Commands can write `.git`: it alone opens nothing."""
        elsewhere, linked = self.repositories.dir / "elsewhere", self.repositories.dir / "linked"
        for directory in (elsewhere, linked):
            directory.mkdir()
        (elsewhere / ".git").write_text("gitdir: %s\n" % (self.repositories.main / ".git/worktrees/sibling"))
        (linked / ".git").symlink_to(self.repositories.main / ".git")
        for workspace in (elsewhere, linked):
            server = self.serve(workspace)
            self.assertIn("does not point back", server.request("GET", "/health").json()["git"])
            before = tree(self.repositories.main / ".git")
            self.assertNotEqual(self.run_in(server, "echo x > x; git add x")["exit_code"], 0)
            self.assertEqual(tree(self.repositories.main / ".git"), before)

    def test_doctor(self):
        workspace = self.repositories.worktree()
        for flags, said in (([], "linked worktree of ../main: sandboxed commands can commit"), (["--git", "off"], "--git off")):
            out = subprocess.run([BIN, "doctor", "--workspace", str(workspace), *flags], capture_output=True, text=True, check=False).stdout
            self.assertIn(said, out)

    def test_a_worktree_that_a_person_makes_later(self):
        workspace = self.repositories.worktree()
        server = self.serve(workspace)
        git("worktree", "add", "-q", "-b", "later", str(self.repositories.dir / "later"), at=self.repositories.main)
        out = self.run_in(server, "echo x > %s" % (self.repositories.main / ".git/worktrees/later/HEAD"))
        self.assertNotEqual(out["exit_code"], 0)


@needs_sandbox
@needs_namespaces
class WithNamespaces(Work, GitTest):
    pass


@needs_sandbox
class WithoutNamespaces(Work, GitTest):
    prefix = FLOOR


if __name__ == "__main__":
    unittest.main()
