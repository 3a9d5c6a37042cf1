# SPDX-License-Identifier: MIT
"""Random operations of two servers and two sessions, undone and redone at random: the tree is always what a model says.

The model is the tree as it was after each change. OPERATIONS=10000 makes more of them than `make test` does, SEED=n others.
Every command runs in a directory of its own and names only what is in it.
"""
import contextlib
import os
import random
import signal
import unittest

from harness import is_sanitized
from test_changes import send, tree
from test_history import HistoryTest

NAMES = ["a", "b", "c", "d/a", "d/b", "d/e/a", "d/e/b", "g/a"]
DIRS = ["d", "d/e", "g", "h"]


class RandomTest(HistoryTest):
    def setUp(self):
        self.seed = int(os.environ.get("SEED", "26"))
        self.random = random.Random(self.seed)
        one = self.serve()
        self.servers = [one, self.serve(one)]
        self.past = []  # of each change that was made and not taken back: its number, the tree before it
        self.ids = []  # of the last changes, whatever has become of them
        self.said = []  # what was done, for who reads a failure

    def look(self):
        """The tree, without the numbers of names: the journal may have one more."""
        return {path: line[:4] + line[5:] if len(line) == 7 else line for path, line in tree(self.servers[0].workspace).items()}

    def story(self, what):
        return "%s with SEED=%d, after:\n%s" % (what, self.seed, "\n".join(self.said[-40:]))

    def compare(self, wanted, what):
        seen = self.look()
        self.assertEqual({k: (wanted.get(k), seen.get(k)) for k in {*wanted, *seen} if wanted.get(k) != seen.get(k)}, {},
                         self.story(what))

    def ask(self, url, body):
        """Ask one of the servers for one of two sessions; (status, the result, the number of the change or 0)."""
        answer = send(self.random.choice(self.servers), "POST", url, body)
        result = answer.json()
        return answer.status, result, int(answer.headers.get("sidecar-change", 0))

    def run_command(self, command):
        """A command as a model runs it: it is observed."""
        status, result, change = self.ask("/tools/run_command?session=" + self.random.choice("xy"), {"command": command})
        self.assertEqual((status, result["success"]), (200, True), result)
        return change or (result.get("changes") or result["output"].get("changes") or {}).get("id", 0)

    def operate(self):
        """One operation; the number of its change, or 0 if it changed nothing."""
        pick, name, other, folder = self.random, self.random.choice(NAMES), self.random.choice(NAMES), self.random.choice(DIRS)
        number = pick.randrange(10 ** 6)
        tool = pick.randrange(20)
        commands = [
            "mkdir -p d/e g; echo %d > %s" % (number, name), "mkdir -p d/e g; echo %d >> %s" % (number, name),
            "rm -rf %s" % folder, "rm -f %s %s" % (name, other), "mv -T %s %s" % (name, other), "mv -T %s %s.new" % (folder, folder),
            "mv -T %s.new %s" % (folder, folder), "ln -f %s %s" % (name, other), "ln -sfn %s %s" % (other, name),
            "chmod %o %s" % (pick.choice([0o600, 0o640, 0o755]), name), "chmod %o %s" % (pick.choice([0o700, 0o755]), folder),
            "touch -d @%d %s" % (number, name), "truncate -s %d %s" % (number % 5000, name),
            "python3 -c \"import os; os.setxattr('%s', 'user.t', b'%d')\"" % (name, number),
            "test -e %s.new || cp -a %s %s.new" % (folder, folder, folder), "sed -i s/1/%d/ %s" % (number, name),
            "mkdir -p %s && tar cf t.tar %s && rm -rf %s && tar xf t.tar" % (folder, folder, folder),
        ]
        if tool < len(commands):
            self.said.append(commands[tool])
            return self.run_command(commands[tool] + " 2>/dev/null; true")
        url, body = pick.choice([
            ("/write", {"path": name, "content": "%d\n" % number * pick.choice([1, 1000])}),
            ("/rename", {"from": name, "to": other}), ("/remove", {"path": name}), ("/copy", {"from": name, "to": other}),
            ("/mkdir", {"path": folder}), ("/edit", {"path": name, "oldText": "1", "newText": str(number)}),
        ])
        self.said.append(("%s %s" % (url, body))[:80])
        return self.ask(url, body)[2]

    def undo(self, url, body, wanted, what):
        """Undo, or redo, by one of the servers; the number of the new change."""
        self.said.append("undo %s %s" % (url, body))
        status, result, _ = self.ask(url, body)
        self.assertEqual(status, 200, self.story(result))
        self.said[-1] += ": change %s" % result["result"]["change"]
        self.compare(wanted, what)
        return result["result"]["change"]

    def undo_last(self):
        """The last change or the last few; then perhaps redo, after which one of those that did it may be undone again."""
        count = self.random.choice([1, self.random.randrange(1, len(self.past) + 1)])
        ids, wanted, now = [number for number, _ in self.past[-count:]], self.past[-count][1], self.look()
        undone = self.undo("/changes/undo", {"ids": ids}, wanted, "undo of %d" % count)
        # What a change did to a file by a name that a newer one took away is not done again by its other names.
        shared = count > 1 and any(path != line[4] for seen in (wanted, now, *(t for _, t in self.past[-count:]))
                                   for path, line in seen.items() if len(line) == 6)
        redone = undone and not shared and self.random.randrange(3) and self.undo("/changes/%d/undo" % undone, {}, now, "redo of %d" % count)
        if not redone:
            del self.past[-count:]
        elif self.random.randrange(2):
            self.past[-count:] = [(redone, wanted)]

    def undo_any(self):
        """Any change, with whatever came after it: all of it is undone, and redo gives the same tree; or nothing is."""
        number, now = self.random.choice(self.ids), self.look()
        self.said.append("undo of any: %d" % number)
        status, result, _ = self.ask("/changes/%d/undo" % number, {})
        if status == 409:
            self.compare(now, "a conflict")
            status, result, _ = self.ask("/changes/%d/undo" % number, {"force": True})
        if status == 200 and result["result"]["change"]:
            self.undo("/changes/%d/undo" % result["result"]["change"], {}, now, "redo of any")
        elif status == 200:
            self.assertEqual(self.without_times(self.look()), self.without_times(now), self.story(result))
        else:
            self.compare(now, "undo of any: %s" % result)
        if status == 200:
            self.past = []  # times of directories are restored in the order of the changes only

    @staticmethod
    def without_times(seen):
        """A change of the times of directories alone is none."""
        return {path: line[:2] if line[0].startswith("0o40") else line for path, line in seen.items()}

    def interfere(self):
        """A program that no server knows writes a file, or removes it: the last changes may not be undone any more."""
        path = self.random.choice(NAMES)
        self.said.append("another program: %s" % path)
        with contextlib.suppress(OSError):
            if self.random.randrange(2):
                self.servers[0].put(path, "%d\n" % self.random.randrange(10 ** 6))
            else:
                os.unlink(self.servers[0].path(path))
        self.past = []

    def step(self):
        how = self.random.randrange(24)
        if how < 4 and self.past:
            self.undo_last()
        elif how == 4 and self.ids:
            self.undo_any()
        elif how == 5 and self.random.randrange(4) == 0:
            self.interfere()
        elif how == 6 and self.random.randrange(2) == 0:
            which = self.random.randrange(2)
            self.said.append("restart")
            self.servers[which].stop(self.random.choice([signal.SIGTERM, signal.SIGKILL]))
            self.servers[which].start()
        else:
            before = self.look()
            number = self.operate()
            self.said[-1] += ": change %d" % number
            after = self.look()
            if number:
                self.past.append((number, before))
                self.ids.append(number)
            else:
                self.assertEqual(self.without_times(before), self.without_times(after),
                                 self.story("a change without a number"))
                self.past = self.past if before == after else []  # nobody knows their times from here on
            del self.past[:-20], self.ids[:-20]

    def test_the_tree_is_what_the_model_says(self):
        for _ in range(int(os.environ.get("OPERATIONS", 60 if is_sanitized() else 250))):
            self.step()


if __name__ == "__main__":
    unittest.main()
