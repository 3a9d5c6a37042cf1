"""The sandbox without namespaces: what file rules leave to the server, and what it leaves open."""
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import tty
import unittest

from harness import BIN, Sidecar, environment, machine, needs_sandbox

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]
OLD = [sys.executable, str(PROGRAMS / "landlock_abi.py"), "2", *FLOOR]  # as Linux 5.19 to 6.1 have it

needs_old = unittest.skipUnless(machine.answers(), "no answer of the kernel can be replaced here")


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


class World:
    """A file outside, which this test's user may change, and a server whose sandbox has no namespaces."""

    def __init__(self, case, prefix, flags=(), **env):
        self.outside = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        case.addCleanup(shutil.rmtree, self.outside, True)
        self.file = os.path.join(self.outside, "file")
        pathlib.Path(self.file).write_text("untouched")
        os.chmod(self.file, 0o644)
        self.server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", **env}, flags=flags, prefix=prefix)
        case.addCleanup(self.server.close)
        os.symlink(self.file, self.server.path("link"))
        self.server.put("own", "untouched", 0o644)

    def python(self, *expressions):
        """(what became of each, the denials)"""
        self.server.put("script.py", "import os\nOUT, FILE = %r, %r\n" % (self.outside, self.file) + "".join(
            "try:\n    %s\n    print('done')\nexcept OSError as e:\n    print(e.strerror)\n" % one for one in expressions))
        seen = self.server.observe("run_command", command="%s script.py" % sys.executable)
        assert seen["output"]["exit_code"] == 0, seen
        return seen["output"]["stdout"].splitlines(), seen.get("denied", [])

    def state(self):
        """What the file outside is."""
        found = os.stat(self.file)
        return pathlib.Path(self.file).read_text(), found.st_mode, found.st_mtime_ns, os.listxattr(self.file)


@needs_sandbox
class Attributes(unittest.TestCase):
    """Permissions, owners, times and attributes by path: file rules do not know them."""

    ATTEMPTS = ("os.chmod(FILE, 0o600)", "os.chmod('link', 0o600)", "os.chdir(OUT); os.chmod('file', 0o600)", "os.chmod('.', 0o711)",
                "os.chmod(OUT + '/..' + OUT[len(os.path.dirname(OUT)):], 0o711)", "os.chmod('file', 0o600, dir_fd=os.open(OUT, os.O_PATH))",
                "os.chmod('/proc/self/fd/%d' % os.open(FILE, os.O_PATH), 0o600)", "os.chown(FILE, -1, os.getgid())",
                "os.lchown(FILE, -1, os.getgid())", "os.utime(FILE, (1, 1))", "os.setxattr(FILE, 'user.x', b'y')")

    def check(self, **env):
        world = World(self, FLOOR, **env)
        before = world.state(), os.stat(world.outside).st_mode
        how, denied = world.python(*self.ATTEMPTS)
        self.assertEqual((world.state(), os.stat(world.outside).st_mode), before)
        self.assertEqual(dict(zip(self.ATTEMPTS, how)), dict.fromkeys(self.ATTEMPTS, "Permission denied"))
        self.assertEqual([(d["operation"], d["path"], d["by"]) for d in denied],
                         [(o, p, "seccomp") for o, p in (("chmod", world.file), ("chmod", world.outside), ("chown", world.file),
                                                         ("utime", world.file), ("setxattr", world.file))])
        self.assertRegex(denied[0]["rule"], "^writable: the workspace, /.*/sidecar-")
        self.assertEqual(world.python("os.chmod('own', 0o600)", "os.utime('own', (1, 1))", "os.chmod('not-there', 0)",
                                      "os.chmod('.', 0o755)", "os.chmod(os.environ['TMPDIR'], 0o700)"),
                         (["done", "done", "No such file or directory", "done", "done"], []))
        self.assertEqual((os.stat(world.server.path("own")).st_mode & 0o777, os.stat(world.server.path("own")).st_mtime), (0o600, 1))

    def test_outside_they_are_refused_and_named(self):
        self.check()

    def test_without_observing_too(self):
        self.check(SIDECAR_OBSERVE="off")


