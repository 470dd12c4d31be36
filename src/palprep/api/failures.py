"""Typed errors: of requests that break a rule, and of error replies.

The specification shows three shapes of a body and few status codes. The status decides what kind of
error it is; where it says no more than that the request is bad, words of the specification decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from palprep import errors
from palprep.api.bodies import without_queries
from palprep.errors import InvalidRequest, Problem
from palprep.escaping import escaped
from palprep.values import Value
from palprep.vocabulary import did_you_mean

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
    "tuple_type": "must be an array",
    "sequence_str": "must be an array",
}
_MEMBER = re.compile(r"<[\w.]+: ('[^']*')>")
"""How a member of an enumeration is shown."""
_SHOULD = re.compile("^[A-Z][a-z]+ should ")
"""How a rule begins that an input, a string or a value breaks."""
_KINDS = {"Sequence": "must be an array", "Mapping": "must be an object"}


def refusal(problems: list[Problem]) -> InvalidRequest:
    """The error for broken rules; ``problems`` must not be empty."""
    said = "; ".join(f"{p.field or 'the request'} {p.message}" for p in problems)
    return InvalidRequest(
        f"Nothing was sent: {said}.", field=problems[0].field or None, problems=tuple(problems)
    )


def problems_in(error: ValidationError, *, without: str | None = None) -> Iterator[Problem]:
    """pydantic's findings as problems; the field ``without`` is no part of where they are."""
    for detail in error.errors(include_url=False, include_context=True, include_input=False):
        parts = [
            str(part)
            for at, part in enumerate(detail["loc"])
            # Arms of a union appear in the location as type names, not as members.
            if part != without and (at == 0 or isinstance(part, int) or part.isidentifier())
        ]
        yield Problem(".".join(parts), detail["type"], _sentence(detail))


def _sentence(detail: ErrorDetails) -> str:
    if detail["type"] in _PLAIN:
        return _PLAIN[detail["type"]]
    if detail["type"] == "is_instance_of":
        return _KINDS[detail["ctx"]["class"]]
    text = _SHOULD.sub("must ", _MEMBER.sub(r"\1", detail["msg"])).replace(" after validation", "")
    return text if text.startswith("must ") else f"is not valid: {text[0].lower()}{text[1:]}"


class Given(Value):
    """A record that callers write. A mistake in it is a UsageError in words."""

    # Type checkers go by the fields.
    if not TYPE_CHECKING:

        def __init__(self, *values: Any, **fields: Any) -> None:
            if values:
                first, name = next(iter(type(self).model_fields)), type(self).__name__
                raise errors.UsageError(f"{name} takes its fields by name: {name}({first}=...)")
            try:
                super().__init__(**fields)
            except ValidationError as error:
                # A misspelt field is missing as well: its own name says more.
                problem = min(problems_in(error), key=lambda each: each.rule != "extra_forbidden")
                name, known = type(self).__name__, sorted(type(self).model_fields)
                said = f"{name}: {problem.field} {problem.message}"
                if problem.rule == "extra_forbidden":
                    hint = did_you_mean(problem.field, known, f"it has {', '.join(known)}")
                    said = f"{name} has no {problem.field}: {hint}"
                raise errors.UsageError(said) from None


_BY_STATUS: Mapping[int, type[errors.ApiError]] = {
    400: errors.BadRequest,
    401: errors.AuthenticationError,
    403: errors.PermissionDenied,
    404: errors.NotFound,
    409: errors.Conflict,
    412: errors.Conflict,
    413: errors.PayloadTooLarge,
    422: errors.BadRequest,
    429: errors.RateLimited,
}

_BARE = frozenset({400, 422})
_WORDS: tuple[tuple[str, str, type[errors.ApiError]], ...] = (
    ("message", "invalid access token", errors.AuthenticationError),
    ("message", "not found", errors.NotFound),
    ("error", "invalid pal_id", errors.NotFound),
    ("error", "invalid video_id", errors.NotFound),
    ("error", "user-scoped", errors.PermissionDenied),
    ("error", "name already exists", errors.Conflict),
)
"""Specification, Errors: the shape of a body, words in it, and what they mean under a status that
the specification does not show."""

_LONGEST_SAID = 2_000

_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")

