"""What a client may be given besides the service and the key, as type checkers see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypedDict

import httpx

from palprep.api.wire import AccountSettings, Unset
from palprep.client.hooks import FailureHook, ReplyHook, RequestHook, RetryHook
from palprep.client.library import AsyncHttpClient, HttpClient


class SharedOptions(TypedDict, total=False):
    """The options of both clients. :class:`~palprep.Client` says what each means."""

    timeout: float | httpx.Timeout | Unset | None
    deadline: float | None
    retries: int
    settings: AccountSettings | None
    strict: bool
    proxy: str | httpx.Proxy | None
    trust_env: bool
    on_request: Iterable[RequestHook]
    on_reply: Iterable[ReplyHook]
    on_failure: Iterable[FailureHook]
    on_retry: Iterable[RetryHook]
    clock: Callable[[], float] | None
    random: Callable[[], float] | None
    now: Callable[[], datetime] | None


class ClientOptions(SharedOptions, total=False):
    """The options of :class:`~palprep.Client`."""

    http_client: HttpClient | None
    transport: httpx.BaseTransport | None
    sleep: Callable[[float], object] | None


class AsyncClientOptions(SharedOptions, total=False):
    """The options of :class:`~palprep.AsyncClient`."""

    http_client: AsyncHttpClient | None
    transport: httpx.AsyncBaseTransport | None
    sleep: Callable[[float], Awaitable[object]] | None


class PlainOptions(TypedDict, total=False):
    """The options of a request that no method makes: :meth:`~palprep.Client.request`."""

    query: Mapping[str, Any] | None
    headers: Mapping[str, str] | None
    body: Any
    timeout: float | Unset | None
    deadline: float | Unset | None
