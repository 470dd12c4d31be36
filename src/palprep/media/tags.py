"""How many tags, chapters and edits a recording or video lists, before a library reads them.

FFmpeg looks through all tags for each one that it reads: 200,000 of them, which take 4 MB, keep it
busy for minutes, in whatever container they stand. Of an edit it keeps half a kilobyte.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import BinaryIO, Literal

from palprep.errors import DamagedMedia
from palprep.media import ebml, isobmff
from palprep.media.comments import id3_frames, in_front, in_ogg

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
    for count in _COUNTS.get(demuxer, _none)(file):
        listed += count
        if listed > MOST_TAGS:
            raise DamagedMedia(
                f"{name} lists more than {MOST_TAGS:,} tags, chapters or edits; export it again "
                "without them"
            )


def _none(_: BinaryIO) -> Iterator[int]:
    yield from ()


def _size_of(file: BinaryIO) -> int:
    return file.seek(0, 2)


# WAV and AVI

_MEDIA_LIST = b"movi"
_MOST_CHUNKS = 200_000


def _in_riff(file: BinaryIO) -> Iterator[int]:
    """The texts and labels of lists, the points of cues, the frames of ID3 in a chunk."""
    size = _size_of(file)
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
            yield from id3_frames(file, start + 8)
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
    return _in_box(file, 0, _size_of(file), 0, tags=False)


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
_LISTS = frozenset({_TAGS, _TAG, _CHAPTERS, _EDITION, _ATTACHMENTS, _CUES})
_LISTED = frozenset({_SIMPLE_TAG, _CHAPTER, _DISPLAY, _ATTACHED})
_CUES_FOR_A_TAG = 10
"""FFmpeg sorts cues in quicker than tags, and a long video has many."""


def _in_matroska(file: BinaryIO) -> Iterator[int]:
    """What stands before the media, and what the index says stands elsewhere."""
    size = _size_of(file)
    for segment in ebml.elements(file, 0, size):
        if segment.number == _SEGMENT:
            yield from _in_segment(file, segment.body, min(segment.end or size, size))


def _in_segment(file: BinaryIO, start: int, end: int) -> Iterator[int]:
    read: set[int] = set()
    sought: list[int] = []
    for element in ebml.elements(file, start, end):
        if element.number == _CLUSTER:
            break
        if element.number == _SEEK_HEAD:
            sought += [start + position for position in _positions(file, element, end)]
        read.add(element.body)
        yield from _in_element(file, element, end, 0)
    for position in sought:
        for element in itertools.islice(ebml.elements(file, position, end), 1):
            if element.body not in read:
                read.add(element.body)
                yield from _in_element(file, element, end, 0)


def _positions(file: BinaryIO, head: ebml.Element, end: int) -> Iterator[int]:
    for seek in ebml.elements(file, head.body, min(head.end or end, end)):
        if seek.number == _SEEK:
            for part in ebml.elements(file, seek.body, min(seek.end or end, end)):
                if part.number == _SEEK_POSITION:
                    yield int.from_bytes(ebml.content(file, part, 8), "big")


def _in_element(file: BinaryIO, outer: ebml.Element, end: int, depth: int) -> Iterator[int]:
    if outer.number not in _LISTS | _LISTED or depth > _DEEPEST:
        return
    if outer.number == _CUES:
        inside = ebml.elements(file, outer.body, min(outer.end or end, end))
        yield sum(1 for _ in inside) // _CUES_FOR_A_TAG
        return
    if outer.number in _LISTED:
        yield 1
    for element in ebml.elements(file, outer.body, min(outer.end or end, end)):
        yield from _in_element(file, element, end, depth + 1)


_COUNTS: Mapping[str, Callable[[BinaryIO], Iterator[int]]] = MappingProxyType(
    {
        "mp3": in_front,
        "flac": in_front,
        "ogg": in_ogg,
        "wav": _in_riff,
        "avi": _in_riff,
        "mov": _in_boxes,
        "matroska": _in_matroska,
    }
)
"""By the demuxer. MPEG's own streams hold no tags."""
