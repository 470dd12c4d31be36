"""Waiting for trainings: one watcher for all of them, which holds no thread while it waits.

It reads what callbacks have told, and asks about what can be asked for, less and less often: about
a training of hours every few minutes.
"""

from __future__ import annotations

import functools
import logging
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from palprep import journal as journals
from palprep.batch.forgetting import remove_outlived
from palprep.batch.outputs import write_outputs
from palprep.batch.work.connection import EMBEDDED, Connection, Remote, connect
from palprep.batch.work.context import Reporter, Stop, TakeNote, Tell, tell_no_one
from palprep.batch.work.pace import Pace
from palprep.client import LOOK_EVERY_S, PASSING, polls
from palprep.errors import AuthenticationError, JournalError, PalprepError, UsageError
from palprep.journal import creations, entries, runs
from palprep.pipelines import ask_state, told_by
from palprep.values import typed

_LONGEST_POLL_S = 300.0
"""Between two questions about one training."""

_QUESTIONS_PER_S = 10.0
"""About all trainings together, until each is asked about every :data:`_LONGEST_POLL_S`. With only
the pauses of each, ten thousand trainings that begin in a quarter of an hour would take some
130,000 questions in it."""

_SIDE_BY_SIDE = 8
"""Questions at the same time: waiting for an answer takes longer than all other work for it."""

_log = logging.getLogger(__name__)


@dataclass
class _Watched:
    """One creation under watch, of one person or of several who share it. When it is ``due``, the
    service is asked about it; or it is given up, if it is in doubt."""

    creation: creations.Creation
    intervals_s: Iterator[float]
    people: set[str] = field(default_factory=set)
    due: float = math.inf


class Watch:
    """Watches creations until they have ended. ``add`` is thread-safe; ``step`` is for one thread.
    ``reporter`` gives the reporter of a person."""

    def __init__(
        self,
        journal: journals.Journal,
        remote: Remote,
        pace: Pace,
        reporter: Callable[[str], Reporter],
    ) -> None:
        self._journal = journal
        self._remote = remote
        self._pace = pace
        self._reporter = reporter
        self.told_by = functools.partial(told_by, callbacks=remote.callbacks)
        newest = journal.newest()
        self._seen = newest.seq if newest is not None else 0
        self._since = newest.at if newest is not None else ""
        self._watched: dict[str, _Watched] = {}
        self._open: dict[str, tuple[runs.PersonOutcome, tuple[str, ...]]] = {}
        """The people who wait, each with the outcome so far and the keys of all creations."""
        self._guard = threading.RLock()
        self._threads = ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="palprep-watch")

    def add(
        self, person: str, outcome: runs.PersonOutcome, made: Sequence[creations.Creation]
    ) -> bool:
        """Watch those of a person's creations whose end can become known here; False for none."""
        to_watch = [each for each in made if self.told_by(each)]
        if not to_watch:
            return False
        self._reporter(person).tell_step("training")
        with self._guard:
            self._open[person] = outcome, tuple(each.key for each in made)
            for creation in to_watch:
                asked_s = polls(self._remote.connection.random, _LONGEST_POLL_S)
                watched = self._watched.setdefault(creation.key, _Watched(creation, asked_s))
                watched.people.add(person)
                if watched.due == math.inf:
                    self._schedule(watched)
            # It may have ended in the meantime.
            for creation in to_watch:
                self._refresh(creation.key)
            self._tell_if_ended(person)
        return True

    def step(self) -> bool:
        """Read what callbacks have told, and ask what is due. False when there was neither."""
        with self._guard:
            news = self._read_news()
            due = self._due()
        list(self._threads.map(self._ask, due))
        return news or bool(due)

    def _due(self) -> list[_Watched]:
        """The creations to ask about now, each of which is due again later. Those that have been in
        doubt for too long are given up."""
        now = self._remote.connection.clock()
        due = sorted((each.due, key) for key, each in self._watched.items() if each.due <= now)
        asked: list[_Watched] = []
        for _, key in due:
            watched = self._watched[key]
            if watched.creation.state is not creations.CreationState.STARTED:
                self._drop(watched)
            elif len(asked) < _SIDE_BY_SIDE:
                watched.due = now + self._interval_s(watched)
                asked.append(watched)
        return asked

    def _interval_s(self, watched: _Watched) -> float:
        """Seconds until the next question about it."""
        its_turn_s = min(len(self._watched) / _QUESTIONS_PER_S, _LONGEST_POLL_S)
        return max(next(watched.intervals_s), its_turn_s)

    def keep(
        self,
        *,
        busy: Callable[[], bool] = lambda: False,
        changed: threading.Event | None = None,
        ask_all: bool = False,
    ) -> None:
        """Step while people are worked on (``busy``), then as long as somebody waits and the pace
        allows; then close the watch. ``changed`` is set when somebody's work ends. With ``ask_all``
        each training is asked about once, however short the time."""
        clock, changed = self._remote.connection.clock, changed or threading.Event()
        began = waiting_since = clock()
        while (at_work := busy()) or self._open:
            worked = self.step()
            with self._guard:
                unasked = ask_all and any(each.due <= began for each in self._watched.values())
            if at_work:
                waiting_since = clock()
            elif clock() - waiting_since >= self._pace.wait_s and not unasked:
                break
            if at_work and not worked:
                changed.wait(LOOK_EVERY_S)
                changed.clear()
            elif not worked:
                self._remote.connection.sleep(LOOK_EVERY_S)
        self.close()

    def close(self) -> None:
        """Read the last callbacks, and report everybody who still waits."""
        self._threads.shutdown()
        with self._guard:
            self._read_news()
            for person in tuple(self._open):
                self._tell(person)

    def _read_news(self) -> bool:
        news = self._journal.news_of_creations(self._seen)
        for self._seen, key in news:
            if key is not None:
                self._refresh(key)
        return bool(news)

    def _ask(self, watched: _Watched) -> None:
        creation = watched.creation
        try:
            ask_state(self._remote.client, self._journal, creation)
        except PASSING as error:
            _log.info("%s: %s", creation.key, error)
            if retry_after_s := getattr(error, "retry_after", None):
                with self._guard:
                    later = self._remote.connection.clock() + retry_after_s
                    watched.due = max(watched.due, later)
        except JournalError:
            raise
        except PalprepError as error:
            self._give_up(watched, error)

    def _give_up(self, watched: _Watched, error: PalprepError) -> None:
        """Record the error, after which asking again is of no use, for everybody who waits."""
        with self._guard:
            if self._watched.get(watched.creation.key) is not watched:
                return  # It has ended meanwhile.
            failed = runs.PersonOutcome.failed(error.message, error.code)
            for person in watched.people:
                outcome, keys = self._open[person]
                lost = outcome.becomes(failed)
                self._journal.append(entries.PersonEnded(outcome=lost), person=person)
                self._open[person] = lost, keys
            self._drop(watched)

    def _refresh(self, key: str) -> None:
        watched = self._watched.get(key)
        if watched is None:
            return
        before = watched.creation.state
        watched.creation = self._journal.known_creation(key)
        if watched.creation.ended:
            self._drop(watched)
        elif watched.creation.state is not before:
            self._schedule(watched)

    def _schedule(self, watched: _Watched) -> None:
        """Set when it is due: now, or a little later if it has just begun; never, if only a
        callback can tell its end; or when it is given up, if it is in doubt."""
        now = self._remote.connection.clock()
        if watched.creation.state is not creations.CreationState.STARTED:
            watched.due = now + self._pace.doubt_wait_s
        elif self.told_by(watched.creation) == "answer":
            begun = (watched.creation.intended_at or "") > self._since
            watched.due = now + (self._interval_s(watched) if begun else 0.0)
        else:
            watched.due = math.inf

    def _drop(self, watched: _Watched) -> None:
        del self._watched[watched.creation.key]
        for person in watched.people:
            self._tell_if_ended(person)

    def _tell_if_ended(self, person: str) -> None:
        if person in self._open and self._watched.keys().isdisjoint(self._open[person][1]):
            self._tell(person)

    def _tell(self, person: str) -> None:
        outcome, keys = self._open.pop(person)
        made = tuple(map(self._journal.known_creation, keys))
        self._reporter(person).end(creations.up_to_date(outcome, made))


