"""One person of a run: the settings, and which file plays each role."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import NamedTuple

from palprep.batch.fingerprint import Fingerprint
from palprep.batch.people.files import File, KindsOf
from palprep.batch.people.settings import (
    SETTINGS_NAME,
    NamedFiles,
    Settings,
    SettingsFile,
    leads_out,
)
from palprep.errors import UsageError
from palprep.values import Kind, Role, Value

LISTENED_TO = frozenset({Role.TRAINING_VIDEO, Role.CONSENT_VIDEO})
"""The roles whose files may hold the statement."""


HINTS: Mapping[Role, frozenset[str]] = {
    Role.FACE_IMAGE: frozenset(
        {"face", "headshot", "photo", "picture", "portrait", "selfie", "still"}
    ),
    Role.TRAINING_VIDEO: frozenset({"footage", "talking", "train", "training"}),
    Role.CONSENT_VIDEO: frozenset({"consent", "permission", "release", "statement"}),
    Role.VOICE_AUDIO: frozenset({"audio", "recording", "sound", "speech", "voice"}),
}
"""Words in a file's name that say its role."""

_KINDS: Mapping[Kind, tuple[Role, ...]] = {
    Kind.IMAGE: (Role.FACE_IMAGE,),
    Kind.AUDIO: (Role.VOICE_AUDIO,),
    Kind.VIDEO: (Role.CONSENT_VIDEO, Role.VOICE_AUDIO, Role.TRAINING_VIDEO),
}
"""The roles that each kind of content can have. The last one is for a name that says nothing."""


class AssignedFile(Value):
    """A file in its role, and why it was taken for that.

    ``guessed``: neither person.toml nor the file's name says it.
    """

    role: Role
    path: File
    why: str
    guessed: bool = False

    @property
    def words(self) -> str:
        """As one sentence."""
        return f"{self.path.name} is taken as the {self.role.value}: {self.why}"


class Person(Value):
    """One person: the folder's name, the settings, and the file of each role."""

    slug: str
    settings: Settings = Settings()
    assigned: tuple[AssignedFile, ...] = ()
    """The file of each role, and why it was taken for that."""
    portraits: tuple[File, ...] = ()
    """Several images, of which the fittest is to be the portrait."""
    unclear: Mapping[Role, tuple[File, ...]] = {}
    """Several files, of which a person must say which one has the role."""
    unused: tuple[str, ...] = ()
    """What lies in the folder and is not used, and why: one sentence each."""
    problems: tuple[str, ...] = ()
    """Why the folder cannot be understood, for its owner to read. Nothing is made then; the files
    are checked all the same, so that one round tells everything."""
    unread: bool = False
    """The settings cannot be read: the name that is listened for is not known."""
    statement: Path | None = None
    """The file with the person's own consent statement."""

    @property
    def sources(self) -> Mapping[Role, File]:
        """The file of each role."""
        return {each.role: each.path for each in self.assigned}

    @property
    def lacks_all(self) -> bool:
        """Whether nothing can be made, whatever is in the files: there is no sound, and no stock
        voice is named."""
        sound = self.sources.keys() & {Role.VOICE_AUDIO, Role.TRAINING_VIDEO}
        stock = self.settings.stock_voice or self.settings.voice_name
        return not (self.problems or sound or stock)

    @property
    def name(self) -> str:
        """The name to show, and the replica's."""
        return self.settings.name or name_of(self.slug)

    @property
    def full_name(self) -> str:
        """The name that the consent statement must hold."""
        return self.settings.full_name or self.name

    @property
    def language(self) -> str | None:
        """In which the person is written to: that of the settings, where they say one."""
        return self.settings.language if "language" in self.settings.model_fields_set else None

    @property
    def guessed_name(self) -> str | None:
        """The note that the full name was guessed; None where it was given or nobody listens."""
        known = self.settings.full_name or self.unread
        if known or not self.sources.keys() & LISTENED_TO:
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
    """Somebody whom a run was given. Files and settings are looked into when they are ``read``,
    by what sees which kinds files are of.

    ``fingerprint`` is that of all their files; None where it would not show a change.
    """

    slug: str
    fingerprint: Fingerprint | None
    read: Callable[[KindsOf], Person]


class Roster(NamedTuple):
    """All people that a run was given.

    ``loose`` holds the names of files that lie next to the people's folders and belong to nobody.
    """

    people: tuple[RosterEntry, ...]
    loose: tuple[str, ...] = ()


_READ_AT_ONCE = 16
"""People whose settings lie in a bucket are read at the same time."""


def read_people(people: Sequence[RosterEntry], kinds_of: KindsOf) -> tuple[Person, ...]:
    """Their files and settings. Raises StorageError for a bucket that cannot be read."""
    with ThreadPoolExecutor(_READ_AT_ONCE) as threads:
        return tuple(threads.map(lambda each: each.read(kinds_of), people))


def nobody_in(place: str, media: int, alone: str = "") -> UsageError:
    """The error for a folder without people, in which so many media files lie. ``alone`` runs the
    one person whose folder it may be.
    """
    hint = f"; its {media} media files belong in such subfolders" if media else ""
    meant = f". If they are one person's: {alone}" if media and alone else ""
    return UsageError(f"{place} holds nobody: make one subfolder per person{hint}{meant}")


