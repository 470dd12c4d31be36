"""How the score of picture quality falls as good portraits are made worse.

    python -m research.evaluation.quality PICTURES [--portraits N] [--table docs/accuracy.md]

PICTURES holds what sources_and_labels.py wrote. Portraits that
material/image_quality_acceptable.csv calls good are blurred, shaken, made noisy, compressed, shrunk
and enlarged again, darkened and burnt out, each at several known strengths. Prints, and with
--table writes into the document, what the check then says, and how many portraits never score
better when they are made worse."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from palprep.media.images import LINEAR, to_srgb
from palprep.rules import load_profile
from palprep.rules.profile import Limit
from palprep.values import Outcome, Rect, Role
from palprep.vision import Models, Pixels, detect_subject, overall_score
from palprep.vision.arrays import resized
from palprep.vision.landmarks import Landmarks
from palprep.vision.quality import measure_quality
from research.evaluation.portraits import wilson
from research.marked import replace_marked
from research.material.sources_and_labels import portrait_of, read_labels

CHECK = "image_quality_acceptable"

ALONGSIDE = 1.0
"""How much is kept around a face, in face heights; whole JPEG blocks."""

BLOCK = 8

SMALLEST_FACE = 100.0
"""Pixels: what is made worse must have been good."""

RISE = 1.0
"""Points by which a score may rise from one strength to the next: measures are counted in whole
pixels and levels."""


class Portrait(NamedTuple):
    """A good portrait, cut around the face."""

    rgb: Pixels
    face: Rect
    marks: Landmarks


Worsening = Callable[[Portrait, float, np.random.Generator], Pixels]


def out_of_focus(portrait: Portrait, share: float, _: np.random.Generator) -> Pixels:
    """A Gaussian blur; its standard deviation as a share of the face's height."""
    blurred = cv2.GaussianBlur(portrait.rgb, (0, 0), share * portrait.face.height)
    return np.asarray(blurred, np.uint8)


def shaken(portrait: Portrait, share: float, rng: np.random.Generator) -> Pixels:
    """A straight movement in a random direction; its length as a share of the face's height."""
    length, turn = share * portrait.face.height, rng.uniform(0, np.pi)
    side = int(np.ceil(length)) | 1
    path = np.zeros((side, side), np.float32)
    for step in np.linspace(-length / 2, length / 2, 8 * side):
        column, row = side // 2 + step * np.cos(turn), side // 2 + step * np.sin(turn)
        path[min(side - 1, max(0, round(row))), min(side - 1, max(0, round(column)))] += 1
    return np.asarray(cv2.filter2D(portrait.rgb, -1, path / path.sum()), np.uint8)


def noisy(portrait: Portrait, levels: float, rng: np.random.Generator) -> Pixels:
    """Gaussian noise; its standard deviation in 8-bit levels."""
    return _to_pixels(portrait.rgb + rng.normal(0, levels, portrait.rgb.shape))


def compressed(portrait: Portrait, quality: float, _: np.random.Generator) -> Pixels:
    """JPEG of this quality, 1 to 100."""
    order = [cv2.IMWRITE_JPEG_QUALITY, int(quality)]
    _done, data = cv2.imencode(".jpg", np.ascontiguousarray(portrait.rgb[..., ::-1]), order)
    decoded = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    return np.ascontiguousarray(decoded[..., ::-1])


def enlarged(portrait: Portrait, face_px: float, _: np.random.Generator) -> Pixels:
    """As if a face of so many pixels had been enlarged to this size."""
    height, width = portrait.rgb.shape[:2]
    factor = min(1.0, face_px / portrait.face.height)
    small = resized(portrait.rgb, round(width * factor), round(height * factor))
    large = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(large, np.uint8)


def exposed(portrait: Portrait, stops: float, _: np.random.Generator) -> Pixels:
    """So many stops more light, in linear light."""
    return to_srgb(LINEAR[portrait.rgb] * np.float32(2.0**stops))


WORSE: Mapping[str, tuple[Worsening, str, tuple[float, ...]]] = {
    "out of focus": (
        out_of_focus,
        "blur of {:.1%} of the face's height",
        (0.004, 0.008, 0.012, 0.02, 0.03),
    ),
    "shaken": (shaken, "over {:.1%} of the face's height", (0.015, 0.03, 0.05, 0.08)),
    "noise": (noisy, "of {:.0f} levels", (4, 8, 12, 18, 26)),
    "JPEG": (compressed, "of quality {:.0f}", (60, 40, 25, 15, 8)),
    "enlarged": (enlarged, "from a face of {:.0f} px", (110, 80, 55, 40)),
    "dark": (exposed, "by {:+.1f} stops", (-1, -2, -3)),
    "bright": (exposed, "by {:+.1f} stops", (0.7, 1.3, 2.0)),
}
"""Each with how its strength is told, and its strengths, mildest first."""


