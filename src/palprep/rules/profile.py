"""Profiles: the limits of a model family as data, each with its level, source and date.

A profile is a TOML file, as those in ``profiles/``. One that ``extends`` another, which may lie
next to it, can ``disable`` rules by their ids. A role's list for a rule replaces that of the
extended profile. ``[[pairs.same_person]]`` does the same for a check of two files, and
``[consent.unsaid_word_probability]`` for one limit of the statement (:class:`ConsentLimits`). What
stands under ``limits.video`` holds for a training video and for a consent video, unless the profile
has a list under that role.
"""

from __future__ import annotations

import datetime as dt
import functools
import os.path
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationError, model_validator

from palprep.api import problems_in
from palprep.errors import ProfileError
from palprep.rules.texts.words import TEXTS, unit_words
from palprep.values import Outcome, Role, Value
from palprep.vocabulary import DEFAULT_PROFILE, did_you_mean

BUILT_IN = ("core-4", "core-4.5", "core-3")

PAIR_CHECKS: Final = frozenset({"same_person", "same_voice", "consent_not_taken_back"})
"""Ids of the checks of one file beside others. Their limits stand under ``pairs``."""


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
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is more than max")
        return self

    def holds(self, value: object) -> bool:
        if self.any_of is not None:
            return value in self.any_of
        if self.equals is not None:
            return value == self.equals
        if not isinstance(value, int | float):
            raise TypeError(f"a bound cannot be held against {value!r}")
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def words(self, unit: str) -> str:
        """The limit in words: ``at least 23 fps``, ``at least 80% of the samples``."""
        if self.any_of is not None:
            return "one of " + ", ".join(self.any_of)
        if isinstance(self.equals, bool):
            return "required" if self.equals else "not allowed"
        if self.equals is not None:
            return f"{self.equals} {unit}".strip()
        scale, suffix = unit_words(unit)
        least, most = (
            None if bound is None else f"{bound * scale:,.10g}" for bound in (self.min, self.max)
        )
        if least and most:
            return f"{least} to {most}{suffix}"
        return f"at least {least}{suffix}" if least else f"at most {most}{suffix}"


Limits = Annotated[tuple[Limit, ...], Field(min_length=1)]


class ConsentLimit(Value):
    """One number by which a statement of consent is graded, and where it comes from."""

    value: float
    source: str
    date: dt.date
    note: str | None = None
    """Another source's differing value, or why this one was taken."""


class ConsentLimits(Value):
    """The numbers by which a statement of consent is graded, word by word. ``texts/en.toml`` says
    what each means, ``palprep explain consent_spoken`` shows it with its value and source.

    Probabilities, 0 to 1, are those of the required words, ratios the natural logarithms of
    P(required wording) / P(other wording): :mod:`palprep.consent.reading` says what is compared.
    """

    unsaid_word_probability: ConsentLimit
    never_said_probability: ConsentLimit
    sure_ratio: ConsentLimit
    other_wording_ratio: ConsentLimit
    unsupported_word_ratio: ConsentLimit
    negation_ratio: ConsentLimit
    unheard_s: ConsentLimit
    talk_s: ConsentLimit
    name_similarity: ConsentLimit
    name_prompted_probability: ConsentLimit
    name_aligned_probability: ConsentLimit
    name_log_likelihood_ratio: ConsentLimit


class Profile(Value):
    """A named set of limits. ``limits[role][rule_id]`` is a non-empty tuple, and so is
    ``pairs[rule_id]``, for rules that compare two files.
    """

    name: str
    model: str
    """The service's model name that assets are prepared for."""
    title: str
    limits: Mapping[Role, Mapping[str, Limits]] = Field(repr=False)
    pairs: Mapping[str, Limits] = Field(default={}, repr=False)
    consent: ConsentLimits = Field(repr=False)

    def for_role(self, role: Role) -> Mapping[str, tuple[Limit, ...]]:
        """Rule id to limits, in the order in which reports list them."""
        return self.limits.get(role, {})

    def tightest_maximum(
        self, role: Role, rule_id: str, level: Outcome | None = None
    ) -> float | None:
        """The smallest upper bound for the rule, at that level or at any, if there is one."""
        found = (limit.max for limit in self._at(level, role, rule_id) if limit.max is not None)
        return min(found, default=None)

    def tightest_minimum(
        self, role: Role, rule_id: str, level: Outcome | None = None
    ) -> float | None:
        """The largest lower bound for the rule, at that level or at any, if there is one."""
        found = (limit.min for limit in self._at(level, role, rule_id) if limit.min is not None)
        return max(found, default=None)

    def _at(self, level: Outcome | None, role: Role, rule_id: str) -> Iterator[Limit]:
        limits = self.for_role(role).get(rule_id, ())
        return (limit for limit in limits if level in {None, limit.level})


