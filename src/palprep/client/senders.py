"""The senders, sync and async: the only place where a client uses the network, sleep, threads or
locks. Everything else is written once, as coroutines that await nothing but a sender's methods.
With the sync sender such a coroutine never suspends."""

from __future__ import annotations

import inspect
import math
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import aclosing, closing, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Generic, TypeAlias, TypedDict, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx
from pydantic import SecretStr

from palprep._version import __version__
from palprep.api import UNSET, Call, Rate, Reply, StreamedBody, read_body
from palprep.client.settings import limits_of
from palprep.errors import UsageError
from palprep.system import in_daemon_thread

T = TypeVar("T")
R = TypeVar("R", bound=Reply)
H = TypeVar("H", httpx.Client, httpx.AsyncClient)


@dataclass(frozen=True)
class Answer:
    """An answer: its ``status``, ``headers`` (lower-case names) and body (``content``), which came
    after ``elapsed`` seconds."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    elapsed: float = 0.0


@dataclass(frozen=True)
class NoAnswer:
    """No answer came. ``sent`` is False if the request certainly never left as a whole."""

    sent: bool
    timed_out: bool
    detail: str


@dataclass(frozen=True, kw_only=True)
class RawResponse(Answer, Generic[R]):
    """An answer, and the ``record`` that was read from it."""

    record: R

    def json(self) -> Any:
        """The body as parsed JSON; its text when it is not JSON, None when it is empty."""
        return read_body(self.content)


class Limiter:
    """Says when the next request may leave, by a sliding window over the moments of others if there
    is a ``rate``, and by the service's Retry-After. ``turn`` is the lock that keeps the requests of
    a rate from overlapping. Thread-safe."""

    def __init__(self, rate: Rate | None = None, turn: Any = None) -> None:
        self.rate, self.turn = rate, turn
        self._moments: deque[float] = deque(maxlen=rate.requests if rate else 0)
        self._rests_until = -math.inf
        self._lock = threading.Lock()

    def rest(self, until: float) -> None:
        """Let nothing leave before that moment."""
        with self._lock:
            self._rests_until = max(self._rests_until, until)

    def reserve(self, now: float, ends: float | None = None) -> float:
        """Count one more request, and return the seconds until it may leave. When that would not
        be before the moment ``ends``, return infinity and count nothing."""
        with self._lock:
            wait_s = self.rate.wait_s(self._moments, now) if self.rate else 0.0
            wait_s = max(wait_s, self._rests_until - now)
            if ends is not None and now + wait_s >= ends:
                return math.inf
            self._moments.append(now + wait_s)
            return wait_s


RequestHook = Callable[[Call[Any]], Awaitable[object] | object]
ReplyHook = Callable[[Call[Any], Answer], Awaitable[object] | object]
FailureHook = Callable[[Call[Any], NoAnswer], Awaitable[object] | object]


class HookOptions(TypedDict, total=False):
    """Functions of the caller, one or several, that are called at every attempt."""

    on_request: RequestHook | Iterable[RequestHook]
    on_reply: ReplyHook | Iterable[ReplyHook]
    on_failure: FailureHook | Iterable[FailureHook]


Hooks: TypeAlias = Mapping[str, tuple[Callable[..., object], ...]]


def hooks_of(options: Mapping[str, Any], *, awaited: bool) -> Hooks:
    """The hooks among the options of a client. Raises :class:`~palprep.errors.UsageError` for what
    is no function, and for an async function, ``sleep`` included, unless the client is async
    (``awaited``)."""
    hooks: dict[str, tuple[Any, ...]] = {}
    for name in HookOptions.__annotations__:
        given = options.get(name) or ()
        hooks[name] = tuple(given) if isinstance(given, Iterable) else (given,)
        if not all(map(callable, hooks[name])):
            raise UsageError(f"{name} takes a function, or several in a list.")
    functions = *chain(*hooks.values()), options.get("sleep")
    if not awaited and any(map(inspect.iscoroutinefunction, functions)):
        raise UsageError("A hook or a sleep that is an async function needs an AsyncClient.")
    return hooks


_AT_ONCE = 100
"""httpx keeps as many connections. Further calls wait here: its pool looks at all that wait
whenever one comes or goes, so that hundreds of them delay each other until they time out."""
MAX_ANSWER_BYTES = 64 * 1024 * 1024
_GRACE_S = 0.05
"""Lets httpx's own timeout come first, which tells whether anything was sent."""


