"""palprep report: the HTML page again from the journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = ("palprep report palprep-out",)


def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The output folder of a run.", show_default=False)
    ],
) -> None:
    """Write results.jsonl and report.html again, with what has arrived since."""
    from palprep.batch.outputs import write_report

    typer.echo(write_report(directory))
