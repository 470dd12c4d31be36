"""What all of palprep's ffmpeg graphs have in common: closed inputs and bare outputs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import ffmpeg

from palprep.media.container import demuxer_of
from palprep.media.facts import AudioStreamFacts
from palprep.media.source import Source

BARE = {"map_metadata": -1, "map_chapters": -1, "fflags": "+bitexact"}
"""Output options that keep places, devices, names and dates of the source out, and the
writing library's name and the clock too, so that equal inputs give equal files."""

BARE_SOUND = {"flags:a": "+bitexact"}
"""The same for an audio encoder, some of which sign every packet."""


def read(source: Source, **options: Any) -> Any:
    """An input node that opens ``source`` as what it is, and no other file or address."""
    demuxer = demuxer_of(source)
    if demuxer == "mov":
        # QuickTime may refer to other files for its samples.
        options = {"enable_drefs": 0, "use_absolute_path": 0, **options}
    return ffmpeg.input(address(source.path), f=demuxer, protocol_whitelist="file", **options)


def address(path: Path) -> str:
    """``path`` as ffmpeg takes it, whatever characters it starts with or contains."""
    return "file:" + os.fspath(path)


def seconds(value: float) -> str:
    """A time as ffmpeg options take it, to the microsecond."""
    return f"{value:.6f}"


def stream_words(stream: AudioStreamFacts) -> str:
    """A sound stream in words, for example ``aac, 48,000 Hz, 2 channels``."""
    plural = "" if stream.channels == 1 else "s"
    return f"{stream.codec}, {stream.sample_rate_hz:,} Hz, {stream.channels} channel{plural}"
