"""How much work the headers of one file may ask for: one budget, whatever the format.

It counts steps, so that no way of nesting, repeating or pointing twice at the same bytes asks for
more. Half a million take Python less than a second, and the libraries that read the file next
about as much. Most headers are counted when the file is recognised, the tags and comments of a
recording or an AVI here, before a library reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import BinaryIO, Literal, NoReturn

from palprep.errors import DamagedMedia

MOST_STEPS = 500_000
"""A step is a header: a box, an element, a chunk. An hour of short fragments has 400,000 boxes."""

TAG_STEPS = 50
"""For a tag, a chapter, a comment, an attachment: 10,000 use up all steps. For each tag FFmpeg
looks through all that it has read: 200,000 of them, in 4 MB, keep it busy for minutes. A recording
with a chapter every ten seconds has fewer in a day."""

EDIT_STEPS = 50
"""For an entry of an edit list: FFmpeg keeps half a kilobyte of each."""

CUE_STEPS = 10
"""For an entry of Matroska's index, which FFmpeg sorts in. An hour has some thousands."""

CHUNK_STEPS = 10
"""For a chunk of a PNG, which Pillow reads in Python. 256 MiB in pieces of 8 KiB take 33,000."""

SEGMENT_STEPS = 50
"""For a segment of a JPEG. In 256 MiB, XMP and profiles in pieces of 64 KiB take 4,000."""

MOST_SCANS = 100
"""Scans of a JPEG: for each, a decoder goes over all of the image. Encoders make ten or so; 8-bit
colour cannot be divided into more than some hundred."""

MOST_PADDING = 1 << 16
"""Fill bytes in one place of a JPEG, which decoders read one by one; encoders write one, if any."""

MOST_INDEX_BYTES = 64 << 20
"""The largest index of an MP4, which FFmpeg keeps. Three hours at 240 fps take 50 MiB."""


MOST_STREAMS = 100
"""Streams of one file: FFmpeg opens a decoder for each. Cameras write ten at the most."""


class HeaderReader:
    """A file of which headers are read, at most :data:`MOST_STEPS` of them.

    ``size`` is in bytes. Every method raises DamagedMedia for one step more.
    """

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self._file = file
        self.name = name
        self._left = MOST_STEPS
        self.size = size

    def at(self, position: int, length: int) -> bytes:
        """What stands at an offset, up to so many bytes: one step. The caller bounds ``length``."""
        self.spend(1)
        self._file.seek(position)
        return self._file.read(length)

    def between(self, start: int, end: int, most: int) -> bytes:
        """What stands between two offsets, ``most`` bytes of it."""
        return self.at(start, min(end - start, most))

    def spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            self.refuse("more headers, tags, chapters or edits than any honest file")

    def refuse(self, what: str) -> NoReturn:
        """Raise DamagedMedia for a file that has this."""
        raise DamagedMedia(f"{self.name} has {what}; export it again")


DEEPEST = 16
"""Lists in lists, or boxes in boxes; FFmpeg follows as many at the most."""


def require_few_tags(reader: HeaderReader, demuxer: str) -> None:
    """Raises DamagedMedia for a file that lists more tags and chapters than any honest one.

    ``demuxer`` is FFmpeg's name of what will read it. Reads headers, and all of an Ogg file, each
    part of which may bring its own.
    """
    if demuxer in _COUNTS:
        _COUNTS[demuxer](reader)


# WAV, AVI, AIFF and CAF


def _in_chunks(
    reader: HeaderReader, order: Literal["little", "big"], start: int, end: int, depth: int = 0
) -> None:
    """The texts and labels of lists, the points of cues, the frames of ID3 in a chunk. Other texts
    of AIFF take the place of one another."""
    while start < end and len(head := reader.at(start, 12)) >= 8:
        name, size = head[:4], int.from_bytes(head[4:8], order)
        if name == b"LIST":
            if head[8:] != b"movi" and depth < DEEPEST:
                _in_chunks(reader, order, start + 12, min(end, start + 8 + size), depth + 1)
        elif name == b"cue ":
            reader.spend(TAG_STEPS * _little(head[8:]))
        elif name.upper() == b"ID3 ":
            _id3_frames(reader, start + 8)
        elif depth:
            reader.spend(TAG_STEPS)
        start += 8 + size + size % 2


def _in_caf(reader: HeaderReader) -> None:
    """Apple's strings of information; and that no more packets are listed than there are bytes,
    since FFmpeg keeps an entry of each (Core Audio Format Specification 1.0)."""
    start = 8
    while start < reader.size:
        head = reader.at(start, 20)
        if head[:4] == b"info":
            reader.spend(TAG_STEPS * int.from_bytes(head[12:16], "big"))
        elif head[:4] == b"pakt" and int.from_bytes(head[12:], "big") > reader.size:
            reader.refuse("more packets than bytes")
        # Sound whose length is not stated, as -1, ends the file.
        start += 12 + int.from_bytes(head[4:12], "big")


# MP3, FLAC and Ogg: comments, counted by their headers

