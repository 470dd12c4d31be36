"""The statement of consent to listen to: a short sound, or a link into the file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from urllib.parse import quote

from palprep.consent.facts import ConsentFacts
from palprep.fixes.voice import fix_voice
from palprep.media.audio import probe_audio
from palprep.media.source import Source
from palprep.rules.plans.plan import VoicePlan
from palprep.values import Span
from palprep.views.embedded import Embedded

_AROUND_S = 1.0
"""What is heard before and after the statement counts, too."""

_MOST_S = 60.0
_LEAST_S = 0.1
_RATE_HZ = 16_000


def statement_sound(path: str | Path, facts: ConsentFacts) -> Embedded | None:
    """The stretch of a file in which the statement is spoken, with a second around it: MP3, mono,
    at most a minute. The opening, where the statement was not found. None without any sound.

    Raises MediaError when the file can no longer be read, FixError, ToolFailed.
    """
    source = Source.of(path)
    audio = probe_audio(source, levels=False)
    span = _heard_span(facts, audio.duration_s)
    if span is None:
        return None
    plan = VoicePlan(
        reasons=(),
        stream=audio.stream.index,
        spans=(span,),
        rate_hz=_RATE_HZ,
        container="mp3",
    )
    with tempfile.TemporaryDirectory(prefix="palprep-") as folder:
        made = fix_voice(plan, source, Path(folder) / "statement")
        return Embedded(Path(made.path).read_bytes(), "audio/mpeg")


def link_to_statement(file: str | Path, facts: ConsentFacts, page_folder: Path) -> str | None:
    """The address of the statement in a file, relative to the page's folder: a media fragment
    (W3C Media Fragments URI 1.0) where its times are known.

    None for a file that is not there, or lies outside the folder: a page that is handed on with
    its folder must go on playing.
    """
    path, folder = Path(file).resolve(), page_folder.resolve()
    if not path.is_file() or not path.is_relative_to(folder):
        return None
    # Bytes: a name need not be text. And "./", since "a:b.mp4" would be taken for a scheme.
    address = f"./{quote(os.fsencode(path.relative_to(folder)))}"
    if facts.starts_at is None or facts.ends_at is None:
        return address
    return f"{address}#t={facts.starts_at:g},{facts.ends_at:g}"


def _heard_span(facts: ConsentFacts, duration_s: float) -> Span | None:
    start_s = max(0.0, (facts.starts_at or 0.0) - _AROUND_S)
    end_s = duration_s if facts.ends_at is None else facts.ends_at + _AROUND_S
    end_s = min(end_s, start_s + _MOST_S, duration_s)
    return Span(start_s=start_s, end_s=end_s) if end_s - start_s >= _LEAST_S else None
