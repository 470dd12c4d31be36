"""Covers painted onto bare faces.

Pictures of covered faces with a free licence are few and nearly all show medical masks. So the
model of research/training/covering.py learns from bare faces onto which code paints covers. What
may be taken for one (decoys.py) is painted onto other bare faces with the same cloth and the same
light, so that a texture or a dark patch as such says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from research.training.decoys import headscarf
from research.training.painting import (
    JAW,
    Face,
    Layer,
    Painter,
    Random,
    any_colour,
    blurred,
    cloth,
    fill,
    line,
    lit,
    noise,
    rounded,
    smooth_curve,
    wrinkled,
)
from research.training.props import (
    hair_colour,
    hand_at,
    microphone_at,
    pair_of_glasses,
    wrapped_cloth,
)


def mask(rng: Random, face: Face) -> Layer:
    """A medical, cloth or filtering mask over nose and mouth; sometimes the nose stands out."""
    points = face.points
    jaw = points[list(JAW)]
    start = int(rng.integers(0, 4))
    jaw = jaw[start : len(jaw) - start]
    tip = points[4]
    jaw = tip + (jaw - tip) * rng.uniform(1.0, 1.14, (1, 1))
    top = points[int(rng.choice([6, 197, 197, 195, 195, 5, 5, 2], p=[1 / 8] * 8))]
    cheeks = points[[int(rng.choice([347, 346, 330])), int(rng.choice([118, 117, 101]))]]
    sag = rng.normal(0, 0.03 * face.unit, (2, 2))
    edge = smooth_curve(np.stack([jaw[-1], cheeks[0] + sag[0], top, cheeks[1] + sag[1], jaw[0]]))
    alpha = fill(face, np.concatenate([jaw, edge]))
    usual = [(0.72, 0.85, 0.92), (0.93, 0.93, 0.93), (0.08, 0.08, 0.09), (0.62, 0.82, 0.78)]
    colour = np.array(usual[int(rng.integers(len(usual)))], np.float32)
    colour = np.clip(colour + rng.normal(0, 0.05, 3), 0, 1).astype(np.float32)
    surface = cloth(rng, face, colour if rng.random() < 0.55 else None)
    if rng.random() < 0.5:
        colour_only = np.broadcast_to(colour, face.rgb.shape).astype(np.float32)
        surface = colour_only * (1 + 0.03 * noise(rng, face, 0.2)[..., None])
    left, right, low = jaw[0], jaw[-1], points[152]
    curves = []
    for share in rng.uniform(0.15, 0.85, int(rng.integers(0, 5))):
        middle = top + (low - top) * share
        ends = left + (middle - left) * 0.1, right + (middle - right) * 0.1
        lift = (middle - (left + right) / 2) * 0.7
        curves.append(smooth_curve(np.stack([ends[0] + lift, middle, ends[1] + lift])))
    if rng.random() < 0.3:
        curves.append(np.stack([top, tip, low]))
    bulge = np.hypot(*(np.mgrid[: alpha.shape[0], : alpha.shape[1]][::-1] - tip[:, None, None]))
    surface = surface * np.clip(1.12 - 0.2 * bulge / (1.4 * face.unit), 0.6, 1.15)[..., None]
    surface = lit(rng, face, wrinkled(rng, face, surface, curves))
    if rng.random() < 0.6:
        loops = np.zeros_like(alpha)
        for corner, ear in ((jaw[0], 127), (jaw[-1], 356)):
            out = points[ear] + (points[ear] - tip) * 0.06
            loops = np.maximum(loops, line(face, np.stack([corner, out]), 0.03))
        alpha = np.maximum(alpha, loops)
    return Layer(alpha, surface)


def dark_glasses(rng: Random, face: Face) -> Layer:
    """Sunglasses: black, tinted, graded or mirroring."""
    lenses, frame, middles = pair_of_glasses(rng, face, (0.3, 0.5), (0.2, 0.42))
    rows = np.arange(face.rgb.shape[0], dtype=np.float32)[:, None]
    grade = np.clip((rows - middles[:, 1].mean()) / (0.8 * face.unit) + 0.5, 0, 1)
    top, bottom = any_colour(rng) * 0.25, any_colour(rng) * rng.choice([0.2, 0.4])
    if rng.random() < 0.2:
        top, bottom = np.sqrt(any_colour(rng)), any_colour(rng)
    surface = top + grade[..., None] * (bottom - top)
    shine = np.clip(noise(rng, face, rng.uniform(0.1, 0.4)) - 1.2, 0, 1) * rng.uniform(0, 0.6)
    surface = np.clip(surface + shine[..., None], 0, 1) * np.ones_like(face.rgb)
    rim = lit(rng, face, np.broadcast_to(any_colour(rng) * 0.5, face.rgb.shape))
    see = rng.uniform(0.82, 1.0) * lenses
    surface = surface + frame[..., None] * (rim - surface)
    return Layer(np.maximum(see, frame), surface)


def hand(rng: Random, face: Face) -> Layer:
    """A hand in front of the mouth, of an eye or of half of the face, in the face's own skin."""
    return hand_at(rng, face, target=_target(rng, face), size=rng.uniform(1.2, 2.1))


