"""The live bars of a run: one for everybody, and a line with the step of each person at work."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _OfAll(ProgressColumn):
    """A column that only the bar for everybody has: how long one person takes is not known."""

    def __init__(self, column: ProgressColumn) -> None:
        super().__init__()
        self._column = column

    def render(self, task: Task) -> RenderableType:
        return Text("") if task.total is None else self._column.render(task)


def run_bars(console: Console, *, redirect: bool = True) -> Progress:
    """Bars that are gone at the end. A task without a total is a person's or a file's line.

    With ``redirect`` whatever is printed meanwhile comes out above them, on their own stream.
    """
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        _OfAll(BarColumn(bar_width=24)),
        TimeElapsedColumn(),
        _OfAll(TextColumn("left", style="dim")),
        _OfAll(TimeRemainingColumn()),
        console=console,
        transient=True,
        redirect_stdout=redirect,
        redirect_stderr=redirect,
    )
