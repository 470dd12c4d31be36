"""Worker processes on this machine."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import ParamSpec, Self, TypeVar

from palprep.errors import NoWorkers, ToolFailed, UsageError
from palprep.storage import is_there, private_folder
from palprep.system import ENDING
from palprep.workers.confinement import Isolation, Protections, isolation
from palprep.workers.engine import Engine, Limits, WorkStopped, usable_cores
from palprep.workers.messages import Done, Failed, NoAnswer, paths_in, task, value_of
from palprep.workers.reach import Reach, needed_for
from palprep.workers.worker import Died, Worker

P = ParamSpec("P")
T = TypeVar("T")

_MOST_TASKS = 512
"""Decoders and networks may keep memory; a fresh worker now and then gives it back. Over 130 images
of 12 megapixels, and over 500 recordings, none was kept. A new worker costs a second, which is ten
short recordings."""

_TOLD_TO_END = {*(-each for each in ENDING), signal.SIGTERM, 128 + signal.SIGTERM}
"""Exit codes of a worker that was told to end."""

_MOST_STARTS = 3
"""Workers that may end between tasks before that is said."""

_NOTICED_WITHIN_S = 10.0
"""Until a thread sees that the worker it waits for has ended."""

_log = logging.getLogger(__name__)


class LocalEngine(Engine):
    """Runs functions in worker processes on this machine, ``jobs`` at a time.

    A worker that crashes, hangs or takes too much memory is the end of its task alone. Workers
    start when they are needed, or with :meth:`begin`; ``modules`` are what they load at once,
    ``later`` what some tasks load. They end with :meth:`close`, or with this process, however it
    ends. Each may use its share of the processor cores. Where the system can hold them to it, they
    open the files that :meth:`may_open` names and no others, and run no other ``programs``. A file
    that a task's arguments name, as a path or as a value with a ``path``, opens the folder around
    it. Workers that started before are then replaced: none is ever given more than it started with.
    """

    far = False

    def __init__(
        self,
        jobs: int | None = None,
        *,
        limits: Limits | None = None,
        modules: Sequence[str] = (),
        later: Sequence[str] = (),
        programs: Iterable[str | Path] = (),
    ) -> None:
        self._jobs = usable_cores() if jobs is None else jobs
        if self._jobs < 1:
            raise UsageError(f"jobs must be at least 1, not {jobs}")
        self.limits = limits or Limits()
        start = partial(
            Worker,
            tuple(modules),
            later=tuple(later),
            memory_bytes=self.limits.memory_bytes,
            threads=max(1, usable_cores() // self._jobs),
            programs=tuple(map(str, programs)),
        )
        self._pool = _Pool(self._jobs, start)
        self._made: list[Path] = []
        self._finalizer = weakref.finalize(self, self._pool.close, at_once=True)

    def begin(self, most: int = 1) -> None:
        """Start at most so many workers, which load while this process does something else."""
        self._pool.begin(most)

    @property
    def jobs(self) -> int:
        return self._jobs

    def may_open(self, *, reads: Iterable[Path] = (), writes: Iterable[Path] = ()) -> None:
        folders = [each.resolve() for each in writes]
        for folder in folders:
            missing = [each for each in (folder, *folder.parents) if not is_there(each)]
            with contextlib.suppress(OSError):  # The work at a file says what is wrong with it.
                private_folder(folder)
                self._made += missing
        self._pool.extend(Reach.of(reads, folders))

    def protections(self) -> Protections:
        """What keeps the workers from the rest of this system, as one of them says."""
        worker = self._ready_worker(Reach())
        try:
            return worker.protections
        finally:
            self._pool.give_back(worker, kept=True)

    def close(self, *, at_once: bool = False) -> None:
        self._pool.close(at_once=at_once)
        self._finalizer.detach()
        for each in sorted(set(self._made), key=lambda made: -len(made.parts)):
            with contextlib.suppress(OSError):  # Something was written into it.
                each.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(at_once=kind is not None)

    def run_for(
        self, media_s: float, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        time_s, wall_s = self.limits.time_for(media_s), self.limits.wall_for(media_s)
        asked = task(function, args, kwargs)
        callbacks = {name: each for name, each in kwargs.items() if callable(each)}
        # What keywords name is a value with these names, too.
        named = [*args, *kwargs.values(), SimpleNamespace(**kwargs)]
        worker = self._ready_worker(needed_for(named))
        kept = clean_up = False
        try:
            reply = worker.do(asked, callbacks, time_s=time_s, wall_s=wall_s)
            answer = reply if isinstance(reply, Failed) else self._checked(reply, function)
            kept = True
        except Died as died:
            if self._pool.stopping or died.code in _TOLD_TO_END:
                raise WorkStopped(pid=worker.pid) from None
            raise ToolFailed(
                f"A worker process died ({_cause(died.code)}) at this file: it may be damaged in a "
                "way that crashes a decoder, or the machine ran out of memory",
                pid=worker.pid,
            ) from None
        except NoAnswer as wrong:
            _log.debug("worker %s: %s", worker.pid, wrong)
            raise _no_answer(worker.pid) from None
        except BaseException:
            clean_up = True
            raise
        finally:
            self._pool.give_back(worker, kept=kept, clean_up=clean_up)
        if isinstance(answer, Failed):
            if answer.trace:
                _log.debug("%s", answer.trace)
            error = answer.as_error(worker.pid)
            # Whether the workers are to stop is not theirs to say.
            raise _no_answer(worker.pid) if isinstance(error, WorkStopped) else error
        return answer

    def _checked(self, reply: Done, function: Callable[..., T]) -> T:
        """The value of a reply. Raises NoAnswer for one of another type, and for one that names a
        file where a worker may not write: nothing is to be read from there.
        """
        value: T = value_of(reply, function)
        for each in paths_in(value):
            if not self._pool.reach.may_write(each.resolve()):
                raise NoAnswer(f"{each} is none of its files")
        return value

    def _ready_worker(self, needed: Reach) -> Worker:
        """A worker that has loaded, and may open what is needed. One that ended between tasks is no
        file's fault.
        """
        for _ in range(_MOST_STARTS):
            worker = self._pool.take(needed)
            try:
                worker.get_ready()
            except BaseException as failed:
                self._pool.give_back(worker, kept=False)
                if not isinstance(failed, Died | TimeoutError | NoAnswer):
                    raise
                _log.debug("worker %s did not start: %r", worker.pid, failed)
            else:
                return worker
        raise NoWorkers(
            "Worker processes end before they have begun: memory or processes may have run out, "
            "or palprep is not installed whole. `palprep doctor` says what is missing; --verbose "
            "shows their last words"
        )


class _Pool:
    """The workers: at most as many as there are places. The last one that became idle is next."""

    def __init__(self, places: int, start: Callable[..., Worker]) -> None:
        self.stopping = False
        self.reach = Reach()
        self._process: int | None = None
        """In which the first worker was started."""
        self._places = places
        self._start = start
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        lock = threading.RLock()
        # A worker that comes back wakes one of those who wait for a place: they are many.
        self._place_free = threading.Condition(lock)
        self._none_busy = threading.Condition(lock)

    def _is_foreign(self) -> bool:
        return self._process not in {None, os.getpid()}

    def _here(self) -> threading.Condition:
        """The lock. Raises UsageError in another process than the workers were started in: each of
        the two would read answers that are the other's, about other files."""
        if self._is_foreign():
            raise UsageError(
                "These workers belong to the process that used them first: make others in each"
            )
        return self._place_free

    def extend(self, more: Reach) -> None:
        """Let the workers that start from now on open this, too. Raises as :meth:`take` does."""
        with self._here():
            if not self.reach.covers(more):
                self.reach |= more

    def begin(self, most: int) -> None:
        """Start workers for places that have none. Raises as :meth:`take` does."""
        with self._here():
            if self.stopping:
                raise WorkStopped
            free = self._places - len(self._busy) - len(self._idle)
            self._idle += [self._started() for _ in range(min(most, free))]

    def take(self, needed: Reach) -> Worker:
        """A worker that may open what is needed, once there is a place. Raises WorkStopped when
        there will be none, NoWorkers when no process can be started, UsageError in a forked
        process.
        """
        with self._here():
            self._place_free.wait_for(lambda: self.stopping or len(self._busy) < self._places)
            if self.stopping:
                raise WorkStopped
            if not self.reach.covers(needed):
                self.reach |= needed.widened()
            try:
                for each in [each for each in self._idle if not each.can_open(self.reach)]:
                    self._idle.remove(each)
                    each.end()
                worker = self._idle.pop() if self._idle else self._started()
            except BaseException:
                # Whoever waits next may have the place.
                self._place_free.notify()
                raise
            self._busy.append(worker)
            return worker

    def _started(self) -> Worker:
        self._process = os.getpid()
        try:
            return self._start(reach=self.reach)
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise NoWorkers(
                f"No worker process can be started ({reason}): end other programs, or give fewer "
                "--jobs"
            ) from None

    def give_back(self, worker: Worker, *, kept: bool, clean_up: bool = True) -> None:
        """Free the place. A worker that is not ``kept``, or has done enough, is ended first."""
        kept = kept and worker.tasks < _MOST_TASKS and not self.stopping
        if not kept:
            worker.end(clean_up=clean_up)
        with self._place_free:
            self._busy.remove(worker)
            if kept:
                self._idle.append(worker)
            self._place_free.notify()
            if not self._busy:
                self._none_busy.notify_all()

    def close(self, *, at_once: bool) -> None:
        if self._is_foreign():  # They go on working where they were started.
            return
        with self._place_free:
            if not at_once:
                self._none_busy.wait_for(lambda: not self._busy)
            self.stopping = True
            idle, busy = tuple(self._idle), tuple(self._busy)
            self._idle.clear()
            self._place_free.notify_all()
        for worker in (*idle, *busy):
            worker.ask_to_end()
        for worker in idle:
            worker.end()
        for worker in busy:
            worker.stop()
        with self._place_free:
            # Whoever waits for a worker ends it. At the end of the interpreter nobody may.
            self._none_busy.wait_for(lambda: not self._busy, timeout=_NOTICED_WITHIN_S)


def probe_isolation() -> tuple[Isolation, ...]:
    """What a worker is kept from on this system. Raises NoWorkers where none starts."""
    with LocalEngine(1) as engine:
        return isolation(engine.protections())


def _no_answer(pid: int) -> ToolFailed:
    return ToolFailed(
        "A worker process gave no proper answer at this file, and was stopped: the file may be "
        "made to take over a decoder. Do not open it elsewhere, and please report it",
        pid=pid,
    )


def _cause(exit_code: int) -> str:
    if exit_code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
