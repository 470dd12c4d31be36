"""Facts of audio: what the container says of its streams, and how long it is by decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.container import Packets, open_container, stated_length_s, undecoded_length_s
from palprep.media.facts import FLOOR_DBFS, AudioFacts, AudioStreamFacts
from palprep.media.samples import AudioDecode, Sink, audio_stream
from palprep.media.source import Source
from palprep.values import Kind

Sinks = Callable[[AudioStreamFacts], Iterable[Sink]]
"""Who takes the samples of a stream, given what its header says."""


def probe_audio(
    source: Source,
    *,
    sinks: Sinks | None = None,
    most_s: float | None = None,
    stated_s: float | None = None,
) -> AudioFacts:
    """Facts of a recording, or of the sound of a video.

    The chosen stream is the one that the container marks as default, else the first. With
    ``sinks``, which take its samples, it is decoded once, a second at a time. Without them the
    duration is the stated one, or that of the packets. Decoding ends soon after ``most_s``, and the
    duration is then the stated one if that is longer; ``stated_s`` is what is known of it where the
    stream says nothing. Raises DamagedMedia when nothing decodes, or to no sound; UnsupportedMedia
    when there is no audio stream, no decoder for it, or its sample rate is not read.
    """
    with open_container(source, analyse_frames=source.type.kind is Kind.AUDIO) as container:
        streams = audio_streams(container)
        if not streams:
            raise UnsupportedMedia(
                f"{source.name} has no audio: record it again with the microphone on"
            )
        chosen = default_stream(streams)
        length_s = undecoded_length_s if sinks is None else stated_length_s
        facts = AudioFacts(
            duration_s=streams[chosen].duration_s or stated_s or length_s(container),
            streams=streams,
            chosen=chosen,
        )
        if sinks is not None:
            stream = audio_stream(container, streams[chosen].index, source)
            decode = AudioDecode(sinks(streams[chosen]), source, most_s=most_s)
            for packet in Packets(container, stream):
                decode.feed(packet)
                if decode.full:
                    break
            decode.finish()
            heard_s = round(decode.heard_s, 6)
            cut_off = decode.full and facts.duration_s > heard_s
            facts = facts.model_copy(
                update={
                    "duration_s": facts.duration_s if cut_off else heard_s,
                    "heard_s": heard_s if cut_off else None,
                    "presented": decode.times.span,
                    "decoded_s": decode.times.length_s,
                }
            )
    if not facts.duration_s:
        raise DamagedMedia(f"{source.name} holds no audio at all: export or record it again")
    return facts


def audio_streams(container: InputContainer) -> tuple[AudioStreamFacts, ...]:
    """What the container says of each audio stream that a decoder exists for."""
    return tuple(
        _described(stream) for stream in container.streams.audio if stream.codec_context is not None
    )


def default_stream(streams: tuple[AudioStreamFacts, ...]) -> int:
    """Position of the stream that a player would play: the default one, else the first."""
    return next((at for at, stream in enumerate(streams) if stream.default), 0)


def _described(stream: AudioStream) -> AudioStreamFacts:
    context, base = stream.codec_context, stream.time_base
    return AudioStreamFacts(
        index=stream.index,
        codec=context.codec.canonical_name,
        sample_rate_hz=context.sample_rate,
        channels=context.layout.nb_channels,
        # WAV files from before channel masks only count their channels.
        layout={1: "mono", 2: "stereo"}.get(context.layout.nb_channels, context.layout.name),
        bit_rate=stream.bit_rate or context.bit_rate or None,
        duration_s=float(stream.duration * base) if stream.duration and base else None,
        default=bool(stream.disposition & Disposition.default),
    )


def decibels(amplitude: float) -> float:
    """An amplitude relative to full scale in dB, no lower than :data:`FLOOR_DBFS`."""
    if amplitude <= 0.0:
        return FLOOR_DBFS
    return max(FLOOR_DBFS, 20.0 * float(np.log10(amplitude)))
