"""palprep status, watch, report and listen: what is done with the journal of a run."""

from __future__ import annotations

import datetime as dt
import gc
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from palprep import batch, callbacks, journal as journals, rules, serving, views
from palprep.cli import options
from palprep.cli.exits import ExitCode
from palprep.cli.files import require_there
from palprep.cli.output import LogFormat, print_json, print_line, tell, telling
from palprep.cli.results import (
    exit_code_of_results,
    next_step,
    people_at_work,
    print_results,
    summary,
    tell_blockers,
)
from palprep.errors import UsageError

EXAMPLES = (
    "palprep watch palprep-out",
    "palprep watch palprep-out --wait 4h",
    "palprep status palprep-out",
    "palprep status palprep-out --because appears_under_18",
    "palprep status palprep-out --found KEY=ID",
    "palprep status palprep-out --ended ID completed",
    "palprep status out/shard-*",
    "palprep report palprep-out",
    "palprep report out/shard-* --into out",
    "palprep listen --journal palprep-out --public-url https://hooks.example",
)

_RUN = "start `palprep run` again"
"""How to go on with a run, for commands that only look at it."""

Directories = Annotated[
    list[Path],
    typer.Argument(metavar="DIR...", help="The output folder of a run; or those of its shards."),
]


def watch(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The output folder of a run.")],
    base_url: options.BaseUrl = None,
    callback_url: options.CallbackUrl = None,
    wait: options.Wait = None,
    no_wait: options.NoWait = False,
    rate: options.RequestRate = None,
    retain: options.Retain = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    log_file: options.LogFile = None,
    log_format: options.LogFormatting = LogFormat.TEXT,
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
        telling(verbose=verbose, quiet=quiet, log_file=log_file, log_format=log_format),
        people_at_work(directory, kept, wanted=not as_json and not quiet) as progress,
    ):
        ended = batch.watch(
            directory,
            connection=connection,
            pace=pace,
            tell=progress,
            note=lambda each: tell(f"{each.person}: {each.text}"),
            retain_s=retain,
            with_reports=False,
        )
    results = [person.standing for person in ended.people]
    if as_json:
        for result in results:
            print_json(result.to_json())
    else:
        print_results(results)
    with telling(quiet=quiet, log_file=log_file, log_format=log_format):
        tell(summary(results))
        tell_blockers(results, directory)
        tell(next_step(results, directory, again=_RUN))
    raise typer.Exit(exit_code_of_results(results))


