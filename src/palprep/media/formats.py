"""The formats that palprep knows by name: those that a role takes, and those it refuses."""

from __future__ import annotations

from types import MappingProxyType

from palprep.media.facts import MediaType
from palprep.values import Kind

_ACCEPTED: tuple[tuple[Kind, str, str, str, tuple[str, ...]], ...] = (
    (Kind.IMAGE, "jpeg", "a JPEG image", "image/jpeg", (".jpg", ".jpeg")),
    (Kind.IMAGE, "png", "a PNG image", "image/png", (".png",)),
    (Kind.IMAGE, "webp", "a WebP image", "image/webp", (".webp",)),
    (Kind.IMAGE, "heic", "a HEIC image", "image/heic", (".heic", ".heif", ".hif")),
    (Kind.IMAGE, "heif", "a HEIF image", "image/heif", (".heif", ".heic", ".hif")),
    (Kind.AUDIO, "mp3", "an MP3 recording", "audio/mpeg", (".mp3",)),
    (Kind.AUDIO, "wav", "a WAV recording", "audio/wav", (".wav",)),
    (Kind.AUDIO, "m4a", "an MPEG-4 recording", "audio/mp4", (".m4a", ".mp4")),
    (Kind.AUDIO, "flac", "a FLAC recording", "audio/flac", (".flac",)),
    (Kind.AUDIO, "ogg", "an Ogg recording", "audio/ogg", (".ogg", ".oga")),
    (Kind.AUDIO, "webm", "a WebM recording", "audio/webm", (".webm",)),
    (Kind.AUDIO, "mov", "a QuickTime recording", "video/quicktime", (".mov",)),
    (Kind.VIDEO, "mp4", "an MP4 video", "video/mp4", (".mp4",)),
    (Kind.VIDEO, "mov", "a QuickTime video", "video/quicktime", (".mov",)),
    (Kind.VIDEO, "webm", "a WebM video", "video/webm", (".webm",)),
    (Kind.VIDEO, "ogg", "an Ogg video", "video/ogg", (".ogg",)),
    (Kind.VIDEO, "mkv", "a Matroska video", "video/x-matroska", (".mkv",)),
    (Kind.VIDEO, "avi", "an AVI video", "video/x-msvideo", (".avi",)),
    (Kind.VIDEO, "mpg", "an MPEG program stream", "video/mpeg", (".mpg", ".mpeg", ".vob")),
    (Kind.VIDEO, "mts", "an MPEG transport stream", "video/mp2t", (".mts", ".m2ts", ".ts")),
)

_TYPES = MappingProxyType(
    {
        (kind, name): MediaType(
            kind=kind,
            format=name,
            description=description,
            mime=mime,
            extensions=extensions,
            accepted=True,
        )
        for kind, name, description, mime, extensions in _ACCEPTED
    }
)

DEMUXERS = MappingProxyType(
    {
        "mp3": "mp3",
        "wav": "wav",
        "m4a": "mov",
        "mp4": "mov",
        "mov": "mov",
        "flac": "flac",
        "ogg": "ogg",
        "webm": "matroska",
        "mkv": "matroska",
        "avi": "avi",
        "mpg": "mpeg",
        "mts": "mpegts",
    }
)
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
