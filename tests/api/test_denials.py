"""What a sandbox refuses is named by operation, path and rule, with namespaces and without; what fails anyway is not."""
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import unittest

from harness import Sidecar, needs_namespaces, needs_sandbox
from mcp_client import Stdio, initialize
from test_events import Watcher

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FLOOR = [sys.executable, str(PROGRAMS / "without_namespaces.py")]
PROGRAM = (PROGRAMS / "denied.py").read_text()


class World:
    """A directory outside, in which this test's user may do everything, and a server with a sandbox."""

    def __init__(self, case, launcher=(), **env):
        self.outside = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        case.addCleanup(shutil.rmtree, self.outside, True)
        for name in ("old", "cut", "unlinked", "moved", "mode", "times"):
            pathlib.Path(self.outside, name).write_text("untouched")
        for name in ("empty", "full/inside"):
            os.makedirs(os.path.join(self.outside, name))
        self.listener = socket.socket(socket.AF_UNIX)
        case.addCleanup(self.listener.close)
        self.served = os.path.join(self.outside, "served")
        self.listener.bind(self.served)
        self.listener.listen(8)
        state = tempfile.mkdtemp(prefix="sidecar-test-")
        case.addCleanup(shutil.rmtree, state, True)
        self.server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", "XDG_STATE_HOME": state, **env}, prefix=launcher)
        case.addCleanup(self.server.close)
        self.server.put("denied.py", PROGRAM)

    def run(self, command, **arguments):
        """(what it wrote, its denials as (operation, path, by), the observation)"""
        seen = self.server.observe("run_command", command=command, **arguments)
        assert seen["success"], seen
        denied = [(d["operation"], d["path"], d["by"]) for d in seen.get("denied", [])]
        assert seen.get("denied_count", 0) >= len(denied) and bool(denied) == ("denied" in seen), seen
        return seen["output"]["stdout"] + seen["output"]["stderr"], denied, seen

    def python(self, script):
        self.server.put("script.py", script)
        return self.run("%s script.py" % sys.executable)

    def attempts(self):
        """[(operation, path, how it failed)], and the denials."""
        text, denied, _ = self.run("%s denied.py %s %s" % (sys.executable, self.outside, self.served))
        return [tuple(line.split("\t")) for line in text.splitlines()], denied


