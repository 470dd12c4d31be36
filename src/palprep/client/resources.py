"""The resources of a client, each method from one declaration in :mod:`palprep.api.calls`.

Methods are written once: sync on a sync client, async on an async one. A :class:`Method` stands for
one endpoint, a function made by :func:`routine` for several steps towards one result. Type checkers
and ``inspect.signature`` see the arguments of what was declared.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import (
    TYPE_CHECKING,
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

from palprep.api import Document, Endpoint, Replica, Reply, Voice, calls
from palprep.client.exchange import exchange
from palprep.client.policy import Context, until
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

    def __init__(self, method: Method[P, R], sender: SyncSender | AsyncSender) -> None:
        self._endpoint = method.endpoint
        self._sender: Any = sender
        self.__doc__ = method.__doc__
        self.__name__ = self.__qualname__ = method.endpoint.action

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
        return BoundMethod(self, owner._sender)  # noqa: SLF001 -- its class's method


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


class Resource(Sending[S]):
    """Methods of one resource."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._sender.writer.base_url}>"


class Specified(Resource[S]):
    """A resource of the specification, which knows where its unspecified operations are."""

    if not TYPE_CHECKING:  # A name that is not there must stay an error of type checkers.

        def __getattr__(self, name: str) -> Any:
            resource = type(self).__name__.lower()
            for there in (f"{name}_{resource}", f"{name}_{resource.removesuffix('s')}"):
                if hasattr(UnspecifiedOperations, there):
                    raise AttributeError(
                        f"The specification shows no {resource}.{name}: palprep's sandbox serves "
                        f"it as client.unspecified.{there}"
                    )
            message = f"{type(self).__name__} has no method {name!r}"
            raise AttributeError(message, name=name, obj=self)


class Faces(Specified[S]):
    """Face images."""

    validate_image = upload_method(calls.validate_face_image)


class Voices(Specified[S]):
    """Cloned and catalogue voices."""

    create = Method(calls.create_voice)
    get = Method(calls.get_voice)
    update = Method(calls.update_voice)

    @routine
    def wait(self, voice_id: str, *, timeout: float = 900.0) -> Doing[Voice]:
        """Wait until a voice is ``completed`` or ``error`` and return it; read its ``status``.

        Asks at once, after 1 s, then ever more rarely, up to every 15 s. After ``timeout``
        seconds raises :class:`~palprep.errors.WaitTimeout`, whose ``last`` is the last record.
        """
        return until(
            lambda voice: voice.ended,
            f"The voice {voice_id}",
            context_of(self),
            timeout,
            ask=lambda: ask(self.get, voice_id),
        )


class Replicas(Specified[S]):
    """Likenesses trained from a video or an image."""

    create = Method(calls.create_replica)
    validate_image = upload_method(calls.validate_replica_image)


class Tools(Specified[S]):
    """Functions that PALs call."""

    create = Method(calls.create_tool)


class Pals(Specified[S]):
    """Agents and their skills."""

    replace_skills = Method(calls.replace_skills)
    delete = Method(calls.delete_pal)


class Deployments(Specified[S]):
    """Published front-ends of PALs."""

    patch = Method(calls.patch_deployment)
    delete = Method(calls.delete_deployment)


class Videos(Specified[S]):
    """Generated videos."""

    rename = Method(calls.rename_video)


class Documents(Specified[S]):
    """Files and websites that PALs know."""

    get = Method(calls.get_document)

    @routine
    def wait(self, document_id: str, *, timeout: float = 3_600.0) -> Doing[Document]:
        """Wait until a document is ``ready`` or ``error`` and return it; read its ``status``.

        Asks and gives up as for voices.
        """
        return until(
            lambda document: document.status in {"ready", "error"},
            f"The document {document_id}",
            context_of(self),
            timeout,
            ask=lambda: ask(self.get, document_id),
        )


class PronunciationDictionaries(Specified[S]):
    """Rules of how words are spoken."""

    get = Method(calls.get_pronunciation_dictionary)


class Connectors(Specified[S]):
    """External tool servers. Checks keep to 10 a minute, one at a time, by waiting."""

    runtime_check = Method(calls.runtime_check_connector)


class Conversations(Specified[S]):
    """Real-time video call sessions."""

    create = Method(calls.create_conversation)


class UnspecifiedOperations(Resource[S]):
    """Operations that the specification mentions without showing them. palprep's sandbox
    serves them as they are here; whether the service does is not known."""

    get_replica = Method(calls.get_replica)
    list_voices = Method(calls.list_voices)
    get_deployment = Method(calls.get_deployment)
    list_tools = Method(calls.list_tools)
    get_tool = Method(calls.get_tool)
    delete_tool = Method(calls.delete_tool)

    @routine
    def wait_replica(self, replica_id: str, *, timeout: float = 14_400.0) -> Doing[Replica]:
        """Wait until a replica is ``completed`` or ``error`` and return it; read its ``status``.

        Uses a GET that the specification does not show. Asks and gives up as for voices.
        """
        return until(
            lambda replica: replica.ended,
            f"The replica {replica_id}",
            context_of(self),
            timeout,
            ask=lambda: ask(self.get_replica, replica_id),
        )
