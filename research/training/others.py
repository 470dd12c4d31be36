"""Derive src/palprep/vision/weights/others-v1.json: whether somebody else is seen around a face.

    python -m research.training.others PICTURES [--out FILE]

PICTURES holds what sources_and_labels.py wrote. material/only_one_person_visible.csv says whether a
picture shows one person alone, and if not, whether another face is seen or only some other part of
somebody. The model is fitted on the sources for fitting alone: faces of FairFace, cut out of
photographs of life, and portraits of staff pages, all of people alone.

A ridge logistic regression on the maps of the scene network. Parts of the pictures are held out in
turn (every one shows somebody else), and the odds are fitted on the scores of held-out pictures,
since those of pictures that were trained on are too sure. Their likelihoods are kept for
evaluate_portraits.py. Prints the area under the ROC curve of held-out pictures, by what is seen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from palprep.vision import Models, arrays, detect, identity, scene
from research.material.kept_facts import Arrays, Kept, write_held_out
from research.material.sources_and_labels import Labelled, portrait_of, read_labels
from research.training.logistic import area_under_curve, fit_calibrated

CHECK = "only_one_person_visible"

RIDGE = 100.0
"""Penalty on squared weights of standardised features: there is one feature to two pictures."""

WEIGHTS = Path(__file__).resolve().parents[2] / "src" / "palprep" / "vision" / "weights"


def describe_row(row: Labelled, pictures: Path, models: Models) -> Arrays:
    """The features of the largest face, as the analysis of a portrait sees it; nothing where none
    is found."""
    rgb = portrait_of(row, pictures, models)
    for face in detect.find_faces(rgb, models.detector)[:1]:
        maps = scene.scene_maps(scene.scene_crop(rgb, face), models.scene)
        return {"scene": scene.summarise(maps).astype(np.float64)}
    return {}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--out", type=Path, default=WEIGHTS / "others-v1.json")
    options = parser.parse_args(arguments)
    models = Models()
    code = [arrays, detect, identity, scene]
    kept = Kept(options.pictures, "others", code, ["detector", "scene"])
    described = kept.described(
        read_labels(CHECK, use="fit"), lambda row: describe_row(row, options.pictures, models)
    )
    rows = [row for row, _ in described]
    features = np.stack([blocks["scene"] for _, blocks in described])
    several = np.array([float(not row.wanted) for row in rows])
    print(f"{len(rows)} pictures, {int(several.sum())} of them with somebody else")
    model = fit_calibrated(features, several, RIDGE)
    for group in sorted({row.group for row in rows if not row.wanted}):
        inside = np.array([row.wanted or row.group == group for row in rows])
        area = area_under_curve(model.scores[inside], several[inside])
        print(f"area under the curve, held out, {group}: {area:.3f}")
    record = {
        "bias": round(model.bias, 6),
        "sizes": {"scene": features.shape[1]},
        "weights": [float(f"{weight:.5g}") for weight in model.weights],
    }
    options.out.write_text(json.dumps(record) + "\n", encoding="utf-8")
    write_held_out(options.pictures, CHECK, options.out, rows, [*model.likelihood])
    return 0


if __name__ == "__main__":
    sys.exit(main())
