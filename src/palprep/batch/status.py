"""``palprep status``: what the journal of an output folder says, and what wants a decision."""

from __future__ import annotations

from pathlib import Path

from palprep.errors import JournalError
from palprep.journal.creations import Creation, CreationState
from palprep.journal.run_view import PersonResult, view
from palprep.journal.store import JOURNAL_NAME, Journal, is_running
from palprep.values import Value


class Standing(Value):
    """A journal at one moment.

    ``running``: a run is at work on it, so what looks in doubt may just be under way.
    """

    directory: str
    target: str
    started_at: str
    updated_at: str
    running: bool
    people: tuple[PersonResult, ...]
    in_doubt: tuple[Creation, ...]
    """Of this and earlier runs; each wants ``settle``."""
    unclaimed_callbacks: int
    """Callbacks that belong to no creation of this journal."""


def status(directory: str | Path) -> Standing:
    """Read the journal of an output folder. Raises JournalError when there is none to read."""
    path = Path(directory) / JOURNAL_NAME
    running = path.is_file() and is_running(path)
    with Journal(path) as journal:
        entries = journal.entries()
        creations = journal.creations()
    run = view(entries)
    if run is None:
        raise JournalError(f"The journal in {directory} holds no run yet")
    known = {creation.key for creation in creations}
    return Standing(
        directory=str(directory),
        target=run.target,
        started_at=run.started_at,
        updated_at=run.updated_at,
        running=running,
        people=tuple(person.result for person in run.people),
        in_doubt=tuple(c for c in creations if c.state is CreationState.IN_DOUBT),
        unclaimed_callbacks=sum(
            1 for entry in entries if entry.kind == "callback" and entry.key not in known
        ),
    )
