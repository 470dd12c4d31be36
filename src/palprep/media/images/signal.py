"""Measures of a video's signal from small luma frames, as they come by.

Only numbers are kept of a frame, a few hundred bytes; an hour takes some tens of megabytes.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from palprep.media.facts import SignalFacts, SignalSecond
from palprep.media.images.light import Pixels
from palprep.values import Span

Course = NDArray[np.float64]
"""A number for each frame, in their order."""

_BLACK_LUMA = 38
"""Limited-range black (16) and a tenth of the range: pixel_black_th of FFmpeg's blackdetect."""

_BLACK_SHARE = 0.98
"""picture_black_ratio_th of FFmpeg's blackdetect."""

_FREEZE_S = 1.0
_FREEZE_LEVELS = 1.0
"""Change, in levels of 255, of the most changed block below which a frame is frozen. Noise
and breath move some block by more within a second; a repeated frame moves none."""

_BLOCK = 10
"""Side of a block of the small luma picture."""

_CUT_LEVELS = 7.0
_CUT_RATIO = 4.0
"""A cut changes the picture by at least so many levels, apart from brightness, and by so many
times what the half second around it does. The ratio keeps fast gestures from being cuts."""

_AROUND_S = 0.5
_JUMP_SHARE = 0.06
"""A step of the mean brightness by a sixteenth within a fifth of a second is seen."""

_STEP_S = 0.2
_ALL_OVER = 0.02
"""Share by which three quarters of the picture become lighter, or all of them darker, when light
changes. A hand that comes in and a camera that turns change parts of it."""
_UNLIT = 24
"""Luma. What is darker before and after shows no light."""

_SHAKE_EVERY_S = 0.2
_POINTS = 60
_FEWEST_POINTS = 8
"""Fewer tracked points than this say nothing about the whole frame."""

_ALIKE_PX, _ALIKE, _TOGETHER = 0.5, 0.25, 0.5
"""What moves with the camera moves as far as the median point, to half a pixel or a quarter of the
way. Where fewer than half of the points do, a head, a hand or a shoulder fills the rim."""

_TOLD = 0.25
"""Share of the moments whose points move alike, from which the others are left out. Around a person
who walks with the camera all moves differently, and every moment counts."""

_LONGEST_SHIFT = 0.2
"""A background that seems to jump by a fifth of the frame was cut, not shaken."""


