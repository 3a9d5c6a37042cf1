"""make demo: the script ends well, shows each call, and leaves nothing behind."""
import os
import subprocess
import sys
import tempfile
import unittest

from harness import BIN, ROOT


class Demo(unittest.TestCase):
    def test_demo(self):
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as scratch:
            done = subprocess.run([sys.executable, str(ROOT / "scripts/demo"), BIN], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=120,
                                  env={**os.environ, "TMPDIR": scratch})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(os.listdir(scratch), [])
        for wanted in ("FAIL ten items are cheaper", "PATH_OUTSIDE_WORKSPACE", "SYMLINK_OUTSIDE_WORKSPACE",
                       "COMMAND_BLOCKED", '+\tif [ "$2" -ge 10 ]; then', "nothing got out", "restored: README.md, prices.sh, test.sh", "is back"):
            self.assertIn(wanted, done.stdout)
        self.assertNotIn("root:", done.stdout)
        self.assertNotIn("\033", done.stdout)


if __name__ == "__main__":
    unittest.main()
