"""palprep check: measure and judge files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from palprep import preflight, rules, views
from palprep.cli import options
from palprep.cli.exits import worst
from palprep.cli.files import FileOptions, files_at_work, fix_command, limits_of
from palprep.cli.output import print_json, show, tell, telling
from palprep.rules import plans
from palprep.vocabulary import DEFAULT_PROFILE, Outcome

_ENDINGS = {
    Outcome.PASS: "passed",
    Outcome.WARN: "passed with warnings",
    Outcome.FAIL: "failed",
    None: "could not be read",
    Outcome.UNKNOWN: "could not be judged",
}

EXAMPLES = (
    "palprep check portrait.jpg recording.m4a",
    "palprep check photos --jobs 4 --json > checks.jsonl",
    'palprep check training.mp4 --full-name "Ada Lovelace" --verbose',
)


def check(
    paths: options.Paths,
    role: options.AsRole = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    name: options.SpeakerName = None,
    spoken_as: options.SpokenAs = None,
    statement: options.Statement = None,
    language: options.Language = "en",
    model: options.WhisperModel = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Read headers and a few key frames; what needs more is unknown."
        ),
    ] = False,
    jobs: options.Jobs = 1,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    as_json: options.AsJson = False,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Also list the checks that passed.")
    ] = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    log_file: options.LogFile = None,
) -> None:
    """In a folder, every image, audio and video is checked, also in the folders below it. --verbose
    shows ids, measures, limits and sources. A training video need not hold the consent statement
    when a consent video is in the same folder. The exit code is 1 when a file fails a check or
    cannot be read, and 4 when the consent that was listened for is in doubt.
    """
    asked = FileOptions(
        *(role, profile, name, spoken_as, statement, language, model, jobs),
        *(limits_of(time_limit, memory_limit), as_json),
    )
    endings: Counter[Outcome | None] = Counter()
    fixable = False
    with telling(verbose=verbose, quiet=quiet or (as_json and not verbose), log_file=log_file):
        with files_at_work(paths, asked, done="checked") as work:
            for report in work.each(
                lambda path, _: preflight.check(path, **work.asked_of(path), quick=quick)
            ):
                work.count(report)
                endings[None if report.error else report.verdict] += 1
                if report.facts is not None and report.verdict in {Outcome.FAIL, Outcome.WARN}:
                    fixable = fixable or plans.plan(report, work.profile) is not None
                with work.aside():
                    if as_json:
                        print_json(report.to_json())
                    else:
                        show(views.report_view(report, everything=everything, verbose=verbose))
                work.done += 1
        tell(_summary(endings, work.passed_over))
        if fixable:
            same = {"as": role, "profile": profile, "full_name": name, "spoken_as": spoken_as}
            heard = {"statement": statement, "language": language, "whisper_model": model}
            tell(f"Next: {fix_command(paths, **same, **heard)}")
        else:
            well = "nothing to fix. `palprep run FOLDER` sends what is in a folder of people."
            tell(work.next_step(well))
    raise typer.Exit(worst(work.codes))


def _summary(endings: Counter[Outcome | None], passed_over: Sequence[Path]) -> str:
    """How many files came out how, and what in the folders was no media: ``3 files: 1 passed,
    2 failed.``
    """
    found = ", ".join(f"{endings[each]} {how}" for each, how in _ENDINGS.items() if endings[each])
    said = f"{rules.counted(endings.total(), 'file', 'files')}: {found}."
    if not passed_over:
        return said
    names = rules.some_of([path.name for path in passed_over], most=3)
    return f"{said} Passed over, without media: {names}."
