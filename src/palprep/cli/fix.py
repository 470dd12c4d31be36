"""palprep fix: fix files, and prove the result."""

from __future__ import annotations

import datetime as dt
from collections import Counter
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
from palprep.errors import FixError, MediaError, PalprepError, ToolFailed, UsageError
from palprep.vocabulary import DEFAULT_PROFILE, Role

if TYPE_CHECKING:
    from palprep.facts.probe import Speaker
    from palprep.preflight.prepared import Prepared


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
) -> None:
    """Write the smallest fix into a new file, and check the new file like any other.

    With --name, a video is cut so that it opens with the consent statement, and a dossier of the
    evidence is written next to it. Source files are never changed. The exit code is 1 when a file
    cannot be fixed, or still fails a check.
    """
    from palprep.preflight.check_and_prepare import Preflight

    preflight = Preflight(profile)
    tell_notes(preflight.profile)
    speaker = speaker_of(name, statement, language, profile=profile)
    apart = folders_with_consent(paths, role)
    if split_consent and speaker is None:
        raise UsageError("--split-consent needs --name: whose consent is it?")
    holders = _holders(paths, role) if split_consent else frozenset()
    codes = []
    for path, folder in zip(paths, _folders(paths, into), strict=True):
        try:
            with progress_bar(path.name, wanted=not as_json) as advance:
                prepared = preflight.prepare(
                    path,
                    into=folder,
                    role=role,
                    speaker=speaker,
                    consent_apart=path.parent in apart,
                    split_consent=path in holders,
                    progress=advance,
                )
        except (MediaError, FixError, ToolFailed) as error:
            codes.append(exit_code_of(error))
            if as_json:
                print_json(_failed(preflight.profile.name, path, role, error))
            else:
                print_error(error.message)
            continue
        made = [prepared, *([prepared.consent] if prepared.consent else [])]
        passed = all(each.report.passed for each in made)
        codes.append(ExitCode.OK if passed else ExitCode.FAILED)
        dossiers = [_dossier(each, speaker) for each in made]
        if as_json:
            entry, *clips = map(_entry, made, dossiers)
            print_json(entry | ({"consent": clips[0]} if clips else {}))
            continue
        for each, dossier in zip(made, dossiers, strict=True):
            _show(each, dossier)
    raise typer.Exit(worst(codes))


def _holders(paths: list[Path], role: Role | None) -> frozenset[Path]:
    """The training videos, which hold the statement.

    Raises UsageError when there is none.
    """
    found = frozenset(path for path in paths if role_of(path, role) is Role.TRAINING_VIDEO)
    if not found:
        raise UsageError("--split-consent needs a training video that holds the statement")
    return found


def _dossier(prepared: Prepared, speaker: Speaker | None) -> Path | None:
    from palprep.dossier.files import keep_dossier

    if speaker is None:
        return None
    now = dt.datetime.now(dt.UTC)
    return keep_dossier(prepared, person=speaker.full_name, written_at=now)


def _entry(prepared: Prepared, dossier: Path | None) -> dict[str, Any]:
    fixes = [done.to_json() for done in prepared.fixes]
    entry = prepared.report.to_json() | {"prepared": str(prepared.path), "fixes": fixes}
    return entry | ({"dossier": str(dossier)} if dossier else {})


def _show(prepared: Prepared, dossier: Path | None) -> None:
    from rich.text import Text

    from palprep.views.terminal import report_view

    show(report_view(prepared.report))
    for done in prepared.fixes:
        show(Text(f"        fixed {done.id}: {done.did}"))
    if not prepared.fixes:
        show(Text("        nothing to fix; copied as it was"))
    if dossier is not None:
        show(Text(f"        consent dossier: {dossier}"))


def _folders(paths: list[Path], into: Path) -> list[Path]:
    """Where each output goes: files of the same name go into a folder named like their own.

    A fix may change the extension, so names are compared without it.
    """
    stems = Counter(path.stem for path in paths)
    folders = [
        into / path.resolve().parent.name if stems[path.stem] > 1 else into for path in paths
    ]
    outputs = Counter(folder / path.stem for path, folder in zip(paths, folders, strict=True))
    twice = [output for output, count in outputs.items() if count > 1]
    if twice:
        raise UsageError(f"Two files would become {twice[0]}: fix them into different folders")
    return folders


def _failed(profile: str, path: Path, role: Any, error: PalprepError) -> dict[str, Any]:
    from palprep.rules.report import Report, ReportError

    report = Report(
        path=str(path),
        role=role,
        profile=profile,
        error=ReportError(code=error.code, message=error.message),
    )
    return report.to_json() | {"prepared": None, "fixes": []}
