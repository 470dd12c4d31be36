"""Worker processes that one command leaves to the next, for tests of what commands say.

A worker takes half a second to load the decoders, and as long again to load the networks that it
uses. Tests of the workers themselves start their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from palprep.workers import Limits, LocalEngine

Start = Callable[..., LocalEngine]


class WarmWorkers:
    """One worker process that is lent to whoever asks for one, one after the other.

    ``start`` makes the engines. Whoever asks for several workers, or while the one is lent, gets
    new ones; so does everybody after other limits, or an error.
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._kept: LocalEngine | None = None
        self._asked: object = None
        self._lent = False

    def __call__(self, jobs: int | None = None, **options: Any) -> LocalEngine:
        """An engine, in the place of the function that starts them."""
        if jobs != 1 or self._lent:
            return self._start(jobs, **options)
        asked = options.get("limits") or Limits()
        if asked != self._asked:
            self.end()
        if self._kept is None:
            self._kept, self._asked = self._start(jobs, **options), asked
        else:
            # A new worker would be where its command is.
            self._kept.run(os.chdir, str(Path.cwd()))
        self._lent = True
        return _Lent(self._kept, self._back)

    def _back(self, at_once: bool) -> None:
        self._lent = False
        if at_once:
            self.end()

    def end(self) -> None:
        """End the worker that is kept, if any."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close(at_once=True)


class _Lent(LocalEngine):
    """An engine that goes back to its owner when it is closed."""

    def __init__(self, engine: LocalEngine, back: Callable[[bool], None]) -> None:
        vars(self).update(vars(engine))
        self._back = back

    def close(self, *, at_once: bool = False) -> None:
        self._back(at_once)
