"""What commands may use, what they may leave behind, and what a fork bomb does to the others."""
import fcntl
import os
import resource
import signal
import subprocess
import unittest

from harness import SidecarTest, is_sanitized, machine, needs_two_users, run_expecting_failure
from processes import MARK, PYTHON, alive, below, has_become, wait_until_gone

# Burns while there is a file of that name, and ends by itself after some seconds, whatever becomes of the limit.
BOMB = """
import os, sys, time
end = time.monotonic() + 60
made = 0
try:
    while made < 1500 and time.monotonic() < end:
        made += 1
        if os.fork() == 0:
            time.sleep(max(0, end - time.monotonic()))
            os._exit(0)
except OSError as why:
    print("fork:", os.strerror(why.errno), flush=True)
while os.path.exists("burning") and time.monotonic() < end:
    time.sleep(0.01)
"""


class Limits(SidecarTest):
    def limited(self, **limits):
        return self.start(env={"SIDECAR_LIMIT_" + name: str(value) for name, value in limits.items()})

    def run_command(self, server, command, **arguments):
        return server.output("run_command", command=command, **arguments)

    def check(self, server, command, limit):
        out = self.run_command(server, command)
        self.assertEqual(out["usage"]["limit"], limit, out)
        self.assertNotEqual(out["exit_code"], 0)
        self.assertIn("limit", out["hint"])
        return out

    def test_cpu(self):
        server = self.limited(CPU_SECONDS=1)
        out = self.check(server, "while :; do :; done", "cpu")
        self.assertGreaterEqual(out["usage"]["cpu_ms"], 500)
        # Waiting costs none.
        self.assertEqual(self.run_command(server, "sleep 1.5")["usage"]["limit"], "none")

    def test_file_size(self):
        server = self.limited(FILE_MB=1)
        self.check(server, "head -c 2000000 /dev/zero > f", "file_size")
        self.assertEqual(os.path.getsize(server.path("f")), 1 << 20)
        self.assertEqual(self.run_command(server, "head -c 1000000 /dev/zero > f")["usage"]["limit"], "none")
        # A pipe is no file.
        self.assertEqual(self.run_command(server, "head -c 3000000 /dev/zero | wc -c")["stdout"], "3000000\n")

    def test_memory(self):
        server = self.limited(MEMORY_MB=256)
        self.check(server, "%s -c 'x = bytearray(1 << 29)'" % PYTHON, "memory")
        out = self.run_command(server, "%s -c 'x = bytearray(1 << 24); print(len(x))'" % PYTHON)
        self.assertEqual((out["stdout"], out["usage"]["limit"]), ("16777216\n", "none"))

    def test_processes(self):
        server = self.limited(PROCESSES=20)
        self.check(server, "for i in $(seq 60); do sleep 600 & done; wait", "processes")
        self.assertEqual(self.run_command(server, "seq 3 | cat | wc -l")["usage"]["limit"], "none")

    def test_a_limit_is_believed_only_where_it_is_set(self):
        out = self.run_command(self.server, "echo Cannot allocate memory >&2; exit 1")
        self.assertEqual(out["usage"]["limit"], "none")

    def test_background_jobs_have_them_too(self):
        server = self.limited(FILE_MB=1)
        job = server.output("run_command", command="head -c 2000000 /dev/zero > f; echo $?", background=True)["job_id"]
        out = server.output("job_output", job_id=job, wait_ms=20000)
        while out["state"] == "running":
            out = server.output("job_output", job_id=job, since=0, wait_ms=500)
        self.assertIn("153", out["output"])

    def test_they_are_told(self):
        server = self.limited(MEMORY_MB=1000, PROCESSES=100, FILE_MB=10, CPU_SECONDS=60)
        limits = server.request("GET", "/health").json()["limits"]
        self.assertEqual({k: limits[k] for k in ("memoryMb", "processes", "fileMb", "cpuSeconds")},
                         {"memoryMb": 1000, "processes": 100, "fileMb": 10, "cpuSeconds": 60})
        server.wait_for_log(lambda line: line.get("cpu_seconds") == 60)
        self.assertNotIn("memoryMb", self.server.request("GET", "/health").json()["limits"])

    def test_flags_and_bad_values(self):
        server = self.start(flags=["--limit-file", "2", "--survivors=keep"])
        health = server.request("GET", "/health").json()
        self.assertEqual((health["limits"]["fileMb"], health["survivors"]), (2, "keep"))
        for name, value in (("LIMIT_MEMORY_MB", "-1"), ("LIMIT_PROCESSES", "many"), ("LIMIT_FILE_MB", "99999999999"),
                            ("LIMIT_CPU_SECONDS", "1.5"), ("SURVIVORS", "spare")):
            status, text = run_expecting_failure({"SIDECAR_" + name: value})
            self.assertEqual(status, 1)
            self.assertIn("SIDECAR_" + name, text)


