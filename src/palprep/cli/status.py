"""palprep status: what the journal says, and decisions about what is in doubt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson
from palprep.cli.printing import print_json, show
from palprep.errors import JournalError, UsageError

if TYPE_CHECKING:
    from palprep.batch.creations import Creation


def status(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The output folder of a run.", show_default=False)
    ],
    found: Annotated[
        list[str] | None,
        typer.Option(
            "--found", metavar="KEY=ID", help="It was created, as ID: the next run goes on with it."
        ),
    ] = None,
    retry: Annotated[
        list[str] | None,
        typer.Option(
            "--retry", metavar="KEY", help="It was not created: the next run asks for it again."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show where every person stands; with --found or --retry, settle what is in doubt.

    Exit code 4 while something is in doubt.
    """
    from palprep.batch.creations import CreationState
    from palprep.batch.journal import JOURNAL_NAME, Journal
    from palprep.batch.settle import settle_found, settle_retry
    from palprep.batch.views import view
    from palprep.cli.results import exit_code_of_results, results_table

    with Journal(directory / JOURNAL_NAME) as journal:
        for decision in found or ():
            key, equals, resource_id = decision.partition("=")
            if not equals:
                raise UsageError(f"--found wants KEY=ID, not {decision!r}")
            settle_found(journal, key, resource_id)
        for key in retry or ():
            settle_retry(journal, key)
        seen = view(journal.entries())
        doubts = [c for c in journal.creations() if c.state is CreationState.IN_DOUBT]
    if seen is None:
        raise JournalError(f"The journal in {directory} holds no run yet")
    results = [person.result for person in seen.people]
    if as_json:
        print_json(
            {
                "target": seen.target,
                "profile": seen.profile,
                "started_at": seen.started_at,
                "updated_at": seen.updated_at,
                "people": [result.to_json() for result in results],
                "in_doubt": [creation.to_json() for creation in doubts],
            }
        )
    else:
        typer.echo(f"{seen.target}, {seen.profile}, last entry {seen.updated_at}")
        show(results_table(results))
        for creation in doubts:
            typer.echo(_how_to_settle(directory, creation))
    code = exit_code_of_results(results)
    raise typer.Exit(ExitCode.IN_DOUBT if doubts else code)


def _how_to_settle(directory: Path, creation: Creation) -> str:
    return (
        f"\n{creation.what} of {creation.person} is in doubt since {creation.intended_at}. "
        "Look for it at the service, then\n"
        f"  palprep status {directory} --found {creation.key}=ID    if it is there\n"
        f"  palprep status {directory} --retry {creation.key}       if it is not"
    )
