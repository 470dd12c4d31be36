"""What a command shows while it works on files: a bar for all, and a line for each at work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from palprep.cli.printing import progress_console

if TYPE_CHECKING:
    from palprep.views.run_bars import RunBars as Bars

_ROWS = 8
"""Files that are shown at once; the bar counts the others."""


class Advance(Protocol):
    """Reports the fraction done, 0 to 1."""

    def __call__(self, fraction: float, /) -> None: ...


class FilesProgress:
    """Draws on a terminal, and nothing elsewhere. Thread-safe."""

    def __init__(self, bars: Bars | None, files: int) -> None:
        self._bars = bars
        self._files = files
        self._done = 0
        self._rows = 0
        self._guard = threading.Lock()
        self._whole = (
            bars.add_task(self._words, total=files) if bars is not None and files > 1 else None
        )

    @property
    def _words(self) -> str:
        return f"{self._done} of {self._files} files"

    @contextmanager
    def at(self, name: str) -> Iterator[Advance]:
        """While this lasts, the file is at work. The fraction is that of a fix: before it is told,
        and after its end, the file is being checked. How long that takes is not known.
        """
        row = self._row(name)
        try:
            yield row.advance if row is not None else _nothing
        finally:
            if row is not None:
                row.remove()
            with self._guard:
                self._rows -= row is not None
                self._done += 1
                self._count()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While this lasts nothing is drawn, so that results can be printed."""
        if self._bars is None:
            yield
            return
        with self._bars.aside():
            yield

    def _row(self, name: str) -> _Row | None:
        with self._guard:
            if self._bars is None or self._rows == _ROWS:
                return None
            self._rows += 1
            return _Row(self._bars, name)

    def _count(self) -> None:
        if self._bars is not None and self._whole is not None:
            self._bars.update(self._whole, description=self._words, completed=self._done)


class _Row:
    """The line of one file: one while it is checked and fixed, another for the proof."""

    def __init__(self, bars: Bars, name: str) -> None:
        from rich.markup import escape

        self._bars = bars
        self._name = escape(name)
        self._work = bars.add_task(f"checking {self._name}", total=None)
        self._proof = bars.add_task(
            f"checking the result of {self._name}", total=None, visible=False
        )

    def advance(self, fraction: float, /) -> None:
        done = fraction >= 1.0
        self._bars.update(
            self._work,
            description=f"fixing {self._name}",
            total=1.0,
            completed=fraction,
            visible=not done,
        )
        self._bars.update(self._proof, visible=done)

    def remove(self) -> None:
        self._bars.remove_task(self._work)
        self._bars.remove_task(self._proof)


def _nothing(_: float, /) -> None:
    """Show no one."""


@contextmanager
def files_progress(files: int, *, wanted: bool) -> Iterator[FilesProgress]:
    """Show progress while this lasts, where standard error is a terminal."""
    console = progress_console() if wanted else None
    if console is None:
        yield FilesProgress(None, files)
        return
    from palprep.views.run_bars import run_bars

    with run_bars(console, redirect=False) as bars:
        yield FilesProgress(bars, files)
