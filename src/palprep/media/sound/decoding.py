"""Sound: what the container says of its streams, and the samples of one, a block at a time: decoded
once, for everyone who wants them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition
from numpy.typing import NDArray

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media import container as containers
from palprep.media.facts import FLOOR_DBFS, AudioFacts, AudioStreamFacts
from palprep.media.sources.source import Source
from palprep.values import Kind, Span

Samples = NDArray[np.float32]
"""Decoded sound, full scale at -1.0 and 1.0, of shape (samples,) or (channels, samples)."""

BLOCK_S = 1.0
_LEAST_GAP_S = 0.1
"""The least gap to fill: timestamps waver by less (as min_hard_comp of FFmpeg's resampler)."""

_MOST_LACKING_S = 1.0
"""How much shorter a FLAC may be than its header states, before it counts as cut off."""
_MOST_FILLED_S = 600.0
"""Silence put in at the most: absurd timestamps must not become hours of it."""

LOWEST_RATE_HZ, HIGHEST_RATE_HZ = 1_000, 768_000
"""Sound of other rates is refused. 768 kHz is the highest that converters are sold with; a
telephone has 8 kHz, and below 1 kHz no word can be understood."""

_LOUDEST = 1_000.0
"""Samples beyond so many times full scale are damage: recorders that write floats exceed it by
30 dB at the most, and this is 60."""


class Sink(NamedTuple):
    """Takes the decoded sound in blocks of about a second.

    One channel is the mean of all, so that equal channels keep their level. Two are FFmpeg's
    mixdown, where it has one.
    """

    push: Callable[[Samples], None]
    rate_hz: int
    channels: int


def stream_samples(
    source: Source, *, rate_hz: int, channels: int = 1, stream: int | None = None
) -> Iterator[Samples]:
    """Decoded sound in blocks, as a :class:`Sink` takes them.

    ``stream`` is an index into the container as in ``AudioStreamFacts.index``, by default the
    first audio stream. Damaged packets are passed over, and silence stands where timestamps leave
    a gap, as in players: samples count presentation time, from the first that is presented.

    Raises, when the iteration meets it, MediaError as ``open_container`` does, UnsupportedMedia for
    no such stream or no rate that is read, DamagedMedia when nothing decodes, or to no sound.
    """
    with containers.open_container(source, analyse_frames=False) as container:
        blocks: deque[Samples] = deque()
        decode = AudioDecode([Sink(blocks.append, rate_hz, channels)], source)
        for packet in containers.Packets(container, audio_stream(container, stream, source)):
            decode.feed(packet)
            while blocks:
                yield blocks.popleft()
        decode.finish()
        yield from blocks


def audio_stream(container: InputContainer, index: int | None, source: Source) -> AudioStream:
    """The audio stream at an index of the container, by default the first one.

    Raises UnsupportedMedia when there is none, its codec is unknown, or its sample rate is not
    between :data:`LOWEST_RATE_HZ` and :data:`HIGHEST_RATE_HZ`.
    """
    there = container.streams.audio
    audio = next((each for each in there if index in {None, each.index}), None)
    if audio is None:
        numbers = ", ".join(str(each.index) for each in there) or "none"
        raise UnsupportedMedia(f"{source.name} has no such audio stream (audio streams: {numbers})")
    if audio.codec_context is None:
        raise UnsupportedMedia(f"{source.name}: its sound is in an unknown codec")
    rate_hz = audio.codec_context.sample_rate
    if not LOWEST_RATE_HZ <= rate_hz <= HIGHEST_RATE_HZ:
        raise UnsupportedMedia(
            f"{source.name} has a sample rate of {rate_hz:,} Hz; palprep reads "
            f"{LOWEST_RATE_HZ:,} to {HIGHEST_RATE_HZ:,} Hz. Record it at 48,000 Hz"
        )
    return audio


def mixes_down(channels: int, layout: str) -> bool:
    """Whether FFmpeg knows the speakers that the channels are for. Of ambisonics, and of a mixer's
    many tracks, it does not, and stereo is then the mean of all, twice.
    """
    return channels <= 8 and not layout.startswith("ambisonic")


class AudioTimes:
    """When a sound starts and ends by its timestamps, and how long it lasts without them."""

    def __init__(self) -> None:
        self.start_s: float | None = None
        self.end_s = 0.0
        self.length_s = 0.0
        """The sum of what was added, whatever its timestamps."""

    def add(self, at_s: float, length_s: float) -> None:
        if self.start_s is None:
            self.start_s = self.end_s = at_s
        self.end_s = max(self.end_s, at_s + length_s)
        self.length_s += length_s

    @property
    def span(self) -> Span | None:
        return None if self.start_s is None else Span(start_s=self.start_s, end_s=self.end_s)


class AudioDecode:
    """One decode of a stream, whose samples go to every sink in the shape that it asks for.

    What reaches a sink is sound: every sample is a number, and none is beyond 60 dB over full
    scale. Anything else raises DamagedMedia, which says where it stands.
    """

    def __init__(
        self, sinks: Iterable[Sink], source: Source, *, most_s: float | None = None
    ) -> None:
        self._converters = [_Converter(sink, source) for sink in sinks]
        self._source = source
        self._most_s = most_s
        self._fill_s = _MOST_FILLED_S
        self.times = AudioTimes()
        self.heard_s = 0.0
        """What has decoded, with the silence that was put in."""

    @property
    def full(self) -> bool:
        """More than ``most_s`` was decoded: what else there is need not be fed."""
        return self._most_s is not None and self.heard_s > self._most_s

    def feed(self, packet: Any) -> None:
        for frame in containers.decoded(packet):
            if frame.samples and LOWEST_RATE_HZ <= frame.sample_rate <= HIGHEST_RATE_HZ:
                gap_s = self._gap_before(frame)
                length_s = frame.samples / frame.sample_rate
                self.heard_s += gap_s + length_s
                if frame.time is not None:
                    self.times.add(frame.time, length_s)
                for converter in self._converters:
                    converter.fill(gap_s)
                    converter.convert(frame)

    def finish(self) -> None:
        """Hand on what is left at the end. Raises DamagedMedia when not one sample has decoded."""
        for converter in self._converters:
            converter.finish()
        if not self.heard_s:
            raise DamagedMedia(
                f"The sound of {self._source.name} does not decode; export or record it again"
            )

    def _gap_before(self, frame: AudioFrame) -> float:
        """Silence to put in, in seconds."""
        if frame.time is None or self.times.start_s is None:
            return 0.0
        gap_s = min(frame.time - self.times.end_s, self._fill_s)
        if gap_s < _LEAST_GAP_S:
            return 0.0
        self._fill_s -= gap_s
        return gap_s


class _Converter:
    """Turns frames into blocks of one rate and one number of channels.

    Streams may change rate and channels midway (chained Ogg, HE-AAC); every change gets a new
    resampler, and the blocks stay as they began.
    """

    def __init__(self, sink: Sink, source: Source) -> None:
        self._source = source
        self._push, self._rate_hz, self._channels = sink
        self._resampler: AudioResampler | None = None
        self._shape: tuple[str, str, int] | None = None
        self._waiting: list[Samples] = []
        self._count = 0
        self._delivered = 0

    def fill(self, gap_s: float) -> None:
        missing = round(gap_s * self._rate_hz)
        if missing:
            self._flush()
        while missing > 0:
            part = min(missing, round(BLOCK_S * self._rate_hz))
            self._waiting.append(np.zeros((self._channels, part), np.float32))
            self._count += part
            missing -= part
            self._deliver()

    def convert(self, frame: AudioFrame) -> None:
        count = frame.layout.nb_channels
        name = frame.format.name
        if name == "fltp" and count <= 2 and frame.sample_rate == self._rate_hz:
            # As most decoders leave it: a call of the resampler costs as much as the decoding.
            self._flush()
            planes: Any = frame.planes  # PyAV does not declare that they are buffers
            planar = [np.frombuffer(plane, np.float32, frame.samples) for plane in planes]
            self._wait(np.array(planar))
        else:
            self._resample(frame, (name, frame.layout.name, frame.sample_rate))
        if self._count >= BLOCK_S * self._rate_hz:
            self._deliver()

    def _resample(self, frame: AudioFrame, shape: tuple[str, str, int]) -> None:
        if self._resampler is None or shape != self._shape:
            self._flush()
            self._shape = shape
            count, layout = frame.layout.nb_channels, frame.layout.name
            if self._channels == 2 < count and mixes_down(count, layout):
                layout = "stereo"
            self._resampler = AudioResampler(format="flt", layout=layout, rate=self._rate_hz)
        self._keep(self._resampler.resample(frame))

    def finish(self) -> None:
        self._flush()
        if self._waiting:
            self._deliver()

    def _keep(self, frames: list[AudioFrame]) -> None:
        for frame in frames:
            # Interleaved: PyAV reads planes past the eighth, and sometimes the eighth, wildly.
            # Its to_ndarray costs as much as the decode of a frame.
            count = frame.layout.nb_channels
            plane: Any = frame.planes[0]  # PyAV does not declare that it is a buffer
            self._wait(np.frombuffer(plane, np.float32, frame.samples * count).reshape(-1, count).T)

    def _wait(self, channels: Samples) -> None:
        # FFmpeg's own mixdown of equal channels would be 3 dB louder, and clip.
        if self._channels != len(channels):
            channels = channels.mean(axis=0, keepdims=True).repeat(self._channels, axis=0)
        self._waiting.append(channels)
        self._count += channels.shape[1]

    def _flush(self) -> None:
        if self._resampler is not None:
            self._keep(self._resampler.resample(None))
            self._resampler = None

    def _deliver(self) -> None:
        block = np.concatenate(self._waiting, axis=1)
        self._waiting, self._count = [], 0
        block = block[0] if block.shape[0] == 1 else np.ascontiguousarray(block)
        self._require_sound(block)
        self._delivered += block.shape[-1]
        self._push(block)

    def _require_sound(self, block: Samples) -> None:
        highest = np.abs(block).max(initial=0.0)
        # False for NaN, too.
        if highest <= _LOUDEST:
            return
        wrong = ~(np.abs(block) <= _LOUDEST)
        at = self._delivered + int(np.argmax(wrong if block.ndim == 1 else wrong.any(axis=0)))
        raise DamagedMedia(
            f"The sound of {self._source.name} is damaged at {at / self._rate_hz:.2f} s: samples "
            "are no numbers there, or far beyond full scale. Export or record it again"
        )


def probe_audio(
    source: Source,
    *,
    sinks: Callable[[AudioStreamFacts], Iterable[Sink]] | None = None,
    most_s: float | None = None,
    stated_s: float | None = None,
) -> AudioFacts:
    """Facts of a recording, or of the sound of a video.

    The chosen stream is the one that the container marks as default, else the first. With
    ``sinks``, which gives those who take its samples by what its header says, it is decoded once, a
    second at a time. Without them the duration is the stated one, or that of the packets. Decoding
    ends soon after ``most_s``, and the duration is then the stated one if that is longer;
    ``stated_s`` is what is known of it where the stream says nothing. Raises DamagedMedia when
    nothing decodes, or to no sound; UnsupportedMedia when there is no audio stream, no decoder for
    it, or its sample rate is not read.
    """
    with containers.open_container(
        source, analyse_frames=source.type.kind is Kind.AUDIO
    ) as container:
        streams = audio_streams(container)
        if not streams:
            raise UnsupportedMedia(
                f"{source.name} has no audio: record it again with the microphone on"
            )
        chosen = default_stream(streams)
        length_s = containers.undecoded_length_s if sinks is None else containers.stated_length_s
        facts = AudioFacts(
            duration_s=streams[chosen].duration_s or stated_s or length_s(container),
            streams=streams,
            chosen=chosen,
            described=containers.described(container),
        )
        if sinks is not None:
            stream = audio_stream(container, streams[chosen].index, source)
            decode = AudioDecode(sinks(streams[chosen]), source, most_s=most_s)
            last = None
            for packet in containers.Packets(container, stream):
                decode.feed(packet)
                if decode.full:
                    break
                last = packet if packet.size else last
            decode.finish()
            heard_s = round(decode.heard_s, 6)
            cut_off = decode.full and facts.duration_s > heard_s
            facts = facts.model_copy(
                update={
                    "duration_s": facts.duration_s if cut_off else heard_s,
                    "heard_s": heard_s if cut_off else None,
                    "presented": decode.times.span,
                    "decoded_s": decode.times.length_s,
                    "truncated": _is_cut_off(source, streams[chosen], decode, last),
                }
            )
    if not facts.duration_s:
        raise DamagedMedia(f"{source.name} holds no audio at all: export or record it again")
    return facts


def _is_cut_off(
    source: Source, stream: AudioStreamFacts, decode: AudioDecode, last: Packet[Any] | None
) -> bool:
    if source.content.truncated or decode.full or last is None:
        return source.content.truncated
    if source.type.format == "flac" and stream.duration_s is not None:
        return stream.duration_s - decode.heard_s > _MOST_LACKING_S
    return containers.ends_within_frame(last, source.type.format, stream.sample_rate_hz)


def audio_streams(container: InputContainer) -> tuple[AudioStreamFacts, ...]:
    """What the container says of each audio stream that a decoder exists for; nothing of one that
    is announced and never begins, whose rate is unknown."""
    return tuple(
        _described(stream)
        for stream in container.streams.audio
        if stream.codec_context is not None and stream.codec_context.sample_rate
    )


def default_stream(streams: tuple[AudioStreamFacts, ...]) -> int:
    """Position of the stream that a player would play: the default one, else the first."""
    return next((at for at, stream in enumerate(streams) if stream.default), 0)


def _described(stream: AudioStream) -> AudioStreamFacts:
    context, base = stream.codec_context, stream.time_base
    return AudioStreamFacts(
        index=stream.index,
        codec=context.codec.canonical_name,
        sample_rate_hz=context.sample_rate,
        channels=context.layout.nb_channels,
        # WAV files from before channel masks only count their channels.
        layout={1: "mono", 2: "stereo"}.get(context.layout.nb_channels, context.layout.name),
        bit_rate=stream.bit_rate or context.bit_rate or None,
        duration_s=float(stream.duration * base) if stream.duration and base else None,
        default=bool(stream.disposition & Disposition.default),
    )


def decibels(amplitude: float) -> float:
    """An amplitude relative to full scale in dB, no lower than :data:`FLOOR_DBFS`."""
    if amplitude <= 0.0:
        return FLOOR_DBFS
    return max(FLOOR_DBFS, 20.0 * float(np.log10(amplitude)))
