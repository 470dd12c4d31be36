"""Types of single fields: lengths, patterns and choices that the specification states. Nested
objects are typed dictionaries: an absent member stays absent."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, LiteralString, NotRequired
from urllib.parse import urlsplit

import pydantic
from annotated_types import MaxLen, MinLen
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from palprep.api.bodies import Base64Stream

MAX_IMAGE_BASE64_CHARS = 29_360_128
"""Specification, Limits: 28 MiB of characters."""
MAX_IMAGE_BYTES = MAX_IMAGE_BASE64_CHARS // 4 * 3
"""The largest file whose base64 fits: 22,020,096 bytes."""
MAX_IMAGE_BODY_BYTES = 31_457_280
"""Specification, Limits: 30 MiB."""
MAX_TOOL_CHARS = 10_000
"""Specification, Limits: description plus serialized parameters."""

ImageMime = Literal["image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"]
FaceModel = Literal["core-4", "core-4.5"]
TriggerType = Literal["in_call", "post_call"]
Origin = Literal["llm", "vision", "audio"]
OnCall = Literal["generate_filler", "static_filler", "silent", "passthrough"]
OnResolve = Literal["generate_response", "response_in_result", "add_to_context", "fire_and_forget"]


_LONGEST_NAME = 253
_NO_HOST = re.compile(r"[\s%<>^|\"`\\]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


def _origin_of(url: str) -> tuple[str, str]:
    """The scheme and the host of a link, in lower case. Both are empty for what is no link, and for
    a host that cannot exist in any network."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        if ":" in host:
            usable = ipaddress.IPv6Address(host).scope_id is None
        else:
            # A name of at most 253 bytes, in labels of 1 to 63 (RFC 1035), each as IDNA spells it.
            name = host.removesuffix(".").encode("idna")
            name.decode("idna")
            usable = 0 < len(name) <= _LONGEST_NAME and not _NO_HOST.search(host)
    except ValueError:
        return "", ""
    return (parts.scheme, host) if usable and host.isprintable() else ("", "")


def host_of(url: str) -> str:
    """The host of a link, in lower case; empty for what is no link."""
    return _origin_of(url)[1]


def is_address(url: str) -> bool:
    """Whether ``url`` is an HTTP or HTTPS link with a possible host and port, and without control
    characters, which urlsplit would drop."""
    scheme, _ = _origin_of(url)
    try:
        port = urlsplit(url).port
    except ValueError:
        return False
    return scheme in {"http", "https"} and port != 0 and not _CONTROLS.search(url)


def is_https(url: str, *, loopback: bool = False) -> bool:
    """Whether ``url`` is an HTTPS link, or with ``loopback`` an HTTP link to this machine."""
    scheme, host = _origin_of(url)
    return scheme == "https" or (loopback and scheme == "http" and is_loopback(host))


def is_link(url: str) -> bool:
    """Whether ``url`` is an HTTP or HTTPS link with a host and without white space."""
    return is_address(url) and not any(map(str.isspace, url))


