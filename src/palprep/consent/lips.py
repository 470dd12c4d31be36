"""Do the lips go on, or does the picture stand still or come again, while words are spoken? And
do the eyes blink, does the head move, and is the face flat?

The person may be shown by a frozen picture or by a loop under somebody's voice. The course of the
lips tells both: they do not rest for three seconds of speech, and nobody moves them in the same way
again for two. A photograph whose mouth was animated keeps its eyes as they are: people shut theirs
for a moment every few seconds. And its head stays where it is in the picture, while people move
theirs over whatever surrounds it. Somebody may draw the head over them, but it stays flat: the nose
keeps its place in the face, while that of a head that turns does not.

And do the lips belong to the sound? Canonical correlation analysis (Hotelling, "Relations between
two sets of variates", Biometrika 28 (1936), 321-377) finds what moves together in both: four sums
of the 384 numbers that Whisper's encoder hears, and four of eight ways to move the lips, fitted on
people who talk (research/training/lip_sync.py). Where they go together as recorded, and not with
the sound shifted, the words are those of the lips. Only what the lips do within a third of a second
counts: how a sentence rises and rests is alike in every voice that reads the same text.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from palprep.consent.facts import LEAST_TO_SYNC_S, LipsFacts, StatementReading, Synchrony
from palprep.consent.whisper import Encoder
from palprep.networks import read_manifest
from palprep.speech import RATE_HZ
from palprep.values import Span, spans_within
from palprep.vision import FaceTrack, Floats

Known = NDArray[np.bool_]

STEP_S = 0.04
"""From one row to the next, of lips and of sound."""

PART_S = 12.0
"""About so much of the words is looked at in one part, frame by frame. A longer part tells hardly
more (research/evaluation/lips.py)."""

FRAMES_PER_S = 12.5
"""Frames looked at per second. Twice as many tell hardly more."""

_WIDEST_GAP_S = 0.28
"""Between two frames that show a face. What lies in a wider gap is not known."""

_LEAST_FRAMES = 100
"""Frames, 8 s of them: in less time too many people do not blink (docs/accuracy.md), and some hold
their head still."""
_HEAD = 5
"""Frames, 0.4 s, over which the places of head and nose are averaged: their points tremble."""
_AROUND = 6
"""Frames before and after, 0.5 s, in which eyes that blink are open."""
_REST, _SPOKEN = 75, 0.8
"""Steps of a rest, 3 s, and the share of it that must be speech."""
_REPEAT = 50
"""Steps that come again, 2 s."""
_SOONEST = 12
"""Steps after which they may come again, half a second: lips resemble themselves for less."""
_LEAST_SPREAD = 0.3
"""The least variance of a course, over that of the stretch: still lips are alike by chance."""
_UNKNOWN = 100.0
"""Distance to a step that was not seen: far above any other."""


def stretch_of(
    reading: StatementReading | None, speech: Sequence[Span]
) -> tuple[Span, bool] | None:
    """The words to look at, and whether they are the statement, which is looked at whole.

    Where that was not read it is the densest speech, :data:`PART_S` at the most. None without
    speech. All times count from where a player starts.
    """
    words = reading.aligned if reading else []
    if words:
        return Span(start_s=words[0].start, end_s=words[-1].end), True
    runs = [spans_within(speech, each.start_s, each.start_s + PART_S) for each in speech]
    densest = max(runs, key=lambda run: sum(each.duration_s for each in run), default=())
    if not densest:
        return None
    return Span(start_s=densest[0].start_s, end_s=densest[-1].end_s), False


def measure_lips(
    track: FaceTrack, span: Span, speech: Sequence[Span], samples: Floats, *, stated: bool
) -> LipsFacts:
    """Measure lips, eyes and head in that span, in equal parts of about :data:`PART_S`. Of all
    parts the least counts for each measure of the lips. All times count from where a player starts,
    those of the track and of ``samples`` too, which are mono at 16 kHz. Raises ToolMissing where
    lips are seen for long enough, and the model of lips and sound is missing or damaged."""
    count = max(1, round(span.duration_s / PART_S))
    edges = np.linspace(span.start_s, span.end_s, count + 1).tolist()
    rests: list[tuple[float, float]] = []
    again: list[tuple[float, float]] = []
    synced: list[Synchrony] = []
    for begin_s, end_s in pairwise(edges):
        times = np.arange(begin_s, end_s, STEP_S)
        shape, known = on_grid(track.at_s, track.shape, times)
        spoken = np.zeros(len(times), bool)
        for each in speech:
            spoken |= (times >= each.start_s) & (times <= each.end_s)
        rests += [(motion, float(times[at])) for motion, at in _least_motion(shape, known, spoken)]
        again += [(distance, float(times[at])) for distance, at in _closest_repeat(shape, known)]
        if known.sum() * STEP_S >= LEAST_TO_SYNC_S:
            lips, _ = on_grid(track.at_s, track.lips, times)
            found = synchrony_of(lips, known, samples, begin_s, LipSync.load())
            synced += [found] if found else []
    motion, rests_at_s = min(rests, default=(None, None))
    repeat, repeats_at_s = min(again, default=(None, None))
    within = (track.at_s >= span.start_s) & (track.at_s <= span.end_s)
    enough = within.sum() >= _LEAST_FRAMES
    # Where the lips of a part are hidden it is not known whether the words are theirs.
    known_throughout = len(synced) == count
    least = (
        min(synced, key=lambda each: each.correlation + each.margin) if known_throughout else None
    )
    return LipsFacts(
        stated=stated,
        span=span,
        motion=motion,
        rests_at_s=rests_at_s,
        repeat=repeat,
        repeats_at_s=repeats_at_s,
        blink=_blink(track.eyes[within]) if enough else None,
        head=_head_motion(track.head[within]) if enough else None,
        parallax=_parallax(track.nose[within]) if enough else None,
        synchrony=least,
    )


def on_grid(at_s: Floats, values: Floats, times: Floats) -> tuple[Floats, Known]:
    """The rows of ``values``, one for each frame, at these times, and where frames are near enough
    to tell them."""
    if not len(at_s):
        return np.zeros((len(times), values.shape[1])), np.zeros(len(times), bool)
    rows = np.column_stack([np.interp(times, at_s, each) for each in values.T])
    after = np.searchsorted(at_s, times).clip(1, max(1, len(at_s) - 1))
    edges = at_s.take((after - 1, after), mode="clip")
    inside = (times >= edges[0] - STEP_S) & (times <= edges[1] + STEP_S)
    return rows, inside & (edges[1] - edges[0] <= _WIDEST_GAP_S)


def _blink(eyes: Floats) -> float:
    """In means of three frames, since one frame alone may be told wrongly."""
    course = _mean_over(eyes, 3)
    around = np.minimum(course[: -2 * _AROUND], course[2 * _AROUND :])
    return float((around - course[_AROUND:-_AROUND]).max())


def _head_motion(head: Floats) -> float | None:
    places = sliding_window_view(head, _HEAD, axis=0).mean(axis=-1)
    windows = sliding_window_view(places, _LEAST_FRAMES - _HEAD + 1, axis=0)
    spread = np.sqrt(windows.var(axis=-1).sum(axis=1))
    known = spread[~np.isnan(spread)]
    return float(np.median(known)) if len(known) else None


def _parallax(nose: Floats) -> float:
    return float(np.sqrt(_mean_over(nose, _HEAD).var(axis=0).sum()))


def _least_motion(shape: Floats, known: Known, spoken: Known) -> Iterator[tuple[float, int]]:
    """The least motion over a rest, and where that begins; none where no rest is seen."""
    if len(shape) < _REST:
        return
    motion = np.sqrt(_spread(shape, _REST)).mean(axis=1)
    counts = (_mean_over(known.astype(float), _REST) == 1.0) & (
        _mean_over(spoken.astype(float), _REST) >= _SPOKEN
    )
    if counts.any():
        at = int(np.where(counts, motion, np.inf).argmin())
        yield float(motion[at]), at


def _closest_repeat(shape: Floats, known: Known) -> Iterator[tuple[float, int]]:
    """The root mean square distance, and where the later of the two begins; none for too little."""
    if len(shape) < _REPEAT + _SOONEST or known.sum() < _REPEAT + _SOONEST:
        return
    seen = shape[known]
    course = (shape - seen.mean(axis=0)) / np.maximum(seen.std(axis=0), 1e-6)
    apart = ((course[:, None] - course[None]) ** 2).mean(axis=2)
    apart[~known] = apart[:, ~known] = _UNKNOWN
    spread = _spread(course, _REPEAT).mean(axis=1)
    closest, again = np.inf, None
    for one, other in _courses(len(course)):
        distance = _mean_over(apart[one, other], _REPEAT)
        first = one[: len(distance)]
        later = np.minimum(other[: len(distance)], other[_REPEAT - 1 :])
        moved = (spread[first] + spread[later]) / 2
        found = np.where(moved >= _LEAST_SPREAD, distance / (2 * np.maximum(moved, 1e-6)), np.inf)
        at = int(found.argmin())
        if found[at] < closest:
            closest, again = float(found[at]), int(later[at])
    if again is not None:
        yield float(np.sqrt(closest)), again


def _courses(count: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The steps to compare: each course with all later ones, forwards and backwards."""
    for lag in range(_SOONEST, count - _REPEAT + 1):
        one = np.arange(count - lag)
        yield one, one + lag
    for total in range(2 * _REPEAT + _SOONEST, 2 * count - 2 * _REPEAT - _SOONEST):
        one = np.arange(max(0, total - count + 1), (total - _SOONEST) // 2 + 1)
        if len(one) >= _REPEAT:
            yield one, total - one


def _mean_over(values: Floats, steps: int) -> Floats:
    """Means over every ``steps`` values in a row, along the first axis."""
    sums = np.concatenate((np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)))
    return np.asarray((sums[steps:] - sums[:-steps]) / steps)


