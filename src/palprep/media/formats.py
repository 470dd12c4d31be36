"""The formats that palprep knows by name: those that a role takes, those that it refuses, and the
first bytes that each begins with."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Literal

from palprep.media.facts import MediaType
from palprep.values import Kind

_ACCEPTED: tuple[tuple[Kind, str, str, str, str, str], ...] = (
    (Kind.IMAGE, "jpeg", "a JPEG image", "image/jpeg", ".jpg .jpeg", ""),
    (Kind.IMAGE, "png", "a PNG image", "image/png", ".png", ""),
    (Kind.IMAGE, "webp", "a WebP image", "image/webp", ".webp", ""),
    (Kind.IMAGE, "heic", "a HEIC image", "image/heic", ".heic .heif .hif", ""),
    (Kind.IMAGE, "heif", "a HEIF image", "image/heif", ".heif .heic .hif", ""),
    (Kind.AUDIO, "mp3", "an MP3 recording", "audio/mpeg", ".mp3", "mp3"),
    (Kind.AUDIO, "wav", "a WAV recording", "audio/wav", ".wav", "wav"),
    (Kind.AUDIO, "m4a", "an MPEG-4 recording", "audio/mp4", ".m4a .mp4", "mov"),
    (Kind.AUDIO, "flac", "a FLAC recording", "audio/flac", ".flac", "flac"),
    (Kind.AUDIO, "ogg", "an Ogg recording", "audio/ogg", ".ogg .oga", "ogg"),
    (Kind.AUDIO, "webm", "a WebM recording", "audio/webm", ".webm", "matroska"),
    (Kind.AUDIO, "mov", "a QuickTime recording", "video/quicktime", ".mov", "mov"),
    (Kind.VIDEO, "mp4", "an MP4 video", "video/mp4", ".mp4", "mov"),
    (Kind.VIDEO, "mov", "a QuickTime video", "video/quicktime", ".mov", "mov"),
    (Kind.VIDEO, "webm", "a WebM video", "video/webm", ".webm", "matroska"),
    (Kind.VIDEO, "ogg", "an Ogg video", "video/ogg", ".ogg", "ogg"),
    (Kind.VIDEO, "mkv", "a Matroska video", "video/x-matroska", ".mkv", "matroska"),
    (Kind.VIDEO, "avi", "an AVI video", "video/x-msvideo", ".avi", "avi"),
    (Kind.VIDEO, "mpg", "an MPEG program stream", "video/mpeg", ".mpg .mpeg .vob", "mpeg"),
    (Kind.VIDEO, "mts", "an MPEG transport stream", "video/mp2t", ".mts .m2ts .ts", "mpegts"),
)

_TYPES = MappingProxyType(
    {
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
)

DEMUXERS = MappingProxyType({name: demuxer for _, name, *_, demuxer in _ACCEPTED if demuxer})
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


_MAGIC: tuple[tuple[bytes, Kind, str], ...] = (
    (b"\xff\xd8\xff", Kind.IMAGE, "jpeg"),
    (b"\x89PNG\r\n\x1a\n", Kind.IMAGE, "png"),
    (b"fLaC", Kind.AUDIO, "flac"),
    (b"\x00\x00\x01\xba", Kind.VIDEO, "mpg"),
)

_REFUSED_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"GIF87a", "gif", "a GIF image"),
    (b"GIF89a", "gif", "a GIF image"),
    (b"II*\0", "tiff", "a TIFF or camera raw image"),
    (b"MM\0*", "tiff", "a TIFF or camera raw image"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "jpeg2000", "a JPEG 2000 image"),
    (b"\x00\x00\x00\x0cJXL \r\n\x87\n", "jxl", "a JPEG XL image"),
    (b"\xff\x0a", "jxl", "a JPEG XL code stream"),
    (b"\x00\x00\x01\x00", "ico", "a Windows icon"),
    (b"8BPS", "psd", "a Photoshop document"),
    (b"gimp xcf", "xcf", "a GIMP image"),
    (b"FLV\x01", "flv", "a Flash video"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf", "a Windows Media file (WMV, WMA)"),
    (b"\x06\x0e\x2b\x34", "mxf", "an MXF file"),
    (b"caff", "caf", "a Core Audio recording"),
    (b"#!AMR", "amr", "an AMR recording"),
    (b"MThd", "midi", "a MIDI score"),
    (b"%PDF", "pdf", "a PDF document"),
    (b"PK\x03\x04", "zip", "a ZIP archive or an Office document"),
    (b"\x1f\x8b", "gzip", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "rar", "a RAR archive"),
)
"""What phones, cameras, browsers, editors and mail programs make, to be called by its name.
Anything else is refused as well, as unknown."""

_TEXTS: tuple[tuple[str, str, str], ...] = (
    (r"#EXTM3U", "hls-playlist", "an HLS playlist: a list of other files, not a video"),
    (r"ffconcat version", "concat-playlist", "an ffconcat script: a list of other files"),
    (r"(?m:\A(?:#.*\n)*file\s+\S)", "concat-playlist", "a concat script: a list of other files"),
    (r"v=0\r?\n[a-z]=", "sdp", "an SDP session description: it only names a network stream"),
    (r"(?s:(?:<[?!].*?>\s*)*<(?:\w+:)?MPD\b)", "dash-manifest", "a DASH manifest, not a video"),
    (r"(?s:(?:<[?!].*?>\s*)*<SmoothStreamingMedia)", "ismc-manifest", "a streaming manifest"),
    (r"(?si:.{0,2048}<svg\b)", "svg", "an SVG drawing"),
    (r"(?si:.{0,1024}<html\b|<!doctype html)", "html", "a web page (HTML)"),
    (r"<\?xml", "xml", "an XML document"),
    (r"WEBVTT", "webvtt", "subtitles (WebVTT)"),
    (r"\{\\rtf", "rtf", "an RTF document"),
    (r"#!", "script", "a script"),
    (r"[\[{]", "json", "a JSON or similar text"),
)


def by_magic(head: bytes) -> MediaType | None:
    """The format whose signature opens the file, or None."""
    for magic, kind, name in _MAGIC:
        if head.startswith(magic) or (len(head) == 2 and head == magic[:2] == b"\xff\xd8"):
            return accepted(kind, name)
    if head[:4] in {b"RIFF", b"RF64", b"BW64", b"FORM"}:
        return _chunked(head)
    for magic, name, description in _REFUSED_MAGIC:
        if head.startswith(magic):
            return refused(name, description)
    # Two letters alone would also take plain text for a bitmap.
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return refused("bmp", "a BMP image")
    for packet in (188, 192, 204):
        offset = 4 if packet == 192 else 0
        marks = head[offset : offset + 4 * packet : packet]
        if len(marks) >= 3 and set(marks) == {0x47}:
            return accepted(Kind.VIDEO, "mts")
    return None


def as_text(head: bytes) -> MediaType | None:
    """What a text file is: playlists and manifests by name, the rest as text."""
    try:
        text = head.decode("utf-16" if head[:2] in _UTF16 else "utf-8-sig")
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


_UTF16 = frozenset({b"\xff\xfe", b"\xfe\xff"})


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
            return refused("aiff", "an AIFF recording")
    return refused("riff", f"a RIFF file of the form {form.decode('latin-1')!r}")


_BIT_RATES = {
    (1, 1): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (1, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (1, 3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 1): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 2): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (2, 3): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""In kbit/s, by MPEG-1 or 2 and the layer (ISO/IEC 11172-3 and 13818-3)."""
