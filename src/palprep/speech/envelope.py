"""Level over time, a millisecond at a time: silence, dropouts and the noise between words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.speech.arrays import Floats
from palprep.speech.growing_array import GrowingArray
from palprep.values import Span


class Envelope(NamedTuple):
    """One value per millisecond, all channels together."""

    peak: Floats
    """Largest sample, 0..1."""
    power: Floats
    """Mean square."""


class EnvelopeMeter:
    """Push blocks of shape ``(channels, samples)``, then take the envelope.

    Keeps eight bytes per millisecond: 28 MiB for an hour.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate = rate_hz
        self._seen = 0
        self._rest: Floats | None = None
        self._peaks = GrowingArray(np.float32)
        self._powers = GrowingArray(np.float32)

    def push(self, block: Floats, offset: Floats | None = None) -> None:
        """Take the next samples. ``offset`` is the direct current of each channel, shape
        ``(channels, 1)``, which is no part of their power.
        """
        joined = block if self._rest is None else np.concatenate((self._rest, block), axis=1)
        start = self._seen
        stop = start + joined.shape[1]
        first = -(-start * 1000 // self._rate)
        last = stop * 1000 // self._rate
        # Millisecond k covers the samples from int(k * rate / 1000): 44 or 45 at 44.1 kHz.
        borders = np.arange(first, last + 1) * self._rate // 1000 - start
        if len(borders) > 1:
            whole = joined[:, : borders[-1]]
            counts = np.diff(borders) * joined.shape[0]
            peaks = np.maximum.reduceat(np.abs(whole).max(axis=0), borders[:-1])
            swing = whole if offset is None else whole - offset
            sums = np.add.reduceat((swing * swing).sum(axis=0, dtype=np.float64), borders[:-1])
            self._peaks.append(peaks)
            self._powers.append(sums / counts)
            joined = joined[:, borders[-1] :]
            self._seen = start + int(borders[-1])
        self._rest = joined

    def envelope(self) -> Envelope:
        """Of everything that was pushed, up to the last whole millisecond."""
        return Envelope(self._peaks.values(), self._powers.values())


def dropouts(envelope: Envelope) -> tuple[Span, ...]:
    """Holes of 2 ms to half a second: digital silence with sound right up to both edges.

    A pause fades; a lost packet or a bad edit does not. Both sides must reach -40 dBFS
    within 5 ms of the hole.
    """
    found = []
    for span in spans_where(envelope.peak <= _ZERO):
        first, last = round(span.start_s * 1000), round(span.end_s * 1000)
        before = envelope.peak[max(0, first - _EDGE_MS) : first]
        after = envelope.peak[last : last + _EDGE_MS]
        if not _SHORTEST_MS <= last - first <= _LONGEST_MS or not len(before) or not len(after):
            continue
        if min(before.max(), after.max()) >= _LOUD:
            found.append(span)
    return tuple(found)


_ZERO = 1.5 / 32768
"""One and a half steps of 16 bits: what dithered digital silence stays under."""
_LOUD = 0.01
_EDGE_MS = 5
_SHORTEST_MS = 2
_LONGEST_MS = 500


def spans_where(mask: NDArray[np.bool_]) -> tuple[Span, ...]:
    """The runs of true values, one value per millisecond."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return tuple(
        Span(start_s=int(start) / 1000, end_s=int(end) / 1000)
        for start, end in zip(edges[::2], edges[1::2], strict=True)
    )
