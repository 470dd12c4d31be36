"""What will be made of a video: its header, and the ffmpeg graph of its plan.

One input and one mp4, whatever steps the plan holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ffmpeg

from palprep.errors import UnsupportedMedia
from palprep.fixes.graph import BARE, BARE_SOUND, address, read, seconds
from palprep.fixes.video_filters import H264, filtered
from palprep.media import (
    AudioStreamFacts,
    Source,
    VideoFacts,
    audio_streams,
    default_stream,
    open_container,
    video_streams,
)
from palprep.rules.plans import VideoPlan
from palprep.values import Value


class VideoHeader(Value):
    """What a remux needs to know of a video: codecs and stated length.

    Full facts take a pass over every packet, which would cost a remux half as much again.
    ``sounds`` is empty for a video without sound.
    """

    codec: str
    duration_s: float
    sounds: tuple[AudioStreamFacts, ...]
    chosen: int
    """Index into ``sounds`` of the one that a player would play."""
    index_in_front: bool


def read_header(source: Source) -> VideoHeader:
    """The header of a video. Raises UnsupportedMedia without a video stream, DamagedMedia for a
    container that cannot be read."""
    with open_container(source, analyse_frames=False) as container:
        videos = video_streams(container)
        if not videos or videos[0].codec_context is None:
            raise UnsupportedMedia(f"{source.name} has no video stream in a known codec")
        picture, sounds = videos[0], audio_streams(container)
        stated = float((picture.duration or 0) * (picture.time_base or 0))
        return VideoHeader(
            codec=picture.codec_context.codec.canonical_name,
            duration_s=stated or max(container.duration or 0, 0) / 1_000_000,
            sounds=sounds,
            chosen=default_stream(sounds),
            index_in_front=source.movie is not None and source.movie.moov_position == "front",
        )


SOUND_RATE_BPS = 192_000
"""The rate of AAC-LC at which speech and its room sound like the original."""

_AAC = {"c:a": "aac", "b:a": SOUND_RATE_BPS, **BARE_SOUND}
_MP4 = {"f": "mp4", "movflags": "+faststart", "write_tmcd": 0}


@dataclass(frozen=True, slots=True)
class Cut:
    """What will be made of a video."""

    plan: VideoPlan
    source: Source
    header: VideoHeader
    facts: VideoFacts | None
    """Of a video that is encoded; None for one whose packets are copied."""
    sound: AudioStreamFacts | None
    """None for a video without sound."""

    @property
    def full_s(self) -> float:
        """Length of the source in seconds, counted where it was, else as stated."""
        return self.facts.duration_s if self.facts else self.header.duration_s

    @property
    def duration_s(self) -> float:
        """Length of the result in seconds."""
        if self.plan.trim is None:
            return self.full_s
        return max(min(self.plan.trim.end_s, self.full_s) - self.plan.trim.start_s, 0.0)

    def whole(self, target: Path, picture: Mapping[str, Any]) -> Any:
        """The run that writes the mp4. ``picture`` holds the encoder's options for rate and
        quality; they are ignored when the video's packets are copied."""
        source = self._read()
        streams, options = [self._picture(source)], dict(_MP4)
        if self.facts is None:
            options["c:v"] = "copy"
            if self.header.codec == "hevc":
                options["tag:v"] = "hvc1"  # players of Apple's open no other
        else:
            options.update(H264, **picture)
        if self.sound is not None:
            streams.append(self._sound(source, self.sound))
            options.update({"c:a": "copy"} if self.plan.copy_audio else _AAC)
        return ffmpeg.output(*streams, address(target), **BARE, **options)

    def analysis(self, picture: Mapping[str, Any]) -> Any:
        """The first of two passes: the frames alone, encoded into nothing."""
        return ffmpeg.output(self._picture(self._read()), "-", f="null", **H264, **picture)

    def _read(self) -> Any:
        trim = self.plan.trim
        if trim is None:
            return read(self.source)
        # On the input: decoding starts at the key frame before, and the cut is exact to
        # the frame all the same.
        window = {"t": seconds(trim.duration_s)}
        if trim.start_s > 0:
            window["ss"] = seconds(trim.start_s)
        return read(self.source, **window)

    def _picture(self, source: Any) -> Any:
        picture = source["V:0"]  # capital V: not a cover picture
        return filtered(picture, self.plan, self.facts) if self.facts else picture

    def _sound(self, source: Any, stream: AudioStreamFacts) -> Any:
        sound = source[str(stream.index)]
        if self.plan.copy_audio:
            return sound
        if self.plan.audio_delay_s:
            sound = sound.filter("asetpts", f"PTS+({seconds(self.plan.audio_delay_s)})/TB")
        if self.plan.audio_tempo != 1.0:
            sound = sound.filter("atempo", self.plan.audio_tempo)
        # Silence where packets are missing and before a late start, so that players which
        # ignore time stamps stay in step too.
        return sound.filter("aresample", **{"async": 1, "first_pts": 0})
