"""The two clients. They share their resources and decisions; only their senders differ."""

from __future__ import annotations

import logging
import os
import random as randomness
import time
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Generic, Self, TypedDict, TypeVar, Unpack
from urllib.parse import urlsplit

import anyio
import httpx

from palprep.api.call import Call
from palprep.api.fields import is_https
from palprep.api.wire import UNSET, AccountSettings, Reply, Unset
from palprep.client import resources
from palprep.client.methods import S
from palprep.client.options import AsyncClientOptions, ClientOptions
from palprep.client.policy import Backoff, Context, Limiters
from palprep.client.secret import Secret
from palprep.client.senders import AsyncSender, ReplyHook, RequestHook, RequestWriter, SyncSender
from palprep.client.steps import RawResponse
from palprep.errors import UsageError

R = TypeVar("R", bound=Reply)
log = logging.getLogger("palprep.client")

DEFAULT_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
"""Seconds for each read and write; connecting gives up earlier."""
DEFAULT_RETRIES = 2


def _utc_now() -> datetime:
    return datetime.now(UTC)


class _Resources(Generic[S]):
    """The resources, by the names that both clients share."""

    def __init__(self, sender: S) -> None:
        self._sender: S = sender
        self.faces: resources.Faces[S] = resources.Faces(sender)
        self.voices: resources.Voices[S] = resources.Voices(sender)
        self.replicas: resources.Replicas[S] = resources.Replicas(sender)
        self.tools: resources.Tools[S] = resources.Tools(sender)
        self.pals: resources.Pals[S] = resources.Pals(sender)
        self.deployments: resources.Deployments[S] = resources.Deployments(sender)
        self.videos: resources.Videos[S] = resources.Videos(sender)
        self.documents: resources.Documents[S] = resources.Documents(sender)
        self.pronunciation_dictionaries: resources.PronunciationDictionaries[S] = (
            resources.PronunciationDictionaries(sender)
        )
        self.connectors: resources.Connectors[S] = resources.Connectors(sender)
        self.conversations: resources.Conversations[S] = resources.Conversations(sender)
        self.unspecified: resources.UnspecifiedOperations[S] = resources.UnspecifiedOperations(
            sender
        )

    @property
    def assumed(self) -> resources.UnspecifiedOperations[S]:
        """The former name of ``unspecified``. Deprecated: use ``unspecified``."""
        warnings.warn("client.assumed is now client.unspecified", DeprecationWarning, stacklevel=2)
        return self.unspecified

    @property
    def base_url(self) -> str:
        """The address before every path, without a slash at its end."""
        return self._sender.writer.base_url

    def with_options(
        self,
        *,
        timeout: float | httpx.Timeout | Unset | None = UNSET,
        retries: int | Unset = UNSET,
    ) -> Self:
        """The same client with another timeout or number of retries.

        Both share connections, rate limits and turns, and closing one closes both.
        """
        sender = self._sender
        if timeout is not UNSET:
            sender = replace(sender, writer=replace(sender.writer, timeout=timeout))
        if retries is not UNSET:
            backoff = replace(sender.context.backoff, retries=retries)
            sender = replace(sender, context=replace(sender.context, backoff=backoff))
        copy = object.__new__(type(self))
        _Resources.__init__(copy, sender)
        return copy

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r}, api_key='***')"