@dataclass(frozen=True, kw_only=True)
class _Sender(Generic[H]):
    """Base of both senders. With the call they hold everything on which a decision depends.
    ``http`` is closed with the client if it is its ``own``. ``headers`` and ``query`` travel with
    every request."""

    awaited: ClassVar[bool]
    library: ClassVar[type[httpx.Client | httpx.AsyncClient]]
    lock: ClassVar[Callable[[], Any]]

    http: H
    own: bool
    base_url: str
    key: SecretStr
    timeout: Mapping[str, float | None]
    """Seconds, by what is waited for."""
    headers: dict[str, str]
    query: dict[str, Any]
    clock: Callable[[], float]
    """Monotonic seconds."""
    sleep: Callable[[float], object]
    """May be an async function."""
    random: Callable[[], float]
    """Uniform in [0, 1)."""
    hooks: Hooks = field(default_factory=dict)
    retries: int = 2
    """How many attempts may follow the first."""
    deadline: float | None = None
    """Seconds that a call may take in all, other attempts included; None for no end."""
    strict: bool = False
    limiters: dict[str, Limiter] = field(default_factory=dict)
    """By the endpoint's name; shared by a client and its copies."""
    users: list[object] = field(default_factory=list)
    """The event loop or the process that first used the connections."""

    def used_in(self, user: object, what: str, or_else: str = "") -> None:
        """Raise :class:`~palprep.errors.UsageError` for a second user of the same connections."""
        if self.users[:1] not in ([], [user]):
            raise UsageError(
                f"This client was used in another {what}, to which its connections belong. Make "
                f"one for each {what}{or_else}."
            )
        self.users[:] = [user]

    def write(self, call: Call[Any], within: float | None) -> httpx.Request:
        """The request for ``call``, which has ``within`` seconds left. Nothing that outlives the
        request holds the key in clear. Raises :class:`~palprep.errors.UsageError` for a path that
        makes no URL, and :class:`~palprep.errors.InvalidRequest` for a body that cannot be sent."""
        headers = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "user-agent": f"palprep/{__version__}",
            **self.headers,
            **{name.lower(): value for name, value in call.headers.items()},
            "x-api-key": self.key.get_secret_value(),
        }
        pairs = *(p for p in self.query.items() if p[0] not in dict(call.query)), *call.query
        several = ((n, v if isinstance(v, list | tuple) else [v]) for n, v in pairs)
        query = [(name, each) for name, values in several for each in values]
        body = call.content()
        if body is not None:
            headers["content-type"] = "application/json"
            headers["content-length"] = str(len(body))
        limits = self.timeout if call.timeout is UNSET else limits_of(call.timeout)
        if within is not None:
            limits = {n: within if s is None else min(s, within) for n, s in limits.items()}
        content = _AsyncBody(body) if isinstance(body, StreamedBody) and self.awaited else body
        try:
            request = httpx.Request(
                call.method,
                self.base_url + call.path,
                params=query or None,
                headers=headers,
                content=content,
                extensions={"timeout": limits},
            )
            _ = request.url.host  # Decodes the name, which httpx may refuse.
        except (httpx.InvalidURL, UnicodeError) as error:
            raise UsageError(
                f"{call.method} {call.endpoint.path}: no URL can be made of this ({error})."
            ) from None
        return request

    async def tell(self, hook: str, *about: object) -> None:
        """Call the caller's hooks of this name, and await those that are async functions."""
        for each in self.hooks[hook]:
            await _done(each(*about))

    async def pause(self, seconds: float) -> None:
        await _done(self.sleep(seconds))


async def _done(returned: object) -> None:
    """Await what a function of the caller's has returned, if it is to be awaited."""
    if inspect.isawaitable(returned):
        await returned


