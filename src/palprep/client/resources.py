"""The resources of both clients: a :func:`method` for each endpoint of :mod:`palprep.api.calls`,
and a :func:`routine` for several steps towards one result. An async client makes them awaitable."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    cast,
    overload,
)

from pybase64 import b64encode

from palprep import errors
from palprep.api import Base64Stream, Endpoint, Reply, calls
from palprep.api.records import Document, Replica, Voice
from palprep.client.exchange import exchange
from palprep.client.senders import AnySender, AsyncSender, SyncSender
from palprep.media.sources import Source, read_binary
from palprep.values import Kind, require_type
from palprep.vocabulary import FileInput

P = ParamSpec("P")
R = TypeVar("R", bound=Reply)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
S = TypeVar("S", bound=AnySender)

PIECE_BYTES = 3 * 64 * 1024
"""Bytes that are read, encoded and sent at a time. They stay in a processor's cache between the
three steps, which halves the cost. A multiple of three, so that only the last piece is padded."""

LOOK_EVERY_S = 0.25

_LAST_ANSWER_S = 10.0
"""The time for the answer to a last question, asked when the timeout of a wait has passed."""

PASSING = (errors.TransportError, errors.ServiceUnavailable, errors.RateLimited)
"""Failures of a read that say nothing about the resource, so that waiting goes on."""


class Sending(Generic[S]):
    """Base of everything with methods that send: the clients and their resources."""

    def __init__(self, sender: S) -> None:
        self._sender: S = sender


def _sender_of(owner: Sending[Any]) -> AnySender:
    sender: AnySender | None = getattr(owner, "_sender", None)
    if sender is None:
        raise errors.UsageError(
            f"Give a Client or an AsyncClient first, not {type(owner).__name__}"
        )
    return sender


def open_upload(file: FileInput) -> Base64Stream:
    """The base64 of ``file``: a path, bytes, or a binary file, read from its current position.
    Raises :class:`~palprep.errors.FileMissing`, :class:`~palprep.errors.FileUnreadable` or
    :class:`~palprep.errors.UsageError` for what cannot be read, and
    :class:`~palprep.errors.OutputUnwritable` when the disk has no room for a copy of a stream."""
    source = Source.of(file)
    return Base64Stream(
        source.name,
        source.size_bytes,
        lambda: source.type.mime if source.type.kind is Kind.IMAGE else None,
        functools.partial(_pieces, source),
    )


def _pieces(source: Source) -> Iterator[bytes]:
    left = source.size_bytes
    with source.open() as file:
        while left > 0 and (piece := read_binary(file, min(left, PIECE_BYTES))):
            left -= len(piece)
            yield b64encode(piece)
        # Of a file that changed meanwhile, the service would judge parts of two.
        source.require_unchanged(file)


class Routine(Protocol[P, T_co]):
    """A method, or a function that takes a client first. An async client makes it awaitable."""

    @overload
    def __call__(
        self, owner: Sending[SyncSender], /, *args: P.args, **kwargs: P.kwargs
    ) -> T_co: ...
    @overload
    def __call__(
        self, owner: Sending[AsyncSender], /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T_co]: ...

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> Self: ...
    @overload
    def __get__(self, owner: Sending[SyncSender], kind: type[Any]) -> Callable[P, T_co]: ...
    @overload
    def __get__(
        self, owner: Sending[AsyncSender], kind: type[Any]
    ) -> Callable[P, Coroutine[Any, Any, T_co]]: ...
    @overload
    def __get__(self, owner: Sending[Any], kind: type[Any]) -> Callable[P, Any]: ...


def routine(steps: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Routine[P, T]:
    """A decorator that makes a coroutine function work with both clients, as a method of a resource
    or as a function that takes a client first. It may await only :func:`work`, :func:`pause`,
    :func:`until`, :func:`answered` and what is made of them: a sync client has no event loop."""

    @functools.wraps(steps)
    def run(owner: Any = None, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return _sender_of(owner).run(steps(owner, *args, **kwargs))

    run.__signature__ = inspect.signature(steps, eval_str=True)  # type: ignore[attr-defined]
    return cast("Routine[P, T]", run)


def method(endpoint: Endpoint[P, R]) -> Routine[P, R]:
    """A method that calls ``endpoint`` and takes exactly its arguments."""

    async def ask(owner: Sending[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        call = endpoint.call(args, kwargs, open_upload)
        return (await exchange(call, _sender_of(owner))).record

    ask.__name__ = ask.__qualname__ = endpoint.action
    ask.__doc__ = endpoint.description
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    shown = endpoint.shape.client_signature
    ask.__signature__ = shown.replace(  # type: ignore[attr-defined]
        parameters=[own, *shown.parameters.values()], return_annotation=endpoint.reply
    )
    return routine(ask)


def upload_method(
    endpoint: Endpoint[Concatenate[str, P], R],
) -> Routine[Concatenate[FileInput, P], R]:
    """As :func:`method`, for an endpoint whose first field is streamed: it takes a file instead."""
    return method(endpoint)  # type: ignore[arg-type]


async def answered(asked: T | Awaitable[T]) -> T:
    """The result of a client's method, awaited if the client is async."""
    return await asked if isinstance(asked, Awaitable) else asked


