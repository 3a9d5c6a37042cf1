"""Commands that outlive their request, and what commands leave running."""
import json
import os
import signal
import socket
import unittest

from harness import SidecarTest, is_sanitized, post, until
from processes import MARK, PYTHON, alive, has_become, wait_until_gone


class JobTest(SidecarTest):
    def begin(self, command, **arguments):
        answer = self.server.call("bash", command=command, background=True, **arguments)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["result"]["jobId"]

    def look(self, job, since=0, wait=0, server=None):
        answer = (server or self.server).request("GET", "/jobs/%s?since=%d&waitMs=%d" % (job, since, wait))
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["result"]

    def listed(self, server=None):
        answer = (server or self.server).request("GET", "/jobs")
        return {job["jobId"]: job for job in answer.json()["result"]["jobs"]}

    def stop(self, job, server=None):
        self.assertEqual((server or self.server).request("POST", "/jobs/%s/stop" % job).status, 200)
        return until(lambda: (seen := self.look(job, server=server))["state"] == "exited" and seen, "the job has ended")

    def follow(self, job):
        """All output, asked for piece by piece, and the last answer."""
        text, cursor, answer = "", 0, {"state": "running", "output": ""}
        while answer["state"] == "running" or answer["output"]:
            answer = self.look(job, cursor, 1000)
            text, cursor = text + answer["output"], answer["cursor"]
        return text, answer


class Jobs(JobTest):
    def test_output_by_cursor(self):
        job = self.begin("for i in 1 2 3; do echo é$i; sleep 0.1; done; exit 5")
        text, last = self.follow(job)
        self.assertEqual(text, "é1\né2\né3\n")
        self.assertEqual((last["exitCode"], last["dropped"]), (5, 0))

    def test_numbers_of_the_query_are_numbers(self):
        job = self.begin("true")
        for query in ("since=x", "since=-1", "waitMs=1.5", "waitMs=-5", "since=99999999999999999999"):
            answer = self.server.request("GET", "/jobs/%s?%s" % (job, query))
            self.assertEqual((answer.status, answer.json()["code"]), (400, "INVALID_ARGUMENTS"), query)

    def test_stop_ends_the_tree(self):
        job = self.begin("setsid sleep 60 & sleep 60", env={MARK: "job"})
        self.assertEqual(self.look(job)["state"], "running")
        self.assertEqual(self.server.request("POST", "/jobs/%s/stop" % job).status, 200)
        wait_until_gone("job")
        until(lambda: self.look(job)["state"] == "exited", "the job has ended")

    def test_listed(self):
        job = self.begin("sleep 0; true")
        self.follow(job)
        jobs = self.server.request("GET", "/jobs").json()["result"]["jobs"]
        mine = next(j for j in jobs if j["jobId"] == job)
        self.assertEqual((mine["command"], mine["state"], mine["exitCode"]), ("sleep 0; true", "exited", 0))

    def test_output_is_bounded_and_counted(self):
        job = self.begin("head -c 3000000 /dev/zero | tr '\\0' x")
        until(lambda: self.look(job)["state"] == "exited", "the job has ended")
        answer = self.look(job)
        self.assertGreater(answer["dropped"], 0)
        self.assertEqual(answer["dropped"] + len(answer["output"]), answer["cursor"])

    def test_what_is_dropped_ends_with_a_character(self):
        for shift in range(4):
            job = self.begin("yes 🙂 | tr -d '\\n' | head -c 3000000; printf %%.%ds xyz" % shift)
            until(lambda: self.look(job)["state"] == "exited", "the job has ended")
            answer = self.look(job)
            self.assertEqual(set(answer["output"]), {"🙂"})
            self.assertEqual(answer["dropped"] + len(answer["output"].encode()), answer["cursor"])

    def test_characters_of_two_streams_stay_whole(self):
        """Each byte is a read of its own; the two streams write by turns."""
        for text in ("é🙂", "€.é"):
            both = "; ".join(rf"printf '\{byte:o}'; printf '\{byte:o}' >&2; sleep 0.1" for byte in text.encode())
            out, _ = self.follow(self.begin(both))
            self.assertEqual(sorted(out), sorted(text + text))

    def test_no_such_job(self):
        for url, wanted in (("/jobs/999", (404, "JOB_NOT_FOUND")), ("/jobs/x", (400, "INVALID_ARGUMENTS")),
                            ("/jobs/-1", (400, "INVALID_ARGUMENTS"))):
            answer = self.server.request("GET", url)
            self.assertEqual((answer.status, answer.json()["code"]), wanted)
        answer = self.server.request("POST", "/jobs/999/stop")
        self.assertEqual((answer.status, answer.json()["code"]), (404, "JOB_NOT_FOUND"))
        self.assertEqual(self.server.request("POST", "/jobs/1/nope").status, 404)

    def test_as_tools_of_models(self):
        job = self.server.output("run_command", command="echo begun; sleep 60", background=True)
        self.assertEqual(set(job), {"job_id"})
        job = job["job_id"]
        out = until(lambda: (seen := self.server.output("job_output", job_id=job, wait_ms=5000))["output"] and seen, "output")
        self.assertEqual((out["state"], out["exit_code"], out["output"]), ("running", None, "begun\n"))
        self.assertIn(job, [j["job_id"] for j in self.server.output("job_list")["jobs"]])
        self.assertEqual(self.server.output("job_stop", job_id=job), {"ok": True})
        until(lambda: self.server.output("job_output", job_id=job, wait_ms=5000)["state"] == "exited", "the job has ended")
        self.assertEqual(self.server.failure("job_output", job_id="nope")[0], "INVALID_ARGUMENTS")
        self.assertEqual(self.server.failure("job_stop", job_id="999")[0], "JOB_NOT_FOUND")
        self.assertEqual(self.server.failure("run_command", command="sudo x", background=True)[0], "COMMAND_BLOCKED")

    def test_after_a_timeout_models_are_told_no_exit_code(self):
        job = self.begin("sleep 60", timeoutSeconds=0.05)
        self.assertEqual((self.follow(job)[1]["exitCode"], self.look(job)["timedOut"]), (-1, True))
        listed = {j["job_id"]: j for j in self.server.output("job_list")["jobs"]}
        for seen in (self.server.output("job_output", job_id=job), listed[job]):
            self.assertEqual((seen["state"], seen["exit_code"], seen["timed_out"]), ("exited", None, True))

    def test_an_ended_job_costs_its_output(self):
        server = self.start()

        def run_many(command, count):
            for _ in range(count):
                job = server.call("bash", command=command, background=True).json()["result"]["jobId"]
                until(lambda: self.look(job, wait=1000, server=server)["state"] == "exited", "the job has ended")

        def descriptors():
            return len(os.listdir("/proc/%d/fd" % server.process.pid))

        run_many("echo ok", 1)
        memory, fds = server.rss(), descriptors()
        run_many("echo ok", 70)
        self.assertEqual(len(self.listed(server)), 64)
        until(lambda: descriptors() <= fds, lambda: "%d descriptors, and not %d" % (fds, descriptors()))
        if not is_sanitized():
            self.assertLess(server.rss() - memory, 512)
        run_many("head -c 100000 /dev/zero | tr '\\0' x", 10)
        if not is_sanitized():
            self.assertLess(server.rss() - memory, 512 + 10 * 200)
        last = list(self.listed(server))[-1]
        self.assertEqual(self.look(last, server=server)["output"], "x" * 100000)

    def test_a_stopped_server_ends_them(self):
        server = self.start(flags=["--grace", "0"])
        server.call("bash", command="setsid sleep 60 & sleep 60", background=True, env={MARK: "ended"})
        self.assertEqual(server.stop(), 0)
        wait_until_gone("ended")


