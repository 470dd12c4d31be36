"""How the results of a run read: for a terminal, and as an exit code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from palprep.cli.exits import ExitCode, worst

if TYPE_CHECKING:
    from palprep.journal.run_view import PersonResult, Status

_STYLES: dict[Status, str] = {
    "done": "green",
    "waiting": "cyan",
    "refused": "red",
    "failed": "bold red",
    "in_doubt": "bold yellow",
}


def exit_code_of_results(results: Iterable[PersonResult]) -> ExitCode:
    """The worst of all people. Waiting is no failure: everything was asked for."""
    return worst(map(_exit_code, results))


def _exit_code(result: PersonResult) -> ExitCode:
    match result.status:
        case "in_doubt":
            return ExitCode.IN_DOUBT
        case "refused" | "failed":
            return ExitCode.SERVICE if result.at_service else ExitCode.FAILED
        case "done" | "waiting":
            return ExitCode.OK


def results_table(results: Iterable[PersonResult]) -> Table:
    """One row per person: how it ended, what was made, and why not."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in ("person", "status", "voice", "replica"):
        table.add_column(column, overflow="fold")
    table.add_column("", overflow="fold", ratio=1)
    for result in results:
        table.add_row(
            Text(result.person),
            Text(result.status.replace("_", " "), _STYLES[result.status]),
            _made(result.voice_id, result.voice_status),
            _made(result.replica_id, result.replica_status),
            Text("\n".join(result.reasons)),
        )
    return table


def _made(resource_id: str | None, status: str | None) -> Text:
    if resource_id is None:
        return Text("-", "dim")
    return Text.assemble(resource_id, (f"\n{status}", "dim"))
