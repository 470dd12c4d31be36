"""Methods written once: sync on a sync client, async on an async one.

A :class:`Method` stands for one endpoint, a function made by :func:`routine` for several steps
towards one result. Type checkers and ``inspect.signature`` see the arguments of what was declared.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import (
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    overload,
)

from palprep.api import Endpoint, Reply
from palprep.client.exchange import exchange
from palprep.client.policy import Context
from palprep.client.senders import AsyncSender, SyncSender
from palprep.client.steps import Doing, RawResponse
from palprep.client.upload import open_upload
from palprep.vocabulary import FileInput

P = ParamSpec("P")
R = TypeVar("R", bound=Reply)
T = TypeVar("T")
W = TypeVar("W")
T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S", bound=SyncSender | AsyncSender)


class Sending(Generic[S]):
    """Whatever has methods that send: a client, and each resource of it."""

    def __init__(self, sender: S) -> None:
        self._sender: S = sender


def context_of(owner: Sending[Any]) -> Context:
    """The clock, the randomness and the settings of a client."""
    return cast("Context", owner._sender.context)  # noqa: SLF001 -- what is sent by it is its own


class BoundMethod(Generic[P, R, T, W]):
    """One endpoint on one client: called it sends, and returns the record. On an async client
    it is awaited."""

    def __init__(self, endpoint: Endpoint[P, R], sender: SyncSender | AsyncSender) -> None:
        self._endpoint = endpoint
        self._sender: Any = sender
        self.__doc__ = endpoint.description
        self.__name__ = self.__qualname__ = endpoint.action

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        record: T = self._sender.run(ask(self, *args, **kwargs))
        return record

    def raw(self, *args: P.args, **kwargs: P.kwargs) -> W:
        """The reply with status, headers and body, and its record."""
        reply: W = self._sender.run(self.steps(*args, **kwargs))
        return reply

    def steps(self, *args: P.args, **kwargs: P.kwargs) -> Doing[RawResponse[R]]:
        """The call as steps, to be carried out by whoever asks for it."""
        context: Context = self._sender.context
        call = self._endpoint.call(args, kwargs, context.settings, open_upload)
        return (yield from exchange(call, context))

    @property
    def __signature__(self) -> inspect.Signature:
        endpoint = self._endpoint
        return endpoint.shape.client_signature.replace(return_annotation=endpoint.reply)

    def __repr__(self) -> str:
        return f"<method {self.__name__}{self.__signature__}>"


Sync: TypeAlias = BoundMethod[P, R, R, RawResponse[R]]
Async: TypeAlias = BoundMethod[P, R, Coroutine[Any, Any, R], Coroutine[Any, Any, RawResponse[R]]]


class Method(Generic[P, R]):
    """Calls ``endpoint``, with exactly its arguments."""

    def __init__(self, endpoint: Endpoint[P, R]) -> None:
        self.endpoint = endpoint
        self.__doc__ = endpoint.description

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Self: ...
    @overload
    def __get__(self, owner: Sending[SyncSender], kind: type[Any]) -> Sync[P, R]: ...
    @overload
    def __get__(self, owner: Sending[AsyncSender], kind: type[Any]) -> Async[P, R]: ...
    @overload
    def __get__(self, owner: Sending[Any], kind: type[Any]) -> BoundMethod[P, R, Any, Any]: ...
    def __get__(self, owner: Sending[Any] | None, kind: type[Any]) -> Any:
        if owner is None:
            return self
        return BoundMethod(self.endpoint, owner._sender)  # noqa: SLF001 -- its class's method


def upload_method(
    endpoint: Endpoint[Concatenate[str, P], R],
) -> Method[Concatenate[FileInput, P], R]:
    """The method of an endpoint whose first field is streamed: it takes a file in its place."""
    return Method(endpoint)  # type: ignore[arg-type]


def ask(method: BoundMethod[P, R, Any, Any], /, *args: P.args, **kwargs: P.kwargs) -> Doing[R]:
    """The record that the service answers with. Raises what the client raises."""
    return (yield from method.steps(*args, **kwargs)).record


class Routine(Protocol[P, T_co]):
    """A function of a client, which comes first, or a method; an async client makes it
    awaitable."""

    @overload
    def __call__(
        self, owner: Sending[SyncSender], /, *args: P.args, **kwargs: P.kwargs
    ) -> T_co: ...
    @overload
    def __call__(
        self, owner: Sending[AsyncSender], /, *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T_co]: ...

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Self: ...
    @overload
    def __get__(self, owner: Sending[SyncSender], kind: type[Any]) -> Callable[P, T_co]: ...
    @overload
    def __get__(
        self, owner: Sending[AsyncSender], kind: type[Any]
    ) -> Callable[P, Awaitable[T_co]]: ...


def routine(steps: Callable[Concatenate[Any, P], Doing[T]]) -> Routine[P, T]:
    """The function that carries out these steps with the client that it is given, or on whose
    resource it is a method."""

    @functools.wraps(steps)
    def run(owner: Sending[Any], /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return owner._sender.run(steps(owner, *args, **kwargs))  # noqa: SLF001 -- as above

    signature = inspect.signature(steps, eval_str=True)
    result = get_args(signature.return_annotation)[-1]
    run.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
    return cast("Routine[P, T]", run)
