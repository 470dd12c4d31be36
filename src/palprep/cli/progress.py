"""What a command shows while it works: bars on a terminal, and a line for each who is through. It
loads rich: import it where work begins."""

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
"""People or files that are shown at once; the bar counts the others."""

_TRAINING = "training"

_PACE_EVERY_S = 60.0

Advance = Callable[[float], None]
"""Takes the fraction done, 0 to 1."""


class _Left(rich_progress.ProgressColumn):
    """The time left, by what has been worked on: what needed no work tells nothing of it."""

    def render(self, task: rich_progress.Task) -> Text:
        worked, ahead = task.fields.get("work", (0, 0))
        left = dt.timedelta(seconds=round(task.elapsed * ahead / worked)) if worked else "-:--:--"
        return Text(f"left {left}", "dim")


class Bars(rich_progress.Progress):
    """A bar for all, and below it a row for each who is at work; gone at the end. Thread-safe. They
    are two tables, so that a long row takes no width from the bar. Nothing is drawn with
    ``disable``."""

    def __init__(self, console: Console, *, disable: bool = False) -> None:
        self._hidden = False
        self._rows: dict[object, rich_progress.TaskID] = {}
        self._whole: rich_progress.TaskID | None = None
        self._guard = threading.Lock()
        # Not shared: a column keeps what it drew of a task by the task's number.
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
        # Last: it draws at once.
        super().__init__(
            console=console, transient=True, expand=True, redirect_stdout=False, disable=disable
        )

    def whole(self, words: str, done: int, total: int, work: tuple[int, int]) -> None:
        """The bar for all, in these words. ``work``: how many were, and will be, worked on."""
        with self._guard:
            if self._whole is None:
                self._whole = self.add_task(words, total=total, known=True)
            self.update(self._whole, description=words, completed=done, total=total, work=work)

    def row(self, key: object, words: str, fraction: float | None = None) -> None:
        """The row of one, in words (markup), up to :data:`ROWS`; a bar with a ``fraction``."""
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
        """The bars, then the rows of what takes nobody knows how long."""
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
        """While this lasts nothing is drawn, so that others can write where the bars were.

        An empty line is drawn last: what starts to draw anew first goes back over as many lines as
        it drew before, and those now belong to others.
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
        """While this lasts, the file is at work. The fraction is that of a fix: before it is told,
        and after its end, the file is being checked. How long that takes is not known.
        """
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
    """Takes the steps of a run: draws them, and tells who is through. Where nothing is drawn, it
    tells once a minute how fast that goes, and how long it will take."""
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
        # Trainings last: they are counted, and leave their rows to those who are worked on.
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


@contextmanager
def showing_files(files: int, *, wanted: bool = True) -> Iterator[FilesProgress]:
    with _bars(wanted=wanted) as bars:
        yield FilesProgress(bars, files)


@contextmanager
def showing_run(*, wanted: bool) -> Iterator[RunProgress]:
    with _bars(wanted=wanted) as bars:
        yield run_progress(bars)


def _bars(*, wanted: bool) -> Bars:
    return Bars(SafeConsole(stderr=True), disable=not (wanted and is_watched()))