def phone(rng: Random, face: Face) -> Layer:
    """A phone or a camera held in front of the face, often with fingers around it."""
    half = (rng.uniform(0.4, 0.75), rng.uniform(0.8, 1.4))
    target = _target(rng, face)
    turn = rng.normal(0, 0.3) + (np.pi / 2 if rng.random() < 0.3 else 0)
    alpha = fill(face, face.at(*(rounded(rng, half, rng.uniform(8, 20), turn) + target)))
    surface = np.broadcast_to(any_colour(rng) * rng.choice([0.3, 1.0]), face.rgb.shape)
    surface = surface * (1 + 0.05 * noise(rng, face, 0.5)[..., None])
    for _ in range(int(rng.integers(0, 4))):
        place = target + rng.uniform(-0.6, 0.6, 2) * np.array(half)
        disc = fill(face, face.at(*(rounded(rng, (0.09, 0.09), 2) + place)))
        surface = surface + disc[..., None] * (rng.uniform(0, 0.3) - surface)
    layer = Layer(alpha, lit(rng, face, surface.astype(np.float32)))
    if rng.random() < 0.6:
        side = rng.choice([-1.0, 1.0])
        held = (target[0] + side * half[0] * 1.2, target[1] + rng.uniform(-0.3, 0.6))
        layer = layer.under(hand_at(rng, face, target=held, size=1.1))
    return layer


def cup(rng: Random, face: Face) -> Layer:
    """A cup, a glass or a bottle at the mouth."""
    mouth = face.down(0)
    top, wide, high = mouth + rng.uniform(-0.35, 0.0), rng.uniform(0.32, 0.7), rng.uniform(0.8, 1.6)
    centre, narrow = rng.normal(0, 0.06), rng.uniform(0.6, 1.0)
    corners = [(centre - wide, top), (centre + wide, top)]
    corners += [(centre + wide * narrow, top + high), (centre - wide * narrow, top + high)]
    rim = rounded(rng, (wide, 0.25 * wide), 2) + np.array([centre, top])
    alpha = np.maximum(fill(face, face.at(*corners)), fill(face, face.at(*rim)))
    surface = cloth(rng, face)
    sides = np.abs(np.arange(face.rgb.shape[1]) - face.at((centre, top))[0, 0]) / (wide * face.unit)
    surface = surface * np.clip(1.1 - 0.4 * sides**2, 0.4, 1.1)[None, :, None]
    inside = fill(face, face.at(*(rim * (0.9, 1) + np.array([0.1 * centre, 0]))))
    surface = surface * (1 - rng.uniform(0, 0.5) * inside[..., None])
    layer = Layer(alpha, lit(rng, face, surface.astype(np.float32)))
    if rng.random() < 0.6:
        side = float(rng.choice([-1, 1]))
        layer = layer.under(hand_at(rng, face, (centre + side * wide, top + 0.5 * high), 1.1))
    return layer


