"""A run's results on standard output, and their exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from palprep.cli.exits import ExitCode, worst
from palprep.cli.printing import print_json, print_line, show
from palprep.views.terminal import results_view

if TYPE_CHECKING:
    from palprep.journal.run_view import PersonStanding


_MANY = 100
"""People who are listed one by one."""


def print_results(results: Sequence[PersonStanding], *, as_json: bool) -> None:
    """Print one JSON object each, or a table: of many people only the first who are not done."""
    if as_json:
        for result in results:
            print_json(result.to_json())
        return
    shown = results
    if len(results) > _MANY:
        shown = [each for each in results if each.status != "done"][:_MANY]
    show(results_view(shown))
    if len(shown) < len(results):
        print_line(f"{len(shown):,} of {len(results):,} people are shown. --json lists all.")


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
