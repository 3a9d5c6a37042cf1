# SPDX-License-Identifier: MIT
"""tap.py FILE: runs a file of unittest cases and prints one TAP line for each, as the unit tests do."""

import importlib.util
import os
import sys
import unittest


class Tap(unittest.TestResult):
    """One line a test: ok, not ok with the traceback before it, or a skip with its reason."""

    def __init__(self):
        super().__init__()
        self.count = 0
        self.trouble = []
        self.reason = None

    def line(self, test):
        self.count += 1
        for text in self.trouble:
            print("# " + text.rstrip().replace("\n", "\n# "))
        skip = "" if self.reason is None or self.trouble else f" # SKIP {self.reason}"
        print(f"{'not ok' if self.trouble else 'ok'} {self.count} - {test.id()}{skip}", flush=True)
        self.trouble, self.reason = [], None

    def startTest(self, test):
        super().startTest(test)
        self.trouble, self.reason = [], None

    def stopTest(self, test):
        super().stopTest(test)
        self.line(test)

    def addError(self, test, err):
        super().addError(test, err)
        self.trouble.append(self.errors[-1][1])
        if not isinstance(test, unittest.TestCase):  # setUpClass or setUpModule: no stopTest follows
            self.line(test)

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
            self.line(test)


def main():
    path = os.path.abspath(sys.argv[1])
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    result = Tap()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    print(f"1..{result.count}")
    return not result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
