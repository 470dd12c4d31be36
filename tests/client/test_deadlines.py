"""How long a call may take in all, whatever the service does."""

from __future__ import annotations

import asyncio
import contextvars
import socket
import threading
import time

import httpx
import pytest

from palprep import errors
from palprep.client import AsyncClient, Client


def test_after_a_deadline_there_is_no_other_attempt(api, service):
    service.will(httpx.Response(503))
    api.options |= {"retries": 10, "deadline": 3.0}
    with pytest.raises(errors.ServiceUnavailable):
        api("voices.get", "v1")
    assert service.time.slept == [0.5, 1.0]
    service.requests.clear()
    with pytest.raises(errors.ServiceUnavailable):
        api("voices.get", "v1", deadline=0.2)
    assert len(service.requests) == 1
    with pytest.raises(errors.ServiceUnreachable, match="deadline"):
        api("voices.get", "v1", deadline=0)
    assert len(service.requests) == 1


def test_a_deadline_that_passes_after_an_attempt_does_not_say_that_nothing_was_done(api, service):
    service.will(httpx.ReadTimeout("slow"))
    api.options |= {"retries": 10, "deadline": 3.0}
    rest = service.time.sleep

    def oversleep(seconds: float) -> None:
        rest(seconds + 10)

    service.time.sleep = oversleep
    with pytest.raises(errors.TimedOut, match="the deadline passed"):
        api("pals.delete", "p1")
    assert len(service.requests) == 1


def slow(_: httpx.Request) -> httpx.Response:
    time.sleep(5)
    return httpx.Response(200, json={"voice_id": "v", "status": "started"})


async def slow_too(request: httpx.Request) -> httpx.Response:
    await asyncio.sleep(5)
    return slow(request)


async def test_a_wait_ends_while_a_question_is_under_way(monkeypatch):
    monkeypatch.setattr("palprep.client.resources._LAST_ANSWER_S", 0.1)
    began = time.monotonic()
    with (
        Client(
            api_key="k", base_url="https://e.com", transport=httpx.MockTransport(slow)
        ) as client,
        pytest.raises(errors.WaitTimeout, match="no answer in time"),
    ):
        client.voices.wait("v", timeout=0.3)
    transport = httpx.MockTransport(slow_too)
    async with AsyncClient(api_key="k", base_url="https://e.com", transport=transport) as client:
        with pytest.raises(errors.WaitTimeout, match="no answer in time"):
            await client.voices.wait("v", timeout=0.3)
    assert time.monotonic() - began < 3


def checked(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"ok": True})


def test_waiting_for_the_rate_is_part_of_a_call(time):
    with Client(
        api_key="k", base_url="https://e.com", transport=httpx.MockTransport(checked),
        clock=time.clock, sleep=time.sleep,
    ) as client:  # fmt: skip
        for _ in range(10):
            client.connectors.runtime_check("c")
        for _ in range(10):
            with pytest.raises(errors.ServiceUnreachable, match="deadline passed before it could"):
                client.connectors.runtime_check("c", deadline=30)
        assert time.slept == []
        client.connectors.runtime_check("c", deadline=61)
        assert time.slept == [60.0]


@pytest.mark.parametrize("never", [float("inf"), 1e12])
def test_no_end_can_be_said_by_a_number(never):
    here = {"api_key": "k", "base_url": "http://127.0.0.1:9", "retries": 0}
    with (
        Client(**here, timeout=never, deadline=never) as client,
        pytest.raises(errors.ServiceUnreachable),
    ):
        client.voices.get("v")
    with pytest.raises(errors.UsageError, match="timeout takes more than 0 seconds, not nan"):
        Client(**here, timeout=float("nan"))


