"""What hands work to other processes, and how much time and memory the work may take."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from pydantic import Field

from palprep.api import Given
from palprep.errors import ToolFailed

P = ParamSpec("P")
T = TypeVar("T")

FIRST_S = 300.0
"""Processor time that any file may take. The slowest honest image takes a few seconds on a slow
machine."""

FOR_EACH_S = 20.0
"""More for each second that the media lasts. A fix of 4K video encodes at a tenth of its own speed
on two cores."""

_WALL_FOR_EACH_S = 4.0
"""Seconds of the wall clock for each one of the processor: work may wait for others that long."""

LONGEST_S = 1800.0
"""Media earns more time for half an hour at the most: the length is what the file says of itself,
and nothing that the service takes lasts longer."""

MEMORY_BYTES = 6 << 30
"""Memory that any file may take, ffmpeg included: encoding 4K video takes 2.3 GiB with two threads,
and more with more of them."""


class Limits(Given):
    """What the work at one file may take. More than that ends the work, and only that work.
    ``time_s`` is in seconds of the processor, of all cores and programs together. None allows five
    minutes, and twenty seconds more for each second that the media says it lasts, up to half an
    hour of media. The wall clock may show four times as much. ``memory_bytes`` is what the worker
    and its programs hold in memory (the resident set)."""

    time_s: float | None = Field(default=None, gt=0)
    memory_bytes: int = Field(default=MEMORY_BYTES, gt=0)

    def time_for(self, media_s: float) -> float:
        """The processor time in seconds for media that says it lasts ``media_s``."""
        if self.time_s is not None:
            return self.time_s
        return FIRST_S + FOR_EACH_S * min(max(0.0, media_s), LONGEST_S)

    def wall_for(self, media_s: float) -> float:
        """The time in seconds of the wall clock. Only what hangs reaches this limit first."""
        return _WALL_FOR_EACH_S * self.time_for(media_s)


class WorkStopped(ToolFailed, code="work_stopped"):
    """The workers were told to stop: nothing is wrong with the file."""

    def __init__(
        self, message: str = "The workers were ended: make others, and run it again", **context: Any
    ) -> None:
        super().__init__(message, **context)


class Engine(ABC):
    """Runs functions of importable modules elsewhere, with arguments that can be pickled."""

    far: bool
    """Whether a file must travel to the workers before they can tell how long it lasts."""

    @property
    @abstractmethod
    def jobs(self) -> int:
        """How many functions it can run at a time, as it is now."""

    def complaints(self) -> tuple[str, ...]:
        """What was wrong with single machines while others did their work, a sentence each."""
        return ()

    def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's value, or its error; blocks the calling thread, which may be any of
        several. A keyword argument that is a function is called here, with the numbers that the
        worker calls it with; nothing waits for it. Raises MediaTooHeavy when the work exceeded a
        limit, ToolFailed when the worker died or the function failed with an error that is not
        palprep's, WorkStopped when the workers were told to end."""
        return self.run_for(0.0, function, *args, **kwargs)

    @abstractmethod
    def run_for(
        self, media_s: float, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As :meth:`run`, in the time for media that says it lasts ``media_s`` seconds."""

    def may_open(  # noqa: B027 -- far workers see to it themselves
        self, *, reads: Iterable[Path] = (), writes: Iterable[Path] = ()
    ) -> None:
        """Let the workers open these files, and all below these folders; read and write below
        ``writes``, which are made, and removed again if nothing comes into them. It costs nothing
        before the workers start."""

    @abstractmethod
    def close(self, *, at_once: bool = False) -> None:
        """End the workers, with ``at_once`` also those that are at work."""


def usable_cores() -> int:
    """How many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