class Adopted(JobTest):
    """What still runs when a command has ended by itself goes on as a job."""

    SLEEP = "sleep 60 & %s; echo ok" % has_become("sleep")
    # Listens, tells its port, and answers each line that it finds in the file "say".
    LISTEN = ("import socket, time, os; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); "
              "open('port', 'w').write(str(s.getsockname()[1]))\n"
              "while not os.path.exists('say'): time.sleep(0.02)\n"
              "print('said', flush=True); time.sleep(60)")

    def run_bash(self, server=None, **body):
        """The events of /bash."""
        answer = (server or self.server).call("bash", **body)
        self.assertEqual(answer.status, 200, answer.body)
        return [json.loads(line) for line in answer.body.splitlines()]

    def adopted(self, command, server=None):
        """The job that has the command's survivors."""
        return next(job for job in reversed(self.listed(server).values()) if job["command"] == command)

    def test_a_server_started_with_nohup_lives_on(self):
        for flags in (["--sandbox", "off"], ["--sandbox", "workspace"]):
            server = self.start(flags=flags)
            command = "nohup sleep 60 >/dev/null 2>&1 & echo $!"
            events = self.run_bash(server, command=command, env={MARK: "nohup"})
            self.assertEqual(events[-1], {"type": "done", "exitCode": 0})
            self.assertEqual(len(alive("nohup")), 1)
            job = self.adopted(command, server)
            self.assertEqual((job["state"], job["exitCode"]), ("running", None))
            # A later command finds it by the number that the first one was told.
            pid = int("".join(e["data"] for e in events if e["type"] == "delta"))
            self.assertEqual(self.run_bash(server, command="[ -e /proc/%d ]" % pid)[-1]["exitCode"], 0)
            self.assertEqual(self.stop(job["jobId"], server)["exitCode"], -1)
            self.assertEqual(alive("nohup"), [])

    def test_its_ports_are_listed_and_its_output_continues(self):
        self.server.put("listen.py", self.LISTEN)
        command = "echo begun; %s listen.py & until [ -s port ]; do sleep 0.02; done; exit 3" % PYTHON
        out = self.server.output("run_command", command=command)
        with open(self.server.path("port"), encoding="ascii") as f:
            port = int(f.read())
        self.assertEqual((out["stdout"], out["exit_code"]), ("begun\n", 3))
        self.assertEqual([(s["ports"], set(s)) for s in out["survivors"]], [([port], {"pid", "command", "ports", "job_id"})])
        self.assertIn("job_stop", out["hint"])
        job = out["survivors"][0]["job_id"]
        self.assertEqual(self.listed()[job]["ports"], [port])
        with socket.create_connection(("127.0.0.1", port), 5):
            pass
        self.server.put("say", "")
        seen = until(lambda: (seen := self.look(job, 0, 1000))["output"] and seen, "output")
        self.assertEqual((seen["output"], seen["state"]), ("said\n", "running"))
        self.stop(job)
        self.assertEqual(self.listed()[job]["ports"], [])

    def test_ports_of_a_job_that_was_started_in_the_background(self):
        self.server.put("listen.py", self.LISTEN.replace("'port'", "'other'"))
        job = self.begin("%s listen.py; true" % PYTHON)
        until(lambda: self.listed()[job]["ports"], "it listens")
        self.stop(job)

    def test_it_ends_by_itself_with_the_status_of_its_first_process(self):
        for end, code in (("exit 7", 7), ("kill -9 $BASHPID", 137)):
            command = "(until [ -e leave ]; do sleep 0.02; done; %s) & echo ok" % end
            out = self.server.output("run_command", command=command)
            job = out["survivors"][0]["job_id"]
            self.assertEqual(self.look(job)["state"], "running")
            self.server.put("leave", "")
            self.assertEqual(self.follow(job)[1]["exitCode"], code)
            self.run_bash(command="rm leave")

    def test_all_of_it_ends_with_stop(self):
        out = self.server.output("run_command", command="setsid sleep 60 & (setsid sleep 60 & sleep 60) & sleep 0.1", env={MARK: "all"})
        self.assertEqual(len({s["job_id"] for s in out["survivors"]}), 1)
        self.assertGreaterEqual(len(alive("all")), 3)
        self.stop(out["survivors"][0]["job_id"])
        self.assertEqual(alive("all"), [])

    def test_a_job_that_leaves_something_has_ended(self):
        job = self.begin(self.SLEEP + "; exit 3", env={MARK: "left"})
        text, last = self.follow(job)
        self.assertEqual((text, last["exitCode"]), ("ok\n", 3))
        self.assertEqual(len(alive("left")), 1)
        other = self.listed()[last["leftJobId"]]
        self.assertEqual((other["state"], other["command"]), ("running", self.listed()[job]["command"]))
        self.stop(other["jobId"])
        self.assertEqual(alive("left"), [])

    def test_it_ends_with_the_server(self):
        for mark, how in (("adopted-term", signal.SIGTERM), ("adopted-kill", signal.SIGKILL)):
            server = self.start()
            self.run_bash(server, command=self.SLEEP, env={MARK: mark})
            self.assertEqual(len(alive(mark)), 1)
            server.stop(how)
            wait_until_gone(mark)

    def test_it_takes_no_place_of_a_command(self):
        server = self.start(flags=["--max-commands", "1"])
        for _ in range(3):
            self.assertEqual(self.run_bash(server, command=self.SLEEP, env={MARK: "place"})[-1]["exitCode"], 0)
        self.assertEqual(len(alive("place")), 3)
        server.stop()
        wait_until_gone("place")

    def test_a_timeout_and_a_client_that_leaves_end_everything(self):
        out = self.server.output("run_command", command="setsid sleep 60 & sleep 60", timeout_ms=300, env={MARK: "late"})
        self.assertTrue(out["timed_out"])
        self.assertEqual(alive("late"), [])
        with self.server.connect() as s:
            s.sendall(post("/bash", json.dumps({"command": "setsid sleep 60 & sleep 60", "env": {MARK: "gone"}})))
            until(lambda: len(alive("gone")) >= 2, "it runs")
        wait_until_gone("gone")

    def test_a_command_that_leaves_nothing_makes_no_job(self):
        before = self.listed()
        self.run_bash(command="(sleep 0.01 &); true & echo ok; wait")
        out = self.server.output("run_command", command="echo ok")
        self.assertEqual((out["survivors"], "hint" in out), ([], False))
        self.assertEqual(list(self.listed()), list(before))

    def test_others_are_asked_for(self):
        server = self.start(env={"SIDECAR_SURVIVORS": "end"})
        out = server.output("run_command", command=self.SLEEP, env={MARK: "end"})
        self.assertEqual([(s["command"], "job_id" in s) for s in out["survivors"]], [("sleep 60", False)])
        self.assertIn("was ended", out["hint"])
        self.assertEqual((alive("end"), self.listed(server)), ([], {}))


if __name__ == "__main__":
    unittest.main()
