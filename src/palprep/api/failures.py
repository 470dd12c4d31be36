"""From an error reply to a typed error.

The specification shows three shapes of a body and few status codes. The status alone decides
what kind of error it is: the words of a message are for people, and change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from palprep import errors
from palprep.api.call import Call
from palprep.api.wire import request_id

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

_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")

_ADVICE: Mapping[type[errors.ApiError], str] = {
    errors.AuthenticationError: "Check the API key (PALPREP_API_KEY).",
    errors.PermissionDenied: "Use a key that may do this; creating voices needs a user-scoped one.",
    errors.NotFound: "Check the id and the base URL.",
    errors.RateLimited: "Wait and try again.",
    errors.ServiceUnavailable: "The service has a problem; try again later.",
}


def read_body(content: bytes) -> Any:
    """Parsed JSON, the text when it is none, or None when there is nothing."""
    if not content:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def shape_of(body: Any) -> str | None:
    """Which of the three error shapes ``body`` has: ``error``, ``message``,
    ``message-error-code``, or None."""
    if not isinstance(body, Mapping):
        return None
    if all(isinstance(body.get(k), str) for k in ("message", "error", "code")):
        return "message-error-code"
    for key in ("error", "message"):
        if isinstance(body.get(key), str):
            return key
    return None


def failure(
    status: int,
    headers: Mapping[str, str],
    body: Any,
    *,
    call: Call[Any] | None = None,
    now: datetime | None = None,
) -> errors.ApiError:
    """The error for a reply that is not a success.

    ``headers`` have lower-case names; ``body`` is what :func:`read_body` returned; ``now``
    is needed only for a Retry-After that is a date.
    """
    shape = shape_of(body)
    text = _text(body, shape)
    server = status >= 500
    kind = errors.ServiceUnavailable if server else _BY_STATUS.get(status, errors.ApiError)
    what = f"{call.method} {call.endpoint.path}: " if call else ""
    meaning = call.endpoint.failures.get(status) if call else None
    said = text or meaning or "no explanation"
    advice = _ADVICE.get(kind, "")
    wait_s = retry_after(headers, now)
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
    )


def _wait_words(seconds: float) -> str:
    """The time in the largest unit that it fills: 45 s, 3 min, 24 h."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.0f} s"


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait as ``retry-after-ms`` or ``retry-after`` asks, never negative; None
    without them or where they cannot be read. Fractions are taken, as some services send them.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    value = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds()) if now else None


def _text(body: Any, shape: str | None) -> str:
    if shape == "message-error-code":
        return f"{body['message']} ({body['code']})"
    if shape:
        return str(body[shape])
    return body.strip()[:200] if isinstance(body, str) else ""
