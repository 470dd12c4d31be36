"""Painting on faces: places, outlines, cloth and light.

A painter takes a random generator and a :class:`Face` and returns a :class:`Layer`. Places are
in face units: the origin is between the eyes, u runs along the line of the eyes to the picture's
right, v down the face; 1 is the distance between the eyes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from palprep.vision import Floats
from palprep.vision.landmarks import FACE_OVAL

Array = Floats
Random = np.random.Generator

RIGHT_EYE = (33, 160, 158, 133, 153, 144)
LEFT_EYE = (362, 385, 387, 263, 373, 380)
NOSE = (6, 129, 98, 2, 327, 358)
MOUTH = (61, 39, 0, 269, 291, 405, 17, 181)
JAW = (
    *(234, 93, 132, 58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397),
    *(288, 361, 323, 454),
)
"""From ear to ear around the chin, by the points of the face mesh."""


@dataclass(frozen=True)
class Face:
    """A bare face: ``rgb`` height x width x 3, 0 to 1, and its 478 ``points``, n x 2."""

    rgb: Array
    points: Array

    @property
    def middles(self) -> Array:
        """Of the eyes, 2 x 2, the picture's left first."""
        return np.stack([self.points[list(eye)].mean(0) for eye in (RIGHT_EYE, LEFT_EYE)])

    @property
    def unit(self) -> float:
        """Pixels between the eyes."""
        return float(np.hypot(*(self.middles[1] - self.middles[0])))

    def at(self, *places: tuple[float, float]) -> Array:
        """Pixels of places in face units, n x 2."""
        across = self.middles[1] - self.middles[0]
        down = np.array([-across[1], across[0]], np.float32)
        offsets = np.array(places, np.float32)
        return np.asarray(self.middles.mean(0) + offsets[:, :1] * across + offsets[:, 1:] * down)

    def down(self, index: int) -> float:
        """How far down the face a point of the mesh stands, in face units."""
        across = self.middles[1] - self.middles[0]
        down = np.array([-across[1], across[0]]) / self.unit**2
        return float((self.points[index] - self.middles.mean(0)) @ down)

    def colour(self, *indices: int) -> Array:
        """Median colour around points of the mesh."""
        height, width = self.rgb.shape[:2]
        reach = max(1, round(0.06 * self.unit))
        patches = []
        for x, y in self.points[list(indices)]:
            column, row = int(np.clip(x, 0, width - 1)), int(np.clip(y, 0, height - 1))
            patch = self.rgb[
                max(0, row - reach) : row + reach, max(0, column - reach) : column + reach
            ]
            patches.append(patch.reshape(-1, 3))
        return np.asarray(np.median(np.concatenate(patches), axis=0), np.float32)

    def regions(self) -> dict[str, NDArray[np.bool_]]:
        """The parts of the face that a cover can hide, each as a mask of the picture."""
        eyes = self._filled(RIGHT_EYE, 0.18) | self._filled(LEFT_EYE, 0.18)
        return {"eyes": eyes, "nose": self._filled(NOSE, 0.0), "mouth": self._filled(MOUTH, 0.08)}

    def _filled(self, indices: Sequence[int], margin: float) -> NDArray[np.bool_]:
        outline = self.points[list(indices)]
        middle = outline.mean(0)
        away = outline - middle
        reach = np.maximum(np.hypot(*away.T)[:, None], 1e-6)
        return fill(self, middle + away * (1 + margin * self.unit / reach), soft=0.0) > 0.5


@dataclass(frozen=True)
class Layer:
    """What is laid over a face: ``alpha`` height x width and ``rgb`` height x width x 3."""

    alpha: Array
    rgb: Array

    def under(self, above: Layer) -> Layer:
        """Both as one."""
        rgb = self.rgb + above.alpha[..., None] * (above.rgb - self.rgb)
        return Layer(np.maximum(self.alpha, above.alpha), np.asarray(rgb, np.float32))

    def over(self, rgb: Array) -> Array:
        """The picture with the layer on top."""
        return np.asarray(rgb + self.alpha[..., None] * (self.rgb - rgb), np.float32)


Painter = Callable[[Random, Face], Layer]


def painted(face: Face, layer: Layer) -> tuple[Array, dict[str, float]]:
    """The face under a layer, and how much of each region the layer hides, 0 to 1."""
    shares = {
        name: float(layer.alpha[region].mean()) if region.any() else 0.0
        for name, region in face.regions().items()
    }
    return np.clip(layer.over(face.rgb), 0, 1), shares


def fill(face: Face, outline: Array, soft: float = 0.015) -> Array:
    """A filled outline as alpha, its edge blurred by ``soft`` face units."""
    alpha = np.zeros(face.rgb.shape[:2], np.float32)
    corners = np.round(np.asarray(outline) * 16).astype(np.int32)
    cv2.fillPoly(alpha, [corners], 1.0, lineType=cv2.LINE_AA, shift=4)
    return blurred(alpha, soft * face.unit)


def line(face: Face, places: Array, width: float, soft: float = 0.01) -> Array:
    """A line through pixels as alpha; ``width`` in face units."""
    alpha = np.zeros(face.rgb.shape[:2], np.float32)
    corners = np.round(np.asarray(places) * 16).astype(np.int32)
    thick = max(1, round(width * face.unit))
    cv2.polylines(
        alpha, [corners], isClosed=False, color=1.0, thickness=thick, lineType=cv2.LINE_AA, shift=4
    )
    return blurred(alpha, soft * face.unit)


