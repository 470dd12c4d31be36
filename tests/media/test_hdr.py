"""PQ and HLG in sRGB: the standards' own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.media.images.light import HLG, PQ, as_srgb

BT2020, BT709 = 9, 1


def grey(code: float) -> np.ndarray:
    """A small picture of a grey, by its code from 0 to 1."""
    return np.full((4, 6, 3), round(code * 65535), np.uint16)


@pytest.mark.parametrize(
    ("transfer", "code", "level"),
    [
        # BT.2408 table 1: diffuse white, 203 cd/m2, is at 58 % of PQ and at 75 % of HLG.
        (PQ, 0.58, 255), (HLG, 0.75, 255), (PQ, 0.0, 0), (HLG, 0.0, 0), (PQ, 1.0, 255),
        # An 18 % grey card is at 26 cd/m2, which is 38 % of both; sRGB codes 13 % of light so.
        (PQ, 0.38, 102), (HLG, 0.38, 102),
    ],
)  # fmt: skip
def test_greys_are_where_the_standard_puts_them(transfer, code, level):
    shown = as_srgb(grey(code), transfer, BT2020)
    assert shown.shape == (4, 6, 3)
    assert shown.dtype == np.uint8
    assert np.abs(shown.astype(int) - level).max() <= 3


def test_colours_come_from_wide_primaries():
    orange = grey(0.0)
    orange[...] = np.array([0.5, 0.4, 0.3]) * 65535
    wide, narrow = (as_srgb(orange, PQ, primaries)[0, 0].astype(int) for primaries in (9, 1))
    assert wide[0] > narrow[0]
    assert wide[2] < narrow[2]


def test_what_is_brighter_than_white_keeps_its_hue():
    bright = grey(0.0)
    bright[...] = np.array([0.8, 0.7, 0.6]) * 65535
    red, green, blue = as_srgb(bright, PQ, BT709)[0, 0].astype(int)
    assert red == 255
    assert red > green + 20
    assert green > blue + 20
