"""HEIC and HEIF pictures by libheif, which applies their turns, mirrors and crops itself.

The library is called directly: registering it with Pillow would change what Pillow does in
the whole process, which is not for a library to decide.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

import pillow_heif
from PIL import Image

from palprep.media.isobmff import IsoBox, children

_MAX_META_BYTES = 1 << 24


class HeifImage:
    """One HEIF file: its facts without decoding, its primary picture by :meth:`decode`."""

    def __init__(self, file: BinaryIO) -> None:
        data = file.read()
        self._file = pillow_heif.open_heif(io.BytesIO(data))
        self._primary = self._file[self._file.primary_index]
        self.size: tuple[int, int] = self._primary.size
        self.mode: str = self._primary.mode
        self.has_alpha: bool = self._primary.has_alpha
        self.frames = len(self._file)
        info: dict[str, Any] = self._primary.info
        self.bits = int(info.get("bit_depth") or 8)
        self.icc: bytes | None = info.get("icc_profile")
        self.exif: bytes | None = info.get("exif")
        self.xmp: bytes | None = info.get("xmp") or None
        self.has_thumbnail = bool(info.get("thumbnails"))
        turned = _quarter_turned(io.BytesIO(data), len(data))
        self.stored_size = self.size[::-1] if turned else self.size

    def decode(self) -> Image.Image:
        """The primary picture, upright, in the mode of the facts."""
        picture: Image.Image = self._primary.to_pillow()
        return picture


def _quarter_turned(file: BinaryIO, size: int) -> bool:
    """Whether the primary item is turned by 90 or 270 degrees (``irot``, ISO/IEC 23008-12)."""
    meta = _first(file, 0, size, b"meta")
    if meta is None or meta.end - meta.body > _MAX_META_BYTES:
        return False
    start, end = meta.body + 4, min(meta.end, size)
    primary = _first(file, start, end, b"pitm")
    properties = _first(file, start, end, b"iprp")
    if primary is None or properties is None:
        return False
    container = _first(file, properties.body, properties.end, b"ipco")
    links = _first(file, properties.body, properties.end, b"ipma")
    if container is None or links is None:
        return False
    file.seek(primary.body)
    head = file.read(8)
    item = int.from_bytes(head[4:6] if head[:1] == b"\0" else head[4:8], "big")
    listed = list(children(file, container.body, min(container.end, end)))
    file.seek(links.body)
    turns = 0
    for index in _properties_of(item, file.read(min(links.end, end) - links.body)):
        if 1 <= index <= len(listed) and listed[index - 1].kind == b"irot":
            file.seek(listed[index - 1].body)
            turns += (file.read(1) or b"\0")[0]
    return turns % 2 == 1


def _properties_of(item: int, links: bytes) -> Iterator[int]:
    """One-based indices of an item's properties (``ipma``, ISO/IEC 14496-12 8.11.14)."""
    if len(links) < 8:
        return
    wide_items, wide_indices = links[0] >= 1, links[3] & 1
    at = 8
    for _ in range(int.from_bytes(links[4:8], "big")):
        number = int.from_bytes(links[at : at + (4 if wide_items else 2)], "big")
        at += 4 if wide_items else 2
        if at >= len(links):
            return
        count, step = links[at], 2 if wide_indices else 1
        at += 1
        if number == item:
            for place in range(at, min(at + count * step, len(links)), step):
                mask = 0x7FFF if wide_indices else 0x7F
                yield int.from_bytes(links[place : place + step], "big") & mask
            return
        at += count * step


def _first(file: BinaryIO, start: int, end: int, kind: bytes) -> IsoBox | None:
    return next((box for box in children(file, start, end) if box.kind == kind), None)
