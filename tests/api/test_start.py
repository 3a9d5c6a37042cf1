"""Starting: what is refused, in one sentence and with nothing changed; and what is set up."""
import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
import unittest

from harness import BIN, Sidecar, SidecarTest, run_expecting_failure


class Refused(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="sidecar-test-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.socket = os.path.join(self.dir, "s.sock")
        self.workspace = os.path.join(self.dir, "ws")

    def tree(self):
        return sorted(os.path.join(d, n) for d, ds, fs in os.walk(self.dir) for n in ds + fs)

    def refuse(self, *words, env=None, flags=(), status=1):
        """Starting fails with one sentence that has these words, and leaves no trace. A command line that
        makes no sense (status 2) is answered with a second one, which says where to look."""
        before = self.tree()
        settings = {"SOCKET_PATH": self.socket, "WORKSPACE_ROOT": self.workspace}
        settings.update(env or {})
        got, said = run_expecting_failure({k: v for k, v in settings.items() if v is not None}, flags)
        self.assertEqual(got, status, said)
        lines = said.splitlines()
        self.assertEqual(len(lines), status, said)
        self.assertTrue(lines[0].startswith("sidecar: "), said)
        for word in words:
            self.assertIn(word, said)
        self.assertEqual(self.tree(), before, "something was left behind")

    def test_tcp_host_alone(self):
        self.refuse("TCP_HOST", "TCP_PORT is missing", env={"TCP_HOST": "127.0.0.1"})

    def test_tcp_port_alone(self):
        self.refuse("TCP_PORT", "TCP_HOST is missing", env={"TCP_PORT": "0"})

    def test_auth_required_without_token(self):
        self.refuse("SIDECAR_AUTH_TOKEN", env={"SIDECAR_REQUIRE_AUTH": "true"})
        self.refuse("SIDECAR_AUTH_TOKEN", env={"SIDECAR_REQUIRE_AUTH": "YES", "SIDECAR_AUTH_TOKEN": ""})
        self.refuse("SIDECAR_AUTH_TOKEN", flags=["--require-auth"])

    def test_open_tcp_without_token(self):
        for host in ("0.0.0.0", "::", "192.0.2.1"):
            self.refuse("SIDECAR_AUTH_TOKEN", host, env={"TCP_HOST": host, "TCP_PORT": "0"})
        self.refuse("SIDECAR_AUTH_TOKEN", flags=["--tcp", "0.0.0.0:0"])

    def test_tcp_that_is_no_address(self):
        self.refuse("TCP_HOST", env={"TCP_HOST": "example.invalid", "TCP_PORT": "1", "SIDECAR_AUTH_TOKEN": "t"})
        self.refuse("TCP_PORT", env={"TCP_HOST": "127.0.0.1", "TCP_PORT": "x"})
        self.refuse("TCP_PORT", env={"TCP_HOST": "127.0.0.1", "TCP_PORT": "65536"})
        for value in ("127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:99999", "127.0.0.1:-1"):
            self.refuse("--tcp", flags=["--tcp", value])

    def test_tcp_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            self.refuse(port, env={"TCP_HOST": "127.0.0.1", "TCP_PORT": port})

    def test_flags(self):
        self.refuse("--bogus", flags=["--bogus"], status=2)
        self.refuse("--bogus", flags=["--bogus=1"], status=2)
        self.refuse("stray", flags=["stray"], status=2)
        self.refuse("--socket", flags=["--socket"])
        self.refuse("--tcp", flags=["--tcp"])
        self.refuse("--socket-mode", "9", flags=["--socket-mode", "9"])
        self.refuse("--log", "auto, text, json", flags=["--log=xml"])
        self.refuse("--grace", flags=["--grace", "soon"])
        self.refuse("SIDECAR_LOG_LEVEL", env={"SIDECAR_LOG_LEVEL": "loud"})
        self.refuse("SIDECAR_ALLOWED_UIDS", env={"SIDECAR_ALLOWED_UIDS": "1,root"})

    def test_token_is_no_flag(self):
        self.refuse("--auth-token", flags=["--auth-token=secret"], status=2)

    def test_token_file(self):
        missing = os.path.join(self.dir, "missing")
        self.refuse("missing", flags=["--token-file", missing])
        with open(os.path.join(self.dir, "empty"), "w", encoding="ascii") as f:
            f.write(" \n")
        self.refuse("empty", flags=["--token-file", f.name])

    def test_socket_path_too_long(self):
        self.refuse("SOCKET_PATH", "107", env={"SOCKET_PATH": self.dir + "/" + "x" * 108})

    def test_live_socket(self):
        server = Sidecar()
        try:
            inode = os.stat(server.socket).st_ino
            self.refuse(server.socket, env={"SOCKET_PATH": server.socket})
            self.assertEqual(os.stat(server.socket).st_ino, inode)
            self.assertEqual(server.request("GET", "/health").status, 200)
        finally:
            server.close()

    def test_not_a_socket(self):
        with open(self.socket, "w", encoding="ascii") as f:
            f.write("precious")
        self.refuse("not a socket", self.socket)
        with open(self.socket, encoding="ascii") as f:
            self.assertEqual(f.read(), "precious")
        os.unlink(self.socket)
        os.mkdir(self.socket)
        self.refuse("not a socket")
        os.rmdir(self.socket)
        os.symlink("elsewhere", self.socket)
        self.refuse("not a socket")

    def test_socket_directory_that_cannot_be(self):
        with open(os.path.join(self.dir, "file"), "w", encoding="ascii"):
            pass
        self.refuse("file", env={"SOCKET_PATH": self.dir + "/file/new/s.sock"})

    def test_socket_that_cannot_be(self):
        self.refuse("/proc/s.sock", "--socket PATH puts it elsewhere", env={"SOCKET_PATH": "/proc/s.sock"})

    def test_workspace_that_is_a_file(self):
        with open(self.workspace, "w", encoding="ascii"):
            pass
        self.refuse("WORKSPACE_ROOT", self.workspace, "not a directory")

    def test_workspace_outside_allowed_root(self):
        inner = os.path.join(self.dir, "allowed")
        os.mkdir(inner)
        self.refuse("ALLOWED_ROOT_DIRECTORY", inner, self.workspace, "name a directory that contains the workspace",
                    env={"ALLOWED_ROOT_DIRECTORY": inner})

    def test_an_allowed_root_that_is_missing(self):
        inner = os.path.join(self.dir, "none")
        self.refuse("ALLOWED_ROOT_DIRECTORY", inner, "which does not exist", env={"ALLOWED_ROOT_DIRECTORY": inner})
        # It is made with the workspace in it, and removed with it when the start fails.
        settings = {"ALLOWED_ROOT_DIRECTORY": inner, "WORKSPACE_ROOT": inner + "/a/ws"}
        with open(self.socket, "w", encoding="ascii"):
            pass
        self.refuse("not a socket", env=settings)
        os.unlink(self.socket)
        server = Sidecar(env=settings, workspace=inner + "/a/ws")
        self.addCleanup(server.close)
        server.result("write", path="f", content="x")
        self.assertTrue(os.path.exists(inner + "/a/ws/f"))

    def test_workspace_made_for_a_refused_socket_is_removed(self):
        with open(self.socket, "w", encoding="ascii"):
            pass
        self.refuse("not a socket", env={"WORKSPACE_ROOT": self.workspace + "/a/b"})


class SetUp(SidecarTest):
    def test_missing_workspace_is_created(self):
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as d:
            server = self.start(env={"WORKSPACE_ROOT": d + "/a/b"})
            self.assertTrue(os.path.isdir(d + "/a/b"))
            self.assertEqual(server.result("ls"), {"output": "(empty directory)"})

    def test_socket_mode_whatever_the_umask(self):
        for mask in (0o000, 0o027, 0o777):
            command = 'umask %03o; exec "$@"' % mask
            server = Sidecar(workspace=self.server.workspace, prefix=["sh", "-c", command, "sh"])
            try:
                self.assertEqual(stat.S_IMODE(os.stat(server.socket).st_mode), 0o660)
                server.result("write", path="mode-%o" % mask, content="")
                self.assertEqual(stat.S_IMODE(os.stat(server.path("mode-%o" % mask)).st_mode), 0o666 & ~mask)
            finally:
                server.close()

    def test_socket_mode_setting(self):
        server = self.start(env={"SIDECAR_SOCKET_MODE": "0600"})
        self.assertEqual(stat.S_IMODE(os.stat(server.socket).st_mode), 0o600)

    def test_stale_socket_is_replaced(self):
        server = self.start()
        server.process.kill()
        server.process.wait()
        self.assertTrue(os.path.exists(server.socket))
        server.start()
        self.assertEqual(server.request("GET", "/health").status, 200)

    def test_socket_directory_is_created(self):
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as d:
            path = d + "/a/b/s.sock"
            server = Sidecar(env={"SOCKET_PATH": path})
            self.addCleanup(server.close)
            self.assertEqual(server.request("GET", "/health").status, 200)

    def test_flag_wins_over_environment(self):
        server = Sidecar(env={"SIDECAR_READ_ONLY": "false", "WORKSPACE_ROOT": "/nonexistent/x"}, wait=False,
                         flags=["--workspace", self.server.workspace, "--read-only"])
        server.process.kill()
        server.process.wait()
        server.start()
        self.addCleanup(server.close)
        health = server.request("GET", "/health").json()
        self.assertEqual(health["workspace"], self.server.workspace)
        self.assertIs(health["readOnly"], True)

    def test_flag_turns_a_switch_off(self):
        server = self.start(env={"SIDECAR_READ_ONLY": "1"}, flags=["--read-only=no"])
        self.assertIs(server.request("GET", "/health").json()["readOnly"], False)

    def test_booleans(self):
        for word, meaning in (("1", True), ("TRUE", True), (" Yes ", True), ("0", False), ("off", False), ("", False)):
            with self.subTest(word):
                server = Sidecar(env={"SIDECAR_READ_ONLY": word})
                try:
                    self.assertIs(server.request("GET", "/health").json()["readOnly"], meaning)
                finally:
                    server.close()

    def test_a_typed_workspace_is_meant_from_here(self):
        place = os.path.dirname(self.server.workspace)
        os.makedirs(place + "/elsewhere/ws")
        for word, meant in ((".", place), ("elsewhere/ws", place + "/elsewhere/ws"), ("./elsewhere/../elsewhere/", place + "/elsewhere")):
            shown = subprocess.run([BIN, "config", "--json", "--workspace", word], cwd=place, stdout=subprocess.PIPE, check=True)
            self.assertEqual(os.path.normpath(json.loads(shown.stdout)["workspace"]), meant)
        status, text = run_expecting_failure({"WORKSPACE_ROOT": "elsewhere"})
        self.assertEqual(status, 1)
        self.assertIn("WORKSPACE_ROOT must be an absolute path", text)

    def test_token_file(self):
        path = self.server.put("../token", " secret\n")
        server = self.start(flags=["--token-file", path, "--require-auth"])
        self.assertEqual(server.request("GET", "/health").status, 401)
        self.assertEqual(server.request("GET", "/health", headers={"Authorization": "Bearer secret"}).status, 200)

    def test_blanks_around_a_value_are_no_part_of_it(self):
        place = self.server.path("../blanks")
        server = self.start(env={"WORKSPACE_ROOT": " %s\n" % place, "SOCKET_PATH": " %s.sock " % place, "SIDECAR_MAX_COMMANDS": " 7 ",
                                 "TCP_HOST": " ", "TCP_PORT": "\t", "DATA_DIR": "  "}, wait=False)
        server.wait_for_log(lambda line: "ready" in line["msg"])
        server.socket = place + ".sock"
        health = server.request("GET", "/health").json()
        self.assertEqual((health["workspace"], health["tcp"], health["dataDir"], health["limits"]["commands"]),
                         (os.path.realpath(place), None, None, 7))

    def test_blanks_around_a_token_are_no_part_of_it(self):
        # A secret that is handed on as a variable often ends in a newline, which no header can carry.
        server = self.start(env={"SIDECAR_AUTH_TOKEN": " secret\n", "SIDECAR_REQUIRE_AUTH": "1"})
        self.assertEqual(server.request("GET", "/health", headers={"Authorization": "Bearer secret"}).status, 200)
        done = subprocess.run([BIN, "health", "-q"], env={**server.env, "SIDECAR_AUTH_TOKEN": "secret\n"}, check=False)
        self.assertEqual(done.returncode, 0)
        status, text = run_expecting_failure({"SIDECAR_AUTH_TOKEN": " \n", "SIDECAR_REQUIRE_AUTH": "1"})
        self.assertEqual(status, 1)
        self.assertIn("no token is configured", text)

    def test_banner_says_what_is_in_force(self):
        ready = self.server.wait_for_log(lambda line: "ready" in line["msg"])
        self.assertEqual(ready["workspace"], self.server.workspace)
        self.assertEqual(ready["socket"], self.server.socket)
        self.assertEqual(ready["mode"], "0660")
        self.assertEqual(ready["auth"], "none")
        boundary = self.server.wait_for_log(lambda line: line["msg"] == "boundary")
        self.assertEqual(boundary["absolute_paths"], "shorthand")
        self.assertIn(boundary["resolver"], ("openat2", "walk"))
        health = self.server.request("GET", "/health").json()
        for name, line, key in (("workspace", ready, "workspace"), ("socket", ready, "socket"),
                                ("socketMode", ready, "mode"), ("auth", ready, "auth"),
                                ("absolutePaths", boundary, "absolute_paths"), ("readOnly", boundary, "read_only")):
            self.assertEqual(health[name], line[key], name)

    def test_allow_outside_without_limit_is_warned_of(self):
        server = self.start(flags=["--allow-outside"])
        server.wait_for_log(lambda line: line["level"] == "warn" and "ALLOWED_ROOT_DIRECTORY" in line["msg"])

    def test_no_token_in_the_banner(self):
        server = self.start(env={"SIDECAR_AUTH_TOKEN": "verysecret"})
        body = server.request("GET", "/health").body
        self.assertNotIn(b"verysecret", body)
        server.stop()
        self.assertNotIn("verysecret", server.log())

    def test_help_and_version(self):
        done = subprocess.run([BIN, "serve", "--help"], capture_output=True, check=True)
        for word in (b"--workspace", b"SOCKET_PATH", b"--tcp", b"SIDECAR_AUTH_TOKEN"):
            self.assertIn(word, done.stdout)
        self.assertEqual(done.stderr, b"")
        self.assertTrue(subprocess.run([BIN, "version"], capture_output=True, check=True).stdout)
        self.assertEqual(subprocess.run([BIN, "srve"], capture_output=True, check=False).returncode, 2)


if __name__ == "__main__":
    unittest.main()
