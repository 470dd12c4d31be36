"""Functions of the caller that are told of every attempt."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from palprep.api.call import Call
from palprep.client.steps import Answer, NoAnswer, Retry
from palprep.errors import UsageError

RequestHook = Callable[[Call[Any]], Awaitable[object] | object]
ReplyHook = Callable[[Call[Any], Answer], Awaitable[object] | object]
FailureHook = Callable[[Call[Any], NoAnswer], Awaitable[object] | object]
RetryHook = Callable[[Call[Any], Retry], Awaitable[object] | object]


@dataclass(frozen=True)
class Hooks:
    """By what they are told of: before each attempt, an answer, none, and before another one."""

    on_request: tuple[RequestHook, ...] = ()
    on_reply: tuple[ReplyHook, ...] = ()
    on_failure: tuple[FailureHook, ...] = ()
    on_retry: tuple[RetryHook, ...] = ()

    @classmethod
    def of(
        cls,
        on_request: Iterable[RequestHook],
        on_reply: Iterable[ReplyHook],
        on_failure: Iterable[FailureHook],
        on_retry: Iterable[RetryHook],
        *,
        awaited: bool,
    ) -> Hooks:
        """Raises :class:`~palprep.errors.UsageError` for a hook that would have to be awaited
        where nothing is ``awaited``."""
        hooks = cls(tuple(on_request), tuple(on_reply), tuple(on_failure), tuple(on_retry))
        every = (*hooks.on_request, *hooks.on_reply, *hooks.on_failure, *hooks.on_retry)
        if not awaited and any(map(inspect.iscoroutinefunction, every)):
            raise UsageError("A hook that is an async function needs an AsyncClient.")
        return hooks


def tell(hooks: Iterable[Callable[..., object]], *about: object) -> None:
    """Call each hook."""
    for hook in hooks:
        hook(*about)


async def tell_async(hooks: Iterable[Callable[..., object]], *about: object) -> None:
    """Call each hook, and await what has to be awaited."""
    for hook in hooks:
        told = hook(*about)
        if inspect.isawaitable(told):
            await told
