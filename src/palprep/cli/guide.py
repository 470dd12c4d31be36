"""palprep guide: a page for a person who is to record themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep import consent as statements, fixes, rules, views
from palprep.cli import options
from palprep.cli.output import print_line, tell, telling
from palprep.vocabulary import DEFAULT_PROFILE

EXAMPLES = (
    'palprep guide "Ada Lovelace" --into guide.html',
    'palprep guide "Ada Lovelace" --into guide.html --language de',
)


def guide(
    full_name: Annotated[str, typer.Argument(help="The full name that the person will say.")],
    into: Annotated[Path, typer.Option(help="The HTML file to write.")],
    language: Annotated[
        str,
        typer.Option(help="Language of the guide, ISO 639-1; the statement keeps its own."),
    ] = "en",
    statement: options.Statement = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    quiet: options.Quiet = False,
) -> None:
    """Write a page to print or send: what to say, how to record, how a portrait looks."""
    with telling(quiet=quiet):
        limits = rules.load_profile(profile)
        required = statements.read_statement(statement) if statement else None
        said = statements.statement_for(full_name, required, language="en", profile=limits.name)
        page = views.guide_page(
            said.full_name, statement=said.text, profile=limits, language=language
        )
        with fixes.atomic_output(into) as temporary:
            temporary.write_text(page, "utf-8", errors="backslashreplace")
        print_line(into)
        tell("Next: send it, or print it. It needs no other file.")
