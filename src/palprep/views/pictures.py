"""One picture for each file: what was seen of it, or just a small image of it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from palprep.errors import PalprepError
from palprep.media import thumbnail as media
from palprep.media.source import Source
from palprep.rules.report import Report
from palprep.views.portrait import VIEW_SIDE, Form, portrait_overlay
from palprep.views.timeline_image import timeline_png
from palprep.vision.models import Models


class Picture(NamedTuple):
    """An encoded image, and its media type."""

    data: bytes
    mime: str

    @property
    def data_uri(self) -> str:
        """The whole image as an address for ``<img src>``."""
        return f"data:{self.mime};base64,{base64.b64encode(self.data).decode('ascii')}"


def report_picture(
    report: Report, models: Models, *, side: int = VIEW_SIDE, form: Form = "png"
) -> Picture | None:
    """What was seen of a file: a video's timeline as PNG, or a portrait with its findings.

    ``side`` and ``form`` are the portrait's longest side in pixels and its format. None for
    what has no picture. Raises MediaError when the file can no longer be read.
    """
    timeline = report_timeline(report)
    if timeline is not None:
        return timeline
    portrait = portrait_overlay(report, models, side=side, form=form)
    return None if portrait is None else Picture(portrait, f"image/{form}")


def report_timeline(report: Report) -> Picture | None:
    """The timeline of a report's video as PNG; None for what is no video.

    Raises MediaError when the file can no longer be read.
    """
    png = timeline_png(report)
    return None if png is None else Picture(png, "image/png")


def thumbnail(path: str | Path) -> Picture:
    """A small upright JPEG of an image or a video.

    Raises MediaError for a file that has no picture or cannot be read.
    """
    return Picture(media.thumbnail(Source.of(path)), "image/jpeg")


def inline(draw: Callable[[], Picture | None]) -> str | None:
    """A picture as an address for ``<img src>``; None where there is none, or none any more.

    A page is worth reading without a picture: a file that was moved or deleted since must not
    keep it from being written.
    """
    try:
        picture = draw()
    except (PalprepError, OSError):
        return None
    return None if picture is None else picture.data_uri
