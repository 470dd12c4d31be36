"""One walk over all packets of a video: its timing, and the sound to be decoded."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from av.container import InputContainer
from av.stream import Stream
from av.video.stream import VideoStream

from palprep.media.audio import LevelMeter, Sinks, audio_streams, default_stream
from palprep.media.container import Packets
from palprep.media.facts import AudioFacts
from palprep.media.samples import AudioDecode, Sink, audio_stream
from palprep.media.source import Source
from palprep.media.timing import AudioTimes, TimingMeter

_MOST_WAITING_BYTES = 1 << 26
"""Packets of sound that wait to be decoded: a quarter of an hour of AAC. What comes before
them is decoded during the walk then."""
_PACKET_BYTES = 1024
"""About what a packet takes apart from its data."""


class PacketScan:
    """What the packets of a video stream, and of the sound next to it, amount to.

    The walk looks at all packets; those of the sound are kept, for :meth:`listen` to decode. So
    the frames can be looked at elsewhere as soon as their timing is known, while the sound is
    still being decoded.
    """

    def __init__(
        self,
        container: InputContainer,
        stream: VideoStream,
        source: Source,
        *,
        sinks: Sinks | None,
        most_s: float | None,
    ) -> None:
        """``sinks`` None leaves the sound undecoded; beyond ``most_s`` no sound is decoded."""
        self.streams = audio_streams(container)
        self.chosen = default_stream(self.streams) if self.streams else 0
        self.timing = TimingMeter(stream.time_base or Fraction(1, 1000))
        self.broken = False
        """A packet is marked as corrupt, or the container ends in the middle of one."""
        self._decode: AudioDecode | None = None
        self._heard = False
        self._packet_times = AudioTimes()
        self._sound_base_s = 0.0
        self._meter = LevelMeter()
        self._waiting: deque[Any] = deque()
        self._waiting_bytes = 0
        walked: list[Stream] = [stream]
        if self.streams:
            audio = audio_stream(container, self.streams[self.chosen].index, source)
            walked.append(audio)
            # Floats, since fractions would take as long as everything else for a long video.
            self._sound_base_s = float(audio.time_base or 0)
            if sinks is not None:
                levels = Sink(self._meter.add)
                takers = [levels, *sinks(self.streams[self.chosen])]
                self._decode = AudioDecode(takers, source, most_s=most_s)
        self._walk(container, stream, walked)

    def listen(self) -> None:
        """Decode the sound that the walk has kept, to its end. To be called once.

        Raises DamagedMedia when nothing of it decodes, or to no sound.
        """
        if self._decode is not None:
            while self._waiting and not self._decode.full:
                self._decode.feed(self._waiting.popleft())
            self._decode.finish()
            self._heard = True

    @property
    def sound_times(self) -> AudioTimes:
        """When the sound starts and ends: as decoded, else as its packets say."""
        return self._decode.times if self._decode and self._heard else self._packet_times

    def sound(self, source: Source) -> AudioFacts | None:
        """Facts of the sound: as decoded, else as its header says; None without sound."""
        if not self.streams:
            return None
        stated = self.streams[self.chosen].duration_s or self._packet_times.length_s
        decode = self._decode if self._heard else None
        rate_hz = decode.rate_hz if decode else None
        heard_s = self._meter.samples / rate_hz if rate_hz else None
        cut_off = heard_s is not None and decode is not None and decode.full and stated > heard_s
        return AudioFacts(
            container=source.type.format,
            duration_s=stated if heard_s is None or cut_off else heard_s,
            streams=self.streams,
            chosen=self.chosen,
            levels=self._meter.levels() if rate_hz else None,
            heard_s=heard_s if cut_off else None,
        )

    def _walk(
        self, container: InputContainer, stream: VideoStream, walked: Sequence[Stream]
    ) -> None:
        packets = Packets(container, *walked)
        for packet in packets:
            if packet.stream.index == stream.index:
                self.timing.add(packet)
                self.broken |= packet.is_corrupt
            else:
                self._keep(packet)
        self.broken |= packets.broken

    def _keep(self, packet: Any) -> None:
        if packet.pts is not None:
            start = packet.pts * self._sound_base_s
            end = start + (packet.duration or 0) * self._sound_base_s
            # What lies before zero is an encoder's priming, which no player presents.
            if end > 0.0:
                self._packet_times.add(max(start, 0.0), end - max(start, 0.0))
        if self._decode is None or self._decode.full:
            return
        self._waiting.append(packet)
        self._waiting_bytes += packet.size + _PACKET_BYTES
        while self._waiting_bytes > _MOST_WAITING_BYTES:
            earliest = self._waiting.popleft()
            self._waiting_bytes -= earliest.size + _PACKET_BYTES
            self._decode.feed(earliest)