def drip(listener):
    """Answer with one byte every 50 ms, for ever."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=trickle, args=(connection,), daemon=True).start()


def trickle(connection):
    with connection:
        try:
            # What is asked for decides whether the head or the body never ends.
            asked = connection.recv(65536)
            head = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n"
            connection.sendall(head + (b"x-endless: " if b"/head" in asked else b"\r\n"))
            while True:
                connection.sendall(b" ")
                time.sleep(0.05)
        except OSError:
            return


@pytest.fixture
def dripping():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=drip, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("voice", ["head", "body"])
def test_an_answer_that_drips_ends_at_the_deadline(dripping, voice):
    with Client(api_key="k", base_url=dripping, trust_env=False, deadline=0.3) as client:
        started = time.monotonic()
        with pytest.raises(errors.TimedOut, match="deadline"):
            client.voices.get(voice)
        with pytest.raises(errors.OutcomeUnknown):
            client.request("POST", f"/{voice}")
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("voice", ["head", "body"])
async def test_so_it_does_asynchronously(dripping, voice):
    async with AsyncClient(api_key="k", base_url=dripping, trust_env=False) as client:
        started = time.monotonic()
        with pytest.raises(errors.TimedOut, match="deadline"):
            await client.voices.get(voice, deadline=0.3)
        assert time.monotonic() - started < 5


class Unreachable(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A host that takes no connection, for as long as the request allows."""

    def handle_request(self, request):
        time.sleep(request.extensions["timeout"]["connect"])
        raise httpx.ConnectTimeout("no connection")

    async def handle_async_request(self, request):
        await asyncio.sleep(request.extensions["timeout"]["connect"])
        raise httpx.ConnectTimeout("no connection")


async def test_what_never_left_before_the_deadline_is_not_in_doubt(monkeypatch):
    # The transport tells the reason in time, however late a busy machine wakes it.
    monkeypatch.setattr("palprep.client.senders._GRACE_S", 60.0)
    options = {"api_key": "k", "base_url": "https://e.com", "transport": Unreachable()}
    with (
        Client(**options, deadline=0.1) as client,
        pytest.raises(errors.ServiceUnreachable, match="Nothing was carried out"),
    ):
        client.voices.create(voice_name="Ada")
    async with AsyncClient(**options, deadline=0.1) as asynchronous:
        with pytest.raises(errors.ServiceUnreachable, match="Nothing was carried out"):
            await asynchronous.voices.create(voice_name="Ada")


def test_with_a_deadline_an_attempt_sees_the_callers_context(service):
    seen = []
    caller = contextvars.ContextVar("caller", default="no one")

    def look(request):
        seen.append((caller.get(), threading.current_thread() is threading.main_thread()))
        return httpx.Response(200, json={"voice_id": "v"})

    service.will(look)
    transport = httpx.MockTransport(service)
    with Client(api_key="k", base_url="https://e.com", transport=transport) as client:
        caller.set("test")
        assert client.voices.get("v", deadline=60).voice_id == "v"
        assert client.voices.get("v").voice_id == "v"
    assert seen == [("test", False), ("test", True)]


@pytest.fixture
def crowded():
    """An async client, and how many of its requests the service had at once; each takes 0.2 s."""
    under_way, most = 0, [0]

    async def answer(_: httpx.Request) -> httpx.Response:
        nonlocal under_way
        under_way += 1
        most[0] = max(most[0], under_way)
        await asyncio.sleep(0.2)
        under_way -= 1
        return httpx.Response(200, json={"voice_id": "v", "status": "started"})

    transport = httpx.MockTransport(answer)
    return AsyncClient(api_key="k", base_url="https://e.com", transport=transport), most


async def test_more_calls_than_connections_wait_for_their_turn(crowded):
    client, most = crowded
    fast = client.with_options(timeout=0.1)
    async with client:
        calls = [each.voices.get(f"v{n}") for n in range(120) for each in (client, fast)]
        assert len(await asyncio.gather(*calls)) == 240
    assert most == [100]


async def test_a_create_that_waits_for_its_turn_until_the_deadline_is_not_in_doubt(crowded):
    client, _ = crowded
    async with client:
        others = asyncio.gather(*(client.voices.get(f"v{n}") for n in range(100)))
        await asyncio.sleep(0)
        with pytest.raises(errors.ServiceUnreachable, match="100 other calls are under way"):
            await client.voices.create(voice_name="Ada", deadline=0.05)
        await others
        assert (await client.voices.create(voice_name="Ada", deadline=5)).voice_id == "v"
