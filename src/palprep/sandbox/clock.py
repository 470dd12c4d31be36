"""The sandbox's time: real, or virtual and moved only when told. Jobs are done when it says so,
and never because a caller asks for a status."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from palprep.sandbox.store import Job, Store

ClockKind = Literal["real", "virtual"]


class SandboxClock:
    """Seconds since the epoch, as the sandbox sees them.

    A real clock runs with ``source`` and can be set ahead of it; a virtual clock stands still
    between two calls of :meth:`move_to`. Neither ever runs backwards through this interface.
    """

    def __init__(
        self,
        kind: ClockKind = "real",
        *,
        source: Callable[[], float] = time.time,
        start: float | None = None,
    ) -> None:
        self.kind = kind
        self._source = source
        opened = source()
        self._standing = max(opened, start or opened)
        self._ahead = self._standing - opened

    @property
    def ticking(self) -> bool:
        """Whether time passes by itself."""
        return self.kind == "real"

    def now(self) -> float:
        """This moment, in seconds since the epoch."""
        return self._source() + self._ahead if self.ticking else self._standing

    def move_to(self, moment: float) -> None:
        """Set the clock ahead to ``moment``; a moment that has passed changes nothing."""
        missing = moment - self.now()
        if missing > 0:
            self._ahead += missing
            self._standing = max(self._standing, moment)


def stamp(moment: float) -> str:
    """``YYYY-MM-DDTHH:MM:SS.ffffff`` in UTC, the shape that the specification gives voices."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


log = logging.getLogger(__name__)

MAX_AT_ONCE = 4


class Scheduler:
    """Runs each job when it is due, on the server's own loop.

    A job leaves the store after it has run. If the sandbox is killed in between, the job runs
    again at the next start. So every job looks at its record first, and does nothing twice.
    """

    def __init__(
        self, clock: SandboxClock, store: Store, perform: Callable[[Job], Awaitable[None]]
    ) -> None:
        self._clock = clock
        self._store = store
        self._perform = perform
        self._changed = asyncio.Event()
        self._advancing = asyncio.Lock()
        self._slots = asyncio.Semaphore(MAX_AT_ONCE)
        self._running: dict[int, asyncio.Task[None]] = {}

    def notify(self) -> None:
        """Look again, because a job was scheduled or the clock was moved."""
        self._changed.set()

    async def run(self) -> None:
        """Serve a real clock until cancelled. A virtual one is served by :meth:`advance`."""
        try:
            while self._clock.ticking:
                self._changed.clear()
                if self._advancing.locked():
                    await self._changed.wait()  # advance() does what is due, then notifies
                else:
                    self._start_due()
                    await self._rest()
        finally:
            for task in self._running.values():
                task.cancel()

    async def advance(self, seconds: float) -> None:
        """Move the clock, doing on the way and in order everything that falls due."""
        async with self._advancing:
            target = self._clock.now() + seconds
            await asyncio.gather(*self._running.values())
            # One at a time: a job may schedule another one that is due before the next.
            while due := self._store.jobs(until=target, most=1):
                [first] = due
                self._clock.move_to(first.due)
                await self._do(first)
            self._clock.move_to(target)
            self._store.set_setting("clock", self._clock.now())
        self.notify()

    async def at_rest(self, act: Callable[[], None]) -> None:
        """Do ``act`` at a moment at which no job is running."""
        async with self._advancing:
            await asyncio.gather(*self._running.values())
            act()
        self.notify()

    def _start_due(self) -> None:
        # Those that run are among the first, since a job leaves the store when it is done.
        for job in self._store.jobs(until=self._clock.now(), most=MAX_AT_ONCE):
            if job.job_id not in self._running:
                task = asyncio.create_task(self._do(job))
                self._running[job.job_id] = task
                task.add_done_callback(partial(self._forget, job.job_id))

    def _forget(self, job_id: int, _: asyncio.Task[None]) -> None:
        del self._running[job_id]
        self.notify()

    async def _do(self, job: Job) -> None:
        async with self._slots:
            try:
                await self._perform(job)
            except Exception:
                # One broken job must not stop the clock for all others.
                log.exception("The sandbox's job %s failed and is dropped", job.kind)
            self._store.finish(job)

    async def _rest(self) -> None:
        full = len(self._running) >= MAX_AT_ONCE
        due = None if full else self._store.next_due(self._running.keys())
        pause = None if due is None else max(0.0, due - self._clock.now())
        # Not wait_for: that of Python 3.11 forgets that it was cancelled where what it waits for
        # comes at the same moment, and the server would wait for its scheduler for ever.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._changed.wait()
