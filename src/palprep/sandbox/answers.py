"""The sandbox's answers: JSON, and the three shapes of its refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response

from palprep.errors import PalprepError, UsageError


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """A status, a JSON body (None for no body) and headers."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


FORGOTTEN = JsonAnswer(
    410, {"error": "The sandbox was reset since: this request belongs to an earlier test."}
)


class Refused(PalprepError, code="request_refused"):
    def __init__(self, answer: JsonAnswer) -> None:
        super().__init__(f"the sandbox answers {answer.status}: {answer.body}")
        self.answer = answer


def refuse_error(status: int, text: str) -> Refused:
    """``{error}``: validation and look-ups."""
    return Refused(JsonAnswer(status, {"error": text}))


def refuse_message(status: int, text: str) -> Refused:
    """``{message}``: authentication, and not-found on documents and dictionaries."""
    return Refused(JsonAnswer(status, {"message": text}))


class Missing(UsageError):
    """There is no training under way, or active conversation, with this id."""


@dataclass(frozen=True, slots=True)
class ImageError:
    """One of the seven error variants of the image validation."""

    code: str
    status: int
    error: str
    message: str

    def answer(self, detail: str | None = None) -> JsonAnswer:
        """``{message, error, code}``; ``detail`` is a sentence that follows the message."""
        message = self.message if detail is None else f"{self.message} {detail}"
        return JsonAnswer(self.status, {"message": message, "error": self.error, "code": self.code})


def respond(answer: JsonAnswer) -> Response:
    if answer.body is None or answer.status in {204, 304}:  # These two never have a body.
        return Response(None, answer.status, answer.headers)
    return JSONResponse(answer.body, answer.status, answer.headers)
