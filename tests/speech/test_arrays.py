"""A product in pieces is the product."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.speech.arrays import product


@pytest.mark.parametrize("rows", [0, 1, 31, 32, 33, 100])
@pytest.mark.parametrize(("inner", "columns"), [(201, 40), (700, 500)])
def test_any_number_of_rows(rows, inner, columns):
    random = np.random.default_rng(rows)
    left = random.standard_normal((rows, inner)).astype(np.float32)
    right = random.standard_normal((inner, columns)).astype(np.float32)
    found = product(left, right)
    assert found.dtype == np.float32
    assert found.shape == (rows, columns)
    assert np.allclose(found, left.astype(np.float64) @ right, atol=1e-3)
