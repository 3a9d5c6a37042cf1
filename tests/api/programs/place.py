# SPDX-License-Identifier: MIT
"""place.py bare|container PROGRAM ...: runs it where the marks of a container's runtime are missing, or are there.

It gets mounts of its own: a new root with everything that is in the old one but the marks. Nothing of the machine changes.
"""
import ctypes
import os
import pathlib
import sys
import tempfile

LIBC = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWCGROUP, NEWUSER = 0x20000, 0x2000000, 0x10000000
BIND, REC, PRIVATE, DETACH = 0x1000, 0x4000, 0x40000, 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
MARK = ".dockerenv"
IN_RUN = (".containerenv", "systemd/container", "host/container-manager")


def check(result, what):
    if result < 0:
        sys.exit("%s: %s" % (what, os.strerror(ctypes.get_errno())))


def mount(source, where, kind=None, flags=0):
    check(LIBC.mount(os.fsencode(source), os.fsencode(where), kind, ctypes.c_ulong(flags), None), "mount " + where)


def enter():
    user, group = os.geteuid(), os.getegid()
    if LIBC.unshare(NEWNS | NEWCGROUP) < 0:
        check(LIBC.unshare(NEWUSER | NEWNS | NEWCGROUP), "unshare")
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            pathlib.Path("/proc/self", name).write_text(text, encoding="ascii")
    mount("none", "/", None, REC | PRIVATE)


def fill(root):
    for name in os.listdir("/"):
        old, new = "/" + name, os.path.join(root, name)
        if name == MARK:
            continue
        if os.path.islink(old):
            os.symlink(os.readlink(old), new)
        elif os.path.isdir(old):
            os.mkdir(new)
            if name == "run" and any(os.path.exists(os.path.join(old, mark)) for mark in IN_RUN):
                continue
            mount(old, new, None, BIND | REC)
        else:
            pathlib.Path(new).touch()
            mount(old, new, None, BIND)


def main():
    kind, *command = sys.argv[1:]
    root, here = tempfile.mkdtemp(prefix="sidecar-test-", dir="/tmp"), os.getcwd()
    enter()
    mount("none", root, b"tmpfs")
    fill(root)
    LIBC.umount2(os.fsencode(root + root), DETACH)  # of itself, in its /tmp
    if kind == "container":
        pathlib.Path(root, MARK).touch()
    os.chdir(root)
    check(LIBC.syscall(PIVOT_ROOT, b".", b"."), "pivot_root")
    check(LIBC.umount2(b".", DETACH), "umount")
    os.chdir(here)
    os.rmdir(root)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
