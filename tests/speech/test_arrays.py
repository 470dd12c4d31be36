"""Arrays that grow are kept in order, and a product in pieces is the product."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.speech.arrays import GrowingArray, product


def test_what_is_appended_is_kept_in_order_however_often_the_block_grows():
    kept = GrowingArray(np.float32)
    pieces = [np.arange(at, at + 70_000, dtype=np.float32) for at in (0, 70_000, 140_000)]
    for piece in pieces:
        kept.append(piece)
    assert len(kept) == 210_000
    assert kept.values().dtype == np.float32
    np.testing.assert_array_equal(kept.values(), np.concatenate(pieces))


def test_rows_keep_their_width():
    kept = GrowingArray(np.float64, 3)
    assert kept.rows().shape == (0, 3)
    kept.append(np.ones((2, 3)))
    kept.append(np.zeros(3))
    assert kept.rows().dtype == np.float64
    assert kept.rows().tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 0]]


def test_nothing_kept_is_empty():
    assert GrowingArray(np.float32).values().shape == (0,)


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
