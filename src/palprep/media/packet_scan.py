"""One walk over all packets of a video: timing of picture and sound, one frame, levels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from av.container import InputContainer
from av.stream import Stream
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from palprep.media.audio import LevelMeter, audio_streams, choose
from palprep.media.container import Packets, decoded
from palprep.media.facts import AudioFacts, MediaType
from palprep.media.samples import Blocks, audio_stream
from palprep.media.timing import AudioTimes, TimingMeter

_MOST_PACKETS_TRIED = 300
"""A stream that shows nothing for ten seconds is taken for one that never will."""


class PacketScan:
    """What the packets of one picture stream, and of the sound beside it, amount to."""

    def __init__(
        self, container: InputContainer, stream: VideoStream, source: Path, *, levels: bool
    ) -> None:
        self.streams = audio_streams(container)
        self.chosen = choose(self.streams) if self.streams else 0
        self.timing = TimingMeter(stream.time_base or Fraction(1, 1000))
        self.frame: VideoFrame | None = None
        """The first one that decodes."""
        self.broken = False
        """A packet is marked as corrupt, or the container ends in the middle of one."""
        self._packet_times = AudioTimes()
        self._sound_base_s = 0.0
        self._meter = LevelMeter()
        self._blocks: Blocks | None = None
        walked: list[Stream] = [stream]
        if self.streams:
            audio = audio_stream(container, self.streams[self.chosen].index, source)
            walked.append(audio)
            # Floats, since fractions would take as long as everything else for a long video.
            self._sound_base_s = float(audio.time_base or 0)
            if levels:
                self._blocks = Blocks(audio, rate_hz=None, channels=None)
        self._walk(container, stream, walked)

    @property
    def sound_times(self) -> AudioTimes:
        """When the sound starts and ends: as decoded, else as its packets say."""
        decoded = self._blocks is not None and self._meter.samples > 0
        return self._blocks.times if self._blocks is not None and decoded else self._packet_times

    def sound(self, media_type: MediaType) -> AudioFacts | None:
        """Facts of the sound, None when the video has none."""
        if not self.streams:
            return None
        stated = self.streams[self.chosen].duration_s or self._packet_times.length_s
        decoded = self._blocks is not None and self._meter.samples > 0
        rate = self._blocks.rate_hz if self._blocks else None
        return AudioFacts(
            container=media_type.format,
            duration_s=self._meter.samples / rate if decoded and rate else stated,
            streams=self.streams,
            chosen=self.chosen,
            levels=self._meter.levels() if decoded else None,
        )

    def _walk(
        self, container: InputContainer, stream: VideoStream, walked: Sequence[Stream]
    ) -> None:
        tried = 0
        packets = Packets(container, *walked)
        for packet in packets:
            if packet.stream.index == stream.index:
                self.timing.add(packet)
                self.broken |= packet.is_corrupt
                if self.frame is None and tried < _MOST_PACKETS_TRIED:
                    tried += 1
                    self.frame = next(iter(decoded(packet)), None)
            else:
                self._listen(packet)
        self.broken |= packets.broken
        if self._blocks is not None:
            for block in self._blocks.rest():
                self._meter.add(block)

    def _listen(self, packet: Any) -> None:
        if packet.pts is not None:
            start = packet.pts * self._sound_base_s
            end = start + (packet.duration or 0) * self._sound_base_s
            # What lies before zero is an encoder's priming, which no player presents.
            if end > 0.0:
                self._packet_times.add(max(start, 0.0), end - max(start, 0.0))
        if self._blocks is not None:
            for block in self._blocks.feed(packet):
                self._meter.add(block)
