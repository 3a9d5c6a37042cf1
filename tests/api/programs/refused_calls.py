"""refused_calls.py NAME=ERROR,... PROGRAM ...: runs it as on a kernel, or under a rule, that refuses these system calls.

Yama's ptrace_scope=2 is process_vm_readv=EPERM,pidfd_getfd=EPERM; a kernel without Landlock landlock_create_ruleset=ENOSYS.
A system-call filter refuses them: for this program and all it starts only.
"""
import ctypes
import errno
import os
import platform
import struct
import sys

# audit architecture, and the numbers that differ
MACHINES = {
    "x86_64": (0xC000003E, {"process_vm_readv": 310}),
    "aarch64": (0xC00000B7, {"process_vm_readv": 270}),
}
COMMON = {"pidfd_getfd": 438, "mount_setattr": 442, "landlock_create_ruleset": 444}
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06


def program(arch, refused):
    code = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, arch), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, 0)]
    for number, error in refused:
        code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERRNO | error)]
    return b"".join(struct.pack("HBBI", *one) for one in [*code, (RETURN, 0, 0, ALLOW)])


def main():
    arch, own = MACHINES[platform.machine()]
    numbers = {**COMMON, **own}
    pairs = (pair.split("=") for pair in sys.argv[1].split(","))
    code = program(arch, [(numbers[name], getattr(errno, error)) for name, error in pairs])
    text = ctypes.create_string_buffer(code)
    filters = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) < 0 or libc.prctl(22, 2, ctypes.c_char_p(filters), 0, 0) < 0:
        sys.exit("the filter is refused: " + os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
