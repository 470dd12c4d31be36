"""What an output folder holds of one person, and how all of it goes.

    marked      from here on no run takes the person up, and nothing of theirs is recorded
    buckets     what was published or carried there
    sandbox     what the run's own sandbox holds
    files       prepared files with their dossiers, copies of originals, the person's page
    journal     every row, and its bytes
    outputs     results and pages are made again; pictures that no one else needs go

Each step can be repeated: whatever breaks the work off, the same call finishes it. The rows say
what there is, and are removed when everything that they name has gone.

Of people who are done, only the prepared files can be removed, some time after the end. What was
learnt of them is kept, and each dossier says that its video was removed on purpose, when, and why.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator, Sequence
from itertools import chain, product
from pathlib import Path

from palprep import journal as journals, pipelines, sandbox, views
from palprep.batch.engines.files import key_in_bucket, run_name, source_key
from palprep.batch.outputs import write_outputs
from palprep.batch.work.connection import EMBEDDED, SANDBOX_NAME
from palprep.batch.work.context import PREPARED_NAME, Note, TakeNote
from palprep.batch.work.originals import SOURCES_NAME
from palprep.dossier import DOSSIER_SUFFIX, add_entry, read_dossier
from palprep.errors import DossierUnusable, OutputUnwritable, StorageError, UsageError
from palprep.journal import creations, entries, runs
from palprep.preflight import Asset
from palprep.storage import Bucket
from palprep.values import Value
from palprep.views import drawings


class Forgetting(Value):
    """What an output folder holds of a person, and what becomes of it. ``person`` is the slug; None
    where an earlier call was broken off when only bytes were left."""

    person: str | None
    names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """The person's own files and folders, relative to the output folder. They are removed."""
    elsewhere: tuple[str, ...] = ()
    """Prepared files and dossiers that lie outside the folder. They stay."""
    at_service: tuple[creations.Creation, ...] = ()
    """What the service holds. It shows no way to delete a voice or a replica."""
    own_sandbox: bool = False
    """Whether the run's own sandbox is that service: its records are removed, too."""
    published: tuple[str, ...] = ()
    """The names that prepared files have in a bucket, if they were published into one."""
    shared: tuple[str, ...] = ()
    """The names that equal files of other people have, too. What is under them stays."""
    removed: tuple[str, ...] = ()
    """The addresses of what was removed from the buckets that were named."""
    stuck: tuple[str, ...] = ()
    """What could not be removed from the buckets, and why: one sentence each."""

    @staticmethod
    def in_own_sandbox(made: creations.Creation) -> bool:
        """Whether the service that holds it is the run's own sandbox."""
        return made.request.get("target") == EMBEDDED


def look_up(directory: str | Path, person: str) -> Forgetting:
    """What the output folder holds of the person with this folder name, name or full name. Raises
    UsageError for a name that nobody or several have, JournalError where there is no journal."""
    with journals.Journal.of(directory) as journal:
        return _held_under(journal, Path(directory), person)


