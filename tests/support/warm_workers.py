"""A worker process that one command leaves to the next, for tests of what commands say.

A worker takes half a second to load the decoders, and as long again to load the networks that it
uses. Tests of the workers themselves, and of what they are kept from, start their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from measured_once import measure_once

from palprep.workers import LocalEngine


class WarmWorkers:
    """Called in the place of :class:`LocalEngine`, it makes engines that share one worker.

    The worker may read ``reads`` and write to ``writes``: all that tests give to commands lies
    there. It keeps the facts of files in ``facts``, which several sessions may share. Whoever asks
    for several workers, or while the one is lent, gets new ones; so does everybody after a command
    with other limits, or one that was broken off.
    """

    def __init__(self, *, reads: Iterable[Path], writes: Iterable[Path], facts: Path) -> None:
        self._opens = {"reads": [*reads], "writes": [*writes, facts]}
        self._facts = facts
        self._kept: LocalEngine | None = None
        self._asked: object = None
        self._lent = False

    def __call__(
        self, jobs: int | None = None, *, programs: Iterable[str | Path] = (), **more: Any
    ) -> LocalEngine:
        options = {"programs": tuple(programs), **more}
        engine = LocalEngine(jobs, **options)
        if jobs != 1 or self._lent:
            return engine
        if self._kept is None or options != self._asked:
            self.end()
            self._kept, self._asked = LocalEngine(jobs, **options), options
            self._kept.may_open(**self._opens)
            self._kept.run(measure_once, str(self._facts))
        else:
            # Where a new worker would be.
            self._kept.run(os.chdir, str(Path.cwd()))
        self._lent = True
        engine._pool = _Lent(self._kept._pool, self._back)
        return engine

    def _back(self, at_once: bool) -> None:
        self._lent = False
        if at_once:
            self.end()

    def end(self) -> None:
        """End the worker that is kept, if any."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close(at_once=True)


class _Lent:
    """The worker of one engine in the hands of another, which gives it back when it is closed."""

    def __init__(self, pool: Any, back: Any) -> None:
        self._pool, self._back = pool, back

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def close(self, *, at_once: bool) -> None:
        self._back(at_once)
