"""GET /metrics: what it counts, and that every line of it is what Prometheus reads."""
import json
import os
import re
import subprocess
import threading
import unittest

from harness import Sidecar, SidecarTest, machine, until

SAMPLE = re.compile(r'^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\.)*)"(?:,|$)')
LABELS = {"tool", "outcome", "code", "le", "kind", "direction", "version"}


def family_of(name, types):
    for suffix in ("_bucket", "_sum", "_count"):
        if name.endswith(suffix) and types.get(name[:-len(suffix)]) == "histogram":
            return name[:-len(suffix)]
    return name


def scrape(server):
    """{(name, ((label, value), …)): number}; everything about the form is checked on the way."""
    answer = server.request("GET", "/metrics")
    assert answer.status == 200, answer.status
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8", answer.headers
    text = answer.body.decode()
    assert text.endswith("\n")
    types, helps, samples, order = {}, set(), {}, []
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name, sentence = line[7:].split(" ", 1)
            assert sentence and name not in helps, line
            helps.add(name)
            continue
        if line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert kind in ("counter", "gauge", "histogram") and name in helps and name not in types, line
            assert (kind == "counter") == name.endswith("_total"), line
            types[name] = kind
            continue
        name, labels, number = SAMPLE.match(line).groups()
        pairs = tuple(LABEL.findall(labels or ""))
        assert LABEL.sub("", labels or "") == "", line
        assert {label for label, _ in pairs} <= LABELS, line
        family = family_of(name, types)
        assert family in types, line
        if not order or order[-1] != family:
            assert family not in order, "%s is in two places" % family
            order.append(family)
        assert (name, pairs) not in samples, line
        samples[name, pairs] = float(number)
    check_histograms(samples, [name for name, kind in types.items() if kind == "histogram"])
    return samples


def check_histograms(samples, families):
    for family in families:
        tools = {}
        for (name, pairs), number in samples.items():
            if name == family + "_bucket":
                tools.setdefault(dict(pairs)["tool"], []).append((dict(pairs)["le"], number))
        for tool, buckets in tools.items():
            bounds = [float(le.replace("+Inf", "inf")) for le, _ in buckets]
            counts = [n for _, n in buckets]
            assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), buckets
            assert counts == sorted(counts), buckets
            assert samples[family + "_count", (("tool", tool),)] == counts[-1]
            assert samples[family + "_sum", (("tool", tool),)] >= 0


def calls(samples, tool, outcome="success", code=""):
    return samples.get(("sidecar_tool_calls_total", (("tool", tool), ("outcome", outcome), ("code", code))), 0)


