# SPDX-License-Identifier: MIT
"""What calls change is known and can be taken back: receipts, lists, diffs, undo, conflicts, crashes."""
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from harness import Sidecar, is_sanitized, needs_namespaces, until

JSON = {"Content-Type": "application/json"}


def send(server, method, url, body=None):
    """A request with a JSON body; its answer."""
    return server.request(method, url, None if body is None else json.dumps(body), JSON if body is not None else {})


def tree(root):
    """Everything that undo promises: names, types, contents, modes, links, attributes, times.

    Of files with several names each has the number and the first of them."""
    found, first = {}, {}
    paths = sorted(os.path.join(folder, name) for folder, folders, files in os.walk(root) for name in (*folders, *files))
    for path in [root, *paths]:
        status = os.lstat(path)
        line = [oct(status.st_mode), status.st_uid, status.st_mtime_ns]
        if os.path.islink(path):
            line.append(os.readlink(path))
        elif os.path.isfile(path):
            with open(path, "rb") as f:
                line.append(hashlib.sha256(f.read()).hexdigest())
            line += [status.st_nlink, first.setdefault(status.st_ino, os.path.relpath(path, root))]
            line.append({n: os.getxattr(path, n) for n in os.listxattr(path) if n.startswith("user.")})
        found[os.path.relpath(path, root)] = line
    return found


class ChangesTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.sidecar = Sidecar()
        self.addCleanup(self.sidecar.close)

    def put(self, name, content):
        return self.sidecar.put(name, content)

    def ask(self, method, url, body=None, status=200):
        answer = send(self.sidecar, method, url, body)
        self.assertEqual(answer.status, status, answer.body)
        return answer.json()["result"] if status == 200 else answer.json()

    def write(self, name, content):
        """Writes by the tool; the number of the change."""
        answer = send(self.sidecar, "POST", "/write", {"path": name, "content": content})
        self.assertEqual(answer.status, 200, answer.body)
        return int(answer.headers["sidecar-change"])

    def state(self):
        return tree(self.sidecar.workspace)

    def test_a_write_is_a_change_with_a_receipt(self):
        self.put("a", "old")
        answer = send(self.sidecar, "POST", "/write", {"path": "a", "content": "new"})
        self.assertEqual(answer.json(), {"ok": True, "result": {"ok": True, "path": "a", "bytes": 3}})
        number = int(answer.headers["sidecar-change"])
        change = self.ask("GET", "/changes/%d" % number)
        self.assertEqual((change["tool"], change["subject"]), ("write", "a"))
        self.assertEqual([change[k] for k in ("created", "modified", "deleted", "renamed")], [0, 1, 0, 0])
        self.assertTrue(change["complete"] and change["undoable"])
        self.assertIsNone(change["undone_by"])
        path, = change["paths"]
        self.assertEqual((path["path"], path["kind"], path["saved"]), ("a", "modified", True))
        self.assertEqual(path["before"], {"type": "file", "size": 3, "mode": "0644",
                                          "hash": hashlib.sha256(b"old").hexdigest()})
        self.assertEqual(path["after"]["hash"], hashlib.sha256(b"new").hexdigest())
        listed, = self.ask("GET", "/changes")["changes"]
        self.assertEqual({k: listed[k] for k in listed}, {k: change[k] for k in listed})

    def test_what_changes_nothing_has_no_receipt(self):
        self.put("a", "text")
        answers = [send(self.sidecar, "POST", "/read", {"path": "a"}),
                   send(self.sidecar, "POST", "/edit", {"path": "a", "oldText": "no", "newText": "x"}),
                   send(self.sidecar, "POST", "/edit", {"path": "a", "oldText": "text", "newText": "x",
                                                          "dryRun": True})]
        for answer in answers:
            self.assertNotIn("sidecar-change", answer.headers)
        self.assertEqual(self.ask("GET", "/changes")["changes"], [])

    def test_undo_restores_exactly_and_redo_too(self):
        path = self.put("d/a", "old\n")
        os.chmod(path, 0o751)
        os.utime(path, ns=(1, 1234567890123456789))
        os.setxattr(path, "user.mark", b"kept")
        before = self.state()
        first = self.write("d/a", "new\n")
        second = self.write("deep/er/b", "made")
        after = self.state()
        done = self.ask("POST", "/changes/undo", {"since": first})
        self.assertEqual(self.state(), before)
        self.assertEqual(done["restored"], ["d/a"])
        self.assertEqual(sorted(done["removed"]), ["deep", "deep/er", "deep/er/b"])
        self.assertEqual(self.ask("GET", "/changes/%d" % second)["undone_by"], done["change"])
        self.ask("POST", "/changes/%d/undo" % done["change"])
        self.assertEqual(self.state(), after)
        self.assertIsNone(self.ask("GET", "/changes/%d" % second)["undone_by"])

    def test_paths_are_in_order(self):
        first = self.write("b/new.txt", "b")
        self.write("a.txt", "a")
        both = self.ask("POST", "/changes/undo", {"since": first})["change"]
        paths = [item["path"] for item in self.ask("GET", f"/changes/{both}")["paths"]]
        self.assertEqual(paths, ["a.txt", "b", "b/new.txt"])

    def test_a_dry_run_changes_nothing(self):
        number = self.write("a", "text")
        before = self.state()
        done = self.ask("POST", "/changes/%d/undo" % number, {"dryRun": True})
        self.assertEqual((done["change"], done["removed"]), (None, ["a"]))
        self.assertEqual(self.state(), before)

    def test_a_conflict_is_named_and_nothing_changes(self):
        self.put("a", "old")
        self.put("b", "old")
        first, second = self.write("a", "new"), self.write("b", "new")
        self.put("a", "by another")
        before = self.state()
        answer = self.ask("POST", "/changes/undo", {"ids": [first, second]}, 409)
        self.assertEqual(answer["code"], "CONFLICT")
        self.assertEqual(answer["conflicts"], [{"path": "a", "why": "has changed since"}])
        self.assertEqual(answer["conflict_count"], 1)
        self.assertEqual(self.state(), before)
        done = self.ask("POST", "/changes/undo", {"ids": [first, second], "force": True})
        self.assertEqual([self.sidecar.get(name) for name in "ab"], [b"old", b"old"])
        self.ask("POST", "/changes/%d/undo" % done["change"])
        self.assertEqual(self.state(), before)
        missing = self.ask("POST", "/changes/%d/undo" % (second + 99), status=404)
        self.assertEqual(missing["code"], "CHANGE_NOT_FOUND")
        self.assertIn("List the changes", missing["error"])

    def test_an_edit_during_an_undo_is_not_lost(self):
        """Whichever comes first: the edit is there, or it was refused because its text had gone."""
        size = 2_000_000  # that takes a moment to check
        for _ in range(8):
            self.write("f", "a" * size + "\nold\n")
            change = self.write("f", "b" * size + "\nold\n")
            answers = {}
            edit = threading.Thread(target=lambda: answers.update(edit=send(
                self.sidecar, "POST", "/edit", {"path": "f", "oldText": "old", "newText": "new"})))
            edit.start()
            answers["undo"] = send(self.sidecar, "POST", f"/changes/{change}/undo", {})
            edit.join()
            with open(self.sidecar.path("f"), encoding="utf-8") as f:
                content = f.read()
            self.assertEqual(answers["edit"].status, 200)
            self.assertTrue(content.endswith("new\n"), answers["undo"].body)
            self.assertEqual(content[0], "a" if answers["undo"].status == 200 else "b")

    def test_only_some_paths(self):
        send(self.sidecar, "POST", "/write", {"path": "x/a", "content": "1"})
        number = self.write("y/z/b", "2")
        self.ask("POST", "/changes/%d/undo" % number, {"paths": ["y/z/b"]})
        self.assertEqual(sorted(self.state()), [".", "x", "x/a", "y", "y/z"])

    def test_one_file_of_directories_that_are_gone(self):
        for path in ("docs/a.md", "docs/in/deep/b.md", "docs/in/c.md"):
            self.write(path, path)
        os.chmod(os.path.join(self.sidecar.workspace, "docs"), 0o750)
        before = self.state()
        self.sidecar.call("bash", command="rm -rf docs")
        number = self.ask("GET", "/changes")["changes"][-1]["id"]
        undo = self.ask("POST", "/changes/%d/undo" % number, {"paths": ["docs/in/deep/b.md"]})
        self.assertEqual(sorted(self.state()), [".", "docs", "docs/in", "docs/in/deep", "docs/in/deep/b.md"])
        self.assertEqual(self.state()["docs"], before["docs"])
        self.ask("POST", "/changes/%d/undo" % undo["change"], {})
        self.assertEqual(sorted(self.state()), ["."])

        os.mkdir(os.path.join(self.sidecar.workspace, "docs"))  # another program makes it again
        self.ask("POST", "/changes/%d/undo" % number, {"paths": ["docs/in/c.md"]})
        self.assertEqual(sorted(self.state()), [".", "docs", "docs/in", "docs/in/c.md"])
        self.ask("POST", "/changes/%d/undo" % number, {"paths": ["docs/a.md", "docs/none"]})
        self.assertEqual(sorted(self.state()), [".", "docs", "docs/a.md", "docs/in", "docs/in/c.md"])

    def test_changes_of_a_session(self):
        send(self.sidecar, "POST", "/write", {"path": "a", "content": "1", "sessionId": "one"})
        send(self.sidecar, "POST", "/write", {"path": "b", "content": "2", "sessionId": "two"})
        send(self.sidecar, "POST", "/write", {"path": "c", "content": "3", "sessionId": "one"})
        self.ask("POST", "/changes/undo", {"session": "one"})
        self.assertEqual(sorted(self.state()), [".", "b"])

    def test_diff(self):
        self.put("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
        number = self.write("a", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10")
        answer = send(self.sidecar, "GET", "/changes/%d/diff" % number)
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["content-type"], "text/plain; charset=utf-8")
        with open(os.path.join(self.sidecar.dir, "d.patch"), "wb") as f:
            f.write(answer.body)
        subprocess.run(["git", "apply", "-R", f.name], cwd=self.sidecar.workspace, check=True)
        self.assertEqual(self.sidecar.get("a"), b"1\n2\n3\n4\n5\n6\n7\n8\n9\n")
        send(self.sidecar, "POST", "/write", {"path": "bin", "content": "AAECAw==", "encoding": "base64"})
        self.assertIn(b"Binary file created: bin", send(self.sidecar, "GET", "/changes/2/diff").body)

    def test_hard_links_are_kept(self):
        path = self.put("a", "old")
        os.link(path, path + "2")
        before = self.state()
        number = self.write("a", "longer than before")
        self.ask("POST", "/changes/%d/undo" % number)
        self.assertEqual(self.state(), before)

    def test_hard_links_come_back_with_redo(self):
        """A name that a command made a link of another file: undone, redone, undone again."""
        def inodes():
            return [os.stat(self.sidecar.path(name)).st_ino for name in "bc"]
        self.put("b", "1\n")
        self.put("c", "1\n")
        answer = send(self.sidecar, "POST", "/tools/run_command", {"command": "ln -f c b"}).json()
        change = answer["changes"]["id"]
        for linked in (False, True, False):
            change = self.ask("POST", "/changes/%d/undo" % change, {})["change"]
            self.assertEqual(len(set(inodes())), 1 if linked else 2)
            self.assertEqual(os.stat(self.sidecar.path("c")).st_nlink, 2 if linked else 1)

    def test_a_name_that_a_tool_removed_comes_back_as_that(self):
        os.link(self.put("a", "1\n"), self.sidecar.path("b"))
        before = self.state()
        patch = "*** Begin Patch\n*** Delete File: b\n*** End Patch\n"
        for url, body in (("/remove", {"path": "b"}), ("/patch", {"patch": patch})):
            number = int(send(self.sidecar, "POST", url, body).headers["sidecar-change"])
            self.ask("POST", "/changes/%d/undo" % number)
            self.assertEqual(self.state(), before, url)

    def test_a_file_of_its_own_in_the_place_of_one_with_two_names(self):
        """It is the same in everything else, and yet what is written to it later has another effect."""
        os.link(self.put("a", "1\n"), self.sidecar.path("b"))
        before = self.state()
        command = {"command": "cp -p a t && mv t a"}
        change = send(self.sidecar, "POST", "/tools/run_command", command).json()["changes"]
        self.assertEqual((change["modified"], change["paths"]), (1, [{"path": "a", "kind": "modified"}]))
        self.ask("POST", "/changes/%d/undo" % change["id"])
        self.assertEqual(self.state(), before)

    def test_hard_links_stay_however_often_a_change_is_undone(self):
        """Each time the journal gives back the name that it has of the file."""
        os.link(self.put("d/a", "1\n"), self.sidecar.path("b"))
        before = self.state()
        change = send(self.sidecar, "POST", "/tools/run_command", {"command": "rm -r d"}).json()["changes"]["id"]
        for _ in range(4):
            undone = self.ask("POST", "/changes/%d/undo" % change, {})["change"]
            self.assertEqual(self.state(), before)
            self.ask("POST", "/changes/%d/undo" % undone, {})

    def test_a_directory_that_took_the_place_of_another(self):
        """When the newer change is undone nothing is there any more that could be in the way."""
        self.put("d/e/a", "old\n")
        self.put("new/e/a", "new\n")
        before = self.state()
        ids = [send(self.sidecar, "POST", "/tools/run_command", {"command": command}).json()["changes"]["id"]
               for command in ("rm -r d", "mv new d")]
        after = self.state()
        undone = self.ask("POST", "/changes/undo", {"ids": ids})["change"]
        self.assertEqual(self.state(), before)
        self.ask("POST", "/changes/%d/undo" % undone, {})
        self.assertEqual(self.state(), after)

    def test_force_where_something_else_has_the_name(self):
        """A file was moved, and is gone: what has its two names now stays."""
        self.put("a", "1\n")
        os.makedirs(self.sidecar.path("d"))
        answer = send(self.sidecar, "POST", "/tools/run_command", {"command": "mv a d/b"}).json()
        os.unlink(self.sidecar.path("d/b"))
        os.symlink("elsewhere", self.sidecar.path("d/b"))
        self.put("a", "2\n")
        self.ask("POST", "/changes/%d/undo" % answer["changes"]["id"], {"force": True})
        with open(self.sidecar.path("a"), encoding="ascii") as f:
            self.assertEqual(f.read(), "2\n")
        self.assertEqual(os.readlink(self.sidecar.path("d/b")), "elsewhere")

    def test_several_changes_of_a_file_with_two_names(self):
        """A write by one name changes what the other one shows: that is no conflict if both changes are undone."""
        self.put("b", "1\n")
        os.link(self.sidecar.path("b"), self.sidecar.path("a"))
        before = self.state()
        ids = [self.write("a", "22\n"), self.write("b", "333\n"), self.write("a", "4444\n")]
        self.assertEqual(self.ask("POST", "/changes/%d/undo" % ids[1], {}, 409)["code"], "CONFLICT")
        self.ask("POST", "/changes/undo", {"ids": ids})
        self.assertEqual(self.state(), before)

    def test_a_removed_name_of_a_file_that_was_written_later(self):
        """What was kept of it is the file itself, which has other content now; the copy is found by any program."""
        self.put("b", "old\n")
        os.link(self.sidecar.path("b"), self.sidecar.path("c"))
        before = self.state()
        ids = [send(self.sidecar, "POST", "/tools/run_command", {"command": command}).json()["changes"]["id"]
               for command in ("rm b", "echo new > c")]
        self.sidecar.stop()
        self.sidecar.start()
        self.assertEqual([c["undoable"] for c in self.ask("GET", "/changes")["changes"]], [True, True])
        self.ask("POST", "/changes/undo", {"ids": ids})
        self.assertEqual(self.state()["b"][:4], before["b"][:4])
        self.assertEqual(self.state()["c"][:4], before["c"][:4])

    def test_a_forced_undo_keeps_what_has_two_names_now(self):
        for name in "ab":
            os.link(self.put(name, name), self.sidecar.path("other-" + name))
        change = self.write("a", "new")
        os.unlink(self.sidecar.path("a"))
        os.link(self.sidecar.path("b"), self.sidecar.path("a"))
        before = self.state()
        undone = self.ask("POST", "/changes/%d/undo" % change, {"force": True})["change"]
        self.assertEqual(self.sidecar.get("a"), b"a")
        self.ask("POST", "/changes/%d/undo" % undone, {})
        found = self.state()
        self.assertEqual({path: line[:4] + line[5:] for path, line in found.items()},
                         {path: line[:4] + line[5:] for path, line in before.items()})

    def test_a_directory_that_is_called_deleted(self):
        """The kernel calls a removed directory that."""
        self.put("d (deleted)/a", "old\n")
        before = self.state()
        command = {"command": "cd 'd (deleted)'; echo new > a; echo > b"}
        change = send(self.sidecar, "POST", "/tools/run_command", command).json()["changes"]
        self.assertEqual([path["path"] for path in change["paths"]], ["d (deleted)/a", "d (deleted)/b"])
        self.ask("POST", "/changes/%d/undo" % change["id"])
        self.assertEqual(self.state(), before)

    def test_a_diff_of_what_was_removed(self):
        self.put("large", "".join("line %d\n" % i for i in range(10000)))
        os.link(self.put("a", "old\n"), self.sidecar.path("b"))
        send(self.sidecar, "POST", "/tools/run_command", {"command": "rm large a"})
        diff = send(self.sidecar, "GET", "/changes/1/diff").body
        self.assertIn(b"\n-old\n", diff)
        self.assertIn(b"\n-line 9999\n", diff)

    def test_a_replaced_file_gets_no_other_name(self):
        """With one, the next write would take it for a file with several names, and write in place: half of it could be seen."""
        with open(self.put("a", "old" * 100000), "rb") as old:
            self.write("a", "new" * 100000)
            self.assertEqual(os.fstat(old.fileno()).st_nlink, 0)
            self.assertEqual(old.read(), b"old" * 100000)

    def test_models_are_told(self):
        self.put("old", "x")
        answer = send(self.sidecar, "POST", "/tools/write_file", {"path": "new", "content": "text"}).json()
        self.assertEqual(answer["changes"],
                         {"id": 1, "created": 1, "modified": 0, "deleted": 0, "renamed": 0,
                          "paths": [{"path": "new", "kind": "created"}]})
        listed = send(self.sidecar, "POST", "/tools/list_changes", {}).json()["output"]
        self.assertEqual([c["id"] for c in listed["changes"]], [1])
        done = send(self.sidecar, "POST", "/tools/undo_change", {"id": 1}).json()
        self.assertEqual((done["success"], done["output"]["removed"]), (True, ["new"]), done)
        self.assertFalse(os.path.exists(os.path.join(self.sidecar.workspace, "new")))
        again = send(self.sidecar, "POST", "/tools/undo_change", {"id": 1}).json()
        self.assertEqual(again["error"]["code"], "CONFLICT")

    def test_any_offset(self):
        number = self.write("a", "x")
        for offset, paths in ((0, 1), (1, 0), (2 ** 63 - 1, 0)):
            found = self.ask("GET", "/changes/%d?offset=%d" % (number, offset))
            self.assertEqual((len(found["paths"]), found["more"]), (paths, False), offset)

    def test_it_survives_a_restart(self):
        self.put("a", "old")
        before = self.state()
        number = self.write("a", "new")
        self.sidecar.stop()
        self.sidecar.start()
        self.assertEqual([c["id"] for c in self.ask("GET", "/changes")["changes"]], [number])
        self.ask("POST", "/changes/%d/undo" % number)
        self.assertEqual(self.state()["a"], before["a"])  # a start tries the sandbox out, which may touch the root
        self.assertGreater(self.write("b", "x"), number + 1)


class StoreTest(unittest.TestCase):
    def test_a_store_that_tools_could_write_is_refused(self):
        server = Sidecar()
        try:
            inside = os.path.join(server.workspace, "state")
            with self.assertRaises(RuntimeError) as caught:
                Sidecar(workspace=server.workspace, flags=["--journal", inside])
            self.assertIn("tools or commands can write", str(caught.exception))
        finally:
            server.close()

    def refused(self, journal, **options):
        """The sentence with which a server that is to keep its journal there refuses to start."""
        with self.assertRaises(RuntimeError) as caught:
            Sidecar(flags=["--journal", journal, *options.pop("flags", ())], **options).close()
        return str(caught.exception)

    def test_a_store_above_what_commands_write_is_refused(self):
        with tempfile.TemporaryDirectory() as top:
            home, work = os.path.join(top, "home"), os.path.join(top, "home", "me", "work")
            data, more = os.path.join(top, "data", "mine"), os.path.join(top, "more", "mine")
            for directory in (work, data, more, os.path.join(top, "else")):
                os.makedirs(directory)
            os.symlink(home, os.path.join(top, "link"))
            # What a command can plant in its workspace, so that it looks like an old journal.
            open(os.path.join(work, "lock"), "w", encoding="utf-8").close()
            os.utime(work, (0, 0))
            for journal in (work, os.path.dirname(work), home, top, os.path.join(top, "link", "me"),
                            os.path.join(top, "link", "new", "..", "me")):
                self.assertRegex(self.refused(journal, workspace=work), "tools or commands can write", journal)
                self.assertTrue(os.path.exists(os.path.join(work, "lock")), journal)
            for journal, flags in ((os.path.dirname(data), ["--data-dir", data]),
                                   (os.path.dirname(more), ["--sandbox-write", more])):
                self.assertRegex(self.refused(journal, workspace=work, flags=flags), "contains a directory", journal)
            Sidecar(workspace=work, flags=["--journal", os.path.join(top, "else")]).close()

    def test_a_store_where_commands_write_is_refused(self):
        with tempfile.TemporaryDirectory() as top:
            more = os.path.join(top, "more")
            os.mkdir(more)
            os.symlink(more, os.path.join(top, "link"))
            os.symlink("/dev/shm", os.path.join(top, "shm"))
            private = os.path.join(tempfile.gettempdir(), "sidecar-tmp-abcdef", "state")
            cache = os.path.join(top, "caches", "cache-0123456789abcdef", "new")
            for journal in (more, os.path.join(top, "link", "new"), os.path.join(top, "shm", "sidecar-test"), private, cache):
                said = self.refused(journal, flags=["--sandbox-write", os.path.join(top, "link"), "--cache", os.path.join(top, "caches")])
                self.assertIn("lies where tools or commands can write", said, journal)
                self.assertFalse(os.path.exists(os.path.join(journal, "lock")), journal)

    def old_journal(self, top):
        """A journal of a workspace that has gone, its directory."""
        server = Sidecar(flags=["--journal", top])
        server.put("a", "old")
        send(server, "POST", "/bash", {"command": "rm a"})
        send(server, "POST", "/write", {"path": "a", "content": "x"})
        server.close()
        (found,) = (os.path.join(top, name) for name in os.listdir(top))
        return found

    def age(self, top, hours=240):
        for path in [*(os.path.join(d, f) for d, _, files in os.walk(top) for f in files), top]:
            os.utime(path, (time.time() - 3600 * hours,) * 2, follow_symlinks=False)

    def test_an_old_journal_is_removed(self):
        with tempfile.TemporaryDirectory() as top:
            self.age(self.old_journal(top))
            Sidecar(flags=["--journal", top]).close()
            self.assertEqual(os.listdir(top), [])

    def test_that_of_a_workspace_that_is_missing_stays_as_long(self):
        """The workspace may be on a disk that comes back."""
        with tempfile.TemporaryDirectory() as top:
            journal = self.old_journal(top)
            for hours, left in (26, [os.path.basename(journal)]), (8 * 24, []):
                self.age(journal, hours)
                Sidecar(flags=["--journal", top]).close()
                self.assertEqual(os.listdir(top), left)

    def test_what_is_not_a_journal_stays(self):
        """Each directory lacks one thing that a journal has, or has one that no journal has."""
        with tempfile.TemporaryDirectory() as top:
            journal = self.old_journal(top)
            breaks = {
                "a foreign file": lambda d: open(os.path.join(d, "thesis.txt"), "w", encoding="utf-8").close(),
                "a foreign directory": lambda d: os.mkdir(os.path.join(d, "src")),
                "what an undo has left": lambda d: os.mkdir(os.path.join(d, "stage", "7f")),
                "no key": lambda d: os.unlink(os.path.join(d, "key")),
                "a short key": lambda d: os.truncate(os.path.join(d, "key"), 4),
                "another workspace": lambda d: os.truncate(os.path.join(d, "workspace"), 4),
                "others may enter": lambda d: os.chmod(d, 0o755),
                "others may read": lambda d: os.chmod(os.path.join(d, "key"), 0o644),
            }
            if os.geteuid() == 0:
                breaks["another owner"] = lambda d: os.chown(d, 12345, 12345)
            for what, change in breaks.items():
                with self.subTest(what):
                    shutil.copytree(journal, os.path.join(top, "kept"), symlinks=True)
                    change(journal)
                    self.age(journal)
                    before = sorted(os.walk(journal))
                    Sidecar(flags=["--journal", top]).close()
                    self.assertEqual(sorted(os.walk(journal)), before)
                    shutil.rmtree(journal)
                    os.rename(os.path.join(top, "kept"), journal)
            self.age(journal)
            os.rename(journal, os.path.join(top, "project"))
            Sidecar(flags=["--journal", top]).close()
            self.assertEqual(os.listdir(top), ["project"])

    @needs_namespaces
    def test_commands_do_not_see_it(self):
        with tempfile.TemporaryDirectory(dir=os.path.expanduser("~"), prefix=".sidecar-test-") as state:
            server = Sidecar(env={"XDG_STATE_HOME": state, "SIDECAR_SANDBOX": "workspace"})
            try:
                send(server, "POST", "/write", {"path": "a", "content": "x"})
                store = os.path.join(state, "sidecar")
                self.assertEqual(len(os.listdir(store)), 1)
                seen = send(server, "POST", "/tools/run_command", {"command": "ls -A %s; echo end" % store}).json()
                self.assertEqual(seen["output"]["stdout"], "end\n", seen)
            finally:
                server.close()

    def test_nothing_is_left_where_nothing_was_changed(self):
        server = Sidecar()
        state = server.env["XDG_STATE_HOME"]
        self.assertEqual(len(os.listdir(os.path.join(state, "sidecar"))), 1)
        server.stop()
        self.assertEqual(os.listdir(os.path.join(state, "sidecar")), [])
        server.close()

    def test_bounds(self):
        server = Sidecar(flags=["--undo-bytes", "1M", "--undo-max-file", "100K"])
        try:
            count = 2000 if is_sanitized() else 10000
            for i in range(count):
                send(server, "POST", "/write", {"path": "f%d" % (i % 7), "content": "%d " % i * 200})
            store = os.path.join(server.env["XDG_STATE_HOME"], "sidecar")
            size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(store) for f in files)
            self.assertLess(size, 1200 << 10)
            changes = send(server, "GET", "/changes").json()["result"]["changes"]
            self.assertEqual(changes[-1]["id"], count)
            before = tree(server.workspace)
            done = send(server, "POST", "/changes/undo", {"since": count - 10}).json()
            send(server, "POST", "/changes/%d/undo" % done["result"]["change"], {})
            self.assertEqual(tree(server.workspace), before)
            self.assertEqual(send(server, "POST", "/changes/1/undo", {}).status, 404)
            send(server, "POST", "/write", {"path": "big", "content": "x" * 150000})
            os.link(os.path.join(server.workspace, "big"), os.path.join(server.workspace, "linked"))  # written in place
            send(server, "POST", "/write", {"path": "big", "content": "small"})
            last = send(server, "GET", "/changes").json()["result"]["changes"][-1]
            self.assertFalse(last["undoable"])
            answer = send(server, "POST", "/changes/%d/undo" % last["id"], {})
            self.assertEqual((answer.status, answer.json()["code"], answer.json()["paths"]), (400, "NOT_SAVED", ["big"]))
            self.assertEqual(answer.json()["path_count"], 1)
        finally:
            server.close()


