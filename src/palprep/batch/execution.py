"""A run under way: everybody is taken through all steps, and trainings are watched. Both end in
good order, even after Ctrl-C.

One person's way from files to a voice and a replica:

    media steps        prepare, compare people, the consent gate; decide what is made: what is
                       unfit ends here, before anything leaves the machine
    service steps      the service's verdict on the portrait; publish and ask for the voice;
                       the same for the replica
    watch              what was asked for, until its training has ended

Every step reads the journal first, and continues where an earlier run ended. One group of threads
hands files to the workers, another asks the service. No thread waits for a training.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import FrameType
from typing import ParamSpec, TypeVar

from palprep import errors
from palprep.batch.engines.files import FilesPublisher
from palprep.batch.people.person import Person
from palprep.batch.work.connection import Remote
from palprep.batch.work.context import Reporter, RunContext, Stop
from palprep.batch.work.media_steps import Ready, prepare_files
from palprep.batch.work.pace import Creates, Outage
from palprep.batch.work.service_steps import Requested, ServiceSteps, dry_run
from palprep.batch.work.waiting import Watch
from palprep.client import LOOK_EVERY_S
from palprep.journal.creations import CUT_OFF, Creation, up_to_date
from palprep.journal.entries import PersonEnded
from palprep.journal.runs import PersonOutcome
from palprep.publish import Publisher
from palprep.system import NO_MORE, gives_no_more
from palprep.workers import WorkStopped

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger(__name__)

_PREPARING_AT_MOST = 4096
"""Threads that wait for workers, enough for two thousand workers. As many start as are needed."""

_WAITING_AT_CLUSTER = 32
"""People who wait at a cluster, beside eight for each of its threads: Dask's adaptive scaling
starts a worker for each five seconds of work that waits, and a recording takes one second."""

_ASKING = 16
"""Threads that wait for uploads and replies."""

_OUTAGES = 5
"""How often the service may become unreachable during one person's requests."""


def guarded(person: Person, steps: Callable[[], T]) -> T | PersonOutcome:
    """The result of the steps. An error of this person's files or requests becomes the person's
    outcome. An error that concerns everybody is raised: JournalError, OutputUnwritable,
    ClusterFailed."""
    try:
        return steps()
    except WorkStopped:
        return CUT_OFF
    except errors.RateLimited as error:
        return PersonOutcome(status="waiting", reasons=(error.message,))
    except errors.PalprepError as error:
        everybodys = isinstance(
            error, errors.ClusterFailed | errors.JournalError | errors.OutputUnwritable
        )
        if everybodys and not isinstance(error, errors.DossierUnusable):
            raise
        return PersonOutcome.failed(error.message, error.code)
    except Exception as error:  # noqa: BLE001 -- a defect at one person's files is not everybody's
        _log.debug("unexpected error at %s", person.slug, exc_info=True)
        advice = NO_MORE if gives_no_more(error) else "Please report this"
        message = f"Unexpected {type(error).__name__}: {error}. {advice}"
        return PersonOutcome.failed(message, "unexpected")


