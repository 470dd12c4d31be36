"""Decisions about creations in doubt. Each is an entry of the journal like any other."""

from __future__ import annotations

from palprep.batch.creations import Creation, CreationState
from palprep.batch.journal import Journal
from palprep.errors import UsageError


def settle_found(journal: Journal, key: str, resource_id: str) -> Creation:
    """Decide that the creation in doubt was carried out, as ``resource_id``.

    The next run continues with it. Raises UsageError when nothing is in doubt under ``key``.
    """
    if not resource_id.strip():
        raise UsageError("Give the id of the voice or replica that was found")
    creation = _decidable(journal, key, CreationState.IN_DOUBT)
    journal.append(
        "settled",
        person=creation.person,
        key=key,
        body={"decision": "found", "id": resource_id.strip()},
    )
    return _known(journal, key)


def settle_retry(journal: Journal, key: str) -> Creation:
    """Decide that the creation may be asked for again by the next run.

    For one in doubt, after looking it up at the service and not finding it; or for one that
    was created and ended in ``error``. Raises UsageError otherwise.
    """
    creation = journal.creation(key)
    if creation is None or creation.status != "error":
        creation = _decidable(journal, key, CreationState.IN_DOUBT)
    journal.append("settled", person=creation.person, key=key, body={"decision": "retry"})
    return _known(journal, key)


def _decidable(journal: Journal, key: str, state: CreationState) -> Creation:
    creation = journal.creation(key)
    if creation is None or creation.state is not state:
        open_keys = [c.key for c in journal.creations() if c.state is state]
        listed = f"; in doubt are {', '.join(open_keys)}" if open_keys else "; nothing is in doubt"
        raise UsageError(f"Nothing is in doubt under {key!r}{listed}")
    return creation


def _known(journal: Journal, key: str) -> Creation:
    creation = journal.creation(key)
    assert creation is not None  # noqa: S101 -- it was decided on just now
    return creation
