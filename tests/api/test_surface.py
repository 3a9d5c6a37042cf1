"""SIDECAR_SURFACE=agent-sandbox: its runtime routes, and that they reach nothing that others do not."""
import datetime
import http.client
import json
import os
import stat
import unittest
import urllib.parse

from harness import SidecarTest, UnixConnection, is_sanitized

JSON = {"Content-Type": "application/json"}
BINARY = bytes(range(256)) * 40
# Each leads out of the workspace, by text or by link.
ESCAPES = ["../x", "a/../../x", "..%2Fx", "..%2f..%2fetc%2fpasswd", "%2e%2e/x", "out", "out/passwd", "abs", "up/x"]


def quote(path):
    """As the clients of that project write a path."""
    return urllib.parse.quote(path, safe="")


def form(name, content, field="file", boundary="b0undary"):
    """A body and its headers."""
    disposition = 'form-data; name="%s"' % field
    if name is not None:
        disposition += '; filename="%s"' % name
    body = ("--%s\r\nContent-Disposition: %s\r\nContent-Type: application/octet-stream\r\n\r\n"
            % (boundary, disposition)).encode() + content + ("\r\n--%s--\r\n" % boundary).encode()
    return body, {"Content-Type": "multipart/form-data; boundary=" + boundary}


class Surface(SidecarTest):
    env = {"SIDECAR_SURFACE": "agent-sandbox", "SANDBOX_ID": "s-1", "SANDBOX_API_TOKEN": "hidden", "OTHER": "x"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.symlink("/etc", cls.server.path("out"))
        os.symlink("/etc/passwd", cls.server.path("abs"))
        os.symlink("..", cls.server.path("up"))

    def ask(self, method, url, status, body=None, headers=None):
        answer = self.server.request(method, url, body, headers)
        self.assertEqual(answer.status, status, (method, url, answer.body[:300]))
        if status >= 400 and method != "HEAD":
            self.assertTrue(answer.json()["message"])
            self.assertTrue(answer.json()["code"])
        return answer

    def execute(self, command):
        return self.ask("POST", "/execute", 200, json.dumps({"command": command}), JSON).json()

    def test_it_says_that_it_runs(self):
        self.assertEqual(self.ask("GET", "/", 200).json()["status"], "ok")
        health = self.ask("GET", "/v1/health", 200).json()
        self.assertEqual((health["status"], health["uptime_seconds"] >= 0), ("ok", True))
        self.assertEqual(self.ask("HEAD", "/v1/health", 200).body, b"")

    def test_metadata_has_no_secrets(self):
        self.assertEqual(self.ask("GET", "/v1/metadata", 200).json(), {"env": {"SANDBOX_ID": "s-1"}})

    def test_a_command_is_split_as_a_shell_would_and_run_by_none(self):
        for command, out in (("echo hello", "hello\n"), ("printf '%s|' 'a b' \"c d\" e\\ f", "a b|c d|e f|"),
                             ("echo $HOME * ; ls > x && `id`", "$HOME * ; ls > x && `id`\n"),
                             ("sh -c 'echo a; echo b'", "a\nb\n")):
            self.assertEqual(self.execute(command), {"stdout": out, "stderr": "", "exit_code": 0}, command)
        self.assertFalse(os.path.exists(self.server.path("x")))
        self.assertEqual(self.execute("pwd")["stdout"], self.server.workspace + "\n")

    def test_how_a_command_ends_is_told(self):
        self.assertEqual(self.execute("sh -c 'echo no >&2; exit 3'"), {"stdout": "", "stderr": "no\n", "exit_code": 3})
        missing = self.execute("no-such-program-here")
        self.assertEqual((missing["exit_code"], missing["stdout"]), (1, ""))
        self.assertTrue(missing["stderr"].startswith("Failed to execute command: "), missing)
        self.assertEqual(self.execute("sh -c 'kill -9 $$'")["exit_code"], 137)

    def test_long_output_is_bounded(self):
        done = self.execute("head -c 9000000 /dev/zero")
        self.assertEqual((len(done["stdout"]), done["exit_code"]), (3 << 20, 0))
        done = self.execute("sh -c 'printf x; yes 🙂 | head -c 9000000 | tr -d \\\\n'")
        self.assertEqual(set(done["stdout"]), {"x", "🙂"})

    def test_bad_commands_are_refused(self):
        for body in ('{"command":"a \'b"}', '{"command":""}', '{"command":1}', "{}", "[]", "x", '{"command":"a\\u0000"}'):
            self.ask("POST", "/execute", 400, body, JSON)
        self.ask("POST", "/execute", 400, '{"command":"true"}')
        self.ask("POST", "/execute", 403, '{"command":"rm -rf /"}', JSON)

    def test_files_come_back_as_they_were(self):
        for name in ("plain.bin", "new/dir/ü %41.bin", "a'b.bin"):
            body, headers = form(name, BINARY)
            message = self.ask("POST", "/upload", 200, body, headers).json()["message"]
            self.assertIn(name, message)
            self.assertEqual(self.server.get(name), BINARY)
            self.assertEqual(self.ask("GET", "/download/" + quote(name), 200).body, BINARY)
            put = self.ask("PUT", "/v1/files/" + quote(name), 204, BINARY[::-1],
                           {"Content-Type": "application/octet-stream"})
            self.assertEqual(put.body, b"")
            answer = self.ask("GET", "/v1/files/" + quote(name), 200)
            self.assertEqual((answer.body, answer.headers["content-type"]), (BINARY[::-1], "application/octet-stream"))
            self.assertEqual(self.ask("GET", "/exists/" + quote(name), 200).json(), {"path": name, "exists": True})
            self.ask("DELETE", "/v1/files/" + quote(name), 204)
            self.assertEqual(self.ask("GET", "/exists/" + quote(name), 200).json()["exists"], False)
            self.ask("HEAD", "/v1/files/" + quote(name), 404)

    def test_put_takes_forms_and_empty_bodies(self):
        body, headers = form("elsewhere", b"from a form")
        self.ask("PUT", "/v1/files/form.txt", 204, body, headers)
        self.assertEqual(self.server.get("form.txt"), b"from a form")
        self.assertFalse(os.path.exists(self.server.path("elsewhere")))
        self.ask("PUT", "/v1/files/empty", 204, b"")
        self.assertEqual(self.ask("GET", "/v1/files/empty", 200).body, b"")

    def test_put_sets_the_mode_and_otherwise_keeps_it(self):
        def mode():
            return stat.S_IMODE(os.stat(self.server.path("m")).st_mode)

        for query, wanted in (("", 0o644), ("?mode=0755", 0o755), ("", 0o755), ("?mode=0600", 0o600)):
            self.ask("PUT", "/v1/files/m" + query, 204, b"x")
            self.assertEqual(mode(), wanted, query)
        for wrong in ("644", "0888", "06444", "4755", "", "0x10", "%00755"):
            self.ask("PUT", "/v1/files/m?mode=" + wrong, 400, b"y")
        self.assertEqual(self.server.get("m"), b"x")

    def test_head_tells_the_size(self):
        self.server.put("sized", b"x" * 12345)
        answer = self.ask("HEAD", "/v1/files/sized", 200)
        self.assertEqual((answer.headers["content-length"], answer.body), ("12345", b""))
        self.ask("HEAD", "/v1/files/%2E", 200)

    def test_directories_are_listed(self):
        self.server.put("dir/b.txt", "four")
        self.server.put("dir/sub/x", "")
        os.symlink("b.txt", self.server.path("dir/link"))
        os.symlink("nowhere", self.server.path("dir/broken"))
        os.symlink("/etc", self.server.path("dir/leaves"))
        old = self.ask("GET", "/list/dir", 200).json()
        self.assertEqual([(e["name"], e["type"]) for e in old],
                         [("b.txt", "file"), ("link", "file"), ("sub", "directory")])
        self.assertEqual(old[0]["size"], 4)
        self.assertAlmostEqual(old[0]["mod_time"], os.stat(self.server.path("dir/b.txt")).st_mtime, places=3)
        new = self.ask("GET", "/v1/files/dir", 200).json()
        self.assertEqual((new["path"], [e["name"] for e in new["entries"]]), ("/dir", ["b.txt", "link", "sub"]))
        when = datetime.datetime.fromisoformat(new["entries"][0]["modified_at"].replace("Z", "+00:00"))
        self.assertEqual(int(when.timestamp()), int(os.stat(self.server.path("dir/b.txt")).st_mtime))
        self.assertEqual(new["entries"][0]["mode"], "0644")
        for root in ("/list/", "/list/.", "/list/%2F", "/v1/files/"):
            self.ask("GET", root, 200)

    def test_what_is_not_there_is_404(self):
        self.server.put("file", "")
        for url in ("/download/missing", "/download/.", "/list/missing", "/list/file", "/v1/files/missing",
                    "/v1/files/file/x"):
            self.ask("GET", url, 404)
        self.ask("DELETE", "/v1/files/missing", 404)
        self.ask("DELETE", "/v1/files/missing?recursive=true", 404)

    def test_only_a_tree_is_removed_with_its_content(self):
        for name in ("tree/a/b/c", "tree/d"):
            self.server.put(name, "")
        os.symlink("/etc", self.server.path("tree/a/etc"))
        self.server.put("kept", "k")
        os.symlink("../kept", self.server.path("tree/kept"))
        self.ask("DELETE", "/v1/files/tree", 409)
        self.ask("DELETE", "/v1/files/tree?recursive=perhaps", 400)
        self.ask("DELETE", "/v1/files/tree?recursive=false", 409)
        self.ask("DELETE", "/v1/files/tree?recursive=true", 204)
        self.assertFalse(os.path.lexists(self.server.path("tree")))
        self.assertEqual(self.server.get("kept"), b"k")
        os.mkdir(self.server.path("hollow"))
        self.ask("DELETE", "/v1/files/hollow", 204)

    def test_the_workspace_itself_is_not_removed(self):
        self.server.put("kept", "k")
        for path in ("", ".", "./", "a/..", "%2e"):
            self.ask("DELETE", "/v1/files/%s?recursive=true" % path, 400)
        self.assertEqual(self.server.get("kept"), b"k")

    def test_of_a_link_the_link_is_removed(self):
        self.server.put("target", "t")
        os.symlink("target", self.server.path("to-target"))
        os.symlink(self.server.dir, self.server.path("to-outside"))
        for name in ("to-target", "to-outside"):
            self.ask("DELETE", "/v1/files/%s?recursive=true" % name, 204)
        self.assertEqual(self.server.get("target"), b"t")
        self.assertTrue(os.path.exists(self.server.log_path))

    def test_escapes_are_refused(self):
        # What stands outside is the test's own; a guard that fails changes nothing else.
        outside = os.path.join(self.server.dir, "x")
        for path in ESCAPES:
            for url in ("/download/", "/list/", "/exists/", "/v1/files/"):
                self.ask("GET", url + path, 403)
            if path not in ("out", "abs"):
                self.ask("DELETE", "/v1/files/" + path, 403)
        for path in ("../x", "a/../../x", "..%2Fx", "up/x"):
            self.ask("PUT", "/v1/files/" + path, 403, b"x")
            body, headers = form(urllib.parse.unquote(path), b"x")
            self.ask("POST", "/upload", 403, body, headers)
        self.assertFalse(os.path.exists(outside))

    def test_an_absolute_path_is_one_in_the_workspace(self):
        body, headers = form("/deep/file", b"d")
        self.ask("POST", "/upload", 200, body, headers)
        self.assertEqual(self.server.get("deep/file"), b"d")
        self.assertEqual(self.ask("GET", "/download/%2Fdeep%2Ffile", 200).body, b"d")

    def test_bad_paths_are_refused(self):
        for url in ("/download/a%00b", "/v1/files/%zz", "/exists/%", "/list/" + "a" * 5000):
            self.ask("GET", url, 400)

    def test_bad_forms_are_refused(self):
        good, headers = form("f", b"x")
        for body, kind in ((b"", headers), (b"x", headers), (good, {"Content-Type": "text/plain"}), (good, {}),
                           (good, {"Content-Type": "multipart/form-data"}),
                           (good, {"Content-Type": "multipart/form-data; boundary=other"}),
                           (good, {"Content-Type": "multipart/form-data; boundary=" + "x" * 71}),
                           (good[:-20], headers), form("f", b"x", "other"), form(None, b"x"), form("", b"x"),
                           form("a\0b", b"x"), (good.replace(b"\r\n", b"\n"), headers)):
            self.ask("POST", "/upload", 400, body, kind)
        body, headers = form(".", b"x")
        self.ask("POST", "/upload", 400, body, headers)

    def test_other_methods_are_refused(self):
        for method, url, allow in (("POST", "/", "GET, HEAD"), ("GET", "/execute", "POST"), ("GET", "/upload", "POST"),
                                   ("PUT", "/download/x", "GET, HEAD"), ("POST", "/v1/files/x", "GET, HEAD, PUT, DELETE"),
                                   ("PATCH", "/v1/files/x", "GET, HEAD, PUT, DELETE"), ("DELETE", "/v1/health", "GET, HEAD")):
            for tried, status in ((method, 405), ("OPTIONS", 204)):
                answer = self.server.request(tried, url)
                self.assertEqual((answer.status, answer.headers["allow"]), (status, allow + ", OPTIONS"), (tried, url))

    def test_the_other_routes_are_still_there(self):
        self.server.put("r.txt", "r")
        self.assertEqual(self.server.result("read", path="r.txt")["content"], "r")
        self.ask("GET", "/health", 200)

    def test_operations_are_counted(self):
        self.ask("GET", "/exists/anything", 200)
        self.execute("true")
        text = ""
        for _ in range(200):
            text = self.server.request("GET", "/metrics").body.decode()
            if 'tool="exists",outcome="success"' in text and 'tool="execute",outcome="success"' in text:
                return
        self.fail(text)

    def test_a_large_file_costs_no_memory(self):
        with open(self.server.path("large"), "wb") as f:
            f.truncate(300 << 20)
            f.seek(299 << 20)
            f.write(b"the end")
        before = self.server.rss("VmHWM")
        connection = UnixConnection(self.server.socket)
        connection.request("GET", "/v1/files/large")
        answer = connection.getresponse()
        self.assertEqual(answer.getheader("content-length"), str(300 << 20))
        read, found = 0, False
        while piece := answer.read(1 << 20):
            read += len(piece)
            found = found or b"the end" in piece
        connection.close()
        self.assertEqual((read, found), (300 << 20, True))
        if not is_sanitized():
            self.assertLess(self.server.rss("VmHWM") - before, 4096)

    def test_a_file_that_shrinks_ends_the_connection(self):
        with open(self.server.path("shrinks"), "wb") as f:
            f.truncate(64 << 20)
        connection = UnixConnection(self.server.socket)
        connection.request("GET", "/download/shrinks")
        answer = connection.getresponse()
        os.truncate(self.server.path("shrinks"), 0)
        with self.assertRaises(http.client.IncompleteRead):
            answer.read()
        connection.close()
        self.ask("GET", "/v1/health", 200)


class Guards(SidecarTest):
    env = {"SIDECAR_SURFACE": "agent-sandbox", "SIDECAR_READ_ONLY": "1", "SIDECAR_AUTH_TOKEN": "t0ken-of-the-router",
           "SIDECAR_REQUIRE_AUTH": "1"}
    token = {"X-Sidecar-Token": "t0ken-of-the-router"}

    def test_a_token_is_wanted_in_either_header(self):
        for url in ("/", "/v1/health", "/list/"):
            self.assertEqual(self.server.request("GET", url).status, 401)
            self.assertEqual(self.server.request("GET", url, headers={"X-Sidecar-Token": "no"}).status, 401)
            self.assertEqual(self.server.request("GET", url, headers=self.token).status, 200)
            bearer = {"Authorization": "Bearer t0ken-of-the-router"}
            self.assertEqual(self.server.request("GET", url, headers=bearer).status, 200)

    def test_nothing_is_changed_when_reading_only(self):
        self.server.put("kept", "k")
        body, headers = form("new", b"n")
        for method, url, content, more in (("PUT", "/v1/files/kept", b"x", {}), ("DELETE", "/v1/files/kept", None, {}),
                                           ("POST", "/upload", body, headers)):
            answer = self.server.request(method, url, content, {**self.token, **more})
            self.assertEqual(answer.status, 403, (method, answer.body))
        self.assertEqual(self.server.get("kept"), b"k")


class ReadBeforeWrite(SidecarTest):
    env = {"SIDECAR_SURFACE": "agent-sandbox", "SIDECAR_READ_BEFORE_WRITE": "on"}

    def test_what_was_not_read_is_not_replaced_or_removed(self):
        self.server.put("kept", "k")
        for method, content in (("PUT", b"x"), ("DELETE", None)):
            answer = self.server.request(method, "/v1/files/kept", content)
            self.assertEqual((answer.status, answer.json()["code"]), (403, "PERMISSION_DENIED"), method)
        self.assertEqual(self.server.get("kept"), b"k")
        self.assertEqual(self.server.request("PUT", "/v1/files/new", b"1").status, 204)
        self.assertEqual(self.server.request("PUT", "/v1/files/new", b"2").status, 204)
        self.assertEqual(self.server.request("DELETE", "/v1/files/new").status, 204)


class Default(SidecarTest):
    def test_it_is_off_unless_asked_for(self):
        for method, url in (("GET", "/"), ("GET", "/list/"), ("GET", "/v1/health"), ("PUT", "/v1/files/x"),
                            ("POST", "/execute"), ("POST", "/upload")):
            answer = self.server.request(method, url, b"")
            self.assertIn(answer.status, (404, 405), url)


if __name__ == "__main__":
    unittest.main()
