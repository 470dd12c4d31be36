"""One person of a run: the settings, and the file of each role."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from palprep.batch.fingerprint import Fingerprint
from palprep.batch.people.files import AssignedFile, File, assign
from palprep.batch.people.settings import (
    SETTINGS_NAME,
    Settings,
    SettingsFile,
)
from palprep.errors import UsageError
from palprep.values import Kind, Role, Value

LISTENED_TO = frozenset({Role.TRAINING_VIDEO, Role.CONSENT_VIDEO})
"""The roles whose files may hold the statement."""


class Person(Value):
    """One person: the folder's name, the settings, and the file of each role."""

    slug: str
    settings: Settings = Settings()
    assigned: tuple[AssignedFile, ...] = ()
    """The file of each role, and why it was taken for that."""
    portraits: tuple[File, ...] = ()
    """Several images, of which the fittest is to be the portrait."""
    unused: tuple[str, ...] = ()
    """What lies in the folder and is not used, and why: one sentence each."""
    problems: tuple[str, ...] = ()
    """Why the folder cannot be understood, for its owner to read. Nothing is done then."""
    statement: Path | None = None
    """The file with the person's own consent statement."""

    @property
    def sources(self) -> Mapping[Role, File]:
        """The file of each role."""
        return {each.role: each.path for each in self.assigned}

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
        """The note that the full name was guessed; None where it was given or nobody listens."""
        if self.settings.full_name or not self.sources.keys() & LISTENED_TO:
            return None
        return (
            f"{self.full_name} is taken as the name in the consent statement: for another one, "
            f"write full_name into {SETTINGS_NAME}, or into the manifest"
        )

    def with_portrait(self, path: File, why: str) -> Person:
        """The person with one of the ``portraits`` picked."""
        picked = AssignedFile(role=Role.FACE_IMAGE, path=path, why=why)
        return self.model_copy(update={"assigned": (*self.assigned, picked), "portraits": ()})


@dataclass(frozen=True)
class RosterEntry:
    """Somebody whom a run was given. Files and settings are looked into when they are ``read``.

    ``fingerprint`` is that of all their files; None where it would not show a change.
    """

    slug: str
    fingerprint: Fingerprint | None
    read: Callable[[], Person]


class Roster(NamedTuple):
    """All people that a run was given.

    ``loose`` holds the names of files that lie next to the people's folders and belong to nobody.
    """

    people: tuple[RosterEntry, ...]
    loose: tuple[str, ...] = ()


_READ_AT_ONCE = 16
"""People whose settings lie in a bucket are read at the same time."""


def read_people(people: Sequence[RosterEntry]) -> tuple[Person, ...]:
    """Their files and settings. Raises StorageError for a bucket that cannot be read."""
    with ThreadPoolExecutor(_READ_AT_ONCE) as threads:
        return tuple(threads.map(lambda each: each.read(), people))


def nobody_in(place: str, media: int) -> UsageError:
    """The error for a folder without people, in which so many media files lie."""
    hint = f"; its {media} media files belong in such subfolders" if media else ""
    return UsageError(f"{place} holds nobody: make one subfolder per person{hint}")


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
    assignment = assign(found, settings.files, look_up)
    problems = assignment.problems
    if settings.statement and statement is None:
        problems += (f"{SETTINGS_NAME} names {settings.statement}, which is not in the folder",)
    if not assignment.files and not assignment.portraits and not problems:
        problems = ("no image, audio or video here: add a portrait, a video or a recording",)
    return Person(
        slug=slug,
        settings=settings,
        assigned=assignment.files,
        portraits=assignment.portraits,
        unused=assignment.unused,
        problems=problems,
        statement=statement,
    )


def name_of(slug: str) -> str:
    """A folder's name as a person's: ``ada-lovelace`` is Ada Lovelace."""
    spaced = re.sub(r"[_\-\s]+", " ", slug).strip() or slug
    return spaced.title() if spaced == spaced.lower() else spaced


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is the system's, and no one's media."""
    return name.startswith((".", "__")) or name.lower() in {"thumbs.db", "desktop.ini"}