@needs_sandbox
@needs_old
class Emptying(unittest.TestCase):
    """Before Landlock ABI 3 file rules do not know that a file is emptied."""

    ATTEMPTS = ("os.truncate(FILE, 1)", "os.truncate('link', 1)", "os.truncate('/proc/self/fd/%d' % os.open(FILE, os.O_PATH), 1)",
                "os.truncate('/proc/%d/fd/%d' % (os.getpid(), os.open(FILE, os.O_PATH)), 1)",
                "os.open(FILE, os.O_RDONLY | os.O_TRUNC)", "os.open('link', os.O_TRUNC | os.O_CREAT)", "os.open(FILE, 3 | os.O_TRUNC)",
                "os.open('file', os.O_TRUNC, dir_fd=os.open(OUT, os.O_PATH))", "os.open(FILE, os.O_WRONLY | os.O_TRUNC)")

    def refused(self, **env):
        world = World(self, OLD, **env)
        before = world.state()
        how, denied = world.python(*self.ATTEMPTS)
        self.assertEqual(world.state(), before)
        self.assertEqual(dict(zip(self.ATTEMPTS, how)), dict.fromkeys(self.ATTEMPTS, "Permission denied"))
        return world, denied

    def test_outside_it_is_refused_and_named(self):
        world, denied = self.refused()
        self.assertEqual({(d["operation"], d["path"]) for d in denied}, {("write", world.file)})
        self.assertRegex(denied[0]["rule"], "^writable: the workspace, /.*/sidecar-")

    def test_without_observing_too(self):
        self.assertTrue(self.refused(SIDECAR_OBSERVE="off")[1])

    def test_a_read_only_workspace(self):
        world = World(self, OLD, SIDECAR_READ_ONLY="true")
        before = world.server.get("own")
        done = world.server.output("run_command", command="%s -c 'import os; os.truncate(\"own\", 1)'" % sys.executable)
        self.assertIn("PermissionError", done["stderr"])
        self.assertEqual(world.server.get("own"), before)

    def test_inside_the_server_does_it(self):
        world = World(self, OLD, flags=("--limit-file", "1"))
        self.assertEqual(world.python("os.truncate('own', 2)", "os.truncate('not-there', 0)", "os.truncate('.', 0)",
                                      "os.truncate('own', -1)", "os.truncate('own', 2 << 20)", "os.chmod('own', 0)",
                                      "os.truncate('own', 0)"),
                         (["done", "No such file or directory", "Is a directory", "Invalid argument", "File too large", "done",
                           "Permission denied"], []))
        os.chmod(world.server.path("own"), 0o644)
        self.assertEqual(world.server.get("own"), b"un")
        how, _ = world.python("os.open('own', os.O_WRONLY | os.O_TRUNC)", "os.ftruncate(os.open('own', os.O_RDWR), 5)")
        self.assertEqual((how, world.server.get("own")), (["done"] * 2, bytes(5)))

    def test_inside_an_open_has_to_ask_for_writing(self):
        world = World(self, OLD)
        how, denied = world.python("os.open('own', os.O_RDONLY | os.O_TRUNC)", "os.open('new', os.O_CREAT | os.O_TRUNC)")
        self.assertEqual((how, world.server.get("own")), (["Permission denied"] * 2, b"untouched"))
        self.assertEqual([(d["path"], d["rule"]) for d in denied],
                         [(world.server.path(name), "on this kernel, to empty a file it must be opened for writing")
                          for name in ("own", "new")])

    RACE = """
import ctypes, sys, threading
libc = ctypes.CDLL(None)
paths = [name.encode() + b"\\0" for name in sys.argv[1:3]]
n = max(len(p) for p in paths)
paths = [p.ljust(n, b"\\0") for p in paths]
text = ctypes.create_string_buffer(paths[0], n)
ended = threading.Event()
def exchange():
    while not ended.is_set():
        for p in paths:
            ctypes.memmove(text, p, n)
thread = threading.Thread(target=exchange)
thread.start()
for i in range(2000):
    libc.truncate(text, ctypes.c_long(i % 2))
ended.set()
thread.join()
how = (ctypes.c_uint64 * 3)(0, 0, 0)
print(libc.syscall(437, -100, paths[1], how, ctypes.c_size_t(24)))
"""

    def test_a_path_that_is_exchanged_meanwhile(self):
        """Nor openat2, whose flags could be."""
        world = World(self, OLD)
        before = world.state()
        world.server.put("race.py", self.RACE)
        done = world.server.output("run_command", command="%s race.py %s %s" % (sys.executable, world.server.path("own"), world.file))
        self.assertEqual((done["stdout"], world.state()), ("-1\n", before))
        self.assertLess(len(world.server.get("own")), 2)

    def test_what_is_emptied_inside_can_be_taken_back(self):
        world = World(self, OLD)
        self.assertEqual(world.python("os.truncate('own', 0)")[0], ["done"])
        world.server.output("undo_change", id=1)
        self.assertEqual(world.server.get("own"), b"untouched")


