"""A voice sample: the best speech of a recording, joined, cleaned and set to a loudness."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from palprep.fixes.audio import CONTAINERS, file_words, stream_at
from palprep.fixes.graph import Progress, Stages, read
from palprep.fixes.join import write_joined
from palprep.fixes.loudness import Gain, Loudness, Target, amplified, fitting_gain, measure_loudness
from palprep.fixes.output import Applied, FixDone, new_output
from palprep.media import AudioStreamFacts, Source, probe_audio
from palprep.rules.plans import VoicePlan

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


def fix_voice(
    plan: VoicePlan,
    source: Source,
    target_stem: Path,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Applied:
    """Write the voice sample that ``plan`` makes of ``source`` next to ``target_stem``.

    Raises FixError when the source has no such stream, ends before a span does, or is silent.
    """
    facts = probe_audio(source, levels=False)
    stream = stream_at(facts.streams, plan.stream, source)
    stages = Stages(progress)
    with (
        new_output(
            target_stem, CONTAINERS[plan.container].suffix, source=source.path, overwrite=overwrite
        ) as output,
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
