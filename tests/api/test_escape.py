"""Nothing outside the workspace can be read, written, listed or even found out about."""
import collections
import ctypes
import os
import shutil
import tempfile
import threading
import time
import unittest

from harness import Sidecar, SidecarTest, machine, until

AT_FDCWD, RENAME_EXCHANGE = -100, 2
REFUSED = "Invalid path: access outside workspace is not allowed"


class Rules(SidecarTest):
    """The table of path rules; everything called outside lies beside the workspace, in the same temporary directory."""

    def setUp(self):
        self.server = self.start()
        self.outside = os.path.join(self.server.dir, "outside")
        os.mkdir(self.outside)
        with open(self.outside + "/secret", "w", encoding="ascii") as f:
            f.write("SECRET")

    def every_tool(self, path):
        """The answers of all tools for a path."""
        return [self.server.call("read", path=path), self.server.call("ls", path=path),
                self.server.call("write", path=path, content="OVERWRITTEN"),
                self.server.call("edit", path=path, oldText="SECRET", newText="OVERWRITTEN")]

    def check_refused(self, path, code):
        for answer in self.every_tool(path):
            with self.subTest(path):
                self.assertEqual(answer.status, 400)
                self.assertEqual(answer.json(), {"ok": False, "error": REFUSED, "code": code})
        self.check_outside()

    def check_outside(self):
        self.assertEqual(os.listdir(self.outside), ["secret"])
        with open(self.outside + "/secret", encoding="ascii") as f:
            self.assertEqual(f.read(), "SECRET")

    def test_climbing(self):
        for path in ("..", "../outside/secret", "a/../../outside/secret", "../ws2/x", "/../../etc/passwd", "..\\outside\\secret",
                     "./../outside", "a/b/c/../../../../outside/secret", "/..", "../../../../../../../../etc/passwd"):
            self.check_refused(path, "PATH_OUTSIDE_WORKSPACE")

    def test_absolute_paths_are_shorthand(self):
        self.server.put("logs/output.log", "inside")
        for path in ("/logs/output.log", "//logs//output.log", self.server.workspace + "/logs/output.log",
                     "logs/./output.log", "logs\\output.log", "x/../logs/output.log"):
            self.assertEqual(self.server.result("read", path=path)["content"], "inside")
        self.assertEqual(self.server.error("read", path=self.outside + "/secret")[0], "FILE_NOT_FOUND")
        self.assertEqual(self.server.error("read", path="/etc/passwd")[0], "FILE_NOT_FOUND")

    def test_back_in_by_its_own_name(self):
        self.server.put("f", "x")
        self.assertEqual(self.server.result("read", path="../ws/f")["content"], "x")

    def test_strict(self):
        server = self.start(flags=["--absolute-paths", "strict"])
        server.put("f", "x")
        self.assertEqual(server.result("read", path=server.workspace + "/f")["content"], "x")
        self.assertEqual(server.error("read", path="/f"), ("PATH_OUTSIDE_WORKSPACE", REFUSED))
        self.assertEqual(server.error("read", path=server.workspace + "2/f"), ("PATH_OUTSIDE_WORKSPACE", REFUSED))
        self.assertEqual(server.call("ls", path="/").status, 200)

    def test_shorthand_is_for_models_when_it_is_asked_for(self):
        for flags, found in (((), False), (("--absolute-paths", "auto"), False), (("--absolute-paths", "strict"), False),
                             (("--absolute-paths", "shorthand"), True)):
            server = self.start(flags=flags)
            server.put("dir/f", "text")
            self.assertIs(server.observe("read_file", path="/dir/f")["success"], found, flags)
            self.assertEqual(server.failure("read_file", path="/../dir/f")[0], "PATH_OUTSIDE_WORKSPACE")

    def test_dotted_names_are_names(self):
        for name in ("..hidden/f", ".../f", "..", "a/..b", "x/...y"):
            if name != "..":
                self.server.put(name, name)
                self.assertEqual(self.server.result("read", path=name)["content"], name)

    def test_invalid(self):
        for path in ("f\0.txt", "a/" * 2100 + "f", "n" * 256, "x" * 10000):
            for answer in self.every_tool(path):
                self.assertEqual((answer.status, answer.json()["code"]), (400, "INVALID_PATH"), path[:20])

    def test_links_out(self):
        os.symlink(self.outside, self.server.path("dir"))
        os.symlink("../outside", self.server.path("relative"))
        os.symlink(self.outside + "/secret", self.server.path("file"))
        os.symlink(self.outside + "/missing", self.server.path("dangling"))
        os.symlink("dir/secret", self.server.path("second"))
        os.symlink("/", self.server.path("top"))
        os.symlink("/proc/self/root", self.server.path("magic"))
        for path in ("dir", "dir/secret", "dir/new", "dir/missing/deep", "relative/secret", "file", "dangling", "second",
                     "top", "top/etc/passwd", "magic", "dir/.", "file/x"):
            self.check_refused(path, "SYMLINK_OUTSIDE_WORKSPACE")

    def test_existence_is_not_told(self):
        """What is there and what is not gives the same answer."""
        os.symlink(self.outside, self.server.path("dir"))
        os.symlink(self.outside + "/secret", self.server.path("there"))
        os.symlink(self.outside + "/absent", self.server.path("gone"))
        for one, other in (("there", "gone"), ("dir/secret", "dir/absent"), ("dir/secret/x", "dir/absent/x"),
                           ("../outside/secret", "../outside/absent")):
            for a, b in zip(self.every_tool(one), self.every_tool(other)):
                self.assertEqual((a.status, a.body), (b.status, b.body))
        self.check_outside()

    def test_links_inside_are_followed(self):
        self.server.put("real/f", "x")
        os.symlink("real", self.server.path("rel"))
        os.symlink(self.server.path("real"), self.server.path("abs"))
        os.symlink("../real/f", self.server.path("real/up"))
        for path in ("rel/f", "abs/f", "real/up", "rel/up"):
            self.assertEqual(self.server.result("read", path=path)["content"], "x")
        self.server.result("write", path="abs/new/g", content="made")
        self.assertEqual(self.server.get("real/new/g"), b"made")

    def test_links_out_and_back_in_are_followed(self):
        name = os.path.basename(self.server.workspace)
        self.server.put("real/f", "x")
        os.symlink("../%s/real" % name, self.server.path("back"))
        os.symlink("../../%s/real/f" % name, self.server.path("real/up"))
        os.symlink(self.server.workspace + "/../%s/real/f" % name, self.server.path("abs"))
        os.symlink("../outside/../%s/real/f" % name, self.server.path("detour"))
        os.symlink("..", self.server.path("parent"))
        for path in ("back/f", "real/up", "back/up", "abs"):
            self.assertEqual(self.server.result("read", path=path)["content"], "x")
        self.server.result("write", path="back/new/g", content="made")
        self.assertEqual(self.server.get("real/new/g"), b"made")
        self.assertEqual(self.server.result("grep", pattern="x", path="back")["content"], "f:1: x")
        for path in ("detour", "parent", "parent/%s/real/f" % name):
            self.check_refused(path, "SYMLINK_OUTSIDE_WORKSPACE")

    def test_link_loops(self):
        os.symlink("b", self.server.path("a"))
        os.symlink("a", self.server.path("b"))
        os.symlink("self/x", self.server.path("self"))
        for path in ("a", "a/x", "self", "self/y"):
            for answer in self.every_tool(path):
                self.assertEqual((answer.status, answer.json()["code"]), (400, "SYMLINK_LOOP"))

    def test_no_path_outside_in_sentences(self):
        os.symlink(self.outside + "/secret", self.server.path("file"))
        for path in ("file", "../outside/secret", "absent", "/absent"):
            for answer in self.every_tool(path):
                self.assertNotIn(self.outside.encode(), answer.body)

    def test_special_files_never_block(self):
        os.mkfifo(self.server.path("fifo"))
        os.symlink("/dev/zero", self.server.path("zero"))
        for answer in self.every_tool("fifo"):
            self.assertEqual(answer.status, 400)
        self.check_refused("zero", "SYMLINK_OUTSIDE_WORKSPACE")