def status(
    directories: Directories,
    found: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=ID", help="It was created, as ID. The next run goes on with it."),
    ] = None,
    retry: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="It was not created. The next run asks for it again."),
    ] = None,
    ended: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="ID completed|error",
            help="Its training has ended so, and the service cannot tell it any more.",
        ),
    ] = None,
    because: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only those for whom this is in the way, as `run` tells."),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show where every person stands; with --found, --retry, --ended say what you know.

    Exit code 4 while something is in doubt and no run is at work, which may resolve it itself; and
    while a doubt about consent holds somebody's replica.
    """
    _require_all(directories)
    if len(directories) > 1 and (found or retry or ended):
        raise UsageError("Resolve one DIR at a time: name the one that the doubt is in")
    _resolve(directories[0], found or [], retry or [], ended)
    standings, people = _standings(directories, because)
    doubts = any(each.in_doubt and not each.running for each in standings)
    if as_json:
        for standing in standings:
            print_json(standing.to_json())
    else:
        for standing in standings:
            _show_head(standing, named=len(standings) > 1)
        print_results(people)
        for standing in standings:
            _show_open_ends(standing)
        with telling(quiet=quiet):
            tell(summary(people))
            if because is None:
                tell_blockers(people, *directories)
            # What is in doubt has been told, with the commands that resolve it.
            if not doubts and len(directories) == 1:
                running = standings[0].running
                tell(next_step(people, directories[0], running=running, again=_RUN))
    raise typer.Exit(ExitCode.IN_DOUBT if doubts else exit_code_of_results(people))


def _show_head(standing: journals.JournalStatus, *, named: bool) -> None:
    state = "A run is at work on it." if standing.running else "No run is at work on it."
    where = f"{standing.directory}: " if named else ""
    last = views.stamp(dt.datetime.fromisoformat(standing.updated_at))
    print_line(f"{where}{state} Last entry: {last}. Service: {standing.target}.")


def _show_open_ends(standing: journals.JournalStatus) -> None:
    if standing.running and standing.in_doubt:
        print_line("Requests under way look as if they were in doubt: look again after the run.")
    else:
        for creation in standing.in_doubt:
            print_line(_how_to_resolve(standing.directory, creation))
    for person in standing.people:
        if person.held:
            print_line(_how_to_decide(standing.directory, person))
    silent = [each for each in standing.people if each.replica_status == "started"]
    if silent and not standing.running:
        command = shlex.join(["palprep", "status", standing.directory, "--ended"])
        print_line(
            "Only a callback tells the end of a replica. Where it was lost, ask the service, then\n"
            f"  {command} {silent[0].replica_id} completed    if the training ended well\n"
            f"  {command} {silent[0].replica_id} error        if it did not"
        )
    if standing.unclaimed_callbacks:
        print_line(f"{standing.unclaimed_callbacks} callbacks belong to nothing made here")


def _resolve(
    directory: Path, found: list[str], retry: list[str], ended: tuple[str, str] | None
) -> None:
    if not found and not retry and ended is None:
        return
    with journals.Journal.of(directory) as decided:
        for decision in found:
            key, equals, resource_id = decision.partition("=")
            if not equals:
                raise UsageError(f"--found needs KEY=ID, not {decision!r}")
            journals.resolve_found(decided, key, resource_id)
        for key in retry:
            journals.resolve_retry(decided, key)
        if ended is not None:
            journals.resolve_ended(decided, *ended)


def _how_to_resolve(directory: str, creation: journals.Creation) -> str:
    place = shlex.quote(directory)
    return (
        f"\n{creation.what} of {creation.person} is in doubt since {creation.intended_at}. "
        "Look for it at the service, then\n"
        f"  palprep status {place} --found {creation.key}=ID    if it is there\n"
        f"  palprep status {place} --retry {creation.key}       if it is not"
    )


def _how_to_decide(directory: str, person: journals.PersonStanding) -> str:
    doubts = person.evidence.doubts
    files = ", ".join(str(Path(directory, each.path)) for each in person.evidence.files)
    stretches = [each.stretch for each in doubts if each.stretch is not None]
    told = (f"{each.start_s:.1f} s to {each.end_s:.1f} s" for each in dict.fromkeys(stretches))
    command = shlex.join(["palprep", "decide", directory, person.person])
    return (
        f"\nThe consent of {person.person} is in doubt. Listen to {files}"
        f"{', ' if stretches else ''}{', '.join(told)}, then\n"
        f"  {command} --accept --by NAME --because TEXT    if it is given\n"
        f"  {command} --refuse --by NAME --because TEXT    if it is not"
    )


def report(
    directories: Directories,
    into: Annotated[
        Path | None, typer.Option(help="The folder for the results of several DIRs as one.")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write the results and the page of a run again, with what has arrived since."""
    _require_all(directories)
    if into is not None:
        page = batch.write_merged_report(directories, into)
    elif len(directories) == 1:
        page = batch.write_report(directories[0])
    else:
        raise UsageError("Give --into: the folder for the results of all of them as one")
    print_line(page)
    standings, people = _standings(directories)
    with telling(quiet=quiet):
        tell(summary(people))
        tell_blockers(people, *directories)
        if into is not None:
            tell(f"Next: open {page}")
        else:
            running = standings[0].running
            tell(next_step(people, directories[0], running=running, again=_RUN))


def _require_all(directories: Sequence[Path]) -> None:
    for each in directories:
        require_there(each)


def _standings(
    directories: Sequence[Path], because: str | None = None
) -> tuple[list[journals.JournalStatus], list[journals.PersonStanding]]:
    """What each journal says, and everybody in all of them; or those for whom one finding is in the
    way. Raises UsageError where that is so of nobody."""
    # Of many people's values none is garbage, and to look for it takes a quarter of the time.
    gc.disable()
    try:
        found = [journals.status(each) for each in directories]
    finally:
        gc.enable()
    if because is not None:
        known = {one.blocker or "nothing" for each in found for one in each.people}
        if because not in known:
            listed = ", ".join(sorted(known))
            raise UsageError(f"--because {because} is true of nobody here; there is: {listed}")
        for at, each in enumerate(found):
            people = tuple(one for one in each.people if one.blocker == because)
            found[at] = each.model_copy(update={"people": people})
    return found, [person for each in found for person in each.people]


def listen(
    journal: Annotated[
        Path, typer.Option(help="The output folder of a run, also of one that is to come.")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8701,
    public_url: Annotated[
        str | None,
        typer.Option(help="How the service reaches this port: a tunnel's or proxy's address."),
    ] = None,
    quiet: options.Quiet = False,
    log_format: options.LogFormatting = LogFormat.TEXT,
) -> None:
    """Receive the service's callbacks into the journal of a run, until Ctrl-C.

    Prints the secret address to give as callback_url.
    """
    received = 0

    def arrived(delivery: callbacks.Delivery) -> None:
        nonlocal received
        received += 1
        kind = type(delivery.event).__name__ if delivery.event else "unknown event"
        print_line(f"{kind}: {delivery.body}")

    with telling(quiet=quiet, log_format=log_format), serving.until_signalled() as stop:
        with (
            journals.Journal.of(journal, create=True) as opened,
            journals.callback_server(
                opened, host=host, port=port, public_url=public_url, then=arrived
            ) as server,
        ):
            print_line(f"palprep listens on {server.url_for()}")
            stop.wait()
        tell(
            f"{rules.counted(received, 'callback', 'callbacks')} received. "
            f"Next: palprep report {shlex.quote(str(journal))}"
        )
