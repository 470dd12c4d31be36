"""palprep consent: was the required statement spoken?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from palprep import consent as statements, media, preflight, views
from palprep.cli import options
from palprep.cli.exits import ExitCode, interruptible
from palprep.cli.files import DECIDE, limits_of, require_there
from palprep.cli.output import SAME, paths_in_shell, print_json, show, tell, telling
from palprep.vocabulary import Outcome

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
    statement: options.Statement = None,
    language: options.Language = "en",
    model: options.WhisperModel = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Verify, word by word, that the consent statement was spoken.

    Whisper listens, and where it leaves a doubt, Moonshine. The exit code is 0 only when the
    statement was spoken, and 4 when that is in doubt. An unknown outcome is 1.
    """
    limits = limits_of(time_limit, memory_limit)
    require_there(file)
    with interruptible(), preflight.media_workers(1, limits=limits) as engine:
        engine.may_open(reads=[file, *([model] if model else [])])
        engine.begin()
        required = statements.read_statement(statement) if statement else None
        source = media.Source.of(file)
        facts = preflight.for_source(engine, source).run(
            preflight.verify_consent,
            source,
            full_name=name,
            statement=required,
            language=language,
            model=model,
        )
    if as_json:
        print_json(facts.shown(str(file)))
    else:
        show(views.consent_view(file, facts))
        with telling(quiet=quiet):
            tell(_next(facts, file))
    codes = {Outcome.PASS: ExitCode.OK, Outcome.WARN: ExitCode.IN_DOUBT}
    raise typer.Exit(codes.get(Outcome(facts.outcome), ExitCode.FAILED))


def _next(facts: statements.ConsentFacts, file: Path) -> str:
    """What to do with a statement that was listened to."""
    if facts.outcome is Outcome.UNKNOWN:
        return f"Next: do what the reasons say, and {SAME}."
    if facts.outcome is Outcome.WARN:
        return DECIDE
    if not facts.outcome.passed:
        return f"Next: record the statement again, word for word, and {SAME}."
    name = shlex.quote(facts.full_name)
    return f"Next: palprep fix {paths_in_shell([file])} --name {name} --into prepared"
