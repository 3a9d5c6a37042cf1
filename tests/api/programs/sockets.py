"""sockets.py JSON: ways to reach sockets of other programs. Prints as JSON how each failed; null: it did not."""
import array
import ctypes
import json
import os
import socket
import struct
import sys
import threading

PLACE = json.loads(sys.argv[1])
OUT, HOME, ABSTRACT, DATAGRAM, SERVER = (PLACE[name] for name in ("out", "home", "abstract", "datagram", "server"))
ROUNDS = 300


def connect(path, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as s:
        s.connect(path)


def send(kind=socket.SOCK_DGRAM):
    with socket.socket(socket.AF_UNIX, kind) as s:
        s.sendto(b"x", DATAGRAM)


def send_by_pair():
    for s in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        s.sendto(b"x", DATAGRAM)


def by_link():
    os.symlink(OUT, "link-to-socket")
    try:
        connect("link-to-socket")
    finally:
        os.unlink("link-to-socket")


def by_directory():
    here = os.getcwd()
    os.chdir(os.path.dirname(OUT))
    try:
        connect(os.path.basename(OUT))
    finally:
        os.chdir(here)


def by_open_directory():
    fd = os.open(os.path.dirname(OUT), os.O_PATH)
    connect("/proc/self/fd/%d/%s" % (fd, os.path.basename(OUT)))


def by_root():
    connect("/proc/self/root" + OUT)


def from_child(make):
    """A descriptor that another process has made."""
    ours, its = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            its.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [make()]))])
        finally:
            os._exit(0)
    its.close()
    passed = ours.recvmsg(1, socket.CMSG_SPACE(4))[1]
    os.waitpid(pid, 0)
    if not passed:
        raise OSError(0, "it could not make one")
    return struct.unpack("i", passed[0][2][:4])[0]


def by_passed_file():
    connect("/proc/self/fd/%d" % from_child(lambda: os.open(OUT, os.O_PATH)))


def by_passed_socket():
    with socket.socket(fileno=from_child(lambda: socket.socket(socket.AF_UNIX).detach())) as s:
        s.connect(OUT)


def address(path):
    return struct.pack("H108s", socket.AF_UNIX, path.encode())


def by_exchanged_address():
    """Another thread writes the address while the call is looked at."""
    libc = ctypes.CDLL(None, use_errno=True)
    good, bad = address("in.sock"), address(OUT)
    shared = ctypes.create_string_buffer(good, len(good))
    done = False

    def exchange():
        while not done:
            ctypes.memmove(shared, bad, len(bad))
            ctypes.memmove(shared, good, len(good))

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for _ in range(ROUNDS):
            with socket.socket(socket.AF_UNIX) as s:
                s.setblocking(False)
                libc.connect(s.fileno(), shared, len(good))
    finally:
        done = True
        thread.join()
    raise OSError(0, "whether one arrived is seen at the other end")


WAYS = {
    "in another directory": lambda: connect(OUT),
    "in the home directory": lambda: connect(HOME),
    "of the server": lambda: connect(SERVER),
    "abstract": lambda: connect("\0" + ABSTRACT),
    "sequential": lambda: connect(OUT, socket.SOCK_SEQPACKET),
    "datagram": send,
    "raw": lambda: send(socket.SOCK_RAW),
    "datagram pair": send_by_pair,
    "link": by_link,
    "directory": by_directory,
    "open directory": by_open_directory,
    "root": by_root,
    "passed file": by_passed_file,
    "passed socket": by_passed_socket,
    "exchanged address": by_exchanged_address,
}

result = {}
for name, way in WAYS.items():
    try:
        way()
        result[name] = None
    except OSError as e:
        result[name] = e.strerror
print(json.dumps(result))
