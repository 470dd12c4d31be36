"""The sound files that fixes write, and what each can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palprep.fixes.graph import BARE_SOUND
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

    def encoding(self, rate_hz: int, channels: int) -> dict[str, Any]:
        """Output options for one encode at the nearest rate that the encoder takes, upwards
        where there is one; more than two channels are mixed down to stereo."""
        if self.rates_hz:
            rate_hz = next((each for each in self.rates_hz if each >= rate_hz), self.rates_hz[-1])
        return {**self.encoder, **BARE_SOUND, "ar": rate_hz, "ac": min(channels, 2)}


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
