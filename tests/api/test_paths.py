"""Names in the workspace for host programs: stat, exists, mkdir, rename, remove, copy, bytes; and what is allowed."""
import base64
import json
import os
import shutil
import stat
import unittest

from harness import SidecarTest


class Paths(SidecarTest):
    def tree(self):
        """Every path below the workspace, with the content of files and the targets of links."""
        found = {}
        for at, dirs, files in os.walk(self.server.workspace):
            for name in dirs + files:
                full = os.path.join(at, name)
                short = os.path.relpath(full, self.server.workspace)
                if os.path.islink(full):
                    found[short] = os.readlink(full)
                elif os.path.isdir(full):
                    found[short] = "/"
                elif os.path.isfile(full):
                    with open(full, "rb") as f:
                        found[short] = (f.read(), stat.S_IMODE(os.stat(full).st_mode))
        return found

    def change(self, tool, **arguments):
        """Make a call that changes something, take it back, and make it again; its result."""
        before = self.tree()
        answer = self.server.call(tool, **arguments)
        self.assertEqual(answer.status, 200, answer.body)
        after = self.tree()
        self.assertNotEqual(before, after)
        number = answer.headers["sidecar-change"]
        undone = self.server.request("POST", "/changes/%s/undo" % number, "{}", {"Content-Type": "application/json"})
        self.assertEqual(undone.status, 200, undone.body)
        self.assertEqual(self.tree(), before)
        self.assertEqual(self.server.call(tool, **arguments).status, 200)
        self.assertEqual(self.tree(), after)
        return json.loads(answer.body)["result"]

    def error(self, tool, code, **arguments):
        before = self.tree()
        self.assertEqual(self.server.error(tool, **arguments)[0], code)
        self.assertEqual(self.tree(), before)

    def setUp(self):
        for name in os.listdir(self.server.workspace):
            full = self.server.path(name)
            if os.path.isdir(full) and not os.path.islink(full):
                shutil.rmtree(full)
            else:
                os.unlink(full)
        outside = os.path.join(os.path.dirname(self.server.workspace), "outside-" + os.path.basename(self.server.workspace))
        os.makedirs(outside, exist_ok=True)
        self.addCleanup(os.rmdir, outside)
        kept = os.path.join(outside, "kept")
        with open(kept, "w", encoding="utf-8") as f:
            f.write("kept")
        self.addCleanup(os.unlink, kept)
        self.outside, self.kept = outside, kept

    def test_stat_and_exists(self):
        full = self.server.put("d/tool.sh", "12345", 0o750)
        self.assertEqual(self.server.result("stat", path="d/tool.sh"), {
            "path": "d/tool.sh", "type": "file", "size": 5, "mode": "0750",
            "modifiedMs": os.stat(full).st_mtime_ns // 1000000})
        self.assertEqual(self.server.result("stat", path="d")["type"], "directory")
        os.mkfifo(self.server.path("pipe"))
        self.assertEqual(self.server.result("stat", path="pipe")["type"], "other")
        os.symlink("d/tool.sh", self.server.path("in"))
        self.assertEqual(self.server.result("stat", path="in")["size"], 5)
        os.symlink(self.kept, self.server.path("out"))
        self.error("stat", "SYMLINK_OUTSIDE_WORKSPACE", path="out")
        self.error("exists", "SYMLINK_OUTSIDE_WORKSPACE", path="out")
        self.error("stat", "FILE_NOT_FOUND", path="none")
        self.error("stat", "PATH_OUTSIDE_WORKSPACE", path="../x")
        for path, there in (("d", True), ("d/tool.sh", True), ("none", False), ("d/tool.sh/x", False), (".", True)):
            self.assertEqual(self.server.result("exists", path=path), {"path": path, "exists": there})
        self.assertEqual(self.server.error("stat"), ("INVALID_ARGUMENTS", "Missing or invalid path"))

    def test_mkdir(self):
        self.assertEqual(self.change("mkdir", path="one"), {"ok": True, "path": "one"})
        self.change("mkdir", path="a/b/c", recursive=True)
        self.assertEqual(self.server.result("mkdir", path="a/b/c", recursive=True)["ok"], True)
        self.error("mkdir", "FILE_EXISTS", path="one")
        self.error("mkdir", "FILE_EXISTS", path=".")
        self.error("mkdir", "FILE_NOT_FOUND", path="x/y")
        self.server.put("file", "")
        self.error("mkdir", "FILE_EXISTS", path="file", recursive=True)
        os.symlink(self.outside, self.server.path("out"))
        self.error("mkdir", "SYMLINK_OUTSIDE_WORKSPACE", path="out/new", recursive=True)

    def test_rename(self):
        self.server.put("d/a", "a")
        self.server.put("b", "b")
        self.assertEqual(self.change("rename", **{"from": "d/a", "to": "e/f/a"}),
                         {"ok": True, "path": "e/f/a", "from": "d/a"})
        self.change("rename", **{"from": "e", "to": "moved"})
        self.error("rename", "FILE_EXISTS", **{"from": "b", "to": "moved/f/a"})
        self.error("rename", "FILE_NOT_FOUND", **{"from": "none", "to": "n"})
        self.error("rename", "NOT_A_FILE", **{"from": ".", "to": "n"})
        self.error("rename", "INVALID_PATH", **{"from": "moved", "to": "moved/new/into"})
        self.assertEqual(os.listdir(self.server.path("moved")), ["f"])
        os.symlink(self.kept, self.server.path("out"))
        self.change("rename", **{"from": "out", "to": "link"})  # the link, not its target
        os.symlink(self.outside, self.server.path("away"))
        self.error("rename", "SYMLINK_OUTSIDE_WORKSPACE", **{"from": "away/kept", "to": "got"})
        self.error("rename", "SYMLINK_OUTSIDE_WORKSPACE", **{"from": "b", "to": "away/b"})
        self.assertEqual(os.listdir(self.outside), ["kept"])

    def test_remove(self):
        for name in ("t/a", "t/u/b", "t/u/v/c", "f"):
            self.server.put(name, name)
        os.symlink(self.outside, self.server.path("t/u/out"))
        self.error("remove", "DIRECTORY_NOT_EMPTY", path="t")
        self.assertEqual(self.change("remove", path="f"), {"ok": True, "path": "f"})
        self.change("remove", path="t/u/out")
        os.symlink(self.outside, self.server.path("t/u/out"))
        self.change("remove", path="t", recursive=True)
        self.assertEqual(os.listdir(self.outside), ["kept"])
        self.error("remove", "FILE_NOT_FOUND", path="t")
        self.error("remove", "INVALID_PATH", path="/", recursive=True)
        os.symlink(self.outside, self.server.path("away"))
        self.error("remove", "SYMLINK_OUTSIDE_WORKSPACE", path="away/kept")

    def test_copy(self):
        data = bytes(range(256)) * 300
        self.server.put("tool", data, 0o750)
        self.assertEqual(self.change("copy", **{"from": "tool", "to": "d/tool"}),
                         {"ok": True, "path": "d/tool", "from": "tool"})
        self.assertEqual(self.server.get("d/tool"), data)
        self.assertEqual(stat.S_IMODE(os.stat(self.server.path("d/tool")).st_mode), 0o750)
        self.server.put("other", "o")
        self.error("copy", "FILE_EXISTS", **{"from": "other", "to": "d/tool"})
        self.error("copy", "NOT_A_FILE", **{"from": "d", "to": "e"})
        self.error("copy", "FILE_NOT_FOUND", **{"from": "none", "to": "e"})
        os.symlink(self.kept, self.server.path("out"))
        self.error("copy", "SYMLINK_OUTSIDE_WORKSPACE", **{"from": "out", "to": "e"})
        self.error("copy", "SYMLINK_OUTSIDE_WORKSPACE", **{"from": "other", "to": "out", "overwrite": True})

    def test_bytes(self):
        data = bytes(range(256)) * 300
        self.server.put("b", data)
        self.assertEqual(self.server.result("read", path="b", encoding="base64"),
                         {"type": "bytes", "data": base64.b64encode(data).decode(), "bytes": len(data)})

    def test_what_is_allowed(self):
        root = os.path.realpath(self.server.workspace)
        headers = {"Content-Type": "application/json"}

        def ask(path):
            return json.loads(self.server.request("POST", "/paths", json.dumps({"path": path}), headers).body)
        self.assertEqual(json.loads(self.server.request("GET", "/paths").body)["result"], {"paths": [root]})
        self.assertEqual(ask("new/file")["result"], {"path": root + "/new/file"})
        self.assertEqual(ask(root + "/a/../b")["result"], {"path": root + "/b"})
        os.symlink(self.outside, self.server.path("away"))
        for path, code in (("/etc/passwd", "PATH_OUTSIDE_WORKSPACE"), ("../x", "PATH_OUTSIDE_WORKSPACE"),
                           (root + "/../x", "PATH_OUTSIDE_WORKSPACE"), ("away/kept", "SYMLINK_OUTSIDE_WORKSPACE")):
            self.assertEqual(ask(path)["code"], code, path)
        self.assertEqual(ask("a\0b")["code"], "INVALID_PATH")

    def test_what_is_allowed_in_the_allowed_root(self):
        top = self.server.path("top")
        for name in ("ws", "other", "data"):
            os.makedirs(os.path.join(top, name))
        os.symlink("/etc", os.path.join(top, "other/leads-out"))
        server = self.start(workspace=os.path.join(top, "ws"), env={
            "ALLOWED_ROOT_DIRECTORY": top, "DATA_DIR": os.path.join(top, "data"), "SIDECAR_ALLOW_OUTSIDE_WORKSPACE_ROOT": "true"})
        self.assertEqual(json.loads(server.request("GET", "/paths").body)["result"], {"paths": [os.path.realpath(top)]})
        for path in ("other/new", "data/settings.json", "other"):
            full = os.path.join(os.path.realpath(top), path)
            self.assertEqual(server.result("paths", path=full), {"path": full})
        for path in ("/etc/passwd", top + "/../x", "../../../x"):
            answer = server.call("paths", path=path).json()
            self.assertEqual((answer["code"], answer["error"]), (
                "PATH_NOT_ALLOWED", "Path not allowed: %s. Must be within ALLOWED_ROOT_DIRECTORY or DATA_DIR." % path))
        self.assertEqual(server.error("paths", path=top + "/other/leads-out/passwd")[0], "SYMLINK_OUTSIDE_WORKSPACE")

    def test_policy(self):
        self.assertEqual(self.server.result("policy", command="ls -l"), {"blocked": False})
        marker = self.server.path("ran")
        answer = self.server.result("policy", command="sudo touch %s" % marker)
        self.assertTrue(answer["blocked"])
        self.assertIn("sudo", answer["reason"])
        self.assertEqual(self.server.result("policy", command="touch %s" % marker), {"blocked": False})
        self.assertFalse(os.path.exists(marker))

    def test_tool_by_name(self):
        listed = json.loads(self.server.request("GET", "/tools?format=openai&set=full").body)
        for tool in listed:
            name = tool["function"]["name"]
            self.assertEqual(json.loads(self.server.request("GET", "/tools/%s?format=openai" % name).body), tool)
        answer = self.server.request("GET", "/tools/none")
        self.assertEqual((answer.status, json.loads(answer.body)["code"]), (404, "UNKNOWN_TOOL"))
        self.assertEqual(self.server.request("GET", "/tools/read_file?format=openai-native").status, 400)


class ReadOnly(SidecarTest):
    def test_nothing_is_changed(self):
        server = self.start(flags=["--read-only"])
        server.put("a", "a")
        for tool, arguments in (("mkdir", {"path": "d"}), ("rename", {"from": "a", "to": "b"}), ("remove", {"path": "a"}),
                                ("copy", {"from": "a", "to": "b"})):
            self.assertEqual(server.error(tool, **arguments)[0], "READ_ONLY")
        self.assertEqual(os.listdir(server.workspace), ["a"])


if __name__ == "__main__":
    unittest.main()
