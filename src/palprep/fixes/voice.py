"""The sound of a file as a file of its own: its packets as they are, or a voice sample. That is the
best speech of a recording, joined, cleaned and set to a loudness.

Stretches are joined by short crossfades. Only one stretch is in memory at a time.
"""

from __future__ import annotations

import tempfile
import warnings
import wave
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from palprep.errors import FixError
from palprep.fixes.graph import (
    BARE_SOUND,
    MIXES,
    Progress,
    mixdown,
    part_of,
    read,
    seconds,
    stream_words,
    write,
)
from palprep.fixes.loudness import levelled
from palprep.fixes.output import Applied, FixDone, NewOutput
from palprep.media import AudioFacts, AudioStreamFacts
from palprep.media.sound import Samples, probe_audio, stream_samples
from palprep.media.sources import Source
from palprep.rules.plans import COPY_CONTAINERS, CROSSFADE_S, VoicePlan
from palprep.speech import DefectMeter
from palprep.values import Kind, Span

with warnings.catch_warnings():
    # pydub looks for an ffmpeg on PATH, which is not needed for what it does here, and has
    # regular expressions that newer Pythons frown upon.
    warnings.simplefilter("ignore")
    from pydub import AudioSegment

_OPTIONS: Mapping[str, Mapping[str, Any]] = {"m4a": {"f": "ipod"}, "mp3": {"id3v2_version": 0}}
"""More options of ffmpeg for a container, where the name of the muxer is not enough."""

_SMALL: Mapping[str, Any] = {
    "c:a": "libmp3lame",
    "b:a": 24_000,
    "ar": 16_000,
    "ac": 1,
    "id3v2_version": 0,
}
"""Speech that is understood, at 3 kB for a second."""

_WIDTH = 4
"""Bytes per sample of what is joined: 32 bits, so that nothing is lost before the one encode."""
_FULL_SCALE = 2**31 - 1
_ROOM = 1024
"""Sound that may go beyond full scale is divided by this while it is joined. None that is read goes
further, and more than 16 of the 32 bits are left."""
_HUM_MULTIPLES = range(1, 7)
"""The multiples of the mains that are heard as hum."""
_HUM_WIDTH_HZ = 2
"""Mains and recorders are true to a fraction of this. A voice loses 0.2 dB at the most by it."""
_CROSSFADE_MS = round(CROSSFADE_S * 1000)


def mp3_excerpt(source: Source, stream: int, span: Span) -> bytes:
    """A stretch of the audio stream at an index of the container, to be listened to: MP3, mono.

    Raises ToolError when ffmpeg gives up.
    """
    with tempfile.TemporaryDirectory(prefix="palprep-") as folder:
        target = Path(folder) / "excerpt.mp3"
        opened = read(source, ss=seconds(span.start_s), t=seconds(span.duration_s))
        write(target, opened[str(stream)], **_SMALL)
        return target.read_bytes()


def _file_words(source: Source, written: FixDone) -> tuple[FixDone, ...]:
    """What is done to make a sound file from ``source``; ``written`` is how it is written."""
    extracted = FixDone(id="extract", did="took the audio track alone")
    stripped = FixDone(id="strip_metadata", did="left all tags and chapters behind")
    return (*([extracted] if source.type.kind is Kind.VIDEO else []), written, stripped)


def fix_voice(
    plan: VoicePlan, source: Source, new: NewOutput, progress: Progress | None
) -> Applied:
    """Write the voice sample that ``plan`` makes of ``source``. What edits of the source leave out
    stays out: the packets of such a recording are not copied."""
    facts, movie = probe_audio(source), source.content.movie
    stream = facts.stream
    if plan.copies and not (movie and movie.is_cut):
        return _copied(facts, source, new, progress)
    rate_hz, channels = stream.sample_rate_hz, 1 if plan.mix != "keep" else min(stream.channels, 2)
    with new(".wav") as output, tempfile.TemporaryDirectory(prefix="palprep-") as folder:
        clipped_runs = None
        if plan.spans:
            joined = Path(folder) / "joined.wav"
            length_s, clipped_runs = write_joined(
                source, stream, plan.spans, joined, progress=part_of(progress, 0.0, 0.4)
            )
            sound = read(Source.of(joined))["a:0"]
            if stream.exceeds:
                sound = sound.filter("volume", _ROOM)
        else:
            length_s = facts.duration_s
            # Pauses of which a browser records nothing stay: they are filled with silence.
            sound = read(source)[str(stream.index)].filter("aresample", **{"async": 1})
            if pan := mixdown(stream):
                sound = sound.filter("pan", args=pan)
            # As it was measured: ffmpeg mixes integers down more quietly than floats.
            layout = "mono" if stream.channels == 1 else "stereo"
            sound = sound.filter("aformat", sample_fmts="flt", channel_layouts=layout)
        sound, cleaned = _cleaned(sound, plan, stream)
        part = part_of(progress, 0.4, 0.7)
        sound, level = levelled(sound, plan, rate_hz=rate_hz, duration_s=length_s, progress=part)
        encoding = {"f": "wav", "c:a": "pcm_s16le", **BARE_SOUND, "ar": rate_hz, "ac": channels}
        progress = part_of(progress, 0.7, 1.0)
        write(output.temporary, sound, duration_s=length_s, progress=progress, **encoding)
    shape = f"{rate_hz:,} Hz, {'mono' if channels == 1 else 'stereo'}"
    did = f"encoded once from {stream_words(stream)} to wav, {shape}"
    done = (
        *([_selected(plan.spans, length_s)] if plan.spans else []),
        *cleaned,
        *level,
        *_file_words(source, FixDone(id="convert", did=did)),
    )
    return Applied(path=str(output.path), fixes=done, clipped_runs=clipped_runs)