def _spread(values: Floats, steps: int) -> Floats:
    """Variances over every ``steps`` rows in a row, of each column."""
    centred = values - values.mean(axis=0)
    return np.maximum(_mean_over(centred**2, steps) - _mean_over(centred, steps) ** 2, 0.0)


_LIP_TAPS = (-2, -1, 0, 1, 2)
_SOUND_TAPS = (-2, 0, 2)
"""Steps that a sum reaches before and after: 0.08 s."""
_POSITIONS = 2
"""Positions of the encoder in a step."""
_FURTHEST = 50
"""Steps that the sound is shifted by: 2 s."""
_AT_ONCE, _APART = 6, 9
"""Some genuine recordings are off by 0.28 s. So up to 0.24 s is no shift, and 0.36 s is one."""
_DRIFT = 9
"""Steps, 0.36 s, whose mean is taken from the lips: a head that turns says no word."""
_LEAST_KNOWN = 0.7
"""Share of the steps in which lips and sound must be known."""


class LipSync(NamedTuple):
    """The model of how lips and sound go together. Threads may share it.

    ``encoder`` gives the numbers of the sound. ``ways``, 41 x 8, are the principal components of
    how people move their lips. The weights of the four sums are 1,152 x 4 of the ``sound`` and
    40 x 4 of the ``lips``.
    """

    encoder: Encoder
    sound: Floats
    ways: Floats
    lips: Floats

    @staticmethod
    @functools.cache
    def load() -> LipSync:
        """The one of this process. Raises ToolMissing for a missing or damaged file."""
        weights = read_manifest("palprep.consent")["lip_sync"].read()
        with np.load(io.BytesIO(weights), allow_pickle=False) as stored:
            return LipSync(Encoder.load(), *map(stored.__getitem__, LipSync._fields[1:]))


