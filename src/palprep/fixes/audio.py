"""Sound files: the formats that fixes write, and the sound of a file as one of them.

Its packets stay as they are where they can.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from palprep.errors import FixError
from palprep.fixes.graph import BARE, BARE_SOUND, Progress, address, read, seconds, stream_words
from palprep.fixes.output import Applied, FixDone, NewOutput
from palprep.media import AudioStreamFacts, Source, probe_audio, run_ffmpeg
from palprep.rules.plans import AudioPlan
from palprep.values import Kind, Span, Value


class Container(Value):
    """A sound file format: ffmpeg's muxer with its options, the codecs that it can take over
    unchanged, and the encoder for all others."""

    muxer: str
    suffix: str
    copies: tuple[str, ...]
    encoder: Mapping[str, str | int]
    options: Mapping[str, str | int] = {}
    rates_hz: tuple[int, ...] | None = None
    """The only sample rates that the encoder takes, ascending; None when it takes any."""

    def encoding(self, rate_hz: int, channels: int) -> dict[str, Any]:
        """Output options for one encode at the nearest rate that the encoder takes, upwards
        where there is one; more than two channels are mixed down to stereo."""
        if self.rates_hz:
            rate_hz = next((each for each in self.rates_hz if each >= rate_hz), self.rates_hz[-1])
        return {**self.encoder, **BARE_SOUND, "ar": rate_hz, "ac": min(channels, 2)}

    def write(
        self,
        sound: Any,
        target: Path,
        encoding: Mapping[str, Any] | None,
        *,
        duration_s: float,
        progress: Progress | None,
    ) -> None:
        """Write an ffmpeg-python stream; where ``encoding`` is None, its packets unchanged."""
        options = {"c:a": "copy"} if encoding is None else encoding
        node = sound.output(address(target), f=self.muxer, **BARE, **self.options, **options)
        run_ffmpeg(node, duration_s=duration_s, progress=progress)


_OPUS_RATES = (8000, 12000, 16000, 24000, 48000)
_OPUS = {"c:a": "libopus", "b:a": "128k"}

CONTAINERS: Mapping[str, Container] = {
    "m4a": Container(
        muxer="ipod",
        suffix=".m4a",
        copies=("aac", "alac"),
        encoder={"c:a": "aac", "b:a": "192k"},
    ),
    "mp3": Container(
        muxer="mp3",
        suffix=".mp3",
        copies=("mp3",),
        encoder={"c:a": "libmp3lame", "q:a": 0},
        options={"id3v2_version": 0},
        rates_hz=(8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000),
    ),
    "wav": Container(
        muxer="wav",
        suffix=".wav",
        copies=("pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_u8"),
        encoder={"c:a": "pcm_s16le"},
    ),
    "flac": Container(muxer="flac", suffix=".flac", copies=("flac",), encoder={"c:a": "flac"}),
    "ogg": Container(
        muxer="ogg",
        suffix=".ogg",
        copies=("opus", "vorbis", "flac"),
        encoder=_OPUS,
        rates_hz=_OPUS_RATES,
    ),
    "webm": Container(
        muxer="webm",
        suffix=".webm",
        copies=("opus", "vorbis"),
        encoder=_OPUS,
        rates_hz=_OPUS_RATES,
    ),
}
"""By the name that plans use."""

_SMALL = {"c:a": "libmp3lame", "b:a": 24_000, "ar": 16_000, "ac": 1, "id3v2_version": 0}
"""Speech that is understood, at 3 kB for a second."""


def fix_audio(
    plan: AudioPlan, source: Source, new: NewOutput, progress: Progress | None
) -> Applied:
    """Write the plan's stream of ``source``, without metadata.

    Raises FixError when the source has no such stream, or the container cannot take its
    packets as they are.
    """
    facts = probe_audio(source, levels=False)
    stream = stream_at(facts.streams, plan.stream, source)
    container = CONTAINERS[plan.container]
    if plan.copy_codec and stream.codec not in container.copies:
        raise FixError(
            f"{stream.codec} packets cannot be copied into {plan.container}; "
            "plan one encode instead (copy_codec=False)"
        )
    encoding = None
    if not plan.copy_codec:
        rate_hz, channels = plan.rate_hz or stream.sample_rate_hz, plan.channels or stream.channels
        encoding = container.encoding(rate_hz, channels)
    with new(container.suffix) as output:
        sound = read(source)[str(stream.index)]
        container.write(
            sound, output.temporary, encoding, duration_s=facts.duration_s, progress=progress
        )
    done = tuple(file_words(plan.container, source, stream, encoding))
    return Applied(path=str(output.path), fixes=done)


def mp3_excerpt(source: Source, stream: int, span: Span) -> bytes:
    """A stretch of the audio stream at an index of the container, to be listened to: MP3, mono.

    Raises ToolError when ffmpeg gives up.
    """
    with tempfile.TemporaryDirectory(prefix="palprep-") as folder:
        target = Path(folder) / "excerpt.mp3"
        opened = read(source, ss=seconds(span.start_s), t=seconds(span.duration_s))
        run_ffmpeg(opened[str(stream)].output(address(target), **BARE, **_SMALL))
        return target.read_bytes()


def stream_at(streams: Sequence[AudioStreamFacts], index: int, source: Source) -> AudioStreamFacts:
    """The audio stream at an index of the container. Raises FixError when there is none."""
    for stream in streams:
        if stream.index == index:
            return stream
    there = ", ".join(str(stream.index) for stream in streams) or "none"
    raise FixError(f"{source.name} has no audio stream {index}; its audio streams: {there}")


def file_words(
    container: str, source: Source, stream: AudioStreamFacts, encoding: Mapping[str, Any] | None
) -> Iterator[FixDone]:
    """How a sound file was made of a stream; ``encoding`` is None where its packets were copied."""
    if source.type.kind is Kind.VIDEO:
        yield FixDone(id="extract", did="took the audio track alone")
    if encoding is None:
        did = f"copied the {stream.codec} packets into {container} unchanged"
        yield FixDone(id="rewrap", did=did)
    else:
        shape = f"{encoding['ar']:,} Hz, {'mono' if encoding['ac'] == 1 else 'stereo'}"
        did = f"encoded once from {stream_words(stream)} to {container}, {shape}"
        yield FixDone(id="convert", did=did)
    yield FixDone(id="strip_metadata", did="left all tags and chapters behind")
