"""Routines: requests, pauses and other work towards one result, for a sync or an async client.

A routine is written once, as a generator. It does nothing itself: it yields what it wants
done, and is told the result. With a :class:`Client` all of it happens on the calling thread;
with an :class:`AsyncClient` requests and pauses are awaited, and work that blocks runs in a
thread of its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import (
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    overload,
)

import anyio.to_thread

from palprep.client.client import AsyncClient, Client
from palprep.client.policy import Context
from palprep.client.steps import Pause, drive, drive_async

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

AnyClient: TypeAlias = Client | AsyncClient


@dataclass(frozen=True)
class Ask:
    """Have the client send something: ``send()`` is the reply, or an awaitable of it."""

    send: Callable[[], Any]


@dataclass(frozen=True)
class Work:
    """Do work that blocks, such as an upload or a write to the disk."""

    do: Callable[[], Any]


@dataclass(frozen=True)
class Done:
    """What came of it: a value, or the error that it raised."""

    value: Any = None
    error: Exception | None = None


Doing: TypeAlias = Generator[Ask | Work | Pause, Done, T]
"""A routine under way, and the type of its result."""


def ask(send: Callable[[], Any]) -> Doing[Any]:
    """The reply to what ``send()`` has the client send. Raises what the client raises."""
    return _unwrapped((yield Ask(send)))


def work(do: Callable[[], T]) -> Doing[T]:
    """The value of ``do()``. Raises what it raises."""
    value: T = _unwrapped((yield Work(do)))
    return value


def context_of(client: AnyClient) -> Context:
    """The clock and the randomness of a client."""
    return client._sender.context  # noqa: SLF001 -- a routine is the client's own


class Routine(Protocol[P, T_co]):
    """Called with a client, which comes first; an async client makes it awaitable."""

    @overload
    def __call__(self, client: Client, /, *args: P.args, **kwargs: P.kwargs) -> T_co: ...
    @overload
    def __call__(
        self, client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T_co]: ...


def routine(steps: Callable[Concatenate[AnyClient, P], Doing[T]]) -> Routine[P, T]:
    """The function that carries out these steps with the client that it is given."""

    @functools.wraps(steps)
    def run(client: AnyClient, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        doing = steps(client, *args, **kwargs)
        if isinstance(client, AsyncClient):
            return drive_async(doing, functools.partial(perform_async, client))
        return drive(doing, functools.partial(perform, client))

    signature = inspect.signature(steps, eval_str=True)
    result = get_args(signature.return_annotation)[-1]
    run.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
    return cast("Routine[P, T]", run)


def perform(client: Client, wanted: Ask | Work | Pause) -> Done:
    """Do what a routine wants, on this thread."""
    try:
        match wanted:
            case Ask(send=send):
                return Done(send())
            case Work(do=do):
                return Done(do())
            case Pause(seconds=seconds):
                client._sender.sleep(seconds)  # noqa: SLF001 -- a routine is the client's own
    except Exception as error:  # noqa: BLE001 -- raised again where the routine stands
        return Done(error=error)
    return Done()


async def perform_async(client: AsyncClient, wanted: Ask | Work | Pause) -> Done:
    """Do what a routine wants, in the running event loop."""
    try:
        match wanted:
            case Ask(send=send):
                return Done(await send())
            case Work(do=do):
                return Done(await anyio.to_thread.run_sync(do))
            case Pause(seconds=seconds):
                await client._sender.sleep(seconds)  # noqa: SLF001 -- a routine is the client's own
    except Exception as error:  # noqa: BLE001 -- raised again where the routine stands
        return Done(error=error)
    return Done()


def _unwrapped(done: Done) -> Any:
    if done.error is not None:
        raise done.error
    return done.value
