"""The rows of a timeline, which pages and terminals draw."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from palprep.facts import FacingLimits, Timeline, share_held
from palprep.rules.texts import counted
from palprep.values import Span
from palprep.views.format import duration, position
from palprep.views.outcomes import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, Colour

_TICKS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)


class Row(NamedTuple):
    """One row of a timeline; all times in seconds."""

    label: str
    colour: Colour
    values: Sequence[bool | None] = ()
    """Yes or no for each second, None for one that was not measured. Empty for other rows."""
    spans: Sequence[Span] = ()
    """The stretches of yes, to fractions of a second if they are known."""
    unknown: Sequence[Span] = ()
    marks: Sequence[float] = ()
    """Moments that stand out."""
    levels: Sequence[tuple[float, float]] = ()
    """A curve: pairs of a time and a level from 0 to 1."""
    summary: str = ""


def rows(line: Timeline, facing: FacingLimits) -> tuple[Row, ...]:
    """The rows from top to bottom. ``facing`` says which seconds count as turned to the lens."""
    cuts, steps = _counted(line.cuts, "cut"), _counted(line.exposure_steps, "light step")
    held = (*line.freezes, *line.black)
    lasts = (_lasting(line.freezes, "frozen"), _lasting(line.black, "black"))
    broken = ", ".join(filter(None, (cuts, *lasts)))
    light = [(each.at_s + 0.5, each.luma / 255) for each in line.seconds if each.luma is not None]
    seconds = line.seconds
    speech = _row(line, "Speech", BLUE, [each.speaking for each in seconds])
    return (
        *_consent(line),
        speech._replace(spans=line.speech),
        _row(line, "Mouth", SKY, [each.mouth_moves for each in seconds]),
        _row(line, "Face", GREEN, [each.seen for each in seconds]),
        _row(line, "At lens", GREEN, [each.facing(facing) for each in seconds]),
        _row(line, "Still", GREY, [each.still for each in seconds]),
        Row("Light", ORANGE, levels=light, marks=line.exposure_steps, summary=steps or "steady"),
        Row("Breaks", GREY, spans=held, marks=line.cuts, summary=broken or "none"),
    )


def _counted(moments: Sequence[float], word: str) -> str:
    """``2 cuts``; empty for none."""
    return counted(len(moments), word, f"{word}s") if moments else ""


def _lasting(spans: Sequence[Span], word: str) -> str:
    """``1.2 s frozen``; empty for none."""
    return f"{duration(sum(span.duration_s for span in spans))} {word}" if spans else ""


def tick_every(shortest_s: float) -> int:
    """The seconds between two ticks of a scale: the first usual number from ``shortest_s`` on."""
    return next((each for each in _TICKS_S if each >= shortest_s), _TICKS_S[-1])


def _consent(line: Timeline) -> tuple[Row, ...]:
    span = line.consent
    if span is None:
        return ()
    values = [each.at_s < span.end_s and each.at_s + 1 > span.start_s for each in line.seconds]
    stretch = f"{position(span.start_s)} to {position(span.end_s)}"
    return (Row("Consent", PURPLE, values, [span], summary=stretch),)


def _row(line: Timeline, label: str, colour: Colour, values: Sequence[bool | None]) -> Row:
    held = share_held(values)
    spans, unknown = (_stretches(line, values, wanted=each) for each in (True, None))
    summary = "not measured" if held is None else f"{held:.0%}"
    return Row(label, colour, values, spans, unknown, summary=summary)


def _stretches(line: Timeline, values: Sequence[bool | None], *, wanted: bool | None) -> list[Span]:
    """The stretches of seconds with the value ``wanted``."""
    found = []
    for value, group in groupby(zip(line.seconds, values, strict=True), key=itemgetter(1)):
        seconds = [second for second, _ in group]
        if value is wanted:
            end_s = min(seconds[-1].at_s + 1.0, line.duration_s)
            found.append(Span(start_s=seconds[0].at_s, end_s=end_s))
    return found