class SignalMeter:
    """Give it the luma of every frame (``on_luma`` of ``frames.sample_frames``), then ask."""

    def __init__(self, *, key_frames_only: bool = False) -> None:
        self._sparse = key_frames_only
        self._times = array("d")
        self._means = array("d")
        self._black = array("d")
        self._changes = array("d")
        self._grids: list[bytes] = []
        """The blocks of each frame in 8 bits."""
        self._last: NDArray[np.float32] | None = None
        self._still: NDArray[np.float32] | None = None
        self._still_since = 0.0
        self._freezes: list[Span] = []
        self._shake = ShakeMeter()

    def add(self, at_s: float, luma: Pixels) -> None:
        """Take a frame into account: its time, and its luma (height, width)."""
        level = luma.astype(np.float32)
        mean = float(level.mean())
        self._times.append(at_s)
        self._means.append(mean)
        self._black.append(float((luma <= _BLACK_LUMA).mean()))
        flat = level - mean
        self._changes.append(float(_difference(flat, self._last).mean()))
        self._last = flat
        if not self._sparse:
            blocks = _blocks(level)
            self._grids.append(blocks.astype(np.uint8).tobytes())
            if self._still is None or _difference(blocks, self._still).max() > _FREEZE_LEVELS:
                self._end_stillness(at_s)
                self._still, self._still_since = blocks, at_s
            self._shake.add(at_s, luma)

    def result(self, ends_s: float = -math.inf) -> SignalFacts:
        """Everything that was measured so far. Call it once, at the end. ``ends_s`` is the
        presentation time until which the last frame is shown."""
        times, means = np.asarray(self._times), np.asarray(self._means)
        facts = SignalFacts(
            frames=times.size, seconds=tuple(self._seconds(times)), black=self._black_spans(times)
        )
        if self._sparse:
            return facts
        if times.size:
            self._end_stillness(max(ends_s, float(times[-1])))
        cuts = self._cuts(times)
        return facts.model_copy(
            update={
                "cuts": tuple(round(float(times[at]), 3) for at in cuts),
                "freezes": tuple(self._freezes),
                "exposure_steps": tuple(_jumps(times, means, self._grids, cuts)),
                "flicker_percent": _flicker(means, cuts),
                "shake_percent": self._shake.result(),
            }
        )

    def _black_spans(self, times: Course) -> tuple[Span, ...]:
        """Stretches of black frames, each to the start of the first frame after it."""
        black = np.asarray(self._black) >= _BLACK_SHARE
        if self._sparse and black.size > 1:
            # Seconds lie between key frames: only where both are black, so is what lies between.
            black = np.append(black[:-1] & black[1:], False)
        edges = np.flatnonzero(np.diff(black.astype(np.int8), prepend=0, append=0))
        return tuple(
            Span(start_s=float(times[start]), end_s=float(times[min(end, times.size - 1)]))
            for start, end in zip(edges[::2], edges[1::2], strict=True)
        )

    def _end_stillness(self, at_s: float) -> None:
        if self._still is not None and at_s - self._still_since >= _FREEZE_S:
            self._freezes.append(Span(start_s=self._still_since, end_s=at_s))

    def _seconds(self, times: Course) -> list[SignalSecond]:
        if not times.size:
            return []
        numbers = np.floor(times - times[0]).astype(int)
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        return [
            SignalSecond(
                at_s=round(float(times[0] + numbers[start]), 3),
                luma=round(float(np.mean(self._means[start:end])), 2),
            )
            for start, end in zip(starts, [*starts[1:], times.size], strict=True)
        ]

    def _cuts(self, times: Course) -> list[int]:
        changes = np.asarray(self._changes)
        found: list[int] = []
        for at in np.flatnonzero(changes >= _CUT_LEVELS):
            low, high = np.searchsorted(times, (times[at] - _AROUND_S, times[at] + _AROUND_S))
            around = np.delete(changes[low : high + 1], at - low)
            largest = around.size > 0 and changes[at] >= around.max()
            if largest and changes[at] >= _CUT_RATIO * max(float(np.median(around)), 0.5):
                found.append(int(at))
        return found


