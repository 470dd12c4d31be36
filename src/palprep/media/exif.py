"""The three things that palprep reads of EXIF: orientation, GPS, thumbnail.

Read here rather than by a general parser, so that a directory that points at itself, or
counts that lie, cost nothing: each directory is visited once, and only inside the block.
Layout: CIPA DC-008 (Exif 3.0) 4.6; tags 0x0112 Orientation and 0x8825 GPSInfo.
"""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

_ORIENTATION, _GPS = 0x0112, 0x8825
_SHORT = 3
_ENTRY_BYTES = 12
_XMP_ORIENTATION = re.compile(rb"tiff:Orientation(?:=[\"']|>)\s*([1-8])\b")


class Exif(NamedTuple):
    """``orientation`` is 1..8, None when the block says nothing sensible."""

    orientation: int | None = None
    has_gps: bool = False
    has_thumbnail: bool = False


def read_exif(block: bytes | None) -> Exif:
    """What an EXIF block says, with or without its ``Exif\\0\\0`` prefix. Never raises."""
    if not block:
        return Exif()
    data = block.removeprefix(b"Exif\0\0")
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None or len(data) < 8:
        return Exif()
    (first,) = struct.unpack_from(f"{order}I", data, 4)
    entries, following = _directory(data, first, order)
    kind, value = entries.get(_ORIENTATION, (0, 0))
    turned = value if kind == _SHORT and 1 <= value <= 8 else None
    _, gps = entries.get(_GPS, (0, 0))
    # A pointer to an empty directory is what cameras write with location turned off.
    has_gps = bool(gps) and bool(_directory(data, gps, order)[0])
    has_thumbnail = bool(following) and bool(_directory(data, following, order)[0])
    return Exif(orientation=turned, has_gps=has_gps, has_thumbnail=has_thumbnail)


def xmp_orientation(packet: bytes | None) -> int | None:
    """``tiff:Orientation`` of an XMP packet, 1..8; None when it does not say."""
    found = _XMP_ORIENTATION.search(packet) if packet else None
    return int(found[1]) if found else None


def _directory(data: bytes, at: int, order: str) -> tuple[dict[int, tuple[int, int]], int]:
    """Entries as tag -> (type, first value), and the offset of the next directory or 0."""
    if at + 2 > len(data):
        return {}, 0
    (count,) = struct.unpack_from(f"{order}H", data, at)
    entries: dict[int, tuple[int, int]] = {}
    end = at + 2
    for _ in range(count):
        if end + _ENTRY_BYTES > len(data):
            return entries, 0
        tag, kind = struct.unpack_from(f"{order}HH", data, end)
        layout = "H" if kind == _SHORT else "I"
        (value,) = struct.unpack_from(f"{order}{layout}", data, end + 8)
        entries.setdefault(tag, (kind, value))
        end += _ENTRY_BYTES
    following = struct.unpack_from(f"{order}I", data, end)[0] if end + 4 <= len(data) else 0
    return entries, following