_ID3_BYTES = 10
_FRAMES_WITH_SIX_BYTES = 2
"""The version whose frame headers have six bytes (ID3v2.2, section 3.2); later ones have ten."""
_SIZES_OF_SEVEN_BITS = 4
"""The version from which frame sizes, too, have seven bits a byte (ID3v2.4, section 4)."""

_FLAC_COMMENTS = 4
"""The type of FLAC's metadata block with the comments."""

_OGG_OPENINGS = re.compile(rb"\x03vorbis|OpusTags|\x81theora|OVP80\x02 ")
"""How packets with comments begin (Vorbis I 4.2.1, RFC 7845 5.2, Theora 6.1)."""
_OGG_PAGE = re.compile(rb"OggS\0.{9}(.{4}).{8}(.)", re.DOTALL)
"""A page, with the number of its stream and of its segments (RFC 3533, section 6)."""
_UNNAMED = {b"Speex   ": 0, b"\x7fFLAC": 4}
"""First packets of streams whose second one is comments with no opening of their own, and how many
bytes stand before them (the Speex manual, section 7; Ogg FLAC mapping 1.0).
"""
_MOST_PROGRAM_BYTES = 1_024
"""The longest name of the program that wrote comments. A longer one would reach into the next page,
and hide how many comments there are."""
_CHUNK_BYTES = 1 << 20
_LOOK_AHEAD = 27 + 255 + 8 + 4 + _MOST_PROGRAM_BYTES + 4
"""From where a page or an opening begins to the end of the number of comments."""


def _in_front(reader: HeaderReader) -> None:
    """The frames of each ID3v2 tag in front of a recording, then the comments of FLAC."""
    start = 0
    while (ends := _id3_frames(reader, start)) is not None:
        start = ends
    if reader.at(start, 4) != b"fLaC":
        return
    start += 4
    while len(header := reader.at(start, 4)) == 4:
        if header[0] & 0x7F == _FLAC_COMMENTS:
            # RFC 9639, section 8.6: the program that wrote them, and how many there are.
            program = _little(reader.at(start + 4, 4))
            reader.spend(TAG_STEPS * _little(reader.at(start + 8 + program, 4)))
        if header[0] & 0x80:
            return
        start += 4 + int.from_bytes(header[1:], "big")


def seven_bits(size: bytes) -> int:
    """A size whose bytes have no highest bit (ID3v2.4, section 6.2)."""
    return int("".join(f"{byte & 0x7F:07b}" for byte in size), 2)


def _id3_frames(reader: HeaderReader, start: int) -> int | None:
    """Where an ID3v2 tag ends, its frames counted (ID3v2.3, 3.3); None where none starts."""
    header = reader.at(start, _ID3_BYTES)
    if len(header) < _ID3_BYTES or not header.startswith(b"ID3"):
        return None
    reader.spend(TAG_STEPS)
    ends = start + _ID3_BYTES + seven_bits(header[6:])
    version = header[3]
    length, name = (6, 3) if version <= _FRAMES_WITH_SIX_BYTES else (_ID3_BYTES, 4)
    at = start + _ID3_BYTES
    while at < ends and len(frame := reader.at(at, length)) == length and frame[0]:
        reader.spend(TAG_STEPS)
        size = frame[name : name + name]
        seven = version >= _SIZES_OF_SEVEN_BITS
        at += length + (seven_bits(size) if seven else int.from_bytes(size, "big"))
    return ends


def _in_ogg(reader: HeaderReader) -> None:
    """The comments of each stream, and of each part of a chain, wherever it begins."""
    unnamed: dict[bytes, int] = {}
    for start in range(0, reader.size, _CHUNK_BYTES):
        data = reader.at(start, _CHUNK_BYTES + _LOOK_AHEAD)
        for opening in _OGG_OPENINGS.finditer(data):
            if opening.start() < _CHUNK_BYTES:
                _comments(reader, data, opening.end())
        for page in _OGG_PAGE.finditer(data, 0, _CHUNK_BYTES + 26):
            reader.spend(1)
            stream, first = page[1], page.end() + page[2][0]
            if (before := unnamed.pop(stream, None)) is not None:
                _comments(reader, data, first + before)
            for packet, length in _UNNAMED.items():
                if data.startswith(packet, first):
                    unnamed[stream] = length


def _comments(reader: HeaderReader, data: bytes, at: int) -> None:
    """One packet of comments: the program that wrote them, and how many there are."""
    program = _little(data[at : at + 4])
    if program > _MOST_PROGRAM_BYTES:
        reader.refuse("comments that hide how many they are")
    at += 4 + program
    reader.spend(TAG_STEPS * (1 + _little(data[at : at + 4])))


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


_COUNTS: Mapping[str, Callable[[HeaderReader], None]] = {
    "mp3": _in_front,
    "flac": _in_front,
    "ogg": _in_ogg,
    "wav": lambda reader: _in_chunks(reader, "little", 12, reader.size),
    "avi": lambda reader: _in_chunks(reader, "little", 12, reader.size),
    "aiff": lambda reader: _in_chunks(reader, "big", 12, reader.size),
    "caf": _in_caf,
}
"""By the demuxer. MPEG's own streams hold no tags."""
