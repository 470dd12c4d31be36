"""Exit codes, the same for every command."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from palprep.errors import (
    AT_SERVICE,
    CreationUnrecorded,
    InvalidRequest,
    OutcomeUnknown,
    PalprepError,
    UsageError,
)


class ExitCode(IntEnum):
    """What a script can branch on."""

    OK = 0
    """Everything passed."""
    FAILED = 1
    """Something failed its checks, could not be read, or could not be written."""
    USAGE = 2
    """Wrong usage: the command line makes no sense."""
    SERVICE = 3
    """The service refused, or could not be reached."""
    IN_DOUBT = 4
    """A create may or may not have happened, or consent may or may not be given: it needs a
    decision."""
    INTERRUPTED = 130
    """Ctrl-C, as shells report it."""


def exit_code_of(error: PalprepError) -> ExitCode:
    """The exit code of a command that ended with this error."""
    match error:
        case OutcomeUnknown() | CreationUnrecorded():
            return ExitCode.IN_DOUBT
        case UsageError() | InvalidRequest():
            return ExitCode.USAGE
        case _:
            return ExitCode.SERVICE if isinstance(error, AT_SERVICE) else ExitCode.FAILED


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The code for several results: doubt outweighs refusal, and refusal outweighs failure.

    No results give OK.
    """
    found = set(codes)
    for code in (ExitCode.IN_DOUBT, ExitCode.SERVICE, ExitCode.USAGE, ExitCode.FAILED):
        if code in found:
            return code
    return ExitCode.OK
