"""attempts.py CONTEXT: tries what a sandboxed command must not be able to do, and what it must.

Runs as a command. CONTEXT is a JSON file that names what belongs to the test: files, processes and
sockets outside the workspace. Nothing else is touched, so that every attempt may succeed. Each is
made by a process of its own; printed is one JSON object: the name of each, and why it failed, or null.
"""
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import signal
import socket
import struct
import sys
import termios

LIBC = ctypes.CDLL(None, use_errno=True)
# add_key, keyctl, process_vm_readv, kcmp, io_uring_setup, pidfd_open, pidfd_getfd, bpf, ioprio_set
NUMBERS = {"x86_64": (248, 250, 310, 312, 425, 434, 438, 321, 251),
           "aarch64": (217, 219, 270, 272, 425, 434, 438, 280, 30)}
ADD_KEY, KEYCTL, VM_READV, KCMP, IO_URING, PIDFD_OPEN, PIDFD_GETFD, BPF, IOPRIO = NUMBERS.get(platform.machine(), (-1,) * 9)
OPEN_TREE, OPEN_TREE_ATTR = 428, 467
NOBODY = 54321  # a user without processes
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
PTRACE_TRACEME, PTRACE_CONT, PTRACE_SEIZE = 0, 7, 0x4206


def checked(result, what="call"):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (what, os.strerror(number)))
    return result


def syscall(number, *arguments):
    return checked(LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]))


def overwrite(path, flags=0, dir_fd=None):
    fd = os.open(path, os.O_WRONLY | flags, 0o600, dir_fd=dir_fd)
    os.write(fd, b"changed")
    os.close(fd)


def spawner(context):
    """Its number, which in a namespace of its own is 1. All commands inherit what it is given."""
    with open("/proc/1/comm") as f:
        return 1 if f.read() == "sidecar-spawner\n" else context["spawner"]


class Files:
    """Of a directory outside in which `file` exists; one directory for each attempt."""

    def write(self, at):
        overwrite(at + "/file")

    def append(self, at):
        overwrite(at + "/file", os.O_APPEND)

    def create(self, at):
        overwrite(at + "/new", os.O_CREAT | os.O_EXCL)

    def make_directory(self, at):
        os.mkdir(at + "/new")

    def make_pipe(self, at):
        os.mkfifo(at + "/new")

    def make_symlink(self, at):
        os.symlink("file", at + "/new")

    def rename(self, at):
        os.rename(at + "/file", at + "/new")

    def rename_in(self, at):
        os.rename(at + "/file", "renamed-in")

    def rename_out(self, at):
        overwrite("to-be-renamed", os.O_CREAT)
        os.rename("to-be-renamed", at + "/new")

    def link(self, at):
        os.link(at + "/file", at + "/new")

    def link_in_and_write(self, at):
        os.link(at + "/file", "linked-in")
        overwrite("linked-in")

    def truncate(self, at):
        os.truncate(at + "/file", 0)

    def truncate_by_opening(self, at):
        os.close(os.open(at + "/file", os.O_WRONLY | os.O_TRUNC))

    def remove(self, at):
        os.unlink(at + "/file")

    def through_proc_self_root(self, at):
        overwrite("/proc/self/root" + at + "/file")

    def through_proc_self_cwd(self, at):
        overwrite("/proc/self/cwd/" + os.path.relpath(at) + "/file")

    def through_a_symlink_made_inside(self, at):
        os.symlink(at + "/file", "way-out")
        overwrite("way-out")

    def through_a_directory_descriptor(self, at):
        overwrite("file", dir_fd=os.open(at, os.O_PATH))

    def through_a_reopened_descriptor(self, at):
        fd = os.open(at + "/file", os.O_RDONLY)
        overwrite("/proc/self/fd/%d" % fd)

    def change_mode(self, at):
        os.chmod(at + "/file", 0o4777)

    def change_mode_by_a_relative_name(self, at):
        """From the working directory up: it must not belong to the server's mounts."""
        os.chmod("../outside/" + os.path.basename(at) + "/file", 0o4777)

    def change_mode_by_a_descriptor(self, at):
        os.fchmod(os.open(at + "/file", os.O_RDONLY), 0o4777)

    def change_times(self, at):
        os.utime(at + "/file", (1, 1))

    def change_attributes(self, at):
        os.setxattr(at + "/file", "user.sidecar", b"x")


