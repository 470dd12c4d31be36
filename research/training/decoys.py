"""What may be taken for a cover of the face, and is none."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from palprep.vision.landmarks import FACE_OVAL
from research.training.painting import (
    JAW,
    LEFT_EYE,
    MOUTH,
    RIGHT_EYE,
    Face,
    Layer,
    Painter,
    Random,
    any_colour,
    cloth,
    fill,
    lit,
    noise,
    rounded,
    smooth_curve,
    wrinkled,
)
from research.training.props import hair_colour, microphone_at, pair_of_glasses, wrapped_cloth


def spectacles(rng: Random, face: Face) -> Layer:
    """Clear glasses with a rim, sometimes with a reflection or a faint tint."""
    lenses, frame, _ = pair_of_glasses(rng, face, (0.28, 0.45), (0.17, 0.36))
    shine = np.clip(noise(rng, face, 0.2) - rng.uniform(0.8, 2.0), 0, 1) * rng.uniform(0, 0.7)
    glow = lenses * np.maximum(shine, rng.choice([0.0, 0.0, 0.08, 0.15]))
    tint = np.broadcast_to(any_colour(rng), face.rgb.shape)
    bright = shine[..., None] * (1 - tint) + tint
    rim = lit(rng, face, np.broadcast_to(any_colour(rng) * rng.choice([0.2, 1.0]), face.rgb.shape))
    return Layer(np.maximum(glow, frame), bright + frame[..., None] * (rim - bright))


def beard(rng: Random, face: Face) -> Layer:
    """A beard, from stubble to a full one, of any hair colour; the lips stay free."""
    points = face.points
    jaw = points[list(JAW)]
    skip = int(rng.integers(1, 5))
    jaw = jaw[skip : len(jaw) - skip]
    tip = points[13]
    jaw = tip + (jaw - tip) * rng.uniform(1.0, 1.35)
    edge = (
        points[[427, 326, 2, 97, 207]] if rng.random() < 0.8 else points[[432, 335, 17, 106, 212]]
    )
    outline = np.concatenate([jaw, smooth_curve(edge)])
    hairs = noise(rng, face, 0.012) + 0.7 * noise(rng, face, 0.03)
    soft = fill(face, outline, soft=rng.uniform(0.03, 0.12))
    thick = rng.uniform(0.35, 0.97)
    alpha = np.clip(soft * thick * (1 + 0.25 * hairs), 0, 1)
    alpha = alpha * (1 - fill(face, points[list(MOUTH)], soft=0.03) * rng.uniform(0.6, 1.0))
    tone = np.clip(hair_colour(rng) * (1 + 0.25 * hairs[..., None]), 0, 1)
    return Layer(alpha.astype(np.float32), lit(rng, face, tone.astype(np.float32)))


def headscarf(rng: Random, face: Face) -> Layer:
    """A hijab, shawl or hood: around the face and under the chin, which stays free."""
    oval = face.points[list(FACE_OVAL)]
    middle = oval.mean(0)
    inner = middle + (oval - middle) * rng.uniform(0.93, 1.1, (1, 2))
    height = face.down(152)
    outer = rounded(rng, (rng.uniform(1.15, 1.6), height * rng.uniform(1.0, 1.3)), 2.3)
    alpha = fill(face, face.at(*(outer + np.array([0, 0.25 * height]))))
    below = [(-1.2, height), (1.2, height), (2.4, height + 3), (-2.4, height + 3)]
    alpha = np.maximum(alpha, fill(face, face.at(*below), soft=0.05))
    alpha = alpha * (1 - fill(face, inner, soft=0.03))
    curves = [
        smooth_curve(face.at((-1.2, v), (rng.normal(0, 0.2), v + 0.4), (1.2, v)))
        for v in rng.uniform(height, height + 1.5, 5)
    ]
    return Layer(alpha, lit(rng, face, wrinkled(rng, face, cloth(rng, face), curves)))


def turban(rng: Random, face: Face) -> Layer:
    """A turban, cap or hat above the brows."""
    brow = face.down(9) if rng.random() < 0.5 else face.down(151)
    half = (rng.uniform(0.95, 1.5), rng.uniform(0.7, 1.3))
    shape = rounded(rng, half, 2.5) + np.array([0.0, brow - half[1] * 0.75])
    shape[:, 1] = np.minimum(shape[:, 1], brow + 0.12 * np.abs(shape[:, 0]))
    curves = [
        smooth_curve(face.at((-1.3, v + rng.normal(0, 0.3)), (0, v - 0.2), (1.3, v)))
        for v in rng.uniform(brow - 1.5, brow, int(rng.integers(0, 8)))
    ]
    surface = lit(rng, face, wrinkled(rng, face, cloth(rng, face), curves))
    return Layer(fill(face, face.at(*shape)), surface)


def mark(rng: Random, face: Face) -> Layer:
    """A bindi, a tilak, ash or a jewel on the forehead or the nose."""
    place = np.array([0.0, face.down(151) * rng.uniform(0.5, 1.1)])
    half = (rng.uniform(0.03, 0.12), rng.uniform(0.03, 0.3))
    alpha = fill(face, face.at(*(rounded(rng, half, 2) + place)))
    surface = np.broadcast_to(any_colour(rng), face.rgb.shape).astype(np.float32)
    return Layer(alpha * rng.uniform(0.6, 1.0), surface)


def make_up(rng: Random, face: Face) -> Layer:
    """Coloured lips and lids, blusher, face paint that stays thin."""
    points = face.points
    alpha = fill(face, points[list(MOUTH)], soft=0.02) * rng.uniform(0.3, 0.85)
    for eye, brow in ((RIGHT_EYE, (70, 105, 107)), (LEFT_EYE, (336, 334, 300))):
        lid = np.concatenate([points[list(eye[:4])], points[list(reversed(brow))]])
        alpha = np.maximum(
            alpha,
            fill(face, np.asarray(cv2.convexHull(lid), np.float32)[:, 0], soft=0.05)
            * rng.uniform(0, 0.6),
        )
    return Layer(alpha, np.broadcast_to(any_colour(rng), face.rgb.shape).astype(np.float32))


def shadow(rng: Random, face: Face) -> Layer:
    """A hard shadow over one side, the eyes or the lower face, or light that falls in stripes."""
    turn, reach = rng.uniform(0, 2 * np.pi), rng.normal(0, 0.35)
    along = np.array([np.cos(turn), np.sin(turn)])
    across = np.array([-along[1], along[0]])
    middle = np.array([0.0, 0.45]) + reach * along
    far = 6.0
    corners = [middle + across * far, middle - across * far]
    corners += [middle - across * far + along * far, middle + across * far + along * far]
    alpha = fill(face, face.at(*(tuple(corner) for corner in corners)), soft=rng.uniform(0.01, 0.3))
    return Layer(alpha * rng.uniform(0.4, 0.9), face.rgb * np.float32(rng.uniform(0.0, 0.2)))


def near_microphone(rng: Random, face: Face) -> Layer:
    """A microphone below the chin or in its lower part."""
    low = face.down(152)
    return microphone_at(rng, face, low + rng.uniform(0.25, 0.6), (0.15, 0.35))


def collar(rng: Random, face: Face) -> Layer:
    """A scarf, a collar or a mask that hangs below the chin."""
    return wrapped_cloth(rng, face, level=face.down(152) + rng.uniform(0.05, 0.3))


def nothing(rng: Random, face: Face) -> Layer:  # noqa: ARG001
    """The face as it is."""
    return Layer(np.zeros(face.rgb.shape[:2], np.float32), face.rgb)


DECOYS: Mapping[str, Painter] = {
    "nothing": nothing,
    "spectacles": spectacles,
    "beard": beard,
    "headscarf": headscarf,
    "turban": turban,
    "mark": mark,
    "make-up": make_up,
    "shadow": shadow,
    "microphone below": near_microphone,
    "collar": collar,
}
