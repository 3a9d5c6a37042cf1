"""Many clients, slow clients, greedy clients: what they cost, and what the others notice."""
import contextlib
import json
import os
import pathlib
import random
import resource
import select
import socket
import threading
import time
import unittest

from harness import PATIENCE, SidecarTest, is_sanitized, post, read_answer, until

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
MB = 1 << 20


BLOCKED = 30  # seconds: a client that waits for one that does nothing waits for longer than that


WAITING = 256  # calls that may wait for their turn to compute (LIMIT_TURNS_WAITING)


class Threads(SidecarTest):
    def test_none_stays_after_long_calls(self):
        server = self.start()
        threads = pathlib.Path("/proc", str(server.process.pid), "task")
        connections = []
        for _ in range(40):
            s = server.connect()
            self.addCleanup(s.close)
            s.sendall(post("/bash", '{"command":"until test -e go; do sleep 0.05; done"}'))
            connections.append(s)
        until(lambda: server.request("GET", "/health").json()["running"] >= 40, "all commands run")
        self.assertGreater(len(list(threads.iterdir())), 40)
        server.put("go", "")
        for s in connections:
            read_answer(s.makefile("rb"))
        # Sooner than a thread leaves that has had nothing to do for ten seconds.
        most = 2 * len(os.sched_getaffinity(0)) + 8
        until(lambda: len(list(threads.iterdir())) <= most, "the threads have left", seconds=8)


class Turns(SidecarTest):
    """Calls that compute for longer than any test."""

    def setUp(self):
        if is_sanitized():
            self.skipTest("a sanitized server has no memory for so many threads")
        self.server = self.start(env={"SIDECAR_SEARCH_SECONDS": "3600"})
        self.most = 2 * len(os.sched_getaffinity(0))
        self.server.put("small", "1\n")
        self.server.put("large", "x\n" * MB)
        chance = random.Random(1)
        self.server.put("d/f", "".join(chance.choices("ab", k=8 << 10)))
        for i in range(20000):
            os.link(self.server.path("d/f"), self.server.path("d/%d" % i))
        self.said = {}  # what each client has been sent so far

    def search(self):
        s = self.server.connect()
        self.addCleanup(s.close)
        s.sendall(post("/grep", '{"pattern":"a[ab]{900}[^ab]"}', "Sidecar-Progress: 1\r\n"))
        self.said[s] = b""
        return s

    def hear(self):
        """Take what has come."""
        for s in select.select(list(self.said), [], [], 0)[0]:
            self.said[s] += s.recv(65536)

    def running(self):
        return self.server.request("GET", "/health").json()["running"]

    def flood(self):
        """So many searches that some are refused. Returns those that run and those that wait."""
        for _ in range(self.most + WAITING + 10):
            self.search()

        def refused():
            self.hear()
            return [s for s, text in self.said.items() if text.startswith(b"HTTP/1.1 503")]
        # One that is about to be refused may still be counted among those that run.
        until(lambda: self.running() + len(refused()) == len(self.said) and
              len(self.said) - len(refused()) <= self.most + WAITING, "all have been begun or refused")
        for s in refused():
            self.assertIn(b'"TOO_BUSY"', self.said.pop(s))
        count = len(self.said) - WAITING  # that run, on one thread or several
        self.assertTrue(0 < count <= self.most, count)

        def working():
            self.hear()
            return {s for s, text in self.said.items() if text}
        until(lambda: len(working()) >= count, "those that run tell how far they are")
        working = working()
        self.assertEqual(len(working), count)
        return working, [s for s in self.said if s not in working]

    def leave(self, clients):
        for s in clients:
            del self.said[s]
            s.close()

    def test_few_compute_and_the_others_wait(self):
        working, waiting = self.flood()
        # One thread for each call, and what those that run have beside theirs; the rest is for everybody else.
        threads = len(os.listdir("/proc/%d/task" % self.server.process.pid))
        self.assertLess(threads, len(working) + len(waiting) + self.most + 32)
        self.assertEqual(self.server.call("read", path="small").status, 200)
        self.assertEqual(self.server.call("bash", command="true").status, 200)
        self.assertEqual(self.server.call("read", path="large").json()["code"], "TOO_BUSY")
        # Who waits can leave, while those that run go on.
        count = self.running()
        self.leave(waiting[:100])
        until(lambda: self.running() == count - 100, "a hundred have left")
        self.hear()
        self.assertFalse([s for s in working if b"HTTP/1.1 200" in self.said[s]])
        # It can be stopped, too.
        with self.server.connect() as s, s.makefile("rb") as stream:
            s.sendall(post("/read", '{"path":"large"}'))
            until(lambda: self.running() == count - 99, "a large read waits")
            call = self.server.request("GET", "/health").json()["calls"]
            self.assertEqual(self.server.request("POST", "/calls/%d/stop" % call).status, 200)
            self.assertEqual(read_answer(stream).json()["code"], "CANCELLED")
        # When those that run are gone, others have their turn.
        self.leave(working)
        until(lambda: self.hear() or any(self.said.values()), "another one runs")
        self.leave(list(self.said))
        until(lambda: self.running() == 0, "nothing runs any more")
        self.assertEqual(self.server.call("read", path="large").status, 200)