class RulesByWalking(Rules):
    """The same without openat2."""

    def start(self, **options):
        return super().start(**{**options, "env": {"SIDECAR_OPENAT2": "off", **options.get("env", {})}})

    def test_it_walks(self):
        self.assertEqual(self.server.request("GET", "/health").json()["resolver"], "walk")


class Replaced(SidecarTest):
    """The workspace is removed, made again, or replaced while the server runs."""

    BLOCKED = ("The workspace %s cannot be reached any more: a link or a file has taken its place, "
               "or that of a directory above it")

    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="sidecar-test-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.root = self.dir + "/ws"

    def both(self):
        for flags in ([], ["--openat2", "off"]):
            shutil.rmtree(self.root, ignore_errors=True)
            os.mkdir(self.root)
            yield self.start(workspace=self.root, flags=flags)

    def gone(self, server, sentence="The workspace %s does not exist any more"):
        """Every tool says that there is no workspace, from the first call on."""
        sentence %= self.root
        for name, arguments in (("ls", {}), ("read", {"path": "f"}), ("find", {"pattern": "*"}),
                                ("edit", {"path": "f", "oldText": "a", "newText": "b"}), ("grep", {"pattern": "x"})):
            self.assertEqual(server.error(name, **arguments), ("FILE_NOT_FOUND", sentence), name)
        self.assertIn(sentence.encode(), server.call("bash", command="true").body)
        self.assertFalse(os.path.isdir(self.root) and not os.path.islink(self.root))

    def works(self, server):
        """What is there now is used by the next call."""
        with open(self.root + "/f", "w", encoding="ascii") as f:
            f.write("new")
        self.assertEqual(server.result("read", path="f")["content"], "new")
        server.result("write", path="made/g", content="g")
        self.assertEqual(sorted(os.listdir(self.root)), ["f", "made"])
        body = server.call("bash", command="echo $(cat f)$(pwd); echo there > by-command").body
        self.assertIn(b'"exitCode":0', body)
        self.assertIn(("new" + self.root).encode(), body)
        self.assertEqual(sorted(os.listdir(self.root)), ["by-command", "f", "made"])

    def test_noticed_by_the_next_call(self):
        for server in self.both():
            server.put("f", "old")
            self.assertEqual(server.result("ls")["output"], "f")
            for _ in range(5):
                shutil.rmtree(self.root)
                self.assertEqual(server.error("ls")[0], "FILE_NOT_FOUND")
                os.mkdir(self.root)
                self.assertEqual(server.result("ls")["output"], "(empty directory)")
                os.rename(self.root, self.dir + "/away")
                os.mkdir(self.root)
                server.put("g", "")
                self.assertEqual(server.result("ls")["output"], "g")
                os.rmdir(self.dir + "/away")

    def test_a_write_makes_it_again(self):
        for server in self.both():
            server.result("ls")
            shutil.rmtree(self.root)
            self.assertEqual(server.error("read", path="a/b")[0], "FILE_NOT_FOUND")
            server.result("write", path="a/b", content="x")
            self.assertEqual(server.result("read", path="a/b")["content"], "x")
            with open(self.root + "/a/b", encoding="ascii") as f:
                self.assertEqual(f.read(), "x")
            self.assertIn(b'"exitCode":0', server.call("bash", command="cat a/b").body)

    def test_directories_of_one_that_is_gone(self):
        gone = ("FILE_NOT_FOUND", "The workspace %s does not exist any more" % self.root)
        for server in self.both():
            shutil.rmtree(self.root)
            for arguments in ({"path": "x"}, {"path": "."}, {"path": ".", "recursive": True}):
                self.assertEqual(server.error("mkdir", **arguments), gone)
            server.result("mkdir", path="x/y", recursive=True)
            self.assertEqual(os.listdir(self.root), ["x"])
            self.assertEqual(server.error("mkdir", path=".")[0], "FILE_EXISTS")

    def test_removed_and_made_again(self):
        for server in self.both():
            self.assertIn(b'"exitCode":0', server.call("bash", command="true").body)
            shutil.rmtree(self.root)
            self.gone(server)
            os.mkdir(self.root)
            self.works(server)

    def test_replaced_by_another_directory(self):
        for server in self.both():
            server.put("old", "old")
            os.rename(self.root, self.dir + "/away")
            os.mkdir(self.root)
            self.works(server)
            self.assertEqual(server.error("read", path="old")[0], "FILE_NOT_FOUND")
            self.assertEqual(os.listdir(self.dir + "/away"), ["old"])
            shutil.rmtree(self.dir + "/away")

    def test_a_link_in_its_place_is_not_followed(self):
        os.mkdir(self.dir + "/outside")
        for server in self.both():
            os.rmdir(self.root)
            os.symlink("outside", self.root)
            self.gone(server, self.BLOCKED)
            self.assertEqual(server.error("write", path="a", content="x"), ("FILE_NOT_FOUND", self.BLOCKED % self.root))
            self.assertEqual(os.listdir(self.dir + "/outside"), [])
            os.unlink(self.root)

    def test_a_job_of_the_old_sandbox_ends(self):
        os.mkdir(self.root)
        server = self.start(workspace=self.root, flags=["--sandbox", "workspace"])
        job = server.call("bash", command="sleep 300", background=True).json()["result"]["jobId"]
        os.rename(self.root, self.dir + "/away")
        os.mkdir(self.root)
        self.works(server)
        until(lambda: server.request("GET", "/jobs/%s" % job).json()["result"]["state"] != "running", "the job ends")

    def test_in_every_sandbox(self):
        kept = "${TMPDIR:-/tmp}/kept-%d" % os.getpid()
        for mode in ("off", "workspace", *(["strict"] if machine.namespaces() else [])):
            with self.subTest(mode):
                shutil.rmtree(self.root, ignore_errors=True)
                os.mkdir(self.root)
                server = self.start(workspace=self.root, flags=["--sandbox", mode])
                self.assertIn(b'"exitCode":0', server.call("bash", command="echo kept > " + kept).body)
                shutil.rmtree(self.root)
                self.gone(server)
                os.mkdir(self.root)
                self.works(server)
                self.assertIn(b"kept", server.call("bash", command="cat %s; rm %s" % (kept, kept)).body)


