"""Commands that outlive their request."""
import unittest

from harness import SidecarTest, until
from processes import MARK, wait_until_gone


class Jobs(SidecarTest):
    def begin(self, command, **arguments):
        answer = self.server.call("bash", command=command, background=True, **arguments)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["result"]["jobId"]

    def look(self, job, since=0, wait=0):
        answer = self.server.request("GET", "/jobs/%s?since=%d&waitMs=%d" % (job, since, wait))
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()["result"]

    def follow(self, job):
        """All output, asked for piece by piece, and the last answer."""
        text, cursor, answer = "", 0, {"state": "running", "output": ""}
        while answer["state"] == "running" or answer["output"]:
            answer = self.look(job, cursor, 1000)
            text, cursor = text + answer["output"], answer["cursor"]
        return text, answer

    def test_output_by_cursor(self):
        job = self.begin("for i in 1 2 3; do echo é$i; sleep 0.1; done; exit 5")
        text, last = self.follow(job)
        self.assertEqual(text, "é1\né2\né3\n")
        self.assertEqual((last["exitCode"], last["dropped"]), (5, 0))

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
        for url in ("/jobs/999", "/jobs/x", "/jobs/-1"):
            answer = self.server.request("GET", url)
            self.assertEqual((answer.status, answer.json()["code"]), (400, "INVALID_ARGUMENTS"))
        self.assertEqual(self.server.request("POST", "/jobs/999/stop").status, 400)
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
        self.assertEqual(self.server.failure("run_command", command="sudo x", background=True)[0], "COMMAND_BLOCKED")

    def test_after_a_timeout_models_are_told_no_exit_code(self):
        job = self.begin("sleep 60", timeoutSeconds=0.05)
        self.assertEqual((self.follow(job)[1]["exitCode"], self.look(job)["timedOut"]), (-1, True))
        listed = {j["job_id"]: j for j in self.server.output("job_list")["jobs"]}
        for seen in (self.server.output("job_output", job_id=job), listed[job]):
            self.assertEqual((seen["state"], seen["exit_code"], seen["timed_out"]), ("exited", None, True))

    def test_a_stopped_server_ends_them(self):
        server = self.start(flags=["--grace", "0"])
        server.call("bash", command="setsid sleep 60 & sleep 60", background=True, env={MARK: "ended"})
        self.assertEqual(server.stop(), 0)
        wait_until_gone("ended")


if __name__ == "__main__":
    unittest.main()
