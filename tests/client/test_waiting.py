"""Waits, with their back-off and deadline, and the pace of connector checks."""

from __future__ import annotations

import asyncio
import time as real_time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import httpx
import pytest

from palprep import errors
from palprep.api import Rate
from palprep.client import AsyncClient, Client
from palprep.client.exchange import delay_s
from palprep.client.senders import Limiter


def voice(status: str) -> httpx.Response:
    return httpx.Response(200, json={"voice_id": "v", "status": status})


def test_a_wait_returns_the_settled_voice(api, service, time):
    service.will(voice("started"), voice("started"), voice("started"), voice("completed"))
    assert api("voices.wait", "v").status == "completed"
    assert time.slept == [1.0, 1.5, 2.25]


def test_an_error_is_settled_too(api, service):
    service.will(voice("error"))
    assert api("voices.wait", "v").status == "error"


def test_polls_grow_no_longer_than_fifteen_seconds(api, service, time):
    service.will(*[voice("started")] * 30, voice("completed"))
    api("voices.wait", "v")
    assert max(time.slept) == 15.0


def test_a_deadline_ends_the_wait_with_the_last_record(api, service, time):
    service.will(voice("started"))
    with pytest.raises(errors.WaitTimeout, match="last status was started") as late:
        api("voices.wait", "v", timeout=10)
    assert late.value.last.voice_id == "v"
    assert sum(time.slept) == pytest.approx(10)


def test_a_wait_outlives_outages_but_not_refusals(api, service):
    service.will(
        *[httpx.ConnectError("refused")] * 4, *[httpx.Response(503)] * 4, voice("completed")
    )
    assert api("voices.wait", "v").status == "completed"
    service.will(httpx.Response(404, json={"error": "no such voice"}))
    with pytest.raises(errors.NotFound):
        api("voices.wait", "v")


def test_a_wait_asks_no_earlier_than_the_service_wishes(api, service, time):
    service.will(httpx.Response(429, headers={"retry-after": "300"}), voice("completed"))
    assert api("voices.wait", "v").status == "completed"
    assert time.slept == [300.0]
    service.will(httpx.Response(503, headers={"retry-after": "3600"}))
    with pytest.raises(errors.WaitTimeout, match="asks to wait 1 h"):
        api("voices.wait", "v", timeout=90)
    assert time.slept == [300.0, 90.0]


def test_a_wait_that_never_got_an_answer_says_why(api, service):
    service.will(httpx.ConnectError("refused"))
    with pytest.raises(errors.WaitTimeout, match="refused") as late:
        api("voices.wait", "v", timeout=5)
    assert late.value.last is None


def test_replicas_and_documents_are_waited_for(api, service):
    service.will(
        httpx.Response(200, json={"replica_id": "r", "status": "started"}),
        httpx.Response(200, json={"replica_id": "r", "status": "completed"}),
    )
    assert api("unspecified.wait_replica", "r").status == "completed"
    service.will(
        httpx.Response(200, json={"document_id": "d", "status": "recrawling"}),
        httpx.Response(200, json={"document_id": "d", "status": "ready"}),
    )
    assert api("documents.wait", "d").status == "ready"


def check(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"ok": True, "tool_count": 0})


def test_connector_checks_keep_to_ten_a_minute(service, time):
    service.will(check)
    with Client(
        api_key="k", base_url="https://e.com", transport=httpx.MockTransport(service),
        clock=time.clock, sleep=time.sleep,
    ) as client:  # fmt: skip
        started = time.now
        for _ in range(10):
            client.connectors.runtime_check("c")
        assert time.slept == []
        time.now += 20
        for _ in range(10):
            # A copy shares the limiter.
            client.with_options(retries=0).connectors.runtime_check("c")
        assert time.slept == [40.0]
        client.connectors.runtime_check("c")
        assert time.now == started + 120


class OneAtATime:
    """A service that takes 20 ms for a check, and refuses another one meanwhile."""

    def __init__(self) -> None:
        self.busy = False

    def begin(self) -> httpx.Response | None:
        if self.busy:
            return httpx.Response(429, json={"error": "another check is running"})
        self.busy = True
        return None

    def end(self, request: httpx.Request) -> httpx.Response:
        self.busy = False
        return check(request)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if refused := self.begin():
            return refused
        real_time.sleep(0.02)
        return self.end(request)

    async def answer(self, request: httpx.Request) -> httpx.Response:
        if refused := self.begin():
            return refused
        await anyio.sleep(0.02)
        return self.end(request)


def test_connector_checks_of_several_threads_take_turns():
    with (
        Client(
            api_key="k", base_url="https://e.com", transport=httpx.MockTransport(OneAtATime()),
            retries=0,
        ) as client,
        ThreadPoolExecutor(5) as threads,
    ):  # fmt: skip
        assert all(check.ok for check in threads.map(client.connectors.runtime_check, "abcde"))


async def test_connector_checks_of_several_tasks_take_turns():
    transport = httpx.MockTransport(OneAtATime().answer)
    async with AsyncClient(
        api_key="k", base_url="https://e.com", transport=transport, retries=0
    ) as client:
        checks = [asyncio.create_task(client.connectors.runtime_check(c)) for c in "abcde"]
        await asyncio.sleep(0.01)
        checks[1].cancel()  # It waits for its turn, and takes nobody else's.
        done = await asyncio.gather(*checks, return_exceptions=True)
        assert isinstance(done.pop(1), asyncio.CancelledError)
        assert all(check.ok for check in done)


def test_a_turn_that_comes_too_late_is_nothing_sent():
    def long(request: httpx.Request) -> httpx.Response:
        real_time.sleep(0.3)
        return check(request)

    with (
        Client(
            api_key="k", base_url="https://e.com", transport=httpx.MockTransport(long)
        ) as client,
        ThreadPoolExecutor(1) as another,
    ):
        first = another.submit(client.connectors.runtime_check, "a")
        real_time.sleep(0.05)
        with pytest.raises(errors.ServiceUnreachable, match="deadline passed before it could"):
            client.connectors.runtime_check("b", deadline=0.1)
        assert first.result().ok


async def test_a_turn_that_comes_too_late_is_nothing_sent_async():
    async def long(request: httpx.Request) -> httpx.Response:
        await anyio.sleep(0.3)
        return check(request)

    transport = httpx.MockTransport(long)
    async with (
        AsyncClient(api_key="k", base_url="https://e.com", transport=transport) as client,
        anyio.create_task_group() as others,
    ):
        others.start_soon(client.connectors.runtime_check, "a")
        await anyio.sleep(0.05)
        with pytest.raises(errors.ServiceUnreachable, match="deadline passed before it could"):
            await client.connectors.runtime_check("b", deadline=0.1)


def test_a_limiter_never_lets_more_through_in_any_window():
    limiter = Limiter(Rate(requests=10, seconds=60))
    now, left = 0.0, []
    for step in [0, 1, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 45, 5, 0, 0, 61, *[0] * 40]:
        now += step
        now += limiter.reserve(now)
        left.append(now)
    for first, eleventh in zip(left, left[10:], strict=False):
        assert eleventh - first >= 60


@pytest.mark.parametrize(
    ("attempt", "asked", "delay"),
    [
        (0, None, 0.25),
        (1, None, 0.5),
        (9, None, 4.0),
        (5000, None, 4.0),
        (0, 3.0, 3.0),
        (0, 61.0, None),
    ],
)
def test_the_delay_before_another_attempt(attempt: int, asked: Any, delay: float | None):
    assert delay_s(attempt, asked, 0.5) == delay
