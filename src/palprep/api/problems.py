"""Broken rules in words: from pydantic's findings to the paths that the specification uses."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from palprep.errors import InvalidRequest, Problem

MISSING = "is required"
UNKNOWN_MEMBER = "is not a member that the specification knows"

_PLAIN = {
    "missing": MISSING,
    "extra_forbidden": UNKNOWN_MEMBER,
    "none_required": "must be null",
    "dict_type": "must be an object",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be an integer",
}
_KINDS = {"Sequence": "must be an array", "Mapping": "must be an object"}


def refusal(problems: list[Problem]) -> InvalidRequest:
    """The error for broken rules; ``problems`` must not be empty."""
    said = "; ".join(f"{p.field or 'the request'} {p.message}" for p in problems)
    return InvalidRequest(
        f"Nothing was sent: {said}.", field=problems[0].field or None, problems=tuple(problems)
    )


def problems_in(error: ValidationError, at: str) -> Iterator[Problem]:
    """pydantic's findings as problems; ``at`` is the path of what it validated."""
    for detail in error.errors(include_url=False, include_context=True, include_input=False):
        parts = [at] if at else []
        # Arms of a union appear in the location as type names, not as members.
        parts += [str(p) for p in detail["loc"] if isinstance(p, int) or p.isidentifier()]
        yield Problem(".".join(parts), detail["type"], _sentence(detail))


def _sentence(detail: ErrorDetails) -> str:
    if detail["type"] in _PLAIN:
        return _PLAIN[detail["type"]]
    if detail["type"] == "is_instance_of":
        return _KINDS[detail["ctx"]["class"]]
    text = detail["msg"]
    if text.startswith("Input should "):
        return "must " + text.removeprefix("Input should ")
    return text if text.startswith("must ") else f"is not valid: {text[0].lower()}{text[1:]}"