class Machine:
    """Calls that reach beyond files; `c` is the context."""

    def mount(self, c):
        os.makedirs("mounted", exist_ok=True)
        checked(LIBC.mount(b"none", b"mounted", b"tmpfs", 0, None), "mount")
        checked(LIBC.umount2(b"mounted", 2), "umount")

    def open_a_tree_of_mounts(self, c):
        os.close(syscall(OPEN_TREE, -100, ctypes.c_char_p(b"."), 0))

    def open_a_tree_with_attributes(self, c):
        os.close(syscall(OPEN_TREE_ATTR, -100, ctypes.c_char_p(b"."), 0, 0, 0))

    def unshare_mounts(self, c):
        checked(LIBC.unshare(CLONE_NEWNS), "unshare")

    def unshare_user(self, c):
        checked(LIBC.unshare(CLONE_NEWUSER), "unshare")

    def trace_another(self, c):
        checked(LIBC.ptrace(PTRACE_SEIZE, c["victim"], 0, 0), "ptrace")

    def trace_the_server(self, c):
        checked(LIBC.ptrace(PTRACE_SEIZE, c["server"], 0, 0), "ptrace")

    def read_memory_of_the_server(self, c):
        os.close(os.open("/proc/%d/mem" % c["server"], os.O_RDONLY))

    def read_environment_of_the_server(self, c):
        with open("/proc/%d/environ" % c["server"], "rb") as f:
            f.read(1)

    def open_a_descriptor_of_the_server(self, c):
        os.close(os.open("/proc/%d/fd/2" % c["server"], os.O_WRONLY | os.O_APPEND))

    def limit_another(self, c):
        resource.prlimit(c["victim"], resource.RLIMIT_CORE)

    def slow_down_the_spawner(self, c):
        pid = spawner(c)
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))

    def slow_down_all_of_a_user(self, c):
        try:
            os.setpriority(os.PRIO_USER, NOBODY, 0)
        except ProcessLookupError:
            pass

    def tie_the_spawner_to_a_processor(self, c):
        os.sched_setaffinity(spawner(c), os.sched_getaffinity(spawner(c)))

    def schedule_the_spawner(self, c):
        os.sched_setscheduler(spawner(c), os.SCHED_OTHER, os.sched_param(0))

    def slow_down_the_files_of_the_spawner(self, c):
        syscall(IOPRIO, 1, spawner(c), 0)

    def reach_the_server(self, c):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(c["socket"])

    def write_through_the_root_of_another(self, c):
        overwrite("/proc/%d/root%s/file" % (c["victim"], c["outside"] + "/root-of-another"))

    def process_vm_readv(self, c):
        local = ctypes.create_string_buffer(1)
        vector = struct.pack("PN", ctypes.addressof(local), 1)
        remote = struct.pack("PN", c["address"], 1)
        syscall(VM_READV, c["victim"], ctypes.c_char_p(vector), 1, ctypes.c_char_p(remote), 1, 0)

    def kcmp(self, c):
        syscall(KCMP, c["victim"], c["victim"], 1, 0, 0)

    def pidfd_getfd(self, c):
        os.close(syscall(PIDFD_GETFD, syscall(PIDFD_OPEN, c["victim"], 0), 0, 0))

    def signal_another(self, c):
        os.kill(c["victim"], signal.SIGCONT)

    def signal_the_server(self, c):
        os.kill(c["server"], 0)

    def signal_by_pidfd(self, c):
        signal.pidfd_send_signal(os.pidfd_open(c["victim"]), 0)

    def abstract_socket(self, c):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect("\0" + c["abstract"])

    def type_into_a_terminal(self, c):
        _, slave = os.openpty()
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        fcntl.ioctl(slave, termios.TIOCSTI, b"x")

    def io_uring(self, c):
        os.close(syscall(IO_URING, 1, ctypes.create_string_buffer(256)))

    def add_key(self, c):
        syscall(ADD_KEY, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"sidecar-test"), ctypes.c_char_p(b"x"), 1, -2)

    def keyrings(self, c):
        syscall(KEYCTL, 0, -3, 1)

    def bpf(self, c):
        """A map of one array element."""
        os.close(syscall(BPF, 0, ctypes.create_string_buffer(struct.pack("IIII", 2, 4, 4, 1).ljust(128, b"\0")), 128))

    def raw_socket(self, c):
        socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()

    def packet_socket(self, c):
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()

    def give_a_file_away(self, c):
        overwrite("given", os.O_CREAT)
        os.chown("given", 12345, 12345)

    def make_a_device(self, c):
        os.mknod("null", 0o20600, os.makedev(1, 3))

    def open_a_kernel_setting(self, c):
        os.close(os.open("/proc/sys/kernel/domainname", os.O_WRONLY))

    def become_another_user(self, c):
        os.setuid(12345)

    def an_inherited_descriptor(self, c):
        """Any that leads out, but for the three that every program has."""
        for name in os.listdir("/proc/self/fd"):
            target = os.readlink("/proc/self/fd/" + name) if os.path.islink("/proc/self/fd/" + name) else ""
            if int(name) > 2 and target.startswith(c["outside"]):
                return overwrite("file", dir_fd=int(name))
        raise OSError(errno.EBADF, "no such descriptor")


