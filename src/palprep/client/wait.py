"""Waiting until something has ended: the one loop, and what the clients wait for with it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from palprep import errors
from palprep.api import calls
from palprep.api.call import Call
from palprep.api.records import Document, Replica, Voice
from palprep.api.wire import Reply
from palprep.client.exchange import exchange
from palprep.client.policy import Context
from palprep.client.steps import Pause, Steps

R = TypeVar("R", bound=Reply)
T = TypeVar("T")
Y = TypeVar("Y")

FIRST_POLL_S = 1.0
LONGEST_POLL_S = 15.0
LOOK_EVERY_S = 0.25

PASSING = (errors.TransportError, errors.ServiceUnavailable, errors.RateLimited)
"""Failures of a read that say nothing of the resource: asking goes on."""


def wait_voice(context: Context, voice_id: str, *, timeout: float = 900.0) -> Steps[Voice]:
    """Wait until a voice is ``completed`` or ``error`` and return it; read its ``status``.

    Asks at once, after 1 s, then ever more rarely, up to every 15 s. After ``timeout``
    seconds raises :class:`~palprep.errors.WaitTimeout`, whose ``last`` is the last record.
    """
    call = calls.get_voice(voice_id)
    return (yield from _asked(context, call, lambda v: v.ended, timeout))


def wait_replica(context: Context, replica_id: str, *, timeout: float = 14_400.0) -> Steps[Replica]:
    """Wait until a replica is ``completed`` or ``error`` and return it; read its ``status``.

    Uses a GET that the specification does not show. Asks and gives up as for voices.
    """
    call = calls.get_replica(replica_id)
    return (yield from _asked(context, call, lambda r: r.ended, timeout))


def wait_document(
    context: Context, document_id: str, *, timeout: float = 3_600.0
) -> Steps[Document]:
    """Wait until a document is ``ready`` or ``error`` and return it; read its ``status``.

    Asks and gives up as for voices.
    """
    call = calls.get_document(document_id)
    return (yield from _asked(context, call, lambda d: d.status in {"ready", "error"}, timeout))


def _asked(context: Context, call: Call[R], ended: Callable[[R], bool], timeout: float) -> Steps[R]:
    def ask() -> Steps[R]:
        return (yield from exchange(call, context)).record

    return (yield from until(ended, f"GET {call.path}", context, timeout, ask=ask))


def until(
    ended: Callable[[T], bool],
    what: str,
    context: Context,
    timeout: float,
    *,
    ask: Callable[[], Generator[Y, Any, T]] | None = None,
    look: Callable[[], Generator[Y, Any, T]] | None = None,
) -> Generator[Y | Pause, Any, T]:
    """Wait until a state has ``ended``, and return that state.

    ``ask`` costs the service a request: it comes at once, after 1 s, then ever more rarely,
    up to every 15 s. ``look`` costs nothing, such as a look at what callbacks have told: it
    comes four times a second. Give either or both.

    After ``timeout`` seconds raises :class:`~palprep.errors.WaitTimeout`, which names
    ``what`` was waited for; its ``last`` is the last state.
    """
    give_up = context.clock() + timeout
    ask_at, poll = context.clock(), FIRST_POLL_S
    last: T | None = None
    trouble = ""
    while True:
        if look is not None:
            last = yield from look()
        if ask is not None and context.clock() >= min(ask_at, give_up) and not _is(ended, last):
            try:
                last = yield from ask()
                trouble = ""
            except PASSING as error:
                trouble = f" The last attempt to ask failed: {error}"
            # A little jitter keeps many waiting clients from asking in step.
            ask_at = context.clock() + poll * (0.75 + 0.25 * context.random())
            poll = min(LONGEST_POLL_S, poll * 1.5)
        if last is not None and ended(last):
            return last
        left = give_up - context.clock()
        if left <= 0:
            status = getattr(last, "status", None) or "unknown"
            raise errors.WaitTimeout(
                f"{what}: not ended after {timeout:g} s; the last status was {status}.{trouble} "
                "Wait again, with a longer timeout.",
                last=last,
            )
        looks = LOOK_EVERY_S if look is not None else left
        asks = ask_at - context.clock() if ask is not None else left
        yield Pause(max(0.0, min(left, looks, asks)))


def _is(ended: Callable[[T], bool], state: T | None) -> bool:
    return state is not None and ended(state)
