"""What a worker and the process that started it say to each other."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, ParamSpec, Self

from palprep.errors import ToolFailed

P = ParamSpec("P")


class Callback(Generic[P]):
    """A keyword argument that the worker calls, and that runs here.

    The worker does not wait for it, and gets no value of it.
    """

    def __init__(self, function: Callable[P, object]) -> None:
        self._function = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        self._function(*args, **kwargs)


class Task(NamedTuple):
    """One call. ``callbacks`` names the keyword arguments that are called back."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    callbacks: tuple[str, ...]


class Ready(NamedTuple):
    """The worker has loaded what it was told to."""


class Called(NamedTuple):
    """The task calls a callback."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class Done(NamedTuple):
    """The task's value."""

    value: Any


class Failed(NamedTuple):
    """The task's error, one of palprep's own. Any other is told as :class:`Unexpected`."""

    error: Exception


class Unexpected(NamedTuple):
    """What a library, or palprep, raised at a file. Not every error can be sent itself."""

    kind: str
    words: str
    where: str
    """The file and line that raised it."""
    trace: str
    """What Python prints of it, for the log."""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """The error in words."""
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = "".join(f"{Path(each.filename).name}:{each.lineno}" for each in last)
        trace = "".join(traceback.format_exception(error))
        return cls(type(error).__name__, str(error), where, trace)

    def as_error(self, **context: int) -> ToolFailed:
        """The failure of that one file."""
        what = f"{self.kind}: {self.words}" if self.words else self.kind
        return ToolFailed(
            f"palprep failed at this file in a way that it does not know ({what}; in "
            f"{self.where}): the file may be damaged. Please report this, with the file if you may",
            **context,
        )


def task(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bytes:
    """The call, for :func:`read`; callbacks are left here."""
    sent = {name: value for name, value in kwargs.items() if not isinstance(value, Callback)}
    callbacks = tuple(name for name in kwargs if name not in sent)
    return pickle.dumps(Task(function, args, sent, callbacks))


def read(message: bytes) -> Any:
    """One of the messages above. What comes from a worker is as trustworthy as the worker: it is
    kept apart so that it may crash, and is no cage for code that a file has smuggled in.
    """
    return pickle.loads(message)  # noqa: S301 -- see above
