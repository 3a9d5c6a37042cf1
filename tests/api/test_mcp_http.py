"""MCP over HTTP: POST /mcp in both eras: sessions, headers, streams of events, cancelling."""
import base64
import contextlib
import http.client
import json
import os
import socket
import threading
import time
import unittest

from harness import PATIENCE, SidecarTest, UnixConnection, post
from mcp_client import VERSIONS, Marked, call, initialize, message, output, wait_for_file

ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def modern_headers(body, **more):
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": body["method"]}
    if body["method"] == "tools/call":
        headers["Mcp-Name"] = body["params"]["name"]
    return {**headers, **more}


def events(body):
    """The messages of a stream, and how many comments there were."""
    parts = [p for p in body.decode().split("\n\n") if p]
    data = [p.split("data: ", 1)[1] for p in parts if not p.startswith(":")]
    return [json.loads(d) for d in data], len(parts) - len(data)


class McpTest(SidecarTest):
    flags = ("--mcp-results", "structured")

    def post(self, body, headers=None, server=None, timeout=60):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return (server or self.server).request("POST", "/mcp", data, {**ACCEPT, **(headers or {})}, timeout)

    def modern(self, body, **headers):
        return self.post(body, modern_headers(body, **headers))

    def session(self, version="2025-11-25", server=None):
        answer = self.post(initialize(0, version), server=server)
        self.assertEqual(answer.json()["result"]["protocolVersion"], version)
        headers = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": version}
        self.assertEqual(self.post(message("notifications/initialized"), headers, server).status, 202)
        return headers

    def refused(self, answer, status, code):
        self.assertEqual((answer.status, answer.json()["error"]["code"]), (status, code), answer.body)


class Legacy(McpTest):
    def test_every_version(self):
        names = set()
        for version in VERSIONS:
            headers = self.session(version)
            names.add(headers["Mcp-Session-Id"])
            self.assertEqual(self.post(message("ping", number=1), headers).json()["result"], {})
            self.assertIn("tools", self.post(message("tools/list", number=1), headers).json()["result"])
        self.assertEqual(len(names), len(VERSIONS))
        for name in names:
            self.assertRegex(name, "^[!-~]{16,}$")

    def test_sessions(self):
        headers = self.session()
        ping = message("ping", number=1)
        self.refused(self.post(ping), 400, -32600)
        self.refused(self.post(ping, {"Mcp-Session-Id": ""}), 404, -32600)
        self.refused(self.post(ping, {"Mcp-Session-Id": "0" * 32}), 404, -32600)
        self.refused(self.post(message("notifications/initialized"), {"Mcp-Session-Id": "x" * 4000}), 404, -32600)
        self.refused(self.post(ping, {**headers, "MCP-Protocol-Version": "1999-01-01"}), 400, -32022)
        without = {"Mcp-Session-Id": headers["Mcp-Session-Id"]}
        self.assertEqual(self.post(ping, without).status, 200)
        self.assertEqual(self.server.request("DELETE", "/mcp", headers=without).status, 204)
        self.refused(self.post(ping, headers), 404, -32600)
        self.assertEqual(self.server.request("DELETE", "/mcp", headers=without).status, 404)
        self.assertEqual(self.server.request("DELETE", "/mcp").status, 405)

    def test_no_stream_to_get(self):
        for method in ("GET", "HEAD", "PUT", "PATCH"):
            answer = self.server.request(method, "/mcp", headers=self.session())
            self.assertEqual((answer.status, "POST" in answer.headers["allow"]), (405, True))

    def test_responses_and_notifications_are_accepted(self):
        headers = self.session()
        for body in ({"jsonrpc": "2.0", "id": 1, "result": {}}, message("notifications/roots/list_changed")):
            answer = self.post(body, headers)
            self.assertEqual((answer.status, answer.body), (202, b""))

    def test_batches(self):
        batch = [message("ping", number=1), message("x"), call(2, "run_command", command="echo hi"), 5]
        answer = self.post(batch, self.session("2025-03-26"))
        self.assertEqual([m["id"] for m in answer.json()], [1, 2, None])
        self.assertEqual(output(answer.json()[1])["stdout"], "hi\n")
        self.assertEqual(self.post([message("x")], self.session("2025-03-26")).status, 202)
        self.refused(self.post([], self.session("2025-03-26")), 400, -32600)
        self.refused(self.post(batch, self.session("2025-06-18")), 400, -32600)
        self.refused(self.post(batch), 400, -32600)

    def test_a_session_remembers_what_it_has_read(self):
        self.server.put("seen.txt", "one\n")
        edit = call(1, "write_file", path="seen.txt", content="two")
        first, second = self.session(), self.session()
        output(self.post(call(1, "read_file", path="seen.txt"), first).json())
        self.assertEqual(self.post(edit, second).json()["result"]["structuredContent"]["error"]["code"], "FILE_NOT_READ")
        output(self.post(edit, first).json())

    def test_the_eldest_session_makes_room(self):
        server = self.start()
        first = self.session(server=server)
        with contextlib.closing(UnixConnection(server.socket)) as c:
            for _ in range(1024):
                c.request("POST", "/mcp", json.dumps(initialize()), ACCEPT)
                c.getresponse().read()
        self.refused(self.post(message("ping", number=1), first, server), 404, -32600)
        self.session(server=server)


