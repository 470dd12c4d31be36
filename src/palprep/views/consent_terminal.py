"""Consent on a terminal: the statement word by word, and the dossier of its evidence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from palprep.consent import ConsentFacts
from palprep.dossier import Dossier, ExaminedDossier
from palprep.views.dossier_words import Standing, entry_words, standing
from palprep.views.format import position, stamp
from palprep.views.marked_words import (
    Mark,
    MarkedWords,
    headline,
    legend,
    marked_words,
    was_found,
)
from palprep.views.outcomes import OUTCOMES
from palprep.views.terminal import INDENT, headed, indented, title

WIDEST = 80
"""Cells of a line."""

_LABEL = 9
_SIGNS = {
    Mark.UNCERTAIN: "word(?)",
    Mark.MISSING: "[-word-]",
    Mark.CHANGED: "[-word-]{+other+}",
    Mark.ADDED: "{+word+}",
    Mark.UNREAD: "word(?)",
}


def consent_view(path: Path, facts: ConsentFacts) -> RenderableType:
    """A consent verification: the verdict and its reasons, then every word with its time.

    Signs tell what became of a word; on a terminal colours do so too.
    """
    return Group(title(facts.outcome, str(path)), *map(indented, _parts(facts)))


def _parts(facts: ConsentFacts) -> Iterator[RenderableType]:
    yield _Labelled("", Text(headline(facts)))
    for reason in facts.reasons:
        yield _Labelled("-", Text(reason), label_cells=2)
    yield Text()
    if not was_found(facts):
        yield _Labelled("required", Text(facts.statement, OUTCOMES[facts.outcome].style))
        if facts.transcript:
            yield _Labelled("heard", Text(facts.transcript))
        return
    words = marked_words(facts)
    if facts.said_before:
        yield _Labelled("before", Text(facts.said_before, "dim"))
    yield _Timed(words)
    if facts.ends_at is not None:
        yield _Labelled(position(facts.ends_at), Text("end of the statement", "dim"))
    if facts.said_after:
        yield _Labelled("after", Text(facts.said_after, "dim"))
    explained = [(_SIGNS[mark], said) for mark, said in legend(words) if mark in _SIGNS]
    if explained:
        yield Text()
        yield from (Text(f"{sign:<19}{said}", "dim") for sign, said in explained)


@dataclass(frozen=True)
class _Labelled:
    """A text with something in front of its first line."""

    label: str
    text: Text
    label_cells: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = self.label_cells or (_LABEL if self.label else 0)
        lines = self.text.wrap(console, _room(options) - cells)
        for number, line in enumerate(lines):
            yield Text.assemble(f"{'' if number else self.label:<{cells}}", line)


@dataclass(frozen=True)
class _Timed:
    """Marked words in lines, each line with the time at which it begins."""

    words: Sequence[MarkedWords]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = _room(options) - _LABEL
        for line in _lines(self.words, room):
            starts = next((word.start for word in line if word.start is not None), None)
            label = "" if starts is None else position(starts)
            text = Text(" ").join(Text(word.signed, OUTCOMES[word.outcome].style) for word in line)
            yield from _Labelled(label or " ", text).__rich_console__(console, options)


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


def _room(options: ConsoleOptions) -> int:
    return max(20, min(options.max_width, WIDEST - INDENT))


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
