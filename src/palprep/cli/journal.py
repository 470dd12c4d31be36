"""palprep status, watch, report and listen: the commands on the journal of a run."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from palprep import api, batch, callbacks, journal as journals, serving
from palprep.cli import options
from palprep.cli.exits import ExitCode
from palprep.cli.files import require_no_shards, require_there
from palprep.cli.output import print_json, print_json_of_many, print_line, tell
from palprep.cli.results import Tally, people_at_work
from palprep.errors import UsageError
from palprep.journal import creations, runs
from palprep.rules import texts

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

Directories = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR...",
        help="The output folder of a run; or those of its shards.",
        # A pattern and a name may give a folder twice. Its people are counted once.
        callback=lambda given: list({os.path.realpath(each): each for each in given}.values()),
    ),
]


def watch(
    directory: options.Output,
    base_url: options.LastBaseUrl = None,
    callback_url: options.CallbackUrl = None,
    wait: options.Wait = None,
    no_wait: options.NoWait = False,
    rate: options.RequestRate = None,
    retain: options.Retain = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Without --wait it waits until all have ended. With --no-wait, as for cron, it asks about each
    training once. Nothing is created. Without --base-url it asks the service of the last run. The
    key comes from PALPREP_API_KEY."""
    require_there(directory)
    pace = batch.Pace(
        wait_s=options.waiting_time(wait, no_wait=no_wait, otherwise=options.FOR_EVER),
        requests_per_s=rate,
    )
    connection = batch.Connection(base_url=base_url, callback_url=callback_url)
    kept = f"All that was recorded is kept in {directory}."
    with people_at_work(directory, kept, wanted=not as_json and not quiet) as progress:
        ended = batch.watch(
            directory,
            connection=connection,
            pace=pace,
            tell=progress,
            note=lambda each: tell(f"{each.person}: {each.text}"),
            retain_s=retain,
            with_reports=False,
        )
    found = Tally(ended.people)
    if as_json:
        for person in ended.people:
            print_json(person.standing.to_json())
    else:
        found.print_people()
    tell(found.summary())
    found.tell_blockers(directory)
    tell(found.next_step(directory, dry_run=ended.head.dry_run))
    raise typer.Exit(found.exit_code(dry_run=ended.head.dry_run))


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
) -> None:
    """The exit code is 4 while a doubt about consent holds somebody's replica, or a create is in
    doubt. A create does not count while a run is at work, which may resolve it."""
    require_there(*directories)
    if found or retry or ended:
        if len(directories) > 1:
            raise UsageError("Resolve one DIR at a time: name the one that the doubt is in")
        if because is not None:
            raise UsageError("Resolve first, and give --because in a command of its own")
        creations.resolve(
            directories[0],
            found=map(_key_and_id, found or ()),
            retry=retry or (),
            ended=[ended] if ended else (),
        )
    journals_read, everybody = _read(directories, because, as_json=as_json)
    dry_run = all(head.dry_run and not head.running for head, _ in journals_read)
    doubts = any(head.in_doubt and not head.running for head, _ in journals_read)
    if not as_json:
        for head, _ in journals_read:
            state = "A run is at work on it." if head.running else "No run is at work on it."
            where = f"{head.directory}: " if len(journals_read) > 1 else ""
            last = texts.stamp(head.updated_at)
            print_line(f"{where}{state} Last entry: {last}. Service: {head.target}.")
        everybody.print_people()
        for head, people in journals_read:
            _show_open_ends(head, people)
        tell(everybody.summary())
        if because is None:
            everybody.tell_blockers(*directories)
        head = journals_read[0][0]
        # The commands that resolve doubts have been printed. What a script made without a run
        # has no page, and no command goes on with it.
        if not doubts and len(directories) == 1 and head.has_run:
            place = directories[0]
            tell(everybody.next_step(place, dry_run=dry_run, running=head.running))
    raise typer.Exit(ExitCode.IN_DOUBT if doubts else everybody.exit_code(dry_run=dry_run))


def _show_open_ends(head: runs.JournalHead, people: Tally) -> None:
    if head.running and head.in_doubt:
        print_line("Requests under way look as if they were in doubt: look again after the run.")
    else:
        for creation in head.in_doubt:
            print_line(_how_to_resolve(head.directory, creation))
    for person in people.doubts:
        print_line(_how_to_decide(head.directory, person))
    if len(people.doubts) < people.held:
        more = texts.counted(people.held - len(people.doubts), "more is", "more are")
        print_line(f"\n{more} held by a doubt: decide about these first.")
    if people.in_training and not head.running:
        command = shlex.join(["palprep", "status", head.directory, "--ended", people.in_training])
        if head.unread is not None:
            whose, body = head.unread
            text = json.dumps(body, ensure_ascii=False)[:_BODY_SHOWN]
            print_line(f"The last callback about {whose} tells no end that palprep knows: {text}")
        print_line(
            "Only a callback tells the end of a replica. Where it was lost, or tells none, ask the "
            "service, then\n"
            f"  {command} completed    if the training ended well\n"
            f"  {command} error        if it did not"
        )
    if head.unclaimed_callbacks:
        lost = texts.counted(head.unclaimed_callbacks, "callback belongs", "callbacks belong")
        print_line(f"{lost} to nothing made here")


