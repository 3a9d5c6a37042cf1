"""Real work in the sandbox: a C project is compiled, a package installed from the registry."""
import base64
import contextlib
import gzip
import hashlib
import http.server
import io
import json
import os
import ssl
import subprocess
import tarfile
import tempfile
import threading
import unittest
import zipfile

from harness import BIN, ROOT, SandboxTest, SidecarTest, environment, machine, needs_sandbox, needs_two_users
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


class Registry(http.server.BaseHTTPRequestHandler):
    """One package, as npm and pip ask for it."""
    asked = []
    wheel = "leaf-1.0.0-py3-none-any.whl"

    def archive(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            text = b'{"name": "leaf", "version": "1.0.0"}'
            member = tarfile.TarInfo("package/package.json")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
        return gzip.compress(out.getvalue(), mtime=0)

    def wheel_of(self):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as z:
            for name, text in (("METADATA", "Metadata-Version: 2.1\nName: leaf\nVersion: 1.0.0\n"), ("RECORD", ""),
                               ("WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")):
                z.writestr(zipfile.ZipInfo("leaf-1.0.0.dist-info/" + name), text)
        return out.getvalue()

    def do_GET(self):  # pylint: disable=invalid-name
        self.asked.append(self.path)
        if self.path == "/leaf":
            digest = base64.b64encode(hashlib.sha512(self.archive()).digest()).decode()
            dist = {"tarball": "http://%s/leaf.tgz" % self.headers["Host"], "integrity": "sha512-" + digest}
            version = {"name": "leaf", "version": "1.0.0", "dist": dist}
            body = json.dumps({"name": "leaf", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}).encode()
        else:
            body = {"/leaf.tgz": self.archive, "/" + self.wheel: self.wheel_of}.get(
                self.path, lambda: b'<a href="/%s">leaf</a>' % self.wheel.encode())()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/html" if body.startswith(b"<") else "application/octet-stream")
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


@needs_sandbox
class Caches(SidecarTest):
    """What a tool has fetched in one session, it has in the next."""

    def setUp(self):
        self.home, self.base, self.work = (self.enterContext(tempfile.TemporaryDirectory(dir="/var/tmp")) for _ in range(3))
        self.registry = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
        self.addCleanup(self.registry.server_close)
        thread = threading.Thread(target=self.registry.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.registry.shutdown)
        self.url = "http://127.0.0.1:%d" % self.registry.server_port
        Registry.asked.clear()

    def session(self, command):
        server = self.start(env={"SIDECAR_SANDBOX": "workspace", "HOME": self.home, "SIDECAR_CACHE": self.base}, workspace=self.work)
        out = server.output("run_command", command=command, timeout_ms=600000, timeout=600)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(out["exit_code"], 0, out)
        return out["stdout"]

    @unittest.skipUnless(machine.tool("npm"), "npm is not installed")
    def test_a_second_npm_ci_asks_nobody(self):
        self.session('echo "{}" > package.json && npm install --no-update-notifier --no-audit --no-fund --registry=%s leaf' % self.url)
        self.assertEqual(Registry.asked, ["/leaf", "/leaf.tgz"])
        self.session("rm -r node_modules && npm ci --no-update-notifier --no-audit --no-fund --registry=%s && ls node_modules/leaf" % self.url)
        self.assertEqual(Registry.asked, ["/leaf", "/leaf.tgz"])

    @unittest.skipUnless(machine.tool("pip"), "pip is not installed")
    @unittest.skipUnless(machine.tool("openssl"), "openssl is not installed")
    def test_a_second_pip_asks_only_the_index(self):
        # Without TLS pip keeps nothing.
        key, cert = (os.path.join(self.work, name) for name in ("key.pem", "cert.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.registry.socket = context.wrap_socket(self.registry.socket, server_side=True)
        for i in range(2):
            self.session("pip download --disable-pip-version-check --cert cert.pem --index-url %s/simple -d got%d leaf && ls got%d/*.whl"
                         % (self.url.replace("http:", "https:"), i, i))
        self.assertEqual(Registry.asked.count("/" + Registry.wheel), 1, Registry.asked)
        self.assertEqual(Registry.asked.count("/simple/leaf/"), 2)


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