def scarf(rng: Random, face: Face) -> Layer:
    """A scarf, collar or bandana drawn up over mouth or nose."""
    return wrapped_cloth(rng, face, level=rng.uniform(face.down(195), face.down(2)))


def veil(rng: Random, face: Face) -> Layer:
    """Cloth around the head and over the face that leaves the eyes free."""
    around = headscarf(rng, face)
    over = wrapped_cloth(rng, face, level=rng.uniform(face.down(197), face.down(4)))
    return around.under(Layer(over.alpha, around.rgb))


def microphone(rng: Random, face: Face) -> Layer:
    """A microphone or a horn so near that it hides the mouth."""
    return microphone_at(rng, face, face.down(13) + rng.uniform(-0.1, 0.15), (0.32, 0.6))


def hair(rng: Random, face: Face) -> Layer:
    """Hair over half of the face or over both eyes."""
    low = face.down(152)
    side = float(rng.choice([-1, 1]))
    if rng.random() < 0.5:
        roots, fall = rng.uniform(-0.1, 1.3, 420) * side, rng.uniform(0.9, 1.6, 420) * low
    else:
        roots, fall = rng.uniform(-1.2, 1.2, 480), rng.uniform(0.25, 0.6, 480)
    colour = face.colour(10) * 0.4 if rng.random() < 0.4 else hair_colour(rng)
    alpha = np.zeros(face.rgb.shape[:2], np.float32)
    surface = np.broadcast_to(colour, face.rgb.shape).astype(np.float32).copy()
    bend = rng.normal(0, 0.15)
    for root, reach in zip(roots, fall, strict=True):
        sway = rng.normal(bend, 0.07)
        places = face.at(
            (root, -rng.uniform(1.3, 2.1)),
            (root + sway, -0.6),
            (root + 1.4 * sway, 0.5 * reach),
            (root + sway, reach),
        )
        strand = np.round(smooth_curve(places, 14) * 16).astype(np.int32)
        thick = max(1, round(rng.uniform(0.02, 0.06) * face.unit))
        brush = {"thickness": thick, "lineType": cv2.LINE_AA, "shift": 4}
        cv2.polylines(alpha, [strand], isClosed=False, color=1.0, **brush)
        shade = np.clip(colour * rng.uniform(0.6, 1.5), 0, 1)
        cv2.polylines(surface, [strand], isClosed=False, color=shade.tolist(), **brush)
    return Layer(blurred(alpha, 0.01 * face.unit), lit(rng, face, surface))


def thing(rng: Random, face: Face) -> Layer:
    """Anything else: a sheet of paper, a book, a ball, a balloon, a bar or a sticker."""
    half = np.sort(rng.uniform(0.35, 1.3, 2))[:: int(rng.choice([-1, 1]))]
    shape = rounded(rng, (half[0], half[1]), rng.choice([2.0, 4.0, 20.0]), rng.uniform(0, np.pi))
    alpha = fill(face, face.at(*(shape + np.array(_target(rng, face)))))
    return Layer(alpha, lit(rng, face, cloth(rng, face)))


COVERS: Mapping[str, Painter] = {
    "mask": mask,
    "dark glasses": dark_glasses,
    "hand": hand,
    "phone": phone,
    "cup": cup,
    "scarf": scarf,
    "veil": veil,
    "microphone": microphone,
    "hair": hair,
    "thing": thing,
}


def _target(rng: Random, face: Face) -> tuple[float, float]:
    """Where a thing in front of the face is held."""
    mouth, low = face.down(13), face.down(152)
    side = float(rng.choice([-1, 1]))
    places = [
        (0.0, mouth),
        (0.0, 0.5 * mouth),
        (side * 0.45, 0.3 * mouth),
        (side * 0.2, 0.0),
        (0.0, low),
    ]
    u, v = places[int(rng.choice(5, p=[0.4, 0.25, 0.15, 0.15, 0.05]))]
    return u + float(rng.normal(0, 0.08)), v + float(rng.normal(0, 0.08))
