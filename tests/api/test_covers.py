"""The server's own files stay hidden from sandboxed commands when another file takes their name.

All files are this test's own, in a directory of its own outside of the private /tmp.
"""
import os
import pathlib
import select
import shutil
import signal
import tempfile
import threading
import unittest

from harness import SidecarTest, needs_namespaces, needs_sandbox, until
from processes import below

SECRET = "not for commands"


def keepers(server):
    return [pid for pid, comm in below(server.process.pid) if comm == "sidecar-keeper"]


@needs_sandbox
@needs_namespaces
class Covers(SidecarTest):
    @classmethod
    def setUpClass(cls):
        cls.server = None

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.token, self.key, self.audit = self.dir / "token", self.dir / "key", self.dir / "audit"
        self.secret(self.token)
        self.secret(self.key)

    def secret(self, path):
        path.write_text(SECRET + "\n")
        path.chmod(0o600)

    def replace(self, path):
        """As programs do that write a file atomically."""
        new = path.with_name("new")
        self.secret(new)
        new.rename(path)

    def serve(self, token=None, **env):
        return self.start(env={"SIDECAR_SANDBOX": "workspace", "SIDECAR_TOKEN_FILE": str(token or self.token),
                               "SIDECAR_REQUIRE_AUTH": "false", "SIDECAR_AUDIT": str(self.audit),
                               "SIDECAR_AUDIT_KEY_FILE": str(self.key), **env})

    def rotate(self, server):
        """As docs/undo.md says."""
        for n in (2, 1):
            if (old := self.dir / ("audit.%d" % n)).exists():
                old.rename(self.dir / ("audit.%d" % (n + 1)))
        self.audit.rename(self.dir / "audit.1")
        os.kill(server.process.pid, signal.SIGHUP)
        until(lambda: self.audit.exists() and self.audit.stat().st_size, "the server goes on in a new file")

    def assert_hidden(self, server, *paths):
        for path in paths:
            with self.subTest(path):
                self.assertTrue(os.path.getsize(path), "there is something to see")
                out = server.output("run_command", command="cat %s" % path)
                self.assertEqual((out["stdout"], out["exit_code"]), ("", 1))

    def waiting(self, server, name):
        """A job that waits until a file of that name appears; it has begun."""
        command = "echo begun > %s.begun; until [ -e %s ]; do sleep 0.05; done; cat /tmp/shared; echo whole" % (name, name)
        job = server.output("run_command", command=command, background=True)["job_id"]
        until(lambda: os.path.exists(server.path(name + ".begun")), "the job runs")
        return job

    def ended(self, server, job):
        def look():
            out = server.output("job_output", job_id=job)
            return out if out["state"] != "running" else None
        return until(look, "the job ends")

    def test_the_audit_after_its_rotation(self):
        server = self.serve()
        self.assert_hidden(server, self.audit)
        for n in range(1, 4):
            self.rotate(server)
            self.assert_hidden(server, self.audit, *(self.dir / ("audit.%d" % k) for k in range(1, n + 1)))

    def test_what_is_replaced_by_a_rename(self):
        server = self.serve()
        for path in (self.token, self.key):
            for _ in range(2):
                self.replace(path)
                self.assert_hidden(server, path)

    def test_what_is_removed_and_made_again(self):
        """The new file may get the inode of the old one."""
        server = self.serve()
        self.token.unlink()
        self.assertEqual(server.output("run_command", command="echo well")["stdout"], "well\n")
        for _ in range(8):
            self.secret(self.token)
            self.assert_hidden(server, self.token)
            self.token.unlink()

    def test_a_link_that_leads_elsewhere_by_now(self):
        """As Kubernetes replaces the files of a secret."""
        for name in ("one", "two"):
            (self.dir / name).mkdir()
            self.secret(self.dir / name / "token")
        link = self.dir / "data"
        link.symlink_to("one")
        server = self.serve(token=link / "token")
        self.assert_hidden(server, self.dir / "one" / "token")
        (self.dir / "next").symlink_to("two")
        (self.dir / "next").rename(link)
        self.assert_hidden(server, link / "token", self.dir / "one" / "token", self.dir / "two" / "token")

    def test_a_link_that_a_command_makes_covers_nothing_else(self):
        """In the workspace commands cannot take the directory of a covered file away, and the file stays covered."""
        workspace = self.dir / "ws"
        (workspace / "held").mkdir(parents=True)
        self.secret(workspace / "held" / "token")
        server = self.start(env={"SIDECAR_SANDBOX": "workspace", "SIDECAR_REQUIRE_AUTH": "false",
                                 "SIDECAR_TOKEN_FILE": str(workspace / "held" / "token")}, workspace=str(workspace))
        planted = "mv held away && mkdir held && ln -s /usr/bin held/token"
        self.assertNotEqual(server.output("run_command", command=planted)["exit_code"], 0)
        for _ in range(2):
            self.assertEqual(server.output("run_command", command="ls /usr/bin | head -c 1 | wc -c")["stdout"], "1\n")
            self.assert_hidden(server, workspace / "held" / "token")

    def test_running_commands_go_on(self):
        server = self.serve()
        server.output("run_command", command="echo kept > /tmp/shared")
        jobs = {}
        for name in ("one", "two"):
            jobs[name] = self.waiting(server, name)
            self.replace(self.token)
            self.assert_hidden(server, self.token)
        self.assertEqual(len(keepers(server)), 3, "one for each that runs in an old sandbox, and the new one")
        stopped = self.waiting(server, "never")
        self.replace(self.token)
        self.assert_hidden(server, self.token)
        server.output("job_stop", job_id=stopped)
        self.assertEqual(self.ended(server, stopped)["state"], "exited")
        for name, job in jobs.items():
            server.put(name, b"")
            out = self.ended(server, job)
            self.assertEqual((out["exit_code"], out["output"]), (0, "kept\nwhole\n"))

        def only_one():
            # What was left behind is cleared away with the next command.
            self.assertEqual(server.output("run_command", command="cat /tmp/shared")["stdout"], "kept\n")
            return len(keepers(server)) == 1
        until(only_one, "the old sandboxes end with their commands")

    def test_the_end_of_the_server_ends_all(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(how):
                base = self.dir / how.name
                base.mkdir()
                server = self.serve(TMPDIR=str(base))
                self.waiting(server, "never")
                self.replace(self.token)
                self.assert_hidden(server, self.token)
                ends = [os.pidfd_open(pid) for pid in keepers(server)]
                self.assertEqual(len(ends), 2)
                self.assertNotEqual(list(base.iterdir()), [])
                server.stop(how)
                for end in ends:
                    select.select([end], [], [])
                    os.close(end)
                self.assertEqual(list(base.iterdir()), [], "the private /tmp is removed")

    def test_orders_that_come_meanwhile_are_not_lost(self):
        server = self.serve()
        failed = []

        def run():
            for _ in range(25):
                out = server.output("run_command", command="echo well")
                if out["stdout"] != "well\n":
                    failed.append(out)
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self.replace(self.token)
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


if __name__ == "__main__":
    unittest.main()
