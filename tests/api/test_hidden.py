"""What an agent must not see: hidden files, by every tool and by commands.

Everything is in a directory of this test's own, outside of the private /tmp; so is the home directory.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import SidecarTest, needs_namespaces, needs_sandbox, until
from test_events import Watcher

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]
CANARY = "canary-5b1e"

# %s is a hidden file. None of them may show what is in it.
READERS = (
    "cat %s", "dd if=%s", "head -c 99 %s", "grep -r canary .", "cp %s c && cat c", "ln %s h && cat h", "ln -s %s l && cat l", "cat old",
    "mv %s m && cat m", "mv $(dirname %s) d && cat d/*", "tar cf - %s | strings", "cat < %s", "exec 3< %s && cat /proc/self/fd/3",
    "cat /proc/self/cwd/%s", "cat /proc/self/root$PWD/%s", "cat /proc/1/root$PWD/%s", "cat /proc/$$/root$PWD/%s",
    "git add -f %s && git show :%s", "bash %s", "/lib64/ld-linux-x86-64.so.2 %s", "sed p %s", "mkdir x; cat x/../%s", "cat ./%s", "cat $PWD/%s",
    "python3 -c 'import mmap; f = open(\"%s\", \"rb\"); print(mmap.mmap(f.fileno(), 0, prot=1)[:])'",
    "python3 -c 'import os; f = os.open(\"%s\", 0); print(os.sendfile(1, f, 0, 99))'",
    "python3 -c 'import os; f = os.open(\"%s\", 0); o = os.open(\"o\", 66); os.copy_file_range(f, o, 99)'; cat o",
    "python3 -c 'import ctypes, os, struct; f = ctypes.CDLL(None).syscall(437, -100, b\"%s\", struct.pack(\"QQQ\", 0, 0, 0), 24); "
    "print(f, os.read(f, 99))'",  # openat2
    # An opened file goes through a socket to another process.
    "python3 -c 'import os, socket; a, b = socket.socketpair(socket.AF_UNIX); p = os.fork(); "
    "socket.send_fds(a, [b\"x\"], [os.open(\"%s\", os.O_PATH)]) if p else print(open(\"/proc/self/fd/%d\" % socket.recv_fds(b, 9, 1)[1][0]).read())'",
    "cat /proc/$$/cwd/%s", "cd /proc/$$/root$PWD && cat %s", "exec 9< $(dirname %s) && cat /proc/$$/fd/9/* /proc/$$/fd/9/.*",
    "chmod 777 %s; cat %s", "rm -f %s; cat %s", "truncate -s 0 %s; cat %s", "unshare -rm cat %s", "umount $PWD/%s; cat %s",
)


# Reads .env until there is a file `go`; then until it is covered again, for a while.
READER = """
import os, time
longest, since, end = 0, None, None
open("begun", "w").close()
while end is None or (since and time.monotonic() < end):
    try:
        seen = open(".env").read()
    except OSError:
        seen = ""
    now = time.monotonic()
    since = (since or now) if seen else None
    longest = max(longest, now - since) if since else longest
    if end is None and os.path.exists("go"):
        end = now + 20
