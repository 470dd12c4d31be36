"""What a file is, by its content alone: its name is never looked at.

The formats that palprep knows by name are those that a role takes, and those that it refuses.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import Literal, NamedTuple

from palprep.media.facts import MediaType
from palprep.media.sources import ebml
from palprep.media.sources.bounds import TAG_STEPS, HeaderReader, seven_bits
from palprep.media.sources.isobmff import Movie, read_brands, read_movie
from palprep.values import Kind

_HEAD_BYTES = 65_536
"""How much of the head is looked at for signatures and text."""

_HEVC_BRANDS = frozenset({"heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"})
_HEIF_BRANDS = frozenset({"mif1", "mif2", "msf1", "miaf", "1pic"})
_AVIF_BRANDS = frozenset({"avif", "avis"})
_STILL_BRANDS = _HEVC_BRANDS | _HEIF_BRANDS | _AVIF_BRANDS
_SOUND_BRANDS = frozenset({"M4A", "M4B", "M4P"})
_PHONE_BRANDS = ("3g", "mmp4")
"""How the brands of 3GPP files begin."""
_BOX_OPENINGS = frozenset({b"ftyp", b"moov", b"mdat", b"wide", b"pnot", b"free", b"skip", b"styp"})


_SIZE_ORDERS: Mapping[bytes, Literal["little", "big"]] = {
    b"WAVE": "little",
    b"AVI ": "little",
    b"AIFF": "big",
    b"AIFC": "big",
}
"""How the size of the whole file is written, by its form."""
_STREAMED = 0x7FFF_0000
_LEAST_LACKING = 4 << 10
"""Bytes. Some recorders and editors of tags write a little less than the head states."""
_NO_SAMPLES = re.compile(rb".?(?:[ -~]{4}|ID3|\0{31})", re.DOTALL)
"""How what may follow a WAV's samples begins, perhaps after a byte that makes them even: a chunk,
tags, padding."""


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
    head = reader.at(0, _HEAD_BYTES)
    if head[4:8] in _BOX_OPENINGS:
        return _boxed(reader)
    if head.startswith(ebml.MAGIC):
        doc_type, tracks, truncated = ebml.read_matroska(reader)
        return Content(_matroska(doc_type, tracks), truncated=truncated)
    if head.startswith(b"OggS"):
        kind = Kind.VIDEO if _ogg_has_pictures(head) else Kind.AUDIO
        return Content(accepted(kind, "ogg"), truncated=_ends_within_page(reader))
    if not head:
        return Content(refused("empty", "an empty file"))
    found = _by_magic(head)
    if found is None and (sound := _audio_stream(reader, head)):
        return sound
    found = found or _as_text(head) or refused("unknown", "in no format that palprep knows")
    return Content(found, truncated=_lacks(reader, found.format, head))


def _lacks(reader: HeaderReader, name: str, head: bytes) -> bool:
    """Whether a file of chunks is shorter than it states, or one of packets ends within one."""
    if name == "mts":
        return reader.size % _ts_packet(head) > 0
    if name == "caf":
        start = 8
        while start < reader.size:
            reader.spend(1)
            start += 12 + int.from_bytes(reader.at(start + 4, 8), "big")
        # Sound whose length is not stated, as -1, ends the file.
        return reader.size < start < 1 << 63
    if name == "mpg":
        return _ends_within_packet(reader)
    order = _SIZE_ORDERS.get(head[8:12])
    stated = int.from_bytes(head[4:8], order) if order else 0
    # Who writes into a pipe states the most that the field, or half of it, can hold.
    if name != "wav" or reader.size + _LEAST_LACKING < stated:
        return reader.size + _LEAST_LACKING < stated < _STREAMED
    front, _, data = head.partition(b"data")
    length = int.from_bytes(data[:4], "little")
    end = len(front) + 8 + length
    # Samples that go on behind their chunk: its length was written before the recording ended.
    more = length > 0 and end + _LEAST_LACKING < reader.size
    return more and not _NO_SAMPLES.match(reader.at(end, 32))


def _boxed(reader: HeaderReader) -> Content:
    brand, compatible = read_brands(reader)
    if brand in _STILL_BRANDS:
        brands = {brand} if brand not in _HEIF_BRANDS else {brand, *compatible}
        return Content(_boxed_still(brands))
    if brand is not None and brand.startswith("crx"):
        return Content(refused("cr3", "a Canon raw image"))
    movie = read_movie(reader)
    return Content(_movie(movie, brand, compatible), movie, movie.truncated)


def _movie(movie: Movie, brand: str | None, compatible: frozenset[str]) -> MediaType:
    quicktime, phone = brand in {None, "qt"}, (brand or "").startswith(_PHONE_BRANDS)
    named = "mov" if quicktime else "3gp" if phone else None
    if not movie.video_tracks:
        if brand in _SOUND_BRANDS or any(track.handler == "soun" for track in movie.tracks):
            return accepted(Kind.AUDIO, named or "m4a")
        if compatible & _STILL_BRANDS and movie.moov_position is None:
            return _boxed_still(compatible)
    return accepted(Kind.VIDEO, named or "mp4")


def _boxed_still(brands: AbstractSet[str]) -> MediaType:
    if brands & _HEVC_BRANDS:
        return accepted(Kind.IMAGE, "heic")
    if brands & _AVIF_BRANDS:
        return refused("avif", "an AVIF image")
    return accepted(Kind.IMAGE, "heif")


def _matroska(doc_type: str, tracks: Sequence[int]) -> MediaType:
    sound_only = ebml.AUDIO in tracks and ebml.VIDEO not in tracks
    if doc_type == "webm":
        return accepted(Kind.AUDIO if sound_only else Kind.VIDEO, "webm")
    if doc_type != "matroska" or not (sound_only or ebml.VIDEO in tracks):
        return refused("matroska", "a Matroska file without audio and video")
    return accepted(Kind.AUDIO, "mka") if sound_only else accepted(Kind.VIDEO, "mkv")


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


_PAGE_HEAD = 27
_MOST_PAGE_BYTES = _PAGE_HEAD + 255 + 255 * 255


def _ends_within_page(reader: HeaderReader) -> bool:
    """Whether the last page of an Ogg file is longer than what is there of it. Its head ends with
    how many segments it has; how long each of them is comes next (RFC 3533, section 6)."""
    end = reader.at(max(0, reader.size - _MOST_PAGE_BYTES), _MOST_PAGE_BYTES)
    _, opening, rest = end.rpartition(b"OggS\0")
    page = opening + rest
    if not opening:
        return False  # Something else was appended.
    if len(page) < _PAGE_HEAD:
        return True
    count = page[_PAGE_HEAD - 1]
    return len(page) < _PAGE_HEAD + count + sum(page[_PAGE_HEAD : _PAGE_HEAD + count])


def _ends_within_packet(reader: HeaderReader) -> bool:
    """Whether the last packet of an MPEG program stream is longer than what is there of it.

    Packets state their length, packs begin with the time (ISO/IEC 13818-1, 2.5.3, and 11172-1).
    One that was cut between two packets looks whole.
    """
    end = reader.at(max(0, reader.size - 2 * _MOST_PAGE_BYTES), 2 * _MOST_PAGE_BYTES)
    at = end.find(b"\0\0\1\xba")
    while 0 <= at < len(end):
        code, rest = end[at + 3 : at + 4], end[at + 4 : at + 14]
        if not (end[at : at + 3] == b"\0\0\1" and code >= b"\xb9"):
            return False  # Something else was appended, or padding.
        if code == b"\xb9":
            at += 4
        elif code == b"\xba":
            at += 14 + (rest[-1] & 7) if rest[:1] >= b"\x40" else 12
        else:
            at += 6 + int.from_bytes(rest[:2])
    return at > len(end)


def _audio_stream(reader: HeaderReader, head: bytes) -> Content | None:
    """MP3 and its kin, which begin with tags of any length or with a bare frame."""
    start = 0
    while head[:3] == b"ID3" and len(head) >= 10:
        start += 10 + seven_bits(head[6:10]) + (10 if head[5] & 0x10 else 0)
        if start >= reader.size:
            break
        reader.spend(TAG_STEPS)
        head = reader.at(start, _HEAD_BYTES)
    if not start and not _BARE_MP3.match(head):
        return None
    other = _by_magic(head) if 0 < start < reader.size else None
    lacks = reader.size + _LEAST_LACKING < start + _stated_bytes(head)
    return Content(other or accepted(Kind.AUDIO, "mp3"), truncated=lacks)


_BARE_MP3 = re.compile(rb"\0*\xff[\xe2\xe3\xf2\xf3\xfa\xfb]")
"""Frames of layer III of MPEG-1, 2 and 2.5, with and without checksums (ISO/IEC 11172-3)."""
_XING_AT = (13, 21, 36)
"""After a frame's header and side information, of MPEG-2 mono up to MPEG-1 stereo."""


