"""The sandbox, by trying: each attempt is made by a real program, must fail where the sandbox holds
it, and must succeed without a sandbox, so that it is known to be an attempt at all.

programs/attempts.py makes them. Whatever it may touch belongs to this test: a directory beside the
workspace, a process, sockets.
"""
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import unittest

from harness import BIN, Sidecar, environment, machine, needs_namespaces, needs_sandbox, run_expecting_failure
from processes import PYTHON, below

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
ATTEMPTS = (PROGRAMS / "attempts.py").read_text()

# Held with namespaces only; docs/security.md says so.
NAMESPACES = {"Files.change_mode_by_a_descriptor"}
# Descriptors of the server are not inherited by any command.
NEVER = {"Machine.an_inherited_descriptor"}
# May fail without a sandbox as well: another kernel, another user, or a container.
MAYBE = {"Machine.type_into_a_terminal", "Machine.io_uring", "Machine.add_key", "Machine.keyrings", "Machine.bpf",
         "Machine.kcmp", "Files.change_attributes", "Machine.unshare_user", "Machine.open_a_tree_of_mounts",
         "Machine.open_a_tree_with_attributes"}
ROOT = {"Machine.mount", "Machine.unshare_mounts", "Machine.raw_socket", "Machine.packet_socket",
        "Machine.give_a_file_away", "Machine.make_a_device", "Machine.open_a_kernel_setting",
        "Machine.become_another_user", "Secrets.shadow", "Secrets.what_not_everybody_may_read"}
# From Linux 6.12 on; before, with namespaces only.
SCOPED = {"Machine.signal_another", "Machine.signal_the_server", "Machine.signal_by_pidfd", "Machine.abstract_socket"}


def has_all_rights():
    """Whether we are root, and not the root of a container, which has few capabilities."""
    status = pathlib.Path("/proc/self/status").read_text()
    return os.geteuid() == 0 and int(re.search(r"CapEff:\t(\w+)", status)[1], 16) >> 21 & 1 == 1  # CAP_SYS_ADMIN


class Place:
    """What is outside: files, a process, sockets; and a directory for the workspace beside it."""

    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.workspace = os.path.join(self.base, "ws")
        self.outside = os.path.join(self.base, "outside")
        self.home = os.path.join(self.base, "home/another")
        self.stack = contextlib.ExitStack()
        self.victim = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL)
        self.tcp, self.unix, self.abstract = (self.listen(f, a) for f, a in (
            (socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, os.path.join(self.base, "another.sock")),
            (socket.AF_UNIX, "\0sidecar-test-%d" % os.getpid())))
        self.udp = self.stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        self.datagram = self.stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.datagram.bind(os.path.join(self.base, "datagram.sock"))
        threading.Thread(target=self.echo, daemon=True).start()

    def listen(self, family, address):
        s = self.stack.enter_context(socket.socket(family))
        s.bind(address)
        s.listen(64)
        return s

    def echo(self):
        with contextlib.suppress(OSError):
            while True:
                data, sender = self.udp.recvfrom(100)
                self.udp.sendto(data, sender)

    def renew(self):
        """As it was before any attempt."""
        for path in (self.workspace, self.outside, self.home):
            shutil.rmtree(path, ignore_errors=True)
        names = {line.split("(")[0].split()[-1] for line in ATTEMPTS.splitlines() if line.startswith("    def ")}
        for name in names | {"root-of-another", "secret", "inherited"}:
            os.makedirs(os.path.join(self.outside, name))
            pathlib.Path(self.outside, name, "file").write_text("untouched")
        os.makedirs(os.path.join(self.home, ".ssh"))
        pathlib.Path(self.home, ".ssh", "id").write_text("key")
        os.makedirs(self.workspace)
        for name in ("existing", "renamed", "removed"):
            pathlib.Path(self.workspace, name).write_text("untouched")

    def touched(self):
        """What outside is not as it was."""
        found = []
        for top, _, files in os.walk(self.outside):
            path = os.path.join(top, "file")
            if top == self.outside:
                continue
            if files != ["file"] or pathlib.Path(path).read_text() != "untouched" or os.stat(path).st_mode & 0o4000:
                found.append(os.path.relpath(top, self.outside))
        return found

    def context(self, server):
        context = {
            "outside": self.outside, "home": self.home, "victim": self.victim.pid, "server": server.process.pid,
            "tcp": self.tcp.getsockname()[1], "udp": self.udp.getsockname()[1], "pathname": self.unix.getsockname(),
            "datagram": self.datagram.getsockname(), "abstract": self.abstract.getsockname()[1:].decode(),
            "socket": server.socket, "address": victim_address(self.victim.pid),
            "spawner": next(pid for pid, comm in below(server.process.pid) if comm == "sidecar-spawner"),
        }
        return context

    def close(self):
        self.victim.kill()
        self.victim.wait()
        self.stack.close()
        shutil.rmtree(self.base, ignore_errors=True)


