"""Bodies as they travel: JSON written, read, streamed, and shown without its secrets."""

from __future__ import annotations

import contextlib
import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from palprep.storage import without_secrets
from palprep.vocabulary import FileInput

# Kept: json.dumps makes a new one for each call, which a request's cost shows.
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compact_json(value: Any) -> str:
    """JSON as palprep sends it, and as the 10,000 characters of a tool are counted. Raises
    TypeError or ValueError for what is no JSON, or nested too deeply."""
    try:
        return _COMPACT.encode(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_body(content: bytes) -> Any:
    """Parsed JSON, the text when it is none, or None when there is nothing. What is no character,
    such as the half of one at the end of a text that was cut, becomes U+FFFD."""
    if not content:
        return None
    text = content.decode("utf-8-sig", "replace")
    for parse in (json_value, mended_json):  # The first is the quicker, and takes no halves.
        with contextlib.suppress(ValueError):
            return parse(text.encode())
    return text


def json_value(body: bytes) -> Any:
    """The value of a JSON text in UTF-8 (RFC 8259, section 8.1): numbers are finite, nesting ends,
    after 200 levels, and no half of a character stands alone. Raises ValueError."""
    value = from_json(body.removeprefix(BOM_UTF8), allow_inf_nan=False)
    compact_json(value)  # The parser takes 1e999 for infinity.
    return value


def mended_json(body: bytes | str) -> Any:
    """As :func:`json_value`, but a half of a character becomes U+FFFD: a sender that cuts a text
    after so many UTF-16 units makes them."""
    text = body if isinstance(body, str) else body.decode("utf-8-sig")
    try:
        units = compact_json(json.loads(text)).encode("utf-16-le", "surrogatepass")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return from_json(units.decode("utf-16-le", "replace"))


@dataclass(frozen=True)
class Base64Stream:
    """The base64 of a file, without line breaks, in pieces, made while it is sent, any number of
    times: no body is held in memory whole."""

    name: str
    """What messages call the file."""
    size: int
    """Of the file, in bytes."""
    mime: Callable[[], str | None]
    """Tells the MIME type that the file's content shows, None when no endpoint takes it."""
    pieces: Callable[[], Iterator[bytes]]

    @property
    def chars(self) -> int:
        """Characters of base64, known before any is made."""
        return 4 * ((self.size + 2) // 3)

    def __iter__(self) -> Iterator[bytes]:
        return self.pieces()


OpenFile = Callable[[FileInput], Base64Stream]
"""Opens what a caller gave. Raises a :class:`~palprep.errors.PalprepError` for what cannot be
read."""


@dataclass(frozen=True)
class StreamedBody:
    """A body as it travels: the JSON text ``before`` the stream, its base64, the text ``after``.
    Its ``len`` is in bytes."""

    before: bytes
    content: Base64Stream
    after: bytes

    def __len__(self) -> int:
        return len(self.before) + self.content.chars + len(self.after)

    def __iter__(self) -> Iterator[bytes]:
        yield self.before
        yield from self.content
        yield self.after


MASK = "***"

SECRET_MEMBERS = frozenset(
    {
        "api_key",
        "auth",
        "authorization",
        "client_secret",
        "cookie",
        "headers",
        "password",
        "proxy-authorization",
        "query_params",
        "secret",
        "token",
        "x-api-key",
    }
)
_LONGEST = 500
_QUERY = re.compile(r"(https?://[^\s\"'<>?]*)\?[^\s\"'<>]+", re.IGNORECASE)


def redact(value: Any, member: str = "", *, addresses: bool = False) -> Any:
    """``value`` with secrets masked at every depth. Members that hold credentials are masked whole.
    Links lose their query, where presigned links keep their signature. Callback links lose their
    path too, which may be a secret by itself. Long strings are replaced by their length.
    ``addresses`` leaves links as they are."""
    if member.lower() in SECRET_MEMBERS:
        return MASK
    if isinstance(value, Mapping):
        return {k: redact(item, str(k), addresses=addresses) for k, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item, member, addresses=addresses) for item in value]
    if isinstance(value, str):
        return value if addresses and len(value) <= _LONGEST else _text(value, member)
    if isinstance(value, Base64Stream):
        return f"<{value.chars} characters>"
    return value if value is None or isinstance(value, bool | int | float) else f"<{value!r}>"


def _text(value: str, member: str) -> str:
    if len(value) > _LONGEST:
        return f"<{len(value)} characters>"
    if not value.lower().startswith(("http://", "https://")):
        return without_queries(value)
    shown = without_secrets(value)
    if member == "callback_url":
        return "/".join((*shown.split("/")[:3], MASK))
    return f"{shown}?{MASK}" if "?" in value else shown


def without_queries(text: str) -> str:
    """The text with each link in it without its query: a service may quote a presigned link."""
    return _QUERY.sub(rf"\1?{MASK}", text)
