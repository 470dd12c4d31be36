"""Facts of a video from its packets, its headers and one decoded frame."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from palprep.errors import UnsupportedMedia
from palprep.media.audio import Sinks
from palprep.media.container import (
    Packets,
    decoded,
    limit_frames,
    no_frame,
    open_container,
    translate_av_errors,
    video_streams,
)
from palprep.media.decoding import hand_back
from palprep.media.facts import TimingFacts, VideoFacts
from palprep.media.frames import DisplayMatrix
from palprep.media.isobmff import DolbyVision
from palprep.media.packet_scan import PacketScan
from palprep.media.source import Source
from palprep.media.timing import Timing, timing_facts

_MOST_PACKETS_TRIED = 300
"""A stream that shows nothing for ten seconds is taken for one that never will."""

_TRANSFERS = {
    1: "bt709",
    4: "gamma22",
    5: "gamma28",
    6: "smpte170m",
    7: "smpte240m",
    8: "linear",
    13: "iec61966-2-1",
    14: "bt2020-10",
    15: "bt2020-12",
    16: "smpte2084",
    17: "smpte428",
    18: "arib-std-b67",
}
"""Transfer characteristics of ITU-T H.273 table 3, by FFmpeg's names."""

_HDR = frozenset({"smpte2084", "arib-std-b67"})
_BASE_LAYERS = {1: "smpte2084", 4: "arib-std-b67"}
"""Transfers of Dolby Vision's base layers, which files do not always repeat elsewhere."""


def probe_video(source: Source, *, levels: bool = True) -> VideoFacts:
    """Facts of a video: every packet is looked at, one frame is decoded.

    ``levels`` also decodes the chosen sound. Raises as :func:`scan_video` and
    :meth:`VideoScan.listen` do.
    """
    with scan_video(source, sinks=(lambda _: ()) if levels else None) as scan:
        return scan.listen() if levels else scan.facts


@contextmanager
def scan_video(
    source: Source, *, sinks: Sinks | None, most_s: float | None = None
) -> Iterator[VideoScan]:
    """Look at every packet, decode one frame, and keep the sound for :meth:`VideoScan.listen`.

    ``sinks`` take the samples of the chosen sound, until soon after ``most_s``; None leaves it
    undecoded. Raises FileMissing
    or FileUnreadable, UnsupportedMedia (no video stream, no decoder, frames too large),
    DamagedMedia when the container cannot be read or no frame decodes.
    """
    header = _Header.of(source)
    with open_container(source, analyse_frames=False) as container:
        stream = video_streams(container)[0]
        packets = PacketScan(container, stream, source, sinks=sinks, most_s=most_s)
        timing = packets.timing.result(stated_end=_stated_end(stream))
        if timing is None:
            raise no_frame(source)
        dolby = _dolby_vision(source)
        transfer = header.transfer or (_BASE_LAYERS.get(dolby.compatibility) if dolby else None)
        facts = VideoFacts(
            container=source.type.format,
            codec=header.codec,
            codec_profile=header.codec_profile,
            pixel_format=header.pixel_format,
            bits_per_channel=header.bits,
            stored_width=header.width,
            stored_height=header.height,
            width=header.displayed[0],
            height=header.displayed[1],
            rotation_deg=header.rotation,
            sample_aspect_ratio=float(header.aspect),
            duration_s=timing.duration_s,
            start_s=timing.start_s,
            frames=timing.frames,
            frame_rate=timing.frame_rate,
            frame_rate_constant=timing.constant,
            color_transfer=transfer,
            hdr=transfer in _HDR or (dolby is not None and dolby.compatibility == 0),
            moov_position=source.movie.moov_position if source.movie else None,
            bit_rate=header.bit_rate or _bit_rate(timing),
            truncated=source.truncated or packets.broken,
            mirrored=header.mirrored,
            interlaced=header.interlaced,
            dolby_vision=f"{dolby.profile}.{dolby.compatibility}" if dolby else None,
            video_streams=header.video_streams,
            timing=_timing(source, packets, timing),
            audio=packets.sound(source),
        )
        yield VideoScan(source, packets, timing, facts)


