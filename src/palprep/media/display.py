"""A decoded frame as a player shows it: turned, mirrored, in its aspect, in sRGB."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from av.sidedata.sidedata import SideData, SideDataContainer
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from palprep.media.hdr import HLG, PQ, as_srgb

_BT709, _UNSPECIFIED, _HD_HEIGHT = 1, 2, 720
"""Code points of ITU-T H.273, and from where on a video is in high definition."""


class DisplayMatrix(NamedTuple):
    """What a display matrix asks for: first mirror left and right, then turn."""

    quarters: int
    """Quarter turns counter-clockwise, 0 to 3."""
    mirrored: bool

    @classmethod
    def of(cls, frame: VideoFrame) -> DisplayMatrix:
        """The turn of a frame; players round to quarters."""
        quarters = round(frame.rotation / 90) % 4
        # A container of our own: the one that ``frame.side_data`` makes and the frame hold each
        # other, so that every frame's pixels would stay until Python collects cycles.
        data = SideDataContainer(frame)  # type: ignore[call-arg]  # its stub has no constructor
        matrix = data.get("DISPLAYMATRIX")
        if not isinstance(matrix, SideData):
            return cls(quarters, mirrored=False)
        # FFmpeg's own angle leaves mirroring out, and is off by a half turn where it mirrors
        # left and right.
        a, b, _, c, d = struct.unpack_from("=5i", bytes(matrix))
        if a * d - b * c >= 0:
            return cls(quarters, mirrored=False)
        if abs(c) > abs(d):
            return cls(1 if c > 0 else 3, mirrored=True)
        return cls(0 if d > 0 else 2, mirrored=True)

    def applied(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Pixels (height, width, ...) as shown; a view where nothing else is needed."""
        return np.rot90(pixels[:, ::-1] if self.mirrored else pixels, self.quarters)


def upright(frame: VideoFrame, aspect: Fraction, max_side: int | None) -> NDArray[np.uint8]:
    """A frame as RGB (height, width, 3), as shown, with sides of ``max_side`` at the most.

    ``aspect`` is the sample aspect ratio, width over height of a pixel.
    """
    width, height = max(1, round(frame.width * aspect)), frame.height
    if max_side is not None and max(width, height) > max_side:
        scale = max_side / max(width, height)
        width, height = max(1, round(width * scale)), max(1, round(height * scale))
    # Without a word of the file, swscale would take HD for standard definition.
    guessed = frame.colorspace == _UNSPECIFIED and frame.height >= _HD_HEIGHT
    hdr = frame.color_trc in {PQ, HLG}
    rgb: NDArray[Any] = frame.to_ndarray(
        format="rgb48le" if hdr else "rgb24",
        width=width,
        height=height,
        interpolation="AREA" if width < frame.width else "BILINEAR",
        src_colorspace=_BT709 if guessed else None,
    )
    if hdr:
        rgb = as_srgb(rgb, int(frame.color_trc), int(frame.color_primaries))
    return np.ascontiguousarray(DisplayMatrix.of(frame).applied(rgb), dtype=np.uint8)
