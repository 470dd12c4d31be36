"""httpx or httpx2: the one that made the client through which requests go.

httpx2 continues httpx under another name, with the same classes. A request, its body and its
errors must be of the same library as the client that sends it.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from palprep.api.stream import StreamedBody
from palprep.errors import UsageError

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


@dataclass(frozen=True)
class Library:
    """What of a library the clients use."""

    module: Any
    error: type[Exception]
    """The base of its errors."""
    unsent: tuple[type[Exception], ...]
    body: type[Any]
    """Made of a :class:`~palprep.api.stream.StreamedBody`: a body that is made while it is sent."""

    def timeout(self, given: Any) -> dict[str, float | None]:
        """Seconds for connect, read, write and pool, from a number, None or a Timeout."""
        as_dict = getattr(given, "as_dict", None) or self.module.Timeout(given).as_dict
        found: dict[str, float | None] = as_dict()
        return found


def library_of(http: object, kind: str) -> Library:
    """The library of ``http``, which must be its ``kind``: ``Client`` or ``AsyncClient``.

    Raises :class:`~palprep.errors.UsageError` for anything else.
    """
    for base in type(http).__mro__:
        name = base.__module__.partition(".")[0]
        if name in _KNOWN:
            module = importlib.import_module(name)
            if isinstance(http, getattr(module, kind)):
                return _library(module)
    raise UsageError(
        f"http_client takes an httpx.{kind} or an httpx2.{kind}, not {type(http).__name__}."
    )


def _library(module: Any) -> Library:
    return Library(
        module=module,
        error=module.HTTPError,
        unsent=tuple(getattr(module, name) for name in _UNSENT),
        body=type("Body", (_Body, module.SyncByteStream, module.AsyncByteStream), {}),
    )


class _Body:
    def __init__(self, stream: StreamedBody) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)
