"""doctor: findings with remedies, and trials that leave nothing behind."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from harness import BIN, Sidecar, environment, machine, needs_sandbox, needs_two_users

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
# Neither Landlock nor namespaces.
NO_SANDBOX = (sys.executable, PROGRAMS / "refused_calls.py", "landlock_create_ruleset=ENOSYS",
              sys.executable, PROGRAMS / "without_namespaces.py")


class Doctor(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sidecar-test-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.workspace = os.path.join(self.dir, "ws")
        os.mkdir(self.workspace)

    def doctor(self, *flags, prefix=(), **env):
        self.state = os.path.join(self.dir, "state")
        env = environment(**{"XDG_CONFIG_HOME": self.dir, "XDG_STATE_HOME": self.state, "TMPDIR": self.dir,
                             "WORKSPACE_ROOT": self.workspace,
                             "SOCKET_PATH": os.path.join(self.dir, "s.sock"), **env})
        done = subprocess.run([*prefix, BIN, "doctor", "--json", *flags], env=env, capture_output=True, text=True,
                              check=False, timeout=300)
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if answer["ok"] else 1)
        return {f["name"]: (f["verdict"], f["text"]) for f in answer["findings"]}

    def test_every_check_is_there(self):
        found = self.doctor()
        self.assertEqual(list(found), ["openat2", "landlock", "seccomp", "what runs later", "hidden files", "observing commands", "user namespaces", "cgroup", "open files",
                                       "processes", "settings", "workspace", "sandbox of serve", "sandbox of mcp", "socket",
                                       "token"])
        self.assertEqual(found["workspace"][0], "ok")
        self.assertIn("is free", found["socket"][1])

    def test_commands_that_are_not_held_are_a_warning(self):
        found = self.doctor("--sandbox", "off")
        for name in ("sandbox of serve", "sandbox of mcp"):
            self.assertEqual(found[name][0], "warn")
            self.assertIn("--sandbox workspace", found[name][1])

    @unittest.skipUnless(machine.filters(), "no system-call filter can be set here")
    def test_a_sandbox_is_recommended_only_where_it_starts(self):
        found = self.doctor("--sandbox", "off", prefix=NO_SANDBOX)
        for name in ("sandbox of serve", "sandbox of mcp"):
            self.assertEqual(found[name][0], "warn")
            self.assertNotIn("--sandbox workspace", found[name][1])
            self.assertIn("no sandbox can be made here: This kernel has no Landlock", found[name][1])

    @unittest.skipUnless(machine.filters(), "no system-call filter can be set here")
    def test_a_server_that_does_not_start_says_why(self):
        found = self.doctor("--prove", "--sandbox", "workspace", prefix=NO_SANDBOX, SOCKET_PATH="")
        self.assertEqual(found["a server to attack"][0], "fail")
        self.assertIn("This kernel has no Landlock", found["a server to attack"][1])

    @needs_sandbox
    def test_the_sandbox_of_mcp_needs_no_setting(self):
        self.assertEqual(self.doctor()["sandbox of mcp"][0], "ok")
        self.assertEqual(self.doctor("--sandbox", "workspace")["sandbox of serve"][0], "ok")

    def test_each_fault_comes_with_a_remedy(self):
        path = os.path.join(self.dir, "plain")
        with open(path, "w", encoding="ascii") as f:
            f.write("short")
        os.chmod(path, 0o644)
        found = self.doctor("--socket", path, "--workspace", path, "--token-file", path, "--tcp", "127.0.0.1:0")
        self.assertEqual(found["socket"][0], "fail")
        self.assertEqual(found["workspace"][0], "fail")
        self.assertEqual(found["token"][0], "warn")
        self.assertIn("chmod o-r", found["token"][1])
        self.assertEqual(self.doctor("--require-auth")["settings"][0], "fail")

    def test_a_workspace_that_is_not_there(self):
        found = self.doctor("--workspace", os.path.join(self.workspace, "not", "yet"))["workspace"]
        self.assertEqual(found[0], "warn")
        self.assertIn("the server creates it", found[1])

    @needs_two_users
    def test_a_workspace_that_cannot_be_created(self):
        os.chmod(self.dir, 0o755)
        prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        found = self.doctor("--workspace", os.path.join(self.workspace, "not", "yet"), prefix=prefix)["workspace"]
        self.assertEqual(found[0], "fail")
        self.assertIn("user 65534 cannot create it in %s:" % self.workspace, found[1])

    def test_a_stale_socket_is_reported(self):
        path = os.path.join(self.dir, "s.sock")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
        self.assertEqual(self.doctor()["socket"][0], "warn")

    def prove(self, *flags):
        before = sorted(os.listdir(self.dir))
        found = self.doctor("--prove", *flags)
        # Nor is the history left of what the trials changed.
        journals = os.path.join(self.state, "sidecar")
        self.assertEqual(os.listdir(journals) if os.path.exists(journals) else [], [])
        self.assertEqual(sorted(set(os.listdir(self.dir)) - {"state"}), before)
        self.assertEqual(os.listdir(self.workspace), [])
        return found

    def test_the_guards_hold(self):
        found = self.prove("--sandbox", "off")
        for name in ("links that lead out", "links swapped in time", "slow patterns", "processes left behind",
                     "a secret in two pieces", "undo of a command", "hooks that run later"):
            self.assertEqual(found[name][0], "ok", found[name])
        for name in ("writing outside", "sockets of others", "network", "read-only"):
            self.assertEqual(found[name][0], "off", found[name])

    @needs_sandbox
    def test_the_sandbox_holds(self):
        found = self.prove("--sandbox", "workspace", "--network", "none", "--read-only")
        for name in ("writing outside", "sockets of others", "network", "read-only", "links swapped in time", "hooks that run later"):
            self.assertEqual(found[name][0], "ok", found[name])

    def serve(self, *flags):
        server = Sidecar(flags=flags)
        self.addCleanup(server.close)
        return server

    def attack(self, server, *flags, prefix=()):
        """Prove a running server; what was found, without what is looked at on this machine."""
        beside = sorted(os.listdir("/var/tmp"))
        found = self.doctor("--prove", *flags, prefix=prefix)
        self.assertEqual(os.listdir(server.workspace), [])
        self.assertEqual([n for n in os.listdir("/var/tmp") if n not in beside and "prove" in n], [])
        self.assertIsNone(server.process.poll())
        return found

    def test_the_guards_of_a_running_server_hold(self):
        landlock = machine.landlock()
        self.assertEqual("not available" not in self.doctor()["landlock"][1], landlock)
        server = self.serve("--sandbox", "workspace" if landlock else "off", "--network", "none")
        found = self.attack(server, "--socket", server.socket)
        for name in ("links that lead out", "links swapped in time", "slow patterns", "processes left behind",
                     "a secret in two pieces", "a server to attack"):
            self.assertEqual(found[name][0], "ok", found[name])
        self.assertIn(server.workspace, found["a server to attack"][1])
        for name in ("workspace", "settings", "hidden files", "what runs later", "git"):  # would be those of this command line, not the server's
            self.assertNotIn(name, found)
        self.assertRegex(found["links swapped in time"][1], r"[1-9]\d* reads and [1-9]\d* writes .*[1-9]\d* refused")
        for name in ("writing outside", "sockets of others", "network"):
            self.assertEqual(found[name][0], "ok" if landlock else "off", found[name])

    def test_the_settings_of_the_running_server_count(self):
        server = self.serve("--sandbox", "off", "--scrub", "off", "--allow-outside")
        found = self.attack(server, "--socket", server.socket, "--scrub", "on")
        for name in ("links that lead out", "links swapped in time", "a secret in two pieces"):
            self.assertEqual(found[name][0], "off", found[name])

    @unittest.skipUnless(machine.user_namespaces(), "this machine gives no user namespaces")
    def test_what_cannot_be_seen_from_here_is_not_tried(self):
        server = self.serve("--sandbox", "off")
        elsewhere = ["unshare", "--mount", "--map-root-user", "--", "sh", "-c",
                     'mount -t tmpfs none "$0" && exec "$@"', server.workspace]
        found = self.attack(server, "--url", "unix:" + server.socket, prefix=elsewhere)
        for name in ("links that lead out", "links swapped in time"):
            self.assertEqual(found[name][0], "warn", found[name])
            self.assertRegex(found[name][1], "^not tried: .*" + server.workspace)
        for name in ("slow patterns", "processes left behind", "a secret in two pieces"):
            self.assertEqual(found[name][0], "ok", found[name])

    def test_a_missing_server_is_a_failure(self):
        found = self.doctor("--prove", "--socket", os.path.join(self.dir, "none"))
        self.assertEqual(found["a server to attack"][0], "fail")


if __name__ == "__main__":
    unittest.main()
