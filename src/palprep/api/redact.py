"""What may be shown of a request: enough to recognise it, and none of its secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from palprep.api.stream import Base64Stream

MASK = "***"

SECRET_MEMBERS = frozenset(
    {
        "api_key",
        "auth",
        "authorization",
        "client_secret",
        "headers",
        "password",
        "secret",
        "token",
        "x-api-key",
    }
)
_LONGEST = 500


def redact(value: Any, member: str = "") -> Any:
    """``value`` with secrets masked at every depth.

    Members that hold credentials are masked whole. Links lose their query, where presigned
    links keep their signature. Callback links lose their path too, which may be a secret by
    itself. Long strings are replaced by their length.
    """
    if member.lower() in SECRET_MEMBERS:
        return MASK
    if isinstance(value, Mapping):
        return {key: redact(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item, member) for item in value]
    if isinstance(value, str):
        return _text(value, member)
    if isinstance(value, Base64Stream):
        return f"<{value.chars} characters>"
    return value if value is None or isinstance(value, bool | int | float) else f"<{value!r}>"


def _text(value: str, member: str) -> str:
    if len(value) > _LONGEST:
        return f"<{len(value)} characters>"
    if not value.lower().startswith(("http://", "https://")):
        return value
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return MASK
    shown = f"{parts.scheme}://{host}{port}"
    if member == "callback_url":
        return f"{shown}/{MASK}"
    return shown + parts.path + (f"?{MASK}" if parts.query else "")
