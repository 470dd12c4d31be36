"""One person's way from files to a voice and a replica.

    media steps        prepare, compare faces, the consent gate; decide what is made: what is
                       unfit ends here, before anything leaves the machine
    service steps      the service's verdict on the portrait; publish and ask for the voice;
                       the same for the replica
    watch              what was asked for, until its training has ended

Every step looks into the journal first, and continues where an earlier run ended. The watch is
the run's, one for everybody.

Two groups of threads take people through, as fast as workers and the service allow: one hands files
to the workers, the other asks the service. Whoever waits for a place among the trainings keeps no
worker from the next files. No thread waits for a training.
"""

from __future__ import annotations

import concurrent.futures
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from palprep.batch.people.person import Person
from palprep.batch.work.media_steps import MediaSteps, Ready
from palprep.batch.work.progress import INTERRUPTED, Reporter, Stopped
from palprep.batch.work.service_steps import Requested, ServiceSteps
from palprep.errors import AT_SERVICE, DossierUnusable, JournalError, OutputUnwritable, PalprepError
from palprep.journal import PersonOutcome, PersonStatus, failed, up_to_date
from palprep.workers import WorkStopped

T = TypeVar("T")

_log = logging.getLogger(__name__)


def guarded(person: Person, steps: Callable[[], T]) -> T | PersonOutcome:
    """What the steps give. Errors of this person's files or requests are this person's outcome.

    Raises only what concerns everybody: a journal or an output folder that cannot be written.
    """
    try:
        return steps()
    except DossierUnusable as error:
        return failed(error.message)
    except (JournalError, OutputUnwritable):
        raise
    except (Stopped, WorkStopped):
        return PersonOutcome(status="waiting", reasons=(INTERRUPTED,))
    except PalprepError as error:
        return failed(error.message, at_service=isinstance(error, AT_SERVICE))
    except Exception as error:  # noqa: BLE001 -- a defect at one person's files is not everybody's
        _log.debug("unexpected error at %s", person.slug, exc_info=True)
        return failed(f"Unexpected {type(error).__name__}: {error}. Please report this")


_PREPARING_AT_MOST = 256
"""Threads that wait for workers."""

_ASKING = 16
"""Threads that wait for uploads and replies."""


class Scheduler:
    """Takes everybody through the steps. ``service`` is None in a dry run.

    ``ended`` hears of each person once everything was asked for.

    ``record`` keeps how it ended for a person; ``changed`` is set whenever somebody is through.
    Twice as many people as there are workers (``jobs``) are at work at once, so that no worker
    waits while one person's last file is done.
    """

    def __init__(
        self,
        media: MediaSteps,
        service: ServiceSteps | None,
        *,
        record: Callable[[Person, PersonOutcome], object],
        reporter: Callable[[str], Reporter],
        ended: Callable[[Person, Requested], object],
        changed: threading.Event,
        jobs: int,
    ) -> None:
        self._media = media
        self._service = service
        self._record = record
        self._reporter = reporter
        self._ended = ended
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
        """Begin with no one else, and wait for those who are at work.

        A request under way is finished and recorded: it would be in doubt otherwise.
        """
        self._preparing.shutdown(wait=True, cancel_futures=True)
        self._asking.shutdown(wait=True, cancel_futures=True)

    def _prepare(self, person: Person) -> None:
        try:
            reporter = self._reporter(person.slug)
            ready = guarded(person, lambda: self._media.prepare(person, reporter))
            if isinstance(ready, PersonOutcome):
                self._end(person, Requested(ready))
            else:
                self._asking.submit(self._ask, person, ready)
        except BaseException as error:  # noqa: BLE001 -- raised where the run is awaited
            self._fail(error)

    def _ask(self, person: Person, ready: Ready) -> None:
        try:
            requested = guarded(person, lambda: self._requested(person, ready))
            if isinstance(requested, PersonOutcome):
                requested = Requested(requested)
            outcome = requested.outcome.model_copy(
                update={
                    "notes": (*ready.notes, *requested.outcome.notes),
                    "not_made": (*ready.not_made, *requested.outcome.not_made),
                    "held": ready.held,
                }
            )
            self._end(person, replace(requested, outcome=outcome))
        except BaseException as error:  # noqa: BLE001 -- raised where the run is awaited
            self._fail(error)

    def _requested(self, person: Person, ready: Ready) -> Requested:
        if self._service is not None:
            return self._service.carry_out(person, ready, self._reporter(person.slug))
        told = f"Dry run, nothing was sent: {ready.requests.words} would be created"
        status: PersonStatus = "refused" if ready.not_made else "waiting"
        if ready.held:
            status = "needs_decision"
        return Requested(PersonOutcome(status=status, reasons=(told,)))

    def _end(self, person: Person, requested: Requested) -> None:
        now = up_to_date(requested.outcome, requested.made)
        self._record(person, now)
        self._ended(person, replace(requested, outcome=now))
        with self._guard:
            self._left -= 1
        self._changed.set()

    def _fail(self, error: BaseException) -> None:
        with self._guard:
            self._errors.append(error)
        self._changed.set()