def is_loopback(host: str) -> bool:
    """Whether ``host`` is ``localhost`` or a loopback address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def is_header_value(value: str) -> bool:
    """Whether a header can carry ``value``: printable ASCII and tabs, without white space at the
    ends (RFC 9110, section 5.5, without its obsolete bytes beyond ASCII)."""
    return value == value.strip() and all(" " <= c <= "~" or c == "\t" for c in value)


def is_header_name(value: str) -> bool:
    """Whether a header can have this name: a token of RFC 9110, section 5.6.2."""
    return _HEADER_NAME.fullmatch(value) is not None


def _must_be(
    holds: Callable[[str], bool], rule: LiteralString, wanted: LiteralString
) -> pydantic.AfterValidator:
    def checked(value: str) -> str:
        if not holds(value):
            raise PydanticCustomError(rule, wanted)
        return value

    return pydantic.AfterValidator(checked)


def _bare_base64(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    trimmed = value.strip()
    if trimmed[:5].lower() == "data:":
        raise PydanticCustomError("data_url", "must be base64 without a data-URL prefix")
    return trimmed


def _streamed_base64(value: Any, validate_text: pydantic.ValidatorFunctionWrapHandler) -> Any:
    if not isinstance(value, Base64Stream):
        return validate_text(value)
    if value.size == 0:
        raise PydanticCustomError(
            "too_short", "must not be empty: {name} has no bytes", {"name": value.name}
        )
    if value.chars > MAX_IMAGE_BASE64_CHARS:
        raise PydanticCustomError(
            "too_long",
            "must have at most {limit} characters: {name} has {size} bytes and may have "
            "{most}. `palprep fix` makes it fit",
            {
                "limit": f"{MAX_IMAGE_BASE64_CHARS:,}",
                "name": value.name,
                "size": f"{value.size:,}",
                "most": f"{MAX_IMAGE_BYTES:,}",
            },
        )
    return value


def _link(value: str) -> str:
    if is_link(value):
        return value
    if is_address("".join(value.split())):
        raise PydanticCustomError("url_space", "must hold no white space: write a space as %20")
    raise PydanticCustomError(
        "url", "must be a link that starts with https:// or http://, to a host"
    )


_LINK = pydantic.AfterValidator(_link)
_URI = pydantic.Field(json_schema_extra={"format": "uri"})
Link = Annotated[str, _LINK, _URI]
ShortLink = Annotated[str, MaxLen(2048), _LINK, _URI]
VoiceName = Annotated[str, MinLen(1), MaxLen(255)]
VoiceDescription = Annotated[str, MaxLen(1000)]
HeaderName = Annotated[str, _must_be(is_header_name, "header_name", "must be the name of a header")]
HeaderValue = Annotated[
    str,
    _must_be(
        is_header_value,
        "header_value",
        "must be printable ASCII without white space at its ends: a header",
    ),
]
HttpMethod = Annotated[str, _must_be(is_header_name, "method", "must be a method of HTTP: a word")]
Tag = Annotated[str, MaxLen(64)]
Tags = Annotated[Sequence[Tag], MaxLen(50)]
ToolName = Annotated[str, pydantic.Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
ImageBase64 = Annotated[
    str,
    MinLen(1),
    MaxLen(MAX_IMAGE_BASE64_CHARS),
    pydantic.BeforeValidator(_bare_base64),
    pydantic.WrapValidator(_streamed_base64),
    pydantic.Field(json_schema_extra={"contentEncoding": "base64"}),
]
"""White space at the ends of a text is removed before its characters are counted. A
:class:`~palprep.api.bodies.Base64Stream` stays as it is."""

_CLOSED = pydantic.ConfigDict(extra="forbid", strict=True)


@pydantic.with_config(_CLOSED)
class Auth(TypedDict):
    """How an outbound tool request identifies itself. Five types exist; the specification
    names ``none`` and does not say which members belong to which type."""

    type: str
    token: NotRequired[HeaderValue]
    username: NotRequired[str]
    password: NotRequired[str]
    name: NotRequired[str]
    value: NotRequired[str]
    location: NotRequired[str]
    secret: NotRequired[str]
    token_url: NotRequired[str]
    client_id: NotRequired[str]
    client_secret: NotRequired[str]
    scope: NotRequired[str]


@pydantic.with_config(_CLOSED)
class ApiDelivery(TypedDict):
    """An outbound request to the caller's own server. ``url``, ``query_params`` and
    ``body_template`` may hold ``{placeholder}`` marks. The unit and the bounds of
    ``timeout`` are not specified."""

    url: str
    method: NotRequired[HttpMethod]
    timeout: NotRequired[int]
    headers: NotRequired[Mapping[HeaderName, HeaderValue]]
    auth: NotRequired[Auth]
    body_template: NotRequired[Mapping[str, Any]]
    query_params: NotRequired[Mapping[str, str]]
    content_type: NotRequired[HeaderValue]


@pydantic.with_config(_CLOSED)
class Delivery(TypedDict):
    """Where a tool call goes: to the caller's frontend (``app_message``, the default) or to
    a server (``api``), never both."""

    app_message: NotRequired[bool]
    api: NotRequired[ApiDelivery | None]


@pydantic.with_config(_CLOSED)
class SkillEntry(TypedDict):
    """One skill with its configuration; skills without any leave it out."""

    config: NotRequired[Mapping[str, Any]]


@pydantic.with_config(_CLOSED)
class NoConfig(TypedDict):
    """The configuration of a skill that takes none."""


@pydantic.with_config(_CLOSED)
class PresentationConfig(TypedDict):
    """The configuration of the skill that shows documents."""

    document_ids: Sequence[str]
    slides_trigger: NotRequired[str]


PatchOperation = TypedDict(
    "PatchOperation",
    {
        "op": Literal["add", "remove", "replace", "move", "copy", "test"],
        "path": str,
        "value": NotRequired[Any],
        "from": NotRequired[str],
    },
)
"""One operation of RFC 6902. Only ``move`` and ``copy`` take ``from``."""
PatchOperation.__pydantic_config__ = pydantic.ConfigDict(  # type: ignore[attr-defined]
    **_CLOSED,
    json_schema_extra={
        "if": {"properties": {"op": {"enum": ["add", "replace", "test"]}}},
        "then": {"required": ["value"]},
        "else": {
            "if": {"properties": {"op": {"enum": ["move", "copy"]}}},
            "then": {"required": ["from"]},
        },
    },
)
