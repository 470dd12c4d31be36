"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep.vocabulary import Role

Paths = Annotated[list[Path], typer.Argument(metavar="PATH", help="Files.", show_default=False)]
AsRole = Annotated[
    Role | None,
    typer.Option("--as", help="What the file is for; without it, its content decides."),
]
ProfileName = Annotated[
    str,
    typer.Option("--profile", "-p", help="core-4, core-4.5, core-3, or a TOML file."),
]
SpeakerName = Annotated[
    str | None,
    typer.Option(
        "--name", help="Full name of who speaks: also verify that their consent is spoken."
    ),
]
Statement = Annotated[
    Path | None,
    typer.Option("--statement", help="Your own statement: a text or TOML file, {full_name} in it."),
]
Language = Annotated[str, typer.Option("--language", help="Of the statement, ISO 639-1.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, nothing else.")]
