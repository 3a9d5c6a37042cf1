"""The tests of the tests: what must fail them does, a skip is believed only where its cause is true, none is left out."""
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

from harness import ROOT, machine

# Each fails, or is skipped, for the reason that its name gives.
FAULTY = '''
import os, signal, threading, unittest
from harness import BIN, Sidecar, SidecarTest, run_expecting_failure

class Faulty(SidecarTest):
    def test_1_fine(self):
        self.server.result("ls")

    def test_2_exception_in_a_thread(self):
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()

    def test_3_crash(self):
        server = self.start()
        os.kill(server.process.pid, signal.SIGSEGV)
        server.process.wait()

    def test_4_killed_on_purpose(self):
        self.start().stop(signal.SIGKILL)

    def test_5_report(self):
        with open(os.environ["ASAN_OPTIONS"].split("log_path=")[-1] + ".1", "w") as f:
            f.write("==1==ERROR: AddressSanitizer: heap-use-after-free")

    def test_6_memory_that_cannot_be_had(self):
        with open(os.environ["ASAN_OPTIONS"].split("log_path=")[-1] + ".1", "w") as f:
            f.write("==1==WARNING: AddressSanitizer failed to allocate 0xffff bytes\\n")

    @unittest.skip("never mind")
    def test_7_skip(self):
        pass

class FaultyToo(SidecarTest):
    def test_the_server_dies_after_the_last_test(self):
        self.server.process.kill()
'''


def runner():
    """tests/run as a module."""
    loader = importlib.machinery.SourceFileLoader("runner", str(ROOT / "tests/run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", loader))
    loader.exec_module(module)
    return module


def result_of(text, status=0, verdict="OK"):
    return {"stdout": text, "returncode": status, "result": verdict}


class Tests(unittest.TestCase):
    def test_what_must_fail_does(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "test_faulty.py")
            with open(path, "w", encoding="utf-8") as f:
                f.write(FAULTY)
            done = subprocess.run([sys.executable, ROOT / "tests/tap.py", path], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "tests/api")})
        lines = re.findall(r"^((?:not )?ok) \d+ - (?:test_faulty\.\w+\.)?(.*)", done.stdout, re.M)
        self.assertEqual([(name, verdict) for verdict, name in lines], [
            ("test_1_fine", "ok"), ("test_2_exception_in_a_thread", "not ok"), ("test_3_crash", "not ok"),
            ("test_4_killed_on_purpose", "ok"), ("test_5_report", "not ok"), ("test_6_memory_that_cannot_be_had", "ok"),
            ("test_7_skip # SKIP never mind", "ok"), ("test_the_server_dies_after_the_last_test", "ok"),
            ("tearDownClass (test_faulty.FaultyToo)", "not ok")], done.stdout + done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ZeroDivisionError", done.stdout)

    def count(self, accepted, *results):
        tally = runner().Tally()
        tally.accepted = accepted
        tally.bad = lambda name, output, count=1: setattr(tally, "failed", tally.failed + count)
        for result in results:
            tally.program("build: x", result)
        return tally.passed, tally.failed, len(tally.skips)

    def test_counting(self):
        for text, status, verdict, wanted in (
            ("1..2\nok 1 - a\nok 2 - b\n", 0, "OK", (2, 0, 0)), ("1..2\nok 1 - a\nnot ok 2 - b\n", 1, "ERROR", (1, 1, 0)),
            ("1..5\nok 1 - a\n", -11, "ERROR", (1, 4, 0)), ("ok 1 - a\n1..1\n", 1, "ERROR", (1, 1, 0)),
            ("", 0, "OK", (1, 0, 0)), ("wrong\n", 1, "FAIL", (0, 1, 0)), ("", 0, "SKIP", (0, 1, 0)),
            ("1..3\nok 1 - a\n", -9, "TIMEOUT", (1, 2, 0)), ("1..1\nok 1 - a # SKIP no\n", 0, "SKIP", (0, 1, 0)),
            ("1..1\nok 1 - a # SKIP yes\n", 0, "SKIP", (0, 0, 1)), ("1..0 # SKIP yes\n", 0, "SKIP", (0, 0, 1)),
            ("much\nyes\n", 77, "SKIP", (0, 0, 1)),
        ):
            with self.subTest(text, verdict=verdict):
                self.assertEqual(self.count(["build: x*: yes"], result_of(text, status, verdict)), wanted)

    def test_a_skip_needs_a_cause_that_is_true(self):
        self.assertEqual("*: this kernel has no Landlock" in runner().accepted_skips(), not machine.landlock())

    def test_every_file_is_run(self):
        listed = set(re.findall(r"^  '(\w+)': +\[", (ROOT / "tests/api/meson.build").read_text(), re.M))
        self.assertEqual(listed, {path.stem.removeprefix("test_") for path in (ROOT / "tests/api").glob("test_*.py")})
        listed = set(re.findall(r"'(\w+)'", (ROOT / "tests/clients/meson.build").read_text().split("]")[0]))
        self.assertEqual(listed, {path.stem.removeprefix("test_") for path in (ROOT / "tests/clients").glob("test_*.mjs")})


if __name__ == "__main__":
    unittest.main()
