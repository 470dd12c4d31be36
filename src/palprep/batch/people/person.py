"""One person of a run: the settings, and which file plays each role."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path, PurePath
from typing import Literal, NamedTuple
from unicodedata import combining, normalize

from palprep.batch.people.files import File, KindsOf, RemoteFile, in_other_form, misread, printable
from palprep.batch.people.settings import (
    SETTINGS_NAME,
    NamedFiles,
    Settings,
    SettingsFile,
    holds_controls,
    leads_out,
)
from palprep.errors import UsageError
from palprep.rules.texts import some_of
from palprep.storage import is_folder
from palprep.values import Kind, Role, Value

LISTENED_TO = frozenset({Role.TRAINING_VIDEO, Role.CONSENT_VIDEO})
"""The roles whose files may hold the statement."""

_HINTS: Mapping[str, Sequence[str]] = tomllib.loads(
    resources.files("palprep.batch.people").joinpath("hints.toml").read_text("utf-8")
)
"""Words in a file's name that say its role, or that it is no portrait."""

_MEETINGS = _HINTS["meetings"]

_BEGINNING = 6
"""Letters of a hint that may begin a word."""

_PACKED = frozenset({".zip", ".rar", ".7z", ".gz", ".tar"})

_NOT_OF_THE_NAME = re.compile(
    r"^(whatsapp chat|chat de whatsapp)( -| with| mit| con) |^\d+[ ._-]+(?=\D)| \(\d+\)$",
    re.IGNORECASE,
)
"""Parts of a folder's name that the export of a chat, a list or a copy has added."""

_KINDS: Mapping[Kind, tuple[Role, ...]] = {
    Kind.IMAGE: (Role.FACE_IMAGE,),
    Kind.AUDIO: (Role.VOICE_AUDIO,),
    Kind.VIDEO: (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO, Role.VOICE_AUDIO),
}
"""The roles that each kind of content can have. The first one is for a name that says nothing."""


class AssignedFile(Value):
    """A file with its role, and why it has the role."""

    role: Role
    path: File
    why: str
    by: Literal["settings", "name", "content"] = "settings"
    """What gives it the role: person.toml or the manifest; its name; or its content, a guess."""

    @property
    def words(self) -> str:
        return f"{self.path.name} is taken as the {self.role.value}: {self.why}"


class Person(Value):
    """One person: the folder's name, the settings, and the file of each role."""

    slug: str
    settings: Settings = Settings()
    assigned: tuple[AssignedFile, ...] = ()
    unclear: Mapping[Role, tuple[File, ...]] = {}
    """Files whose names leave the role open: their content may tell, of images the fitness."""
    unused: tuple[str, ...] = ()
    """The files in the folder that are not used, and why: one sentence each."""
    heard: tuple[File, ...] = ()
    """All videos and recordings: one without a role may take a consent back."""
    overlooked: tuple[str, ...] = ()
    """The sentences about unused files that may hold something missing: archives, folders, and
    consent as sound alone."""
    problems: tuple[str, ...] = ()
    """Why the folder cannot be understood, for its owner to read. Nothing is made then; the files
    are checked all the same, so that one round tells everything."""
    asked: Mapping[Role, tuple[str, ...]] = {}
    """The names of the files that a question among the problems leaves for a role."""
    unread: bool = False
    """The settings cannot be read: the name that is listened for is not known."""
    statement: Path | None = None
    """The file with the person's own consent statement."""

    @property
    def sources(self) -> Mapping[Role, File]:
        return {each.role: each.path for each in self.assigned}

    @property
    def lacks_all(self) -> bool:
        """Whether nothing can be made, whatever is in the files: there is no sound, and no stock
        voice is named."""
        sound = self.sources.keys() & {Role.VOICE_AUDIO, Role.TRAINING_VIDEO}
        unclear = self.unclear.keys() - {Role.FACE_IMAGE}
        return not (self.problems or unclear or sound or self.settings.stock_voice)

    @property
    def files(self) -> tuple[File, ...]:
        unclear = (each for files in self.unclear.values() for each in files)
        return tuple(dict.fromkeys((*self.sources.values(), *unclear)))

    @property
    def videos(self) -> tuple[File, ...]:
        """Videos whose names leave open which is the training and which the consent video."""
        found = (self.unclear.get(role, ()) for role in (Role.TRAINING_VIDEO, Role.CONSENT_VIDEO))
        return tuple(dict.fromkeys(each for files in found for each in files))

    @property
    def may_speak(self) -> bool:
        """Whether there is a video that may hold the statement."""
        return bool(self.videos or self.sources.keys() & LISTENED_TO)

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
        """The language of messages to the person, where the settings name one."""
        return self.settings.language if "language" in self.settings.model_fields_set else None

    @property
    def spoken_language(self) -> str:
        """The language of the statement: palprep's own is in English."""
        return self.settings.language if self.settings.statement else "en"

    @property
    def guessed_name(self) -> str | None:
        """The note that the full name was guessed; None where it was given or nobody listens."""
        if self.settings.full_name or self.unread or not self.may_speak:
            return None
        return (
            f"{self.full_name} is taken as the name in the consent statement: for another one, "
            f"write full_name into {SETTINGS_NAME}, or into the manifest"
        )

    def settled(self, role: Role, path: File, why: str) -> Person:
        """The person with a file picked for a role."""
        picked = AssignedFile(role=role, path=path, why=why, by="content")
        return self.model_copy(update={"assigned": (*self.assigned, picked)})


