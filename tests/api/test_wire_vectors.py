"""What "drop-in" means, case by case: requests recorded with the server we replace, and its answers."""
import base64
import json
import os
import unittest

from harness import ROOT, Sidecar

DATA = json.loads((ROOT / "tests" / "data" / "wire-vectors.json").read_text())
MISSING = set()  # endpoints that are not there yet


def content(entry):
    if "text" in entry:
        return entry["text"].encode()
    if "base64" in entry:
        return base64.b64decode(entry["base64"])
    if "lines" in entry:
        template, count = entry["lines"]
        return "".join(template % i for i in range(1, count + 1)).encode()
    text, count = entry["repeat"]
    return (text * count).encode()


def lay_out(server):
    for entry in DATA["fixture"]:
        if entry.get("dir"):
            os.makedirs(server.path(entry["path"]), exist_ok=True)
        else:
            server.put(entry["path"], content(entry))


def with_root(value, root):
    if isinstance(value, str):
        return value.replace("$ROOT", root)
    if isinstance(value, list):
        return [with_root(v, root) for v in value]
    if isinstance(value, dict):
        return {k: with_root(v, root) for k, v in value.items()}
    return value


def listing(path):
    """What /ls says of a directory of this machine: the recorded one is not ours."""
    names = sorted(os.listdir(path), key=lambda n: (n.lower(), n))
    return "\n".join(n + "/" if os.path.isdir(os.path.join(path, n)) and not os.path.islink(os.path.join(path, n)) else n
                     for n in names)


class WireVectors(unittest.TestCase):
    maxDiff = 4000

    def check_json(self, got, want, url):
        if url.startswith("/health") and want.get("ok"):
            self.assertTrue(isinstance(got.get("version"), str) and got["version"])
            self.assertIs(got["ok"], True)
            return
        if "error" in want:
            got = {k: v for k, v in got.items() if k != "code"}
        self.assertEqual(got, want)

    def check_stream(self, body, want):
        events = [json.loads(line) for line in body.decode().splitlines()]
        for stream in ("stdout", "stderr"):
            text = "".join(e["data"] for e in events if e["type"] == "delta" and e["stream"] == stream)
            self.assertEqual(text, want[stream])
        self.assertEqual(events[-1], want["last"])

    def run_case(self, case):
        server = Sidecar(env=case.get("env"))
        try:
            lay_out(server)
            for step in with_root(case["steps"], server.workspace):
                if step["url"] == "/ls" and step.get("json", {}).get("path", "").startswith("/etc/"):
                    step["body"]["result"]["output"] = listing(step["json"]["path"])
                headers = dict(step.get("headers", {}))
                body = step.get("raw")
                if "json" in step:
                    body = json.dumps(step["json"])
                    headers.setdefault("Content-Type", "application/json")
                answer = server.request(step.get("method", "POST"), step["url"], body, headers)
                self.assertEqual(answer.status, step["status"], answer.body[:500])
                self.assertEqual(answer.headers["content-type"], step["contentType"])
                if "ndjson" in step:
                    self.check_stream(answer.body, step["ndjson"])
                else:
                    self.check_json(answer.json(), step["body"], step["url"])
            for name, text in case.get("filesAfter", {}).items():
                if text is None:
                    self.assertFalse(os.path.exists(server.path(name)))
                else:
                    self.assertEqual(server.get(name), text.encode())
        finally:
            server.close()


def add_case(case):
    def test(self):
        missing = {s["url"] for s in case["steps"]} & MISSING
        if missing:
            self.skipTest("no endpoint " + ", ".join(sorted(missing)))
        self.run_case(case)
    setattr(WireVectors, "test_" + case["name"].replace("-", "_"), test)


for one in DATA["cases"]:
    add_case(one)

if __name__ == "__main__":
    unittest.main()
