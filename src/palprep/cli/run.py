"""palprep run: many people, from files to voices and replicas."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palprep.cli.going_on import interrupted, people_kept, recorded_in
from palprep.cli.options import AsJson, MemoryLimit, ProfileName, TimeLimit, WhisperModel
from palprep.cli.printing import tell_notes
from palprep.cli.service_options import (
    BUCKET_HELP,
    BaseUrl,
    CallbackUrl,
    NoWait,
    RequestRate,
    Wait,
    waiting_time,
)
from palprep.cli.signals import Interrupted, interruptible
from palprep.cli.verbosity import LogFile, Quiet, Verbose, tell, tell_detail, telling
from palprep.vocabulary import DEFAULT_PROFILE

if TYPE_CHECKING:
    from palprep.batch.progress import Note

_WAIT_S = 900.0


EXAMPLES = (
    "palprep run people --dry-run",
    "palprep run people.csv --only 'ada*' --limit 10",
    "palprep run people --into out --base-url https://service.example",
)


def run(
    people: Annotated[
        str,
        typer.Argument(
            help="A folder with one subfolder per person, here or in a bucket (s3://, gs://, "
            "az://); or a manifest with one row per person (.csv, .jsonl, .parquet).",
            show_default=False,
        ),
    ],
    into: Annotated[Path, typer.Option("--into", help="Output folder.")] = Path("palprep-out"),
    base_url: BaseUrl = None,
    engine: Annotated[
        str, typer.Option(help="Where media work runs: local, or dask://HOST:PORT.")
    ] = "local",
    store: Annotated[
        str | None,
        typer.Option(
            envvar="PALPREP_STORE",
            metavar="URL",
            help="Bucket that carries files to a cluster's workers and back; without it they must "
            "see the same folders.",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Local worker processes; by default, all cores.")
    ] = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    profile: ProfileName = DEFAULT_PROFILE,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Work on this person alone; again for more. * and ? stand for any characters.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Work on the first N people alone.")
    ] = None,
    failed: Annotated[
        bool,
        typer.Option("--failed", help="Work on those alone who failed or were refused last time."),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Work on part I of N, with an output folder of its own in --into. The parts "
            "share nobody.",
        ),
    ] = None,
    keep_sources: Annotated[
        bool,
        typer.Option(
            "--keep-sources", help="Keep what is fetched from elsewhere, in sources/ of --into."
        ),
    ] = False,
    publish_to: Annotated[
        str | None,
        typer.Option(
            envvar="PALPREP_PUBLISH_TO",
            metavar="URL",
            help=f"Bucket the service fetches from. {BUCKET_HELP}",
        ),
    ] = None,
    callback_url: CallbackUrl = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check and prepare everything; send nothing.")
    ] = False,
    without_consent: Annotated[
        bool,
        typer.Option(
            "--without-consent",
            help="Train from videos even where no consent was heard; that goes on record.",
        ),
    ] = False,
    model: WhisperModel = None,
    wait: Wait = None,
    no_wait: NoWait = False,
    max_creates: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Create at most N voices and replicas in this run."),
    ] = None,
    max_training: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep at most N in training at once.")
    ] = None,
    rate: RequestRate = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    log_file: LogFile = None,
) -> None:
    """Check, fix, prove and publish everything, and make each person's voice and replica.

    The key comes from PALPREP_API_KEY. The same command again continues where a run ended,
    and creates nothing twice. Without --wait, trainings are waited for up to 15 minutes.
    """
    from palprep.batch.connection import Connection
    from palprep.batch.outputs import written_results
    from palprep.batch.pace import Pace
    from palprep.batch.runner import run as run_people
    from palprep.batch.selection import Selection, Shard
    from palprep.cli.files_at_work import limits_of
    from palprep.cli.printing import print_json
    from palprep.cli.results import exit_code_of_results, print_results
    from palprep.cli.run_progress import run_progress
    from palprep.rules.profile import load_profile
    from palprep.views.format import duration
    from palprep.views.run_summary import next_step, summary

    pace = Pace(
        wait_s=waiting_time(wait, no_wait=no_wait, otherwise=_WAIT_S),
        max_creates=max_creates,
        max_training=max_training,
        requests_per_s=rate,
    )
    limits = limits_of(time_limit, memory_limit)
    connection = Connection(
        base_url=base_url,
        api_key=os.environ.get("PALPREP_API_KEY"),
        publish_to=publish_to,
        callback_url=callback_url,
    )
    select = Selection(
        only=tuple(only or ()),
        limit=limit,
        failed=failed,
        shard=Shard.parse(shard) if shard is not None else None,
    )
    place = select.place(into)
    began = time.monotonic()
    with (
        telling(verbose=verbose, quiet=quiet, log_file=log_file),
        run_progress(bars=not as_json and not quiet) as progress,
    ):
        if base_url is None and not dry_run:
            tell("No --base-url and no PALPREP_BASE_URL: an embedded sandbox is used")
        tell_notes(load_profile(profile))
        try:
            with interruptible(recorded_in(place)):
                seen = run_people(
                    people,
                    into=into,
                    select=select,
                    keep_sources=keep_sources,
                    connection=connection,
                    engine=engine,
                    jobs=jobs,
                    store=store,
                    limits=limits,
                    profile=profile,
                    dry_run=dry_run,
                    without_consent=without_consent,
                    whisper_model=model,
                    pace=pace,
                    tell=progress.tell,
                    with_reports=False,
                    note=lambda note: _tell_note(note, dry_run=dry_run),
                )
        except Interrupted as signal:
            interrupted(people_kept(progress, place), signal)
    results = [person.standing for person in seen.people]
    if as_json:
        for line in written_results(place, {each.person for each in results}):
            print_json(line)
    else:
        print_results(results, as_json=False)
    with telling(quiet=quiet, log_file=log_file):
        tell(f"{summary(results)}, in {duration(time.monotonic() - began)}")
        if not as_json:
            tell(f"The whole story is in {place / 'report.html'}")
        tell(next_step(results, place, dry_run=dry_run))
    raise typer.Exit(exit_code_of_results(results))


def _tell_note(note: Note, *, dry_run: bool) -> None:
    """What names say is for those who look closely; what was guessed concerns everybody."""
    line = f"{note.person}: {note.text}" if note.person is not None else note.text
    if note.about == "role" and not dry_run:
        tell_detail(line)
    else:
        tell(line)
