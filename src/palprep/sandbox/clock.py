"""The sandbox's clock, real or virtual, and the scheduler that runs jobs when they are due by it,
and never because a caller asks for a status."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from palprep.errors import OutputUnwritable
from palprep.sandbox.store import Job, Store

ClockKind = Literal["real", "virtual"]


class SandboxClock:
    """The sandbox's time, in seconds since the epoch.

    A real clock runs with ``source`` and can be set ahead of it; a virtual clock stands still
    between two calls of :meth:`move_to`. Only :meth:`restart` sets a clock back. It begins at
    ``begin`` instead of the time of ``source``, and not before ``start``.
    """

    def __init__(
        self,
        kind: ClockKind = "real",
        *,
        source: Callable[[], float] = time.time,
        start: float | None = None,
        begin: float | None = None,
    ) -> None:
        self.kind = kind
        self._source = source if kind == "real" else lambda: 0.0
        self._begin = begin
        self._ahead = max(source() if begin is None else begin, start or 0.0) - self._source()

    def restart(self) -> None:
        """Go back to ``begin``, if that was given."""
        if self._begin is not None:
            self._ahead = self._begin - self._source()

    def now(self) -> float:
        return self._source() + self._ahead

    def to_json(self) -> dict[str, Any]:
        return {"clock": self.kind, "now": self.now()}

    def move_to(self, moment: float) -> None:
        """Set the clock ahead to ``moment``, unless that has passed."""
        self._ahead += max(moment - self.now(), 0.0)


def stamp(moment: float) -> str:
    """``YYYY-MM-DDTHH:MM:SS.ffffff`` in UTC, the shape that the specification gives voices."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


log = logging.getLogger(__name__)

MAX_AT_ONCE = 4
ASKING = frozenset({"callback", "tool"})
"""Kinds of jobs that send a request to somebody's server, which may move the clock before it
answers."""
ANSWERED_S = 0.25
"""Real seconds for which the clock waits for the answer to a running job's request."""
_AGAIN_S = 5.0
"""Real seconds until a job runs again for which the disk had no room."""
_UNTIL: ContextVar[float] = ContextVar("until", default=math.inf)


def hurry(seconds: float) -> None:
    """Let this task wait at most ``seconds`` more for the servers to which jobs send requests."""
    _UNTIL.set(asyncio.get_running_loop().time() + seconds)


def in_event_loop() -> bool:
    with contextlib.suppress(RuntimeError):
        return asyncio.get_running_loop() is not None
    return False


class Scheduler:
    """Runs each job when it is due, on the server's own loop.

    A job leaves the store after it has run. If the sandbox is killed before that, the job runs
    again at the next start. So every job first reads its record, and does nothing twice.
    """

    def __init__(
        self, clock: SandboxClock, store: Store, perform: Callable[[Job], Awaitable[None]]
    ) -> None:
        self._clock = clock
        self._store = store
        self._perform = perform
        self._changed = asyncio.Event()
        self._advancing = asyncio.Lock()
        self._running: dict[int, asyncio.Task[None]] = {}
        self._asking = 0

    def notify(self) -> None:
        """Wake the scheduler, because a job was scheduled or the clock was moved."""
        self._changed.set()

    async def run(self) -> None:
        """Run the jobs of a real clock until cancelled. With a virtual clock :meth:`advance` runs
        them."""
        try:
            while self._clock.kind == "real":
                self._changed.clear()
                if self._advancing.locked():
                    await self._changed.wait()  # advance() does what is due, then notifies
                else:
                    while len(self._running) < MAX_AT_ONCE and (job := self._next()):
                        self._begin(job)
                    await self._rest()
        finally:
            for task in self._running.values():
                task.cancel()

    async def advance(self, seconds: float) -> None:
        """Move the clock, and run every job that falls due on the way, in order."""
        async with self._alone():
            target = self._clock.now() + seconds
            # One at a time: a job may schedule another one that is due before the next.
            while first := self._next(target):
                self._clock.move_to(first.due)
                doing = self._begin(first)
                left = max(_UNTIL.get() - asyncio.get_running_loop().time(), 0.0)
                await asyncio.wait([doing], timeout=left if first.kind in ASKING else None)
            self._clock.move_to(target)
            self._store.keep_clock(self._clock.now())

    async def at_rest(self, act: Callable[[], None]) -> None:
        """Call ``act`` while no job is running."""
        async with self._alone():
            act()
            self._store.keep_clock(self._clock.now())

    @contextlib.asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Keep jobs from running meanwhile. A job that waits for a server's answer goes on: that
        server may be the caller, who answers afterwards."""
        if self._advancing.locked() and self._asking:
            yield
            return
        async with self._advancing:
            if self._running:
                within_s = ANSWERED_S if self._asking else None
                await asyncio.wait(self._running.values(), timeout=within_s)
            yield
        self.notify()

    def _next(self, until: float | None = None) -> Job | None:
        """The first job that has not begun and is due by ``until``, or by now."""
        due_by = self._clock.now() if until is None else until
        due = self._store.jobs(until=due_by, most=len(self._running) + 1)
        return next((job for job in due if job.job_id not in self._running), None)

    def _begin(self, job: Job) -> asyncio.Task[None]:
        task = self._running[job.job_id] = asyncio.create_task(self._carry_out(job))
        task.add_done_callback(partial(self._forget, job.job_id))
        return task

    def _forget(self, job_id: int, _: asyncio.Task[None]) -> None:
        del self._running[job_id]
        self.notify()

    async def _carry_out(self, job: Job) -> None:
        asks = job.kind in ASKING
        self._asking += asks
        try:
            try:
                await self._perform(job)
            except (sqlite3.OperationalError, OutputUnwritable):
                raise
            except Exception:
                # One broken job must not stop the clock for all others.
                log.exception("The sandbox's job %s failed and is dropped", job.kind)
            self._store.finish(job)
        except (sqlite3.OperationalError, OutputUnwritable) as error:
            # The job stays, and runs again.
            log.warning("The sandbox cannot write (%s): free some space, and it goes on", error)
            await asyncio.sleep(_AGAIN_S)
        finally:
            self._asking -= asks

    async def _rest(self) -> None:
        full = len(self._running) >= MAX_AT_ONCE
        first = None if full else self._next(math.inf)
        pause = None if first is None else max(0.0, first.due - self._clock.now())
        # Not wait_for(): in Python 3.11 it may swallow a cancellation that comes at the same moment
        # as the event, and the server would wait for its scheduler for ever.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._changed.wait()
