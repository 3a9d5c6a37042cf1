# SPDX-License-Identifier: MIT
"""Every operation of the client for asyncio, against the real program."""

import asyncio
import json
import os
import signal
import unittest

from server import MadeToken, Place, Recorder, free_port, running
from coding_sidecar import AsyncClient, BashDone, BashOutput, Client, SidecarError
from coding_sidecar.operations import BootEvent, CallEndEvent, CallStartEvent, GapEvent, ReadText

CALLED = Recorder(AsyncClient)


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.place = Place(self)
        self.server = self.place.serve()
        self.client = AsyncClient(self.place.socket_path, wait_for_ready=60)

    async def fails(self, code, status, awaitable):
        with self.assertRaises(SidecarError) as raised:
            await awaitable
        self.assertEqual((raised.exception.code, raised.exception.status), (code, status), raised.exception)
        return raised.exception

    async def until_gone(self, text):
        while running(text):
            await asyncio.sleep(0.02)


class Operations(AsyncTest):
    async def test_the_same_methods(self):
        other = {name for name in dir(Client) if not name.startswith("_")}
        self.assertEqual(other - set(dir(AsyncClient)), set())

    async def test_files(self):
        client = self.client
        self.assertEqual((await client.write("src/a.txt", "one\ntwo\n")).bytes, 8)
        self.assertEqual(await client.read("src/a.txt", offset=2, limit=1), ReadText("text", "two", 3, True))
        self.assertIn("-2 two", (await client.edit("src/a.txt", "two", "zwei")).diff)
        self.assertEqual((await client.ls("src")).output, "a.txt")
        self.assertEqual((await client.find("*.txt")).files, ["src/a.txt"])
        self.assertEqual((await client.grep("zw")).content, "src/a.txt:2: zwei")
        self.assertEqual([one.path for one in (await client.search("one")).matches], ["src/a.txt"])
        await client.mkdir("names")
        await client.write("names/a", "a")
        await client.copy("names/a", "names/b")
        await client.rename("names/b", "names/c")
        self.assertEqual((await client.stat("names/c")).size, 1)
        self.assertTrue((await client.exists("names/c")).exists)
        await client.remove("names", recursive=True)
        root = (await client.get_allowed_paths()).paths[0]
        self.assertEqual((await client.validate_path("x")).path, root + "/x")
        self.assertFalse(await client.is_path_allowed("/etc/passwd"))
        self.assertTrue(await client.is_command_blocked("sudo ls"))
        self.assertFalse((await client.policy("ls")).blocked)
        self.assertEqual((await client.get_tool_by_name("read_file"))["function"]["name"], "read_file")
        patched = await client.patch("*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n")
        self.assertEqual(patched.files[0].path, "new.txt")
        many = await asyncio.gather(*(client.read("src/a.txt") for _ in range(20)))
        self.assertEqual({one.content for one in many}, {"one\nzwei\n"})
        large = "x" * 3_000_000
        await client.write("large", large)
        self.assertEqual((await client.bash(["cat", "large"])).stdout, large)

    async def test_errors(self):
        await self.fails("FILE_NOT_FOUND", 400, self.client.read("none"))
        await self.fails("INVALID_ARGUMENTS", 400, self.client.bash([]))
        await self.fails("NOT_READY", None, AsyncClient("/nowhere/s").health())

    async def test_server(self):
        self.assertTrue((await self.client.health()).ok)
        self.assertTrue((await self.client.ui()).lower().startswith("<!doctype html>"))
        self.assertIn("sidecar_build_info", await self.client.metrics())
        self.assertIn("/read", (await self.client.openapi())["paths"])
        self.assertEqual(self.client.endpoint, f"unix:{self.place.socket_path}")

    async def test_jobs(self):
        job = await self.client.start_job("echo up; exec sleep 1000")
        first = await self.client.job(job, since=0, wait_ms=60000)
        self.assertEqual((first.state, first.output), ("running", "up\n"))
        self.assertEqual([one.job_id for one in (await self.client.jobs()).jobs], [job])
        self.assertTrue((await self.client.stop_job(job)).ok)

    async def test_changes(self):
        client = self.client
        await client.write("a", "old\n")
        await client.write("a", "new\n")
        last = (await client.changes(since=0)).changes[-1]
        self.assertEqual((await client.change(last.id)).paths[0].path, "a")
        self.assertIn("-old\n", await client.change_diff(last.id))
        undone = await client.undo_change(last.id)
        self.assertEqual((await client.read("a")).content, "old\n")
        await client.undo(ids=[undone.change])
        (self.place.workspace / "a").write_text("other\n")
        await self.fails("CONFLICT", 409, client.undo_change(last.id))

    async def test_model_context_protocol(self):
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        begun = await self.client.mcp({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        self.assertEqual(begun.message["id"], 1)
        await self.client.end_session(begun.session_id)


class Commands(AsyncTest):
    async def test_collected(self):
        seen = []
        result = await self.client.bash("echo out; echo err >&2; exit 3", on_stdout=seen.append, on_stderr=seen.append)
        self.assertEqual((result.exit_code, result.stdout, result.stderr), (3, "out\n", "err\n"))
        self.assertEqual(sorted(seen), ["err\n", "out\n"])

    async def test_as_it_runs(self):
        events = []
        async for event in self.client.bash_stream("echo ready; while ! test -e go; do sleep 0.01; done; echo gone"):
            events.append(event)
            if event == BashOutput("stdout", "ready\n"):
                (self.place.workspace / "go").touch()
        self.assertEqual(events, [BashOutput("stdout", "ready\n"), BashOutput("stdout", "gone\n"), BashDone(0)])

    async def test_cancelling_ends_it(self):
        up = asyncio.Event()
        command = f"echo up; sleep 5252{os.getpid()}"
        task = asyncio.create_task(self.client.bash(command, on_stdout=lambda _: up.set()))
        await up.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await self.until_gone(f"sleep 5252{os.getpid()}")

    async def test_closing_ends_it(self):
        stream = self.client.bash_stream(f"echo up; sleep 5353{os.getpid()}")
        self.assertEqual(await stream.__anext__(), BashOutput("stdout", "up\n"))
        await stream.aclose()
        await self.until_gone(f"sleep 5353{os.getpid()}")

    async def test_timeout(self):
        await self.fails("TIMED_OUT", None, self.client.bash("sleep 1000", timeout=0.1))
        # The limit is one within which this machine begins a command.
        error, limit = SidecarError("", ""), 0.5
        while "call" not in error.details:
            error, limit = await self.fails("TIMED_OUT", None, self.client.bash("sleep 1000", timeout=limit)), limit * 4
        self.assertEqual((await self.client.watched_call(error.details["call"])).arguments["command"], "sleep 1000")

    async def test_watched_and_stopped(self):
        command = f"sleep 5454{os.getpid()}"
        events = self.client.events(since=0)
        task = asyncio.create_task(self.client.bash(command))
        async for event in events:
            if isinstance(event, CallStartEvent) and event.subject == command:
                self.assertTrue((await self.client.watched_call(event.call)).running)
                await self.client.stop_call(event.call)
                break
        await events.aclose()
        await asyncio.wait([task])
        task.exception()


    async def test_events_go_on_after_a_restart(self):
        events = self.client.events(since=0)
        first = await events.__anext__()
        for number in (signal.SIGTERM, signal.SIGKILL):
            await self.client.write("a", "one")
            while not isinstance(end := await events.__anext__(), CallEndEvent):
                pass
            self.place.stop(self.server, number)
            self.server = self.place.serve()
            while (await self.client.health()).event < end.id:  # as many events as before
                await self.client.write("a", "again")
            second, gap, start = [await events.__anext__() for _ in range(3)]
            self.assertEqual((type(second), gap, start.id), (BootEvent, GapEvent("gap", None), 1))
            self.assertNotEqual(second.boot, first.boot)
            while not isinstance(await events.__anext__(), CallEndEvent):
                pass
        await events.aclose()


class Models(AsyncTest):
    async def test_tools(self):
        self.assertTrue((await self.client.tool("write_file", path="m.txt", content="x\n")).success)
        self.assertEqual(len(await self.client.tools("openai")), 5)
        read = next(tool for tool in await self.client.tools("langchain") if tool.__name__ == "read_file")
        self.assertEqual(json.loads(await read(path="m.txt"))["output"]["content"], "x\n")
        call = {"type": "tool_use", "id": "3", "name": "read_file", "input": {"path": "m.txt"}}
        reply = await self.client.call_tool(call)
        self.assertEqual((reply["type"], reply["tool_use_id"]), ("tool_result", "3"))
        call = {"type": "tool_call", "id": "4", "name": "read_file", "args": {"path": "m.txt"}}
        reply = await self.client.call_tool(call)
        self.assertEqual((reply["role"], reply["tool_call_id"]), ("tool", "4"))


class Connections(unittest.IsolatedAsyncioTestCase):
    fails = AsyncTest.fails

    async def test_tcp_with_a_token(self):
        port = free_port()
        Place(self).serve("--tcp", f"127.0.0.1:{port}", SIDECAR_AUTH_TOKEN="secret")
        async with AsyncClient(url=f"http://127.0.0.1:{port}/", token="secret", wait_for_ready=60) as client:
            await client.write("a", "b")
            self.assertEqual((await client.read("a")).content, "b")
        stranger = AsyncClient(url=f"http://127.0.0.1:{port}")
        await self.fails("UNAUTHORIZED", 401, stranger.read("a"))
        await self.fails("UNAUTHORIZED", 401, stranger.wait_for_ready())

    async def test_a_token_that_the_server_has_made(self):
        port, token = free_port(), "0123456789abcdef" * 4
        made, place = MadeToken(self, port), Place(self)
        place.serve("--tcp", f"127.0.0.1:{port}", SIDECAR_AUTH_TOKEN=token)
        await AsyncClient(place.socket_path).wait_for_ready(60)
        made.write(token)
        self.assertEqual((await AsyncClient(url=f"http://127.0.0.1:{port}").ls()).output, "(empty directory)")

    async def test_late_and_again(self):
        place = Place(self)
        client = AsyncClient(place.socket_path, wait_for_ready=60, session="me")
        early = asyncio.create_task(client.write("a", "1"))
        await asyncio.sleep(0)
        server = place.serve()
        self.assertEqual((await early).bytes, 1)
        place.stop(server, signal.SIGKILL)
        server = place.serve()
        self.assertEqual((await client.read("a")).content, "1")
        up = asyncio.Event()
        run = asyncio.create_task(client.bash("echo x >> count; echo up; exec sleep 1000", on_stdout=lambda _: up.set()))
        await up.wait()
        place.stop(server, signal.SIGKILL)
        place.serve()
        await self.fails("CONNECTION_LOST", None, run)
        self.assertEqual((await client.read("count")).content, "x\n")

    async def test_what_does_not_come(self):
        place = Place(self)
        error = await self.fails("NOT_READY", None, AsyncClient(place.socket_path, wait_for_ready=0.2).health())
        self.assertEqual(str(error), f"Timed out waiting for coding sidecar at unix:{place.socket_path}")


class ZLast(unittest.TestCase):
    def test_every_public_method_was_called(self):
        self.assertEqual(CALLED.missing(), [])


if __name__ == "__main__":
    unittest.main()
