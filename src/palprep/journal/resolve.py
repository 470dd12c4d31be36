"""Decisions about creations in doubt. Each is an entry of the journal like any other."""

from __future__ import annotations

from palprep.errors import UsageError
from palprep.journal.creations import Creation, CreationState
from palprep.journal.entries import Resolved
from palprep.journal.store import Journal


def resolve_found(journal: Journal, key: str, resource_id: str) -> Creation:
    """Decide that the creation in doubt was carried out, as ``resource_id``.

    The next run continues with it. Raises UsageError when nothing is in doubt under ``key``,
    and JournalError while a run is at work.
    """
    found_id = resource_id.strip()
    if not found_id:
        raise UsageError("Give the id of the voice or replica that was found")
    # During a run, an intent without an answer is a request under way, not a doubt.
    with journal.exclusive():
        return _decided(journal, _in_doubt(journal, key), Resolved(found_id=found_id))


def resolve_retry(journal: Journal, key: str) -> Creation:
    """Decide that the creation may be asked for again by the next run.

    For one in doubt, after looking for it at the service and not finding it; or for one whose
    training ended in an error. Raises UsageError otherwise, and JournalError while a run is at
    work.
    """
    with journal.exclusive():
        creation = journal.creation(key)
        if creation is None or creation.state is not CreationState.ERROR:
            creation = _in_doubt(journal, key)
        return _decided(journal, creation, Resolved())


def _decided(journal: Journal, creation: Creation, decision: Resolved) -> Creation:
    journal.append(decision, person=creation.person, key=creation.key)
    return journal.known_creation(creation.key)


def _in_doubt(journal: Journal, key: str) -> Creation:
    creation = journal.creation(key)
    if creation is None or creation.state is not CreationState.IN_DOUBT:
        keys = [each.key for each in journal.in_doubt()]
        listed = f"in doubt are {', '.join(keys)}" if keys else "nothing is in doubt"
        raise UsageError(f"Nothing is in doubt under {key!r}; {listed}")
    return creation
