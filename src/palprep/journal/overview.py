"""A journal at one moment, whether a run has written it or a program: what it says of itself, and
where everybody stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from palprep.journal.creations import IN_TRAINING, Creation
from palprep.journal.entries import CreationUsed, PersonEnded, PersonNames
from palprep.journal.run_view import PersonStanding, PersonView, RunReader, Told, person_view
from palprep.journal.store import Journal
from palprep.values import Value


class JournalHead(Value):
    """A journal at one moment. ``palprep status --json`` prints it with the people."""

    directory: str
    target: str
    started_at: str
    updated_at: str
    running: bool
    """A run is at work on it. What looks in doubt may just be under way."""
    in_doubt: tuple[Creation, ...]
    """Of this and earlier runs; each must be resolved."""
    unclaimed_callbacks: int
    """Callbacks that belong to no creation of this journal."""


@contextmanager
def status(directory: str | Path) -> Iterator[tuple[JournalHead, Iterator[PersonStanding]]]:
    """Read the journal of an output folder, and the people in it one after the other: any number of
    them takes the memory of a few. Raises JournalError when there is none to read."""
    with Journal.of(directory) as journal:
        running = journal.is_running
        made = () if journal.last_run() else journal.creations()
        if made:
            target = str(made[-1].request.get("target", ""))
            started_at = made[0].intended_at or ""
            updated_at = max(each.ended_at or each.intended_at or "" for each in made)
            people = _made_without_run(made)
        else:
            run = RunReader(journal)
            running, people = run.running, run.rows()
            target, started_at = run.head.target, run.head.started_at
            updated_at = run.head.updated_at
        head = JournalHead(
            directory=str(directory),
            target=target,
            started_at=started_at,
            updated_at=updated_at,
            running=running,
            in_doubt=journal.in_doubt(),
            unclaimed_callbacks=journal.unclaimed_callbacks(),
        )
        yield head, (person.standing for person in people)


def _made_without_run(creations: Iterable[Creation]) -> Iterator[PersonView]:
    """What programs have made in a journal that no run has written, by person.

    Of several voices or replicas of one person the last one counts.
    """
    told: dict[str, list[Told]] = {}
    for each in creations:
        used = CreationUsed(what=each.what)
        told.setdefault(each.person, [(PersonEnded(outcome=IN_TRAINING), None)])
        told[each.person].append((used, each))
    for person, found in told.items():
        yield person_view(PersonNames(slug=person, name=person, full_name=person), found)
