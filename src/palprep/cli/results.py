"""The exit code of a run's results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from palprep.cli.exits import ExitCode, worst

if TYPE_CHECKING:
    from palprep.journal.run_view import PersonStanding


def exit_code_of_results(results: Iterable[PersonStanding]) -> ExitCode:
    """The worst of all people. Waiting is no failure: everything was asked for."""
    return worst(map(_exit_code, results))


def _exit_code(result: PersonStanding) -> ExitCode:
    match result.status:
        case "in_doubt":
            return ExitCode.IN_DOUBT
        case "refused" | "failed":
            return ExitCode.SERVICE if result.at_service else ExitCode.FAILED
        case "done" | "waiting":
            return ExitCode.OK
