"""One worker process, as the process that started it sees it."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import IO, TYPE_CHECKING, Any

from palprep.workers.messages import Callback, Done, Failed, Unexpected, read

if TYPE_CHECKING:
    from palprep.workers.memory import MemoryMeter

_LOOK_S = 0.05
"""How often the memory is measured while a task runs."""

_START_WITHIN_S = 120.0
"""Importing all decoders takes half a second, and much longer on a machine that swaps."""

_CLEAN_UP_WITHIN_S = 8.0
"""What a task may take to remove half-written files; it waits 5 s for its ffmpeg."""

_LINE_BYTES = 4096
"""Of what a library writes to standard error at once."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")
"""How many threads libraries start is said in the environment, before they are loaded."""

_log = logging.getLogger(__name__)


class Died(Exception):
    """The process ended within a task. ``code`` as subprocess gives it."""

    def __init__(self, pid: int, code: int) -> None:
        super().__init__(pid, code)
        self.pid, self.code = pid, code


class TooLong(Exception):
    """The task took longer than it may."""


class TooLarge(Exception):
    """The task took more memory than it may."""


class Worker:
    """A Python process of its own, which needs nothing of the program that started it.

    It is not forked: a fork would copy locks that threads of this process hold. Nor is it made by
    multiprocessing, which runs the program's main module again in each worker.

    It leads a group of processes, so that nothing outlives it. It has a folder of its own for
    temporary files. What libraries write to standard error is logged, at level DEBUG. The
    libraries of networks and matrices get so many ``threads``, unless the environment says
    otherwise.
    """

    def __init__(self, modules: Sequence[str] = (), *, threads: int = 1) -> None:
        self.tasks = 0
        self._ready = False
        self._folder = tempfile.mkdtemp(prefix="palprep-worker-")
        ours, theirs = socket.socketpair()
        with theirs:
            told = f"serve({theirs.fileno()}, {tuple(modules)!r})"
            code = f"import sys; sys.path[:] = {sys.path!r}\n"
            code += f"from palprep.workers.worker_main import serve; {told}"
            # No shell; every argument was built here.
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                process_group=0,
                env={
                    **dict.fromkeys(_THREADS, str(threads)),
                    **os.environ,
                    "TMPDIR": self._folder,
                },
            )
        self._connection: Connection[Any, Any] = Connection(ours.detach())
        self._reaping = threading.Lock()
        self._reaped = False
        assert self._process.stdout is not None  # noqa: S101 -- asked for above
        threading.Thread(target=_log_lines, args=(self._process.stdout,), daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def get_ready(self) -> None:
        """Wait until the worker has loaded. Raises Died for one that ended before any task, or
        since its last one; TooLong for one that does not start.
        """
        if not self._ready:
            self._receive(time.monotonic() + _START_WITHIN_S, None)
            self._ready = True
        elif self._connection.poll():
            raise self._died()  # It says nothing of itself between tasks: this is its end.

    def do(
        self,
        task: bytes,
        callbacks: Mapping[str, Callback[...]],
        *,
        time_s: float,
        memory_bytes: int,
    ) -> Done | Failed | Unexpected:
        """The reply to a task, of a worker that is ready.

        Raises Died, TooLong or TooLarge: the worker must be ended then.
        """
        self.tasks += 1
        # Loaded now that the worker is: it does not wait for this.
        from palprep.workers.memory import MemoryMeter  # noqa: PLC0415

        meter = MemoryMeter(self.pid)
        self._send(task)
        give_up = time.monotonic() + time_s
        while True:
            message = self._receive(give_up, (meter, memory_bytes))
            if isinstance(message, Done | Failed | Unexpected):
                return message
            callbacks[message.name](*message.args, **message.kwargs)

    def ask_to_end(self) -> None:
        """Tell the process to end, and do not wait for it."""
        self._signal(os.kill, signal.SIGTERM)

    def stop(self) -> None:
        """End a worker that another thread waits for: what it cleans up in time, it may."""
        self.ask_to_end()
        self._wait(_CLEAN_UP_WITHIN_S)
        self._signal(os.killpg, signal.SIGKILL)

    def end(self, *, clean_up: bool = True) -> None:
        """End the process and its programs, and remove its temporary files.

        With ``clean_up`` a task that is under way may remove what it has half written.
        """
        if clean_up:
            self.stop()
        else:
            self._signal(os.killpg, signal.SIGKILL)
        with self._reaping:
            self._process.wait()
            self._reaped = True
        with contextlib.suppress(OSError):
            self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _signal(self, send: Callable[[int, int], None], number: int) -> None:
        # Once it is reaped, its number may be another's.
        with self._reaping, contextlib.suppress(ProcessLookupError, PermissionError):
            if not self._reaped:
                send(self.pid, number)

    def _wait(self, seconds: float) -> None:
        """Until the process has ended, without reaping it."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            try:
                seen = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if seen is not None:
                return
            time.sleep(0.01)

    def _send(self, task: bytes) -> None:
        try:
            self._connection.send_bytes(task)
        except OSError:
            raise self._died() from None

    def _receive(self, give_up: float, memory: tuple[MemoryMeter, int] | None) -> Any:
        while True:
            left = give_up - time.monotonic()
            if left <= 0:
                raise TooLong
            try:
                if self._connection.poll(min(left, _LOOK_S)):
                    return read(self._connection.recv_bytes())
            except (EOFError, OSError):
                raise self._died() from None
            if memory is not None and memory[0].used_bytes() > memory[1]:
                raise TooLarge

    def _died(self) -> Died:
        self._wait(_CLEAN_UP_WITHIN_S)
        self.end(clean_up=False)
        return Died(self.pid, self._process.returncode)


def _log_lines(output: IO[bytes]) -> None:
    with output:
        while piece := os.read(output.fileno(), _LINE_BYTES):
            for line in piece.decode("utf-8", "backslashreplace").splitlines():
                _log.debug("%s", line)
