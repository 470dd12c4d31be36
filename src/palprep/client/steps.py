"""What a client does, as generators that do nothing themselves.

A generator yields a step and receives its result: :class:`Send`, :class:`Tell`, :class:`Pause`,
:class:`Work` or :class:`Turn`. Its return value goes to the caller. Two short loops, one sync and
one async, carry the steps out. So every decision is written once, for both clients and for what is
built on them, and is tested without a socket or a clock.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from palprep.api import Call, Reply, read_body

R = TypeVar("R", bound=Reply)
T = TypeVar("T")
Y = TypeVar("Y")


@dataclass(frozen=True)
class Send:
    """Put the call on the wire once; gives :class:`Answer` or :class:`NoAnswer`. ``within`` is how
    many seconds its deadline leaves."""

    call: Call[Any]
    within: float | None = None


@dataclass(frozen=True)
class Tell:
    """Call the caller's hooks under this name."""

    hook: Literal["on_request", "on_reply", "on_failure", "on_retry"]
    about: tuple[Any, ...]


@dataclass(frozen=True)
class Pause:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Work:
    """Do work that blocks, such as an upload or a write to the disk; gives its value. An async
    client does it in a thread of its own."""

    do: Callable[[], Any]


@dataclass(frozen=True)
class Turn:
    """Acquire the client's lock ``name``; gives the lock. Whoever asked for it releases it."""

    name: str


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


Step: TypeAlias = Send | Tell | Pause | Work | Turn
Doing: TypeAlias = Generator[Step, Any, T]
"""Steps under way, and the type of their result. A step that fails raises where it was yielded."""


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


def work(do: Callable[[], T]) -> Doing[T]:
    """The value of ``do()``. Raises what it raises."""
    value: T = yield Work(do)
    return value


def drive(steps: Generator[Y, Any, T], perform: Callable[[Y], Any]) -> T:
    """Run ``steps`` to their end, doing each with ``perform``."""
    result: Any = None
    failed: Exception | None = None
    try:
        while True:
            step = steps.send(result) if failed is None else steps.throw(failed)
            result, failed = None, None
            try:
                result = perform(step)
            except Exception as error:  # noqa: BLE001 -- raised again where the step was yielded
                failed = error
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        failed = None  # Its traceback holds this frame.
        steps.close()


async def drive_async(steps: Generator[Y, Any, T], perform: Callable[[Y], Awaitable[Any]]) -> T:
    """Run ``steps`` to their end, awaiting each from ``perform``."""
    result: Any = None
    failed: Exception | None = None
    try:
        while True:
            step = steps.send(result) if failed is None else steps.throw(failed)
            result, failed = None, None
            try:
                result = await perform(step)
            except Exception as error:  # noqa: BLE001 -- raised again where the step was yielded
                failed = error
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        failed = None  # Its traceback holds this frame.
        steps.close()