class Modern(McpTest):
    def test_requests_stand_for_themselves(self):
        answer = self.modern(message("server/discover", number=1, modern=True))
        self.assertEqual(answer.json()["result"]["supportedVersions"][0], "2026-07-28")
        self.assertNotIn("mcp-session-id", answer.headers)
        answer = self.modern(call("a", "run_command", modern=True, command="echo hi"))
        self.assertEqual(output(answer.json())["stdout"], "hi\n")
        self.assertEqual(answer.json()["result"]["resultType"], "complete")
        # A session that is sent along means nothing.
        answer = self.modern(message("tools/list", number=1, modern=True), **{"Mcp-Session-Id": "gone"})
        self.assertEqual(answer.status, 200)

    def test_unknown_methods_are_not_found(self):
        for method in ("initialize", "ping", "logging/setLevel", "subscriptions/listen", "no/such"):
            self.refused(self.modern(message(method, number=1, modern=True)), 404, -32601)

    def test_metadata(self):
        body = message("tools/list", number=1)
        self.refused(self.modern(body), 400, -32602)
        body = message("tools/list", number=1, modern=True)
        body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
        self.refused(self.modern(body), 400, -32020)
        self.refused(self.modern(body, **{"MCP-Protocol-Version": "2031-01-01"}), 400, -32022)
        self.refused(self.modern({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}), 400, -32602)

    def test_headers_must_match(self):
        body = call(1, "read_file", modern=True, path="x")
        good = modern_headers(body)
        self.assertEqual(self.post(body, good).status, 200)
        for name in good:
            self.refused(self.post(body, {k: v for k, v in good.items() if k != name}), 400, -32020)
            for value in ("", "other", good[name].upper() + "X", "=?base64?!?=", "\xe4", "a" * 5000):
                self.refused(self.post(body, {**good, name: value}), 400, -32020)
        encoded = "=?base64?%s?=" % base64.b64encode(b"read_file").decode()
        self.assertEqual(self.post(body, {**good, "Mcp-Name": encoded}).status, 200)
        self.assertEqual(self.post(body, {k.lower(): "  %s\t" % v for k, v in good.items()}).status, 200)
        raw = "".join("%s: %s\r\n" % p for p in {**ACCEPT, **good}.items() if p[0] != "Content-Type")
        answer, _ = self.server.send(post("/mcp", json.dumps(body), raw + "Mcp-Name: read_file\r\nConnection: close\r\n"))
        self.refused(answer, 400, -32020)

    def test_notifications_and_responses(self):
        answer = self.post(message("notifications/cancelled", {"requestId": 1}, modern=True),
                           {"MCP-Protocol-Version": "2026-07-28"})
        self.assertEqual((answer.status, answer.body), (202, b""))
        answer = self.post({"jsonrpc": "2.0", "id": 1, "result": {}}, {"MCP-Protocol-Version": "2026-07-28"})
        self.refused(answer, 400, -32600)


class BadInput(McpTest):
    def test_bodies(self):
        headers = self.session()
        for body, code in ((b"", -32700), (b"{", -32700), (b"\xff", -32700), (b"null", -32600), (b"{}", -32600),
                           (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600), (b"[" * 500, -32700),
                           (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602)):
            self.refused(self.post(body, headers), 400, code)
        self.refused(self.post(message("ping", number=1), {**headers, "Content-Type": "text/plain"}), 415, -32600)
        self.refused(self.post(call(1, "no_such"), headers), 200, -32602)
        self.refused(self.post(message("no/such", number=1), headers), 200, -32601)

    def test_twenty_megabytes(self):
        text = "x" * (20 << 20)
        output(self.post(call(1, "write_file", path="big", content=text), self.session()).json())
        self.assertEqual(len(self.server.get("big")), len(text))
        self.refused(self.post(b"y" * (20 << 20), self.session()), 400, -32700)


