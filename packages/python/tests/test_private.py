# SPDX-License-Identifier: MIT
"""Private sidecars: one for each configuration, and none that outlives its host."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

from server import Place

from coding_sidecar import PrivateSidecar, SidecarError

PATIENCE = 90  # seconds after which something is taken never to happen
FOLDER = pathlib.Path(__file__).resolve().parents[1]


def until(found, what):
    end = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < end, f"never happened: {what()}"
        time.sleep(0.01)


class HostPlace(Place):
    """Where a host runs: its sidecars have their sockets in ``tmp``, and a mark finds all its processes."""

    def __init__(self, test):
        super().__init__(test)
        self.tmp = self.workspace.parent / "tmp"
        self.tmp.mkdir()
        self.mark = f"PRIVATE_TEST_MARK={self.tmp}"

    def host(self, text):
        """Runs a program that begins with a PrivateSidecar on the workspace, and says something when it is ready."""
        text = "import os, signal, sys, time\nfrom coding_sidecar import PrivateSidecar\n" \
               "for one in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):\n" \
               "    signal.signal(one, signal.SIG_DFL)  # whoever runs the tests may ignore some\n" \
               f"def private():\n    return PrivateSidecar({str(self.workspace)!r})\n{text}"
        name, value = self.mark.split("=", 1)
        env = {**os.environ, "PYTHONPATH": str(FOLDER), "XDG_STATE_HOME": self.state, "TMPDIR": str(self.tmp), name: value}
        host = subprocess.Popen([sys.executable, "-u", "-c", text], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)
        self.test.addCleanup(host.stdout.close)
        self.test.addCleanup(host.stdin.close)
        return host

    def processes(self):
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    found.append(process.name)
            except OSError:
                pass  # it has ended
        return found

    def check_gone(self):
        until(lambda: not self.processes(), self.processes)
        until(lambda: not os.listdir(self.tmp), lambda: os.listdir(self.tmp))


class Hosts(unittest.TestCase):
    def test_a_signal_ends_the_host(self):
        # Neither another child nor a fork, which go on, may hold what the sidecar waits for. Both end with our pipe.
        text = """
sidecar = private()
stream = sidecar.start().bash_stream("echo begun; sleep 1000")
env = {name: value for name, value in os.environ.items() if name != "PRIVATE_TEST_MARK"}
import subprocess
subprocess.Popen(["cat"], stdout=subprocess.DEVNULL, env=env, close_fds=False)
if os.fork() == 0:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    while sys.stdin.read():
        pass
    os._exit(0)
print(next(stream).data, end="")
time.sleep(1000)
"""
        for how in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(how=how.name):
                place = HostPlace(self)
                host = place.host(text)
                self.assertEqual(host.stdout.readline(), "begun\n")
                host.send_signal(how)
                host.wait()
                until(lambda: not self.sidecars(place), lambda: self.sidecars(place))
                until(lambda: not os.listdir(place.tmp), lambda: os.listdir(place.tmp))
                host.stdin.close()
                place.check_gone()

    def sidecars(self, place):
        """Processes of the host that are not Python."""
        found = []
        for pid in place.processes():
            try:
                if not os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("python"):
                    found.append(pid)
            except OSError:
                pass  # it has ended
        return found

    def test_a_host_that_ends_by_itself(self):
        place = HostPlace(self)
        host = place.host("""
clients = [private().start() for _ in range(100)]
for client in clients:
    client.ls()
print(len([name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("coding-sidecar-")]))
""")
        self.assertEqual(host.communicate(timeout=PATIENCE)[0], "1\n")
        self.assertEqual(host.returncode, 0)
        place.check_gone()


class Sharing(unittest.TestCase):
    def test_until_the_last_one_stops(self):
        place = Place(self)
        sidecars = [PrivateSidecar(place.workspace) for _ in range(8)]
        threads = [threading.Thread(target=one.start) for one in sidecars]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({one.socket_path for one in sidecars}), 1)
        other = PrivateSidecar(place.workspace, args=["--read-only"])
        with other as client:
            self.assertNotEqual(other.socket_path, sidecars[0].socket_path)
            self.assertRaises(SidecarError, client.write, "a", "b")
        last, *rest = sidecars
        for one in rest:
            one.stop()
            one.stop()
        last.start().write("a", "b")
        last.stop()
        self.assertFalse(os.path.exists(os.path.dirname(last.socket_path)))
        with last as client:
            self.assertEqual(client.read("a").content, "b")

    def test_a_fork_has_its_own(self):
        place = Place(self)
        with PrivateSidecar(place.workspace) as client:
            ours = PrivateSidecar(place.workspace)
            ours.start()
            path = ours.socket_path
            pid = os.fork()
            if pid == 0:
                ours.stop()
                ours.start()
                worked = ours.socket_path != path and ours.start().write("a", "b").ok
                ours.stop()
                os._exit(0 if worked and not os.path.exists(ours.socket_path) else 1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
            self.assertEqual(client.read("a").content, "b")
            self.assertEqual(ours.start().read("a").content, "b")
            self.assertEqual(ours.socket_path, path)
            ours.stop()

    def test_one_that_was_killed_is_replaced(self):
        place = Place(self)
        first, second = PrivateSidecar(place.workspace), PrivateSidecar(place.workspace)
        first.start()
        client = second.start()
        process = first._server._process
        process.kill()
        process.wait()
        with self.assertRaises(SidecarError) as raised:
            client.ls()
        self.assertEqual(raised.exception.code, "NOT_READY")
        killed = second.socket_path
        second.start().ls()
        self.assertNotEqual(killed, second.socket_path)
        self.assertFalse(os.path.exists(os.path.dirname(killed)))
        first.stop()
        second.start().ls()
        second.stop()

    def test_a_program_that_says_nothing_is_ended(self):
        place = Place(self)
        silent = place.workspace / "silent"
        program = os.environ["SIDECAR_BIN"]
        self.addCleanup(os.environ.__setitem__, "SIDECAR_BIN", program)
        for command, wait, code in (("cat", 0.05, "NOT_READY"), ("cat > /dev/null", PATIENCE, "SPAWN_FAILED")):
            silent.write_text(f"#!/bin/sh\nexec {command}\n")
            silent.chmod(0o755)
            os.environ["SIDECAR_BIN"] = str(silent)
            with self.assertRaises(SidecarError) as raised:
                PrivateSidecar(place.workspace, wait_for_ready=wait).start()
            self.assertEqual(raised.exception.code, code)


if __name__ == "__main__":
    unittest.main()
