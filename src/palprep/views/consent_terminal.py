"""Consent on a terminal: the statement word by word, and the dossier of its evidence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.text import Text

from palprep.consent import ConsentFacts
from palprep.dossier import Dossier, ExaminedDossier
from palprep.views.consent_words import (
    Mark,
    MarkedWords,
    Standing,
    entry_words,
    headline,
    legend,
    marked_words,
    signed,
    standing,
)
from palprep.views.format import position, stamp
from palprep.views.outcomes import OUTCOMES
from palprep.views.terminal import INDENT, headed, indented, margin, title

WIDEST = 80
"""Cells of a line."""

_LABEL = 9


def consent_view(path: Path, facts: ConsentFacts) -> RenderableType:
    """A consent verification: the verdict and its reasons, then every word with its time.

    Signs tell what became of a word; on a terminal colours do so too.
    """
    parts = (indented(Constrain(part, WIDEST - INDENT)) for part in _parts(facts))
    return Group(title(facts.outcome, str(path)), *parts)


def _parts(facts: ConsentFacts) -> Iterator[RenderableType]:
    yield Text(headline(facts))
    for reason in facts.reasons:
        yield margin(2, ("-", Text(reason)))
    yield Text()
    if facts.starts_at is None:
        yield margin(_LABEL, ("required", Text(facts.statement, OUTCOMES[facts.outcome].style)))
        if facts.transcript:
            yield margin(_LABEL, ("heard", Text(facts.transcript)))
        return
    words = marked_words(facts)
    if facts.said_before:
        yield margin(_LABEL, ("before", Text(facts.said_before, "dim")))
    yield _Timed(words)
    if facts.ends_at is not None:
        yield margin(_LABEL, (position(facts.ends_at), Text("end of the statement", "dim")))
    if facts.said_after:
        yield margin(_LABEL, ("after", Text(facts.said_after, "dim")))
    explained = legend(words)
    if explained:
        yield Text()
    for mark, said in explained:
        other = "other" if mark is Mark.CHANGED else "word"
        yield Text(f"{signed(mark, 'word', other):<19}{said}", "dim")


@dataclass(frozen=True)
class _Timed:
    """Marked words in lines, each line with the time at which it begins."""

    words: Sequence[MarkedWords]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        for line in _lines(self.words, options.max_width - _LABEL):
            starts = next((word.start for word in line if word.start is not None), None)
            text = Text(" ").join(Text(word.signed, OUTCOMES[word.outcome].style) for word in line)
            yield margin(_LABEL, ("" if starts is None else position(starts), text))


def _lines(words: Sequence[MarkedWords], room: int) -> Iterator[list[MarkedWords]]:
    line: list[MarkedWords] = []
    used = 0
    for word in words:
        cells = cell_len(word.signed)
        if line and used + 1 + cells > room:
            yield line
            line, used = [], 0
        used += cells + bool(line)
        line.append(word)
    if line:
        yield line


def dossier_view(examined: ExaminedDossier, now: dt.datetime) -> RenderableType:
    """A dossier: waivers first, then whether the consent holds and why, and every entry."""
    stands = standing(examined, now)
    look = OUTCOMES[stands.outcome]
    return Group(
        headed(stands.word, look.style, str(examined.path)),
        indented(Text("\n".join(_told(examined.dossier, stands)))),
    )


def _told(dossier: Dossier, stands: Standing) -> Iterator[str]:
    first = dossier.evidence
    yield from map(entry_words, dossier.waivers)
    yield f"{first.person}, as {first.consent.full_name}" if first.consent else first.person
    yield from (f"- {reason}" for reason in stands.reasons)
    for entry in dossier.entries:
        yield f"{stamp(entry.written_at)}  {entry_words(entry)}"
