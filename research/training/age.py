"""Derive src/palprep/vision/weights/adult-v1.json: adults against minors.

    python -m research.training.age PICTURES [--out FILE]

PICTURES holds what sources_and_labels.py wrote. material/appears_under_18.csv says of each picture
whether it shows an adult. The model is fitted on the source for fitting alone, with faces of
FairFace: of each sex and each of its seven groups 200 who look 20 to 29 and as many who look 10 to
19, and fewer of the decades beside. So most faces stand near the border, and all groups count
alike. The annotators gave decades, so that people of 18 and 19 count as minors: the model errs on
the strict side. The faces of the other sources have their ages in years: the limits are set
so that few of their minors pass, and no fit portrait fails (docs/accuracy.md).

A ridge logistic regression on what the age network says and on the identity embedding. Parts of
the faces are held out in turn (hardly two are of one person), and the odds are fitted on the
scores of held-out faces, since those of faces that were trained on are too sure. The likelihoods of
held-out faces are kept for evaluation/portraits.py. Prints the area under the ROC curve of the
held-out faces, and how many of each kind lie below several likelihoods.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from palprep.vision import Models, arrays, detect, identity, landmarks, scene
from palprep.vision.facts import SURE_PRESENCE, SURE_SCORE
from research.material.kept_facts import Arrays, Kept, write_held_out
from research.material.sources_and_labels import Labelled, portrait_of, read_labels
from research.training.logistic import area_under_curve, fit_calibrated

CHECK = "appears_under_18"

RIDGE = 100.0
"""Penalty on squared weights of standardised features: there is one feature to 57 faces. From a
third to twice of it faces of other sources are told alike."""

LIKELIHOODS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

WEIGHTS = Path(__file__).resolve().parents[2] / "src" / "palprep" / "vision" / "weights"


def describe_row(row: Labelled, pictures: Path, models: Models) -> Arrays:
    """The features of the largest certain face, by block; nothing where its points are hidden."""
    rgb = portrait_of(row, pictures, models)
    for face in detect.find_faces(rgb, models.detector):
        marks = landmarks.find_landmarks(rgb, face, models)
        if marks.presence >= SURE_PRESENCE:
            classes = scene.age_classes(rgb, face, models.age)
            described = scene.describe_age(classes, identity.embed(rgb, face, models.identity))
            return {name: each.astype(np.float64) for name, each in described.items()}
        if face.score >= SURE_SCORE:
            break
    return {}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--out", type=Path, default=WEIGHTS / "adult-v1.json")
    options = parser.parse_args(arguments)
    models = Models()
    kept = Kept(options.pictures, "age", [arrays, detect, identity, landmarks, scene])
    described = kept.described(
        read_labels(CHECK, use="fit"), lambda row: describe_row(row, options.pictures, models)
    )
    rows = [row for row, _ in described]
    blocks = {name: np.stack([blocks[name] for _, blocks in described]) for name in described[0][1]}
    features = np.concatenate([*blocks.values()], axis=1)
    wanted = np.array([float(row.wanted) for row in rows])
    print(f"{len(rows)} faces that show their points, {int(wanted.sum())} of them adults'")
    model = fit_calibrated(features, wanted, RIDGE)
    print(f"area under the curve, held out: {area_under_curve(model.scores, wanted):.3f}")
    for group in sorted({row.group for row in rows}):
        inside = np.array([row.group == group for row in rows])
        below = ", ".join(
            f"{limit}: {(model.likelihood[inside] < limit).mean():.0%}" for limit in LIKELIHOODS
        )
        print(f"{group:12} below {below}")
    record = {
        "bias": round(model.bias, 6),
        "sizes": {name: block.shape[1] for name, block in blocks.items()},
        "weights": [float(f"{weight:.5g}") for weight in model.weights],
    }
    options.out.write_text(json.dumps(record) + "\n", encoding="utf-8")
    write_held_out(options.pictures, CHECK, options.out, rows, [*model.likelihood])
    return 0


if __name__ == "__main__":
    sys.exit(main())