def forget(directory: str | Path, person: str, *, buckets: Sequence[str] = ()) -> Forgetting:
    """Remove everything that the folder holds of a person, and what was put into ``buckets``, which
    are URLs. Later runs skip the person, until :func:`take_in_again`. The folder that the people's
    files came from is never touched. Where something cannot be removed from a bucket, the journal
    keeps its name, and with it all rows, lines and pictures of the person: a later call removes
    them. Raises as :func:`look_up`, JournalError while a run is at work, and UsageError while a
    sandbox runs on the folder's own data: the person is marked by then, and a later call goes on.
    """
    place, opened = Path(directory), [Bucket(url) for url in buckets]
    with journals.Journal.of(place, lock=True) as journal:
        found = _held_under(journal, place, person)
        slug, run = found.person, run_name(journal)
        # The pictures and the names in buckets that other people's files have.
        shown, shared = set[str](), set[str]()
        for entry in journal.one_by_one(entries.AssetPrepared):
            if entry.person != slug:
                shown.update(each.name for each in drawings.pictures_of(entry.body.asset).all())
                shared |= _published(entry.body.asset, run)
        if slug is not None:
            journal.mark_forgotten(slug, found.names)
            fetched = journal.entries(entries.FileFetched, person=slug)
            names = {source_key(run, each.body.sha256) for each in fetched}
            names = names.union(*(_published(each, run) for each in _assets(journal, slug)))
            alone = sorted(names - shared)
            both = tuple(each for each in found.published if each in shared)
            found = _emptied(found.model_copy(update={"shared": both}), opened, alone)
            made = journal.made_for(slug)
            if (place / SANDBOX_NAME).is_dir():
                sandbox.forget(place / SANDBOX_NAME, (*made.keys, *made.ids, *alone))
            for each in found.files:
                _remove(place / each)
            if found.stuck:
                return found
        # Files that killed runs left half written, whoever they are about.
        folders = ("", f"{views.PEOPLE_FOLDER}/**/", f"{drawings.PICTURES_NAME}/**/")
        for part in chain(*(place.glob(f"{each}.palprep-*.part*") for each in folders)):
            _remove(part)
        journal.forget(slug)
        if journal.last_run() is not None:
            write_outputs(place, runs.RunReader(journal), again=True)
        # A picture of nobody else was this person's, or is that of an older version's page.
        drawn = drawings.PictureFolder(place / drawings.PICTURES_NAME)
        for picture in {*drawn.drawn()} - shown:
            _remove(drawn.place / picture)
    return found


def take_in_again(directory: str | Path, person: str) -> None:
    """Let later runs work on a forgotten person again, of whom nothing is known any more. Raises
    UsageError where no such person was forgotten."""
    with journals.Journal.of(directory, lock=True) as journal:
        if not journal.take_in_again(person):
            raise UsageError(
                f"Nobody was forgotten as {person!r}: give the name of the person's folder"
            )


def _held_under(journal: journals.Journal, place: Path, asked: str) -> Forgetting:
    slug = journals.find_person(journal, asked)
    if slug is not None:
        return _held_of(journal, place, slug, journals.people_named(journal)[slug])
    if journal.forgotten("person", (asked,)):
        return _held_of(journal, place, asked, ())
    if journal.forgotten("name", (asked,)):
        return Forgetting(person=None)
    raise journals.nobody(journal, asked)


def _held_of(
    journal: journals.Journal, place: Path, slug: str, names: tuple[str, ...]
) -> Forgetting:
    # A program may have given any name, even one that leads to another folder.
    plain = slug not in {"", ".."} and Path(slug).name == slug
    page = Path(views.person_page(slug))
    here = [Path(PREPARED_NAME, slug), Path(SOURCES_NAME, slug)] if plain else []
    # A folder of this name may be the user's own.
    here += [page] if plain and views.is_page(place / page) else []
    prepared = (each.prepared for each in _assets(journal, slug) if each.prepared is not None)
    mine = [file for each in prepared for file in each.files]
    kept = {entry.body.path for entry in journal.entries(entries.DossierKept, person=slug)}
    root = place.resolve()
    there = {place / each for each in (*kept, *(str(each.path) for each in mine))}
    outside = {each for each in there if not each.resolve().is_relative_to(root)}
    made = journal.made_for(slug)
    at_service = tuple(
        each
        for each in journal.creations()
        if each.key in made.keys and each.state is not creations.CreationState.ABSENT
    )
    own = (place / SANDBOX_NAME).is_dir() and all(map(Forgetting.in_own_sandbox, at_service))
    return Forgetting(
        person=slug,
        names=names,
        files=tuple(str(each) for each in here if _is_there(place / each)),
        elsewhere=tuple(sorted(str(each) for each in outside if each.exists())),
        at_service=at_service,
        own_sandbox=own,
        published=tuple(sorted({key_in_bucket(each.path, each.sha256) for each in mine})),
    )


