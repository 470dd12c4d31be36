"""Comparisons: the best portrait of several images or frames; and whether files are of one person.

A portrait that fails fewer checks ranks higher; between equals :func:`fitness` decides, which has
no limit. Near-duplicates name the best of them. Decoders are loaded where they run.
"""

from __future__ import annotations

import itertools
import logging
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from palprep import errors, media, rules, speech, vision
from palprep.facts import Facts
from palprep.media import images, sources
from palprep.preflight.preflight import run_in
from palprep.preflight.values import Candidate, Ranking
from palprep.storage import files_below, is_file, is_folder
from palprep.values import Kind, Outcome, Role, typed
from palprep.vocabulary import DEFAULT_PROFILE, FileInput
from palprep.workers import Engine, WorkStopped

_log = logging.getLogger(__name__)

NEAR_DUPLICATE_BITS = 8
"""Of 64 bits of the perceptual hash: unrelated images differ in 32 +- 4, so that 8 is six
standard deviations off."""

FRAMES = 12
"""So many frames of a longer video, spread over all of it, are looked at for the mean of their
embeddings: its beginning alone can show somebody else, or nobody."""

GAZE_SPREAD_DEG, TURN_SPREAD_DEG, LEAN_SPREAD_DEG = 6.0, 12.0, 10.0
MOUTH_SPREAD = 0.1
"""Lips of a talker part by 0.2 to 0.4, and by 0.05 in a rest."""
FACE_PX = 400
"""Face height above which more pixels hardly help."""


@typed("paths")
def same_person(
    paths: Iterable[FileInput | sources.Source],
    *,
    profile: str | Path | rules.Profile = DEFAULT_PROFILE,
) -> tuple[rules.Check, ...]:
    """Whether files show one face and hold one voice: a check of :data:`~palprep.rules.SAME_PERSON`
    for each pair of images and videos, then one of :data:`~palprep.rules.SAME_VOICE` for each pair
    of videos and recordings, in the order of ``itertools.combinations``.

    What the profile disables is left out. Embeddings identify a person; they are dropped once the
    cosines are known. Raises UsageError for fewer than two files, MediaError for a file that cannot
    be read, ProfileError for a profile that cannot be read.
    """
    paths = () if sources.is_file(paths) else tuple(paths)
    if len(paths) < 2:
        raise errors.UsageError("Comparing takes two files at the least: give them in a list")
    chosen = rules.load_profile(profile)
    files = [sources.Source.of(path) for path in paths]
    for source in files:
        if source.type.kind is Kind.OTHER:
            raise source.unsupported(": it has neither face nor voice")
    seen = (each for each in files if each.type.kind is not Kind.AUDIO)
    heard = (each for each in files if each.type.kind is not Kind.IMAGE)
    return (
        *_pairs(rules.SAME_PERSON, chosen, seen, _face_of),
        *_pairs(rules.SAME_VOICE, chosen, heard, speech.voice_of),
    )


def _pairs(
    rule: rules.PairRule,
    profile: rules.Profile,
    files: Iterable[sources.Source],
    embed: Callable[[sources.Source], vision.Floats | None],
) -> Iterator[rules.Check]:
    """The checks of one rule; nothing is embedded where there is no pair, or no limit."""
    limits, compared = profile.pairs.get(rule.id), list(files)
    if not limits or len(compared) < 2:
        return
    embedded = [(source, embed(source)) for source in compared]
    for (first, one), (second, other) in itertools.combinations(embedded, 2):
        alike = None if one is None or other is None else vision.cosine(one, other)
        check = rule.judge(first.name, second.name, alike, limits)
        yield check.model_copy(update={"files": (first.sha256, second.sha256)})


def _pictures(
    source: sources.Source, per_second: float
) -> Iterator[tuple[media.ImageFacts | None, vision.Pixels, float | None]]:
    """The image, or the video's frames at ``per_second``: facts of an image, the pixels, and the
    time of a frame. Raises UnsupportedMedia for anything else, MediaError for what cannot be read.
    """
    import numpy as np  # noqa: PLC0415

    if source.type.kind is Kind.IMAGE:
        image, picture = images.open_image(source, max_side=vision.MAX_SIDE)
        yield image, np.asarray(picture), None
    elif source.type.kind is Kind.VIDEO:
        for frame in images.sample_frames(source, per_second=per_second, max_side=vision.MAX_SIDE):
            yield None, frame.rgb, frame.at_s
    else:
        raise source.unsupported("; name an image or a video")