class VideoScan:
    """What the packets of a video say, while its container is open."""

    def __init__(
        self, source: Source, packets: PacketScan, timing: Timing, facts: VideoFacts
    ) -> None:
        self._source, self._packets, self._timing = source, packets, timing
        self.facts = facts
        """Those of the sound are what its header and its packets say."""

    def listen(self) -> VideoFacts:
        """Decode the sound, if there is one, and complete the facts by what it was like.

        To be called once; it may be called in another thread. Raises DamagedMedia when
        nothing of the sound decodes, UnsupportedMedia when there is no decoder for it.
        """
        with translate_av_errors(self._source):
            self._packets.listen()
        return self.facts.model_copy(
            update={
                "timing": _timing(self._source, self._packets, self._timing),
                "audio": self._packets.sound(self._source),
            }
        )


def _timing(source: Source, packets: PacketScan, timing: Timing) -> TimingFacts:
    edited = source.movie is not None and source.movie.edited
    return timing_facts(timing, packets.sound_times, edited=edited)


def _dolby_vision(source: Source) -> DolbyVision | None:
    """Of the first track that has it."""
    tracks = source.movie.video_tracks if source.movie else ()
    return next((track.dolby_vision for track in tracks if track.dolby_vision), None)


@dataclass(frozen=True, slots=True)
class _Header:
    """What the stream's header says, completed by its first frame."""

    codec: str
    codec_profile: str | None
    bit_rate: int | None
    video_streams: int
    width: int
    height: int
    rotation: Literal[0, 90, 180, 270]
    mirrored: bool
    aspect: Fraction
    pixel_format: str | None
    bits: int | None
    transfer: str | None
    interlaced: bool

    @classmethod
    def of(cls, source: Source) -> _Header:
        """By a decoder of its own, that is gone before others start: of 4K it keeps 70 MB.

        Raises as :func:`scan_video` does.
        """
        try:
            with open_container(source) as container:
                streams = video_streams(container)
                if not streams:
                    raise UnsupportedMedia(f"{source.name} has no video stream")
                if streams[0].codec_context is None:
                    raise UnsupportedMedia(f"{source.name}: its video is in an unknown codec")
                return cls._read(streams, container, source)
        finally:
            hand_back()

    @classmethod
    def _read(
        cls, streams: tuple[VideoStream, ...], container: InputContainer, source: Source
    ) -> _Header:
        stream = streams[0]
        limit_frames(stream)
        context = stream.codec_context
        # Decoding would replace these by what the frames themselves say.
        stated = context.width, context.height
        frame = _first_frame(container, stream)
        if frame is None:
            raise no_frame(source)
        turn = DisplayMatrix.of(frame)
        pixels = frame.format
        transfer = _TRANSFERS.get(int(frame.color_trc)) or _TRANSFERS.get(int(context.color_trc))
        return cls(
            codec=context.codec.canonical_name,
            codec_profile=stream.profile,
            bit_rate=stream.bit_rate or None,
            video_streams=len(streams),
            interlaced=frame.interlaced_frame,
            width=stated[0] or frame.width,
            height=stated[1] or frame.height,
            rotation=cast("Literal[0, 90, 180, 270]", -turn.quarters * 90 % 360),
            mirrored=turn.mirrored,
            aspect=stream.sample_aspect_ratio or Fraction(1),
            pixel_format=pixels.name,
            bits=max((part.bits for part in pixels.components), default=None),
            transfer=transfer,
        )

    @property
    def displayed(self) -> tuple[int, int]:
        """Width and height as a player shows them."""
        width, height = round(self.width * self.aspect), self.height
        return (height, width) if self.rotation in {90, 270} else (width, height)


def _first_frame(container: InputContainer, stream: VideoStream) -> VideoFrame | None:
    packets = itertools.islice(Packets(container, stream), _MOST_PACKETS_TRIED)
    return next((frame for packet in packets for frame in decoded(packet)), None)


def _stated_end(stream: VideoStream) -> int | None:
    if stream.duration is None:
        return None
    return (stream.start_time or 0) + stream.duration


def _bit_rate(timing: Timing) -> int | None:
    return round(timing.size_bytes * 8 / timing.duration_s) if timing.duration_s > 0 else None
