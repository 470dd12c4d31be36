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

# json.dumps() would make a new encoder for each call, which costs a request noticeable time.
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compact_json(value: Any) -> str:
    """JSON without needless spaces, as palprep sends it and counts a tool's characters. Raises
    TypeError or ValueError for a value that JSON has no form for, or that is nested too deeply."""
    try:
        return _COMPACT.encode(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_body(content: bytes) -> Any:
    """Parsed JSON, the text if it is no JSON, or None if it is empty. Bytes that are no UTF-8, and
    halves of surrogate pairs, become U+FFFD."""
    if not content:
        return None
    text = content.decode("utf-8-sig", "replace")
    for parse in (json_value, mended_json):  # The first is faster, and refuses halves of pairs.
        with contextlib.suppress(ValueError):
            return parse(text.encode())
    return text


def json_value(body: bytes) -> Any:
    """The value of a JSON text in UTF-8 (RFC 8259, section 8.1). Raises ValueError for anything
    else, for infinite numbers, half a surrogate pair, and more than 200 levels of nesting."""
    value = from_json(body.removeprefix(BOM_UTF8), allow_inf_nan=False)
    compact_json(value)  # The parser reads 1e999 as infinity.
    return value


def mended_json(body: bytes | str) -> Any:
    """As :func:`json_value`, but half a surrogate pair becomes U+FFFD. A sender makes it that cuts
    a text after a number of UTF-16 units."""
    text = body if isinstance(body, str) else body.decode("utf-8-sig")
    try:
        units = compact_json(json.loads(text)).encode("utf-16-le", "surrogatepass")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return from_json(units.decode("utf-16-le", "replace"))


@dataclass(frozen=True)
class Base64Stream:
    """The base64 of a file, without line breaks. Its pieces are made while they are sent, as often
    as needed, so that the whole body is never in memory."""

    name: str
    """The file's name for messages."""
    size: int
    """The size of the file in bytes."""
    mime: Callable[[], str | None]
    """Returns the MIME type by the file's content, None for one that no endpoint takes."""
    pieces: Callable[[], Iterator[bytes]]

    @property
    def chars(self) -> int:
        return 4 * ((self.size + 2) // 3)

    def __iter__(self) -> Iterator[bytes]:
        return self.pieces()


OpenFile = Callable[[FileInput], Base64Stream]
"""Opens a file for upload. Raises :class:`~palprep.errors.PalprepError` if it cannot be read."""


@dataclass(frozen=True)
class StreamedBody:
    """A body in bytes: the JSON text ``before`` a member, its base64, the JSON text ``after``."""

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
_LINK = re.compile(
    r"(https?://)([^\s\"'<>?#/]*@)?((?:(?!https?://)[^\s\"'<>?])*)(\?[^\s\"'<>]+)?", re.IGNORECASE
)
"""A link up to the next one: its scheme, user with password, host with path, and query. Each is
read once, since a text may hold millions."""


def redact(value: Any, member: str = "", *, addresses: bool = False) -> Any:
    """``value`` with secrets masked at every depth: members that hold credentials; the query of a
    link, where presigned links have their signature; the path of a callback link, which may be a
    secret by itself. Long strings become their length. ``addresses`` leaves links as they are."""
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
        return mask_links(value)
    shown = without_secrets(value)
    if member == "callback_url":
        return "/".join((*shown.split("/")[:3], MASK))
    return f"{shown}?{MASK}" if "?" in value else shown


def mask_links(text: str) -> str:
    """``text`` with user, password and query of each link masked: a service may quote a link."""

    def masked(link: re.Match[str]) -> str:
        user, query = f"{MASK}@" if link[2] else "", f"?{MASK}" if link[4] else ""
        return f"{link[1]}{user}{link[3]}{query}"

    return _LINK.sub(masked, text)
