"""Products of small matrices in one thread."""

from __future__ import annotations

import numpy as np

from palprep.speech.arrays import Floats

_ALONE = 2**18
"""OpenBLAS calls in its threads for more multiplications than this (interface/gemm.c)."""


def product(rows: Floats, matrix: Floats) -> Floats:
    """``rows @ matrix``, in pieces that are too small for OpenBLAS to share out.

    Its threads wait for each other and for more work by spinning. With matrices of a few
    hundred columns that costs as much processor time again as the product, and ten times that
    where other programs want the processor as well.
    """
    count = max(1, _ALONE // matrix.size)
    whole = len(rows) // count * count
    result = np.empty((len(rows), matrix.shape[1]), np.float32)
    pieces = rows[:whole].reshape(-1, count, rows.shape[1])
    np.matmul(pieces, matrix, out=result[:whole].reshape(-1, count, matrix.shape[1]))
    np.matmul(rows[whole:], matrix, out=result[whole:])
    return result
