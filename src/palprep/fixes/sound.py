"""The sound of a recording or a video as a file of its own, its packets unchanged if possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from palprep.errors import FixError
from palprep.fixes.done import Applied, FixDone
from palprep.fixes.graph import BARE, BARE_SOUND, address, read, stream_words
from palprep.fixes.output import atomic_output, named
from palprep.media.facts import Kind, MediaType, SoundFacts, SoundStream
from palprep.media.ffmpeg import run
from palprep.media.sniff import sniff
from palprep.media.sound import probe_sound
from palprep.rules.plan import SoundPlan
from palprep.values import Value


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


_OPUS_RATES = (8000, 12000, 16000, 24000, 48000)
_OPUS = {"c:a": "libopus", "b:a": "128k"}

CONTAINERS: Mapping[str, Container] = {
    "m4a": Container(
        muxer="ipod",
        suffix=".m4a",
        copies=("aac", "alac"),
        encoder={"c:a": "aac", "b:a": "192k"},
        options={"movflags": "+faststart"},
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


def fix_sound(
    plan: SoundPlan,
    source: Path,
    target_stem: Path,
    *,
    progress: Callable[[float], None] | None = None,
) -> Applied:
    """Write the plan's stream of ``source`` beside ``target_stem``, without metadata.

    Raises FixError when the source has no such stream, or the container cannot take its
    packets as they are.
    """
    media_type = sniff(source)
    facts = probe_sound(source, media_type, levels=False)
    stream = _stream(facts, plan.stream, source)
    container = CONTAINERS[plan.container]
    if plan.copy_codec and stream.codec not in container.copies:
        raise FixError(
            f"{stream.codec} packets cannot be copied into {plan.container}; "
            "plan one encode instead (copy_codec=False)"
        )
    encoding = {"c:a": "copy"} if plan.copy_codec else _encoding(plan, stream, container)
    target = named(target_stem, container.suffix, source=source)
    with atomic_output(target) as temporary:
        node = read(source, media_type)[str(stream.index)].output(
            address(temporary), f=container.muxer, **BARE, **container.options, **encoding
        )
        run(node, duration_s=facts.duration_s, progress=progress)
    return Applied(path=str(target), fixes=_done(plan, stream, media_type, encoding))


def _stream(facts: SoundFacts, index: int, source: Path) -> SoundStream:
    for stream in facts.streams:
        if stream.index == index:
            return stream
    there = ", ".join(str(stream.index) for stream in facts.streams) or "none"
    raise FixError(f"{source.name} has no audio stream {index}; its audio streams: {there}")


def _encoding(plan: SoundPlan, stream: SoundStream, container: Container) -> dict[str, Any]:
    rate = plan.rate_hz or stream.sample_rate_hz
    if container.rates_hz:
        rate = next((each for each in container.rates_hz if each >= rate), container.rates_hz[-1])
    return {
        **container.encoder,
        **BARE_SOUND,
        "ar": rate,
        "ac": plan.channels or min(stream.channels, 2),
    }


def _done(
    plan: SoundPlan, stream: SoundStream, media_type: MediaType, encoding: Mapping[str, Any]
) -> tuple[FixDone, ...]:
    words = stream_words(stream)
    done = []
    if media_type.kind is Kind.VIDEO:
        done.append(FixDone(id="extract", did=f"took the audio track alone ({words})"))
    if plan.copy_codec:
        did = f"copied the {stream.codec} packets into {plan.container} unchanged"
        done.append(FixDone(id="rewrap", did=did))
    else:
        shape = f"{encoding['ar']:,} Hz, {'mono' if encoding['ac'] == 1 else 'stereo'}"
        did = f"encoded once from {words} to {plan.container} ({encoding['c:a']}, {shape})"
        done.append(FixDone(id="convert", did=did))
    return (*done, FixDone(id="strip_metadata", did="left all tags and chapters behind"))
