"""The words of rules: ``texts/<language>.toml`` says for each what it asks, finds and advises.

A translator or a lawyer sees a table for each rule, a developer a function that only measures.
Other languages than English have only ``asks``: what is told to the people who are recorded.

A sentence never repeats a limit: "The video is too short: it lasts 42.0 s." is true whatever
minimum a profile asks for, which stands next to it, in the check.
"""

from __future__ import annotations

import datetime as dt
import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, Final

from palprep.values import Outcome, Value
from palprep.vocabulary import install_advice

MET: Final = "met"
BELOW: Final = "below"
ABOVE: Final = "above"
OTHERWISE: Final = "otherwise"
"""A measure keeps every limit, or breaks a lower bound, an upper one, or what is no bound."""


class ByLevel(Value):
    """Two sentences for one way, by the level of the limit that is broken."""

    fail: str
    warn: str


class RuleText(Value):
    """What one rule says. Every sentence is whole, with ``{places}`` for words; each can use
    ``{measured}``, the measure as the report shows it.
    """

    label: str
    text: str
    """What it asks, and why, in a sentence or two."""
    unit: str = ""
    limit: str | None = None
    """What is asked for, where the numbers of the limits say nothing to a person."""
    predicts: str | None = None
    """The check or refusal of the service that a failure here predicts."""
    sentences: Mapping[str, str | ByLevel] = {}
    """By the way in which a limit is broken: :data:`BELOW`, :data:`ABOVE`, :data:`OTHERWISE`, or
    one of the rule's own. :data:`MET` states what was measured, and must be true of a measure that
    keeps its limits under any profile. It is said for a way without a sentence as well, as for a
    minimum of clipped peaks, which nobody expects. A rule that never measures has no sentences.
    """
    advice: str
    """What to do when it does not pass: the fix, or the retake."""
    fix: str = ""
    """What ``palprep fix`` does besides, said of a file of which it does so. Empty where the advice
    says it, because it holds for all files."""

    def sentence(self, way: str, level: Outcome) -> str:
        """The sentence for a way in which a limit of that level is broken."""
        said = self.sentences.get(way, self.sentences[MET])
        if isinstance(said, str):
            return said
        return said.fail if level is Outcome.FAIL else said.warn

    def listed(self) -> Iterator[tuple[str, str]]:
        """Every sentence with its outcome: ``pass``, ``fail``, ``warn``, or ``fail or warn``."""
        for way, said in self.sentences.items():
            if isinstance(said, ByLevel):
                yield from ((Outcome.FAIL.value, said.fail), (Outcome.WARN.value, said.warn))
            else:
                yield Outcome.PASS.value if way == MET else "fail or warn", said


class Unmeasured(Value):
    """A rule could not measure.

    ``reason`` says why, in a sentence. Checks with the same reason are told once. ``advice`` says
    how the measure can be had.
    """

    reason: str
    advice: str | None = None


class Ask(Value):
    """What is told to a person who must redo something: why, and how."""

    why: str
    advice: str


class Texts(Value):
    """Everything that rules say in one language, by the ids of rules, reasons and limits."""

    rules: Mapping[str, RuleText]
    reasons: Mapping[str, Unmeasured]
    framing_advice: Mapping[str, str]
    """Advice on centring and framing, by what a portrait allows."""
    consent_reasons: Mapping[str, str]
    """Why a statement of consent did not pass."""
    consent_limits: Mapping[str, str]
    blockers: Mapping[str, str]
    """By the ids of checks, codes of errors and states: see :func:`blocker_words`."""
    asks: Mapping[str, Ask]
    """By the same ids, where a check's own sentence and advice are not for the person."""


def _read(language: str) -> dict[str, Any]:
    file = resources.files("palprep.rules").joinpath("texts", f"{language}.toml")
    text = file.read_text("utf-8").replace("{install_nsfw}", install_advice("nsfw"))
    return tomllib.loads(text)


TEXTS: Final = Texts.model_validate(_read("en"))


@functools.cache
def asks(language: str) -> Mapping[str, Ask]:
    """What people are asked in another language than English (ISO 639-1), by the ids of findings.
    Raises FileNotFoundError for a language that has none."""
    return {finding: Ask(**said) for finding, said in _read(language)["asks"].items()}


def ask_of(finding: str, language: str, why: str | None = None, advice: str | None = None) -> Ask:
    """What a person is told of a finding, in this language if it is translated. In English the
    report's ``why`` is more exact than that of ``asks``, and the advice of ``asks`` helps more."""
    if language != "en" and (own := asks(language).get(finding)):
        return own
    bare = Ask(why=f"{blocker_words(finding).capitalize()}.", advice=advice or "")
    english = TEXTS.asks.get(finding, bare)
    return Ask(why=why or english.why, advice=english.advice)


REASONS: Final = TEXTS.reasons
"""Every reason for which a check can be unknown, except why a statement could not be read."""


def consent_reason(key: str, **words: object) -> str:
    return TEXTS.consent_reasons[key].format(**words)


def blocker_words(blocker: str) -> str:
    """What is in the way, in a few words: by the id of a check, the code of an error, or one of
    ``nothing_to_make``, ``folder_unclear``, ``folder_empty``, ``settings_unread``,
    ``cannot_listen``, ``not_prepared``, ``consent_in_doubt``, ``consent_refused`` and
    ``consent_ended``."""
    return TEXTS.blockers.get(blocker, blocker.replace("_", " "))


Measure = bool | int | float | str | None
"""What a rule can have measured; JSON-able."""


def measure_words(measured: Measure) -> str:
    """A measure as people read it: ``yes``, ``1,080``, ``23.98``."""
    match measured:
        case None:
            return "not measured"
        case bool():
            return "yes" if measured else "no"
        case float():
            measured += 0.0  # No minus before a zero.
            return f"{measured:,.4g}" if abs(measured) < 1e4 else f"{measured:,.0f}"
        case int():
            return f"{measured:,}"
        case str():
            return measured


def unit_words(unit: str) -> tuple[int, str]:
    """The factor of a number in this unit, and the text that stands behind it.

    A unit that begins with "of" is that of a share, and "likely" that of a likelihood: ``80% of the
    samples``, ``50% likely``.
    """
    if unit.startswith(("of ", "likely")):
        return 100, f"% {unit}"
    return 1, f" {unit}" if unit and not unit.startswith("%") else unit


def counted(number: int, one: str, many: str) -> str:
    """How many there are: ``no cuts``, ``1 cut``, ``3 cuts``."""
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {many}" if number else f"no {many}"


def some_of(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def stamp(at: dt.datetime | str) -> str:
    """A moment, also one in ISO 8601 with its offset, to the minute: ``2026-11-02 05:00 UTC``."""
    moment = dt.datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def degrees(angle: float) -> str:
    """The size of an angle: ``1 degree``, ``12 degrees``."""
    whole = round(abs(angle))
    return "1 degree" if whole == 1 else f"{whole} degrees"


def likely(likelihood: float) -> str:
    """A likelihood, 0 to 1, on the scale on which its limit is shown: ``46.2% likely``."""
    return f"{likelihood:.1%} likely"
