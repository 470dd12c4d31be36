"""How far off the gaze is read of eyes that look into the lens.

    python -m research.evaluation.gaze PICTURES [--table docs/accuracy.md]

PICTURES holds what sources_and_labels.py wrote. Taken are the faces that
material/looking_straight_at_camera.csv and material/portraits.csv call fit: a careful person sees
them look into the lens. Whatever is read beside it is the error of the measure. Prints, and with
--table writes into the document, that error by what it may depend on: the size of the eyes, how
far they are open, the turn of the head, spectacles.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palprep.vision.facts import Eyes, Pose
from research.marked import replace_marked
from research.material.kept_facts import FactsOfRows
from research.material.sources_and_labels import WHOLE_CHECK, read_labels

CHECK = "looking_straight_at_camera"

NARROWED = 0.5
"""Openness below which eyes are as often narrowed by a smile as they look down."""

SMILING = 0.7
"""Openness below which a smile or hard light hides much of the iris."""

IRIS_SHARE = 11.7 / 63
"""The iris's width over the distance of the eyes: 11.7 mm (P. R. Rüfer et al., Cornea 24 (2005),
259-261) of 63 mm (N. A. Dodgson, Proc. SPIE 5291 (2004), 36-46), on average of adults."""

MARKED = ("face_substantially_obscured", "image_quality_acceptable")
"""Label files whose kinds name spectacles."""


class Face(NamedTuple):
    """One face that looks into the lens."""

    eyes: Eyes
    pose: Pose
    spectacles: bool | None
    """None where no label says."""

    @property
    def iris_px(self) -> float:
        """About the iris's width, in pixels of the picture at full size."""
        return self.eyes.distance_px * IRIS_SHARE


GROUPS: Mapping[str, Callable[[Face], bool]] = {
    "all": lambda face: True,  # noqa: ARG005
    "iris up to 6 px wide": lambda face: face.iris_px <= 6,
    "iris of 6 to 12 px": lambda face: 6 < face.iris_px <= 12,
    "iris of 12 to 24 px": lambda face: 12 < face.iris_px <= 24,
    "iris wider than 24 px": lambda face: face.iris_px > 24,
    "eyes wide open": lambda face: face.eyes.openness >= SMILING,
    "eyes narrowed, as by a smile": lambda face: NARROWED <= face.eyes.openness < SMILING,
    "eyes narrowed more": lambda face: face.eyes.openness < NARROWED,
    "head turned up to 5 degrees": lambda face: abs(face.pose.yaw_deg) <= 5,
    "head turned 5 to 15 degrees": lambda face: 5 < abs(face.pose.yaw_deg) <= 15,
    "head turned further": lambda face: abs(face.pose.yaw_deg) > 15,
    "head raised or lowered over 10 degrees": lambda face: abs(face.pose.pitch_deg) > 10,
    "spectacles": lambda face: face.spectacles is True,
    "no spectacles": lambda face: face.spectacles is False,
}


COLUMNS = (
    "Faces that look into the lens",
    "number",
    "scatter across",
    "up and down",
    "half are off by less than",
    "95%",
    "99%",
    "99%, less the doubt",
)


def faces_of(facts: FactsOfRows) -> list[Face]:
    """Every labelled face that looks into the lens and shows its eyes, once."""
    kinds = {(row.source, row.path): row.group for name in MARKED for row in read_labels(name)}
    rows = {
        (row.source, row.path): row
        for row in (*read_labels(CHECK), *read_labels(WHOLE_CHECK))
        if row.wanted
    }
    found = []
    for key, row in rows.items():
        portrait = facts.of(row).portrait
        if portrait and portrait.subject:
            spectacles = kinds[key] == "spectacles" if key in kinds else None
            found.append(Face(portrait.subject.eyes, portrait.subject.pose, spectacles))
    return found


def table(faces: Iterable[Face]) -> list[str]:
    """The error by group, as lines of Markdown."""
    listed = list(faces)
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for title, belongs in GROUPS.items():
        inside = [face.eyes for face in listed if belongs(face)]
        if not inside:
            continue
        half, most, nearly = np.percentile([eyes.gaze_off_deg for eyes in inside], (50, 95, 99))
        surely = np.percentile([eyes.gaze_surely_off_deg for eyes in inside], 99)
        scatter = [
            np.std([getattr(eyes, name) for eyes in inside])
            for name in ("gaze_yaw_deg", "gaze_pitch_deg")
        ]
        cells = (*scatter, half, most, nearly, surely)
        lines.append(
            f"| {title} | {len(inside)} | " + " | ".join(f"{c:.1f}°" for c in cells) + " |"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args(arguments)
    lines = table(faces_of(FactsOfRows(options.pictures)))
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "gaze-error", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
