"""The one place that opens a media file with FFmpeg's libraries.

FFmpeg guesses formats, and some formats are lists of other files or of network addresses. So
the demuxer is forced to the one that the sniffed type allows, only the ``file`` protocol is
open, and references of QuickTime files to other files are not followed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import av
import av.error
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition, Stream
from av.video.stream import VideoStream

from palprep.errors import DamagedMedia, MediaError, UnsupportedMedia
from palprep.media.sources.bounds import MOST_STREAMS, HeaderReader, require_few_tags
from palprep.media.sources.sniff import DEMUXERS
from palprep.media.sources.source import Source
from palprep.system import gives_no_more

MAX_FRAME_PIXELS = 8192 * 8192
"""Larger frames are not decoded: 8K has half of it, and one frame takes 200 MB as RGB."""

_OPTIONS = {"protocol_whitelist": "file", "max_streams": str(MOST_STREAMS)}
_QUICKTIME_OPTIONS = {"enable_drefs": "0", "use_absolute_path": "0"}
_STILLS = Disposition.attached_pic | Disposition.timed_thumbnails
_WITHOUT_FRAMES = {"skip_frame": "all"}
"""Holds for FFmpeg's analysis of the streams alone; decoders that PyAV opens do not see it."""

TAKEN_RATE_TAG = "com.android.capture.fps"
"""The tag in which an Android phone states the rate at which it took a video."""


@contextmanager
def open_container(source: Source, *, analyse_frames: bool = True) -> Iterator[InputContainer]:
    """The file's streams and packets, with demuxer and protocol forced by the source's type.

    FFmpeg decodes some frames to learn what the header leaves out, which takes 15 ms and those
    frames' memory. Pass ``analyse_frames=False`` when only the sound or the codecs are needed.

    Raises FileMissing or FileUnreadable, UnsupportedMedia for a type that is no accepted sound
    or video and for a file that is too large, and DamagedMedia for whatever FFmpeg cannot read,
    also while the caller reads on.
    """
    demuxer = demuxer_of(source)
    with source.open() as file:
        _require_readable(source)
        require_few_tags(HeaderReader(file, source.size_bytes, source.name), demuxer)
    options = _OPTIONS | (_QUICKTIME_OPTIONS if demuxer == "mov" else {})
    options |= {} if analyse_frames else _WITHOUT_FRAMES
    # The prefix keeps a name like "concat:a|b" a name.
    address = f"file:{source.path}"
    try:
        with av.open(
            address, format=demuxer, options=options, metadata_errors="replace"
        ) as container:
            yield container
    except MediaError:
        raise
    except MemoryError:
        raise source.out_of_memory() from None
    except av.error.DecoderNotFoundError:
        raise UnsupportedMedia(f"{source.name} uses a codec that cannot be decoded here") from None
    # PyAV raises ValueError for parameters that no decoder takes, such as 65535 channels.
    except (av.error.FFmpegError, ValueError, ArithmeticError, EOFError) as error:
        if isinstance(error, OSError):
            if gives_no_more(error):
                raise source.unreadable(error) from None
            source.require_same()  # FFmpeg tells of a disk that fails as it tells of damage.
        reason = getattr(error, "strerror", None) or str(error)
        if source.content.truncated:
            reason = "it is cut off: it holds less than it states"
        raise DamagedMedia(
            f"{source.name} starts like {source.type.description} but cannot be read "
            f"({reason}); export or record it again"
        ) from None


def _require_readable(source: Source) -> None:
    """Raise the errors that the boxes tell better than FFmpeg does."""
    movie = source.content.movie
    if movie and movie.moov_position is None:
        raise DamagedMedia(
            f"{source.name} has no index (moov): it was cut off, or never finished. "
            "Export or record it again"
        )
    if movie and any(track.encrypted for track in movie.tracks):
        raise UnsupportedMedia(
            f"{source.name} is encrypted (DRM) and cannot be decoded; use an unprotected copy"
        )


def demuxer_of(source: Source) -> str:
    """FFmpeg's name of the only demuxer for the file's type. Raises UnsupportedMedia."""
    if not source.type.accepted or source.type.format not in DEMUXERS:
        raise source.unsupported(": name a recording or a video")
    return DEMUXERS[source.type.format]


def glimpse(source: Source) -> tuple[float, bool]:
    """How long the media lasts in seconds, as the file or its packets say, 0 for an image; and
    whether it is named as one half of a live photo (Apple's content identifier). Raises nothing for
    bad media, which whoever decodes it will name.
    """
    try:
        with open_container(source, analyse_frames=False) as container:
            live = "com.apple.quicktime.content.identifier" in container.metadata
            return undecoded_length_s(container), live
    except MediaError:
        return 0.0, False


def stated_length_s(container: InputContainer) -> float:
    """The length that the container states, in seconds; 0 where it states none."""
    return max(0.0, (container.duration or 0) / av.time_base)


