"""GET /openapi.json: complete, true (every other test holds its answers against it), and clean for the linter."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from conforms import faults
from contract import Contract
from harness import Answer, SidecarTest

LINTER = pathlib.Path(__file__).resolve().parents[1] / "openapi"


def linter():
    """The linter's program, installed when it can be; else why not."""
    program = LINTER / "node_modules" / ".bin" / "redocly"
    if not program.exists():
        if not shutil.which("npm"):
            return None, "npm is not installed"
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=LINTER,
                              capture_output=True, check=False)
        if done.returncode != 0:
            return None, "npm cannot install @redocly/cli: " + done.stderr.decode(errors="replace")[-200:]
    return program, None


class OpenAPI(SidecarTest):
    def setUp(self):
        self.document = self.server.request("GET", "/openapi.json").json()

    def operations(self):
        return [(method, path, operation) for path, methods in self.document["paths"].items()
                for method, operation in methods.items()]

    def test_every_route_is_there(self):
        there = {(method, path) for method, path, _ in self.operations()}
        wanted = {("post", "/" + name) for name in ("read", "write", "edit", "ls", "find", "grep", "bash", "tools")}
        wanted |= {("get", path) for path in ("/health", "/metrics", "/openapi.json", "/tools", "/jobs", "/jobs/{id}")}
        wanted.add(("post", "/jobs/{id}/stop"))
        tools = self.server.request("GET", "/tools?format=mcp&set=full").json()
        wanted |= {("post", "/tools/" + tool["name"]) for tool in tools}
        self.assertEqual(wanted - there, set())

    def test_what_the_server_says_of_itself_is_described(self):
        """An answer may have more members than its schema; these have none."""
        def more(value, schema):
            known = schema.get("properties", {})
            if isinstance(value, list):
                return [name for one in value for name in more(one, schema["items"])]
            if not isinstance(value, dict):
                return []
            return [name for name in value if name not in known] + \
                [found for name in value if name in known for found in more(value[name], known[name])]
        server = self.start(flags=["--limit-memory", "4096", "--journal", "off"])
        schemas = {path: self.document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
                   for path in ("/health", "/calls/{id}")}
        for one in (self.server, server):
            self.assertEqual(more(one.request("GET", "/health").json(), schemas["/health"]), [])
        call = self.server.call("write", path="new", content="x")
        self.assertEqual(call.status, 200)
        known = set(schemas["/calls/{id}"]["properties"]["result"]["properties"])
        self.assertEqual(set(self.server.request("GET", "/calls/1").json()["result"]) - known, set())

    def test_names_are_unique(self):
        names = [operation["operationId"] for _, _, operation in self.operations()]
        self.assertEqual(len(names), len(set(names)))

    def test_examples_fit_their_schemas(self):
        seen = 0
        for method, path, operation in self.operations():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for content in (c for body in bodies for c in body.get("content", {}).values() if "example" in c):
                self.assertEqual(faults(content["example"], content["schema"], document=self.document), [],
                                 method + path)
                seen += 1
        self.assertGreater(seen, 14)

    def test_examples_of_requests_are_accepted(self):
        self.server.put("README.md", "# Title\n\na\nb\n")
        self.server.put("a.txt", "one\n")
        self.server.put("src/a.c", "\n\nint main(void)\n")
        for _, path, operation in self.operations():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                if "example" in content and "json" in json.dumps(list(operation["requestBody"]["content"])):
                    answer = self.server.call(path[1:], **content["example"])
                    self.assertEqual(answer.status, 200, (path, answer.body))

    def test_a_wrong_answer_would_be_noticed(self):
        contract = Contract(self.document)
        good = {"ok": True, "result": {"ok": True, "path": "a", "bytes": 1}}
        headers = {"content-type": "application/json; charset=utf-8"}

        def check(status, body, url="/write"):
            contract.check("POST", url, Answer(status, headers, json.dumps(body).encode()))

        check(200, good)
        check(400, {"ok": False, "error": "x", "code": "FILE_NOT_FOUND"})
        check(200, {"anything": 1}, "/no/such/route")
        for status, body in ((200, {**good, "more": 1}), (200, {"ok": True}), (200, {**good, "ok": False}),
                             (200, {"ok": True, "result": {**good["result"], "bytes": "1"}}), (201, good),
                             (400, good), (400, {"ok": False, "error": "x", "code": "NO_SUCH_CODE"}),
                             (400, {"ok": False, "error": "x", "code": "NOT_READY"}),
                             (404, {"error": "x"})):
            with self.assertRaises(AssertionError, msg=str(body)):
                check(status, body)

    def test_the_public_linter_finds_nothing(self):
        program, why = linter()
        if not program:
            self.skipTest(why)
        for surface in ("default", "agent-sandbox"):
            server = self.start(env={"SIDECAR_SURFACE": surface})
            with tempfile.TemporaryDirectory(prefix="sidecar-openapi-") as directory:
                path = os.path.join(directory, "openapi.json")
                pathlib.Path(path).write_bytes(server.request("GET", "/openapi.json").body)
                done = subprocess.run([program, "lint", "--format=json", path], capture_output=True, cwd=directory,
                                      env={**os.environ, "REDOCLY_TELEMETRY": "off"}, check=False)
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            self.assertEqual(json.loads(done.stdout)["problems"], [], surface)


if __name__ == "__main__":
    unittest.main()
