"""SVG without scripts, which is sharp at any size and needs no other file."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable

from palprep import vision
from palprep.escaping import escaped
from palprep.views.outcomes import GREY, Colour

INK, PAPER = (32, 36, 44), (255, 255, 255)


def drawing(width: float, height: float, parts: Iterable[str]) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
        f"{''.join(parts)}</svg>"
    )


def line(way: str, colour: Colour, width: float = 1.5, look: str = "") -> str:
    """A line along a path (SVG 2, 9.3)."""
    return f'<path d="{way}" fill="none" stroke="{css(colour)}" stroke-width="{width:g}" {look}/>'


def area(way: str, colour: Colour, opacity: float) -> str:
    """A filled path. Of two closed paths in one another, the part between them is filled."""
    shade = f'fill="{css(colour)}" fill-opacity="{opacity}" fill-rule="evenodd"'
    return f'<path d="{way}" {shade}/>'


def box(
    across: tuple[float, float], down: tuple[float, float], colour: Colour, round_by: int = 0
) -> str:
    """A filled box, ``across`` from left to right and ``down`` from top to bottom, with corners of
    the radius ``round_by``."""
    (left, right), (top, bottom) = across, down
    size = f'width="{right - left:.1f}" height="{bottom - top:.1f}" rx="{round_by}"'
    return f'<rect x="{left:.1f}" y="{top:.1f}" {size} fill="{css(colour)}"/>'


def text(
    at: tuple[float, float], words: str, size: float, colour: Colour = GREY, anchor: str = "start"
) -> str:
    """A line of text, whose start, middle or end (``anchor``) is at this place."""
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{css(colour)}">{html.escape(escaped(words))}</text>'


def picture(rgb: vision.Pixels, left: float, width: float, height: float) -> str:
    """A picture at the upper border, stretched to this size."""
    from PIL import Image  # noqa: PLC0415 -- a page with known pictures needs no decoder

    data = io.BytesIO()
    # A third smaller than a JPEG: a page holds two timelines for most people.
    Image.fromarray(rgb).save(data, "WEBP", quality=75)
    place = f'x="{left:.1f}" width="{width:.1f}" height="{height:.1f}"'
    source = f"data:image/webp;base64,{base64.b64encode(data.getvalue()).decode('ascii')}"
    return f'<image {place} preserveAspectRatio="none" href="{source}"/>'


def css(colour: Colour) -> str:
    return "#" + bytes(colour).hex()