def _face_of(source: sources.Source) -> vision.Floats | None:
    """The embedding of an image's largest face, or the mean over frames; None without a face."""
    models = vision.Models.shared()
    if source.type.kind is Kind.VIDEO:
        frames = images.spread_frames(source, FRAMES, max_side=vision.MAX_SIDE)
        looks = (frame.rgb for frame in frames)
    else:
        looks = (rgb for _, rgb, _ in _pictures(source, 1.0))
    seen = (vision.identify(rgb, models) for rgb in looks)
    found = [each for each in seen if each is not None]
    return sum(found[1:], found[0]) / len(found) if found else None


def candidates_in(
    limits: rules.Profile, source: sources.Source, *, per_second: float
) -> list[Candidate]:
    """The image, or the video's frames at ``per_second``, in their order."""
    found: list[Candidate] = []
    models = vision.Models.shared()
    for image, rgb, at_s in _pictures(source, per_second):
        size = (image.width, image.height) if image else None
        portrait = vision.analyse_image(rgb, models, size=size)
        facts = Facts(file=source.facts, image=image, portrait=portrait)
        judged = rules.judge(facts, Role.FACE_IMAGE, limits)
        checks = [check for check in judged if check.id in rules.PORTRAIT_CHECKS]
        one = Candidate(
            path=facts.file.path,
            at_s=at_s,
            fitness=round(fitness(portrait), 4),
            failed=tuple(each.id for each in checks if each.outcome is Outcome.FAIL),
            warned=tuple(each.id for each in checks if each.outcome is Outcome.WARN),
            fingerprint=portrait.fingerprint,
            duplicate_of=None,
        )
        found.append(one)
    return found


def fitness(portrait: vision.PortraitFacts) -> float:
    """How good the portrait is; 0 without a face. The geometric mean of its sides, because no
    strength makes up for shut eyes or a blurred face."""
    subject, framing = portrait.subject, portrait.framing
    if subject is None or framing is None:
        return 0.0
    sides = (
        vision.overall_score(portrait.quality.scores) / 100,
        _bell(subject.eyes.gaze_off_deg, GAZE_SPREAD_DEG),
        _bell(subject.pose.turn_deg, TURN_SPREAD_DEG),
        _bell(subject.pose.roll_deg, LEAN_SPREAD_DEG),
        subject.eyes.openness,
        _bell(subject.mouth_open, MOUTH_SPREAD),
        subject.visibility.whole,
        subject.human,
        min(1.0, portrait.quality.face_px / FACE_PX),
        1 / (1 + math.exp(-framing.margin / 0.05)),
        _bell(framing.centre_x - 0.5, 0.2),
        1.0 if portrait.people == 1 else 0.1,
    )
    return math.exp(sum(math.log(max(side, 1e-3)) for side in sides) / len(sides))


def _bell(value: float, spread: float) -> float:
    return math.exp(-0.5 * (value / spread) ** 2)


@typed("per_second", "engine", "passed_over")
def pick_best(
    source: FileInput | Iterable[FileInput | sources.Source],
    *,
    profile: str | Path | rules.Profile = DEFAULT_PROFILE,
    per_second: float = 2.0,
    engine: Engine | None = None,
    passed_over: Callable[[str, errors.PalprepError], object] | None = None,
) -> Ranking:
    """Rank images, those of folders and of the folders in them, and frames of videos at
    ``per_second``.

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
    limits = rules.load_profile(profile)
    found: list[Candidate] = []
    files, lenient = _files(source)
    for number, file in enumerate(files):
        try:
            looks = run_in(
                engine, candidates_in, limits, sources.Source.of(file), per_second=per_second
            )
            found += (each.model_copy(update={"number": number}) for each in looks)
        except WorkStopped:
            raise
        except (errors.MediaError, errors.ToolFailed) as error:
            if not lenient and passed_over is None:
                raise
            name = sources.name_of(file)
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


def _files(
    source: FileInput | Iterable[FileInput | sources.Source],
) -> tuple[Sequence[FileInput | sources.Source], bool]:
    """The files to look at, and whether one that is no image is passed over."""
    if source != "" and isinstance(source, str | os.PathLike):  # Path("") is the current folder.
        path = Path(source)
        if not is_folder(path):
            return [path], False
        return list(filter(is_file, files_below(path, _refused))), True
    if sources.is_file(source):
        return [source], False
    if not isinstance(source, Iterable):
        raise sources.no_file(source)
    several = (
        _files(each)[0] if isinstance(each, str | os.PathLike) else [each] for each in source
    )
    return [each for files in several for each in files], False


def _refused(error: OSError) -> None:
    raise errors.FileUnreadable(
        f"{error.filename} cannot be read: {error.strerror}; check its path and its permissions"
    ) from None


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
