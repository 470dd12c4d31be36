"""How fit an image or frame is as a portrait, 0 to 1, to rank by; no limit is held to it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from palprep.vision.facts import PortraitFacts
from palprep.vision.scores import overall_score, quality_scores

NEAR_DUPLICATE_BITS = 8
"""Of 64 bits of the perceptual hash: unrelated images differ in 32 +- 4, so that 8 is six
standard deviations off."""

GAZE_SPREAD_DEG, TURN_SPREAD_DEG, LEAN_SPREAD_DEG = 6.0, 12.0, 10.0
FACE_PX = 400
"""Face height above which more pixels hardly help."""


def fitness(portrait: PortraitFacts) -> float:
    """The geometric mean of how good each side of the portrait is; 0 without a face.

    A geometric mean, because no strength makes up for shut eyes or a blurred face.
    """
    subject, framing = portrait.subject, portrait.framing
    if subject is None or framing is None:
        return 0.0
    sides = (
        overall_score(quality_scores(portrait.quality)) / 100,
        _bell(subject.eyes.gaze_off_deg, GAZE_SPREAD_DEG),
        _bell(subject.pose.turn_deg, TURN_SPREAD_DEG),
        _bell(subject.pose.roll_deg, LEAN_SPREAD_DEG),
        subject.eyes.openness,
        1 - subject.mouth_open,
        subject.visibility.whole,
        subject.human.likelihood,
        min(1.0, portrait.quality.face_px / FACE_PX),
        1 / (1 + math.exp(-framing.margin / 0.05)),
        _bell(framing.centre_x - 0.5, 0.2),
        1.0 if portrait.people == 1 else 0.1,
    )
    return math.exp(sum(math.log(max(side, 1e-3)) for side in sides) / len(sides))


def group_duplicates(hashes: Sequence[str]) -> list[int]:
    """For each hash, the index of the first one that it nearly equals, its own if none."""
    leaders: list[int] = []
    groups = []
    for index, own in enumerate(hashes):
        leader = next(
            (each for each in leaders if distance(hashes[each], own) <= NEAR_DUPLICATE_BITS), index
        )
        if leader == index:
            leaders.append(index)
        groups.append(leader)
    return groups


def distance(one: str, other: str) -> int:
    """Number of differing bits of two hashes in hexadecimal."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


def _bell(value: float, spread: float) -> float:
    return math.exp(-0.5 * (value / spread) ** 2)
