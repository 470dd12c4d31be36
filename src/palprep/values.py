"""The vocabulary that every layer shares: frozen values, spans, rectangles, roles, outcomes."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, GetPydanticSchema

from palprep.errors import UsageError
from palprep.vocabulary import Kind as Kind, Outcome as Outcome, Role as Role  # noqa: PLC0414

F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K", bound=type)
T = TypeVar("T")

_WIDER: dict[Any, type] = {float: Real, int: Integral, Path: os.PathLike}
"""Wider types that are accepted for a declared one: numpy's numbers, and every kind of path."""


def require_type(name: str, value: object, declared: Any, advice: str = "") -> None:
    """Raise UsageError, with the advice, unless ``value`` is of the type declared for it. A string
    is no sequence of strings, and an empty one is no path: it would be the current folder. Neither
    is one that no file system takes."""
    union = get_origin(declared) in {Union, UnionType}
    kinds = [get_origin(each) or each for each in (get_args(declared) if union else (declared,))]
    if isinstance(value, str) and {Path, os.PathLike} & {*kinds}:
        if not value:
            raise UsageError(f"{name} is empty: give a path{advice}")
        try:
            possible = b"\0" not in os.fsencode(value)
        except UnicodeEncodeError:
            possible = False
        if not possible:
            raise UsageError(f"{name} is no possible path: {value[:100]!r}{advice}")
    if isinstance(value, Real) and value != value:  # noqa: PLR0124 -- math.isnan takes no huge int
        raise UsageError(f"{name} takes a number, not nan{advice}")
    for kind in kinds:
        try:
            fits = isinstance(value, _WIDER.get(kind, kind))
        except TypeError:  # For Any, and other types without instances.
            return
        if fits and not (kind in {Iterable, Sequence} and isinstance(value, str)):
            return
    words = " or ".join("None" if each is NoneType else each.__name__ for each in kinds)
    raise UsageError(f"{name} takes {words}, not {type(value).__name__}{advice}")


def typed(*names: str) -> Callable[[F], F]:
    """A decorator: the arguments of these names must be of the types that the function declares.
    Otherwise the function raises UsageError."""

    def decorate(function: F) -> F:
        hints = functools.cache(lambda: get_type_hints(function))
        name = function.__qualname__.removesuffix(".__init__")
        advice = f"; help(palprep.{name}) says more"

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            given = {**dict(zip(function.__code__.co_varnames, args, strict=False)), **kwargs}
            for name in names:
                if name in given:
                    require_type(name, given[name], hints()[name], advice)
            return function(*args, **kwargs)

        return cast("F", checked)

    return decorate


def typed_fields(kind: K) -> K:
    """A dataclass that takes nothing but what its fields declare."""
    made: Any = kind
    made.__init__ = typed(*made.__dataclass_fields__)(made.__init__)
    return kind


_OFFERED = {"model_copy", "model_dump", "model_dump_json", "model_validate", "model_validate_json"}
_NOT_OFFERED = {name for name in vars(BaseModel) if not name.startswith("_")} - _OFFERED
"""Methods that completion leaves out: pydantic's deprecated ones, and those for authors of models.
"""


class Value(BaseModel):
    """A frozen record. Equal by content, serialisable with :meth:`to_json`.

    Unknown fields are refused, so that a renamed field is noticed where it is written. Sequences
    are tuples. Numbers are finite: the level of silence is the floor that its field documents, and
    a measure that was not taken is ``None``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    def __dir__(self) -> Iterable[str]:
        return [each for each in super().__dir__() if each not in _NOT_OFFERED]

    def to_json(self) -> dict[str, Any]:
        """This value as plain dictionaries, lists, strings, numbers, booleans and None."""
        return self.model_dump(mode="json")


Many = Annotated[
    Sequence[T],
    GetPydanticSchema(lambda kind, of: of(tuple.__class_getitem__((*get_args(kind), ...)))),
]
"""A tuple that callers may write as a list, for type checkers as well."""


class Span(Value):
    """A stretch of time in seconds: from ``start_s`` up to ``end_s``."""

    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return self.end_s - self.start_s

    def moved(self, by_s: float) -> Span:
        """The same span, ``by_s`` seconds later."""
        return Span(start_s=self.start_s + by_s, end_s=self.end_s + by_s)


def spans_within(spans: Iterable[Span], start_s: float, end_s: float) -> tuple[Span, ...]:
    """The parts of the spans that lie between two moments."""
    parts = ((max(each.start_s, start_s), min(each.end_s, end_s)) for each in spans)
    return tuple(Span(start_s=start, end_s=end) for start, end in parts if start < end)


class Rect(Value):
    """A rectangle in pixels of an image as shown, origin at the top left. It may reach past the
    image."""

    x: float
    y: float
    width: float
    height: float
