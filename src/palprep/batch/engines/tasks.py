"""What workers do at a person's files: functions of values that can be pickled.

The process that hands out work loads no decoder: what a door names is loaded where it is used.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from palprep import consent, errors, media, preflight, speech
from palprep.facts import Speaker
from palprep.journal.entries import FileGlimpsed
from palprep.media.sources import Source
from palprep.preflight import Asset, Prepared
from palprep.rules import Check, Profile, load_profile
from palprep.rules.consent import consent_spoken, never_asked, taken_back
from palprep.values import Kind, Role, Value
from palprep.views.drawings import PictureFolder, pictures_of


class AssetTask(Value):
    """One file to prepare for one role. The consent of the ``speaker`` is listened for in it.
    ``consent_apart``: another video holds the statement. ``split_consent``: a consent video is made
    of its opening. ``pictures`` is the folder for what the page shows of it."""

    source: str
    into: str
    role: Role
    profile: Profile | str
    """As it was loaded: a worker may not open a file of limits, or not see it."""
    pictures: str
    speaker: Speaker | None = None
    consent_apart: bool = False
    split_consent: bool = False

    @property
    def whisper_model(self) -> Path | str | None:
        """Workers may open what a task names so."""
        return self.speaker.whisper_model if self.speaker else None


_LISTENED_TO_S = 600.0
"""How much of a recording is measured, to tell how much of it is speech."""

_IN_FILE = (errors.UnsupportedMedia, errors.DamagedMedia, errors.FixError)
"""Errors that the content of a file causes, and not a tool, a limit or a missing permission."""


def prepare_asset(task: AssetTask, source: Source) -> Asset:
    """Prepare one file; ``source`` is the file with what is known of it. A file that cannot be used
    gives an asset whose report fails. Raises what is not the file's fault: OutputUnwritable, and
    ToolMissing, so that nobody is asked to record again for want of ffmpeg."""
    started = time.perf_counter()
    prepared, report, problem, in_file = None, None, None, False
    same = ("role", "profile", "speaker", "consent_apart")
    asked: dict[str, Any] = {name: getattr(task, name) for name in same}
    try:
        prepared = preflight.prepare(
            source, into=task.into, split_consent=task.split_consent, overwrite=True, **asked
        )
    except (errors.OutputUnwritable, errors.ToolMissing):
        raise
    except errors.PalprepError as error:
        report = preflight.check(source, **asked)
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
    # A source from elsewhere is here only now.
    here = asset.model_copy(update={"source": str(source.path)})
    folder = PictureFolder(Path(task.pictures))
    for picture in pictures_of(here).all():
        folder.kept(picture)
    return asset


def why_unheard(task: AssetTask) -> str | None:
    """What is missing before anybody can listen for the statement of the task's speaker, with the
    command that helps; None when nothing is. Loads the model, and reads no media."""
    if task.speaker is None:
        return None
    profile = load_profile(task.profile)
    if consent_spoken.id not in profile.for_role(task.role):
        return never_asked(profile.name, task.role)
    try:
        model = consent.model_for(task.speaker.required, task.speaker.whisper_model)
    except errors.ToolError as error:
        return error.message
    return model.problem if isinstance(model, consent.StatementReading) else None


def glimpse(source: Source, speaker: Speaker | None, profile: Profile) -> FileGlimpsed:
    """How long a file lasts; whether this speaker's statement is heard in its opening, or words
    against a consent; and for how long a recording holds speech, 0 where it is music, noise or
    silence."""
    stated, spoken_s, against = None, None, ""
    if speaker is not None:
        try:
            heard = preflight.verify_consent(source, **dict(speaker), profile=profile)
            stated = None if heard.model is None else heard.starts_at is not None
            against = taken_back(heard)
        except errors.MediaError:
            stated = False
        except errors.ToolError:
            stated = None
    if source.type.kind is Kind.AUDIO:
        _, voice = speech.measure_voice(source, tell_speakers=False, most_s=_LISTENED_TO_S)
        spoken_s = voice.speech_s if voice.content == "speech" else 0.0
    length_s, with_still = media.glimpse(source)
    return FileGlimpsed(
        length_s=length_s,
        with_still=with_still,
        stated=stated,
        spoken_s=spoken_s,
        against=against,
    )


def compare_people(files: tuple[Prepared, ...], profile: Profile | str) -> tuple[Check, ...]:
    """Whether these files show one face and hold one voice: a check for each pair that can tell.
    Checks call the files by the names of their sources, or by their own where two have one source.
    """
    names = [Path(each.source).name for each in files]
    if len({*names}) < len(names):
        names = [each.path.name for each in files]
    found = [Source.at(each.path, name) for each, name in zip(files, names, strict=True)]
    return preflight.same_person(found, profile=profile)
