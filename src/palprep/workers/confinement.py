"""What a worker gives up before it sees a stranger's file: rights, files, sockets, time.

By ctypes over prctl(2), seccomp(2) and landlock(7). Of the bindings on PyPI, ``landlock`` is a
development release of 2023 and ``pyseccomp`` needs a libseccomp that wheels do not bring.

All of it is inherited by threads and programs that start later, and none can be taken back. What a
kernel does not offer is left out, and said.

The system calls that no decoder needs are refused by the kernel's filter: they fail with EPERM, and
the process goes on; a library that only tries does without. It is a list of what is refused, not of
what is allowed. The latter would be stronger, and would break with each version of libc, Python,
ONNX Runtime or ffmpeg that uses a new call.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

_FILE_BYTES = 16 << 30
"""The largest file that a worker may write: twice the largest that is read."""

_OPEN_FILES = 1024

_RESERVED_BYTES = 8 << 30
"""Memory that may be reserved beyond what may be held: decoders and networks never touch all of it.
What they hold is measured from outside; this limit stops what grows faster than it is measured."""

_SET_DUMPABLE, _SET_SECCOMP, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = 4, 22, 36, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITIES_VERSION = 0x20080522
_TO_FILES = 0b11111
"""CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER and CAP_FSETID."""

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PATH_BENEATH = 1

# The rights of landlock(7). Its later versions know more of them.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << n for n in range(6))
_MAKE_DIR, _MAKE_REG, _REFER, _TRUNCATE = 1 << 7, 1 << 8, 1 << 13, 1 << 14
_RIGHTS_BY_VERSION = ((1, (1 << 13) - 1), (2, _REFER), (3, _TRUNCATE), (5, 1 << 15))
_SCOPED_SINCE = 6
"""The version from which no signal reaches a process outside."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG
"""No links and no devices: a link in an output folder would lead whoever reads it elsewhere."""

_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
    *("/etc/ssl/openssl.cnf", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/self", "/proc/sys/vm"),
    *("/sys/devices", "/sys/bus/pci", "/sys/class/drm", "/sys/fs/cgroup"),
    *("/dev/urandom", "/dev/random", "/dev/zero"),
)
"""What libraries and the loader of programs read."""

_LOADER = re.compile(rb"/[\w./+-]*/ld-[\w.-]+\.so(?:\.\d+)?")


class Confinement(NamedTuple):
    """What one worker may open: paths without links, since none is followed here. It reads
    ``libraries``, and ``reads``: files, or folders with all below them, which it cannot list. It
    writes below ``writes`` and in its own ``folder``, too, and runs ``programs``."""

    folder: str
    libraries: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    programs: tuple[str, ...]
    memory_bytes: int


class Protections(NamedTuple):
    """Which protections this system gives. ``landlock`` is its version, 0 where there is none."""

    no_new_rights: bool = False
    undebuggable: bool = False
    resource_limits: bool = False
    system_calls: bool = False
    landlock: int = 0


class Isolation(NamedTuple):
    """One thing that a worker must not do: whether it is ``held`` back from it here, in words, and
    what the system lacks where it is not.
    """

    name: str
    held: bool
    words: str
    lacks: str | None


_LANDLOCK = "This needs Linux 5.13 or later with landlock, outside containers that forbid it"
_SCOPES = "This needs Linux 6.12 or later with landlock, outside containers that forbid it"
_SECCOMP = "This needs Linux on x86_64 or aarch64, outside containers that forbid seccomp"
_LINUX = "This needs Linux"


def isolation(given: Protections) -> tuple[Isolation, ...]:
    """What processes that open media are kept from here; of the rest, what the system lacks."""
    files = given.landlock > 0
    kinds = (
        ("reading", files, "open no files of yours but those that they are given", _LANDLOCK),
        ("writing", files, "write nowhere but into the output folder", _LANDLOCK),
        ("programs", files, "run no program but ffmpeg", _LANDLOCK),
        ("network", given.system_calls, "open no connection", _SECCOMP),
        ("processes", given.landlock >= _SCOPED_SINCE, "reach no other process", _SCOPES),
        ("environment", True, "know no key and no credentials", _LINUX),
        ("rights", given.no_new_rights, "get no more rights", _LINUX),
        ("debugging", given.undebuggable, "can be read by no program, and dump no core", _LINUX),
        ("resources", given.resource_limits, "have limits of files and processes", _LINUX),
    )
    return tuple(
        Isolation(name, held, words, None if held else lacks) for name, held, words, lacks in kinds
    )


def confine(asked: Confinement) -> Protections:
    """Confine this process for good. It must have no second thread yet: landlock is by thread."""
    limited = _limit(asked.memory_bytes)
    if sys.platform != "linux":
        return Protections(resource_limits=limited)
    system = ctypes.CDLL(None, use_errno=True)
    no_new_rights = system.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    # Programs whose parent has ended become this process's own, and count as its own.
    system.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _drop_capabilities(system)
    undebuggable = system.prctl(_SET_DUMPABLE, 0, 0, 0, 0) == 0
    return Protections(
        no_new_rights,
        undebuggable,
        limited,
        landlock=_close_files(system, asked),
        system_calls=_close_system_calls(system),
    )


def _drop_capabilities(system: ctypes.CDLL) -> None:
    """Leave root only its rights to files: root may be asked to work at others' files."""
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    held = ctypes.create_string_buffer(24)
    if system.capget(header, held) == 0:
        effective, permitted = struct.unpack_from("=II", held)
        kept = (effective & _TO_FILES, permitted & _TO_FILES, 0, 0, 0, 0)
        system.capset(header, struct.pack("=6I", *kept))


