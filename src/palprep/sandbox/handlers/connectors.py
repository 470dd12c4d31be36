"""Connectors: a runtime check lists the server's tools by the Model Context Protocol."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import httpx

from palprep.sandbox.answers import refuse_error
from palprep.sandbox.outbound import ServerFailed, client_credentials_token, refuse_elsewhere
from palprep.sandbox.service import HandlerContext, Service

MAX_MESSAGE = 500  # Limits: error.message length
UNREACHABLE = 424


async def check_connector(context: HandlerContext) -> dict[str, Any]:
    """List the tools of the connector's server, ten times a minute at most, one at a time.

    No tool is called, and nothing that the server does makes the check itself fail.
    """
    service, timeout_s = context.service, context.service.choices.connector_seconds
    connector = context.find("connector")
    auth = connector.get("auth") or {}
    if auth.get("type") == "oauth" and not auth.get("finished"):
        raise refuse_error(409, "OAuth is not finished for this connector.")
    if find_spec("mcp") is None:
        raise refuse_error(503, "Runtime checks are not available on this deployment.")
    names: list[str] = []
    error: dict[str, Any] | None = None
    with service.check_limit.take(service.now()):
        # Loading the package takes seconds, once: neither a part of the check, nor a reason for
        # all other requests to wait.
        await asyncio.to_thread(import_module, "mcp.client.client")
        started = time.monotonic()
        try:
            async with asyncio.timeout(timeout_s):
                headers = await _authorised(connector, service.http)
                names = await _list_tools(service, connector.get("url"), headers)
        except TimeoutError:
            said = f"The server did not answer within {timeout_s:g} s."
            error = {"http_status": UNREACHABLE, "message": said}
        except ServerFailed as failure:
            error = {"http_status": failure.http_status, "message": str(failure)[:MAX_MESSAGE]}
    return {
        "ok": error is None,
        "tool_count": len(names),
        "tool_names": names,
        "latency_ms": round((time.monotonic() - started) * 1000),
        "error": error,
    }


async def _authorised(connector: Mapping[str, Any], http: httpx.AsyncClient) -> dict[str, str]:
    headers = dict(connector.get("headers") or {})
    auth = connector.get("auth") or {}
    if auth.get("type") == "client_credentials":
        headers["Authorization"] = f"Bearer {await client_credentials_token(auth, http)}"
    elif auth.get("token"):
        headers["Authorization"] = f"Bearer {auth['token']}"
    return headers


async def _list_tools(service: Service, url: object, headers: Mapping[str, str]) -> list[str]:
    """The names of all tools that the server at ``url`` lists. Raises :class:`ServerFailed`."""
    if not isinstance(url, str):
        raise ServerFailed("The connector's record has no url.")
    # An optional extra: imported where it is needed, so that the sandbox starts without it.
    import httpx2  # noqa: PLC0415
    from mcp.client.client import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    seen: list[int] = []

    async def note(response: httpx2.Response) -> None:
        seen.append(response.status_code)

    async def check(request: httpx2.Request) -> None:
        if service.choices.outbound == "loopback":
            refuse_elsewhere(request.url.host)

    names: list[str] = []
    try:
        async with (
            httpx2.AsyncClient(
                headers=dict(headers),
                timeout=service.choices.connector_seconds,
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
        raise ServerFailed(*_explain(error, seen)) from error


def _explain(error: BaseException, seen: list[int]) -> tuple[str, int | None]:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    message = str(error) or type(error).__name__
    if not seen:
        return message, UNREACHABLE
    return message, seen[-1] if seen[-1] >= httpx.codes.BAD_REQUEST else None
