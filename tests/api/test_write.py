"""/write: whole files, atomically, with what belongs to the old file kept."""
import base64
import os
import stat
import tempfile
import threading
import unittest

from harness import BIN, Sidecar, SidecarTest, machine, needs_two_users


class Write(SidecarTest):
    def write(self, path, content):
        return self.server.result("write", path=path, content=content)

    def test_contents(self):
        for content in ("", "x", "no newline", "é\r\n", "\0nul", "\ufeffbom", "😀" * 1000, "x" * (2 << 20)):
            size = len(content.encode())
            self.assertEqual(self.write("c", content), {"ok": True, "path": "c", "bytes": size})
            self.assertEqual(self.server.get("c"), content.encode())

    def test_bytes_as_base64(self):
        data = bytes(range(256)) * 1000
        text = base64.b64encode(data).decode()
        self.assertEqual(self.server.result("write", path="b", content=text, encoding="base64"),
                         {"ok": True, "path": "b", "bytes": len(data)})
        self.assertEqual(self.server.get("b"), data)
        self.assertEqual(self.server.error("write", path="b", content="a*b", encoding="base64"),
                         ("INVALID_ARGUMENTS", "Missing or invalid content"))
        self.assertEqual(self.server.get("b"), data)
        self.assertEqual(self.server.result("write", path="b", content=text, encoding="utf-8")["bytes"], len(text))

    def test_path_is_relative_to_the_root(self):
        for given, shown in (("a/b/c", "a/b/c"), ("./a//b/../d", "a/d"), ("/abs", "abs"), ("w\\in", "w/in"),
                             (self.server.workspace + "/in", "in")):
            self.assertEqual(self.write(given, "x")["path"], shown)
            self.assertEqual(self.server.get(shown), b"x")

    def test_mode_and_links_are_kept(self):
        full = self.server.put("tool.sh", "old", 0o750)
        self.write("tool.sh", "new")
        self.assertEqual(stat.S_IMODE(os.stat(full).st_mode), 0o750)
        os.symlink("tool.sh", self.server.path("link"))
        self.write("link", "through")
        self.assertTrue(os.path.islink(self.server.path("link")))
        self.assertEqual(self.server.get("tool.sh"), b"through")
        os.link(full, self.server.path("hard"))
        self.write("hard", "both")
        self.assertEqual(self.server.get("tool.sh"), b"both")
        os.symlink("not/yet", self.server.path("dangling"))
        os.makedirs(self.server.path("not"))
        self.write("dangling", "made")
        self.assertEqual(self.server.get("not/yet"), b"made")

    @unittest.skipUnless(machine.root(), "needs root to give files away")
    def test_owner_is_kept(self):
        full = self.server.put("owned", "old")
        os.chown(full, 1234, 4321)
        self.write("owned", "new")
        self.assertEqual((os.stat(full).st_uid, os.stat(full).st_gid), (1234, 4321))

    @unittest.skipUnless(machine.attribute("user.mark"), "no extended attributes here")
    def test_attributes_are_kept(self):
        full = self.server.put("attr", "old")
        os.setxattr(full, "user.mark", b"kept")
        self.write("attr", "new")
        self.assertEqual(os.getxattr(full, "user.mark"), b"kept")

    def test_what_cannot_be_written(self):
        os.makedirs(self.server.path("dir"))
        os.mkfifo(self.server.path("pipe"))
        self.server.put("plain", "p")
        self.assertEqual(self.server.error("write", path="dir", content="")[0], "NOT_A_FILE")
        self.assertEqual(self.server.error("write", path=".", content="")[0], "NOT_A_FILE")
        self.assertEqual(self.server.error("write", path="pipe", content="")[0], "NOT_A_FILE")
        self.assertIn(self.server.error("write", path="plain/x", content="")[0], ("NOT_A_DIRECTORY", "NOT_A_FILE"))
        self.assertEqual(self.server.get("plain"), b"p")
        self.assertEqual(self.server.error("write", path="n" * 256, content="")[0], "INVALID_PATH")
        self.assertIn(self.server.call("write", path="trailing/", content="x").status, (200, 400))

    def test_missing_arguments(self):
        for arguments, name in (({"content": "x"}, "path"), ({"path": "a"}, "content"), ({"path": "a", "content": None}, "content"),
                                ({"path": "a", "content": 5}, "content"), ({"path": " ", "content": ""}, "path")):
            self.assertEqual(self.server.error("write", **arguments), ("INVALID_ARGUMENTS", "Missing or invalid " + name))
        self.assertFalse(os.path.exists(self.server.path("a")) and os.path.isfile(self.server.path("a")))

    def test_readers_see_old_or_new(self):
        old, new = "a" * 300000, "b" * 200000
        self.server.put("atomic", old)
        seen, stop = set(), threading.Event()

        def look():
            while not stop.is_set():
                data = self.server.get("atomic")
                seen.add((len(data), data[:1], data[-1:]))
        watcher = threading.Thread(target=look)
        watcher.start()
        for _ in range(60):
            self.write("atomic", new)
            self.write("atomic", old)
        stop.set()
        watcher.join()
        self.assertLessEqual(seen, {(300000, b"a", b"a"), (200000, b"b", b"b")})

    def test_no_temporary_file_stays(self):
        self.write("tidy/f", "x")
        for _ in range(20):
            self.write("tidy/f", "y")
        self.assertEqual(os.listdir(self.server.path("tidy")), ["f"])

    def test_concurrent_writers_of_one_file(self):
        def write(letter):
            for _ in range(30):
                self.write("shared/deep/f", letter * 50000)
        threads = [threading.Thread(target=write, args=(c,)) for c in "abcd"]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        data = self.server.get("shared/deep/f")
        self.assertEqual((len(data), len(set(data))), (50000, 1))
        self.assertEqual(os.listdir(self.server.path("shared/deep")), ["f"])

    def test_fsync(self):
        server = self.start(flags=["--fsync"])
        self.assertEqual(server.result("write", path="a/b", content="x")["bytes"], 1)


