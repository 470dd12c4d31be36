"""palprep check: measure and judge files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import (
    AsJson,
    AsRole,
    Language,
    Paths,
    ProfileName,
    SpeakerName,
    Statement,
)
from palprep.cli.printing import print_json, show, tell_notes
from palprep.cli.speakers import folders_with_consent, speaker_of
from palprep.vocabulary import DEFAULT_PROFILE


def check(
    paths: Paths,
    role: AsRole = None,
    profile: ProfileName = DEFAULT_PROFILE,
    name: SpeakerName = None,
    statement: Statement = None,
    language: Language = "en",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Read headers and a few key frames; what needs more is unknown."
        ),
    ] = False,
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--pictures",
            metavar="DIR",
            help="Also draw portraits with their findings, and timelines of videos, as PNG.",
        ),
    ] = None,
    as_json: AsJson = False,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Also list the checks that passed.")
    ] = False,
) -> None:
    """Check files against what the service accepts, before anything is uploaded.

    A training video need not hold the consent statement when a consent video is in the same folder.
    The exit code is 1 when a file fails a check or cannot be read.
    """
    from rich.text import Text

    from palprep.cli.pictures import targets, write_picture
    from palprep.preflight.check_and_prepare import Preflight
    from palprep.views.terminal import report_view

    preflight = Preflight(profile, quick=quick)
    tell_notes(preflight.profile)
    speaker = speaker_of(name, statement, language, profile=profile)
    apart = folders_with_consent(paths, role)
    passed = True
    for path, target in zip(paths, targets(paths, pictures or Path()), strict=True):
        report = preflight.check(
            path, role=role, speaker=speaker, consent_apart=path.parent in apart
        )
        passed = passed and report.passed
        if as_json:
            print_json(report.to_json())
        else:
            show(report_view(report, everything=everything))
        drawn = pictures and write_picture(report, target, preflight.toolkit.models)
        if drawn and not as_json:
            show(Text(f"        picture: {drawn}", "dim"))
    raise typer.Exit(ExitCode.OK if passed else ExitCode.FAILED)
