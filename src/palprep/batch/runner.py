"""``palprep run``: many people, from files to trained assets, resumable at any point."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from palprep.batch.engines.cluster import make_engine
from palprep.batch.engines.files import run_name
from palprep.batch.execution import Execution, ending_in_order
from palprep.batch.forgetting import remove_outlived
from palprep.batch.outputs import write_outputs
from palprep.batch.people.files import File, is_hidden, is_url
from palprep.batch.people.folder import DEFAULT_INTO, holds_run
from palprep.batch.people.person import Person, Roster, RosterEntry, read_people
from palprep.batch.people.selection import People, find_everybody
from palprep.batch.work.connection import Remote, connect
from palprep.batch.work.consent import statements_of
from palprep.batch.work.context import (
    PREPARED_NAME,
    Note,
    RunContext,
    RunOptions,
    Stop,
    TakeNote,
    Tell,
    tell_no_one,
)
from palprep.batch.work.memory import Unchanged, record_start
from palprep.batch.work.originals import SOURCES_NAME
from palprep.consent import require_model
from palprep.errors import UsageError
from palprep.journal import Journal
from palprep.journal.entries import SandboxStatement
from palprep.journal.runs import PersonView, RunReader, RunView
from palprep.preflight import kinds_by, media_workers
from palprep.publish import Publisher, publisher_for
from palprep.rules import BUILT_IN, load_profile
from palprep.rules.texts import blocker_words, counted, some_of
from palprep.storage import output_folder
from palprep.values import typed
from palprep.views.drawings import PICTURES_NAME
from palprep.views.terminal import cell_progress
from palprep.vocabulary import by_name
from palprep.workers import LocalEngine


@typed("people", "into", "options", "tell", "note")
def run(
    people: People,
    *,
    into: str | Path = DEFAULT_INTO,
    options: RunOptions | None = None,
    tell: Tell | None = None,
    note: TakeNote = tell_no_one,
    with_reports: bool = True,
) -> RunView:
    """Take every person as far as possible, and write the results.

    ``people`` is a folder with one subfolder for each person, here or in a bucket
    (``s3://BUCKET/PREFIX``, ``gs://`` or ``az://``); a manifest (``.csv``, ``.jsonl`` or
    ``.parquet``) with one row for each; or the rows of one. Files that lie elsewhere are fetched
    when it is their person's turn.

    The service is that of ``options.connection``, by default of PALPREP_BASE_URL; without one, the
    run starts a sandbox for itself.

    ``into`` receives prepared files, results, pages and journal. One run at a time may use it.
    Nothing is created twice, however an earlier run ended. A person who is done is skipped if
    nothing has changed since, as the file system tells it.

    ``tell`` is called from several threads; ``note`` before the work begins, with what is odd or
    was guessed in the folder. Without ``tell``, a notebook shows the progress in the cell.

    A replica is made from a video only when the statement of consent was heard in it, or in a
    video of its own. A doubt about that holds it: the person ``needs_decision``.

    An interrupted run (KeyboardInterrupt) finishes and records the requests under way, and leaves
    results and page as they are: `palprep report` writes them from the journal.

    Returns the people who were worked on, as they stand now. Without ``with_reports`` their
    ``assets`` are left out: those of many thousand people take gigabytes.

    Raises UsageError where there are no people, ManifestError with all mistakes of a manifest,
    ToolMissing where ``whisper_model`` holds no model; JournalError and OutputUnwritable when the
    output cannot be kept. What goes wrong with one person is in that person's result.
    """
    options = options or RunOptions()
    # An unknown profile or a missing model is one error here, and not an error of each person.
    profiles = {name: load_profile(name) for name in (options.profile, *BUILT_IN)}
    if options.whisper_model is not None:
        options = replace(options, whisper_model=require_model(Path(options.whisper_model)))
    source = _source_of(people, into)
    place = options.select.place(Path(into))
    roster = find_everybody(people, place / SOURCES_NAME)
    # Before the folder is made, so that a mistaken name leaves none behind.
    options.select.of(roster.people, {} if holds_run(place) else None)
    if not holds_run(place):  # Otherwise the journal's own error is the better advice.
        output_folder(place)
    place = Path(os.path.realpath(place))
    with (
        Journal.of(place, lock=True, create=True) as journal,
        contextlib.ExitStack() as stack,
    ):
        engine = options.engine
        if isinstance(engine, str):
            limits, own = options.limits, run_name(journal)
            engine = make_engine(
                engine, jobs=options.jobs, store=options.store, limits=limits, run=own
            )
            stack.callback(engine.close, at_once=True)
        if isinstance(engine, LocalEngine):
            # Before any file is looked at: a worker that may open less would be replaced. Not the
            # journal, which lies beside these folders.
            engine.may_open(writes=[place / PREPARED_NAME, place / PICTURES_NAME])
        tell = tell or cell_progress() or tell_no_one
        context = RunContext(options, place, journal, engine, profiles, tell, Stop())
        last = None if journal.last_run() is None else RunReader(journal)
        work = _find_work(context, roster, last)
        for each in _notes(roster, work):
            note(each)
        _carry_out(context, work, note, source)
        for text in engine.complaints():
            note(Note(person=None, text=text, about="worker"))
        with contextlib.suppress(OSError):  # It holds files that are to be kept.
            (place / SOURCES_NAME).rmdir()
        remove_outlived(journal, place, options.retain_s, note)
        seen = last if last is not None and last.is_current else RunReader(journal)
        # Everybody is read once for both.
        view = seen.view(work.selected, with_reports=with_reports)
        write_outputs(place, seen)
        return view


class _Work(NamedTuple):
    """Who is to be worked on, and who needs no work."""

    selected: Mapping[str, RosterEntry]
    unchanged: Mapping[str, PersonView]
    people: tuple[Person, ...]
    """Those who are worked on."""
    states: Unchanged
    forgotten: Mapping[str, str]
    """Those who are skipped, since they were forgotten, and what to say of each."""
    left_out: tuple[str, ...]
    """Those of the last run whom the results leave out from now on."""


def _find_work(run: RunContext, roster: Roster, last: RunReader | None) -> _Work:
    ended = None if last is None else {each.slug: each.status for each in last.people}
    selected = {each.slug: each for each in run.options.select.of(roster.people, ended)}
    gone = run.journal.forgotten("person", selected)
    known = frozenset(run.journal.people()) if gone else frozenset[str]()
    forgotten = {
        slug: _forgotten_words(slug, run.place, known) for slug in selected if slug in gone
    }
    selected = {slug: each for slug, each in selected.items() if slug not in gone}
    states = Unchanged(run)
    unchanged = states.among(selected.values(), last.people if last else ())
    left = [each for slug, each in selected.items() if slug not in unchanged]
    with contextlib.ExitStack() as stack:
        # A cluster need not see a folder that is here.
        here = stack.enter_context(media_workers(1)) if run.engine.far else run.engine
        people = read_people(left, kinds_by(here))
    left_out = list[str]()
    if ended is not None and run.options.select.everybody:
        left_out = sorted(ended.keys() - {each.slug for each in roster.people}, key=by_name)
    return _Work(selected, unchanged, people, states, forgotten, tuple(left_out))


def _carry_out(run: RunContext, work: _Work, note: TakeNote, source: str | None) -> None:
    """Record that the run begins, and do the work."""
    options, people = run.options, {each.slug: each for each in work.people}
    statements = statements_of(work.people, options.whisper_model)
    if isinstance(run.engine, LocalEngine):
        files = [each for one in work.people for each in one.files]
        run.engine.may_open(reads=[each for each in files if isinstance(each, Path)])
        run.engine.begin(len(people))
    with contextlib.ExitStack() as stack:
        service = None
        if people and not options.dry_run:
            service = stack.enter_context(_connected(run, statements, note))
        # Recorded once everything is there: a failed start leaves the last results as they are.
        everybody = [work.unchanged.get(slug) or people[slug] for slug in work.selected]
        record_start(run, everybody, statements, at_work=[*people], source=source)
        execution = Execution(
            run, work.people, lambda slug: work.states.to_record(work.selected[slug])
        )
        with ending_in_order(run.stop):
            execution.take_through(service)


@contextmanager
def _connected(
    run: RunContext, statements: tuple[SandboxStatement, ...], note: TakeNote
) -> Iterator[tuple[Remote, Publisher]]:
    with (
        connect(
            run.options.connection,
            run.journal,
            run.place,
            statements,
            requests_per_s=run.options.pace.requests_per_s,
            # A cluster need not see the files of a sandbox on this machine.
            judge_in=run.engine if isinstance(run.engine, LocalEngine) else None,
        ) as remote,
        publisher_for(remote.client.base_url, remote.connection.publish_to) as publisher,
    ):
        for text in publisher.probe():
            note(Note(person=None, text=text, about="bucket"))
        if run.options.connection.base_url is None:
            text = "No --base-url and no PALPREP_BASE_URL: an embedded sandbox is used"
            note(Note(person=None, text=text, about="service"))
        else:  # Before work of hours that would be for nothing.
            remote.require_answer()
        yield remote, publisher


def _notes(roster: Roster, work: _Work) -> Iterator[Note]:
    for name in roster.loose:
        text = f"{name} is not used: it lies outside the people's subfolders"
        yield Note(person=None, text=text, about="unused")
    if work.left_out:
        who = f"{counted(len(work.left_out), 'person', 'people')} of the last run"
        text = (
            f"not here now: {who} ({some_of(work.left_out)}). Results and page leave them out, and "
            "the journal keeps what was made for them"
        )
        yield Note(person=None, text=text, about="gone")
    if count := len(work.unchanged):
        who = f"{counted(count, 'person', 'people')} {'is' if count == 1 else 'are'}"
        text = f"{who} done, and nothing of theirs has changed since"
        yield Note(person=None, text=text, about="unchanged")
    lacking = [each.slug for each in work.people if each.lacks_all]
    if lacking:
        who = counted(len(lacking), "person", "people")
        text = f"{who}: {blocker_words('nothing_to_make')} ({some_of(lacking)})"
        yield Note(person=None, text=text, about="lacking")
    yield from _shared(work.people)
    for slug, text in work.forgotten.items():
        yield Note(person=slug, text=text, about="forgotten")
    for person in work.people:
        for each in person.assigned:
            about: Literal["guess", "role"] = "guess" if each.by == "content" else "role"
            yield Note(person=person.slug, text=each.words, about=about)
        if person.guessed_name is not None:
            yield Note(person=person.slug, text=person.guessed_name, about="guess")
        for text in person.unused:
            yield Note(person=person.slug, text=text, about="unused")


def _shared(people: Sequence[Person]) -> Iterator[Note]:
    """A note about files that are given for several people, as by a row that was copied."""
    owners: dict[File, list[str]] = {}
    for person in people:
        for file in person.files:
            owners.setdefault(file, []).append(person.slug)
    if shared := [f"{file.name}: {some_of(who)}" for file, who in owners.items() if len(who) > 1]:
        files = counted(len(shared), "file is", "files are")
        text = f"{files} given for more than one person ({some_of(shared)})"
        yield Note(person=None, text=text, about="shared")


def _forgotten_words(slug: str, place: Path, known: Container[str]) -> str:
    command = shlex.join(["palprep", "forget", str(place), slug])
    if slug in known:
        return f"to be forgotten, which was broken off: nothing is made; go on with {command}"
    return f"forgotten, and nothing is made of theirs; to take them in again: {command} --again"


def _source_of(people: People, into: str | Path) -> str | None:
    """The absolute path or URL of the people; None for rows. Raises UsageError where the output
    would go into the people's own folder."""
    if not isinstance(people, str | os.PathLike):
        return None
    if is_url(str(people)):
        return str(people)
    # Path.resolve raises RuntimeError at a link that leads to itself, before Python 3.13.
    source, place = os.path.realpath(people), Path(os.path.realpath(into))
    theirs = place == Path(source)
    if not theirs and place.is_relative_to(source) and not holds_run(place):
        with contextlib.suppress(OSError):  # Missing; or refused, which writing into it tells.
            theirs = any(not is_hidden(each.name) for each in place.iterdir())
    if theirs:
        raise UsageError(
            f"{into} holds what the people have sent: name another folder with --into, or what is "
            "written there would be taken for theirs"
        )
    return source
