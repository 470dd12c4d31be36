"""Defects of the samples themselves: clipping, direct current, channels that do not belong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.media import decibels
from palprep.speech.arrays import Floats

FULL = 10 ** (-0.1 / 20)
"""Samples from -0.1 dBFS on count as full scale."""
RUN = 3
"""So many full-scale samples in a row are a clipped wave; a clean peak has one or two."""
_FLAT = 2.0**-17
_FLAT_RUN = 4
_NEAR_PEAK = 0.97
_MOST_RUNS = 100_000


class Clipping(NamedTuple):
    """Runs of clipped samples over all channels."""

    runs: int
    seconds: float


class Runs:
    """Finds runs of true values in a mask that comes in blocks."""

    def __init__(self) -> None:
        self.seen = 0
        """Values pushed so far."""
        self._open: int | None = None

    def push(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Runs that ended in this block, shape ``(n, 2)``: first sample and length."""
        before = self._open is not None
        changes = np.flatnonzero(np.diff(np.concatenate(([before], mask)).astype(np.int8)))
        edges = [*([self._open] if self._open is not None else []), *(changes + self.seen)]
        self.seen += len(mask)
        self._open = int(edges.pop()) if len(edges) % 2 else None
        pairs = np.array(edges, np.int64).reshape(-1, 2)
        return np.stack((pairs[:, 0], pairs[:, 1] - pairs[:, 0]), axis=1)


class DefectMeter:
    """Push blocks of shape ``(channels, samples)``, then ask."""

    def __init__(self, rate_hz: int, channels: int) -> None:
        self._rate = rate_hz
        self._full = [Runs() for _ in range(channels)]
        self._level = [Runs() for _ in range(channels)]
        self._runs = 0
        self._clipped = 0
        self._tops: list[tuple[float, int]] = []
        self._last = np.zeros((channels, 1), np.float32)
        self._sum = np.zeros(channels)
        self._products = np.zeros((channels, channels))
        self._count = 0
        self._peak = 0.0

    def push(self, block: Floats) -> None:
        """Take the next samples."""
        magnitude = np.abs(block)
        self._peak = max(self._peak, float(magnitude.max(initial=0.0)))
        steady = np.abs(np.diff(np.concatenate((self._last, block), axis=1), axis=1)) < _FLAT
        for index, channel in enumerate(magnitude):
            full = self._full[index].push(channel >= FULL)
            long = full[full[:, 1] >= RUN]
            self._runs += len(long)
            self._clipped += int(long[:, 1].sum())
            # Flat tops below full scale: clipped first, turned down afterwards.
            flat = self._level[index].push(steady[index] & (channel >= 0.25) & (channel < FULL))
            self._note_tops(flat[flat[:, 1] >= _FLAT_RUN - 1], channel)
        self._last = block[:, -1:]
        self._sum += block.sum(axis=1, dtype=np.float64)
        self._products += np.einsum("is,js->ij", block, block, dtype=np.float64)
        self._count += block.shape[1]

    def _note_tops(self, runs: NDArray[np.int64], channel: Floats) -> None:
        start = self._full[0].seen - len(channel)
        for first, length in runs[: max(0, _MOST_RUNS - len(self._tops))]:
            at = int(min(max(first - start, 0), len(channel) - 1))
            self._tops.append((float(channel[at]), int(length) + 1))

    def clipping(self) -> Clipping:
        """At full scale, or flat at the recording's own peak."""
        flat = [length for level, length in self._tops if level >= _NEAR_PEAK * self._peak]
        samples = self._clipped + sum(flat)
        return Clipping(self._runs + len(flat), samples / self._rate)

    def dc_offset(self) -> float:
        """Largest mean of a channel, relative to full scale, 0..1."""
        return float(np.abs(self._sum).max() / max(1, self._count))

    def channel_levels_dbfs(self) -> tuple[float, ...]:
        """RMS of each channel."""
        means = np.diag(self._products) / max(1, self._count)
        return tuple(decibels(float(np.sqrt(mean))) for mean in means)

    def correlation(self) -> float | None:
        """Between the first two channels, -1..1; None for mono or a silent channel."""
        if len(self._sum) < 2:
            return None
        scale = float(np.sqrt(self._products[0, 0] * self._products[1, 1]))
        return float(np.clip(self._products[0, 1] / scale, -1.0, 1.0)) if scale > 1e-12 else None
