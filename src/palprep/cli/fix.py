"""palprep fix: fix files, and prove the result."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from palprep.cli.check import DECIDE, MEND
from palprep.cli.exits import ExitCode, exit_code_of, worst
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
from palprep.cli.output import interrupted, print_error, print_json, show, tell, telling
from palprep.cli.signals import Interrupted
from palprep.errors import PalprepError, UsageError
from palprep.vocabulary import DEFAULT_PROFILE, Role

if TYPE_CHECKING:
    from palprep.cli.files import FilesAtWork, Input
    from palprep.cli.progress import Advance
    from palprep.facts import Speaker
    from palprep.preflight import Prepared
    from palprep.rules import Report

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
    cannot be fixed, or still fails a check, and 4 when the consent in a new file is in doubt.
    """
    from palprep.cli.files import FileOptions, files_at_work, find_inputs, limits_of

    limits = limits_of(time_limit, memory_limit)
    inputs = find_inputs(paths)
    if inputs.problems and not as_json:
        raise UsageError(" ".join(inputs.problems))
    if split_consent and name is None:
        raise UsageError("--split-consent needs --name: whose consent is it?")
    options = FileOptions(
        role, profile, name, statement, language, model, jobs, limits, as_json=as_json
    )
    with telling(verbose=verbose, quiet=quiet or as_json, log_file=log_file):
        made: list[Prepared] = []
        codes: list[ExitCode] = []
        fit = 0
        try:
            with files_at_work(inputs, options) as work:
                from palprep.preflight import Preflight

                preflight = Preflight(work.profile, engine=work.engine)
                folders = _folders(inputs.all, into)
                holders = _holders(work, inputs.files) if split_consent else frozenset()

                def fixed(path: Path, advance: Advance) -> tuple[_Fixed, ...]:
                    prepared = preflight.prepare(
                        path,
                        into=folders[path],
                        role=role,
                        speaker=work.speaker,
                        consent_apart=work.consent_apart(path),
                        split_consent=path in holders,
                        progress=advance,
                    )
                    both = (prepared, *([prepared.consent] if prepared.consent else []))
                    return tuple(_kept(each, work.speaker) for each in both)

                for file, found in work.each(fixed):
                    with work.aside():
                        if isinstance(found, PalprepError):
                            codes.append(ExitCode.USAGE if file.problem else exit_code_of(found))
                            _show_failure(work.report_of(file, found), found, as_json=as_json)
                            continue
                        made += [each.prepared for each in found]
                        codes.append(_code([each.prepared.report for each in found]))
                        fit += all(each.prepared.report.passed for each in found)
                        _show(found, as_json=as_json, verbose=verbose)
        except Interrupted as signal:
            kept = f"{fit} of {len(inputs.all)} files were fixed, and are kept in {into}."
            interrupted(kept, signal)
        sources = len({each.source for each in made})
        tell(_summary(made, into / REJECTED, failed=len(codes) - sources))
        tell(_next(made, into))
    raise typer.Exit(worst(codes))


def _code(reports: Sequence[Report]) -> ExitCode:
    """The exit code that the new files of one file alone would give."""
    from palprep.rules import consent_doubts

    if any(map(consent_doubts, reports)):
        return ExitCode.IN_DOUBT
    return ExitCode.OK if all(each.passed for each in reports) else ExitCode.FAILED


class _Fixed(NamedTuple):
    """A new file, and the dossier next to it."""

    prepared: Prepared
    dossier: Path | None


def _kept(prepared: Prepared, speaker: Speaker | None) -> _Fixed:
    """The new file where it belongs, with its dossier where consent was listened for."""
    from palprep.dossier import keep_dossier

    placed = prepared if prepared.report.passed else _set_apart(prepared)
    if speaker is None:
        return _Fixed(placed, None)
    now = dt.datetime.now(dt.UTC)
    return _Fixed(placed, keep_dossier(placed, person=speaker.full_name, written_at=now))


def _set_apart(prepared: Prepared) -> Prepared:
    """The file, moved out of the folder of those that are fit."""
    from palprep.fixes import move_into

    path = move_into(prepared.path, prepared.path.parent / REJECTED)
    report = prepared.report.model_copy(update={"path": str(path)})
    return prepared.model_copy(update={"path": path, "report": report})


def _holders(work: FilesAtWork, paths: Sequence[Path]) -> frozenset[Path]:
    """The training videos, which hold the statement. Raises UsageError when there is none."""
    found = frozenset(path for path in paths if work.is_a(Role.TRAINING_VIDEO, path))
    if not found:
        raise UsageError("--split-consent needs a training video that holds the statement")
    return found


def _folders(inputs: Sequence[Input], into: Path) -> dict[Path, Path]:
    """Where each output goes: files of the same name go into a folder named like their own.

    A fix may change the extension, so names are compared without it.
    """
    stems = Counter(each.path.stem for each in inputs)
    return {
        each.path: into / each.path.resolve().parent.name if stems[each.path.stem] > 1 else into
        for each in inputs
    }


def _show(fixed: Sequence[_Fixed], *, as_json: bool, verbose: bool) -> None:
    if as_json:
        entry, *clips = map(_entry, fixed)
        print_json(entry | ({"consent": clips[0]} if clips else {}))
        return
    from palprep.views import prepared_view

    for each in fixed:
        show(prepared_view(each.prepared, each.dossier, verbose=verbose))


def _entry(fixed: _Fixed) -> dict[str, Any]:
    prepared, dossier = fixed
    fixes = [done.to_json() for done in prepared.fixes]
    entry = prepared.report.to_json() | {"prepared": str(prepared.path), "fixes": fixes}
    return entry | ({"dossier": str(dossier)} if dossier else {})


def _show_failure(report: Report, error: PalprepError, *, as_json: bool) -> None:
    if as_json:
        print_json(report.to_json() | {"prepared": None, "fixes": []})
    else:
        print_error(error.message)


def _summary(made: Sequence[Prepared], rejected: Path, *, failed: int) -> str:
    """How many new files there are, and where. ``failed`` sources became none."""
    from palprep.rules import counted

    fit = sum(each.report.passed for each in made)
    said = [f"{counted(fit, 'new file is', 'new files are')} fit." if fit else "No file is fit."]
    if fit < len(made):
        apart = counted(len(made) - fit, "new file is", "new files are")
        said.append(f"{apart} set apart in {rejected}.")
    if failed:
        said.append(f"{counted(failed, 'file', 'files')} could not be fixed.")
    return " ".join(said)


def _next(made: Sequence[Prepared], into: Path) -> str:
    """What to do after files were fixed."""
    from palprep.rules import consent_doubts

    if any(consent_doubts(each.report) for each in made):
        return DECIDE
    if made and all(each.report.passed for each in made):
        return f"Next: publish what is in {into}; or let `palprep run FOLDER` do all steps."
    return MEND
