"""palprep consent: was the required statement spoken?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.check import DECIDE
from palprep.cli.exits import ExitCode
from palprep.cli.options import (
    AsJson,
    Language,
    MemoryLimit,
    Quiet,
    Statement,
    TimeLimit,
    WhisperModel,
)
from palprep.cli.output import paths_in_shell, print_json, show, tell, telling
from palprep.cli.signals import interruptible
from palprep.vocabulary import Outcome

if TYPE_CHECKING:
    from palprep.consent import ConsentFacts

EXAMPLES = (
    'palprep consent consent.mp4 --name "Ada Lovelace"',
    'palprep consent consent.mp4 --name "Ada Lovelace" --statement own.txt --json',
)


def consent(
    file: Annotated[Path, typer.Argument(help="A video or a recording.", show_default=False)],
    name: Annotated[
        str,
        typer.Option("--name", help="The full name that must be said.", show_default=False),
    ],
    statement: Statement = None,
    language: Language = "en",
    model: WhisperModel = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Verify, word by word, that the consent statement was spoken.

    Whisper listens, and where it leaves a doubt, Moonshine. The exit code is 0 only when the
    statement was spoken, and 4 when that is in doubt. An unknown outcome is 1.
    """
    from palprep.cli.files import limits_of, require_there, workers

    limits = limits_of(time_limit, memory_limit)
    require_there(file)
    with interruptible(), workers(1, limits, begin=True) as crew:
        # Loaded while the worker loads as much.
        from palprep import verify_consent
        from palprep.consent import read_statement
        from palprep.media import Source
        from palprep.preflight import for_source
        from palprep.views import consent_view

        required = read_statement(statement) if statement else None
        source = Source.of(file)
        facts = for_source(crew.engine, source).run(
            verify_consent,
            source,
            full_name=name,
            statement=required,
            language=language,
            model=model,
        )
    if as_json:
        print_json(facts.shown(str(file)))
    else:
        show(consent_view(file, facts))
        with telling(quiet=quiet):
            tell(_next(facts, file))
    codes = {Outcome.PASS: ExitCode.OK, Outcome.WARN: ExitCode.IN_DOUBT}
    raise typer.Exit(codes.get(Outcome(facts.outcome), ExitCode.FAILED))


def _next(consent: ConsentFacts, file: Path) -> str:
    """What to do with a statement that was listened to."""
    if consent.outcome is Outcome.UNKNOWN:
        return "Next: do what the reasons say, and run the same command again."
    if consent.outcome is Outcome.WARN:
        return DECIDE
    if not consent.outcome.passed:
        return "Next: record the statement again, word for word, and run the same command."
    name = shlex.quote(consent.full_name)
    return f"Next: palprep fix {paths_in_shell([file])} --name {name} --into prepared"