def _stated_bytes(head: bytes) -> int:
    """How long an MP3 is by the frame that encoders put in front (Xing, or Info where the rate is
    constant); 0 where it says nothing. Flags come first, then how many frames, then the bytes."""
    for at in _XING_AT:
        if head[at : at + 4] in {b"Xing", b"Info"}:
            flags = int.from_bytes(head[at + 4 : at + 8])
            at_bytes = at + (12 if flags & 1 else 8)
            return int.from_bytes(head[at_bytes : at_bytes + 4]) if flags & 2 else 0
    return 0


_ACCEPTED: tuple[tuple[Kind, str, str, str, str, str], ...] = (
    (Kind.IMAGE, "jpeg", "a JPEG image", "image/jpeg", ".jpg .jpeg", ""),
    (Kind.IMAGE, "png", "a PNG image", "image/png", ".png", ""),
    (Kind.IMAGE, "webp", "a WebP image", "image/webp", ".webp", ""),
    (Kind.IMAGE, "heic", "a HEIC image", "image/heic", ".heic .heif .hif", ""),
    (Kind.IMAGE, "heif", "a HEIF image", "image/heif", ".heif .heic .hif", ""),
    (Kind.AUDIO, "mp3", "an MP3 recording", "audio/mpeg", ".mp3", "mp3"),
    (Kind.AUDIO, "wav", "a WAV recording", "audio/wav", ".wav", "wav"),
    (Kind.AUDIO, "m4a", "an MPEG-4 recording", "audio/mp4", ".m4a .mp4", "mov"),
    (Kind.AUDIO, "aac", "an AAC recording", "audio/aac", ".aac", "aac"),
    (Kind.AUDIO, "flac", "a FLAC recording", "audio/flac", ".flac", "flac"),
    (Kind.AUDIO, "ogg", "an Ogg recording", "audio/ogg", ".ogg .oga", "ogg"),
    (Kind.AUDIO, "webm", "a WebM recording", "audio/webm", ".webm", "matroska"),
    (Kind.AUDIO, "mka", "a Matroska recording", "audio/x-matroska", ".mka .mkv", "matroska"),
    (Kind.AUDIO, "mov", "a QuickTime recording", "video/quicktime", ".mov", "mov"),
    (Kind.AUDIO, "3gp", "a 3GPP recording", "audio/3gpp", ".3gp .3ga .3g2", "mov"),
    (Kind.AUDIO, "amr", "an AMR recording", "audio/amr", ".amr", "amr"),
    (Kind.AUDIO, "caf", "a Core Audio recording", "audio/x-caf", ".caf", "caf"),
    (Kind.AUDIO, "aiff", "an AIFF recording", "audio/aiff", ".aiff .aif .aifc", "aiff"),
    (Kind.VIDEO, "mp4", "an MP4 video", "video/mp4", ".mp4", "mov"),
    (Kind.VIDEO, "mov", "a QuickTime video", "video/quicktime", ".mov", "mov"),
    (Kind.VIDEO, "3gp", "a 3GPP video", "video/3gpp", ".3gp .3g2", "mov"),
    (Kind.VIDEO, "webm", "a WebM video", "video/webm", ".webm", "matroska"),
    (Kind.VIDEO, "ogg", "an Ogg video", "video/ogg", ".ogg", "ogg"),
    (Kind.VIDEO, "mkv", "a Matroska video", "video/x-matroska", ".mkv", "matroska"),
    (Kind.VIDEO, "avi", "an AVI video", "video/x-msvideo", ".avi", "avi"),
    (Kind.VIDEO, "mpg", "an MPEG program stream", "video/mpeg", ".mpg .mpeg .vob", "mpeg"),
    (Kind.VIDEO, "mts", "an MPEG transport stream", "video/mp2t", ".mts .m2ts .ts", "mpegts"),
)

