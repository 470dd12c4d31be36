"""At-most-once creation: the intent is on the disk before the request leaves.

What is in doubt afterwards is resolved by a person, whose decision is an entry like any other.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast, get_args

from palprep import errors
from palprep.client import AnyClient, pause, work
from palprep.journal.creations.states import Creation, CreationState, status_command
from palprep.journal.entries import bodies as entries
from palprep.journal.store import Journal
from palprep.values import typed

_TURN_EVERY_S = 0.05


async def asked_before(client: AnyClient, journal: Journal, key: str) -> Creation | None:
    """The creation under ``key``, read once nobody asks for it: until then it looks in doubt."""
    async with _turn(client, journal, key):
        return await work(client, lambda: journal.creation(key))


@contextlib.asynccontextmanager
async def _turn(client: AnyClient, journal: Journal, key: str) -> AsyncIterator[None]:
    turn = journal.turn(key)
    # Tried, not waited for: tasks that take turns may share a thread.
    while not turn.acquire(blocking=False):
        await pause(client, _TURN_EVERY_S)
    try:
        yield
    finally:
        turn.release()


async def create_once(
    client: AnyClient,
    journal: Journal,
    key: str,
    *,
    person: str,
    what: entries.What,
    request: Mapping[str, Any],
    send: Callable[[], Awaitable[entries.Snapshot]],
) -> Creation:
    """The creation under ``key``: an earlier one, or one that is asked for now by ``send``, which
    makes the one request and nothing else. It is in doubt, or has an id. An error that proves that
    nothing was created is raised, and a later run may ask again. Calls for one key take turns."""
    async with _turn(client, journal, key):
        intent = entries.Intent(what=what, request=request)
        before = await work(client, lambda: journal.claim(intent, person=person, key=key))
        if before is not None:
            return before
        try:
            snapshot = await send()
        except errors.PalprepError as error:
            fate = fate_of(error)
            await work(client, lambda: journal.append(fate, person=person, key=key))
            if isinstance(fate, entries.NotCreated):
                raise
        else:
            await work(client, lambda: _record(journal, key, person, snapshot))
        return await work(client, lambda: journal.known_creation(key))


def fate_of(error: errors.PalprepError) -> entries.NotCreated | entries.Doubt:
    """What an error of a create request means for the resource: it was not created, since the
    request did not leave or was refused; or that is in doubt. A 5xx other than 501 (not
    implemented) may come from a gateway behind which the request was carried out."""
    unsent = isinstance(
        error, errors.InvalidRequest | errors.UsageError | errors.ServiceUnreachable
    )
    refused = isinstance(error, errors.ApiError) and (error.status < 500 or error.status == 501)
    if unsent or refused:
        return entries.NotCreated(code=error.code, message=error.message)
    # Without the advice: `doubt_words` adds what to do.
    reason = error.reason if isinstance(error, errors.OutcomeUnknown) else None
    return entries.Doubt(code=error.code, message=reason or error.message)


def _record(journal: Journal, key: str, person: str, snapshot: entries.Snapshot) -> None:
    try:
        journal.append(entries.Created(snapshot=snapshot), person=person, key=key)
    except errors.JournalError as error:
        # At this moment the id is known nowhere else.
        raise errors.CreationUnrecorded(
            f"{snapshot.id} was created for {person}, and that could not be recorded. "
            f"{error.message}. Then run "
            f"`{status_command(journal.path)} --found {key}={snapshot.id}`",
            id=snapshot.id,
            key=key,
        ) from None


@typed("journal", "key", "resource_id")
def resolve_found(journal: Journal | str | Path, key: str, resource_id: str) -> Creation:
    """Decide that the creation in doubt was carried out, as ``resource_id``: the next run continues
    with it. ``journal`` is an open journal, or the folder of one. Raises UsageError when nothing is
    in doubt under ``key``, or the id is another creation's; JournalError while a run is at work."""
    return resolve(journal, found=[(key, resource_id)])[0]


@typed("journal", "key")
def resolve_retry(journal: Journal | str | Path, key: str) -> Creation:
    """Decide that the creation may be asked for again by the next run: one in doubt that you did
    not find at the service, or one whose training ended in an error. Raises UsageError for any
    other, and JournalError while a run is at work."""
    return resolve(journal, retry=[key])[0]


@typed("journal", "key", "status")
def resolve_ended(journal: Journal | str | Path, key: str, status: str) -> Creation:
    """Decide that a training has ended, as ``completed`` or ``error``, when a callback was lost,
    since nothing else tells the end of a replica's. ``key`` may also be the id of the voice or
    replica. Raises UsageError for another ``status``, or when nothing is in training under ``key``;
    JournalError while a run is at work."""
    return resolve(journal, ended=[(key, status)])[0]


def resolve(
    journal: Journal | str | Path,
    *,
    found: Iterable[tuple[str, str]] = (),
    retry: Iterable[str] = (),
    ended: Iterable[tuple[str, str]] = (),
) -> tuple[Creation, ...]:
    """Record several decisions: all of them, or none where one raises as the functions above."""
    with contextlib.ExitStack() as closing:
        if not isinstance(journal, Journal):
            journal = closing.enter_context(Journal.of(journal))
        # During a run, an intent without an answer is a request under way, not a doubt.
        closing.enter_context(journal.exclusive())
        decided = (
            *(_found(journal, key, resource_id) for key, resource_id in found),
            *(_to_retry(journal, key) for key in retry),
            *(_ended(journal, key, status) for key, status in ended),
        )
        about = Counter(
            [each for creation, made in decided for each in (creation.key, made.found_id)]
        )
        del about[None]
        for each, count in about.items():
            if count > 1:
                raise errors.UsageError(f"Decide about {each} once: it is named twice")
        for creation, decision in decided:
            journal.append(decision, person=creation.person, key=creation.key)
        return tuple(journal.known_creation(creation.key) for creation, _ in decided)


_Decided = tuple[Creation, entries.Resolved]


def _found(journal: Journal, key: str, resource_id: str) -> _Decided:
    found_id = resource_id.strip()
    if not found_id:
        raise errors.UsageError("Give the id of the voice or replica that was found")
    creation, known = _in_doubt(journal, key), journal.creation_of(found_id)
    if known is not None and known.key != key:
        raise errors.UsageError(f"{found_id} is the {known.what} of {known.person} already")
    return creation, entries.Resolved(found_id=found_id)


def _to_retry(journal: Journal, key: str) -> _Decided:
    creation = journal.creation(key)
    if creation is None or creation.state is not CreationState.ERROR:
        creation = _in_doubt(journal, key)
    return creation, entries.Resolved()


def _ended(journal: Journal, key: str, status: str) -> _Decided:
    if status not in get_args(entries.EndedStatus):
        raise errors.UsageError(f"A training ends as completed or as error, not as {status!r}")
    creation = journal.creation(key) or journal.creation_of(key)
    if creation is None or creation.state is not CreationState.STARTED:
        raise errors.UsageError(f"Nothing is in training under {key!r}: give the id of the replica")
    ended = cast("entries.EndedStatus", status)
    return creation, entries.Resolved(found_id=creation.id, status=ended)


def _in_doubt(journal: Journal, key: str) -> Creation:
    creation = journal.creation(key)
    if creation is None or creation.state is not CreationState.IN_DOUBT:
        keys = [each.key for each in journal.in_doubt()]
        listed = f"in doubt are {', '.join(keys)}" if keys else "nothing is in doubt"
        raise errors.UsageError(f"Nothing is in doubt under {key!r}; {listed}")
    return creation
