"""The pytest plugin: a sandbox for each test, and clients of it that never sleep.

pytest loads it wherever palprep is installed. It loads nothing of palprep until a test asks for
one of its fixtures. One server serves a whole session, and forgets everything before each test.
Its clock is virtual: it stands still until the test advances it, and the clients wait by
advancing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from palprep.client import AsyncClient, Client
    from palprep.sandbox import Sandbox


@pytest.fixture(scope="session")
def palprep_sandbox_options() -> dict[str, Any]:
    """Arguments of :class:`~palprep.Sandbox`, such as a trainer, a seed or choices. Override
    this fixture to give some."""
    return {}


@pytest.fixture(scope="session")
def palprep_client_options() -> dict[str, Any]:
    """Arguments of both clients, such as ``retries`` or ``strict``. Override this fixture to
    give some."""
    return {}


@pytest.fixture(scope="session")
def _palprep_served() -> Iterator[Callable[[dict[str, Any]], Sandbox]]:
    """A server for each override of the options: pytest would share one of the session."""
    from palprep.sandbox import Sandbox  # noqa: PLC0415 -- not before a test asks for it

    with ExitStack() as running:
        servers: list[tuple[dict[str, Any], Sandbox]] = []

        def served(options: dict[str, Any]) -> Sandbox:
            for known, sandbox in servers:
                if known is options:
                    return sandbox
            started = running.enter_context(Sandbox(**{"clock": "virtual", **options}))
            servers.append((options, started))
            return started

        yield served


@pytest.fixture
def palprep_sandbox(
    palprep_sandbox_options: dict[str, Any],
    _palprep_served: Callable[[dict[str, Any]], Sandbox],
) -> Sandbox:
    """The local service, empty but for what ``palprep_sandbox_options`` seeds."""
    sandbox = _palprep_served(palprep_sandbox_options)
    sandbox.reset()
    return sandbox


@pytest.fixture
def palprep_client(
    palprep_sandbox: Sandbox, palprep_client_options: dict[str, Any]
) -> Iterator[Client]:
    """A client with the sandbox's user-scoped key. Where it would sleep, the clock advances."""
    from palprep.client import Client  # noqa: PLC0415 -- as above

    options: dict[str, Any] = {"sleep": palprep_sandbox.advance, **palprep_client_options}
    with Client(**(_by_clock(palprep_sandbox) | options)) as client:
        yield client


@pytest.fixture
def palprep_async_client(
    palprep_sandbox: Sandbox, palprep_client_options: dict[str, Any]
) -> AsyncClient:
    """The same for asynchronous tests, under whatever plugin runs them. It keeps no connection
    open, so that no event loop has to close it."""
    import anyio.to_thread  # noqa: PLC0415 -- as above
    import httpx  # noqa: PLC0415

    from palprep.client import AsyncClient  # noqa: PLC0415

    async def sleep(seconds: float) -> None:
        # In a thread: what falls due may call back to this event loop.
        await anyio.to_thread.run_sync(palprep_sandbox.advance, seconds)

    unkept = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))
    options: dict[str, Any] = {"sleep": sleep, "transport": unkept, **palprep_client_options}
    return AsyncClient(**(_by_clock(palprep_sandbox) | options))


def _by_clock(sandbox: Sandbox) -> dict[str, Any]:
    """Arguments of a client whose time is the sandbox's."""
    return {
        "api_key": sandbox.user_key,
        "base_url": sandbox.url,
        "trust_env": False,
        "clock": sandbox.now,
        "now": lambda: datetime.fromtimestamp(sandbox.now(), UTC),
    }
