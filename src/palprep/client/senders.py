"""The only place where the client touches a network: one request out, one answer in."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, TypeVar

import anyio

from palprep.api.call import Call
from palprep.api.wire import Reply
from palprep.client.exchange import exchange
from palprep.client.hooks import Hooks, tell, tell_async
from palprep.client.policy import Context
from palprep.client.steps import (
    Answer,
    NoAnswer,
    Pause,
    RawResponse,
    Retry,
    Send,
    StepResult,
    Steps,
    drive,
    drive_async,
)
from palprep.client.writer import RequestWriter
from palprep.errors import UsageError

R = TypeVar("R", bound=Reply)
T = TypeVar("T")

_TOO_LATE = NoAnswer(sent=True, timed_out=True, detail="the deadline passed")

_GRACE_S = 0.05
"""The library's own timeout ends with the deadline and tells more: whether anything was sent."""


@dataclass(frozen=True)
class SyncSender:
    """Carries out steps on the calling thread. Threads may share it. ``http`` is a client of
    the writer's library, closed with this one where it is its ``own``."""

    http: Any
    writer: RequestWriter
    context: Context
    sleep: Callable[[float], object]
    hooks: Hooks
    own: bool = True
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
            if isinstance(wanted, Retry):
                tell(self.hooks.on_retry, wanted.call, wanted)
            self.sleep(wanted.seconds)
            return None
        call = wanted.call
        request = _request(self.http, self.writer, wanted)
        tell(self.hooks.on_request, call)
        result = self._attempt(request, wanted)
        if isinstance(result, Answer):
            tell(self.hooks.on_reply, call, result)
        else:
            tell(self.hooks.on_failure, call, result)
        return result

    def _attempt(self, request: Any, wanted: Send) -> Answer | NoAnswer:
        started = self.context.clock()
        try:
            if wanted.within is None:
                response = self.http.send(request, follow_redirects=False)
                content = response.content
            else:
                response, content = self._in_time(request, wanted.within)
        except self.writer.library.error as error:
            return self.writer.no_answer(wanted.call, error)
        except TimeoutError:
            return _TOO_LATE
        elapsed = self.context.clock() - started
        return self.writer.answer(wanted.call, response, content, elapsed)

    def _in_time(self, request: Any, within: float) -> tuple[Any, bytes]:
        """The response and its body. Raises TimeoutError after ``within`` seconds.

        The library bounds single reads, and an answer that drips takes any number of them. So
        the attempt has a thread of its own. One that is too late is left behind, and ends with
        its next read.
        """
        late = threading.Event()
        made: Future[tuple[Any, bytes]] = Future()

        def attempt() -> None:
            try:
                made.set_result(self._read(request, late))
            except BaseException as error:  # noqa: BLE001 -- the caller's, in its own thread
                made.set_exception(error)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(attempt,), daemon=True).start()
        try:
            return made.result(within + _GRACE_S)
        finally:
            late.set()

    def _read(self, request: Any, late: threading.Event) -> tuple[Any, bytes]:
        response = self.http.send(request, stream=True, follow_redirects=False)
        try:
            pieces = takewhile(lambda _: not late.is_set(), response.iter_bytes())
            return response, b"".join(pieces)
        finally:
            response.close()


@dataclass(frozen=True)
class AsyncSender:
    """Carries out steps in the running event loop, asyncio's or trio's; else as the other."""

    http: Any
    writer: RequestWriter
    context: Context
    sleep: Callable[[float], Awaitable[object]]
    hooks: Hooks
    own: bool = True
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
            if isinstance(wanted, Retry):
                await tell_async(self.hooks.on_retry, wanted.call, wanted)
            await self.sleep(wanted.seconds)
            return None
        call = wanted.call
        request = _request(self.http, self.writer, wanted)
        await tell_async(self.hooks.on_request, call)
        result = await self._attempt(request, wanted)
        if isinstance(result, Answer):
            await tell_async(self.hooks.on_reply, call, result)
        else:
            await tell_async(self.hooks.on_failure, call, result)
        return result

    async def _attempt(self, request: Any, wanted: Send) -> Answer | NoAnswer:
        started = self.context.clock()
        response = None
        try:
            if wanted.within is None:
                response = await self.http.send(request, follow_redirects=False)
            else:
                with anyio.move_on_after(wanted.within + _GRACE_S):
                    response = await self.http.send(request, follow_redirects=False)
        except self.writer.library.error as error:
            return self.writer.no_answer(wanted.call, error)
        if response is None:
            return _TOO_LATE
        elapsed = self.context.clock() - started
        return self.writer.answer(wanted.call, response, response.content, elapsed)


def _request(http: Any, writer: RequestWriter, wanted: Send) -> Any:
    if http.is_closed:
        raise UsageError("The client is closed. Make another one, or close it later.")
    return writer.write(wanted.call, wanted.within)
