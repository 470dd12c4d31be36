"""``palprep status``: what the journal of an output folder says, and what must be decided."""

from __future__ import annotations

from pathlib import Path

from palprep.errors import JournalError
from palprep.journal.creations import Creation
from palprep.journal.file import is_running
from palprep.journal.run_view import PersonStanding, results_without_run, standing
from palprep.journal.store import JOURNAL_NAME, Journal
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
    people: tuple[PersonStanding, ...]
    in_doubt: tuple[Creation, ...]
    """Of this and earlier runs; each must be resolved."""
    unclaimed_callbacks: int
    """Callbacks that belong to no creation of this journal."""


def status(directory: str | Path) -> Standing:
    """Read the journal of an output folder. Raises JournalError when there is none to read."""
    path = Path(directory) / JOURNAL_NAME
    running = path.is_file() and is_running(path)
    with Journal(path) as journal:
        run, in_doubt = standing(journal, running=running), journal.in_doubt()
        unclaimed = journal.unclaimed_callbacks()
        creations = journal.creations() if run is None else ()
    if run is not None:
        target, started_at, updated_at = run.target, run.started_at, run.updated_at
        people = run.people
    elif creations:
        target = str(creations[-1].request.get("target", ""))
        started_at = creations[0].intended_at or ""
        updated_at = max(each.ended_at or each.intended_at or "" for each in creations)
        people = results_without_run(creations)
    else:
        raise JournalError(f"The journal in {directory} holds no run yet")
    return Standing(
        directory=str(directory),
        target=target,
        started_at=started_at,
        updated_at=updated_at,
        running=running,
        people=people,
        in_doubt=in_doubt,
        unclaimed_callbacks=unclaimed,
    )