@needs_sandbox
@needs_old
class Unjudged(unittest.TestCase):
    """No process can judge the calls of commands: another program receives them already."""

    PREFIX = [*OLD, sys.executable, str(PROGRAMS / "under_listener.py")]

    def fact(self, world):
        health = world.server.request("GET", "/health").json()["sandbox"]
        return next(p for p in health["protections"] if p["name"] == "outside-truncation-refused")

    def test_it_does_not_start_without_a_word(self):
        for flags in ((), ("--read-only",)):
            with self.subTest(flags), self.assertRaisesRegex(RuntimeError, "could empty files outside.*SIDECAR_ALLOW_TRUNCATE=true"):
                World(self, self.PREFIX, flags)
        world = World(self, self.PREFIX, ("--read-only",), SIDECAR_SANDBOX="auto")
        self.assertIn("could empty files outside", world.server.failure("run_command", command="true")[1])

    def test_with_the_word_it_says_what_is_missing(self):
        world = World(self, self.PREFIX, ("--allow-truncate",))
        self.assertFalse(self.fact(world)["inForce"])
        self.assertIn("can empty files outside", self.fact(world)["note"])
        world.server.wait_for_log(lambda line: line.get("note") == self.fact(world)["note"])
        self.assertEqual(world.python("os.truncate(FILE, 1)", "os.chmod('own', 0o600)"), (["done", "done"], []))

    def test_a_sandbox_that_nobody_asked_for_starts(self):
        world = World(self, self.PREFIX, SIDECAR_SANDBOX="auto")
        if world.server.request("GET", "/health").json()["sandbox"]["mode"] != "off":  # as in a container
            self.assertFalse(self.fact(world)["inForce"])

    def test_where_it_is_held(self):
        for prefix in (FLOOR, OLD, OLD[:3]):
            with self.subTest(prefix):
                self.assertTrue(self.fact(World(self, prefix))["inForce"])

    def doctor(self, prefix, *flags):
        done = subprocess.run([*prefix, BIN, "doctor", "--json", "--sandbox", "workspace", *flags], env=environment(),
                              capture_output=True, text=True, check=False)
        return {f["name"]: f["verdict"] for f in json.loads(done.stdout)["findings"]}

    def test_the_doctor_says_so(self):
        self.assertEqual(self.doctor(self.PREFIX)["emptying files"], "fail")
        self.assertEqual(self.doctor(self.PREFIX, "--allow-truncate", "--observe", "off")["emptying files"], "warn")
        self.assertNotIn("emptying files", self.doctor(OLD))


if __name__ == "__main__":
    unittest.main()
