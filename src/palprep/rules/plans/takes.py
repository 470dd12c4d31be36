"""The best stretch of a video: a window that slides over the timeline and is scored.

A take starts and ends in a pause, never inside a word. The score is about what public guidance
for avatar footage asks of the whole: first speaking, then listening as long and still; a face
all the time, turned to the lens; long enough; in one piece.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from palprep.facts import FacingLimits, Timeline, share_held
from palprep.values import Span

LEAD_S = 0.3
"""Silence kept before the first word, so that its onset is not cut."""

TAIL_S = 0.5
"""Silence kept after the last word."""

_LEAST_LEAD_S = 0.05
"""Where words follow each other without a pause."""

_UNSEEN_S = 0.2
"""A break may begin in the frames before the one that shows it: those that no other frame needs are
not looked at, up to three in a row."""

_EQUAL = 0.01
"""Scores this close are equal; then the earlier start wins, which cuts the least."""


@dataclass(frozen=True, slots=True)
class Take:
    """A stretch of a video and its shares, each 0 to 1, None when unmeasured."""

    start_s: float
    end_s: float
    structure: float | None
    """Share of the seconds that are as wanted: speaking before the middle, still after it."""
    seen: float | None
    """Share of the seconds that show a face."""
    facing: float | None
    """Share of those in which it is turned to the lens."""
    length: float
    """Length over the length that is wanted, 1 at the most."""
    breaks: int
    """Cuts, freezes, black stretches and steps of exposure inside."""

    @property
    def score(self) -> float:
        """The mean of everything that was measured; a break halves its part, two leave a third."""
        shares = (self.structure, self.seen, self.facing, self.length, 1 / (1 + self.breaks))
        known = [share for share in shares if share is not None]
        return sum(known) / len(known)

    def words(self) -> str:
        parts = [
            (self.structure, "speaking first, then still"),
            (self.seen, "face seen"),
            (self.facing, "turned to the lens"),
        ]
        said = [f"{what} {share:.0%}" for share, what in parts if share is not None]
        broken = "in one piece" if not self.breaks else f"{self.breaks} breaks inside"
        return ", ".join([f"{self.end_s - self.start_s:.1f} s", *said, broken])


def best_take(
    line: Timeline,
    *,
    shortest_s: float,
    longest_s: float,
    wanted_s: float,
    facing: FacingLimits,
    starts: Iterable[float],
) -> Take | None:
    """The take with the best score, None when no pause allows one within the limits.

    ``starts`` are the moments at which it may start. From the length ``wanted_s`` on more is no
    better; ``facing`` says which seconds count as turned to the lens.
    """
    pauses, breaks = _pauses(line), _breaks(line)
    ends = _ends(line, pauses)
    broken_from = sorted(each.start_s for each in breaks)
    broken_to = sorted(each.end_s for each in breaks)
    speaking = [second.speaking for second in line.seconds]
    still = [second.still for second in line.seconds]
    seen = [second.seen for second in line.seconds]
    faced = [second.facing(facing) for second in line.seconds]

    def take(start: float, end: float) -> Take:
        first, last = round(start), max(round(start) + 1, round(end))
        middle = (first + last) // 2
        spoken, listened = share_held(speaking[first:middle]), share_held(still[middle:last])
        return Take(
            start_s=round(start, 3),
            end_s=round(end, 3),
            structure=None if spoken is None or listened is None else (spoken + listened) / 2,
            seen=share_held(seen[first:last]),
            facing=share_held(faced[first:last]),
            length=min(1.0, (end - start) / wanted_s) if wanted_s else 1.0,
            breaks=bisect_left(broken_from, end) - bisect_right(broken_to, start),
        )

    takes = (
        take(start, end)
        for start in starts
        for end in _between(ends, start + shortest_s, start + longest_s, pauses)
    )
    return max(
        takes,
        key=lambda take: (round(take.score / _EQUAL), -take.start_s, take.end_s),
        default=None,
    )


def possible_starts(line: Timeline) -> tuple[float, ...]:
    """The beginning, a breath before each first word, and where a break ends in a pause."""
    pauses = _pauses(line)
    words = {pause.end_s - min(LEAD_S, pause.duration_s / 2) for pause in pauses}
    after = {each.end_s for each in _breaks(line) if _within(pauses, each.end_s)}
    return tuple(sorted({0.0, *words, *after}))


def before_word(line: Timeline, word_s: float) -> float:
    """Where to cut before a word: in the pause before it, or else just before it."""
    for pause in _pauses(line):
        if pause.start_s < word_s <= pause.end_s + LEAD_S:
            end = min(pause.end_s, word_s)
            return end - min(LEAD_S, (end - pause.start_s) / 2)
    return max(0.0, word_s - _LEAST_LEAD_S)


def _pauses(line: Timeline) -> list[Span]:
    found: list[Span] = []
    silent_from = 0.0
    for span in line.speech:
        if span.start_s > silent_from:
            found.append(Span(start_s=silent_from, end_s=span.start_s))
        silent_from = max(silent_from, span.end_s)
    if line.duration_s > silent_from:
        found.append(Span(start_s=silent_from, end_s=line.duration_s))
    return found


def _ends(line: Timeline, pauses: Sequence[Span]) -> list[float]:
    """A breath after each last word, every second of a pause, and where a break begins in one."""
    breaths = [pause.start_s + min(TAIL_S, pause.duration_s / 2) for pause in pauses]
    seconds = (
        float(second)
        for breath, pause in zip(breaths, pauses, strict=True)
        for second in range(math.ceil(breath), math.ceil(pause.end_s))
    )
    before = (each.start_s for each in _breaks(line) if _within(pauses, each.start_s))
    return sorted({*breaths, *seconds, *before, line.duration_s})


def _between(
    ends: Sequence[float], earliest: float, latest: float, pauses: Sequence[Span]
) -> Iterable[float]:
    """The ends within the limits, and the latest moment itself where it is in a pause."""
    yield from ends[bisect_left(ends, earliest) : bisect_right(ends, latest)]
    if ends and latest < ends[-1] and _within(pauses, latest):
        yield latest


def _breaks(line: Timeline) -> list[Span]:
    """What a take should not hold. A span begins before the break may begin, and ends just before
    the first frame after it, whose time is rounded."""
    moments = [(moment, moment) for moment in (*line.cuts, *line.exposure_steps)]
    spans = [(span.start_s, span.end_s) for span in (*line.freezes, *line.black)]
    return [
        Span(start_s=max(0.0, start - _UNSEEN_S), end_s=max(end - 1e-3, 1e-3))
        for start, end in sorted((*moments, *spans))
    ]


def _within(pauses: Sequence[Span], moment: float) -> bool:
    before = bisect_right(pauses, moment, key=lambda pause: pause.start_s)
    return before > 0 and moment <= pauses[before - 1].end_s
