"""denied.py OUTSIDE SERVED: operations that a sandbox refuses, each on a name of its own in OUTSIDE.

One line each: operation, path, and how it failed ("done" if it did not). SERVED is the path of a socket.
"""
import ctypes
import os
import socket
import sys

OUTSIDE, SERVED = sys.argv[1:3]


def at(name):
    return os.path.join(OUTSIDE, name)


def opened(name, flags):
    os.close(os.open(at(name), flags, 0o600))


def bound(name):
    with socket.socket(socket.AF_UNIX) as s:
        os.chdir(OUTSIDE)
        s.bind(name)


def connected(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)


def truncated(name):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.truncate(at(name).encode(), ctypes.c_long(1)) < 0:
        raise OSError(ctypes.get_errno(), "truncate")


TRIED = (
    ("write", "old", lambda n: opened(n, os.O_WRONLY)),
    ("write", "new", lambda n: opened(n, os.O_WRONLY | os.O_CREAT | os.O_EXCL)),
    ("write", "cut", truncated),
    ("mkdir", "made", lambda n: os.mkdir(at(n))),
    ("remove", "unlinked", lambda n: os.unlink(at(n))),
    ("remove", "empty", lambda n: os.rmdir(at(n))),
    ("rename", "moved", lambda n: os.rename(at(n), at("moved-to"))),
    ("link", "linked", lambda n: os.link(at("old"), at(n))),
    ("symlink", "symlinked", lambda n: os.symlink("old", at(n))),
    ("mknod", "fifo", lambda n: os.mkfifo(at(n))),
    ("bind", "bound", bound),
    ("connect", SERVED, connected),
    # File rules do not know these.
    ("chmod", "mode", lambda n: os.chmod(at(n), 0o640)),
    ("utime", "times", lambda n: os.utime(at(n), (1, 1))),
)

for operation, name, attempt in TRIED:
    try:
        attempt(name)
        how = "done"
    except OSError as e:
        how = e.strerror
    print(operation, at(name), how, sep="\t")
