"""palprep consent: was the required statement spoken?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson, Language, Statement
from palprep.cli.printing import STYLES, print_json, show
from palprep.vocabulary import Outcome

if TYPE_CHECKING:
    from rich.console import RenderableType

    from palprep.consent.facts import ConsentFacts


def consent(
    file: Annotated[Path, typer.Argument(help="A video or a recording.", show_default=False)],
    name: Annotated[
        str,
        typer.Option("--name", help="The full name that must be said.", show_default=False),
    ],
    statement: Statement = None,
    language: Language = "en",
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", help="Your own model: the folder of a Whisper model for CTranslate2."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify, word by word, that the consent statement was spoken.

    The exit code is 0 only when it was. An unknown outcome is 1, too.
    """
    from palprep import verify_consent
    from palprep.consent.statements import read_statement

    required = read_statement(statement) if statement else None
    facts = verify_consent(file, full_name=name, statement=required, language=language, model=model)
    if as_json:
        print_json(facts.shown(str(file)))
    else:
        show(_view(file, facts))
    accepted = Outcome(facts.outcome).passed is True
    raise typer.Exit(ExitCode.OK if accepted else ExitCode.FAILED)


def _view(file: Path, facts: ConsentFacts) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    title = Text.assemble(
        (f"{facts.outcome.upper():<8}", STYLES[Outcome(facts.outcome)]), (str(file), "bold")
    )
    if facts.starts_at is not None and facts.ends_at is not None:
        title.append(f"  spoken from {facts.starts_at:.1f} s to {facts.ends_at:.1f} s", "dim")
    words = Text()
    for word in facts.words:
        shown = word.expected or f"+{word.heard}"
        if word.expected and word.heard and word.outcome == "fail":
            shown = f"{word.expected} (heard: {word.heard})"
        words.append(shown, STYLES[Outcome(word.outcome)]).append(" ")
    reasons = [Text(f"- {reason}") for reason in facts.reasons]
    heard = Text(f"Heard: {facts.transcript}", "dim")
    return Group(title, *(Padding(part, (0, 0, 0, 8)) for part in (words, *reasons, heard)))
