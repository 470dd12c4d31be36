"""palprep fix: fix files, and prove the result."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Container, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from palprep.cli.exits import ExitCode, exit_code_of, worst
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
from palprep.cli.printing import print_error, print_json, show, tell_notes
from palprep.cli.signals import Interrupted, interruptible
from palprep.cli.speakers import folders_with_consent, role_of, speaker_of
from palprep.cli.verbosity import LogFile, Quiet, Verbose, tell, telling
from palprep.errors import FileMissing, PalprepError, UsageError
from palprep.vocabulary import DEFAULT_PROFILE, Role

if TYPE_CHECKING:
    from palprep.cli.files_progress import FilesProgress
    from palprep.cli.given import Given
    from palprep.facts.speaker import Speaker
    from palprep.preflight.isolated import Isolated
    from palprep.preflight.prepared import Prepared

REJECTED = "rejected"
"""The folder, in that of the new files, for those that still fail a check."""


EXAMPLES = (
    "palprep fix portrait.heic recording.m4a --into prepared",
    "palprep fix photos --into prepared",
    'palprep fix training.mp4 --into prepared --name "Ada Lovelace" --split-consent',
)


def fix(
    paths: Paths,
    into: Annotated[
        Path, typer.Option("--into", help="Folder for the new files.", show_default=False)
    ],
    role: AsRole = None,
    profile: ProfileName = DEFAULT_PROFILE,
    name: SpeakerName = None,
    statement: Statement = None,
    language: Language = "en",
    model: WhisperModel = None,
    split_consent: Annotated[
        bool,
        typer.Option(
            "--split-consent",
            help="Also write a consent video: the part of the training video with the statement.",
        ),
    ] = False,
    jobs: Jobs = 1,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    log_file: LogFile = None,
) -> None:
    """Write the smallest fix into a new file, and check the new file like any other.

    A new file that still fails a check goes into the folder rejected below that of the others.
    With --name, a video is cut so that it opens with the consent statement, and a dossier of the
    evidence is written next to it. Source files are never changed. The exit code is 1 when a file
    cannot be fixed, or still fails a check.
    """
    from palprep.cli.files_at_work import limits_of, workers
    from palprep.cli.files_progress import files_progress
    from palprep.cli.given import inputs

    limits = limits_of(time_limit, memory_limit)
    named = inputs(paths)
    if named.problems and not as_json:
        raise UsageError(" ".join(named.problems))
    if split_consent and name is None:
        raise UsageError("--split-consent needs --name: whose consent is it?")
    with telling(verbose=verbose, quiet=quiet or as_json, log_file=log_file):
        made: list[Prepared] = []
        codes: list[ExitCode] = []
        try:
            with (
                interruptible(),
                workers(jobs, limits, begin=bool(named.files)) as at_work,
                files_progress(len(named.given), wanted=not as_json) as progress,
            ):
                # Loaded while the first worker loads the decoders.
                from palprep.cli.summary import fixed_summary_of, next_after_fix
                from palprep.preflight.isolated import Isolated
                from palprep.rules.profile import load_profile

                held_against = load_profile(profile)
                tell_notes(held_against)
                work = partial(
                    _fixed,
                    Isolated(held_against, at_work.engine),
                    progress,
                    role=role,
                    speaker=speaker_of(name, statement, language, model, profile=profile),
                    apart=folders_with_consent(named.files, role),
                    holders=_holders(named.files, role) if split_consent else frozenset(),
                )
                tasks = list(zip(named.given, _folders(named.given, into), strict=True))
                for fixed in at_work.each(work, tasks):
                    made += fixed.files
                    codes.append(fixed.code)
                    with progress.aside():
                        _show(fixed, held_against.name, role, as_json=as_json, verbose=verbose)
        except Interrupted as signal:
            fit = sum(1 for code in codes if code is ExitCode.OK)
            kept = f"{fit} of {len(named.given)} files were fixed, and are kept in {into}."
            interrupted(kept, signal)
        tell(fixed_summary_of(made, into / REJECTED, failed=len(codes) - _sources(made)))
        tell(next_after_fix(made, into))
    raise typer.Exit(worst(codes))


class _Fixed(NamedTuple):
    """What became of one file: new files with their dossiers, or an error."""

    given: Given
    files: tuple[Prepared, ...] = ()
    dossiers: tuple[Path | None, ...] = ()
    error: PalprepError | None = None

    @property
    def code(self) -> ExitCode:
        """The exit code that this file alone would give."""
        if self.error is not None:
            return ExitCode.USAGE if self.given.problem else exit_code_of(self.error)
        passed = all(each.report.passed for each in self.files)
        return ExitCode.OK if passed else ExitCode.FAILED


def _fixed(
    isolated: Isolated,
    progress: FilesProgress,
    task: tuple[Given, Path],
    *,
    role: Role | None,
    speaker: Speaker | None,
    apart: Container[Path],
    holders: Container[Path],
) -> _Fixed:
    """The new file; and the consent video, where it was split out of it. Whatever goes wrong, it
    goes wrong with this file alone.
    """
    from palprep.cli.files_at_work import as_error

    given, into = task
    if given.problem is not None:
        return _Fixed(given, error=FileMissing(given.problem))
    try:
        with progress.at(given.path.name) as advance:
            prepared = isolated.prepare(
                given.path,
                into=into,
                role=role,
                speaker=speaker,
                consent_apart=given.path.parent in apart,
                split_consent=given.path in holders,
                progress=advance,
            )
        made = (prepared, *([prepared.consent] if prepared.consent else []))
        files = tuple(each if each.report.passed else _set_apart(each) for each in made)
        return _Fixed(given, files, tuple(_dossier(each, speaker) for each in files))
    except Exception as error:  # noqa: BLE001 -- the other files are fixed all the same
        return _Fixed(given, error=as_error(error))


def _set_apart(prepared: Prepared) -> Prepared:
    """The file, moved out of the folder of those that are fit."""
    from palprep.fixes.output import move_into

    path = move_into(prepared.path, prepared.path.parent / REJECTED)
    report = prepared.report.model_copy(update={"path": str(path)})
    return prepared.model_copy(update={"path": path, "report": report})


def _sources(made: Sequence[Prepared]) -> int:
    return len({each.source for each in made})


def _holders(paths: Sequence[Path], role: Role | None) -> frozenset[Path]:
    """The training videos, which hold the statement.

    Raises UsageError when there is none.
    """
    found = frozenset(path for path in paths if role_of(path, role) is Role.TRAINING_VIDEO)
    if not found:
        raise UsageError("--split-consent needs a training video that holds the statement")
    return found


def _folders(given: Sequence[Given], into: Path) -> list[Path]:
    """Where each output goes: files of the same name go into a folder named like their own.

    A fix may change the extension, so names are compared without it.
    """
    stems = Counter(each.path.stem for each in given)
    return [
        into / each.path.resolve().parent.name if stems[each.path.stem] > 1 else into
        for each in given
    ]


def _dossier(prepared: Prepared, speaker: Speaker | None) -> Path | None:
    from palprep.dossier.files import keep_dossier

    if speaker is None:
        return None
    now = dt.datetime.now(dt.UTC)
    return keep_dossier(prepared, person=speaker.full_name, written_at=now)


def _show(fixed: _Fixed, profile: str, role: Role | None, *, as_json: bool, verbose: bool) -> None:
    if fixed.error is not None:
        _show_failure(profile, fixed.given, role, fixed.error, as_json=as_json)
    elif as_json:
        entry, *clips = map(_entry, fixed.files, fixed.dossiers)
        print_json(entry | ({"consent": clips[0]} if clips else {}))
    else:
        for each, dossier in zip(fixed.files, fixed.dossiers, strict=True):
            _show_file(each, dossier, verbose=verbose)


def _entry(prepared: Prepared, dossier: Path | None) -> dict[str, Any]:
    fixes = [done.to_json() for done in prepared.fixes]
    entry = prepared.report.to_json() | {"prepared": str(prepared.path), "fixes": fixes}
    return entry | ({"dossier": str(dossier)} if dossier else {})


def _show_file(prepared: Prepared, dossier: Path | None, *, verbose: bool) -> None:
    from rich.text import Text

    from palprep.views.terminal import indented, report_view

    show(report_view(prepared.report, verbose=verbose))
    lines = [f"fixed {done.id}: {done.did}" for done in prepared.fixes]
    if not lines and prepared.report.passed:
        lines = ["Nothing to fix: this is a copy."]
    elif not lines:
        lines = ["Nothing of this can be fixed by palprep: this is a copy."]
    if dossier is not None:
        lines.append(f"consent dossier: {dossier}")
    for line in lines:
        show(indented(Text(line)))


def _show_failure(
    profile: str, given: Given, role: Role | None, error: PalprepError, *, as_json: bool
) -> None:
    from palprep.rules.report import Report

    if not as_json:
        print_error(error.message)
        return
    report = Report.of_error(given.path, error, role=role, profile=profile)
    print_json(report.to_json() | {"prepared": None, "fixes": []})
