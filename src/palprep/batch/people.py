"""A folder of people becomes work: who there is, with which files and settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from palprep.batch.roles import Chosen, assign, kind_of
from palprep.batch.settings import SETTINGS_NAME, Settings, file_in, read_settings
from palprep.errors import UsageError
from palprep.values import Role, Value


class Person(Value):
    """One person: the folder's name, the settings, and the file of each role."""

    slug: str
    folder: Path
    settings: Settings = Settings()
    chosen: tuple[Chosen, ...] = ()
    """The file of each role, and why it was taken for that."""
    portraits: tuple[Path, ...] = ()
    """Several images, of which the fittest is to be the portrait."""
    unused: tuple[str, ...] = ()
    """What lies in the folder and is not used, and why: one sentence each."""
    problems: tuple[str, ...] = ()
    """Why the folder cannot be understood, in words for its owner. Nothing is done then."""

    @property
    def sources(self) -> Mapping[Role, Path]:
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
    def statement(self) -> Path | None:
        """The person's own consent statement."""
        name = self.settings.statement
        return file_in(self.folder, name) if name else None

    def with_portrait(self, path: Path, why: str) -> Person:
        """The person with one of the ``portraits`` picked."""
        picked = Chosen(role=Role.FACE_IMAGE, path=path, why=why)
        return self.model_copy(update={"chosen": (*self.chosen, picked), "portraits": ()})


def find_people(folder: str | Path) -> tuple[Person, ...]:
    """The people of a folder, one per subfolder, sorted by name.

    Raises UsageError when there is no such folder, or no one in it. What is wrong in one
    person's subfolder is that person's problem. It stops no one else.
    """
    root = Path(folder)
    if not root.is_dir():
        what = "a file, not a folder" if root.exists() else "not there"
        raise UsageError(f"{root} is {what}: give a folder with one subfolder per person")
    try:
        # Resolved once: the journal knows the same folder again, however it is spelt.
        entries = sorted(root.resolve().iterdir())
        people = tuple(
            read_person(entry) for entry in entries if entry.is_dir() and not _hidden(entry)
        )
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}") from None
    if not people:
        loose = sum(1 for entry in entries if not _hidden(entry) and kind_of(entry) is not None)
        hint = f"; its {loose} media files belong in such subfolders" if loose else ""
        raise UsageError(f"{root} holds nobody: make one subfolder per person{hint}")
    return people


def loose_files(folder: str | Path) -> tuple[str, ...]:
    """The names of the files that lie next to the people's folders and belong to nobody."""
    try:
        entries = sorted(Path(folder).iterdir())
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from None
    return tuple(_printable(each.name) for each in entries if not (each.is_dir() or _hidden(each)))


def read_person(folder: Path) -> Person:
    """One person's subfolder."""
    slug = _printable(folder.name)
    if slug != folder.name:
        problem = "the folder's name is not UTF-8: rename it"
        return Person(slug=slug, folder=folder, problems=(problem,))
    try:
        settings = read_settings(folder)
        entries = [path for path in sorted(folder.iterdir()) if not _hidden(path)]
        found = [(path, kind) for path in entries if (kind := kind_of(path)) is not None]
    except UsageError as error:
        return Person(slug=slug, folder=folder, problems=(str(error),))
    except OSError as error:
        problem = f"{folder} cannot be read: {error.strerror}"
        return Person(slug=slug, folder=folder, problems=(problem,))
    assigned = assign(folder, found, settings.files)
    problems = (
        *assigned.problems,
        *_odd_names(path for path, _ in found),
        *_statement_problems(folder, settings.statement),
    )
    if not assigned.chosen and not assigned.portraits and not problems:
        problems = ("no image, audio or video here: add a portrait, a video or a recording",)
    known = {SETTINGS_NAME, settings.statement, *(path.name for path, _ in found)}
    known |= {each.path.relative_to(folder).parts[0] for each in assigned.chosen}
    strangers = (path for path in entries if path.name not in known)
    return Person(
        slug=slug,
        folder=folder,
        settings=settings,
        chosen=assigned.chosen,
        portraits=assigned.portraits,
        unused=(*assigned.unused, *map(_no_media, strangers)),
        problems=problems,
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


def _statement_problems(folder: Path, name: str | None) -> Iterator[str]:
    if name is None:
        return
    path = file_in(folder, name)
    if path is None or not path.is_file():
        yield f"{SETTINGS_NAME} names {name}, which is not in the folder"


def _no_media(path: Path) -> str:
    what = "a folder" if path.is_dir() else "no image, audio or video"
    return f"{_printable(path.name)} is not used: it is {what}"


def _printable(name: str) -> str:
    """The name with a sign for each byte that is not UTF-8. File systems allow any byte."""
    return os.fsencode(name).decode("utf-8", "replace")


def _hidden(path: Path) -> bool:
    return path.name.startswith((".", "__")) or path.name.lower() in {"thumbs.db", "desktop.ini"}