def undecoded_length_s(container: InputContainer) -> float:
    """The length that the container states, in seconds; or that of its packets, all of which are
    then read, where it states none, as recordings of browsers.
    """
    if stated := stated_length_s(container):
        return stated
    first, last = math.inf, 0.0
    for packet in Packets(container):
        if packet.pts is not None:
            first = min(first, float(packet.pts * packet.time_base))
            last = max(last, float((packet.pts + (packet.duration or 0)) * packet.time_base))
    return max(0.0, last - first)


def moving_pictures(container: InputContainer) -> list[VideoStream]:
    """The video streams without covers and thumbnails, which FFmpeg lists among them."""
    return [each for each in container.streams.video if not each.disposition & _STILLS]


_PERSONAL = re.compile(
    "location|gps|artist|author|composer|performer|album|title|comment|description|copyright|make"
    "|manufacturer|model|date|creation_time",
    re.IGNORECASE,
)
"""FFmpeg's names of tags, in all containers, by Apple's and Android's keys, and for a language."""


def described(container: InputContainer) -> bool:
    """Whether tags say whose it is, or where, when or with what it was recorded; or a cover picture
    shows something."""
    names = (name for each in (container, *container.streams) for name in each.metadata)
    covers = len(container.streams.video) - len(moving_pictures(container))
    return covers > 0 or any(map(_PERSONAL.search, names))


def taken_rate(container: InputContainer) -> float | None:
    """Frames per second that an Android phone states to have taken; None where none are stated."""
    try:
        rate = float(container.metadata.get(TAKEN_RATE_TAG, ""))
    except ValueError:
        return None
    return rate if 0 < rate < math.inf else None


def video_stream(container: InputContainer, source: Source) -> VideoStream:
    """The first video stream, whose decoder allocates no frame above :data:`MAX_FRAME_PIXELS`.

    Raises UnsupportedMedia when there is none, its codec is unknown, or its frames are larger.
    """
    streams = moving_pictures(container)
    if not streams:
        raise UnsupportedMedia(f"{source.name} has no video stream")
    context = streams[0].codec_context
    if context is None:
        raise UnsupportedMedia(f"{source.name}: its video is in an unknown codec")
    if context.width * context.height > MAX_FRAME_PIXELS:
        raise UnsupportedMedia(
            f"The frames of {source.name} have {context.width}x{context.height} pixels; "
            f"palprep decodes at most {MAX_FRAME_PIXELS:,} per frame"
        )
    context.options = {**context.options, "max_pixels": str(MAX_FRAME_PIXELS)}
    return streams[0]


class Packets:
    """The packets of some streams, up to the end or to where the container breaks off."""

    def __init__(self, container: InputContainer, *streams: Stream) -> None:
        self._packets = container.demux(*streams)
        self.broken = False
        """The container could not be read to its end."""

    def __iter__(self) -> Iterator[Packet[Any]]:
        try:
            yield from self._packets
        except IndexError:
            # PyAV's, at the end of a file in which one more stream began late.
            return
        except av.error.FFmpegError as error:
            if gives_no_more(error):
                raise
            self.broken = True


def decoded(packet: Packet[Any]) -> list[Any]:
    """The frames that a packet completes; a damaged one completes none, as in players."""
    try:
        return list(packet.decode())
    except av.error.FFmpegError as error:
        # Decoders have many names for damage, and read no file.
        if gives_no_more(error):
            raise
        return []


_KBPS = (
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
)
"""Bit rates of layer III by their index: of MPEG-2 and 2.5, and of MPEG-1."""
_AMR_BYTES = (
    (13, 14, 16, 18, 20, 21, 27, 32, 6, *[1] * 7),
    (18, 24, 33, 37, 41, 47, 51, 59, 61, 6, *[1] * 6),
)
"""Frames of AMR by their type, with the byte that states it: narrowband and wideband."""


def ends_within_frame(packet: Packet[Any], name: str, rate_hz: int) -> bool:
    """Whether the last packet of a recording is shorter than its head states.

    ``name`` is that of the format: MP3 (ISO/IEC 11172-3, 2.4.2.3), AAC as ADTS (13818-7, 6.2), AMR
    (RFC 4867, 5.3). Others state the length of the whole: False.
    """
    head, stated = bytes(packet)[:6].ljust(6, b"\0"), 0
    match name:
        case "mp3" if head[0] == 0xFF and head[1] & 0xE6 == 0xE2:
            first = head[1] >> 3 & 1
            stated = _KBPS[first][head[2] >> 4] * (72_000 << first) // rate_hz + (head[2] >> 1 & 1)
        case "aac" if head[0] == 0xFF:
            stated = int.from_bytes(head[3:6]) >> 5 & 0x1FFF
        case "amr":
            stated = _AMR_BYTES[rate_hz > 8_000][head[0] >> 3 & 15]
    return packet.size < stated


def no_frame(source: Source) -> DamagedMedia:
    movie = source.content.movie
    if movie is not None and any(track.external for track in movie.video_tracks):
        return DamagedMedia(
            f"No frame of {source.name} decodes: it refers to another file for its picture. "
            "Name that file, or export both as one"
        )
    return DamagedMedia(f"No frame of {source.name} decodes; export or record it again")