class Streams(McpTest):
    def test_progress_then_the_answer(self):
        script = "for i in 1 2 3 4; do echo line $i; sleep 0.4; done"
        for body, headers in ((call(1, "run_command", token="t", command=script), self.session()),
                              (call(1, "run_command", token="t", modern=True, command=script), None)):
            answer = self.post(body, headers or modern_headers(body))
            self.assertEqual(answer.headers["content-type"], "text/event-stream")
            self.assertEqual(answer.headers["x-accel-buffering"], "no")
            got, _ = events(answer.body)
            self.assertEqual(output(got[-1])["exit_code"], 0)
            told = [m["params"] for m in got[:-1]]
            self.assertTrue(told)
            self.assertEqual({p["progressToken"] for p in told}, {"t"})
            values = [p["progress"] for p in told]
            self.assertEqual(values, sorted(set(values)))

    def test_silence_is_told(self):
        body = json.dumps(call(1, "run_command", token=5, command="until [ -e told ]; do sleep 0.05; done"))
        with contextlib.closing(UnixConnection(self.server.socket, PATIENCE)) as connection:
            connection.request("POST", "/mcp", body, {**ACCEPT, **self.session()})
            stream = connection.getresponse()
            self.assertIn(b"notifications/progress", b"".join(iter(stream.readline, b"\n")))
            self.server.put("told", "")
            self.assertEqual(output(events(stream.read())[0][-1])["exit_code"], 0)

    def test_not_for_who_does_not_accept_it(self):
        answer = self.post(call(1, "run_command", token=5, command="echo a; sleep 1.2; echo b"),
                           {**self.session(), "Accept": "application/json"})
        self.assertEqual(output(answer.json())["stdout"], "a\nb\n")

    def test_many_at_once(self):
        headers, got = self.session(), {}

        def one(i):
            got[i] = self.post(call(i, "run_command", command="sleep 0.2; echo %d" % i), headers).json()

        threads = [threading.Thread(target=one, args=(i,)) for i in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual({i: output(a)["stdout"] for i, a in got.items()}, {i: "%d\n" % i for i in range(20)})


class Cancelling(McpTest):
    def begin(self, server, body, headers):
        """A request on a connection of its own, whose command has started."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(server.path("started"))
        c = server.connect()
        self.addCleanup(c.close)
        c.sendall(post("/mcp", json.dumps(body), "".join("%s: %s\r\n" % p for p in
                                                       {**ACCEPT, **headers}.items() if p[0] != "Content-Type")))
        wait_for_file(server.path("started"))
        return c

    def test_modern_by_closing_the_connection(self):
        marked = Marked()
        for close in (lambda c: c.close(), lambda c: c.shutdown(socket.SHUT_RDWR)):
            body = call(1, "run_command", modern=True, token=1, command=marked.command("setsid sleep 600 & sleep 600"))
            c = self.begin(self.server, body, modern_headers(body))
            close(c)
            marked.wait_until_gone()

    def test_legacy_by_a_notification(self):
        marked, headers = Marked(), self.session()
        body = call("one", "run_command", command=marked.command("setsid sleep 600 & sleep 600"))
        c = self.begin(self.server, body, headers)
        cancel = message("notifications/cancelled", {"requestId": "one"})
        self.assertEqual(self.post(cancel, self.session()).status, 202)
        self.assertEqual(self.post(message("ping", number=1), headers).status, 200)
        self.assertTrue(marked.alive())
        self.assertEqual(self.post(cancel, headers).status, 202)
        marked.wait_until_gone()
        answer = http.client.HTTPResponse(c)
        answer.begin()
        self.assertEqual((answer.status, answer.read()), (200, b""))

    def test_legacy_closing_is_not_cancelling(self):
        script = "touch started; while [ ! -e go ]; do sleep 0.02; done; touch finished"
        self.begin(self.server, call(1, "run_command", command=script), self.session()).close()
        time.sleep(0.2)  # for what must not happen
        self.server.put("go", "")
        wait_for_file(self.server.path("finished"))

    def test_a_session_ends_with_its_calls(self):
        marked, headers = Marked(), self.session()
        self.begin(self.server, call(1, "run_command", command=marked.command("sleep 600")), headers)
        self.assertEqual(self.server.request("DELETE", "/mcp", headers=headers).status, 204)
        marked.wait_until_gone()

    def test_an_id_in_use_is_refused(self):
        marked, headers = Marked(), self.session()
        body = call(1, "run_command", command=marked.command("sleep 600"))
        self.begin(self.server, body, headers)
        self.refused(self.post(body, headers), 400, -32600)
        self.post(message("notifications/cancelled", {"requestId": 1}), headers)
        marked.wait_until_gone()

    def test_the_server_ends_all_calls(self):
        marked = Marked()
        server = self.start(env={"SIDECAR_GRACE_SECONDS": "0"})
        body = call(1, "run_command", command=marked.command("sleep 600"))
        self.begin(server, body, self.session(server=server)).close()
        self.assertEqual(server.stop(), 0)
        marked.wait_until_gone()


class Browsers(McpTest):
    env = {"TCP_HOST": "127.0.0.1", "TCP_PORT": "0", "SIDECAR_REQUIRE_AUTH": "false"}

    def test_foreign_pages_and_names_are_refused(self):
        port = int(self.server.wait_for_log(lambda line: line.get("tcp"))["tcp"].rsplit(":", 1)[1])
        for headers, status in (({}, 200), ({"Origin": "http://127.0.0.1:%d" % port}, 200),
                                ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                                ({"Host": "evil.example"}, 403)):
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as c:
                c.request("POST", "/mcp", json.dumps(initialize()), {**ACCEPT, **headers})
                self.assertEqual(c.getresponse().status, status, headers)


if __name__ == "__main__":
    unittest.main()
