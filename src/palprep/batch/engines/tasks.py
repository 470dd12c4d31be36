"""What workers do at a person's files: functions of values that can be pickled.

The process that hands out work loads no decoder: a function imports what opens media itself.
"""

from __future__ import annotations

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING

from palprep.errors import (
    DamagedMedia,
    FixError,
    MediaError,
    OutputUnwritable,
    PalprepError,
    ToolError,
    UnsupportedMedia,
)
from palprep.facts import Speaker
from palprep.journal import FileGlimpsed
from palprep.media import Source
from palprep.preflight import Asset, Prepared
from palprep.rules import Check, consent_spoken, never_asked
from palprep.values import Role, Value
from palprep.views import PictureFolder

if TYPE_CHECKING:
    from palprep.preflight import Preflight


class AssetTask(Value):
    """One file to prepare for one role. ``speaker`` is whose consent is listened for in it.
    ``consent_apart``: another video gives it. ``split_consent``: make such a video of its opening.
    ``pictures`` is the folder that takes what the page shows of it.
    """

    source: str
    into: str
    role: Role
    profile: str
    speaker: Speaker | None = None
    consent_apart: bool = False
    split_consent: bool = False
    pictures: str | None = None


_IN_FILE = (UnsupportedMedia, DamagedMedia, FixError)
"""Errors that the content of a file causes, and not a tool, a limit or a missing permission."""


def prepare_asset(task: AssetTask, source: Source) -> Asset:
    """Prepare one file, whose ``source`` was looked at before. A file that cannot be used gives
    an asset whose report fails. Raises OutputUnwritable, which is no file's fault.
    """
    started = time.perf_counter()
    prepared, report, problem, in_file = None, None, None, False
    preflight = _preflight(task.profile)
    try:
        prepared = preflight.prepare(
            source,
            into=task.into,
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
    from palprep.consent import StatementReading, model_for  # noqa: PLC0415

    preflight = _preflight(task.profile)
    if consent_spoken.id not in preflight.profile.for_role(task.role):
        return never_asked(preflight.profile.name, task.role)
    try:
        listeners = preflight.toolkit.listeners(task.speaker.whisper_model)
        model = model_for(task.speaker.required, listeners)
    except ToolError as error:
        return error.message
    return model.problem if isinstance(model, StatementReading) else None


def glimpse(source: Source, speaker: Speaker | None, profile: str) -> FileGlimpsed:
    """How long a file lasts, and whether this speaker's statement is heard in its opening."""
    from palprep.media import declared_length_s, with_still  # noqa: PLC0415
    from palprep.preflight import verify_consent  # noqa: PLC0415

    stated = None
    if speaker is not None:
        preflight = _preflight(profile)
        try:
            heard = verify_consent(
                source,
                full_name=speaker.full_name,
                spoken_as=speaker.spoken_as,
                statement=speaker.statement,
                language=speaker.language,
                whisper_model=preflight.toolkit.listeners(speaker.whisper_model),
                profile=preflight.profile,
            )
            stated = None if heard.model is None else heard.starts_at is not None
        except MediaError:
            stated = False
        except ToolError:
            stated = None
    length_s = declared_length_s(source)
    return FileGlimpsed(length_s=length_s, with_still=with_still(source), stated=stated)


def compare_people(files: tuple[Prepared, ...], profile: str) -> tuple[Check, ...]:
    """Do these files show one face, and hold one voice? A check for each pair that can tell."""
    from palprep.preflight import same_person  # noqa: PLC0415

    preflight = _preflight(profile)
    paths = [each.path for each in files]
    return same_person(paths, profile=preflight.profile, models=preflight.toolkit.models)


@functools.lru_cache(maxsize=2)
def _preflight(profile: str) -> Preflight:
    """Kept by each worker, with the models that it has loaded."""
    from palprep.preflight import Preflight  # noqa: PLC0415

    return Preflight(profile)
