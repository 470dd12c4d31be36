"""How a command ends: its exit code, the same for every command, and what a signal does."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum

import typer

from palprep import errors
from palprep.cli.output import tell_warning
from palprep.escaping import escaped_line
from palprep.system import on_signals


class ExitCode(IntEnum):
    """``palprep --help`` ends with what each means."""

    OK = 0
    FAILED = 1
    USAGE = 2
    SERVICE = 3
    IN_DOUBT = 4
    WAITING = 5
    INTERRUPTED = 130


def exit_code_of(error: errors.PalprepError) -> ExitCode:
    match error:
        case errors.OutcomeUnknown() | errors.CreationUnrecorded():
            return ExitCode.IN_DOUBT
        case errors.UnexpectedReply(carried_out=True):
            return ExitCode.IN_DOUBT
        case errors.UsageError() | errors.InvalidRequest():
            return ExitCode.USAGE
        case errors.JournalBusy():
            return ExitCode.WAITING
        case _:
            return ExitCode.SERVICE if isinstance(error, errors.AT_SERVICE) else ExitCode.FAILED


_LIGHTEST_FIRST = (
    *(ExitCode.OK, ExitCode.WAITING, ExitCode.FAILED),
    *(ExitCode.USAGE, ExitCode.SERVICE, ExitCode.IN_DOUBT),
)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The code for several results; OK for none. Doubt outweighs refusal, failure and waiting."""
    return max(codes, key=_LIGHTEST_FIRST.index, default=ExitCode.OK)


_ONE_REQUEST_S = 0.5
"""Signals that follow the first one so closely are no second request."""


class Interrupted(KeyboardInterrupt):
    """The process was asked to end. ``code`` is its exit code, as shells report the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextmanager
def ending_well(kept: Callable[[], str], at_once: str = "") -> Iterator[None]:
    """While this lasts, a first signal raises Interrupted in the main thread, so that what is under
    way can end well; one line says what was ``kept``, and the command leaves with the signal's exit
    code. A second one ends the process; its line says what is kept ``at_once``."""
    asked: list[float] = []

    def end(number: int, _: object) -> None:
        asked.append(time.monotonic())
        if len(asked) == 1:
            raise Interrupted(number)
        # `timeout` and a terminal that closes send it twice, and mean it once.
        if asked[-1] - asked[0] > _ONE_REQUEST_S:
            _leave(number, at_once)

    with on_signals(end):
        try:
            yield
        except Interrupted as asked_to:
            tell_warning(f"Interrupted: {kept()} {_go_on()}")
            raise typer.Exit(asked_to.code) from None


def _go_on() -> str:
    # No option of palprep takes a secret.
    return f"Go on with: {shlex.join(['palprep', *sys.argv[1:]])}"


def _leave(number: int, kept: str) -> None:
    said = " ".join(filter(None, ("Ended at once.", kept, _go_on())))
    # Workers notice that this process is gone, and end. A terminal that was closed takes no words.
    with suppress(OSError):
        os.write(2, f"\n{escaped_line(said)}\n".encode())
    os._exit(128 + number)
