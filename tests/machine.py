# SPDX-License-Identifier: MIT
"""What this machine offers, found out without the program under test: a system call is made, a file is looked at.

Tests ask it whether they can run here, and tests/run asks it whether a skip was right (tests/skips.txt).
"""

import ctypes
import fcntl
import functools
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.parse

LIBC = ctypes.CDLL(None, use_errno=True)
LANDLOCK_CREATE_RULESET, OPENAT2 = 444, 437  # the same on every architecture
NEWNS, NEWIPC, NEWUSER, NEWPID = 0x20000, 0x8000000, 0x10000000, 0x20000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
ONE = 0xFFFFFFFF  # no user


def in_child(work):
    """Whether work() returns something true, in a process that ends with it."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


@functools.cache
def landlock():
    return LIBC.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), 1) > 0


@functools.cache
def openat2():
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY | os.O_CLOEXEC, 0, 8)  # RESOLVE_BENEATH
    fd = LIBC.syscall(OPENAT2, -100, b".", how, ctypes.c_size_t(ctypes.sizeof(how)))
    if fd >= 0:
        os.close(fd)
    return fd >= 0


@functools.cache
def filters():
    """Whether a process may set a system-call filter: one that lets everything through."""
    def try_it():
        allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))  # return SECCOMP_RET_ALLOW
        program = struct.pack("HxxxxxxP", 1, ctypes.addressof(allow))
        return LIBC.prctl(38, 1, 0, 0, 0) == 0 and LIBC.prctl(22, 2, program, 0, 0) == 0
    return in_child(try_it)


@functools.cache
def listener():
    """Whether a process may have its system calls passed on to another one."""
    def try_it():
        allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
        program = struct.pack("HxxxxxxP", 1, ctypes.addressof(allow))
        number = {"x86_64": 317, "aarch64": 277}.get(os.uname().machine, -1)
        return LIBC.prctl(38, 1, 0, 0, 0) == 0 and LIBC.syscall(number, 1, 8, program) >= 0  # SET_MODE_FILTER, NEW_LISTENER
    return in_child(try_it)


@functools.cache
def tracing():
    """Whether a process may be traced by its parent."""
    return in_child(lambda: LIBC.ptrace(0, 0, None, None) == 0)


def answers():
    """Whether a tracer can replace the answer of a system call (tests/api/programs/landlock_abi.py)."""
    return os.uname().machine == "x86_64" and tracing()


@functools.cache
def namespaces():
    """Whether a process gets namespaces for mounts and processes, and may mount a /proc there."""
    def mount(source, where, kind, flags):
        return LIBC.mount(source, where, kind, ctypes.c_ulong(flags), None) == 0

    def try_it():
        user, group = os.geteuid(), os.getegid()
        if LIBC.unshare(NEWNS | NEWPID | NEWIPC) != 0:
            if LIBC.unshare(NEWUSER | NEWNS | NEWPID | NEWIPC) != 0:
                return False
            for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
                pathlib.Path("/proc/self", name).write_text(text, encoding="ascii")
        return mount(b"none", b"/", None, MS_REC | MS_PRIVATE) and mount(b"none", b"/tmp", b"tmpfs", 0) and \
            in_child(lambda: mount(b"proc", b"/proc", b"proc", 0))
    return in_child(try_it)


@functools.cache
def user_namespaces():
    return in_child(lambda: LIBC.unshare(NEWUSER | NEWNS) == 0)


@functools.cache
def mounts():
    """Whether this user may mount in a mount namespace without a user namespace around it."""
    return in_child(lambda: LIBC.unshare(NEWNS) == 0 and LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0
                    and LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0)


def root():
    return os.geteuid() == 0


def two_users():
    """Whether a test can become another user."""
    return root() and shutil.which("setpriv") is not None


def tool(name):
    return shutil.which(name) is not None


@functools.cache
def registry():
    """Whether the npm registry can be reached."""
    address = urllib.parse.urlsplit(os.environ.get("npm_config_registry", "https://registry.npmjs.org/"))
    proxy = urllib.parse.urlsplit(os.environ.get("https_proxy") or os.environ.get("HTTPS_PROXY") or "")
    where = proxy if proxy.hostname else address
    try:
        socket.create_connection((where.hostname, where.port or 443), timeout=10).close()
    except OSError:
        return False
    return True


@functools.cache
def exchange():
    """Whether two names can be exchanged where the tests have their files."""
    with tempfile.TemporaryDirectory() as place:
        names = [os.path.join(place, name) for name in "ab"]
        for name in names:
            os.mkdir(name)
        return LIBC.renameat2(-100, names[0].encode(), -100, names[1].encode(), 2) == 0


ATTRIBUTES = {
    "user.mark": b"x",
    "system.posix_acl_access": struct.pack("<I" + "HHI" * 4, 2, 1, 6, ONE, 2, 4, 1, 4, 4, ONE, 16, 4, ONE) +
                               struct.pack("<HHI", 32, 4, ONE),
    "security.capability": struct.pack("<5I", 0x02000000, 1 << 10, 0, 0, 0),
}


@functools.cache
def attribute(name):
    """Whether a file can have this extended attribute where the tests have their files."""
    with tempfile.NamedTemporaryFile() as file:
        try:
            os.setxattr(file.name, name, ATTRIBUTES[name])
        except OSError:
            return False
    return True


@functools.cache
def leases():
    with tempfile.NamedTemporaryFile() as file:
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError:
            return False
    return True


@functools.cache
def huge_files():
    with tempfile.NamedTemporaryFile() as file:
        try:
            os.truncate(file.name, 1 << 43)
        except OSError:
            return False
    return True


@functools.cache
def static_shell():
    """The shell for a root in which nothing else is."""
    path = shutil.which("busybox")
    return path is not None and b"ld-linux" not in pathlib.Path(path).read_bytes()[:65536]


@functools.cache
def recent_node():
    """Whether there is a node whose HTTP parser is as strict as ours."""
    if not tool("node"):
        return False
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    return int(version.strip().lstrip("v").split(".")[0]) >= 20


@functools.cache
def debian(version):
    path = pathlib.Path("/etc/debian_version")
    return path.exists() and path.read_text(encoding="ascii").startswith(version)


@functools.cache
def pcre2():
    return subprocess.run(["pkg-config", "--exists", "libpcre2-8"], check=False).returncode == 0


def sanitizers():
    """The builds with sanitizers are made everywhere."""
    return True
