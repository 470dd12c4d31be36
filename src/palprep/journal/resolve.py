"""Decisions about creations in doubt. Each is an entry of the journal like any other."""

from __future__ import annotations

from palprep.errors import UsageError
from palprep.journal.creations import Creation, CreationState
from palprep.journal.store import Journal


def settle_found(journal: Journal, key: str, resource_id: str) -> Creation:
    """Decide that the creation in doubt was carried out, as ``resource_id``.

    The next run continues with it. Raises UsageError when nothing is in doubt under ``key``,
    and JournalError while a run is at work.
    """
    if not resource_id.strip():
        raise UsageError("Give the id of the voice or replica that was found")
    # During a run, an intent without an answer is a request under way, not a doubt.
    with journal.exclusive():
        creation = _in_doubt(journal, key)
        body = {"decision": "found", "id": resource_id.strip()}
        journal.append("settled", person=creation.person, key=key, body=body)
    return creation.model_copy(
        update={"state": CreationState.CREATED, "id": resource_id.strip(), "status": "started"}
    )


def settle_retry(journal: Journal, key: str) -> Creation:
    """Decide that the creation may be asked for again by the next run.

    For one in doubt, after looking it up at the service and not finding it; or for one that
    was created and ended in ``error``. Raises UsageError otherwise, and JournalError while a
    run is at work.
    """
    with journal.exclusive():
        creation = journal.creation(key)
        if creation is None or creation.status != "error":
            creation = _in_doubt(journal, key)
        journal.append("settled", person=creation.person, key=key, body={"decision": "retry"})
    return creation.model_copy(update={"state": CreationState.ABSENT, "id": None, "status": None})


def _in_doubt(journal: Journal, key: str) -> Creation:
    creation = journal.creation(key)
    if creation is None or creation.state is not CreationState.IN_DOUBT:
        keys = [c.key for c in journal.creations() if c.state is CreationState.IN_DOUBT]
        listed = f"in doubt are {', '.join(keys)}" if keys else "nothing is in doubt"
        raise UsageError(f"Nothing is in doubt under {key!r}; {listed}")
    return creation
