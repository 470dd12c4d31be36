"""The catalogue of checks: what each asks, its sentences, limits and sources, and what to do.

``palprep explain`` and docs/checks.md show the same entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from palprep.rules import needs
from palprep.rules.consent import ConsentSpoken
from palprep.rules.consent_limits import ConsentLimit
from palprep.rules.profile import Limit, Profile
from palprep.rules.registry import MODULES, RULES
from palprep.rules.rule import Unmeasured
from palprep.values import Role, Value

PAIR: Final = "pair"
"""Stands for the role of limits that two files are held against."""


class CatalogueLimit(Limit):
    """A limit, the role that it holds for, and the limit in words."""

    role: str
    limit: str


class WordLimit(ConsentLimit):
    """A limit by which the words of a statement of consent are graded, and what it means."""

    id: str
    text: str


class CatalogueSentence(Value):
    """A sentence of a check, with ``{places}`` for words, and the outcomes that it is said with."""

    outcome: str
    sentence: str


class CatalogueEntry(Value):
    """One check under one profile. Without limits the profile does not ask for it."""

    id: str
    label: str
    text: str
    unit: str
    predicts: str | None
    sentences: tuple[CatalogueSentence, ...]
    advice: str
    profile: str
    limits: tuple[CatalogueLimit, ...]
    words: tuple[WordLimit, ...]

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that it is asked for in."""
        return tuple(dict.fromkeys(limit.role for limit in self.limits))


def entry_of(rule_id: str, profile: Profile) -> CatalogueEntry:
    """The entry of a check. Raises KeyError for an id that no rule has."""
    rule = RULES[rule_id]
    asked = {role.value: profile.for_role(role).get(rule_id, ()) for role in Role}
    asked[PAIR] = profile.pairs.get(rule_id, ())
    said = rule.sentences.listed() if hasattr(rule, "sentences") else ()
    texts = profile.consent.texts() if rule_id == ConsentSpoken.id else {}
    return CatalogueEntry(
        id=rule.id,
        label=rule.label,
        text=rule.text(),
        unit=rule.unit,
        predicts=rule.predicts,
        sentences=tuple(CatalogueSentence(outcome=when, sentence=each) for when, each in said),
        advice=rule.advice,
        profile=profile.name,
        limits=tuple(
            CatalogueLimit(role=role, limit=limit.words(rule.unit), **limit.model_dump())
            for role, limits in asked.items()
            for limit in limits
        ),
        words=tuple(
            WordLimit(id=name, text=text, **getattr(profile.consent, name).model_dump())
            for name, text in texts.items()
        ),
    )


def _reasons() -> Iterator[Unmeasured]:
    for module in (needs, *MODULES):
        for value in vars(module).values():
            constants = value.values() if isinstance(value, Mapping) else (value,)
            yield from (each for each in constants if isinstance(each, Unmeasured))


REASONS: Final[Mapping[str, Unmeasured]] = MappingProxyType(
    {each.reason: each for each in _reasons()}
)
"""Every reason for which a check can be unknown, by its sentence; but for what the reading of a
statement of consent says of itself."""