class Network:
    """With no network: neither the Internet nor programs of this machine."""

    def tcp(self, c):
        socket.create_connection(("127.0.0.1", c["tcp"]), 5).close()

    def udp(self, c):
        """Connected, so that it is told when nobody is there."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(5)
            s.connect(("127.0.0.1", c["udp"]))
            s.send(b"ping")
            s.recv(10)

    def socket_of_another(self, c):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(c["pathname"])

    def datagram_to_another(self, c):
        left, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        left.sendto(b"ping", c["datagram"])

    def datagram_under_another_type(self, c):
        left, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)  # the kernel makes it SOCK_DGRAM
        left.sendto(b"ping", c["datagram"])


class Secrets:
    """Read, of what strict does not show."""

    def shadow(self, c):
        os.close(os.open("/etc/shadow", os.O_RDONLY))

    def what_not_everybody_may_read(self, c):
        """Any file in /etc; the directory above it may be closed to others instead."""
        for top, dirs, files in os.walk("/etc"):
            for name in files:
                path = os.path.join(top, name)
                if not os.path.islink(path) and not os.stat(path).st_mode & 0o4:
                    with contextlib.suppress(PermissionError):
                        return os.close(os.open(path, os.O_RDONLY))
        raise OSError(errno.EACCES, "none can be read")

    def another_file(self, c):
        os.close(os.open(c["outside"] + "/secret/file", os.O_RDONLY))

    def another_home(self, c):
        os.listdir(c["home"])

    def a_key_in_another_home(self, c):
        os.close(os.open(c["home"] + "/.ssh/id", os.O_RDONLY))


class Inside:
    """Changes of the workspace itself."""

    def create(self, c):
        overwrite("created", os.O_CREAT)

    def write(self, c):
        overwrite("existing")

    def truncate(self, c):
        os.truncate("existing", 1)

    def make_directory(self, c):
        os.mkdir("made")

    def rename(self, c):
        os.rename("renamed", "renamed-2")

    def link(self, c):
        os.link("existing", "linked")

    def remove(self, c):
        os.unlink("removed")


class Ordinary:
    """What programs do all day."""

    def temporary_file(self, c):
        import tempfile  # where TMPDIR says
        with tempfile.TemporaryFile() as f:
            f.write(b"x")

    def devices(self, c):
        overwrite("/dev/null")
        os.read(os.open("/dev/urandom", os.O_RDONLY), 1)

    def trace_a_child(self, c):
        pid = os.fork()
        if pid == 0:
            LIBC.ptrace(PTRACE_TRACEME, 0, 0, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(7)
        assert os.WIFSTOPPED(os.waitpid(pid, 0)[1])
        checked(LIBC.ptrace(PTRACE_CONT, pid, 0, 0), "ptrace")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7

    def signal_a_child(self, c):
        pid = os.fork()
        if pid == 0:
            signal.pause()
        os.kill(pid, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM

    def priorities_of_its_own(self, c):
        me = os.getpid()
        os.setpriority(os.PRIO_PROCESS, me, 19)
        os.setpriority(os.PRIO_PGRP, 0, 19)
        os.sched_setaffinity(me, os.sched_getaffinity(me))

    def pair_of_sockets(self, c):
        left, right = socket.socketpair()
        left.send(b"x")
        assert right.recv(1) == b"x"

    def threads(self, c):
        import threading
        t = threading.Thread(target=lambda: None)
        t.start()
        t.join()

    def read_the_system(self, c):
        os.listdir("/usr/bin")
        os.close(os.open("/etc/passwd", os.O_RDONLY))


def outcome(attempt, argument):
    """Made by a child, for what one attempt leaves must not help or hinder another."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        try:
            attempt(argument)
            why = b""
        except Exception as e:  # an attempt fails as it likes
            why = (str(e) or type(e).__name__).encode()
        os.write(writing, b"!" + why)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as f:
        said = f.read()
    status = os.waitpid(pid, 0)[1]
    if not said:
        return "ended with status %d" % os.waitstatus_to_exitcode(status)
    return said[1:].decode(errors="replace") or None


def main():
    with open(sys.argv[1]) as f:
        context = json.load(f)
    results = {}
    for group in (Files, Machine, Network, Secrets, Inside, Ordinary):
        names = [name for name in vars(group) if not name.startswith("_")]
        for name in names:
            argument = context["outside"] + "/" + name if group is Files else context
            results["%s.%s" % (group.__name__, name)] = outcome(getattr(group(), name), argument)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
