"""palprep check: measure and judge files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.exits import ExitCode, worst
from palprep.cli.options import (
    AsJson,
    AsRole,
    Jobs,
    Language,
    LogFile,
    MemoryLimit,
    Paths,
    ProfileName,
    Quiet,
    SpeakerName,
    Statement,
    TimeLimit,
    Verbose,
    WhisperModel,
)
from palprep.cli.output import (
    interrupted,
    paths_in_shell,
    print_json,
    show,
    tell,
    tell_warning,
    telling,
)
from palprep.cli.signals import Interrupted
from palprep.errors import MediaError, PalprepError, ToolFailed, UsageError
from palprep.vocabulary import DEFAULT_PROFILE, Outcome

if TYPE_CHECKING:
    from palprep.cli.progress import Advance
    from palprep.rules import Profile, Report
    from palprep.workers import LocalEngine

DECIDE = (
    "Next: whether consent is given is in doubt. Listen to what the findings name. Record the "
    "statement again, and run the same command; or let `palprep run --without-consent` waive it."
)
MEND = "Next: do what the findings say, and run the same command again."

_NAMED = 3
"""Files without media that the summary names; others are counted."""

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
    cannot be read, and 4 when the consent that was listened for is in doubt.
    """
    from palprep.cli.files import FileOptions, files_at_work, find_inputs, limits_of

    limits = limits_of(time_limit, memory_limit)
    inputs = find_inputs(paths)
    if inputs.problems and not as_json:
        raise UsageError(" ".join(inputs.problems))
    options = FileOptions(
        role, profile, name, statement, language, model, jobs, limits, as_json=as_json
    )
    with telling(verbose=verbose, quiet=quiet or as_json, log_file=log_file):
        told = 0
        try:
            with files_at_work(inputs, options) as work:
                from palprep.preflight import Preflight
                from palprep.views import report_view

                preflight = Preflight(work.profile, engine=work.engine, quick=quick)

                def judged(path: Path, _: Advance) -> Report:
                    return preflight.check(
                        path,
                        role=role,
                        speaker=work.speaker,
                        consent_apart=work.consent_apart(path),
                    )

                drawn = targets(inputs.files, pictures) if pictures else {}
                tally = Tally(work.profile)
                for file, judgement in work.each(judged):
                    report = (
                        work.report_of(file, judgement)
                        if isinstance(judgement, PalprepError)
                        else judgement
                    )
                    tally.add(report)
                    with work.aside():
                        if as_json:
                            print_json(report.to_json())
                        else:
                            show(report_view(report, everything=everything, verbose=verbose))
                    _draw(report, drawn.get(Path(report.path)), work.engine)
                    told += 1
        except Interrupted as signal:
            interrupted(f"{told} of {len(inputs.all)} files were checked.", signal)
        tell(tally.summary(inputs.passed_over))
        tell(tally.next(paths))
    found = (
        (tally.doubtful, ExitCode.IN_DOUBT),
        (bool(inputs.problems), ExitCode.USAGE),
        (not tally.passed, ExitCode.FAILED),
    )
    raise typer.Exit(worst(code for there, code in found if there))


def targets(paths: Sequence[Path], folder: Path) -> dict[Path, Path]:
    """The path of each file's picture.

    The names of their folders tell files of the same name apart; where those are the same too,
    a number does.
    """
    named = Counter(path.name for path in dict.fromkeys(paths))
    seen: Counter[str] = Counter()
    found = {}
    for path in dict.fromkeys(paths):
        name = f"{path.resolve().parent.name}-{path.name}" if named[path.name] > 1 else path.name
        seen[name] += 1
        again = f"-{seen[name]}" if seen[name] > 1 else ""
        found[path] = folder / f"{name}{again}.png"
    return found


def _draw(report: Report, target: Path | None, engine: LocalEngine) -> None:
    """Write the picture of a file, where one was asked for and something can be drawn."""
    if target is None or report.facts is None:
        return
    from palprep.views import write_picture

    try:
        drawn = engine.run(write_picture, report, target)
    except (MediaError, ToolFailed) as error:
        tell_warning(f"No picture of {report.path}: {error.message}")
        return
    if drawn:
        tell(f"Picture: {drawn}")


class Tally:
    """Counts reports without keeping them, and remembers whether a fix would help."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._kinds: Counter[str] = Counter()
        self._fixable = False
        self.doubtful = False
        """Whether it is in doubt that consent is given in one of them."""

    def add(self, report: Report) -> None:
        """Count one more."""
        from palprep.rules import consent_doubts
        from palprep.rules.plans import plan

        self._kinds["unread" if report.error else report.verdict] += 1
        self.doubtful = self.doubtful or bool(consent_doubts(report))
        if report.facts is not None and report.verdict in {Outcome.FAIL, Outcome.WARN}:
            self._fixable = self._fixable or plan(report, self._profile) is not None

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not (self._kinds[Outcome.FAIL] or self._kinds["unread"])

    def summary(self, passed_over: Sequence[Path] = ()) -> str:
        """How many files came out how, and what in the folders was no media: ``3 files: 1 passed,
        2 failed.``
        """
        from palprep.rules import counted

        said = (
            (Outcome.PASS, "passed"),
            (Outcome.WARN, "passed with warnings"),
            (Outcome.FAIL, "failed"),
            ("unread", "could not be read"),
            (Outcome.UNKNOWN, "could not be judged"),
        )
        found = ", ".join(f"{self._kinds[each]} {how}" for each, how in said if self._kinds[each])
        files = counted(self._kinds.total(), "file", "files")
        return f"{files}: {found}.{_others(passed_over)}"

    def next(self, paths: Sequence[Path]) -> str:
        """What to do now: the fix that helps, or the retake."""
        if self._fixable:
            return f"Next: palprep fix {paths_in_shell(paths)} --into prepared"
        if self.doubtful:
            return DECIDE
        if self.passed:
            return "Next: nothing to fix. `palprep run FOLDER` sends what is in a folder of people."
        return MEND


def _others(passed_over: Sequence[Path]) -> str:
    if not passed_over:
        return ""
    names = ", ".join(path.name for path in passed_over[:_NAMED])
    more = f" and {len(passed_over) - _NAMED} more" if len(passed_over) > _NAMED else ""
    return f" Passed over, without media: {names}{more}."
