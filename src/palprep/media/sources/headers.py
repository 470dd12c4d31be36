"""What the headers of an image say, read before a decoder sees it: EXIF, XMP, JPEG's markers.

Of EXIF, palprep reads orientation, GPS and thumbnail. It does so itself, so that directories that
point at themselves and counts that lie cost nothing: each directory is visited once, inside the
block. Layout: CIPA DC-008 (Exif 3.0) 4.6; tags 0x0112 Orientation and 0x8825 GPSInfo.

The markers of JPEG are those of ISO/IEC 10918-1, annex B. A decoder goes over the whole image once
for each scan, and over padding byte by byte. Small files can ask for minutes of either.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from palprep.media.sources import bounds

_ORIENTATION, _GPS = 0x0112, 0x8825
_SHORT = 3
_ENTRY_BYTES = 12
_XMP_ORIENTATION = re.compile(rb"tiff:Orientation(?:=[\"']|>)\s*([1-8])\b")


class Exif(NamedTuple):
    """``orientation`` is 1 to 8, None when the block says nothing sensible."""

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
    """``tiff:Orientation`` of an XMP packet, 1 to 8; None when it does not say."""
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


_SOS, _EOI, _FILL = 0xDA, 0xD9, 0xFF
_APP0, _APP14 = 0xE0, 0xEE
_COLOURS_BYTES = 16
"""Of JFIF's segment without a thumbnail; Adobe's is shorter."""
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_PROGRESSIVE = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers without a length."""
_MARKER = re.compile(rb"\xff([^\x00\xff])")
_AFTER_DATA = re.compile(rb"\xff(?=[^\x00\xd0-\xd7\xff])")
"""The end of entropy-coded data, in which 0xFF is followed by a zero or is a restart marker."""
_CHUNK = 1 << 20


def _segments(reader: bounds.HeaderReader) -> Iterator[tuple[int, int, int]]:
    """The segments between the first two bytes of a JPEG and the end of its image: the marker,
    where its length stands, and where the next one begins, behind a scan's data."""
    at = 2
    while (found := _marker(reader, at)) is not None and found[0] != _EOI:
        reader.spend(bounds.SEGMENT_STEPS)
        marker, at = found
        if marker in _ALONE:
            continue
        length = int.from_bytes(reader.at(at, 2), "big")
        if length < 2:
            return
        end = at + length
        if marker == _SOS:
            end = _behind_data(reader, end)
        yield marker, at, end
        at = end


def kept_samples(reader: bounds.HeaderReader) -> float:
    """How many samples of each pixel a decoder of this JPEG keeps from scan to scan, all components
    together: of a progressive one 3 without subsampling, 1.5 with 4:2:0; of any other none.

    Walks over the segments up to the end of the image, decoding nothing. Raises DamagedMedia for
    more scans, segments or padding than an encoder writes.
    """
    kept: float | None = None
    scans = 0
    for marker, body, end in _segments(reader):
        if kept is None and marker in _FRAMES:
            kept = _kept_samples(marker, reader.at(body + 2, end - body - 2))
        scans += marker == _SOS
        if scans > bounds.MOST_SCANS:
            reader.refuse(f"more than {bounds.MOST_SCANS} scans")
    return kept or 0.0


def without_metadata(reader: bounds.HeaderReader) -> bytes:
    """A JPEG of the same tables, frames and scans, byte for byte, and of nothing else.

    Of what applications add, two segments stay that say how the colours are to be read: JFIF's
    without a thumbnail, and Adobe's (ITU-T T.871; T.872, 6.5.3). What follows the image goes.
    """
    kept = bytearray(b"\xff\xd8")
    for marker, body, end in _segments(reader):
        content = reader.at(body, end - body)
        tells_colours = content[2:7] in {b"JFIF\0", b"Adobe"} and len(content) <= _COLOURS_BYTES
        if marker < _APP0 or (marker in {_APP0, _APP14} and tells_colours):
            kept += bytes([_FILL, marker]) + content
    return bytes(kept + b"\xff\xd9")


def walk_png(reader: bounds.HeaderReader) -> None:
    """Walk over the chunks of a PNG. Raises DamagedMedia for more than an encoder writes."""
    at = 8
    while len(head := reader.at(at, 8)) == 8:
        reader.spend(bounds.CHUNK_STEPS)
        at += 12 + int.from_bytes(head[:4], "big")


def _marker(reader: bounds.HeaderReader, at: int) -> tuple[int, int] | None:
    """The next marker, and where what belongs to it begins; None where no marker follows."""
    head = reader.at(at, 2)
    if len(head) == 2 and head[0] == _FILL != head[1]:
        return head[1], at + 2
    # Decoders pass over what stands before a marker: versions of Photoshop left some bytes there.
    passed = reader.at(at, bounds.MOST_PADDING + 2)
    found = _MARKER.search(passed)
    if found is None and len(passed) > bounds.MOST_PADDING:
        reader.refuse(f"more than {bounds.MOST_PADDING:,} bytes of padding in one place")
    return (found[1][0], at + found.end()) if found else None


def _behind_data(reader: bounds.HeaderReader, at: int) -> int:
    """Where the marker stands that ends the entropy-coded data, or the end of the file."""
    while True:
        chunk = reader.at(at, _CHUNK)
        found = _AFTER_DATA.search(chunk)
        if found or len(chunk) < _CHUNK:
            return at + (found.start() if found else len(chunk))
        # A 0xFF at the end of a chunk says nothing without the byte after it.
        at += len(chunk) - 1


def _kept_samples(marker: int, header: bytes) -> float | None:
    """Of a frame header: precision, height, width, count; of each component id, sampling, table."""
    shares = [(byte >> 4) * (byte & 15) for byte in header[7::3]]
    if not any(shares):
        return None
    return sum(shares) / max(shares) if marker in _PROGRESSIVE else 0.0