DISK = """
mount -t tmpfs -o size=256k,mode=755 tmpfs "$1" && shift && exec "$@"
"""


@unittest.skipUnless(machine.mounts(), "this machine gives no mount namespaces")
class DiskFull(unittest.TestCase):
    def test_old_content_stays(self):
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as mount:
            server = Sidecar(env={"WORKSPACE_ROOT": mount}, prefix=["unshare", "-m", "sh", "-ec", DISK, "sh", mount])
            try:
                server.result("write", path="f", content="old")
                server.result("write", path="gone/too", content="old")
                for arguments in ({"path": "f", "content": "x" * 400000}, {"path": "new", "content": "x" * 400000}):
                    code, sentence = server.error("write", **arguments)
                    self.assertEqual(code, "DISK_FULL")
                    self.assertTrue(sentence)
                self.assertEqual(server.result("read", path="f")["content"], "old")
                self.assertEqual(server.result("ls")["output"], "f\ngone/")
                code, _ = server.error("edit", path="f", oldText="old", newText="y" * 400000)
                self.assertEqual(code, "DISK_FULL")
                self.assertEqual(server.result("read", path="f")["content"], "old")
                server.result("write", path="f", content="small again")
            finally:
                server.close()


@needs_two_users
class OtherUser(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory(prefix="sidecar-test-")
        self.addCleanup(self.home.cleanup)
        # Where the binary lies may be closed to others; here it is not.
        program = os.path.join(self.home.name, "sidecar")
        os.chmod(self.home.name, 0o755)
        with open(BIN, "rb") as source, open(program, "wb") as copy:
            copy.write(source.read())
        os.chmod(program, 0o755)
        ws = os.path.join(self.home.name, "ws")
        os.mkdir(ws)
        os.chown(ws, 65534, 65534)
        os.mkdir(os.path.join(self.home.name, "run"))
        os.chown(os.path.join(self.home.name, "run"), 65534, 65534)
        self.server = Sidecar(
            workspace=ws, env={"SOCKET_PATH": self.home.name + "/run/s", "XDG_CONFIG_HOME": self.home.name,
                               "XDG_STATE_HOME": self.home.name + "/run"},
            prefix=["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c",
                    'shift; exec "$0" "$@"', program])
        self.addCleanup(self.server.close)

    def test_what_cannot_be_read_is_not_kept(self):
        """Whoever owns the directory may remove a file that only another user can read."""
        self.server.put("secret", "root only", 0o600)
        self.server.put("d/open", "for all", 0o644)
        os.chown(self.server.path("d"), 65534, 65534)
        seen = self.server.observe("run_command", command="rm -f secret d/open")
        listed = self.server.request("GET", "/changes/%d" % seen["changes"]["id"]).json()["result"]
        self.assertEqual((listed["undoable"], listed["deleted"]), (False, 2))
        self.assertEqual({path["path"]: path["saved"] for path in listed["paths"]}, {"secret": False, "d/open": True})
        undone = self.server.call("changes/%d/undo" % listed["id"])
        self.assertEqual((undone.status, undone.json()["code"], undone.json()["paths"]), (400, "NOT_SAVED", ["secret"]))

    def test_permission_errors(self):
        server = self.server
        server.put("secret", "root only", 0o600)
        server.put("readonly", "look only", 0o644)
        server.put("closed/f", "x")
        os.chmod(server.path("closed"), 0o700)
        os.mkdir(server.path("fixed"), 0o755)
        for tool, arguments in (("read", {"path": "secret"}), ("read", {"path": "closed/f"}), ("ls", {"path": "closed"}),
                                ("write", {"path": "readonly", "content": "x"}), ("write", {"path": "fixed/new", "content": "x"}),
                                ("write", {"path": "fixed/sub/new", "content": "x"}),
                                ("write", {"path": "secret", "content": "x"}),
                                ("edit", {"path": "readonly", "oldText": "look", "newText": "x"})):
            with self.subTest(tool, **arguments):
                self.assertEqual(server.error(tool, **arguments)[0], "PERMISSION_DENIED")
        self.assertEqual(server.get("readonly"), b"look only")
        self.assertEqual(server.get("secret"), b"root only")
        self.assertEqual(os.listdir(server.path("fixed")), [])

    def test_writable_file_in_a_fixed_directory(self):
        os.mkdir(self.server.path("fixed"), 0o755)
        full = self.server.put("fixed/open", "old", 0o666)
        self.server.result("write", path="fixed/open", content="new")
        self.assertEqual(self.server.get("fixed/open"), b"new")
        self.assertEqual(os.stat(full).st_uid, 0)


if __name__ == "__main__":
    unittest.main()
