"""A run under way: whom it works on, and how all of them are taken through and watched."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from palprep.batch.engines.cluster import fetch_by, files_of
from palprep.batch.engines.files import FilesPublisher
from palprep.batch.people.person import Person, Roster, RosterEntry, read_people
from palprep.batch.people.selection import Selection
from palprep.batch.work.aside import Stop, do_aside
from palprep.batch.work.connection import Connection, Remote, connect
from palprep.batch.work.consent import statements_of
from palprep.batch.work.media_steps import MediaSteps
from palprep.batch.work.memory import RunOptions, Unchanged, how_they_ended, last_run, record_start
from palprep.batch.work.pace import Pace, Places
from palprep.batch.work.progress import Note, Reporter, TakeNote, Tell
from palprep.batch.work.requests import Profiles
from palprep.batch.work.sandbox_judges import RequiredStatement
from palprep.batch.work.scheduler import Scheduler
from palprep.batch.work.service_steps import Requested, ServiceSteps
from palprep.batch.work.waiting import Watch
from palprep.client import LOOK_EVERY_S
from palprep.errors import CreationUnrecorded
from palprep.journal import (
    Journal,
    PersonEnded,
    PersonOutcome,
    PersonOverview,
    RunReader,
)
from palprep.publish import Publisher, publisher_for
from palprep.workers import Engine, LocalEngine


@dataclass(frozen=True)
class RunSettings:
    """What the caller allows and asks for."""

    options: RunOptions
    select: Selection
    connection: Connection
    pace: Pace
    profiles: Profiles
    model: Path | None
    keep_sources: bool


@dataclass(frozen=True)
class Work:
    """Who is to be worked on, and who needs no work."""

    roster: Roster
    selected: dict[str, RosterEntry]
    unchanged: dict[str, PersonOverview]
    people: tuple[Person, ...]
    """Those who are worked on."""

    @property
    def everybody(self) -> list[Person | PersonOverview]:
        """All who are selected, in their order."""
        read = {each.slug: each for each in self.people}
        return [self.unchanged.get(slug) or read[slug] for slug in self.selected]


class Execution:
    """One run under way: people are worked on, what was made is watched, and both end well, also
    after Ctrl-C."""

    def __init__(
        self, settings: RunSettings, place: Path, journal: Journal, engine: Engine, tell: Tell
    ) -> None:
        self._settings = settings
        self._place = place
        self._journal = journal
        self._engine = engine
        self._files = files_of(engine)
        self._tell = tell
        limits = settings.profiles[settings.profiles.own].limits
        self._unchanged = Unchanged.of_run(journal, place, self._files, settings.options, limits)
        self._last = last_run(journal)
        self._people_count = 0
        self._stop = Stop()
        self._changed = threading.Event()

    def find_work(self, roster: Roster, at: dt.datetime) -> Work:
        """Whom of the roster to work on, ``at`` the time when it was made."""
        select = self._settings.select
        ended = how_they_ended(self._journal) if select.failed else None
        selected = {each.slug: each for each in select.of(roster.people, ended)}
        last = self._last.people if self._last else ()
        unchanged = self._unchanged.among(selected.values(), last, at)
        left = [each for slug, each in selected.items() if slug not in unchanged]
        return Work(roster, selected, unchanged, read_people(left))

    def carry_out(self, work: Work, note: TakeNote) -> None:
        """Record that the run begins, and work on everybody."""
        settings, people = self._settings, work.people
        for each in _notes(work):
            note(each)
        self._people_count = len(people)
        statements = statements_of(people, settings.options.profile, settings.model)
        if isinstance(self._engine, LocalEngine):
            self._engine.begin(len(people))
        with contextlib.ExitStack() as stack:
            service = None
            if people and not settings.options.dry_run:
                service = stack.enter_context(self._connected(statements, note))
            # Recorded once everything is there: a failed start leaves the last results as they are.
            record_start(
                self._journal,
                work.everybody,
                statements,
                settings.options,
                at_work=[each.slug for each in people],
                everybody=settings.select.everybody,
            )
            if service is None:
                do_aside(lambda: self._prepare_all(work), self._stop)
            else:
                remote, publisher = service
                do_aside(lambda: self._make_all(work, remote, publisher), self._stop)

    def reader(self) -> RunReader:
        """The results as they stand now."""
        last = self._last
        return last if last is not None and last.is_current else RunReader(self._journal)

    def _prepare_all(self, work: Work) -> None:
        """A dry run: nothing is asked for."""

        def ended(person: Person, requested: Requested) -> None:
            self._ended(person.slug, requested.outcome)

        with self._scheduled(work, None, ended) as scheduler:
            while self._is_at_work(scheduler):
                self._changed.wait(LOOK_EVERY_S)
                self._changed.clear()

    def _make_all(self, work: Work, remote: Remote, publisher: Publisher) -> None:
        """Everything is asked for, and trainings are waited for as long as the pace says."""
        pace = self._settings.pace
        places = Places(pace)
        watch = Watch(self._journal, remote, pace, ended=self._ended, freed=places.free)
        for creation in self._journal.open_creations():
            here = creation.request.get("target") == remote.target
            if here and watch.can_tell(creation, calls_elsewhere=False):
                places.occupy(creation.key)
        service = ServiceSteps(
            journal=self._journal,
            remote=remote,
            publisher=FilesPublisher(publisher, self._files),
            files=self._files,
            places=places,
            can_tell=watch.can_tell,
        )

        def ended(person: Person, requested: Requested) -> None:
            if requested.watched:
                self._reporter(person.slug).tell_step("training")
                watch.add(person.slug, requested.outcome, requested.made, requested.watched)
            else:
                self._ended(person.slug, requested.outcome)

        with self._scheduled(work, service, ended) as scheduler:
            watch.keep(
                through=lambda: not self._is_at_work(scheduler),
                busy=lambda: self._is_at_work(scheduler) and scheduler.left > places.queue,
                changed=self._changed,
            )
            places.close("Not asked for yet, since others are in training: `run` goes on with it")
        watch.close()

    @contextmanager
    def _scheduled(
        self,
        work: Work,
        service: ServiceSteps | None,
        ended: Callable[[Person, Requested], object],
    ) -> Iterator[Scheduler]:
        def record(person: Person, outcome: PersonOutcome) -> None:
            state = None
            if outcome.complete:
                found = work.selected[person.slug]
                state = self._unchanged.to_record(found, self._journal.now())
            self._journal.append(PersonEnded(outcome=outcome, state=state), person=person.slug)

        media = MediaSteps(
            journal=self._journal,
            engine=self._engine,
            into=self._place,
            without_consent=self._settings.options.without_consent,
            files=self._files,
            profiles=self._settings.profiles,
            keep_sources=self._settings.keep_sources,
            model=self._settings.model,
            fetch=fetch_by(self._engine),
        )
        scheduler = Scheduler(
            media,
            service,
            record=record,
            reporter=self._reporter,
            ended=ended,
            changed=self._changed,
            jobs=self._engine.jobs,
        )
        try:
            scheduler.begin(work.people)
            yield scheduler
        except BaseException:
            self._stop.set()
            self._engine.close(at_once=True)
            raise
        finally:
            scheduler.finish()
            # Whatever else ended the run: these ids are known nowhere else.
            lost = [each for each in scheduler.errors if isinstance(each, CreationUnrecorded)]
            if lost:
                raise CreationUnrecorded("\n".join(each.message for each in lost))

    def _reporter(self, slug: str) -> Reporter:
        return Reporter(slug, self._tell, self._stop, self._people_count)

    def _ended(self, slug: str, outcome: PersonOutcome) -> None:
        # Whoever was interrupted is not through.
        if not self._stop.is_set():
            self._reporter(slug).end(outcome)

    def _is_at_work(self, scheduler: Scheduler) -> bool:
        """Whether somebody is left. Raises the first error that concerns everybody, and
        KeyboardInterrupt where the run is to stop."""
        self._stop.raise_if_set()
        for error in scheduler.errors:
            raise error
        return scheduler.left > 0

    @contextmanager
    def _connected(
        self, statements: Sequence[RequiredStatement], note: TakeNote
    ) -> Iterator[tuple[Remote, Publisher]]:
        with (
            connect(
                self._settings.connection,
                self._journal,
                self._place,
                statements,
                requests_per_s=self._settings.pace.requests_per_s,
                # A cluster need not see the files of a sandbox on this machine.
                judge_in=self._engine if isinstance(self._engine, LocalEngine) else None,
            ) as remote,
            publisher_for(remote.client.base_url, remote.connection.publish_to) as publisher,
        ):
            for text in publisher.probe():
                note(Note(person=None, text=text, about="bucket"))
            yield remote, publisher


def _notes(work: Work) -> Iterator[Note]:
    for name in work.roster.loose:
        text = f"{name} is not used: it lies outside the people's subfolders"
        yield Note(person=None, text=text, about="unused")
    if work.unchanged:
        count = len(work.unchanged)
        who = "1 person is" if count == 1 else f"{count:,} people are"
        text = f"{who} done, and nothing of theirs has changed since"
        yield Note(person=None, text=text, about="unchanged")
    for person in work.people:
        for each in person.assigned:
            about: Literal["guess", "role"] = "guess" if each.guessed else "role"
            yield Note(person=person.slug, text=each.words, about=about)
        if person.guessed_name is not None:
            yield Note(person=person.slug, text=person.guessed_name, about="guess")
        for text in person.unused:
            yield Note(person=person.slug, text=text, about="unused")
