"""Derive src/palprep/vision/weights/human-v1.json: photographed people against depicted ones.

    python -m research.training.human PICTURES [--out FILE]

PICTURES holds what sources_and_labels.py wrote. material/human_like_subject.csv says which face of
which picture is what: photographs (of children too, and with masks), paintings, drawings,
renderings and animals. The model is fitted on the sources for fitting alone.

Ridge logistic regressions on the identity embedding of the face and on the maps of its scene are
added up: their errors differ. Whole sources are held out in turn, and the odds are fitted on the
scores of held-out faces, since those of faces that were trained on are too sure. The likelihoods of
held-out faces are kept for evaluation/portraits.py. Prints the area under the ROC curve of the
held-out faces, and what part of either kind lies above several likelihoods.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from palprep.vision import Models, arrays, detect, identity, scene
from palprep.vision.detect import find_faces
from palprep.vision.identity import embed
from palprep.vision.scene import describe_human, scene_crop, scene_maps
from research.material.kept_facts import Arrays, Kept, write_held_out
from research.material.sources_and_labels import Labelled, portrait_of, read_labels
from research.training.logistic import Array, area_under_curve, fit

RIDGE = {"identity": 300.0, "scene": 100.0, "face": 300.0}
"""Penalty on squared weights of standardised features, one a block; heavy, for there are more
features than a few hundred pictures can carry."""

COUNTS = {"identity": 2.0, "scene": 1.0, "face": 1.0}
"""How much the score of each block counts. Headscarves, turbans and dark skin lower those of the
scene and the face, and hardly that of the identity; paintings and renderings lower all three. Set
on the first half of the broad set, from scores of this fit."""

CHECK = "human_like_subject"

FOLDS = 6

CODE = (arrays, detect, identity, scene)
WEIGHTS = ("detector", "identity", "scene")
"""What the features depend on."""

LIKELIHOODS = (0.05, 0.1, 0.2)
"""Where the rules and the profile draw lines."""


def balance(wanted: Array, groups: Sequence[str]) -> Array:
    """How much each face counts: a source by the square root of its faces, so that none rules,
    and both classes the same."""
    kinds = [*zip(groups, wanted, strict=True)]
    counts = Counter(kinds)
    importance = np.array([counts[kind] ** -0.5 for kind in kinds])
    for label in (0, 1):
        importance[wanted == label] /= importance[wanted == label].sum()
    return importance * len(wanted) / 2


def score(blocks: Mapping[str, Array], wanted: Array, importance: Array) -> tuple[Array, float]:
    """Weights on the raw features, all blocks in order, and the bias; every block's score is
    brought to no mean and unit spread, and then counts by :data:`COUNTS`."""
    weights, bias = [], 0.0
    for name, features in blocks.items():
        mean, spread = features.mean(0), features.std(0) + 1e-9
        inner, _ = fit((features - mean) / spread, wanted, importance, RIDGE[name])
        raw = inner / spread
        raw *= COUNTS[name] / (features @ raw).std()
        weights.append(raw)
        bias -= float(mean @ raw)
    return np.concatenate(weights), bias


def held_out(
    blocks: Mapping[str, Array], wanted: Array, importance: Array, groups: Sequence[str]
) -> Array:
    """The score of every face by a model that has seen nothing of its source."""
    names = [name for name, _ in Counter(groups).most_common()]
    fold = np.array([names.index(group) % FOLDS for group in groups])
    everything = np.concatenate(list(blocks.values()), axis=1)
    scores = np.zeros(len(wanted))
    for number in range(FOLDS):
        inside = fold != number
        weights, bias = score(
            {name: rows[inside] for name, rows in blocks.items()},
            wanted[inside],
            importance[inside],
        )
        scores[~inside] = everything[~inside] @ weights + bias
    return scores


def described(pictures: Path, models: Models) -> tuple[list[Labelled], dict[str, Array]]:
    """The labelled faces for fitting, and their features by block; without pictures in which no
    face is found."""
    kept = Kept(pictures, "human", CODE, WEIGHTS)
    found = [
        (row, kept.arrays_of(row, functools.partial(describe_row, row, pictures, models)))
        for row in read_labels(CHECK, use="fit")
    ]
    blocks = {name: np.stack([each[name] for _, each in found if each]) for name in RIDGE}
    return [row for row, each in found if each], blocks


def describe_row(row: Labelled, pictures: Path, models: Models) -> Arrays:
    """The features of the largest face by block, as the analysis of a portrait sees it; nothing
    where none is found."""
    rgb = portrait_of(row, pictures, models)
    for face in find_faces(rgb, models.detector)[:1]:
        embedding = embed(rgb, face, models.identity)
        features = describe_human(embedding, scene_maps(scene_crop(rgb, face), models.scene))
        return {name: np.asarray(values, np.float64) for name, values in features.items()}
    return {}


def main(arguments: Sequence[str] | None = None) -> int:
    checkout = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument(
        "--out",
        type=Path,
        default=checkout / "src" / "palprep" / "vision" / "weights" / "human-v1.json",
    )
    options = parser.parse_args(arguments)
    listed, blocks = described(options.pictures, Models())
    wanted = np.array([float(row.wanted) for row in listed])
    groups = [row.source for row in listed]
    importance = balance(wanted, groups)
    print(f"{len(wanted)} faces of {len(set(groups))} sources, {int(wanted.sum())} photographed")
    scores = held_out(blocks, wanted, importance, groups)
    print(f"area under the curve, sources held out: {area_under_curve(scores, wanted):.3f}")
    slope, offset = fit(scores[:, None], wanted, importance, 0.0)
    likelihood = 1 / (1 + np.exp(-(scores * slope[0] + offset)))
    for limit in LIKELIHOODS:
        above = likelihood >= limit
        good, bad = above[wanted == 1].mean(), above[wanted == 0].mean()
        print(f"likelihood {limit:.2f} or more: {good:.1%} of photographed, {bad:.1%} of others")
    weights, bias = score(blocks, wanted, importance)
    record = {
        "bias": round(bias * float(slope[0]) + offset, 6),
        "sizes": {name: features.shape[1] for name, features in blocks.items()},
        "weights": [float(f"{w:.5g}") for w in weights * slope[0]],
    }
    options.out.write_text(json.dumps(record) + "\n", encoding="utf-8")
    write_held_out(options.pictures, CHECK, options.out, listed, likelihood)
    return 0


if __name__ == "__main__":
    sys.exit(main())
