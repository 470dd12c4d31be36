"""A folder of people becomes work: who there is, with which files and settings."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from palprep.batch.files import File
from palprep.batch.roles import Chosen, assign, kind_of
from palprep.batch.seen import Seen, folder_seen
from palprep.batch.settings import (
    SETTINGS_NAME,
    Settings,
    SettingsFile,
    file_in,
    read_settings,
)
from palprep.errors import UsageError
from palprep.values import Kind, Role, Value

LISTENED_TO = frozenset({Role.TRAINING_VIDEO, Role.CONSENT_VIDEO})
"""The roles whose files may hold the statement."""


class Person(Value):
    """One person: the folder's name, the settings, and the file of each role."""

    slug: str
    settings: Settings = Settings()
    chosen: tuple[Chosen, ...] = ()
    """The file of each role, and why it was taken for that."""
    portraits: tuple[File, ...] = ()
    """Several images, of which the fittest is to be the portrait."""
    unused: tuple[str, ...] = ()
    """What lies in the folder and is not used, and why: one sentence each."""
    problems: tuple[str, ...] = ()
    """Why the folder cannot be understood, in words for its owner. Nothing is done then."""
    statement: Path | None = None
    """The file with the person's own consent statement."""

    @property
    def sources(self) -> Mapping[Role, File]:
        """The file of each role."""
        return {each.role: each.path for each in self.chosen}

    @property
    def name(self) -> str:
        """The name to show, and the replica's."""
        return self.settings.name or name_of(self.slug)

    @property
    def full_name(self) -> str:
        """The name that the consent statement must hold."""
        return self.settings.full_name or self.name

    @property
    def guessed_name(self) -> str | None:
        """What is said of the full name where no one wrote it and it will be listened for."""
        if self.settings.full_name or not self.sources.keys() & LISTENED_TO:
            return None
        return (
            f"{self.full_name} is taken as the name in the consent statement: for another one, "
            f"write full_name into {SETTINGS_NAME}, or into the manifest"
        )

    def with_portrait(self, path: File, why: str) -> Person:
        """The person with one of the ``portraits`` picked."""
        picked = Chosen(role=Role.FACE_IMAGE, path=path, why=why)
        return self.model_copy(update={"chosen": (*self.chosen, picked), "portraits": ()})


@dataclass(frozen=True)
class GivenPerson:
    """Somebody whom a run was given. Files and settings are looked into when they are ``read``.

    ``seen`` is what could be seen of them before; None where that tells no change.
    """

    slug: str
    seen: Seen | None
    read: Callable[[], Person]


class Given(NamedTuple):
    """All people that a run was given.

    ``loose`` holds the names of files that lie next to the people's folders and belong to nobody.
    """

    people: tuple[GivenPerson, ...]
    loose: tuple[str, ...] = ()


_READ_AT_ONCE = 16
"""People whose settings lie in a bucket are read at the same time."""


def read_people(people: Sequence[GivenPerson]) -> tuple[Person, ...]:
    """Their files and settings. Raises StorageError for a bucket that cannot be read."""
    with ThreadPoolExecutor(_READ_AT_ONCE) as threads:
        return tuple(threads.map(lambda each: each.read(), people))


def find_people(folder: str | Path, at: dt.datetime) -> Given:
    """The people of a folder, one per subfolder, sorted by name, ``at`` this time, which is now.

    Raises UsageError when there is no such folder, or no one in it. What is wrong in one
    person's subfolder is that person's problem. It stops no one else.
    """
    root = Path(folder)
    if not root.is_dir():
        what = "a file, not a folder" if root.exists() else "not there"
        raise UsageError(
            f"{root} is {what}: give a folder with one subfolder per person, or a manifest that "
            "ends with .csv, .jsonl or .parquet"
        )
    try:
        # Resolved once: the journal knows the same folder again, however it is spelt.
        with os.scandir(root.resolve()) as found:
            entries = sorted((e for e in found if not is_hidden(e.name)), key=lambda e: e.name)
        people = tuple(_in_folder(Path(each.path), at) for each in entries if each.is_dir())
        loose = [Path(each.path) for each in entries if not each.is_dir()]
        media = 0 if people else sum(1 for each in loose if kind_of(each) is not None)
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}") from None
    if not people:
        raise nobody_in(str(root), media)
    return Given(people, tuple(_printable(each.name) for each in loose))


