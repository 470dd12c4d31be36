"""Just enough of EBML (RFC 8794) to tell WebM from Matroska and audio from video.

Element ids are those of RFC 9559. All reads are bounded; sizes are compared, not allocated. What
FFmpeg keeps in lists is counted on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from palprep.media.sources.bounds import CUE_STEPS, DEEPEST, TAG_STEPS, HeaderReader

MAGIC = b"\x1a\x45\xdf\xa3"

_HEADER, _DOC_TYPE = 0x1A45DFA3, 0x4282
_SEGMENT, _CLUSTER, _TRACKS = 0x18538067, 0x1F43B675, 0x1654AE6B
_CLUSTER_OPENINGS = frozenset({0xE7, 0xBF})
"""What a cluster begins with: its time, or the checksum in front of it."""
_TRACK_ENTRY, _TRACK_TYPE = 0xAE, 0x83
VIDEO, AUDIO = 1, 2
_SEEK_HEAD, _SEEK, _SEEK_POSITION = 0x114D9B74, 0x4DBB, 0x53AC
_TAGS, _TAG, _SIMPLE_TAG = 0x1254C367, 0x7373, 0x67C8
_CHAPTERS, _EDITION, _CHAPTER, _DISPLAY = 0x1043A770, 0x45B9, 0xB6, 0x80
_ATTACHMENTS, _ATTACHED = 0x1941A469, 0x61A7
_CUES, _CUE = 0x1C53BB6B, 0xBB
_COUNTED: Mapping[int, int] = {
    **dict.fromkeys((_SIMPLE_TAG, _CHAPTER, _DISPLAY, _ATTACHED), TAG_STEPS),
    **dict.fromkeys((_TAGS, _TAG, _CHAPTERS, _EDITION, _ATTACHMENTS, _CUES), 0),
    _CUE: CUE_STEPS,
}
"""Elements that are entries of lists, or hold them, and the steps that each costs."""

_TAIL_BYTES, _MOST_BLOCKS = 8 << 20, 20_000
"""Where the last cluster of a live recording is looked for, and how much of it is looked at:
browsers begin one every 30 s at the latest."""

_MOST_LISTS = 64
"""Lists of a segment, those that its index names included; FFmpeg remembers as many."""


class Element(NamedTuple):
    """One element; ``end`` is None when its length is unknown (a live recording)."""

    number: int
    body: int
    end: int | None

    def ends_by(self, outer: int) -> int:
        """Its end inside of one that ends at ``outer``: none reaches beyond the one that holds it,
        so that no byte is looked at more often than lists are nested."""
        return outer if self.end is None else min(self.end, outer)


def elements(reader: HeaderReader, start: int, end: int) -> Iterator[Element]:
    """The elements between two offsets, up to the first that cannot be passed over."""
    position = start
    while position < end:
        head = reader.at(position, 12)
        number, id_length = _number(head, keep_marker=True, longest=4)
        size, size_length = _number(head[id_length:], keep_marker=False, longest=8)
        if not id_length or not size_length:
            return
        body = position + id_length + size_length
        unknown = size == (1 << (7 * size_length)) - 1
        yield Element(number, body, None if unknown else body + size)
        if unknown:
            return
        position = body + size


def read_matroska(reader: HeaderReader) -> tuple[str, list[int], bool]:
    """The document type, the types of the tracks, none where the head is damaged, and whether the
    segment, or the end of a live recording, claims more bytes than the file has.

    Raises DamagedMedia for more elements, tags, chapters or cues than an honest file has.
    """
    doc_type, kinds, truncated = "", [], False
    for element in elements(reader, 0, reader.size):
        end = element.ends_by(reader.size)
        if element.number == _HEADER:
            found = next(_inside(reader, element, end, _DOC_TYPE), None)
            name = reader.between(found.body, found.end or found.body, 16) if found else b""
            doc_type = name.rstrip(b"\0").decode("latin-1")
        elif element.number == _SEGMENT:
            live = element.end is None
            truncated = _ends_within_block(reader) if live else end < (element.end or 0)
            kinds = _track_types(reader, element.body, end)
    return doc_type, kinds, truncated


def _ends_within_block(reader: HeaderReader) -> bool:
    """Whether what stands from the last cluster on reaches beyond the end of the file."""
    start = max(0, reader.size - _TAIL_BYTES)
    found = reader.at(start, _TAIL_BYTES).rfind(_CLUSTER.to_bytes(4))
    cluster = next(elements(reader, start + found, reader.size), None) if found >= 0 else None
    if cluster is None:
        return False
    inside = [*islice(elements(reader, cluster.body, reader.size), _MOST_BLOCKS)]
    # What looks like a cluster may be a piece of a picture.
    begins = bool(inside) and inside[0].number in _CLUSTER_OPENINGS
    return begins and any((each.end or 0) > reader.size for each in (cluster, inside[-1]))


def _track_types(reader: HeaderReader, start: int, end: int) -> list[int]:
    """The types of the tracks of a segment; on the way its lists are counted: those that stand
    before the media, and those that the index says stand elsewhere.
    """
    kinds: list[int] | None = None
    sought: dict[int, None] = {}
    counted: list[Element] = []
    for element in elements(reader, start, end):
        if element.number == _CLUSTER and (element.end is None or kinds is not None):
            break
        if element.number in _COUNTED:
            counted.append(element)
        if element.number == _TRACKS and kinds is None:
            kinds = list(_numbers(reader, element, end, _TRACK_ENTRY, _TRACK_TYPE))
        elif element.number == _SEEK_HEAD:
            # Counted from the start of the segment.
            places = _numbers(reader, element, end, _SEEK, _SEEK_POSITION)
            sought.update((start + each, None) for each in places)
        _count(reader, element, end, 0)
    for position in sought:
        found = next(elements(reader, position, end), None)
        if found is None or found.number not in _COUNTED or found in counted:
            continue
        if len(counted) > _MOST_LISTS:
            reader.refuse("more lists than any honest file")
        if any(each.body < found.body < each.ends_by(end) for each in counted):
            reader.refuse("an index that points into the middle of a list")
        counted.append(found)
        _count(reader, found, end, 0)
    return kinds or []


def _inside(reader: HeaderReader, outer: Element, end: int, *path: int) -> Iterator[Element]:
    """The elements at the end of a path of ids inside of ``outer``, which ends by ``end``."""
    end = outer.ends_by(end)
    for each in elements(reader, outer.body, end):
        if each.number == path[0]:
            yield from _inside(reader, each, end, *path[1:]) if path[1:] else (each,)


def _numbers(reader: HeaderReader, outer: Element, end: int, *path: int) -> Iterator[int]:
    for each in _inside(reader, outer, end, *path):
        yield int.from_bytes(reader.between(each.body, each.end or each.body, 8), "big")


def _count(reader: HeaderReader, outer: Element, end: int, depth: int) -> None:
    if outer.number not in _COUNTED or depth > DEEPEST:
        return
    reader.spend(_COUNTED[outer.number])
    if outer.number != _CUE:
        end = outer.ends_by(end)
        for element in elements(reader, outer.body, end):
            _count(reader, element, end, depth + 1)


def _number(data: bytes, *, keep_marker: bool, longest: int) -> tuple[int, int]:
    """A variable-length number and its length in bytes; length 0 when there is none."""
    if not data or not data[0]:
        return 0, 0
    length = 9 - data[0].bit_length()
    if length > longest or len(data) < length:
        return 0, 0
    value = int.from_bytes(data[:length], "big")
    return (value if keep_marker else value & ((1 << (7 * length)) - 1)), length