def _key_and_id(found: str) -> tuple[str, str]:
    key, equals, resource_id = found.partition("=")
    if not equals:
        raise UsageError(f"--found needs KEY=ID, not {found!r}")
    return key, resource_id


def _how_to_resolve(directory: str, creation: creations.Creation) -> str:
    place = shlex.quote(directory)
    return (
        f"\n{creation.what} of {creation.person} is in doubt since {creation.intended_at}. "
        "Look for it at the service, then\n"
        f"  palprep status {place} --found {creation.key}=ID    if it is there\n"
        f"  palprep status {place} --retry {creation.key}       if it is not"
    )


def _how_to_decide(directory: str, person: runs.PersonView) -> str:
    places, evidence = dict[str, None](), person.consent_state.evidence
    for doubt in evidence.doubts:
        # The words of a doubt about one file name its role.
        files = [each for each in evidence.files if f"({each.role})" in doubt.words]
        places |= {str(Path(directory, each.path)): None for each in files or evidence.files}
        if doubt.stretch is not None:
            places[f"{doubt.stretch.start_s:.1f} s to {doubt.stretch.end_s:.1f} s"] = None
    command = shlex.join(["palprep", "decide", directory, person.slug])
    return (
        f"\nThe consent of {person.slug} is in doubt. Listen to {', '.join(places)}, then\n"
        f"  {command} --accept --by NAME --because TEXT    if it is given\n"
        f"  {command} --refuse --by NAME --because TEXT    if it is not"
    )


def report(
    directories: Directories,
    into: Annotated[
        Path | None, typer.Option(help="The folder for the results of several DIRs as one.")
    ] = None,
) -> None:
    require_there(*directories)
    if into is not None:
        page = batch.write_merged_report(directories, into)
    elif len(directories) == 1:
        page = batch.write_report(directories[0])
    else:
        raise UsageError("Give --into: the folder for the results of all of them as one")
    print_line(page)
    journals_read, everybody = _read(directories)
    tell(everybody.summary())
    everybody.tell_blockers(*directories)
    if into is not None:
        tell(f"Next: open {shlex.quote(str(page))}")
    else:
        [(head, _)] = journals_read
        tell(everybody.next_step(directories[0], dry_run=head.dry_run, running=head.running))


def _read(
    directories: Sequence[Path], because: str | None = None, *, as_json: bool = False
) -> tuple[list[tuple[runs.JournalHead, Tally]], Tally]:
    """The head of each journal with a tally of its people, and a tally of all people; with
    ``because``, of those who are blocked by it. Raises UsageError if nobody is. With ``as_json``
    each journal is also printed."""
    if because is not None:
        _require_blocker(because, directories)
    journals_read, everybody = [], Tally()
    for each in directories:
        own = everybody if len(directories) == 1 else Tally()
        with runs.status(each) as (head, people):
            added = map(own.add, (one for one in people if because in {None, one.blocker}))
            if own is not everybody:
                added = map(everybody.add, added)
            if as_json:
                standings = (one.standing.to_json() for one in added)
                print_json_of_many(head.to_json(), "people", standings)
            else:
                deque(added, maxlen=0)
        journals_read.append((head, own))
    return journals_read, everybody


def _require_blocker(because: str, directories: Sequence[Path]) -> None:
    known = set[str]()
    for each in directories:
        with runs.status(each) as (_, people):
            known.update(one.blocker for one in people if one.blocker)
    if because not in known:
        listed = ", ".join(sorted(known)) or "nothing"
        raise UsageError(f"--because {because} is true of nobody here; there is: {listed}")


_BODY_SHOWN = 500
"""Characters of a callback's body that are shown."""


def listen(
    journal: Annotated[
        Path, typer.Option(help="The output folder of a run, also of one that is to come.")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: options.Port = 8701,
    public_url: Annotated[
        str | None,
        typer.Option(help="How the service reaches this port: a tunnel's or proxy's address."),
    ] = None,
    log_format: options.LogFormatting = "text",
) -> None:
    """Prints the secret address to give as callback_url."""
    require_no_shards(journal)
    received = 0

    def arrived(delivery: callbacks.Delivery) -> None:
        nonlocal received
        received += 1
        kind = type(delivery.event).__name__ if delivery.event else "unknown event"
        # The callback is recorded even when nobody reads the lines any more.
        with contextlib.suppress(OSError):
            # Programs that collect JSON lines read standard error.
            to_log = log_format == "json"
            (tell if to_log else print_line)(f"{kind}: {api.redact(delivery.body)}")

    with serving.until_signalled() as stop:
        with (
            journals.Journal.of(journal, create=True) as opened,
            journals.callback_server(
                opened, host=host, port=port, public_url=public_url, then=arrived
            ) as server,
        ):
            print_line(f"palprep listens on {server.url_for()}")
            stop.wait()
            then = "report" if opened.last_run() else "run FOLDER --into"
        tell(
            f"{texts.counted(received, 'callback', 'callbacks')} received. "
            f"Next: palprep {then} {shlex.quote(str(journal))}"
        )
