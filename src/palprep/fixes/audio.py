"""The sound of a recording or a video as a file of its own, its packets unchanged if possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from palprep.errors import FixError
from palprep.fixes.containers import CONTAINERS
from palprep.fixes.done import Applied, FixDone
from palprep.fixes.graph import BARE, address, read, stream_words
from palprep.fixes.output import new_output
from palprep.media.audio import probe_audio
from palprep.media.facts import AudioStreamFacts
from palprep.media.ffmpeg import run
from palprep.media.source import Source
from palprep.rules.plans.plan import AudioPlan
from palprep.values import Kind


def fix_audio(
    plan: AudioPlan,
    source: Source,
    target_stem: Path,
    *,
    overwrite: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Applied:
    """Write the plan's stream of ``source`` next to ``target_stem``, without metadata.

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
    encoding = (
        {"c:a": "copy"}
        if plan.copy_codec
        else container.encoding(
            plan.rate_hz or stream.sample_rate_hz, plan.channels or stream.channels
        )
    )
    with new_output(
        target_stem, container.suffix, source=source.path, overwrite=overwrite
    ) as output:
        node = read(source)[str(stream.index)].output(
            address(output.temporary), f=container.muxer, **BARE, **container.options, **encoding
        )
        run(node, duration_s=facts.duration_s, progress=progress)
    return Applied(path=str(output.path), fixes=_done(plan, stream, source, encoding))


def stream_at(streams: Sequence[AudioStreamFacts], index: int, source: Source) -> AudioStreamFacts:
    """The audio stream at an index of the container. Raises FixError when there is none."""
    for stream in streams:
        if stream.index == index:
            return stream
    there = ", ".join(str(stream.index) for stream in streams) or "none"
    raise FixError(f"{source.name} has no audio stream {index}; its audio streams: {there}")


def _done(
    plan: AudioPlan, stream: AudioStreamFacts, source: Source, encoding: Mapping[str, Any]
) -> tuple[FixDone, ...]:
    words = stream_words(stream)
    done = []
    if source.type.kind is Kind.VIDEO:
        done.append(FixDone(id="extract", did=f"took the audio track alone ({words})"))
    if plan.copy_codec:
        did = f"copied the {stream.codec} packets into {plan.container} unchanged"
        done.append(FixDone(id="rewrap", did=did))
    else:
        shape = f"{encoding['ar']:,} Hz, {'mono' if encoding['ac'] == 1 else 'stereo'}"
        did = f"encoded once from {words} to {plan.container} ({encoding['c:a']}, {shape})"
        done.append(FixDone(id="convert", did=did))
    return (*done, FixDone(id="strip_metadata", did="left all tags and chapters behind"))
