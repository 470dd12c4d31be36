"""The sound of a file as a file of its own, whose packets stay as they are."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from palprep.errors import FixError
from palprep.fixes.graph import BARE, Progress, address, read, seconds
from palprep.fixes.output import Applied, FixDone, NewOutput
from palprep.media import AudioStreamFacts, Source, probe_audio, run_ffmpeg
from palprep.rules.plans import COPY_CONTAINERS, AudioPlan
from palprep.values import Kind, Span

_OPTIONS: Mapping[str, Mapping[str, Any]] = {"m4a": {"f": "ipod"}, "mp3": {"id3v2_version": 0}}
"""ffmpeg's for a container of a plan, where its name as the muxer is not all."""

_SMALL = {"c:a": "libmp3lame", "b:a": 24_000, "ar": 16_000, "ac": 1, "id3v2_version": 0}
"""Speech that is understood, at 3 kB for a second."""


def fix_audio(
    plan: AudioPlan, source: Source, new: NewOutput, progress: Progress | None
) -> Applied:
    """Write the packets of the plan's stream of ``source``, without metadata.

    Raises FixError when the source has no such stream, or the container does not take its packets.
    """
    facts = probe_audio(source, levels=False)
    stream = stream_at(facts.streams, plan.stream, source)
    if COPY_CONTAINERS.get(stream.codec) != plan.container:
        raise FixError(f"{stream.codec} packets cannot be copied into {plan.container}")
    with new(f".{plan.container}") as output:
        options = {"c:a": "copy", "f": plan.container, **_OPTIONS.get(plan.container, {})}
        sound = read(source)[str(stream.index)]
        node = sound.output(address(output.temporary), **BARE, **options)
        run_ffmpeg(node, duration_s=facts.duration_s, progress=progress)
    did = f"copied the {stream.codec} packets into {plan.container} unchanged"
    done = file_words(source, FixDone(id="rewrap", did=did))
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


def file_words(source: Source, written: FixDone) -> tuple[FixDone, ...]:
    """What a sound file goes through that is ``written`` from a stream of ``source``."""
    extracted = FixDone(id="extract", did="took the audio track alone")
    stripped = FixDone(id="strip_metadata", did="left all tags and chapters behind")
    return (*([extracted] if source.type.kind is Kind.VIDEO else []), written, stripped)
