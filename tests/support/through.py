"""The same requests through palprep's own clients: raw JSON in, raw JSON out."""

from __future__ import annotations

from typing import Any

import httpx
from anyio.from_thread import start_blocking_portal
from raw import Raw

from palprep.api import UNSET, Call
from palprep.api.calls import ENDPOINTS
from palprep.client import AsyncClient, Client
from palprep.errors import ApiError
from palprep.sandbox import Sandbox


class StandingStill:
    """A clock that only sleeping moves, so that nothing waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.now += seconds


class ThroughClient(Raw):
    """Requests to declared endpoints go through the client; the rest stays plain HTTP."""

    def __init__(self, sandbox: Sandbox, key: str | None = None) -> None:
        super().__init__(sandbox, key)
        self.options: dict[str, Any] = {
            "api_key": key or sandbox.user_key,
            "base_url": sandbox.url,
            "retries": 0,
            "trust_env": False,
            "timeout": 60,
        }
        self.open()

    def open(self) -> None:
        clock = StandingStill()
        self.client = Client(clock=clock, sleep=clock.sleep, **self.options)

    def __exit__(self, *_: object) -> None:
        self.client.close()
        super().__exit__()

    def send_call(self, call: Call[Any]) -> Any:
        return self.client.send_raw(call)

    def send(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        headers = options.get("headers", {})
        endpoint = next(
            (e for e in ENDPOINTS if e.method == method and e.match(path) is not None), None
        )
        if endpoint is None or "content" in options or "x-api-key" in headers:
            return super().send(method, path, body, **options)
        call = Call(
            endpoint,
            path,
            query=tuple(options.get("params", {}).items()),
            headers=headers,
            body=UNSET if body is None else body,
        )
        try:
            reply = self.send_call(call)
        except ApiError as error:
            waits = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:g}"}
            return httpx.Response(error.status, headers=waits, json=error.body)
        return httpx.Response(reply.status, headers=dict(reply.headers), content=reply.content)


class ThroughAsyncClient(ThroughClient):
    """The same through the asynchronous client, on a loop of its own."""

    def open(self) -> None:
        clock = StandingStill()
        self._running = start_blocking_portal()
        self.portal = self._running.__enter__()

        async def make() -> AsyncClient:
            return AsyncClient(clock=clock, sleep=clock.sleep_async, **self.options)

        self.client = self.portal.call(make)

    def __exit__(self, *_: object) -> None:
        self.portal.call(self.client.close)
        self._running.__exit__(None, None, None)
        Raw.__exit__(self)

    def send_call(self, call: Call[Any]) -> Any:
        return self.portal.call(self.client.send_raw, call)
