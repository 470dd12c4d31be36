"""One worker process, as the process that started it sees it."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from palprep import system
from palprep.errors import MediaTooHeavy
from palprep.workers import messages
from palprep.workers.confinement import Protections
from palprep.workers.reach import Reach, environment

if TYPE_CHECKING:
    from palprep.workers.meter import Meter

_LOOK_S = 0.05
"""How often it is measured what a task takes, while it runs."""
_MOST_BETWEEN_S = 1.0
"""Counts of the time between two looks: where that was longer, this process was stopped."""

_MOST_PROCESSES = 16
"""A fix runs one or two programs."""

_SENT_WITHIN_S = 60.0
"""A worker takes what it is sent at once, unless it is stopped or taken over."""

_START_WITHIN_S = 120.0
"""Importing all decoders takes half a second, and much longer on a machine that swaps."""

_CLEAN_UP_WITHIN_S = 8.0
"""What a task may take to remove half-written files; it waits 5 s for its ffmpeg."""

_LINE_BYTES = 4096
"""How much of standard error is read at once."""

_THREADS = ("OMP_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")
"""Variables that tell libraries how many threads to start, read when they are loaded."""

_SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(8 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
}
"""The threads of OpenBLAS wait by spinning, and nothing here multiplies large matrices. Looking
for plugins means reading the metadata of every package that is installed. Left to itself, glibc
keeps what frames and networks took: a tenth of a worker's memory, for no time that can be told."""

_log = logging.getLogger(__name__)


class Died(Exception):
    """The process ended within a task. ``code`` as subprocess gives it."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Countdown:
    """Time that runs while this process does: not while it is stopped, as by Ctrl-Z."""

    def __init__(self, seconds: float) -> None:
        self._left_s, self._looked = seconds, time.monotonic()
        self._due = self._looked + _LOOK_S

    def left_s(self) -> float:
        """Raises TimeoutError once none is left. Asked more often than every second."""
        before, self._looked = self._looked, time.monotonic()
        self._left_s -= min(self._looked - before, _MOST_BETWEEN_S)
        if self._left_s <= 0:
            raise TimeoutError
        return self._left_s

    def is_due(self) -> bool:
        """Whether what the task takes is to be measured again."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + _LOOK_S
        return True