def _assets(journal: journals.Journal, person: str) -> Iterator[Asset]:
    return (entry.body.asset for entry in journal.entries(entries.AssetPrepared, person=person))


def _published(asset: Asset, run: str) -> set[str]:
    """The names that the asset's files have in buckets."""
    names = set() if asset.source_sha256 is None else {source_key(run, asset.source_sha256)}
    files = asset.prepared.files if asset.prepared is not None else ()
    return names.union(key_in_bucket(each.path, each.sha256) for each in files)


def _emptied(found: Forgetting, buckets: Sequence[Bucket], names: Sequence[str]) -> Forgetting:
    """Remove these names from the buckets. Says in the result what was removed and what was not."""
    removed, stuck = list[str](), list[str]()
    for bucket, name in product(buckets, names):
        try:
            if bucket.look(name) is not None:
                bucket.delete(name)
                removed.append(f"{bucket.url}/{name}")
        except StorageError as error:
            stuck.append(f"{bucket.url}/{name}: {error.message}")
    return found.model_copy(update={"removed": tuple(removed), "stuck": tuple(stuck)})


def _remove(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise _unremovable(path, error) from None


def _is_there(path: Path) -> bool:
    """Not ``exists``: that says no, or raises, where a folder above may not be looked into."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unremovable(path, error) from None
    return True


def _unremovable(path: Path, error: OSError) -> OutputUnwritable:
    return OutputUnwritable(
        f"{error.filename or path} cannot be removed ({error.strerror}): see to it, and run the "
        "same command again",
        path=str(path),
    )


def remove_outlived(
    journal: journals.Journal, place: Path, retain_s: float | None, note: TakeNote
) -> None:
    """Remove the prepared files, and copies of originals, of everybody who has been done for
    ``retain_s`` seconds; with None of nobody. Where a dossier was changed, everything stays."""
    if retain_s is None:
        return
    for person in runs.RunReader(journal).people:
        if person.status not in runs.READY or person.files_removed:
            continue
        ended = _ended_at(journal, person)
        if ended is None or (journal.now() - ended).total_seconds() < retain_s:
            continue
        days = f"{retain_s / 86_400:g} days after the work ended"
        prepared = place / PREPARED_NAME / person.slug
        try:
            for path in sorted(prepared.rglob(f"*{DOSSIER_SUFFIX}")):
                pipelines.restore_dossier(journal, person.slug, path)
                # Recorded first: if the work breaks off then, no video is missing unexplained.
                if read_dossier(path).entries[-1].kind != "removal":
                    add_entry(path, kind="removal", written_at=journal.now(), note=days)
                pipelines.keep_in_journal(journal, person.slug, path)
            for file in prepared.rglob("*"):
                if file.is_file() and not file.name.endswith(DOSSIER_SUFFIX):
                    _remove(file)
        except (DossierUnusable, UsageError, OutputUnwritable) as error:
            note(Note(person=person.slug, text=f"not removed: {error}", about="removed"))
            continue
        shutil.rmtree(place / SOURCES_NAME / person.slug, ignore_errors=True)
        journal.append(entries.FilesRemoved(retain_s=retain_s), person=person.slug)
        text = (
            f"prepared files were removed, {days}; journal, dossiers, results and page with its "
            "pictures are kept"
        )
        note(Note(person=person.slug, text=text, about="removed"))


def _ended_at(journal: journals.Journal, person: runs.PersonView) -> dt.datetime | None:
    """When both the work for a person and the last training had ended."""
    times = [entry.at for entry in journal.entries(entries.PersonEnded, person=person.slug)[-1:]]
    times += [each.ended_at for each in (person.voice, person.replica) if each and each.ended_at]
    return max(map(dt.datetime.fromisoformat, times), default=None)
