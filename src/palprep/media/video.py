"""Facts of a video from its packets, its headers and one decoded frame; and its sound.

Frame rate, length and gaps come from presentation timestamps, never from a header's word.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from array import array
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from av.container import InputContainer
from av.stream import Stream
from av.video.reformatter import ColorRange, ColorTrc
from av.video.stream import VideoStream
from numpy.typing import NDArray

from palprep.media import container as containers
from palprep.media.facts import JOINED_S, AudioFacts, TimingFacts, VideoFacts
from palprep.media.images.frames import DisplayMatrix
from palprep.media.sound.decoding import AudioTimes, audio_stream, audio_streams, default_stream
from palprep.media.sources.source import Source
from palprep.system import trim_heap
from palprep.values import Span

_MOST_PACKETS_TRIED = 300
"""A stream that shows nothing for ten seconds is taken for one that never will."""

_SAME_TIME_S = 1e-4
"""Containers round presentation timestamps to ticks of their own, which are shorter in an mp4."""

_HDR = frozenset({"smpte2084", "arib-std-b67"})
_BASE_LAYERS = {1: "smpte2084", 4: "arib-std-b67"}
"""Transfers of Dolby Vision's base layers, which files do not always repeat elsewhere."""


def probe_video(source: Source) -> VideoFacts:
    """Facts of a video: every packet is looked at, and one frame decoded; its sound is not.

    Raises FileMissing or FileUnreadable, UnsupportedMedia (no video stream, no decoder, frames too
    large, a sample rate that is not read), DamagedMedia when the container cannot be read or no
    frame decodes.
    """
    try:
        with containers.open_container(source) as container:
            header = _described(source, container, containers.video_stream(container, source))
    finally:
        # The decoder is gone before others start: of 4K it keeps 70 MB.
        trim_heap()
    with containers.open_container(source, analyse_frames=False) as container:
        stream, sounds = containers.video_stream(container, source), audio_streams(container)
        walked: list[Stream] = [stream]
        chosen = default_stream(sounds)
        if sounds:
            walked.append(audio_stream(container, sounds[chosen].index, source))
        frames, sound, packets = TimingMeter(), AudioTimes(), containers.Packets(container, *walked)
        # Floats, since fractions would take as long as everything else for a long video.
        sound_base_s = float(walked[-1].time_base or 0)
        corrupt = False
        for packet in packets:
            if packet.stream.index == stream.index:
                frames.add(packet)
                corrupt |= packet.is_corrupt
            elif packet.pts is not None:
                start = packet.pts * sound_base_s
                end = start + (packet.duration or 0) * sound_base_s
                # What lies before zero is an encoder's priming, which no player presents.
                if end > 0.0:
                    sound.add(max(start, 0.0), end - max(start, 0.0))
        stated_end = None
        if stream.duration is not None:
            stated_end = (stream.start_time or 0) + stream.duration
        timing = frames.result(stream.time_base or Fraction(1, 1000), stated_end=stated_end)
    if packets.broken:
        source.require_same()  # Else it is the disk that fails.
    if timing is None:
        raise containers.no_frame(source)
    missing = timing.pop("dropped")
    audio = None
    # A track without a packet is what a camera leaves whose microphone was off.
    if sounds and sound.span is not None:
        stated_s = sounds[chosen].duration_s or sound.length_s
        audio = AudioFacts(duration_s=stated_s, streams=sounds, chosen=chosen)
    movie = source.content.movie
    return VideoFacts(
        moov_position=movie.moov_position if movie else None,
        truncated=source.content.truncated or corrupt or packets.broken,
        timing=_timing_facts(missing, timing["start_s"], sound.span, sound.length_s),
        audio=audio,
        **{**timing, **header},
    )


def with_sound(video: VideoFacts, audio: AudioFacts) -> VideoFacts:
    """The facts of a video, completed by its sound, which :func:`probe_audio` has decoded."""
    dropped = video.timing.dropped_frames if video.timing else 0
    timing = _timing_facts(dropped, video.start_s, audio.presented, audio.decoded_s)
    return video.model_copy(update={"timing": timing, "audio": audio})