class Metrics(SidecarTest):
    def until(self, reached):
        """The first scrape for which reached(samples) is true: a call is counted just after its answer."""
        def look():
            samples = scrape(self.server)
            return samples if reached(samples) else None
        return until(look, "it is counted")

    def test_calls_are_counted_by_tool_and_code(self):
        self.server.put("a.txt", "a\n")
        before = scrape(self.server)
        self.server.result("read", path="a.txt")
        self.server.error("read", path="missing")
        self.server.output("read_file", path="a.txt")
        self.server.failure("nothing_like_this")
        self.server.request("GET", "/jobs")
        kinds = (("read",), ("read", "failure", "FILE_NOT_FOUND"), ("read_file",),
                 ("unknown", "failure", "UNKNOWN_TOOL"), ("jobs",))
        after = self.until(lambda now: all(calls(now, *k) > calls(before, *k) for k in kinds))
        for wanted in kinds:
            self.assertEqual(calls(after, *wanted), calls(before, *wanted) + 1, wanted)
        count = ("sidecar_tool_duration_seconds_count", (("tool", "read"),))
        self.assertEqual(after[count], before.get(count, 0) + 2)

    def test_durations_are_measured(self):
        self.server.call("bash", command="sleep 0.11")
        total = ("sidecar_tool_duration_seconds_sum", (("tool", "bash"),))
        samples = self.until(lambda now: now.get(total, 0) >= 0.11)
        below = samples["sidecar_tool_duration_seconds_bucket", (("tool", "bash"), ("le", "0.1"))]
        self.assertLess(below, samples["sidecar_tool_duration_seconds_count", (("tool", "bash"),)])

    def test_refusals_are_counted(self):
        before = scrape(self.server)
        os.symlink("/etc", self.server.path("out"))
        self.server.error("read", path="../x")
        self.server.error("read", path="out/passwd")
        self.assertEqual(self.server.failure("run_command", command="rm -rf /")[0], "COMMAND_BLOCKED")
        for name, more in (("sidecar_path_violations_total", 2), ("sidecar_commands_blocked_total", 1)):
            key = (name, ())
            after = self.until(lambda now, key=key, more=more: now[key] >= before[key] + more)
            self.assertEqual(after[key], before[key] + more, name)

    def test_secrets_are_counted_by_kind(self):
        key = ("sidecar_scrubbed_total", (("kind", "aws-access-key"),))
        before = scrape(self.server)[key]
        self.server.output("run_command", command="echo AKIA" + "IOSFODNN7EXAMPL2")
        self.assertEqual(self.until(lambda now: now[key] > before)[key], before + 1)

    def test_commands_and_connections_are_gauges(self):
        job = self.server.result("bash", command="sleep 60", background=True)["jobId"]
        self.until(lambda now: now[("sidecar_commands_running", ())] >= 1)
        self.server.request("POST", "/jobs/%s/stop" % job)
        with self.server.connect(), self.server.connect():
            self.server.request("GET", "/health")  # taken in behind both
            self.until(lambda now: now["sidecar_connections", ()] >= 3)

    def test_bytes_are_counted_in_both_directions(self):
        self.server.put("b.txt", "b" * 30000)
        before = scrape(self.server)
        self.server.result("read", path="b.txt")
        self.server.call("bash", command="head -c 50000 /dev/zero | tr '\\0' x")
        for direction, least in (("in", 100), ("out", 80000)):
            key = ("sidecar_bytes_total", (("direction", direction),))
            self.until(lambda now, key=key, least=least: now[key] > before[key] + least)

    def test_the_process_is_described(self):
        samples = scrape(self.server)
        for name, least in (("process_cpu_seconds_total", 0), ("process_resident_memory_bytes", 1 << 20),
                            ("process_virtual_memory_bytes", 1 << 20), ("process_open_fds", 4),
                            ("process_max_fds", 100), ("process_start_time_seconds", 1.6e9)):
            self.assertGreaterEqual(samples[name, ()], least, name)
        version = self.server.request("GET", "/health").json()["version"]
        self.assertEqual(samples["sidecar_build_info", (("version", version),)], 1)

    def test_nothing_a_client_sent_becomes_a_label(self):
        for name in ("one", "two\"x", "three\nfour", "a" * 300):
            self.server.call("tools/" + "x", **{name: 1})
            self.server.request("POST", "/tools", json.dumps({"name": name, "arguments": {}, "sessionId": name}),
                                {"Content-Type": "application/json"})
        tools = {dict(pairs).get("tool") for _, pairs in scrape(self.server)}
        self.assertFalse([tool for tool in tools if tool and not re.fullmatch("[a-z_]+", tool)])

    def test_a_scrape_among_calls_is_consistent(self):
        self.server.put("c.txt", "c")
        stop = threading.Event()

        def ask():
            while not stop.is_set():
                self.server.result("read", path="c.txt")

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for t in threads:
            t.start()
        try:
            for _ in range(30):
                scrape(self.server)
        finally:
            stop.set()
            for t in threads:
                t.join()

    def test_other_methods_are_refused(self):
        answer = self.server.request("POST", "/metrics")
        self.assertEqual((answer.status, answer.headers["allow"]), (405, "GET, HEAD, OPTIONS"))
        self.assertEqual(self.server.request("HEAD", "/metrics").body, b"")

    @unittest.skipUnless(machine.tool("promtool"), "promtool is not installed (Debian package prometheus)")
    def test_promtool_finds_nothing(self):
        self.server.call("bash", command="true")
        text = self.server.request("GET", "/metrics").body
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, b""))


class Token(unittest.TestCase):
    def test_a_token_is_wanted_as_everywhere(self):
        server = Sidecar(env={"SIDECAR_AUTH_TOKEN": "s3cret-value", "SIDECAR_REQUIRE_AUTH": "1"})
        self.addCleanup(server.close)
        self.assertEqual(server.request("GET", "/metrics").status, 401)
        self.assertEqual(server.request("GET", "/metrics", headers={"X-Sidecar-Token": "s3cret-value"}).status, 200)


if __name__ == "__main__":
    unittest.main()
