"""Photographs that are shown as if they talked: moved before a camera, noisy, compressed again,
with a mouth that opens with the loudness of the sound, and with a head that sways over what
surrounds it.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from palprep.consent import FRAMES_PER_S
from palprep.speech import RATE_HZ
from palprep.vision import Models, Pixels, landmarks
from palprep.vision.detect import find_faces
from palprep.vision.framing import face_box

PUPPET_SIDE, PUPPET_FRAMES = 640, 150
PERIODS_S = (3.7, 2.9, 4.1, 5.3, 4.7, 3.3)
WORN_QUALITY, WORN_NOISE, WORN_ZOOM = 40, 4.0, 1.03
HEAD, NEAR = (0.75, 1.05), 0.75
"""Half the width and the height of a head, in widths of the face; and how far beyond its edge, in
sizes of the head, the picture is stretched as the head sways."""
SWAYS_S = (3.9, 2.3)
"""The periods of a head that sways, across and down."""


def worn(rgb: Pixels, rng: np.random.Generator) -> Pixels:
    """The picture as forgers leave it: enlarged and moved a little, noisy, compressed again."""
    height, width = rgb.shape[:2]
    moved = np.array([[WORN_ZOOM, 0, 0], [0, WORN_ZOOM, 0]], np.float32)
    moved[:, 2] = rng.uniform(-0.01, 0, 2) * (width, height)
    changed = cv2.warpAffine(rgb, moved, (width, height))
    noisy = np.clip(changed + rng.normal(0, WORN_NOISE, rgb.shape), 0, 255).astype(np.uint8)
    _, data = cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, WORN_QUALITY])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def loudness(sound: NDArray[np.float32]) -> NDArray[np.float64]:
    """From 0 in the pauses to 1 where it is loudest, for every frame that is looked at."""
    step = int(RATE_HZ / FRAMES_PER_S)
    pieces = sound[: len(sound) // step * step].reshape(-1, step).astype(np.float64)
    level_db = 10 * np.log10((pieces**2).mean(axis=1) + 1e-10)
    low, high = np.percentile(level_db, (20, 95))
    opened: NDArray[np.float64] = np.clip((level_db - low) / max(high - low, 1.0), 0, 1)
    return opened[:PUPPET_FRAMES]


def puppet(
    rgb: Pixels,
    opened: NDArray[np.float64],
    models: Models,
    rng: np.random.Generator,
    *,
    camera: float = 1.0,
    sway: float = 0.0,
) -> Iterator[Pixels]:
    """A photograph whose lower lip and chin come down with the sound, before a hand-held camera.

    ``camera`` is the share of the camera's motion, and ``sway`` how far the head is drawn to either
    side of its place, in widths of the face.
    """
    scale = PUPPET_SIDE / max(rgb.shape[:2])
    rgb = np.asarray(cv2.resize(rgb, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
    height, width = rgb.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    phases = rng.uniform(0, 2 * np.pi, 6)
    for face in find_faces(rgb, models.detector)[:1]:
        marks = landmarks.find_landmarks(rgb, face, models)
        corners = marks.at(landmarks.MOUTH_RIGHT, landmarks.MOUTH_LEFT)
        middle, wide = corners.mean(axis=0), float(np.linalg.norm(corners[0] - corners[1]))
        across, down = (x - middle[0]) / wide, (y - middle[1]) / wide
        lower = np.exp(-((across / 0.75) ** 2)) * np.where(
            down > 0, np.exp(-((down / 1.6) ** 2)), 0
        )
        box = face_box(marks)
        centre = (box.x + box.width / 2, box.y + box.height / 2)
        away = np.hypot(*((at - mid) / (half * box.width)
                          for at, mid, half in zip((x, y), centre, HEAD, strict=True)))  # fmt: skip
        follows = 1 - np.clip((away - 1) / NEAR, 0, 1)
        for at, share in enumerate(opened):
            drawn = sway * box.width * np.sin(2 * np.pi * at / FRAMES_PER_S / np.array(SWAYS_S))
            talking = cv2.remap(
                rgb,
                (x - drawn[0] * follows).astype(np.float32),
                (y - drawn[1] / 2 * follows - 0.45 * wide * share * lower).astype(np.float32),
                cv2.INTER_LINEAR,
            )
            turns = at / FRAMES_PER_S / np.array(PERIODS_S)
            held = camera * np.sin(2 * np.pi * turns + phases)
            moved = np.vstack(
                (cv2.getRotationMatrix2D((width / 2, height / 2), 4 * held[2], 1 + 0.04 * held[3]),
                 (0.25 * held[4] / width, 0.15 * held[5] / height, 1))
            )  # fmt: skip
            moved[:2, 2] += 0.1 * wide * held[:2]
            seen = cv2.warpPerspective(
                talking, moved, (width, height), borderMode=cv2.BORDER_REPLICATE
            )
            yield worn(np.asarray(seen, np.uint8), rng)
