"""Files that a command works on: in worker processes, several at once, told of in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from palprep.errors import PalprepError, UsageError
from palprep.preflight import INSIDE
from palprep.workers.engine import Limits
from palprep.workers.local import LocalEngine
from palprep.workers.unexpected import Unexpected

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers(NamedTuple):
    """The engine, and the threads that wait for it."""

    engine: LocalEngine
    threads: ThreadPoolExecutor

    def each(self, work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """What ``work`` gives of each item, in their order; as many at once as there are jobs."""
        return self.threads.map(work, items)


@contextmanager
def workers(jobs: int, limits: Limits, *, begin: bool) -> Iterator[Workers]:
    """Workers for a command; with ``begin`` the first one loads while the command goes on.

    They end when this does, at once when the command is interrupted.
    """
    # The engine is closed first: that ends what the threads wait for.
    with (
        ThreadPoolExecutor(jobs) as threads,
        LocalEngine(jobs, limits=limits, modules=[INSIDE]) as engine,
    ):
        if begin:
            engine.begin()
        yield Workers(engine, threads)


def limits_of(time_s: float | None, memory_bytes: int | None) -> Limits:
    """What the options say. Raises UsageError for no time at all."""
    if time_s == 0:
        raise UsageError("--time-limit must be more than 0")
    given = {"time_s": time_s, "memory_bytes": memory_bytes}
    return Limits.model_validate({name: each for name, each in given.items() if each is not None})


def as_error(error: Exception) -> PalprepError:
    """The failure of one file, so that the others are worked on, whatever it was."""
    return error if isinstance(error, PalprepError) else Unexpected.of(error).as_error()