def _limit(memory_bytes: int) -> bool:
    try:
        import resource  # noqa: PLC0415 -- POSIX alone has it

        limits = {
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: _FILE_BYTES,
            resource.RLIMIT_NOFILE: _OPEN_FILES,
            resource.RLIMIT_DATA: min(memory_bytes + _RESERVED_BYTES, sys.maxsize),
        }
        # It counts all that the user runs, in other containers, too: the user keeps half of it.
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        if most != resource.RLIM_INFINITY:
            limits[resource.RLIMIT_NPROC] = max(1, most // 2)
        for kind, limit in limits.items():
            _, most = resource.getrlimit(kind)
            allowed = limit if most == resource.RLIM_INFINITY else min(limit, most)
            resource.setrlimit(kind, (allowed, allowed))
    except (ImportError, OSError, ValueError):
        return False
    return True


def _close_system_calls(system: ctypes.CDLL) -> bool:
    numbers = ARCHITECTURES.get(platform.machine())
    if numbers is None or sys.maxsize < 1 << 32:
        return False
    program = b"".join(struct.pack("=HBBI", *each) for each in _program(numbers))
    code = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(
        struct.pack("HP", len(program) // 8, ctypes.addressof(code))
    )
    return bool(system.prctl(_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0) == 0)


def _close_files(system: ctypes.CDLL, asked: Confinement) -> int:
    """The version of landlock that now holds this process, 0 for none."""
    call = system.syscall
    version: int = call(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return 0
    handled = sum(rights for since, rights in _RIGHTS_BY_VERSION if version >= since)
    net = 0b11 if version >= 4 else 0
    scoped = 0b11 if version >= _SCOPED_SINCE else 0
    # A kernel takes no more of the structure than its version knows.
    size = 24 if version >= _SCOPED_SINCE else 16 if version >= 4 else 8
    ruleset = call(
        _LANDLOCK_CREATE, struct.pack("QQQ", handled, net, scoped), ctypes.c_size_t(size), 0
    )
    if ruleset < 0:
        return 0
    try:
        for rights, paths in _rules(asked):
            for path in paths:
                _allow(system, ruleset, path, rights & handled)
        return version if call(_LANDLOCK_RESTRICT, ruleset, 0) == 0 else 0
    finally:
        os.close(ruleset)


def _rules(asked: Confinement) -> Iterable[tuple[int, Iterable[str]]]:
    yield _READ, (*_SYSTEM, *asked.libraries)
    yield _READ_FILE, asked.reads
    yield _WRITE | _REFER, (asked.folder, *asked.writes)
    yield _READ_FILE | _WRITE_FILE, ("/dev/null",)
    yield _READ_FILE | _EXECUTE, (*asked.programs, *filter(None, map(_loader_of, asked.programs)))


def _loader_of(program: str) -> str | None:
    """The loader that a program names in its head (ELF's PT_INTERP); None for one without."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123 -- a path from outside, as it stands
            found = _LOADER.search(file.read(4096))
    except OSError:
        return None
    return os.path.realpath(os.fsdecode(found[0])) if found else None


def _allow(system: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    """Add the rights at a path, where there is one."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 -- called for dozens of paths
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        system.syscall(_LANDLOCK_ADD, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


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
"""System calls by why they are refused, with their numbers on x86_64 and on aarch64."""

_CALL = re.compile(r"(\w+) (\d+) (\d+|-)")


class Numbers(NamedTuple):
    """The system calls of one architecture: what the kernel calls it, and their numbers."""

    audit: int
    refused: frozenset[int]
    clone: int
    clone3: int
    ioctl: int
    prlimit: int
    foreign: int | None = None
    """From here on the numbers are those of another convention (x32)."""


def _refused(column: int) -> frozenset[int]:
    found = (call[column] for call in _CALL.finditer(_REFUSED))
    return frozenset(int(number) for number in found if number.isdigit())


ARCHITECTURES: Mapping[str, Numbers] = {
    "x86_64": Numbers(0xC000003E, _refused(2), 56, 435, ioctl=16, prlimit=302, foreign=1 << 30),
    "aarch64": Numbers(0xC00000B7, _refused(3), 220, 435, ioctl=29, prlimit=261),
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


def _program(numbers: Numbers) -> Iterator[_Instruction]:
    """The filter: the fields of each ``struct sock_filter``."""
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, numbers.audit
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    if numbers.foreign is not None:
        yield from _where(_NOT_BELOW, numbers.foreign, _KILL)
    for number in sorted(numbers.refused):
        yield from _where(_EQUAL, number, _FAIL | errno.EPERM)
    # The flags of clone3 lie in memory, where no filter sees them. libc then takes clone.
    yield from _where(_EQUAL, numbers.clone3, _FAIL | errno.ENOSYS)
    yield from _with_argument(numbers.clone, _FIRST, [(_ANY_BIT, _NAMESPACES)])
    yield from _with_argument(numbers.ioctl, _SECOND, [(_EQUAL, it) for it in _TERMINAL_INPUT])
    # Of another process: a limit of no processor time would end any one of the user's.
    yield from _with_argument(numbers.prlimit, _FIRST, [(_ANY_BIT, 0xFFFFFFFF)])
    yield _RETURN, 0, 0, _ALLOW


def _where(test: int, value: int, answer: int) -> Iterator[_Instruction]:
    yield test, 0, 1, value
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
