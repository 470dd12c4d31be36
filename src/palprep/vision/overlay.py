"""Text that was laid over a video: subtitles, a name plate, a ticker, the mark of a station.

Text in the room is found, too, and tells nothing: a poster, the print of a shirt. What was laid
over the picture does not move with the camera or the person, so a line of it stays at the same
place to a hundredth of the picture, near the upper or the lower border; or it runs along the
bottom; or, of subtitles, its middle stays in the middle of the picture while its length changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from palprep.values import Rect
from palprep.vision.arrays import Floats, Mask, Pixels, resized, tensor
from palprep.vision.facts import OverlayFacts
from palprep.vision.models import Network

PIXELS = 130_000
"""Size of the frame for the network, about 480 x 270: for letters from 1/40 of the height on."""

FEWEST_FRAMES = 3
"""With fewer there is no telling what stays where it is."""

_STEP = 32
"""The network halves its input five times."""

_INSIDE, _SURE = 0.3, 0.7
"""Probability of text from which a pixel belongs to a line, and mean of those of a sure one."""

_GAP = 0.03
"""Share of the width that may lie between the words of a line."""

_SHORTEST, _OBLONG = 0.08, 2.5
"""Share of the width that a line spans, and how many times as wide as high it is, at the least."""

_STILL = 0.01
"""Share of a side by which what was laid over the picture seems to move."""

_TOP, _LOW, _BOTTOM = 0.2, 0.7, 0.8
"""Of the height: texts that stand are above _TOP or below _LOW, those that run below _BOTTOM."""

_LONG = 0.3
"""Share of the width that a text that runs fills."""

_ROW, _CENTRED, _CHANGE = 0.03, 0.03, 0.03
"""Of subtitles: share of the height within which they stand, share of the width within which they
are in the middle, and by which their length changes."""

_MOST, _SOME = 0.6, 0.4
"""Shares of the frames in which texts that stand or run, and subtitles, are seen."""


def find_overlay(frames: Sequence[Pixels], network: Network) -> OverlayFacts:
    """What is written over frames of one video, spread evenly: :data:`FEWEST_FRAMES` or more."""
    return judge_lines([find_lines(rgb, network) for rgb in frames])


def find_lines(rgb: Pixels, network: Network) -> Floats:
    """Level lines of text, n x 4: left, top, right and bottom as shares of the sides."""
    height, width = rgb.shape[:2]
    scale = (PIXELS / (height * width)) ** 0.5
    height, width = (max(_STEP, round(side * scale / _STEP) * _STEP) for side in (height, width))
    blob = tensor(resized(rgb, width, height), 1 / 127.5) - 1
    probability = network.run(blob)[0][0, 0]
    inside = (probability > _INSIDE).astype(np.uint8)
    words = np.ones((1, round(_GAP * width)), np.uint8)
    joined = cv2.morphologyEx(inside, cv2.MORPH_CLOSE, words)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(joined)
    lines = []
    for label, (left, top, wide, high, _) in enumerate(stats[1:], start=1):
        if wide < _SHORTEST * width or wide < _OBLONG * high:
            continue
        part = np.s_[top : top + high, left : left + wide]
        if probability[part][(labels[part] == label) & (inside[part] > 0)].mean() >= _SURE:
            lines.append((left / width, top / height, (left + wide) / width, (top + high) / height))
    return np.array(lines, np.float64).reshape(-1, 4)


def judge_lines(lines: Sequence[Floats]) -> OverlayFacts:
    """Which of each frame's lines (n x 4, as of :func:`find_lines`) were laid over the picture."""
    count = len(lines)
    at = np.repeat(np.arange(count), [len(each) for each in lines])
    box = np.concatenate(lines)
    left, top, right, bottom = box.T
    across, down, length = (left + right) / 2, (top + bottom) / 2, right - left
    level = _near(top, _STILL) & _near(bottom, _STILL)
    stands = level & _near(left, _STILL) & _near(right, _STILL)
    runs = level & _both((length >= _LONG) & (down >= _BOTTOM))
    follows = _near(down, _ROW) & _both((abs(across - 0.5) <= _CENTRED) & (down >= 0.5))
    changes = np.array([row.any() and np.ptp(length[row]) >= _CHANGE for row in follows], bool)
    border = (down <= _TOP) | (down >= _LOW)
    laid = _share(stands, at, count, _MOST) & border | _share(runs, at, count, _MOST)
    laid |= _share(follows, at, count, _SOME) & changes
    region = None
    if laid.any():
        (x, y), (end_x, end_y) = box[laid, :2].min(axis=0), box[laid, 2:].max(axis=0)
        region = Rect(x=x, y=y, width=end_x - x, height=end_y - y)
    return OverlayFacts(frames=count, with_text=len(set(at[laid])), region=region)


def _near(values: Floats, reach: float) -> Mask:
    return np.asarray(np.abs(values[:, None] - values) <= reach)


def _both(each: Mask) -> Mask:
    return np.asarray(each[:, None] & each)


def _share(alike: Mask, at: NDArray[np.int_], count: int, least: float) -> Mask:
    """For each line, whether lines like it are seen in at least that share of the frames."""
    return np.array([len(set(at[row])) >= least * count for row in alike], bool)
