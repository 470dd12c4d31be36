"""Numbers kept of a long stream, in one block of memory.

Kept as a list of small arrays, they would lie between the large blocks that each second of
sound passes through, and the allocator could not give those back: an hour then takes a
gigabyte for what is twenty megabytes of numbers.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)

_FIRST = 1 << 16
"""Values that a block holds at first; it doubles when it is full."""


class GrowingArray(Generic[Number]):
    """Rows of ``width`` values of one type that are appended piece by piece."""

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
