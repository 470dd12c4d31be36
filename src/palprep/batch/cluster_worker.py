"""What a worker of a cluster does for a task: it runs it in a process of its own, within limits.

So a file that crashes a decoder, or takes too much time or memory, is the end of that process. The
worker stays, and with it whatever else it has to do.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from palprep.media.source import Source
from palprep.preflight import INSIDE
from palprep.preflight.isolated import for_source
from palprep.workers.engine import Limits, Runner, WorkStopped
from palprep.workers.local import LocalEngine

T = TypeVar("T")


def in_own_process(
    limits: Limits, function: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> T:
    """The function's value, or its error. A source among ``args`` says how long it may take.

    Raises like :meth:`Runner.run`. Raises Reschedule, Dask's own, when this worker was told to
    end: another one does the task then.
    """
    engine = _processes(limits)
    source = next((each for each in args if isinstance(each, Source)), None)
    try:
        runner: Runner = engine if source is None else for_source(engine, source)
        return runner.run(function, *args, **kwargs)
    except WorkStopped:
        raise importlib.import_module("distributed").Reschedule from None


@functools.lru_cache(maxsize=2)
def _processes(limits: Limits) -> LocalEngine:
    """Kept by each worker. Dask decides how many tasks it does at once."""
    return LocalEngine(limits=limits, modules=(INSIDE,))
