"""Recordings to listen to: the statement of consent, or how one begins, as a short sound."""

from __future__ import annotations

import tempfile
from pathlib import Path

from palprep.consent.facts import ConsentFacts
from palprep.fixes.graph import BARE, address, read, seconds
from palprep.media.audio import probe_audio
from palprep.media.ffmpeg import run
from palprep.media.source import Source
from palprep.values import Span
from palprep.views.embedded import Embedded

_AROUND_S = 1.0
"""What is heard before and after the statement counts, too."""

_MOST_S = 60.0
_TASTE_S = 20.0
"""Of a recording: enough to hear the voice, the noise and the level."""

_LEAST_S = 0.1
_SMALL = {"c:a": "libmp3lame", "b:a": 24_000, "ar": 16_000, "ac": 1, "id3v2_version": 0}
"""Speech that is understood, at 3 kB for a second."""


def statement_sound(path: str | Path, facts: ConsentFacts) -> Embedded | None:
    """The stretch of a file in which the statement is spoken, with a second around it: MP3, mono,
    at most a minute. The opening, where the statement was not found. None without any sound.

    Raises MediaError when the file can no longer be read, ToolError when ffmpeg gives up.
    """
    source = Source.of(path)
    audio = probe_audio(source, levels=False)
    span = _heard_span(facts, audio.duration_s)
    return None if span is None else _sound(source, audio.stream.index, span)


def beginning(path: str | Path) -> Embedded:
    """The first 20 s of a recording, or of a video's sound: MP3, mono, for a page that holds it.

    Raises MediaError when the file cannot be read, ToolError when ffmpeg gives up.
    """
    source = Source.of(path)
    audio = probe_audio(source, levels=False)
    span = Span(start_s=0.0, end_s=min(_TASTE_S, audio.duration_s))
    return _sound(source, audio.stream.index, span)


def _sound(source: Source, stream: int, span: Span) -> Embedded:
    with tempfile.TemporaryDirectory(prefix="palprep-") as folder:
        target = Path(folder) / "sound.mp3"
        opened = read(source, ss=seconds(span.start_s), t=seconds(span.duration_s))
        run(opened[str(stream)].output(address(target), **BARE, **_SMALL))
        return Embedded(target.read_bytes(), "audio/mpeg")


def _heard_span(facts: ConsentFacts, duration_s: float) -> Span | None:
    start_s = max(0.0, (facts.starts_at or 0.0) - _AROUND_S)
    end_s = duration_s if facts.ends_at is None else facts.ends_at + _AROUND_S
    end_s = min(end_s, start_s + _MOST_S, duration_s)
    return Span(start_s=start_s, end_s=end_s) if end_s - start_s >= _LEAST_S else None
