"""Faults on purpose: a script of them, each used up as it strikes. The script's seed decides about
chance, so that a failed run can be repeated."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError, model_validator

from palprep.api.calls import ENDPOINTS
from palprep.api.records import HeaderName, HeaderValue
from palprep.errors import UsageError
from palprep.sandbox.choices import IMAGE_ERRORS
from palprep.values import Value
from palprep.vocabulary import did_you_mean

EVENT = "application.{kind}_status_changed"
"""The name of callbacks about a kind of record. The specification shows only that of voices."""
CALLBACK_EVENTS = tuple(EVENT.format(kind=kind) for kind in ("voice", "replica", "document"))


def _matching(what: str, names: Sequence[str]) -> AfterValidator:
    """A pattern that must match one of ``names``: a misspelt one would never strike."""

    def checked(pattern: str) -> str:
        if any(fnmatchcase(name, pattern) for name in names):
            return pattern
        hint = did_you_mean(pattern, names, f"there are {', '.join(names)}")
        raise ValueError(f"no {what} is called {pattern}; {hint}")

    return AfterValidator(checked)


class Strike(Value):
    """How often a fault strikes: not at the first ``skip`` matches, then with ``probability``, at
    most ``times`` times (null: always)."""

    times: Annotated[int, Field(ge=1)] | None = 1
    skip: Annotated[int, Field(ge=0)] = 0
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0


class RequestFault(Strike):
    """A request to an API endpoint, chosen by operation id, method or path (``*`` matches).

    ``delay`` comes first. It is in real seconds on any clock, because it tests the caller's
    timeout. ``drop`` cuts the connection ``before_commit`` (nothing was done) or
    ``after_commit`` (all was done and the answer is lost). ``status`` answers without doing
    anything, with ``body`` and ``headers`` if given; ``variant`` answers with one of the seven
    errors of the image validation. ``cut`` ends the connection after that many bytes of any
    answer's body, and ``drip`` sends the body byte by byte, that many real seconds apart.
    """

    on: Literal["request"]
    endpoint: Annotated[str, _matching("endpoint", [each.name for each in ENDPOINTS])] = "*"
    method: Annotated[str, _matching("method", sorted({each.method for each in ENDPOINTS}))] = "*"
    path: str = "*"
    delay: Annotated[float, Field(ge=0, le=600)] = 0.0
    drop: Literal["before_commit", "after_commit"] | None = None
    status: Annotated[int, Field(ge=200, le=599)] | None = None
    body: Any = None
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict)
    variant: Annotated[str, _matching("variant", [e.code for e in IMAGE_ERRORS])] | None = None
    cut: Annotated[int, Field(ge=0)] | None = None
    drip: Annotated[float, Field(ge=0, le=60)] = 0.0

    @property
    def in_its_place(self) -> bool:
        """Whether the fault answers and the request is not carried out."""
        if self.drop is not None:
            return self.drop == "before_commit"
        return self.status is not None or self.variant is not None


class CallbackFault(Strike):
    """A callback, chosen by its event. It is sent ``copies`` times (0: lost), and ``late`` seconds
    later by the sandbox's clock."""

    on: Literal["callback"]
    event: Annotated[str, _matching("event", CALLBACK_EVENTS)] = "*"
    copies: Annotated[int, Field(ge=0, le=20)] = 1
    late: Annotated[float, Field(ge=0)] = 0.0


class AssetFault(Strike):
    """A download from the asset host, chosen by the asset's name: its URL has ``expired``, or
    its connection is cut (``drop``)."""

    on: Literal["asset"]
    name: str = "*"
    effect: Literal["expired", "drop"] = "expired"


F = TypeVar("F", RequestFault, CallbackFault, AssetFault)
Fault = Annotated[RequestFault | CallbackFault | AssetFault, Field(discriminator="on")]


class FaultScript(Value):
    """``faults`` in the order in which they are tried; ``seed`` for their probabilities."""

    faults: tuple[Fault, ...] = ()
    seed: int = 0

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, content: Any) -> Any:
        return {"faults": content} if isinstance(content, list | tuple) else content


def script_from(source: object) -> FaultScript:
    """A script from its file or its JSON. Raises :class:`UsageError`, which names the field."""
    if isinstance(source, FaultScript):
        return source
    try:
        if isinstance(source, str | Path):
            source = json.loads(Path(source).read_text(encoding="utf-8-sig"))
        return FaultScript.model_validate(source)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        if first["type"].startswith("union_tag_"):
            why = 'its "on" is request, callback or asset'
        raise UsageError(f"The fault script is wrong at {place}: {why}") from error
    except OSError as error:
        raise UsageError(f"The fault script {source} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The fault script {source} cannot be used: {error}") from error


@dataclass
class Armed:
    """One fault, how many matches it still skips, and how often it may still strike."""

    fault: RequestFault | CallbackFault | AssetFault
    skip: int
    left: int | None

    def strikes(self, chance: random.Random) -> bool:
        """Count one more match. Returns whether the fault strikes at it."""
        if self.left == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        if chance.random() >= self.fault.probability:
            return False
        if self.left is not None:
            self.left -= 1
        return True


class Faults:
    """The script in force. The first fault that matches and strikes is taken."""

    def __init__(self, script: FaultScript) -> None:
        self._at_start = script
        self.reset()

    def reset(self) -> None:
        self.load(self._at_start)

    def load(self, script: FaultScript) -> None:
        """Replace the script; an empty one ends all faults."""
        self._armed = [Armed(each, each.skip, each.times) for each in script.faults]
        self._chance = random.Random(script.seed)  # noqa: S311 - repeatable, not secret

    def waiting(self) -> list[dict[str, Any]]:
        return [{**a.fault.to_json(), "left": a.left} for a in self._armed if a.left != 0]

    def striking(self, kind: type[F], **names: str) -> F | None:
        """The first fault of this kind whose members match these ``names``, and that strikes."""
        for armed in self._armed:
            fault = armed.fault
            if (
                isinstance(fault, kind)
                and all(fnmatchcase(name, getattr(fault, by)) for by, name in names.items())
                and armed.strikes(self._chance)
            ):
                return fault
        return None
