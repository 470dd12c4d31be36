"""palprep fix: fix files, and prove the result."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from palprep import dossier, facts, fixes, preflight, rules, storage
from palprep.cli import options
from palprep.cli.exits import worst
from palprep.cli.files import FileOptions, files_at_work, limits_of
from palprep.cli.output import print_error, print_json, show, tell, telling
from palprep.errors import UsageError
from palprep.rules import texts
from palprep.views import terminal
from palprep.vocabulary import DEFAULT_PROFILE, Role

REJECTED = "rejected"
"""The folder, in that of the new files, for those that still fail a check."""

EXAMPLES = (
    "palprep fix portrait.heic recording.m4a --into prepared",
    "palprep fix photos --into prepared",
    'palprep fix training.mp4 --into prepared --full-name "Ada Lovelace" --split-consent',
)


def fix(
    paths: options.Paths,
    into: Annotated[Path, typer.Option(help="Folder for the new files.")],
    role: options.AsRole = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    name: options.SpeakerName = None,
    spoken_as: options.SpokenAs = None,
    statement: options.Statement = None,
    language: options.Language = "en",
    model: options.WhisperModel = None,
    split_consent: Annotated[
        bool,
        typer.Option(
            "--split-consent",
            help="Also write a consent video: the part of the training video with the statement.",
        ),
    ] = False,
    jobs: options.Jobs = 1,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    log_file: options.LogFile = None,
) -> None:
    """A new file that still fails a check goes into the folder rejected within --into. With
    --full-name, a video is cut so that it opens with the consent statement, and a dossier of the
    evidence is written next to it. Source files are never changed. The exit code is 1 when a file
    cannot be fixed, or still fails a check, and 4 when the consent in a new file is in doubt.
    """
    if split_consent and name is None:
        raise UsageError("--split-consent needs --full-name: whose consent is it?")
    asked = FileOptions(
        *(role, profile, name, spoken_as, statement, language, model, jobs),
        *(limits_of(time_limit, memory_limit), as_json),
    )
    made: list[preflight.Prepared] = []
    failed = 0
    with telling(verbose=verbose, quiet=quiet or (as_json and not verbose), log_file=log_file):
        with files_at_work(paths, asked, done="fixed", writes=into) as work:
            # As the sources lie in the folders that were given.
            folders = {each.path: each.folder or Path() for each in work.inputs}
            holders = work.all_as(Role.TRAINING_VIDEO) if split_consent else frozenset()
            if split_consent and not holders:
                raise UsageError("--split-consent needs a training video that holds the statement")
            if not as_json:  # Which tells of each file what is in its way.
                storage.output_folder(into)

            def fixed(path: Path, advance: Callable[[float], None]) -> tuple[_Fixed, ...]:
                prepared = preflight.prepare(
                    path,
                    **work.asked_of(path),
                    into=into / folders[path],
                    split_consent=path in holders,
                    progress=advance,
                )
                both = (prepared, *([prepared.consent] if prepared.consent else []))
                rejected = into / REJECTED / folders[path]
                return tuple(_kept(each, work.speaker, rejected) for each in both)

            for found in work.each(fixed):
                with work.aside():
                    if isinstance(found, rules.Report):
                        failed += 1
                        if as_json:
                            print_json(found.to_json() | {"prepared": None, "fixes": []})
                        elif found.error is not None:
                            print_error(found.error.message)
                        continue
                    made += [each.prepared for each in found]
                    reports = [each.prepared.report for each in found]
                    work.count(*reports)
                    work.done += all(each.passed for each in reports)
                    _show(found, as_json=as_json, verbose=verbose)
        tell(_summary(made, into / REJECTED, failed=failed))
        well = f"publish what is in {into}; or let `palprep run FOLDER` do all steps."
        tell(work.next_step(well))
    raise typer.Exit(worst(work.codes))


class _Fixed(NamedTuple):
    """A new file, and the dossier next to it."""

    prepared: preflight.Prepared
    dossier: Path | None


def _kept(prepared: preflight.Prepared, speaker: facts.Speaker | None, rejected: Path) -> _Fixed:
    """The new file, apart if it is not fit, with its dossier if consent was listened for."""
    report = prepared.report
    if not report.passed:
        path = fixes.move_into(prepared.path, rejected)
        report = report.model_copy(update={"path": str(path)})
        prepared = prepared.model_copy(update={"path": path, "report": report})
    if speaker is None:
        return _Fixed(prepared, None)
    now = dt.datetime.now(dt.UTC)
    kept = dossier.keep_dossier(prepared, person=speaker.full_name, written_at=now)
    return _Fixed(prepared, kept)


def _show(fixed: Sequence[_Fixed], *, as_json: bool, verbose: bool) -> None:
    if as_json:
        entry, *clips = map(_entry, fixed)
        print_json(entry | ({"consent": clips[0]} if clips else {}))
        return
    for each in fixed:
        show(terminal.prepared_view(each.prepared, each.dossier, verbose=verbose))


def _entry(fixed: _Fixed) -> dict[str, Any]:
    prepared, kept = fixed
    done = [each.to_json() for each in prepared.fixes]
    entry = prepared.report.to_json() | {"prepared": str(prepared.path), "fixes": done}
    return entry | ({"dossier": str(kept)} if kept else {})


def _summary(made: Sequence[preflight.Prepared], rejected: Path, *, failed: int) -> str:
    """How many new files there are, and where. ``failed`` sources became none."""
    fit = sum(each.report.passed for each in made)
    files = texts.counted(fit, "new file is", "new files are") if fit else "No file is"
    said = [f"{files} fit."]
    if fit < len(made):
        apart = texts.counted(len(made) - fit, "new file is", "new files are")
        said.append(f"{apart} set apart in {rejected}.")
    if failed:
        said.append(f"{texts.counted(failed, 'file', 'files')} could not be fixed.")
    return " ".join(said)
