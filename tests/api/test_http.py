"""HTTP itself: framing, connections, and everything a client can get wrong."""
import contextlib
import json
import select
import socket
import time
import unittest

from harness import SidecarTest, post, read_answer

LS = post("/ls", "{}")
HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


class Connections(SidecarTest):
    def test_keep_alive(self):
        with self.server.connect() as s, s.makefile("rb") as stream:
            for _ in range(20):
                s.sendall(LS)
                answer = read_answer(stream)
                self.assertEqual(answer.status, 200)
                self.assertEqual(answer.headers["content-type"], "application/json; charset=utf-8")
                self.assertNotIn("connection", answer.headers)

    def test_pipelining_keeps_the_order(self):
        for i in range(100):
            self.server.put("p/%d" % i, "number %d" % i)
        with self.server.connect() as s, s.makefile("rb") as stream:
            s.sendall(b"".join(post("/read", json.dumps({"path": "p/%d" % i})) for i in range(100)))
            for i in range(100):
                self.assertEqual(read_answer(stream).json()["result"]["content"], "number %d" % i)

    def test_pipelining_behind_a_large_answer(self):
        self.server.put("big.png", b"x" * (6 << 20))
        with self.server.connect() as s, s.makefile("rb") as stream:
            s.sendall(post("/read", '{"path":"big.png"}') + HEALTH + LS)
            self.assertEqual(len(read_answer(stream).json()["result"]["data"]), 8 << 20)
            self.assertIn("version", read_answer(stream).json())
            self.assertIn("result", read_answer(stream).json())

    def test_byte_by_byte(self):
        with self.server.connect() as s, s.makefile("rb") as stream:
            for byte in LS + HEALTH:
                s.sendall(bytes([byte]))
            self.assertEqual(read_answer(stream).status, 200)
            self.assertEqual(read_answer(stream).status, 200)

    def test_split_anywhere(self):
        for cut in range(1, len(LS), 3):
            with self.server.connect() as s, s.makefile("rb") as stream:
                s.sendall(LS[:cut])
                time.sleep(0.001)
                s.sendall(LS[cut:])
                self.assertEqual(read_answer(stream).status, 200)

    def test_half_closed_client_gets_its_answer(self):
        for request in (LS, HEALTH, LS + HEALTH):
            answer, rest = self.server.send(request, half_close=True)
            self.assertEqual(answer.status, 200)
            self.assertEqual(rest.count(b"HTTP/1.1 200"), request.count(b"HTTP/1.1") - 1)

    def test_half_closed_client_gets_a_large_answer(self):
        self.server.put("large.png", b"x" * (3 << 20))
        answer, rest = self.server.send(post("/read", '{"path":"large.png"}'), half_close=True)
        self.assertEqual(len(answer.json()["result"]["data"]), 4 << 20)
        self.assertEqual(rest, b"")

    def test_connection_close(self):
        answer, rest = self.server.send(post("/ls", "{}", "Connection: close\r\n") + HEALTH)
        self.assertEqual(answer.headers["connection"], "close")
        self.assertEqual(rest, b"")

    def test_http_1_0(self):
        answer, rest = self.server.send(b"GET /health HTTP/1.0\r\n\r\n")
        self.assertEqual((answer.status, answer.headers["connection"], rest), (200, "close", b""))
        with self.server.connect() as s, s.makefile("rb") as stream:
            for _ in range(2):
                s.sendall(b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                answer = read_answer(stream)
                # Without this header a client of that time would wait for the end of the connection.
                self.assertEqual((answer.status, answer.headers["connection"]), (200, "keep-alive"))

    def test_usable_after_a_failed_call(self):
        with self.server.connect() as s, s.makefile("rb") as stream:
            for body, status in (("{}", 400), ("nonsense", 400), ('{"path":"../x"}', 400), ('{"path":"absent"}', 400)):
                s.sendall(post("/read", body))
                self.assertEqual(read_answer(stream).status, status)
            s.sendall(post("/nope", "{}") + b"PUT /ls HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + LS)
            self.assertEqual([read_answer(stream).status for _ in range(3)], [404, 405, 200])

    def test_slow_head_is_given_up(self):
        began = time.monotonic()
        with self.server.connect() as s, s.makefile("rb") as stream:
            s.sendall(b"POST /ls HTTP/1.1\r\n")
            with contextlib.suppress(OSError):
                while not select.select([s], [], [], 0.5)[0]:
                    s.sendall(b"X-Slow: 1\r\n")  # going on does not move the deadline
            answer = read_answer(stream)
        self.assertEqual(answer.status, 408)
        self.assertFalse(answer.json()["ok"])
        self.assertGreater(time.monotonic() - began, 9)


class Bodies(SidecarTest):
    def chunked(self, *pieces, head="POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                    "Transfer-Encoding: chunked\r\n\r\n", end=b"0\r\n\r\n"):
        return head.encode() + b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + end

    def test_chunked(self):
        body = json.dumps({"path": "c.txt", "content": "chünked" * 999}).encode()
        with self.server.connect() as s, s.makefile("rb") as stream:
            for size in (1, 2, 3, 7, 1000, 4096, 100000):
                pieces = [body[i:i + size] for i in range(0, len(body), size)]
                request = self.chunked(*pieces, end=b"0\r\nTrailer: x\r\n\r\n")
                s.sendall(request + HEALTH)
                answer = read_answer(stream)
                self.assertEqual(answer.json()["result"]["bytes"], 8 * 999, size)
                self.assertEqual(read_answer(stream).status, 200)
        self.assertEqual(self.server.get("c.txt").decode(), "chünked" * 999)

    def test_chunked_in_odd_writes(self):
        body = json.dumps({"path": "odd.txt", "content": "x" * 5000}).encode()
        request = self.chunked(*(body[i:i + 501] for i in range(0, len(body), 501)))
        for step in (1, 13, 499):
            with self.server.connect() as s, s.makefile("rb") as stream:
                for i in range(0, len(request), step):
                    s.sendall(request[i:i + step])
                self.assertEqual(read_answer(stream).json()["result"]["bytes"], 5000)

    def test_large_chunked_body(self):
        body = json.dumps({"path": "large.txt", "content": "y" * (20 << 20)}).encode()
        request = self.chunked(*(body[i:i + 65536] for i in range(0, len(body), 65536)))
        self.assertEqual(self.server.send(request, half_close=True)[0].json()["result"]["bytes"], 20 << 20)

    def test_expect_continue(self):
        with self.server.connect() as s, s.makefile("rb") as stream:
            s.sendall(b"POST /ls HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                      b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            self.assertEqual(read_answer(stream).status, 100)
            s.sendall(b"{}")
            self.assertEqual(read_answer(stream).status, 200)
            # With the body already there, nobody needs to be told.
            s.sendall(post("/ls", "{}", "Expect: 100-continue\r\n"))
            self.assertEqual(read_answer(stream).status, 200)

    def test_expect_something_else(self):
        self.assertEqual(self.server.send(post("/ls", "{}", "Expect: wonders\r\n"))[0].status, 417)

    def test_too_large_is_refused_before_it_comes(self):
        with self.server.connect() as s, s.makefile("rb") as stream:
            s.sendall(b"POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                      b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % (33 << 20))
            answer = read_answer(stream)
            self.assertEqual(answer.status, 413)
            self.assertFalse(answer.json()["ok"])
            self.assertEqual(answer.headers["connection"], "close")

    def test_too_large_and_sent_all_the_same(self):
        # A client that writes everything before it reads must be able to read the answer.
        answer = self.server.request("POST", "/write", b"x" * (40 << 20), {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 413)

    def test_too_large_in_chunks(self):
        request = self.chunked(*[b"z" * (1 << 20)] * 40)
        self.assertEqual(self.server.send(request)[0].status, 413)

    def test_absurd_lengths(self):
        for length in (b"99999999999999", b"9223372036854775807"):
            answer, _ = self.server.send(b"POST /ls HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n" % length)
            self.assertEqual(answer.status, 413)
        for length in (b"99999999999999999999", b"-1", b"1e3", b"0x10", b"", b"1 1"):
            answer, _ = self.server.send(b"POST /ls HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n" % length)
            self.assertEqual(answer.status, 400)

    def test_largest_body(self):
        frame = len(json.dumps({"path": "max", "content": ""}))
        content = "m" * ((32 << 20) - frame)
        self.assertEqual(self.server.call("write", path="max", content=content).status, 200)
        self.assertEqual(self.server.call("write", path="max", content=content + "m").status, 413)

    def invalid(self, body, content_type="application/json", url="/ls"):
        answer = self.server.request("POST", url, body, {"Content-Type": content_type})
        self.assertEqual(answer.status, 400, body[:50])
        self.assertEqual(answer.json()["error"], "Invalid JSON body")

    def test_bodies_that_are_no_object(self):
        for body in ("5", "[]", "null", '"x"', "{", "{}x", "{'a':1}", '{"a":1,}', "\ufeff{}", "{} {}", "nul", "{\"a\":01}",
                     '{"a":"\t"}', '{"a":"\\x"}', '{"a":NaN}', "//\n{}"):
            self.invalid(body.encode())
        for body in (b'{"path":"\xff"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\xc0\x80"}', b"{\0}", b'{"a":"\0"}', b"\0"):
            self.invalid(body)

    def test_deep_nesting(self):
        self.invalid(b"[" * 100000)
        self.invalid(b'{"a":' * 100000 + b"1" + b"}" * 100000)
        self.invalid(b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}")

    def test_many_members(self):
        body = b'{"path":".",' + b",".join(b'"k%d":[]' % i for i in range(100000)) + b"}"
        self.assertEqual(self.server.request("POST", "/ls", body, {"Content-Type": "application/json"}).status, 200)

    def test_last_of_two_members_counts(self):
        self.server.put("two/inside", "")
        answer = self.server.request("POST", "/ls", '{"path":"absent","path":"two"}', {"Content-Type": "application/json"})
        self.assertEqual(answer.json()["result"]["output"], "inside")

    def test_escapes(self):
        self.server.request("POST", "/write", '{"path":"esc","content":"\\u0000\\ud83d\\ude00\\ud800\\/\\u00e4"}',
                            {"Content-Type": "application/json"})
        self.assertEqual(self.server.get("esc"), "\0😀�/ä".encode())

    def test_content_types(self):
        for kind in ("application/json", "Application/JSON", "application/json;charset=utf-8", "text/x, application/json"):
            self.assertEqual(self.server.request("POST", "/ls", "{}", {"Content-Type": kind}).status, 200, kind)
        for kind in ("text/plain", "", "application/x-www-form-urlencoded", "json"):
            self.invalid(b"{}", kind)

    def test_empty_body(self):
        for body in ("", "  ", "\r\n"):
            self.assertEqual(self.server.request("POST", "/ls", body, {"Content-Type": "application/json"}).status, 200)


class Requests(SidecarTest):
    def test_head(self):
        with self.server.connect() as s, s.makefile("rb") as stream:
            s.sendall(b"HEAD /health HTTP/1.1\r\nHost: x\r\n\r\nHEAD /x HTTP/1.1\r\nHost: x\r\n\r\n" + HEALTH)
            answer = read_answer(stream, "HEAD")
            self.assertEqual(answer.status, 200)
            self.assertGreater(int(answer.headers["content-length"]), 10)
            self.assertEqual(read_answer(stream, "HEAD").status, 405)
            self.assertIn("version", read_answer(stream).json())

    def test_options(self):
        for target, allow in ((b"*", "GET, HEAD, POST, OPTIONS"), (b"/ls", "POST, OPTIONS"),
                              (b"/health", "GET, HEAD, OPTIONS"), (b"/jobs", "GET, HEAD, OPTIONS"),
                              (b"/jobs/1", "GET, HEAD, OPTIONS"), (b"/jobs/1/stop", "POST, OPTIONS"), (b"/tools", "GET, HEAD, POST, OPTIONS")):
            with self.server.connect() as s, s.makefile("rb") as stream:
                s.sendall(b"OPTIONS %s HTTP/1.1\r\nHost: x\r\n\r\n" % target + HEALTH)
                answer = read_answer(stream)
                self.assertEqual(answer.status, 204)
                self.assertEqual(answer.headers["allow"], allow)
                self.assertNotIn("content-length", answer.headers)  # RFC 9110, 8.6
                self.assertEqual(read_answer(stream).status, 200)

    def test_not_found(self):
        for url in ("/nope", "/", "/read/", "/READ", "/health/x", "//ls", "/%6cs"):
            answer = self.server.request("POST", url, "{}", {"Content-Type": "application/json"})
            self.assertEqual((answer.status, answer.json()), (404, {"ok": False, "error": "Not found"}), url)

    def test_method_not_allowed(self):
        for method, url, allow in (("GET", "/ls", "POST"), ("GET", "/nope", "POST"), ("DELETE", "/ls", "POST"),
                                   ("PUT", "/health", "GET"), ("POST", "/health", "GET"), ("PATCH", "/x", "POST"),
                                   ("TRACE", "/health", "GET"), ("BREW", "/ls", "POST"), ("POST", "/jobs", "GET"),
                                   ("POST", "/jobs/1", "GET"), ("DELETE", "/jobs/1", "GET"), ("GET", "/jobs/1/stop", "POST")):
            answer = self.server.request(method, url)
            self.assertEqual((answer.status, answer.json()), (405, {"ok": False, "error": "Method not allowed"}), method)
            self.assertEqual(answer.headers["allow"],
                             "POST, OPTIONS" if allow == "POST" else "GET, HEAD, OPTIONS")

    def test_query_is_ignored(self):
        self.assertEqual(self.server.request("GET", "/health?a=b&c").status, 200)
        self.assertEqual(self.server.request("POST", "/ls?x", "{}", {"Content-Type": "application/json"}).status, 200)

    def test_long_target(self):
        answer, _ = self.server.send(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(answer.status, 414)

    def test_long_head(self):
        for lines in (b"X: " + b"a" * 17000 + b"\r\n", b"".join(b"X-%d: %s\r\n" % (i, b"b" * 400) for i in range(50)),
                      b"".join(b"X-%d: b\r\n" % i for i in range(70))):
            answer, _ = self.server.send(b"GET /health HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n")
            self.assertEqual(answer.status, 431)
            self.assertFalse(answer.json()["ok"])

    def test_endless_head(self):
        with self.server.connect() as s, s.makefile("rb") as stream:
            try:
                for _ in range(1000):
                    s.sendall(b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 1000)
            except OSError:
                pass
            self.assertIn(read_answer(stream).status, (400, 431))

    def test_smuggling(self):
        """What two parsers could cut in two ways is refused, and nothing behind it is answered."""
        inner = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
        for head in (
            b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length: 5\r\nContent-Length: 5",
            b"Content-Length: 5, 5", b"Content-Length: +5", b"Content-Length: 5\r\nTransfer-Encoding: chunked",
            b"Transfer-Encoding: chunked\r\nContent-Length: 5", b"Transfer-Encoding: chunked, chunked",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", b"Transfer-Encoding : chunked",
            b"Transfer-Encoding:\x0bchunked", b"Transfer-Encoding: chunked\x00", b"Content-Length : 5",
            b" Content-Length: 5", b"X: y\r\n Transfer-Encoding: chunked", b"X: y\nContent-Length: 5",
            b"X: y\rContent-Length: 5", b"X\x00: y", b": y", b"no colon", b"Host: y", b"Content-Length: 5\x00",
        ):
            with self.subTest(head):
                answer, rest = self.server.send(b"POST /ls HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n0\r\n\r\n" + inner)
                self.assertEqual(answer.status, 400)
                self.assertFalse(answer.json()["ok"])
                self.assertEqual(answer.headers["connection"], "close")
                self.assertEqual(rest, b"")

    def test_malformed(self):
        for data, status in (
            (b"GET /health\r\n\r\n", 400), (b"\0\0\0\0", 400), (b"GET  /health HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            (b"GET /health HTTP/2.0\r\nHost: x\r\n\r\n", 505), (b"GET /health HTTP/1.1\r\n\r\n", 400),
            (b"GET /he\x7falth HTTP/1.1\r\nHost: x\r\n\r\n", 400), (b"G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\nHost: x\n\n", 400), (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505), (b"POST /ls HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
            (b"POST http://[/read HTTP/1.1\r\nHost: x\r\n\r\n", 400), (b"GET http://:80/health HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            (b"GET /health HTTP/1.1\r\nHost: [\r\n\r\n", 400),
            (b"POST /ls HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ):
            with self.subTest(data):
                answer, rest = self.server.send(data, half_close=False)
                self.assertEqual((answer.status, rest), (status, b""))
                self.assertFalse(answer.json()["ok"])

    def test_bad_chunks(self):
        head = b"POST /ls HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        for body in (b"x\r\n", b"-1\r\n", b"2 \r\n{}\r\n", b"2\n{}\r\n", b"2\r\n{}X\r\n", b"2\r\n{}\n", b"0x2\r\n{}\r\n",
                     b"ffffffffffffffff\r\n", b"2;\0\r\n{}\r\n", b"0\r\nContent-Length: 1\r\n\r\n", b"0\r\nbad\r\n\r\n"):
            with self.subTest(body):
                answer, rest = self.server.send(head + body + HEALTH)
                self.assertEqual((answer.status, rest), (400, b""))

    def test_hang_ups(self):
        """Clients that leave at any moment cost nothing."""
        for cut in range(0, len(LS) + 1, 5):
            s = self.server.connect()
            s.sendall(LS[:cut])
            if cut % 2:
                s.shutdown(socket.SHUT_RD)
            s.close()
        self.assertEqual(self.server.request("GET", "/health").status, 200)


if __name__ == "__main__":
    unittest.main()
