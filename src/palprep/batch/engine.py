"""Where media work runs: in worker processes here. :mod:`palprep.batch.engines` has the others.

A task that crashes or hangs is an error of that task alone. Only media work goes through an
engine. Requests to the service never do: an engine may run a task twice.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from palprep.errors import ToolFailed, UsageError

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_TIME_LIMIT_S = 3600.0

_TOLD_TO_END = frozenset({-signal.SIGTERM, 128 + signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})
"""Exit codes of a worker that was told to end: from here, or together with this process before it
was set up."""


class WorkStopped(ToolFailed):
    """The workers were told to stop: nothing is wrong with the file."""

    code = "work_stopped"


class Engine(Protocol):
    """Runs functions of importable modules with picklable arguments, ``jobs`` at a time."""

    @property
    def jobs(self) -> int: ...

    def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's value, or its error; blocks the calling thread.

        Raises ToolFailed when the worker died or exceeded the time limit, WorkStopped when it
        was told to end. Callable from several threads at once.
        """

    def close(self, *, at_once: bool = False) -> None:
        """End the workers, with ``at_once`` also those that are at work."""


class LocalEngine:
    """Worker processes on this machine.

    Workers are spawned, not forked: a fork would copy locks that threads of this process
    hold. A script that uses this needs the usual ``if __name__ == "__main__"`` guard.
    """

    def __init__(self, jobs: int | None = None, *, time_limit_s: float | None = None) -> None:
        self.jobs = jobs or usable_cores()
        if self.jobs < 1:
            raise UsageError(f"--jobs must be at least 1, not {jobs}")
        self._time_limit_s = time_limit_s or DEFAULT_TIME_LIMIT_S
        self._pool = ProcessPool(
            max_workers=self.jobs,
            # Decoders and models keep memory; a fresh worker now and then gives it back.
            max_tasks=64,
            initializer=_set_up_worker,
            context=multiprocessing.get_context("spawn"),
        )
        self._pending: set[ProcessFuture[Any]] = set()
        self._stopping = False

    def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """See :meth:`Engine.run`."""
        try:
            future = self._pool.schedule(
                _finish_or_leave, args=(function, args, kwargs), timeout=self._time_limit_s
            )
            self._pending.add(future)
            future.add_done_callback(self._pending.discard)
            if self._stopping:
                _cancel(future)
            return future.result()  # type: ignore[no-any-return]
        except concurrent.futures.TimeoutError:
            raise ToolFailed(
                f"The media work exceeded its limit of {self._time_limit_s:.0f} s and was "
                "stopped: the file is very long or makes a decoder hang; try a shorter take"
            ) from None
        except ProcessExpired as error:
            if error.exitcode in _TOLD_TO_END:
                raise WorkStopped("The media work was stopped: run it again") from None
            raise ToolFailed(
                f"A worker process died ({_cause(error.exitcode)}) at this file: it may be "
                "damaged in a way that crashes a decoder, or the machine ran out of memory"
            ) from None
        except (concurrent.futures.CancelledError, RuntimeError) as error:
            raise WorkStopped(f"The media work was stopped: {error or 'cancelled'}") from None

    def close(self, *, at_once: bool = False) -> None:
        """See :meth:`Engine.close`."""
        self._stopping = at_once
        if at_once:
            self._pool.stop()  # type: ignore[no-untyped-call]
        else:
            self._pool.close()  # type: ignore[no-untyped-call]
        self._pool.join()
        # The pool forgets a task that was being handed over when it stopped; whoever waits
        # for it must not wait for ever.
        for future in tuple(self._pending):
            _cancel(future)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(at_once=kind is not None)


def usable_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _set_up_worker() -> None:
    # Ctrl-C and a closed terminal are the parent's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _leave(number: int, frame: object) -> None:
    del frame
    raise SystemExit(128 + number)


def _finish_or_leave(function: Callable[..., T], args: Any, kwargs: Any) -> T:
    try:
        # Being terminated raises, so that a task's cleanup runs: half-written files go, and the
        # ffmpeg that it waits for is ended. A worker without a task just goes.
        signal.signal(signal.SIGTERM, _leave)
        try:
            return function(*args, **kwargs)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    except SystemExit as leaving:
        # The pool would take it for the task's result and wait for its worker in vain.
        os._exit(leaving.code if isinstance(leaving.code, int) else 1)


def _cancel(future: ProcessFuture[Any]) -> None:
    future.cancel()  # type: ignore[no-untyped-call]


def _cause(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
