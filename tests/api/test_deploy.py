"""deploy/: units, images and manifests are what the tools that read them expect."""
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import SidecarTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
CHECK = ROOT / "tests/deploy"


class Units(unittest.TestCase):
    """In a root of their own, so that nothing depends on what this machine has installed."""

    def setUp(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        temporary = tempfile.TemporaryDirectory(prefix="sidecar-test-")
        self.addCleanup(temporary.cleanup)
        self.root = temporary.name
        units = os.path.join(self.root, "etc/systemd/system")
        vendor = os.path.join(self.root, "lib/systemd/system")
        for directory in (units, vendor, os.path.join(self.root, "usr/bin")):
            os.makedirs(directory)
        for pattern in ("*.target", "*.slice"):
            for path in pathlib.Path("/lib/systemd/system").glob(pattern):
                if path.is_file():
                    shutil.copy(path, vendor)
        for name in ("sidecar.service", "sidecar.socket"):
            shutil.copy(DEPLOY / "systemd" / name, units)
        shutil.copy("/bin/true", self.root + "/usr/bin/sidecar")

    def analyze(self, *words):
        done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0"})
        if "Unknown" in done.stderr and "--offline" in done.stderr or "unrecognized option" in done.stderr:
            self.skipTest("this systemd-analyze is too old")
        return done

    def test_verify(self):
        done = self.analyze("verify", "--man=no", "--root=" + self.root, "sidecar.service", "sidecar.socket")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_exposure(self):
        done = self.analyze("security", "--offline=true", "--root=" + self.root, "sidecar.service")
        level = re.search(r"Overall exposure level for sidecar.service: ([\d.]+)", done.stdout)
        self.assertIsNotNone(level, done.stderr)
        self.assertLessEqual(float(level[1]), 2.7)  # for one call of the group @debug, pidfd_getfd, 0.4 are counted

    def test_what_the_server_calls_is_allowed(self):
        """Without one of these it makes a weaker sandbox, or none."""
        wanted = {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp", "mount",
                  "openat2", "pidfd_getfd", "pidfd_open", "pidfd_send_signal", "process_vm_readv"}
        allowed, sets = set(), {}
        for block in self.analyze("syscall-filter").stdout.split("\n\n"):
            name, *members = [line.strip() for line in block.splitlines() if not line.strip().startswith("#")] or [""]
            sets[name] = members

        def expand(name):
            return {name} if not name.startswith("@") else {c for member in sets[name] for c in expand(member)}
        for line in (DEPLOY / "systemd/sidecar.service").read_text().splitlines():
            for name in line.partition("=")[2].split() if line.startswith("SystemCallFilter=") else ():
                if name.startswith("~"):
                    break  # what follows is taken away, in groups that have none of these
                allowed |= expand(name)
        self.assertEqual(wanted - allowed, set())

    def test_what_must_be_left_out(self):
        settings = [line for line in (DEPLOY / "systemd/sidecar.service").read_text().splitlines()
                    if not line.startswith("#")]
        for name in ("RestrictSUIDSGID", "MemoryDenyWriteExecute", "PrivateUsers", "RestrictNamespaces", "DynamicUser"):
            self.assertFalse([line for line in settings if line.startswith(name)], name)


class Settings(unittest.TestCase):
    """A variable that a file sets is one that the program knows."""

    def test_variables_exist(self):
        known = set(re.findall(r'"([A-Z][A-Z0-9_]+)"', (ROOT / "src/config/settings.c").read_text()))
        known |= {"SOURCE_DATE_EPOCH"}
        for path in sorted(DEPLOY.rglob("*")):
            if path.is_file():
                for name in re.findall(r"\b(?:SIDECAR_[A-Z_]+|WORKSPACE_ROOT|SOCKET_PATH|TCP_[A-Z]+)\b", path.read_text()):
                    self.assertIn(name, known, path)


    def test_the_time_to_stop_is_as_long_as_the_server_may_take(self):
        after = int(re.search(r"LIMIT_STOP_MS = (\d+)", (ROOT / "src/api/limits.h").read_text())[1]) / 1000
        grace = int(re.search(r"--grace SECONDS.*default (\d+)", (ROOT / "docs/guide.md").read_text())[1])
        for name, setting in (("systemd/sidecar.service", r"TimeoutStopSec=(\d+)"),
                              ("docker/compose.yaml", r"stop_grace_period: (\d+)s")):
            self.assertGreater(int(re.search(setting, (DEPLOY / name).read_text())[1]), grace + after, name)


class Images(unittest.TestCase):
    def test_they_are_named_by_digest(self):
        """In a copy of the tree, with a registry that knows one digest."""
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as top:
            for name in ("deploy", ".github", "scripts"):
                shutil.copytree(ROOT / name, os.path.join(top, name))
            fake = pathlib.Path(top, "skopeo")
            fake.write_text("#!/bin/sh\necho \"$4\" >> %s/asked; echo sha256:%s\n" % (top, "0a" * 32))
            fake.chmod(0o755)

            def images(*words, path=top + ":" + os.environ["PATH"]):
                return subprocess.run([os.path.join(top, "scripts/images"), *words], capture_output=True, text=True, check=False,
                                      env={"PATH": path})
            self.assertEqual(images("--pin").returncode, 0)
            self.assertEqual((images().returncode, images().stdout), (0, ""))
            self.assertNotIn("coding-sidecar", pathlib.Path(top, "asked").read_text())
            text = pathlib.Path(top, "deploy/docker/Dockerfile").read_text()
            self.assertEqual(len(re.findall(r"^FROM debian:12-slim@sha256:(?:0a){32} AS ", text, re.M)), 2)
            self.assertIn("FROM scratch AS", text)
            self.assertEqual(images("--pin=own").returncode, 0)
            self.assertIn("sidecar:0.1.0@sha256:", pathlib.Path(top, "deploy/kubernetes/sidecar.yaml").read_text())
            fake.write_text("#!/bin/sh\necho no network >&2; exit 1\n")
            pathlib.Path(top, "deploy/docker/Dockerfile").write_text("FROM debian:12-slim AS build\n")
            self.assertEqual((images("--pin").returncode, images().returncode), (1, 1))
            self.assertIn("no network", images("--pin").stderr)

    def test_nothing_is_published_with_a_token_that_lasts(self):
        for path in (ROOT / ".github/workflows").glob("*.yml"):
            self.assertNotIn("secrets.", path.read_text(), path)


class Fleet(SidecarTest):
    def test_the_router_is_let_in(self):
        text = (DEPLOY / "kubernetes/agent-sandbox.yaml").read_text()
        env = dict(re.findall(r'- name: ([A-Z_]+)\n +value: "?([^"\n#]*?)"?(?: #.*)?\n', text))
        self.assertEqual(env["TCP_PORT"], "8888")
        self.assertNotIn("SIDECAR_AUTH_TOKEN", text)  # what is in the environment, commands can read
        # Each pod makes its own, as the template says.
        [make] = re.findall(r'command: \["sh", "-c", ("umask.*")\]\n', text)
        self.assertEqual(env["SIDECAR_TOKEN_FILE"], "/run/token/token")
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as place:
            made = []
            for _ in range(2):
                subprocess.run(["sh", "-c", json.loads(make).replace("/run/token", place)], check=True)
                made.append(pathlib.Path(place, "token").read_text())
            self.assertNotEqual(*made)
            self.assertRegex(made[1], r"\A[A-Za-z0-9+/]{43}\Z")
            self.assertEqual(pathlib.Path(place, "token").stat().st_mode & 0o777, 0o600)
            self.serve_a_fleet({**env, "SIDECAR_TOKEN_FILE": place + "/token"}, made[1])

    def serve_a_fleet(self, env, secret):
        server = self.start(env={**{name: env[name] for name in env if name.startswith("SIDECAR_")},
                                 "TCP_HOST": "127.0.0.1", "TCP_PORT": "0"})
        token = {"X-Sidecar-Token": secret}
        port = int(server.request("GET", "/health", headers=token).json()["tcp"].rsplit(":", 1)[1])
        for headers, status in ((token, 200), ({}, 403)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/v1/health", headers={"Host": "session-1.default.svc:8888", **headers})
            self.assertEqual(connection.getresponse().status, status)
            connection.close()


class Schemas(unittest.TestCase):
    def setUp(self):
        if not shutil.which("npm"):
            self.skipTest("npm is not installed")
        if (CHECK / "node_modules/kubernetes-models").is_dir():
            return
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=CHECK,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(CHECK / "node_modules", ignore_errors=True)
            self.skipTest("npm cannot install the published schemas: " + done.stderr[-200:])

    def test_published_schemas(self):
        done = subprocess.run(["node", str(CHECK / "check.mjs")], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
