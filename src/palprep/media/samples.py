"""Samples of an audio stream, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer
from numpy.typing import NDArray

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.container import Packets, decoded, open_container
from palprep.media.facts import MediaType
from palprep.media.timing import AudioTimes

BLOCK_S = 1.0
_LEAST_GAP_S = 0.1
"""Time stamps waver by less; so does FFmpeg's own resampler see it (min_hard_comp)."""

_MOST_FILLED_S = 600.0
"""Silence put in at the most: absurd time stamps must not become hours of it."""

_LAYOUTS = {2: "stereo", 3: "2.1", 4: "quad", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"}


def stream_samples(
    path: str | Path,
    media_type: MediaType,
    *,
    rate_hz: int | None,
    channels: int | None = 1,
    stream: int | None = None,
) -> Iterator[NDArray[np.float32]]:
    """Decoded sound in blocks of about a second, full scale at -1.0 and 1.0.

    ``rate_hz`` and ``channels`` are converted to; None keeps what the stream has at its start.
    One channel is the mean of all, so that equal channels keep their level. One channel gives
    blocks of shape (samples,), more give (channels, samples). ``stream`` is an index into the
    container as in ``AudioStreamFacts.index``, by default the first audio stream. The first sample
    is the first one that the stream presents. Damaged packets are passed over, and silence
    stands where time stamps leave a gap, as in players: samples count presentation time.

    Raises, when the iteration starts or meets it, MediaError as ``open_container`` does,
    UnsupportedMedia when there is no such audio stream, DamagedMedia when nothing decodes.
    """
    with open_container(path, media_type, pictures=False) as container:
        audio = audio_stream(container, stream, Path(path))
        yield from Blocks(audio, rate_hz=rate_hz, channels=channels).of(container, Path(path))


def audio_stream(container: InputContainer, index: int | None, source: Path) -> AudioStream:
    """The audio stream at an index of the container, by default the first one."""
    for audio in container.streams.audio:
        if index is None or audio.index == index:
            if audio.codec_context is None:
                raise UnsupportedMedia(f"{source.name}: its sound is in an unknown codec")
            return audio
    there = ", ".join(str(audio.index) for audio in container.streams.audio) or "none"
    raise UnsupportedMedia(f"{source.name} has no such audio stream (audio streams: {there})")


class Blocks:
    """Turns the packets of one stream into blocks of equal rate and channels.

    Streams may change rate and channels midway (chained Ogg, HE-AAC); every change gets a new
    resampler, and the blocks stay as they began.
    """

    def __init__(self, stream: AudioStream, *, rate_hz: int | None, channels: int | None) -> None:
        self.stream = stream
        self.rate_hz = rate_hz
        self.channels = channels
        self._resampler: AudioResampler | None = None
        self._source: tuple[str, str, int] | None = None
        self._waiting: list[NDArray[np.float32]] = []
        self._count = 0
        self._fill_s = _MOST_FILLED_S
        self.times = AudioTimes()
        """Of the samples that were decoded."""

    def of(self, container: InputContainer, source: Path) -> Iterator[NDArray[np.float32]]:
        """All blocks of the stream. Raises DamagedMedia when not one sample decodes."""
        delivered = False
        for packet in Packets(container, self.stream):
            for block in self.feed(packet):
                delivered = True
                yield block
        for block in self.rest():
            delivered = True
            yield block
        if not delivered:
            raise DamagedMedia(
                f"The sound of {source.name} does not decode; export or record it again"
            )

    def feed(self, packet: Any) -> Iterator[NDArray[np.float32]]:
        """The blocks that a packet completes."""
        for frame in decoded(packet):
            yield from self._take(frame)

    def rest(self) -> Iterator[NDArray[np.float32]]:
        """What is left at the end of the stream."""
        self._flush()
        if self._waiting:
            yield self._joined()

    def _take(self, frame: AudioFrame) -> Iterator[NDArray[np.float32]]:
        if not frame.samples or not frame.sample_rate:
            return
        yield from self._silence_before(frame)
        if frame.time is not None:
            self.times.add(frame.time, frame.samples / frame.sample_rate)
        source = (frame.format.name, frame.layout.name, frame.sample_rate)
        if self._resampler is None or source != self._source:
            self._flush()
            self._source = source
            self._resampler = self._resampler_for(frame)
        self._keep(self._resampler.resample(frame))
        if self.rate_hz and self._count >= BLOCK_S * self.rate_hz:
            yield self._joined()

    def _silence_before(self, frame: AudioFrame) -> Iterator[NDArray[np.float32]]:
        if frame.time is None or self.times.start_s is None or not self.rate_hz:
            return
        gap_s = min(frame.time - self.times.end_s, self._fill_s)
        if gap_s < _LEAST_GAP_S:
            return
        self._fill_s -= gap_s
        self._flush()
        missing = round(gap_s * self.rate_hz)
        while missing > 0:
            part = min(missing, round(BLOCK_S * self.rate_hz))
            self._waiting.append(np.zeros((self.channels or 1, part), np.float32))
            self._count += part
            missing -= part
            yield self._joined()

    def _resampler_for(self, frame: AudioFrame) -> AudioResampler:
        self.rate_hz = self.rate_hz or frame.sample_rate
        self.channels = self.channels or frame.layout.nb_channels
        kept = self.channels in {1, frame.layout.nb_channels}
        layout = frame.layout.name if kept else _LAYOUTS[self.channels]
        return AudioResampler(format="flt", layout=layout, rate=self.rate_hz)

    def _keep(self, frames: list[AudioFrame]) -> None:
        for frame in frames:
            # Interleaved: PyAV reads planes past the eighth, and sometimes the eighth, wildly.
            samples = frame.to_ndarray().astype(np.float32, copy=False)
            channels = samples.reshape(-1, frame.layout.nb_channels).T
            # FFmpeg's own mixdown of equal channels would be 3 dB louder, and clip.
            mixed = channels.mean(axis=0, keepdims=True) if self.channels == 1 else channels
            self._waiting.append(mixed)
            self._count += frame.samples

    def _flush(self) -> None:
        if self._resampler is not None:
            self._keep(self._resampler.resample(None))
            self._resampler = None

    def _joined(self) -> NDArray[np.float32]:
        block = np.concatenate(self._waiting, axis=1)
        self._waiting, self._count = [], 0
        return block[0] if block.shape[0] == 1 else np.ascontiguousarray(block)
