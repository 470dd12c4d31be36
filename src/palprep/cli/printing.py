"""What commands write: JSON lines for scripts, tables for people, errors in one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from palprep.cli.verbosity import tell_warning
from palprep.escaping import escaped, escaped_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from palprep.rules.profile import Profile

_WIDTH_ELSEWHERE = 140
"""Columns in a file or a pipe, where nothing tells the width."""


def print_json(value: Mapping[str, Any]) -> None:
    """One object on one line, flushed, so that a pipe sees each as it is made.

    It is UTF-8 whatever the locale, and harmless to a terminal.
    """
    line = escaped_json(json.dumps(value, ensure_ascii=False, allow_nan=False))
    sys.stdout.flush()
    sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()


def print_line(text: object) -> None:
    """A line on standard output, flushed: who reads it may be waiting for it."""
    sys.stdout.write(f"{escaped(str(text))}\n")
    sys.stdout.flush()


def print_error(message: str, *details: str) -> None:
    """One line on standard error, and one for each detail."""
    first, *others = (escaped(" ".join(each.split())) for each in (message, *details))
    sys.stderr.write("".join((f"palprep: {first}\n", *(f"  {each}\n" for each in others))))


def tell_notes(profile: Profile) -> None:
    """What the owner of a profile should change."""
    for note in profile.notes:
        tell_warning(note)


def progress_console() -> Console | None:
    """Standard error for live progress; None when it is no terminal."""
    from palprep.views.console import SafeConsole

    console = SafeConsole(stderr=True)
    return console if console.is_terminal else None


def show(renderable: RenderableType) -> None:
    """Write to standard output, in colour on a terminal."""
    from palprep.views.console import SafeConsole

    console = SafeConsole(highlight=False)
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
