"""The live bars of a run: one for everybody, and a line with the step of each person at work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

_REST = 1
"""The ratio of the one column that takes what the others leave."""


class RunBars(Progress):
    """Two tables: a long step of a person takes no width from the bar above it."""

    def __init__(self, console: Console, *, redirect: bool) -> None:
        self._hidden = False
        self._all = (
            SpinnerColumn(),
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=None, table_column=Column(ratio=_REST)),
            TimeElapsedColumn(),
            TextColumn("left", style="dim"),
            TimeRemainingColumn(),
        )
        step = Column(ratio=_REST, no_wrap=True, overflow="ellipsis")
        self._one = (
            SpinnerColumn(),
            TextColumn("{task.description}", table_column=step),
            TimeElapsedColumn(),
        )
        # Last: it draws at once.
        super().__init__(
            console=console,
            transient=True,
            expand=True,
            redirect_stdout=redirect,
            redirect_stderr=redirect,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar for everybody, then the people at work. How long one of them takes is not known:
        such a task has no total."""
        if self._hidden:
            yield Text()
            return
        for columns, known in ((self._all, True), (self._one, False)):
            tasks = [task for task in self.tasks if (task.total is not None) is known]
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


def run_bars(console: Console, *, redirect: bool = True) -> RunBars:
    """Bars that are gone at the end. A task without a total is a person's or a file's line.

    With ``redirect`` whatever is printed meanwhile comes out above them, on their own stream.
    """
    return RunBars(console, redirect=redirect)
