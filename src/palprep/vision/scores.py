"""Component scores of picture quality, 0 to 100, from the raw measures.

Each is a smooth step, 50 where a measure becomes doubtful, as in ISO/IEC 29794-5 and BSI's
OFIQ: the raw value stays next to it in :class:`~palprep.vision.facts.Quality`. What counts for
the picture is their product: a face that is a little soft, a little dark and a little
one-sided is worse than each of these alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from palprep.vision.facts import Quality


class Step(NamedTuple):
    """``half`` scores 50; ``spread`` further on the good side scores 73, twice that 88.
    A negative spread means that less is better."""

    half: float
    spread: float


# Half stands outside of what 280 fit portraits of four sources read, and inside of what they read
# blurred, noisy, dark, burnt out or strongly compressed: scripts/evaluate_quality.py. Black
# and white is no fault, and how even the light is stays out: hair beside the face reads alike.
STEPS: Final[Mapping[str, tuple[str, Step]]] = {
    "sharpness": ("sharpness", Step(0.37, 0.03)),
    "face resolution": ("face_px", Step(60, 12)),
    "too dark": ("peak", Step(0.50, 0.025)),
    "too bright": ("brightness", Step(0.96, -0.02)),
    "burnt-out highlights": ("saturated", Step(0.50, -0.06)),
    "blocked-up shadows": ("clipped_shadows", Step(0.15, -0.03)),
    "contrast": ("contrast", Step(0.22, 0.02)),
    "noise": ("noise", Step(6.0, -1.0)),
    "unnatural skin colour": ("vivid_chroma", Step(76, -3)),
    "JPEG blocks": ("blocking", Step(2.3, -0.15)),
}


def quality_scores(quality: Quality) -> dict[str, float]:
    """Every measured component's score by its name in words."""
    values = quality.model_dump()
    return {
        name: _smooth_step(value, step)
        for name, (measure, step) in STEPS.items()
        if (value := values[measure]) is not None
    }


def overall_score(scores: Mapping[str, float]) -> float:
    """0 to 100, as if each score were the chance in 100 that no one finds fault with it."""
    return 100 * math.prod(score / 100 for score in scores.values())


def _smooth_step(value: float, step: Step) -> float:
    # Beyond 40 spreads the logistic function is 0 or 1 to double precision, and exp overflows.
    distance = max(-40.0, min(40.0, (value - step.half) / step.spread))
    return 100 / (1 + math.exp(-distance))
