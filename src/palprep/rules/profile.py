"""Profiles: the limits of a model family as data, each with its level, source and date.

A profile is a TOML file::

    name = "my-studio"
    extends = "core-4"
    disable = ["image_resolution"]      # optional, rule ids

    [[limits.face-image.image_resolution]]
    min = 720
    level = "fail"
    source = "our own guideline"
    date = 2026-11-01

A role's list for a rule replaces the extended profile's list for it.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError, model_validator

from palprep.errors import ProfileError
from palprep.values import Outcome, Role, Value
from palprep.vocabulary import DEFAULT_PROFILE

BUILT_IN = ("core-4", "core-4.5", "core-3")


class Limit(Value):
    """One limit of one rule. Exactly one comparison, or ``min`` and ``max`` together."""

    min: float | None = None
    max: float | None = None
    any_of: tuple[str, ...] | None = None
    equals: bool | int | str | None = None
    level: Literal[Outcome.FAIL, Outcome.WARN]
    """What breaking this limit means."""
    source: str
    date: dt.date
    note: str | None = None
    """Another source's differing value, or why this one was taken."""

    @model_validator(mode="after")
    def _one_comparison(self) -> Limit:
        bounds = self.min is not None or self.max is not None
        if [bounds, self.any_of is not None, self.equals is not None].count(True) != 1:
            raise ValueError("give min and/or max, or any_of, or equals")
        return self

    def holds(self, value: object) -> bool:
        """True when ``value`` keeps this limit; a tuple keeps any_of when all its items do."""
        if self.any_of is not None:
            items = value if isinstance(value, tuple) else (value,)
            return all(item in self.any_of for item in items)
        if self.equals is not None:
            return value == self.equals
        if not isinstance(value, int | float):
            raise TypeError(f"a bound cannot be held against {value!r}")
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def words(self, unit: str) -> str:
        """The limit in words, for example ``at least 23 fps``."""
        if self.any_of is not None:
            return "one of " + ", ".join(self.any_of)
        if self.equals is not None:
            plain = (
                {True: "yes", False: "no"}.get(self.equals)
                if isinstance(self.equals, bool)
                else None
            )
            return plain or f"{self.equals} {unit}".strip()
        suffix = f" {unit}" if unit else ""
        if self.min is not None and self.max is not None:
            return f"{self.min:,.10g} to {self.max:,.10g}{suffix}"
        if self.min is not None:
            return f"at least {self.min:,.10g}{suffix}"
        return f"at most {self.max:,.10g}{suffix}"


class Profile(Value):
    """A named set of limits. ``limits[role][rule_id]`` is a non-empty tuple."""

    name: str
    model: str
    """The service's model name that assets are prepared for."""
    title: str
    limits: Mapping[Role, Mapping[str, tuple[Limit, ...]]]

    def for_role(self, role: Role) -> Mapping[str, tuple[Limit, ...]]:
        """Rule id to limits, in the order in which reports list them."""
        return self.limits.get(role, {})


def load_profile(name_or_path: str | Path = DEFAULT_PROFILE) -> Profile:
    """A built-in profile by name, or one from a TOML file by path.

    Raises ProfileError when there is no such profile or the file is not a profile.
    """
    data = _resolve(str(name_or_path), seen=())
    disabled = frozenset(data.pop("disable", ()))
    limits = {
        role: {rule: entries for rule, entries in rules.items() if rule not in disabled}
        for role, rules in data.get("limits", {}).items()
    }
    try:
        return Profile.model_validate({**data, "limits": limits})
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3]
        )
        raise ProfileError(f"Profile {name_or_path}: {wrong}") from None


def _resolve(name: str, seen: tuple[str, ...]) -> dict[str, Any]:
    if name in seen:
        raise ProfileError(f"Profiles extend each other in a circle: {' -> '.join((*seen, name))}")
    data = _parse(name)
    parent_name = data.pop("extends", None)
    if parent_name is None:
        return data
    parent = _resolve(str(parent_name), (*seen, name))
    merged = {**parent, **{key: value for key, value in data.items() if key != "limits"}}
    merged["disable"] = [*parent.get("disable", ()), *data.get("disable", ())]
    merged["limits"] = {role: dict(rules) for role, rules in parent.get("limits", {}).items()}
    for role, rules in data.get("limits", {}).items():
        merged["limits"].setdefault(role, {}).update(rules)
    return merged


def _parse(name: str) -> dict[str, Any]:
    if name in BUILT_IN:
        text = (
            resources.files("palprep.rules").joinpath("profiles", f"{name}.toml").read_text("utf-8")
        )
    else:
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            known = ", ".join(BUILT_IN)
            raise ProfileError(
                f"No profile {name!r}: give one of {known}, or the path of a TOML file ({error})"
            ) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"Profile {name} is not valid TOML: {error}") from None
