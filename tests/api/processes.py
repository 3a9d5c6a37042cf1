"""Processes of tests: found by a mark in their environment over all of /proc, or below another one."""
import contextlib
import os
import pathlib
import sys

from harness import until

# One that other users and sandboxed commands can run as well, if there is one.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
MARK = "SIDECAR_TEST_MARK_%d" % os.getpid()  # the name of the variable: other tests run at the same time


def state_of(thread):
    return (thread / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[0]


def threads_of(process):
    """One thread that shows what the process is; all of them when the first has ended before the others."""
    return list((process / "task").iterdir()) if state_of(process) == "Z" else [process]


def alive(mark):
    """Processes that have the mark in their environment, wherever they went."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for thread in threads_of(process):
                if state_of(thread) in "ZX":
                    continue
                if ("%s=%s" % (MARK, mark)).encode() in (thread / "environ").read_bytes().split(b"\0"):
                    found.add(int(process.name))
    return sorted(found)


def wait_until_gone(mark):
    """Fails when one of them is left after some time to end, in which none ends by itself (they sleep for 60 s)."""
    until(lambda: not alive(mark), lambda: "these end: %s" % alive(mark), 30)


def has_become(name):
    """Shell text: waits until the last background process is that program, and no longer the shell that forked."""
    return 'until [ "$(cat /proc/$!/comm)" = %s ]; do sleep 0.02; done' % name


def below(pid):
    """(number, name) of every process below this one."""
    found = []
    for task in pathlib.Path("/proc", str(pid), "task").glob("*"):
        with contextlib.suppress(OSError):
            for child in (task / "children").read_text().split():
                found.append((int(child), pathlib.Path("/proc", child, "comm").read_text().strip()))
                found += below(int(child))
    return found
