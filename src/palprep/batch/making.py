"""Everybody's files prepared and asked for, as fast as workers and the service allow.

Two groups of threads: one hands files to the workers, the other asks the service. Whoever waits
for a place among the trainings keeps no worker from the next files. No thread waits for a training.
"""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Sequence

from palprep.batch.media_steps import Ready
from palprep.batch.people import Person
from palprep.batch.person import PersonSteps
from palprep.batch.progress import Reporter
from palprep.batch.service_steps import Asked
from palprep.journal.outcomes import up_to_date
from palprep.journal.results import PersonOutcome

_PREPARING_AT_MOST = 256
"""Threads that wait for workers."""
_ASKING = 16
"""Threads that wait for uploads and replies."""


class Making:
    """The making for all people. ``asked`` hears of each person once everything was asked for.

    ``record`` keeps how it ended for a person; ``changed`` is set whenever somebody is through.
    Twice as many people as there are workers (``jobs``) are at work at once, so that no worker
    waits while one person's last file is done.
    """

    def __init__(
        self,
        steps: PersonSteps,
        record: Callable[[Person, PersonOutcome], object],
        reporter: Callable[[Person], Reporter],
        asked: Callable[[Person, Asked], object],
        changed: threading.Event,
        *,
        jobs: int,
    ) -> None:
        self._steps = steps
        self._record = record
        self._reporter = reporter
        self._asked = asked
        self._changed = changed
        self._left = 0
        self._errors: list[BaseException] = []
        self._guard = threading.Lock()
        self._preparing = concurrent.futures.ThreadPoolExecutor(
            min(_PREPARING_AT_MOST, 2 * jobs + 2), thread_name_prefix="palprep-prepare"
        )
        self._asking = concurrent.futures.ThreadPoolExecutor(
            _ASKING, thread_name_prefix="palprep-ask"
        )

    @property
    def left(self) -> int:
        """How many people are not through."""
        return self._left

    @property
    def errors(self) -> tuple[BaseException, ...]:
        """What concerns everybody, and ends the run."""
        return tuple(self._errors)

    def begin(self, people: Sequence[Person]) -> None:
        """Begin with everybody."""
        self._left = len(people)
        for person in people:
            self._preparing.submit(self._prepare, person)

    def finish(self) -> None:
        """Begin with nobody else, and wait until whoever is at work has ended.

        A request under way is finished and recorded: it would be in doubt otherwise.
        """
        self._preparing.shutdown(wait=True, cancel_futures=True)
        self._asking.shutdown(wait=True, cancel_futures=True)

    def _prepare(self, person: Person) -> None:
        try:
            ready = self._steps.prepare(person, self._reporter(person))
            if isinstance(ready, PersonOutcome):
                self._end(person, Asked(ready))
            else:
                self._asking.submit(self._ask, person, ready)
        except BaseException as error:  # noqa: BLE001 -- raised where the run is awaited
            self._fail(error)

    def _ask(self, person: Person, ready: Ready) -> None:
        try:
            self._end(person, self._steps.ask(person, ready, self._reporter(person)))
        except BaseException as error:  # noqa: BLE001 -- raised where the run is awaited
            self._fail(error)

    def _end(self, person: Person, asked: Asked) -> None:
        now = up_to_date(asked.outcome, asked.made)
        self._record(person, now)
        self._asked(person, Asked(now, asked.made, asked.watched))
        with self._guard:
            self._left -= 1
        self._changed.set()

    def _fail(self, error: BaseException) -> None:
        with self._guard:
            self._errors.append(error)
        self._changed.set()
