"""What a file is, by its content alone: its name is never looked at."""

from __future__ import annotations

import io
import re
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from palprep.errors import DamagedMedia
from palprep.media import ebml, formats
from palprep.media.bounds import TAG_STEPS, HeaderReader, seven_bits
from palprep.media.ebml import Matroska
from palprep.media.facts import MediaType
from palprep.media.formats import accepted, refused
from palprep.media.isobmff import Movie, read_brands, read_movie
from palprep.values import Kind

HEAD_BYTES = 65_536
"""How much of the head is looked at for signatures and text."""

_HEVC_BRANDS = frozenset({"heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"})
_HEIF_BRANDS = frozenset({"mif1", "mif2", "msf1", "miaf", "1pic"})
_AVIF_BRANDS = frozenset({"avif", "avis"})
_STILL_BRANDS = _HEVC_BRANDS | _HEIF_BRANDS | _AVIF_BRANDS
_SOUND_BRANDS = frozenset({"M4A", "M4B", "M4P"})
_OTHER_BRANDS = {
    "3g": ("3gp", "a 3GPP video of an old phone"),
    "mmp4": ("3gp", "a 3GPP video of an old phone"),
    "crx": ("cr3", "a Canon raw image"),
    "jp2": ("jpeg2000", "a JPEG 2000 image"),
    "jpx": ("jpeg2000", "a JPEG 2000 image"),
    "jxl": ("jxl", "a JPEG XL image"),
    "mjp2": ("mj2", "a Motion JPEG 2000 video"),
    "mj2s": ("mj2", "a Motion JPEG 2000 video"),
}
_BOX_OPENINGS = frozenset({b"ftyp", b"moov", b"mdat", b"wide", b"pnot", b"free", b"skip", b"styp"})


class Content(NamedTuple):
    """What a file is, with the index that was read to find out."""

    type: MediaType
    movie: Movie | None = None
    truncated: bool = False
    """The index claims more bytes than the file has, or is missing itself."""


def recognise(reader: HeaderReader) -> Content:
    """What the content of an open file is.

    Reads its head and, of mp4, mov and WebM, its index. A format outside the accepted ones is
    named for what it is, with ``accepted`` False. Raises OSError when the system refuses,
    DamagedMedia for headers that ask for too much work.
    """
    head = reader.at(0, HEAD_BYTES)
    if head[4:8] in _BOX_OPENINGS:
        return _boxed(reader)
    if head.startswith(ebml.MAGIC):
        found = ebml.read_matroska(reader)
        return Content(_matroska(found), truncated=found.truncated)
    return Content(_unboxed(reader, head))


def recognise_head(head: bytes) -> MediaType:
    """What a file is, by its first ``HEAD_BYTES`` bytes, or by all of it when it is shorter.

    Agrees with :func:`recognise` wherever the head decides, as it does for every image whose
    major brand is an image's. An MPEG-4 file whose index lies further back counts as a video.
    """
    try:
        return recognise(HeaderReader(io.BytesIO(head), len(head), "it")).type
    except DamagedMedia as error:
        return refused("damaged", error.message)


def _unboxed(reader: HeaderReader, head: bytes) -> MediaType:
    if not head:
        return refused("empty", "an empty file")
    if head.startswith(b"OggS"):
        return accepted(Kind.VIDEO if _ogg_has_pictures(head) else Kind.AUDIO, "ogg")
    return (
        formats.by_magic(head)
        or _audio_stream(reader, head)
        or formats.as_text(head)
        or refused("unknown", "in no format that palprep knows")
    )


def _boxed(reader: HeaderReader) -> Content:
    brand, compatible = read_brands(reader)
    if brand in _STILL_BRANDS:
        brands = {brand} if brand not in _HEIF_BRANDS else {brand, *compatible}
        return Content(_boxed_still(brands))
    for start, (name, description) in _OTHER_BRANDS.items():
        if brand is not None and brand.startswith(start):
            return Content(refused(name, description))
    movie = read_movie(reader)
    return Content(_movie(movie, brand, compatible), movie, movie.truncated)


def _movie(movie: Movie, brand: str | None, compatible: frozenset[str]) -> MediaType:
    quicktime = brand in {None, "qt"}
    if movie.video_tracks:
        return accepted(Kind.VIDEO, "mov" if quicktime else "mp4")
    has_sound = any(track.handler == "soun" for track in movie.tracks)
    if has_sound or brand in _SOUND_BRANDS:
        return accepted(Kind.AUDIO, "mov" if quicktime else "m4a")
    if compatible & _STILL_BRANDS and movie.moov_position is None:
        return _boxed_still(compatible)
    return accepted(Kind.VIDEO, "mov" if quicktime else "mp4")


def _boxed_still(brands: AbstractSet[str]) -> MediaType:
    if brands & _HEVC_BRANDS:
        return accepted(Kind.IMAGE, "heic")
    if brands & _AVIF_BRANDS:
        return refused("avif", "an AVIF image")
    return accepted(Kind.IMAGE, "heif")


def _matroska(found: Matroska) -> MediaType:
    if found.doc_type == "matroska" and found.pictures:
        return accepted(Kind.VIDEO, "mkv")
    if found.doc_type != "webm":
        return refused("matroska", "a Matroska file without video")
    sound_only = found.sounds and not found.pictures
    return accepted(Kind.AUDIO if sound_only else Kind.VIDEO, "webm")


def _ogg_has_pictures(head: bytes) -> bool:
    """Whether a stream that begins in the head is Theora, Dirac, OGM or VP8 (RFC 3533)."""
    for page in re.finditer(rb"OggS\0", head):
        at = page.start()
        if len(head) < at + 28 or not head[at + 5] & 2:
            # The first pages of all streams stand together; later ones begin another chain.
            return False
        packet = head[at + 27 + head[at + 26] :][:8]
        if packet.startswith((b"\x80theora", b"BBCD\0", b"\x01video", b"OVP80", b"KW-DIRAC")):
            return True
    return False


def _audio_stream(reader: HeaderReader, head: bytes) -> MediaType | None:
    """MP3 and its kin, which begin with tags of any length or with a bare frame."""
    start = 0
    while head[:3] == b"ID3" and len(head) >= 10:
        start += 10 + seven_bits(head[6:10]) + (10 if head[5] & 0x10 else 0)
        if start >= reader.size:
            return accepted(Kind.AUDIO, "mp3")
        reader.spend(TAG_STEPS)
        head = reader.at(start, HEAD_BYTES)
    if start and head.startswith(b"fLaC"):
        return accepted(Kind.AUDIO, "flac")
    layer = formats.mpeg_layer(head, size_known=start + len(head) >= reader.size, tagged=start > 0)
    if layer == "aac":
        return refused("aac", "a bare AAC stream (ADTS)")
    if layer == "mp2":
        return refused("mp2", "an MPEG layer I or II recording")
    return accepted(Kind.AUDIO, "mp3") if start or layer else None
