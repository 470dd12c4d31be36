"""The best portrait among many: a folder of images, or the frames of a video.

What fails fewer checks ranks higher; between equals the finer measure of
:func:`palprep.preflight.fitness.fitness` decides. Near-duplicates come after the best of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from palprep.errors import (
    MediaError,
    MediaTooHeavy,
    PalprepError,
    ToolFailed,
    UnsupportedMedia,
)
from palprep.media.given import given_name, is_file
from palprep.media.source import Source
from palprep.preflight.fitness import group_duplicates
from palprep.preflight.isolated import for_source
from palprep.rules.profile import Profile, load_profile
from palprep.values import Value
from palprep.vocabulary import DEFAULT_PROFILE, FileInput
from palprep.workers.engine import Engine, WorkStopped
from palprep.workers.messages import ByName

if TYPE_CHECKING:
    from palprep.vision.models import Models

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


CANDIDATES_IN: ByName[[Source, Profile, float, Models | None], list[Candidate]] = ByName(
    "palprep.preflight.candidates", "candidates_in"
)


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
                found += CANDIDATES_IN(looked, limits, per_second, models)
            else:
                runner = for_source(engine, looked)
                found += runner.run(CANDIDATES_IN, looked, limits, per_second, None)
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