def sound_rows(samples: Floats, encoder: Encoder) -> Floats:
    """Up to 30 s of mono sound at 16 kHz, one row every 40 ms for the 40 ms that begin there: what
    the encoder hears then, 80 ms before and 80 ms after, in units of its spread."""
    count = int(len(samples) / RATE_HZ / STEP_S + 1e-6)
    heard = encoder.encode(samples.astype(np.float32), count * _POSITIONS)
    course = heard.reshape(count, _POSITIONS, -1).mean(axis=1)
    return _with_neighbours(course, np.ones(count, bool), _SOUND_TAPS)


def without_drift(lips: Floats) -> Floats:
    """The course of the lips without its mean over a third of a second."""
    around = np.pad(lips, ((_DRIFT // 2 + 1, _DRIFT // 2), (0, 0)), mode="edge").cumsum(axis=0)
    return np.asarray(lips - (around[_DRIFT:] - around[:-_DRIFT]) / _DRIFT)


def lip_rows(lips: Floats, known: Known, ways: Floats) -> Floats:
    """How far the lips move in each of the ``ways``, with its neighbours, in units of its spread.
    ``lips`` are rows of 41, as :class:`~palprep.vision.FaceTrack` has them."""
    return _with_neighbours(without_drift(lips) @ ways, known, _LIP_TAPS)


def synchrony_of(
    course: Floats, known: Known, samples: Floats, start_s: float, sync: LipSync
) -> Synchrony | None:
    """How lips and sound go together.

    ``course`` is that of the lips, rows of 41 in steps of 40 ms, the first one at ``start_s`` of
    the ``samples``, which are mono at 16 kHz; ``known`` says where it was seen. None where too
    little of both is known.
    """
    begin = max(0.0, start_s - _FURTHEST * STEP_S - STEP_S / 2)
    end = start_s + (len(course) + _FURTHEST) * STEP_S
    part = samples[int(begin * RATE_HZ) : int(end * RATE_HZ)]
    if len(part) < _LEAST_KNOWN * len(course) * STEP_S * RATE_HZ:
        return None
    heard = sound_rows(part, sync.encoder) @ sync.sound
    lips = lip_rows(course, known, sync.ways) @ sync.lips
    # The row of the sound whose middle is nearest to the first of the lips.
    first = round((start_s - begin) / STEP_S - 0.5)
    at = np.arange(len(lips)) + first
    shifts = np.arange(-_FURTHEST, _FURTHEST + 1)
    fits = np.array([_correlation(heard, at + shift, lips, known) for shift in shifts])
    near, apart = np.abs(shifts) <= _AT_ONCE, np.abs(shifts) >= _APART
    if np.isnan(fits[near]).all() or np.isnan(fits[apart]).all():
        return None
    best = float(np.nanmax(fits[near]))
    return Synchrony(
        correlation=best,
        margin=best - float(np.nanmax(fits[apart])),
        lag_s=round(float(shifts[np.nanargmax(fits)] * STEP_S), 2),
    )


def _correlation(heard: Floats, at: NDArray[np.intp], lips: Floats, known: Known) -> float:
    """Mean correlation of the four; not a number where too little of both is known."""
    both = known & (at >= 0) & (at < len(heard))
    if both.sum() < _LEAST_KNOWN * len(lips):
        return float("nan")
    one, other = (each - each.mean(axis=0) for each in (heard[at[both]], lips[both]))
    sizes = np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0))
    return float(((one * other).sum(axis=0) / np.maximum(sizes, 1e-9)).mean())


def _with_neighbours(rows: Floats, known: Known, taps: Sequence[int]) -> Floats:
    """Each row with those at the ``taps`` around it, in units of the spread of the known ones."""
    seen = rows[known] if known.any() else rows
    scaled = (rows - seen.mean(axis=0)) / np.maximum(seen.std(axis=0), 1e-6)
    at = np.arange(len(rows))[:, None] + np.array(taps)
    return np.asarray(scaled[at.clip(0, len(rows) - 1)].reshape(len(rows), -1))
