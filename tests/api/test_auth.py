"""Who may call: tokens, and on TCP the headers by which browsers give themselves away."""
import http.client
import os
import pathlib
import subprocess
import sys
import unittest

from harness import BIN, Answer, Sidecar, SidecarTest, environment, needs_two_users, read_answer
from processes import below


class Tokens(SidecarTest):
    env = {"SIDECAR_AUTH_TOKEN": "tok", "TCP_HOST": "127.0.0.1", "TCP_PORT": "0"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port = int(cls.server.request("GET", "/health").json()["tcp"].rsplit(":", 1)[1])

    def tcp(self, headers=None, url="/health", host="localhost", method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, url, skip_host=True)
            if host is not None:
                connection.putheader("Host", host)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            connection.endheaders()
            r = connection.getresponse()
            return Answer(r.status, dict(r.getheaders()), r.read())
        finally:
            connection.close()

    def unix(self, headers=None):
        return self.server.request("GET", "/health", headers=headers)

    def test_good_forms(self):
        for headers in ({"Authorization": "Bearer tok"}, {"Authorization": "bearer   tok"},
                        {"AUTHORIZATION": "BEARER tok"}, {"X-Sidecar-Token": "tok"},
                        {"Authorization": "Basic eDp5", "X-Sidecar-Token": "tok"}):
            with self.subTest(headers):
                self.assertEqual(self.unix(headers).status, 200)
                self.assertEqual(self.tcp(headers).status, 200)

    def test_wrong_token_is_refused_everywhere(self):
        for headers in ({"Authorization": "Bearer no"}, {"Authorization": "Bearer tokk"},
                        {"Authorization": "Bearer to"}, {"Authorization": "Bearer TOK"},
                        {"Authorization": "Bearer  "}, {"X-Sidecar-Token": "no"}, {"X-Sidecar-Token": ""},
                        {"Authorization": "Bearer no", "X-Sidecar-Token": "tok"}):
            for answer in (self.unix(headers), self.tcp(headers)):
                with self.subTest(headers):
                    self.assertEqual(answer.status, 401)
                    self.assertEqual(answer.json(), {"ok": False, "error": "Unauthorized"})

    def test_missing_token(self):
        self.assertEqual(self.unix().status, 200)  # the socket's mode is enough unless a token is required
        self.assertEqual(self.tcp().status, 401)
        self.assertEqual(self.tcp({"Authorization": "tok"}).status, 401)

    def test_nothing_is_told_without_a_token(self):
        for url in ("/health", "/nope", "/read"):
            self.assertEqual(self.tcp(url=url).status, 401)

    FOREIGN = ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "", "0x7f.1")

    def test_foreign_host(self):
        for host in self.FOREIGN:
            with self.subTest(host):
                self.assertEqual(self.tcp(host=host).status, 403)
                self.assertEqual(self.tcp({"Authorization": "Bearer no"}, host=host).status, 403)
        self.assertEqual(self.tcp(url="http://evil.example/health").status, 403)

    def test_the_right_token_is_enough_for_any_host(self):
        # A service name or an address: who knows the token is no page in somebody's browser.
        good = {"Authorization": "Bearer tok"}
        for host in (*self.FOREIGN, "sidecar.namespace.svc", "10.0.0.7:8080"):
            with self.subTest(host):
                self.assertEqual(self.tcp(good, host=host).status, 200)
        self.assertEqual(self.tcp(good, url="http://sidecar.svc/health").status, 200)
        self.assertEqual(self.tcp({**good, "Origin": "https://evil.example"}).status, 403)

    def test_own_host(self):
        good = {"Authorization": "Bearer tok"}
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:%d" % self.port, "[::1]", "[::1]:80", "127.0.0.2"):
            with self.subTest(host):
                self.assertEqual(self.tcp(good, host=host).status, 200)

    def test_origin(self):
        for origin, status in (("https://evil.example", 403), ("null", 403), ("", 403), ("http://localhost.evil", 403),
                               ("http://localhost:1", 403), ("http://localhost", 200)):
            with self.subTest(origin):
                self.assertEqual(self.tcp({"Authorization": "Bearer tok", "Origin": origin}).status, status)
        self.assertEqual(self.unix({"Origin": "https://evil.example"}).status, 200)

    def test_refused_body_is_json(self):
        answer = self.tcp(host="evil.example")
        self.assertFalse(answer.json()["ok"])

    def test_preflight_of_a_foreign_page_gets_nothing(self):
        answer = self.tcp({"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}, method="OPTIONS")
        self.assertEqual(answer.status, 403)
        self.assertNotIn("access-control-allow-origin", {k.lower() for k in answer.headers})


class Environment(SidecarTest):
    """The environment of a process can be read by others of its user, and without a sandbox commands are such."""

    def environ_of(self, pid):
        return pathlib.Path("/proc/%d/environ" % pid).read_bytes()

    def test_the_token_is_not_in_it(self):
        server = self.start(env={"SIDECAR_AUTH_TOKEN": "T0KEN-0F-MINE", "SIDECAR_SANDBOX": "off", "SIDECAR_REQUIRE_AUTH": "1"})
        good = {"Authorization": "Bearer T0KEN-0F-MINE"}
        answer = server.call("bash", headers=good, command="tr '\\0' '\\n' < /proc/%d/environ" % server.process.pid)
        self.assertNotIn(b"T0KEN-0F-MINE", answer.body)
        self.assertIn(b"WORKSPACE_ROOT=", answer.body)
        others = [pid for pid, name in below(server.process.pid) if name in ("sidecar-keeper", "sidecar-spawner")]
        for pid in (server.process.pid, *others):
            self.assertIn(b"WORKSPACE_ROOT=", self.environ_of(pid))
            self.assertNotIn(b"T0KEN-0F-MINE", self.environ_of(pid))

    def test_nor_in_that_of_an_mcp_server(self):
        env = environment(SIDECAR_AUTH_TOKEN="T0KEN-0F-MINE", WORKSPACE_ROOT=self.server.workspace)
        with subprocess.Popen([BIN, "mcp"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            process.stdin.flush()
            self.assertIn(b'"id":1', process.stdout.readline())
            self.assertNotIn(b"T0KEN-0F-MINE", self.environ_of(process.pid))
            process.stdin.close()


class Early(SidecarTest):
    env = {"SIDECAR_AUTH_TOKEN": "secret", "SIDECAR_REQUIRE_AUTH": "1"}

    def test_refused_before_the_body_comes(self):
        for extra in (b"", b"Expect: 100-continue\r\n", b"Authorization: Bearer wrong\r\n"):
            with self.server.connect() as s, s.makefile("rb") as stream:
                s.sendall(b"POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                          b"Content-Length: 1000000\r\n" + extra + b"\r\n")
                answer = read_answer(stream)
                self.assertEqual(answer.status, 401)
                self.assertEqual(answer.headers["www-authenticate"], "Bearer")

    def test_let_in_before_the_body_comes(self):
        body = b'{"path":"x","content":"y"}'
        with self.server.connect() as s, s.makefile("rb") as stream:
            s.sendall(b"POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                      b"Authorization: Bearer secret\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
            self.assertEqual(read_answer(stream).status, 100)
            s.sendall(body)
            self.assertEqual(read_answer(stream).status, 200)


class Configured(SidecarTest):
    def health(self, server, headers):
        port = int(server.request("GET", "/health").json()["tcp"].rsplit(":", 1)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/health", headers=headers)
        status = connection.getresponse().status
        connection.close()
        return status

    def test_allowed_hosts_and_origins(self):
        server = self.start(env={"SIDECAR_REQUIRE_AUTH": "false"}, flags=[
            "--tcp", "127.0.0.1:0", "--allowed-hosts", "box.example, other", "--allowed-origins=https://app.example,http://b"])
        for host, status in (("box.example", 200), ("BOX.example:8080", 200), ("other", 200), ("box.example.evil", 403)):
            self.assertEqual(self.health(server, {"Host": host}), status, host)
        for origin, status in (("https://app.example", 200), ("http://b", 200), ("http://app.example", 403)):
            self.assertEqual(self.health(server, {"Origin": origin}), status, origin)

    def test_the_address_listened_on_is_a_configured_host(self):
        server = self.start(env={"SIDECAR_REQUIRE_AUTH": "false"}, flags=["--tcp", "127.3.2.1:0"])
        port = int(server.request("GET", "/health").json()["tcp"].rsplit(":", 1)[1])
        connection = http.client.HTTPConnection("127.3.2.1", port, timeout=30)
        connection.request("GET", "/health")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()

    def test_a_token_that_is_not_required(self):
        """A token is set, and the operator says that it is not required: on loopback it may be left out."""
        env = {"SIDECAR_AUTH_TOKEN": "tok", "TCP_HOST": "127.0.0.1", "TCP_PORT": "0"}
        server = self.start(env={**env, "SIDECAR_REQUIRE_AUTH": "false"})
        for headers, status in (({}, 200), ({"Authorization": "Bearer tok"}, 200), ({"Authorization": "Bearer no"}, 401),
                                ({"Host": "evil.example"}, 403), ({"Origin": "https://evil.example"}, 403)):
            self.assertEqual(self.health(server, headers), status, headers)
        # Not said: the token is required on TCP, as before.
        self.assertEqual(self.health(self.start(env=env), {}), 401)

    def test_beyond_loopback_a_token_is_always_required(self):
        server = self.start(env={"SIDECAR_AUTH_TOKEN": "tok", "TCP_HOST": "0.0.0.0", "TCP_PORT": "0",
                                 "SIDECAR_REQUIRE_AUTH": "false"})
        self.assertEqual(self.health(server, {"Host": "localhost"}), 401)
        self.assertEqual(self.health(server, {"Authorization": "Bearer tok"}), 200)

    def test_without_token_any_is_let_through(self):
        self.assertEqual(self.server.request("GET", "/health", headers={"Authorization": "Bearer x"}).status, 200)

    def test_required_on_the_unix_socket(self):
        server = self.start(env={"SIDECAR_AUTH_TOKEN": "tok", "SIDECAR_REQUIRE_AUTH": "1"})
        answer = server.request("GET", "/health")
        self.assertEqual(answer.status, 401)
        self.assertEqual(answer.headers["www-authenticate"], "Bearer")
        self.assertEqual(server.request("GET", "/health", headers={"X-Sidecar-Token": "tok"}).status, 200)


@needs_two_users
class Users(SidecarTest):
    ASK = ("import socket,sys\n"
           "s = socket.socket(socket.AF_UNIX)\n"
           "s.connect(sys.argv[1])\n"
           "s.sendall(b'GET /health HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')\n"
           "print(s.recv(65536).decode())\n")

    def ask_as(self, server, uid):
        os.chmod(server.dir, 0o755)
        done = subprocess.run(["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", sys.executable, "-c", self.ASK,
                               server.socket], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def test_only_listed_users(self):
        server = Sidecar(env={"SIDECAR_ALLOWED_UIDS": "65534, 4242", "SIDECAR_SOCKET_MODE": "0666"})
        self.addCleanup(server.close)
        self.assertIn("200 OK", self.ask_as(server, 65534))
        self.assertIn("403 Forbidden", self.ask_as(server, 65533))
        self.assertEqual(server.wait_for_log(lambda line: "uid" in line)["uid"], 0)  # the harness' own probe
        server.wait_for_log(lambda line: line.get("uid") == 65533)

    def test_mode_keeps_others_out(self):
        server = self.start()
        self.assertIn("PermissionError", self.ask_as(server, 65534))


if __name__ == "__main__":
    unittest.main()
