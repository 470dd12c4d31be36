"""What commands write: JSON lines for scripts, tables for people, errors in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from palprep.rules.profile import Profile

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


def tell_notes(profile: Profile) -> None:
    """What the owner of a profile should change, on standard error."""
    for note in profile.notes:
        print_note(f"palprep: {note}")


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
def at_work(what: str, *, wanted: bool = True) -> Iterator[None]:
    """Show on standard error that something is under way; nothing where that is no terminal."""
    console = progress_console() if wanted else None
    if console is None:
        yield
        return
    from rich.markup import escape

    with console.status(escape(what)):
        yield


@contextmanager
def progress_bar(label: str, *, wanted: bool = True) -> Iterator[Advance | None]:
    """A bar with the time left on standard error; None when that is no terminal.

    A file is checked before it is fixed and after it. How long a check takes is not known
    beforehand: before the first fraction and after the last one the bar only shows that work
    goes on.
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
        work = bar.add_task(f"{name}: checking", total=None)
        proof = bar.add_task(f"{name}: checking the result", total=None, visible=False)

        def advance(fraction: float, /) -> None:
            done = fraction >= 1.0
            what = f"{name}: fixing"
            bar.update(work, description=what, total=1.0, completed=fraction, visible=not done)
            bar.update(proof, visible=done)

        yield advance
