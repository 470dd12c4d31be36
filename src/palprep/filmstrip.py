"""A checked video's time line as a picture: for notebooks, report pages and the shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from palprep.media.frames import sample_frames
from palprep.media.sniff import sniff
from palprep.rules.report import Report
from palprep.rules.timeline import Second, Timeline, timeline
from palprep.vision.arrays import Pixels
from palprep.vision.lanes import Lane, draw_lanes

FRAMES = 12
FRAME_SIDE = 160

GREEN, BLUE, AMBER, GREY = (46, 139, 87), (66, 104, 196), (214, 140, 20), (110, 116, 128)


def filmstrip_png(report: Report) -> bytes | None:
    """The time line of a report's video as PNG: frames, speech, mouth, gaze, light, cuts.

    None for what is no video. Raises MediaError when the file can no longer be read.
    """
    line = timeline(report.facts) if report.facts else None
    if line is None:
        return None
    return draw_lanes(_frames(report.path, line.duration_s), lanes_of(line), line.duration_s)


def lanes_of(line: Timeline) -> tuple[Lane, ...]:
    """The rows of the picture, from top to bottom."""
    stated = [(line.consent.start_s, line.consent.end_s)] if line.consent else []
    light = [(each.at_s + 0.5, each.luma / 255) for each in line.seconds if each.luma is not None]
    return (
        Lane("Consent", GREEN, spans=stated),
        Lane("Speech", BLUE, spans=[(span.start_s, span.end_s) for span in line.speech]),
        Lane("Mouth moves", BLUE, spans=list(_where(line, lambda each: each.mouth_moves))),
        Lane("At the lens", GREEN, spans=list(_where(line, lambda each: each.facing))),
        Lane("Still", GREY, spans=list(_where(line, lambda each: each.still))),
        Lane("Light", AMBER, levels=light, marks=line.exposure_steps),
        Lane(
            "Cuts, freezes",
            GREY,
            spans=[(span.start_s, span.end_s) for span in line.freezes],
            marks=line.cuts,
        ),
    )


def _where(line: Timeline, holds: Callable[[Second], bool | None]) -> Iterator[tuple[float, float]]:
    for second in line.seconds:
        if holds(second):
            yield second.at_s, min(second.at_s + 1.0, line.duration_s)


def _frames(path: str, duration_s: float) -> list[tuple[float, Pixels]]:
    rate = FRAMES / max(duration_s, 1.0)
    frames = sample_frames(
        path, sniff(path), per_second=rate, max_side=FRAME_SIDE, key_frames_only=duration_s > FRAMES
    )
    return [(frame.at_s, frame.rgb) for frame in frames][:FRAMES]
