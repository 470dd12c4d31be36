"""PALs and their skills."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from palprep.api.call import Effect, Endpoint
from palprep.api.fields import SkillEntry
from palprep.api.records import PalSkills
from palprep.api.wire import AccountSettings, InPath, Request, Unspecified
from palprep.errors import Problem


@dataclass(frozen=True)
class ReplaceSkills(Request):
    """Set the complete skill set of a PAL; skills that are absent are detached.

    ``skills`` maps each skill id to an entry: ``internet_search`` and ``magic_canvas`` take
    ``{}``, ``presentation`` takes ``{"config": {"document_ids": [...], "slides_trigger":
    "on_demand"}}``, where the trigger may be left out.
    """

    pal_id: Annotated[str, InPath()]
    skills: Mapping[str, SkillEntry]

    def problems(self, settings: AccountSettings) -> Iterable[Problem]:
        """Known skills with the configuration that each takes."""
        del settings
        for skill_id, entry in self.skills.items():
            if skill_id not in SKILLS:
                known = ", ".join(sorted(SKILLS))
                message = f"is an unknown skill; the specification knows {known}"
                yield Problem(f"skills.{skill_id}", "unknown_skill", message)
            else:
                path = f"skills.{skill_id}.config"
                yield from SKILLS[skill_id](entry.get("config", {}), path)


def _nothing(config: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for member in config:
        yield Problem(f"{path}.{member}", "extra_forbidden", "is not known: it takes no members")


def _presentation(config: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for member in config.keys() - {"document_ids", "slides_trigger"}:
        yield Problem(f"{path}.{member}", "extra_forbidden", "is not a member of this skill")
    ids = config.get("document_ids")
    if "document_ids" not in config:
        yield Problem(f"{path}.document_ids", "missing", "is required")
    elif not isinstance(ids, list | tuple) or not all(isinstance(i, str) for i in ids):
        yield Problem(f"{path}.document_ids", "list_type", "must be an array of strings")
    if not isinstance(config.get("slides_trigger", ""), str):
        yield Problem(f"{path}.slides_trigger", "string_type", "must be a string")


SKILLS: Mapping[str, Callable[[Mapping[str, Any], str], Iterator[Problem]]] = MappingProxyType(
    {"internet_search": _nothing, "magic_canvas": _nothing, "presentation": _presentation}
)
"""The skills of the specification, with what checks their configuration."""


@dataclass(frozen=True)
class DeletePal(Request):
    """Delete one PAL. The reply is not specified."""

    pal_id: Annotated[str, InPath()]


replace_skills = Endpoint(
    "pals.replace_skills",
    "PUT",
    "/v2/pals/{pal_id}/skills",
    ReplaceSkills,
    PalSkills,
    Effect.SETS,
)
delete_pal = Endpoint(
    "pals.delete", "DELETE", "/v2/pals/{pal_id}", DeletePal, Unspecified, Effect.SETS
)
