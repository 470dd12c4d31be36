"""``palprep run``: a folder of people, from files to trained assets, resumable at any point."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from palprep._version import __version__
from palprep.batch.connection import Connection, Remote, connect
from palprep.batch.engine import Engine, make_engine
from palprep.batch.media_steps import MediaSteps, own_statements
from palprep.batch.outputs import write_outputs
from palprep.batch.people import Person, find_people
from palprep.batch.person import PersonSteps
from palprep.batch.progress import Progress, Reporter, Tell
from palprep.batch.sandbox_judges import RequiredStatement
from palprep.batch.service_steps import ServiceSteps
from palprep.errors import JournalError, OutputUnwritable
from palprep.journal.entries import PersonEnded, PersonNames, RunStarted
from palprep.journal.run_view import RunView, view
from palprep.journal.store import Journal
from palprep.rules.profile import load_profile
from palprep.vocabulary import DEFAULT_PROFILE

DEFAULT_INTO = "palprep-out"

_PEOPLE_AT_ONCE = 32
"""Threads that mostly wait: for workers, for replies, for trainings."""


def run(
    folder: str | Path,
    *,
    into: str | Path = DEFAULT_INTO,
    connection: Connection | None = None,
    engine: Engine | str = "local",
    jobs: int | None = None,
    profile: str = DEFAULT_PROFILE,
    dry_run: bool = False,
    without_consent: bool = False,
    tell: Tell | None = None,
) -> RunView:
    """Bring every person of ``folder`` as far as possible, and write the results.

    ``into`` receives prepared/, results.jsonl, report.html and journal.sqlite. Only one run at
    a time may use an output folder. Nothing is created twice, however an earlier run ended.

    ``engine`` is ``local``, ``dask://HOST:PORT`` or an engine of your own. Your own is closed
    only when the run is interrupted. ``jobs`` is the number of local worker processes.
    ``tell`` is called from several threads.

    A replica is made from a video only when the statement of consent was heard in it, or in a
    video of its own. A person whose consent no one could listen for, since a package, the model
    or the language is missing, is refused before any file is worked on; the others go on.
    ``without_consent`` goes on regardless, and puts that on record: in the journal, the dossiers,
    the results and the page.

    Raises UsageError for a folder without people. Raises JournalError and OutputUnwritable when
    the output cannot be kept. What goes wrong with one person is in that person's result.
    """
    people = find_people(folder)
    load_profile(profile)  # An unknown profile is the command's error, not each person's.
    place = _output_folder(Path(into))
    asked, own = connection or Connection(), own_statements(people, profile)
    with (
        Journal.of(place, lock=True, create=True) as journal,
        _opened_engine(engine, jobs) as workers,
        _connected(None if dry_run else asked, journal, place, own) as remote,
    ):
        # Recorded once everything is there: a failed start leaves the last results as they are.
        journal.append(
            RunStarted(
                people=tuple(
                    PersonNames(slug=each.slug, name=each.name, full_name=each.full_name)
                    for each in people
                ),
                target=asked.target,
                profile=profile,
                dry_run=dry_run,
                without_consent=without_consent,
                palprep_version=__version__,
            )
        )
        steps = PersonSteps(
            media=MediaSteps(journal, workers, place, without_consent),
            service=ServiceSteps(journal, remote, without_consent) if remote else None,
            profile=profile,
        )
        try:
            _work_on_all(people, steps, journal, tell or _quiet, workers)
        finally:
            seen = view(journal)
            if seen is not None:
                write_outputs(place, seen, journal)
    if seen is None:
        raise JournalError(f"{journal.path} lost the run that it recorded: run it again")
    return seen


def _quiet(progress: Progress) -> None:
    """Tell no one."""


def _work_on_all(
    people: Sequence[Person], steps: PersonSteps, journal: Journal, tell: Tell, engine: Engine
) -> None:
    stop = threading.Event()

    def work_on(person: Person) -> None:
        reporter = Reporter(person.slug, tell, stop)
        outcome = steps.work_on(person, reporter)
        journal.append(PersonEnded(outcome=outcome), person=person.slug)
        reporter.end(outcome.status)

    threads = concurrent.futures.ThreadPoolExecutor(
        max_workers=min(len(people), _PEOPLE_AT_ONCE), thread_name_prefix="palprep-person"
    )
    tasks = [threads.submit(work_on, person) for person in people]
    try:
        # The first error that concerns everybody, or Ctrl-C, ends the run.
        for task in concurrent.futures.as_completed(tasks):
            task.result()
    except BaseException:
        stop.set()
        engine.close(at_once=True)
        raise
    finally:
        # A request under way is finished and recorded: it would be in doubt otherwise.
        threads.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _opened_engine(engine: Engine | str, jobs: int | None) -> Iterator[Engine]:
    if not isinstance(engine, str):
        yield engine
        return
    own = make_engine(engine, jobs=jobs)
    try:
        yield own
    finally:
        own.close(at_once=True)


@contextmanager
def _connected(
    connection: Connection | None, journal: Journal, into: Path, own: Sequence[RequiredStatement]
) -> Iterator[Remote | None]:
    if connection is None:
        yield None
        return
    with connect(connection, journal, into, own) as remote:
        yield remote


def _output_folder(into: Path) -> Path:
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"The output folder {into} cannot be made: {error.strerror}; choose another --into"
        ) from None
    return into.resolve()
