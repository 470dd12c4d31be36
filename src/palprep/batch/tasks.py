"""What workers do: functions of picklable values, importable wherever a worker runs."""

from __future__ import annotations

import functools
import time
from pathlib import Path

from palprep.batch.asset_task import AssetTask
from palprep.consent.facts import StatementReading
from palprep.consent.opening import model_for
from palprep.errors import (
    DamagedMedia,
    FixError,
    OutputUnwritable,
    PalprepError,
    ToolError,
    UnsupportedMedia,
)
from palprep.media.source import Source
from palprep.preflight.asset import Asset
from palprep.preflight.check_and_prepare import Preflight
from palprep.preflight.prepared import Prepared
from palprep.preflight.same_person import same_person
from palprep.rules.consent import ConsentSpoken, never_asked
from palprep.rules.report import Check
from palprep.views.picture_folder import PictureFolder

_IN_FILE = (UnsupportedMedia, DamagedMedia, FixError)
"""What the content of a file is to blame for, and no tool, no limit and no right to read it."""


def prepare_asset(task: AssetTask, source: Source) -> Asset:
    """Prepare one file, whose ``source`` was looked at before. A file that cannot be used gives
    an asset whose report fails.

    Raises OutputUnwritable when the output folder is full or read-only: that is no file's
    fault.
    """
    started = time.perf_counter()
    prepared, report, problem, in_file = None, None, None, False
    preflight = _preflight(task.profile)
    into = _folder(task.into)
    try:
        prepared = preflight.prepare(
            source,
            into=into,
            role=task.role,
            speaker=task.speaker,
            consent_apart=task.consent_apart,
            split_consent=task.split_consent,
            overwrite=True,
        )
    except OutputUnwritable:
        raise
    except PalprepError as error:
        report = preflight.check(
            source, role=task.role, speaker=task.speaker, consent_apart=task.consent_apart
        )
        problem = error.message
        in_file = isinstance(error, _IN_FILE)
    asset = Asset(
        role=task.role,
        source=task.source,
        source_sha256=source.sha256,
        prepared=prepared,
        source_report=report,
        problem=problem,
        problem_in_file=in_file,
        seconds=round(time.perf_counter() - started, 3),
    )
    if task.pictures is not None:
        # A source from elsewhere is here only now.
        here = asset.model_copy(update={"source": str(source.path)})
        PictureFolder(Path(task.pictures)).keep_all(here)
    return asset


def why_unheard(task: AssetTask) -> str | None:
    """What is missing before the statement of the task's speaker can be listened for, with the
    command that helps; None when nothing is. Loads the model, and reads no media.
    """
    if task.speaker is None:
        return None
    preflight = _preflight(task.profile)
    if ConsentSpoken.id not in preflight.profile.for_role(task.role):
        return never_asked(preflight.profile.name, task.role)
    try:
        model = model_for(task.speaker.required, preflight.toolkit.listeners(task.speaker.model))
    except ToolError as error:
        return error.message
    return model.problem if isinstance(model, StatementReading) else None


def compare_faces(files: tuple[Prepared, ...], profile: str) -> tuple[Check, ...]:
    """One check per pair of images and videos: do they show one person?"""
    preflight = _preflight(profile)
    paths = [each.path for each in files]
    return same_person(paths, profile=preflight.profile, models=preflight.toolkit.models)


@functools.lru_cache(maxsize=2)
def _preflight(profile: str) -> Preflight:
    """Kept by each worker, with the models that it has loaded."""
    return Preflight(profile)


def _folder(path: str) -> Path:
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(f"{folder} cannot be made: {error.strerror}") from None
    return folder
