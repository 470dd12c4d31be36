"""Derive src/palprep/vision/weights/covering-v1.json: bare faces against covered ones.

    python -m research.training.covering PICTURES [--out FILE]

PICTURES holds what sources_and_labels.py wrote. Of material/face_substantially_obscured.csv the
bare faces of the sources for fitting are taken. Onto each, covers are painted, and things that may
be taken for covers; all, and the face as it is, are then shrunk, blurred and encoded alike. No
picture of a really covered face is fitted on: they all serve to measure.

Ridge logistic regressions on the maps of the scene network say how likely the face as a whole, its
eyes, its nose and its mouth are bare. Whole sources are held out in turn, and the odds are
fitted on the scores of held-out faces. The likelihoods of the labelled faces, held out likewise,
are kept for evaluation/portraits.py. Prints the area under the ROC curve, in all and by cover.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.vision import Models
from palprep.vision.scene import describe_covering
from research.material.kept_facts import write_held_out
from research.material.sources_and_labels import read_labels
from research.training.covering_examples import KINDS, PARTS, examples_of
from research.training.covers import COVERS
from research.training.logistic import Array, area_under_curve, fit, standardised_fit

CHECK = "face_substantially_obscured"

COVERED, BARE = 0.6, 0.25
"""A part of which more than the first is hidden counts as covered, of which less than the second,
as bare. Those in between teach nothing."""

RIDGE = 600.0
"""Penalty on squared weights of standardised features."""


class Head(NamedTuple):
    """One regression: weights and bias on raw features, and what it says of held-out faces."""

    weights: Array
    bias: float
    held_out: Array
    """Likelihood that it is bare, of each example."""


def fit_head(features: Array, bare: Array, known: NDArray[np.bool_], groups: Array) -> Head:
    """``bare`` is 1 for bare and 0 for covered, where ``known``; ``groups`` numbers the sources,
    each of which is held out in turn.
    """
    importance = np.where(
        bare == 1, 0.5 / (bare[known] == 1).mean(), 0.5 / (bare[known] == 0).mean()
    )
    scores = np.zeros(len(bare))
    for group in np.unique(groups):
        inside = known & (groups != group)
        weights, bias = standardised_fit(features[inside], bare[inside], RIDGE, importance[inside])
        scores[groups == group] = features[groups == group] @ weights + bias
    slope, offset = fit(scores[known][:, None], bare[known], importance[known], 0.0)
    weights, bias = standardised_fit(features[known], bare[known], RIDGE, importance[known])
    return Head(
        weights * slope[0],
        bias * float(slope[0]) + offset,
        1 / (1 + np.exp(-(scores * slope[0] + offset))),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    checkout = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument(
        "--out",
        type=Path,
        default=checkout / "src" / "palprep" / "vision" / "weights" / "covering-v1.json",
    )
    options = parser.parse_args(arguments)
    rows = read_labels(CHECK, use="fit")
    faces = examples_of(rows, options.pictures, Models())
    made = np.concatenate([face.maps for face in faces])
    features = np.stack([describe_covering(maps)["scene"] for maps in made]).astype(np.float64)
    hidden = np.concatenate([face.hidden for face in faces])
    kinds = np.concatenate([face.kinds for face in faces])
    row_of = np.repeat(np.arange(len(rows)), [len(face.kinds) for face in faces])
    sources = sorted({row.source for row in rows})
    groups = np.array([sources.index(rows[index].source) for index in row_of])
    labelled_bare = np.array([rows[index].wanted for index in row_of])
    print(f"{len(kinds)} pictures of {len(faces)} faces, {len(sources)} sources")
    record, likelihood = {}, {}
    for name in ("whole", *PARTS):
        share = hidden.max(1) if name == "whole" else hidden[:, PARTS.index(name)]
        decoy = np.array([kind < 0 or KINDS[kind] not in COVERS for kind in kinds])
        share = np.where(decoy, 0.0, share)
        known = labelled_bare & ((share > COVERED) | (share < BARE))
        bare = (share < BARE).astype(np.float64)
        head = fit_head(features, bare, known, groups)
        area = area_under_curve(head.held_out[known], bare[known])
        print(f"{name}: area under the curve, sources held out: {area:.3f}")
        record[name] = {
            "bias": round(head.bias, 6),
            "sizes": {"scene": features.shape[1]},
            "weights": [float(f"{weight:.5g}") for weight in head.weights],
        }
        likelihood[name] = head.held_out
        _print_kinds(head.held_out, kinds, known, bare)
    options.out.write_text(json.dumps(record) + "\n", encoding="utf-8")
    real = kinds < 0
    seen = [rows[index] for index in row_of[real]]
    write_held_out(options.pictures, CHECK, options.out, seen, likelihood["whole"][real].tolist())
    return 0


def _print_kinds(likelihood: Array, kinds: Array, known: NDArray[np.bool_], bare: Array) -> None:
    for kind, name in enumerate(KINDS):
        inside = known & (kinds == kind)
        right = (likelihood[inside] > 0.5) == (bare[inside] == 1)
        if inside.any():
            print(f"    {name}: {right.mean():.1%} of {inside.sum()} told rightly")


if __name__ == "__main__":
    sys.exit(main())
