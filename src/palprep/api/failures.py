"""Typed errors for requests that break a rule, and for error replies.

The specification shows three shapes of an error body and few status codes. The status decides the
class of the error. For a status that says only "bad request", words of the specification decide.
"""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from palprep import errors
from palprep.api.bodies import mask_links
from palprep.errors import InvalidRequest, Problem
from palprep.escaping import escaped
from palprep.values import Value
from palprep.vocabulary import did_you_mean

UNKNOWN_MEMBER = "is not a member that the specification knows"

_PLAIN = {
    "missing": "is required",
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
"""A member of an enumeration, as pydantic shows it."""
_SHOULD = re.compile("^[A-Z][a-z]+ should ")
"""The beginning of pydantic's messages, such as "Input should ", "String should "."""
_KINDS = {"Sequence": "must be an array", "Mapping": "must be an object"}


def refusal(problems: list[Problem]) -> InvalidRequest:
    """The error for broken rules; ``problems`` must not be empty."""
    broken = "; ".join(f"{p.field or 'the request'} {p.message}" for p in problems)
    return InvalidRequest(
        f"Nothing was sent: {broken}.", field=problems[0].field or None, problems=tuple(problems)
    )


def problems_in(error: ValidationError, *, without: str | None = None) -> Iterator[Problem]:
    """pydantic's findings as problems. Their paths leave out the field ``without``."""
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
    """A record that callers write. A mistake in it raises UsageError, in one sentence."""

    # A class that is not built yet has no signature of its own for help() and completion.
    model_config = ConfigDict(defer_build=False)

    @classmethod
    def __pydantic_on_complete__(cls) -> None:
        # pydantic's own signature shows validators, where the source has the names of types.
        written = ChainMap(*map(inspect.get_annotations, cls.__mro__))
        own = inspect.signature(cls).parameters
        fields = [own[name].replace(annotation=written[name]) for name in cls.model_fields]
        cls.__signature__ = inspect.Signature(fields)

    # Type checkers go by the fields.
    if not TYPE_CHECKING:

        def __init__(self, *values: Any, **fields: Any) -> None:
            if values:
                first, name = next(iter(type(self).model_fields)), type(self).__name__
                raise errors.UsageError(f"{name} takes its fields by name: {name}({first}=...)")
            try:
                super().__init__(**fields)
            except ValidationError as error:
                # A misspelt field is missing as well, and its misspelt name says more.
                problem = min(problems_in(error), key=lambda each: each.rule != "extra_forbidden")
                name, known = type(self).__name__, sorted(type(self).model_fields)
                message = f"{name}: {problem.field} {problem.message}"
                if problem.rule == "extra_forbidden":
                    hint = did_you_mean(problem.field, known, f"it has {', '.join(known)}")
                    message = f"{name} has no {problem.field}: {hint}"
                raise errors.UsageError(message) from None


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

_WORDS: tuple[tuple[str, str, type[errors.ApiError]], ...] = (
    ("message", "invalid access token", errors.AuthenticationError),
    ("message", "not found", errors.NotFound),
    ("error", "invalid pal_id", errors.NotFound),
    ("error", "invalid video_id", errors.NotFound),
    ("error", "user-scoped", errors.PermissionDenied),
    ("error", "name already exists", errors.Conflict),
)
"""Specification, Errors: the shape of a body, words in it, and the class of the error."""

_SHOWN_CHARS = 2_000

_TITLE = re.compile(r"<title[^>]{0,200}>\s*([^<]{1,300}?)\s*<", re.IGNORECASE)
"""The title of an HTML page, with which a proxy before the service answers."""

_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")

_ADVICE: Mapping[type[errors.ApiError], str] = {
    errors.AuthenticationError: "Check the API key (PALPREP_API_KEY).",
    errors.PermissionDenied: "Use a key that may do this; creating voices needs a user-scoped one.",
    errors.NotFound: "Check the id and the base URL.",
    errors.PayloadTooLarge: (
        "The request, or the file at a URL in it, is larger than the service, or a proxy before "
        "it, takes. Give a smaller file."
    ),
    errors.RateLimited: "Wait and try again.",
    errors.ServiceUnavailable: "The service has a problem; try again later.",
}


def _explained(body: Any) -> tuple[str | None, str]:
    """The shape of an error body (``error``, ``message``, ``message-error-code``, or None for
    another one), and its words."""
    if isinstance(body, Mapping):
        texts = {k: body[k] for k in ("error", "message", "code") if isinstance(body.get(k), str)}
        if len(texts) == 3:
            return "message-error-code", f"{texts['message']} ({texts['code']})"
        for key in ("error", "message"):
            if key in texts:
                return key, texts[key]
    return None, _words_of(body)


_WORDY = ("message", "error", "detail", "msg", "errors", "title")
"""Members that hold the words of an error body, the most telling first: nested errors, problem
details (RFC 9457), lists of findings."""


def _words_of(body: Any, depth: int = 4) -> str:
    """The words in an error body of any shape; empty if there are none."""
    if isinstance(body, str):
        words = body.strip()
        title = _TITLE.search(words) if words.startswith("<") else None
        return (title[1] if title else words)[: _SHOWN_CHARS + 1]
    if isinstance(body, Mapping) and depth:
        words = next(filter(None, (_words_of(body.get(key), depth - 1) for key in _WORDY)), "")
        if not words and depth == 3:  # Specification, Errors: messages by field path.
            said = ((path, _words_of(each, 1)) for path, each in list(body.items())[:20])
            return "; ".join(f"{path}: {text}" for path, text in said if text)
        if words and isinstance(where := body.get("loc"), list):  # FastAPI's path of a field.
            return f"{'.'.join(map(str, where))}: {words}"
        return words
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

    ``headers`` have lower-case names; ``body`` is a result of :func:`read_body`. The message begins
    with ``what``, the method and the path. It has at most 2,000 characters of the body, with
    control characters written out and the queries of links masked, or ``meaning`` if the body
    explains nothing.
    """
    shape, text = _explained(body)
    server = status >= 500
    kind = errors.ServiceUnavailable if server else _BY_STATUS.get(status, errors.ApiError)
    if status in {400, 422}:  # They say only that the request is bad.
        meant = (k for where, words, k in _WORDS if shape == where and words in text.lower())
        kind = next(meant, kind)
    text = mask_links(text)
    text = escaped(text[:_SHOWN_CHARS]) + ("…" if len(text) > _SHOWN_CHARS else "")
    explanation = text or meaning or "no explanation"
    advice = _ADVICE.get(kind, "")
    wait_s = retry_after(headers)
    if wait_s is not None and kind in {errors.RateLimited, errors.ServiceUnavailable}:
        advice = f"The service asks to wait {_wait_words(wait_s)}; try again then."
    if 300 <= status < 400:
        where = escaped(headers.get("location", "").partition("?")[0][:_SHOWN_CHARS])
        advice = f"The service redirects{where and f' to {where}'}; check the base URL."
    words = f"{status}: {explanation.rstrip('.')}."
    return kind(
        f"{what}the service answered {words} {advice}".rstrip(),
        status=status,
        words=words,
        shape=shape,
        service_code=body["code"] if shape == "message-error-code" else None,
        body=body,
        request_id=request_id(headers),
        retry_after=wait_s,
        headers=dict(headers),
    )


def _wait_words(seconds: float) -> str:
    """The time in a unit that suits it: 45 s, 1.5 min, 24 h, 26,625 days."""
    units = (("days", 86_400, 2), ("h", 3600, 1), ("min", 60, 1), ("s", 1, 0))
    unit, length, _ = next(each for each in units if seconds >= each[1] * each[2])
    digits = 1 if seconds < 100 * length and length > 1 else 0
    return f"{seconds / length:,.{digits}f}".removesuffix(".0") + f" {unit}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as ``retry-after`` asks (RFC 9110, section 10.2.3): a number, which may have
    a fraction, or a date, which is compared with the date of the answer and not with this machine's
    clock. None if it is missing or neither."""
    value = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        then, now = map(parsedate_to_datetime, (value, headers.get("date", "")))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-amzn-requestid")
"""Headers in which services return the id of a request, the most common first."""


def request_id(headers: Mapping[str, str]) -> str | None:
    """The id of the request from the headers of its answer, which have lower-case names."""
    return next((headers[name] for name in REQUEST_ID_HEADERS if name in headers), None)