def _append(content: bytearray, piece: bytes) -> None:
    """Add a piece to the body of an answer. Raises httpx.ReadError when that becomes too large."""
    content += piece
    if len(content) > MAX_ANSWER_BYTES:
        raise httpx.ReadError(f"the answer has more than {MAX_ANSWER_BYTES:,} bytes")


class _AsyncBody:
    """A streamed body as httpx's async client takes it. Each piece is read in a tenth of a
    millisecond, so that a thread would not help."""

    def __init__(self, body: StreamedBody) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._body:
            yield piece


@dataclass(frozen=True, kw_only=True)
class SyncSender(_Sender[httpx.Client]):
    """Does everything on the calling thread. Threads may share it."""

    awaited = False
    library = httpx.Client
    lock = staticmethod(threading.RLock)  # A hook may call the same endpoint.

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that awaits nothing but this sender's methods. Raises
        :class:`~palprep.errors.UsageError` for a hook that awaits something else."""
        try:
            doing.send(None)
        except StopIteration as end:
            value: T = end.value
            return value
        doing.close()
        raise UsageError("A hook or a sleep waits for an event loop, which needs an AsyncClient.")

    async def transmit(
        self, request: httpx.Request, within: float | None
    ) -> tuple[httpx.Response, bytes]:
        """The response and its body. Raises httpx's errors, and TimeoutError after ``within``
        seconds. httpx limits only single reads, so an attempt with a limit has its own thread,
        which is left behind when it is late. Raises :class:`~palprep.errors.UsageError` in a forked
        process, because each process would read answers of the other."""
        self.used_in(os.getpid(), "process")
        if within is None:
            return self._read(request)
        late = threading.Event()
        try:
            return in_daemon_thread(lambda: self._read(request, late)).result(within + _GRACE_S)
        finally:
            late.set()

    def _read(
        self, request: httpx.Request, late: threading.Event | None = None
    ) -> tuple[httpx.Response, bytes]:
        content = bytearray()
        with closing(self.http.send(request, stream=True, follow_redirects=False)) as response:
            for piece in response.iter_bytes():
                _append(content, piece)
                if late and late.is_set():
                    break
        return response, bytes(content)

    async def take(self, turn: threading.RLock, within: float | None) -> bool:
        """Take a turn, which the caller releases. Returns whether it came ``within`` seconds."""
        return turn.acquire(timeout=-1 if within is None else within)

    async def work(self, do: Callable[[], T]) -> T:
        return do()


@dataclass(frozen=True, kw_only=True)
class AsyncSender(_Sender[httpx.AsyncClient]):
    """Does everything in the running event loop, asyncio's or trio's."""

    awaited = True
    library = httpx.AsyncClient
    lock = anyio.Lock

    room: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(_AT_ONCE))
    """Limits the requests under way over the client's own connections; shared with its copies."""

    def run(self, doing: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        return doing

    def used_here(self) -> None:
        """Raise :class:`~palprep.errors.UsageError` in a second event loop."""
        self.used_in(anyio.lowlevel.current_token(), "event loop", ", or have one asyncio.run()")

    async def transmit(
        self, request: httpx.Request, within: float | None
    ) -> tuple[httpx.Response, bytes]:
        """As :meth:`SyncSender.transmit`, without a thread. Raises UsageError in a second event
        loop."""
        self.used_here()
        content, waits = bytearray(), self.own
        try:
            with anyio.fail_after(None if within is None else within + _GRACE_S):
                async with self.room if self.own else nullcontext():
                    waits = False
                    sent = await self.http.send(request, stream=True, follow_redirects=False)
                    async with aclosing(sent) as response:
                        async for piece in response.aiter_bytes():
                            _append(content, piece)
        except TimeoutError:
            if waits:
                raise httpx.PoolTimeout(f"{_AT_ONCE} other calls are under way") from None
            raise
        return response, bytes(content)

    async def take(self, turn: anyio.Lock, within: float | None) -> bool:
        with anyio.move_on_after(within) as late:
            await turn.acquire()
        return not late.cancelled_caught

    async def work(self, do: Callable[[], T]) -> T:
        """The value of ``do()``, which runs in a thread because it may block."""
        return await anyio.to_thread.run_sync(do)


AnySender: TypeAlias = SyncSender | AsyncSender
