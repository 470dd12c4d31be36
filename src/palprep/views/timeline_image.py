"""A checked video's time line as a picture: for notebooks, report pages and the shell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, islice
from operator import itemgetter

from palprep.facts.timeline import Second, Timeline, timeline
from palprep.media.frames import sample_frames
from palprep.media.source import Source
from palprep.rules.report import Report
from palprep.views.lanes import Lane, draw_lanes
from palprep.vision.arrays import Pixels

FRAMES = 12
FRAME_SIDE = 240

SPARSE_S = 30.0
"""From this length on key frames are frequent enough for the strip."""

# Distinguishable with red-green blindness (Okabe and Ito 2008).
BLUE, SKY, GREEN = (0, 114, 178), (86, 180, 233), (0, 158, 115)
AMBER, ROSE, GREY = (230, 159, 0), (204, 121, 167), (110, 116, 128)


def timeline_png(report: Report) -> bytes | None:
    """The time line of a report's video as PNG: frames, speech, mouth, gaze, light, cuts.

    None for what is no video. Raises MediaError when the file can no longer be read.
    """
    line = timeline(report.facts) if report.facts else None
    if line is None:
        return None
    return draw_lanes(_frames(report.path, line), lanes_of(line), line.duration_s)


def lanes_of(line: Timeline) -> tuple[Lane, ...]:
    """The rows of the picture, from top to bottom. Consent stands there where it was heard."""
    light = [(each.at_s + 0.5, each.luma / 255) for each in line.seconds if each.luma is not None]
    spoken = [(span.start_s, span.end_s) for span in line.speech]
    rows = [
        _lane(line, "Speech", BLUE, lambda each: each.speaking, spans=spoken),
        _lane(line, "Mouth moves", SKY, lambda each: each.mouth_moves),
        _lane(line, "Face seen", GREEN, lambda each: each.seen),
        _lane(line, "At the lens", GREEN, lambda each: each.facing),
        _lane(line, "Still", GREY, lambda each: each.still),
        Lane(
            "Light",
            AMBER,
            levels=light,
            marks=line.exposure_steps,
            said=_counted(len(line.exposure_steps), "step") or "steady",
        ),
        Lane(
            "Breaks",
            GREY,
            spans=[(span.start_s, span.end_s) for span in (*line.freezes, *line.black)],
            marks=line.cuts,
            said=_broken(line),
        ),
    ]
    if line.consent is not None:
        stated = line.consent.start_s, line.consent.end_s
        said = f"{line.consent.start_s:.1f} to {line.consent.end_s:.1f} s"
        rows.insert(0, Lane("Consent", ROSE, spans=[stated], said=said))
    return tuple(rows)


def _lane(
    line: Timeline,
    label: str,
    colour: tuple[int, int, int],
    holds: Callable[[Second], bool | None],
    *,
    spans: Sequence[tuple[float, float]] | None = None,
) -> Lane:
    values = [holds(second) for second in line.seconds]
    known = [value for value in values if value is not None]
    return Lane(
        label,
        colour,
        spans=_stretches(line, values, wanted=True) if spans is None else spans,
        unknown=_stretches(line, values, wanted=None),
        said=f"{sum(known) / len(known):.0%}" if known else "not measured",
    )


def _stretches(
    line: Timeline, values: Sequence[bool | None], *, wanted: bool | None
) -> list[tuple[float, float]]:
    """Stretches of seconds, joined, whose value is the wanted one."""
    found = []
    for value, group in groupby(zip(line.seconds, values, strict=True), key=itemgetter(1)):
        seconds = [second for second, _ in group]
        if value is wanted:
            end = min(seconds[-1].at_s + 1.0, line.duration_s)
            found.append((float(seconds[0].at_s), end))
    return found


def _broken(line: Timeline) -> str:
    frozen, black = (sum(span.duration_s for span in spans) for spans in (line.freezes, line.black))
    parts = [
        _counted(len(line.cuts), "cut"),
        f"{frozen:.1f} s frozen" if frozen else "",
        f"{black:.1f} s black" if black else "",
    ]
    return ", ".join(part for part in parts if part) or "none"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}" if count else ""


def _frames(path: str, line: Timeline) -> list[tuple[float, Pixels]]:
    rate = FRAMES / max(line.duration_s, 1.0)
    frames = sample_frames(
        Source.of(path),
        per_second=rate,
        max_side=FRAME_SIDE,
        key_frames_only=line.duration_s > SPARSE_S,
    )
    return [(frame.at_s - line.starts_s, frame.rgb) for frame in islice(frames, FRAMES)]
