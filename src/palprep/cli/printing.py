"""What commands write: JSON lines for scripts, tables for people, errors in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from palprep.vocabulary import Outcome

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from palprep.rules.report import Check, Report

STYLES: Mapping[Outcome, str] = {
    Outcome.FAIL: "bold red",
    Outcome.WARN: "yellow",
    Outcome.UNKNOWN: "dim",
    Outcome.PASS: "green",
}
"""In the order in which checks are listed."""


_WIDTH_ELSEWHERE = 140
"""Columns in a file or a pipe, where nothing tells the width."""


class Advance(Protocol):
    """Reports the fraction done, 0 to 1."""

    def __call__(self, fraction: float, /) -> None: ...


def print_json(value: Mapping[str, Any]) -> None:
    """One object on one line, flushed, so that a pipe sees each as it is made."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def print_error(message: str) -> None:
    """One line on standard error."""
    line = " ".join(message.split())
    sys.stderr.write(f"palprep: {line}\n")


def print_note(message: str) -> None:
    """One line on standard error that is no error."""
    sys.stderr.write(f"{message}\n")


def progress_console() -> Console | None:
    """Standard error for live progress; None when it is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None


def show(renderable: RenderableType) -> None:
    """Write to standard output, in colour on a terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    if console.is_terminal:
        console.print(renderable)
        return
    console.width = max(console.width, _WIDTH_ELSEWHERE)
    with console.capture() as captured:
        console.print(renderable)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())


@contextmanager
def progress_bar(label: str, *, wanted: bool = True) -> Iterator[Advance | None]:
    """A bar with the time left on standard error; None when that is no terminal.

    A repair lies between two checks, of which nobody knows beforehand how long they take:
    before the first fraction and after the last one the bar only shows that work goes on.
    """
    console = progress_console() if wanted else None
    if console is None:
        yield None
        return
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeLeft())
    with Progress(*columns, console=console, transient=True) as bar:
        name = escape(label)
        repair = bar.add_task(f"{name}: checking", total=None)
        proof = bar.add_task(f"{name}: checking the result", total=None, visible=False)

        def advance(fraction: float, /) -> None:
            done = fraction >= 1.0
            what = f"{name}: repairing"
            bar.update(repair, description=what, total=1.0, completed=fraction, visible=not done)
            bar.update(proof, visible=done)

        yield advance


def report_view(report: Report, *, everything: bool = False) -> RenderableType:
    """A report for a terminal: the verdict, then what did not pass and how to mend it.

    ``everything`` lists the passed checks as well, instead of counting them.
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    role = report.role.value if report.role else "unreadable"
    title = Text.assemble(
        (f"{report.verdict.value.upper():<8}", STYLES[report.verdict]),
        (str(report.path), "bold"),
        (f"  {role}, {report.profile}", "dim"),
    )
    if report.error is not None:
        return Group(title, Padding(Text(report.error.message), (0, 0, 0, 8)))
    listed = [
        check
        for check in report.checks
        if everything or check.outcome in {Outcome.FAIL, Outcome.WARN}
    ]
    rest = [] if everything else [_summary(report)]
    return Group(title, *_time_line(report), *([_check_table(listed)] if listed else []), *rest)


def _time_line(report: Report) -> list[RenderableType]:
    from rich.padding import Padding

    from palprep.facts.timeline import timeline
    from palprep.views.terminal_lanes import Lanes

    line = timeline(report.facts) if report.facts else None
    return [] if line is None else [Padding(Lanes(line), (0, 0, 0, 8))]


def _check_table(checks: list[Check]) -> RenderableType:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(width=7)
    table.add_column(min_width=18)
    table.add_column(ratio=1)
    for check in sorted(checks, key=lambda each: list(STYLES).index(each.outcome)):
        table.add_row(
            Text(check.outcome.value, STYLES[check.outcome]), Text(check.label), _finding(check)
        )
    return Padding(table, (0, 0, 0, 8))


def _finding(check: Check) -> Text:
    from rich.text import Text

    from palprep.rules.measures import measure_words

    text = Text(measure_words(check.measured))
    if check.limit not in {None, "yes", "no"}:
        text.append(f"; wanted {check.limit}", "dim")
    if check.advice:
        text.append(f"\n{check.advice}")
    if check.outcome in {Outcome.FAIL, Outcome.WARN} and check.source:
        text.append(f"\n{check.source}", "dim italic")
    return text


def _summary(report: Report) -> RenderableType:
    from rich.padding import Padding
    from rich.text import Text

    passed = len(report.having(Outcome.PASS))
    unknown = report.having(Outcome.UNKNOWN)
    line = f"{passed} checks passed"
    if unknown:
        line += f"; unknown: {', '.join(check.id for check in unknown)}"
    return Padding(Text(line, "dim"), (0, 0, 0, 8))
