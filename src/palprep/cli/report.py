"""palprep report: the HTML page again from the journal, or one for several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep import batch, journal
from palprep.cli import options
from palprep.cli.files import require_there
from palprep.cli.output import print_line, tell, telling
from palprep.cli.results import RUN, next_step, summary
from palprep.errors import UsageError

EXAMPLES = ("palprep report palprep-out", "palprep report out/shard-* --into out")


def report(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="The output folder of a run; or those of its shards.",
            show_default=False,
        ),
    ],
    into: Annotated[
        Path | None,
        typer.Option("--into", help="The folder for the results of several DIRs as one."),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write results.jsonl and report.html again, with what has arrived since."""
    for each in directories:
        require_there(each)
    if into is not None:
        page = batch.write_merged_report(directories, into)
    elif len(directories) == 1:
        page = batch.write_report(directories[0])
    else:
        raise UsageError("Give --into: the folder for the results of all of them as one")
    print_line(page)
    standings = [journal.status(each) for each in directories]
    people = [person for each in standings for person in each.people]
    with telling(quiet=quiet):
        tell(summary(people))
        if into is not None:
            tell(f"Next: open {page}")
        else:
            running = standings[0].running
            tell(next_step(people, directories[0], running=running, again=RUN))
