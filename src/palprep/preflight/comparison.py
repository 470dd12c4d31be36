"""Compared: how fit an image or frame is as a portrait, and whether files show and hold one person.

No limit is held to fitness; it is there to rank by.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from palprep import media, rules, vision
from palprep.errors import UnsupportedMedia, UsageError
from palprep.facts import Facts
from palprep.preflight.values import Candidate
from palprep.speech import voice_of
from palprep.values import Kind, Outcome, Role, typed
from palprep.vocabulary import DEFAULT_PROFILE, FileInput

FRAMES = 8
"""Most frames of a video whose embeddings are averaged, one a second."""

GAZE_SPREAD_DEG, TURN_SPREAD_DEG, LEAN_SPREAD_DEG = 6.0, 12.0, 10.0
MOUTH_SPREAD = 0.1
"""Lips of a talker part by 0.2 to 0.4, and by 0.05 in a rest."""
FACE_PX = 400
"""Face height above which more pixels hardly help."""


@typed("paths")
def same_person(
    paths: Iterable[FileInput | media.Source],
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
    paths = () if media.is_file(paths) else tuple(paths)
    if len(paths) < 2:
        raise UsageError("Comparing takes two files at the least: give them in a list")
    chosen = rules.load_profile(profile)
    sources = [media.Source.of(path) for path in paths]
    for source in sources:
        if source.type.kind is Kind.OTHER:
            raise UnsupportedMedia(
                f"{source.name} is {source.type.description}: it has neither face nor voice"
            )
    seen = (each for each in sources if each.type.kind is not Kind.AUDIO)
    heard = (each for each in sources if each.type.kind is not Kind.IMAGE)
    return (
        *_pairs(rules.SAME_PERSON, chosen, seen, _face_of),
        *_pairs(rules.SAME_VOICE, chosen, heard, voice_of),
    )


def _pairs(
    rule: rules.PairRule,
    profile: rules.Profile,
    sources: Iterable[media.Source],
    embed: Callable[[media.Source], vision.Floats | None],
) -> Iterator[rules.Check]:
    """The checks of one rule; nothing is embedded where there is no pair, or no limit."""
    limits, compared = profile.pairs.get(rule.id), list(sources)
    if not limits or len(compared) < 2:
        return
    embedded = [(source.name, embed(source)) for source in compared]
    for (first, one), (second, other) in itertools.combinations(embedded, 2):
        alike = None if one is None or other is None else vision.cosine(one, other)
        yield rule.judge(first, second, alike, limits)


def _pictures(
    source: media.Source, per_second: float
) -> Iterator[tuple[media.ImageFacts | None, vision.Pixels, float | None]]:
    """The image, or the video's frames at ``per_second``: facts of an image, the pixels, and the
    time of a frame. Raises UnsupportedMedia for anything else, MediaError for what cannot be read.
    """
    if source.type.kind is Kind.IMAGE:
        image, picture = media.open_image(source, max_side=vision.MAX_SIDE)
        yield image, np.asarray(picture), None
    elif source.type.kind is Kind.VIDEO:
        for frame in media.sample_frames(source, per_second=per_second, max_side=vision.MAX_SIDE):
            yield None, frame.rgb, frame.at_s
    else:
        raise UnsupportedMedia(
            f"{source.name} is {source.type.description}; name an image or a video"
        )


def _face_of(source: media.Source) -> vision.Floats | None:
    """The embedding of an image's largest face, or the mean over frames; None without a face."""
    models = vision.Models.shared()
    looks = itertools.islice(_pictures(source, 1.0), FRAMES)
    seen = (vision.identify(rgb, models) for _, rgb, _ in looks)
    found = [each for each in seen if each is not None]
    return np.asarray(np.mean(found, axis=0)) if found else None


def candidates_of(
    source: media.Source, limits: rules.Profile, per_second: float
) -> Iterator[Candidate]:
    """The image, or the video's frames at ``per_second``, in their order."""
    models = vision.Models.shared()
    for image, rgb, at_s in _pictures(source, per_second):
        size = (image.width, image.height) if image else None
        portrait = vision.analyse_portrait(rgb, models, size=size)
        facts = Facts(file=source.facts, image=image, portrait=portrait)
        judged = rules.judge(facts, Role.FACE_IMAGE, limits)
        checks = [check for check in judged if check.id in rules.PORTRAIT_CHECKS]
        yield Candidate(
            path=facts.file.path,
            at_s=at_s,
            fitness=round(fitness(portrait), 4),
            failed=_ids(checks, Outcome.FAIL),
            warned=_ids(checks, Outcome.WARN),
            fingerprint=portrait.fingerprint,
            duplicate_of=None,
        )


def _ids(checks: Iterable[rules.Check], outcome: Outcome) -> tuple[str, ...]:
    return tuple(check.id for check in checks if check.outcome is outcome)


def fitness(portrait: vision.PortraitFacts) -> float:
    """The geometric mean of how good each side of the portrait is; 0 without a face.

    A geometric mean, because no strength makes up for shut eyes or a blurred face.
    """
    subject, framing = portrait.subject, portrait.framing
    if subject is None or framing is None:
        return 0.0
    sides = (
        vision.overall_score(vision.quality_scores(portrait.quality)) / 100,
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
