"""palprep fix: fix files, and prove the result."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from palprep.cli.exits import ExitCode, exit_code_of, worst
from palprep.cli.options import (
    AsJson,
    AsRole,
    Language,
    Paths,
    ProfileName,
    SpeakerName,
    Statement,
)
from palprep.cli.printing import print_error, print_json, progress_bar, show, tell_notes
from palprep.cli.speakers import folders_with_consent, role_of, speaker_of
from palprep.cli.verbosity import LogFile, Quiet, Verbose, tell, telling
from palprep.errors import FileMissing, FixError, MediaError, PalprepError, ToolFailed, UsageError
from palprep.vocabulary import DEFAULT_PROFILE, Role

if TYPE_CHECKING:
    from palprep.cli.given import Given
    from palprep.facts.probe import Speaker
    from palprep.preflight.check_and_prepare import Preflight
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
    split_consent: Annotated[
        bool,
        typer.Option(
            "--split-consent",
            help="Also write a consent video: the part of the training video with the statement.",
        ),
    ] = False,
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
    from palprep.cli.given import inputs
    from palprep.cli.summary import fixed_summary_of, next_after_fix
    from palprep.preflight.check_and_prepare import Preflight

    named = inputs(paths)
    if named.problems and not as_json:
        raise UsageError(" ".join(named.problems))
    with telling(verbose=verbose, quiet=quiet or as_json, log_file=log_file):
        preflight = Preflight(profile)
        tell_notes(preflight.profile)
        speaker = speaker_of(name, statement, language, profile=profile)
        if split_consent and speaker is None:
            raise UsageError("--split-consent needs --name: whose consent is it?")
        apart = folders_with_consent(named.files, role)
        holders = _holders(named.files, role) if split_consent else frozenset()
        made: list[Prepared] = []
        codes: list[ExitCode] = []
        for given, folder in zip(named.given, _folders(named.given, into), strict=True):
            asked = {
                "role": role,
                "speaker": speaker,
                "consent_apart": given.path.parent in apart,
                "split_consent": given.path in holders,
            }
            try:
                files = _fixed(preflight, given, folder, bar=not as_json, **asked)
            except (MediaError, FixError, ToolFailed) as error:
                codes.append(ExitCode.USAGE if given.problem else exit_code_of(error))
                _show_failure(preflight.profile.name, given, role, error, as_json=as_json)
                continue
            made += files
            passed = all(each.report.passed for each in files)
            codes.append(ExitCode.OK if passed else ExitCode.FAILED)
            _show(files, speaker, as_json=as_json, verbose=verbose)
        tell(fixed_summary_of(made, into / REJECTED, failed=len(codes) - _sources(made)))
        tell(next_after_fix(made, into))
    raise typer.Exit(worst(codes))


def _fixed(
    preflight: Preflight, given: Given, into: Path, *, bar: bool, **asked: Any
) -> list[Prepared]:
    """The new file; and the consent video, where it was split out of it."""
    if given.problem is not None:
        raise FileMissing(given.problem)
    with progress_bar(given.path.name, wanted=bar) as advance:
        prepared = preflight.prepare(given.path, into=into, progress=advance, **asked)
    made = [prepared, *([prepared.consent] if prepared.consent else [])]
    return [each if each.report.passed else _set_apart(each) for each in made]


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


def _show(
    files: Sequence[Prepared], speaker: Speaker | None, *, as_json: bool, verbose: bool
) -> None:
    dossiers = [_dossier(each, speaker) for each in files]
    if as_json:
        entry, *clips = map(_entry, files, dossiers)
        print_json(entry | ({"consent": clips[0]} if clips else {}))
        return
    for each, dossier in zip(files, dossiers, strict=True):
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