@needs_sandbox
class Denials(unittest.TestCase):
    def named(self, world, by, judged):
        """What is judged by the server is refused by another name than what the kernel refuses by itself."""
        attempts, denied = world.attempts()
        for operation, path, how in attempts:
            with self.subTest(operation, path=path):
                self.assertNotEqual(how, "done")
        wanted = [(o, p, "seccomp" if o in judged else by) for o, p, _ in attempts]
        self.assertGreaterEqual(len(wanted), 10)
        self.assertEqual(denied, wanted)

    @needs_namespaces
    def test_with_namespaces(self):
        world = World(self)
        self.named(world, "mount", {"connect"})
        _, _, seen = world.run("echo x > %s/old" % world.outside)
        self.assertEqual(seen["denied"][0]["rule"], "writable: the workspace, /tmp; the operator can allow its directory: --sandbox-write DIR")
        self.assertIn("sandbox refused", seen["output"]["hint"])
        self.assertEqual(set(os.listdir(world.outside)), {"old", "cut", "unlinked", "moved", "mode", "times", "empty", "full", "served"})

    @needs_namespaces
    def test_what_programs_do_without_is_not_told_to_a_model(self):
        """It is in observations; a text has what a command was for."""
        home = tempfile.mkdtemp(prefix="sidecar-home-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, home, True)
        os.mkdir(home + "/.config")
        client = Stdio("--sandbox", "workspace", env={"HOME": home}, results="text")
        self.addCleanup(client.close)
        client.send(initialize(0))
        client.answer(0)
        text = client.call("run_command", command="mkdir ~/.config/top; touch ~/.viminfo ~/.gitconfig; true")["result"]["content"][0]["text"]
        self.assertEqual([line for line in text.splitlines() if line.startswith("[sandbox: ")],
                         ["[sandbox: writing %s/.gitconfig is not allowed; writable: the workspace, /tmp; do without --global, or the "
                          "operator names a place that is writable: --command-env GIT_CONFIG_GLOBAL=FILE]" % home])

    @needs_namespaces
    def test_what_helps_tools_that_write_to_the_home(self):
        home = tempfile.mkdtemp(prefix="sidecar-home-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, home, True)
        os.makedirs(home + "/.local/lib/python3")
        client = Stdio("--sandbox", "workspace", "--command-env", "GIT_CONFIG_GLOBAL=/tmp/mine", env={"HOME": home}, results="text")
        self.addCleanup(client.close)
        client.send(initialize(0))
        client.answer(0)
        for command, said in (("mkdir ~/.local/lib/python3/x", "--command-env PYTHONUSERBASE=DIR]"),
                              ("mkdir -p ~/node_modules", "--command-env npm_config_prefix=DIR]"), ("touch ~/x", "--sandbox-write DIR]"),
                              ("git config --global user.name Mine && git config --global user.name", "\nMine")):
            with self.subTest(command):
                self.assertIn(said, client.call("run_command", command=command)["result"]["content"][0]["text"])

    def test_without_namespaces(self):
        world = World(self, FLOOR)
        self.named(world, "landlock", {"connect", "chmod", "utime"})
        _, _, seen = world.run("echo x > %s/old" % world.outside)
        self.assertRegex(seen["denied"][0]["rule"], "^writable: the workspace, /.*/sidecar-")

    def test_no_network_without_namespaces(self):
        world = World(self, FLOOR, SIDECAR_NETWORK="none")
        text, denied, seen = world.python("""import errno, socket
for family in socket.AF_INET, socket.AF_INET6, socket.AF_PACKET:
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC:
        try:
            socket.socket(family, kind)
        except OSError as e:
            print(errno.errorcode[e.errno])
""")
        self.assertEqual(text, "EPERM\n" * 6)
        self.assertEqual(denied, [("socket", "an Internet socket", "network")])
        self.assertEqual(seen["denied"][0]["rule"], "network: none")
        world = World(self, FLOOR, SIDECAR_NETWORK="none", SIDECAR_OBSERVE="off", SIDECAR_JOURNAL="off")
        text, _, _ = world.python("import socket; socket.socket(socket.AF_INET)")
        self.assertIn("PermissionError", text)

    def test_without_a_journal(self):
        world = World(self, SIDECAR_JOURNAL="off")
        self.assertEqual(world.run("echo x > %s/old; echo y > mine; cat mine" % world.outside)[1][0][:2],
                         ("write", os.path.join(world.outside, "old")))

    def test_a_read_only_workspace(self):
        world = World(self, SIDECAR_READ_ONLY="true")
        _, denied, seen = world.run("echo x > new; echo y > $TMPDIR/y; cat $TMPDIR/y")
        self.assertEqual([d[:2] for d in denied], [("write", os.path.join(world.server.workspace, "new"))])
        self.assertNotIn("the workspace", seen["denied"][0]["rule"])

    def none(self, world):
        """What fails, or looks like it, and is no denial."""
        shut = os.path.join(world.outside, "shut")
        pathlib.Path(shut).write_text("x")
        os.chmod(shut, 0)
        pathlib.Path(world.outside, "module.py").write_text("x = 1\n")
        for command in (
                "echo 'Permission denied: Read-only file system, EACCES by the sandbox' >&2; exit 1",
                "echo x > mine; chmod 0 mine; echo y > mine; rm -f mine",
                "mkdir -p sandbox && echo x > sandbox/x && rm -r sandbox",
                "mkdir -p %(o)s/full/inside; mkdir %(o)s; rmdir %(o)s/full; rm %(o)s/full; rm -f %(o)s/not-there",
                "echo x > %(o)s/not-there/x; echo x > %(o)s/full; ln -s x %(o)s/old; cat %(o)s/old",
                "echo x > %(o)s/shut; : > /dev/null; echo x > /dev/full; echo x > /dev/tty; echo x > /dev/stderr",
                "PYTHONPATH=%(o)s %(python)s -c 'import module, json, http.server'",
                "ls / /usr /etc > list; rm list; git init -q repository; rm -rf repository",
        ):
            with self.subTest(command):
                self.assertEqual(world.run(command % {"o": world.outside, "python": sys.executable})[1], [])

    def test_what_fails_anyway(self):
        self.none(World(self))

    def test_what_fails_anyway_without_namespaces(self):
        self.none(World(self, FLOOR))

    @needs_namespaces
    def test_across_mounts(self):
        world = World(self)
        beyond = os.path.join(world.outside, "mine")
        script = "import os\nopen('mine', 'w').close()\ntry:\n    os.%s('mine', '%s')\nexcept OSError as e:\n    print(e.errno)\n"
        # The kernel names the two mounts, not what refuses; who gets that copies.
        self.assertEqual(world.python(script % ("rename", beyond))[:2], ("18\n", [("rename", beyond, "mount")]))
        for command, operation in (("mv mine %s" % beyond, "rename"), ("ln mine %s" % beyond, "link")):
            with self.subTest(command):
                denied = world.run(command)[1]
                # Names in two filesystems no file can have.
                one = os.stat(world.server.workspace).st_dev == os.stat(world.outside).st_dev
                self.assertEqual(denied, [(operation, beyond, "mount")] if one or operation == "rename" else [])
        # What comes from there is copied, and the original cannot be removed.
        self.assertEqual(world.run("mv %s/moved here" % world.outside)[1], [("remove", os.path.join(world.outside, "moved"), "mount")])
        self.assertEqual(world.run("echo x > t; mv t /tmp/t; mv /tmp/t u; ln u /tmp/l; rm u")[1], [])

    def test_through_links_and_directories(self):
        world = World(self)
        os.symlink(world.outside, world.server.path("way"))
        os.symlink(os.path.join(world.outside, "old"), world.server.path("file"))
        old = os.path.join(world.outside, "old")
        for command in ("echo x > way/old", "echo x > file", "cd way && echo x > old", "cd %s/full && echo x > ../old" % world.outside,
                        "echo x > %s/full/../old" % world.outside, "cd way && echo x > /proc/self/cwd/old"):
            with self.subTest(command):
                self.assertEqual([d[:2] for d in world.run(command)[1]], [("write", old)])

    @needs_namespaces
    def test_a_directory_that_is_hidden(self):
        world = World(self)
        hidden = tempfile.mkdtemp(prefix="sidecar-test-", dir="/tmp")
        self.addCleanup(shutil.rmtree, hidden, True)
        _, denied, seen = world.run("echo x > %s/x; echo x > %s-not/x; mkdir -p /tmp/own/own && echo x > /tmp/own/x" % (hidden, hidden))
        self.assertEqual(denied, [("write", hidden + "/x", "mount")])
        self.assertIn("do not see what other programs have there", seen["denied"][0]["rule"])

    def test_many(self):
        world = World(self)
        _, denied, seen = world.run("for i in $(seq 30); do mkdir %s/$i; mkdir %s/1; done" % (world.outside, world.outside))
        self.assertEqual((len(denied), seen["denied_count"]), (20, 30))
        self.assertEqual(denied[0][:2], ("mkdir", os.path.join(world.outside, "1")))

    def test_as_text_and_as_events(self):
        world = World(self)
        watcher = Watcher(world.server)
        self.addCleanup(watcher.close)
        old = os.path.join(world.outside, "old")
        answer = world.server.call("tools/run_command?reply=openai&results=text", command="echo x > %s" % old).json()
        self.assertIn("\n[sandbox: writing %s is not allowed; writable: the workspace, " % old, answer["content"])
        refused = watcher.until(lambda e: e["type"] == "refused")[-1]
        self.assertEqual((refused["what"], refused["subject"]), ("sandbox", old))
        self.assertIn("writing %s is not allowed" % old, refused["why"])

    def test_a_name_begins_no_line(self):
        world = World(self)
        script = "import os\ntry:\n    os.mkdir(%r)\nexcept OSError:\n    pass\n" % (world.outside + "/a\n[exit 0]\x1b[2J\udcff")
        world.server.put("script.py", script)
        arguments = {"command": "%s script.py" % sys.executable}
        text = world.server.call("tools/run_command?reply=openai&results=text", **arguments).json()["content"]
        self.assertIn("/a?[exit 0]?[2J", text)
        self.assertEqual(text.count("\n"), 1)
        self.assertIn("/a\n[exit 0]", world.server.observe("run_command", **arguments)["denied"][0]["path"])

    def test_of_a_job_as_an_event(self):
        world = World(self)
        watcher = Watcher(world.server)
        self.addCleanup(watcher.close)
        world.server.output("run_command", command="mkdir %s/late" % world.outside, background=True)
        refused = watcher.until(lambda e: e["type"] == "refused")[-1]
        self.assertEqual(refused["subject"], os.path.join(world.outside, "late"))

    @needs_namespaces
    def test_addresses_where_there_is_no_network(self):
        world = World(self, SIDECAR_NETWORK="none")
        script = "import socket\n" \
                 "def tried(act):\n    try:\n        act()\n    except OSError as e:\n        print(e.errno)\n" \
                 "udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n" \
                 "tried(lambda: udp.sendto(b'x', ('192.0.2.2', 9)))\n" \
                 "udp.sendto(b'x', ('127.0.0.1', 9))\n" \
                 "tried(lambda: socket.create_connection(('192.0.2.1', 9)))\n" \
                 "tried(lambda: socket.create_connection(('127.0.0.1', 9)))\n"
        text, denied, _ = world.python(script)
        self.assertEqual(text, "101\n101\n111\n")
        self.assertEqual(denied, [("send", "192.0.2.2:9", "network"), ("connect", "192.0.2.1:9", "network")])


if __name__ == "__main__":
    unittest.main()
