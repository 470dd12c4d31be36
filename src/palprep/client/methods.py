"""Methods of resources: written once, sync on a sync client and async on an async one.

A :class:`Method` or a :class:`Procedure` stands in a resource class as a function would. On a
sync client, calling it returns the record. On an async client, calling it returns an awaitable
of the record. Type checkers and ``inspect.signature`` see the arguments of its declaration.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, get_args, overload

from palprep.api.call import Endpoint
from palprep.api.wire import Reply
from palprep.client.policy import Context
from palprep.client.senders import AsyncSender, SyncSender
from palprep.client.steps import RawResponse, Steps
from palprep.client.upload import open_upload
from palprep.vocabulary import FileInput

P = ParamSpec("P")
R = TypeVar("R", bound=Reply)
T = TypeVar("T")
S = TypeVar("S", bound=SyncSender | AsyncSender)


class Resource(Generic[S]):
    """Methods that share a sender."""

    def __init__(self, sender: S) -> None:
        self._sender: S = sender

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._sender.writer.base_url}>"


class _Bound(Generic[P, R, S]):
    """What the sync and the async form of a method share: how they look."""

    def __init__(self, method: Method[P, R], sender: S) -> None:
        self._endpoint = method.endpoint
        self._sender = sender
        self.__doc__ = method.__doc__
        self.__name__ = self.__qualname__ = method.name

    @property
    def __signature__(self) -> inspect.Signature:
        endpoint = self._endpoint
        return endpoint.shape.client_signature.replace(return_annotation=endpoint.reply)

    def __repr__(self) -> str:
        return f"<method {self.__name__}{self.__signature__}>"


class SyncMethod(_Bound[P, R, SyncSender]):
    """Sends when called and returns the record."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.raw(*args, **kwargs).record

    def raw(self, *args: P.args, **kwargs: P.kwargs) -> RawResponse[R]:
        """The reply with status, headers and body, and its record."""
        settings = self._sender.context.settings
        return self._sender.send(self._endpoint.call(args, kwargs, settings, open_upload))


class AsyncMethod(_Bound[P, R, AsyncSender]):
    """Sends when called and awaited, and returns the record."""

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return (await self.raw(*args, **kwargs)).record

    async def raw(self, *args: P.args, **kwargs: P.kwargs) -> RawResponse[R]:
        """The reply with status, headers and body, and its record."""
        settings = self._sender.context.settings
        return await self._sender.send(self._endpoint.call(args, kwargs, settings, open_upload))


class Method(Generic[P, R]):
    """One call of ``endpoint``, with exactly its arguments."""

    def __init__(self, endpoint: Endpoint[P, R]) -> None:
        self.endpoint = endpoint
        self.name = endpoint.action
        self.__doc__ = endpoint.description

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


def upload_method(
    endpoint: Endpoint[Concatenate[str, P], R],
) -> Method[Concatenate[FileInput, P], R]:
    """The method of an endpoint whose first field is streamed: it takes a file in its place."""
    return Method(endpoint)  # type: ignore[arg-type]


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


def _callers(function: Callable[..., Steps[Any]]) -> inspect.Signature:
    """The signature without the context, which the client gives, and with the steps' result."""
    signature = inspect.signature(function, eval_str=True)
    return signature.replace(
        parameters=list(signature.parameters.values())[1:],
        return_annotation=get_args(signature.return_annotation)[-1],
    )
