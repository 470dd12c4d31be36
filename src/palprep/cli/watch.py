"""palprep watch: waits on for what a run has asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from palprep import batch
from palprep.cli import options
from palprep.cli.files import require_there
from palprep.cli.output import print_json, tell, telling
from palprep.cli.results import (
    RUN,
    exit_code_of_results,
    next_step,
    people_at_work,
    print_results,
    summary,
)

EXAMPLES = ("palprep watch palprep-out", "palprep watch palprep-out --wait 4h")


def watch(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The output folder of a run.", show_default=False)
    ],
    base_url: options.BaseUrl = None,
    callback_url: options.CallbackUrl = None,
    wait: options.Wait = None,
    no_wait: options.NoWait = False,
    rate: options.RequestRate = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    log_file: options.LogFile = None,
) -> None:
    """Wait for the trainings that a run has begun, and write the results when they end.

    Without --wait it waits until all have ended. With --no-wait, as from cron, everything is asked
    for once. Nothing is created. The key comes from PALPREP_API_KEY.
    """
    require_there(directory)
    pace = batch.Pace(
        wait_s=options.waiting_time(wait, no_wait=no_wait, otherwise=options.FOR_EVER),
        requests_per_s=rate,
    )
    connection = batch.Connection(
        base_url=base_url,
        api_key=os.environ.get("PALPREP_API_KEY"),
        callback_url=callback_url,
    )
    kept = f"All that was recorded is kept in {directory}."
    with (
        telling(verbose=verbose, quiet=quiet, log_file=log_file),
        people_at_work(directory, kept, wanted=not as_json and not quiet) as progress,
    ):
        ended = batch.watch(
            directory, connection=connection, pace=pace, tell=progress, with_reports=False
        )
    results = [person.standing for person in ended.people]
    if as_json:
        for result in results:
            print_json(result.to_json())
    else:
        print_results(results)
    with telling(quiet=quiet, log_file=log_file):
        tell(summary(results))
        tell(next_step(results, directory, again=RUN))
    raise typer.Exit(exit_code_of_results(results))