def _copied(
    facts: AudioFacts, source: Source, new: NewOutput, progress: Progress | None
) -> Applied:
    stream, container = facts.stream, COPY_CONTAINERS[facts.stream.codec]
    with new(f".{container}") as output:
        options = {"c:a": "copy", "f": container, **_OPTIONS.get(container, {})}
        sound = read(source)[str(stream.index)]
        write(output.temporary, sound, duration_s=facts.duration_s, progress=progress, **options)
    did = f"copied the {stream.codec} packets into {container} unchanged"
    return Applied(path=str(output.path), fixes=_file_words(source, FixDone(id="rewrap", did=did)))


def _selected(spans: tuple[Span, ...], length_s: float) -> FixDone:
    first, *more = spans
    did = f"kept {first.start_s:.2f} s to {first.end_s:.2f} s ({length_s:.1f} s)"
    if more:
        did = f"kept {length_s:.1f} s of speech from {len(spans)} stretches, joined with "
        did += f"crossfades of {_CROSSFADE_MS} ms"
    return FixDone(id="select", did=did, kept=spans)


def _cleaned(sound: Any, plan: VoicePlan, stream: AudioStreamFacts) -> tuple[Any, list[FixDone]]:
    done = []
    if plan.mix != "keep" and stream.channels > 1:
        mixed, did = MIXES[plan.mix]
        sound = sound.filter("pan", args=f"mono|c0={mixed}")
        done.append(FixDone(id="mix", did=did))
    if plan.high_pass_hz is not None:
        for _ in range(2):  # two second-order sections make the fourth order
            sound = sound.filter("highpass", f=plan.high_pass_hz)
        did = f"filtered out what is below {plan.high_pass_hz:g} Hz"
        if plan.hum_hz is not None:
            for multiple in _HUM_MULTIPLES:
                hum = f"{plan.hum_hz * multiple:g}"
                sound = sound.filter("bandreject", f=hum, width_type="h", width=_HUM_WIDTH_HZ)
            did += f", and the hum at {plan.hum_hz:g} Hz and its multiples"
        done.append(FixDone(id="high_pass", did=did))
    return sound, done


def write_joined(
    source: Source,
    stream: AudioStreamFacts,
    spans: Sequence[Span],
    target: Path,
    *,
    progress: Progress | None = None,
) -> tuple[float, int]:
    """Write the spans of a stream, joined, as a 32-bit WAV, turned down by ``_ROOM`` where it may
    go beyond full scale; return its length in seconds, and how many runs of clipped
    samples are in it.

    ``spans`` are in order and apart, each longer than two crossfades. Raises FixError when
    one of them lies beyond the end of the recording.
    """
    rate, channels = stream.sample_rate_hz, min(stream.channels, 2)
    full_scale = _FULL_SCALE / _ROOM if stream.exceeds else _FULL_SCALE
    blocks = stream_samples(source, rate_hz=rate, channels=channels, stream=stream.index)
    with wave.open(str(target), "wb") as file:
        file.setparams((channels, _WIDTH, rate, 0, "NONE", "not compressed"))
        meter = DefectMeter(channels, exceeds=stream.exceeds)
        count, end = 0, AudioSegment.empty()
        for samples in _cut(blocks, rate, spans):
            meter.push(samples)
            scaled = np.clip(samples.astype(np.float64) * full_scale, -_FULL_SCALE, _FULL_SCALE)
            data = np.rint(scaled).astype("<i4").T.tobytes()
            segment = AudioSegment(
                data, sample_width=_WIDTH, frame_rate=rate, channels=len(samples)
            )
            if count:
                bridge = end.append(segment[:_CROSSFADE_MS], crossfade=_CROSSFADE_MS)
                file.writeframes(bridge.raw_data)
                segment = segment[_CROSSFADE_MS:]
            # The end is held back: the next stretch fades in over it.
            file.writeframes(segment[:-_CROSSFADE_MS].raw_data)
            count, end = count + 1, segment[-_CROSSFADE_MS:]
            if progress is not None:
                progress(count / len(spans))
        file.writeframes(end.raw_data)
        if count < len(spans):
            raise FixError(
                f"{source.name} ends before {spans[count].end_s:.2f} s, "
                "where a stretch that is to be kept ends"
            )
        return file.getnframes() / rate, meter.clipped_runs()


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