_TYPES: Mapping[tuple[Kind, str], MediaType] = {
    (kind, name): MediaType(
        kind=kind,
        format=name,
        description=description,
        mime=mime,
        extensions=tuple(extensions.split()),
        accepted=True,
    )
    for kind, name, description, mime, extensions, _ in _ACCEPTED
}

DEMUXERS: Mapping[str, str] = {name: demuxer for _, name, *_, demuxer in _ACCEPTED if demuxer}
"""The one FFmpeg demuxer that may read a format; formats without one are no sound or video."""


def accepted(kind: Kind, name: str) -> MediaType:
    """The type of an accepted format. Raises KeyError for a name that is not accepted."""
    return _TYPES[kind, name]


def refused(name: str, description: str) -> MediaType:
    """A format that was recognised, or at least named, and that no role takes."""
    return MediaType(
        kind=Kind.OTHER,
        format=name,
        description=description,
        mime="application/octet-stream",
        extensions=(),
        accepted=False,
    )


_MAGIC: tuple[tuple[bytes | tuple[bytes, ...], MediaType], ...] = (
    (b"\xff\xd8\xff", accepted(Kind.IMAGE, "jpeg")),
    (b"\x89PNG\r\n\x1a\n", accepted(Kind.IMAGE, "png")),
    (b"fLaC", accepted(Kind.AUDIO, "flac")),
    # ADTS (ISO/IEC 13818-7) of MPEG-4 and of MPEG-2, with and without checksums.
    ((b"\xff\xf0", b"\xff\xf1", b"\xff\xf8", b"\xff\xf9"), accepted(Kind.AUDIO, "aac")),
    (b"caff", accepted(Kind.AUDIO, "caf")),
    (b"#!AMR", accepted(Kind.AUDIO, "amr")),
    (b"\x00\x00\x01\xba", accepted(Kind.VIDEO, "mpg")),
    ((b"GIF87a", b"GIF89a"), refused("gif", "a GIF image")),
    ((b"II*\0", b"MM\0*"), refused("tiff", "a TIFF or camera raw image")),
    (b"\x00\x00\x00\x0cJXL \r\n\x87\n", refused("jxl", "a JPEG XL image")),
    (b"8BPS", refused("psd", "a Photoshop document")),
    (b"FLV\x01", refused("flv", "a Flash video")),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", refused("asf", "a Windows Media file (WMV, WMA)")),
    (b"\x06\x0e\x2b\x34", refused("mxf", "an MXF file")),
    (b"%PDF", refused("pdf", "a PDF document")),
    (b"PK\x03\x04", refused("zip", "a ZIP archive or an Office document")),
    (b"\x1f\x8b", refused("gzip", "a gzip archive")),
    (b"7z\xbc\xaf\x27\x1c", refused("7z", "a 7-Zip archive")),
    (b"Rar!\x1a\x07", refused("rar", "a RAR archive")),
)
"""What phones, cameras, browsers, editors and mail programs make, to be called by its name.
Anything else is refused as well, as unknown."""

