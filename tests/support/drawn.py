"""What stands in a drawing."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_NAMESPACE = "{http://www.w3.org/2000/svg}"


def css(colour: tuple[int, int, int]) -> str:
    return "#" + bytes(colour).hex()


def elements(svg: str | bytes, tag: str, **attributes: str) -> list[dict[str, str]]:
    """The attributes of each element of that tag that has these ones, and its words as ``text``."""
    return [
        {**each.attrib, "text": each.text or ""}
        for each in ET.fromstring(svg).iter(f"{_NAMESPACE}{tag}")  # noqa: S314 -- our own
        if attributes.items() <= each.attrib.items()
    ]


def paths(svg: str | bytes, colour: tuple[int, int, int]) -> list[str]:
    """The ways of all lines of a colour, of which there must be some."""
    found = [each["d"] for each in elements(svg, "path", stroke=css(colour))]
    assert found
    return found


def points(way: str) -> NDArray[np.float64]:
    """The corners of a path of straight lines, n x 2."""
    return np.array(re.findall(r"[ML](\S+?) ([\d.-]+)", way), float)


def boxes(svg: str, colour: tuple[int, int, int]) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of all boxes of a colour."""
    sides = ("x", "y", "width", "height")
    found = [
        [float(each[side]) for side in sides] for each in elements(svg, "rect", fill=css(colour))
    ]
    return [(x, y, x + width, y + height) for x, y, width, height in found]


def pictures(svg: str | bytes) -> Iterator[tuple[float, float, NDArray[np.uint8]]]:
    """The left side and the width of each picture in a drawing, and its pixels."""
    for each in elements(svg, "image"):
        data = base64.b64decode(each["href"].partition(",")[2])
        pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
        yield float(each["x"]), float(each["width"]), pixels
