"""At-most-once creation: the intent is on the disk before the request leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from palprep.client.routine import Doing, work
from palprep.client.steps import Pause
from palprep.errors import (
    ApiError,
    CreationUnrecorded,
    InvalidRequest,
    JournalError,
    OutcomeUnknown,
    PalprepError,
    ServiceUnreachable,
    UsageError,
)
from palprep.journal.creations import Creation, CreationState
from palprep.journal.entries import Created, Doubt, Intent, NotCreated
from palprep.journal.results import Snapshot, What
from palprep.journal.store import Journal

_TURN_EVERY_S = 0.05


def create_once(
    journal: Journal,
    key: str,
    *,
    person: str,
    what: What,
    request: Mapping[str, Any],
    send: Callable[[], Doing[Snapshot]],
) -> Doing[Creation]:
    """The creation under ``key``: an earlier one, or now by ``send``.

    ``send`` makes the one request and nothing else. The result is in doubt, or has an id.
    An error that proves that nothing was created is raised, and a later run may ask again.
    Two who create under one key take turns, so that equal requests become one.
    """
    turn = journal.turn(key)
    # Tried, not waited for: tasks that take turns may share a thread.
    while not turn.acquire(blocking=False):
        yield Pause(_TURN_EVERY_S)
    try:
        before = yield from work(lambda: journal.creation(key))
        if before is not None and before.state is not CreationState.ABSENT:
            return before
        intent = Intent(what=what, request=request)
        yield from work(lambda: journal.append(intent, person=person, key=key))
        try:
            snapshot = yield from send()
        except PalprepError as error:
            fate = fate_of(error)
            yield from work(lambda: journal.append(fate, person=person, key=key))
            if isinstance(fate, NotCreated):
                raise
        else:
            yield from work(lambda: _record(journal, key, person, snapshot))
        return (yield from work(lambda: journal.known_creation(key)))
    finally:
        turn.release()


def fate_of(error: PalprepError) -> NotCreated | Doubt:
    """What an error of a create request says about the resource.

    Some errors prove that it was not created: the request did not leave, or was refused.
    Anything else leaves a doubt. A 5xx other than 501 (not implemented) may come from a
    gateway behind which the request was carried out. A success whose reply could not be
    understood is a resource without a known id.
    """
    unsent = isinstance(error, InvalidRequest | UsageError | ServiceUnreachable)
    refused = isinstance(error, ApiError) and (error.status < 500 or error.status == 501)
    if unsent or refused:
        return NotCreated(code=error.code, message=error.message)
    # What to do about a doubt is said where the journal tells of it.
    reason = error.reason if isinstance(error, OutcomeUnknown) else error.message
    return Doubt(code=error.code, message=reason)


def _record(journal: Journal, key: str, person: str, snapshot: Snapshot) -> None:
    try:
        journal.append(Created(snapshot=snapshot), person=person, key=key)
    except JournalError as error:
        # The only moment at which the id is known nowhere else.
        raise CreationUnrecorded(
            f"{snapshot.id} was created for {person}, and that could not be recorded. "
            f"{error.message}. Then run `palprep status` with --found {key}={snapshot.id}",
            id=snapshot.id,
            key=key,
        ) from None
