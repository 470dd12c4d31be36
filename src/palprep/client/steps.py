"""What a client does, as generators that do nothing themselves.

A generator of steps yields a request, :class:`Send` or :class:`Pause`, and receives its result.
Its return value goes to the caller. Two short loops, one sync and one async, carry the requests
out. So every decision of the client is written once, and is tested without a socket or a clock.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from palprep.api.call import Call
from palprep.api.failures import read_body
from palprep.api.wire import Reply

R = TypeVar("R", bound=Reply)
T = TypeVar("T")
X = TypeVar("X")
Y = TypeVar("Y")


@dataclass(frozen=True)
class Send:
    """Put the call on the wire once. ``within`` is how many seconds its deadline leaves."""

    call: Call[Any]
    within: float | None = None


@dataclass(frozen=True)
class Pause:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    """What came back. ``headers`` have lower-case names; ``elapsed`` is in seconds."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    elapsed: float = 0.0


@dataclass(frozen=True)
class NoAnswer:
    """Nothing came back. ``sent`` is false when the request certainly never left complete."""

    sent: bool
    timed_out: bool
    detail: str


@dataclass(frozen=True)
class Retry(Pause):
    """Wait, because ``call`` is sent once more after failed ``attempt`` (from 0). ``after`` is
    what came of that one."""

    call: Call[Any]
    attempt: int
    after: Answer | NoAnswer


StepResult: TypeAlias = Answer | NoAnswer | None
"""The result of a Send is an Answer or a NoAnswer, that of a Pause is None."""
Steps: TypeAlias = Generator[Send | Pause, StepResult, T]


@dataclass(frozen=True)
class RawResponse(Generic[R]):
    """A reply as it came: ``status``, ``headers`` (lower-case names), ``content`` in bytes,
    and the ``record`` read from it."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    record: R

    def json(self) -> Any:
        """The body as parsed JSON; its text when it is not JSON, None when it is empty."""
        return read_body(self.content)


def drive(steps: Generator[Y, X, T], perform: Callable[[Y], X]) -> T:
    """Run ``steps`` to their end, doing each with ``perform``."""
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send(perform(wanted))
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()


async def drive_async(steps: Generator[Y, X, T], perform: Callable[[Y], Awaitable[X]]) -> T:
    """Run ``steps`` to their end, awaiting each from ``perform``."""
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send(await perform(wanted))
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        steps.close()
