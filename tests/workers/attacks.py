"""What code in a decoder that a file has taken over would try, for the tests of confinement."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pickle
import platform
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from palprep.values import Value

DONE = "done"


def tried(attempt: Callable[[], object]) -> str:
    """What came of it: the kind of error, or DONE."""
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return DONE


def read(path: str) -> str:
    return tried(Path(path).read_bytes)


def list_folder(path: str) -> str:
    return tried(lambda: os.listdir(path))  # noqa: PTH208


def write(path: str) -> str:
    return tried(lambda: Path(path).write_bytes(b"x"))


def replace_library() -> str:
    """A library that the next process would run."""
    return write(str(Path(json.__file__).parent / "new.py"))


def link(to: str, path: str) -> tuple[str, str]:
    return tried(lambda: Path(path).symlink_to(to)), tried(lambda: Path(path).hardlink_to(to))


def remove(path: str) -> str:
    return tried(Path(path).unlink)


def limit_the_parent() -> str:
    """Without any effect; a limit of no time would end it."""
    import resource  # noqa: PLC0415 -- POSIX alone has it

    of_cores = resource.getrlimit(resource.RLIMIT_CORE)
    return tried(lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, of_cores))


def connect(port: int) -> str:
    return tried(lambda: socket.create_connection(("127.0.0.1", port), 5))


def connect_by_another_call(family: int) -> str:
    """Past Python, as injected code would; with an old convention of calls, too, where there is
    one.
    """
    number = {"x86_64": 41, "aarch64": 198}[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, family, socket.SOCK_DGRAM, 0) < 0:
        return type(OSError(ctypes.get_errno(), "")).__name__
    return DONE


def call_by_the_other_convention() -> None:
    """getpid by the numbers of x32, which a filter of x86_64's numbers alone would let pass."""
    ctypes.CDLL(None).syscall(0x40000000 + 39)


def run(*command: str) -> str:
    return tried(lambda: subprocess.run(command, check=False, capture_output=True))


def output_of(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout + done.stderr


def pid_with(path: Path) -> int:
    """Opens the file, and says who did."""
    path.read_bytes()
    return os.getpid()


def run_what_was_written() -> str:
    """A program of the attacker's own, in the one folder that can be written to."""
    path = Path(os.environ["TMPDIR"], "program")
    path.write_bytes(Path(sys.executable).read_bytes())
    path.chmod(0o700)
    return run(str(path), "-c", "")


def run_from_memory() -> str:
    return tried(lambda: os.memfd_create("program"))


def leave_the_group() -> str:
    return tried(os.setsid)


def signal_the_parent() -> str:
    return tried(lambda: os.kill(os.getppid(), 0))


def trace_the_parent() -> str:
    number = {"x86_64": 101, "aarch64": 117}[platform.machine()]
    attach = 16
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, attach, os.getppid(), 0, 0) < 0:
        return type(OSError(ctypes.get_errno(), "")).__name__
    return DONE


def environment() -> dict[str, str]:
    return dict(os.environ)


def parents_environment() -> str:
    return read(f"/proc/{os.getppid()}/environ")


def in_a_thread_of_a_library(path: str) -> str:
    """Threads that started later are held, too."""
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(read(path)))
    thread.start()
    thread.join()
    return found[0]


def write_a_huge_file(path: str) -> str:
    with Path(path).open("wb") as file:
        return tried(lambda: file.truncate(1 << 40))


def take_many_descriptors() -> str:
    kept = []

    def take() -> None:
        while True:
            kept.append(os.open(os.devnull, os.O_RDONLY))

    return tried(take)


def dump_core_limit() -> int:
    import resource  # noqa: PLC0415 -- POSIX alone has it

    return resource.getrlimit(resource.RLIMIT_CORE)[1]


def raise_limits() -> str:
    import resource  # noqa: PLC0415 -- POSIX alone has it

    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    except (OSError, ValueError) as error:
        return type(error).__name__
    return DONE


def fork_on(most: int) -> None:
    """A fork bomb, with an end in case that nobody ends it."""
    give_up = time.monotonic() + 60
    for _ in range(most):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    while time.monotonic() < give_up:
        time.sleep(1)


def allocate_at_once() -> None:
    """More than any machine has, in one piece that is not touched."""
    ctypes.create_string_buffer(1 << 42)


class Payload:
    """Runs when it is unpickled."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.mark,)


def _raw(message: bytes, size: int | None = None) -> None:
    """Say something in the place of an answer, over the one socket that there is."""
    head = struct.pack("!Q", len(message) if size is None else size)
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                os.write(number, head + message)
    time.sleep(30)


def answer_with_pickle(mark: str) -> None:
    _raw(pickle.dumps(Payload(mark)))


def answer_with_nonsense(message: str) -> None:
    _raw(message.encode("utf-8", "surrogatepass"))


def answer_without_end() -> None:
    _raw(b"", 1 << 62)


def answer_by_halves() -> None:
    _raw(b"[", 1000)


class Found(Value):
    """A value with a path, like a prepared file."""

    path: Path


def answer_with_path(path: str) -> Found:
    return Found(path=Path(path))


def answer_with_foreign_error(mark: str) -> None:
    """An error that names a class outside palprep's tree, and the process that has ended."""
    error = {"kinds": ["SystemExit", "os.mkdir"], "message": mark, "context": {"pid": 1}}
    _raw(json.dumps(["Failed", error]).encode())


def call_what_is_no_callback(told: Callable[[int], None]) -> None:
    _raw(json.dumps(["Called", {"name": "__class__", "value": 1}]).encode())


def tell_another_type(told: Callable[[int], None]) -> None:
    _raw(json.dumps(["Called", {"name": "told", "value": "/etc/passwd"}]).encode())