_ADVICE: Mapping[type[errors.ApiError], str] = {
    errors.AuthenticationError: "Check the API key (PALPREP_API_KEY).",
    errors.PermissionDenied: "Use a key that may do this; creating voices needs a user-scoped one.",
    errors.NotFound: "Check the id and the base URL.",
    errors.PayloadTooLarge: "`palprep fix` makes files smaller.",
    errors.RateLimited: "Wait and try again.",
    errors.ServiceUnavailable: "The service has a problem; try again later.",
}


def _explained(body: Any) -> tuple[str | None, str]:
    """Which of the three error shapes ``body`` has (``error``, ``message``,
    ``message-error-code``, or None), and what it says."""
    if isinstance(body, Mapping):
        said = {key: body.get(key) for key in ("message", "error", "code")}
        if all(isinstance(text, str) for text in said.values()):
            return "message-error-code", f"{said['message']} ({said['code']})"
        for key in ("error", "message"):
            if isinstance(said[key], str):
                return key, str(said[key])
    return None, _words_of(body)


_WORDY = ("message", "error", "detail", "msg", "errors", "title")
"""Members of an error body that hold its words, those that say most first: of nested errors,
problem details (RFC 9457), lists of findings."""


def _words_of(body: Any, depth: int = 4) -> str:
    """What a body of any shape says in words, empty where nothing does."""
    if isinstance(body, str):
        return body.strip()[: _LONGEST_SAID + 1]
    if isinstance(body, Mapping) and depth:
        said = next(filter(None, (_words_of(body.get(key), depth - 1) for key in _WORDY)), "")
        where = body.get("loc")  # As FastAPI tells which field a finding is about.
        return f"{'.'.join(map(str, where))}: {said}" if said and isinstance(where, list) else said
    if isinstance(body, list | tuple) and depth:
        return "; ".join(filter(None, (_words_of(each, depth - 1) for each in body[:20])))
    return ""


def failure(
    status: int,
    headers: Mapping[str, str],
    body: Any,
    *,
    what: str = "",
    meaning: str | None = None,
) -> errors.ApiError:
    """The error for a reply that is not a success.

    ``headers`` have lower-case names; ``body`` is what :func:`read_body` returned. ``what`` was
    asked goes first in the message; ``meaning`` stands for a body that explains nothing. The
    message has at most 2,000 characters of the body, with control characters written out and no
    query of a link.
    """
    shape, text = _explained(body)
    server = status >= 500
    kind = errors.ServiceUnavailable if server else _BY_STATUS.get(status, errors.ApiError)
    if status in _BARE:
        meant = (k for where, words, k in _WORDS if shape == where and words in text.lower())
        kind = next(meant, kind)
    text = without_queries(text)
    text = escaped(text[:_LONGEST_SAID]) + ("…" if len(text) > _LONGEST_SAID else "")
    said = text or meaning or "no explanation"
    advice = _ADVICE.get(kind, "")
    wait_s = retry_after(headers)
    if wait_s is not None and kind in {errors.RateLimited, errors.ServiceUnavailable}:
        advice = f"The service asks to wait {_wait_words(wait_s)}; try again then."
    if 300 <= status < 400:
        advice = "The service redirects; check the base URL."
    return kind(
        f"{what}the service answered {status}: {said.rstrip('.')}. {advice}".rstrip(),
        status=status,
        shape=shape,
        service_code=body["code"] if shape == "message-error-code" else None,
        body=body,
        request_id=request_id(headers),
        retry_after=wait_s,
        headers=dict(headers),
    )


def _wait_words(seconds: float) -> str:
    """The time in the largest unit that it fills: 45 s, 3 min, 24 h."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.0f} s"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as ``retry-after`` asks (RFC 9110, 10.2.3): a number, with fractions, as some
    services send it; or a date, which counts from that of the answer, so that no clock is compared
    with another's. None without it, or where it is neither."""
    value = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        then, now = map(parsedate_to_datetime, (value, headers.get("date", "")))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-amzn-requestid")
"""Under which services tell the id of a request, best known first."""


def request_id(headers: Mapping[str, str]) -> str | None:
    """The id of a request in the headers of its answer, whose names are in lower case."""
    return next((headers[name] for name in REQUEST_ID_HEADERS if name in headers), None)
