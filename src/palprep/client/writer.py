"""Between calls and the HTTP library: requests written, with the service's address and the key to
it, answers and errors read.

The library is httpx or httpx2, whichever made the client through which requests go. httpx2
continues httpx under another name, with the same classes: here it is typed as httpx. A request, its
body and its errors must be of the same library as the client that sends it.
"""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from palprep._version import __version__
from palprep.api import (
    UNSET,
    Call,
    StreamedBody,
    Unset,
    host_of,
    is_header_value,
    is_https,
    is_link,
    is_loopback,
)
from palprep.errors import UsageError

log = logging.getLogger("palprep.client")

Timeout: TypeAlias = float | httpx.Timeout | Unset | None
"""Seconds for each connect, read and write; None for no end."""

H = TypeVar("H")

_KNOWN = frozenset({"httpx", "httpx2"})


class HttpClient(Protocol):
    """An ``httpx.Client`` or an ``httpx2.Client``, which need not be installed."""

    @property
    def is_closed(self) -> bool: ...
    def send(self, request: Any, *, stream: bool = ..., follow_redirects: Any = ...) -> Any: ...
    def close(self) -> None: ...


class AsyncHttpClient(Protocol):
    """An ``httpx.AsyncClient`` or an ``httpx2.AsyncClient``."""

    @property
    def is_closed(self) -> bool: ...
    async def send(
        self, request: Any, *, stream: bool = ..., follow_redirects: Any = ...
    ) -> Any: ...
    async def aclose(self) -> None: ...


def checked_key(api_key: str) -> SecretStr:
    """The key. Raises :class:`~palprep.errors.UsageError` for one that no header can carry."""
    if not api_key or not is_header_value(api_key):
        raise UsageError(
            "The API key is empty or holds characters that no HTTP header takes. Check "
            "api_key, or PALPREP_API_KEY."
        )
    return SecretStr(api_key)


def checked_base_url(url: str) -> str:
    """The address before every path, without a slash at its end. Raises
    :class:`~palprep.errors.UsageError` for what is no such address. Warns in the log of a key that
    would travel unencrypted."""
    url = url or ""  # As os.environ.get() gives None for what is not set.
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    more = parts.query or parts.fragment or parts.username is not None
    if more or not is_link(url):
        # A name and a password in it are somebody's secret.
        shown = re.sub(r"^([a-z]+://)?.*@", r"\1***@", url)
        raise UsageError(
            f"The base URL {shown!r} is not of the form "
            "https://HOST[:PORT][/PATH]. Check base_url, or PALPREP_BASE_URL."
        )
    trimmed = url.rstrip("/")
    if trimmed.endswith("/v2"):
        raise UsageError("Leave /v2 out of the base URL: every path starts with it already.")
    if not is_https(trimmed, loopback=True):
        log.warning("The API key travels unencrypted to %s; use https.", parts.hostname)
    return trimmed


def limits_of(timeout: float | httpx.Timeout | None) -> Mapping[str, float | None]:
    """Seconds for connect, read, write and pool. A Timeout may be of either library."""
    if timeout is None or isinstance(timeout, int | float):
        timeout = httpx.Timeout(timeout)
    return timeout.as_dict()


class _AsyncBody:
    """A body that an async client sends while it is made."""

    def __init__(self, body: StreamedBody) -> None:
        self._body = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._body)


def library_of(http: object, kind: str) -> Any:
    """The module httpx or httpx2, whichever ``http`` is a "Client" or an "AsyncClient" of, as
    ``kind`` says. Raises :class:`~palprep.errors.UsageError` for anything else."""
    for base in type(http).__mro__:
        name = base.__module__.partition(".")[0]
        if name in _KNOWN:
            library = importlib.import_module(name)
            if isinstance(http, getattr(library, kind)):
                return library
    raise UsageError(
        f"http_client takes an httpx.{kind} or an httpx2.{kind}, not {type(http).__name__}."
    )


def own_http_client(kind: Callable[..., H], address: str, *, trust_env: bool, **options: Any) -> H:
    """A client of httpx with these options, for the service at an address. Raises
    :class:`~palprep.errors.UsageError` for a proxy, or certificates, that cannot be used."""
    # A proxy of the environment must not stand between loopback and loopback.
    near = address.lower().startswith("http:") and is_loopback(host_of(address))
    try:
        return kind(trust_env=trust_env and not near, **options)
    except (ImportError, ValueError, OSError) as error:
        raise UsageError(f"This proxy, or these certificates, cannot be used: {error}") from None


@dataclass(frozen=True)
class RequestWriter:
    """Base URL, key, timeout in seconds by what is waited for, headers and query of every request.

    ``library`` is the module httpx or httpx2. A streamed body is sent by an async client where it
    is ``awaited``.
    """

    library: Any
    base_url: str
    key: SecretStr
    timeout: Mapping[str, float | None]
    headers: dict[str, str]
    query: dict[str, str]
    awaited: bool

    def write(self, call: Call[Any], within: float | None = None) -> httpx.Request:
        """The request for ``call``, which has ``within`` seconds left. The key is in no other
        object that outlives it. Raises :class:`~palprep.errors.UsageError` when the path makes no
        URL, and :class:`~palprep.errors.InvalidRequest` for a body that cannot be sent."""
        headers = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "user-agent": f"palprep/{__version__}",
            **self.headers,
            **call.headers,
            "x-api-key": self.key.get_secret_value(),
        }
        body = call.content()
        if body is not None:
            headers["content-type"] = "application/json"
            headers["content-length"] = str(len(body))
        limits = self.timeout if call.timeout is UNSET else limits_of(call.timeout)
        if within is not None:
            limits = {n: within if s is None else min(s, within) for n, s in limits.items()}
        content = _AsyncBody(body) if isinstance(body, StreamedBody) and self.awaited else body
        try:
            request: httpx.Request = self.library.Request(
                call.method,
                self.base_url + call.path,
                params=[*(self.query | dict(call.query)).items()] or None,
                headers=headers,
                content=content,
                extensions={"timeout": limits},
            )
            request.url.host  # noqa: B018 -- decodes a name that the library may refuse.
        except (self.library.InvalidURL, UnicodeError) as error:
            raise UsageError(
                f"{call.method} {call.endpoint.path}: no URL can be made of this ({error})."
            ) from None
        return request
