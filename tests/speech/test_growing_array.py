"""Numbers kept of a stream."""

from __future__ import annotations

import numpy as np

from palprep.speech.growing_array import GrowingArray


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
