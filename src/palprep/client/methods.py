"""Methods of resources: written once, sync on a sync client and async on an async one.

A :class:`Method` or a :class:`Procedure` stands in a resource class as a function would.
What it is there depends on whose resource it is: with a sync sender, calling it returns
the record; with an async one, calling it returns an awaitable of the record. Its arguments
are those of its declaration, for type checkers and for ``inspect.signature``.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, get_args, overload

from palprep.api.call import Call, Endpoint
from palprep.api.wire import Reply, Settings
from palprep.client.exchange import exchange
from palprep.client.policy import Context
from palprep.client.senders import AsyncSender, SyncSender
from palprep.client.steps import Raw, Steps

P = ParamSpec("P")
R = TypeVar("R", bound=Reply)
T = TypeVar("T")
S = TypeVar("S", bound=SyncSender | AsyncSender)


class Resource(Generic[S]):
    """Methods that share a sender."""

    def __init__(self, sender: S) -> None:
        self._sender: S = sender

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._sender.wire.base_url}>"


class _Bound(Generic[P, R]):
    """What the sync and the async form of a method share: how they look."""

    def __init__(self, method: Method[P, R]) -> None:
        self._method = method
        self.__doc__ = method.__doc__
        self.__name__ = method.name
        self.__qualname__ = method.name

    @property
    def __signature__(self) -> inspect.Signature:
        return self._method.signature

    def __repr__(self) -> str:
        return f"<method {self._method.name}{self._method.signature}>"


class SyncMethod(_Bound[P, R]):
    """Sends when called and returns the record."""

    def __init__(self, method: Method[P, R], sender: SyncSender) -> None:
        super().__init__(method)
        self._sender = sender

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.raw(*args, **kwargs).record

    def raw(self, *args: P.args, **kwargs: P.kwargs) -> Raw[R]:
        """The reply with status, headers and body, and its record."""
        sender = self._sender
        return run(sender, self._method.build(sender.context.settings, *args, **kwargs))


class AsyncMethod(_Bound[P, R]):
    """Sends when called and awaited, and returns the record."""

    def __init__(self, method: Method[P, R], sender: AsyncSender) -> None:
        super().__init__(method)
        self._sender = sender

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return (await self.raw(*args, **kwargs)).record

    async def raw(self, *args: P.args, **kwargs: P.kwargs) -> Raw[R]:
        """The reply with status, headers and body, and its record."""
        sender = self._sender
        call = self._method.build(sender.context.settings, *args, **kwargs)
        return await run_async(sender, call)


def run(sender: SyncSender, call: Call[R]) -> Raw[R]:
    """Send ``call`` and read its reply."""
    return sender.run(exchange(call, sender.context), call.endpoint.name, call.endpoint.rate)


async def run_async(sender: AsyncSender, call: Call[R]) -> Raw[R]:
    """Send ``call`` and read its reply."""
    steps = exchange(call, sender.context)
    return await sender.run(steps, call.endpoint.name, call.endpoint.rate)


class Method(Generic[P, R]):
    """One call: ``build`` makes it of the account's settings and the caller's arguments."""

    def __init__(
        self,
        build: Callable[Concatenate[Settings, P], Call[R]],
        name: str,
        doc: str | None,
        signature: Callable[[], inspect.Signature] | None = None,
    ) -> None:
        self.build = build
        self.name = name
        self.__doc__ = doc
        self._signature = signature or (lambda: _callers(build))

    @property
    def signature(self) -> inspect.Signature:
        """As the caller sees it."""
        return self._signature()

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Self: ...
    @overload
    def __get__(self, owner: Resource[SyncSender], kind: type[Any]) -> SyncMethod[P, R]: ...
    @overload
    def __get__(self, owner: Resource[AsyncSender], kind: type[Any]) -> AsyncMethod[P, R]: ...
    def __get__(
        self, owner: Resource[Any] | None, kind: type[Any]
    ) -> Self | SyncMethod[P, R] | AsyncMethod[P, R]:
        if owner is None:
            return self
        sender = owner._sender  # noqa: SLF001 -- a method belongs to its class
        if isinstance(sender, SyncSender):
            return SyncMethod(self, sender)
        return AsyncMethod(self, sender)


def method(endpoint: Endpoint[P, R]) -> Method[P, R]:
    """The method that sends ``endpoint``'s calls, with exactly its arguments."""

    def build(settings: Settings, /, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        return endpoint.call(args, kwargs, settings)

    def signature() -> inspect.Signature:
        return endpoint.shape.public_signature.replace(return_annotation=endpoint.reply)

    return Method(build, endpoint.action, endpoint.description, signature)


class Procedure(Generic[P, T]):
    """Several calls and pauses towards one result."""

    def __init__(self, steps: Callable[Concatenate[Context, P], Steps[T]]) -> None:
        self.steps = steps
        self.__doc__ = steps.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Self: ...
    @overload
    def __get__(self, owner: Resource[SyncSender], kind: type[Any]) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, owner: Resource[AsyncSender], kind: type[Any]
    ) -> Callable[P, Awaitable[T]]: ...
    def __get__(
        self, owner: Resource[Any] | None, kind: type[Any]
    ) -> Self | Callable[P, T] | Callable[P, Awaitable[T]]:
        if owner is None:
            return self
        sender = owner._sender  # noqa: SLF001 -- a procedure belongs to its class

        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return sender.run(self.steps(sender.context, *args, **kwargs))

        bound.__doc__ = self.__doc__
        bound.__name__ = self.steps.__name__
        bound.__signature__ = _callers(self.steps)  # type: ignore[attr-defined]
        return bound


def _callers(function: Callable[..., Any]) -> inspect.Signature:
    """The signature without the argument that the client gives, and with what comes out of
    the call or the steps that the function returns."""
    signature = inspect.signature(function, eval_str=True)
    return signature.replace(
        parameters=list(signature.parameters.values())[1:],
        return_annotation=get_args(signature.return_annotation)[-1],
    )
