"""Linear light of whole pictures, and from it sRGB (IEC 61966-2-1).

Pictures in PQ and HLG (ITU-R BT.2100) become what a viewer without HDR shows. Diffuse white,
203 cd/m2 (ITU-R BT.2408), becomes white; what is brighter keeps its hue. FFmpeg's scaler does the
same by a table of all colours, whose making takes two seconds for each frame.
"""

from __future__ import annotations

import functools
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""A picture in 8 bits: (height, width) for luma, (height, width, 3) for RGB."""

_CODES = np.arange(256) / 255
LINEAR: Final[NDArray[np.float32]] = np.where(
    _CODES <= 0.04045, _CODES / 12.92, ((_CODES + 0.055) / 1.055) ** 2.4
).astype(np.float32)
"""Linear light, 0 to 1, of each 8-bit sRGB value; shape (256,)."""

_STEPS = 65_536
"""Steps of linear light on the way back to sRGB: under a tenth of an 8-bit step at black."""


def to_srgb(linear: NDArray[np.float32]) -> Pixels:
    """8-bit sRGB of linear light of any shape; clipped to 0 and 1."""
    steps = (np.clip(linear, 0, 1) * (_STEPS - 1) + 0.5).astype(np.uint16)
    return np.asarray(np.take(_levels(), steps))


@functools.cache
def _levels() -> Pixels:
    """The 8-bit value of each step, worked out when first needed."""
    light = np.arange(_STEPS) / (_STEPS - 1)
    codes = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(codes * 255), np.uint8)


PQ, HLG = 16, 18
"""Transfer characteristics of ITU-T H.273 table 3."""

_WHITE_CDM2, _PQ_CDM2, _HLG_CDM2 = 203.0, 10_000.0, 1_000.0
"""Diffuse white, what PQ codes at most, and the display on which HLG is looked at."""

_LUMINANCE = np.array([[0.2627, 0.6780, 0.0593]], np.float32)
_GAMMA = 1.2
"""The system gamma, from the scene to that display (BT.2100 table 5)."""

_CODE_BITS = 12
_HDR_CODES = np.arange(1 << _CODE_BITS) / ((1 << _CODE_BITS) - 1)
_BT709 = 1
"""Primaries of H.273 table 2."""
_BT2020_TO_BT709 = np.array(
    [
        [1.660491, -0.587641, -0.072850],
        [-0.124550, 1.132900, -0.008349],
        [-0.018151, -0.100579, 1.118730],
    ],
    np.float32,
)
"""Linear light (ITU-R BT.2087). Files that do not name their primaries are in these, too."""


def as_srgb(pixels: NDArray[np.uint16], transfer: int, primaries: int) -> Pixels:
    """``pixels`` (height, width, 3), full range, 0 to 65535, red first, as 8-bit sRGB.

    ``transfer`` is :data:`PQ` or :data:`HLG`; ``primaries`` as in ITU-T H.273 table 2.
    """
    table = _pq_light() if transfer == PQ else _hlg_light()
    light: NDArray[np.float32] = np.take(table, pixels >> (16 - _CODE_BITS))
    if transfer == HLG:
        scene = cv2.transform(light, _LUMINANCE)
        gain = np.power(scene, _GAMMA - 1) * np.float32(_HLG_CDM2 / _WHITE_CDM2)
        light *= gain.reshape(*light.shape[:2], 1)
    seen = light
    if primaries != _BT709:
        seen = np.asarray(cv2.transform(light, _BT2020_TO_BT709), np.float32)
    red, green, blue = seen[..., 0], seen[..., 1], seen[..., 2]
    brightest = np.maximum(np.maximum(red, green), blue)
    seen /= np.maximum(brightest, 1.0)[..., None]
    return to_srgb(seen)


def _pq_light() -> NDArray[np.float32]:
    """Light of each code, diffuse white at 1 (BT.2100 table 4)."""
    m1, m2 = 2610 / 16384, 2523 / 4096 * 128
    c1, c2, c3 = 3424 / 4096, 2413 / 4096 * 32, 2392 / 4096 * 32
    root = _HDR_CODES ** (1 / m2)
    light = (np.maximum(root - c1, 0.0) / (c2 - c3 * root)) ** (1 / m1)
    return (light * (_PQ_CDM2 / _WHITE_CDM2)).astype(np.float32)


def _hlg_light() -> NDArray[np.float32]:
    """Light of the scene of each code, 0 to 1 (BT.2100 table 5)."""
    a, b, c = 0.17883277, 0.28466892, 0.55991073
    codes = _HDR_CODES
    light = np.where(codes <= 0.5, codes**2 / 3, (np.exp((codes - c) / a) + b) / 12)
    return light.astype(np.float32)
