"""The vocabulary that every layer shares: frozen values, spans, rectangles, roles, outcomes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from palprep.errors import UsageError
from palprep.vocabulary import Kind, Outcome, Role

__all__ = ["Given", "Kind", "Outcome", "Rect", "Role", "Span", "Value"]


_OFFERED = {"model_copy", "model_dump", "model_dump_json", "model_validate", "model_validate_json"}
_NOT_OFFERED = {name for name in vars(BaseModel) if not name.startswith("_")} - _OFFERED
"""What completion leaves out: pydantic's deprecated methods, and those for who writes models."""


class Value(BaseModel):
    """A frozen record. Equal by content, serialisable with :meth:`to_json`.

    Unknown fields are refused, so that a renamed field is noticed where it is written.
    Sequences are tuples and numbers are finite: a level without signal is reported at
    the floor that its field documents, a measure that was not taken is ``None``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    def __dir__(self) -> Iterable[str]:
        return [each for each in super().__dir__() if each not in _NOT_OFFERED]

    def to_json(self) -> dict[str, Any]:
        """This value as plain dictionaries, lists, strings, numbers, booleans and None."""
        return self.model_dump(mode="json")


class Given(Value):
    """A record that callers write. A mistake in it is a UsageError in words."""

    # Type checkers go by the fields.
    if not TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                # A misspelt field is missing as well: its own name says more.
                first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
                raise UsageError(self._mistake(first["type"], first["loc"], first["msg"])) from None

    @classmethod
    def _mistake(cls, kind: str, place: tuple[int | str, ...], message: str) -> str:
        field, known = ".".join(map(str, place)), sorted(cls.model_fields)
        if kind == "extra_forbidden":
            near = [each for each in known if field in each]
            near = near or difflib.get_close_matches(field, known, n=1)
            meant = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(known)}"
            return f"{cls.__name__} has no {field}: {meant}"
        if kind == "missing":
            return f"{cls.__name__} needs {field}"
        return f"{field} of {cls.__name__}: {message}"


class Span(Value):
    """A stretch of time in seconds: from ``start_s`` up to ``end_s``."""

    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return self.end_s - self.start_s

    def moved(self, by_s: float) -> Span:
        """The same stretch so much later."""
        return Span(start_s=self.start_s + by_s, end_s=self.end_s + by_s)


class Rect(Value):
    """A rectangle in pixels of an image as shown, origin at the top left.

    It may reach past the image.
    """

    x: float
    y: float
    width: float
    height: float
