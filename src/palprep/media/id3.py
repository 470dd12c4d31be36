"""ID3v2 tags, as far as they must be known before a library reads them.

FFmpeg looks through all tags for each one that it reads: 200,000 of them, which take 4 MB, keep it
busy for a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from palprep.errors import DamagedMedia
from palprep.media.source import Source

MOST_FRAMES = 10_000
"""Frames of a tag. A recording with a chapter every ten seconds has fewer in a day."""

_HEADER_BYTES = 10
_FRAMES_WITH_SIX_BYTES = 2
"""The version whose frame headers have six bytes (ID3v2.2, section 3.2); later ones have ten."""
_SIZES_OF_SEVEN_BITS = 4
"""The version from which frame sizes, too, have seven bits a byte (ID3v2.4, section 4)."""


def require_few_tags(source: Source) -> None:
    """Raises DamagedMedia for a file that begins with an ID3v2 tag of more frames than any
    recording has. Reads the frames' headers alone.
    """
    with source.open() as file:
        for number, _ in enumerate(_frames(file), start=1):
            if number > MOST_FRAMES:
                raise DamagedMedia(
                    f"{source.name} holds more than {MOST_FRAMES:,} tags; export it again without "
                    "them"
                )


def _frames(file: BinaryIO) -> Iterator[bytes]:
    """The header of each frame (ID3v2.3, section 3.3), up to the padding."""
    header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(b"ID3"):
        return
    version, ends = header[3], _HEADER_BYTES + _of_seven_bits(header[6:])
    short = version <= _FRAMES_WITH_SIX_BYTES
    length, name = (6, 3) if short else (_HEADER_BYTES, 4)
    while file.tell() < ends:
        frame = file.read(length)
        if len(frame) < length or not frame[0]:
            return
        yield frame
        size = frame[name : name + name]
        seven = version >= _SIZES_OF_SEVEN_BITS
        file.seek(_of_seven_bits(size) if seven else int.from_bytes(size, "big"), 1)


def _of_seven_bits(size: bytes) -> int:
    """A size whose bytes have no highest bit (ID3v2.4, section 6.2)."""
    value = 0
    for byte in size:
        value = value << 7 | byte & 0x7F
    return value
