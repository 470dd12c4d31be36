"""palprep run: many people, from files to voices and replicas."""

from __future__ import annotations

import math
import os
import shlex
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from palprep import batch, views
from palprep.batch import people as batch_people
from palprep.cli import options
from palprep.cli.files import limits_of
from palprep.cli.output import SAME, print_json, tell, tell_detail
from palprep.cli.results import Tally, people_at_work
from palprep.rules import texts
from palprep.vocabulary import DEFAULT_PROFILE

_WAIT_S = 900.0

_TOLD = {"role": 0, "guess": 0, "unused": 10}
"""How many notes about each subject are told without --verbose; all about other subjects."""

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
            "az://); or a manifest with one row per person (.csv, .jsonl, .parquet)."
        ),
    ],
    into: Annotated[Path, typer.Option(help="Output folder.")] = Path("palprep-out"),
    base_url: options.BaseUrl = None,
    engine: Annotated[
        str, typer.Option(help="Where media work runs: local, or dask://HOST:PORT.")
    ] = "local",
    store: options.Store = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            envvar="PALPREP_JOBS", min=1, help="Local worker processes; by default, all cores."
        ),
    ] = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Work on this person only; repeat it for more. * and ? stand for any characters.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Work on the first N people only.")
    ] = None,
    failed: Annotated[
        bool,
        typer.Option(
            "--failed",
            help="Work only on those who failed, or who need new files, an answer or a decision.",
        ),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Work on part I of N, with an output folder of its own in --into. Each person "
            "is in one part. auto/N takes I from a Kubernetes Job or an AWS Batch array.",
        ),
    ] = None,
    keep_sources: Annotated[
        bool,
        typer.Option(
            "--keep-sources", help="Keep what is fetched from elsewhere, in sources/ of --into."
        ),
    ] = False,
    publish_to: options.PublishTo = None,
    callback_url: options.CallbackUrl = None,
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
    model: options.WhisperModel = None,
    wait: options.Wait = None,
    no_wait: options.NoWait = False,
    max_creates: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Create at most N voices and replicas in this run."),
    ] = None,
    rate: options.RequestRate = None,
    retain: options.Retain = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """The key comes from PALPREP_API_KEY. The same command again continues where a run ended, and
    creates nothing twice. Without --wait, trainings are waited for up to 15 minutes."""
    pace = batch.Pace(
        wait_s=options.waiting_time(wait, no_wait=no_wait, otherwise=_WAIT_S),
        max_creates=max_creates,
        requests_per_s=rate,
    )
    limits = limits_of(time_limit, memory_limit)
    connection = batch.Connection(
        base_url=base_url, publish_to=publish_to, callback_url=callback_url
    )
    notes = Counter[str]()

    def tell_note(note: batch.Note) -> None:
        notes[note.about] += 1
        line = f"{note.person}: {note.text}" if note.person is not None else note.text
        emit = tell if notes[note.about] <= _TOLD.get(note.about, math.inf) else tell_detail
        emit(line, person=note.person, about=note.about)

    select = batch_people.Selection(
        only=tuple(only or ()),
        limit=limit,
        failed=failed,
        shard=batch_people.Shard.parse(shard, os.environ) if shard is not None else None,
    )
    place = select.place(into)
    began = time.monotonic()
    look = shlex.join(["palprep", "status", str(place)])
    kept = (
        f"All that was recorded is kept in {place}. A request that was under way may be in doubt: "
        f"`{look}` tells."
    )
    with people_at_work(place, kept, wanted=not as_json and not quiet) as progress:
        ended = batch.run(
            people,
            into=into,
            options=batch.RunOptions(
                select=select,
                connection=connection,
                pace=pace,
                engine=engine,
                jobs=jobs,
                store=store,
                limits=limits,
                profile=profile,
                dry_run=dry_run,
                without_consent=without_consent,
                keep_sources=keep_sources,
                retain_s=retain,
                whisper_model=model,
            ),
            tell=progress,
            with_reports=False,
            note=tell_note,
        )
    found = Tally(ended.people)
    if as_json:
        for line in batch.written_results(place, {each.slug for each in ended.people}):
            print_json(line)
    else:
        found.print_people()
    tell(f"{found.summary()}, in {views.duration(time.monotonic() - began)}")
    if not as_json:
        tell(f"The whole story is in {place / 'report.html'}")
    found.tell_blockers(place)
    if notes["guess"] and not verbose:
        guessed = texts.counted(notes["guess"], "guess", "guesses")
        tell(f"{guessed} about files and names: --verbose tells them")
    if notes["unused"] > _TOLD["unused"] and not verbose:
        tell(f"{notes['unused']} files are not used: --verbose names all of them")
    if found.given_twice:
        who = texts.counted(found.given_twice, "person", "people")
        tell(f"{who} gave a file that somebody else gave, too. The page names both files.")
    tell(found.next_step(place, dry_run=dry_run, again=SAME))
    raise typer.Exit(found.exit_code(dry_run=dry_run))
