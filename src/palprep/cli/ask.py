"""palprep ask: a message to each who must redo something."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep import batch, rules
from palprep.cli import options
from palprep.cli.files import require_there
from palprep.cli.output import print_line, tell, telling

EXAMPLES = (
    "palprep ask palprep-out --into messages",
    "palprep ask palprep-out --into messages --language de",
)


def ask(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The output folder of a run.")],
    into: Annotated[Path, typer.Option(help="The folder for the messages.")],
    language: Annotated[
        str,
        typer.Option(
            help="Language of the messages, ISO 639-1, for people whose settings name none."
        ),
    ] = "en",
    quiet: options.Quiet = False,
) -> None:
    """Write a message to each who must redo something: what, why and how. Nothing is sent.

    Each is a text and a page with their picture; messages.csv has all of them, for a mail merge.
    """
    require_there(directory)
    with telling(quiet=quiet):
        written = batch.write_messages(directory, into, language)
        for each in written:
            print_line(into / f"{each.person}.txt")
            if each.english:
                told = ", ".join(each.english)
                tell(f"{each.person}: told in English, for want of a translation: {told}")
        count = rules.counted(len(written), "message", "messages")
        tell(f"{count} in {into}, and nothing was sent. Next: look at them, and send them")
