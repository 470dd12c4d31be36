"""How a command ends: exit codes, the same for every command, and signals."""

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
    """``palprep --help`` explains them."""

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
            # The same command may succeed later: at the service, or once this machine has room.
            passing = isinstance(error, (*errors.AT_SERVICE, errors.NoWorkers))
            full = getattr(error, "disk_full", False)
            return ExitCode.SERVICE if passing or full else ExitCode.FAILED


_LIGHTEST_FIRST = (
    *(ExitCode.OK, ExitCode.WAITING, ExitCode.FAILED),
    *(ExitCode.USAGE, ExitCode.SERVICE, ExitCode.IN_DOUBT),
)


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The code for several results; OK for none. Doubt outweighs refusal, failure and waiting."""
    return max(codes, key=_LIGHTEST_FIRST.index, default=ExitCode.OK)


_ONE_REQUEST_S = 0.5
"""Seconds after a first signal in which another one is no second request."""


class Interrupted(KeyboardInterrupt):
    """The process was asked to end. ``code`` is its exit code, as shells report the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextmanager
def ending_well(kept: Callable[[], str], at_once: str = "") -> Iterator[None]:
    """Inside the block a first signal raises Interrupted in the main thread, so that work can end
    well. A line then says what was ``kept``, and the command exits with the signal's code. A second
    signal ends the process; its line says what is kept ``at_once``."""
    received: list[float] = []

    def end(number: int, _: object) -> None:
        received.append(time.monotonic())
        if len(received) == 1:
            raise Interrupted(number)
        # `timeout` and a closing terminal send a signal twice for one request.
        if received[-1] - received[0] > _ONE_REQUEST_S:
            _leave(number, at_once)

    with on_signals(end):
        try:
            yield
        except Interrupted as signal:
            tell_warning(f"Interrupted: {kept()} {_go_on()}")
            raise typer.Exit(signal.code) from None


def _go_on() -> str:
    # No option of palprep takes a secret.
    return f"Go on with: {shlex.join(['palprep', *sys.argv[1:]])}"


def _leave(number: int, kept: str) -> None:
    words = " ".join(filter(None, ("Ended at once.", kept, _go_on())))
    # Workers notice that this process is gone, and end. The terminal may be closed.
    with suppress(OSError):
        os.write(2, f"\n{escaped_line(words)}\n".encode())
    os._exit(128 + number)
