"""Real work in the sandbox: a C project is compiled, a package installed from the registry."""
import contextlib
import json
import os
import subprocess
import tempfile
import unittest

from harness import BIN, ROOT, SandboxTest, environment, machine, needs_sandbox, needs_two_users
from mcp_client import Stdio, output

# The library is a third of it; the whole takes a minute.
TARGET = "sidecar" if "SIDECAR_TEST_ROUNDS" in os.environ else "libsidecar.a"


class Work(SandboxTest):
    def run_command(self, command):
        out = self.server.output("run_command", command=command, timeout_ms=600000, timeout=600)
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


@needs_sandbox
@needs_two_users
class Owners(unittest.TestCase):
    def test_root_works_where_only_its_privilege_lets_it(self):
        """As in a container with a directory of the host's user. Nothing else is kept, or becomes possible."""
        with tempfile.TemporaryDirectory() as place:
            os.chown(place, 65534, 65534)
            with contextlib.closing(Stdio(cwd=place)) as client:
                seen = output(client.call("run_command", command="touch made && grep CapEff /proc/self/status"))
                self.assertEqual(seen["stdout"].split()[-1], "%016x" % (1 << 1), seen)
                seen = output(client.call("run_command", command="touch made && chown 1 made"))
                self.assertNotEqual(seen["exit_code"], 0)


@needs_sandbox
@unittest.skipUnless(machine.mounts(), "this machine gives no mount namespaces")
class Shared(unittest.TestCase):
    def test_a_shared_directory_keeps_its_permissions(self):
        """/tmp, which commands usually have for themselves, may be the workspace. Here it is a mount of our own."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "run_command", "arguments": {"command": "echo hi > there"}}}
        # The program itself may lie below /tmp.
        script = ("exec 3<\"$0\" && mount -t tmpfs none /tmp && chmod 1777 /tmp && cd /tmp && "
                  "/proc/self/fd/3 mcp --sandbox workspace && stat -c %a . && cat there")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, BIN], input=json.dumps(call) + "\n", capture_output=True,
                              text=True, env=environment(), check=False)
        self.assertEqual(done.stdout.splitlines()[1:], ["1777", "hi"], done)


if __name__ == "__main__":
    unittest.main()
