"""landlock_abi.py ABI PROGRAM ...: runs it as on a kernel with that version of Landlock's interface.

Only the question which version it is gets another answer, from a process that traces the program and all it starts;
a program that asks first restricts no more than such a kernel could. Other calls do not stop.
"""
import ctypes
import os
import signal
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long] * 4
X86_64, CREATE_RULESET, VERSION = 0xC000003E, 444, 1
LOAD, EQUAL, RETURN, TRACE, ALLOW = 0x20, 0x15, 0x06, 0x7FF00000, 0x7FFF0000
SEIZE, CONT, LISTEN, POKEUSER = 0x4206, 7, 0x4208, 6
FORK, VFORK, CLONE, EXEC, SECCOMP, STOP = 1, 2, 3, 4, 7, 128  # PTRACE_EVENT_…
OPTIONS = sum(1 << event for event in (FORK, VFORK, CLONE, EXEC, SECCOMP))
ORIG_RAX, RAX = 15 * 8, 10 * 8
ALL = 0x40000000  # __WALL
STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def filter_question():
    """Hand the question to the tracer: create_ruleset with the flag VERSION."""
    lines = [(LOAD, 0, 0, 4), (EQUAL, 0, 5, X86_64), (LOAD, 0, 0, 0), (EQUAL, 0, 3, CREATE_RULESET),
             (LOAD, 0, 0, 16 + 2 * 8), (EQUAL, 0, 1, VERSION), (RETURN, 0, 0, TRACE), (RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HP", len(lines), ctypes.addressof(code))
    if LIBC.prctl(38, 1, 0, 0, 0) < 0 or LIBC.prctl(22, 2, ctypes.c_char_p(program), 0, 0) < 0:
        sys.exit("the filter is refused")


def trace(pid, abi, ready):
    if LIBC.ptrace(SEIZE, pid, 0, OPTIONS) < 0:
        sys.exit("the program cannot be traced")
    os.close(ready)
    while True:
        try:
            pid, status = os.waitpid(-1, ALL)
        except ChildProcessError:
            return
        if not os.WIFSTOPPED(status):
            continue
        number, event = os.WSTOPSIG(status), status >> 16
        if event == SECCOMP:
            LIBC.ptrace(POKEUSER, pid, ORIG_RAX, -1)  # no call is made …
            LIBC.ptrace(POKEUSER, pid, RAX, abi)  # … and this is its result
        if event == STOP and number in STOPS:
            LIBC.ptrace(LISTEN, pid, 0, 0)
        else:
            LIBC.ptrace(CONT, pid, 0, 0 if event else number)


def main():
    abi, me = int(sys.argv[1]), os.getpid()
    ours, its = os.pipe()
    LIBC.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)  # Yama: any process may trace this one
    child = os.fork()
    if child == 0:
        os.close(ours)
        if os.fork() == 0:  # no child of the program
            trace(me, abi, its)
        os._exit(0)
    os.close(its)
    os.waitpid(child, 0)
    os.read(ours, 1)
    os.close(ours)
    filter_question()
    # The search for leaks is a tracer, too, and there can be only one.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
