"""Between calls and the HTTP library: requests written, answers and errors read.

The library is httpx or httpx2, whichever made the client through which requests go. httpx2
continues httpx under another name, with the same classes: here it is typed as httpx. A request, its
body and its errors must be of the same library as the client that sends it.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import httpx

from palprep._version import __version__
from palprep.api import UNSET, Call, StreamedBody, Unset, request_id
from palprep.client.account import Secret
from palprep.client.steps import Answer, NoAnswer
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


class _Body:
    """A body that is made while it is sent."""

    def __init__(self, stream: StreamedBody) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)


@dataclass(frozen=True)
class Library:
    """What of a library the clients use."""

    request: type[httpx.Request]
    url: type[httpx.URL]
    body: Callable[[StreamedBody], httpx.SyncByteStream | httpx.AsyncByteStream]
    timeout: type[httpx.Timeout]
    error: type[httpx.HTTPError]
    """The base of its errors."""
    timed_out: type[httpx.TimeoutException]
    invalid_url: type[httpx.InvalidURL]
    unsent: tuple[type[Exception], ...]

    @classmethod
    def of(cls, http: object, kind: Literal["Client", "AsyncClient"]) -> Library:
        """The library of ``http``, which must be its ``kind``.

        Raises :class:`~palprep.errors.UsageError` for anything else.
        """
        for base in type(http).__mro__:
            name = base.__module__.partition(".")[0]
            if name in _KNOWN:
                module: Any = importlib.import_module(name)
                if isinstance(http, getattr(module, kind)):
                    return cls(
                        request=module.Request,
                        url=module.URL,
                        body=type(
                            "Body", (_Body, module.SyncByteStream, module.AsyncByteStream), {}
                        ),
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
        content = call.content()
        stream = None
        if content is not None:
            headers["content-type"] = "application/json"
            if not isinstance(content, bytes):
                stream = self.library.body(content)
                headers["content-length"] = str(len(content))
                # Added to every request but those that bring a stream of their own.
                headers["host"] = self.library.url(self.base_url).netloc.decode("ascii")
        try:
            return self.library.request(
                call.method,
                self.base_url + call.path,
                params=list(call.query) or None,
                headers=headers,
                content=content if isinstance(content, bytes) else None,
                stream=stream,
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
