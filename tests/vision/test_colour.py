from __future__ import annotations

import math

import numpy as np
import pytest

from palprep.media.images import LINEAR, to_srgb
from palprep.vision.quality import gains_to_natural_hue, pixels_to_lab


@pytest.mark.parametrize(
    ("rgb", "lab"),
    [
        ((255, 255, 255), (100.0, 0.0, 0.0)),
        ((0, 0, 0), (0.0, 0.0, 0.0)),
        ((255, 0, 0), (53.24, 80.09, 67.20)),
        ((0, 0, 255), (32.30, 79.19, -107.86)),
    ],
)
def test_primaries_have_their_known_values(
    rgb: tuple[int, int, int], lab: tuple[float, ...]
) -> None:
    found = pixels_to_lab(np.array([[rgb]], np.uint8))[0, 0]
    assert found == pytest.approx(lab, abs=0.02)


@pytest.mark.parametrize(
    ("rgb", "hue_deg"),
    [
        *(((200, 150, 170), 25.0), ((120, 60, 70), 25.0)),
        *(((150, 160, 120), 85.0), ((7, 8, 5), 85.0), ((130, 150, 150), 85.0)),
    ],
)
def test_gains_reach_the_nearest_natural_hue_and_keep_lightness_and_chroma(
    rgb: tuple[int, int, int], hue_deg: float
) -> None:
    lightness, across, along = pixels_to_lab(np.array([[rgb]], np.uint8))[0, 0]
    chroma = math.hypot(across, along)
    gains = gains_to_natural_hue(np.array(rgb, np.uint8))
    assert gains is not None
    turned = to_srgb(LINEAR[list(rgb)] * np.array(gains, np.float32))
    found = pixels_to_lab(turned[None, None])[0, 0]
    assert found[0] == pytest.approx(lightness, abs=0.5)
    assert math.hypot(found[1], found[2]) == pytest.approx(chroma, abs=1)
    assert math.degrees(math.atan2(found[2], found[1])) == pytest.approx(hue_deg, abs=60 / chroma)


def test_no_gain_turns_the_hue_of_pure_blue() -> None:
    assert gains_to_natural_hue(np.array([0, 0, 255], np.uint8)) is None
