"""A run's results on standard output, and their exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from palprep.cli.exits import ExitCode, worst
from palprep.cli.printing import print_json, show
from palprep.views.terminal import results_view

if TYPE_CHECKING:
    from palprep.journal.run_view import PersonStanding


def print_results(results: Sequence[PersonStanding], *, as_json: bool) -> None:
    """Print them as a table, or as one JSON object each."""
    if as_json:
        for result in results:
            print_json(result.to_json())
    else:
        show(results_view(results))


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
