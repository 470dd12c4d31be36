"""What a client may be given besides the service and the key, as type checkers see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from typing import TypedDict

import httpx

from palprep.api.wire import AccountSettings
from palprep.client.senders import ReplyHook, RequestHook


class SharedOptions(TypedDict, total=False):
    """The options of both clients. :class:`~palprep.Client` says what each means."""

    timeout: float | httpx.Timeout | None
    retries: int
    settings: AccountSettings | None
    proxy: str | httpx.Proxy | None
    trust_env: bool
    on_request: Iterable[RequestHook]
    on_reply: Iterable[ReplyHook]
    clock: Callable[[], float] | None
    random: Callable[[], float] | None
    now: Callable[[], datetime] | None


class ClientOptions(SharedOptions, total=False):
    """The options of :class:`~palprep.Client`."""

    transport: httpx.BaseTransport | None
    sleep: Callable[[float], object] | None


class AsyncClientOptions(SharedOptions, total=False):
    """The options of :class:`~palprep.AsyncClient`."""

    transport: httpx.AsyncBaseTransport | None
    sleep: Callable[[float], Awaitable[object]] | None
