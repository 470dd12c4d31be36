"""``palprep watch``: waits on for what earlier runs of an output folder have asked for."""

from __future__ import annotations

import threading
from pathlib import Path

from palprep.batch.connection import EMBEDDED, Connection, connect
from palprep.batch.outputs import write_outputs
from palprep.batch.pace import Pace
from palprep.batch.progress import Progress, Reporter, Tell
from palprep.batch.sandbox_workers import RequiredStatement
from palprep.batch.watch import Watch, keep_watch
from palprep.errors import UsageError
from palprep.journal.creations import Creation
from palprep.journal.entries import RunStarted
from palprep.journal.results import PersonOutcome
from palprep.journal.run_view import RunReader, RunView
from palprep.journal.store import Journal


def watch(
    directory: str | Path,
    *,
    connection: Connection | None = None,
    pace: Pace | None = None,
    tell: Tell | None = None,
    with_reports: bool = True,
) -> RunView:
    """Wait for the trainings of the last run, and write the results when something has ended.

    Everything that can be asked for is asked for at least once, also when ``pace`` leaves no time
    to wait. Nothing is created, and no file is worked on. ``connection`` is to the service of that
    run. ``tell`` hears of everybody who is waited for. ``with_reports`` as for :func:`run`.

    Raises JournalError without a run in the folder, or while one is at work there; UsageError for
    a connection to another service.
    """
    asked, allowed = connection or Connection(), pace or Pace()
    place = Path(directory)
    with Journal.of(place, lock=True) as journal:
        seen = RunReader(journal)
        if seen.head.target != asked.target:
            raise UsageError(_other_service(seen.head.target))
        before = journal.newest()
        with connect(
            asked,
            journal,
            place.resolve(),
            _statements(journal),
            requests_per_s=allowed.requests_per_s,
        ) as remote:
            stop = threading.Event()
            say = tell or _nothing

            def reporter(person: str) -> Reporter:
                return Reporter(person, say, stop, len(waiting))

            watched = Watch(
                journal,
                remote,
                allowed,
                ended=lambda person, outcome: reporter(person).end(outcome),
            )
            waiting: dict[str, tuple[tuple[Creation, ...], list[str]]] = {}
            for person in seen.people:
                made = tuple(each for each in (person.voice, person.replica) if each is not None)
                keys = [c.key for c in made if watched.can_tell(c, calls_elsewhere=False)]
                if keys:
                    waiting[person.slug] = made, keys
            outcome = PersonOutcome(status="waiting", complete=True)
            for slug, (made, keys) in waiting.items():
                reporter(slug).tell_step("training")
                watched.add(slug, outcome, made, keys)
            keep_watch(
                watched,
                asked.clock,
                allowed.wait_s,
                through=lambda: True,
                busy=lambda: False,
                changed=threading.Event(),
                ask_all=True,
            )
        after = journal.newest()
        if before is not None and after is not None and after.seq > before.seq:
            seen = RunReader(journal)
            write_outputs(place, seen)
        return seen.view(with_reports=with_reports)


def _statements(journal: Journal) -> list[RequiredStatement]:
    """What the embedded sandbox of the last run took for consent, and has to take again."""
    started = journal.last_run()
    if started is None or not isinstance(started.body, RunStarted):
        return []
    return [
        RequiredStatement(text=each.text, language=each.language, model=each.model)
        for each in started.body.statements
    ]


def _nothing(_: Progress) -> None:
    """Tell no one."""


def _other_service(target: str) -> str:
    if target == EMBEDDED:
        return "The last run used an embedded sandbox: watch it without --base-url"
    return f"The last run used {target}: give that as --base-url"
