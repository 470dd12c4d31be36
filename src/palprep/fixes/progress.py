"""One progress bar over several runs."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float], None]
"""Takes the fraction done, 0 to 1, never falling."""


class Stages:
    """Progress over several runs, when their number is not known beforehand."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._reached = progress, 0.0

    def next(self, share: float) -> Progress | None:
        """What to hand to a run that takes this share of what is left."""
        if self._progress is None:
            return None
        progress, start = self._progress, self._reached
        self._reached += (1.0 - start) * share
        width = self._reached - start
        return lambda done: progress(start + width * done)
