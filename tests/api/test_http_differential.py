# SPDX-License-Identifier: MIT
"""The HTTP parser and Node's decide on the same texts.

Node is what existing clients of this API have been talking to, so a request it took must be taken
here too, and cut into the same messages; and what it refuses must be refused. The tables below
hold every class of exceptions with its reason; a difference that is in none of them fails.

HTTP_PROBE names the program that shows our verdict (default build/tests/unit/http_probe).
"""
import base64
import json
import os
import random
import shutil
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROBE = os.environ.get("HTTP_PROBE", os.path.join(ROOT, "build", "tests", "unit", "http_probe"))
DRIVER = os.path.join(ROOT, "tests", "clients", "http_differential.mjs")

# What we refuse and Node accepts: our sentence -> why we are stricter.
STRICTER = {
    "The request line must be a method, a target and HTTP/1.1.":
        "HTTP/0.9, which has no version, and more than one empty line before a request: no client "
        "of today sends either",
    "The start line must name its version as HTTP/1.1.":
        "several blanks between the parts of the request line: the grammar has one, and readers "
        "differ about which part the others belong to",
    "Only HTTP/1.1 and HTTP/1.0 are spoken here.":
        "0.9 and 2.0 written as if they were versions of HTTP/1",
    "The request target must be a path that begins with /.":
        "another scheme than http, or * where it means nothing",
    "The request target must be visible ASCII without #.":
        "a fragment is never sent; what stands behind it would be read in two ways",
    "The host in the request target is malformed.":
        "it replaces Host, which is checked on TCP, so it must be one: not empty, no user",
    "Host is given more than once.":
        "RFC 9112 3.2 demands 400; the one checked might not be the one used",
    "Host must be a name or address, and a port at most.":
        "RFC 9112 3.2 demands 400 for a value that is not a host",
    "A line must end in CR LF, not in LF alone.":
        "Node takes a LF before a request line; a line end is CR LF everywhere here",
    "HTTP/1.0 has no Transfer-Encoding.":
        "RFC 9112 6.1: such a message must be taken for faulty framing",
    "The only transfer coding known here is chunked.":
        "Node ignores every coding before the last one and hands out a body still encoded",
    "Transfer-Encoding is malformed.":
        "empty or quoted codings, parameters, foreign bytes: disguises that one reader sees "
        "through and another does not",
    "Nothing may follow the coding chunked.":
        "chunked twice: RFC 9112 6.1 forbids it, and a proxy might decode it once",
    "The size of a chunk is too large.":
        "more than 15 digits, though they be leading zeros",
    "Only extensions may follow the size of a chunk.":
        "an extension without a name, or with = and no value",
}

# What Node refuses and we accept: Node's code, a test of the text, and why that is harmless.
LOOSER = [
    ("HPE_INVALID_METHOD", lambda text: True,
     "Node knows a list of methods. To us any token is one; the server answers 405 by name, and "
     "where the message ends does not depend on the method"),
    ("HPE_CLOSED_CONNECTION", lambda text: b"close" in text,
     "bytes behind a request with Connection: close. The request was complete; we answer it, "
     "close, and never look at the rest"),
    ("HPE_INVALID_CONTENT_LENGTH", lambda text: b"\t\r\n" in text,
     "a tab behind the value, which is optional white space like a blank (RFC 9110 5.6.3)"),
    ("HPE_INVALID_TRANSFER_ENCODING", lambda text: b"\t\r\n" in text, "the same"),
]

VALID = [
    b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /a?b=c%20d HTTP/1.1\r\nHost: localhost:80\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n",
    b"POST /read HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 16\r\n\r\n{\"path\":\"a.txt\"}",
    b"POST /ls HTTP/1.1\r\nhost: localhost\r\nconnection: keep-alive\r\naccept: */*\r\n"
    b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
    b"POST /write HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n",
    b"POST /write HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n"
    b"5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
    b"PUT /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
    b"GET / HTTP/1.0\r\n\r\n",
    b"POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
    b"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
    b"GET http://h/path HTTP/1.1\r\nHost: h\r\n\r\n",
    b"POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok",
    b"GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"
    b"GET /3 HTTP/1.1\r\nHost: h\r\n\r\n",
]

LENGTHS = ["5", "0", "005", "+5", "-5", "0x5", "5,5", "5, 5", "5 5", "", " 5", "\t5", "5 ", "5\t",
           "5;", "5.0", "\"5\"", "9223372036854775807", "9223372036854775808",
           "18446744073709551616", "18446744073709551621", "\x0b5", "5\x0b", "\xa05"]
CODINGS = ["chunked", "Chunked", " chunked", "\tchunked", "chunked ", "chunked\t", "chunked ,",
           "chunked,", ", chunked", ",chunked", "xchunked", "chunkedx", "chunked chunked",
           "chunked, chunked", "gzip, chunked", "chunked, gzip", "gzip", "identity",
           "identity, chunked", "chunked, identity", "chunked;q=1", "\"chunked\"", "\x0bchunked",
           "chunked\x0b", "\xa0chunked", "chunked\0", "", ",", "\r\n chunked", "\n chunked"]
