"""A voice sample: the best speech of a recording, joined, cleaned and set to a loudness.

Stretches are joined by short crossfades. Only one stretch is in memory at a time, however long the
recording is.
"""

from __future__ import annotations

import tempfile
import warnings
import wave
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from palprep.errors import FixError
from palprep.fixes.audio import CONTAINERS, file_words, stream_at
from palprep.fixes.graph import Progress, Stages, read
from palprep.fixes.loudness import Gain, Loudness, Target, amplified, fitting_gain, measure_loudness
from palprep.fixes.output import Applied, FixDone, NewOutput
from palprep.media import AudioStreamFacts, Samples, Source, probe_audio, stream_samples
from palprep.rules.plans import VoicePlan
from palprep.values import Span

with warnings.catch_warnings():
    # pydub looks for an ffmpeg on PATH, which is not needed for what it does here, and has
    # regular expressions that newer Pythons frown upon.
    warnings.simplefilter("ignore")
    from pydub import AudioSegment

_LOSSY = frozenset({"mp3", "m4a"})
"""Decoding these raises the peaks; only the result tells by how much."""
_ENCODES = 3
_PEAK_MARGIN_DB = 0.1

_MIXES = {
    "average": "mono|c0=0.5*c0+0.5*c1",
    "first": "mono|c0=c0",
    "second": "mono|c0=c1",
    "difference": "mono|c0=0.5*c0-0.5*c1",
}
"""Arguments of ffmpeg's pan filter. Halves, so that no mixdown clips."""
_MIX_WORDS = {
    "average": "mixed both channels down to mono",
    "first": "kept the first channel alone",
    "second": "kept the second channel alone",
    "difference": "turned the inverted channel round and mixed down to mono",
}

_WIDTH = 4
"""Bytes per sample of what is joined: 32 bits, so that nothing is lost before the one encode."""
_FULL_SCALE = 2**31 - 1


def fix_voice(
    plan: VoicePlan, source: Source, new: NewOutput, progress: Progress | None
) -> Applied:
    """Write the voice sample that ``plan`` makes of ``source``.

    Raises FixError when the source has no such stream, ends before a span does, or is silent.
    """
    facts = probe_audio(source, levels=False)
    stream = stream_at(facts.streams, plan.stream, source)
    stages = Stages(progress)
    with (
        new(CONTAINERS[plan.container].suffix) as output,
        tempfile.TemporaryDirectory(prefix="palprep-") as folder,
    ):
        if plan.spans:
            joined = Path(folder) / "joined.wav"
            length_s = write_joined(
                source,
                stream,
                plan.spans,
                joined,
                crossfade_s=plan.crossfade_s,
                progress=stages.next(0.4),
            )
            sound = read(Source.of(joined))["a:0"]
        else:
            length_s = facts.duration_s
            sound = read(source)[str(stream.index)]
        voice = _Voice(plan, _cleaned(sound, plan, stream), stream, length_s)
        levelled = voice.write(output.temporary, stages)
    done = (
        *_cut_words(plan, length_s),
        *_clean_words(plan, stream),
        *(_loudness_words(plan, *levelled) if levelled else ()),
        *file_words(plan.container, source, stream, voice.encoding),
    )
    return Applied(path=str(output.path), fixes=done)


class _Voice:
    """The cut and cleaned sound, to be levelled and encoded."""

    def __init__(
        self, plan: VoicePlan, sound: Any, stream: AudioStreamFacts, length_s: float
    ) -> None:
        self._plan, self._sound, self._length_s = plan, sound, length_s
        self._container = CONTAINERS[plan.container]
        channels = 1 if plan.mix != "keep" else stream.channels
        self.encoding = self._container.encoding(plan.rate_hz or stream.sample_rate_hz, channels)

    def write(self, target: Path, stages: Stages) -> tuple[Loudness, Gain] | None:
        """Encode to ``target``; the loudness before and the gain, if the plan sets one."""
        plan = self._plan
        if plan.loudness_lufs is None:
            self._encode(self._sound, target, stages)
            return None
        before = measure_loudness(self._sound, duration_s=self._length_s, progress=stages.next(0.5))
        aim = Target(
            integrated_lufs=plan.loudness_lufs,
            ceiling_dbtp=plan.true_peak_dbtp,
            noise=plan.noise,
        )
        for attempt in range(_ENCODES):
            gain = fitting_gain(self._sound, before, aim, duration_s=self._length_s)
            self._encode(amplified(self._sound, gain, aim), target, stages)
            if plan.container not in _LOSSY:
                break
            encoded = read(Source.of(target))["a:0"]
            over = (
                measure_loudness(encoded, duration_s=self._length_s).true_peak_dbtp
                - plan.true_peak_dbtp
            )
            if over <= 0:
                break
            # Limited harder first; what that does not reach, a lower level does.
            lowered = "ceiling_dbtp" if attempt == 0 else "integrated_lufs"
            less = {lowered: getattr(aim, lowered) - over - _PEAK_MARGIN_DB}
            aim = aim.model_copy(update=less)
        return before, gain

    def _encode(self, sound: Any, target: Path, stages: Stages) -> None:
        length_s, progress = self._length_s, stages.next(0.9)
        self._container.write(sound, target, self.encoding, duration_s=length_s, progress=progress)


def _cleaned(sound: Any, plan: VoicePlan, stream: AudioStreamFacts) -> Any:
    mix = _MIXES.get(plan.mix)
    if mix is not None and stream.channels > 1:
        sound = sound.filter("aformat", channel_layouts="stereo").filter("pan", args=mix)
    if plan.high_pass_hz is not None:
        for _ in range(2):  # two second-order sections make the fourth order
            sound = sound.filter("highpass", f=plan.high_pass_hz)
    return sound


def _cut_words(plan: VoicePlan, length_s: float) -> Iterator[FixDone]:
    if len(plan.spans) == 1:
        span = plan.spans[0]
        did = f"kept {span.start_s:.2f} s to {span.end_s:.2f} s ({length_s:.1f} s)"
        yield FixDone(id="select", did=did, kept=plan.spans)
    elif plan.spans:
        did = (
            f"kept {length_s:.1f} s of speech from {len(plan.spans)} stretches, joined with "
            f"crossfades of {plan.crossfade_s * 1000:.0f} ms"
        )
        yield FixDone(id="select", did=did, kept=plan.spans)


def _clean_words(plan: VoicePlan, stream: AudioStreamFacts) -> Iterator[FixDone]:
    if plan.mix != "keep" and stream.channels > 1:
        yield FixDone(id="mix", did=_MIX_WORDS[plan.mix])
    if plan.high_pass_hz is not None:
        yield FixDone(id="high_pass", did=f"filtered out what is below {plan.high_pass_hz:g} Hz")


def _loudness_words(plan: VoicePlan, before: Loudness, gain: Gain) -> Iterator[FixDone]:
    reached = before.integrated_lufs + gain.gain_db - gain.lost_lu
    did = (
        f"loudness from {before.integrated_lufs:.1f} to {reached:.1f} LUFS ({gain.gain_db:+.1f} dB)"
    )
    if gain.limits:
        did += f", peaks limited to {plan.true_peak_dbtp:g} dBTP"
    if gain.held_back_by is not None:
        did += f"; no further, because of the {gain.held_back_by}"
    yield FixDone(id="level", did=did)


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
