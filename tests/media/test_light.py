"""Linear light and sRGB."""

from __future__ import annotations

import numpy as np

from palprep.media.images import LINEAR, to_srgb


def test_every_8_bit_value_survives_linear_light_and_back():
    assert np.array_equal(to_srgb(LINEAR), np.arange(256))
    assert np.array_equal(to_srgb(np.float32([-1.0, 2.0])), [0, 255])
