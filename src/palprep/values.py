"""The vocabulary that every layer shares: frozen values, spans, rectangles, roles, outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from palprep.vocabulary import Kind, Outcome, Role

__all__ = ["Kind", "Outcome", "Rect", "Role", "Span", "Value", "spans_within"]


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


def spans_within(spans: Iterable[Span], start_s: float, end_s: float) -> tuple[Span, ...]:
    """The parts of the spans that lie between two moments."""
    parts = ((max(each.start_s, start_s), min(each.end_s, end_s)) for each in spans)
    return tuple(Span(start_s=start, end_s=end) for start, end in parts if start < end)


class Rect(Value):
    """A rectangle in pixels of an image as shown, origin at the top left.

    It may reach past the image.
    """

    x: float
    y: float
    width: float
    height: float
