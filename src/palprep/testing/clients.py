"""Clients whose time is a sandbox's: waiting advances the clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import anyio.to_thread
import httpx

from palprep.client import AsyncClient, Client
from palprep.sandbox import Sandbox


def sync_client(sandbox: Sandbox, options: Mapping[str, Any]) -> Client:
    """A client of ``sandbox``; ``options`` replace its arguments."""
    return Client(**{**_shared(sandbox), "sleep": sandbox.advance, **options})


def async_client(sandbox: Sandbox, options: Mapping[str, Any]) -> AsyncClient:
    """The same for asyncio and trio. Each request has a connection of its own."""

    async def sleep(seconds: float) -> None:
        # In a thread: what falls due may call back to this event loop.
        await anyio.to_thread.run_sync(sandbox.advance, seconds)

    unkept = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))
    return AsyncClient(**{**_shared(sandbox), "sleep": sleep, "transport": unkept, **options})


def _shared(sandbox: Sandbox) -> dict[str, Any]:
    return {
        "api_key": sandbox.user_key,
        "base_url": sandbox.url,
        "trust_env": False,
        "clock": sandbox.now,
        "now": lambda: datetime.fromtimestamp(sandbox.now(), UTC),
    }
