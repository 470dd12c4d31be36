"""What all ffmpeg runs share: inputs that open nothing else, bare outputs, one progress."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ffmpeg

from palprep.media import AudioStreamFacts, demuxer_of, run_ffmpeg
from palprep.media.sound import mixes_down
from palprep.media.sources import Source
from palprep.rules.texts import counted

Progress = Callable[[float], None]
"""Takes the fraction done, 0 to 1, never falling."""

BARE = {"map_metadata": -1, "map_chapters": -1, "fflags": "+bitexact"}
"""Output options that keep places, devices, names and dates of the source out, and the
writing library's name and the clock too, so that equal inputs give equal files."""

BARE_SOUND = {"flags:a": "+bitexact"}
"""The same for an audio encoder, some of which sign every packet."""


MIXES = {
    "average": ("0.5*c0+0.5*c1", "mixed all channels down to mono"),
    "first": ("c0", "kept the first channel alone"),
    "second": ("c1", "kept the second channel alone"),
    "difference": ("0.5*c0-0.5*c1", "turned the inverted channel round and mixed down to mono"),
}
"""What ffmpeg's pan makes the one channel of, also in words. Halves, so that none clips."""


def read(source: Source, *, demuxer: str | None = None, **options: Any) -> Any:
    """An input node that opens ``source`` as what it is, and no other file or address."""
    demuxer = demuxer or demuxer_of(source)
    if demuxer == "mov":
        # QuickTime may refer to other files for its samples.
        options = {"enable_drefs": 0, "use_absolute_path": 0, **options}
    return ffmpeg.input(address(source.path), f=demuxer, protocol_whitelist="file", **options)


def write(
    target: Path,
    *streams: Any,
    duration_s: float | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> None:
    """Run ffmpeg until these streams are in the file at ``target``, without metadata."""
    node = ffmpeg.output(*streams, address(target), **BARE, **options)
    run_ffmpeg(node, duration_s=duration_s, progress=progress)


def address(path: Path) -> bytes:
    """``path`` as ffmpeg takes it, whatever characters it starts with or contains.

    As bytes: ffmpeg-python hashes what it is given, and cannot hash text that is no UTF-8.
    """
    return b"file:" + os.fsencode(path)


def seconds(value: float) -> str:
    """A time as ffmpeg options take it, to the microsecond."""
    return f"{value:.6f}"


def stream_words(stream: AudioStreamFacts) -> str:
    """A sound stream in words, for example ``aac, 48,000 Hz, 2 channels``."""
    channels = counted(stream.channels, "channel", "channels")
    return f"{stream.codec}, {stream.sample_rate_hz:,} Hz, {channels}"


def mixdown(stream: AudioStreamFacts) -> str | None:
    """Arguments of ffmpeg's pan filter that mix a stream to stereo as it was measured; None where
    ffmpeg knows the speakers of its channels."""
    if mixes_down(stream.channels, stream.layout):
        return None
    mean = "+".join(f"{1 / stream.channels:.9f}*c{each}" for each in range(stream.channels))
    return f"stereo|c0={mean}|c1={mean}"


def part_of(progress: Progress | None, start: float, end: float) -> Progress | None:
    """The progress of a run that takes the whole from one share to another, each 0 to 1."""
    return progress and (lambda done: progress(start + (end - start) * done))
