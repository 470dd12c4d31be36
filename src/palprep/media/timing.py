"""Frame rate, length and gaps from presentation timestamps, never from a header's word."""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

_GRID_TICKS = 2
"""Timestamps are rounded to ticks of the container (1 ms in WebM), so that even a constant
rate has intervals which differ by one tick, and by two when the encoder rounded already."""

_GRID_SHARE = 0.05
"""Cameras' clocks jitter by a few percent of a frame, which no one sees."""

_STRAY_SHARE = 0.01
"""Up to this share of odd intervals the rate still counts as constant: a dropped frame now
and then is a defect of its own, and no reason to encode the whole video again."""


class Timing(NamedTuple):
    """Timing of a video stream, in seconds of presentation time."""

    frames: int
    start_s: float
    duration_s: float
    """From the first frame's start to the last frame's end."""
    frame_rate: float
    """(frames - 1) / (last - first); of a single frame, one over its duration, or 0."""
    constant: bool
    dropped: int
    """Frames that are missing from gaps of one and a half intervals or more."""
    size_bytes: int


class TimingMeter:
    """Collects the packets of one video stream, eight bytes for each."""

    def __init__(self, time_base: Fraction) -> None:
        self._base = time_base
        self._times = array("q")
        self._last_end = 0
        self._size = 0

    def add(self, packet: Any) -> None:
        """Take a packet into account, unless an edit list hides it or it has no time."""
        self._size += packet.size
        time = packet.pts if packet.pts is not None else packet.dts
        if time is None or packet.is_discard:
            return
        self._times.append(time)
        self._last_end = max(self._last_end, time + (packet.duration or 0))

    def result(self, *, stated_end: int | None = None) -> Timing | None:
        """The timing of everything that was added; None when there was no frame.

        ``stated_end``, in ticks, is what the header says. Some demuxers give the last frame
        whatever their arithmetic leaves over, and then the header is right.
        """
        if not self._times:
            return None
        # Hidden reference frames of VP8 share the time of the frame they precede.
        ticks = np.unique(np.frombuffer(self._times, dtype=np.int64))
        base = float(self._base)
        first, last = int(ticks[0]), int(ticks[-1])
        intervals = np.diff(ticks)
        median = float(np.median(intervals)) if intervals.size else 0.0
        end = self._last_end if self._last_end > last else last + round(median)
        if stated_end is not None:
            end = min(end, max(stated_end, last + round(median)))
        duration = (end - first) * base
        rate = intervals.size / ((last - first) * base) if intervals.size else 0.0
        if not intervals.size and duration > 0:
            rate = 1.0 / duration
        tolerance = max(_GRID_TICKS, _GRID_SHARE * median)
        stray = np.abs(intervals - median) > tolerance
        gaps = intervals[intervals >= 1.5 * median] if median else intervals[:0]
        return Timing(
            frames=int(ticks.size),
            start_s=first * base,
            duration_s=duration,
            frame_rate=rate,
            constant=bool(stray.mean() <= _STRAY_SHARE) if stray.size else True,
            dropped=int((np.rint(gaps / median) - 1).sum()) if gaps.size else 0,
            size_bytes=self._size,
        )


class AudioTimes:
    """When a sound starts and ends by its timestamps, and how long it lasts without them."""

    def __init__(self) -> None:
        self.start_s: float | None = None
        self.end_s = 0.0
        self.length_s = 0.0
        """The sum of what was added, whatever its timestamps."""

    def add(self, at_s: float, length_s: float) -> None:
        """Take a packet or a decoded frame into account."""
        if self.start_s is None:
            self.start_s = self.end_s = at_s
        self.end_s = max(self.end_s, at_s + length_s)
        self.length_s += length_s
