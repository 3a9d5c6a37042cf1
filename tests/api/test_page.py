"""GET /ui: the page as it is sent, and who gets it. tests/clients/test_page.mjs looks at it in a browser."""
import base64
import gzip
import hashlib
import http.client
import itertools
import json
import re

from harness import Answer, SidecarTest, until

MOST = 74 << 10  # bytes of the page


class Page(SidecarTest):
    def get(self, encoding=None, method="GET"):
        headers = {} if encoding is None else {"Accept-Encoding": encoding}
        return self.server.request(method, "/ui", headers=headers)

    def test_is_the_same_packed_and_not(self):
        plain, packed = self.get("identity"), self.get("gzip, deflate, br")
        self.assertEqual((plain.status, packed.status), (200, 200))
        self.assertNotIn("content-encoding", plain.headers)
        self.assertEqual(packed.headers["content-encoding"], "gzip")
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertLessEqual(len(plain.body), MOST)
        self.assertLess(len(packed.body), len(plain.body) / 2)
        for answer in (plain, packed):
            self.assertEqual(answer.headers["content-type"], "text/html; charset=utf-8")
            self.assertEqual(answer.headers["vary"], "Accept-Encoding")

    def test_is_packed_only_for_who_can_unpack(self):
        for encoding, packed in (("gzip", True), ("GZIP", True), ("br;q=1, gzip;q=0.5", True), ("*", True), ("x-gzip", True),
                                 ("gzip;q=0", False), ("gzip; q=0.000", False), ("*;q=0", False), ("*, gzip;q=0", False),
                                 ("gzip;q=0, *", False), ("br", False), ("", False), ("gzipped", False)):
            with self.subTest(encoding):
                self.assertEqual("content-encoding" in self.get(encoding).headers, packed)

    def test_allows_only_what_it_brings(self):
        answer = self.get()
        page = answer.body.decode()
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        for kind, tag in (("script-src", r"<script[^>]*>(.*?)</script>"), ("style-src", r"<style>(.*?)</style>")):
            (content,) = re.findall(tag, page, re.S)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertEqual(policy[kind], "'sha256-%s'" % digest)
        for kind, value in (("default-src", "'none'"), ("connect-src", "'self'"), ("frame-ancestors", "'none'"),
                            ("base-uri", "'none'"), ("form-action", "'none'"), ("img-src", "data:"),
                            ("require-trusted-types-for", "'script'"), ("trusted-types", "'none'")):
            self.assertEqual(policy[kind], value)
        for name, value in (("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
                            ("x-frame-options", "DENY"), ("cache-control", "no-store")):
            self.assertEqual(answer.headers[name], value)

    def test_has_neither_handlers_in_its_text_nor_addresses(self):
        page = self.get().body.decode()
        self.assertIsNone(re.search(r"<[a-z][^>]*\son\w+\s*=", page))
        self.assertIsNone(re.search(r"\sstyle=", page))
        addresses = re.findall(r"\w+://(?!\$\{health\.tcp\})[^\s'\"<>]+", page)  # its own it tells people to type
        self.assertEqual(set(addresses), {"http://www.w3.org/2000/svg"})  # the name of a language
        for call in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
            self.assertNotIn(call, page)

    def test_follows_the_rules_of_every_route(self):
        head = self.get(method="HEAD")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(int(head.headers["content-length"]), len(self.get().body))
        options = self.server.request("OPTIONS", "/ui")
        self.assertEqual((options.status, options.headers["allow"]), (204, "GET, HEAD, OPTIONS"))
        self.assertEqual(self.server.request("POST", "/ui", "{}").status, 405)

    def test_goes_with_the_events(self):
        server = self.start(flags=["--events", "off"])
        self.assertEqual(server.request("GET", "/ui").status, 405)


class Tokens(SidecarTest):
    env = {"SIDECAR_AUTH_TOKEN": "tok", "TCP_HOST": "127.0.0.1", "TCP_PORT": "0"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port = int(cls.server.request("GET", "/health").json()["tcp"].rsplit(":", 1)[1])

    def tcp(self, url="/ui", method="GET", host="localhost", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, url, headers={"Host": host, **headers})
            r = connection.getresponse()
            return Answer(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read())
        finally:
            connection.close()

    def test_the_page_is_for_all_and_says_whether_a_token_is_missing(self):
        for headers, missing in (({}, True), ({"Authorization": "Bearer no"}, True), ({"Authorization": "Bearer tok"}, False)):
            answer = self.tcp(**headers)
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.headers.get("www-authenticate"), "Bearer" if missing else None)
        self.assertNotIn("www-authenticate", self.server.request("GET", "/ui").headers)  # by the socket none is needed

    def test_data_is_not(self):
        for url in ("/health", "/calls/1", "/changes", "/jobs", "/ui/", "/ui/x", "/events"):
            self.assertEqual(self.tcp(url).status, 401, url)
        self.assertEqual(self.tcp("/ui", method="POST").status, 401)

    def test_the_page_may_call_from_its_own_origin(self):
        origin = "http://127.0.0.1:%d" % self.port
        answer = self.tcp("/calls/1/stop", "POST", "127.0.0.1:%d" % self.port, Origin=origin, Authorization="Bearer tok")
        self.assertEqual(answer.status, 404)  # there is no such call, which only a client that may call is told
        other = self.tcp("/calls/1/stop", "POST", "127.0.0.1:%d" % self.port, Origin="http://evil.example",
                         Authorization="Bearer tok")
        self.assertEqual(other.status, 403)

    def test_foreign_names_and_pages_get_nothing(self):
        self.assertEqual(self.tcp(host="evil.example").status, 403)
        self.assertEqual(self.tcp(Origin="http://evil.example").status, 403)

    def test_looking_for_the_page_is_not_told_as_a_refusal(self):
        server = self.start(env=self.env)
        port = int(server.request("GET", "/health").json()["tcp"].rsplit(":", 1)[1])
        for url in ("/ui", "/health"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("HEAD", url)
            connection.getresponse().read()
            connection.close()
        stream = server.connect()
        stream.sendall(b"GET /events?since=0 HTTP/1.0\r\nAccept: application/x-ndjson\r\n\r\n")
        with stream, stream.makefile("rb") as lines:
            boot, event = itertools.islice((json.loads(line) for line in lines if line.startswith(b"{")), 2)
        self.assertEqual(boot["type"], "boot")
        self.assertEqual((event["id"], event["type"], event["subject"]), (1, "refused", "/health"))


class Shown(SidecarTest):
    """What the page shows of a call besides its events."""

    def call(self, number):
        return self.server.request("GET", "/calls/%d" % number).json()["result"]

    def test_a_receipt(self):
        self.server.output("run_command", command="sleep 60 >/dev/null 2>&1 & true")
        number = self.server.wait_for_log(lambda line: line.get("tool") == "run_command")["request_id"]
        end = next(event for event in self.call(number)["events"] if event["type"] == "call.end")
        self.assertGreater(end["peak_memory_bytes"], 100_000)
        self.assertGreaterEqual(end["cpu_ms"], 0)
        self.assertEqual(end["survivors"], 1)

    def test_a_job_stops_with_its_call(self):
        server = self.start()
        job = server.output("run_command", command="sleep 60", background=True)["job_id"]
        number = server.wait_for_log(lambda line: line.get("tool") == "run_command")["request_id"]
        self.assertEqual(server.call("calls/%d/stop" % number).status, 200)
        until(lambda: server.request("GET", "/jobs/%s" % job).json()["result"]["state"] == "exited", "the job has ended")
        self.assertEqual(server.call("calls/%d/stop" % number).status, 404)

    def test_whether_a_change_was_undone(self):
        server = self.start()
        server.result("write", path="a.txt", content="one\n")
        number = server.wait_for_log(lambda line: line.get("change") == 1)["request_id"]
        def get():
            return server.request("GET", "/calls/%d" % number).json()["result"]
        self.assertEqual((get()["undoable"], get()["undone_by"]), (True, None))
        server.call("changes/1/undo")
        self.assertEqual((get()["undoable"], get()["undone_by"]), (True, 2))
        undo = server.wait_for_log(lambda line: line.get("tool") == "undo")
        self.assertEqual(undo["subject"], "1")  # a change is named by its number
