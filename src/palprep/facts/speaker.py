"""Who is to be heard, and with which words."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import model_validator

from palprep.consent.statement import Statement, statement_for
from palprep.values import Value


class Speaker(Value):
    """Whose consent is listened for. ``statement`` None takes palprep's own template.

    ``model`` is the folder of a Whisper model for CTranslate2 that listens; None is the one that
    palprep brings, which knows English alone.

    Raises UsageError for a statement that names no one, and for a language without one.
    """

    full_name: str
    statement: str | None = None
    language: str = "en"
    model: Path | None = None

    @model_validator(mode="after")
    def _names_the_speaker(self) -> Self:
        _ = self.required
        return self

    @property
    def required(self) -> Statement:
        """The statement to listen for."""
        return statement_for(self.full_name, self.statement, language=self.language)
