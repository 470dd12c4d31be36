"""The best portrait among many: a folder of images, or the frames of a video.

What fails fewer checks ranks higher; between equals the finer measure of
:func:`palprep.preflight.fitness.fitness` decides. Near-duplicates come after the best of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import Field

from palprep.errors import (
    MediaError,
    MediaTooHeavy,
    PalprepError,
    ToolFailed,
    UnsupportedMedia,
)
from palprep.facts.facts import Facts
from palprep.media.frames import sample_frames
from palprep.media.given import given_name, is_file
from palprep.media.image import probe_and_open
from palprep.media.source import Source
from palprep.preflight.check_and_prepare import shared_toolkit
from palprep.preflight.fitness import fitness, group_duplicates
from palprep.preflight.isolated import for_source
from palprep.rules.judge import judge
from palprep.rules.profile import Profile, load_profile
from palprep.rules.registry import PORTRAIT_CHECKS
from palprep.rules.report import Check
from palprep.values import Kind, Outcome, Role, Value
from palprep.vision.analysis import MAX_SIDE, analyse_portrait
from palprep.vision.models import Models
from palprep.vocabulary import DEFAULT_PROFILE, FileInput
from palprep.workers.engine import Engine, WorkStopped

PassedOver = Callable[[str, PalprepError], object]
"""Is told the name of a file that was not ranked, and why."""

_log = logging.getLogger(__name__)


class Candidate(Value):
    """One image or frame in the ranking, best first."""

    path: str
    at_s: float | None
    """Presentation time of the frame, None for an image."""
    fitness: float
    """0 to 1: see :func:`palprep.preflight.fitness.fitness`."""
    failed: tuple[str, ...]
    """Ids of the face checks that fail."""
    warned: tuple[str, ...]
    fingerprint: str = Field(repr=False)
    duplicate_of: int | None
    """Rank, from 0, of the better candidate that this one nearly equals."""


class Ranking(tuple[Candidate, ...]):
    """Candidates, best first. A notebook shows them as a contact sheet."""

    __slots__ = ()


def pick_best(
    source: FileInput | Iterable[FileInput | Source],
    *,
    profile: str | Path | Profile = DEFAULT_PROFILE,
    per_second: float = 2.0,
    models: Models | None = None,
    engine: Engine | None = None,
    passed_over: PassedOver | None = None,
) -> Ranking:
    """Rank the images of a folder, given images, or a video's frames at ``per_second``.

    A file is a path, its bytes, or a binary file. A folder's files that are no readable images are
    passed over. With an ``engine`` its workers look at them, each file for itself: one that crashes
    its worker is passed over as well, and logged. With ``passed_over``, which is told of each file
    and its error, that holds for files that are named, too. Raises FileMissing when nothing is
    there, UnsupportedMedia when nothing of it is an image or a video, MediaError for a video that
    does not decode, ToolFailed for one that crashes its worker.
    """
    limits = profile if isinstance(profile, Profile) else load_profile(profile)
    found: list[Candidate] = []
    files, lenient = _files(source)
    for file in files:
        try:
            looked = Source.of(file)
            if engine is None:
                loaded = models or shared_toolkit().models
                found += candidates_in(looked, limits, per_second, loaded)
            else:
                runner = for_source(engine, looked)
                found += runner.run(candidates_in, looked, limits, per_second)
        except WorkStopped:
            raise
        except (MediaError, ToolFailed) as error:
            if not lenient and passed_over is None:
                raise
            name = file.shown if isinstance(file, Source) else given_name(file)
            if passed_over is not None:
                passed_over(name, error)
            elif isinstance(error, (MediaTooHeavy, ToolFailed)):
                _log.warning("%s is passed over: %s", name, error.message)
    if not found:
        where = source if isinstance(source, str | os.PathLike) else "What was given"
        raise UnsupportedMedia(f"{where} holds no image that could be read")
    ranked = sorted(found, key=lambda each: (len(each.failed), len(each.warned), -each.fitness))
    groups = group_duplicates([each.fingerprint for each in ranked])
    return Ranking(
        each.model_copy(update={"duplicate_of": leader}) if leader != rank else each
        for rank, (each, leader) in enumerate(zip(ranked, groups, strict=True))
    )


def _files(
    source: FileInput | Iterable[FileInput | Source],
) -> tuple[Sequence[FileInput | Source], bool]:
    """The files to look at, and whether one that is no image is passed over."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            return sorted(each for each in path.iterdir() if each.is_file()), True
        return [path], False
    return ([source] if is_file(source) else list(source)), False


def candidates_in(
    source: Source, limits: Profile, per_second: float, models: Models | None = None
) -> list[Candidate]:
    """The image, or the video's frames at ``per_second``, in their order."""
    return list(_candidates(source, limits, per_second, models or shared_toolkit().models))


def _candidates(
    source: Source, limits: Profile, per_second: float, models: Models
) -> Iterator[Candidate]:
    if source.type.kind is Kind.IMAGE:
        image, pixels = probe_and_open(source, max_side=MAX_SIDE)
        picture = analyse_portrait(pixels, models, size=(image.width, image.height))
        facts = Facts(file=source.facts, image=image, portrait=picture)
        yield _candidate(facts, limits, None)
    elif source.type.kind is Kind.VIDEO:
        for frame in sample_frames(source, per_second=per_second, max_side=MAX_SIDE):
            facts = Facts(file=source.facts, portrait=analyse_portrait(frame.rgb, models))
            yield _candidate(facts, limits, frame.at_s)
    else:
        raise UnsupportedMedia(
            f"{source.name} is {source.type.description}; name an image or a video"
        )


def _candidate(facts: Facts, limits: Profile, at_s: float | None) -> Candidate:
    judged = judge(facts, Role.FACE_IMAGE, limits)
    checks = [check for check in judged if check.id in PORTRAIT_CHECKS]
    if facts.portrait is None:
        raise ValueError("a candidate has been looked at")
    return Candidate(
        path=facts.file.path,
        at_s=at_s,
        fitness=round(fitness(facts.portrait), 4),
        failed=_ids(checks, Outcome.FAIL),
        warned=_ids(checks, Outcome.WARN),
        fingerprint=facts.portrait.fingerprint,
        duplicate_of=None,
    )


def _ids(checks: Iterable[Check], outcome: Outcome) -> tuple[str, ...]:
    return tuple(check.id for check in checks if check.outcome is outcome)
