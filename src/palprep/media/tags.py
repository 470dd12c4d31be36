"""How many tags, chapters and edits a recording or video lists, before a library reads them.

FFmpeg looks through all tags for each one that it reads: 200,000 of them, which take 4 MB, keep it
busy for minutes, in whatever container they stand. Of an edit it keeps half a kilobyte.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import BinaryIO, Literal

from palprep.errors import DamagedMedia
from palprep.media import ebml, isobmff
from palprep.media.sniff import seven_bits

MOST_TAGS = 10_000
"""A recording with a chapter every ten seconds has fewer in a day."""

_DEEPEST = 16
"""Lists in lists; FFmpeg follows as many."""


def require_few_tags(file: BinaryIO, demuxer: str, name: str) -> None:
    """Raises DamagedMedia for a file that lists more tags, chapters and edits than any honest one.

    ``demuxer`` is FFmpeg's name of what will read it. Reads headers, and all of an Ogg file, each
    part of which may bring its own.
    """
    listed = 0
    for count in _COUNTS[demuxer](file) if demuxer in _COUNTS else ():
        listed += count
        if listed > MOST_TAGS:
            raise DamagedMedia(
                f"{name} lists more than {MOST_TAGS:,} tags, chapters or edits; export it again "
                "without them"
            )


# WAV and AVI

_MEDIA_LIST = b"movi"
_MOST_CHUNKS = 200_000


def _in_riff(file: BinaryIO) -> Iterator[int]:
    """The texts and labels of lists, the points of cues, the frames of ID3 in a chunk."""
    size = file.seek(0, 2)
    file.seek(0)
    order: Literal["big", "little"] = "big" if file.read(4) == b"RIFX" else "little"
    return _in_chunks(file, 12, size, order, 0)


def _in_chunks(
    file: BinaryIO, start: int, end: int, order: Literal["big", "little"], depth: int
) -> Iterator[int]:
    for _ in range(_MOST_CHUNKS):
        file.seek(start)
        head = file.read(12)
        if start >= end or len(head) < 8:
            return
        name, size = head[:4], int.from_bytes(head[4:8], order)
        if name == b"LIST":
            if head[8:] != _MEDIA_LIST and depth < _DEEPEST:
                inside = min(end, start + 8 + size)
                yield from _in_chunks(file, start + 12, inside, order, depth + 1)
        elif name == b"cue ":
            yield int.from_bytes(head[8:], order)
        elif name.upper() == b"ID3 ":
            yield from _id3_frames(file, start + 8)
        elif depth:
            yield 1
        start += 8 + size + size % 2


# ISO base media: MP4 and QuickTime

_BOXES_INSIDE = frozenset(
    {b"moov", b"trak", b"edts", b"udta", b"meta", b"ilst", b"mdia", b"minf", b"moof", b"traf"}
)
_BOXES_OF_TAGS = frozenset({b"udta", b"ilst"})
_BOXES_WITH_COUNTS = frozenset({b"keys", b"elst"})
"""They say how many entries they have, which FFmpeg believes when it asks for memory."""


def _in_boxes(file: BinaryIO) -> Iterator[int]:
    return _in_box(file, 0, file.seek(0, 2), 0, tags=False)


def _in_box(file: BinaryIO, start: int, end: int, depth: int, *, tags: bool) -> Iterator[int]:
    for box in isobmff.children(file, start, end):
        if tags:
            yield 1
        if box.kind in _BOXES_INSIDE and depth < _DEEPEST:
            body, inside = _behind_version(file, box), min(box.end, end)
            yield from _in_box(file, body, inside, depth + 1, tags=box.kind in _BOXES_OF_TAGS)
        elif box.kind in _BOXES_WITH_COUNTS:
            file.seek(box.body + 4)
            yield int.from_bytes(file.read(4), "big")


def _behind_version(file: BinaryIO, box: isobmff.IsoBox) -> int:
    """Where the boxes inside begin: ``meta`` has a version in MP4, and none in QuickTime."""
    if box.kind != b"meta":
        return box.body
    file.seek(box.body + 4)
    return box.body if file.read(4) == b"hdlr" else box.body + 4


# EBML: WebM and Matroska, by RFC 9559

_SEGMENT, _CLUSTER = 0x18538067, 0x1F43B675
_SEEK_HEAD, _SEEK, _SEEK_POSITION = 0x114D9B74, 0x4DBB, 0x53AC
_TAGS, _TAG, _SIMPLE_TAG = 0x1254C367, 0x7373, 0x67C8
_CHAPTERS, _EDITION, _CHAPTER, _DISPLAY = 0x1043A770, 0x45B9, 0xB6, 0x80
_ATTACHMENTS, _ATTACHED = 0x1941A469, 0x61A7
_CUES = 0x1C53BB6B
_LISTED = frozenset({_SIMPLE_TAG, _CHAPTER, _DISPLAY, _ATTACHED})
_LISTS = _LISTED | {_TAGS, _TAG, _CHAPTERS, _EDITION, _ATTACHMENTS, _CUES}
_CUES_FOR_A_TAG = 10
"""FFmpeg sorts cues in quicker than tags, and a long video has many."""


def _in_matroska(file: BinaryIO) -> Iterator[int]:
    """What stands before the media, and what the index says stands elsewhere."""
    size = file.seek(0, 2)
    for segment in ebml.elements(file, 0, size):
        if segment.number == _SEGMENT:
            start, end = segment.body, min(segment.end or size, size)
            first = ebml.elements(file, start, end)
            found = list(itertools.takewhile(lambda each: each.number != _CLUSTER, first))
            for position in _sought(file, tuple(found), end):
                found += itertools.islice(ebml.elements(file, start + position, end), 1)
            for element in {each.body: each for each in found}.values():
                yield from _in_element(file, element, end, 0)


def _sought(file: BinaryIO, found: Iterable[ebml.Element], end: int) -> Iterator[int]:
    """Where the index says that elements stand, from the start of the segment."""
    for head in (each for each in found if each.number == _SEEK_HEAD):
        for seek in ebml.elements(file, head.body, min(head.end or end, end)):
            for part in ebml.elements(file, seek.body, min(seek.end or end, end)):
                if (seek.number, part.number) == (_SEEK, _SEEK_POSITION):
                    yield int.from_bytes(ebml.content(file, part, 8), "big")


def _in_element(file: BinaryIO, outer: ebml.Element, end: int, depth: int) -> Iterator[int]:
    if outer.number not in _LISTS or depth > _DEEPEST:
        return
    inside = ebml.elements(file, outer.body, min(outer.end or end, end))
    if outer.number == _CUES:
        yield sum(1 for _ in inside) // _CUES_FOR_A_TAG
        return
    if outer.number in _LISTED:
        yield 1
    for element in inside:
        yield from _in_element(file, element, end, depth + 1)


# MP3, FLAC and Ogg: comments, counted by their headers

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
_MOST_PROGRAM_BYTES = 1_024
"""What comments may say of the program that wrote them. More would reach into the next page, and
hide how many there are."""
_CHUNK_BYTES = 1 << 20
_KEPT_BYTES = 7
"""Of the last chunk, so that no opening is missed between two."""


def _in_front(file: BinaryIO) -> Iterator[int]:
    """The frames of each ID3v2 tag in front of a recording, then the comments of FLAC."""
    start = 0
    while (ends := _id3_end(file, start)) is not None:
        yield from _id3_frames(file, start)
        start = ends
    file.seek(start)
    if file.read(4) != b"fLaC":
        return
    for _ in range(_MOST_BLOCKS):
        header = file.read(4)
        if len(header) == 4 and header[0] & 0x7F == _FLAC_COMMENTS:
            # RFC 9639, section 8.6: the program that wrote them, and how many there are.
            file.seek(_number(file), 1)
            yield _number(file)
        if len(header) < 4 or header[0] & 0x7F == _FLAC_COMMENTS or header[0] & 0x80:
            return
        file.seek(int.from_bytes(header[1:], "big"), 1)


def _id3_frames(file: BinaryIO, start: int) -> Iterator[int]:
    """One for each frame of a tag (ID3v2.3, section 3.3), up to the padding."""
    ends = _id3_end(file, start)
    if ends is None:
        return
    file.seek(start + 3)
    version = file.read(_ID3_BYTES - 3)[0]
    length, name = (6, 3) if version <= _FRAMES_WITH_SIX_BYTES else (_ID3_BYTES, 4)
    while file.tell() < ends:
        frame = file.read(length)
        if len(frame) < length or not frame[0]:
            return
        yield 1
        size = frame[name : name + name]
        seven = version >= _SIZES_OF_SEVEN_BITS
        file.seek(seven_bits(size) if seven else int.from_bytes(size, "big"), 1)


def _id3_end(file: BinaryIO, start: int) -> int | None:
    """Where an ID3v2 tag ends; None where none starts."""
    file.seek(start)
    header = file.read(_ID3_BYTES)
    if len(header) < _ID3_BYTES or not header.startswith(b"ID3"):
        return None
    return start + _ID3_BYTES + seven_bits(header[6:])


def _in_ogg(file: BinaryIO) -> Iterator[int]:
    """The comments of each stream, and of each part of a chain, wherever it begins."""
    start, kept = 0, b""
    while file.seek(start) >= 0 and (chunk := file.read(_CHUNK_BYTES)):
        data, first = kept + chunk, start - len(kept)
        for opening in (match for each in _OGG_OPENINGS for match in re.finditer(each, data)):
            file.seek(first + opening.end())
            program = _number(file)
            if program > _MOST_PROGRAM_BYTES:
                yield MOST_TAGS + 1
            file.seek(program, 1)
            yield _number(file)
        start, kept = start + len(chunk), data[-_KEPT_BYTES:]


def _number(file: BinaryIO) -> int:
    return int.from_bytes(file.read(4), "little")


_COUNTS: Mapping[str, Callable[[BinaryIO], Iterator[int]]] = MappingProxyType(
    {
        "mp3": _in_front,
        "flac": _in_front,
        "ogg": _in_ogg,
        "wav": _in_riff,
        "avi": _in_riff,
        "mov": _in_boxes,
        "matroska": _in_matroska,
    }
)
"""By the demuxer. MPEG's own streams hold no tags."""