async def work(owner: Sending[Any], do: Callable[[], T]) -> T:
    """The value of ``do()``, which may block, such as an upload or a write to the disk. With an
    async client it runs in a thread. Raises what it raises."""
    return await _sender_of(owner).work(do)


async def pause(owner: Sending[Any], seconds: float) -> None:
    await _sender_of(owner).pause(seconds)


def polls(random: Callable[[], float], longest_s: float = 15.0) -> Iterator[float]:
    """Seconds from one poll of a resource to the next: 1 s, then half as much again each time, up
    to ``longest_s``, less a random quarter."""
    interval_s = 1.0
    while True:
        # A little jitter keeps many who wait from asking in step.
        yield interval_s * (0.75 + 0.25 * random())
        interval_s = min(longest_s, interval_s * 1.5)


async def until(
    owner: Sending[Any],
    ended: Callable[[T], bool],
    what: str,
    timeout: float,
    *,
    ask: Callable[[float], Awaitable[T]] | None = None,
    look: Callable[[], Awaitable[T]] | None = None,
) -> T:
    """Wait until a state has ``ended``, and return that state.

    ``ask`` sends a request to the service: at once, after 1 s, then less and less often, up to
    every 15 s. It is given the deadline of its call, in seconds. ``look`` costs nothing and is
    called four times a second. Give either or both. After ``timeout`` seconds, and at most ten
    more for the last answer, raises :class:`~palprep.errors.WaitTimeout`, which names ``what`` was
    waited for; its ``last`` is the last state.
    """
    sender = _sender_of(owner)
    require_type("timeout", timeout, float)
    give_up = sender.clock() + timeout
    ask_at, intervals_s = sender.clock(), polls(sender.random)
    last: T | None = None
    trouble = ""
    while True:
        if look is not None:
            last = await look()
        due = sender.clock() >= min(ask_at, give_up) and (last is None or not ended(last))
        if ask is not None and due:
            wished_s = 0.0
            try:
                left = max(give_up - sender.clock(), _LAST_ANSWER_S)
                last = await ask(left if sender.deadline is None else min(left, sender.deadline))
                trouble = ""
            except PASSING as error:
                trouble = f" The last attempt to ask failed: {error}"
                wished_s = getattr(error, "retry_after", None) or 0.0
            ask_at = sender.clock() + max(next(intervals_s), wished_s)
        if last is not None and ended(last):
            return last
        left = give_up - sender.clock()
        if left <= 0:
            status = getattr(last, "status", None) or "unknown"
            raise errors.WaitTimeout(
                f"{what}: not ended after {timeout:g} s; the last status was {status}.{trouble} "
                "Wait again, with a longer timeout.",
                last=last,
            )
        looks = LOOK_EVERY_S if look is not None else left
        asks = ask_at - sender.clock() if ask is not None else left
        await pause(owner, max(0.0, min(left, looks, asks)))


