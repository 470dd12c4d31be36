"""palprep consent: was the required statement spoken?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import AsJson, Language, MemoryLimit, Statement, TimeLimit, WhisperModel
from palprep.cli.printing import print_json, show
from palprep.cli.signals import interruptible
from palprep.cli.verbosity import Quiet, tell, telling
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
    statement was spoken. An unknown outcome is 1, too.
    """
    from palprep.cli.files_at_work import limits_of, workers
    from palprep.cli.given import require_there

    limits = limits_of(time_limit, memory_limit)
    require_there(file)
    with interruptible(), workers(1, limits, begin=True) as crew:
        # Loaded while the worker loads as much.
        from palprep import verify_consent
        from palprep.cli.summary import next_after_consent
        from palprep.consent.statements import read_statement
        from palprep.media.source import Source
        from palprep.preflight.isolated import for_source
        from palprep.views.consent_terminal import consent_view

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
            tell(next_after_consent(facts, file))
    accepted = Outcome(facts.outcome).passed is True
    raise typer.Exit(ExitCode.OK if accepted else ExitCode.FAILED)
