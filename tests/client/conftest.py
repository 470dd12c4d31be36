"""Clients over a transport that answers as told, with time that only moves when slept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from palprep import client as clients

Handler = Callable[[httpx.Request], httpx.Response]


@dataclass
class Time:
    """A clock that sleeping moves, and what was slept."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


@dataclass
class Service:
    """Answers in turn: responses, exceptions to raise, or a function of the request. The
    last one stays."""

    time: Time
    answers: list[httpx.Response | Exception | Handler] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)

    def will(self, *answers: httpx.Response | Exception | Handler) -> Service:
        self.answers = list(answers)
        return self

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            return answer(request)
        # httpx consumes a response, so that each attempt needs its own.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


class Api:
    """A sync or an async client, called alike: ``api("voices.get", "v")``."""

    def __init__(self, service: Service, **options: Any) -> None:
        self.service = service
        self.options = {
            "api_key": "hush-hush-key",
            "base_url": "https://api.example.com/base/",
            "clock": service.time.clock,
            "random": lambda: 1.0,
        } | options

    def __call__(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


class SyncApi(Api):
    def __call__(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        transport = httpx.MockTransport(self.service)
        sleep = self.service.time.sleep
        with clients.Client(transport=transport, sleep=sleep, **self.options) as client:
            return _find(client, name)(*args, **kwargs)


class AsyncApi(Api):
    def __call__(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        async def go() -> Any:
            transport = httpx.MockTransport(self.service)
            sleep = self.service.time.sleep_async
            async with clients.AsyncClient(
                transport=transport, sleep=sleep, **self.options
            ) as client:
                return await _find(client, name)(*args, **kwargs)

        return asyncio.run(go())


def _find(client: Any, name: str) -> Any:
    for part in name.split("."):
        client = getattr(client, part)
    return client


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def service(time: Time) -> Service:
    return Service(time)


@pytest.fixture(params=[SyncApi, AsyncApi], ids=["sync", "async"])
def api(request: pytest.FixtureRequest, service: Service) -> Api:
    """Both clients, so that every test shows both."""
    made: Api = request.param(service)
    return made