@dataclass(frozen=True)
class RosterEntry:
    """Somebody whom a run was given. ``read`` reads files and settings, with a function that tells
    the kinds of files. ``fingerprint`` changes with the files; None where it would not."""

    slug: str
    fingerprint: str | None
    read: Callable[[KindsOf], Person]


class Roster(NamedTuple):
    """All people that a run was given. ``loose`` holds the names of files that lie next to the
    people's folders and belong to nobody."""

    people: tuple[RosterEntry, ...]
    loose: tuple[str, ...] = ()


_READ_AT_ONCE = 16
"""People whose settings lie in a bucket are read at the same time."""


def read_people(people: Sequence[RosterEntry], kinds_of: KindsOf) -> tuple[Person, ...]:
    """Their files and settings. Raises StorageError for a bucket that cannot be read."""
    with ThreadPoolExecutor(_READ_AT_ONCE) as threads:
        return tuple(threads.map(lambda each: each.read(kinds_of), people))


def person_of(
    slug: str,
    read: Callable[[], SettingsFile],
    found: Iterable[tuple[File, Kind | None]],
    look_up: Callable[[str], File | None],
    *,
    statement: Callable[[str], Path | None],
) -> Person:
    """The person whose folder holds the files ``found``, each with its kind, or None. Each role has
    the file that person.toml names, or else that file names tell, or else that is left.
    What that leaves open is settled by content, later.

    ``read`` gives the settings, or raises UsageError. ``look_up`` gives the file under a name in
    the folder, and ``statement`` the file with the person's own statement on this machine; both
    give None for no such file.
    """
    kinds = dict(found)
    settings, unread = SettingsFile(), tuple[str, ...]()
    try:
        settings = read()
    except UsageError as error:
        unread = tuple(str(error).splitlines())
    misnamed = () if look_up(SETTINGS_NAME) else _like(SETTINGS_NAME, kinds)
    unread += tuple(f"{name} is not read: rename it to {SETTINGS_NAME}" for name in misnamed)
    named, problems = _named(settings.files, look_up, kinds)
    person = Person(slug=slug, settings=settings, assigned=named, unread=bool(unread))
    media = {path: kind for path, kind in kinds.items() if kind is not None}
    free = {path: kind for path, kind in media.items() if path not in person.sources.values()}
    consent_sounds = [
        path
        for path, kind in free.items()
        if kind is Kind.AUDIO and _hint(path, Role.CONSENT_VIDEO.value)
    ]
    person = _by_names(person, {path: free[path] for path in free if path not in consent_sounds})
    sound_alone = [
        f"{path.name} is audio alone: consent must be given on video" for path in consent_sounds
    ]
    problems += () if person.may_speak else sound_alone
    own = settings.statement and str(settings.statement)
    statement_file = statement(own) if own and not leads_out(own) else None
    if own and statement_file is None:
        problems.append(f"{SETTINGS_NAME} names {own}, which is not in the folder")
    if not (person.files or problems):
        problems = [_nothing_in(kinds)]
    not_utf8 = (each.name for each in media if printable(each.name) != each.name)
    problems += (f"the name of {printable(name)} {misread(name)}" for name in not_utf8)
    # A file that person.toml names may lie in a folder, which is then known by its first part.
    places = (PurePath(name).parts for name in settings.files.places.values())
    used = {SETTINGS_NAME, own, *misnamed, *(part for parts in places for part in parts[:1])}
    others = [path for path in kinds if path not in media and path.name not in used]
    unused = {path: f"{printable(path.name)} is not used: {_what(path)}" for path in others}
    beside = sound_alone if person.may_speak else []
    overlooked = [unused[path] for path in others if _is_packed(path) or _holds_files(path)]
    update = {
        "heard": tuple(path for path, kind in media.items() if kind is not Kind.IMAGE),
        "unused": (*person.unused, *unused.values(), *beside),
        "overlooked": (*overlooked, *beside),
        "problems": (*unread, *problems),
    }
    return person.model_copy(update={**update, "statement": statement_file})