def _difference(one: NDArray[np.float32], other: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """Absolute difference; none against nothing, and all against another size of picture."""
    if other is None:
        return np.zeros_like(one)
    return np.abs(one - other) if one.shape == other.shape else np.full_like(one, 255.0)


def _blocks(level: NDArray[np.float32]) -> NDArray[np.float32]:
    """Means of blocks; a rim smaller than a block is left out."""
    height, width = (max(1, side // _BLOCK) for side in level.shape)
    tall, wide = level.shape[0] // height, level.shape[1] // width
    cut = level[: height * tall, : width * wide]
    return np.asarray(cut.reshape(height, tall, width, wide).mean(axis=(1, 3)))


def _jumps(
    times: Course, means: Course, grids: Sequence[bytes], cuts: Sequence[int]
) -> list[float]:
    """Where the median brightness after a moment differs from that before it all over the picture,
    and stays."""
    found: list[float] = []
    for at in range(1, times.size):
        if abs(means[at] - means[at - 1]) < 0.25 * _JUMP_SHARE * max(means[at - 1], 16.0):
            continue
        moments = (-_AROUND_S, _STEP_S, _STEP_S + _AROUND_S)
        first, start, end = np.searchsorted(times, [times[at] + each for each in moments])
        before, after = means[first:at], means[start:end]
        if before.size < 3 or after.size < 3:
            continue
        level = max(float(np.median(before)), 16.0)
        stepped = abs(float(np.median(after)) - float(np.median(before))) >= _JUMP_SHARE * level
        steady = float(np.ptp(before)) < 0.5 * _JUMP_SHARE * level
        near_cut = any(abs(times[cut] - times[at]) < _AROUND_S for cut in cuts)
        recent = found and times[at] - found[-1] < 2 * _AROUND_S
        apart = steady and not near_cut and not recent
        if stepped and apart and _all_over(grids[first:at], grids[start:end]):
            found.append(round(float(times[at]), 3))
    return found


def _all_over(before: Sequence[bytes], after: Sequence[bytes]) -> bool:
    """Whether most of the picture is lighter than before, or most of it is darker."""
    if len({len(each) for each in (*before, *after)}) > 1:
        return False
    was, became = (
        np.median([np.frombuffer(each, np.uint8) for each in some], axis=0)
        for some in (before, after)
    )
    lit = np.maximum(was, became) >= _UNLIT
    change = ((became - was) / np.maximum(was, 16.0))[lit]
    low, high = np.percentile(change, (25, 75)) if lit.any() else (0.0, 0.0)
    return bool(low >= _ALL_OVER or high <= -_ALL_OVER)


def _flicker(means: Course, cuts: list[int]) -> float | None:
    """Second difference of brightness, which neither fades nor single steps excite for long.

    Scaled so that brightness alternating by plus and minus p percent reads p.
    """
    if means.size < 10 or means.mean() <= 0:
        return None
    second = means[1:-1] - (means[:-2] + means[2:]) / 2
    keep = np.ones(second.size, bool)
    for cut in cuts:
        keep[max(0, cut - 2) : cut + 1] = False
    if not keep.any():
        return None
    # The median keeps a few jumps from counting as flicker; 0.6745 makes it a deviation.
    deviation = float(np.median(np.abs(second[keep]))) / 0.6745 / 2
    return round(100.0 * deviation / float(means.mean()), 3)


class ShakeMeter:
    """Follows corners of the background, which on a seated person lies at the rim."""

    def __init__(self) -> None:
        self._before: Pixels | None = None
        self._before_at = 0.0
        self._looked = 0
        self._moves = array("d")
        """Across and down, in widths of the picture, and 1 where the points moved alike, else 0:
        one after the other."""

    def add(self, at_s: float, luma: Pixels) -> None:
        if self._before is not None and at_s - self._before_at < _SHAKE_EVERY_S:
            return
        before, self._before, self._before_at = self._before, luma, at_s
        if before is None or before.shape != luma.shape or min(luma.shape) < 24:
            return
        self._looked += 1
        moved = _background_shift(before, luma)
        if moved is not None and max(map(abs, moved[:2])) < _LONGEST_SHIFT * luma.shape[1]:
            self._moves.extend((moved[0] / luma.shape[1], moved[1] / luma.shape[1], moved[2]))

    def result(self) -> float | None:
        """In percent of the width; a steady pan counts as none. None when nothing was tracked."""
        moves = np.asarray(self._moves).reshape(-1, 3)
        alike = moves[moves[:, 2] > 0]
        enough = len(alike) >= max(_FEWEST_POINTS, _TOLD * self._looked)
        steps = (alike if enough else moves)[:, :2]
        if len(steps) < _FEWEST_POINTS:
            return None
        unsteady = steps[1:-1] - (steps[:-2] + steps[1:-1] + steps[2:]) / 3
        return round(100.0 * float(np.sqrt((unsteady**2).sum(axis=1).mean())), 3)


def _background_shift(before: Pixels, after: Pixels) -> tuple[float, float, bool] | None:
    """Median movement of trackable corners at the rim, in pixels (across, down), and whether most
    of them moved so."""
    height, width = before.shape
    # The sides and the top, not head or chest.
    rim = np.full((height, width), 255, np.uint8)
    rim[round(0.12 * height) :, round(0.22 * width) : round(0.78 * width)] = 0
    points = cv2.goodFeaturesToTrack(before, _POINTS, qualityLevel=0.05, minDistance=4, mask=rim)
    if points is None or len(points) < _FEWEST_POINTS:
        return None
    found, status, _ = cv2.calcOpticalFlowPyrLK(before, after, points, np.empty_like(points))
    kept = status.ravel() == 1
    if kept.sum() < _FEWEST_POINTS:
        return None
    moved = (found - points).reshape(-1, 2)[kept]
    across, down = np.median(moved, axis=0)
    reach = max(_ALIKE_PX, _ALIKE * math.hypot(across, down))
    alike = (np.hypot(*(moved - (across, down)).T) <= reach).mean() >= _TOGETHER
    return float(across), float(down), bool(alike)
