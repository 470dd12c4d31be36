"""One picture for each file: what was seen of it, or just a small image of it."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from palprep.media import thumbnail as media
from palprep.media.source import Source
from palprep.rules.report import Report
from palprep.values import Span
from palprep.views.embedded import Embedded
from palprep.views.portrait import VIEW_SIDE, Form, portrait_overlay
from palprep.views.timeline_image import timeline_png
from palprep.views.waveform import waveform
from palprep.vision.models import Models

_STATEMENT_FRAMES = 5

_QUALITY = 82
"""Of a small timeline: its words stay sharp."""


def report_picture(
    report: Report, models: Models, *, side: int = VIEW_SIDE, form: Form = "png"
) -> Embedded | None:
    """What was seen of a file: a video's timeline as PNG, or a portrait with its findings.

    ``side`` and ``form`` are the portrait's longest side in pixels and its format. None for
    what has no picture. Raises MediaError when the file can no longer be read.
    """
    timeline = report_timeline(report)
    if timeline is not None:
        return timeline
    portrait = portrait_overlay(report, models, side=side, form=form)
    return None if portrait is None else Embedded(portrait, f"image/{form}")


def report_timeline(report: Report) -> Embedded | None:
    """The timeline of a report's video as PNG; None for what is no video.

    Raises MediaError when the file can no longer be read.
    """
    png = timeline_png(report)
    return None if png is None else Embedded(png, "image/png")


def small_timeline(report: Report) -> Embedded | None:
    """The same as WebP, in a sixth of the bytes: a page holds two timelines for most people."""
    picture = report_timeline(report)
    if picture is None:
        return None
    smaller = io.BytesIO()
    Image.open(io.BytesIO(picture.data)).save(smaller, "WEBP", quality=_QUALITY)
    return Embedded(smaller.getvalue(), "image/webp")


def report_waveform(report: Report) -> Embedded | None:
    """The waveform of a recording as SVG; None for what is no recording.

    Raises MediaError when the file can no longer be read.
    """
    if report.facts is None or report.facts.recording is None:
        return None
    return waveform_of(report.path)


def waveform_of(path: str | Path, kept: tuple[Span, ...] = ()) -> Embedded:
    """The waveform of a recording as SVG: see :func:`~palprep.views.waveform.waveform`."""
    return Embedded(waveform(Source.of(path), kept=kept), "image/svg+xml")


def thumbnail(path: str | Path, *, side: int = 480) -> Embedded:
    """A small upright JPEG of an image or a video, at most ``side`` pixels long.

    Raises MediaError for a file that has no picture or cannot be read.
    """
    return Embedded(media.thumbnail(Source.of(path), max_side=side), "image/jpeg")


def statement_frames(video: Path, statement: Span) -> tuple[tuple[float, Embedded], ...]:
    """A few small frames of the person while the statement is spoken: the time of each in
    seconds, and a JPEG.

    Raises MediaError when the video can no longer be read.
    """
    step_s = statement.duration_s / _STATEMENT_FRAMES
    times_s = [statement.start_s + (part + 0.5) * step_s for part in range(_STATEMENT_FRAMES)]
    found = media.frames_at(Source.of(video), times_s)
    return tuple((at_s, Embedded(data, "image/jpeg")) for at_s, data in found)