def victim_address(pid):
    """Some address that can be read."""
    return int(pathlib.Path("/proc/%d/maps" % pid).read_text().split("-", 1)[0], 16)


@needs_sandbox
class Trials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.close)
        cls.free = cls.attempt_all("off", observe="off")[0]  # observing takes some calls away, too

    @classmethod
    def attempt_all(cls, mode, launcher=(), **settings):
        """(what became of each attempt, what /health says of the sandbox, the log)"""
        cls.place.renew()
        env = {"SIDECAR_" + name.upper(): value for name, value in {"sandbox": mode, **settings}.items()}
        env["SOCKET_PATH"] = os.path.join(cls.place.base, "server.sock")
        # A descriptor that leads out, which the server itself inherits.
        leak = ["sh", "-c", 'exec "$@" 9<"$0"', os.path.join(cls.place.outside, "inherited")]
        server = Sidecar(env=env, workspace=cls.place.workspace, prefix=[*leak, *launcher])
        try:
            server.call("bash", command="true")  # the keeper and the spawner run now
            server.put("attempts.py", ATTEMPTS)
            server.put("context.json", json.dumps(cls.place.context(server)))
            answer = server.call("bash", command="%s attempts.py context.json" % PYTHON, timeoutSeconds=120)
            events = [json.loads(line) for line in answer.body.decode().splitlines()]
            text = {name: "".join(e["data"] for e in events if e.get("stream") == name) for name in ("stdout", "stderr")}
            assert events[-1].get("exitCode") == 0, (events[-1], text["stderr"])
            health = server.request("GET", "/health").json()
            return json.loads(text["stdout"]), health["sandbox"], server.log()
        finally:
            server.close()

    def sandboxed(self, mode, launcher=(), **settings):
        results, sandbox, log = self.attempt_all(mode, launcher, **settings)
        facts = {p["name"]: p for p in sandbox["protections"]}
        return results, sandbox, facts, log

    def held(self, results, groups, besides=()):
        """Every attempt of these groups failed, but for those named."""
        for name, why in results.items():
            if name.split(".")[0] not in groups:
                continue
            with self.subTest(name):
                if name in besides:
                    self.assertIsNone(why, "held, though it is not promised")
                else:
                    self.assertIsNotNone(why, "succeeded")

    def fine(self, results, groups, besides=()):
        for name, why in results.items():
            if name.split(".")[0] in groups and name not in besides:
                with self.subTest(name):
                    self.assertIsNone(why)

    def test_without_a_sandbox_every_attempt_succeeds(self):
        untried = MAYBE | NEVER | (set() if has_all_rights() else ROOT)
        self.fine(self.free, ("Files", "Machine", "Network", "Secrets", "Inside", "Ordinary"), untried)
        self.assertIsNotNone(self.free["Machine.an_inherited_descriptor"])
        if failed := sorted(name for name in untried - NEVER if self.free[name] is not None):
            self.skipTest("not possible here even without a sandbox: " + ", ".join(failed))

    @needs_namespaces
    def test_workspace(self):
        results, _, facts, _ = self.sandboxed("workspace", network="none")
        self.held(results, ("Files", "Machine", "Network"))
        self.fine(results, ("Inside", "Ordinary"))
        self.assertEqual(self.place.touched(), [])
        self.assertEqual({f["name"] for f in facts.values() if not f["inForce"]}, {"read-only-workspace"})

    @needs_namespaces
    def test_workspace_with_a_network(self):
        results, _, _, _ = self.sandboxed("workspace")
        self.held(results, ("Files", "Machine"))
        foreign = {"Network." + name for name in ("socket_of_another", "datagram_to_another", "datagram_under_another_type")}
        self.fine(results, ("Network", "Inside", "Ordinary"), foreign)
        self.held({name: why for name, why in results.items() if name in foreign}, ("Network",))

    def test_workspace_without_namespaces(self):
        """As in a default container: the floor is in force, and what it cannot stop is reported."""
        launcher = [PYTHON, str(PROGRAMS / "without_namespaces.py")]
        results, sandbox, facts, log = self.sandboxed("workspace", launcher, network="none")
        self.assertFalse(sandbox["namespaces"])
        self.assertIn("without namespaces", sandbox["why"])
        weak = {name for name in NAMESPACES if self.free[name] is None}
        weak |= {name for name in SCOPED if not facts["signals-scoped"]["inForce"]}
        self.held(results, ("Files", "Machine", "Network"), weak)
        self.fine(results, ("Inside", "Ordinary"))
        self.assertEqual(set(self.place.touched()), {"change_mode_by_a_descriptor"})
        for name in ("read-only-mounts", "processes-hidden", "private-tmp"):
            self.assertFalse(facts[name]["inForce"])
            self.assertIn("without namespaces", facts[name]["note"])
            self.assertIn(facts[name]["note"], log)
        strict = subprocess.run([*launcher, BIN, "serve", "--workspace", self.place.workspace, "--sandbox", "strict",
                                 "--socket", os.path.join(self.place.base, "never.sock")], stdin=subprocess.DEVNULL,
                                env=environment(), capture_output=True, check=False)
        self.assertEqual(strict.returncode, 1)
        self.assertIn(b"use --sandbox=workspace", strict.stderr)

    @needs_namespaces
    def test_workspace_without_landlock(self):
        """As on Linux 5.10, which has no mount_setattr either: the namespaces hold alone."""
        for calls in ("landlock_create_ruleset=ENOSYS", "landlock_create_ruleset=EOPNOTSUPP,mount_setattr=ENOSYS"):
            launcher = [PYTHON, str(PROGRAMS / "refused_calls.py"), calls]
            results, sandbox, facts, log = self.sandboxed("workspace", launcher, network="none")
            self.assertTrue(sandbox["namespaces"])
            self.held(results, ("Files", "Machine", "Network"))
            self.fine(results, ("Inside", "Ordinary"))
            self.assertEqual(self.place.touched(), [])
            missing = {"landlock", "read-only-workspace", "signals-scoped"}
            self.assertEqual({f["name"] for f in facts.values() if not f["inForce"]}, missing)
            self.assertIn(facts["landlock"]["note"], log)

    @needs_namespaces
    def test_without_landlock_nothing_leads_out(self):
        """What only rules would hold: devices, settings of the kernel, and descriptors of the processes above a command."""
        launcher = [PYTHON, str(PROGRAMS / "refused_calls.py"), "landlock_create_ruleset=ENOSYS"]
        self.place.renew()
        node = os.path.join(self.place.outside, "null")
        if machine.root():
            os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", "SOCKET_PATH": os.path.join(self.place.base, "server.sock")},
                         workspace=self.place.workspace, prefix=launcher)
        self.addCleanup(server.close)
        server.put("look.py", (PROGRAMS / "without_rules.py").read_text())
        seen = server.output("run_command", command="", argv=[PYTHON, "look.py", "in-a-sandbox", node])
        self.assertEqual(seen["exit_code"], 0, seen["stderr"])
        self.assertEqual(json.loads(seen["stdout"]), {"opened": [], "above": ["sidecar-reaper", "sidecar-spawner"], "works": True})

    @needs_namespaces
    def test_without_landlock_what_cannot_be_had_is_an_error(self):
        refused = [PYTHON, str(PROGRAMS / "refused_calls.py"), "landlock_create_ruleset=ENOSYS"]
        neither = [*refused, PYTHON, str(PROGRAMS / "without_namespaces.py")]
        for launcher, mode, said in ((refused, "strict", "use a kernel that has it, or --sandbox=workspace"),
                                     (neither, "workspace", "does not give namespaces")):
            done = subprocess.run([*launcher, BIN, "serve", "--workspace", self.place.workspace, "--sandbox", mode,
                                   "--socket", os.path.join(self.place.base, "never.sock")], stdin=subprocess.DEVNULL,
                                  env=environment(), capture_output=True, check=False, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no Landlock", done.stderr)
            self.assertIn(said, done.stderr)

    def test_no_memory_of_the_server_has_a_name(self):
        """Without namespaces commands share /dev/shm: what the server trusts must not lie there."""
        launcher = [PYTHON, str(PROGRAMS / "without_namespaces.py")]
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace"}, prefix=launcher)
        self.addCleanup(server.close)
        maps = pathlib.Path("/proc/%d/maps" % server.process.pid).read_text().splitlines()
        shared = [line.split(None, 5) for line in maps if line.split()[1] == "rw-s"]
        self.assertEqual([m[5] for m in shared if len(m) > 5 and os.path.exists(m[5])], [])

    def private_tmp(self, socket_path=None):
        """A server whose workspace lies in the /tmp that commands have for themselves."""
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace",
                              "SOCKET_PATH": socket_path or os.path.join(self.place.base, "server.sock")})
        self.addCleanup(server.close)
        self.assertTrue(server.request("GET", "/health").json()["sandbox"]["namespaces"])
        return server

    def after_restart(self, server):
        """Kills the spawner, and returns what the next commands see."""
        spawner = next(pid for pid, comm in below(server.process.pid) if comm == "sidecar-spawner")
        ended = os.pidfd_open(spawner)
        os.kill(spawner, signal.SIGKILL)
        select.select([ended], [], [])
        os.close(ended)
        bodies = [server.call("bash", command="cat /proc/1/comm").body for _ in range(6)]
        # Without namespaces the reaper that was ready may still take one.
        while re.search(rb"died while|cannot be entered", bodies[0]):
            bodies.pop(0)
        return bodies

    @needs_namespaces
    def test_the_servers_own_files_are_hidden(self):
        """A command sees neither the token nor the record of calls nor what the journal has kept."""
        own = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, own, True)
        token = pathlib.Path(own, "token")
        token.write_text("not for commands\n")
        token.chmod(0o600)
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", "SIDECAR_TOKEN_FILE": str(token), "SIDECAR_REQUIRE_AUTH": "false",
                              "SIDECAR_AUDIT": own + "/audit", "XDG_STATE_HOME": own})
        self.addCleanup(server.close)
        for content in ("kept by the journal", "new"):
            server.result("write", path="f", content=content)
        seen = server.call("bash", command="cat %s/token %s/audit; find %s -type f -exec cat {} +" % (own, own, own)).body
        self.assertIn(b'"exitCode":', seen)
        for secret in (b"not for commands", b"write", b"kept by the journal"):
            self.assertNotIn(secret, seen)
        kept = b"".join(p.read_bytes() for p in pathlib.Path(own).rglob("*.log"))
        self.assertIn(b"kept by the journal", kept, "the journal is where the command has looked")

    @needs_namespaces
    def test_a_spawner_started_again_is_not_weaker(self):
        """Whatever an earlier command left in the private /tmp, where mounts have their places."""
        server = self.private_tmp()
        self.assertIn(b'"exitCode":0', server.call("bash", command="mkdir /tmp/.sealed").body)
        for body in self.after_restart(server):
            self.assertIn(b"sidecar-spawner", body)

    @needs_namespaces
    def test_a_sandbox_that_cannot_be_made_again_runs_nothing(self):
        server = self.private_tmp()
        os.rename(server.workspace, str(server.workspace) + "-away")
        pathlib.Path(server.workspace).touch()
        for body in self.after_restart(server):
            self.assertRegex(body, rb"could not be made again|cannot be reached any more")

    def test_a_link_does_not_lead_a_new_spawner_out(self):
        """One that a command puts where a directory of the configuration was, inside of another that it may write."""
        for launcher in ([], [PYTHON, str(PROGRAMS / "without_namespaces.py")]):
            with self.subTest(launcher):
                self.place.renew()
                data = os.path.join(self.place.workspace, "held", "data")
                server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", "DATA_DIR": data,
                                      "SOCKET_PATH": os.path.join(self.place.base, "server.sock")},
                                 workspace=self.place.workspace, prefix=launcher)
                with contextlib.closing(server):
                    planted = "mv held away && mkdir held && ln -s %s/secret held/data" % self.place.outside
                    self.assertIn(b'"exitCode":0', server.call("bash", command=planted).body)
                    self.assertIn(b'"exitCode":0', self.after_restart(server)[-1])
                    through = server.call("bash", command="echo changed > held/data/file").body
                    self.assertNotIn(b'"exitCode":0', through)
                    self.assertEqual(self.place.touched(), [])

    def test_a_link_does_not_lead_a_new_server_out(self):
        """The same where the server itself was started again since."""
        self.place.renew()
        link = os.path.join(self.place.workspace, "link")
        os.symlink(os.path.join(self.place.outside, "secret"), link)
        env = {"WORKSPACE_ROOT": self.place.workspace, "SOCKET_PATH": os.path.join(self.place.base, "server.sock")}
        status, said = run_expecting_failure({**env, "DATA_DIR": link, "SIDECAR_SANDBOX": "off"})
        self.assertEqual(status, 1)
        self.assertIn("leads out of the workspace by a link", said)
        server = Sidecar(env={**env, "SIDECAR_SANDBOX": "workspace", "SIDECAR_SANDBOX_WRITE": link},
                         workspace=self.place.workspace)
        with contextlib.closing(server):
            self.assertNotIn(b'"exitCode":0', server.call("bash", command="echo changed > link/file").body)
            self.assertEqual(self.place.touched(), [])

    def test_what_the_sandbox_leaves_out_is_said(self):
        self.place.renew()
        link, missing = os.path.join(self.place.workspace, "link"), os.path.join(self.place.base, "missing")
        os.symlink(os.path.join(self.place.outside, "secret"), link)
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", "SIDECAR_SANDBOX_WRITE": link + ":" + missing,
                              "SOCKET_PATH": os.path.join(self.place.base, "server.sock")},
                         workspace=self.place.workspace)
        with contextlib.closing(server):
            for path, why in ((link, "by a link"), (missing, "does not exist")):
                line = server.wait_for_log(lambda line, path=path: line.get("path") == path)
                self.assertEqual((line["level"], line["setting"]), ("warn", "SIDECAR_SANDBOX_WRITE"))
                self.assertIn(why, line["why"])

    @needs_namespaces
    def test_a_link_that_commands_do_not_see_is_said(self):
        top = tempfile.mkdtemp(prefix="sidecar-test-", dir="/tmp")
        self.addCleanup(shutil.rmtree, top, True)
        beyond = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, beyond, True)
        link = os.path.join(top, "link")
        os.symlink(beyond, link)
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace", "SIDECAR_SANDBOX_WRITE": link + ":" + beyond + "/"})
        with contextlib.closing(server):
            line = server.wait_for_log(lambda line: line.get("path") == link)
            self.assertEqual((line["level"], line["name"]), ("warn", beyond))
            self.assertIn(b'"exitCode":0', server.call("bash", command="touch %s/f" % line["name"]).body)
            self.assertNotIn('"path":"%s/"' % beyond, server.log())

    @needs_namespaces
    def test_a_link_by_the_name_of_the_socket_hides_nothing_else(self):
        server = self.private_tmp(socket_path="/tmp/%s/server.sock" % os.path.basename(self.place.base))
        parent = os.path.dirname(server.socket)
        self.addCleanup(shutil.rmtree, parent, True)
        planted = "mkdir -p %s && ln -s /usr/bin %s" % (parent, server.socket)
        self.assertIn(b'"exitCode":0', server.call("bash", command=planted).body)
        for body in self.after_restart(server):
            self.assertIn(b"sidecar-spawner", body)

    @needs_namespaces
    def test_the_place_of_the_workspace_stays(self):
        """No command takes the workspace away from the next one."""
        server = self.private_tmp()
        parent = str(server.dir)
        for attempt in ("mv %s %s-away" % (parent, parent), "rm -r %s/*" % parent, "touch %s/new" % parent,
                        "mv %s/ws %s/away" % (parent, parent)):
            with self.subTest(attempt):
                self.assertNotIn(b'"exitCode":0', server.call("bash", command=attempt).body)
                self.assertIn(b'"exitCode":0', server.call("bash", command="touch still-here").body)

    @needs_namespaces
    def test_no_command_is_locked_out_by_an_earlier_one(self):
        """The private directories are the commands' own: they may change the permissions, for themselves."""
        server = self.private_tmp()
        for _ in range(2):
            self.assertIn(b'"exitCode":0', server.call("bash", command="chmod 0 /tmp /dev/shm").body)
            self.assertIn(b'"exitCode":0', server.call("bash", command="touch here /tmp/there /dev/shm/there").body)
        self.assertIn(b'"exitCode":0', server.call("bash", command="chmod 0 /tmp /dev/shm").body)
        for body in self.after_restart(server):
            self.assertIn(b"sidecar-spawner", body)

    def test_no_command_is_locked_out_without_namespaces(self):
        server = Sidecar(env={"SIDECAR_SANDBOX": "workspace"}, prefix=[PYTHON, str(PROGRAMS / "without_namespaces.py")])
        with contextlib.closing(server):
            self.assertIn(b'"exitCode":0', server.call("bash", command="chmod 0 $TMPDIR").body)
            self.assertIn(b'"exitCode":0', server.call("bash", command="touch $TMPDIR/there").body)

    @needs_namespaces
    def test_strict(self):
        results, _, _, _ = self.sandboxed("strict")
        self.held(results, ("Files", "Machine", "Network", "Secrets"))
        self.fine(results, ("Inside", "Ordinary"))
        self.assertEqual(self.place.touched(), [])

    def test_read_only(self):
        for mode in ("off", "workspace", "strict") if machine.namespaces() else ("off", "workspace"):
            with self.subTest(mode):
                results, sandbox, facts, _ = self.sandboxed(mode, read_only="true")
                self.assertTrue(facts["read-only-workspace"]["inForce"])
                self.held(results, ("Files", "Inside"), () if sandbox["namespaces"] else NAMESPACES)
                self.fine(results, ("Ordinary",))

    def test_read_only_without_namespaces(self):
        """Only the file rules protect the workspace then."""
        launcher = [PYTHON, str(PROGRAMS / "without_namespaces.py")]
        results, sandbox, facts, _ = self.sandboxed("workspace", launcher, read_only="true")
        self.assertFalse(sandbox["namespaces"])
        self.assertTrue(facts["read-only-workspace"]["inForce"])
        self.held(results, ("Files", "Inside"), {name for name in NAMESPACES if self.free[name] is None})
        self.fine(results, ("Ordinary",))


if __name__ == "__main__":
    unittest.main()
