"""The best portrait among many: a folder of images, or the frames of a video.

What fails fewer checks ranks higher; between equals the finer measure of
:func:`palprep.preflight.comparison.fitness` decides. Near-duplicates come after the best of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from palprep import errors
from palprep.media import Source, is_file, name_of, no_file
from palprep.preflight.preflight import run_in
from palprep.preflight.values import Candidate, Ranking
from palprep.rules import Profile, load_profile
from palprep.values import typed
from palprep.vocabulary import DEFAULT_PROFILE, FileInput
from palprep.workers import Engine, WorkStopped

PassedOver = Callable[[str, errors.PalprepError], object]
"""Called with the name of a file that was not ranked, and with the reason."""

_log = logging.getLogger(__name__)

NEAR_DUPLICATE_BITS = 8
"""Of 64 bits of the perceptual hash: unrelated images differ in 32 +- 4, so that 8 is six
standard deviations off."""


@typed("per_second", "engine", "passed_over")
def pick_best(
    source: FileInput | Iterable[FileInput | Source],
    *,
    profile: str | Path | Profile = DEFAULT_PROFILE,
    per_second: float = 2.0,
    engine: Engine | None = None,
    passed_over: PassedOver | None = None,
) -> Ranking:
    """Rank the images of a folder, given images, or a video's frames at ``per_second``.

    A file is a path, its bytes, or a binary file. Files of a folder that are not readable images
    are passed over. With an ``engine`` its workers look at each file on its own. A file that
    crashes its worker is passed over as well, and logged. ``passed_over`` is called with each such
    file and its error. If it is given, files that are named are passed over in the same way. Raises
    FileMissing when nothing is there, FileUnreadable when the system refuses, UnsupportedMedia when
    nothing of it is an image or a video, MediaError for a video that does not decode, ToolFailed
    for one that crashes its worker.
    """
    if per_second <= 0:
        raise errors.UsageError(f"per_second must be more than 0, not {per_second}")
    limits = load_profile(profile)
    found: list[Candidate] = []
    files, lenient = _files(source)
    for file in files:
        try:
            found += run_in(engine, candidates_in, limits, Source.of(file), per_second=per_second)
        except WorkStopped:
            raise
        except (errors.MediaError, errors.ToolFailed) as error:
            if not lenient and passed_over is None:
                raise
            name = name_of(file)
            if passed_over is not None:
                passed_over(name, error)
            elif isinstance(error, (errors.MediaTooHeavy, errors.ToolFailed)):
                _log.warning("%s is passed over: %s", name, error.message)
    if not found:
        where = source if isinstance(source, str | os.PathLike) else "What was given"
        raise errors.UnsupportedMedia(f"{where} holds no image that could be read")
    ranked = sorted(found, key=lambda each: (len(each.failed), len(each.warned), -each.fitness))
    groups = group_duplicates([each.fingerprint for each in ranked])
    return Ranking(
        each.model_copy(update={"duplicate_of": leader if leader != rank else None})
        for rank, (each, leader) in enumerate(zip(ranked, groups, strict=True))
    )


def candidates_in(limits: Profile, source: Source, *, per_second: float) -> list[Candidate]:
    """The image, or the video's frames at ``per_second``, in their order. Loads all decoders where
    it runs, and not where it is handed to a worker.
    """
    from palprep.preflight.comparison import candidates_of  # noqa: PLC0415

    return list(candidates_of(source, limits, per_second))


def _files(
    source: FileInput | Iterable[FileInput | Source],
) -> tuple[Sequence[FileInput | Source], bool]:
    """The files to look at, and whether one that is no image is passed over."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            if path.is_dir():
                return sorted(each for each in path.iterdir() if each.is_file()), True
        except OSError as error:
            raise errors.FileUnreadable(
                f"{path} cannot be read: {error.strerror}; check its path and its permissions"
            ) from None
        return [path], False
    if not is_file(source) and not isinstance(source, Iterable):
        raise no_file(source)
    return ([source] if is_file(source) else list(source)), False


def group_duplicates(hashes: Sequence[str]) -> list[int]:
    """For each hash, the index of the first one that it nearly equals, its own if none."""
    groups: list[int] = []
    for index, own in enumerate(hashes):
        leaders = dict.fromkeys(groups)
        near = (each for each in leaders if distance(hashes[each], own) <= NEAR_DUPLICATE_BITS)
        groups.append(next(near, index))
    return groups


def distance(one: str, other: str) -> int:
    """Number of differing bits of two hashes in hexadecimal."""
    return (int(one, 16) ^ int(other, 16)).bit_count()
