"""palprep status: what the journal says, and decisions about what is in doubt."""

from __future__ import annotations

import datetime as dt
import gc
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from palprep import journal, views
from palprep.cli import options
from palprep.cli.exits import ExitCode
from palprep.cli.files import require_there
from palprep.cli.output import print_json, print_line, tell, telling
from palprep.cli.results import RUN, exit_code_of_results, next_step, print_results, summary
from palprep.errors import UsageError

EXAMPLES = (
    "palprep status palprep-out",
    "palprep status palprep-out --found KEY=ID",
    "palprep status out/shard-*",
)


def status(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="The output folder of a run; or those of its shards.",
            show_default=False,
        ),
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
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show where every person stands; with --found or --retry, resolve what is in doubt.

    Exit code 4 while something is in doubt and no run is at work, which may resolve it itself; and
    while a doubt about consent holds somebody's replica.
    """
    for each in directories:
        require_there(each)
    if len(directories) > 1 and (found or retry):
        raise UsageError("Resolve one DIR at a time: name the one that the doubt is in")
    _resolve(directories[0], found or [], retry or [])
    with _uncollected():
        standings = [journal.status(each) for each in directories]
    people = [person for each in standings for person in each.people]
    doubts = any(each.in_doubt and not each.running for each in standings)
    if as_json:
        for standing in standings:
            print_json(standing.to_json())
    else:
        for standing in standings:
            _show_head(standing, named=len(standings) > 1)
        print_results(people)
        for standing in standings:
            _show_open_ends(standing)
        with telling(quiet=quiet):
            tell(summary(people))
            # What is in doubt has been told, with the commands that resolve it.
            if not doubts and len(directories) == 1:
                running = standings[0].running
                tell(next_step(people, directories[0], running=running, again=RUN))
    raise typer.Exit(ExitCode.IN_DOUBT if doubts else exit_code_of_results(people))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage: of many people's values there is none, and to look for it among all that
    were made takes a quarter of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _show_head(standing: journal.JournalStatus, *, named: bool) -> None:
    state = "A run is at work on it." if standing.running else "No run is at work on it."
    where = f"{standing.directory}: " if named else ""
    last = views.stamp(dt.datetime.fromisoformat(standing.updated_at))
    print_line(f"{where}{state} Last entry: {last}. Service: {standing.target}.")


def _show_open_ends(standing: journal.JournalStatus) -> None:
    if standing.running and standing.in_doubt:
        print_line("Requests under way look as if they were in doubt: look again after the run.")
    else:
        for creation in standing.in_doubt:
            print_line(_how_to_resolve(standing.directory, creation))
    if standing.unclaimed_callbacks:
        print_line(f"{standing.unclaimed_callbacks} callbacks belong to nothing made here")


def _resolve(directory: Path, found: list[str], retry: list[str]) -> None:
    if not found and not retry:
        return
    with journal.Journal.of(directory) as decided:
        for decision in found:
            key, equals, resource_id = decision.partition("=")
            if not equals:
                raise UsageError(f"--found needs KEY=ID, not {decision!r}")
            journal.resolve_found(decided, key, resource_id)
        for key in retry:
            journal.resolve_retry(decided, key)


def _how_to_resolve(directory: str, creation: journal.Creation) -> str:
    place = shlex.quote(directory)
    return (
        f"\n{creation.what} of {creation.person} is in doubt since {creation.intended_at}. "
        "Look for it at the service, then\n"
        f"  palprep status {place} --found {creation.key}=ID    if it is there\n"
        f"  palprep status {place} --retry {creation.key}       if it is not"
    )
