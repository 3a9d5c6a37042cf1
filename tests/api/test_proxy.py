"""`sidecar ui`: the loopback port that carries a browser's requests to a sidecar, and to nothing else."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import socketserver
import stat
import subprocess
import tempfile
import threading
import unittest

from harness import BIN, PATIENCE, SidecarTest, environment, until

PAGE = b"<!doctype html><title>any page</title>" + b"x" * 50000


class Fake(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers like a sidecar with a page, and keeps the heads of requests."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path):
        self.heads, self.bodies, self.released = [], [], threading.Event()
        super().__init__(path, Answering)


class Answering(socketserver.StreamRequestHandler):
    def handle(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return
            head += line
        length = re.search(rb"(?i)content-length: (\d+)", head)
        self.server.bodies.append(self.rfile.read(int(length[1])) if length else b"")
        self.server.heads.append(head.decode())
        path = head.split(b" ")[1]
        with contextlib.suppress(OSError):
            if path == b"/ui":
                self.answer(b"text/html", PAGE)
            elif path == b"/events":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n")
                self.server.released.wait(PATIENCE)
                self.wfile.write(b"data: 2\n\n")
            elif path == b"/calls/flood":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                for _ in range(64):
                    self.wfile.write(b"y" * (1 << 20))
            else:
                self.answer(b"application/json", b'{"ok":true,"version":"1","workspace":"/w","pid":1}')

    def answer(self, kind, body):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (kind, len(body), body))


class Proxy(SidecarTest):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sidecar-ui-"))
        self.addCleanup(shutil.rmtree, self.dir, True)

    @classmethod
    def setUpClass(cls):
        cls.server = None

    @classmethod
    def tearDownClass(cls):
        pass

    def fake(self):
        fake = Fake(str(self.dir / "fake"))
        threading.Thread(target=fake.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(fake.server_close)
        self.addCleanup(fake.shutdown)
        self.addCleanup(fake.released.set)
        return fake

    def ui(self, *flags, **more):
        """The port and the secret of a `sidecar ui`, which is in self.process."""
        process = subprocess.Popen([BIN, "ui", *flags], env=environment(XDG_RUNTIME_DIR=str(self.dir), **more), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

        def end():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 0)
            process.stdout.close()
            process.stderr.close()
        self.addCleanup(end)
        self.process = process
        line = process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/ui#([0-9a-f]{64})\n", line)
        self.assertTrue(found, (line, process.poll()))
        return int(found[1]), found[2]

    def ask(self, port, method, url, secret=None, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        if secret:
            headers["Authorization"] = "Bearer " + secret
        with contextlib.closing(connection):
            connection.request(method, url, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def test_the_page_is_for_all_and_data_needs_the_secret(self):
        fake = self.fake()
        port, secret = self.ui("--no-open", "--socket", str(self.dir / "fake"))
        self.assertEqual(self.ask(port, "GET", "/ui"), (200, PAGE))
        for url in ("/health", "/events", "/calls/1", "/changes", "/read", "/", "/uix"):
            for wrong in (None, "x", secret[:-1], secret + "0", secret.upper() if secret.upper() != secret else "y"):
                self.assertEqual(self.ask(port, "GET", url, wrong)[0], 401, (url, wrong))
        self.assertEqual(self.ask(port, "POST", "/ui")[0], 401)
        before = len(fake.heads)
        self.assertEqual(self.ask(port, "GET", "/health", secret)[0], 200)
        self.assertEqual(self.ask(port, "POST", "/changes/undo", secret, b'{"id":1}', **{"Content-Type": "application/json"})[0], 200)
        self.assertEqual(fake.bodies[-1], b'{"id":1}')
        self.assertEqual(len(fake.heads), before + 2)
        for head in fake.heads:
            self.assertNotIn(secret, head)
            self.assertNotIn("Authorization", head)

    def test_nothing_that_calls_a_tool_is_carried(self):
        fake = self.fake()
        port, secret = self.ui("--no-open", "--socket", str(self.dir / "fake"))
        before = len(fake.heads)
        for method, url in (("POST", "/bash"), ("POST", "/tools/run_command"), ("POST", "/mcp"), ("GET", "/metrics"), ("GET", "/")):
            self.assertEqual(self.ask(port, method, url, secret)[0], 404, url)
        self.assertEqual(len(fake.heads), before)

    def test_hosts_and_origins(self):
        self.fake()
        port, secret = self.ui("--no-open", "--socket", str(self.dir / "fake"))
        for host in ("evil.example:%d" % port, "evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:%d" % port, ""):
            for url in ("/ui", "/health"):
                self.assertEqual(self.ask(port, "GET", url, secret, Host=host)[0], 403, host)
        self.assertEqual(self.ask(port, "GET", "/health", secret, Host="localhost:%d" % port)[0], 200)
        for origin in ("http://evil.example", "null", "https://127.0.0.1:%d" % port, "http://127.0.0.1:1", "http://127.0.0.1:%d.evil.example" % port):
            self.assertEqual(self.ask(port, "POST", "/calls/1/stop", secret, Origin=origin)[0], 403, origin)
        self.assertEqual(self.ask(port, "POST", "/calls/1/stop", secret, Origin="http://127.0.0.1:%d" % port)[0], 200)

    def test_a_second_request_cannot_ride_along(self):
        fake = self.fake()
        port, secret = self.ui("--no-open", "--socket", str(self.dir / "fake"))
        before = len(fake.heads)
        host = "Host: 127.0.0.1:%d\r\n" % port
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as s:
            s.sendall(("GET /ui HTTP/1.1\r\n%sContent-Length: 4\r\n\r\nbodyPOST /bash HTTP/1.1\r\n%s\r\n" % (host, host)).encode())
            with s.makefile("rb") as stream:
                self.assertIn(PAGE, stream.read())
        self.assertEqual(len(fake.heads), before + 1)
        self.assertEqual(fake.bodies[-1], b"body")
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as s:
            s.sendall(("GET /ui HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % host).encode())
            self.assertIn(b" 411 ", s.recv(100))
        for bad in (b"nonsense\r\n\r\n", b"GET /ui HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET /ui HTTP/1.1\r\n" + b"A: b\r\n" * 5000):
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as s:
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    s.sendall(bad)
                self.assertRegex(s.recv(100), rb"^HTTP/1.1 4")

    def test_streams_slow_readers_and_half_closed_connections(self):
        fake = self.fake()
        port, secret = self.ui("--no-open", "--socket", str(self.dir / "fake"))
        head = "GET %%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n" % (port, secret)
        streams = []
        for i in range(30):
            s = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            self.addCleanup(s.close)
            s.sendall((head % "/events").encode())
            if i % 2:
                s.shutdown(socket.SHUT_WR)
            streams.append(s.makefile("rb"))
        slow = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.addCleanup(slow.close)
        slow.sendall((head % "/calls/flood").encode())
        for stream in streams:
            while stream.readline() != b"data: 1\n":
                pass
        self.assertEqual(self.ask(port, "GET", "/ui"), (200, PAGE))
        fake.released.set()
        for stream in streams:
            self.assertTrue(stream.read().endswith(b"data: 2\n\n"))
            stream.close()
        got = 0
        with slow.makefile("rb") as stream:
            while piece := stream.read(1 << 20):
                got += piece.count(b"y")
        self.assertEqual(got, 64 << 20)

    def test_too_many_connections_are_told_so_and_the_rest_works(self):
        fake = self.fake()
        port, secret = self.ui("--no-open", "--socket", str(self.dir / "fake"))
        head = "GET /events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n" % (port, secret)
        first = b""
        held = []
        while b" 503 " not in first:
            s = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            self.addCleanup(s.close)
            with contextlib.suppress(OSError):
                s.sendall(head.encode())
                first = s.recv(100)
            held.append(s)
            self.assertLess(len(held), 100)
        for s in held:
            s.close()
        fake.released.set()
        until(lambda: self.ask(port, "GET", "/ui")[0] == 200, "there is room again")

    def test_a_server_that_is_gone_is_said_and_comes_back(self):
        fake = self.fake()
        port, secret = self.ui("--no-open", "--socket", str(self.dir / "fake"))
        os.rename(self.dir / "fake", self.dir / "away")
        status, body = self.ask(port, "GET", "/health", secret)
        self.assertEqual(status, 502)
        self.assertIn("No sidecar is listening", json.loads(body)["error"])
        os.rename(self.dir / "away", self.dir / "fake")
        self.assertEqual(self.ask(port, "GET", "/health", secret)[0], 200)
        self.assertTrue(fake.heads)

    def test_a_real_server_by_its_socket_and_by_tcp_with_a_token(self):
        secret_token = "T0KEN-OF-SERVER"
        server = self.start(env={"SIDECAR_AUTH_TOKEN": secret_token, "SIDECAR_REQUIRE_AUTH": "1", "TCP_HOST": "127.0.0.1",
                                 "TCP_PORT": "0", "XDG_RUNTIME_DIR": str(self.dir)})
        tcp = server.wait_for_log(lambda line: line.get("tcp"))["tcp"]
        for flags in (("--socket", server.socket), ("--url", "http://" + tcp), ()):
            port, secret = self.ui("--no-open", *flags, SIDECAR_AUTH_TOKEN=secret_token)
            status, body = self.ask(port, "GET", "/health", secret)
            self.assertEqual((status, json.loads(body)["pid"]), (200, server.process.pid))
            self.assertEqual(self.ask(port, "GET", "/health", secret_token)[0], 401)
        done = subprocess.run([BIN, "ui", "--no-open", "--socket", server.socket], env=environment(), timeout=PATIENCE,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "token" in done.stderr), (4, True))

    def test_the_browser_is_opened_where_there_is_one(self):
        self.fake()
        opener = self.dir / "xdg-open"
        opener.write_text("#!/bin/sh\necho \"$1\" > %s/opened.new; mv %s/opened.new %s/opened\n" % ((self.dir,) * 3))
        opener.chmod(0o755)
        path = "%s:%s" % (self.dir, os.environ["PATH"])
        port, secret = self.ui("--socket", str(self.dir / "fake"), PATH=path, DISPLAY=":9")
        until((self.dir / "opened").exists, "the browser is opened")
        # Every user can read what stands on a command line, so the address stands in a page that leads to it.
        page = pathlib.Path((self.dir / "opened").read_text()[:-1])
        self.assertEqual(page, self.dir / "sidecar" / ("ui-%d.html" % self.process.pid))
        self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o600)
        self.assertIn("0;url=http://127.0.0.1:%d/ui#%s\"" % (port, secret), page.read_text())
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(PATIENCE), 0)
        self.assertFalse(page.exists())
        (self.dir / "opened").unlink()
        self.ui("--socket", str(self.dir / "fake"), "--no-open", PATH=path, DISPLAY=":9")
        other = self.ui("--socket", str(self.dir / "fake"), PATH=path)
        self.assertNotEqual(other[1], secret)
        self.assertFalse((self.dir / "opened").exists())
        self.assertEqual(list((self.dir / "sidecar").glob("ui-*")), [])


if __name__ == "__main__":
    unittest.main()
