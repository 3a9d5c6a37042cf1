# SPDX-License-Identifier: MIT
"""own_port.py PORT ADDRESS ...: ways to reach a server on this machine. Prints as JSON how each failed; null: it did not."""
import errno
import json
import select
import socket
import struct
import sys

PORT, MORE = int(sys.argv[1]), sys.argv[2:]
MSG_FASTOPEN, IPPROTO_MPTCP, TCP_FASTOPEN_CONNECT = 0x20000000, 262, 30
ASK = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def answered(s, ask=ASK):
    s.settimeout(30)
    if ask:
        s.sendall(ask)
    return s.recv(4)


def plain(address, family=socket.AF_INET):
    with socket.socket(family) as s:
        s.connect((address, PORT))
        answered(s)


def without_waiting():
    with socket.socket() as s:
        s.setblocking(False)
        error = s.connect_ex(("127.0.0.1", PORT))
        if error not in (0, errno.EINPROGRESS):
            raise OSError(error, "connect")
        select.select([], [s], [])
        answered(s)


def by_protocol():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as s:
        s.connect(("127.0.0.1", PORT))
        answered(s)


def by_sendto():
    with socket.socket() as s:
        s.sendto(ASK, MSG_FASTOPEN, ("127.0.0.1", PORT))
        answered(s, None)


def by_sendmsg():
    with socket.socket() as s:
        s.sendmsg([ASK], [], MSG_FASTOPEN, ("127.0.0.1", PORT))
        answered(s, None)


def by_sendmmsg():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    text = ctypes.create_string_buffer(ASK, len(ASK))
    name = ctypes.create_string_buffer(struct.pack("=H", socket.AF_INET) + struct.pack(">H4s8x", PORT, b"\x7f\0\0\1"))
    piece = ctypes.create_string_buffer(struct.pack("PN", ctypes.addressof(text), len(ASK)))
    message = ctypes.create_string_buffer(struct.pack("PIxxxxPNPNiIxxxx", ctypes.addressof(name), 16, ctypes.addressof(piece), 1,
                                                      0, 0, 0, 0))
    with socket.socket() as s:
        if libc.sendmmsg(s.fileno(), message, 1, MSG_FASTOPEN) < 0:
            raise OSError(ctypes.get_errno(), "sendmmsg")
        answered(s, None)


def put_off():
    with socket.socket() as s:
        s.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
        s.connect(("127.0.0.1", PORT))
        answered(s)


WAYS = {"without waiting": without_waiting, "by sendto": by_sendto, "by sendmsg": by_sendmsg, "by sendmmsg": by_sendmmsg,
        "put off": put_off, "by MPTCP": by_protocol}
for one in ("127.0.0.1", "127.0.0.2", "127.255.0.9", "0.0.0.0", *MORE):
    WAYS[one] = lambda one=one: plain(one)
for one in ("::ffff:127.0.0.1", "::ffff:0.0.0.0", "::1", "::"):
    WAYS[one] = lambda one=one: plain(one, socket.AF_INET6)

results = {}
for way, attempt in WAYS.items():
    try:
        attempt()
        results[way] = None
    except OSError as e:
        results[way] = errno.errorcode.get(e.errno, str(e))
print(json.dumps(results))
