"""The arrays that pass between the modules of this package, grow, and are multiplied."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
"""Samples, full scale at -1.0 and 1.0, of shape (samples,) or (channels, samples); or what was
worked out of them."""

RATE_HZ = 16_000
"""Of the mono signal that networks, mel bands and cepstra are worked out of."""

Number = TypeVar("Number", bound=np.generic)

_FIRST = 1 << 16
"""Values that a block holds at first; it doubles when it is full."""


class GrowingArray(Generic[Number]):
    """Rows of ``width`` values of one type that are appended piece by piece.

    They stand in one block of memory. A list of small arrays would lie between the large blocks
    that each second of sound passes through, and the allocator could not give those back: an hour
    then takes a gigabyte for what is twenty megabytes of numbers.
    """

    def __init__(self, dtype: type[Number], width: int = 1) -> None:
        self._width = width
        self._block: NDArray[Number] = np.empty((max(1, _FIRST // width), width), dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, rows: NDArray[Any]) -> None:
        """Add values, or rows of shape ``(n, width)``."""
        shaped = rows.reshape(-1, self._width)
        needed = self._count + len(shaped)
        if needed > len(self._block):
            larger = np.empty((max(needed, 2 * len(self._block)), self._width), self._block.dtype)
            larger[: self._count] = self._block[: self._count]
            self._block = larger
        self._block[self._count : needed] = shaped
        self._count = needed

    def rows(self) -> NDArray[Number]:
        """Everything so far, shape ``(n, width)``: a view."""
        return self._block[: self._count]

    def values(self) -> NDArray[Number]:
        """Everything so far in one row: a view."""
        return self.rows().reshape(-1)


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
