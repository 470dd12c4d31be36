"""``palprep run``: many people, from files to trained assets, resumable at any point."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from palprep.batch.engines.cluster import make_engine
from palprep.batch.execution import Execution, RunSettings
from palprep.batch.outputs import write_outputs
from palprep.batch.people.selection import People, Selection, find_everybody
from palprep.batch.work.connection import Connection
from palprep.batch.work.memory import RunOptions
from palprep.batch.work.originals import SOURCES_NAME, remove_if_empty
from palprep.batch.work.pace import Pace
from palprep.batch.work.progress import TakeNote, Tell
from palprep.batch.work.requests import Profiles
from palprep.consent import require_model
from palprep.errors import OutputUnwritable
from palprep.journal import (
    Journal,
    RunView,
    utc_now,
)
from palprep.views import cell_progress
from palprep.vocabulary import DEFAULT_PROFILE
from palprep.workers import Engine, Limits

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
    video of its own. A doubt about that holds it: the person ``needs_decision``. Where no one
    can listen for it, since a package, the model or the language is missing, no video of that
    person is worked on; the others go on.
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
    options = RunOptions(
        target=(connection or Connection()).target,
        profile=profile,
        dry_run=dry_run,
        without_consent=without_consent,
    )
    settings = RunSettings(
        options=options,
        select=select or Selection(),
        connection=connection or Connection(),
        pace=pace or Pace(),
        profiles=Profiles.of_run(profile),  # An unknown one is an error here, not each person's.
        model=None if whisper_model is None else require_model(Path(whisper_model)),
        keep_sources=keep_sources,
    )
    place = settings.select.place(Path(into))
    at = utc_now()
    roster = find_everybody(people, place / SOURCES_NAME, at)
    place = _output_folder(place)
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(Journal.of(place, lock=True, create=True))
        workers = stack.enter_context(_opened_engine(engine, jobs, store, limits))
        under_way = Execution(
            settings, place, journal, workers, tell or cell_progress() or _nothing
        )
        work = under_way.find_work(roster, at)
        under_way.carry_out(work, note or _nothing)
        remove_if_empty(place)
        reader = under_way.reader()
        write_outputs(place, reader)
        return reader.view(work.selected, with_reports=with_reports)


def _nothing(_: object) -> None:
    """Tell no one."""


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


def _output_folder(into: Path) -> Path:
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"The output folder {into} cannot be made: {error.strerror}; choose another --into"
        ) from None
    return into.resolve()
