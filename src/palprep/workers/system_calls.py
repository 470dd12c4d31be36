"""The system calls that no decoder needs, as a program for the kernel's filter (seccomp(2)).

What is refused fails with EPERM, and the process goes on: a library that only tries does without.
It is a list of what is refused, not of what is allowed. The latter would be stronger, and would
break with each version of libc, Python, ONNX Runtime or ffmpeg that uses a new call.
"""

from __future__ import annotations

import errno
import re
import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_REFUSED = """
The network, and other programs' sockets. The pipe to the process outside is there already:
    socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242
Files past the check of their paths: by mount, by handle, by a queue of requests:
    mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, setns 308 268, unshare 272 97,
    open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432,
    fspick 433 433, mount_setattr 442 442, open_tree_attr 467 467,
    name_to_handle_at 303 264, open_by_handle_at 304 265,
    io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427
Other processes, and memory that they share:
    ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272,
    pidfd_send_signal 424 424, pidfd_getfd 438 438, process_madvise 440 440,
    shmget 29 194, shmat 30 196, msgget 68 186, semget 64 190, mq_open 240 180
A group of processes of its own, which the end of this one would not reach:
    setsid 112 157, setpgid 109 154
Programs that lie in no file:
    execveat 322 281, memfd_create 319 279, memfd_secret 447 447
Keys, and what many holes of kernels were found in:
    add_key 248 217, request_key 249 218, keyctl 250 219, bpf 321 280, perf_event_open 298 241,
    userfaultfd 323 282, personality 135 92, modify_ldt 154 -, iopl 172 -, ioperm 173 -
The machine:
    kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273,
    delete_module 176 106, swapon 167 224, swapoff 168 225, reboot 169 142, acct 163 89,
    syslog 103 116, quotactl 179 60, settimeofday 164 170, clock_settime 227 112,
    adjtimex 159 171, clock_adjtime 305 266, sethostname 170 161, setdomainname 171 162,
    vhangup 153 58
"""
"""Why, and which: their numbers on x86_64 and on aarch64."""

_CALL = re.compile(r"(\w+) (\d+) (\d+|-)")


class Numbers(NamedTuple):
    """The system calls of one architecture: what the kernel calls it, and their numbers."""

    audit: int
    refused: frozenset[int]
    clone: int
    clone3: int
    ioctl: int
    foreign: int | None = None
    """From here on the numbers are those of another convention (x32)."""


def _refused(column: int) -> frozenset[int]:
    found = (call[column] for call in _CALL.finditer(_REFUSED))
    return frozenset(int(number) for number in found if number.isdigit())


ARCHITECTURES: Mapping[str, Numbers] = {
    "x86_64": Numbers(0xC000003E, _refused(2), clone=56, clone3=435, ioctl=16, foreign=1 << 30),
    "aarch64": Numbers(0xC00000B7, _refused(3), clone=220, clone3=435, ioctl=29),
}
"""By the name that ``uname -m`` gives."""

_NAMESPACES = 0x7E020000
"""The flags of clone(2) that make a namespace."""

_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX type into the terminal of whoever started this."""

# struct seccomp_data: nr, arch, instruction pointer, six arguments of 8 bytes; little-endian.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_LOAD, _EQUAL, _NOT_BELOW, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000

_Instruction = tuple[int, int, int, int]


def filter_for(numbers: Numbers) -> bytes:
    """The filter, as an array of ``struct sock_filter``."""
    return b"".join(struct.pack("=HBBI", *each) for each in _program(numbers))


def _program(numbers: Numbers) -> Iterator[_Instruction]:
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield from _unless(_EQUAL, numbers.audit, _KILL)
    yield _LOAD, 0, 0, _NUMBER
    if numbers.foreign is not None:
        yield from _where(_NOT_BELOW, numbers.foreign, _KILL)
    for number in sorted(numbers.refused):
        yield from _where(_EQUAL, number, _FAIL | errno.EPERM)
    # Its flags lie in memory, where no filter sees them. libc then takes clone.
    yield from _where(_EQUAL, numbers.clone3, _FAIL | errno.ENOSYS)
    yield from _with_argument(numbers.clone, _FIRST, [(_ANY_BIT, _NAMESPACES)])
    yield from _with_argument(numbers.ioctl, _SECOND, [(_EQUAL, it) for it in _TERMINAL_INPUT])
    yield _RETURN, 0, 0, _ALLOW


def _where(test: int, value: int, answer: int) -> Iterator[_Instruction]:
    yield test, 0, 1, value
    yield _RETURN, 0, 0, answer


def _unless(test: int, value: int, answer: int) -> Iterator[_Instruction]:
    yield test, 1, 0, value
    yield _RETURN, 0, 0, answer


def _with_argument(
    number: int, argument: int, refused: list[tuple[int, int]]
) -> Iterator[_Instruction]:
    """Refuse a call where its argument is one of these; allow it where it is not."""
    yield _EQUAL, 0, 2 + 2 * len(refused), number
    yield _LOAD, 0, 0, argument
    for test, value in refused:
        yield from _where(test, value, _FAIL | errno.EPERM)
    yield _RETURN, 0, 0, _ALLOW