_SAMPLE_RATES = (44_100, 48_000, 32_000)


def mpeg_layer(
    head: bytes, *, size_known: bool, tagged: bool
) -> Literal["mp3", "mp2", "aac"] | None:
    """Which MPEG audio a file without a signature holds.

    A bare frame header is eleven bits, which chance also writes. So two frames must follow
    each other, or the file must end with the first. After a tag (``tagged``), and within the
    first kilobytes, padding and damage before the first frame are passed over.
    """
    reach = len(head) if tagged else min(len(head), 4096)
    for match in re.finditer(rb"\xff[\xe0-\xff]", head[:reach]):
        at = match.start()
        layer, length = _frame(head, at)
        if layer is None:
            continue
        following, _ = _frame(head, at + length)
        ends = size_known and at + length >= len(head) and at == 0
        if following == layer or ends:
            return layer
    return None


def _frame(data: bytes, at: int) -> tuple[Literal["mp3", "mp2", "aac"] | None, int]:
    """Layer and length in bytes of the frame at an offset (ISO/IEC 11172-3, 13818-7)."""
    header = data[at : at + 6]
    if len(header) < 6 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return None, 0
    version, code = header[1] >> 3 & 3, header[1] >> 1 & 3
    if code == 0:
        if header[1] & 0xF6 != 0xF0 or header[2] >> 2 & 15 > 12:
            return None, 0
        length = (header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5
        return ("aac", length) if length >= 7 else (None, 0)
    rate, sampling = header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or sampling == 3 or rate in {0, 15}:
        return None, 0
    mpeg, layer = 1 if version == 3 else 2, 4 - code
    bits = _BIT_RATES[mpeg, layer][rate] * 1000
    hertz = _SAMPLE_RATES[sampling] >> {3: 0, 2: 1, 0: 2}[version]
    padding = header[2] >> 1 & 1
    if layer == 1:
        return "mp2", (12 * bits // hertz + padding) * 4
    samples = 72 if (mpeg, layer) == (2, 3) else 144
    return "mp3" if layer == 3 else "mp2", samples * bits // hertz + padding