def load_profile(name_or_path: str | Path | Profile = DEFAULT_PROFILE) -> Profile:
    """A built-in profile by name, or one from a TOML file by path. A ``Profile`` stays one.

    If it says nothing of pairs or of consent, it takes that from the default profile. A file
    without a ``name`` is named as the file is.

    Raises ProfileError when there is no such profile, the file is not a profile, or it names a
    check that does not exist.
    """
    if isinstance(name_or_path, Profile):
        return name_or_path
    data = _resolve(str(name_or_path), seen=())
    disabled = frozenset(data.pop("disable", ()))

    def enabled(rules: Mapping[str, Any]) -> dict[str, Any]:
        return {rule: entries for rule, entries in rules.items() if rule not in disabled}

    limits = {role: enabled(rules) for role, rules in data["limits"].items()}
    pairs = enabled(data["pairs"])
    for rules in data["limits"].values():
        _require_checks(name_or_path, rules, TEXTS.rules.keys() - PAIR_CHECKS)
    _require_checks(name_or_path, data["pairs"], PAIR_CHECKS)
    _require_checks(name_or_path, disabled, TEXTS.rules.keys())
    try:
        profile = Profile.model_validate({**data, "limits": limits, "pairs": pairs})
    except ValidationError as error:
        raise _mistaken(name_or_path, error) from None
    ways = _ways()
    for role, rules in limits.items():
        for rule, entries in rules.items():
            if any(_way(each) != ways[rule] for each in entries):
                raise ProfileError(
                    f"Profile {name_or_path}: limits.{role}.{rule} must give {ways[rule]}, as "
                    f"{DEFAULT_PROFILE} does: `palprep explain {rule}` shows it"
                )
    return profile


@functools.cache
def _ways() -> Mapping[str, str]:
    """How the limits of each rule compare."""
    roles = _parse(DEFAULT_PROFILE)["limits"].values()
    return {rule: _way(limits[0]) for rules in roles for rule, limits in rules.items()}


def _way(limit: Mapping[str, Any]) -> str:
    """How a limit compares, by what its rule measures: words, a yes or no, or a number."""
    equals = limit.get("equals")
    if "any_of" in limit or isinstance(equals, str):
        return "any_of"
    return "equals = true or false" if isinstance(equals, bool) else "min, max or both"


class _Tables(Value):
    """The tables of one file, before they are merged into those of the profile that it extends."""

    model_config = ConfigDict(extra="ignore")

    extends: str | None = None
    disable: tuple[str, ...] = ()
    limits: Mapping[str, Mapping[str, Any]] = {}
    pairs: Mapping[str, Any] = {}
    consent: Mapping[str, Any] = {}


def _mistaken(profile: str | Path, error: ValidationError) -> ProfileError:
    found = [
        f"{'.'.join(map(str, each['loc']))} "
        + ("is unknown" if each["type"] == "extra_forbidden" else problem.message)
        for each, problem in zip(error.errors(), problems_in(error), strict=True)
        # A list whose one limit is wrong counts as empty, too.
        if each["type"] != "too_short" or len(error.errors()) == 1
    ]
    if ("missing", ("model",)) in ((each["type"], each["loc"]) for each in error.errors()):
        found = [f'{found[0]}, or a line extends = "{DEFAULT_PROFILE}", whose values it then has']
    return ProfileError(f"Profile {profile}: {'; '.join(found[:3])}")


def _require_checks(profile: str | Path, named: Iterable[str], known: Collection[str]) -> None:
    if (rule_id := next((each for each in named if each not in known), None)) is not None:
        hint = f"; {did_you_mean(rule_id, known, '`palprep explain` lists all')}"
        if rule_id in PAIR_CHECKS:
            hint = f" of one file: it compares two, so write [[pairs.{rule_id}]]"
        raise ProfileError(f"Profile {profile} names {rule_id!r}, which is no check{hint}")


def _resolve(name: str, seen: tuple[str, ...]) -> dict[str, Any]:
    if name in seen:
        raise ProfileError(f"Profiles extend each other in a circle: {' -> '.join((*seen, name))}")
    data = _parse(name)
    parent_name = data.pop("extends", None)
    if parent_name is not None:
        if parent_name.endswith(".toml"):
            parent_name = os.path.normpath(Path(name).parent / parent_name)
        parent = _resolve(parent_name, (*seen, name))
    elif name != DEFAULT_PROFILE:
        default = _parse(DEFAULT_PROFILE)
        parent = {table: default[table] for table in ("pairs", "consent")}
    else:
        return data
    merged = {**parent, "name": Path(name).stem, **data}
    merged["disable"] = [*parent.get("disable", ()), *data.get("disable", ())]
    for table in ("pairs", "consent"):
        merged[table] = {**parent.get(table, {}), **data.get(table, {})}
    before, own = parent.get("limits", {}), data["limits"]
    merged["limits"] = {
        role: {**before.get(role, {}), **own.get(role, {})} for role in {**before, **own}
    }
    return merged


def _parse(name: str) -> dict[str, Any]:
    if name in BUILT_IN:
        text = (
            resources.files("palprep.rules").joinpath("profiles", f"{name}.toml").read_text("utf-8")
        )
    else:
        try:
            text = Path(name).read_text("utf-8-sig")
        except (OSError, ValueError) as error:  # A name may be no path, or a text not UTF-8.
            why = f"The profile {name!r} cannot be read ({error})"
            if isinstance(error, FileNotFoundError):
                why = f"There is no profile {name!r}"
            known = ", ".join(BUILT_IN)
            raise ProfileError(f"{why}: give one of {known}, or the path of a TOML file") from None
    try:
        data = dict(_tables(text))
        _Tables.model_validate(data)
    except ValidationError as error:
        raise _mistaken(name, error) from None
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"Profile {name} is not valid TOML: {error}") from None
    limits = dict(data.get("limits", {}))
    shared = limits.pop("video", {})
    for role in (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO) if shared else ():
        limits[role] = {**shared, **limits.get(role, {})}
    return {**data, "limits": limits}


_tables = functools.lru_cache(maxsize=16)(tomllib.loads)
"""Parsed once: a run asks for its profile for every file, and a parse takes longer than all else
that is done for a file outside the workers."""
