"""palprep watch: waits on for what a run has asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from palprep.cli.going_on import interrupted, people_kept
from palprep.cli.options import AsJson
from palprep.cli.service_options import (
    FOR_EVER,
    BaseUrl,
    CallbackUrl,
    NoWait,
    RequestRate,
    Wait,
    waiting_time,
)
from palprep.cli.signals import Interrupted, interruptible
from palprep.cli.verbosity import LogFile, Quiet, Verbose, tell, telling

EXAMPLES = ("palprep watch palprep-out", "palprep watch palprep-out --wait 4h")


def watch(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The output folder of a run.", show_default=False)
    ],
    base_url: BaseUrl = None,
    callback_url: CallbackUrl = None,
    wait: Wait = None,
    no_wait: NoWait = False,
    rate: RequestRate = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    log_file: LogFile = None,
) -> None:
    """Wait for the trainings that a run has begun, and write the results when they end.

    Without --wait it waits until all have ended. With --no-wait, as from cron, everything is asked
    for once. Nothing is created. The key comes from PALPREP_API_KEY.
    """
    from palprep.batch.connection import Connection
    from palprep.batch.pace import Pace
    from palprep.batch.watch_folder import watch as watch_folder
    from palprep.cli.given import require_there
    from palprep.cli.results import exit_code_of_results, print_results
    from palprep.cli.run_progress import run_progress
    from palprep.views.run_summary import RUN, next_step, summary

    require_there(directory)
    pace = Pace(wait_s=waiting_time(wait, no_wait=no_wait, otherwise=FOR_EVER), requests_per_s=rate)
    connection = Connection(
        base_url=base_url,
        api_key=os.environ.get("PALPREP_API_KEY"),
        callback_url=callback_url,
    )
    with (
        telling(verbose=verbose, quiet=quiet, log_file=log_file),
        run_progress(bars=not as_json and not quiet) as progress,
    ):
        try:
            with interruptible(f"All that was recorded is kept in {directory}."):
                seen = watch_folder(
                    directory,
                    connection=connection,
                    pace=pace,
                    tell=progress.tell,
                    with_reports=False,
                )
        except Interrupted as signal:
            interrupted(people_kept(progress, directory), signal)
    results = [person.standing for person in seen.people]
    print_results(results, as_json=as_json)
    with telling(quiet=quiet, log_file=log_file):
        tell(summary(results))
        tell(next_step(results, directory, again=RUN))
    raise typer.Exit(exit_code_of_results(results))