class CrashTest(unittest.TestCase):
    ROUNDS = 60

    def test_every_file_is_old_or_new_and_an_undo_is_complete_or_not_there(self):
        server = Sidecar()
        rng = random.Random(1)
        try:
            for number in range(self.ROUNDS):
                self.round(server, rng, number)
        finally:
            server.close()

    def round(self, server, rng, number):
        names = ["d/f%d" % i for i in range(20)]
        first = None
        for name in names:
            answer = send(server, "POST", "/write", {"path": name, "content": "%s %d\n" % (name, number) * 50})
            first = first or int(answer.headers["sidecar-change"])
        after = {k: v for k, v in tree(server.workspace).items() if k != "."}

        def undo():
            try:
                send(server, "POST", "/changes/undo", {"since": first})
            except OSError:
                pass  # it was killed

        thread = threading.Thread(target=undo)
        thread.start()
        time.sleep(rng.random() * 0.012)
        server.stop(signal.SIGKILL)
        thread.join()
        until(lambda: not [f for _, _, files in os.walk(server.workspace) for f in files if f.startswith(".sidecar-")],
              "the keeper removes temporary files")
        server.start()
        changes = send(server, "GET", "/changes?since=%d&limit=1000" % (first - 1)).json()["result"]["changes"]
        undone = [c for c in changes if c["tool"] == "undo"]
        self.assertEqual(len([c for c in changes if c["tool"] == "write"]), len(names))
        now = {k: v for k, v in tree(server.workspace).items() if k != "."}
        if undone:
            send(server, "POST", "/changes/%d/undo" % undone[-1]["id"], {})
            now = {k: v for k, v in tree(server.workspace).items() if k != "."}
        self.assertEqual(now, after)


if __name__ == "__main__":
    unittest.main()
