"""Boxes of ISO base media files (mp4, mov, m4a, HEIF), read without any media library.

Layout: ISO/IEC 14496-12 (box header 4.2, ``ftyp`` 4.3, ``tkhd`` 8.3.2, ``hdlr`` 8.4.3,
``dref`` 8.7.2). Every read is bounded: a box may claim any size, so a size is
only ever compared, and never allocated. Each box of an index is visited once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from palprep.media.sources.bounds import (
    DEEPEST,
    EDIT_STEPS,
    MOST_INDEX_BYTES,
    TAG_STEPS,
    HeaderReader,
)

MAX_TABLE_BYTES = 1 << 20
"""No table that is read here needs more; longer ones are read as far as this."""


class IsoBox(NamedTuple):
    """One box: where its header starts, where its content starts, where it claims to end."""

    kind: bytes
    start: int
    body: int
    end: int


_HIDDEN_S = 0.5
"""Encoders begin a sound with 20 to 80 ms, and a picture with some frames, that are not shown."""


class DolbyVision(NamedTuple):
    """A Dolby Vision configuration record (Dolby Vision Streams Within ISOBMFF, 3.2)."""

    profile: int
    compatibility: int
    """What others may show the base layer as: 1 HDR10, 2 SDR, 4 HLG; 0 nothing."""


@dataclass(frozen=True, slots=True)
class Track:
    """One track of a movie. ``handler`` is ``vide``, ``soun``, or another four letters."""

    track_id: int
    handler: str
    chapters_in: tuple[int, ...]
    external: bool
    """Its media lies in another file."""
    encrypted: bool
    """Its samples are scrambled (ISO/IEC 23001-7): no decoder can read them."""
    dolby_vision: DolbyVision | None = None
    edits: int = 0
    """Stretches of its media that its edit list shows (8.6.6)."""
    hidden_s: float = 0.0
    """Seconds of its media that are in none of them."""


@dataclass(frozen=True, slots=True)
class Movie:
    """What the boxes of a file say, whether or not its streams decode."""

    moov_position: Literal["front", "end", "fragmented"] | None
    truncated: bool
    """A box claims bytes that the file does not have, or the index or the media is missing."""
    tracks: tuple[Track, ...]

    @property
    def is_cut(self) -> bool:
        """An edit list shows a track in several stretches, or not all of it. What it leaves out is
        in the packets, too."""
        return self.hides or any(track.edits > 1 for track in self.tracks)

    @property
    def hides(self) -> bool:
        """An edit list hides more of the picture or of the sound than what encoders begin with. A
        player that knows no edit lists shows it."""
        return any(
            track.hidden_s > _HIDDEN_S for track in self.tracks if track.handler in {"vide", "soun"}
        )

    @property
    def video_tracks(self) -> tuple[Track, ...]:
        """The video tracks, without the chapter images of an audio book."""
        chapters = {number for track in self.tracks for number in track.chapters_in}
        return tuple(
            track
            for track in self.tracks
            if track.handler == "vide" and track.track_id not in chapters
        )


def children(reader: HeaderReader, start: int, end: int) -> Iterator[IsoBox]:
    """The boxes between two offsets. A box that claims to pass ``end`` is the last one."""
    position = start
    while position + 8 <= end:
        header = reader.at(position, 16)
        if len(header) < 8:
            return
        size, kind = struct.unpack_from(">I4s", header)
        body = position + 8
        if size == 1 and len(header) == 16:
            (size,) = struct.unpack_from(">Q", header, 8)
            body = position + 16
        box_end = end if size == 0 else position + size
        if box_end < body:
            return
        yield IsoBox(kind, position, body, box_end)
        position = box_end


def read_movie(reader: HeaderReader) -> Movie:
    """The boxes of a whole file. A file that is no movie has no tracks and no ``moov``.

    Raises DamagedMedia for more boxes, tags or edits than an honest file has.
    """
    top = list(children(reader, 0, reader.size))
    index = [_node(reader, box, reader.size, 0) for box in top if box.kind in _INSIDE]
    moov = next((node for node in index if node.box.kind == b"moov"), None)
    media = [box.start for box in top if box.kind == b"mdat" and box.end - box.body > 0]
    position: Literal["front", "end", "fragmented"] | None = None
    tracks: tuple[Track, ...] = ()
    if moov is not None:
        per_s = _after_times(moov.content(reader, b"mvhd", limit=24)) or 1
        traks = (node for node in moov.inside if node.box.kind == b"trak")
        tracks = tuple(_track(reader, node, per_s) for node in traks)
        if {b"moof", b"mvex"} & {box.kind for box in (*top, *(each.box for each in moov.inside))}:
            position = "fragmented"
        else:
            position = "end" if media and media[0] < moov.box.start else "front"
    overrun = any(box.end > reader.size for box in top)
    return Movie(
        moov_position=position, truncated=overrun or moov is None or not media, tracks=tracks
    )


def read_brands(reader: HeaderReader) -> tuple[str | None, frozenset[str]]:
    """Major and compatible brands of the ``ftyp`` box, without trailing spaces."""
    for box in children(reader, 0, reader.size):
        if box.kind == b"ftyp":
            content = reader.between(box.body, box.end, 4096)
            brands = [content[at : at + 4] for at in range(0, len(content) - 3, 4)]
            words = [brand.decode("latin-1").rstrip() for brand in brands]
            return (words[0] if words else ""), frozenset(words[2:])
        if box.kind not in {b"free", b"skip", b"wide", b"JXL "}:
            return None, frozenset()
    return None, frozenset()


_INSIDE = frozenset(
    {
        *(b"moov", b"trak", b"edts", b"udta", b"meta", b"ilst", b"mdia", b"minf", b"moof", b"traf"),
        *(b"tref", b"dinf", b"stbl", b"dref", b"stsd"),
    }
)
"""Boxes that hold boxes. FFmpeg looks into the same ones, wherever they stand."""
_TABLES = frozenset({b"dref", b"stsd"})
"""Their boxes stand behind a version and a count."""
_OF_TAGS = frozenset({b"udta", b"ilst"})
_COUNTED = {b"elst": EDIT_STEPS, b"keys": TAG_STEPS}
"""Boxes that state how many entries they have, which FFmpeg believes, and the steps of each."""


class _Node(NamedTuple):
    """A box of an index, and those in it."""

    box: IsoBox
    inside: tuple[_Node, ...] = ()

    def find(self, *path: bytes) -> _Node | None:
        if not path:
            return self
        node = next((each for each in self.inside if each.box.kind == path[0]), None)
        return node and node.find(*path[1:])

    def content(self, reader: HeaderReader, *path: bytes, limit: int = MAX_TABLE_BYTES) -> bytes:
        """What stands in the box at the end of a path; nothing where there is no such box."""
        node = self.find(*path)
        return reader.between(node.box.body, node.box.end, limit) if node else b""

    def entries(self, *path: bytes) -> Iterator[IsoBox]:
        node = self.find(*path)
        return (each.box for each in (node.inside if node else ()))


def _node(reader: HeaderReader, box: IsoBox, end: int, depth: int) -> _Node:
    """The box, which ends where the one around it does, with all that stands in it."""
    box = box._replace(end=min(box.end, end))
    if box.kind in _COUNTED:
        reader.spend(_COUNTED[box.kind] * int.from_bytes(reader.at(box.body + 4, 4), "big"))
    if box.kind not in _INSIDE or depth > DEEPEST:
        return _Node(box)
    if box.end - box.body > MOST_INDEX_BYTES:
        reader.refuse("a larger index than any honest file")
    inside = []
    for each in children(reader, _first(reader, box), box.end):
        reader.spend(TAG_STEPS if box.kind in _OF_TAGS else 0)
        inside.append(_node(reader, each, box.end, depth + 1))
    return _Node(box, tuple(inside))


def _first(reader: HeaderReader, box: IsoBox) -> int:
    """Where the boxes inside begin: ``meta`` has a version in MP4, and none in QuickTime."""
    if box.kind in _TABLES:
        return box.body + 8
    if box.kind != b"meta" or reader.at(box.body + 4, 4) == b"hdlr":
        return box.body
    return box.body + 4


def _track(reader: HeaderReader, trak: _Node, per_s: int) -> Track:
    chapters = trak.content(reader, b"tref", b"chap")
    name = trak.content(reader, b"mdia", b"hdlr", limit=12)[8:12]
    references = trak.entries(b"mdia", b"minf", b"dinf", b"dref")
    samples = tuple(trak.entries(b"mdia", b"minf", b"stbl", b"stsd"))
    edits = _edits(trak.content(reader, b"edts", b"elst"), per_s)
    return Track(
        track_id=_after_times(trak.content(reader, b"tkhd", limit=32)),
        handler=name.decode("latin-1"),
        chapters_in=struct.unpack(f">{len(chapters) // 4}I", chapters[: len(chapters) & ~3]),
        # Each reference has a flag that says: in this same file.
        external=not all(
            (reader.between(each.body, each.end, 4)[3:4] or b"\0")[0] & 1 for each in references
        ),
        encrypted=any(each.kind in {b"encv", b"enca"} for each in samples),
        dolby_vision=_dolby_vision(reader, samples) if name == b"vide" else None,
        edits=len(edits),
        hidden_s=_hidden_s(reader, trak, edits) if edits else 0.0,
    )


def _after_times(head: bytes) -> int:
    """What a header has after its two times: a track its number, a movie and the media of a track
    the ticks of a second."""
    at = 20 if head[:1] == b"\x01" else 12
    return int.from_bytes(head[at : at + 4], "big")


def _edits(listed: bytes, per_s: int) -> list[tuple[int, float]]:
    """Where the stretches of an edit list begin, in ticks of the media, and how many seconds they
    last; 0 to the end. Pauses, whose time is -1, are none (8.6.6)."""
    form = struct.Struct(">QqI" if listed[:1] == b"\x01" else ">IiI")
    whole = len(listed) - (len(listed) - 8) % form.size
    entries = form.iter_unpack(listed[8:whole])
    return [(begin, length / per_s) for length, begin, _ in entries if begin != -1]


_MOST_TIMES = 1 << 16
"""Bytes that are read of the table of how long samples last: its first eight thousand entries."""


def _hidden_s(reader: HeaderReader, trak: _Node, edits: Iterable[tuple[int, float]]) -> float:
    head = trak.content(reader, b"mdia", b"mdhd", limit=32)
    stated = (head[24:32] if head[:1] == b"\x01" else head[16:20]).lstrip(b"\xff")
    times = trak.content(reader, b"mdia", b"minf", b"stbl", b"stts", limit=_MOST_TIMES)[8:]
    lasts: int = sum(
        count * each for count, each in struct.iter_unpack(">II", times[: len(times) & ~7])
    )
    per_s = _after_times(head) or 1
    end_s = max(lasts, int.from_bytes(stated, "big")) / per_s
    hidden_s = at = 0.0
    for begin, length_s in sorted(edits):
        hidden_s += max(0.0, min(begin / per_s, end_s) - at)
        at = max(at, begin / per_s + (length_s or end_s))
    return hidden_s + max(0.0, end_s - at)


_VISUAL_ENTRY = 78
"""Bytes of a visual sample entry before its boxes (12.1.3)."""


def _dolby_vision(reader: HeaderReader, samples: Iterable[IsoBox]) -> DolbyVision | None:
    for entry in samples:
        for box in children(reader, entry.body + _VISUAL_ENTRY, entry.end):
            if box.kind in {b"dvcC", b"dvvC", b"dvwC"}:
                record = reader.between(box.body, box.end, 5)
                if len(record) == 5:
                    return DolbyVision(profile=record[2] >> 1, compatibility=record[4] >> 4)
    return None
