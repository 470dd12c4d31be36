"""How many tags a recording holds, before a library reads them.

FFmpeg looks through all tags for each one that it reads: 200,000 of them, which take 4 MB, keep it
busy for a minute.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import BinaryIO

from palprep.errors import DamagedMedia

MOST_TAGS = 10_000
"""A recording with a chapter every ten seconds has fewer in a day."""

_COMMENTS = 4
"""The type of FLAC's metadata block with the comments."""
_MOST_BLOCKS = 1_000

_HEADER_BYTES = 10
_FRAMES_WITH_SIX_BYTES = 2
"""The version whose frame headers have six bytes (ID3v2.2, section 3.2); later ones have ten."""
_SIZES_OF_SEVEN_BITS = 4
"""The version from which frame sizes, too, have seven bits a byte (ID3v2.4, section 4)."""


def require_few_tags(file: BinaryIO, name: str) -> None:
    """Raises DamagedMedia for a recording that begins with more tags than any recording has: ID3v2,
    or the comments of FLAC. Reads no more than headers.
    """
    if _comments(file) > MOST_TAGS or _frames(file) > MOST_TAGS:
        raise DamagedMedia(
            f"{name} holds more than {MOST_TAGS:,} tags; export it again without them"
        )


def _comments(file: BinaryIO) -> int:
    """The number of comments in a FLAC file (RFC 9639, section 8.6)."""
    file.seek(0)
    if file.read(4) != b"fLaC":
        return 0
    for _ in range(_MOST_BLOCKS):
        header = file.read(4)
        if len(header) < 4:
            break
        if header[0] & 0x7F == _COMMENTS:
            file.seek(int.from_bytes(file.read(4), "little"), 1)
            return int.from_bytes(file.read(4), "little")
        if header[0] & 0x80:
            break
        file.seek(int.from_bytes(header[1:], "big"), 1)
    return 0


def _frames(file: BinaryIO) -> int:
    """The number of frames in an ID3v2 tag; not counted further than needed."""
    file.seek(0)
    return sum(1 for _ in itertools.islice(_each_frame(file), MOST_TAGS + 1))


def _each_frame(file: BinaryIO) -> Iterator[bytes]:
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
