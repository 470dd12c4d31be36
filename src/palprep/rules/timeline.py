"""A video second by second: who speaks, who is still, and whether it is built as wanted.

The wanted structure of a training video is the statement of consent, then speaking, then
listening in silence, half and half (public guidance for avatar footage).
"""

from __future__ import annotations

import math

from palprep.rules.facts import Facts
from palprep.rules.footage import MOVING, faces_lens
from palprep.speech.facts import Span
from palprep.values import Value

SPOKEN_SHARE = 0.3
"""A second counts as spoken when this much of it is speech: words have pauses between."""


class Second(Value):
    """One second of the video. None where it was not measured."""

    at_s: int
    speaking: bool | None = None
    mouth_moves: bool | None = None
    facing: bool | None = None
    """Head and eyes are turned to the lens."""
    face_height_share: float | None = None
    luma: float | None = None
    """Mean luma, 0 (black) to 255."""

    @property
    def still(self) -> bool | None:
        """Neither speech nor a moving mouth; None where neither was measured."""
        known = [value for value in (self.speaking, self.mouth_moves) if value is not None]
        return not any(known) if known else None


class Timeline(Value):
    """All seconds of a video, and the moments and stretches that stand out."""

    duration_s: float
    seconds: tuple[Second, ...]
    speech: tuple[Span, ...] = ()
    consent: Span | None = None
    """Where the statement of consent was spoken."""
    cuts: tuple[float, ...] = ()
    freezes: tuple[Span, ...] = ()
    exposure_steps: tuple[float, ...] = ()

    @property
    def speaking_share(self) -> float | None:
        """Share of the seconds in which somebody speaks, 0 to 1."""
        return _share([second.speaking for second in self.seconds])

    @property
    def still_share(self) -> float | None:
        """Share of the seconds of silence with a mouth at rest, 0 to 1."""
        return _share([second.still for second in self.seconds])

    @property
    def listens_at_the_end(self) -> bool | None:
        """Whether there is more stillness in the second half than in the first."""
        middle = len(self.seconds) // 2
        first = _share([second.still for second in self.seconds[:middle]])
        last = _share([second.still for second in self.seconds[middle:]])
        return None if first is None or last is None else last > first


def timeline(facts: Facts) -> Timeline | None:
    """The time line of a video, None for everything else."""
    video = facts.video
    if video is None:
        return None
    count = max(1, math.ceil(video.duration_s))
    signal, voice, consent = video.signal, facts.voice, facts.consent
    stated = consent is not None and consent.starts_at is not None and consent.ends_at is not None
    return Timeline(
        duration_s=video.duration_s,
        seconds=tuple(_seconds(facts, count)),
        speech=voice.speech if voice else (),
        consent=Span(start_s=consent.starts_at or 0.0, end_s=consent.ends_at or 0.0)
        if stated and consent
        else None,
        cuts=(signal.cuts or ()) if signal else (),
        freezes=tuple(
            Span(start_s=each.start_s, end_s=each.end_s) for each in (signal.freezes or ())
        )
        if signal
        else (),
        exposure_steps=(signal.exposure_jumps or ()) if signal else (),
    )


def _seconds(facts: Facts, count: int) -> list[Second]:
    spoken = _spoken(facts, count)
    motion, facing, heights = _person(facts, count)
    luma: list[float | None] = [None] * count
    if facts.video is not None and facts.video.signal is not None:
        for each in facts.video.signal.seconds:
            luma[_index(each.at_s, count)] = each.luma
    return [
        Second(
            at_s=at,
            speaking=spoken[at],
            mouth_moves=motion[at],
            facing=facing[at],
            face_height_share=heights[at],
            luma=luma[at],
        )
        for at in range(count)
    ]


def _spoken(facts: Facts, count: int) -> list[bool | None]:
    if facts.voice is None:
        return [None] * count
    seconds = [0.0] * count
    for span in facts.voice.speech:
        for at in range(int(span.start_s), min(count, math.ceil(span.end_s))):
            seconds[at] += max(0.0, min(span.end_s, at + 1) - max(span.start_s, at))
    return [amount >= SPOKEN_SHARE for amount in seconds]


def _person(
    facts: Facts, count: int
) -> tuple[list[bool | None], list[bool | None], list[float | None]]:
    motion: list[bool | None] = [None] * count
    facing: list[bool | None] = [None] * count
    heights: list[float | None] = [None] * count
    if facts.footage is None:
        return motion, facing, heights
    for at_s, amount in facts.footage.mouth_motion():
        at = _index(at_s, count)
        motion[at] = bool(motion[at]) or amount >= MOVING
    for sample in facts.footage.seen:
        at = _index(sample.at_s, count)
        facing[at] = facing[at] is not False and faces_lens(sample)
        heights[at] = sample.face_height_share
    return motion, facing, heights


def _index(at_s: float, count: int) -> int:
    return min(count - 1, max(0, int(at_s)))


def _share(values: list[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
