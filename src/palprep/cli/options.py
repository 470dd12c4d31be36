"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep.rules.roles import Role

Paths = Annotated[list[Path], typer.Argument(metavar="PATH", help="Files.", show_default=False)]
AsRole = Annotated[
    Role | None,
    typer.Option("--as", help="What the file is for; without it, its content decides."),
]
ProfileName = Annotated[
    str,
    typer.Option("--profile", "-p", help="core-4, core-4.5, core-3, or a TOML file."),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, nothing else.")]