class Boundary(SidecarTest):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="sidecar-test-"))
        self.addCleanup(shutil.rmtree, self.dir)
        for name in ("projects/app", "data", "elsewhere"):
            os.makedirs(self.dir + "/" + name)
            with open(self.dir + "/" + name + "/f", "w", encoding="ascii") as f:
                f.write(name)
        os.symlink(self.dir + "/elsewhere", self.dir + "/projects/link")
        os.symlink(self.dir + "/elsewhere", self.dir + "/data/link")

    def boundary(self, **more):
        return self.start(workspace=self.dir + "/projects/app", env={
            "ALLOWED_ROOT_DIRECTORY": self.dir + "/projects", "DATA_DIR": self.dir + "/data", **more})

    def test_data_dir_is_allowed_by_absolute_path(self):
        for policy in ("shorthand", "strict"):
            server = self.boundary(SIDECAR_ABSOLUTE_PATHS=policy)
            self.assertEqual(server.result("read", path=self.dir + "/data/f")["content"], "data")
            server.result("write", path=self.dir + "/data/new", content="x")
            self.assertEqual(server.error("read", path=self.dir + "/data/link/f")[0], "SYMLINK_OUTSIDE_WORKSPACE")
            self.assertNotEqual(server.call("read", path=self.dir + "/data/../elsewhere/f").status, 200)

    def test_allow_outside_stays_within_the_allowed_root(self):
        server = self.boundary(SIDECAR_ALLOW_OUTSIDE_WORKSPACE_ROOT="true")
        for path, content in (("/projects/f", None), ("/projects/app/f", "projects/app"), ("/data/f", "data")):
            if content:
                self.assertEqual(server.result("read", path=self.dir + path)["content"], content)
        self.assertEqual(server.result("ls", path=self.dir + "/projects")["output"], "app/\nlink")
        for path in ("/elsewhere/f", "/projects/../elsewhere/f"):
            code, sentence = server.error("read", path=self.dir + path)
            self.assertEqual(code, "PATH_NOT_ALLOWED")
            self.assertEqual(sentence, "Path not allowed: %s. Must be within ALLOWED_ROOT_DIRECTORY or DATA_DIR." % (self.dir + path))
        self.assertEqual(server.error("read", path="/etc/passwd")[0], "PATH_NOT_ALLOWED")
        self.assertNotEqual(server.call("read", path=self.dir + "/projects/link/f").status, 200)
        os.symlink("../link/f", server.path("through"))
        self.assertEqual(server.error("read", path="through")[0], "SYMLINK_OUTSIDE_WORKSPACE")

    def test_allow_outside_follows_links_and_names_paths_from_the_root(self):
        for flags in ([], ["--openat2", "off"]):
            server = self.start(workspace=self.dir + "/projects/app", flags=["--allow-outside"] + flags)
            for name in ("rel", "abs", "file", "dangling"):
                if os.path.lexists(server.path(name)):
                    os.unlink(server.path(name))
            os.symlink("../../elsewhere", server.path("rel"))
            os.symlink(self.dir + "/elsewhere", server.path("abs"))
            os.symlink(self.dir + "/projects/link/f", server.path("file"))
            os.symlink("../../elsewhere/made", server.path("dangling"))
            for path in ("rel/f", "abs/f", "file", "../link/f", self.dir + "/projects/link/f"):
                self.assertEqual(server.result("read", path=path)["content"], "elsewhere")
            self.assertIn("f", server.result("ls", path="rel")["output"].split("\n"))
            self.assertEqual(server.result("grep", pattern="elsewhere", path="abs", glob="f")["content"], "f:1: elsewhere")
            for path, shown in (("../../elsewhere/w.txt", "../../elsewhere/w.txt"), (self.dir + "/projects/w.txt", "../w.txt"),
                                ("abs/w.txt", "abs/w.txt"), ("dangling", "dangling"), (server.path("w.txt"), "w.txt")):
                self.assertEqual(server.result("write", path=path, content="w"), {"ok": True, "path": shown, "bytes": 1})
            with open(self.dir + "/elsewhere/made", encoding="ascii") as f:
                self.assertEqual(f.read(), "w")

    def test_allow_outside_without_limits(self):
        server = self.start(workspace=self.dir + "/projects/app", flags=["--allow-outside"])
        self.assertEqual(server.result("read", path=self.dir + "/elsewhere/f")["content"], "elsewhere")
        self.assertEqual(server.result("read", path="f")["content"], "projects/app")
        for path in (self.dir + "/elsewhere/f", "../../elsewhere/f"):
            self.assertEqual(server.result("grep", pattern="else", path=path)["content"], "../../elsewhere/f:1: elsewhere")
        self.assertIn("etc/", server.result("ls", path="/")["output"])

    def test_root_of_everything(self):
        """With the root / every absolute path is inside. Only looked at, never written."""
        server = Sidecar(env={"WORKSPACE_ROOT": "/"}, flags=["--read-only"])
        self.addCleanup(server.close)
        self.assertEqual(server.result("read", path=self.dir + "/data/f")["content"], "data")
        self.assertEqual(server.result("read", path=self.dir[1:] + "/data/f")["content"], "data")


