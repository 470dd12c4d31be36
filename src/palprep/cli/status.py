"""palprep status: what the journal says, and decisions about what is in doubt."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson
from palprep.cli.printing import print_json, show
from palprep.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from palprep.journal.creations import Creation
    from palprep.journal.run_view import PersonStanding

_MANY = 100
"""People who are listed one by one."""


EXAMPLES = (
    "palprep status palprep-out",
    "palprep status palprep-out --found KEY=ID",
)


def status(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The output folder of a run.", show_default=False)
    ],
    found: Annotated[
        list[str] | None,
        typer.Option(
            "--found", metavar="KEY=ID", help="It was created, as ID. The next run goes on with it."
        ),
    ] = None,
    retry: Annotated[
        list[str] | None,
        typer.Option(
            "--retry", metavar="KEY", help="It was not created. The next run asks for it again."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show where every person stands; with --found or --retry, resolve what is in doubt.

    Exit code 4 while something is in doubt.
    """
    from palprep.batch.status import status as read_status
    from palprep.cli.results import exit_code_of_results
    from palprep.views.outcomes import STATUSES
    from palprep.views.terminal import results_table

    _resolve(directory, found or [], retry or [])
    standing = read_status(directory)
    if as_json:
        print_json(standing.to_json())
    else:
        state = "a run is at work on it" if standing.running else "no run is at work on it"
        typer.echo(f"{standing.target}; last entry {standing.updated_at}; {state}")
        shown = _worth_showing(standing.people)
        show(results_table(shown))
        if len(shown) < len(standing.people):
            counts = Counter(STATUSES[each.status].word.lower() for each in standing.people)
            told = ", ".join(f"{count:,} {word}" for word, count in counts.most_common())
            typer.echo(f"{len(standing.people):,} people: {told}. --json lists all of them.")
        for creation in standing.in_doubt:
            typer.echo(_how_to_resolve(directory, creation))
        if standing.unclaimed_callbacks:
            typer.echo(f"{standing.unclaimed_callbacks} callbacks belong to nothing made here")
    code = exit_code_of_results(standing.people)
    raise typer.Exit(ExitCode.IN_DOUBT if standing.in_doubt else code)


def _worth_showing(people: Sequence[PersonStanding]) -> Sequence[PersonStanding]:
    """Everybody; of many only the first who are not done."""
    if len(people) <= _MANY:
        return people
    return [each for each in people if each.status != "done"][:_MANY]


def _resolve(directory: Path, found: list[str], retry: list[str]) -> None:
    if not found and not retry:
        return
    from palprep.journal.resolve import resolve_found, resolve_retry
    from palprep.journal.store import Journal

    with Journal.of(directory) as journal:
        for decision in found:
            key, equals, resource_id = decision.partition("=")
            if not equals:
                raise UsageError(f"--found needs KEY=ID, not {decision!r}")
            resolve_found(journal, key, resource_id)
        for key in retry:
            resolve_retry(journal, key)


def _how_to_resolve(directory: Path, creation: Creation) -> str:
    return (
        f"\n{creation.what} of {creation.person} is in doubt since {creation.intended_at}. "
        "Look for it at the service, then\n"
        f"  palprep status {directory} --found {creation.key}=ID    if it is there\n"
        f"  palprep status {directory} --retry {creation.key}       if it is not"
    )