_TEXTS: tuple[tuple[str, str, str], ...] = (
    (r"#EXTM3U", "hls-playlist", "an HLS playlist: a list of other files, not a video"),
    (r"ffconcat version", "concat-playlist", "an ffconcat script: a list of other files"),
    (r"(?m:\A(?:#.*\n)*file\s+\S)", "concat-playlist", "a concat script: a list of other files"),
    (
        # Possessive: of a page with comments, the ways to part them double with each.
        r"(?s:(?:(?:<!--.*?-->|<[?!].*?>)\s*)*+<(?:\w+:)?MPD\b)",
        "dash-manifest",
        "a DASH manifest, not a video",
    ),
    (r"(?si:.{0,2048}<svg\b)", "svg", "an SVG drawing"),
    (r"(?si:.{0,1024}<html\b|<!doctype html)", "html", "a web page (HTML)"),
    (r"<\?xml", "xml", "an XML document"),
    (r"[\[{]", "json", "a JSON or similar text"),
)


def _ts_packet(head: bytes) -> int:
    """Bytes of a packet of an MPEG transport stream: 188, or more with a time in front of it or a
    correction of errors behind it; 0 for any other file."""
    for packet in (188, 192, 204):
        offset = 4 if packet == 192 else 0
        marks = head[offset : offset + 4 * packet : packet]
        if len(marks) >= 3 and set(marks) == {0x47}:
            return packet
    return 0


def _by_magic(head: bytes) -> MediaType | None:
    if head == b"\xff\xd8":
        return accepted(Kind.IMAGE, "jpeg")
    if head[:4] in {b"RIFF", b"RF64", b"BW64", b"FORM"}:
        return _chunked(head)
    for magic, named in _MAGIC:
        if head.startswith(magic):
            return named
    # Two letters alone would also take plain text for a bitmap.
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return refused("bmp", "a BMP image")
    return accepted(Kind.VIDEO, "mts") if _ts_packet(head) else None


def _as_text(head: bytes) -> MediaType | None:
    """What a text file is: playlists and manifests by name, the rest as text."""
    try:
        text = head.decode("utf-16" if head[:2] in {BOM_UTF16_LE, BOM_UTF16_BE} else "utf-8-sig")
    except UnicodeDecodeError as error:
        if error.end < len(head) - 4:
            return None
        text = head[: error.start].decode("utf-8", errors="ignore")
    if "\0" in text:
        return None
    stripped = text.lstrip()
    for pattern, name, description in _TEXTS:
        if re.match(pattern, stripped):
            return refused(name, description)
    return refused("text", "a text file")


def _chunked(head: bytes) -> MediaType:
    form = head[8:12]
    match form:
        case b"WAVE":
            return accepted(Kind.AUDIO, "wav")
        case b"WEBP" if head[:4] == b"RIFF":
            return accepted(Kind.IMAGE, "webp")
        case b"AVI ":
            return accepted(Kind.VIDEO, "avi")
        case b"AIFF" | b"AIFC":
            return accepted(Kind.AUDIO, "aiff")
    return refused("riff", f"a RIFF file of the form {form.decode('latin-1')!r}")
