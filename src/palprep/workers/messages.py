"""What a worker and the process that started it say to each other, over a socket.

The worker gets a pickled task: that comes from its own side of the fence. What it answers is JSON,
and is checked against the type that the function declares. A decoder that a file has taken over can
answer with lies, but with nothing that runs.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import pickle
import selectors
import socket
import struct
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self, TypeAlias

from pydantic import BaseModel, TypeAdapter

from palprep.errors import PalprepError, ToolFailed
from palprep.system import NO_MORE, gives_no_more
from palprep.values import Value
from palprep.workers.confinement import Protections

_HEAD = struct.Struct("!Q")
_PIECE_BYTES = 1 << 20
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)

MOST_BYTES = 64 << 20
"""The largest message. The report on an hour of video takes less than 1 MiB."""

_MOST_WORDS = 10_000
"""Characters of an error's message, and of each thing that it carries along."""

Plain: TypeAlias = str | int | float | bool | None


class NoAnswer(Exception):
    """What came from a worker is no answer of the type that was asked for."""


class Ready(Value):
    """The worker has loaded what it was told to, within these protections."""

    protections: Protections


class Called(Value):
    """The task calls a callback with one number."""

    name: str
    value: float


class Done(Value):
    """The task's value, as JSON."""

    value: Any


class Failed(Value):
    """The task's error: one of palprep's own, or :func:`unexpected`. ``kinds`` are its classes in
    palprep, the closest first. ``trace`` is Python's of an unexpected one."""

    kinds: tuple[str, ...]
    message: str
    context: dict[str, Plain]
    trace: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """The error, with what of it is plain."""
        trace, told = "", error
        if not isinstance(told, PalprepError):
            trace, told = "".join(traceback.format_exception(error)), unexpected(error)
        kinds = type(told).__mro__
        return cls(
            kinds=tuple(each.__name__ for each in kinds if issubclass(each, PalprepError)),
            message=told.message[:_MOST_WORDS],
            context={
                name: value[:_MOST_WORDS] if isinstance(value, str) else value
                for name, value in vars(told).items()
                if name != "message" and isinstance(value, Plain)
            },
            trace=trace[-_MOST_WORDS:],
        )

    def as_error(self, pid: int) -> PalprepError:
        """The error, of the closest class that this process knows. It names the process ``pid``
        only where it was unexpected."""
        known = {each.__name__: each for each in _below(PalprepError)}
        kind = next((known[each] for each in self.kinds if each in known), PalprepError)
        error = kind.__new__(kind)
        Exception.__init__(error, self.message)
        vars(error).update({**self.context, "message": self.message})
        for name in ("pid", "code"):
            vars(error).pop(name, None)
        if self.trace:
            vars(error)["pid"] = pid
        return error


def unexpected(error: BaseException) -> ToolFailed:
    """What a library, or palprep, raised at a file, as the failure of that one file. Not every
    error can be sent itself."""
    where = "".join(
        f"{Path(each.filename).name}:{each.lineno}"
        for each in traceback.extract_tb(error.__traceback__)[-1:]
    )
    words, kind = str(error)[:_MOST_WORDS], type(error).__name__
    known = f"{kind}: {words}" if words else kind
    if gives_no_more(error):
        return ToolFailed(f"The work at this file ended ({known}). {NO_MORE}")
    return ToolFailed(
        f"palprep failed at this file in a way that it does not know ({known}; in {where}): the "
        "file may be damaged. Please report this, with the file if you may"
    )


Message: TypeAlias = Ready | Called | Done | Failed
_KINDS: Mapping[str, type[Message]] = {
    each.__name__: each for each in (Ready, Called, Done, Failed)
}


def task(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bytes:
    """One call, pickled: the folder that relative paths lead from, empty where it was removed; the
    function, its arguments, and the names of those that are callbacks, which are left here."""
    here = ""
    with contextlib.suppress(OSError):
        here = str(Path.cwd())
    sent = {name: value for name, value in kwargs.items() if not callable(value)}
    callbacks = tuple(name for name in kwargs if name not in sent)
    return pickle.dumps((here, function, args, sent, callbacks))


def write(message: Message) -> bytes:
    return json.dumps([type(message).__name__, message.to_json()]).encode()


def read(message: bytes) -> Message:
    """One message of a worker. Raises NoAnswer."""
    try:
        kind, content = json.loads(message)
        return _KINDS[kind].model_validate(content)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise NoAnswer(str(error)[:_MOST_WORDS]) from None


def done(function: Callable[..., Any], value: Any) -> Done:
    """The value of a function, as JSON. Raises pydantic's error for one of another type."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # It only warns of another type.
        plain = answer_type(function).dump_python(value, mode="json", round_trip=True)
    return Done(value=plain)


def value_of(answer: Done, function: Callable[..., Any]) -> Any:
    """The value of a function. Raises NoAnswer for one of another type."""
    try:
        return answer_type(function).validate_python(answer.value)
    except (ValueError, TypeError, RecursionError) as error:
        raise NoAnswer(str(error)[:_MOST_WORDS]) from None


def answer_type(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """The type that a function, or an object that can be called, says that it returns."""
    called = function if inspect.isroutine(function) else type(function).__call__
    declared = getattr(called, "__annotations__", {}).get("return", Any)
    if isinstance(declared, str):
        # Not typing.get_type_hints: that asks for the parameters' types, too, which only a type
        # checker may know.
        names = vars(sys.modules[called.__module__])
        declared = eval(declared, names)  # noqa: S307 -- palprep's own source
    return _adapter(declared)


_adapter = functools.cache(TypeAdapter)
"""Kept: to work out what a report may hold takes as long as to measure a second of speech."""


def paths_in(value: Any) -> Iterable[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, BaseModel):
        yield from paths_in(vars(value))
    elif isinstance(value, Mapping | tuple | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from paths_in(each)


def _below(kind: type[PalprepError]) -> Iterable[type[PalprepError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _below(each)


class Channel:
    """One end of a socket. Not multiprocessing's connection: that waits without end for the rest
    of a message that was begun, and a worker may have been taken over.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._held = bytearray()
        self._sending = threading.Lock()

    def send(self, message: bytes) -> None:
        """Send a message whole; from any thread. Raises OSError."""
        with self._sending:
            self._socket.sendall(_HEAD.pack(len(message)) + message)

    def receive(self, within_s: float | None = None) -> bytes | None:
        """The next message; None when it is not here ``within_s`` seconds. Raises EOFError at the
        end, OSError for a broken socket or more than :data:`MOST_BYTES`."""
        give_up = None if within_s is None else time.monotonic() + within_s
        while (message := self._taken()) is None:
            left = None if give_up is None else max(0.0, give_up - time.monotonic())
            if not self._readable(left):
                return None
            piece = self._socket.recv(_PIECE_BYTES)
            if not piece:
                raise EOFError
            self._held += piece
        return message

    def is_quiet(self) -> bool:
        """Whether nothing has come, its end neither."""
        return not self._held and not self._readable(0.0)

    def close(self) -> None:
        self._socket.close()

    def _taken(self) -> bytes | None:
        if len(self._held) < _HEAD.size:
            return None
        [size] = _HEAD.unpack_from(self._held)
        if size > MOST_BYTES:
            raise OSError(f"a message of {size} bytes")
        end = _HEAD.size + size
        if len(self._held) < end:
            return None
        message = bytes(self._held[_HEAD.size : end])
        del self._held[:end]
        return message

    def _readable(self, within_s: float | None) -> bool:
        with _Selector() as waiting:
            waiting.register(self._socket, selectors.EVENT_READ)
            return bool(waiting.select(within_s))
