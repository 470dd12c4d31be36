"""palprep check: measure and judge files."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palprep.cli.exits import ExitCode
from palprep.cli.options import (
    AsJson,
    AsRole,
    Jobs,
    Language,
    Paths,
    ProfileName,
    SpeakerName,
    Statement,
)
from palprep.cli.printing import at_work, print_json, show, tell_notes
from palprep.cli.speakers import folders_with_consent, speaker_of
from palprep.cli.verbosity import LogFile, Quiet, Verbose, tell, telling
from palprep.errors import FileMissing, PalprepError, ToolFailed, UsageError
from palprep.vocabulary import DEFAULT_PROFILE, Role

if TYPE_CHECKING:
    from palprep.cli.given import Given
    from palprep.rules.report import Report

    Run = Callable[..., Report]
    """Calls a function with its arguments, here or elsewhere."""


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
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Read headers and a few key frames; what needs more is unknown."
        ),
    ] = False,
    jobs: Jobs = 1,
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
    from palprep.cli.given import inputs
    from palprep.cli.pictures import targets
    from palprep.cli.summary import Tally
    from palprep.rules.profile import load_profile
    from palprep.views.terminal import report_view

    named = inputs(paths)
    if named.problems and not as_json:
        raise UsageError(" ".join(named.problems))
    with telling(verbose=verbose, quiet=quiet or as_json, log_file=log_file):
        limits = load_profile(profile)
        tell_notes(limits)
        judge = partial(
            _judged,
            apart=folders_with_consent(named.files, role),
            role=role,
            limits=limits.name,
            profile=profile,
            speaker=speaker_of(name, statement, language, profile=profile),
            quick=quick,
        )
        drawn = targets(named.files, pictures) if pictures else {}
        seen = Tally(limits)
        for report in _reports(judge, named.given, jobs=jobs, wanted=not as_json):
            seen.add(report)
            if as_json:
                print_json(report.to_json())
            else:
                show(report_view(report, everything=everything, verbose=verbose))
            _draw(report, drawn.get(Path(report.path)))
        tell(seen.summary(named.passed_over))
        tell(seen.next(paths))
    if named.problems:
        raise typer.Exit(ExitCode.USAGE)
    raise typer.Exit(ExitCode.OK if seen.passed else ExitCode.FAILED)


def _judged(
    given: Given, run: Run, *, apart: Container[Path], role: Role | None, limits: str, **asked: Any
) -> Report:
    """The report on what was named, also where it cannot be read or a worker died at it."""
    from palprep.preflight.check_and_prepare import check as check_file
    from palprep.rules.report import Report

    error: PalprepError
    if given.problem is not None:
        error = FileMissing(given.problem)
    else:
        try:
            elsewhere = given.path.parent in apart
            return run(check_file, given.path, role=role, consent_apart=elsewhere, **asked)
        except ToolFailed as failed:
            error = failed
    return Report.of_error(given.path, error, role=role, profile=limits)


def _reports(
    judge: Callable[[Given, Run], Report], given: Sequence[Given], *, jobs: int, wanted: bool
) -> Iterator[Report]:
    """The reports in their order: made one by one, or with several jobs in worker processes."""
    with _results(judge, given, jobs=jobs) as results:
        for number, each in enumerate(given, start=1):
            with at_work(f"checking {each.path.name} ({number} of {len(given)})", wanted=wanted):
                report = next(results)
            yield report


@contextmanager
def _results(
    judge: Callable[[Given, Run], Report], given: Sequence[Given], *, jobs: int
) -> Iterator[Iterator[Report]]:
    if jobs == 1:
        yield (judge(each, _here) for each in given)
        return
    from palprep.batch.engine import LocalEngine

    # The engine is closed first: that ends what the threads wait for.
    with ThreadPoolExecutor(jobs) as threads, LocalEngine(jobs) as engine:
        yield threads.map(lambda each: judge(each, engine.run), given)


def _here(function: Callable[..., Report], /, *arguments: Any, **options: Any) -> Report:
    return function(*arguments, **options)


def _draw(report: Report, target: Path | None) -> None:
    """Write the picture of a file, where one was asked for and something can be drawn."""
    from palprep.cli.pictures import write_picture
    from palprep.preflight.check_and_prepare import shared_toolkit

    if target is not None and report.facts is not None:
        drawn = write_picture(report, target, shared_toolkit().models)
        if drawn:
            tell(f"Picture: {drawn}")
