"""palprep guide, ask, record and review: write to people who record themselves or must do it again,
record a person on a local page, and answer the questions of a run there."""

from __future__ import annotations

import contextlib
import shlex
import sys
import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from palprep import (
    batch,
    consent as statements,
    journal as journals,
    preflight,
    record as pages,
    rules,
    serving,
    storage,
    views,
)
from palprep.batch import people as batch_people
from palprep.cli import options
from palprep.cli.files import limits_of, require_no_shards, require_there
from palprep.cli.output import print_line, tell
from palprep.cli.results import Tally
from palprep.consent import wording
from palprep.errors import UsageError
from palprep.journal import entries, runs
from palprep.rules import texts
from palprep.vocabulary import DEFAULT_PROFILE

EXAMPLES = (
    'palprep guide "Ada Lovelace" --into guide.html',
    'palprep guide "Ada Lovelace" --into guide.html --language de',
    "palprep ask palprep-out --into messages",
    "palprep ask palprep-out --into messages --language de",
    "palprep record people/ada-lovelace",
    "palprep record people/ada-lovelace --language de --port 0 --no-browser",
    "palprep review palprep-out",
)

NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Open no browser: the link is printed.")
]

_WORKERS = 2
"""One checks a take while the other looks at the camera or receives the next file."""


def guide(
    full_name: Annotated[str, typer.Argument(help="The full name that the person will say.")],
    into: Annotated[Path, typer.Option(help="The HTML file to write.")],
    language: options.ReadersLanguage = "en",
    statement: options.Statement = None,
    profile: options.ProfileName = DEFAULT_PROFILE,
) -> None:
    views.require_page_name(into)
    limits = rules.load_profile(profile)
    own = wording.read_statement(statement) if statement else None
    spoken = language if own else "en"
    words = wording.statement_for(full_name, own, language=spoken)
    page = views.guide_page(
        words.full_name, statement=words.text, spoken=spoken, profile=limits, language=language
    )
    storage.write_text(into, page)
    print_line(into)
    tell("Next: send it, or print it. It needs no other file.")


def ask(
    directory: options.Output,
    into: Annotated[Path, typer.Option(help="The folder for the messages.")],
    language: options.ReadersLanguage = "en",
) -> None:
    """Each is a text and a page with their picture, in the language of their settings, or else in
    that of --language. messages.csv has all of them, for a mail merge."""
    require_there(directory)
    written = batch.write_messages(directory, into, language)
    for each in written:
        print_line(into / f"{each.stem}.txt")
        if each.english:
            findings = ", ".join(each.english)
            tell(f"{each.person}: told in English, for want of a translation: {findings}")
    if not written:
        tell("Nobody is to send anything again: no message was written")
        return
    count = texts.counted(len(written), "message", "messages")
    tell(f"{count} in {into}, and nothing was sent. Next: look at them, and send them")


def record(
    person: Annotated[
        Path,
        typer.Argument(metavar="PEOPLE/NAME", help="The person's folder; it may be a new one."),
    ],
    port: options.Port = 8702,
    into: Annotated[
        Path, typer.Option(help="The output folder of the run to come; its journal notes codes.")
    ] = Path("palprep-out"),
    language: options.ReadersLanguage = "en",
    no_browser: NoBrowser = False,
    profile: options.ProfileName = DEFAULT_PROFILE,
    model: options.WhisperModel = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
) -> None:
    """Portrait, consent with a fresh code, voice and training video land in the person's folder."""
    _require_folder_of_one(person)
    require_no_shards(into, person.absolute().name)
    judged_by, model = rules.load_profile(profile), model and statements.require_model(model)
    folder, limits = person.absolute(), limits_of(time_limit, memory_limit)
    with (
        journals.Journal.of(into, create=True) as journal,
        preflight.media_workers(_WORKERS, limits=limits) as engine,
    ):
        recording = pages.Recording(
            folder, journal, engine, profile=judged_by, language=language, model=model
        )
        _serve("record", recording, port, no_browser=no_browser)
        if not storage.is_there(folder):
            tell(f"Nobody was recorded, and {person} was not made")
            return
        go_on = ["palprep", "run", str(person.parent), "--only", folder.name, *_writing_into(into)]
        go_on += ["--profile", profile] if profile != DEFAULT_PROFILE else []
        go_on += ["--whisper-model", str(model)] if model else []
        tell(f"Next: {shlex.join(go_on)}")


def review(
    directory: options.Output,
    port: options.Port = 8703,
    no_browser: NoBrowser = False,
    base_url: options.LastBaseUrl = None,
) -> None:
    """It goes on with the people, profile and service of the last run, and takes all other options
    from the environment."""
    require_there(directory)
    with journals.Journal.of(directory) as journal:
        last = journal.last_run()
    if last and last.body.source and not last.body.dry_run:
        service = _service(base_url, last.body)
        if service is not None:  # Checked before anything is answered: the next run needs the key.
            batch.Connection(base_url=service).require_key()
    with preflight.media_workers(1) as engine:
        goes_on = partial(_go_on, directory, base_url)
        answering = pages.Review(directory.resolve(), engine, goes_on)
        _serve("review", answering, port, no_browser=no_browser)
    with runs.status(directory) as (head, standings):
        people = Tally(standings)
    tell(people.summary())
    tell(people.next_step(directory, dry_run=head.dry_run))
    raise typer.Exit(people.exit_code(dry_run=head.dry_run))


def _go_on(directory: Path, base_url: str | None, last: entries.RunStarted) -> list[str]:
    """The command that goes on with the ``last`` run. Raises UsageError if a program gave the
    people."""
    if last.source is None:
        raise UsageError("The people of this run came from a program: let that run them again")
    service = _service(base_url, last)
    return [
        *(sys.executable, "-m", "palprep", "run", last.source),
        *(*_writing_into(directory.resolve()), "--profile", last.profile),
        *(["--base-url", service] if service else []),
        *(["--dry-run"] if last.dry_run else []),
        *(["--without-consent"] if last.without_consent else []),
    ]


def _writing_into(place: Path) -> list[str]:
    """The options of a run with this output folder, which may be that of a shard."""
    shard = batch_people.Shard.of_folder(place.name)
    return ["--into", str(place.parent), "--shard", str(shard)] if shard else ["--into", str(place)]


def _service(base_url: str | None, last: entries.RunStarted) -> str | None:
    return base_url or (last.target if "://" in last.target else None)


def _serve(name: str, page: pages.Recording | pages.Review, port: int, *, no_browser: bool) -> None:
    with (
        contextlib.closing(page),
        pages.LocalSite(name, page.routes(), port=port) as site,
        serving.until_signalled(site.ended) as ended,
    ):
        print_line(f"palprep {name} ready on {site.origin}")
        print_line(site.link)
        if not no_browser:
            webbrowser.open(site.link)
        ended.wait()


def _require_folder_of_one(person: Path) -> None:
    name = person.absolute().name
    why = batch_people.why_no_folder_name(name) if name else "is missing"
    if why is not None:
        raise UsageError(f"The name of the person's folder {why}")
    file = storage.is_there(person) and not storage.is_folder(person)
    if file or storage.is_there(person / journals.JOURNAL_NAME):
        raise UsageError(f"{person} is no person's folder: name PEOPLE/NAME")
    if storage.is_folder(person) and any(person.glob("*/person.toml")):
        raise UsageError(f"{person} holds people: name the folder of one, {person}/NAME")
