"""Which stretches of a recording to keep for a voice: the cleanest speech of a wanted length."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from palprep.speech import VoiceFacts
from palprep.values import Span

_JOIN_GAP_S = 0.8
"""Shorter pauses belong to the flow of speech and stay in."""
_MARGIN_S = 0.15
"""Kept on both sides of speech, so that no consonant is cut and joins fall into silence."""
_LEAST_S = 2.0
"""Shorter stretches are left out while there are enough longer ones: each is a join."""
_DROPOUT_GUARD_S = 0.25


def choose_spans(voice: VoiceFacts, *, min_s: float, max_s: float) -> tuple[Span, ...]:
    """The stretches to keep, in the order of the recording. Their lengths sum to at most
    ``max_s``, and to at least ``min_s`` where there is so much speech.

    One stretch without joins is best: the longest run of speech with ordinary pauses is
    taken if it reaches ``min_s``. Otherwise runs are joined, longest
    first; once ``min_s`` is reached, only whole ones. Runs end before dropouts. Every span
    begins and ends in a pause of the recording, except where a run had to be shortened to
    ``max_s``: that cut, too, falls into a pause whenever one lies within its last quarter.
    Empty when no one speaks.
    """
    runs = _runs(voice)
    if not runs:
        return ()
    longest = max(runs, key=lambda run: (_length(run), -run[0].start_s))
    if _length(longest) >= min_s:
        return (_shortened(longest, max_s, voice.duration_s),)
    chosen: list[Span] = []
    left = max_s
    for run in sorted(runs, key=_length, reverse=True):
        enough = max_s - left >= min_s
        if left < _LEAST_S or (enough and not _LEAST_S <= _length(run) <= left):
            continue
        span = _shortened(run, left, voice.duration_s)
        chosen.append(span)
        left -= span.duration_s
    return _apart(sorted(chosen, key=lambda span: span.start_s))


Run = tuple[Span, ...]
"""Stretches of speech with only ordinary pauses between."""


def _runs(voice: VoiceFacts) -> list[Run]:
    runs: list[list[Span]] = []
    for span in _without_dropouts(voice.speech, voice.dropouts):
        if (
            runs
            and 0 <= span.start_s - runs[-1][-1].end_s <= _JOIN_GAP_S
            and not any(
                runs[-1][-1].end_s <= hole.start_s < span.start_s for hole in voice.dropouts
            )
        ):
            runs[-1].append(span)
        else:
            runs.append([span])
    return [tuple(run) for run in runs]


def _without_dropouts(speech: Sequence[Span], holes: Sequence[Span]) -> list[Span]:
    """Speech without its holes, and without what is right next to them."""
    kept = list(speech)
    for hole in holes:
        first, last = hole.start_s - _DROPOUT_GUARD_S, hole.end_s + _DROPOUT_GUARD_S
        parts = []
        for span in kept:
            if span.end_s <= first or span.start_s >= last:
                parts.append(span)
                continue
            if span.start_s < first:
                parts.append(Span(start_s=span.start_s, end_s=first))
            if span.end_s > last:
                parts.append(Span(start_s=last, end_s=span.end_s))
        kept = parts
    return kept


def _length(run: Run) -> float:
    return run[-1].end_s - run[0].start_s + 2 * _MARGIN_S


def _shortened(run: Run, max_s: float, duration_s: float) -> Span:
    start = max(0.0, run[0].start_s - _MARGIN_S)
    end = min(duration_s, run[-1].end_s + _MARGIN_S)
    if end - start > max_s:
        latest = start + max_s
        pauses = [
            before.end_s + min(_MARGIN_S, (after.start_s - before.end_s) / 2)
            for before, after in pairwise(run)
        ]
        fitting = [pause for pause in pauses if latest - max_s / 4 <= pause <= latest]
        end = max(fitting, default=latest)
    return Span(start_s=round(start, 3), end_s=round(end, 3))


def _apart(spans: list[Span]) -> tuple[Span, ...]:
    """Margins of neighbours may touch; the later one gives way."""
    apart: list[Span] = []
    for span in spans:
        begin = max(span.start_s, apart[-1].end_s) if apart else span.start_s
        if span.end_s > begin:
            apart.append(Span(start_s=begin, end_s=span.end_s))
    return tuple(apart)
