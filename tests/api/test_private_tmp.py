"""The private /tmp: nothing is left of it, whatever commands put there and whichever process dies first."""
import errno
import fcntl
import os
import signal
import subprocess
import tempfile
import unittest

from harness import BIN, PATIENCE, SandboxTest, Sidecar, environment, needs_two_users, until
from processes import PYTHON, below

# Deeper than a path can be, in both names that commands have for it.
DEEP = PYTHON + """ -c '
import os
os.chdir(os.environ["TMPDIR"])
for _ in range(1500):
    os.mkdir("directory")
    os.chdir("directory")
open("file", "w").close()'"""


class PrivateTmp(SandboxTest):
    def begin(self, prefix=()):
        """A server, and the directory in which it makes the private one."""
        base, workspace = (tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp") for _ in range(2))
        self.addCleanup(subprocess.run, ["rm", "-rf", base, workspace], check=False)
        for path in (base, workspace):
            os.chmod(path, 0o777)
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", "TMPDIR": base, "XDG_CONFIG_HOME": workspace,
                              "SOCKET_PATH": os.path.join(base, "server.sock")}, workspace=workspace, prefix=prefix)
        self.addCleanup(server.close)
        return server, base

    def run_in(self, server, command):
        self.assertIn(b'"exitCode":0', server.call("bash", command=command).body)

    def wait_until_gone(self, base):
        """Nothing is left; the spawner of a killed keeper ends a little later."""
        until(lambda: os.listdir(base) == [], lambda: "these go: %s" % os.listdir(base))

    def process(self, server, name):
        return next(pid for pid, comm in below(server.process.pid) if comm == name)

    def test_of_any_depth(self):
        server, base = self.begin()
        self.run_in(server, DEEP)
        self.assertEqual(server.stop(), 0)
        self.wait_until_gone(base)

    @needs_two_users
    def test_without_permissions(self):
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        server, base = self.begin(prefix)
        self.run_in(server, DEEP)
        self.run_in(server, "cd $TMPDIR && mkdir -p a/b/c && touch a/b/c/f && chmod 0 a/b/c a/b a directory .")
        self.assertEqual(server.stop(), 0)
        self.wait_until_gone(base)

    def test_caches_stay_in_a_home_that_can_be_written(self):
        """Elsewhere they are put into the private directory."""
        home, other = (tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp") for _ in range(2))
        self.addCleanup(subprocess.run, ["rm", "-rf", home, other], check=False)
        for settings, want in (({"HOME": "/"}, ".cache"), ({"HOME": home}, "none"),
                               ({"HOME": other + "/me", "SIDECAR_SANDBOX_WRITE": other}, "none"),
                               ({"HOME": home, "SIDECAR_READ_ONLY": "true"}, ".cache")):
            server = self.start(env={"SIDECAR_SANDBOX": "workspace", **settings}, workspace=home)
            out = server.output("run_command", command="basename ${XDG_CACHE_HOME-none}")
            self.assertEqual(out["stdout"].strip(), want, settings)

    def test_caches_are_kept_between_sessions(self):
        """For each workspace apart, and only while commands may write something."""
        home, base, workspace, other = (tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp") for _ in range(4))
        self.addCleanup(subprocess.run, ["rm", "-rf", home, base, workspace, other], check=False)

        def run(command, path=workspace, **settings):
            settings = {"SIDECAR_SANDBOX": "workspace", "HOME": home, "SIDECAR_CACHE": base, **settings}
            server = self.start(env=settings, workspace=path)
            out = server.output("run_command", command=command)
            self.assertEqual(server.stop(), 0)
            return out["stdout"].strip()
        self.assertEqual(run("mkdir -p $CARGO_HOME; echo kept | tee $CARGO_HOME/x"), "kept")
        for path, settings, want in ((workspace, {}, "kept"), (other, {}, "none"), (workspace, {"SIDECAR_CACHE": "off"}, "none"),
                                     (workspace, {"SIDECAR_READ_ONLY": "1"}, "none"),
                                     (workspace, {"SIDECAR_CACHE": "auto", "XDG_CACHE_HOME": "/proc/none"}, "none")):
            self.assertEqual(run("cat $CARGO_HOME/x 2> /dev/null || echo none", path, **settings), want, settings)
        until(lambda: len(os.listdir(base)) == 1, lambda: "an empty one goes: %s" % os.listdir(base))
        where = run("dirname $CARGO_HOME")
        self.assertEqual(os.path.dirname(where), base)
        self.assertIn("kept", run("cat $CARGO_HOME/x; touch %s/y || rm %s/../x" % (where + "/..", where)))
        self.assertEqual(os.listdir(base), [os.path.basename(where)])
        for wrong, why in (("relative", "absolute"), (workspace + "/c", "workspace"), ("/proc/none", "cannot be used")):
            done = subprocess.run([BIN, "mcp", "--sandbox", "workspace", "--cache", wrong], cwd=workspace, env=environment(),
                                  capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=PATIENCE)
            self.assertEqual((done.returncode, why in done.stderr), (1, True), done.stderr)

    def test_after_the_spawner_was_killed(self):
        server, base = self.begin()
        self.run_in(server, "touch $TMPDIR/file")
        os.kill(self.process(server, "sidecar-spawner"), signal.SIGKILL)
        self.assertEqual(server.stop(), 0)
        self.wait_until_gone(base)

    def test_after_the_keeper_was_killed(self):
        server, base = self.begin()
        self.run_in(server, "touch $TMPDIR/file")
        os.kill(self.process(server, "sidecar-keeper"), signal.SIGKILL)
        self.assertEqual(server.stop(), 0)
        self.wait_until_gone(base)

    def kill_all(self, server):
        """Ends the server with its keeper, so that nothing cleans up."""
        keeper = self.process(server, "sidecar-keeper")
        os.kill(server.process.pid, signal.SIGSTOP)  # it must not start another keeper
        os.kill(keeper, signal.SIGKILL)
        server.stop(signal.SIGKILL)

    def private(self, base):
        return {name for name in os.listdir(base) if name.startswith("sidecar-tmp-")}

    def look_alikes(self, base):
        """Names in which something else lies; returns where a link among them leads."""
        for name, mode in (("sidecar-tmp-abcde", 0o700), ("sidecar-tmp-abcdefg", 0o700), ("sidecar-abcdef", 0o700),
                           ("sidecar-tmp-abcdef", 0o755), ("sidecar-1000", 0o700), ("other", 0o700)):
            os.makedirs(os.path.join(base, name, "content"))
            os.chmod(os.path.join(base, name), mode)
        stays = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.addCleanup(subprocess.run, ["rm", "-rf", stays], check=False)
        os.mkdir(os.path.join(stays, "content"))
        os.symlink(stays, os.path.join(base, "sidecar-tmp-linked"))
        with open(os.path.join(base, "sidecar-tmp-a_file"), "w", encoding="ascii") as file:
            file.write("x")
        if os.geteuid() == 0:
            os.mkdir(os.path.join(base, "sidecar-tmp-others"), 0o700)
            os.chown(os.path.join(base, "sidecar-tmp-others"), 65534, 65534)
        return stays

    def test_of_a_server_that_was_killed_with_its_keeper(self):
        """It is removed by the next server, and nothing else is."""
        server, base = self.begin()
        self.run_in(server, "mkdir $TMPDIR/a; touch $TMPDIR/a/file")
        [left] = self.private(base)
        self.kill_all(server)
        self.assertEqual(self.private(base), {left})
        stays = self.look_alikes(base)
        before = set(os.listdir(base)) - {left}
        live = self.start(env={"SIDECAR_SANDBOX": "workspace", "TMPDIR": base})
        until(lambda: left not in os.listdir(base), lambda: "it goes: %s" % os.listdir(base))
        # A live server's is held, also while it has no keeper.
        os.kill(self.process(live, "sidecar-keeper"), signal.SIGKILL)
        [held] = set(os.listdir(base)) - before
        another = self.start(env={"SIDECAR_SANDBOX": "workspace", "TMPDIR": base})
        self.run_in(another, "true")
        self.assertEqual(another.stop(), 0)
        self.assertEqual(set(os.listdir(base)), before | {held})
        self.assertEqual(live.stop(), 0)
        for place in (stays, os.path.join(base, "sidecar-tmp-abcdef")):
            self.assertTrue(os.path.isdir(os.path.join(place, "content")), place)

    def test_who_cleans_up_old_files_passes_by(self):
        """systemd-tmpfiles and its kind leave a directory alone that another process has locked."""
        server, base = self.begin()
        self.run_in(server, "true")
        private = next(entry.path for entry in os.scandir(base) if entry.is_dir())
        fd = os.open(private, os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, fd)
        with self.assertRaises(OSError) as refused:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.assertEqual(refused.exception.errno, errno.EWOULDBLOCK)
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
