"""Differences between operating systems: file locks, signals, process groups, freed memory, daemon
threads.

The tests run on Linux. macOS has the same, and Windows gets a substitute for each.
"""

from __future__ import annotations

import contextlib
import contextvars
import errno
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import socket
    from concurrent.futures import Future

T = TypeVar("T")

_fcntl = importlib.import_module("fcntl") if importlib.util.find_spec("fcntl") else None

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""The signals that ask a process to end."""


NO_MORE = (
    "This machine gives no more memory, processes or open files: end other programs, give fewer "
    "--jobs, or raise its limits, and try again"
)


def gives_no_more(error: BaseException) -> bool:
    """Whether an error says :data:`NO_MORE`."""
    if isinstance(error, OSError):
        return error.errno in {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
    # What threading raises has no number.
    return isinstance(error, MemoryError) or str(error) == "can't start new thread"


@contextlib.contextmanager
def on_signals(handle: Callable[[int, Any], object]) -> Iterator[None]:
    """Let ``handle`` receive the signals of :data:`ENDING` inside the block. Signals that are
    ignored, as under `nohup`, stay ignored. Does nothing outside the main thread."""
    with contextlib.ExitStack() as restored:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    restored.callback(signal.signal, number, signal.signal(number, handle))
        yield


def lock(handle: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file until it is closed, or this process ends. Returns whether that succeeded.

    A ``shared`` lock excludes only locks that are not shared; on Windows it excludes all. Raises
    OSError when the file system has no locks.
    """
    while True:
        try:
            if _fcntl is None:
                msvcrt = importlib.import_module("msvcrt")
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            else:
                kind = _fcntl.LOCK_SH if shared else _fcntl.LOCK_EX
                _fcntl.flock(handle, kind if wait else kind | _fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            if not wait:
                return False
            time.sleep(0.05)
        else:
            return True


def lockable(path: Path) -> Path:
    """What to lock while a file is replaced, or a folder is written into: ``path`` itself, on
    Windows a hidden file next to it."""
    if _fcntl is None:
        path = path.with_name(f".{path.name}.lock")
        path.touch()
    return path


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock of a folder inside the block. False where another holder keeps it; True also
    where the file system has no locks."""
    with contextlib.ExitStack() as released:
        held = True
        with contextlib.suppress(OSError):
            handle = os.open(lockable(folder), os.O_RDONLY)
            released.callback(os.close, handle)
            held = lock(handle, wait=wait)
        yield held


_FLAGS = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", None)
OWN_GROUP: Any = {"process_group": 0} if _FLAGS is None else {"creationflags": _FLAGS}
"""Arguments of :class:`subprocess.Popen`. Ctrl-C in the terminal does not reach the process."""


def ask_to_end(process: subprocess.Popen[Any]) -> None:
    """Send SIGINT, as Ctrl-C does, to a process with :data:`OWN_GROUP`; Ctrl-Break on Windows."""
    process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))


def start_group(command: list[str], end: socket.socket, **options: Any) -> subprocess.Popen[bytes]:
    """Start a process that leads a new group, and hand it the socket ``end``, which it takes with
    :func:`inherited_socket`. Raises OSError."""
    share = getattr(end, "share", None)
    given = {"pass_fds": [end.fileno()]} if share is None else {}
    options |= {"stdin": subprocess.DEVNULL if share is None else subprocess.PIPE, **given}
    process = subprocess.Popen(command, **OWN_GROUP, **options)  # noqa: S603 -- no shell
    if share is not None and process.stdin is not None:
        with process.stdin:
            process.stdin.write(share(process.pid))
    return process


def inherited_socket(number: int) -> socket.socket:
    """The socket that :func:`start_group` handed to this process, by its file descriptor."""
    import socket  # noqa: PLC0415 -- every command loads this module, and few start workers

    if hasattr(socket, "fromshare"):
        return socket.fromshare(sys.stdin.buffer.read())  # type: ignore[no-any-return]
    os.set_inheritable(number, False)  # noqa: FBT003 -- takes no name
    return socket.socket(fileno=number)


def has_ended(pid: int) -> bool:
    """Whether a child of this process has ended. It stays to be waited for."""
    import psutil  # noqa: PLC0415 -- as socket above

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def kill_group(pid: int) -> None:
    """Kill the process ``pid`` and everything that it started."""
    if hasattr(os, "killpg"):
        os.killpg(pid, signal.SIGKILL)
        return
    import psutil  # noqa: PLC0415 -- as socket above

    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        # It goes first: it could still act on the end of a child.
        for each in (process, *process.children(recursive=True)):
            each.kill()


def in_daemon_thread(do: Callable[[], T]) -> Future[T]:
    """The future of ``do()``, which runs in a thread with the caller's context variables. The
    thread does not keep the process from ending, so a caller may stop waiting for it."""
    from concurrent.futures import Future  # noqa: PLC0415 -- as socket above

    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # It cannot be cancelled: it is under way.

    def run() -> None:
        try:
            future.set_result(do())
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            future.set_exception(error)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    return future


def trim_heap() -> None:
    """Return freed memory to the system. Does nothing unless malloc is glibc's.

    A 4K frame takes 12 MB, and a decoder holds seven. After the first such block was freed, glibc
    no longer maps each block by itself: it cuts them from the heap of the calling thread
    (mallopt(3), M_MMAP_THRESHOLD: "dynamic"). One small block above them then keeps all of that
    heap, 50 to 90 MiB, which other threads cannot use to load networks.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 -- as socket above

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