class Execution:
    """Takes people through all steps: more at once than there are workers, so that no worker is
    idle while others finish somebody's last files. ``state_of`` gives the state to record of a
    person for whom everything was asked for."""

    def __init__(
        self, run: RunContext, people: Sequence[Person], state_of: Callable[[str], str | None]
    ) -> None:
        self._run = run
        self._people = people
        self._state_of = state_of
        self._left = len(people)
        self._untouched = deque(people)
        self._in_preparation = 0
        self._errors: list[BaseException] = []
        self._guard = threading.Lock()
        self._changed = threading.Event()
        self._service: ServiceSteps | None = None
        self._preparing = ThreadPoolExecutor(
            _PREPARING_AT_MOST, thread_name_prefix="palprep-prepare"
        )
        self._asking = ThreadPoolExecutor(_ASKING, thread_name_prefix="palprep-ask")

    def take_through(self, service: tuple[Remote, Publisher] | None) -> None:
        """Ask for everything, and wait for trainings as long as the pace allows. Without a service,
        in a dry run, only prepare everything."""
        if service is not None:
            self._service = self._steps(*service)
        try:
            if self._service is not None:
                self._service.watch.keep(busy=self._is_at_work, changed=self._changed)
            while self._is_at_work():
                self._changed.wait(LOOK_EVERY_S)
                self._changed.clear()
        except BaseException:
            self._run.stop.set()
            self._run.engine.close(at_once=True)
            raise
        finally:
            # A request under way is finished and recorded: it would be in doubt otherwise.
            self._preparing.shutdown(wait=True, cancel_futures=True)
            self._asking.shutdown(wait=True, cancel_futures=True)
            # These errors go before any other: the ids in them are known nowhere else.
            lost = [each for each in self._errors if isinstance(each, errors.CreationUnrecorded)]
            if lost:
                raise errors.CreationUnrecorded("\n".join(each.message for each in lost))

    def _steps(self, remote: Remote, publisher: Publisher) -> ServiceSteps:
        run, pace = self._run, self._run.options.pace
        watch = Watch(run.journal, remote, pace, self._reporter)
        asked = remote.connection
        outage = Outage(remote.require_answer, pace.wait_s, clock=asked.clock, sleep=asked.sleep)
        files = FilesPublisher(publisher, run.files)
        return ServiceSteps(run, remote, files, Creates(pace.max_creates), watch, outage)

    def _is_at_work(self) -> bool:
        """Whether somebody is left. Raises the first error that concerns everybody, and
        KeyboardInterrupt where the run is to stop."""
        if self._run.stop.is_set:
            raise KeyboardInterrupt
        for error in tuple(self._errors):
            raise error
        self._begin_more()
        return self._left > 0

    def _begin_more(self) -> None:
        """Begin with as many people as the workers can take that are there now."""
        engine = self._run.engine
        # A cluster that grows with the work that waits must see that work.
        at_once = _WAITING_AT_CLUSTER + 8 * engine.jobs if engine.far else 2 + 2 * engine.jobs
        with self._guard:
            while self._untouched and self._in_preparation < at_once:
                self._in_preparation += 1
                person = self._untouched.popleft()
                self._preparing.submit(self._step, self._prepare, person)

    def _reporter(self, slug: str) -> Reporter:
        return Reporter(slug, self._run.tell, self._run.stop, len(self._people))

    def _step(self, step: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            step(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 -- raised where the run is awaited
            with self._guard:
                self._errors.append(error)
            self._changed.set()

    def _prepare(self, person: Person) -> None:
        reporter = self._reporter(person.slug)
        ready = guarded(person, lambda: prepare_files(self._run, person, reporter))
        with self._guard:
            self._in_preparation -= 1
        if isinstance(ready, PersonOutcome):
            self._end(person, ready)
        else:
            self._asking.submit(self._step, self._ask, person, ready)
        self._changed.set()

    def _ask(self, person: Person, ready: Ready) -> None:
        requested = guarded(person, lambda: self._requested(person, ready))
        outcome, made = (requested, ()) if isinstance(requested, PersonOutcome) else requested
        self._end(person, ready.so_far.becomes(outcome), made)

    def _requested(self, person: Person, ready: Ready) -> Requested:
        if self._service is not None:
            reporter = self._reporter(person.slug)
            for _ in range(_OUTAGES):
                try:
                    return self._service.carry_out(person, ready, reporter)
                except errors.ServiceUnreachable as error:
                    self._service.outage.wait_out(error, reporter.go_on)
                except errors.ApiError:
                    # The judges of a run's own sandbox end with its workers.
                    reporter.go_on()
                    raise
            return self._service.carry_out(person, ready, reporter)
        return dry_run(self._run, person, ready)

    def _end(self, person: Person, outcome: PersonOutcome, made: tuple[Creation, ...] = ()) -> None:
        """Record a person's outcome, and watch the creations whose end can become known."""
        outcome = up_to_date(outcome, made)
        state = self._state_of(person.slug) if outcome.complete else None
        self._run.journal.append(PersonEnded(outcome=outcome, state=state), person=person.slug)
        if self._service is None or not self._service.watch.add(person.slug, outcome, made):
            self._reporter(person.slug).end(outcome)
        with self._guard:
            self._left -= 1
        self._changed.set()


@contextlib.contextmanager
def ending_in_order(stop: Stop) -> Iterator[None]:
    """Inside the block the first Ctrl-C, or any other signal whose handler raises, only sets
    ``stop``. What the handler raised is raised once the block has ended; an error of the block's
    own goes before. Otherwise Python would raise it between any two steps, and leave locks taken. A
    later signal is handled at once."""
    raised: list[BaseException] = []

    def hear(handle: Callable[..., object], number: int, frame: FrameType | None) -> None:
        try:
            handle(number, frame)
        except BaseException as error:
            if raised:
                raise
            raised.append(error)
            stop.set()

    with contextlib.ExitStack() as restored:
        if threading.current_thread() is threading.main_thread():
            for number in signal.valid_signals():
                if callable(before := signal.getsignal(number)):
                    restored.callback(signal.signal, number, before)
                    signal.signal(number, partial(hear, before))
        try:
            yield
        except KeyboardInterrupt:  # As ``stop`` and a later signal end it.
            if not raised:
                raise
    if raised:
        raise raised[0]
