"""All rules by id. A rule joins by standing in one of these modules."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import MappingProxyType, ModuleType
from typing import Any, Final

from palprep.rules import (
    audio,
    consent,
    file,
    image,
    portrait_framing,
    portrait_light,
    portrait_people,
    portrait_subject,
    same_person,
    video,
    video_person,
    video_signal,
    video_structure,
    voice,
)
from palprep.rules.rule import Rule
from palprep.rules.same_person import SamePerson

_PORTRAIT = (portrait_subject, portrait_people, portrait_light, portrait_framing)
MODULES: Final = (
    *(file, image, *_PORTRAIT, audio, video, video_person, video_signal, video_structure),
    *(voice, consent, same_person),
)
"""All modules in which rules stand."""

AnyRule = Rule[Any] | SamePerson
"""A rule of one file, or of two."""


def _rules_of(*modules: ModuleType) -> Iterator[AnyRule]:
    """The rules that are written in these modules, in their order there."""
    for module in modules:
        for found in vars(module).values():
            written_here = inspect.isclass(found) and found.__module__ == module.__name__
            if written_here and issubclass(found, Rule | SamePerson) and hasattr(found, "id"):
                yield found()


RULES: Final[Mapping[str, AnyRule]] = MappingProxyType(
    {rule.id: rule for rule in _rules_of(*MODULES)}
)

PORTRAIT_CHECKS: Final = frozenset(rule.id for rule in _rules_of(*_PORTRAIT))
"""Ids of the checks of what a portrait shows."""
