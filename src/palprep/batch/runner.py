"""``palprep run``: many people, from files to trained assets, resumable at any point."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from palprep.batch.connection import Connection, Remote, connect
from palprep.batch.engines import bring_of, files_of, make_engine
from palprep.batch.given import People, people_given
from palprep.batch.kept_files import FromKept
from palprep.batch.making import Making
from palprep.batch.media_steps import MediaSteps
from palprep.batch.originals import SOURCES_NAME, drop_empty
from palprep.batch.outputs import write_outputs
from palprep.batch.pace import Pace, Places
from palprep.batch.people import Person, read_people
from palprep.batch.person import PersonSteps
from palprep.batch.profiles import Profiles
from palprep.batch.progress import Note, Reporter, TakeNote, Tell
from palprep.batch.sandbox_workers import RequiredStatement
from palprep.batch.selection import Selection
from palprep.batch.service_steps import Asked, ServiceSteps
from palprep.batch.starting import RunOptions, how_they_ended, last_run, record_start
from palprep.batch.statements import statements_of
from palprep.batch.unchanged import Unchanged
from palprep.batch.watch import Watch, keep_watch
from palprep.consent.model_folder import require_model
from palprep.errors import CreationUnrecorded, OutputUnwritable
from palprep.journal.entries import PersonEnded
from palprep.journal.results import PersonOutcome
from palprep.journal.run_view import RunReader, RunView
from palprep.journal.store import Journal, utc_now
from palprep.publish.chosen import publisher_for
from palprep.publish.publishers import Publisher
from palprep.views.cell_progress import cell_progress
from palprep.vocabulary import DEFAULT_PROFILE
from palprep.workers.engine import Engine, Limits
from palprep.workers.local import LocalEngine

DEFAULT_INTO = "palprep-out"


def run(
    people: People,
    *,
    into: str | Path = DEFAULT_INTO,
    select: Selection | None = None,
    keep_sources: bool = False,
    connection: Connection | None = None,
    engine: Engine | str = "local",
    jobs: int | None = None,
    store: str | None = None,
    limits: Limits | None = None,
    profile: str = DEFAULT_PROFILE,
    dry_run: bool = False,
    without_consent: bool = False,
    whisper_model: str | Path | None = None,
    pace: Pace | None = None,
    tell: Tell | None = None,
    note: TakeNote | None = None,
    with_reports: bool = True,
) -> RunView:
    """Bring every person as far as possible, and write the results.

    ``people`` is a folder with one subfolder for each person, here or in a bucket
    (``s3://BUCKET/PREFIX``, ``gs://`` or ``az://``); a manifest (``.csv``, ``.jsonl`` or
    ``.parquet``) with one row for each; or the rows of one.

    ``into`` receives prepared/, results.jsonl, report.html, pictures/ for it (above 50 people also
    people/ with a page for each) and journal.sqlite. Only one run at a time may use an output
    folder. Nothing is created twice, however an earlier run ended.

    ``select`` says who of them is worked on. The others stay in the results and on the page as
    the runs before left them, if those were for the same service. A shard has an output folder of
    its own in ``into``, such as shard-1-of-4.

    Who is done, and has changed nothing since, is passed over. What the file system says of the
    files tells that: none of them is opened. A run that is like the last one and finds nothing to
    do asks no service and leaves the outputs as they are.

    Files that lie elsewhere are fetched when it is their person's turn, and go when they are
    prepared, unless ``keep_sources`` says that they stay, in sources/.

    ``engine`` is ``local``, ``dask://HOST:PORT`` or an engine of your own. Your own is closed
    only when the run is interrupted. ``jobs`` is the number of local worker processes, ``limits``
    what the work at one file may take. ``store`` is the URL of a bucket, through which files go to
    the workers of a cluster and back.
    ``pace`` says how much may be asked for, and how long trainings are waited for.
    ``tell`` is called from several threads; ``note`` before the work begins, with what is odd or
    was guessed in the folder. Without ``tell``, a notebook shows the progress in the cell.

    A replica is made from a video only when the statement of consent was heard in it, or in a
    video of its own. Where no one can listen for it, since a package, the model or the language
    is missing, no video of that person is worked on; the others go on.
    ``without_consent`` goes on regardless, and puts that on record: in the journal, the dossiers,
    the results and the page.

    ``whisper_model`` is the folder of a Whisper model for CTranslate2 that listens for consent, on
    this machine and under the same path on each worker; without it, the one that palprep brings.

    An interrupted run (KeyboardInterrupt) finishes and records the requests under way, and leaves
    results.jsonl and report.html as they are: `palprep report` writes them from the journal.

    Returns the people who were worked on, as they stand now. Without ``with_reports`` their
    ``assets`` are left out. Those of many thousand people take gigabytes; results.jsonl has them.

    Raises UsageError where there are no people, ManifestError with all mistakes of a manifest,
    ToolMissing where ``whisper_model`` holds no model.
    Raises JournalError and OutputUnwritable when the output cannot be kept. What goes wrong with
    one person is in that person's result.
    """
    profiles = Profiles.of_run(profile)  # An unknown one is the command's error, not each person's.
    model = None if whisper_model is None else require_model(Path(whisper_model))
    selection = select or Selection()
    place = selection.place(Path(into))
    seen_at = utc_now()
    given = people_given(people, place / SOURCES_NAME, seen_at)
    place = _output_folder(place)
    asked, allowed = connection or Connection(), pace or Pace()
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(Journal.of(place, lock=True, create=True))
        chosen = selection.of(given.people, how_they_ended(journal) if selection.failed else None)
        workers = stack.enter_context(_opened_engine(engine, jobs, store, limits))
        options = RunOptions(
            target=asked.target, profile=profile, dry_run=dry_run, without_consent=without_consent
        )
        unchanged = Unchanged.of_run(place, files_of(workers), options, profiles[profile].limits)
        before = last_run(journal)
        stay = unchanged.among(chosen, before.people if before else (), seen_at)
        left = [each for each in chosen if each.slug not in stay]
        at_work = read_people(left)
        note = note or _nothing
        _take_notes(given.loose, at_work, len(stay), note)
        statements = statements_of(at_work, profile, model)
        if isinstance(workers, LocalEngine):
            workers.begin(len(at_work))
        service = None
        if at_work and not dry_run:
            service = stack.enter_context(
                _connected(asked, journal, place, statements, allowed, note=note, workers=workers)
            )
        # Recorded once everything is there: a failed start leaves the last results as they are.
        known = {each.slug: each for each in at_work}
        record_start(
            journal,
            [stay.get(each.slug) or known[each.slug] for each in chosen],
            statements,
            options,
            at_work=[each.slug for each in at_work],
            everybody=selection.everybody,
        )
        media = MediaSteps(
            journal=journal,
            engine=workers,
            into=place,
            without_consent=without_consent,
            files=files_of(workers),
            profiles=profiles,
            keep_sources=keep_sources,
            model=model,
            bring=bring_of(workers),
        )
        as_given = {each.slug: each for each in left}

        def record(person: Person, outcome: PersonOutcome) -> None:
            state = None
            if outcome.complete:
                state = unchanged.to_record(as_given[person.slug], journal.now())
            journal.append(PersonEnded(outcome=outcome, state=state), person=person.slug)

        under_way = _Run(journal, workers, at_work, tell or cell_progress() or _nothing, record)
        if service is None:
            under_way.prepare_all(PersonSteps(media=media, service=None))
        else:
            under_way.make_all(media, *service, allowed)
        drop_empty(place)
        seen = before if before is not None and before.is_current else RunReader(journal)
        write_outputs(place, seen)
        return seen.view({each.slug for each in chosen}, with_reports=with_reports)


def _nothing(_: object) -> None:
    """Tell no one."""


def _take_notes(
    loose: Sequence[str], people: Sequence[Person], unchanged: int, note: TakeNote
) -> None:
    for name in loose:
        text = f"{name} is not used: it lies outside the people's subfolders"
        note(Note(person=None, text=text, about="unused"))
    if unchanged:
        who = "1 person is" if unchanged == 1 else f"{unchanged:,} people are"
        text = f"{who} done, and nothing of theirs has changed since"
        note(Note(person=None, text=text, about="unchanged"))
    for person in people:
        for each in person.chosen:
            about: Literal["guess", "role"] = "guess" if each.guessed else "role"
            note(Note(person=person.slug, text=each.words, about=about))
        if person.guessed_name is not None:
            note(Note(person=person.slug, text=person.guessed_name, about="guess"))
        for text in person.unused:
            note(Note(person=person.slug, text=text, about="unused"))


class _Run:
    """One run under way: people are worked on, what was made is watched, and both end well."""

    def __init__(
        self,
        journal: Journal,
        engine: Engine,
        people: Sequence[Person],
        tell: Tell,
        record: Callable[[Person, PersonOutcome], object],
    ) -> None:
        self._journal = journal
        self._record = record
        self._engine = engine
        self._people = people
        self._tell = tell
        self._stop = threading.Event()
        self._changed = threading.Event()

    def prepare_all(self, steps: PersonSteps) -> None:
        """A dry run: nothing is asked for."""

        def ended(person: Person, asked: Asked) -> None:
            self._ended(person.slug, asked.outcome)

        making = self._making(steps, ended)
        with self._ending(making):
            making.begin(self._people)
            while self._is_at_work(making):
                self._changed.wait()
                self._changed.clear()

    def make_all(
        self,
        media: MediaSteps,
        remote: Remote,
        publisher: Publisher,
        pace: Pace,
    ) -> None:
        """Everything is asked for, and trainings are waited for as long as ``pace`` says."""
        places = Places(pace)
        watch = Watch(
            self._journal,
            remote,
            pace,
            ended=self._ended,
            freed=places.free,
        )
        for creation in self._journal.open_creations():
            here = creation.request.get("target") == remote.target
            if here and watch.can_tell(creation, calls_elsewhere=False):
                places.occupy(creation.key)
        service = ServiceSteps(
            journal=self._journal,
            remote=remote,
            publisher=FromKept(publisher, media.files),
            files=media.files,
            places=places,
            can_tell=watch.can_tell,
        )

        def asked(person: Person, asked: Asked) -> None:
            if asked.watched:
                self._reporter(person.slug).tell_step("training")
                watch.add(person.slug, asked.outcome, asked.made, asked.watched)
            else:
                self._ended(person.slug, asked.outcome)

        making = self._making(PersonSteps(media=media, service=service), asked)
        with self._ending(making):
            making.begin(self._people)
            keep_watch(
                watch,
                remote.connection.clock,
                pace.wait_s,
                through=lambda: not self._is_at_work(making),
                busy=lambda: self._is_at_work(making) and making.left > places.queue,
                changed=self._changed,
            )
            places.close("Not asked for yet, since others are in training: `run` goes on with it")
        watch.close()

    def _making(self, steps: PersonSteps, ended: Callable[[Person, Asked], object]) -> Making:
        return Making(
            steps,
            self._record,
            lambda each: self._reporter(each.slug),
            ended,
            self._changed,
            jobs=self._engine.jobs,
        )

    def _reporter(self, person: str) -> Reporter:
        return Reporter(person, self._tell, self._stop, len(self._people))

    def _ended(self, person: str, outcome: PersonOutcome) -> None:
        # Whoever was interrupted is not through.
        if not self._stop.is_set():
            self._reporter(person).end(outcome)

    def _is_at_work(self, making: Making) -> bool:
        """Whether somebody is left. Raises the first error that concerns everybody."""
        for error in making.errors:
            raise error
        return making.left > 0

    @contextmanager
    def _ending(self, making: Making) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._stop.set()
            self._engine.close(at_once=True)
            raise
        finally:
            making.finish()
            # Whatever else ended the run: these ids are known nowhere else.
            lost = [each for each in making.errors if isinstance(each, CreationUnrecorded)]
            if lost:
                raise CreationUnrecorded("\n".join(each.message for each in lost))


@contextmanager
def _opened_engine(
    engine: Engine | str, jobs: int | None, store: str | None, limits: Limits | None
) -> Iterator[Engine]:
    if not isinstance(engine, str):
        yield engine
        return
    own = make_engine(engine, jobs=jobs, store=store, limits=limits)
    try:
        yield own
    finally:
        own.close(at_once=True)


@contextmanager
def _connected(
    connection: Connection | None,
    journal: Journal,
    into: Path,
    statements: Sequence[RequiredStatement],
    pace: Pace,
    *,
    note: TakeNote,
    workers: Engine,
) -> Iterator[tuple[Remote, Publisher] | None]:
    if connection is None:
        yield None
        return
    with (
        connect(
            connection,
            journal,
            into,
            statements,
            requests_per_s=pace.requests_per_s,
            # A cluster need not see the files of a sandbox on this machine.
            judge_in=workers if isinstance(workers, LocalEngine) else None,
        ) as remote,
        publisher_for(remote.client.base_url, remote.connection.publish_to) as publisher,
    ):
        for text in publisher.probe():
            note(Note(person=None, text=text, about="bucket"))
        yield remote, publisher


def _output_folder(into: Path) -> Path:
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"The output folder {into} cannot be made: {error.strerror}; choose another --into"
        ) from None
    return into.resolve()
