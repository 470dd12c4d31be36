"""Samples of an audio stream, a block at a time: decoded once, for everyone who wants them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer
from numpy.typing import NDArray

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.container import Packets, decoded, open_container
from palprep.media.source import Source
from palprep.values import Span

Samples = NDArray[np.float32]
"""Decoded sound, full scale at -1.0 and 1.0, of shape (samples,) or (channels, samples)."""

BLOCK_S = 1.0
_LEAST_GAP_S = 0.1
"""Time stamps waver by less; so does FFmpeg's own resampler see it (min_hard_comp)."""

_MOST_FILLED_S = 600.0
"""Silence put in at the most: absurd time stamps must not become hours of it."""

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
    most_s: float | None = None
    """Takes so much from the start and no more; None takes everything."""


def stream_samples(
    source: Source, *, rate_hz: int, channels: int = 1, stream: int | None = None
) -> Iterator[Samples]:
    """Decoded sound in blocks, as a :class:`Sink` takes them.

    ``stream`` is an index into the container as in ``AudioStreamFacts.index``, by default the
    first audio stream. Damaged packets are passed over, and silence stands where time stamps leave
    a gap, as in players: samples count presentation time, from the first that is presented.

    Raises, when the iteration meets it, MediaError as ``open_container`` does, UnsupportedMedia for
    no such stream or no rate that is read, DamagedMedia when nothing decodes, or to no sound.
    """
    with open_container(source, analyse_frames=False) as container:
        blocks: deque[Samples] = deque()
        decode = AudioDecode([Sink(blocks.append, rate_hz, channels)], source)
        for packet in Packets(container, audio_stream(container, stream, source)):
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
    for audio in container.streams.audio:
        if index is None or audio.index == index:
            if audio.codec_context is None:
                raise UnsupportedMedia(f"{source.name}: its sound is in an unknown codec")
            rate_hz = audio.codec_context.sample_rate
            if not LOWEST_RATE_HZ <= rate_hz <= HIGHEST_RATE_HZ:
                raise UnsupportedMedia(
                    f"{source.name} has a sample rate of {rate_hz:,} Hz; palprep reads "
                    f"{LOWEST_RATE_HZ:,} to {HIGHEST_RATE_HZ:,} Hz. Record it at 48,000 Hz"
                )
            return audio
    there = ", ".join(str(audio.index) for audio in container.streams.audio) or "none"
    raise UnsupportedMedia(f"{source.name} has no such audio stream (audio streams: {there})")


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
        """From the start to the end by the timestamps; None where nothing was added."""
        return None if self.start_s is None else Span(start_s=self.start_s, end_s=self.end_s)


class AudioDecode:
    """One decode of a stream, whose samples go to every sink in the shape that it asks for.

    What reaches a sink is sound: every sample is a number, and none is beyond 60 dB over full
    scale. Anything else raises DamagedMedia, which says where it stands.
    """

    def __init__(
        self, sinks: Iterable[Sink], source: Source, *, most_s: float | None = None
    ) -> None:
        # Sinks that ask for the same share a converter.
        shapes: dict[tuple[int, int], list[Sink]] = {}
        for sink in sinks:
            shapes.setdefault((sink.rate_hz, sink.channels), []).append(sink)
        self._converters = [_Converter(*shape, alike, source) for shape, alike in shapes.items()]
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
        """Decode a packet, and hand on the blocks that it completes."""
        for frame in decoded(packet):
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
        """Hand on what is left at the end of the stream.

        Raises DamagedMedia when not one sample has decoded.
        """
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

    def __init__(self, rate_hz: int, channels: int, sinks: Sequence[Sink], source: Source) -> None:
        self._source = source
        self._rate_hz = rate_hz
        self._channels = channels
        self._left = [
            (sink.push, None if sink.most_s is None else int(sink.most_s * rate_hz))
            for sink in sinks
        ]
        """What each sink still takes, in samples."""
        self._resampler: AudioResampler | None = None
        self._shape: tuple[str, str, int] | None = None
        self._waiting: list[Samples] = []
        self._count = 0
        self._delivered = 0

    def fill(self, gap_s: float) -> None:
        missing = round(gap_s * self._rate_hz)
        if not missing or not self._left:
            return
        self._flush()
        while missing > 0:
            part = min(missing, round(BLOCK_S * self._rate_hz))
            self._waiting.append(np.zeros((self._channels, part), np.float32))
            self._count += part
            missing -= part
            self._deliver()

    def convert(self, frame: AudioFrame) -> None:
        if not self._left:
            return
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if self._resampler is None or shape != self._shape:
            self._flush()
            self._shape = shape
            count, layout = frame.layout.nb_channels, frame.layout.name
            if self._channels == 2 < count and mixes_down(count, layout):
                layout = "stereo"
            self._resampler = AudioResampler(format="flt", layout=layout, rate=self._rate_hz)
        self._keep(self._resampler.resample(frame))
        if self._count >= BLOCK_S * self._rate_hz:
            self._deliver()

    def finish(self) -> None:
        if self._left:
            self._flush()
            if self._waiting:
                self._deliver()

    def _keep(self, frames: list[AudioFrame]) -> None:
        for frame in frames:
            # Interleaved: PyAV reads planes past the eighth, and sometimes the eighth, wildly.
            # Its to_ndarray costs as much as the decode of a frame.
            count = frame.layout.nb_channels
            plane: Any = frame.planes[0]  # PyAV does not declare that it is a buffer
            samples = np.frombuffer(plane, np.float32, frame.samples * count)
            channels = samples.reshape(-1, count).T
            # FFmpeg's own mixdown of equal channels would be 3 dB louder, and clip.
            if self._channels != count:
                channels = channels.mean(axis=0, keepdims=True).repeat(self._channels, axis=0)
            self._waiting.append(channels)
            self._count += frame.samples

    def _flush(self) -> None:
        if self._resampler is not None:
            self._keep(self._resampler.resample(None))
            self._resampler = None

    def _deliver(self) -> None:
        block = np.concatenate(self._waiting, axis=1)
        self._waiting, self._count = [], 0
        block = block[0] if block.shape[0] == 1 else np.ascontiguousarray(block)
        self._require_sound(block)
        length = block.shape[-1]
        self._delivered += length
        for push, left in self._left:
            push(block if left is None or left >= length else block[..., :left])
        self._left = [
            (push, None if left is None else left - length)
            for push, left in self._left
            if left is None or left > length
        ]

    def _require_sound(self, block: Samples) -> None:
        highest = np.abs(block).max(initial=0.0)
        # False for what is no number, too.
        if highest <= _LOUDEST:
            return
        wrong = ~(np.abs(block) <= _LOUDEST)
        at = self._delivered + int(np.argmax(wrong if block.ndim == 1 else wrong.any(axis=0)))
        raise DamagedMedia(
            f"The sound of {self._source.name} is damaged at {at / self._rate_hz:.2f} s: samples "
            "are no numbers there, or far beyond full scale. Export or record it again"
        )
