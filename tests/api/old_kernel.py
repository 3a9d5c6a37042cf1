#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""old_kernel.py PROGRAM [ARGUMENT...]: runs a program as if the kernel were Linux 4.4: every later system
call that it or its C library might use answers ENOSYS. What cannot be taken away by a filter (flags of old
calls, files in /proc) stays."""
import ctypes
import os
import platform
import struct
import sys

# name, x86_64, everywhere else (numbers are common from 424 on)
LATER = [
    ("statx", 332, 291), ("pkey_mprotect", 329, 288), ("preadv2", 327, 286), ("copy_file_range", 326, 285),
    ("io_pgetevents", 333, 292), ("rseq", 334, 293),
]
COMMON = range(424, 470)  # pidfd_send_signal … openat2, close_range, faccessat2, landlock_*, epoll_pwait2 …

ALLOW, ERRNO, ENOSYS = 0x7FFF0000, 0x00050000, 38
LD_NR, JUMP_IF_EQUAL, JUMP_IF_GREATER, RETURN = 0x20, 0x15, 0x25, 0x06


def instructions():
    numbers = [x86 if platform.machine() == "x86_64" else other for _, x86, other in LATER]
    code = [(LD_NR, 0, 0, 0)]
    for number in numbers:
        code += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, ERRNO | ENOSYS)]
    code += [
        (JUMP_IF_GREATER, 0, 2, COMMON.start - 1), (JUMP_IF_GREATER, 1, 0, COMMON.stop - 1),
        (RETURN, 0, 0, ERRNO | ENOSYS), (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *one) for one in code), len(code)


def pretend():
    """Take the later calls away from this process and all it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    text, count = instructions()
    buffer = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxP", count, ctypes.addressof(buffer))
    set_no_new_privs, set_seccomp, filter_mode = 38, 22, 2
    if libc.prctl(set_no_new_privs, 1, 0, 0, 0) or libc.prctl(set_seccomp, filter_mode, program, 0, 0):
        raise OSError(ctypes.get_errno(), "the filter cannot be set")


if __name__ == "__main__":
    pretend()
    os.execv(sys.argv[1], sys.argv[1:])
