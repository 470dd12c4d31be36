"""Consent on a terminal: the statement word by word, and the dossier of its evidence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.text import Text

from palprep.consent import ConsentFacts
from palprep.dossier import ExaminedDossier
from palprep.rules.texts import stamp
from palprep.views import consent_words
from palprep.views.format import position
from palprep.views.outcomes import OUTCOMES
from palprep.views.terminal.reports import INDENT, headed, indented, margin

WIDEST = 80
"""The most cells of a line."""

_LABEL = 9


def consent_view(path: Path, facts: ConsentFacts) -> RenderableType:
    """The verdict of a verification with its reasons, then every word with its time and sign."""
    parts = (indented(Constrain(part, WIDEST - INDENT)) for part in _parts(facts))
    verdict = facts.outcome
    return Group(headed(verdict.upper(), OUTCOMES[verdict].style, str(path)), *parts)


def _parts(facts: ConsentFacts) -> Iterator[RenderableType]:
    yield Text(consent_words.headline(facts))
    for reason in facts.reasons:
        yield margin(2, ("-", Text(reason)))
    yield Text()
    if facts.starts_at is None:
        yield margin(_LABEL, ("required", Text(facts.statement, OUTCOMES[facts.outcome].style)))
        if facts.transcript:
            yield margin(_LABEL, ("heard", Text(facts.transcript)))
        return
    words = consent_words.marked_words(facts)
    if facts.said_before:
        yield margin(_LABEL, ("before", Text(facts.said_before, "dim")))
    yield _timed(words)
    if facts.ends_at is not None:
        yield margin(_LABEL, (position(facts.ends_at), Text("end of the statement", "dim")))
    if facts.said_after:
        yield margin(_LABEL, ("after", Text(facts.said_after, "dim")))
    if facts.code is not None:
        yield margin(_LABEL, ("code", Text(consent_words.code_words(facts.code))))
    explained = consent_words.legend(words)
    if explained:
        yield Text()
    for mark in explained:
        other = "other" if mark is consent_words.Mark.CHANGED else "word"
        yield Text(f"{mark.signs.format('word', other):<19}{mark.meaning}", "dim")


def _timed(words: Iterable[consent_words.MarkedWords]) -> RenderableType:
    """The marked words in lines of a few seconds, each after the time at which it begins."""
    lines: list[tuple[str, Text]] = []
    for at_s, word in consent_words.stamped(words):
        if at_s is not None or not lines:
            lines.append(("" if at_s is None else position(at_s), Text()))
        _, line = lines[-1]
        line.append(" " if line else "").append(word.signed, OUTCOMES[word.outcome].style)
    return margin(_LABEL, *lines)


def dossier_view(examined: ExaminedDossier, now: dt.datetime) -> RenderableType:
    """A dossier: waivers first, then whether the consent holds and why, and every entry."""
    stands = consent_words.standing(examined, now)
    dossier, words = examined.dossier, consent_words.entry_words
    first, consent = dossier.evidence, dossier.evidence.consent
    code = consent and consent.code
    lines = (
        *map(words, dossier.waivers),
        f"{first.person}, as {consent.full_name}" if consent else first.person,
        *(f"- {reason}" for reason in stands.reasons),
        *([f"Fresh code: {consent_words.code_words(code)}"] if code else []),
        *(f"{stamp(entry.written_at)}  {words(entry)}" for entry in dossier.entries),
    )
    return Group(
        headed(stands.word, OUTCOMES[stands.outcome].style, str(examined.path)),
        indented(Text("\n".join(lines))),
    )