class Limits(SidecarTest):
    def setUp(self):
        self.server = self.start()

    def connections(self, count, first=b"", tcp=None):
        """As many clients, each of which sends these bytes at once: one that is silent is given up after ten seconds."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < count + 100:
            self.skipTest("needs %d open files, %d are allowed" % (count + 100, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        made = []
        for _ in range(count):
            s = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
            self.addCleanup(s.close)
            s.connect(tcp or self.server.socket)  # waits while the backlog is full
            s.settimeout(60)
            if first:
                s.sendall(first)
            made.append(s)
        return made

    def check_served(self):
        """Whether another client is served now."""
        self.assertEqual(self.server.request("GET", "/health", timeout=BLOCKED).status, 200)

    def check_memory(self, kilobytes, since=0):
        """It settles there: the answer is sent before the memory for it is given back."""
        if is_sanitized():
            return
        until(lambda: self.server.rss() - since < kilobytes, lambda: "%d KB of memory" % (self.server.rss() - since), 30)

    def test_thousand_idle_connections(self):
        for s in self.connections(1000, HEALTH):
            self.assertTrue(s.recv(65536).startswith(b"HTTP/1.1 200"))
        self.check_memory(40 << 10)
        self.check_served()

    def test_thousand_half_requests(self):
        self.connections(1000, HEALTH[:-1])
        self.check_served()
        self.check_memory(40 << 10)

    def test_connection_cap(self):
        most = self.server.request("GET", "/health").json()["limits"]["connections"]
        clients = self.connections(most, HEALTH)
        for s in clients:
            self.assertTrue(s.recv(65536).startswith(b"HTTP/1.1 200"))
        for s in self.connections(3):
            with s.makefile("rb") as stream:
                self.assertEqual(read_answer(stream).status, 503)
                self.assertEqual(stream.read(), b"")
        # One that is still sending gets the answer as well.
        for size in (10, 4 * MB):
            for _ in range(20):
                with self.server.connect(timeout=PATIENCE) as s, s.makefile("rb") as stream:
                    s.sendall(post("/read", b" " * size))
                    self.assertEqual(read_answer(stream).status, 503)
        # Those that were there go on, and with one less there is room again.
        clients[1].sendall(HEALTH)
        self.assertTrue(clients[1].recv(65536).startswith(b"HTTP/1.1 200"))
        for s in clients[10:20]:
            s.close()

        def has_room():
            with contextlib.suppress(OSError):
                return self.server.request("GET", "/health").status == 200
        until(has_room, "there is room again")

    def test_calls_that_take_long_leave_somebody_for_the_others(self):
        if is_sanitized():
            self.skipTest("a sanitized server has no memory for so many threads")
        job = self.server.call("bash", command="sleep 600", background=True).json()["result"]["jobId"]
        waiting = self.connections(1000, b"GET /jobs/%s?waitMs=60000 HTTP/1.1\r\nHost: x\r\n\r\n" % job.encode())
        # Those there is no thread for are told so, while the others still wait and everybody else is served.
        told, _, _ = select.select(waiting, [], [], 55)  # they would be told of the job after 60
        self.assertTrue(told)
        self.assertEqual(self.server.call("ls").status, 200)
        self.assertEqual(self.server.observe("job_output", job_id=job)["output"]["state"], "running")
        self.assertEqual(self.server.request("POST", "/jobs/%s/stop" % job).status, 200)
        answers = [s.recv(65536) for s in waiting]
        self.assertEqual({a[:12] for a in answers}, {b"HTTP/1.1 200", b"HTTP/1.1 503"})
        self.assertTrue(all(b'"TOO_BUSY"' in a for a in answers if a.startswith(b"HTTP/1.1 503")))

    def test_tcp_leaves_connections_to_the_unix_socket(self):
        self.server = self.start(env={"SIDECAR_REQUIRE_AUTH": "false", "TCP_HOST": "127.0.0.1", "TCP_PORT": "0"})
        health = self.server.request("GET", "/health").json()
        address = health["tcp"].rsplit(":", 1)
        clients = self.connections(health["limits"]["connections"] + 10, tcp=(address[0], int(address[1])))
        told = select.poll()
        for s in clients:
            told.register(s, select.POLLIN)
        until(lambda: len(told.poll(0)) >= 10, "there is no room for ten of them")
        self.assertEqual(self.server.request("GET", "/health").status, 200)
        self.assertEqual(self.server.call("bash", command="true").status, 200)

    def test_slow_readers_block_nobody(self):
        self.server.put("big.png", os.urandom(4 * MB))
        clients = self.connections(20)
        for s in clients:
            s.sendall(post("/read", '{"path":"big.png"}'))
        for s in clients:
            self.assertEqual(s.recv(8), b"HTTP/1.1")
        self.check_served()
        self.assertEqual(self.server.call("read", path="big.png", timeout=BLOCKED).status, 200)
        # And when they read at last, they get it all.
        with clients[0].makefile("rb") as stream:
            self.assertGreater(len(stream.read(5 * MB)), 5 * MB - 1)

    def test_answers_nobody_takes_are_bounded(self):
        self.server.put("huge.png", os.urandom(19 * MB))
        for s in self.connections(4 if is_sanitized() else 40):
            s.sendall(post("/read", '{"path":"huge.png"}'))
        time.sleep(0.5)  # the bound is on what is held meanwhile
        self.check_served()
        self.check_memory(450 << 10)

    def test_announced_bodies_take_nothing_from_others(self):
        for s in self.connections(50):
            s.sendall(b"POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                      b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % (30 * MB))
            self.assertTrue(s.recv(100).startswith(b"HTTP/1.1 100"))
            s.sendall(b"{")
        self.assertEqual(self.server.call("write", path="f", content="x" * MB).status, 200)
        self.check_memory(40 << 10)

    def test_bodies_of_all_are_bounded(self):
        piece = b" " * (30 * MB)
        clients = self.connections(12)
        for s in clients:
            with contextlib.suppress(OSError):
                s.sendall(b"POST /ls HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                          b"Content-Length: %d\r\n\r\n" % (31 * MB) + piece)
        self.check_memory(350 << 10)
        refused = select.select(clients, [], [], 50)[0]  # the others have 60 seconds to go on
        self.assertEqual({s.recv(12) for s in refused}, {b"HTTP/1.1 503"})
        for s in clients:
            s.close()
        self.assertEqual(self.server.request("GET", "/health").status, 200)
        until(lambda: self.server.call("write", path="f", content="x" * 20 * MB).status == 200, "everything is given back")

    def test_pipelined_requests_behind_a_large_body_are_not_quadratic(self):
        tiny = b"OPTIONS * HTTP/1.1\r\nHost:\r\n\r\n"
        count = (1 if is_sanitized() else 6) * MB // len(tiny)
        body = b"{" + b" " * (9 * MB) + b"}"
        with self.server.connect(60) as s:
            def send():
                s.sendall(post("/ls", body) + tiny * count + HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            sender = threading.Thread(target=send)
            sender.start()
            got = 0
            while data := s.recv(MB):
                got += data.count(b"HTTP/1.1 204")
            sender.join()
        self.assertGreater(got, count - 1000)  # some are cut between two reads

    def test_json_that_explodes(self):
        """Two bytes of text can cost a hundred bytes of values: refused, and given back."""
        self.assertEqual(self.server.request("GET", "/health").status, 200)
        many = MB // (8 if is_sanitized() else 1)
        for body in (b'{"a":[' + b"0," * (15 * many) + b"0]}", b'{"a":[' + b"[]," * (10 * many) + b"[]]}",
                     b"{" + b'"":0,' * (6 * many) + b'"":0}'):
            answer = self.server.request("POST", "/ls", body, {"Content-Type": "application/json"})
            self.assertIn(answer.status, (200, 400))
        self.check_memory(40 << 10)

    def test_memory_after_hostile_traffic(self):
        self.server.put("text", "line\n" * 5000)
        for s in self.connections(50):
            s.sendall(post("/write", b'{"path":"x","content":"' + b"y" * (3 * MB)))
            s.close()
        for i in range(200):
            self.server.send(b"\0" * 100)
            self.server.request("POST", "/read", "[" * 5000, {"Content-Type": "application/json"})
            self.server.call("edit", path="text", oldText="absent %d" % i, newText="")
        self.server.call("write", path="x", content="z" * 30 * MB)
        self.server.call("edit", path="x", oldText="none", newText="")
        self.check_memory(16 << 10)

    def test_five_thousand_requests_leave_nothing(self):
        server = self.start(flags=["--events", "off"])  # they fill their ring, and stay
        server.put("f", "text\n" * 300)

        def ask(count):
            bodies = [post("/read", '{"path":"f"}'), post("/ls", "{}"), post("/read", '{"path":"absent"}'),
                      post("/write", json.dumps({"path": "w", "content": "c" * 2000})), HEALTH]
            with server.connect() as s, s.makefile("rb") as stream:
                for i in range(count):
                    s.sendall(bodies[i % len(bodies)])
                    read_answer(stream)
        ask(1000)
        before = server.rss()
        ask(5000)
        if not is_sanitized():
            until(lambda: server.rss() - before < MB >> 10, lambda: "%d KB of memory" % (server.rss() - before), 30)

    def test_long_searches_leave_a_worker(self):
        """More of them than there are workers; each would take minutes, and ends when its client leaves."""
        server = self.start(flags=["--search-seconds", "3600"])
        server.put("text/0", "some words in a line\n" * 500000)
        for i in range(1, 4000):
            os.link(server.path("text/0"), server.path("text/%d" % i))
        calls = (("/grep", {"pattern": "[x-z]{3}q", "path": "text"}),
                 ("/tools/search_files", {"pattern": "[x-z]{3}q", "path": "text"}))
        with contextlib.ExitStack() as stack:
            clients = []
            for i in range(36):
                clients.append(stack.enter_context(server.connect()))
                url, body = calls[i % len(calls)]
                clients[-1].sendall(post(url, json.dumps(body)))
            for _ in range(5):
                self.assertEqual(server.request("GET", "/health").status, 200)
                self.assertEqual(server.call("ls", path="/").status, 200)
                self.assertIn(b'"done"', server.call("bash", command="true").body)
            answered = select.select(clients, [], [], 0)[0]
            self.assertEqual([client.recv(500) for client in answered], [])

    def test_descriptors_are_given_back(self):
        def count():
            return len(os.listdir("/proc/%d/fd" % self.server.process.pid))
        self.server.put("f", "x")
        self.server.call("read", path="f")
        self.server.call("write", path="first", content="")  # the journal of changes begins
        self.server.call("bash", command="true")  # what runs commands starts behind the server's back
        before = count()
        for _ in range(50):
            for tool, arguments in (("read", {"path": "f"}), ("read", {"path": "."}), ("ls", {"path": "f"}), ("ls", {}),
                                    ("write", {"path": "g/h", "content": ""}), ("write", {"path": ".", "content": ""}),
                                    ("edit", {"path": "f", "oldText": "q", "newText": ""}), ("read", {"path": "no"})):
                self.server.call(tool, **arguments)
        until(lambda: count() <= before, lambda: "%d descriptors, and not %d" % (before, count()))


if __name__ == "__main__":
    unittest.main()
