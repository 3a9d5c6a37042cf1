# SPDX-License-Identifier: MIT
"""tap.py FILE.py | PROGRAM [ARGUMENT...]: runs a file of unittest cases, or a program of cmocka's; prints TAP.

What happens outside of a test's own thread fails the test as well: an exception in another thread, and what the
sanitizers report of any process that was started. Reports are files in a directory of this run.
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import traceback
import unittest

SANITIZERS = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")


class Elsewhere:
    """What went wrong outside of the test's own thread since it was last asked."""

    def __init__(self, directory):
        self.reports = pathlib.Path(directory)
        self.reports.chmod(0o777)  # for servers of other users
        self.exceptions = []
        for name in SANITIZERS:
            os.environ[name] = ":".join(filter(None, (os.environ.get(name), f"log_path={directory}/report")))
        threading.excepthook = self.note

    def note(self, args):
        self.exceptions.append("".join(traceback.format_exception(args.exc_type, args.exc_value, args.exc_traceback)))

    def take(self):
        found, self.exceptions = self.exceptions, []
        for path in sorted(self.reports.iterdir()):
            text = re.sub(r"==\d+==WARNING: \w+ failed to allocate .*\n", "", path.read_text(errors="replace"))
            path.unlink()
            if text:  # memory that could not be had is an answer
                found.append(text)
        return found


class Tap(unittest.TestResult):
    """One line a test: ok, not ok with the traceback before it, or a skip with its reason."""

    def __init__(self, elsewhere):
        super().__init__()
        self.elsewhere = elsewhere
        self.count = self.failed = 0
        self.trouble = []
        self.reason = None

    def line(self, name):
        self.trouble += self.elsewhere.take()
        self.count += 1
        self.failed += bool(self.trouble)
        for text in self.trouble:
            print("# " + text.rstrip().replace("\n", "\n# "))
        skip = "" if self.reason is None or self.trouble else f" # SKIP {self.reason}"
        print(f"{'not ok' if self.trouble else 'ok'} {self.count} - {name}{skip}", flush=True)
        self.trouble, self.reason = [], None

    def stopTest(self, test):
        super().stopTest(test)
        self.line(test.id())

    def addError(self, test, err):
        super().addError(test, err)
        self.trouble.append(self.errors[-1][1])
        if not isinstance(test, unittest.TestCase):  # setUpClass or tearDownClass: no stopTest follows
            self.line(test.id())

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.trouble.append(self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            kind = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.trouble.append(f"{subtest.id()}\n{kind[-1][1]}")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.trouble.append("passed, but is marked as an expected failure")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.reason = reason
        if not isinstance(test, unittest.TestCase):
            self.line(test.id())


def run_file(path, elsewhere):
    result = Tap(elsewhere)
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    result.trouble = elsewhere.take()
    if result.trouble:
        result.line("after the last test")
    print(f"1..{result.count}")
    return result.failed > 0


def translated(lines):
    """cmocka's lines as TAP. It calls a skipped test not ok; why it was skipped stands on a line before: "SKIP: why"."""
    why = "no reason given"
    for line in lines:
        if found := re.match(r"SKIP: (.*)", line):
            why = found[1]
        elif found := re.match(r"(?:not )?ok (\d+) # SKIP (.*)", line):
            yield f"ok {found[1]} - {found[2]} # SKIP {why}\n"
        else:
            yield line if re.match(r"#|(not )?ok \d|1\.\.\d|Bail out!", line) else "# " + line


def run_program(words, elsewhere):
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env={**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"}) as process:
        for line in translated(process.stdout):
            print(line, end="", flush=True)
    reports = elsewhere.take()
    for report in reports:
        print("# " + report.replace("\n", "\n# "))
    if process.returncode < 0:
        print(f"# killed by signal {-process.returncode}")
    return process.returncode or len(reports)


def main():
    path = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="sidecar-reports-") as directory:
        elsewhere = Elsewhere(directory)
        return run_file(path, elsewhere) if path.endswith(".py") else run_program([path, *sys.argv[2:]], elsewhere)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
