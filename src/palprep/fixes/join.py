"""Stretches of a recording joined into one, each join a short crossfade.

Only one stretch is in memory at a time, however long the recording is.
"""

from __future__ import annotations

import warnings
import wave
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from palprep.errors import FixError
from palprep.fixes.graph import Progress
from palprep.media import AudioStreamFacts, Samples, Source, stream_samples
from palprep.values import Span

with warnings.catch_warnings():
    # pydub looks for an ffmpeg on PATH, which is not needed for what it does here, and has
    # regular expressions that newer Pythons frown upon.
    warnings.simplefilter("ignore")
    from pydub import AudioSegment

_WIDTH = 4
"""Bytes per sample: 32 bits, so that nothing is lost before the one encode."""
_FULL_SCALE = 2**31 - 1


def write_joined(
    source: Source,
    stream: AudioStreamFacts,
    spans: Sequence[Span],
    target: Path,
    *,
    crossfade_s: float,
    progress: Progress | None = None,
) -> float:
    """Write the spans of a stream, joined, as a 32-bit WAV; return its length in seconds.

    ``spans`` are in order and apart, each longer than two crossfades. Raises FixError when
    one of them lies beyond the end of the recording.
    """
    rate, channels = stream.sample_rate_hz, min(stream.channels, 2)
    blocks = stream_samples(source, rate_hz=rate, channels=channels, stream=stream.index)
    with wave.open(str(target), "wb") as file:
        file.setparams((channels, _WIDTH, rate, 0, "NONE", "not compressed"))
        joiner = _Joiner(file, crossfade_ms=round(crossfade_s * 1000))
        for number, samples in enumerate(_cut(blocks, rate, spans), start=1):
            joiner.add(_segment(samples, rate, channels))
            if progress is not None:
                progress(number / len(spans))
        joiner.finish()
        if joiner.count < len(spans):
            raise FixError(
                f"{source.name} ends before {spans[joiner.count].end_s:.2f} s, "
                "where a stretch that is to be kept ends"
            )
        return file.getnframes() / rate


class _Joiner:
    """Writes segments as they come, holding back the end that the next one fades over."""

    def __init__(self, file: wave.Wave_write, *, crossfade_ms: int) -> None:
        self._file, self._crossfade_ms = file, crossfade_ms
        self._end: AudioSegment | None = None
        self.count = 0

    def add(self, segment: AudioSegment) -> None:
        self.count += 1
        overlap = self._crossfade_ms
        if not overlap:
            self._file.writeframes(segment.raw_data)
            return
        if self._end is not None:
            bridge = self._end.append(segment[:overlap], crossfade=overlap)
            self._file.writeframes(bridge.raw_data)
            segment = segment[overlap:]
        self._file.writeframes(segment[:-overlap].raw_data)
        self._end = segment[-overlap:]

    def finish(self) -> None:
        if self._end is not None:
            self._file.writeframes(self._end.raw_data)


def _cut(blocks: Iterable[Samples], rate: int, spans: Sequence[Span]) -> Iterator[Samples]:
    """The samples of each span, shape (channels, samples); spans that are not whole are left
    out. Nothing is read beyond the last one."""
    waiting = [(round(span.start_s * rate), round(span.end_s * rate)) for span in spans]
    kept: list[Samples] = []
    at = 0
    for block in blocks:
        shaped = np.atleast_2d(block)
        end = at + shaped.shape[1]
        while waiting and waiting[0][0] < end:
            start, stop = waiting[0]
            kept.append(shaped[:, max(start - at, 0) : stop - at])
            if stop > end:
                break
            yield np.concatenate(kept, axis=1)
            kept = []
            waiting.pop(0)
        if not waiting:
            return
        at = end


def _segment(samples: Samples, rate: int, channels: int) -> AudioSegment:
    scaled = np.clip(samples.astype(np.float64), -1.0, 1.0) * _FULL_SCALE
    interleaved = np.rint(scaled).astype("<i4").T
    return AudioSegment(
        data=interleaved.tobytes(), sample_width=_WIDTH, frame_rate=rate, channels=channels
    )
