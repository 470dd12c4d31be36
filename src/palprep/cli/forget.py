"""palprep forget: remove everything that an output folder holds of one person."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from palprep import batch
from palprep.cli import options
from palprep.cli.exits import ExitCode
from palprep.cli.files import require_there
from palprep.cli.output import print_json, print_line, tell, tell_warning
from palprep.errors import UsageError

EXAMPLES = (
    "palprep forget palprep-out ada-lovelace",
    'palprep forget palprep-out "Ada Lovelace" --yes --publish-to s3://bucket/prefix',
)

_TO_DELETE = "delete the person's own folder; a run would pass it over."
_TO_FINISH = (
    "run the same command again when the buckets can be used, or without them. Only then go the "
    "rows of the journal, lines of the results and of the page, and pictures."
)


def forget(
    directory: options.Output,
    person: options.Person,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it now. Without, it is shown, and you are asked.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Let later runs take a forgotten person in again. They prepare and create anew.",
        ),
    ] = False,
    publish_to: options.PublishTo = None,
    store: options.Store = None,
    as_json: options.AsJson = False,
) -> None:
    """Prepared files, dossiers, copies, pictures, and every row of the journal go; results and page
    are written again. Your own folder of people is never touched. Later runs pass the person over.
    Without --yes it shows what would go, and asks."""
    require_there(directory)
    if again:
        batch.take_in_again(directory, person)
        tell(f"The next run takes {person} in again, and creates anew what is asked for.")
        return
    found = batch.look_up(directory, person)
    if not yes and not _agreed(found, as_json=as_json):
        tell("Nothing was removed")
        raise typer.Exit(ExitCode.FAILED)
    buckets = [url for url in (publish_to, store) if url is not None]
    done = batch.forget(directory, found.person or person, buckets=buckets)
    if as_json:
        print_json(done.to_json())
    else:
        _show(done, verb="removed")
    for each in done.stuck:
        tell_warning(f"Not removed: {each}")
    tell(f"Next: {_TO_FINISH if done.stuck else _TO_DELETE}")
    raise typer.Exit(ExitCode.SERVICE if done.stuck else ExitCode.OK)


def _agreed(found: batch.Forgetting, *, as_json: bool) -> bool:
    if as_json:
        print_json(found.to_json())
    else:
        _show(found, verb="goes")
    if as_json or not os.isatty(0):
        raise UsageError("Nothing was removed: give --yes to remove it")
    return typer.confirm("Remove all of this, and every row of the journal, for good?", err=True)


def _show(found: batch.Forgetting, *, verb: str) -> None:
    """Print what goes or went, and what palprep cannot remove."""
    names = dict.fromkeys((found.person or "forgotten before, in part", *found.names))
    print_line(f"Person: {', '.join(names)}")
    for each in found.files:
        print_line(f"  {verb}: {each}")
    if not found.stuck:
        print_line(f"  {verb}: rows of the journal, lines of the results and of the page, pictures")
    for each in found.elsewhere:
        print_line(f"  stays, since it lies outside: {each}")
    for made in found.at_service:
        if found.in_own_sandbox(made):
            print_line(f"  {verb}: the {made.what} {made.id or ''} of the run's own sandbox")
            continue
        print_line(
            f"  stays at the service, whose interface shows no way to delete it: the {made.what} "
            f"{made.id or 'without a known id'} ({made.state.value}). Ask the service to delete it"
        )
    for each in found.removed:
        print_line(f"  removed: {each}")
    gone = {each.rpartition("/")[2] for each in found.removed}
    for each in found.shared:
        print_line(f"  stays in a bucket, since somebody else's file is the same: {each}")
    for each in found.published:
        if each not in gone and each not in found.shared:
            print_line(f"  may lie in a bucket (--publish-to, --store remove it there): {each}")
