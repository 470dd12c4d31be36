"""The two clients. They share their resources and decisions; only their senders differ."""

from __future__ import annotations

import os
import random as randomness
import time
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, Unpack

import anyio
import httpx

from palprep.api.call import Call, Verb, plain_call
from palprep.api.wire import UNSET, AccountSettings, Reply, Unset, Unspecified
from palprep.client import resources
from palprep.client.account import checked_base_url, checked_key, identity, log_as_asked
from palprep.client.hooks import FailureHook, Hooks, ReplyHook, RequestHook, RetryHook
from palprep.client.library import AsyncHttpClient, HttpClient, library_of
from palprep.client.methods import S
from palprep.client.options import AsyncClientOptions, ClientOptions, PlainOptions
from palprep.client.policy import Backoff, Context, Limiters
from palprep.client.senders import AsyncSender, SyncSender
from palprep.client.steps import RawResponse
from palprep.client.writer import RequestWriter
from palprep.errors import UsageError

R = TypeVar("R", bound=Reply)

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
        deadline: float | Unset | None = UNSET,
        retries: int | Unset = UNSET,
    ) -> Self:
        """The same client with another timeout, total deadline or number of retries.

        Both share connections, rate limits and turns, and closing one closes both.
        """
        sender = self._sender
        writer, context = sender.writer, sender.context
        if timeout is not UNSET:
            writer = replace(writer, timeout=writer.library.timeout(timeout))
        if deadline is not UNSET:
            context = replace(context, deadline=deadline)
        if retries is not UNSET:
            context = replace(context, backoff=replace(context.backoff, retries=retries))
        sender = replace(sender, writer=writer, context=context)
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

    ``timeout`` is in seconds, for each connect, read and write. ``deadline`` is in seconds for a
    whole call, with its other attempts. ``retries`` limits repeated attempts, which are made only
    where repeating is safe. ``strict`` makes a reply that is not as specified an error, which is
    otherwise read leniently.

    ``http_client`` is a client of httpx or of httpx2 with connections, certificates, proxies,
    limits, headers and authentication of your own, and its timeout where none is given here; it
    stays yours to close. Without it ``transport``, ``proxy`` and ``trust_env`` are httpx's.

    ``on_request`` is called with the :class:`Call` before each attempt, ``on_reply`` with it and
    the :class:`Answer`, ``on_failure`` with it and the :class:`NoAnswer`, ``on_retry`` with it
    and the :class:`Retry` before another attempt is waited for. None sees the key.

    With PALPREP_LOG (``info``, ``debug``) in the environment the log is shown on standard error,
    unless ``trust_env`` is false. ``clock``, ``sleep``, ``random`` and ``now`` replace the
    machine's. Use the client as a context manager, or close it.

    Raises :class:`~palprep.errors.UsageError` for an unusable key, base URL or hook.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        timeout: float | httpx.Timeout | Unset | None = UNSET,
        deadline: float | None = None,
        retries: int = DEFAULT_RETRIES,
        settings: AccountSettings | None = None,
        strict: bool = False,
        http_client: HttpClient | None = None,
        transport: httpx.BaseTransport | None = None,
        proxy: str | httpx.Proxy | None = None,
        trust_env: bool = True,
        on_request: Iterable[RequestHook] = (),
        on_reply: Iterable[ReplyHook] = (),
        on_failure: Iterable[FailureHook] = (),
        on_retry: Iterable[RetryHook] = (),
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], object] | None = None,
        random: Callable[[], float] | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        if trust_env:
            log_as_asked(os.environ)
        hooks = Hooks.of(on_request, on_reply, on_failure, on_retry, awaited=False)
        _either(http_client, transport, proxy)
        http = http_client or httpx.Client(transport=transport, proxy=proxy, trust_env=trust_env)
        writer = _writer(http, "Client", api_key, base_url, timeout, given=http_client is not None)
        context = Context(
            settings or AccountSettings(),
            Backoff(retries),
            Limiters(),
            clock or time.monotonic,
            now or _utc_now,
            random or randomness.random,
            deadline,
            strict,
        )
        super().__init__(
            SyncSender(http, writer, context, sleep or time.sleep, hooks, own=http_client is None)
        )

    @classmethod
    def from_env(
        cls, environ: Mapping[str, str] | None = None, **options: Unpack[ClientOptions]
    ) -> Self:
        """A client for PALPREP_BASE_URL with the key in PALPREP_API_KEY.

        ``environ`` replaces the process's environment; ``options`` are the constructor's.
        Raises :class:`~palprep.errors.UsageError` when one of the two is not set.
        """
        return cls(**identity(os.environ if environ is None else environ), **options)

    def send(self, call: Call[R]) -> R:
        """Send a call that was built from :mod:`palprep.api.calls`."""
        return self.send_raw(call).record

    def send_raw(self, call: Call[R]) -> RawResponse[R]:
        """Send a call and return the reply with status, headers and body."""
        return self._sender.send(call)

    def request(
        self, method: Verb, path: str, **options: Unpack[PlainOptions]
    ) -> RawResponse[Unspecified]:
        """Ask for what has no method here yet: ``client.request("GET", "/v2/faces")``.

        ``options`` are ``query``, ``headers``, ``body`` (JSON), ``timeout`` and ``deadline``. GET,
        PUT and DELETE are repeated where that is needed, POST and PATCH are not. Returns the
        reply with its ``status``, ``headers`` and ``json()``. Errors are as for every call.
        """
        return self.send_raw(plain_call(method, path, **options))

    def close(self) -> None:
        """Close all connections, unless they are of a client that was given."""
        if self._sender.own:
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
    """The service for asyncio and trio code; everything else is as in :class:`Client`. Hooks may
    be async functions."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        timeout: float | httpx.Timeout | Unset | None = UNSET,
        deadline: float | None = None,
        retries: int = DEFAULT_RETRIES,
        settings: AccountSettings | None = None,
        strict: bool = False,
        http_client: AsyncHttpClient | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | httpx.Proxy | None = None,
        trust_env: bool = True,
        on_request: Iterable[RequestHook] = (),
        on_reply: Iterable[ReplyHook] = (),
        on_failure: Iterable[FailureHook] = (),
        on_retry: Iterable[RetryHook] = (),
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[object]] | None = None,
        random: Callable[[], float] | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        if trust_env:
            log_as_asked(os.environ)
        hooks = Hooks.of(on_request, on_reply, on_failure, on_retry, awaited=True)
        _either(http_client, transport, proxy)
        http = http_client or httpx.AsyncClient(
            transport=transport, proxy=proxy, trust_env=trust_env
        )
        writer = _writer(
            http, "AsyncClient", api_key, base_url, timeout, given=http_client is not None
        )
        context = Context(
            settings or AccountSettings(),
            Backoff(retries),
            Limiters(),
            clock or time.monotonic,
            now or _utc_now,
            random or randomness.random,
            deadline,
            strict,
        )
        super().__init__(
            AsyncSender(http, writer, context, sleep or anyio.sleep, hooks, own=http_client is None)
        )

    @classmethod
    def from_env(
        cls, environ: Mapping[str, str] | None = None, **options: Unpack[AsyncClientOptions]
    ) -> Self:
        """A client for PALPREP_BASE_URL with the key in PALPREP_API_KEY, as :class:`Client` makes
        one.
        """
        return cls(**identity(os.environ if environ is None else environ), **options)

    async def send(self, call: Call[R]) -> R:
        """Send a call that was built from :mod:`palprep.api.calls`."""
        return (await self.send_raw(call)).record

    async def send_raw(self, call: Call[R]) -> RawResponse[R]:
        """Send a call and return the reply with status, headers and body."""
        return await self._sender.send(call)

    async def request(
        self, method: Verb, path: str, **options: Unpack[PlainOptions]
    ) -> RawResponse[Unspecified]:
        """Ask for what has no method here yet; see :meth:`Client.request`."""
        return await self.send_raw(plain_call(method, path, **options))

    async def close(self) -> None:
        """Close all connections, unless they are of a client that was given."""
        if self._sender.own:
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


def _either(http_client: object, transport: object, proxy: object) -> None:
    if http_client is not None and (transport is not None or proxy is not None):
        raise UsageError("Give transport and proxy to the client that you give as http_client.")


_DEFAULT_HEADERS = frozenset({"accept", "accept-encoding", "connection", "user-agent"})
"""Of every HTTP client, also where its user has not asked for them."""


def _writer(
    http: Any,
    kind: str,
    api_key: str,
    base_url: str,
    timeout: float | httpx.Timeout | Unset | None,
    *,
    given: bool,
) -> RequestWriter:
    library = library_of(http, kind)
    if timeout is UNSET:
        timeout = http.timeout if given else DEFAULT_TIMEOUT
    return RequestWriter(
        library,
        checked_base_url(base_url),
        checked_key(api_key),
        library.timeout(timeout),
        {n: v for n, v in http.headers.items() if n.lower() not in _DEFAULT_HEADERS},
    )