def blurred(values: Array, sigma: float) -> Array:
    """Blurred by ``sigma`` pixels, as it is below a fifth of one."""
    return (
        values if sigma < 0.2 else np.asarray(cv2.GaussianBlur(values, (0, 0), sigma), np.float32)
    )


def smooth_curve(places: Array, count: int = 60) -> Array:
    """A curve through the corners of an open line (Catmull and Rom 1974)."""
    padded = np.concatenate([places[:1], places, places[-1:]])
    steps = np.linspace(0, len(places) - 1 - 1e-6, count)
    index, t = steps.astype(int), (steps % 1)[:, None]
    a, b, c, d = (padded[index + shift] for shift in range(4))
    curve = 0.5 * (
        2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3
    )
    return np.asarray(curve)


def rounded(rng: Random, half: tuple[float, float], power: float, turn: float = 0.0) -> Array:
    """A superellipse around the origin, in face units, turned by ``turn`` radians."""
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    cosine, sine = np.cos(angles), np.sin(angles)
    shape = np.stack(
        [
            half[0] * np.sign(cosine) * np.abs(cosine) ** (2 / power),
            half[1] * np.sign(sine) * np.abs(sine) ** (2 / power),
        ],
        axis=1,
    )
    shape += rng.normal(0, 0.004, shape.shape)
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.asarray(shape @ turned.T, np.float32)


def noise(rng: Random, face: Face, grain: float) -> Array:
    """Random blobs of ``grain`` face units, no mean, spread 1."""
    height, width = face.rgb.shape[:2]
    sigma = max(0.5, grain * face.unit)
    shrink = max(1, int(sigma / 2))
    small = rng.normal(size=(height // shrink + 2, width // shrink + 2)).astype(np.float32)
    small = blurred(small, sigma / shrink)
    values = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray((values - values.mean()) / (values.std() + 1e-6), np.float32)


def any_colour(rng: Random) -> Array:
    """Cloth and plastic: often black, white, grey or muted, sometimes vivid."""
    level = rng.uniform(0.03, 0.95)
    tint = rng.normal(0, 1, 3) * rng.choice([0.02, 0.08, 0.25])
    return np.asarray(np.clip(level + tint, 0.02, 0.98), np.float32)


def cloth(rng: Random, face: Face, colour: Array | None = None) -> Array:
    """A textured surface as large as the picture: plain, striped, checked, dotted, knit or
    with blotches."""
    base = any_colour(rng) if colour is None else colour
    height, width = face.rgb.shape[:2]
    rows, columns = np.mgrid[:height, :width].astype(np.float32) / face.unit
    turn = rng.uniform(0, np.pi)
    along = columns * np.cos(turn) + rows * np.sin(turn)
    across = rows * np.cos(turn) - columns * np.sin(turn)
    period = rng.uniform(0.05, 0.4)
    wave, other = np.sin(2 * np.pi * along / period), np.sin(2 * np.pi * across / period)
    pattern = {
        "plain": np.zeros_like(along),
        "stripes": wave > rng.uniform(-0.5, 0.5),
        "checks": ((wave > 0) + (other > 0)) / 2,
        "dots": wave * other > 0.5,
        "knit": 0.5 + 0.5 * wave * np.cos(2 * np.pi * across / period / 2),
        "blotches": noise(rng, face, period) > rng.uniform(-0.5, 1),
    }[str(rng.choice(["plain", "plain", "plain", "stripes", "checks", "dots", "knit", "blotches"]))]
    second = any_colour(rng) if rng.random() < 0.5 else base * rng.uniform(0.6, 1.3)
    mixed = base + np.asarray(pattern, np.float32)[..., None] * (second - base)
    weave = 1 + 0.02 * noise(rng, face, 0.01)[..., None] + 0.06 * noise(rng, face, 0.3)[..., None]
    return np.asarray(np.clip(mixed * weave, 0, 1), np.float32)


def lit(rng: Random, face: Face, surface: Array) -> Array:
    """The surface in the light of the picture: dim where the face is, brighter on one side."""
    luma = np.asarray(face.rgb.mean(2), np.float32)
    light = blurred(luma, 0.6 * face.unit)
    at_face = float(np.median(luma[fill(face, face.points[list(FACE_OVAL)]) > 0.5]) + 0.05)
    shade = np.clip(light / at_face, 0.5, 1.4) ** rng.uniform(0.2, 1.0)
    exposure = np.clip(at_face / 0.5, 0.3, 1.3) ** rng.uniform(0.4, 1.0)
    return np.asarray(np.clip(surface * (shade * exposure)[..., None], 0, 1), np.float32)


def wrinkled(rng: Random, face: Face, surface: Array, curves: Sequence[Array]) -> Array:
    """Folds: a dark line with a bright one next to it along each curve, in pixels."""
    shaded = surface
    for curve in curves:
        depth, width = rng.uniform(0.08, 0.35), rng.uniform(0.015, 0.05)
        dark = line(face, curve, width, soft=rng.uniform(0.01, 0.05))
        bright = line(face, curve + np.array([0, width * face.unit]), width, soft=0.03)
        shaded = shaded * (1 - depth * dark[..., None]) + 0.3 * depth * bright[..., None]
    return np.clip(shaded, 0, 1)
