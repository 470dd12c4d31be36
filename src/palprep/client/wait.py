"""Waiting for a resource to settle, by asking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from palprep import errors
from palprep.api import calls
from palprep.api.call import Call
from palprep.api.records import Document, Replica, Voice
from palprep.api.wire import Reply
from palprep.client.exchange import exchange
from palprep.client.policy import Context
from palprep.client.steps import Pause, Steps

R = TypeVar("R", bound=Reply)

FIRST_POLL_S = 1.0
LONGEST_POLL_S = 15.0

PASSING = (errors.TransportError, errors.ServiceUnavailable, errors.RateLimited)
"""Failures of a read that say nothing of the resource: asking goes on."""


def wait_voice(context: Context, voice_id: str, *, timeout: float = 900.0) -> Steps[Voice]:
    """Wait until a voice is ``completed`` or ``error`` and return it; read its ``status``.

    Asks after 1 s at first, then ever more rarely, up to every 15 s. After ``timeout``
    seconds raises :class:`~palprep.errors.WaitTimeout`, whose ``last`` is the last record.
    """
    call = calls.get_voice(voice_id)
    return (yield from _settled(context, call, lambda v: v.ended, timeout))


def wait_replica(context: Context, replica_id: str, *, timeout: float = 14_400.0) -> Steps[Replica]:
    """Wait until a replica is ``completed`` or ``error`` and return it; read its ``status``.

    Uses a GET that the specification does not show. Asks and gives up as for voices.
    """
    call = calls.get_replica(replica_id)
    return (yield from _settled(context, call, lambda r: r.ended, timeout))


def wait_document(
    context: Context, document_id: str, *, timeout: float = 3_600.0
) -> Steps[Document]:
    """Wait until a document is ``ready`` or ``error`` and return it; read its ``status``.

    Asks and gives up as for voices.
    """
    call = calls.get_document(document_id)
    return (yield from _settled(context, call, lambda d: d.status in {"ready", "error"}, timeout))


def _settled(
    context: Context, call: Call[R], done: Callable[[R], bool], timeout: float
) -> Steps[R]:
    deadline = context.clock() + timeout
    poll = FIRST_POLL_S
    last: R | None = None
    trouble = ""
    while True:
        try:
            last = (yield from exchange(call, context)).record
            trouble = ""
            if done(last):
                return last
        except PASSING as error:
            trouble = f" The last attempt to ask failed: {error}"
        left = deadline - context.clock()
        if left <= 0:
            status = getattr(last, "status", "unknown")
            raise errors.WaitTimeout(
                f"GET {call.path}: not settled after {timeout:g} s; the last status was "
                f"{status}.{trouble} Wait again, with a longer timeout.",
                last=last,
            )
        # A little jitter keeps many waiting clients from asking in step.
        yield Pause(min(left, poll * (0.75 + 0.25 * context.random())))
        poll = min(LONGEST_POLL_S, poll * 1.5)
