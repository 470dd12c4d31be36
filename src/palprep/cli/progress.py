"""The progress of a command: bars on a terminal, and a line for each person who is done. It loads
rich, so import it where work begins."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich import progress as rich_progress
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Column
from rich.text import Text

from palprep.cli.output import is_watched, tell, tell_detail
from palprep.views import STATUSES, duration
from palprep.views.terminal import RunProgress, SafeConsole

ROWS = 8
"""The most people or files that have a row at once."""

_TRAINING = "training"

_PACE_EVERY_S = 60.0

Advance = Callable[[float], None]
"""Takes the fraction done, 0 to 1."""


class _Left(rich_progress.ProgressColumn):
    """The time left, by the pace of the people or files that needed work."""

    def render(self, task: rich_progress.Task) -> Text:
        worked, ahead = task.fields.get("work", (0, 0))
        left = dt.timedelta(seconds=round(task.elapsed * ahead / worked)) if worked else "-:--:--"
        return Text(f"left {left}", "dim")


class Bars(rich_progress.Progress):
    """A bar for all, and below it a row for each person or file at work; gone at the end. They are
    two tables, so that a long row takes no width from the bar. Thread-safe. ``disable`` draws
    nothing."""

    def __init__(self, console: Console, *, disable: bool = False) -> None:
        self._hidden = False
        self._rows: dict[object, rich_progress.TaskID] = {}
        self._whole: rich_progress.TaskID | None = None
        self._guard = threading.Lock()
        # Not shared: a column caches what it drew, by the number of the task.
        rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
        self._known = (
            rich_progress.SpinnerColumn(),
            rich_progress.TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            rich_progress.BarColumn(bar_width=None, table_column=Column(ratio=1)),
            rich_progress.TimeElapsedColumn(),
            _Left(),
        )
        self._open = (
            rich_progress.SpinnerColumn(),
            rich_progress.TextColumn("{task.description}", table_column=rest),
            rich_progress.TimeElapsedColumn(),
        )
        # Last, because it draws at once.
        super().__init__(
            console=console, transient=True, expand=True, redirect_stdout=False, disable=disable
        )

    def whole(self, words: str, done: int, total: int, work: tuple[int, int]) -> None:
        """Draw the bar for all. ``work`` is how many have needed work, and how many will."""
        with self._guard:
            if self._whole is None:
                self._whole = self.add_task(words, total=total, known=True)
            self.update(self._whole, description=words, completed=done, total=total, work=work)

    def row(self, key: object, words: str, fraction: float | None = None) -> None:
        """Draw one of at most :data:`ROWS` rows. ``words`` are markup; a ``fraction`` is a bar."""
        with self._guard:
            if key not in self._rows and len(self._rows) < ROWS:
                self._rows[key] = self.add_task(words, total=1, known=False)
            if key in self._rows:
                known = fraction is not None
                self.update(self._rows[key], description=words, completed=fraction, known=known)

    def drop(self, key: object) -> None:
        with self._guard:
            if key in self._rows:
                self.remove_task(self._rows.pop(key))

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bars, then the rows whose duration is unknown."""
        if self._hidden:
            yield Text()
            return
        for columns, known in ((self._known, True), (self._open, False)):
            tasks = [task for task in self.tasks if task.fields["known"] is known]
            if tasks:
                self.columns = columns
                yield self.make_tasks_table(tasks)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Inside the block nothing is drawn, so that others can write where the bars were.

        An empty line is drawn last: when drawing starts again, it first goes back over as many
        lines as it drew before, which others have written to by then.
        """
        self._hidden = True
        self.stop()
        try:
            yield
        finally:
            self.start()
            self._hidden = False


class FilesProgress:
    """Draws how far the files of a command are. Thread-safe."""

    def __init__(self, bars: Bars, files: int) -> None:
        self.aside = bars.aside
        self._bars = bars
        self._files = files
        self._done = -1
        self._guard = threading.Lock()
        self._count()

    @contextmanager
    def at(self, name: str) -> Iterator[Advance]:
        """Inside the block the file has a row. Yields the function that takes the fraction of a
        fix that is done. Before and after a fix the file is being checked, for an unknown time."""
        # Files may have the same name.
        row, words = object(), escape(name)

        def advance(fraction: float) -> None:
            if fraction < 1.0:
                self._bars.row(row, f"fixing {words}", fraction)
            else:
                self._bars.row(row, f"checking the result of {words}")

        self._bars.row(row, f"checking {words}")
        try:
            yield advance
        finally:
            self._bars.drop(row)
            self._count()

    def _count(self) -> None:
        with self._guard:
            self._done += 1
            if self._files > 1:
                words = f"{self._done} of {self._files} files"
                left = self._files - self._done
                self._bars.whole(words, self._done, self._files, (self._done, left))


def run_progress(bars: Bars, clock: Callable[[], float] = time.monotonic) -> RunProgress:
    """Draws the steps of a run, and tells who is done. If nothing is drawn, it tells once a minute
    the pace and the time left."""
    began = told_at = clock()

    def pace(progress: RunProgress) -> None:
        nonlocal told_at
        now, left = clock(), progress.people - progress.ended.total()
        if bars.disable and progress.worked and left and now - told_at >= _PACE_EVERY_S:
            told_at, each_s = now, (now - began) / progress.worked
            rate, ahead = 60 / each_s, duration(left * each_s)
            tell(f"{rate:.1f} people a minute, {left:,} to go: about {ahead} left")

    def show(progress: RunProgress) -> None:
        _tell(progress)
        pace(progress)
        step, ended = progress.last, progress.ended.total()
        # Trainings take long: they are counted, and their rows are left to others.
        training = list(progress.at_work.values()).count(_TRAINING)
        if step.status is None and step.step != _TRAINING:
            bars.row(step.person, f"[bold]{escape(step.person)}[/]  {escape(step.step)}")
        else:
            bars.drop(step.person)
        waiting = f", {training} in training" if training else ""
        work = (progress.worked + training, progress.people - ended - training)
        bars.whole(f"{ended} of {progress.people} people{waiting}", ended, progress.people, work)

    return RunProgress(show)


def _tell(progress: RunProgress) -> None:
    step = progress.last
    if step.status is None:
        tell_detail(f"{step.person}: {step.step}", person=step.person, step=step.step)
        return
    word = STATUSES[step.status].word.lower()
    why = f": {step.reasons[0]}" if step.reasons else ""
    tell(
        f"{progress.ended.total()} of {progress.people}: {step.person} {word}{why}",
        person=step.person,
        status=step.status,
    )


def bars_on_terminal(*, wanted: bool = True) -> Bars:
    """Bars on standard error; nothing is drawn if they are not ``wanted`` or it is no terminal."""
    return Bars(SafeConsole(stderr=True), disable=not (wanted and is_watched()))
