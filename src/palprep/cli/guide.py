"""palprep guide and ask: what goes to people who record themselves, and to who must do it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep import batch, consent as statements, rules, storage, views
from palprep.cli import options
from palprep.cli.files import require_there
from palprep.cli.output import print_line, tell, telling
from palprep.vocabulary import DEFAULT_PROFILE

EXAMPLES = (
    'palprep guide "Ada Lovelace" --into guide.html',
    'palprep guide "Ada Lovelace" --into guide.html --language de',
    "palprep ask palprep-out --into messages",
    "palprep ask palprep-out --into messages --language de",
)


def guide(
    full_name: Annotated[str, typer.Argument(help="The full name that the person will say.")],
    into: Annotated[Path, typer.Option(help="The HTML file to write.")],
    language: options.ReadersLanguage = "en",
    statement: options.Statement = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    quiet: options.Quiet = False,
) -> None:
    views.require_page_name(into)
    with telling(quiet=quiet):
        limits = rules.load_profile(profile)
        own = statements.read_statement(statement) if statement else None
        spoken = language if own else "en"
        said = statements.statement_for(full_name, own, language=spoken)
        page = views.guide_page(
            said.full_name, statement=said.text, spoken=spoken, profile=limits, language=language
        )
        with storage.atomic_output(into) as temporary:
            temporary.write_text(page, "utf-8", errors="backslashreplace")
        print_line(into)
        tell("Next: send it, or print it. It needs no other file.")


def ask(
    directory: options.Output,
    into: Annotated[Path, typer.Option(help="The folder for the messages.")],
    language: options.ReadersLanguage = "en",
    quiet: options.Quiet = False,
) -> None:
    """Each is a text and a page with their picture, in the language of their settings, or else in
    that of --language. messages.csv has all of them, for a mail merge.
    """
    require_there(directory)
    with telling(quiet=quiet):
        written = batch.write_messages(directory, into, language)
        for each in written:
            print_line(into / f"{each.person}.txt")
            if each.english:
                told = ", ".join(each.english)
                tell(f"{each.person}: told in English, for want of a translation: {told}")
        if not written:
            tell("Nobody must redo anything: no message was written")
            return
        count = rules.counted(len(written), "message", "messages")
        tell(f"{count} in {into}, and nothing was sent. Next: look at them, and send them")