class Survivors(SidecarTest):
    COMMAND = "sleep 60 & %s; echo ok" % has_become("sleep")

    def test_kept_until_the_server_ends(self):
        for mark, how in (("kept-term", signal.SIGTERM), ("kept-kill", signal.SIGKILL)):
            server = self.start(env={"SIDECAR_SURVIVORS": "keep"})
            out = server.output("run_command", command=self.COMMAND, env={MARK: mark})
            self.assertEqual((out["stdout"], [s["command"] for s in out["survivors"]]), ("ok\n", ["sleep 60"]))
            self.assertIn("continues", out["hint"])
            server.output("run_command", command="true")
            self.assertEqual(len(alive(mark)), 1)
            server.stop(how)
            wait_until_gone(mark)

    def test_a_timeout_spares_nobody(self):
        server = self.start(env={"SIDECAR_SURVIVORS": "keep"})
        out = server.output("run_command", command="setsid sleep 60 & sleep 60", timeout_ms=300, env={MARK: "kept-late"})
        self.assertTrue(out["timed_out"])
        self.assertEqual(alive("kept-late"), [])


class Forks(SidecarTest):
    def health(self, server):
        self.assertEqual(server.request("GET", "/health").status, 200)

    def bomb(self, server, mark):
        """Sets one off and asks how the others are while it burns. How many it was, at most."""
        server.put("burning", "")
        body = {"command": "exec %s -c '%s'" % (PYTHON, BOMB), "env": {MARK: mark}, "background": True}
        job = server.output("run_command", **body)["job_id"]
        most = 0
        seen = {"state": "running"}
        while seen["state"] == "running":
            most = max(most, len(alive(mark)))
            self.health(server)
            if seen.get("output") and os.path.exists(server.path("burning")):
                os.unlink(server.path("burning"))
            seen = server.output("job_output", job_id=job, wait_ms=20)
        if "left_job_id" in seen:
            server.output("job_stop", job_id=seen["left_job_id"])
        wait_until_gone(mark)
        self.health(server)
        self.assertEqual(server.output("run_command", command="echo on")["stdout"], "on\n")
        return most

    @unittest.skipIf(is_sanitized(), "a sanitized program takes too long to fork so often")
    def test_a_fork_bomb_is_ended_by_counting(self):
        server = self.start(env={"SIDECAR_LIMIT_PROCESSES": "200"})
        self.bomb(server, "bomb")

    def test_commands_have_as_many_descriptors_as_the_server_was_given(self):
        """It takes all that it may have; programs that close all they could have would take long."""
        server = self.start(prefix=["sh", "-c", 'ulimit -Sn 256; exec "$@"', "sh"])
        out = server.output("run_command", command="ulimit -Sn; ulimit -Hn")["stdout"].split()
        self.assertEqual(out, ["256", str(resource.getrlimit(resource.RLIMIT_NOFILE)[1])])
        self.assertEqual(resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0], int(out[1]))

    def start_as_somebody(self, **env):
        """A server of a user whom nobody else is: the kernel counts all processes of a user."""
        uid = 1800000000 + os.getpid() % 100000
        who = ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
        server = self.start(prefix=who, wait=False, env={"SIDECAR_SANDBOX": "off", **env})
        # The socket's directory is root's: give both to the other user, and start anew.
        server.stop()
        os.chmod(server.dir, 0o755)
        for path in (server.dir, server.workspace):
            os.chown(path, uid, uid)
        server.start()
        return server

    @needs_two_users
    def test_a_fork_bomb_of_a_user_is_held_by_the_kernel(self):
        server = self.start_as_somebody(SIDECAR_LIMIT_PROCESSES="60")
        most = self.bomb(server, "user-bomb")
        self.assertTrue(10 < most <= 60, most)
        out = server.output("run_command", command="for i in $(seq 80); do sleep 5 & done; wait")
        self.assertEqual(out["usage"]["limit"], "processes", out)

    def limit_processes(self, server, low):
        for pid, name in below(server.process.pid):
            if name.startswith("sidecar-"):
                command = [*server.prefix, "prlimit", "--pid", str(pid), "--nproc=%d:4096" % low]
                subprocess.run(command, stderr=subprocess.DEVNULL, check=False)

    @needs_two_users
    def test_no_new_process_is_a_clear_error(self):
        server = self.start_as_somebody()
        self.assertEqual(server.output("run_command", command="true")["exit_code"], 0)
        for low in (1, None, 1, None):
            # Twice: reapers come and go, and inherit it from the spawner.
            for _ in range(2):
                self.limit_processes(server, low or 4096)
            self.health(server)
            if not low:
                self.assertEqual(server.output("run_command", command="echo on | cat")["stdout"], "on\n")
                continue
            code, message = server.failure("run_command", command="true")
            self.assertEqual(code, "SPAWN_FAILED")
            self.assertIn("No new process could be made", message)
            self.assertIn("No new process", server.call("bash", command="true").body.decode())


class Start(SidecarTest):
    @unittest.skipUnless(machine.leases(), "no leases on files here")
    def test_a_program_that_cannot_be_opened_takes_no_more_time_than_one_that_runs(self):
        """Another process has a lease on its file and does not give it up: the kernel waits 45 s for that."""
        path = self.server.put("program", "#!/bin/sh\n", 0o755)
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.addCleanup(os.close, fd)
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGIO, before)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        result = self.server.observe("run_command", argv=["./program"], timeout_ms=100, env={MARK: "leased"})
        self.assertEqual(result["error"]["code"], "SPAWN_FAILED")
        self.assertIn("died while", result["error"]["message"])  # and not that it is busy, after those 45 s
        wait_until_gone("leased")
        self.assertTrue(self.server.observe("run_command", command="true")["success"])


if __name__ == "__main__":
    unittest.main()