NAMES = ["Transfer-Encoding", "Transfer-Encoding ", "Transfer-Encoding\t", " Transfer-Encoding",
         "transfer-ENCODING", "Transfer_Encoding", "Transfer\0Encoding", "\nTransfer-Encoding",
         "X: y\rTransfer-Encoding", "X: y\nTransfer-Encoding", "X: y\r\n Transfer-Encoding"]
LINES = ["GET /", "GET", "", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ",
         " GET / HTTP/1.1", "GET\t/ HTTP/1.1", "GET /a b HTTP/1.1", "get / HTTP/1.1",
         "FOO / HTTP/1.1", "PROPFIND / HTTP/1.1", "G(T / HTTP/1.1", "GET / HTTP/0.9",
         "GET / HTTP/1.2", "GET / HTTP/2.0", "GET / HTTP/1.10", "GET / http/1.1", "GET / HTTP/1",
         "GET / HTTP/", "GET / XTTP/1.1", "GET * HTTP/1.1", "GET a HTTP/1.1", "GET ?a HTTP/1.1",
         "GET /a#b HTTP/1.1", "GET /\xe9 HTTP/1.1", "GET /\x7f HTTP/1.1", "GET /\0 HTTP/1.1",
         "GET //a HTTP/1.1", "GET /%zz HTTP/1.1", "GET /{} HTTP/1.1", "GET https://h/ HTTP/1.1",
         "GET ftp://h/ HTTP/1.1", "GET http:// HTTP/1.1", "GET http:///a HTTP/1.1",
         "GET http://u@h/ HTTP/1.1", "GET http://h HTTP/1.1", "GET http://h?q HTTP/1.1",
         "GET h:80 HTTP/1.1", "OPTIONS ** HTTP/1.1", "CONNECT h:80 HTTP/1.1",
         "CONNECT / HTTP/1.1", "\r\nGET / HTTP/1.1", "\r\n\r\nGET / HTTP/1.1", "\nGET / HTTP/1.1"]
FIELDS = ["A: b", "A:b", "A:", "A: ", "A", ":", ": b", " A: b", "A : b", "A\t: b", "A b: c",
          "A: b\r\n c", "A: b\r\n\tc", "A: b\nB: c", "A: b\rB: c", "A: b\r\r", "A: \0", "A: \x01",
          "A: \x7f", "A: \xff", "A\xff: b", "(A): b", "A: b\tc", "Host: h", "Host: other",
          "Connection: close", "Connection: keep-alive, close", "Connection: Close , x",
          "Expect: x", "Expect: 100-continue", "Expect: 100-Continue", "Upgrade: h2c",
          "Trailer: x", "TE: trailers"]
HOSTS = ["", "h", "localhost:80", "[::1]:80", "a b", "a/b", "u@h", "a\\b", "\xe9", "a,b", "h:x"]
CHUNKS = ["5", "05", "0000000000000000005", "5 ", " 5", "5\t", "+5", "-5", "0x5", "5h", "5;a",
          "5;a=b", "5;a=\"b c\"", "5; a", "5 ;a", "5;", "5;;a", "5;a=", "5;a=\"b", "5;a b", "5\r",
          "5\n", "5;a\n", "5\0", "", "fffffffffffffffff", "5;a=\"\\\"\"", "5;\xff", "5;a=\"\xff\""]
AFTER = ["\r\n", "\n", "\r", "", "x\r\n", " \r\n"]
TRAILERS = ["", "A: b\r\n", "A: b\n", "A\r\n", "A : b\r\n", " A: b\r\n", "A: b\r\n c\r\n",
            "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", ": b\r\n", "A: \0\r\n"]
BYTES = b"\0\t\n\r \x01\x0b\x7f\x80\xff:;,/?#%*+-\"\\0159aAzZ(){}"