_ENDED = frozenset({"completed", "ready", "error"})
"""The final statuses. One that the specification does not know is not taken for final."""


async def _ended(
    owner: Sending[Any],
    get: Callable[..., R | Awaitable[R]],
    what: str,
    own: str,
    timeout: float,
) -> R:
    """The record of this id, which ``get`` asks for, once its status is final."""
    return await until(
        owner,
        lambda record: getattr(record, "status", None) in _ENDED,
        f"The {what} {own}",
        timeout,
        ask=lambda within: answered(get(own, deadline=within)),
    )


class Resource(Sending[S]):
    """A group of endpoints as methods. An operation that it lacks because the specification does
    not show it is an AttributeError, which says where it is."""

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


class Faces(Resource[S]):
    """Face images."""

    validate_image = upload_method(calls.validate_face_image)


class Voices(Resource[S]):
    """Cloned and catalogue voices."""

    create = method(calls.create_voice)
    get = method(calls.get_voice)
    update = method(calls.update_voice)

    @routine
    async def wait(self, voice_id: str, *, timeout: float = 900.0) -> Voice:
        """Wait until a voice is ``completed`` or ``error`` and return it; read its ``status``.

        Asks at once, after 1 s, then less and less often, up to every 15 s. After ``timeout``
        seconds, and at most ten more for the last answer, raises
        :class:`~palprep.errors.WaitTimeout`, whose ``last`` is the last record.
        """
        return await _ended(self, self.get, "voice", voice_id, timeout)


class Replicas(Resource[S]):
    """Likenesses trained from a video or an image."""

    create = method(calls.create_replica)
    validate_image = upload_method(calls.validate_replica_image)


class Tools(Resource[S]):
    """Functions that PALs call."""

    create = method(calls.create_tool)


class Pals(Resource[S]):
    """Agents and their skills."""

    replace_skills = method(calls.replace_skills)
    delete = method(calls.delete_pal)


class Deployments(Resource[S]):
    """Published front-ends of PALs."""

    patch = method(calls.patch_deployment)
    delete = method(calls.delete_deployment)


class Videos(Resource[S]):
    """Generated videos."""

    rename = method(calls.rename_video)


class Documents(Resource[S]):
    """Files and websites that PALs know."""

    get = method(calls.get_document)

    @routine
    async def wait(self, document_id: str, *, timeout: float = 3_600.0) -> Document:
        """Wait until a document is ``ready`` or ``error`` and return it, as for voices."""
        return await _ended(self, self.get, "document", document_id, timeout)


class PronunciationDictionaries(Resource[S]):
    """Rules of how words are spoken."""

    get = method(calls.get_pronunciation_dictionary)


class Connectors(Resource[S]):
    """External tool servers. Checks keep to 10 a minute, one at a time, by waiting."""

    runtime_check = method(calls.runtime_check_connector)


class Conversations(Resource[S]):
    """Real-time video call sessions."""

    create = method(calls.create_conversation)


class UnspecifiedOperations(Resource[S]):
    """Operations that the specification mentions without showing them. palprep's sandbox
    serves them as they are here; whether the service does is not known."""

    get_replica = method(calls.get_replica)
    list_voices = method(calls.list_voices)
    get_deployment = method(calls.get_deployment)
    list_tools = method(calls.list_tools)
    get_tool = method(calls.get_tool)
    delete_tool = method(calls.delete_tool)

    @routine
    async def wait_replica(self, replica_id: str, *, timeout: float = 14_400.0) -> Replica:
        """Wait until a replica is ``completed`` or ``error`` and return it, as for voices, by a GET
        that the specification does not show."""
        return await _ended(self, self.get_replica, "replica", replica_id, timeout)