class Worker:
    """A Python process of its own, which needs nothing of the program that started it.

    It is not forked: a fork would copy locks that threads of this process hold. Nor is it made by
    multiprocessing, which runs the program's main module again. It leads a group of processes, so
    that nothing outlives it, and has a folder of its own; it opens no other files than those within
    ``reach``, and runs ``programs``. ``memory_bytes`` is what its tasks may hold. What libraries
    write to standard error is logged, at level DEBUG. They get so many ``threads``, unless the
    environment says otherwise.
    """

    def __init__(
        self,
        modules: Sequence[str] = (),
        *,
        later: Sequence[str] = (),
        memory_bytes: int,
        threads: int = 1,
        reach: Reach,
        programs: Iterable[str] = (),
    ) -> None:
        self.tasks = 0
        self._reach = reach
        self._memory_bytes = memory_bytes
        self._ready = False
        self.protections = Protections()
        """Known once it is ready."""
        self._compiled = (*modules, *later)
        self._folder = tempfile.mkdtemp(prefix="palprep-worker-")
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as undo, theirs:
            undo.callback(shutil.rmtree, self._folder, ignore_errors=True)
            undo.callback(ours.close)
            within = reach.confinement(self._folder, programs, memory_bytes)
            told = f"serve({theirs.fileno()}, {tuple(modules)!r})"
            code = f"from palprep.workers.worker_main import serve; {told}"
            self._process = system.start_group(
                _python(code),
                theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment(
                    os.environ,
                    folder=self._folder,
                    settings={**_SETTINGS, **dict.fromkeys(_THREADS, str(threads))},
                ),
            )
            assert self._process.stdout is not None  # noqa: S101 -- asked for above
            threading.Thread(target=_log_lines, args=(self._process.stdout,), daemon=True).start()
            undo.pop_all()
        ours.settimeout(_SENT_WITHIN_S)
        self._channel = messages.Channel(ours)
        # Not on its command line, which has no room for the files of many people. Where it ended at
        # once, get_ready says so.
        with contextlib.suppress(OSError):
            self._channel.send(pickle.dumps(within))
        self._reaping = threading.Lock()
        self._reaped = False

    @property
    def pid(self) -> int:
        return self._process.pid

    def can_open(self, needed: Reach) -> bool:
        """Whether it may open all of this, as far as is known before it is ready."""
        return (self._ready and not self.protections.landlock) or self._reach.covers(needed)

    def get_ready(self) -> None:
        """Wait until the worker has loaded. Raises Died for one that ended before any task, or
        since its last one; TimeoutError for one that does not start.
        """
        if not self._ready:
            message = self._receive(_Countdown(_START_WITHIN_S), lambda: None)
            if not isinstance(message, messages.Ready):
                raise self._died()
            self._ready, self.protections = True, message.protections
            if not all(map(_is_compiled, self._compiled)):
                _compile(self._compiled)
        elif not self._channel.is_quiet():
            raise self._died()  # It says nothing of itself between tasks: this is its end.

    def do(
        self,
        task: bytes,
        callbacks: Mapping[str, Callable[[float], object]],
        *,
        time_s: float,
        wall_s: float,
    ) -> messages.Done | messages.Failed:
        """The reply to a task, of a worker that is ready; within so many seconds of the processor
        and of the wall clock. Raises MediaTooHeavy, Died, or NoAnswer: the worker must be ended
        then."""
        self.tasks += 1
        # Loaded now that the worker is: it does not wait for this.
        from palprep.workers.meter import Meter  # noqa: PLC0415

        meter = Meter(self.pid)
        try:
            self._channel.send(task)
        except OSError:
            raise self._died() from None
        countdown = _Countdown(wall_s)
        while True:
            try:
                message = self._receive(countdown, lambda: self._require(meter, time_s))
            except TimeoutError:
                raise self._too_heavy(
                    f"takes longer than {_time(wall_s)} of the wall clock",
                    "a decoder hangs, or the machine is very busy. Try again, or give another file",
                ) from None
            match message:
                case messages.Called(name=name, value=value) if name in callbacks:
                    callbacks[name](value)
                case messages.Done() | messages.Failed() as reply:
                    return reply
                case other:
                    raise messages.NoAnswer(type(other).__name__)

    def ask_to_end(self) -> None:
        self._send(partial(os.kill, self.pid, signal.SIGTERM))

    def stop(self, *, clean_up: bool = True) -> None:
        """End a worker that another thread waits for: what it cleans up in time, it may."""
        if clean_up:
            self.ask_to_end()
            self._wait(_CLEAN_UP_WITHIN_S)
        self._send(partial(system.kill_group, self.pid))

    def end(self, *, clean_up: bool = True) -> None:
        """End it and its programs; with ``clean_up`` a task may remove what it has half written."""
        self.stop(clean_up=clean_up)
        with self._reaping:
            self._process.wait()
            self._reaped = True
        self._channel.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _send(self, signal_to: Callable[[], None]) -> None:
        # Once it is reaped, its number may be another's.
        with self._reaping, contextlib.suppress(ProcessLookupError, PermissionError):
            if not self._reaped:
                signal_to()

    def _wait(self, seconds: float) -> None:
        """Until the process has ended, without reaping it."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up and not system.has_ended(self.pid):
            time.sleep(0.01)

    def _receive(self, countdown: _Countdown, look: Callable[[], object]) -> messages.Message:
        while True:
            # By the clock, not by silence: a task that tells something every moment is looked at,
            # too.
            if countdown.is_due():
                look()
            seconds = min(countdown.left_s(), _LOOK_S)
            try:
                message = self._channel.receive(seconds)
            except (EOFError, OSError):
                raise self._died() from None
            if message is not None:
                return messages.read(message)

    def _require(self, meter: Meter, time_s: float) -> None:
        """Raise MediaTooHeavy for a task that takes more than it may. One that takes too much
        memory has no time to clean up: it would take even more."""
        use = meter.use()
        if use.memory_bytes > self._memory_bytes:
            self.end(clean_up=False)
            raise self._too_heavy(
                f"takes more than {self._memory_bytes / (1 << 20):,.0f} MiB of memory",
                "the file is very large or very long, or made to fill the memory; or the limit is "
                "lower than most files need. Give a smaller file, or a higher memory limit",
            )
        if use.processes > _MOST_PROCESSES:
            self.end(clean_up=False)
            raise self._too_heavy(
                "starts one program after the other",
                "the file is made to do harm. Do not open it elsewhere",
            )
        if use.processor_s > time_s:
            raise self._too_heavy(
                f"takes longer than {_time(time_s)} of processor time",
                "the file is very long, or made to keep a decoder busy. Give a shorter file, or a "
                "higher time limit",
            )

    def _too_heavy(self, what: str, why: str) -> MediaTooHeavy:
        return MediaTooHeavy(f"The work at this file {what} and was stopped: {why}", pid=self.pid)

    def _died(self) -> Died:
        self._wait(_CLEAN_UP_WITHIN_S)
        self.end(clean_up=False)
        return Died(self._process.returncode)


def _time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _python(code: str) -> list[str]:
    return [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"]


def _is_compiled(module: str) -> bool:
    """Whether Python keeps it compiled, or cannot keep it where it lies."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or sys.dont_write_bytecode:
        return True
    kept = Path(importlib.util.cache_from_source(spec.origin))
    there = next(each for each in (kept, *kept.parents) if each.exists())
    return there.is_file() or not os.access(there, os.W_OK)


def _compile(modules: Iterable[str]) -> None:
    """Have Python keep what it compiles of the modules, which a worker may not: once after an
    installation, by a process that sees no file, and that nobody waits for."""
    command = _python("".join(f"import {each}\n" for each in modules))
    with contextlib.suppress(OSError):
        # No shell; every argument was built here.
        process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment(os.environ, folder=tempfile.gettempdir(), settings={}),
        )
        threading.Thread(target=process.wait, daemon=True).start()


def _log_lines(output: IO[bytes]) -> None:
    with output:
        while piece := os.read(output.fileno(), _LINE_BYTES):
            for line in piece.decode("utf-8", "backslashreplace").splitlines():
                _log.debug("%s", line)
