# SPDX-License-Identifier: MIT
"""Every operation of the client that blocks, against the real program."""

import asyncio
import contextlib
import inspect
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import typing
import unittest
import unittest.mock

from server import MadeToken, Place, Recorder, free_port, running
import coding_sidecar
from coding_sidecar import PathNotAllowedError, AsyncClient, BashDone, BashOutput, Client, PrivateSidecar, SidecarError, program_path
from coding_sidecar.wire import Address
from coding_sidecar.operations import (
    TOOL_NAMES, BootEvent, CallEndEvent, CallStartEvent, GapEvent, ReadImage, ReadText, WriteResult)

CALLED = Recorder(Client)


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)
        self.server = self.place.serve()
        self.client = Client(self.place.socket_path, wait_for_ready=60)
        self.addCleanup(self.client.close)

    def fails(self, code, status, call, *args, **keywords):
        with self.assertRaises(SidecarError) as raised:
            call(*args, **keywords)
        self.assertEqual((raised.exception.code, raised.exception.status), (code, status), raised.exception)
        return raised.exception

    def until_gone(self, text):
        while running(text):
            time.sleep(0.02)


class Operations(ClientTest):
    def test_every_operation(self):
        document = self.client.openapi()
        for path, operations in document["paths"].items():
            for operation in operations.values():
                name = operation["operationId"]
                known = snake(name) in CALLED.names or (path == f"/tools/{name}" and name in TOOL_NAMES)
                self.assertTrue(known, f"{name}: run packages/generate")

    def test_files(self):
        client = self.client
        self.assertEqual(client.write("src/a.txt", "one\ntwo\n").bytes, 8)
        self.assertEqual(client.read("src/a.txt", offset=2, limit=1), ReadText("text", "two", 3, True))
        self.assertIn("-2 two", client.edit("src/a.txt", "two", "zwei").diff)
        self.assertEqual(client.ls().output, "src/")
        self.assertEqual(client.ls("src").output, "a.txt")
        self.assertEqual(client.find("*.txt").files, ["src/a.txt"])
        self.assertEqual(client.grep("zw").content, "src/a.txt:2: zwei")
        match, = client.search("one", globs=["*.txt"]).matches
        self.assertEqual((match.path, match.line, match.lines), ("src/a.txt", 1, ["one"]))
        client.write("dot.gif", "R0lGODlhAQABAAAAACw=", encoding="base64")
        self.assertIsInstance(client.read("dot.gif"), ReadImage)

    def test_names_and_what_is_allowed(self):
        c = self.client
        c.mkdir("names/deep", recursive=True)
        c.write("names/a.bin", "AAEC", encoding="base64")
        self.assertEqual(c.read("names/a.bin", encoding="base64").data, "AAEC")
        self.assertEqual(c.copy("names/a.bin", "names/b.bin").path, "names/b.bin")
        self.assertIsNotNone(c.rename("names/b.bin", "names/c.bin").path)
        self.assertEqual((c.stat("names/c.bin").type, c.stat("names/c.bin").size), ("file", 3))
        self.assertFalse(c.exists("names/b.bin").exists)
        self.fails("DIRECTORY_NOT_EMPTY", 400, c.remove, "names")
        c.remove("names", recursive=True)
        root = c.get_allowed_paths().paths[0]
        self.assertEqual(c.validate_path("x").path, root + "/x")
        with self.assertRaises(PathNotAllowedError) as caught:
            c.validate_path("/etc/passwd")
        self.assertEqual(caught.exception.code, "PATH_OUTSIDE_WORKSPACE")
        self.assertRaises(PathNotAllowedError, c.read, "../x")
        self.assertEqual((c.is_path_allowed("x"), c.is_path_allowed("/etc/passwd")), (True, False))
        self.assertEqual((c.is_command_blocked("ls"), c.is_command_blocked("sudo ls")), (False, True))
        self.assertFalse(c.policy("ls").blocked)
        self.assertEqual(c.get_tool_by_name("edit_file")["function"]["name"], "edit_file")
        self.fails("UNKNOWN_TOOL", 404, c.get_tool_by_name, "none")

    def test_patch(self):
        patch = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n"
        self.assertEqual([(one.path, one.kind) for one in self.client.patch(patch).files], [("new.txt", "created")])
        self.fails("INVALID_PATCH", 400, self.client.patch, "no patch")

    def test_errors(self):
        self.fails("FILE_NOT_FOUND", 400, self.client.read, "none")
        self.fails("PATH_OUTSIDE_WORKSPACE", 400, self.client.read, "../none")
        self.fails("INVALID_REGEX", 400, self.client.grep, "(")
        self.fails("INVALID_ARGUMENTS", 400, self.client.bash, [])
        self.fails("NOT_READY", None, Client("/nowhere/s").health)
        for options, message in (
                ({}, "Give socket_path or url; neither is set"),
                ({"socket_path": "/a", "url": "http://b"}, "Give socket_path or url, not both"),
                ({"url": "ftp://b"}, "url must be http://HOST:PORT or https://HOST:PORT, not 'ftp://b'"),
                ({"url": "http://b:x"}, "url must be http://HOST:PORT or https://HOST:PORT, not 'http://b:x'"),
                ({"url": "http://" + "x" * 64}, "url must be http://HOST:PORT or https://HOST:PORT, not 'http://" + "x" * 64 + "'"),
                ({"socket_path": 5}, "socket_path must be a path that is not empty, not 5"),
                ({"socket_path": "/a", "token": "a b"}, "token must be visible ASCII characters without blanks"),
                ({"socket_path": "/a", "token": 5}, "token must be visible ASCII characters without blanks"),
                ({"socket_path": "/a", "session": 5}, "session must be a string, not 5"),
                ({"socket_path": "/a", "timeout": "5"}, "timeout must be a number of seconds, 0 or more, not '5'"),
                ({"socket_path": "/a", "wait_for_ready": -1}, "wait_for_ready must be a number of seconds, 0 or more, not -1")):
            for kind in (Client, AsyncClient):
                self.assertEqual(str(self.fails("INVALID_CONFIG", None, kind, **options)), message)

    def test_server(self):
        health = self.client.health()
        self.assertEqual((health.ok, health.workspace), (True, str(self.place.workspace)))
        self.assertEqual((health.sandbox.mode in ("off", "workspace"), health.journal.on, health.more), (True, True, {}))
        self.assertTrue(self.client.ui().lower().startswith("<!doctype html>"))
        self.assertIn("sidecar_build_info", self.client.metrics())
        self.assertEqual(self.client.endpoint, f"unix:{self.place.socket_path}")

    def test_jobs(self):
        job = self.client.start_job("echo up; exec sleep 1000")
        first = self.client.job(job, since=0, wait_ms=60000)
        self.assertEqual((first.state, first.output), ("running", "up\n"))
        self.assertEqual([one.job_id for one in self.client.jobs().jobs], [job])
        self.assertTrue(self.client.stop_job(job).ok)
        state = first
        while state.state == "running":
            state = self.client.job(job, since=state.cursor, wait_ms=60000)
        self.assertEqual(state.exit_code, -1)

    def test_changes(self):
        client = self.client
        client.write("a", "old\n")
        client.write("a", "new\n")
        last = client.changes(since=0).changes[-1]
        change = client.change(last.id)
        self.assertEqual([(one.path, one.kind) for one in change.paths], [("a", "modified")])
        self.assertEqual(change.paths[0].before.size, 4)
        self.assertIn("-old\n", client.change_diff(last.id))
        self.assertEqual(client.undo_change(last.id, dry_run=True).restored, ["a"])
        undone = client.undo_change(last.id)
        self.assertEqual(client.read("a").content, "old\n")
        client.undo(ids=[undone.change])
        self.assertEqual(client.read("a").content, "new\n")
        (self.place.workspace / "a").write_text("other\n")
        error = self.fails("CONFLICT", 409, client.undo_change, last.id)
        self.assertEqual(error.details["conflicts"][0]["path"], "a")

    def test_model_context_protocol(self):
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        begun = self.client.mcp({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        self.assertEqual(begun.message["result"]["serverInfo"]["name"], "sidecar")
        noted = self.client.mcp({"jsonrpc": "2.0", "method": "notifications/initialized"}, session_id=begun.session_id)
        self.assertIsNone(noted.message)
        self.client.end_session(begun.session_id)
        with self.assertRaises(SidecarError):
            self.client.end_session("none")


class Commands(ClientTest):
    def test_collected(self):
        seen = []
        result = self.client.bash("echo out; echo err >&2; exit 3", on_stdout=seen.append, on_stderr=seen.append)
        self.assertEqual((result.exit_code, result.stdout, result.stderr), (3, "out\n", "err\n"))
        self.assertEqual(sorted(seen), ["err\n", "out\n"])
        self.assertTrue(self.client.bash("sleep 1000", timeout_seconds=0.2).timed_out)
        long = self.client.bash("head -c 100000 /dev/zero | tr '\\0' x", max_output=1000)
        self.assertEqual((len(long.stdout), long.truncated), (1000, True))
        self.assertEqual(self.client.bash(["cat"], stdin="é".encode()).stdout, "é")
        self.assertEqual(self.client.bash("echo $A; pwd", env={"A": "1"}, cwd=".").stdout.split()[0], "1")

    def test_as_it_runs(self):
        events = []
        # It ends only if the first line has arrived while it runs.
        with self.client.bash_stream("echo ready; while ! test -e go; do sleep 0.01; done; echo gone") as stream:
            for event in stream:
                events.append(event)
                if event == BashOutput("stdout", "ready\n"):
                    (self.place.workspace / "go").touch()
        self.assertEqual(events, [BashOutput("stdout", "ready\n"), BashOutput("stdout", "gone\n"), BashDone(0)])

    def test_leaving_ends_it(self):
        with self.client.bash_stream(f"echo up; sleep 4242{os.getpid()}") as stream:
            next(stream)
        self.until_gone(f"sleep 4242{os.getpid()}")

    def test_closing_from_another_thread_ends_it(self):
        stream = self.client.bash_stream(f"echo up; sleep 4343{os.getpid()}")
        self.assertEqual(next(stream), BashOutput("stdout", "up\n"))
        threading.Timer(0.05, stream.close).start()
        self.fails("CANCELLED", None, next, stream)
        self.until_gone(f"sleep 4343{os.getpid()}")

    def test_timeouts(self):
        self.fails("TIMED_OUT", None, self.client.bash, "sleep 1000", timeout=0.1)
        job = self.client.start_job("sleep 1000")
        self.fails("TIMED_OUT", None, self.client.job, job, since=0, wait_ms=60000, timeout=0.1)

    def test_watched_and_stopped(self):
        command = f"sleep 4444{os.getpid()}"
        with self.client.events(since=0) as events:
            ended = []
            runner = threading.Thread(target=lambda: ended.append(self.client.bash(command)))
            runner.start()
            call = next(event.call for event in events if isinstance(event, CallStartEvent) and event.subject == command)
            watched = self.client.watched_call(call)
            self.assertEqual((watched.running, watched.events[0].type, watched.arguments["command"]),
                             (True, "call.start", command))
            self.assertTrue(self.client.stop_call(call).stopping)
            end = next(event for event in events if isinstance(event, CallEndEvent) and event.call == call)
            self.assertFalse(end.ok)
            runner.join()
        self.assertEqual((ended[0].exit_code, ended[0].timed_out, ended[0].stopped), (-1, False, True))
        self.fails("CALL_NOT_FOUND", 404, self.client.watched_call, 9999)
        self.fails("JOB_NOT_FOUND", 404, self.client.job, "9999")


class Models(ClientTest):
    def test_tools(self):
        written = self.client.tool("write_file", path="m.txt", content="x\n")
        self.assertTrue(written.success)
        self.assertEqual(written.output["bytes_written"], 2)
        self.assertIn("id", written.changes)
        missing = self.client.tool("read_file", path="none")
        self.assertEqual((missing.success, missing.output, missing.error.code), (False, None, "FILE_NOT_FOUND"))
        self.assertEqual(len(self.client.tools()), 5)
        self.assertIn("input_schema", self.client.tools("anthropic", set="full")[-1])

    def test_functions(self):
        self.client.write("m.txt", "x\n")
        tools = {tool.__name__: tool for tool in self.client.tools("langchain")}
        read = tools["read_file"]
        signature = inspect.signature(read)
        self.assertEqual(signature.parameters["path"].annotation, str)
        self.assertIs(signature.parameters["start_line"].default, None)
        self.assertEqual(typing.get_type_hints(read)["start_line"], typing.Optional[int])
        self.assertTrue(read.__doc__ and read.args_schema["properties"])
        self.assertEqual(json.loads(read(path="m.txt"))["output"]["content"], "x\n")

    def test_calls_of_providers(self):
        self.client.write("m.txt", "x\n")
        name, args, text = "read_file", {"path": "m.txt"}, '{"path":"m.txt"}'
        reply = self.client.call_tool({"id": "1", "type": "function", "function": {"name": name, "arguments": text}})
        self.assertEqual((reply["role"], reply["tool_call_id"]), ("tool", "1"))
        reply = self.client.call_tool({"type": "function_call", "call_id": "2", "name": name, "arguments": text})
        self.assertEqual((reply["type"], reply["call_id"]), ("function_call_output", "2"))
        reply = self.client.call_tool({"type": "tool_use", "id": "3", "name": name, "input": {"path": "none"}})
        self.assertEqual((reply["type"], reply["tool_use_id"], reply["is_error"]), ("tool_result", "3", True))
        reply = self.client.call_tool({"function": {"name": name, "arguments": args}})
        self.assertEqual((reply["role"], reply["tool_name"]), ("tool", name))
        reply = self.client.call_tool({"name": name, "args": args})
        self.assertEqual(reply["functionResponse"]["name"], name)
        reply = self.client.call_tool({"type": "tool_call", "id": "4", "name": name, "args": args})
        self.assertEqual((reply["role"], reply["tool_call_id"]), ("tool", "4"))

        reply = self.client.call_tool({"type": "shell_call", "call_id": "6", "action": {"commands": ["echo hi"]}})
        self.assertEqual((reply["type"], reply["output"][0]["stdout"]), ("shell_call_output", "hi\n"))
        self.assertEqual(self.client.tools("anthropic-native")[-1]["name"], "bash")

        class FromLibrary:
            def model_dump(self, exclude_none):
                return {"type": "tool_use", "id": "5", "name": name, "input": args}
        self.assertEqual(self.client.call_tool(FromLibrary())["tool_use_id"], "5")


class Connections(unittest.TestCase):
    fails = ClientTest.fails

    def test_tcp_with_a_token(self):
        port = free_port()
        Place(self).serve("--tcp", f"127.0.0.1:{port}", SIDECAR_AUTH_TOKEN="secret")
        url = f"http://127.0.0.1:{port}"
        with Client(url=url, token="secret", wait_for_ready=60) as client:
            client.write("a", "b")
            self.assertEqual(client.read("a").content, "b")
            self.assertEqual(client.bash("cat a").stdout, "b")
        for token in (None, "wrong"):
            with Client(url=url, token=token) as stranger:
                self.fails("UNAUTHORIZED", 401, stranger.read, "a")
                self.fails("UNAUTHORIZED", 401, stranger.wait_for_ready)

    def test_a_token_that_the_server_has_made(self):
        port, token = free_port(), "0123456789abcdef" * 4
        made, place = MadeToken(self, port), Place(self)
        place.serve("--tcp", f"127.0.0.1:{port}", SIDECAR_AUTH_TOKEN=token)
        with Client(place.socket_path, wait_for_ready=60) as local:
            local.wait_for_ready(60)
        with Client(url=f"http://127.0.0.1:{port}") as client:
            for text in (None, token[:-1], token + "0", "x" * 64):
                if text:
                    made.write(text)
                self.fails("UNAUTHORIZED", 401, client.ls)
            made.write(token)
            self.assertEqual(client.ls().output, "(empty directory)")
        with Client(url=f"http://127.0.0.1:{port}", token="wrong") as given:
            self.fails("UNAUTHORIZED", 401, given.ls)
        made.file.rename(made.file.with_name("elsewhere"))
        made.file.symlink_to("elsewhere")
        with Client(url=f"http://127.0.0.1:{port}") as linked:
            self.fails("UNAUTHORIZED", 401, linked.ls)

    def test_late_and_again(self):
        place = Place(self)
        client = Client(place.socket_path, wait_for_ready=60, session="me")
        self.addCleanup(client.close)
        servers = []
        threading.Timer(0.2, lambda: servers.append(place.serve())).start()
        self.assertEqual(client.write("a", "1").bytes, 1)
        self.assertEqual(client.read("a").content, "1")
        place.stop(servers[0], signal.SIGKILL)
        server = place.serve()
        self.assertEqual(client.read("a").content, "1")  # the kept connection is dead
        self.assertEqual(client.write("a", "22").bytes, 2)

        # A command that was running is not run again, whether its answer had begun or not.
        count = place.workspace / "count"
        servers.append(server)

        def kill():
            while not count.exists() or not count.stat().st_size:
                time.sleep(0.01)
            place.stop(servers[-1], signal.SIGKILL)
            servers.append(place.serve())
        command = "echo x >> count; exec sleep 1000"
        for call in (lambda: client.bash(command), lambda: client.tool("run_command", command=command)):
            killer = threading.Thread(target=kill)
            killer.start()
            self.fails("CONNECTION_LOST", None, call)
            killer.join()
            self.assertEqual(client.read("count").content, "x\n")
            count.unlink()

    def test_again_with_many_kept_connections(self):
        place = Place(self)
        server = place.serve()
        client = Client(place.socket_path, wait_for_ready=60)
        self.addCleanup(client.close)
        job = client.start_job("while ! test -e go; do sleep 0.01; done; echo gone")
        waiting = [threading.Thread(target=client.job, args=(job,), kwargs={"since": 0, "wait_ms": 60000})
                   for _ in range(5)]
        for thread in waiting:
            thread.start()
        while client.health().running < len(waiting):
            time.sleep(0.01)
        client.write("go", "")
        for thread in waiting:
            thread.join()
        place.stop(server, signal.SIGKILL)
        place.serve()
        self.assertEqual(client.read("go").content, "")

    def test_what_changes_something_says_by_which_number_it_is_undone(self):
        place = Place(self)
        place.serve("--observe", "on", "--undo-max-file", "1K")
        client = Client(place.socket_path, wait_for_ready=60)
        self.addCleanup(client.close)
        self.assertEqual(client.write("a", "1\n"), WriteResult(True, "a", 2, 1))
        self.assertEqual(client.edit("a", "1", "2").change, 2)
        patch = "*** Begin Patch\n*** Update File: a\n@@\n-2\n+3\n*** End Patch\n"
        self.assertEqual(client.patch(patch).change, 3)
        observed = client.health().observed.commands != "none"
        removed = client.bash("rm a")
        self.assertEqual(removed.change, 4 if observed else None)
        if observed:
            client.undo_change(removed.change)
            self.assertEqual(client.read("a").content, "3\n")
        self.assertIsNone(client.bash("true").change)
        # A file with two names is written in place, so it would have to be copied.
        client.write("large", "x" * 2000)
        client.bash("ln large twice")
        self.assertEqual(client.write("large", "y" * 2000).not_kept, 1)
        self.assertEqual(client.bash("echo >> large").not_kept, int(observed))

        # A command that was given up: its call knows.
        def knows(error):
            call = client.watched_call(error.details["call"])
            while call.running:
                call = client.watched_call(error.details["call"])
            self.assertEqual(call.change is not None, observed)
            if observed:
                self.assertEqual(client.undo_change(call.change).restored, ["a"])
        stream = client.bash_stream("echo 4 > a; echo up; exec sleep 1000")
        next(stream)
        threading.Timer(0.05, stream.close).start()
        knows(self.fails("CANCELLED", None, next, stream))
        # The limit is one within which this machine starts a command.
        error, limit = SidecarError("", ""), 0.5
        while "call" not in error.details:
            error = self.fails("TIMED_OUT", None, client.bash, "exec sleep 1000", timeout=limit)
            limit *= 4

    def test_no_more_time_than_the_server_allows(self):
        place = Place(self)
        place.serve("--command-timeout-max", "1")
        client = Client(place.socket_path, wait_for_ready=60)
        self.addCleanup(client.close)
        result = client.bash("sleep 1000", timeout_seconds=500)
        self.assertEqual((result.timed_out, result.timeout_seconds), (True, 1))

    def test_events_go_on_after_a_restart(self):
        place = Place(self)
        server = place.serve()
        client = Client(place.socket_path, wait_for_ready=60)
        self.addCleanup(client.close)
        with client.events(since=0) as events:
            first = next(events)
            self.assertEqual((type(first), first.event), (BootEvent, 0))
            for number in (signal.SIGTERM, signal.SIGKILL):
                client.write("a", "one")
                end = next(event for event in events if isinstance(event, CallEndEvent))
                place.stop(server, number)
                server = place.serve()
                while client.health().event < end.id:  # as many events as before
                    client.write("a", "again")
                second, gap, start = (next(events) for _ in range(3))
                self.assertNotEqual(second.boot, first.boot)
                self.assertEqual((gap, start.id), (GapEvent("gap", None), 1))
                next(event for event in events if isinstance(event, CallEndEvent))
        newest = client.health().event
        client.write("a", "more")
        with client.events(since=f"{second.boot}-{newest}") as events:
            self.assertEqual([next(events), next(events).id], [BootEvent("boot", second.boot, newest), newest + 1])
        place.stop(server)
        with Client(place.socket_path) as impatient:
            server = place.serve()
            impatient.wait_for_ready(60)
            with impatient.events() as events:
                next(events)
                place.stop(server)
                self.assertEqual(list(events), [])

    def test_addresses(self):
        for url, place in (("http://h", ("h", 80, False, "")), ("https://h/box/", ("h", 443, True, "/box")),
                           ("http://[::1]:8080", ("::1", 8080, False, ""))):
            address = Address.of(None, url)
            self.assertEqual((address.host, address.port, address.tls, address.prefix), place)

    def test_what_does_not_come(self):
        place = Place(self)
        error = self.fails("NOT_READY", None, Client(place.socket_path, wait_for_ready=0.2).health)
        self.assertEqual(str(error), f"Timed out waiting for coding sidecar at unix:{place.socket_path}")
        error = self.fails("NOT_READY", None, Client(place.socket_path).health)
        self.assertEqual(str(error), f"Cannot connect to the sidecar at unix:{place.socket_path}: there is no such socket")
        pathlib.Path(place.socket_path).touch()
        error = self.fails("NOT_READY", None, Client(place.socket_path).wait_for_ready, 60)
        self.assertIn("is not a socket", str(error))

    def test_why_it_does_not_come(self):
        place = Place(self)
        server = place.serve()

        def waiting(message, **options):
            """Both clients say it."""
            client, after = Client(**options), AsyncClient(**options)
            wanted = f"Timed out waiting for coding sidecar at {client.endpoint}: {message}"
            self.assertEqual(str(self.fails("NOT_READY", None, client.wait_for_ready, 0.15)), wanted)
            self.assertEqual(str(self.fails("NOT_READY", None, asyncio.run, after.wait_for_ready(0.15))), wanted)
        here = {"socket_path": place.socket_path}
        Client(**here).wait_for_ready(60)
        folder, user, group = place.workspace.parent, os.geteuid(), os.getegid()
        # Files of root are for root: another user then, and otherwise a mode that shuts the owner out.
        other = 65534 if user == 0 else user
        os.chmod(place.socket_path, 0)
        for mode, message in ((0o755, f"the socket is for user {user} and group {group} (mode 0000)"),
                              (0, "this user may not enter the socket's directory")):
            os.chmod(folder, mode)
            try:
                os.seteuid(other)
                waiting(f"permission denied: {message}", **here)
            finally:
                os.seteuid(user)
                os.chmod(folder, 0o755)
        place.stop(server, signal.SIGKILL)
        os.chmod(place.socket_path, 0o600)
        waiting("no server listens on the socket", **here)
        waiting("no server listens on the port", url=f"http://127.0.0.1:{free_port()}")
        waiting("no server listens on the port", url=f"http://localhost:{free_port()}")
        with unittest.mock.patch("socket.getaddrinfo", side_effect=socket.gaierror(socket.EAI_NONAME, "no such name")):
            waiting("the name is not known (no such name)", url="http://nowhere.invalid:1")
        for answer, message in ((b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "GET /health is answered with status 500"),
                                (b"", "it closes connections without an answer")):
            with socket.create_server(("127.0.0.1", 0)) as sick:
                def serve():
                    with contextlib.suppress(OSError):
                        while True:
                            connection, _ = sick.accept()
                            connection.recv(65536)
                            connection.sendall(answer)
                            connection.close()
                thread = threading.Thread(target=serve)
                thread.start()
                waiting(message, url=f"http://127.0.0.1:{sick.getsockname()[1]}")
                sick.shutdown(socket.SHUT_RDWR)
                thread.join()
        with socket.create_server(("127.0.0.1", 0)) as mute:
            waiting("it accepts connections and does not answer", url=f"http://127.0.0.1:{mute.getsockname()[1]}")

    def test_private(self):
        place = Place(self)
        sidecar = PrivateSidecar(place.workspace, args=["--journal", "off"])
        with sidecar as client:
            self.assertEqual(client.bash("pwd").stdout.strip(), str(place.workspace))
        self.assertFalse(os.path.exists(sidecar.socket_path))
        error = self.fails("SPAWN_FAILED", None, PrivateSidecar(place.workspace, args=["--no-such-option"]).start)
        self.assertIn("no-such-option", str(error))
        self.assertEqual(program_path(), os.environ["SIDECAR_BIN"])

    def test_exports(self):
        for name in coding_sidecar.__all__:
            self.assertTrue(hasattr(coding_sidecar, name), name)


class ZLast(unittest.TestCase):
    def test_the_readme_has_every_method(self):
        text = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
        rows = "\n".join(re.findall(r"^\| `.*$", text, re.M))
        self.assertEqual([name for name in sorted(CALLED.names) if f"`{name}`" not in rows], [])

    def test_every_public_method_was_called(self):
        self.assertEqual(CALLED.missing(), [])


class Examples(unittest.TestCase):
    def test_each(self):
        loop = ['search_files {"pattern": "wrold"}',
                'edit_file {"path": "hello.sh", "old_text": "wrold", "new_text": "world"}',
                'run_command {"command": "sh hello.sh"}', "Fixed: it says Hello, world.", "Hello, world"]
        expected = {"openai_agent": loop, "anthropic_agent": loop, "langchain_agent": loop,
                    "stream": ["line 1", "line 2", "line 3", "exit status 3", "TIMED_OUT"]}
        folder = pathlib.Path(__file__).resolve().parents[1]
        self.assertEqual({path.stem for path in (folder / "examples").glob("*.py")}, {*expected, "scripted"})
        for name, lines in expected.items():
            done = subprocess.run([sys.executable, folder / f"examples/{name}.py"], check=False, capture_output=True,
                                  text=True, env={**os.environ, "PYTHONPATH": str(folder)})
            self.assertEqual((done.stdout.splitlines(), done.stderr, done.returncode), (lines, "", 0), name)


if __name__ == "__main__":
    unittest.main()
