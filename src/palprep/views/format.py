"""Durations, positions, sizes and reasons in words, the same on every surface.

Measures of checks have words of their own: ``Check.measure_words``.
"""

from __future__ import annotations

from collections.abc import Iterable

from palprep.facts import Facts

_BY = "\N{MULTIPLICATION SIGN}"


def duration(seconds: float) -> str:
    """A length of time: ``0.42 s``, ``12.3 s``, ``2 min 05 s``, ``1 h 02 min``."""
    if round(seconds, 1) >= 60:
        minutes, rest = divmod(round(seconds), 60)
        hours, left = divmod(minutes, 60)
        return f"{hours:,} h {left:02d} min" if hours else f"{minutes} min {rest:02d} s"
    return f"{seconds:.2f} s" if round(seconds, 2) < 1 else f"{seconds:.1f} s"


def position(seconds: float | None, digits: int = 1) -> str:
    """A moment of a recording, with ``digits`` of the second: ``0:03.4``; ``-`` for None."""
    if seconds is None:
        return "-"
    minutes, rest = divmod(round(seconds, digits), 60)
    return f"{int(minutes)}:{rest:0{digits + 3 if digits else 2}.{digits}f}"


def size(size_bytes: int) -> str:
    """A file's size: ``64 kB``, ``3.7 MB``, ``1.2 GB``, of 1000 each."""
    amount, unit = size_bytes / 1000, "kB"
    for larger in ("MB", "GB"):
        if amount >= 999.5:
            amount, unit = amount / 1000, larger
    return f"{amount:.3g} {unit}"


def file_gist(facts: Facts | None) -> str:
    """Format, size and measures of a file in half a line; empty if it could not be read."""
    if facts is None:
        return ""
    parts = [facts.file.type.format.upper(), size(facts.file.size_bytes)]
    if facts.image is not None:
        parts.append(f"{facts.image.width} {_BY} {facts.image.height} px")
    if facts.video is not None:
        video = facts.video
        parts += [
            f"{video.width} {_BY} {video.height} px",
            f"{video.frame_rate:.4g} frames per second",
            duration(video.duration_s),
            video.codec,
        ]
    if facts.audio is not None:
        stream = facts.audio.stream
        audio = f"{stream.codec} {stream.sample_rate_hz / 1000:.4g} kHz {stream.layout}"
        parts += [audio] if facts.video else [duration(facts.audio.duration_s), audio]
    return " · ".join(parts)


def initials(name: str) -> str:
    """At most two letters for a person without a picture."""
    words = [word for word in name.split() if word[:1].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper() or "?"


def by_file(reasons: Iterable[str]) -> list[str]:
    """The reasons, of which neighbours about one file are joined, so that it is named once."""
    joined: list[str] = []
    about = ""
    for reason in reasons:
        file, named, rest = reason.partition("): ")
        if named and about.endswith(file):
            joined[-1] += f" {rest}"
        else:
            joined.append(reason)
            about = file if named else ""
    return joined