def cases():
    """Every text once, the same in each run."""
    chunked = "5\r\nhello\r\n0\r\n\r\n"
    post = "POST / HTTP/1.1\r\nHost: h\r\n"
    texts = list(VALID)

    def add(text):
        texts.append(text.encode("latin-1"))

    for length in LENGTHS:
        add(f"{post}Content-Length:{length}\r\n\r\nhello")
        add(f"{post}Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}")
        add(f"{post}Content-Length: 5\r\nContent-Length: {length}\r\n\r\nhello")
    for coding in CODINGS:
        add(f"{post}Transfer-Encoding:{coding}\r\n\r\n{chunked}")
        add(f"{post}Transfer-Encoding: {coding}\r\nContent-Length: 5\r\n\r\n{chunked}")
        add(f"{post}Transfer-Encoding: chunked\r\nTransfer-Encoding: {coding}\r\n\r\n{chunked}")
        add(f"{post}Transfer-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}")
    for name in NAMES:
        add(f"{post}{name}: chunked\r\n\r\n{chunked}")
        add(f"{post}Content-Length: 5\r\n{name}: chunked\r\n\r\n{chunked}")
    for line in LINES:
        add(f"{line}\r\nHost: h\r\n\r\n")
    for field in FIELDS:
        add(f"GET / HTTP/1.1\r\n{field}\r\nHost: h\r\n\r\n")
        add(f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n{field}\r\n\r\nx")
    for host in HOSTS:
        add(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")
    add("GET / HTTP/1.1\r\n\r\n")
    add("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked)
    add("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    for size in CHUNKS:
        add(f"{post}Transfer-Encoding: chunked\r\n\r\n{size}\r\nhello\r\n0\r\n\r\n")
    for after in AFTER:
        add(f"{post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello{after}0\r\n\r\n")
        add(f"{post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0{after}\r\n")
        add(f"{post}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n{after}")
    for trailer in TRAILERS:
        add(f"{post}Transfer-Encoding: chunked\r\n\r\n0\r\n{trailer}\r\n")

    chance = random.Random(1)
    for text in VALID:
        for _ in range(40):
            texts.append(mutated(chance, text))
    return list(dict.fromkeys(texts))


def mutated(chance, text):
    """The text with one or two small accidents."""
    for _ in range(chance.choice((1, 1, 2))):
        at = chance.randrange(len(text))
        kind = chance.randrange(6)
        byte = bytes([chance.choice(BYTES)])
        lines = text.split(b"\r\n")
        if kind == 0:
            text = text[:at] + byte + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + 1:]
        elif kind == 2:
            text = text[:at] + byte + text[at + 1:]
        elif kind == 3:
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            text = b"\r\n".join(lines)
        elif kind == 4:
            del lines[chance.randrange(len(lines))]
            text = b"\r\n".join(lines)
        else:
            text = text.replace(b"\r\n", chance.choice((b"\n", b"\r")), 1)
        if not text:
            return b"\r\n"
    return text


def ours(text):
    """{requests, end} from the probe."""
    done = subprocess.run([PROBE], input=text, stdout=subprocess.PIPE, check=True, timeout=60)
    *requests, end = done.stdout.decode("latin-1").rstrip("\n").split("\n")
    return {"requests": [line.split(" ")[1:] for line in requests], "end": end}


def theirs(node, texts):
    """The same from Node, for all texts."""
    job = json.dumps([base64.b64encode(text).decode() for text in texts])
    done = subprocess.run([node, DRIVER], input=job.encode(), stdout=subprocess.PIPE, check=True,
                          timeout=300)
    return json.loads(done.stdout)


class Differential(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        node = shutil.which("node")
        if not node:
            raise unittest.SkipTest("node is not installed: nothing to compare with")
        version = subprocess.run([node, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        if int(version.lstrip("v").split(".")[0]) < 20:
            raise unittest.SkipTest("node %s has an older, laxer parser: the tables are about 20 and later" % version)
        if not os.access(PROBE, os.X_OK):
            raise unittest.SkipTest(f"{PROBE} is not built; HTTP_PROBE may name another one")
        cls.texts = cases()
        cls.node = theirs(node, cls.texts)
        cls.probe = [ours(text) for text in cls.texts]

    def each(self):
        return zip(self.texts, self.probe, self.node)

    def test_there_is_something_to_compare(self):
        verdicts = [probe["end"].split(" ")[0] for probe in self.probe]
        self.assertGreater(len(verdicts), 500)
        self.assertGreater(verdicts.count("end"), 50)
        self.assertGreater(verdicts.count("refused"), 200)

    def test_the_valid_ones_are_accepted_by_both(self):
        for text, probe, node in list(self.each())[:len(VALID)]:
            with self.subTest(text=text):
                self.assertEqual((probe["end"], node["end"]), ("end", "end"))

    def test_what_both_accept_is_cut_alike(self):
        for text, probe, node in self.each():
            if probe["end"] == node["end"] == "end":
                with self.subTest(text=text):
                    self.assertEqual(probe["requests"], node["requests"])

    def test_what_node_refuses_is_refused(self):
        for text, probe, node in self.each():
            if probe["end"] == "end" and node["end"] != "end":
                code = node["end"].removeprefix("refused ")
                with self.subTest(text=text, node=code):
                    self.assertTrue([why for known, fits, why in LOOSER
                                     if known == code and fits(text)])

    def test_what_only_we_refuse_has_a_reason(self):
        for text, probe, node in self.each():
            if node["end"] == "end" and probe["end"] != "end":
                with self.subTest(text=text, probe=probe["end"]):
                    self.assertIn(probe["end"].split(" ", 2)[-1], STRICTER)

    def test_no_exception_is_listed_in_vain(self):
        sentences = {probe["end"].split(" ", 2)[-1] for probe in self.probe}
        self.assertEqual(set(STRICTER) - sentences, set())


if __name__ == "__main__":
    unittest.main()