@typed("directory", "connection", "pace")
def watch(
    directory: str | Path,
    *,
    connection: Connection | None = None,
    pace: Pace | None = None,
    tell: Tell | None = None,
    note: TakeNote = tell_no_one,
    retain_s: float | None = None,
    with_reports: bool = True,
) -> runs.RunView:
    """Wait for the trainings of the last run, and write the results when something has ended.

    The service is asked about each training at least once, even if ``pace`` leaves no time to wait.
    Nothing is created, and no file is worked on. ``tell`` is called for everybody who is waited
    for. ``note``, ``retain_s`` (see :class:`RunOptions`) and ``with_reports`` are as for
    :func:`run`. Without a ``base_url`` the service is that of the last run.

    Raises JournalError without a run in the folder, or while one is at work there; UsageError for
    a ``connection`` to another service; AuthenticationError for a wrong key.
    """
    asked, allowed = connection or Connection(), pace or Pace()
    place = Path(directory)
    with journals.Journal.of(place, lock=True) as journal:
        seen = runs.RunReader(journal)
        if asked.base_url is None and seen.head.target != EMBEDDED:
            asked = replace(asked, base_url=seen.head.target)
        if seen.head.target != asked.target:
            own = seen.head.target == EMBEDDED
            service = "an embedded sandbox: watch it without --base-url and PALPREP_BASE_URL"
            other = f"{seen.head.target}: give that as --base-url"
            raise UsageError(f"The last run used {service if own else other}")
        with connect(
            asked,
            journal,
            place.resolve(),
            # What that run's embedded sandbox took for consent, it has to take again.
            seen.started.statements,
            requests_per_s=allowed.requests_per_s,
        ) as remote:
            watched = Watch(
                journal,
                remote,
                allowed,
                lambda person: Reporter(person, tell or tell_no_one, Stop(), len(waiting)),
            )
            made_for = {
                each.slug: tuple(filter(None, (each.voice, each.replica))) for each in seen.people
            }
            try:
                remote.require_answer()
            except AuthenticationError:
                raise
            except PalprepError as error:  # It may answer later.
                _log.info("%s", error)
            waiting = {
                slug: made for slug, made in made_for.items() if any(map(watched.told_by, made))
            }
            outcomes = {
                each.person: each.body.outcome
                for each in journal.standing("person_ended")
                if isinstance(each.body, entries.PersonEnded)
            }
            for slug, made in waiting.items():
                watched.add(slug, outcomes.get(slug, creations.CUT_OFF), made)
            watched.keep(ask_all=True)
        remove_outlived(journal, place, retain_s, note)
        if seen.is_current:
            return seen.view(with_reports=with_reports)
        seen = runs.RunReader(journal)
        # Everybody is read once for both.
        view = seen.view(with_reports=with_reports)
        write_outputs(place, seen)
        return view