def _by_names(person: Person, files: Mapping[File, Kind]) -> Person:
    """The person, with the files whose names give them a role, or leave it open."""
    # A video called a recording is a voice where others are named for what needs a video.
    wanted = () if person.settings.stock_voice else LISTENED_TO - person.sources.keys()
    meetings = any(not any(_hint(path, role.value) for path in files) for role in wanted)
    meant = {path: _role_of(path, kind, meetings=meetings) for path, kind in files.items()}
    stills = Kind.IMAGE in files.values()
    assigned, choices = [*person.assigned], dict[Role, Sequence[File]]()
    for role in (each for each in Role if each not in person.sources):
        named = [path for path, each in meant.items() if each == (role, "name")]
        others = [path for path, each in meant.items() if each == (role, "content")]
        choices[role] = named or _likely(role, others)
        # One video may be the statement alone, or the clip of a live photo: its content tells.
        unsure = role in LISTENED_TO and (stills or len(others) == 1)
        if len(choices[role]) == 1 and (named or not unsure):
            [path] = choices.pop(role)
            why, (_, by) = why_taken(role, path), meant[path]
            assigned.append(AssignedFile(role=role, path=path, why=why, by=by))
    used = {each.path for each in assigned}
    videos = [path for path, each in meant.items() if each == (Role.TRAINING_VIDEO, "content")]
    unclear: dict[Role, Sequence[File]] = {}
    for role, left in choices.items():
        among = (*left, *(videos if role in LISTENED_TO else ()))
        if found := tuple(dict.fromkeys(each for each in among if each not in used)):
            unclear[role] = found
    holders = {role: " or ".join(path.name for path in paths) for role, paths in unclear.items()}
    holders |= {each.role: each.path.name for each in assigned}
    unused = tuple(
        f"{path.name} is not used: the {role.value} is {holders[role]}"
        for path, (role, by) in meant.items()
        if by == "content" and role in holders and path not in used.union(*unclear.values())
    )
    update = {"assigned": tuple(assigned), "unclear": unclear, "unused": unused}
    return person.model_copy(update=update)


def _role_of(path: File, kind: Kind, *, meetings: bool) -> tuple[Role, Literal["name", "content"]]:
    """The role of a file by its name, or else by its content. With ``meetings``, a video that is
    called a recording may be of a meeting, and is no voice by its name."""
    hinted = {role for role in _KINDS[kind] if _hint(path, role.value)}
    hinted = hinted & LISTENED_TO or hinted
    meeting = meetings and kind is Kind.VIDEO and _hint(path, Role.VOICE_AUDIO.value) in _MEETINGS
    if hinted == {Role.VOICE_AUDIO} and (meeting or _hint(path, "unlikely")):
        hinted = set()
    return (hinted.pop(), "name") if len(hinted) == 1 else (_KINDS[kind][0], "content")


def _likely(role: Role, files: Sequence[File]) -> Sequence[File]:
    """The files without those whose names say that they show something else, if any are left."""
    # A photograph of what was signed is no portrait.
    other = ("unlikely", Role.CONSENT_VIDEO.value) if role is Role.FACE_IMAGE else ("unlikely",)
    if role is Role.VOICE_AUDIO:
        return files
    return [each for each in files if not any(_hint(each, about) for about in other)] or files


