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
from palprep.rules.plans import COPY_CONTAINERS, AudioPlan
from palprep.values import Kind, Span

_MUXERS: Mapping[str, Mapping[str, Any]] = {
    "m4a": {"f": "ipod"},
    "mp3": {"f": "mp3", "id3v2_version": 0},
    "wav": {"f": "wav"},
    "flac": {"f": "flac"},
    "ogg": {"f": "ogg"},
}
"""ffmpeg's options for each container of a plan."""

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
    if plan.copy_codec and COPY_CONTAINERS.get(stream.codec) != plan.container:
        raise FixError(
            f"{stream.codec} packets cannot be copied into {plan.container}; "
            "plan one encode instead (copy_codec=False)"
        )
    channels = None if plan.copy_codec else min(stream.channels, 2)
    encoding = {"c:a": "copy"} if channels is None else as_wav(stream, channels)
    with new(f".{plan.container}") as output:
        write_sound(
            read(source)[str(stream.index)],
            output.temporary,
            {**_MUXERS[plan.container], **encoding},
            duration_s=facts.duration_s,
            progress=progress,
        )
    done = tuple(file_words(plan.container, source, stream, channels))
    return Applied(path=str(output.path), fixes=done)


def as_wav(stream: AudioStreamFacts, channels: int) -> dict[str, Any]:
    """Output options for one encode of a stream at its rate, in 16 bits."""
    rate_hz = stream.sample_rate_hz
    return {"f": "wav", "c:a": "pcm_s16le", **BARE_SOUND, "ar": rate_hz, "ac": channels}


def write_sound(
    sound: Any,
    target: Path,
    options: Mapping[str, Any],
    *,
    duration_s: float,
    progress: Progress | None,
) -> None:
    """Write an ffmpeg-python stream without metadata."""
    node = sound.output(address(target), **BARE, **options)
    run_ffmpeg(node, duration_s=duration_s, progress=progress)


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
    container: str, source: Source, stream: AudioStreamFacts, channels: int | None
) -> Iterator[FixDone]:
    """How a sound file was made of a stream; ``channels`` is None where its packets were copied."""
    if source.type.kind is Kind.VIDEO:
        yield FixDone(id="extract", did="took the audio track alone")
    if channels is None:
        did = f"copied the {stream.codec} packets into {container} unchanged"
        yield FixDone(id="rewrap", did=did)
    else:
        shape = f"{stream.sample_rate_hz:,} Hz, {'mono' if channels == 1 else 'stereo'}"
        did = f"encoded once from {stream_words(stream)} to {container}, {shape}"
        yield FixDone(id="convert", did=did)
    yield FixDone(id="strip_metadata", did="left all tags and chapters behind")