print("open" if since else "covered", "%.1f" % (longest * 1000))
"""


class Hidden(SidecarTest):
    @classmethod
    def setUpClass(cls):
        cls.server = None

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.workspace, self.home = self.dir / "ws", self.dir / "home"
        subprocess.run(["git", "init", "-q", str(self.workspace)], check=True)
        for name in (".env", "conf/.env", "secrets/key.pem"):
            path = self.workspace / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(CANARY + "\n")
        os.link(self.workspace / ".env", self.workspace / "old")
        (self.workspace / "f.txt").write_text("plain\n")
        (self.home / ".ssh").mkdir(parents=True)
        for name in ("id_ed25519", "id_ed25519.pub", "known_hosts"):
            (self.home / ".ssh" / name).write_text(CANARY + " " + name + "\n")

    def serve(self, hide=".env\nsecrets/", prefix=(), **env):
        return self.start(workspace=self.workspace, prefix=prefix,
                          env={"SIDECAR_SANDBOX": "workspace", "HOME": str(self.home), "SIDECAR_HIDE": hide, **env})


class Token(Hidden):
    """A token whose file lies in the workspace is not given out to those whom it lets in."""

    def serve_token(self, **env):
        file = self.workspace / "conf" / "a[b]*token"
        file.write_text("canary-" + "a1b2" * 10 + "\n")
        file.chmod(0o600)
        return self.start(workspace=self.workspace, env={"HOME": str(self.home), "SIDECAR_TOKEN_FILE": str(file),
                                                         "SIDECAR_REQUIRE_AUTH": "false", **env})

    def assert_hidden_from_tools(self, server):
        for path in ("conf/a[b]*token", "conf/../conf/a[b]*token"):
            self.assertEqual(server.error("read", path=path)[0], "PATH_HIDDEN")
            self.assertEqual(server.failure("read_file", path=path)[0], "PATH_HIDDEN")
            self.assertEqual(server.error("copy", **{"from": path, "to": "copied"})[0], "PATH_HIDDEN")
        self.assertNotIn("a1b2", str(server.call("grep", pattern="a1b2").body))
        self.assertNotIn("a1b2a", str(server.output("search_files", pattern="a1b2")))

    def test_without_a_sandbox(self):
        self.assert_hidden_from_tools(self.serve_token(SIDECAR_SANDBOX="off"))

    def test_where_nothing_else_is_hidden(self):
        server = self.serve_token(SIDECAR_SANDBOX="off", SIDECAR_HIDE="")
        self.assert_hidden_from_tools(server)
        self.assertIn(CANARY, server.result("read", path=".env")["content"])

    @needs_sandbox
    @needs_namespaces
    def test_from_commands(self):
        server = self.serve_token(SIDECAR_SANDBOX="workspace")
        self.assert_hidden_from_tools(server)
        self.assertNotIn("a1b2", str(server.observe("run_command", command="cat conf/*token 2>&1")))


@needs_sandbox
@needs_namespaces
class WithNamespaces(Hidden):
    def test_readers(self):
        audit = self.dir / "audit.log"
        server = self.serve(SIDECAR_AUDIT=str(audit))
        watcher = Watcher(server)
        self.addCleanup(watcher.close)
        for name in (".env", "conf/.env", "secrets/key.pem"):
            for reader in READERS:
                with self.subTest(name=name, reader=reader):
                    out = server.observe("run_command", command=reader.replace("%s", name) + " 2>&1")
                    self.assertNotIn(CANARY, str(out))
                server.observe("run_command", command="rm -rf c h l m d x o")
                self.assertEqual((self.workspace / name).read_text(), CANARY + "\n")
        kept = re.search(r"kept/\w+|output:\w+", str(server.observe("run_command", command="cat .env; seq 40000")))
        self.assertNotIn(CANARY, str(server.output("read_file", path=kept.group(), start_line=1, end_line=9)))
        server.observe("run_command", command="echo the-end")
        self.assertNotIn(CANARY, str(watcher.until(lambda event: event["type"] == "output" and "the-end" in str(event))))
        self.assertNotIn(CANARY, server.log())
        server.stop()
        self.assertIn("the-end", audit.read_text())
        self.assertNotIn(CANARY, audit.read_text())

    def test_health_says_what_is_hidden(self):
        said = "keys and credentials in the home directory"
        for patterns, hide, want in (("", {}, said), (".env\n", {}, "what --hide or .sidecarignore names, and " + said),
                                     ("", {"SIDECAR_HIDE": ".env"}, "what --hide or .sidecarignore names, and " + said)):
            (self.workspace / ".sidecarignore").write_text(patterns)
            server = self.start(workspace=self.workspace, env={"SIDECAR_SANDBOX": "workspace", "HOME": str(self.home), **hide})
            self.assertEqual(server.request("GET", "/health").json()["hidden"], want)
            server.stop()

    def test_file_tools(self):
        server = self.serve()
        os.symlink(".env", self.workspace / "link")
        for path in (".env", "./conf/../.env", "conf/.env", "secrets/key.pem", "old", "link"):
            with self.subTest(path):
                self.assertEqual(server.failure("read_file", path=path)[0], "PATH_HIDDEN")
                self.assertEqual(server.error("read", path=path)[0], "PATH_HIDDEN")
                self.assertEqual(server.failure("write_file", path=path, content="x")[0], "PATH_HIDDEN")
                self.assertEqual(server.failure("edit_file", path=path, old_text="canary", new_text="x")[0], "PATH_HIDDEN")
                self.assertEqual(server.error("copy", **{"from": path, "to": "copied"})[0], "PATH_HIDDEN")
        self.assertEqual(server.failure("apply_patch", patch="*** Begin Patch\n*** Update File: .env\n@@\n-%s\n+x\n*** End Patch" % CANARY)[0],
                         "PATH_HIDDEN")
        found = server.output("search_files", pattern="canary")
        self.assertNotIn(CANARY, str(found))
        self.assertGreaterEqual(found["skipped"]["hidden"], 4)
        self.assertIn(".env (hidden)", str(server.result("ls", path=".")))
        self.assertIn("secrets/ (hidden)", str(server.result("ls", path=".")))
        for found in (server.result("find", pattern="**"), server.output("find_files", pattern="**"), server.output("list_directory", path=".", recursive=True),
                      server.result("find", path="conf", pattern="*"), server.output("find_files", path=".", pattern="s*")):
            self.assertIn(" (hidden)", str(found))
            self.assertNotIn("key.pem", str(found))
            self.assertNotIn(".env'", str(found))
        self.assertEqual((self.workspace / ".env").read_text(), CANARY + "\n")

    def test_it_gets_no_other_name(self):
        (self.workspace / "top/secrets").mkdir(parents=True)
        (self.workspace / "top/secrets/k").write_text(CANARY)
        server = self.serve(hide=".env\nsecrets/\n!conf/.env")
        for tool, arguments in (("rename", {"from": ".env", "to": "r"}), ("rename", {"from": "secrets", "to": "r"}),
                                ("rename", {"from": "top", "to": "r"}), ("remove", {"path": "secrets", "recursive": True}),
                                ("remove", {"path": "old"}), ("copy", {"from": "secrets/key.pem", "to": "r"})):
            with self.subTest(tool=tool, **arguments):
                self.assertEqual(server.error(tool, **arguments)[0], "PATH_HIDDEN")
        for patch in ("Delete File: .env", "Update File: .env\n*** Move to: r\n@@\n-%s\n+x" % CANARY):
            self.assertEqual(server.failure("apply_patch", patch="*** Begin Patch\n*** %s\n*** End Patch" % patch)[0], "PATH_HIDDEN")
        self.assertFalse((self.workspace / "r").exists())
        (self.workspace / "old").unlink()
        server.result("write", path="old", content=CANARY)
        change = server.request("GET", "/changes").json()
        self.assertNotIn(CANARY, server.request("GET", "/changes/%s/diff" % (change.get("changes") or change["result"]["changes"])[0]["id"]).body.decode())

    def test_a_change_of_it_is_listed_and_not_shown(self):
        server = self.serve()
        change = server.observe("run_command", command="rm -rf conf/.env f.txt; mkdir -p deep; echo not-a-secret > deep/.env")["changes"]
        text = server.request("GET", "/changes/%s/diff" % change["id"]).body.decode()
        self.assertNotIn("not-a-secret", text)
        self.assertIn("deep/.env", text)
        self.assertIn('"hidden":true', server.request("GET", "/changes/%s" % change["id"]).body.decode().replace(" ", ""))

    def test_what_a_person_replaced_or_made(self):
        server = self.serve()
        self.assertNotIn(CANARY, str(server.observe("run_command", command="cat .env")))
        new = self.workspace / "new"
        for _ in range(5):
            new.write_text(CANARY + " again\n")
            new.rename(self.workspace / ".env")
            self.assertNotIn(CANARY, str(server.observe("run_command", command="cat .env")))

    def test_a_job_that_reads_while_a_person_saves(self):
        """The cover is put back while the job runs; the longest time without it is printed."""
        (self.workspace / "reader.py").write_text(READER)
        server = self.serve()
        job = server.output("run_command", command="python3 reader.py", background=True)["job_id"]
        until(lambda: (self.workspace / "begun").exists(), "the job runs")
        for i in range(20):
            (self.workspace / "new").write_text(CANARY)
            (self.workspace / "new").rename(self.workspace / ".env")
            self.assertNotIn(CANARY, str(server.observe("run_command", command="cat .env")), "no command sees it")
        (self.workspace / "go").write_text("")
        out = until(lambda: server.output("job_output", job_id=job)["output"], "the job ends")
        print("the longest gap, in milliseconds:", out.split()[1], file=sys.stderr)
        self.assertEqual(out.split()[0], "covered", "at the end it is covered again")

    def test_what_comes_into_being(self):
        """No command sees a new file, and one that runs only for a moment."""
        (self.workspace / "old").unlink()
        (self.workspace / ".env").unlink()
        (self.workspace / "reader.py").write_text(READER)
        server = self.serve(hide=".env\nconf/late\nlnk/key\n~/.netrc")
        (self.workspace / "lnk").symlink_to("secrets")
        for i in range(10):
            for path in (self.workspace / ".env", self.workspace / "conf/late", self.workspace / "secrets/key", self.home / ".netrc"):
                path.write_text("%s %d\n" % (CANARY, i))
                self.assertNotIn(CANARY, str(server.observe("run_command", command="cat %s" % path)), path)
                path.unlink()
        (self.workspace / ".env").symlink_to("conf/real")
        (self.workspace / "conf/real").write_text(CANARY)
        self.assertNotIn(CANARY, str(server.observe("run_command", command="cat .env conf/real")))
        (self.workspace / ".env").unlink()
        job = server.output("run_command", command="python3 reader.py", background=True)["job_id"]
        until(lambda: (self.workspace / "begun").exists(), "the job runs")
        (self.workspace / ".env").write_text(CANARY)
        (self.workspace / "go").write_text("")
        out = until(lambda: server.output("job_output", job_id=job)["output"], "the job ends")
        self.assertEqual(out.split()[0], "covered")

    def test_behind_links(self):
        """Directories of keys that are links, as those who keep dotfiles in a repository have them."""
        for name, key in (("ssh", "id_rsa"), ("gnupg", "private-keys-v1.d"), ("gcloud", "key"), ("azure/x", "key")):
            (self.dir / "dot" / name).mkdir(parents=True)
            (self.dir / "dot" / name / key).write_text(CANARY + " private\n")
        (self.dir / "dot/ssh/id_rsa.pub").write_text("public")
        shutil.rmtree(self.home / ".ssh")
        (self.home / ".config").symlink_to(self.dir / "dot")
        for link, to in ((".ssh", "ssh"), (".gnupg", "gnupg"), (".azure", "azure")):
            (self.home / link).symlink_to(self.dir / "dot" / to)
        (self.workspace / "lnk").symlink_to("secrets")
        server = self.serve(hide="lnk/*.pem")
        out = server.output("run_command", command="cat ~/.ssh/* ~/.gnupg/* ~/.config/gcloud/* ~/.azure/x/* lnk/* secrets/*; find -L ~ | xargs cat",
                            env={"HOME": str(self.home)})["stdout"]
        self.assertNotIn(CANARY, out)
        self.assertIn("public", out)
        for name in ("lnk/key.pem", "secrets/key.pem"):
            self.assertEqual(server.failure("read_file", path=name)[0], "PATH_HIDDEN")

    def fill(self, count):
        for i in range(count):
            (self.workspace / ("%d.pem" % i)).write_text(CANARY)

    def test_many(self):
        """All of them, or the server or a command is refused."""
        self.fill(600)
        server = self.serve(hide="*.pem")
        self.assertNotIn(CANARY, str(server.observe("run_command", command="cat *.pem")))
        self.fill(2100)
        until(lambda: (server.observe("run_command", command="true")["error"] or {}).get("code") == "SPAWN_FAILED", "a search has found more")
        with self.assertRaisesRegex(RuntimeError, "more than 2048 files"):
            self.serve(hide="*.pem")
        for path in self.workspace.glob("*.pem"):
            path.unlink()
        self.assertTrue(server.observe("run_command", command="true")["success"])

    def test_a_deep_tree(self):
        """A command makes it: it must not end the server, nor keep it from starting again."""
        server = self.serve(hide="*.key")
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.workspace / "d")], check=True)  # Python's recursion is not as deep
        server.observe("run_command", command="mkdir -p %s" % "/".join("d" * 1200))
        for name in ("new.key", "d/d/d/d/new.key"):
            (self.workspace / name).write_text(CANARY)
        until(lambda: "denied" in server.output("run_command", command="cat new.key; cat d/d/d/d/new.key")["stderr"], "it is searched")
        server.stop()
        server.start()
        self.assertNotIn(CANARY, str(server.observe("run_command", command="cat new.key d/d/d/d/new.key")))

    def test_a_link_that_is_hidden(self):
        """What it leads to has another name, and is hidden as well."""
        (self.workspace / "real").mkdir()
        (self.workspace / "real/env").write_text(CANARY)
        (self.workspace / "real/keys").mkdir()
        (self.workspace / "real/keys/one").write_text(CANARY)
        (self.workspace / "sub").mkdir()
        (self.workspace / "sub/.env").symlink_to("../real/env")
        (self.workspace / "sub/secrets").symlink_to("../real/keys")
        server = self.serve(hide=".env\nsecrets")
        for name in ("sub/.env", "real/env", "sub/secrets/one", "real/keys/one"):
            with self.subTest(name):
                self.assertEqual(server.failure("read_file", path=name)[0], "PATH_HIDDEN")
                self.assertNotIn(CANARY, str(server.observe("run_command", command="cat " + name)))
        self.assertNotIn(CANARY, str(server.output("search_files", pattern="canary")))

    def test_home(self):
        server = self.start(workspace=self.workspace, flags=("--hide", ""), env={"SIDECAR_SANDBOX": "workspace", "HOME": str(self.home)})
        out = server.output("run_command", command="cat %s/.ssh/*" % self.home)["stdout"]
        self.assertIn("id_ed25519\n", out, "an empty pattern hides nothing")
        server = self.start(workspace=self.workspace, env={"SIDECAR_SANDBOX": "workspace", "HOME": str(self.home)})
        out = server.output("run_command", command="cat %s/.ssh/* .env" % self.home)["stdout"]
        self.assertNotIn("id_ed25519\n", out)
        self.assertIn("known_hosts", out)
        self.assertIn("id_ed25519.pub", out)
        self.assertIn(CANARY + "\n", out, "nothing of the workspace is hidden unless it is asked for")

    def test_a_file_of_patterns(self):
        (self.workspace / ".sidecarignore").write_text("# what nobody reads\nconf/\n!conf/free\n")
        (self.workspace / "conf/free").write_text("free")
        server = self.serve(hide="~/nothing")
        self.assertEqual(server.failure("read_file", path="conf/.env")[0], "PATH_HIDDEN")
        self.assertEqual(server.output("read_file", path="conf/free")["content"], "free")
        self.assertNotIn(CANARY, str(server.observe("run_command", command="cat conf/.env")))


    def test_a_file_of_patterns_that_is_not_read(self):
        """Without it more would be seen than was asked for."""
        (self.workspace / "list").write_text(".env\n")
        (self.workspace / ".sidecarignore").symlink_to("list")
        with self.assertRaisesRegex(RuntimeError, "sidecarignore cannot be read"):
            self.serve()
        (self.workspace / ".sidecarignore").unlink()
        (self.workspace / ".sidecarignore").write_text("# x\n" * (1 << 18) + ".env\n")
        with self.assertRaisesRegex(RuntimeError, "sidecarignore cannot be read"):
            self.serve()


class WithoutNamespaces(Hidden):
    @needs_sandbox
    def test_an_explicit_one_refuses_to_start(self):
        with self.assertRaisesRegex(RuntimeError, "--hide needs a sandbox with namespaces"):
            self.serve(prefix=FLOOR)

    def test_without_a_sandbox_too(self):
        with self.assertRaisesRegex(RuntimeError, "--hide needs a sandbox with namespaces"):
            self.serve(SIDECAR_SANDBOX="off")

    @needs_sandbox
    def test_the_defaults_hold_for_file_tools(self):
        server = self.start(workspace=self.home, prefix=FLOOR, env={"SIDECAR_SANDBOX": "workspace", "HOME": str(self.home)})
        self.assertEqual(server.failure("read_file", path=".ssh/id_ed25519")[0], "PATH_HIDDEN")
        self.assertIn(CANARY, str(server.output("read_file", path=".ssh/known_hosts")))

    @needs_sandbox
    def test_a_file_of_patterns_holds_for_file_tools(self):
        (self.workspace / ".sidecarignore").write_text(".env\n")
        server = self.start(workspace=self.workspace, prefix=FLOOR, env={"SIDECAR_SANDBOX": "workspace", "HOME": str(self.home)})
        self.assertEqual(server.failure("read_file", path=".env")[0], "PATH_HIDDEN")
        self.assertIn("commands can read what .sidecarignore names", server.request("GET", "/health").json()["hidden"])


del Hidden

if __name__ == "__main__":
    unittest.main()
