"""Real work in the sandbox: a C project is compiled, a package installed from the registry."""
import os
import subprocess
import unittest

from harness import ROOT, SandboxTest, machine

# The library is a third of it; the whole takes a minute.
TARGET = "sidecar" if "SIDECAR_TEST_ROUNDS" in os.environ else "libsidecar.a"


class Work(SandboxTest):
    def run_command(self, command):
        out = self.server.output("run_command", command=command, timeout_ms=280000, timeout=300)
        self.assertEqual(out["exit_code"], 0, out)
        return out

    def test_compile_this_project(self):
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "src", "include", "bench", "man", "scripts", "*meson*"],
                                capture_output=True, check=False)
        if listed.returncode != 0:
            self.skipTest("needs the repository to know what to copy")
        for name in listed.stdout.decode().split("\0")[:-1]:
            if (ROOT / name).is_file():
                self.server.put("project/" + name, (ROOT / name).read_bytes())
        self.run_command("cd project && meson setup b -Dtests=false --buildtype=plain && ninja -C b " + TARGET)
        self.assertTrue(os.path.exists(self.server.path("project/b/" + TARGET)))

    @unittest.skipUnless(machine.tool("npm"), "npm is not installed")
    @unittest.skipUnless(machine.registry(), "the npm registry cannot be reached")
    def test_install_a_package(self):
        os.mkdir(self.server.path("package"))
        out = self.run_command("cd package && npm init -y && npm install --no-audit --no-fund --fetch-retries=5 is-odd@3 && "
                               "node -p 'require(\"is-odd\")(3)'")
        self.assertTrue(out["stdout"].endswith("true\n"), out)
        self.assertTrue(os.path.isdir(self.server.path("package/node_modules/is-number")))


if __name__ == "__main__":
    unittest.main()
