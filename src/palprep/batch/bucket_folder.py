"""A part of a bucket as a folder of people: listed once, and fetched when somebody needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from palprep.batch.files import File, RemoteFile
from palprep.batch.people import Given, GivenPerson, Person, is_hidden, nobody_in, person_of
from palprep.batch.roles import promised_kind
from palprep.batch.row import why_no_folder_name
from palprep.batch.seen import Seen, state_of
from palprep.batch.settings import MAX_BYTES, SETTINGS_NAME, SettingsFile, leads_out, parse_settings
from palprep.errors import UsageError
from palprep.storage.bucket import Bucket, Stored
from palprep.values import Kind


def people_in_bucket(url: str, into: Path) -> Given:
    """The people below the prefix that ``url`` names, one per folder, sorted by name.

    A file's name says what it is, since none is opened. Statements of the people's own are read
    into ``into``.

    Raises UsageError where there is no one, StorageError where the bucket cannot be read.
    """
    bucket = Bucket(url)
    folders: dict[str, dict[str, Stored]] = {}
    loose: list[str] = []
    for stored in bucket.below():
        slug, slash, name = stored.name.partition("/")
        if slash and name and not is_hidden(slug):
            folders.setdefault(slug, {})[name] = stored
        elif not slash and not is_hidden(slug):
            loose.append(slug)
    if not folders:
        raise nobody_in(url, sum(promised_kind(name) is not None for name in loose))
    people = (
        GivenPerson(
            slug, _seen(bucket, stored), partial(_person, bucket, slug, stored, into / slug)
        )
        for slug, stored in sorted(folders.items())
    )
    return Given(tuple(people), tuple(loose))


def _seen(bucket: Bucket, folder: Mapping[str, Stored]) -> Seen | None:
    if any(each.etag is None for each in folder.values()):
        return None
    listed = sorted((each.name, each.size_bytes, each.etag) for each in folder.values())
    # A tag names the content, whatever the clock says.
    return Seen(state_of([bucket.url, listed]), sure=True)


def _person(bucket: Bucket, slug: str, stored: Mapping[str, Stored], into: Path) -> Person:
    problem = why_no_folder_name(slug)
    if problem is not None:
        return Person(slug=slug, problems=(f"the folder's name {problem}",))
    try:
        settings = _settings(bucket, stored)
        statement = _statement(bucket, settings, stored, into)
    except UsageError as error:
        return Person(slug=slug, problems=(str(error),))

    def look_up(name: str) -> File | None:
        found = stored.get(name)
        return None if found is None else _file(bucket, found)

    here = sorted(name for name in stored if "/" not in name and not is_hidden(name))
    found: list[tuple[File, Kind]] = [
        (_file(bucket, stored[name]), kind) for name in here if (kind := promised_kind(name))
    ]
    person = person_of(slug, settings, found, look_up, statement)
    return person.model_copy(
        update={"unused": (*person.unused, *_unused(here, person, settings, found))}
    )


def _settings(bucket: Bucket, stored: Mapping[str, Stored]) -> SettingsFile:
    own = stored.get(SETTINGS_NAME)
    if own is None:
        return SettingsFile()
    # One byte more than there may be, so that too much is told in the words for a file.
    raw = bucket.read(own.name, max_bytes=max(own.size_bytes, MAX_BYTES + 1))
    return parse_settings(raw)


def _statement(
    bucket: Bucket, settings: SettingsFile, stored: Mapping[str, Stored], into: Path
) -> Path | None:
    name = settings.statement
    if name is None or leads_out(name) or name not in stored:
        return None
    into.mkdir(parents=True, exist_ok=True)
    path = into / f"statement{Path(name).suffix}"
    bucket.fetch(stored[name].name, path, max_bytes=MAX_BYTES)
    return path


def _file(bucket: Bucket, stored: Stored) -> RemoteFile:
    return RemoteFile(
        url=f"{bucket.url}/{stored.name}", size_bytes=stored.size_bytes, etag=stored.etag
    )


def _unused(
    here: list[str], person: Person, settings: SettingsFile, found: list[tuple[File, Kind]]
) -> Iterator[str]:
    known = {SETTINGS_NAME, settings.statement, *(file.name for file, _ in found)}
    known |= {each.path.name for each in person.chosen}
    for name in here:
        if name not in known:
            yield f"{name} is not used: its name promises no image, audio or video"
