"""Faces that the model of covering learns from: each as it is, and with things painted on.

Kept apart from the fit, so that another fit finds them on disk.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from palprep.vision import Floats, Models, Pixels, arrays as vision_arrays, detect, landmarks, scene
from palprep.vision.arrays import similarity_transform, warp
from palprep.vision.detect import find_faces
from palprep.vision.facts import SURE_PRESENCE
from palprep.vision.landmarks import find_landmarks
from palprep.vision.scene import SCENE_SIDE, SCENE_TEMPLATE, scene_crop, scene_maps
from research.material.kept_facts import Kept
from research.material.sources_and_labels import Labelled, portrait_of
from research.training import covers, decoys, painting, props
from research.training.covers import COVERS
from research.training.decoys import DECOYS
from research.training.painting import Face, Painter, Random, painted

PARTS = ("eyes", "nose", "mouth")

KINDS = (*COVERS, *DECOYS)
COVERS_EACH, DECOYS_EACH = 3, 2
"""How many are painted onto each face."""

ALSO_A_DECOY = 0.3
"""Share of painted faces that wear something else as well: bearded people wear masks, too."""

FINER = 1.5
"""Covers are painted at this many times the size that the network sees."""


class Examples(NamedTuple):
    """One face in n forms."""

    maps: Floats
    """n x 192 x 7 x 7, of the scene network."""
    hidden: Floats
    """n x 3, how much of eyes, nose and mouth is hidden, 0 to 1."""
    kinds: NDArray[np.int64]
    """Index into KINDS, n; -1 for the picture as it is, which comes first."""


def examples_of(rows: Iterable[Labelled], pictures: Path, models: Models) -> list[Examples]:
    """Every row's face, made or kept from an earlier run."""
    drawing = [painting, props, decoys, covers, sys.modules[__name__]]
    kept = Kept(pictures, "covering", [*drawing, vision_arrays, detect, landmarks, scene])
    found = []
    for row in rows:
        arrays = kept.arrays_of(row, functools.partial(_examples, row, pictures, models))
        found.append(
            Examples(
                arrays["maps"].astype(np.float32),
                arrays["hidden"].astype(np.float32),
                arrays["kinds"].astype(np.int64),
            )
        )
    return found


def _examples(row: Labelled, pictures: Path, models: Models) -> Mapping[str, NDArray[np.float64]]:
    """None where no face can be made out."""
    rgb = portrait_of(row, pictures, models)
    for found in find_faces(rgb, models.detector)[:1]:
        marks = find_landmarks(rgb, found, models)
        if marks.presence < SURE_PRESENCE:
            break
        place = similarity_transform(found.points, SCENE_TEMPLATE * FINER)
        close = warp(rgb, place, round(SCENE_SIDE * FINER)).astype(np.float32) / 255
        points = marks.points[:, :2] @ place[:, :2].T + place[:, 2]
        face = Face(close, points.astype(np.float32))
        rng = np.random.default_rng(int.from_bytes(hashlib.sha256(row.key.encode()).digest()[:8]))
        forms = _forms(rng, face)
        crops = [scene_crop(rgb, found), *(degraded(rng, picture) for _, picture, _ in forms)]
        return {
            "maps": np.stack([scene_maps(crop, models.scene) for crop in crops]).astype(np.float16),
            "hidden": np.array([(0.0, 0.0, 0.0), *(hidden for *_, hidden in forms)]),
            "kinds": np.array([-1, *(kind for kind, *_ in forms)]),
        }
    return {
        "maps": np.empty((0, 192, 7, 7), np.float16),
        "hidden": np.empty((0, 3)),
        "kinds": np.empty(0),
    }


def _forms(rng: Random, face: Face) -> list[tuple[int, Floats, tuple[float, ...]]]:
    """The face without and with covers and decoys: kind, picture, what is hidden."""
    forms = []
    for name in ("nothing", *_drawn(rng, COVERS, COVERS_EACH), *_drawn(rng, DECOYS, DECOYS_EACH)):
        dressed = face
        if name != "nothing" and rng.random() < ALSO_A_DECOY:
            also = _drawn(rng, DECOYS, 1)[0]
            dressed = Face(painted(face, DECOYS[also](rng, face))[0], face.points)
        painter = COVERS.get(name) or DECOYS[name]
        picture, shares = painted(dressed, painter(rng, dressed))
        forms.append((KINDS.index(name), picture, tuple(shares[part] for part in PARTS)))
    return forms


def _drawn(rng: Random, table: Mapping[str, Painter], count: int) -> list[str]:
    return [str(name) for name in rng.choice(sorted(table), count, replace=False)]


def degraded(rng: Random, rgb: Floats) -> Pixels:
    """The picture in other light, smaller, blurred, noisy, encoded as JPEG, and cut a little
    beside; 0 to 1 in, 224 x 224 of 8 bits out.
    """
    if rng.random() < 0.3:
        rgb = rgb ** np.float32(rng.uniform(0.6, 1.8))
    if rng.random() < 0.3:
        rgb = np.clip(rgb * rng.uniform(0.75, 1.25, 3).astype(np.float32), 0, 1)
    if rng.random() < 0.15:
        rgb = np.repeat(rgb.mean(2, keepdims=True), 3, axis=2)
    side = round(rgb.shape[0] * rng.uniform(0.3, 1.0))
    rgb = np.asarray(cv2.resize(rgb, (side, side), interpolation=cv2.INTER_AREA), np.float32)
    if rng.random() < 0.2:
        rgb = np.asarray(cv2.GaussianBlur(rgb, (0, 0), rng.uniform(0.4, 1.2)), np.float32)
    if rng.random() < 0.2:
        rgb = rgb + rng.normal(0, rng.uniform(0.005, 0.04), rgb.shape)
    levels = (np.clip(rgb, 0, 1) * 255).astype(np.uint8)
    _, data = cv2.imencode(".jpg", levels, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(35, 96))])
    levels = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    zoom, turn = SCENE_SIDE / side * rng.uniform(0.93, 1.07), rng.normal(0, 0.05)
    turned = zoom * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    middle = np.array([0.5, 0.47])
    shift = middle * SCENE_SIDE + rng.normal(0, 2.5, 2) - turned @ (middle * side)
    return warp(levels, np.column_stack([turned, shift]).astype(np.float32), SCENE_SIDE)
