"""How many comments a recording holds: the tags of MP3, FLAC and Ogg, counted by their headers."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import BinaryIO

_ID3_BYTES = 10
_FRAMES_WITH_SIX_BYTES = 2
"""The version whose frame headers have six bytes (ID3v2.2, section 3.2); later ones have ten."""
_SIZES_OF_SEVEN_BITS = 4
"""The version from which frame sizes, too, have seven bits a byte (ID3v2.4, section 4)."""

_FLAC_COMMENTS = 4
"""The type of FLAC's metadata block with the comments."""
_MOST_BLOCKS = 1_000

_OGG_OPENINGS = (b"\x03vorbis", b"OpusTags", b"\x81theora", b"OVP80\x02 ")
"""How packets with comments begin (Vorbis I 4.2.1, RFC 7845 5.2, Theora 6.1)."""
_OGG_NEXT_PAGE = MappingProxyType({b"\x7fFLAC": 4, b"Speex   ": 0})
"""How streams begin whose comments open the next page, after so many bytes (RFC 9639, 10.1)."""
_OGG_PAGE_BYTES = 27
"""A page's header, before the lengths of its segments, the number of which it ends with."""
_MOST_PROGRAM_BYTES = 1_024
"""What comments may say of the program that wrote them. More would reach into the next page, and
hide how many there are."""
_CHUNK_BYTES = 1 << 20
_KEPT_BYTES = 7
"""Of the last chunk, so that no opening is missed between two."""

UNCOUNTED = 1 << 32
"""Comments whose number is hidden: more than any number that is stated."""


def in_front(file: BinaryIO) -> Iterator[int]:
    """The frames of each ID3v2 tag in front of a recording, then the comments of FLAC."""
    start = 0
    while (ends := _id3_end(file, start)) is not None:
        yield from id3_frames(file, start)
        start = ends
    yield _flac_comments(file, start)


def id3_frames(file: BinaryIO, start: int) -> Iterator[int]:
    """One for each frame of a tag (ID3v2.3, section 3.3), up to the padding."""
    ends = _id3_end(file, start)
    if ends is None:
        return
    file.seek(start + 3)
    version = file.read(_ID3_BYTES - 3)[0]
    short = version <= _FRAMES_WITH_SIX_BYTES
    length, name = (6, 3) if short else (_ID3_BYTES, 4)
    while file.tell() < ends:
        frame = file.read(length)
        if len(frame) < length or not frame[0]:
            return
        yield 1
        size = frame[name : name + name]
        seven = version >= _SIZES_OF_SEVEN_BITS
        file.seek(_of_seven_bits(size) if seven else int.from_bytes(size, "big"), 1)


def in_ogg(file: BinaryIO) -> Iterator[int]:
    """The comments of each stream, and of each part of a chain, wherever it begins."""
    start, kept = 0, b""
    while file.seek(start) >= 0 and (chunk := file.read(_CHUNK_BYTES)):
        data, first = kept + chunk, start - len(kept)
        for opening in (*_OGG_OPENINGS, *_OGG_NEXT_PAGE):
            at = data.find(opening)
            while at >= 0:
                yield _ogg_comments(file, first + at + len(opening), opening)
                at = data.find(opening, at + 1)
        start, kept = start + len(chunk), data[-_KEPT_BYTES:]


def _id3_end(file: BinaryIO, start: int) -> int | None:
    """Where an ID3v2 tag ends; None where none starts."""
    file.seek(start)
    header = file.read(_ID3_BYTES)
    if len(header) < _ID3_BYTES or not header.startswith(b"ID3"):
        return None
    return start + _ID3_BYTES + _of_seven_bits(header[6:])


def _of_seven_bits(size: bytes) -> int:
    """A size whose bytes have no highest bit (ID3v2.4, section 6.2)."""
    value = 0
    for byte in size:
        value = value << 7 | byte & 0x7F
    return value


def _flac_comments(file: BinaryIO, start: int) -> int:
    """Of a FLAC file (RFC 9639, section 8.6)."""
    file.seek(start)
    if file.read(4) != b"fLaC":
        return 0
    for _ in range(_MOST_BLOCKS):
        header = file.read(4)
        if len(header) < 4:
            break
        if header[0] & 0x7F == _FLAC_COMMENTS:
            return _stated(file, _number(file))
        if header[0] & 0x80:
            break
        file.seek(int.from_bytes(header[1:], "big"), 1)
    return 0


def _ogg_comments(file: BinaryIO, at: int, opening: bytes) -> int:
    file.seek(at)
    if opening not in _OGG_NEXT_PAGE:
        program = _number(file)
        return UNCOUNTED if program > _MOST_PROGRAM_BYTES else _stated(file, program)
    rest = file.read(1 << 16)
    page = rest.find(b"OggS")
    if page < 0 or len(rest) < page + _OGG_PAGE_BYTES:
        return 0
    segments = rest[page + _OGG_PAGE_BYTES - 1]
    file.seek(at + page + _OGG_PAGE_BYTES + segments + _OGG_NEXT_PAGE[opening])
    program = _number(file)
    # Without an opening of its own, this may be another stream's page.
    return 0 if program > _MOST_PROGRAM_BYTES else _stated(file, program)


def _stated(file: BinaryIO, program_bytes: int) -> int:
    """How many comments there are, behind the name of the program."""
    file.seek(program_bytes, 1)
    return _number(file)


def _number(file: BinaryIO) -> int:
    return int.from_bytes(file.read(4), "little")
