"""Do the lips go on, or does the picture stand still or come again, while words are spoken?

The person may be shown by a frozen picture or by a loop under somebody's voice. The course of the
lips tells both: they do not rest for three seconds of speech, and nobody moves them in the same way
again for two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from palprep.consent.facts import LipsFacts, StatementReading
from palprep.consent.lip_sync import STEP_S, Floats, Sums, synchrony_of
from palprep.values import Span
from palprep.vision import SHAPE, MouthTrack

LONGEST_S = 12.0
"""What is looked at of the words that are spoken, frame by frame. More adds little
(research/evaluation/lips.py)."""

FRAMES_PER_S = 12.5
"""Frames that are looked at. Twice as many tell hardly more."""

_WIDEST_GAP_S = 0.28
"""Between two frames that show a face. What lies in a wider gap is not known."""

_REST, _SPOKEN = 75, 0.8
"""Steps of a rest, 3 s, and the share of it that must be speech."""
_REPEAT = 50
"""Steps that come again, 2 s."""
_SOONEST = 12
"""Steps after which they may come again, half a second: lips resemble themselves for less."""
_LEAST_SPREAD = 0.3
"""Of the variance over the whole stretch. Where lips hardly move they are alike by chance."""
_UNKNOWN = 100.0


def stretch_of(
    reading: StatementReading | None, speech: Sequence[Span]
) -> tuple[Span, bool] | None:
    """The words to look at, :data:`LONGEST_S` at the most, and whether they are the statement.

    Where that was not read it is the densest speech. None without speech. All times count from the
    start of the sound.
    """
    words = [word for part in (reading.parts if reading else ()) for word in part.aligned]
    if words:
        start = words[0].start
        return Span(start_s=start, end_s=min(words[-1].end, start + LONGEST_S)), True
    runs = [_within(speech, each.start_s) for each in speech]
    densest = max(runs, key=lambda run: sum(each.duration_s for each in run), default=())
    if not densest:
        return None
    return Span(start_s=densest[0].start_s, end_s=densest[-1].end_s), False


def _within(speech: Sequence[Span], start_s: float) -> list[Span]:
    """The parts of the speech in the longest stretch that begins there."""
    end_s = start_s + LONGEST_S
    return [
        Span(start_s=each.start_s, end_s=min(each.end_s, end_s))
        for each in speech
        if start_s <= each.start_s < end_s
    ]


def measure_lips(
    track: MouthTrack, span: Span, speech: Sequence[Span], samples: Floats, *, stated: bool
) -> LipsFacts:
    """What the lips do in that span. All times count from where a player starts, those of the track
    and of ``samples`` too, which are mono at 16 kHz. Raises ToolMissing for damaged weights."""
    times = np.arange(span.start_s, span.end_s, STEP_S)
    shape, known = on_grid(track, times)
    spoken = np.zeros(len(times), bool)
    for each in speech:
        spoken |= (times >= each.start_s) & (times <= each.end_s)
    motion, rest = _least_motion(shape, known, spoken)
    repeat, again = _closest_repeat(shape, known)
    return LipsFacts(
        stated=stated,
        span=span,
        frames=int(((track.at_s >= span.start_s) & (track.at_s <= span.end_s)).sum()),
        motion=motion,
        rests_at_s=None if rest is None else float(times[rest]),
        repeat=repeat,
        repeats_at_s=None if again is None else float(times[again]),
        synchrony=synchrony_of(shape, known, samples, span.start_s, Sums.load()),
    )


def on_grid(track: MouthTrack, times: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The shape of the lips at these times, and where frames are near enough to tell it."""
    if not len(track.at_s):
        return np.zeros((len(times), SHAPE)), np.zeros(len(times), bool)
    shape = np.column_stack([np.interp(times, track.at_s, each) for each in track.shape.T])
    after = np.searchsorted(track.at_s, times).clip(1, max(1, len(track.at_s) - 1))
    edges = track.at_s.take((after - 1, after), mode="clip")
    inside = (times >= edges[0] - STEP_S) & (times <= edges[1] + STEP_S)
    return shape, inside & (edges[1] - edges[0] <= _WIDEST_GAP_S)


def _least_motion(
    shape: Floats, known: NDArray[np.bool_], spoken: NDArray[np.bool_]
) -> tuple[float | None, int | None]:
    if len(shape) < _REST:
        return None, None
    motion = np.sqrt(_spread(shape, _REST)).mean(axis=1)
    counts = (_mean_over(known.astype(float), _REST) == 1.0) & (
        _mean_over(spoken.astype(float), _REST) >= _SPOKEN
    )
    if not counts.any():
        return None, None
    at = int(np.where(counts, motion, np.inf).argmin())
    return float(motion[at]), at


def _closest_repeat(shape: Floats, known: NDArray[np.bool_]) -> tuple[float | None, int | None]:
    """The root mean square distance, and where the later of the two begins."""
    if len(shape) < _REPEAT + _SOONEST or known.sum() < _REPEAT + _SOONEST:
        return None, None
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
    return (None, None) if again is None else (float(np.sqrt(closest)), again)


def _courses(count: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Which steps are held against which: all against all later ones, forwards and backwards."""
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
    means: Floats = (sums[steps:] - sums[:-steps]) / steps
    return means


def _spread(values: Floats, steps: int) -> Floats:
    """Variances over every ``steps`` rows in a row, of each column."""
    centred = values - values.mean(axis=0)
    return np.maximum(_mean_over(centred**2, steps) - _mean_over(centred, steps) ** 2, 0.0)
