"""Just enough of EBML (RFC 8794) to tell WebM from Matroska and audio from video.

Element ids are those of RFC 9559. All reads are bounded; sizes are compared, not allocated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

MAGIC = b"\x1a\x45\xdf\xa3"
MAX_ELEMENTS = 200_000
"""Elements looked at on one level."""

_HEADER, _DOC_TYPE = 0x1A45DFA3, 0x4282
_SEGMENT, _CLUSTER, _TRACKS = 0x18538067, 0x1F43B675, 0x1654AE6B
_TRACK_ENTRY, _TRACK_TYPE = 0xAE, 0x83
_VIDEO, _AUDIO = 1, 2


class Element(NamedTuple):
    """One element; ``end`` is None when its length is unknown (a live recording)."""

    number: int
    body: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Matroska:
    """What the head of a Matroska or WebM file says."""

    doc_type: str
    pictures: int
    sounds: int
    truncated: bool
    """The segment claims more bytes than the file has."""


def elements(file: BinaryIO, start: int, end: int) -> Iterator[Element]:
    """The elements between two offsets, up to the first that cannot be passed over."""
    position = start
    for _ in range(MAX_ELEMENTS):
        if position >= end:
            return
        file.seek(position)
        head = file.read(12)
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


def read_matroska(file: BinaryIO, size_bytes: int) -> Matroska:
    """Document type and tracks. The tracks of a damaged head count as none."""
    doc_type, kinds, truncated = "", [], False
    for element in elements(file, 0, size_bytes):
        end = size_bytes if element.end is None else min(element.end, size_bytes)
        if element.number == _HEADER:
            doc_type = _doc_type(file, element.body, end)
        elif element.number == _SEGMENT:
            truncated = element.end is not None and element.end > size_bytes
            kinds = list(_track_types(file, element.body, end))
    return Matroska(
        doc_type=doc_type,
        pictures=kinds.count(_VIDEO),
        sounds=kinds.count(_AUDIO),
        truncated=truncated,
    )


def _doc_type(file: BinaryIO, start: int, end: int) -> str:
    for element in elements(file, start, end):
        if element.number == _DOC_TYPE:
            return content(file, element, 16).rstrip(b"\0").decode("latin-1")
    return ""


def _track_types(file: BinaryIO, start: int, end: int) -> Iterator[int]:
    for element in elements(file, start, end):
        if element.number == _CLUSTER and element.end is None:
            return
        if element.number == _TRACKS:
            for entry in elements(file, element.body, min(element.end or end, end)):
                if entry.number == _TRACK_ENTRY:
                    yield from _track_type(file, entry.body, min(entry.end or end, end))
            return


def _track_type(file: BinaryIO, start: int, end: int) -> Iterator[int]:
    for element in elements(file, start, end):
        if element.number == _TRACK_TYPE:
            yield int.from_bytes(content(file, element, 8), "big")


def content(file: BinaryIO, element: Element, limit: int) -> bytes:
    """The bytes of an element, ``limit`` of them at the most."""
    file.seek(element.body)
    return file.read(min((element.end or element.body) - element.body, limit))


def _number(data: bytes, *, keep_marker: bool, longest: int) -> tuple[int, int]:
    """A variable-length number and its length in bytes; length 0 when there is none."""
    if not data or not data[0]:
        return 0, 0
    length = 9 - data[0].bit_length()
    if length > longest or len(data) < length:
        return 0, 0
    value = int.from_bytes(data[:length], "big")
    return (value if keep_marker else value & ((1 << (7 * length)) - 1)), length
