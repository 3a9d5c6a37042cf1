"""serve --private: a server for the program that starts it, whose standard input is its life."""
import contextlib
import os
import pathlib
import signal
import socket
import stat
import subprocess
import tempfile
import unittest

from harness import BIN, PATIENCE, UnixConnection, environment, until


class Private(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="sidecar-test-")
        self.addCleanup(temporary.cleanup)
        self.dir = os.path.realpath(temporary.name)
        self.tmp = self.dir + "/tmp"
        os.mkdir(self.tmp)

    def start(self, *flags, **env):
        """A private server and the path of its socket, which can be connected to."""
        words = [BIN, "serve", "--private", "--workspace", self.dir + "/ws", *flags]
        settings = environment(XDG_CONFIG_HOME=self.dir, TMPDIR=self.tmp, **env)
        process = subprocess.Popen(words, env=settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        for stream in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(stream.close)
        self.addCleanup(self.end, process)
        return process, process.stdout.readline().decode().rstrip("\n")

    def end(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()

    def ask(self, path):
        with contextlib.closing(UnixConnection(path)) as connection:
            connection.request("POST", "/ls", "{}", {"Content-Type": "application/json"})
            return connection.getresponse().status

    def check_gone(self, process, status=0):
        self.assertEqual(process.wait(PATIENCE), status)
        until(lambda: not os.listdir(self.tmp), lambda: "nothing is left: %s" % os.listdir(self.tmp))

    def test_ends_with_its_input(self):
        process, path = self.start()
        self.assertEqual(self.ask(path), 200)
        process.stdin.write(b"not a word of this matters\n" * 1000)
        process.stdin.flush()
        self.assertEqual(self.ask(path), 200)
        process.stdin.close()
        self.check_gone(process)

    def test_ends_while_a_client_is_connected(self):
        process, path = self.start()
        with contextlib.closing(UnixConnection(path)) as connection:
            connection.connect()
            process.stdin.close()
            self.check_gone(process)

    def test_ends_by_signals_too(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            process, path = self.start()
            self.assertEqual(self.ask(path), 200)
            process.send_signal(how)
            self.check_gone(process)

    def test_the_socket_is_for_this_user_alone(self):
        _, path = self.start()
        self.assertEqual(os.path.dirname(os.path.dirname(path)), self.tmp)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)

    def test_settings_of_another_server_are_ignored(self):
        other = self.dir + "/other.sock"
        process, path = self.start(SOCKET_PATH=other, TCP_HOST="0.0.0.0", TCP_PORT="0", SIDECAR_AUTH_TOKEN="secret",
                                   SIDECAR_REQUIRE_AUTH="true", SIDECAR_ALLOWED_UIDS="4294967290")
        self.assertEqual(self.ask(path), 200)
        self.assertFalse(os.path.exists(other))
        process.stdin.close()
        self.check_gone(process)

    def test_a_socket_that_a_flag_names(self):
        named = self.dir + "/named.sock"
        process, path = self.start("--socket", named)
        self.assertEqual(path, named)
        self.assertEqual(self.ask(path), 200)
        process.stdin.close()
        self.check_gone(process)
        self.assertFalse(os.path.exists(named))

    def test_what_killed_ones_left(self):
        """The next one removes it, and nothing else."""
        dead, path = self.start()
        _, alive = self.start()
        dead.kill()
        dead.wait()
        self.assertTrue(os.path.exists(path))
        kept = [self.tmp + "/coding-sidecar-" + name for name in ("aaaaaa", "bbbbbb", "cccccc")]
        for place in kept:
            os.mkdir(place, 0o700)
        pathlib.Path(kept[0] + "/s").touch()
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(kept[1] + "/s")
        pathlib.Path(kept[1] + "/mine").touch()
        os.chmod(kept[2], 0o755)
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(kept[2] + "/s")
        until(lambda: self.start()[1] and not os.path.exists(os.path.dirname(path)), "what it was starting has let go of the socket")
        self.assertEqual(self.ask(alive), 200)
        for place in kept:
            self.assertTrue(os.path.exists(place))
        self.assertTrue(os.path.exists(kept[1] + "/mine"))

    def test_a_start_that_fails_leaves_nothing(self):
        pathlib.Path(self.dir + "/ws").touch()
        process, path = self.start()
        self.assertEqual(path, "")
        self.check_gone(process, 1)
        self.assertIn(b"ws", process.stderr.read())

    def test_a_place_that_is_too_long(self):
        self.tmp += "/" + "x" * 90
        os.mkdir(self.tmp)
        process, path = self.start()
        self.assertEqual(path, "")
        self.assertIn(b"The name in TMPDIR is too long for a socket", process.stderr.read())
        self.check_gone(process, 1)


if __name__ == "__main__":
    unittest.main()
