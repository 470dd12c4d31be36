"""What operating systems do differently: locks, signals, processes that end together, memory that
is given back, threads that nobody waits for.

The tests run on Linux. macOS has all of it, Windows none.
"""

from __future__ import annotations

import contextlib
import contextvars
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


@contextlib.contextmanager
def on_signals(handle: Callable[[int, Any], object]) -> Iterator[None]:
    """Inside the block, ``handle`` gets the signals that ask a process to end, unless they are
    ignored, as under `nohup`; in the main thread only. At the end all is as before."""
    with contextlib.ExitStack() as restored:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    restored.callback(signal.signal, number, signal.signal(number, handle))
        yield


def lock(handle: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file until it is closed, or this process ends; whether the lock was got.

    A ``shared`` lock only keeps others from one that is not; Windows has none. Raises OSError
    where the file system has no locks.
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


def to_lock(path: Path) -> Path:
    """What to lock for a file that is replaced meanwhile: itself, or on Windows one beside it."""
    if _fcntl is None:
        path = path.with_name(f"{path.name}.lock")
        path.touch()
    return path


_FLAGS = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", None)
OWN_GROUP: Any = {"process_group": 0} if _FLAGS is None else {"creationflags": _FLAGS}
"""Of :class:`subprocess.Popen`: Ctrl-C in the terminal does not reach the process."""


def ask_to_end(process: subprocess.Popen[Any]) -> None:
    """Send a process with :data:`OWN_GROUP` what Ctrl-C sends; on Windows, what is like it."""
    process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))


def start_group(command: list[str], end: socket.socket, **options: Any) -> subprocess.Popen[bytes]:
    """Start a process that leads a group of its own and is given a socket. Raises OSError."""
    share = getattr(end, "share", None)
    given = {"pass_fds": [end.fileno()]} if share is None else {}
    options |= {"stdin": subprocess.DEVNULL if share is None else subprocess.PIPE, **given}
    process = subprocess.Popen(command, **OWN_GROUP, **options)  # noqa: S603 -- no shell
    if share is not None and process.stdin is not None:
        with process.stdin:
            process.stdin.write(share(process.pid))
    return process


def taken(number: int) -> socket.socket:
    """The socket that this process was given by :func:`start_group`."""
    import socket  # noqa: PLC0415 -- every command loads this module, and few start workers

    if hasattr(socket, "fromshare"):
        return socket.fromshare(sys.stdin.buffer.read())  # type: ignore[no-any-return]
    os.set_inheritable(number, False)  # noqa: FBT003 -- takes no name
    return socket.socket(fileno=number)


def has_ended(pid: int) -> bool:
    """Whether a child of this process has ended; it is not reaped."""
    import psutil  # noqa: PLC0415 -- as socket above

    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def kill_group(pid: int) -> None:
    """End the process ``pid`` and all that it started, at once."""
    if hasattr(os, "killpg"):
        os.killpg(pid, signal.SIGKILL)
        return
    import psutil  # noqa: PLC0415 -- as socket above

    with contextlib.suppress(psutil.NoSuchProcess):
        for each in (*psutil.Process(pid).children(recursive=True), psutil.Process(pid)):
            each.kill()


def left_alone(do: Callable[[], T]) -> Future[T]:
    """What ``do()`` will give, in a thread that sees the context of its caller. Whoever does not
    wait for it leaves it behind: it does not keep the process from ending."""
    from concurrent.futures import Future  # noqa: PLC0415 -- as socket above

    made: Future[T] = Future()
    made.set_running_or_notify_cancel()  # It cannot be cancelled: it is under way.

    def run() -> None:
        try:
            made.set_result(do())
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            made.set_exception(error)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    return made


def hand_back() -> None:
    """Give the system what was freed and is not in use; nothing where malloc is not glibc's.

    A frame of 4K takes 12 MB and a decoder holds seven. Once one such block was freed, glibc
    no longer maps them each on their own but cuts them from the heap of the thread that asks
    (mallopt(3), M_MMAP_THRESHOLD: "dynamic"), and a single small block above them keeps all of
    it. Other threads, which load networks next, cannot use it either: 50 to 90 MiB of nothing.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 -- as socket above

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
