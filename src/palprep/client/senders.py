"""The only place where the client touches a network: one request out, one answer in."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
import httpx

from palprep._version import __version__
from palprep.api.call import Call
from palprep.api.stream import StreamedBody
from palprep.api.wire import UNSET, Reply
from palprep.client.exchange import exchange
from palprep.client.policy import Context
from palprep.client.secret import Secret
from palprep.client.steps import (
    Answer,
    NoAnswer,
    Pause,
    RawResponse,
    Send,
    StepResult,
    Steps,
    drive,
    drive_async,
)
from palprep.errors import UsageError

R = TypeVar("R", bound=Reply)
T = TypeVar("T")
log = logging.getLogger("palprep.client")

RequestHook = Callable[[Call[Any]], None]
ReplyHook = Callable[[Call[Any], Answer], None]

# Raised before the request has left whole, so that it was certainly not carried out.
_UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)


@dataclass(frozen=True)
class RequestWriter:
    """Between calls and httpx: base URL, key and timeout, and the hooks that see each attempt."""

    base_url: str
    key: Secret
    timeout: float | httpx.Timeout | None
    on_request: tuple[RequestHook, ...] = ()
    on_reply: tuple[ReplyHook, ...] = ()

    def write(self, call: Call[Any]) -> httpx.Request:
        """The request for ``call``. The key is in no other object that outlives it.

        Raises :class:`~palprep.errors.UsageError` when the path makes no URL, and
        :class:`~palprep.errors.InvalidRequest` for a body that cannot be sent.
        """
        headers = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "user-agent": f"palprep/{__version__}",
            **call.headers,
            "x-api-key": self.key.reveal(),
        }
        content = call.content()
        stream: _Body | None = None
        if content is not None:
            headers["content-type"] = "application/json"
            if not isinstance(content, bytes):
                stream = _Body(content)
                headers["content-length"] = str(len(content))
                # httpx adds it to every request but those that bring a stream of their own.
                headers["host"] = httpx.URL(self.base_url).netloc.decode("ascii")
        limits = httpx.Timeout(self.timeout if call.timeout is UNSET else call.timeout)
        for hook in self.on_request:
            hook(call)
        try:
            return httpx.Request(
                call.method,
                self.base_url + call.path,
                params=list(call.query) or None,
                headers=headers,
                content=content if isinstance(content, bytes) else None,
                stream=stream,
                extensions={"timeout": limits.as_dict()},
            )
        except httpx.InvalidURL as error:
            raise UsageError(
                f"{call.method} {call.endpoint.path}: no URL can be made of this ({error})."
            ) from None

    def on_response(self, call: Call[Any], response: httpx.Response, elapsed: float) -> Answer:
        """The answer in ``response``, which took ``elapsed`` seconds."""
        headers = {name.lower(): value for name, value in response.headers.items()}
        answer = Answer(response.status_code, headers, response.content, elapsed)
        log.info("%s %s: %d in %.3f s", call.method, call.path, answer.status, elapsed)
        for hook in self.on_reply:
            hook(call, answer)
        return answer

    @staticmethod
    def on_error(call: Call[Any], error: httpx.HTTPError) -> NoAnswer:
        """What an exception of httpx says about the request."""
        detail = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        log.info("%s %s: no answer (%s)", call.method, call.path, detail)
        return NoAnswer(
            sent=not isinstance(error, _UNSENT),
            timed_out=isinstance(error, httpx.TimeoutException),
            detail=detail,
        )


class _Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    def __init__(self, stream: StreamedBody) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)


@dataclass(frozen=True)
class SyncSender:
    """Carries out steps on the calling thread. Threads may share it."""

    http: httpx.Client
    writer: RequestWriter
    context: Context
    sleep: Callable[[float], object]
    turns: dict[str, threading.Lock] = field(default_factory=dict)

    def send(self, call: Call[R]) -> RawResponse[R]:
        """Send ``call`` and read its reply, one at a time where the endpoint asks for it."""
        rate, name = call.endpoint.rate, call.endpoint.name
        alone = rate is not None and rate.alone
        with self.turns.setdefault(name, threading.Lock()) if alone else nullcontext():
            return drive(exchange(call, self.context), self._perform)

    def run(self, steps: Steps[T]) -> T:
        """Carry out ``steps`` and return their result."""
        return drive(steps, self._perform)

    def _perform(self, wanted: Send | Pause) -> StepResult:
        if isinstance(wanted, Pause):
            self.sleep(wanted.seconds)
            return None
        started = self.context.clock()
        try:
            response = self.http.send(self.writer.write(wanted.call))
        except httpx.HTTPError as error:
            return self.writer.on_error(wanted.call, error)
        return self.writer.on_response(wanted.call, response, self.context.clock() - started)


@dataclass(frozen=True)
class AsyncSender:
    """Carries out steps in the running event loop, asyncio's or trio's."""

    http: httpx.AsyncClient
    writer: RequestWriter
    context: Context
    sleep: Callable[[float], Awaitable[object]]
    turns: dict[str, anyio.Lock] = field(default_factory=dict)

    async def send(self, call: Call[R]) -> RawResponse[R]:
        """Send ``call`` and read its reply, one at a time where the endpoint asks for it."""
        rate, name = call.endpoint.rate, call.endpoint.name
        alone = rate is not None and rate.alone
        async with self.turns.setdefault(name, anyio.Lock()) if alone else nullcontext():
            return await drive_async(exchange(call, self.context), self._perform)

    async def run(self, steps: Steps[T]) -> T:
        """Carry out ``steps`` and return their result."""
        return await drive_async(steps, self._perform)

    async def _perform(self, wanted: Send | Pause) -> StepResult:
        if isinstance(wanted, Pause):
            await self.sleep(wanted.seconds)
            return None
        started = self.context.clock()
        try:
            response = await self.http.send(self.writer.write(wanted.call))
        except httpx.HTTPError as error:
            return self.writer.on_error(wanted.call, error)
        return self.writer.on_response(wanted.call, response, self.context.clock() - started)
