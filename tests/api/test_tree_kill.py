"""Nothing a command started outlives it: whatever it does to get away, and whoever ends it.

SIDECAR_TEST_ROUNDS=100 repeats everything so often (default 1); every round searches all of /proc.
"""
import concurrent.futures
import json
import os
import signal
import unittest

from harness import Sidecar, SidecarTest, needs_sandbox, post, until
from processes import MARK, PYTHON, alive, wait_until_gone

ROUNDS = int(os.environ.get("SIDECAR_TEST_ROUNDS", "1"))

# Each would outlive a shell that is killed alone, and ends by itself if nothing ends it.
RUNAWAYS = {
    "setsid": "setsid sleep 60 & sleep 60",
    "double-fork": "(setsid sh -c 'sleep 60 & sleep 60' & exit) & sleep 60",
    "ignores-term": "trap '' TERM INT HUP; setsid sh -c \"trap '' TERM INT HUP; sleep 60 & sleep 60\" & sleep 60",
    "stops-itself": "setsid sh -c 'kill -STOP $$; sleep 60' & sleep 60",
    "forks-in-a-loop": "for i in $(seq 60); do (setsid sh -c 'sleep 0.2; sleep 60 & sleep 60' &); sleep 0.01; done; sleep 60",
    "leaves-a-thread": PYTHON + " -c 'import ctypes, threading, time; "
                       "threading.Thread(target=time.sleep, args=[60]).start(); "
                       "ctypes.CDLL(None).pthread_exit(0)' & sleep 60",
    "hands-itself-on": "f() { sleep 0.02; [ $1 -gt 400 ] || (f $(($1 + 1)) & ) ; }; f 0 & sleep 60",
}


class Trees(SidecarTest):
    def begin(self, server, command, mark):
        """A connection over which the command runs."""
        s = server.connect()
        self.addCleanup(s.close)
        s.sendall(post("/bash", json.dumps({"command": command, "env": {MARK: mark}})))
        return s

    def begin_all(self, server, marks):
        """One connection for each; every tree has grown to two at least."""
        connections = [self.begin(server, RUNAWAYS[name], mark) for name, mark in marks.items()]
        for mark in marks.values():
            until(lambda mark=mark: len(alive(mark)) >= 2, mark + " has grown")
        return connections

    def rounds(self, way, one):
        """All runaways at once, again and again."""
        for i in range(ROUNDS):
            marks = {name: "tree-%d-%s-%s-%d" % (os.getpid(), way, name, i) for name in RUNAWAYS}
            one(marks)
            for mark in marks.values():
                wait_until_gone(mark)

    def time_out(self, command, mark):
        """When it is answered, none is left: nobody has to wait for that."""
        answer = self.server.call("bash", command=command, timeoutSeconds=0.5, env={MARK: mark})
        left = alive(mark)
        last = json.loads(answer.body.decode().splitlines()[-1])
        return left == [] and last == {"type": "done", "exitCode": -1, "timedOut": True} or (mark, left, last)

    def time_out_all(self, pairs):
        with concurrent.futures.ThreadPoolExecutor(len(pairs)) as pool:
            results = list(pool.map(lambda pair: self.time_out(*pair), pairs))
        self.assertEqual(results, [True] * len(pairs))

    def test_timeout(self):
        self.rounds("timeout", lambda marks: self.time_out_all([(RUNAWAYS[n], mark) for n, mark in marks.items()]))

    def test_timeout_of_eight_of_a_kind(self):
        self.rounds("eight", lambda marks: self.time_out_all(
            [(RUNAWAYS["ignores-term"], "%s-%d" % (marks["ignores-term"], i)) for i in range(8)]))

    def test_client_hangs_up(self):
        def one(marks):
            for s in self.begin_all(self.server, marks):
                s.close()
        self.rounds("hang-up", one)

    def end(self, marks, how, flags):
        server = Sidecar(flags=flags)
        try:
            self.begin_all(server, marks)
            server.stop(how)
        finally:
            server.close()

    def test_server_is_stopped(self):
        self.rounds("term", lambda marks: self.end(marks, signal.SIGTERM, ["--grace", "0"]))

    def test_server_is_killed(self):
        self.rounds("kill", lambda marks: self.end(marks, signal.SIGKILL, ["--sandbox", "off"]))

    @needs_sandbox
    def test_server_is_killed_in_a_sandbox(self):
        self.rounds("box", lambda marks: self.end(marks, signal.SIGKILL, ["--sandbox", "workspace"]))


if __name__ == "__main__":
    unittest.main()
