"""The base of every value that palprep records: frozen, strict about names, JSON-able."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen record. Equal by content, serialisable with :meth:`to_json`.

    Unknown fields are refused, so that a renamed field is noticed where it is written.
    Sequences are tuples and numbers are finite: a level without signal is reported at
    the floor that its field documents, a measure that was not taken is ``None``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def to_json(self) -> dict[str, Any]:
        """This value as plain dictionaries, lists, strings, numbers, booleans and None."""
        return self.model_dump(mode="json")