def person_of(
    slug: str,
    settings: SettingsFile,
    found: Sequence[tuple[File, Kind]],
    look_up: Callable[[str], File | None],
    *,
    statement: Path | None,
    others: Mapping[str, str],
) -> Person:
    """The person whose folder holds these files. Each role has the file that person.toml names,
    then what names say, then what is left; what stays ambiguous is the person's problem.

    ``look_up`` gives the file under a name in the folder, None for none. ``statement`` is where
    the file with the person's own statement is. ``others`` says of everything else in the folder,
    by its name, what it is.
    """
    named = settings.files
    assigned, problems = _named(named, look_up)
    taken = {each.path for each in assigned}
    by_content: dict[Role, list[File]] = {role: [] for role in Role}
    by_name: dict[Role, list[File]] = {role: [] for role in Role}
    for path, kind in found:
        if path in taken:
            continue
        words = _words(path.stem)
        said = [role for role in _KINDS[kind] if words & HINTS[role]]
        if kind is Kind.AUDIO and words & HINTS[Role.CONSENT_VIDEO]:
            problems.append(f"{path.name} is audio alone: consent must be given on video")
            continue
        (by_name if said else by_content)[said[0] if said else _KINDS[kind][-1]].append(path)
    portraits: tuple[File, ...] = ()
    unclear: dict[Role, tuple[File, ...]] = {}
    for role in Role:
        choices = by_name[role] or by_content[role]
        if not choices or any(each.role is role for each in assigned):
            continue
        if len(choices) == 1:
            guessed = choices[0] in by_content[role]
            why = _why(role, choices[0])
            assigned.append(AssignedFile(role=role, path=choices[0], why=why, guessed=guessed))
        elif role is Role.FACE_IMAGE:
            portraits = tuple(choices)
        else:
            unclear[role] = tuple(choices)
            problems.append(_which(role, choices))
    if settings.statement and statement is None:
        problems.append(f"{SETTINGS_NAME} names {settings.statement}, which is not in the folder")
    if not assigned and not portraits and not problems:
        problems = ["no image, audio or video here: add a portrait, a video or a recording"]
    # A file that person.toml names may lie in a folder, which is then known by its first part.
    paths = (PurePath(name) for name in dict(named).values() if name)
    known = {
        SETTINGS_NAME,
        settings.statement,
        *(part for each in paths for part in each.parts[:1]),
    }
    strangers = (
        f"{name} is not used: {what}" for name, what in others.items() if name not in known
    )
    return Person(
        slug=slug,
        settings=settings,
        assigned=tuple(assigned),
        portraits=portraits,
        unclear=unclear,
        unused=(*_unused(assigned, portraits, by_content), *strangers),
        problems=tuple(problems),
        statement=statement,
    )


def _named(
    named: NamedFiles, look_up: Callable[[str], File | None]
) -> tuple[list[AssignedFile], list[str]]:
    assigned: list[AssignedFile] = []
    problems: list[str] = []
    for role in Role:
        name = named.of(role)
        if name is None:
            continue
        path = None if leads_out(name) else look_up(name)
        if path is not None:
            assigned.append(AssignedFile(role=role, path=path, why=f"{SETTINGS_NAME} names it"))
        else:
            what = "name a file in this folder" if leads_out(name) else "it is not there"
            problems.append(f"{SETTINGS_NAME} names {name} as {role.value}; {what}")
    return assigned, problems


def _why(role: Role, path: File) -> str:
    said = sorted(_words(path.stem) & HINTS[role])
    if said:
        return f"its name says {said[0]}"
    what = {Role.FACE_IMAGE: "image", Role.VOICE_AUDIO: "recording"}.get(role, "video")
    return f"it is the only {what} without another role"


def _which(role: Role, choices: Sequence[File]) -> str:
    names = ", ".join(path.name for path in choices)
    hints = ", ".join(sorted(HINTS[role]))
    return (
        f"Which file is the {role.value}: {names}? Keep one, put one of these words into its "
        f'name alone ({hints}), or write [files] {role.value} = "…" into {SETTINGS_NAME}'
    )


def _unused(
    assigned: Sequence[AssignedFile], portraits: Sequence[File], left: Mapping[Role, Sequence[File]]
) -> list[str]:
    """Files that their content alone would have given a role which another file has."""
    playing = {each.role: each.path.name for each in assigned}
    if portraits:
        playing[Role.FACE_IMAGE] = " or ".join(path.name for path in portraits)
    used = {*portraits, *(each.path for each in assigned)}
    return [
        f"{path.name} is not used: the {role.value} is {playing[role]}"
        for role, paths in left.items()
        for path in paths
        if path not in used and role in playing
    ]


def _words(stem: str) -> frozenset[str]:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", stem)
    return frozenset(re.findall(r"[a-z]+", parted.lower()))


def name_of(slug: str) -> str:
    """A folder's name as a person's: ``ada-lovelace`` is Ada Lovelace."""
    spaced = re.sub(r"[_\-\s]+", " ", slug).strip() or slug
    return spaced.title() if spaced == spaced.lower() else spaced


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is the system's, and no one's media."""
    return name.startswith((".", "__")) or name.lower() in {"thumbs.db", "desktop.ini"}
