"""Holds answers against the server's own description of itself (GET /openapi.json)."""
import json
import re

from conforms import faults, resolve


class Contract:
    def __init__(self, document):
        self.document = document
        self.routes = []  # (expression, operations), exact paths first
        for path in sorted(document["paths"], key=lambda p: "{" in p):
            expression = re.escape(path).replace(r"\{path\}", ".*")
            expression = re.sub(r"\\\{\w+\\\}", "[^/]+", expression)
            self.routes.append((re.compile(expression), document["paths"][path]))

    def operation(self, method, url):
        path = url.split("?")[0]
        for expression, operations in self.routes:
            if expression.fullmatch(path):
                # HEAD is answered like GET, but for the body.
                return operations.get(method.lower()) or (operations.get("get") if method == "HEAD" else None)
        return None

    def check(self, method, url, answer):
        """Raises AssertionError unless the answer is as described; what is not described is not looked at."""
        operation = self.operation(method, url)
        if not operation:
            return
        where = "%s %s: %d" % (method, url, answer.status)
        responses = operation["responses"]
        response = resolve(responses.get(str(answer.status)) or responses["default"], self.document)
        assert answer.status >= 300 or str(answer.status) in responses, where + " is not described"
        content = response.get("content")
        if method == "HEAD" or not content:
            assert not answer.body, where + " has a body"
            return
        kind = answer.headers.get("content-type", "").split(";")[0]
        assert kind in content, "%s: %s is not one of %s" % (where, kind, list(content))
        for value in values_of(kind, answer.body):
            found = faults(value, content[kind]["schema"], document=self.document)
            assert not found, "%s: %s" % (where, "; ".join(found))


def values_of(kind, body):
    """What the schema is about: the JSON of a body, or of each of its lines; or nothing."""
    if kind == "application/json":
        return [json.loads(body)]
    if kind == "application/x-ndjson":
        # A client that leaves early, or a server that ends, cuts the last line.
        return [json.loads(line) for line in body.split(b"\n")[:-1] if line]
    return []