def _timing_facts(
    dropped: int, starts_s: float, sound: Span | None, length_s: float
) -> TimingFacts:
    if sound is None:
        return TimingFacts(dropped_frames=dropped)
    drift_s = sound.duration_s - length_s
    return TimingFacts(
        dropped_frames=dropped,
        audio_offset_s=round(sound.start_s - starts_s, 6),
        # Where time begins anew the two say nothing of each other.
        audio_drift_s=None if drift_s < -JOINED_S else round(drift_s, 6),
    )


def carries_the_same(one: Source, other: Source) -> bool:
    """Whether two videos hold the same packets of picture and chosen sound, at the same times, the
    same of them hidden, so that decoders make the same of both.

    A copy out of Matroska seldom does: that states in another way what precedes the sound, so that
    some samples more or less are heard. Raises MediaError for a file that cannot be read.
    """
    for mine, others in itertools.zip_longest(_coded(one), _coded(other)):
        if mine is None or others is None or mine[0] != others[0]:
            return False
        if not np.allclose(mine[1], others[1], rtol=0.0, atol=_SAME_TIME_S):
            return False
    return True


def _coded(source: Source) -> Iterator[tuple[tuple[object, ...], NDArray[np.float64]]]:
    """Of each stream what its decoder is given, with the colours of frames that state none, and its
    presentation timestamps in seconds."""
    with containers.open_container(source, analyse_frames=False) as container:
        picture, sounds = containers.video_stream(container, source), audio_streams(container)
        streams: list[Stream] = [picture]
        if sounds:
            streams.append(audio_stream(container, sounds[default_stream(sounds)].index, source))
        seen = picture.codec_context
        colours = seen.colorspace, seen.color_primaries, seen.color_range == ColorRange.JPEG
        digests = {stream.index: hashlib.sha256() for stream in streams}
        times = {stream.index: array("d") for stream in streams}
        packets = containers.Packets(container, *streams)
        for packet in packets:
            at, ticks = packet.stream.index, packet.pts if packet.pts is not None else packet.dts
            # Side data names samples that are not heard, and headers that hold from there on.
            for part in (packet, *packet.iter_sidedata()):
                digests[at].update(part)
            digests[at].update(b"%d %d" % (packet.size, packet.is_discard))
            times[at].append(float((ticks or 0) * packet.time_base))
        for stream in streams:
            context, at = stream.codec_context, stream.index
            coded = (context.name, context.extradata, digests[at].digest(), packets.broken)
            yield (*coded, *colours, len(times[at])), np.frombuffer(times[at], dtype=np.float64)


def _described(source: Source, container: InputContainer, stream: VideoStream) -> dict[str, Any]:
    """What the stream's header says, completed by its first frame, as fields of the facts."""
    context = stream.codec_context
    # Decoding would replace these by what the frames themselves say.
    width, height = context.width, context.height
    packets = itertools.islice(containers.Packets(container, stream), _MOST_PACKETS_TRIED)
    frame = next((frame for packet in packets for frame in containers.decoded(packet)), None)
    if frame is None:
        raise containers.no_frame(source)
    width, height = width or frame.width, height or frame.height
    turn, aspect = DisplayMatrix.of(frame), stream.sample_aspect_ratio or Fraction(1)
    shown = (round(width * aspect), height)[:: -1 if turn.quarters % 2 else 1]
    movie = source.content.movie
    tracks = movie.video_tracks if movie else ()
    dolby = next((track.dolby_vision for track in tracks if track.dolby_vision), None)
    transfer = _transfer(frame.color_trc) or _transfer(context.color_trc)
    if transfer is None and dolby is not None:
        transfer = _BASE_LAYERS.get(dolby.compatibility)
    beside = len(containers.moving_pictures(container)) + max(1, len(container.streams.audio)) - 2
    return {
        "codec": context.codec.canonical_name,
        "codec_profile": stream.profile,
        **({"bit_rate": stream.bit_rate} if stream.bit_rate else {}),
        "pixel_format": frame.format.name,
        "stored_width": width,
        "stored_height": height,
        "width": shown[0],
        "height": shown[1],
        "rotation_deg": -turn.quarters * 90 % 360,
        "color_transfer": transfer,
        "hdr": transfer in _HDR or (dolby is not None and dolby.compatibility == 0),
        "mirrored": turn.mirrored,
        "interlaced": frame.interlaced_frame,
        "other_streams": beside + bool(movie and movie.hides),
        "taken_rate": containers.taken_rate(container),
        "described": containers.described(container),
        "dolby_vision": f"{dolby.profile}.{dolby.compatibility}" if dolby else None,
    }