class Client(_Resources[SyncSender]):
    """The service for synchronous code. Threads may share a client.

    The endpoints are methods of its resources: ``faces``, ``voices``, ``replicas``, ``tools``,
    ``pals``, ``deployments``, ``videos``, ``documents``, ``pronunciation_dictionaries``,
    ``connectors``, ``conversations``; and of ``unspecified``, for what the specification mentions
    without showing it. ``help(client.voices)`` lists those of one.

    ``timeout`` is in seconds, for each connect, read and write. ``retries`` limits repeated
    attempts, which are made only where repeating is safe. ``transport``, ``proxy`` and
    ``trust_env`` are httpx's. ``on_request`` is called with the :class:`Call` before each
    attempt, ``on_reply`` with it and the :class:`Answer` after it; neither sees the key.
    ``clock``, ``sleep``, ``random`` and ``now`` replace the machine's, in tests. Use the client as
    a context manager, or close it.

    Raises :class:`~palprep.errors.UsageError` for an unusable key or base URL.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        timeout: float | httpx.Timeout | None = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
        settings: AccountSettings | None = None,
        transport: httpx.BaseTransport | None = None,
        proxy: str | httpx.Proxy | None = None,
        trust_env: bool = True,
        on_request: Iterable[RequestHook] = (),
        on_reply: Iterable[ReplyHook] = (),
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], object] | None = None,
        random: Callable[[], float] | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        writer = _writer(api_key, base_url, timeout, on_request, on_reply)
        context = _context(settings, retries, clock, now, random)
        http = httpx.Client(transport=transport, proxy=proxy, trust_env=trust_env)
        super().__init__(SyncSender(http, writer, context, sleep or time.sleep))

    @classmethod
    def from_env(
        cls, environ: Mapping[str, str] | None = None, **options: Unpack[ClientOptions]
    ) -> Self:
        """A client for PALPREP_BASE_URL with the key in PALPREP_API_KEY.

        ``environ`` replaces the process's environment; ``options`` are the constructor's.
        Raises :class:`~palprep.errors.UsageError` when one of the two is not set.
        """
        return cls(**_identity(environ), **options)

    def send(self, call: Call[R]) -> R:
        """Send a call that was built from :mod:`palprep.api.calls`."""
        return self.send_raw(call).record

    def send_raw(self, call: Call[R]) -> RawResponse[R]:
        """Send a call and return the reply with status, headers and body."""
        return self._sender.send(call)

    def close(self) -> None:
        """Close all connections."""
        self._sender.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClient(_Resources[AsyncSender]):
    """The service for asyncio and trio code; everything else is as in :class:`Client`."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        timeout: float | httpx.Timeout | None = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
        settings: AccountSettings | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | httpx.Proxy | None = None,
        trust_env: bool = True,
        on_request: Iterable[RequestHook] = (),
        on_reply: Iterable[ReplyHook] = (),
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[object]] | None = None,
        random: Callable[[], float] | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        writer = _writer(api_key, base_url, timeout, on_request, on_reply)
        context = _context(settings, retries, clock, now, random)
        http = httpx.AsyncClient(transport=transport, proxy=proxy, trust_env=trust_env)
        super().__init__(AsyncSender(http, writer, context, sleep or anyio.sleep))

    @classmethod
    def from_env(
        cls, environ: Mapping[str, str] | None = None, **options: Unpack[AsyncClientOptions]
    ) -> Self:
        """A client for PALPREP_BASE_URL with the key in PALPREP_API_KEY, as :class:`Client` makes
        one.
        """
        return cls(**_identity(environ), **options)

    async def send(self, call: Call[R]) -> R:
        """Send a call that was built from :mod:`palprep.api.calls`."""
        return (await self.send_raw(call)).record

    async def send_raw(self, call: Call[R]) -> RawResponse[R]:
        """Send a call and return the reply with status, headers and body."""
        return await self._sender.send(call)

    async def close(self) -> None:
        """Close all connections."""
        await self._sender.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _writer(
    api_key: str,
    base_url: str,
    timeout: float | httpx.Timeout | None,
    on_request: Iterable[RequestHook],
    on_reply: Iterable[ReplyHook],
) -> RequestWriter:
    if not (api_key.isascii() and api_key.isprintable() and api_key == api_key.strip() != ""):
        raise UsageError(
            "The API key is empty or holds characters that no HTTP header takes. Check "
            "api_key, or PALPREP_API_KEY."
        )
    return RequestWriter(
        _base(base_url), Secret(api_key), timeout, tuple(on_request), tuple(on_reply)
    )


def _base(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username:
        raise UsageError(
            f"The base URL {url!r} is not of the form https://HOST[:PORT][/PATH]. Check "
            "base_url, or PALPREP_BASE_URL."
        )
    trimmed = url.rstrip("/")
    if trimmed.endswith("/v2"):
        raise UsageError("Leave /v2 out of the base URL: every path starts with it already.")
    if not is_https(trimmed, loopback=True):
        log.warning("The API key travels unencrypted to %s; use https.", parts.hostname)
    return trimmed


class _Identity(TypedDict):
    api_key: str
    base_url: str


def _identity(environ: Mapping[str, str] | None) -> _Identity:
    found = os.environ if environ is None else environ
    return {
        "api_key": _needed(found, "PALPREP_API_KEY"),
        "base_url": _needed(found, "PALPREP_BASE_URL"),
    }


def _context(
    settings: AccountSettings | None,
    retries: int,
    clock: Callable[[], float] | None,
    now: Callable[[], datetime] | None,
    random: Callable[[], float] | None,
) -> Context:
    return Context(
        settings or AccountSettings(),
        Backoff(retries),
        Limiters(),
        clock or time.monotonic,
        now or _utc_now,
        random or randomness.random,
    )


def _needed(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "").strip()
    if not value:
        raise UsageError(
            f"{name} is not set. Set PALPREP_BASE_URL and PALPREP_API_KEY, or run "
            "`palprep sandbox` and use the URL and the key that it prints."
        )
    return value
