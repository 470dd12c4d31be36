"""Light, sharpness, noise and colour, measured on the face."""

from __future__ import annotations

import cv2
import numpy as np

from palprep.vision.arrays import Floats, Mask, Pixels, resized, shrunk
from palprep.vision.facts import Box, Quality
from palprep.vision.landmarks import Landmarks
from palprep.vision.mesh import FACE_OVAL

FACE_HEIGHT = 192
"""Sharpness is measured on faces shrunk to this height in pixels, so that resolution does not
count. Smaller faces are taken as they are, never enlarged."""

LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)
"""ITU-R BT.709."""


def measure_quality(rgb: Pixels, face: Landmarks, box: Box, scale: float) -> Quality:
    """``scale`` is full-size pixels per pixel of ``rgb``."""
    cut, inside = _cut_face(rgb, face, box)
    pixels = cut[inside]
    luma = np.asarray(cut, np.float32) @ LUMA / 255
    low, median, high = np.percentile(luma[inside], (5, 50, 95))
    lab = _lab(np.median(pixels, axis=0).astype(np.uint8).reshape(1, 1, 3))[0, 0]
    return Quality(
        face_px=box.height * scale,
        sharpness=_sharpness(rgb, box),
        brightness=float(median),
        clipped_highlights=float((pixels.min(axis=1) >= 250).mean()),
        clipped_shadows=float((pixels.max(axis=1) <= 5).mean()),
        evenness=_evenness(luma, inside),
        contrast=float(high - low),
        noise=_noise(rgb),
        skin_hue_deg=float(np.degrees(np.arctan2(lab[2], lab[1])) % 360),
        skin_chroma=float(np.hypot(lab[1], lab[2])),
        chroma=_chroma(rgb),
        blocking=_blocking(rgb) if scale == 1 else 1.0,
    )


def _cut_face(rgb: Pixels, face: Landmarks, box: Box) -> tuple[Pixels, Mask]:
    height, width = rgb.shape[:2]
    left, top = int(np.clip(box.x, 0, width - 2)), int(np.clip(box.y, 0, height - 2))
    right = int(np.clip(box.x + box.width, left + 2, width))
    bottom = int(np.clip(box.y + box.height, top + 2, height))
    cut = rgb[top:bottom, left:right]
    inside = np.zeros(cut.shape[:2], np.uint8)
    outline = face.at(*FACE_OVAL) - np.array([left, top])
    cv2.fillConvexPoly(inside, cv2.convexHull(outline.astype(np.int32)), 1)
    if not inside.any():
        inside[:] = 1
    return cut, inside.astype(bool)


def _sharpness(rgb: Pixels, box: Box) -> float:
    """Share of the variation between neighbours that a blur over nine pixels removes."""
    height, width = rgb.shape[:2]
    left, top = int(max(0, box.x)), int(max(0, box.y))
    cut = rgb[top : int(min(height, box.y + box.height)), left : int(min(width, box.x + box.width))]
    if min(cut.shape[:2]) < 16:
        return 0.0
    shrink = FACE_HEIGHT / box.height
    if shrink < 1:
        cut = shrunk(cut, shrink)
    gray = np.asarray(cut, np.float32) @ LUMA
    kept = []
    for axis in (0, 1):
        size = (1, 9) if axis == 0 else (9, 1)
        steps = np.abs(np.diff(gray, axis=axis))
        blurred = np.abs(np.diff(cv2.blur(gray, size), axis=axis))
        kept.append(np.maximum(0, steps - blurred).sum() / max(float(steps.sum()), 1e-6))
    return float(min(kept))


def _evenness(luma: Floats, inside: Mask) -> float:
    linear = luma**2.2
    middle = luma.shape[1] // 2
    halves = [
        float(np.median(part[mask])) if mask.any() else 0.0
        for part, mask in (
            (linear[:, :middle], inside[:, :middle]),
            (linear[:, middle:], inside[:, middle:]),
        )
    ]
    return min(halves) / max(*halves, 1e-6)


def _noise(rgb: Pixels) -> float:
    """Immerkaer's estimate, by the median rather than the mean so that edges do not count."""
    gray = np.asarray(rgb, np.float32) @ LUMA
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    response = np.abs(cv2.filter2D(gray, cv2.CV_32F, kernel))[1:-1, 1:-1]
    return float(np.median(response) / 0.6745 / 6)


def _lab(rgb: Pixels) -> Floats:
    return np.asarray(cv2.cvtColor(rgb.astype(np.float32) / 255, cv2.COLOR_RGB2Lab), np.float32)


def _chroma(rgb: Pixels) -> float:
    lab = _lab(resized(rgb, 64, 64))
    return float(np.hypot(lab[..., 1], lab[..., 2]).mean())


def _blocking(rgb: Pixels) -> float:
    """Only where the JPEG grid is known: at full size and from the first pixel on."""
    gray = np.asarray(rgb, np.float32) @ LUMA
    ratios = []
    for axis in (0, 1):
        steps = np.abs(np.diff(gray, axis=axis)).mean(axis=1 - axis)
        at_border = np.arange(len(steps)) % 8 == 7
        if at_border.any() and (~at_border).any():
            ratios.append(steps[at_border].mean() / max(float(steps[~at_border].mean()), 1e-6))
    return float(np.mean(ratios)) if ratios else 1.0
