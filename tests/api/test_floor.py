"""The sandbox without namespaces: what file rules leave to the server, and what it leaves open."""
import os
import pathlib
import pty
import sys
import tty
import unittest

from harness import Sidecar, needs_sandbox

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]


@needs_sandbox
class Devices(unittest.TestCase):
    TERMINAL = """
import os, sys
def tried(name, flags, act):
    try:
        fd = os.open(name, flags | os.O_NONBLOCK)
        print(act(fd))
    except OSError as e:
        print(e.strerror)
# Without O_NOCTTY, which makes it the terminal of this session, and /dev/tty another name for it.
tried(sys.argv[1], os.O_RDONLY, lambda fd: os.read(fd, 100))
tried(sys.argv[1], os.O_RDWR, lambda fd: os.write(fd, b"typed"))
tried("/dev/tty", os.O_RDWR, lambda fd: os.write(fd, b"typed"))
"""

    def setUp(self):
        self.server = Sidecar(env={"SIDECAR_SANDBOX": "workspace"}, prefix=FLOOR)
        self.addCleanup(self.server.close)

    def run_lines(self, command):
        return self.server.output("run_command", command=command)["stdout"].splitlines()

    def test_the_terminals_of_the_user(self):
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, its)
        tty.setraw(its)
        os.write(ours, b"a password\n")
        self.server.put("terminal.py", self.TERMINAL)
        self.assertEqual(self.run_lines("%s terminal.py %s" % (sys.executable, os.ttyname(its))),
                         ["Permission denied", "Permission denied", "No such device or address"])
        os.set_blocking(ours, False)
        self.assertRaises(BlockingIOError, os.read, ours, 100)
        self.assertEqual(os.read(its, 100), b"a password\n")

    def test_what_commands_use(self):
        self.assertEqual(self.run_lines("echo x > /dev/null && head -c 2 /dev/zero | wc -c && head -c 2 /dev/urandom | wc -c && "
                                        "echo in | cat /dev/stdin && echo out > /dev/stdout && cat <(echo pipe)"),
                         ["2", "2", "in", "out", "pipe"])

    def test_everything_else_is_read(self):
        """The names in the root, and in every directory, whatever is put there later."""
        self.assertEqual(set(self.run_lines("ls -a /")), set(os.listdir("/")) | {".", ".."})
        self.assertIn("null", self.run_lines("ls /dev"))
        saved = pathlib.Path(self.server.dir, "saved")
        for text in ("one", "two"):
            saved.with_suffix(".new").write_text(text)
            saved.with_suffix(".new").rename(saved)
            self.assertEqual(self.run_lines("cat %s" % saved), [text])


if __name__ == "__main__":
    unittest.main()