def _in_folder(folder: Path, at: dt.datetime) -> GivenPerson:
    return GivenPerson(
        _printable(folder.name), folder_seen(folder, at), partial(read_person, folder)
    )


def nobody_in(place: str, media: int) -> UsageError:
    """The error for a folder without people, in which so many media files lie."""
    hint = f"; its {media} media files belong in such subfolders" if media else ""
    return UsageError(f"{place} holds nobody: make one subfolder per person{hint}")


def read_person(folder: Path) -> Person:
    """One person's subfolder."""
    slug = _printable(folder.name)
    if slug != folder.name:
        return Person(slug=slug, problems=("the folder's name is not UTF-8: rename it",))
    try:
        settings = read_settings(folder)
        entries = [path for path in sorted(folder.iterdir()) if not is_hidden(path.name)]
        found = [(path, kind) for path in entries if (kind := kind_of(path)) is not None]
    except UsageError as error:
        return Person(slug=slug, problems=(str(error),))
    except OSError as error:
        return Person(slug=slug, problems=(f"{folder} cannot be read: {error.strerror}",))

    def look_up(name: str) -> Path | None:
        path = file_in(folder, name)
        return path if path is not None and path.is_file() else None

    statement = look_up(settings.statement) if settings.statement else None
    person = person_of(slug, settings, found, look_up, statement)
    odd = tuple(_odd_names(path for path, _ in found))
    known = {SETTINGS_NAME, settings.statement, *(path.name for path, _ in found)}
    known |= {
        each.path.relative_to(folder).parts[0]
        for each in person.chosen
        if isinstance(each.path, Path)
    }
    strangers = (path for path in entries if path.name not in known)
    return person.model_copy(
        update={
            "unused": (*person.unused, *map(_no_media, strangers)),
            "problems": (*person.problems, *odd),
        }
    )


def person_of(
    slug: str,
    settings: SettingsFile,
    found: Sequence[tuple[File, Kind]],
    look_up: Callable[[str], File | None],
    statement: Path | None,
) -> Person:
    """The person whose folder holds these files: each has its role, or the person a problem.

    ``look_up`` gives the file under a name in the folder, None for none. ``statement`` is where
    the file with the person's own statement is.
    """
    assigned = assign(found, settings.files, look_up)
    problems = assigned.problems
    if settings.statement and statement is None:
        problems += (f"{SETTINGS_NAME} names {settings.statement}, which is not in the folder",)
    if not assigned.chosen and not assigned.portraits and not problems:
        problems = ("no image, audio or video here: add a portrait, a video or a recording",)
    return Person(
        slug=slug,
        settings=settings,
        chosen=assigned.chosen,
        portraits=assigned.portraits,
        unused=assigned.unused,
        problems=problems,
        statement=statement,
    )


def name_of(slug: str) -> str:
    """A folder's name as a person's: ``ada-lovelace`` is Ada Lovelace."""
    spaced = re.sub(r"[_\-\s]+", " ", slug).strip() or slug
    return spaced.title() if spaced == spaced.lower() else spaced


def _odd_names(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        printable = _printable(path.name)
        if printable != path.name:
            yield f"the name of {printable} is not UTF-8: rename it"


def _no_media(path: Path) -> str:
    what = "a folder" if path.is_dir() else "no image, audio or video"
    return f"{_printable(path.name)} is not used: it is {what}"


def _printable(name: str) -> str:
    """The name with a sign for each byte that is not UTF-8. File systems allow any byte."""
    return os.fsencode(name).decode("utf-8", "replace")


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is the system's, and no one's media."""
    return name.startswith((".", "__")) or name.lower() in {"thumbs.db", "desktop.ini"}
