"""What a remux needs to know of a video, from its headers alone.

Full facts take a pass over every packet, which would cost a remux half as much again.
"""

from __future__ import annotations

from palprep.errors import UnsupportedMedia
from palprep.media.audio import audio_streams, default_stream
from palprep.media.container import open_container, video_streams
from palprep.media.facts import AudioStreamFacts
from palprep.media.source import Source
from palprep.values import Value


class VideoHeader(Value):
    """Codecs and stated length. ``sounds`` is empty for a video without sound."""

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
