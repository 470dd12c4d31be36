from __future__ import annotations

import numpy as np
import pytest

from palprep.vision.cielab import lab_to_linear, linear_to_lab, to_linear
from palprep.vision.quality import pixels_to_lab


def test_pixels_are_converted_as_single_colours_are() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (6, 5, 3), np.uint8)
    lab = pixels_to_lab(rgb)
    assert lab.shape == rgb.shape
    for pixel, found in zip(rgb.reshape(-1, 3).tolist(), lab.reshape(-1, 3), strict=True):
        assert found == pytest.approx(linear_to_lab(to_linear(tuple(pixel))), abs=0.01)


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
    assert lab_to_linear(linear_to_lab(to_linear(rgb))) == pytest.approx(to_linear(rgb), abs=1e-4)