def _transfer(code: int) -> str | None:
    """A transfer characteristic of ITU-T H.273 by FFmpeg's name; None for an unknown one."""
    known = {each.value: each.name for each in ColorTrc if each is not ColorTrc.UNSPECIFIED}
    return known[code].lower().replace("_", "-") if code in known else None


_GRID_TICKS = 2
"""Timestamps are rounded to ticks of the container (1 ms in WebM), so that even a constant
rate has intervals which differ by one tick, and by two when the encoder rounded already."""

_GRID_SHARE = 0.05
"""Cameras' clocks jitter by a few percent of a frame, which no one sees."""

_STRAY_SHARE = 0.01
"""Up to this share of odd intervals the rate still counts as constant: a dropped frame now
and then is a defect of its own, and no reason to encode the whole video again."""


class TimingMeter:
    """Collects the packets of one video stream, eight bytes for each."""

    def __init__(self) -> None:
        self._times = array("q")
        self._last_end = 0
        self._size = 0
        self._decoded_at = -math.inf
        self._back = 0.0

    def add(self, packet: Any) -> None:
        """Takes each packet; one that an edit list hides, or that has no time, is no frame."""
        self._size += packet.size
        if packet.dts is not None:
            self._back = max(self._back, self._decoded_at - packet.dts)
            self._decoded_at = packet.dts
        time = packet.pts if packet.pts is not None else packet.dts
        if time is None or packet.is_discard:
            return
        self._times.append(time)
        self._last_end = max(self._last_end, time + (packet.duration or 0))

    def result(self, time_base: Fraction, *, stated_end: int | None) -> dict[str, Any] | None:
        """The timing of everything that was added, as fields of the facts, with ``dropped`` frames;
        None when there was no frame.

        ``stated_end``, in ticks of ``time_base``, is what the header says. Some demuxers give the
        last frame whatever their arithmetic leaves over, and then the header is right.
        """
        if not self._times:
            return None
        # Hidden reference frames of VP8 share the time of the frame they precede.
        ticks = np.unique(np.frombuffer(self._times, dtype=np.int64))
        base = float(time_base)
        first, last = int(ticks[0]), int(ticks[-1])
        intervals = np.diff(ticks)
        median = float(np.median(intervals)) if intervals.size else 0.0
        end = self._last_end if self._last_end > last else last + round(median)
        if stated_end is not None:
            end = min(end, max(stated_end, last + round(median)))
        duration = (end - first) * base
        between = (last - first) * base if intervals.size else duration
        stray = np.abs(intervals - median) > max(_GRID_TICKS, _GRID_SHARE * median)
        gaps = intervals[intervals >= 1.5 * median]
        return {
            "joined": self._back * base > JOINED_S,
            "frames": int(ticks.size),
            "start_s": first * base,
            "duration_s": duration,
            "frame_rate": max(1, intervals.size) / between if between > 0 else 0.0,
            "frame_rate_constant": bool(stray.sum() <= _STRAY_SHARE * stray.size),
            "bit_rate": round(self._size * 8 / duration) if duration > 0 else None,
            "dropped": int((np.rint(gaps / median) - 1).sum()),
        }