def _is_packed(path: File) -> bool:
    return path.suffix.lower() in _PACKED


def _holds_files(path: File) -> bool:
    return str(path).endswith("/") if isinstance(path, RemoteFile) else is_folder(path)


def _what(stranger: File) -> str:
    if _is_packed(stranger):
        return "unpack it, if something in it is needed"
    if _holds_files(stranger):
        return "it is a folder; move what is needed of it here"
    if isinstance(stranger, RemoteFile):
        return "its name promises no image, audio or video"
    return "it is no image, audio or video"


def _like(name: str, among: Iterable[File]) -> tuple[str, ...]:
    """The name of the file that is most similar to this name; empty where none is similar."""
    names = {path.name.lower(): path.name for path in among if path.name != name}
    found = get_close_matches(name.lower(), names, n=1, cutoff=0.75)
    return tuple(map(names.__getitem__, found))


def _nothing_in(kinds: Iterable[File]) -> str:
    """What to do about a folder in which nothing can be used."""
    packed = [path.name for path in kinds if _is_packed(path)]
    within = [path.name for path in kinds if _holds_files(path)]
    to_do = "add a portrait, a video or a recording"
    if packed:
        to_do = f"unpack {some_of(packed)} into this folder"
    elif within:
        to_do = f"move the files from {some_of(within)} here; or, if these are people, run palprep "
        to_do += "on this folder"
    return f"no image, audio or video here: {to_do}"


def _named(
    named: NamedFiles, look_up: Callable[[str], File | None], among: Iterable[File]
) -> tuple[list[AssignedFile], list[str]]:
    assigned: list[AssignedFile] = []
    problems: list[str] = []
    for role, name in named.places.items():
        path = None if leads_out(name) else look_up(name) or in_other_form(name, among)
        if path is not None:
            assigned.append(AssignedFile(role=role, path=path, why=f"{SETTINGS_NAME} names it"))
        else:
            what = "name a file in this folder" if leads_out(name) else "it is not there"
            what += "".join(f"; did you mean {each}?" for each in _like(name, among))
            problems.append(f"{SETTINGS_NAME} names {name} as {role.value}; {what}")
    return assigned, problems


def why_taken(role: Role, path: File) -> str:
    """Why a file has a role that no other file may have."""
    if said := _hint(path, role.value):
        return f"its name says {said}"
    what = {Role.FACE_IMAGE: "image", Role.VOICE_AUDIO: "recording"}.get(role, "video")
    return f"it is the only {what} without another role"


def which(role: Role, choices: Mapping[File, str]) -> str:
    """The question which of several files has a role, with what is known of each."""
    known = ", ".join(f"{path.name} ({what})" for path, what in choices.items())
    hints = ", ".join(_HINTS[role.value][:4])
    return (
        f"Which file is the {role.value}: {known}? Keep one, put one of these words into its "
        f'name alone ({hints}), or write [files] {role.value} = "…" into {SETTINGS_NAME}'
    )


def _hint(path: File, about: str) -> str | None:
    """The word in a file's name that is a hint of this; None without one."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", path.stem)
    bare = "".join(each for each in normalize("NFKD", parted) if not combining(each))
    words = re.findall(r"[a-z]+", bare.lower())
    found = (
        hint
        for hint in _HINTS[about]
        for word in words
        if word == hint or (len(hint) >= _BEGINNING and word.startswith(hint))
    )
    return next(found, None)


def name_of(slug: str) -> str:
    """A folder's name as a person's: ``ada-lovelace`` and ``01 Lovelace, Ada`` are Ada Lovelace."""
    words = " ".join(normalize("NFC", slug).split())  # A line break is a space, too.
    drawn = "".join(each for each in words if not holds_controls(each))
    bare = re.sub(r"^([^,]+), *([^,]+)$", r"\2 \1", _NOT_OF_THE_NAME.sub("", drawn))
    spaced = re.sub(r"[_\-\s]+", " ", bare).strip() or slug
    return spaced.title() if spaced == spaced.lower() else spaced
