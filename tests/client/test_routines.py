"""A routine does the same on both clients, and fails where it waits."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import httpx
import pytest

from palprep.client import AnyClient, AsyncClient, Client, answered, pause, routine, work
from palprep.errors import NotFound


@routine
async def tried(client: AnyClient, seen: list[Any]) -> str:
    """A request that is refused, a pause, and work in whatever thread."""
    try:
        await answered(client.voices.get("v1"))
    except NotFound as refused:
        seen.append(refused.status)
    await pause(client, 0.01)
    seen.append(await work(client, threading.current_thread))
    try:
        await work(client, lambda: 1 // 0)
    finally:
        seen.append("ended")
    return "never"


def missing(_: httpx.Request) -> httpx.Response:
    return httpx.Response(404, json={"error": "no such voice"})


def options() -> dict[str, Any]:
    transport = httpx.MockTransport(missing)
    return {"api_key": "k", "base_url": "https://e.com", "transport": transport}


def test_on_the_calling_thread() -> None:
    seen: list[Any] = []
    with Client(**options()) as client, pytest.raises(ZeroDivisionError):
        tried(client, seen)
    assert seen == [404, threading.current_thread(), "ended"]


async def test_in_an_event_loop_work_has_a_thread_of_its_own() -> None:
    seen: list[Any] = []
    async with AsyncClient(**options()) as client:
        with pytest.raises(ZeroDivisionError):
            await tried(client, seen)
    assert (seen[0], seen[2]) == (404, "ended")
    assert seen[1] is not threading.current_thread()


async def test_a_routine_that_is_cancelled_ends() -> None:
    ended: list[bool] = []

    @routine
    async def waits(client: AnyClient) -> None:
        try:
            await pause(client, 60)
        finally:
            ended.append(True)

    async with AsyncClient(**options()) as client:
        with anyio.move_on_after(0.05):
            await waits(client)
    assert ended == [True]
