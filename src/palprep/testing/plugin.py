"""The pytest plugin: a sandbox for each test, and clients of it that never sleep.

pytest loads it wherever palprep is installed. It loads nothing of palprep until a test asks for one
of its fixtures. One server serves a whole session, and forgets everything before each test. Its
clock is virtual: it stands still until the test advances it, and the clients wait by advancing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from palprep.client import AsyncClient, Client
    from palprep.sandbox import Sandbox


@pytest.fixture(scope="session")
def palprep_sandbox_options() -> dict[str, Any]:
    """Arguments of :class:`~palprep.Sandbox`, such as a trainer, a seed or choices. Override this
    fixture to give some."""
    return {}


@pytest.fixture(scope="session")
def palprep_client_options() -> dict[str, Any]:
    """Arguments of both clients, such as ``retries`` or ``strict``. Override it to give some."""
    return {}


def _started(options: dict[str, Any]) -> Sandbox:
    from palprep.sandbox import Sandbox  # noqa: PLC0415 -- not before a test asks for it

    return Sandbox(**{"clock": "virtual", **options})


@pytest.fixture(scope="session")
def _palprep_served() -> Iterator[Callable[[dict[str, Any]], Sandbox]]:
    """A function that gives the session's server, started anew when the options have changed."""
    last: list[tuple[dict[str, Any], Sandbox]] = []
    with ExitStack() as running:

        def served(options: dict[str, Any]) -> Sandbox:
            if not last or (last[0][0] is not options and last[0][0] != options):
                running.close()
                last[:] = [(options, running.enter_context(_started(options)))]
            return last[0][1]

        yield served


@pytest.fixture
def palprep_sandbox(
    palprep_sandbox_options: dict[str, Any], _palprep_served: Callable[[dict[str, Any]], Sandbox]
) -> Sandbox:
    """The local service, empty but for what ``palprep_sandbox_options`` seeds."""
    sandbox = _palprep_served(palprep_sandbox_options)
    sandbox.reset()
    return sandbox


def _lasting(palprep_sandbox_options: dict[str, Any]) -> Iterator[Sandbox]:
    """A server of its own for fixtures of a wider scope. Nothing empties it between tests."""
    with _started(palprep_sandbox_options) as sandbox:
        yield sandbox


palprep_module_sandbox = pytest.fixture(_lasting, scope="module", name="palprep_module_sandbox")
palprep_session_sandbox = pytest.fixture(_lasting, scope="session", name="palprep_session_sandbox")


def _environ(sandbox: Sandbox) -> dict[str, str]:
    return {
        "PALPREP_BASE_URL": sandbox.url,
        "PALPREP_API_KEY": sandbox.user_key,
        "PALPREP_TIME": "sandbox",
    }


@pytest.fixture
def palprep_environ(palprep_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Environment variables for a program under test, set for this process and its children:
    ``Client.from_env()`` then uses the sandbox, and waits by its clock."""
    variables = _environ(palprep_sandbox)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


@pytest.fixture
def palprep_client(
    palprep_sandbox: Sandbox, palprep_client_options: dict[str, Any]
) -> Iterator[Client]:
    """A client with the sandbox's user-scoped key. Where it would sleep, the clock advances."""
    from palprep.client import Client  # noqa: PLC0415 -- as above

    # The clock is in this process: no request is needed to read it.
    own: dict[str, Any] = {"trust_env": False, "clock": palprep_sandbox.now}
    with Client.from_env(_environ(palprep_sandbox), **(own | palprep_client_options)) as client:
        yield client


@pytest.fixture
def palprep_async_client(
    palprep_sandbox: Sandbox, palprep_client_options: dict[str, Any]
) -> AsyncClient:
    """As ``palprep_client`` for asynchronous tests, under whatever plugin runs them. It keeps no
    connection open, so that no event loop has to close one."""
    import httpx  # noqa: PLC0415 -- as above

    from palprep.client import AsyncClient  # noqa: PLC0415

    unkept = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))
    own: dict[str, Any] = {"trust_env": False, "clock": palprep_sandbox.now, "transport": unkept}
    return AsyncClient.from_env(_environ(palprep_sandbox), **(own | palprep_client_options))