class Race(SidecarTest):
    def race(self, **options):
        server = self.start(**options)
        outside = os.path.join(server.dir, "outside")
        os.mkdir(outside)
        with open(outside + "/f", "w", encoding="ascii") as f:
            f.write("SECRET")
        server.put("d/f", "inside")
        os.symlink(outside, server.path("out"))
        stop = threading.Event()
        leaks, refused = [], collections.Counter()

        def swap():
            libc = ctypes.CDLL(None, use_errno=True)
            one, other = server.path("d").encode(), server.path("out").encode()
            while not stop.is_set():
                if libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) < 0:
                    leaks.append("cannot swap: " + os.strerror(ctypes.get_errno()))
                    return

        def call(tool, arguments):
            while not stop.is_set():
                answer = server.call(tool, **arguments)
                if b"SECRET" in answer.body or b"secret-name" in answer.body:
                    leaks.append(answer.body)
                refused[tool, answer.status == 400] += 1

        def both_seen():
            """Each tool has met the directory and the link."""
            return leaks or all(refused[tool, kind] for tool in ("read", "write", "ls") for kind in (True, False))
        threads = [threading.Thread(target=swap)] + [threading.Thread(target=call, args=a) for a in (
            ("read", {"path": "d/f"}), ("write", {"path": "d/f", "content": "inside"}), ("ls", {"path": "d"}),
            ("edit", {"path": "d/f", "oldText": "SECRET", "newText": "x"}), ("write", {"path": "d/new/x", "content": "y"}))]
        with open(outside + "/secret-name", "w", encoding="ascii"):
            pass
        for t in threads:
            t.start()
        time.sleep(1)
        try:
            until(both_seen, lambda: "each tool meets the directory and the link: %s" % refused)
        finally:
            stop.set()
            for t in threads:
                t.join()
        self.assertEqual(leaks, [])
        self.assertEqual(sorted(os.listdir(outside)), ["f", "secret-name"])
        with open(outside + "/f", encoding="ascii") as f:
            self.assertEqual(f.read(), "SECRET")

    def test_swapped_directory(self):
        self.race()

    def test_swapped_directory_without_openat2(self):
        self.race(env={"SIDECAR_OPENAT2": "off"})


if __name__ == "__main__":
    unittest.main()
