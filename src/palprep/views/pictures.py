"""Pictures and sounds of files: findings drawn in, small images, contact sheets, excerpts."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from palprep.consent import ConsentFacts
from palprep.errors import PalprepError
from palprep.fixes import atomic_output, mp3_excerpt
from palprep.media import Source, frames_at, probe_audio, thumbnail as small_image
from palprep.preflight import Candidate, shared_toolkit
from palprep.rules import Report
from palprep.values import Span
from palprep.views.asset_pictures import Embedded
from palprep.views.portrait import VIEW_SIDE, Form, portrait_overlay
from palprep.views.timeline_image import timeline_png
from palprep.vision import Models

_STATEMENT_FRAMES = 5

_QUALITY = 82
"""Of a small timeline: its words stay sharp."""

MOST = 12
"""Pictures on a contact sheet; what nearly equals a better candidate is left out first."""

SIDE = 200
"""Longest side in pixels of a picture on a contact sheet."""

_AROUND_S = 1.0
"""Seconds to hear before and after the statement: what is said there counts, too."""

_MOST_S = 60.0
_BEGINNING_S = 20.0
"""Seconds of a recording: enough to hear the voice, the noise and the level."""

_LEAST_S = 0.1


def report_picture(
    report: Report, models: Models, *, side: int = VIEW_SIDE, form: Form = "png"
) -> Embedded | None:
    """What was seen of a file: a video's timeline as PNG, or a portrait with its findings.

    ``side`` and ``form`` are the portrait's longest side in pixels and its format. None for
    what has no picture. Raises MediaError when the file can no longer be read.
    """
    timeline = timeline_png(report)
    if timeline is not None:
        return Embedded(timeline, "image/png")
    portrait = portrait_overlay(report, models, side=side, form=form)
    return None if portrait is None else Embedded(portrait, f"image/{form}")


def write_picture(report: Report, target: Path) -> Path | None:
    """Write :func:`report_picture` as PNG; None where there is nothing to draw.

    It decodes the file, which workers do. Raises MediaError when the file can no longer be read,
    OutputUnwritable.
    """
    picture = report_picture(report, shared_toolkit().models)
    if picture is None:
        return None
    with atomic_output(target) as temporary:
        temporary.write_bytes(picture.data)
    return target


def small_timeline(report: Report) -> Embedded | None:
    """The timeline of a report's video as WebP, in a sixth of the bytes of a PNG: a page holds two
    timelines for most people. None for what is no video.
    """
    png = timeline_png(report)
    if png is None:
        return None
    smaller = io.BytesIO()
    Image.open(io.BytesIO(png)).save(smaller, "WEBP", quality=_QUALITY)
    return Embedded(smaller.getvalue(), "image/webp")


def thumbnail(path: str | Path, *, side: int = 480) -> Embedded:
    """A small upright JPEG of an image or a video, at most ``side`` pixels long.

    Raises MediaError for a file that has no picture or cannot be read.
    """
    return Embedded(small_image(Source.of(path), max_side=side), "image/jpeg")


def statement_frames(video: Path, statement: Span) -> tuple[tuple[float, Embedded], ...]:
    """A few small frames of the person while the statement is spoken: the time of each in
    seconds, and a JPEG.

    Raises MediaError when the video can no longer be read.
    """
    step_s = statement.duration_s / _STATEMENT_FRAMES
    times_s = [statement.start_s + (part + 0.5) * step_s for part in range(_STATEMENT_FRAMES)]
    found = frames_at(Source.of(video), times_s)
    return tuple((at_s, Embedded(data, "image/jpeg")) for at_s, data in found)


class Shot(NamedTuple):
    """One candidate on the sheet."""

    rank: int
    """From 1, among all candidates."""
    candidate: Candidate
    picture: str | None
    """An address for a ``src``; None for a file that can no longer be read."""


def shots(ranking: Iterable[Candidate]) -> tuple[Shot, ...]:
    """The best candidates that differ from each other, with their pictures."""
    numbered = [
        (rank, each) for rank, each in enumerate(ranking, start=1) if each.duplicate_of is None
    ][:MOST]
    pictures = dict(_shown(each for _, each in numbered))
    return tuple(Shot(rank, each, pictures.get((each.path, each.at_s))) for rank, each in numbered)


def _shown(candidates: Iterable[Candidate]) -> Iterator[tuple[tuple[str, float | None], str]]:
    """The picture of each, by path and time; a video is decoded once for all its frames."""
    ordered = sorted(candidates, key=lambda each: (each.path, each.at_s or 0.0))
    for path, group in groupby(ordered, key=lambda each: each.path):
        times = [each.at_s for each in group]
        with contextlib.suppress(PalprepError, OSError):
            for at_s, data in zip(times, _drawn(path, times), strict=False):
                yield (path, at_s), Embedded(data, "image/jpeg").data_uri


def _drawn(path: str, times: Iterable[float | None]) -> Iterator[bytes]:
    source = Source.of(path)
    moments = [at_s for at_s in times if at_s is not None]
    if moments:
        yield from (data for _, data in frames_at(source, moments, max_side=SIDE))
    else:
        yield small_image(source, max_side=SIDE)


def statement_sound(path: str | Path, facts: ConsentFacts) -> Embedded | None:
    """The stretch of a file in which the statement is spoken, with a second around it: MP3, mono,
    at most a minute. The opening, where the statement was not found. None without any sound.

    Raises MediaError when the file can no longer be read, ToolError when ffmpeg gives up.
    """
    source = Source.of(path)
    audio = probe_audio(source, levels=False)
    span = _heard_span(facts, audio.duration_s)
    return None if span is None else _sound(source, audio.stream.index, span)


def beginning(path: str | Path) -> Embedded:
    """The first 20 s of a recording, or of a video's sound: MP3, mono, for a page that holds it.

    Raises MediaError when the file cannot be read, ToolError when ffmpeg gives up.
    """
    source = Source.of(path)
    audio = probe_audio(source, levels=False)
    span = Span(start_s=0.0, end_s=min(_BEGINNING_S, audio.duration_s))
    return _sound(source, audio.stream.index, span)


def _sound(source: Source, stream: int, span: Span) -> Embedded:
    return Embedded(mp3_excerpt(source, stream, span), "audio/mpeg")


def _heard_span(facts: ConsentFacts, duration_s: float) -> Span | None:
    start_s = max(0.0, (facts.starts_at or 0.0) - _AROUND_S)
    end_s = duration_s if facts.ends_at is None else facts.ends_at + _AROUND_S
    end_s = min(end_s, start_s + _MOST_S, duration_s)
    return Span(start_s=start_s, end_s=end_s) if end_s - start_s >= _LEAST_S else None
