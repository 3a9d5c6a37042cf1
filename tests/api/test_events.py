"""Those who watch: /events as a stream and as lines, /calls/<id>, and stopping a call."""
import datetime
import http.client
import json
import os
import re
import queue
import shutil
import socket
import tempfile
import threading
import time

from conforms import faults
from mcp_client import call, initialize
from harness import PATIENCE, SidecarTest, UnixConnection, post, read_answer, until
from processes import PYTHON

TOKEN = "ghp_" + "a1B2" * 9


class Watcher:
    """Reads /events in a thread of its own; get() waits for what it has read."""

    def __init__(self, server, since=None, lines=False, headers=None):
        self.connection = UnixConnection(server.socket, timeout=PATIENCE)
        headers = dict(headers or {})
        if lines:
            headers["Accept"] = "application/x-ndjson"
        self.connection.request("GET", "/events" + ("" if since is None else "?since=%s" % since), headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()
        self.lines, self.last_id, self.queue = lines, None, queue.Queue()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            while line := self.answer.readline():
                text = line.decode().rstrip("\n")
                if text.startswith("id: "):
                    self.last_id = text[4:]
                elif text.startswith("data: "):
                    self.queue.put((json.loads(text[6:]), self.last_id))
                elif self.lines and text:
                    self.queue.put((json.loads(text), None))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass
        self.queue.put((None, None))

    def get(self):
        event, self.seen = self.queue.get(timeout=PATIENCE)
        return event

    def until(self, found):
        """The events up to the one that is looked for."""
        got = []
        while not got or not found(got[-1]):
            got.append(self.get())
            assert got[-1] is not None, got
        return got

    def close(self):
        if self.connection.sock:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()


class Events(SidecarTest):
    def serve(self, **options):
        state = tempfile.mkdtemp(prefix="sidecar-test-")
        self.addCleanup(shutil.rmtree, state, True)
        env = {"XDG_STATE_HOME": state, **options.pop("env", {})}
        return self.start(env=env, **options)

    def watch(self, server, **options):
        watcher = Watcher(server, **options)
        self.addCleanup(watcher.close)
        return watcher

    def test_the_events_of_calls(self):
        server = self.serve()
        for lines in (False, True):
            w = self.watch(server, lines=lines)
            self.assertIn("x-ndjson" if lines else "event-stream", w.answer.headers["Content-Type"])
            server.call("write", path="a/b%d" % lines, content="x", sessionId="me")
            *before, start, change, end = w.until(lambda e: e["type"] == "call.end")
            self.assertEqual([e["type"] for e in before], ["boot"] if lines else [])
            self.assertEqual((start["type"], start["tool"], start["subject"], start["session"], start["front"]),
                             ("call.start", "write", "a/b%d" % lines, "me", "http"))
            self.assertEqual(start["client"], "uid %d pid %d" % (os.geteuid(), os.getpid()))
            self.assertRegex(start["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertEqual(change["type"], "change")
            self.assertIn({"path": "a/b%d" % lines, "kind": "created", "added": 1, "removed": 0}, change["files"])
            self.assertEqual((end["ok"], end["code"], end["exit_code"], end["timed_out"]), (True, None, None, False))
            self.assertEqual({start["call"], change["call"]}, {end["call"]})
            self.assertEqual(end["change"], change["change"])

    def test_every_kind_is_as_openapi_says(self):
        server = self.serve()
        document = server.request("GET", "/openapi.json").json()
        described = document["paths"]["/events"]["get"]["responses"]["200"]["content"]["application/x-ndjson"]["schema"]
        w = self.watch(server, lines=True, since="0")
        server.call("write", path="a", content="x")
        server.call("read", path="../outside")
        server.call("bash", command="echo out; exit 3")
        server.observe("run_command", command="echo out", background=True)
        seen = w.until(lambda e: e["type"] == "job.end")
        w = self.watch(server, lines=True, since="99")
        server.call("write", path="b", content="x")
        seen += w.until(lambda e: e["type"] == "call.end")
        for event in seen:
            self.assertEqual(faults(event, described, document=document), [], event)
        self.assertEqual({e["type"] for e in seen},
                         {"boot", "call.start", "output", "call.end", "change", "refused", "job.start", "job.end", "gap"})
        for wrong in ({}, {"type": "other"}, {"type": "gap", "id": "1"}, "text"):
            self.assertNotEqual(faults(wrong, described, document=document), [], wrong)

    def test_a_change_counts_its_lines(self):
        server = self.serve()
        w = self.watch(server)
        server.put("f", "".join("line %d\n" % i for i in range(100)))
        server.put("binary", b"a\0b")
        server.put("large", "x\n" * 100000)
        for arguments, wanted in ((("f", "line 3\n", "three\nand more\n"), (2, 1)), (("f", "line 9\n", ""), (0, 1)),
                                  (("large", "", ""), (None, None))):
            if arguments[0] == "large":
                server.call("write", path="large", content="y\n" * 100000)
            else:
                server.call("edit", path=arguments[0], oldText=arguments[1], newText=arguments[2])
            change = next(e for e in w.until(lambda e: e["type"] == "call.end") if e["type"] == "change")
            self.assertEqual([(f["added"], f["removed"]) for f in change["files"]], [wanted])
        server.call("write", path="binary", content="a\0c")
        change = next(e for e in w.until(lambda e: e["type"] == "call.end") if e["type"] == "change")
        self.assertEqual([(f["added"], f["removed"]) for f in change["files"]], [(None, None)])

    def test_the_output_of_commands(self):
        server = self.serve()
        w = self.watch(server)
        server.call("bash", command="echo out; echo err >&2; exit 3")
        server.observe("run_command", command="printf 'no newline'; kill -9 $$")
        for text, err, code, signal in (("out\n", "err\n", 3, None), ("no newline", "", 137, "SIGKILL")):
            got = w.until(lambda e: e["type"] == "call.end")
            said = {name: "".join(e["text"] for e in got if e["type"] == "output" and e["stream"] == name) for name in ("stdout", "stderr")}
            self.assertEqual(said, {"stdout": text, "stderr": err})
            self.assertEqual((got[-1]["ok"], got[-1]["exit_code"], got[-1]["signal"]), (True, code, signal))

    def test_the_output_of_a_program_of_agent_sandbox(self):
        server = self.serve(env={"SIDECAR_SURFACE": "agent-sandbox"})
        w = self.watch(server)
        server.request("POST", "/execute", json.dumps({"command": "echo here"}), {"Content-Type": "application/json"})
        self.assertIn("here\n", [e.get("text") for e in w.until(lambda e: e["type"] == "call.end")])

    def test_output_comes_while_the_command_runs(self):
        server = self.serve()
        w = self.watch(server)
        thread = threading.Thread(target=server.call, args=("bash",), kwargs={"command": "echo one; echo two; sleep 0.02; echo three; until [ -e go ]; do sleep 0.05; done"})
        thread.start()
        text = ""
        while "three" not in text:
            event = w.get()
            text += event.get("text", "")
        server.put("go", "")
        thread.join()
        self.assertEqual(w.until(lambda e: e["type"] == "call.end")[-1]["exit_code"], 0)

    def test_output_is_joined_and_bounded(self):
        server = self.serve()
        w = self.watch(server)
        began = time.monotonic()
        server.call("bash", command="for i in $(seq 3000); do echo line $i; done; head -c 300000 /dev/zero | tr '\\0' x")
        took = time.monotonic() - began
        got = w.until(lambda e: e["type"] == "call.end")
        outputs = [e for e in got if e["type"] == "output"]
        self.assertLessEqual(len(outputs), 20 * took + 4)
        kept = sum(len(e["text"]) for e in outputs)
        self.assertLessEqual(kept, 64 << 10)
        self.assertEqual([e["dropped"] for e in outputs if "dropped" in e], [got[-1]["dropped"]])
        self.assertEqual(kept + got[-1]["dropped"], got[-1]["bytes"] - len('"exitCode":0'))

    def test_both_ends_of_long_output_are_kept(self):
        server = self.serve()
        w = self.watch(server)
        # The two pipes have no order, so the end waits until the first one has been emptied.
        empty = "import fcntl, termios\nwhile any(fcntl.ioctl(1, termios.FIONREAD, bytes(4))): pass"
        script = ("echo first; seq 1 50000; printf 'é%%.0s' $(seq 30000); echo; %s -c '%s'; echo why it failed >&2; echo last"
                  % (PYTHON, empty))
        for run in (lambda: server.call("bash", command=script), lambda: server.observe("run_command", command=script)):
            run()
            got = w.until(lambda e: e["type"] == "call.end")
            outputs = [e for e in got if e["type"] == "output"]
            text = "".join(e["text"] for e in outputs)
            self.assertTrue(text.startswith("first\n1\n2\n"), text[:40])
            # What came on two pipes at one time has no order.
            self.assertIn("last\n", [e["text"] for e in outputs if e["stream"] == "stdout"][-1][-20:])
            self.assertEqual([e["text"] for e in outputs if e["stream"] == "stderr"], ["why it failed\n"])
            self.assertGreater(len(text.encode()), 60 << 10)
            self.assertLessEqual(len(text.encode()), 64 << 10)
            self.assertEqual(len(text.encode()) + got[-1]["dropped"],
                             len("first\nwhy it failed\nlast\n\n") + sum(len(str(n)) + 1 for n in range(1, 50001)) + 60000)

    def test_the_beginning_of_every_result_is_kept(self):
        server = self.serve()
        server.put("small", 'a "quoted"\tline\n')
        server.put("long", "".join("line %d é\n" % n for n in range(2000)))
        server.put("secret", "x" * 4060 + " " + TOKEN)

        def result(number):
            known = server.request("GET", "/calls/%d" % number).json()["result"]
            return known["result"], known["cut"]
        self.assertEqual(server.result("read", path="small"), result(1)[0])
        self.assertFalse(result(1)[1])
        for number, answer in ((2, server.result("read", path="long")), (3, server.output("read_file", path="long"))):
            kept, cut = result(number)
            self.assertTrue(cut)
            self.assertTrue(answer["content"].startswith(kept["content"]))
            self.assertGreater(len(kept["content"].encode()), 3000)
        server.call("ls", path=".")
        self.assertIn("small", result(4)[0]["output"])
        server.call("read", path="missing")
        self.assertEqual(result(5), ("File not found: missing", False))
        server.call("read", path="secret")
        self.assertNotIn(TOKEN[:8], json.dumps(result(6)))
        accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        accept["Mcp-Session-Id"] = server.request("POST", "/mcp", json.dumps(initialize()), accept).headers["mcp-session-id"]
        said = server.request("POST", "/mcp", json.dumps(call(1, "read_file", path="small")), accept).json()
        said = said["result"]["content"][0]["text"]
        self.assertEqual(result(7), (said, False))
        made = server.result("write", path="new", content="x")
        self.assertEqual(result(8)[0], made)

    def test_of_a_command_both_ends_are_kept(self):
        server = self.serve()

        def result(number):
            known = server.request("GET", "/calls/%d" % number).json()["result"]
            self.assertTrue(known["cut"])
            text = known["result"] if isinstance(known["result"], str) else json.dumps(known["result"], ensure_ascii=False)
            self.assertLess(len(text), 4200)
            return known["result"]
        script = "echo first; seq 20000; echo warned >&2; seq 20000 >&2; echo why >&2; echo last; exit 3"
        server.output("run_command", command=script)
        kept = result(1)
        self.assertRegex(kept["stdout"], r"(?s)^first\n1\n2\n.*\[\.\.\. \d+ bytes omitted \.\.\.\].*\n20000\nlast\n$")
        self.assertRegex(kept["stderr"], r"(?s)^warned\n1\n.*\n20000\nwhy\n$")
        self.assertEqual((kept["exit_code"], kept["timed_out"]), (3, False))
        action = {"commands": [script, "echo 'é\t'; exit 4"]}
        server.call("tools", type="shell_call", call_id="c", action=action)
        one, two = result(2)["output"]
        self.assertTrue(one["stderr"].endswith("20000\nwhy\n"), one)
        self.assertEqual((one["outcome"]["exit_code"], two["stdout"], two["outcome"]["exit_code"]), (3, "é\t\n", 4))
        server.call("tools/run_command?reply=openai&results=text", command=script)
        self.assertRegex(result(3), r"(?s)^\[exit 3, .*first\n.* bytes omitted .*last\n$")
        # No cut goes through a secret.
        for shift in range(0, 40, 7):
            server.output("run_command", command="seq 3000; echo %s %s; seq 470 | head -c %d" % ("x" * shift, TOKEN, 1900 - shift))
            self.assertNotIn(TOKEN[-8:], json.dumps(result(4 + shift // 7)))

    def test_half_a_character_ends_one_output_only(self):
        server = self.serve()
        w = self.watch(server)
        action = {"commands": ["printf 'x\\303'", "echo second"]}
        call = {"type": "shell_call", "call_id": "c", "action": action}
        server.request("POST", "/tools", json.dumps(call), {"Content-Type": "application/json"})
        got = w.until(lambda e: e["type"] == "call.end")
        self.assertIn("second", "".join(e["text"] for e in got if e["type"] == "output"))
        self.assertNotIn("dropped", got[-1])

    def test_refusals(self):
        server = self.serve(env={"SIDECAR_AUTH_TOKEN": "T0KEN-OF-SERVER"})
        w = self.watch(server)
        server.call("read", path="../secret")
        server.failure("run_command", command="rm -rf /")
        server.request("GET", "/health", headers={"Authorization": "Bearer wrong"})
        got = []
        while len(got) < 3:
            event = w.get()
            got += [event] if event["type"] == "refused" else []
        self.assertEqual([(e["what"], e["subject"]) for e in got], [("path", "../secret"), ("command", "rm -rf /"), ("auth", "/health")])
        self.assertTrue(all(e["why"] for e in got))

    def test_jobs(self):
        server = self.serve()
        w = self.watch(server)
        job = server.output("run_command", command="exit 4", background=True)["job_id"]
        got = w.until(lambda e: e["type"] == "job.end")
        start = next(e for e in got if e["type"] == "job.start")
        self.assertEqual((start["job"], start["subject"], start["call"]), (int(job), "exit 4", got[0]["call"]))
        self.assertEqual([start[name] for name in ("tool", "session", "client", "front")],
                         [got[0][name] for name in ("tool", "session", "client", "front")])
        self.assertEqual((got[-1]["job"], got[-1]["exit_code"], got[-1]["ok"]), (int(job), 4, True))

    def test_a_planted_token_is_never_there(self):
        for flags in ([], ["--scrub", "off"]):
            server = self.serve(flags=flags)
            w = self.watch(server, since=0)
            key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA1234567890abcdefghij\n" * 200 + "-----END RSA PRIVATE KEY-----\n"
            server.put("token", TOKEN)
            server.put("key", key)
            server.put("long", "y" * 4070 + " " + TOKEN)
            server.put("half", TOKEN[:10])
            server.put("rest", TOKEN[10:])
            server.call("bash", command="cat half; sleep 0.2; cat rest; cat token >&2")
            server.call("bash", command="echo " + TOKEN)
            server.call("write", path="f", content=TOKEN, sessionId="my " + TOKEN)
            server.call("write", path=TOKEN, content="x")
            server.call("grep", pattern=TOKEN)
            server.observe("run_command", command="cat token; false " + TOKEN)
            for name in ("token", "key", "long", TOKEN, "no" + TOKEN):
                server.call("read", path=name)
            server.failure("read_file", path="../" + TOKEN)
            server.failure(TOKEN)
            got = w.until(lambda e: e["type"] == "call.end" and e["call"] == 13)
            shown = json.dumps(got) + "".join(server.request("GET", "/calls/%d" % n).body.decode() for n in range(1, 14))
            for secret in (TOKEN, TOKEN[10:], "MIIEowIBAAK", "ghp_a1B2a1B2a"):
                self.assertNotIn(secret, shown)
            server.stop()
            self.assertNotIn(TOKEN[10:], server.log())

    def test_a_thousand_calls_once_each_and_in_order(self):
        server = self.serve()
        server.put("f", "x")
        first, second = self.watch(server, since=0), self.watch(server, since=0, lines=True)

        def work():
            with server.connect(timeout=PATIENCE) as s, s.makefile("rb") as stream:
                for _ in range(125):
                    s.sendall(post("/read", '{"path":"f"}'))
                    read_answer(stream)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        got = [first.get() for _ in range(300)]
        first.close()  # and comes back, with what it has seen last
        again = self.watch(server, headers={"Last-Event-ID": first.seen})
        for thread in threads:
            thread.join()
        got += [again.get() for _ in range(1700)]
        self.assertEqual(second.get()["event"], 0)
        other = [second.get() for _ in range(2000)]
        for events in (got, other):
            self.assertEqual([e["id"] for e in events], list(range(1, 2001)))
            for kind in ("call.start", "call.end"):
                self.assertEqual(sorted(e["call"] for e in events if e["type"] == kind), list(range(1, 1001)))

    def test_lines_say_which_run_it_is(self):
        server = self.serve()
        server.call("read", path="none")
        w = self.watch(server, lines=True)
        first = w.get()
        self.assertEqual(first, {"type": "boot", "boot": first["boot"], "event": 2})
        server.call("read", path="none")
        start = w.until(lambda e: e["type"] == "call.start")[-1]
        w = self.watch(server, lines=True, since="%s-%d" % (first["boot"], start["id"]))
        self.assertEqual(w.get(), {**first, "event": start["id"]})
        self.assertEqual(w.get()["id"], start["id"] + 1)
        # The same number in another run is another event.
        again = self.serve()
        for _ in range(3):
            again.call("read", path="none")
        w = self.watch(again, lines=True, since="%s-%d" % (first["boot"], start["id"]))
        second = w.get()
        self.assertNotEqual(second["boot"], first["boot"])
        self.assertEqual((second["event"], w.get()), (0, {"type": "gap", "lost": None}))
        self.assertEqual(w.get()["id"], 1)

    def test_gaps(self):
        server = self.serve()
        server.call("ls")
        w = self.watch(server, headers={"Last-Event-ID": "0123456789abcdef-7"})
        self.assertEqual([w.get()["type"] for _ in range(3)], ["gap", "call.start", "call.end"])
        w = self.watch(server, since=1)
        self.assertEqual(w.get()["id"], 2)
        w = self.watch(server, since=99)
        self.assertEqual(w.get(), {"type": "gap", "lost": None})
        with server.connect(timeout=PATIENCE) as s, s.makefile("rb") as stream:
            for _ in range(5000):
                s.sendall(post("/ls", "{}"))
                read_answer(stream)
        w = self.watch(server, since=0)
        self.assertEqual(w.get(), {"type": "gap", "lost": 2})
        self.assertEqual(w.get()["id"], 3)
        for since in ("x", "-1", "", "1-x"):
            self.assertEqual(server.request("GET", "/events?since=" + since).status, 400)

    def test_a_watcher_that_does_not_read_loses_events_and_stops_nobody(self):
        server = self.serve()
        stalled = []
        for _ in range(100):
            s = socket.socket(socket.AF_UNIX)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.connect(server.socket)
            s.sendall(b"GET /events?since=0 HTTP/1.1\r\nHost: x\r\n\r\n")
            self.addCleanup(s.close)
            stalled.append(s)
        with server.connect(timeout=PATIENCE) as s, s.makefile("rb") as stream:
            for _ in range(8000):
                s.sendall(post("/ls", json.dumps({"path": ".", "sessionId": "s" * 100})))
                self.assertEqual(read_answer(stream).status, 200)
        seen, gap = b"", None
        with stalled[0].makefile("rb") as stream:
            for line in stream:
                seen = line
                if b'"gap"' in line:
                    gap = json.loads(line.split(b"data: ")[1])
                if b'"id":16000,' in line:
                    break
        self.assertTrue(gap and gap["lost"] > 0, seen)

    def test_a_call_that_nobody_waited_for(self):
        server = self.serve(flags=["--observe", "on"])
        stream = server.connect()
        self.addCleanup(stream.close)
        stream.sendall(post("/bash", json.dumps({"command": "echo x > made; echo made; sleep 60"})))
        head = b""
        while b"made" not in head:
            head += stream.recv(4096)
        number = int(re.search(rb"(?i)^sidecar-call: (\d+)\r$", head, re.M)[1])
        stream.close()

        def ended():
            got = server.request("GET", "/calls/%d" % number).json()["result"]
            return None if got["running"] else got
        self.assertEqual(until(ended, "the call has ended")["change"], 1)

    def test_one_call(self):
        server = self.serve()
        server.put("f", "one\n")
        server.call("edit", path="f", oldText="one", newText="two")
        got = server.request("GET", "/calls/1").json()["result"]
        self.assertEqual((got["call"], got["running"]), (1, False))
        self.assertEqual(got["arguments"], {"path": "f", "oldText": "one", "newText": "two"})
        self.assertEqual([e["type"] for e in got["events"]], ["call.start", "change", "call.end"])
        self.assertIn("+two", got["diff"])
        server.call("write", path="large", content="z" * 200000)
        got = server.request("GET", "/calls/2").json()["result"]
        self.assertLess(len(json.dumps(got["arguments"])), 64 << 10)
        self.assertEqual(got["arguments"]["path"], "large")
        for method, url in (("GET", "/calls/99"), ("POST", "/calls/99/stop")):
            answer = server.request(method, url)
            self.assertEqual((answer.status, answer.json()["code"]), (404, "CALL_NOT_FOUND"))
        self.assertEqual(server.request("GET", "/calls/x").status, 400)
        server.stop()
        self.assertEqual(len([line for line in server.log_lines() if "request_id" in line]), 2)

    def test_arguments_are_kept_until_someone_asks(self):
        """Small ones are kept as they came; they are shown as JSON, without secrets, in the same way."""
        server = self.serve()
        server.put("f", "one\n")
        server.put('a "q" ä', "one\n")
        calls = [
            ("read", {"path": "f"}),
            ("read", {"path": 'a "q" ä'}),
            ("read", {"path": "f", "offset": 1, "limit": 2, "sessionId": "my session"}),
            ("grep", {"pattern": "o", "path": "f", "ignoreCase": True, "literal": False}),
            ("ls", {}),
            ("read", {"path": "f", "more": [1, {"two": None}], "half": 0.5}),
            ("read", {"path": "f", "text": "x" * 600}),
        ]
        for tool, arguments in calls:
            server.call(tool, **arguments)
        server.call("read", path="f", note="token " + TOKEN, n=1)
        server.call("read", path=TOKEN, path2=TOKEN)
        for n, (_, arguments) in enumerate(calls):
            got = server.request("GET", "/calls/%d" % (n + 1)).json()["result"]
            self.assertEqual(got["arguments"], arguments)
        shown = [server.request("GET", "/calls/%d" % (len(calls) + n)).body.decode() for n in (1, 2)]
        self.assertIn('"arguments":{"path":"f","note":"token [REDACTED:', shown[0])
        self.assertIn('"arguments":{"path":"[REDACTED:', shown[1])
        self.assertNotIn(TOKEN[10:], "".join(shown))

    def test_calls_after_the_ring_has_moved_on(self):
        server = self.serve()
        server.put("f", "one\n")
        server.call("read", path="f")
        with server.connect(timeout=PATIENCE) as s, s.makefile("rb") as stream:
            for n in range(5000):
                s.sendall(post("/read", json.dumps({"path": "f", "offset": n})))
                read_answer(stream)
        self.assertEqual(server.request("GET", "/calls/1").status, 404)
        for call in (2, 2500, 5001):
            got = server.request("GET", "/calls/%d" % call).json()["result"]
            self.assertEqual(got["arguments"], {"path": "f", "offset": call - 2})
            self.assertEqual([e["id"] for e in got["events"]], [2 * call - 1, 2 * call])

    def test_the_times_of_events_are_in_order_and_now(self):
        server = self.serve()
        first = datetime.datetime.now(datetime.timezone.utc)
        server.call("bash", command="echo a; sleep 0.2; echo b")
        server.call("write", path="f", content="x")
        server.call("read", path="f")
        server.failure("read_file", path="../f")
        last = datetime.datetime.now(datetime.timezone.utc)
        got = self.watch(server, since=0).until(lambda e: e["type"] == "call.end" and e["call"] == 4)
        times = [datetime.datetime.fromisoformat(e["time"].replace("Z", "+00:00")) for e in got]
        self.assertEqual(times, sorted(times))
        slack = datetime.timedelta(milliseconds=2)
        self.assertTrue(first - slack <= times[0] and times[-1] <= last + slack, (first, times, last))

    def test_stop_ends_the_whole_tree(self):
        server = self.serve()
        w = self.watch(server)
        with server.connect(timeout=PATIENCE) as s, s.makefile("rb") as stream:
            for url, body in (("/tools/run_command", {"command": "setsid sleep 1000 & echo $! > pid; sleep 1000"}),) * 2:
                s.sendall(post(url, json.dumps(body)))
                start = w.until(lambda e: e["type"] == "call.start")[-1]
                pid = until(lambda: server.path("pid") and os.path.exists(server.path("pid")) and server.get("pid").strip(), "the command runs")
                answer = server.request("POST", "/calls/%d/stop" % start["call"])
                self.assertEqual((answer.status, answer.json()["result"]["stopping"]), (200, True))
                self.assertEqual(read_answer(stream).status, 200)
                end = w.until(lambda e: e["type"] == "call.end")[-1]
                self.assertEqual((end["ok"], end["code"]), (False, "CANCELLED"))
                until(lambda p=int(pid): not alive(p), "the tree is gone")
                os.unlink(server.path("pid"))
                self.assertEqual(server.request("POST", "/calls/%d/stop" % start["call"]).status, 404)
            s.sendall(post("/tools/run_command", '{"command":"echo still here"}'))  # the connection is as good as before
            self.assertIn("still here", read_answer(stream).json()["output"]["stdout"])

    def test_a_stopped_call_says_so(self):
        """To whoever called, in the words of its route."""
        server = self.serve()
        w = self.watch(server)
        accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        session = server.request("POST", "/mcp", json.dumps(initialize()), accept).headers["mcp-session-id"]

        def stopped(url, body, headers=None):
            answers = []
            thread = threading.Thread(target=lambda: answers.append(server.request("POST", url, json.dumps(body), {**accept, **(headers or {})})))
            thread.start()
            start = w.until(lambda e: e["type"] == "call.start")[-1]
            self.assertEqual(server.request("POST", "/calls/%d/stop" % start["call"]).status, 200)
            thread.join()
            w.until(lambda e: e["type"] == "call.end")
            return answers[0].body.decode()

        done = json.loads(stopped("/bash", {"command": "sleep 1000"}).splitlines()[-1])
        self.assertEqual((done["type"], done["exitCode"], done["stopped"]), ("done", -1, True))
        output = json.loads(stopped("/tools/run_command", {"command": "sleep 1000"}))["output"]
        self.assertEqual((output["exit_code"], output["timed_out"], output["stopped"]), (None, False, True))
        self.assertIn("A person stopped this", output["hint"])
        text = stopped("/mcp", call(2, "run_command", command="sleep 1000"), {"Mcp-Session-Id": session})
        self.assertIn("[stopped by a person after ", text)
        action = {"commands": ["echo first; sleep 1000", "echo second"], "timeout_ms": 300000}
        shell = json.loads(stopped("/tools", {"type": "shell_call", "call_id": "c", "action": action}))["output"]
        self.assertIn("A person stopped this", shell[0]["stderr"])
        self.assertEqual(shell[1]["stderr"], "not run: stopped by a person")
        self.assertEqual([one["outcome"]["type"] for one in shell], ["exit", "exit"])

    def test_mcp(self):
        server = self.serve()
        w = self.watch(server)
        accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        session = server.request("POST", "/mcp", json.dumps(initialize()), accept).headers["mcp-session-id"]
        body = call(1, "read_file", modern=True, path="absent")
        body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = {"name": "inspector", "version": "1"}
        server.request("POST", "/mcp", json.dumps(body), {**accept, "MCP-Protocol-Version": "2026-07-28",
                                                          "Mcp-Method": "tools/call", "Mcp-Name": "read_file"})
        start = w.until(lambda e: e["type"] == "call.end")[0]
        self.assertEqual((start["front"], start["client"]), ("mcp", "inspector"))
        # A call that someone stops has an answer, unlike one that its client has cancelled.
        answers = []
        thread = threading.Thread(target=lambda: answers.append(server.request(
            "POST", "/mcp", json.dumps(call(2, "run_command", command="sleep 1000")), {**accept, "Mcp-Session-Id": session})))
        thread.start()
        start = w.until(lambda e: e["type"] == "call.start")[-1]
        self.assertEqual((start["front"], start["client"]), ("mcp", "test"))  # it said so when it began
        self.assertEqual(server.request("POST", "/calls/%d/stop" % start["call"]).status, 200)
        thread.join()
        self.assertIn(b'"id":2', answers[0].body)

    def test_off(self):
        server = self.serve(flags=["--events", "off"])
        server.call("ls")
        self.assertEqual(server.request("GET", "/events").status, 405)
        self.assertEqual(server.request("POST", "/calls/1/stop").status, 404)

    def test_the_server_ends_though_someone_watches(self):
        server = self.serve(flags=["--grace", "60"])
        w = self.watch(server)
        began = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - began, 60)  # a watcher is no call that it waits for
        self.assertIsNone(w.get())


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().split(") ")[1][0] != "Z"
    except OSError:
        return False
