"""The only place where the client touches a network: one request out, one answer in.

The senders carry out the other steps, too: they call the caller's hooks, sleep, do work that
blocks, and acquire locks.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import Any, TypeAlias, TypedDict, TypeVar, cast

import anyio
import anyio.to_thread
import httpx

from palprep.api import Call
from palprep.client.policy import Context
from palprep.client.steps import (
    Answer,
    Doing,
    NoAnswer,
    Pause,
    Retry,
    Send,
    Step,
    Tell,
    Turn,
    Work,
    drive,
    drive_async,
)
from palprep.client.writer import RequestWriter
from palprep.errors import UsageError

T = TypeVar("T")

RequestHook = Callable[[Call[Any]], Awaitable[object] | object]
ReplyHook = Callable[[Call[Any], Answer], Awaitable[object] | object]
FailureHook = Callable[[Call[Any], NoAnswer], Awaitable[object] | object]
RetryHook = Callable[[Call[Any], Retry], Awaitable[object] | object]


class HookOptions(TypedDict, total=False):
    """Functions of the caller that are told of every attempt. None sees the key."""

    on_request: Iterable[RequestHook]
    """Called with the call before each attempt."""
    on_reply: Iterable[ReplyHook]
    """Called with the call and its answer."""
    on_failure: Iterable[FailureHook]
    """Called with the call and why there is no answer."""
    on_retry: Iterable[RetryHook]
    """Called with the call and the pause, before another attempt is waited for."""


Hooks: TypeAlias = Mapping[str, tuple[Callable[..., object], ...]]
"""The hooks by the name of their option."""


def hooks_of(options: HookOptions, *, awaited: bool) -> Hooks:
    """The hooks among the options of a client. Raises :class:`~palprep.errors.UsageError` for one
    that would have to be awaited where nothing is ``awaited``."""
    by_name = cast("Mapping[str, Iterable[Callable[..., object]]]", options)
    hooks = {name: tuple(by_name.get(name, ())) for name in HookOptions.__annotations__}
    if not awaited and any(map(inspect.iscoroutinefunction, chain(*hooks.values()))):
        raise UsageError("A hook that is an async function needs an AsyncClient.")
    return hooks


_TOO_LATE = NoAnswer(sent=True, timed_out=True, detail="the deadline passed")

_GRACE_S = 0.05
"""The library's own timeout ends with the deadline and tells more: whether anything was sent."""


@dataclass(frozen=True)
class SyncSender:
    """Carries out steps on the calling thread. Threads may share it. ``http`` is a client of
    the writer's library, closed with this one where it is its ``own``."""

    http: httpx.Client
    writer: RequestWriter
    context: Context
    sleep: Callable[[float], object]
    hooks: Hooks
    own: bool
    turns: dict[str, threading.Lock] = field(default_factory=dict)

    def run(self, steps: Doing[T]) -> T:
        """Carry out ``steps`` and return their result."""
        return drive(steps, self._perform)

    def _perform(self, step: Step) -> object:
        match step:
            case Send():
                return self._send(step)
            case Tell(hook, about):
                for each in self.hooks[hook]:
                    each(*about)
            case Pause(seconds):
                self.sleep(seconds)
            case Work(do):
                return do()
            case Turn(name):
                turn = self.turns.setdefault(name, threading.Lock())
                turn.acquire()
                return turn
        return None

    def _send(self, step: Send) -> Answer | NoAnswer:
        request = _request(self.http, self.writer, step)
        started = self.context.clock()
        try:
            if step.within is None:
                response = self.http.send(request, follow_redirects=False)
                content = response.content
            else:
                response, content = self._in_time(request, step.within)
        except self.writer.library.error as error:
            return self.writer.no_answer(step.call, error)
        except TimeoutError:
            return _TOO_LATE
        elapsed = self.context.clock() - started
        return self.writer.answer(step.call, response, content, elapsed)

    def _in_time(self, request: httpx.Request, within: float) -> tuple[httpx.Response, bytes]:
        """The response and its body. Raises TimeoutError after ``within`` seconds.

        The library bounds single reads, and an answer that drips takes any number of them. So
        the attempt has a thread of its own. One that is too late is left behind, and ends with
        its next read.
        """
        late = threading.Event()
        made: Future[tuple[httpx.Response, bytes]] = Future()

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

    def _read(self, request: httpx.Request, late: threading.Event) -> tuple[httpx.Response, bytes]:
        response = self.http.send(request, stream=True, follow_redirects=False)
        try:
            pieces = takewhile(lambda _: not late.is_set(), response.iter_bytes())
            return response, b"".join(pieces)
        finally:
            response.close()


@dataclass(frozen=True)
class AsyncSender:
    """Carries out steps in the running event loop, asyncio's or trio's; else as the other."""

    http: httpx.AsyncClient
    writer: RequestWriter
    context: Context
    sleep: Callable[[float], Awaitable[object]]
    hooks: Hooks
    own: bool
    turns: dict[str, anyio.Lock] = field(default_factory=dict)

    async def run(self, steps: Doing[T]) -> T:
        """Carry out ``steps`` and return their result."""
        return await drive_async(steps, self._perform)

    async def _perform(self, step: Step) -> object:
        match step:
            case Send():
                return await self._send(step)
            case Tell(hook, about):
                for each in self.hooks[hook]:
                    returned = each(*about)
                    if inspect.isawaitable(returned):
                        await returned
            case Pause(seconds):
                await self.sleep(seconds)
            case Work(do):
                return await anyio.to_thread.run_sync(do)
            case Turn(name):
                turn = self.turns.setdefault(name, anyio.Lock())
                await turn.acquire()
                return turn
        return None

    async def _send(self, step: Send) -> Answer | NoAnswer:
        request = _request(self.http, self.writer, step)
        started = self.context.clock()
        response = None
        try:
            if step.within is None:
                response = await self.http.send(request, follow_redirects=False)
            else:
                with anyio.move_on_after(step.within + _GRACE_S):
                    response = await self.http.send(request, follow_redirects=False)
        except self.writer.library.error as error:
            return self.writer.no_answer(step.call, error)
        if response is None:
            return _TOO_LATE
        elapsed = self.context.clock() - started
        return self.writer.answer(step.call, response, response.content, elapsed)


def _request(
    http: httpx.Client | httpx.AsyncClient, writer: RequestWriter, step: Send
) -> httpx.Request:
    if http.is_closed:
        raise UsageError("The client is closed. Make another one, or close it later.")
    return writer.write(step.call, step.within)
