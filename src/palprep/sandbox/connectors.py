"""Runtime checks: a connector's tools are listed by the Model Context Protocol, as in a call."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import httpx

from palprep.errors import PalprepError
from palprep.sandbox.fetch import UNASKABLE, beginning, refuse_elsewhere

MAX_PER_MINUTE = 10  # Limits: connector checks
MAX_MESSAGE = 500  # Limits: error.message length
UNREACHABLE = 424


class CheckFailed(PalprepError):
    """The connector's server failed; ``http_status`` is that of the failing step, or None."""

    code = "connector_check_failed"

    def __init__(self, message: str, http_status: int | None) -> None:
        super().__init__(message)
        self.http_status = http_status


class TooManyChecks(PalprepError):
    """Another check is running, or ten have run in a minute. ``retry_after`` is in seconds."""

    code = "too_many_checks"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class CheckLimit:
    """Ten checks a minute and one at a time, for the whole account."""

    def __init__(self) -> None:
        self._started: deque[float] = deque()
        self._running = False

    def reset(self) -> None:
        """Forget the checks that have run."""
        self._started.clear()

    @contextmanager
    def take(self, now: float) -> Iterator[None]:
        """Hold the one place while a check runs. Raises :class:`TooManyChecks`."""
        if self._running:
            raise TooManyChecks("Another runtime check is still running.", 1)
        while self._started and self._started[0] <= now - 60:
            self._started.popleft()
        if len(self._started) >= MAX_PER_MINUTE:
            wait = max(1, round(self._started[0] + 60 - now))
            raise TooManyChecks("More than 10 runtime checks in a minute.", wait)
        self._started.append(now)
        self._running = True
        try:
            yield
        finally:
            self._running = False


def available() -> bool:
    """Whether the package that speaks the protocol is installed."""
    return find_spec("mcp") is not None


async def runtime_check(
    connector: Mapping[str, Any], http: httpx.AsyncClient, *, timeout_s: float, anywhere: bool
) -> dict[str, Any]:
    """The result of one check; ``anywhere`` allows servers on other machines.

    It never raises for what the connector's server does, and never calls a tool. Times are in
    seconds, ``latency_ms`` in milliseconds.
    """
    # Loading the package takes seconds, once: neither a part of the check, nor a reason for all
    # other requests to wait.
    await asyncio.to_thread(import_module, "mcp.client.client")
    started = time.monotonic()
    names: list[str] = []
    error: dict[str, Any] | None = None
    try:
        async with asyncio.timeout(timeout_s):
            url = _server_of(connector)
            headers = await _authorised(connector, http)
            names = await list_tools(url, headers, timeout_s=timeout_s, anywhere=anywhere)
    except TimeoutError:
        error = _problem(f"The server did not answer within {timeout_s:g} s.", UNREACHABLE)
    except CheckFailed as failure:
        error = _problem(str(failure), failure.http_status)
    return {
        "ok": error is None,
        "tool_count": len(names),
        "tool_names": names,
        "latency_ms": round((time.monotonic() - started) * 1000),
        "error": error,
    }


def _problem(message: str, http_status: int | None) -> dict[str, Any]:
    return {"http_status": http_status, "message": message[:MAX_MESSAGE]}


def _server_of(connector: Mapping[str, Any]) -> str:
    url = connector.get("url")
    if not isinstance(url, str):
        raise CheckFailed("The connector's record has no url.", None)
    return url


async def _authorised(connector: Mapping[str, Any], http: httpx.AsyncClient) -> dict[str, str]:
    headers = dict(connector.get("headers") or {})
    auth = connector.get("auth") or {}
    if auth.get("type") == "client_credentials":
        headers["Authorization"] = f"Bearer {await client_credentials_token(auth, http)}"
    elif auth.get("token"):
        headers["Authorization"] = f"Bearer {auth['token']}"
    return headers


async def client_credentials_token(auth: Mapping[str, Any], http: httpx.AsyncClient) -> str:
    """A token by the OAuth 2.0 client-credentials grant (RFC 6749, section 4.4).

    Raises :class:`CheckFailed` when the token endpoint gives none.
    """
    form = {"grant_type": "client_credentials"}
    if auth.get("scope"):
        form["scope"] = auth["scope"]
    login = httpx.BasicAuth(auth.get("client_id") or "", auth.get("client_secret") or "")
    try:
        url = auth.get("token_url") or ""
        async with http.stream("POST", url, data=form, auth=login, timeout=10) as answer:
            text = await beginning(answer)
    except UNASKABLE as error:
        raise CheckFailed(f"The token endpoint cannot be reached: {error}", None) from error
    if not answer.is_success:
        raise CheckFailed(
            f"The token endpoint answered {answer.status_code}: {text}", answer.status_code
        )
    try:
        return str(json.loads(text)["access_token"])
    except (ValueError, KeyError, TypeError) as error:
        raise CheckFailed(
            "The token endpoint's answer holds no access_token.", answer.status_code
        ) from error


async def list_tools(
    url: str, headers: Mapping[str, str], *, timeout_s: float, anywhere: bool
) -> list[str]:
    """The names of all tools that the server at ``url`` lists. Raises :class:`CheckFailed`."""
    # An optional extra: imported where it is needed, so that the sandbox starts without it.
    import httpx2  # noqa: PLC0415
    from mcp.client.client import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    seen: list[int] = []

    async def note(response: httpx2.Response) -> None:
        seen.append(response.status_code)

    async def check(request: httpx2.Request) -> None:
        if not anywhere:
            refuse_elsewhere(request.url.host)

    names: list[str] = []
    try:
        async with (
            httpx2.AsyncClient(
                headers=dict(headers),
                timeout=timeout_s,
                event_hooks={"request": [check], "response": [note]},
            ) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            cursor: str | None = None
            while True:
                page = await client.list_tools(cursor=cursor)
                names += [tool.name for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    return names
    except Exception as error:
        # The package raises groups of its own, its transport's and its validator's errors.
        raise CheckFailed(*_explain(error, seen)) from error


def _explain(error: BaseException, seen: list[int]) -> tuple[str, int | None]:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    message = str(error) or type(error).__name__
    if not seen:
        return message, UNREACHABLE
    return message, seen[-1] if seen[-1] >= httpx.codes.BAD_REQUEST else None
