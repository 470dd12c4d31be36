"""Worker processes on this machine."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from palprep.errors import MediaTooHeavy, ToolFailed, UsageError
from palprep.workers.engine import Limits, TimedEngine, WorkStopped, usable_cores
from palprep.workers.messages import Callback, Done, Failed, Unexpected, task
from palprep.workers.worker import Died, TooLarge, TooLong, Worker

T = TypeVar("T")

_MOST_TASKS = 512
"""Decoders and networks may keep memory; a fresh worker now and then gives it back. Over 130 images
of 12 megapixels, and over 500 recordings, none was kept. A new worker costs a second, which is ten
short recordings."""

_TOLD_TO_END = frozenset({-signal.SIGTERM, 128 + signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})
"""Exit codes of a worker that was told to end."""

_MOST_STARTS = 3
"""Workers that may end between tasks before that is said."""

_NOTICED_WITHIN_S = 10.0
"""Until a thread sees that the worker it waits for has ended."""

_log = logging.getLogger(__name__)


class LocalEngine(TimedEngine):
    """Runs functions in worker processes on this machine, ``jobs`` at a time.

    A worker that crashes, hangs or takes too much memory is the end of its task alone. Workers
    start when they are needed, or with :meth:`begin`; ``modules`` are what they load at once. They
    end with :meth:`close`, or with this process, however it ends. Each may use its share of the
    processor cores: with as many workers as there are cores, one thread.
    """

    far = False

    def __init__(
        self,
        jobs: int | None = None,
        *,
        limits: Limits | None = None,
        modules: Sequence[str] = (),
    ) -> None:
        self.jobs = jobs or usable_cores()
        if self.jobs < 1:
            raise UsageError(f"--jobs must be at least 1, not {jobs}")
        self.limits = limits or Limits()
        self._pool = _Pool(self.jobs, tuple(modules), threads=max(1, usable_cores() // self.jobs))
        self._finalizer = weakref.finalize(self, self._pool.close, at_once=True)

    def begin(self, most: int = 1) -> None:
        """Start at most so many workers, which load while this process does something else."""
        self._pool.begin(most)

    def close(self, *, at_once: bool = False) -> None:
        """See :meth:`Engine.close`."""
        self._pool.close(at_once=at_once)
        self._finalizer.detach()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(at_once=kind is not None)

    def _run(
        self, media_s: float, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        asked = task(function, args, kwargs)
        callbacks = {name: each for name, each in kwargs.items() if isinstance(each, Callback)}
        time_s = self.limits.time_for(media_s)
        worker = self._ready_worker()
        kept = clean_up = False
        try:
            reply = worker.do(
                asked, callbacks, time_s=time_s, memory_bytes=self.limits.memory_bytes
            )
            kept = True
        except Died as died:
            raise self._of_death(died) from None
        except TooLong:
            clean_up = True
            raise _too_long(time_s, worker.pid) from None
        except TooLarge:
            # No time to clean up: it would take even more.
            raise _too_large(self.limits.memory_bytes, worker.pid) from None
        except BaseException:
            clean_up = True
            raise
        finally:
            self._pool.give_back(worker, kept=kept, clean_up=clean_up)
        return _value(reply, worker.pid)

    def _ready_worker(self) -> Worker:
        """A worker that has loaded. One that ended between tasks is no file's fault."""
        for _ in range(_MOST_STARTS):
            worker = self._pool.take()
            try:
                worker.get_ready()
            except (Died, TooLong) as failed:
                _log.debug("worker %s did not start: %r", worker.pid, failed)
                self._pool.give_back(worker, kept=False)
            except BaseException:
                self._pool.give_back(worker, kept=False)
                raise
            else:
                return worker
        raise ToolFailed(
            "Worker processes end before they have begun: memory may have run out, or palprep is "
            "not installed whole. `palprep doctor` says what is missing; --verbose shows their "
            "last words"
        )

    def _of_death(self, died: Died) -> ToolFailed:
        if self._pool.stopping or died.code in _TOLD_TO_END:
            return WorkStopped(pid=died.pid)
        return ToolFailed(
            f"A worker process died ({_cause(died.code)}) at this file: it may be damaged in a way "
            "that crashes a decoder, or the machine ran out of memory",
            pid=died.pid,
        )


class _Pool:
    """The workers: at most as many as there are places. The last one that became idle is next."""

    def __init__(self, places: int, modules: tuple[str, ...], *, threads: int) -> None:
        self.stopping = False
        self._places = places
        self._modules, self._threads = modules, threads
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._changed = threading.Condition()

    def begin(self, most: int) -> None:
        """Start workers for places that have none. Raises as :meth:`take` does."""
        with self._changed:
            if self.stopping:
                raise WorkStopped
            free = self._places - len(self._busy) - len(self._idle)
            self._idle += [_started(self._modules, self._threads) for _ in range(min(most, free))]

    def take(self) -> Worker:
        """A worker, once there is a place. Raises WorkStopped when there will be none, ToolFailed
        when no process can be started.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.stopping or len(self._busy) < self._places)
            if self.stopping:
                raise WorkStopped
            worker = self._idle.pop() if self._idle else _started(self._modules, self._threads)
            self._busy.append(worker)
            return worker

    def give_back(self, worker: Worker, *, kept: bool, clean_up: bool = True) -> None:
        """Free the place. A worker that is not ``kept``, or has done enough, is ended first."""
        kept = kept and worker.tasks < _MOST_TASKS and not self.stopping
        if not kept:
            worker.end(clean_up=clean_up)
        with self._changed:
            self._busy.remove(worker)
            if kept:
                self._idle.append(worker)
            self._changed.notify_all()

    def close(self, *, at_once: bool) -> None:
        """End all workers; those at work first finish, or clean up when it is ``at_once``."""
        with self._changed:
            if not at_once:
                self._changed.wait_for(lambda: not self._busy)
            self.stopping = True
            idle, busy = tuple(self._idle), tuple(self._busy)
            self._idle.clear()
            self._changed.notify_all()
        for worker in (*idle, *busy):
            worker.ask_to_end()
        for worker in idle:
            worker.end()
        for worker in busy:
            worker.stop()
        with self._changed:
            # Whoever waits for a worker ends it. At the end of the interpreter nobody may.
            self._changed.wait_for(lambda: not self._busy, timeout=_NOTICED_WITHIN_S)


def _started(modules: tuple[str, ...], threads: int) -> Worker:
    try:
        return Worker(modules, threads=threads)
    except OSError as error:
        raise ToolFailed(
            f"No worker process can be started ({error.strerror or error}): end other programs, "
            "or give fewer --jobs"
        ) from None


def _value(reply: Done | Failed | Unexpected, pid: int) -> Any:
    match reply:
        case Done(value):
            return value
        case Failed(error):
            raise error
        case Unexpected():
            _log.debug("%s", reply.trace)
            raise reply.as_error(pid=pid)


def _too_long(time_s: float, pid: int) -> MediaTooHeavy:
    return MediaTooHeavy(
        f"The work at this file takes longer than {_time(time_s)} and was stopped: the file is "
        "very long, or made to keep a decoder busy. Give a shorter file, or a higher time limit",
        pid=pid,
    )


def _too_large(memory_bytes: int, pid: int) -> MediaTooHeavy:
    return MediaTooHeavy(
        f"The work at this file takes more than {memory_bytes / (1 << 20):,.0f} MiB of memory and "
        "was stopped: its picture is very large, or made to fill the memory. Give a smaller "
        "file, or a higher memory limit",
        pid=pid,
    )


def _time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _cause(exit_code: int) -> str:
    if exit_code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
