"""Derive src/palprep/vision/weights/human-v1.json: photographed people against depicted ones.

    python scripts/train_human.py PICTURES [--out FILE]

PICTURES holds checkouts of the public repositories that human_sources.csv lists with their
commits, as owner/name/path; human_training.csv says which face of which picture is what:
photographs, paintings, drawings, renderings and animals. None of it is from the development
corpus, which stays an independent test. Three ridge logistic regressions, on the proportions
of the face, on its expression coefficients and on its identity embedding, are added up; each
alone is weak, and their errors differ. Prints the area under the ROC curve with whole
repositories held out.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from palprep.media.sniff import sniff
from palprep.media.still import open_still
from palprep.vision.detect import find_faces
from palprep.vision.human import BLOCKS, describe
from palprep.vision.landmarks import find_landmarks
from palprep.vision.models import Models
from palprep.vision.pose import fit_head

Array = NDArray[np.float64]

RIDGE = {"proportions": 3000.0, "expression": 1000.0, "identity": 300.0}
"""Penalty on squared weights of standardised features, one a block; heavy, for there are more
features than a few hundred pictures can carry."""

FOLDS = 6


def fit(features: Array, wanted: Array, ridge: float) -> tuple[Array, float]:
    """Weights and bias by Newton's method, both classes counting the same."""
    share = wanted.mean()
    importance = np.where(wanted == 1, 0.5 / share, 0.5 / (1 - share))
    design = np.column_stack([features, np.ones(len(features))])
    penalty = np.diag([*np.full(features.shape[1], ridge), 1e-6])
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        odds = 1 / (1 + np.exp(-design @ beta))
        gradient = design.T @ (importance * (odds - wanted)) + penalty @ beta
        curvature = (design * (importance * odds * (1 - odds))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        beta -= step
        if np.abs(step).max() < 1e-10:
            break
    return beta[:-1], float(beta[-1])


def train(blocks: dict[str, Array], wanted: Array) -> tuple[Array, float]:
    """Weights on the raw features, all blocks in order, and the bias.

    Every block's score is brought to unit spread before the sum, and the sum is scaled so
    that its logistic function is a probability with both classes equally frequent.
    """
    weights, scores = [], []
    for name, features in blocks.items():
        mean, spread = features.mean(0), features.std(0) + 1e-9
        inner, _ = fit((features - mean) / spread, wanted, RIDGE[name])
        raw = inner / spread
        raw /= (features @ raw).std()
        weights.append(raw)
        scores.append(features @ raw)
    total = np.sum(scores, axis=0)[:, None]
    slope, bias = fit(total, wanted, 0.0)
    return np.concatenate(weights) * slope[0], bias


def area_under_curve(score: Array, wanted: Array) -> float:
    good, bad = score[wanted == 1], score[wanted == 0]
    return float((good[:, None] > bad[None]).mean() + 0.5 * (good[:, None] == bad[None]).mean())


def held_out(blocks: dict[str, Array], wanted: Array, groups: Sequence[str]) -> float:
    """Area under the curve where no repository is in both training and test."""
    names = sorted(set(groups), key=lambda name: (-groups.count(name), name))
    fold = np.array([names.index(group) % FOLDS for group in groups])
    everything = np.concatenate(list(blocks.values()), axis=1)
    score = np.zeros(len(wanted))
    for number in range(FOLDS):
        inside = fold != number
        weights, bias = train({k: v[inside] for k, v in blocks.items()}, wanted[inside])
        score[~inside] = everything[~inside] @ weights + bias
    return area_under_curve(score, wanted)


def main(arguments: Sequence[str] | None = None) -> int:
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument(
        "--out",
        type=Path,
        default=here.parent / "src" / "palprep" / "vision" / "weights" / "human-v1.json",
    )
    options = parser.parse_args(arguments)
    models = Models()
    described: dict[str, list[Array]] = {name: [] for name in BLOCKS}
    wanted, groups = [], []
    with (here / "human_training.csv").open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            path = options.pictures / row["repository"] / row["path"]
            rgb = open_still(path, sniff(path))
            place = np.array([float(row["face_x"]), float(row["face_y"])])
            face = min(
                find_faces(rgb, models.detector),
                key=lambda found: np.hypot(*(np.array(found.middle) - place)),
            )
            marks = find_landmarks(rgb, face, models)
            features = describe(rgb, face, marks, fit_head(marks, models.geometry), models)
            for name, values in features.items():
                described[name].append(np.array(list(values.values()), np.float64))
            wanted.append(float(row["photographed"]))
            groups.append(row["repository"])
    blocks = {name: np.stack(rows) for name, rows in described.items()}
    labels = np.array(wanted)
    print(f"{len(labels)} faces, {int(labels.sum())} photographed")
    print(f"area under the curve, repositories held out: {held_out(blocks, labels, groups):.3f}")
    weights, bias = train(blocks, labels)
    sizes = {name: features.shape[1] for name, features in blocks.items()}
    record = {
        "bias": round(bias, 6),
        "sizes": sizes,
        "weights": [float(f"{w:.5g}") for w in weights],
    }
    options.out.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
