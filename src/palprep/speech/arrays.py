"""The arrays that pass between the modules of this package, how they come out of a file, and how
they are multiplied.

What a meter keeps of each second stands in one ``array`` that grows. A list of small arrays would
lie between the large blocks that each second of sound passes through, and the allocator could not
give those back: an hour then takes a gigabyte for what is twenty megabytes of numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palprep.media.sound import Sink, probe_audio
from palprep.media.sources import Source

Floats = NDArray[np.float32]
"""Samples, full scale at 1.0, shape (samples,) or (channels, samples); or derived from them."""

RATE_HZ = 16_000
"""Sample rate of the mono signal that networks and mel bands take."""


def runs_of(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The runs of true values: where each begins, and the first place after it."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


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


_CANCELS = -0.5
"""Correlation of two channels below which one is inverted."""


def mix_down(block: Floats) -> Floats:
    """One channel from two, without letting inverted channels cancel."""
    if block.shape[0] == 1:
        return np.asarray(block[0], np.float32)
    left, right = block[0], block[1]
    scale = float(np.sqrt(np.dot(left, left) * np.dot(right, right)))
    inverted = scale > 0 and float(np.dot(left, right)) / scale < _CANCELS
    return np.asarray((left - right if inverted else left + right) / 2, np.float32)


class Mono:
    """Sound that is kept while it is decoded, ``most_s`` seconds at the most: mono at 16 kHz."""

    def __init__(self, most_s: float) -> None:
        self._most = int(most_s * RATE_HZ)
        self.sink = Sink(self._push, RATE_HZ, 2)
        """Takes the samples of a decode."""
        self.samples: Floats = np.zeros(0, np.float32)
        """What was kept, shape (samples,)."""

    def _push(self, block: Floats) -> None:
        if len(self.samples) < self._most:
            # A mean would cancel words in opposite phase, which each channel plays.
            self.samples = np.concatenate([self.samples, mix_down(block)])[: self._most]


def mono_of(source: Source, most_s: float) -> Floats:
    """The first ``most_s`` seconds of a file's sound, mono at 16 kHz. Raises MediaError."""
    kept = Mono(most_s)
    probe_audio(source, sinks=lambda _: (kept.sink,), most_s=most_s)
    return kept.samples
