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
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, TypeAlias
from urllib.parse import urlsplit

import httpx

from palprep._version import __version__
from palprep.api import UNSET, Call, StreamedBody, Unset, is_header_value, is_https, request_id
from palprep.client.answers import Answer, NoAnswer
from palprep.errors import UsageError

log = logging.getLogger("palprep.client")

Timeout: TypeAlias = float | httpx.Timeout | Unset | None
"""Seconds for each connect, read and write; None for no end."""

_KNOWN = frozenset({"httpx", "httpx2"})

_UNSENT = (
    "ConnectError",
    "ConnectTimeout",
    "PoolTimeout",
    "ProxyError",
    "UnsupportedProtocol",
    "LocalProtocolError",
)
"""Raised before the request has left whole, so that it was certainly not carried out."""


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


class Secret:
    """Holds a secret. Shown it is ``***``; only :meth:`reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the one place that sends it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('***')"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled; read it from its source where it is needed")


def checked_key(api_key: str) -> Secret:
    """The key. Raises :class:`~palprep.errors.UsageError` for one that no header can carry."""
    if not api_key or not is_header_value(api_key):
        raise UsageError(
            "The API key is empty or holds characters that no HTTP header takes. Check "
            "api_key, or PALPREP_API_KEY."
        )
    return Secret(api_key)


def checked_base_url(url: str) -> str:
    """The address before every path, without a slash at its end.

    Raises :class:`~palprep.errors.UsageError` for what is no such address. Warns in the log of a
    key that would travel unencrypted.
    """
    try:
        parts = urlsplit(url)
        # A port that is no port is found when it is asked for.
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username:
        raise UsageError(
            f"The base URL {_without_user(url)!r} is not of the form https://HOST[:PORT][/PATH]. "
            "Check base_url, or PALPREP_BASE_URL."
        )
    trimmed = url.rstrip("/")
    if trimmed.endswith("/v2"):
        raise UsageError("Leave /v2 out of the base URL: every path starts with it already.")
    if not is_https(trimmed, loopback=True):
        log.warning("The API key travels unencrypted to %s; use https.", parts.hostname)
    return trimmed


def _without_user(url: str) -> str:
    """The address to show: a name and a password in it are somebody's secret."""
    return re.sub(r"^([a-z]+://)?.*@", r"\1***@", url)


class _AsyncBody:
    """A body that an async client sends while it is made."""

    def __init__(self, body: StreamedBody) -> None:
        self._body = body

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._body)


@dataclass(frozen=True)
class Library:
    """What of a library the clients use."""

    request: type[httpx.Request]
    streamed: Callable[[StreamedBody], Iterable[bytes] | AsyncIterable[bytes]]
    """A body that is made while it is sent, as a client of this kind takes it."""
    timeout: type[httpx.Timeout]
    error: type[httpx.HTTPError]
    """The base of its errors."""
    timed_out: type[httpx.TimeoutException]
    invalid_url: type[httpx.InvalidURL]
    unsent: tuple[type[Exception], ...]

    @classmethod
    def of(cls, http: object, kind: str) -> Library:
        """The library of ``http``, which must be of the ``kind`` "Client" or
        "AsyncClient".

        Raises :class:`~palprep.errors.UsageError` for anything else.
        """
        for base in type(http).__mro__:
            name = base.__module__.partition(".")[0]
            if name in _KNOWN:
                module: Any = importlib.import_module(name)
                if isinstance(http, getattr(module, kind)):
                    return cls(
                        request=module.Request,
                        streamed=_AsyncBody if kind == "AsyncClient" else lambda body: body,
                        timeout=module.Timeout,
                        error=module.HTTPError,
                        timed_out=module.TimeoutException,
                        invalid_url=module.InvalidURL,
                        unsent=tuple(getattr(module, name) for name in _UNSENT),
                    )
        raise UsageError(
            f"http_client takes an httpx.{kind} or an httpx2.{kind}, not {type(http).__name__}."
        )

    def limits(self, timeout: float | httpx.Timeout | None) -> Mapping[str, float | None]:
        """Seconds for connect, read, write and pool. A Timeout may be of either library."""
        found = (
            self.timeout(timeout)
            if timeout is None or isinstance(timeout, int | float)
            else timeout
        )
        return found.as_dict()


@dataclass(frozen=True)
class RequestWriter:
    """Base URL, key, timeout in seconds by what is waited for, and headers of every request."""

    library: Library
    base_url: str
    key: Secret
    timeout: Mapping[str, float | None]
    headers: Mapping[str, str] = field(default_factory=dict)

    def write(self, call: Call[Any], within: float | None = None) -> httpx.Request:
        """The request for ``call``, which has ``within`` seconds left. The key is in no other
        object that outlives it.

        Raises :class:`~palprep.errors.UsageError` when the path makes no URL, and
        :class:`~palprep.errors.InvalidRequest` for a body that cannot be sent.
        """
        headers = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "user-agent": f"palprep/{__version__}",
            **self.headers,
            **call.headers,
            "x-api-key": self.key.reveal(),
        }
        body = call.content()
        content: bytes | Iterable[bytes] | AsyncIterable[bytes] | None = None
        if body is not None:
            headers["content-type"] = "application/json"
            headers["content-length"] = str(len(body))
            content = body if isinstance(body, bytes) else self.library.streamed(body)
        try:
            return self.library.request(
                call.method,
                self.base_url + call.path,
                params=list(call.query) or None,
                headers=headers,
                content=content,
                extensions={"timeout": self._limits(call, within)},
            )
        except self.library.invalid_url as error:
            raise UsageError(
                f"{call.method} {call.endpoint.path}: no URL can be made of this ({error})."
            ) from None

    def _limits(self, call: Call[Any], within: float | None) -> Mapping[str, float | None]:
        limits = self.timeout if call.timeout is UNSET else self.library.limits(call.timeout)
        if within is None:
            return limits
        return {name: within if s is None else min(s, within) for name, s in limits.items()}

    def answer(
        self, call: Call[Any], response: httpx.Response, content: bytes, elapsed: float
    ) -> Answer:
        """The answer in ``response``, which took ``elapsed`` seconds."""
        headers = {name.lower(): value for name, value in response.headers.items()}
        log.info("%s %s: %d in %.3f s", call.method, call.path, response.status_code, elapsed)
        log.debug("%s %s: request %s", call.method, call.path, request_id(headers))
        return Answer(response.status_code, headers, content, elapsed)

    def no_answer(self, call: Call[Any], error: Exception) -> NoAnswer:
        """What an exception of the library says about the request."""
        detail = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        log.info("%s %s: no answer (%s)", call.method, call.path, detail)
        return NoAnswer(
            sent=not isinstance(error, self.library.unsent),
            timed_out=isinstance(error, self.library.timed_out),
            detail=detail,
        )
