"""Killed at any moment: every file is the old one or the new one."""
import contextlib
import json
import os
import random
import signal
import threading
import time
import unittest

from harness import SidecarTest, post, read_answer, until

FILES, ROUNDS, SIZE = 4, 60, 200000


class Crash(SidecarTest):
    @classmethod
    def setUpClass(cls):
        """Kills the server again and again while files are written; the tests look at what is left."""
        super().setUpClass()
        rng = random.Random(1)
        cls.torn = []
        versions = [json.dumps({"path": "d/f%d" % i, "content": letter * SIZE}) for i in range(FILES) for letter in "ab"]
        for i in range(FILES):
            cls.server.put("d/f%d" % i, "a" * SIZE)
        cls.answered = 0
        for _ in range(ROUNDS):
            # A server that has just started may not have a keeper yet; a command waits for it.
            cls.server.call("bash", command="true")
            threads = [threading.Thread(target=cls.write, args=(versions[2 * i:2 * i + 2],)) for i in range(FILES)]
            for t in threads:
                t.start()
            before = cls.answered
            until(lambda before=before: cls.answered > before, "a file is written")
            time.sleep(rng.random() * 0.02)  # at any moment
            cls.server.stop(signal.SIGKILL)
            for t in threads:
                t.join()
            for i in range(FILES):
                data = cls.server.get("d/f%d" % i)
                if data not in (b"a" * SIZE, b"b" * SIZE):
                    cls.torn.append((len(data), data[:1], data[-1:]))
            cls.server.start()
        cls.server.call("bash", command="true")

    @classmethod
    def write(cls, bodies):
        with contextlib.suppress(OSError, ValueError), cls.server.connect() as s, s.makefile("rb") as stream:
            for n in range(1000):
                s.sendall(post("/write", bodies[n % 2]))
                if read_answer(stream) is None:
                    return
                cls.answered += 1

    def test_old_or_new(self):
        self.assertEqual(self.torn, [])
        self.assertGreaterEqual(self.answered, ROUNDS)

    def test_no_temporary_file_stays(self):
        """The keeper outlives the server and removes what it had no time to rename."""
        until(lambda: len(os.listdir(self.server.path("d"))) == FILES, "the rest is removed")
        self.assertEqual(sorted(os.listdir(self.server.path("d"))), ["f%d" % i for i in range(FILES)])

    def test_it_serves_again(self):
        self.assertEqual(self.server.call("write", path="d/f0", content="after").status, 200)
        self.server.put("d/f0", "a" * SIZE)


if __name__ == "__main__":
    unittest.main()
