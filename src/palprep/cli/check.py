"""palprep check: measure and judge files."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.going_on import interrupted
from palprep.cli.options import (
    AsJson,
    AsRole,
    Jobs,
    Language,
    MemoryLimit,
    Paths,
    ProfileName,
    SpeakerName,
    Statement,
    TimeLimit,
    WhisperModel,
)
from palprep.cli.printing import print_json, show, tell_notes
from palprep.cli.signals import Interrupted, interruptible
from palprep.cli.speakers import folders_with_consent, speaker_of
from palprep.cli.verbosity import LogFile, Quiet, Verbose, tell, tell_warning, telling
from palprep.errors import FileMissing, MediaError, PalprepError, ToolFailed, UsageError
from palprep.vocabulary import DEFAULT_PROFILE, Role

if TYPE_CHECKING:
    from palprep.cli.files_progress import FilesProgress
    from palprep.cli.given import Given
    from palprep.facts.speaker import Speaker
    from palprep.preflight.isolated import Isolated
    from palprep.rules.report import Report
    from palprep.workers.local import LocalEngine

EXAMPLES = (
    "palprep check portrait.jpg recording.m4a",
    "palprep check photos --jobs 4 --json > checks.jsonl",
    'palprep check training.mp4 --name "Ada Lovelace" --verbose',
)


def check(
    paths: Paths,
    role: AsRole = None,
    profile: ProfileName = DEFAULT_PROFILE,
    name: SpeakerName = None,
    statement: Statement = None,
    language: Language = "en",
    model: WhisperModel = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Read headers and a few key frames; what needs more is unknown."
        ),
    ] = False,
    jobs: Jobs = 1,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
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
    verbose: Verbose = False,
    quiet: Quiet = False,
    log_file: LogFile = None,
) -> None:
    """Check files against what the service accepts, before anything is uploaded.

    Of a folder every image, audio and video is checked, in the folders below it, too. --verbose
    shows ids, measures, limits and sources. A training video need not hold the consent statement
    when a consent video is in the same folder. The exit code is 1 when a file fails a check or
    cannot be read.
    """
    from palprep.cli.files_at_work import limits_of, workers
    from palprep.cli.files_progress import files_progress
    from palprep.cli.given import inputs

    limits = limits_of(time_limit, memory_limit)
    named = inputs(paths)
    if named.problems and not as_json:
        raise UsageError(" ".join(named.problems))
    with telling(verbose=verbose, quiet=quiet or as_json, log_file=log_file):
        told = 0
        try:
            with (
                interruptible(),
                workers(jobs, limits, begin=bool(named.files)) as at_work,
                files_progress(len(named.given), wanted=not as_json) as progress,
            ):
                # Loaded while the first worker loads the decoders.
                from palprep.cli.summary import Tally
                from palprep.preflight.isolated import Isolated
                from palprep.rules.profile import load_profile
                from palprep.views.terminal import report_view

                held_against = load_profile(profile)
                tell_notes(held_against)
                judge = partial(
                    _judged,
                    Isolated(held_against, at_work.engine, quick=quick),
                    progress,
                    apart=folders_with_consent(named.files, role),
                    role=role,
                    speaker=speaker_of(name, statement, language, model, profile=profile),
                )
                drawn = _targets(named.files, pictures)
                seen = Tally(held_against)
                for report in at_work.each(judge, named.given):
                    seen.add(report)
                    with progress.aside():
                        if as_json:
                            print_json(report.to_json())
                        else:
                            show(report_view(report, everything=everything, verbose=verbose))
                    _draw(report, drawn.get(Path(report.path)), at_work.engine)
                    told += 1
        except Interrupted as signal:
            interrupted(f"{told} of {len(named.given)} files were checked.", signal)
        tell(seen.summary(named.passed_over))
        tell(seen.next(paths))
    if named.problems:
        raise typer.Exit(ExitCode.USAGE)
    raise typer.Exit(ExitCode.OK if seen.passed else ExitCode.FAILED)


def _judged(
    isolated: Isolated,
    progress: FilesProgress,
    given: Given,
    *,
    apart: Container[Path],
    role: Role | None,
    speaker: Speaker | None,
) -> Report:
    """The report on what was named, also where it cannot be read, or anything at all went wrong."""
    from palprep.cli.files_at_work import as_error
    from palprep.rules.report import Report

    error: PalprepError
    if given.problem is not None:
        error = FileMissing(given.problem)
    else:
        elsewhere = given.path.parent in apart
        try:
            with progress.at(given.path.name):
                return isolated.check(
                    given.path, role=role, speaker=speaker, consent_apart=elsewhere
                )
        except Exception as raised:  # noqa: BLE001 -- the other files are checked all the same
            error = as_error(raised)
    return Report.of_error(given.path, error, role=role, profile=isolated.profile.name)


def _targets(files: Sequence[Path], pictures: Path | None) -> dict[Path, Path]:
    """Where each file's picture goes; empty when none are asked for."""
    if pictures is None:
        return {}
    from palprep.cli.pictures import targets

    return targets(files, pictures)


def _draw(report: Report, target: Path | None, engine: LocalEngine) -> None:
    """Write the picture of a file, where one was asked for and something can be drawn."""
    if target is None or report.facts is None:
        return
    from palprep.cli.pictures import write_picture

    try:
        drawn = engine.run(write_picture, report, target)
    except (MediaError, ToolFailed) as error:
        tell_warning(f"No picture of {report.path}: {error.message}")
        return
    if drawn:
        tell(f"Picture: {drawn}")