def _to_pixels(levels: NDArray[np.float64]) -> Pixels:
    return np.clip(np.rint(levels), 0, 255).astype(np.uint8)


def good_portraits(pictures: Path, count: int) -> Iterator[tuple[Portrait, int]]:
    """``count`` of them in an order of chance that is the same in every run, each with a seed of
    its own."""
    models = Models()
    rows = [row for row in read_labels(CHECK) if row.wanted]
    rows.sort(key=lambda row: hashlib.sha256(row.key.encode()).digest())
    for row in rows[:count]:
        seen = detect_subject(portrait_of(row, pictures, models), models)
        marks = None if seen.subject is None else seen.marks(seen.subject)
        if seen.subject is None or marks is None:
            continue
        face = seen.box(seen.subject)
        if face.height < SMALLEST_FACE:
            continue
        yield (
            _cut(seen.rgb, face, marks),
            int.from_bytes(hashlib.sha256(row.key.encode()).digest()[:8]),
        )


def _cut(rgb: Pixels, face: Rect, marks: Landmarks) -> Portrait:
    reach = ALONGSIDE * face.height
    left = max(0, int(face.x - reach)) // BLOCK * BLOCK
    top = max(0, int(face.y - reach)) // BLOCK * BLOCK
    right, bottom = int(face.x + face.width + reach), int(face.y + face.height + reach)
    return Portrait(
        np.ascontiguousarray(rgb[top:bottom, left:right]),
        Rect(x=face.x - left, y=face.y - top, width=face.width, height=face.height),
        Landmarks(marks.points - np.array([left, top, 0]), marks.presence, marks.shapes),
    )


def score_of(portrait: Portrait, rgb: Pixels) -> float:
    """What the check measures, 0 to 100, of the portrait as these pixels show it."""
    return overall_score(measure_quality(rgb, portrait.face, portrait.marks, 1.0).scores)


def outcome_of(score: float, limits: Sequence[Limit]) -> Outcome:
    """The gravest of the limits that the score breaks."""
    broken = {limit.level for limit in limits if not limit.holds(round(score))}
    return next((level for level in (Outcome.FAIL, Outcome.WARN) if level in broken), Outcome.PASS)


def _line(title: str, scores: Sequence[float], limits: Sequence[Limit]) -> str:
    outcomes = [outcome_of(score, limits) for score in scores]
    cells = []
    for outcome in (Outcome.PASS, Outcome.WARN, Outcome.FAIL):
        hits = outcomes.count(outcome)
        low, high = wilson(hits, len(scores))
        cells.append(f"{hits / len(scores):.0%} ({low:.0%} to {high:.0%})")
    return f"| {title} | {np.median(scores):.0f} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--portraits", type=int, default=100, help="how many are made worse")
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args(arguments)
    limits = load_profile().for_role(Role.FACE_IMAGE)[CHECK]
    plain: list[float] = []
    worse: dict[str, list[list[float]]] = {name: [] for name in WORSE}
    for portrait, seed in good_portraits(options.pictures, options.portraits):
        plain.append(score_of(portrait, portrait.rgb))
        for name, (worsening, _, strengths) in WORSE.items():
            worse[name].append(
                [
                    # The same direction and the same grain at every strength.
                    score_of(portrait, worsening(portrait, each, np.random.default_rng(seed)))
                    for each in strengths
                ]
            )
    lines = [
        f"{len(plain)} good portraits.",
        "",
        "| Made worse | median score | pass | warn | fail |",
        "|---|---|---|---|---|",
        _line("not at all", plain, limits),
    ]
    for name, (_, words, strengths) in WORSE.items():
        for index, strength in enumerate(strengths):
            of_strength = [scores[index] for scores in worse[name]]
            lines.append(_line(f"{name}, {words.format(strength)}", of_strength, limits))
    lines += ["", "| Made worse step by step | portraits that never score better |", "|---|---|"]
    for name, all_scores in worse.items():
        falling = sum(
            all(after <= before + RISE for before, after in itertools.pairwise((first, *scores)))
            for first, scores in zip(plain, all_scores, strict=True)
        )
        lines.append(f"| {name} | {falling} of {len(plain)} |")
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "quality-made-worse", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
