"""A folder of people becomes work: who there is, and which file plays which role."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from pydantic import AliasGenerator, ConfigDict, Field, ValidationError

from palprep.errors import MediaError, UsageError
from palprep.media.source import Source
from palprep.values import Kind, Role, Value

SETTINGS_NAME = "person.toml"

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

# A file of unknown content whose name promises media counts as that media. Its own check then
# says what it is.
_PROMISES: Mapping[str, Kind] = {
    **dict.fromkeys((".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif"), Kind.IMAGE),
    **dict.fromkeys((".mp3", ".wav", ".m4a", ".flac", ".ogg", ".oga"), Kind.AUDIO),
    **dict.fromkeys((".mp4", ".mov", ".m4v", ".webm"), Kind.VIDEO),
}

Tag = Annotated[str, Field(min_length=1, max_length=64)]


class Files(Value):
    """Names of files in the person's folder, where the names alone do not tell."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: name.replace("_", "-"))
    )

    face_image: str | None = None
    training_video: str | None = None
    consent_video: str | None = None
    voice_audio: str | None = None


class Settings(Value):
    """What a ``person.toml`` may say. Limits are those of the specification."""

    name: str | None = Field(None, min_length=1, max_length=255)
    """The replica's name; by default the folder's."""
    full_name: str | None = Field(None, min_length=1)
    """As spoken in the consent statement; by default ``name``."""
    voice_name: str | None = Field(None, min_length=1, max_length=255)
    """The voice's name, by default ``name``. For a replica from an image it is the slug of
    the stock voice, unless ``stock_voice`` says that."""
    stock_voice: str | None = Field(None, min_length=1)
    description: str | None = Field(None, max_length=1000)
    tags: tuple[Tag, ...] = Field((), max_length=50)
    model: str | None = Field(None, min_length=1)
    callback_url: str | None = Field(None, min_length=1, max_length=2048)
    """The service tells this address of the outcome. The run does not wait for the replica then."""
    statement: str | None = None
    """A text or TOML file in the folder with the consent statement that your service demands."""
    language: str = "en"
    """Of the statement, ISO 639-1."""
    split_consent: bool = False
    """Make a consent video of the statement that opens the training video."""
    files: Files = Files()


class Person(Value):
    """One person: the folder's name, the settings, and the file of each role."""

    slug: str
    folder: Path
    settings: Settings = Settings()
    sources: Mapping[Role, Path] = {}
    problems: tuple[str, ...] = ()
    """Why the folder cannot be understood, in words for its owner. Nothing is done then."""

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
        return self.folder / self.settings.statement if self.settings.statement else None


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
        entries = sorted(root.iterdir())
        people = tuple(
            read_person(entry) for entry in entries if entry.is_dir() and not _hidden(entry)
        )
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}") from None
    if not people:
        loose = sum(1 for entry in entries if _kind_of(entry) is not None)
        hint = f"; its {loose} media files belong in such subfolders" if loose else ""
        raise UsageError(f"{root} holds nobody: make one subfolder per person{hint}")
    return people


def read_person(folder: Path) -> Person:
    """One person's subfolder."""
    slug = _printable(folder.name)
    if slug != folder.name:
        problem = "the folder's name is not UTF-8: rename it"
        return Person(slug=slug, folder=folder, problems=(problem,))
    try:
        settings = read_settings(folder)
        found = [
            (path, kind)
            for path in sorted(folder.iterdir())
            if not _hidden(path) and (kind := _kind_of(path)) is not None
        ]
    except UsageError as error:
        return Person(slug=folder.name, folder=folder, problems=(str(error),))
    except OSError as error:
        problem = f"{folder} cannot be read: {error.strerror}"
        return Person(slug=folder.name, folder=folder, problems=(problem,))
    sources, problems = assign(folder, found, settings.files)
    odd = (path.name for path, _ in found if _printable(path.name) != path.name)
    problems += tuple(f"the name of {_printable(name)} is not UTF-8: rename it" for name in odd)
    statement = settings.statement
    if statement is not None and not (folder / statement).is_file():
        problems = (*problems, f"{SETTINGS_NAME} names {statement}, which is not in the folder")
    if not sources and not problems:
        problems = ("no image, audio or video here: add a portrait, a video or a recording",)
    return Person(
        slug=folder.name, folder=folder, settings=settings, sources=sources, problems=problems
    )


def read_settings(folder: Path) -> Settings:
    """The folder's person.toml, or the defaults. Raises UsageError that says what to change."""
    path = folder / SETTINGS_NAME
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{SETTINGS_NAME} cannot be read: {error}") from None
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] != "extra_forbidden":
            raise UsageError(f"{SETTINGS_NAME}: {where}: {first['msg']}") from None
        known = [role.value for role in Role] if "." in where else sorted(Settings.model_fields)
        close = get_close_matches(where.rpartition(".")[2], known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
        raise UsageError(f"{SETTINGS_NAME}: there is no setting {where}; {hint}") from None


def assign(
    folder: Path, found: Sequence[tuple[Path, Kind]], named: Files
) -> tuple[dict[Role, Path], tuple[str, ...]]:
    """Each role's file, and what stayed ambiguous."""
    sources: dict[Role, Path] = {}
    problems: list[str] = []
    for role in Role:
        name = getattr(named, role.value.replace("-", "_"))
        if name is None:
            continue
        path = folder / name
        if path.is_file():
            sources[role] = path
        else:
            problems.append(f"{SETTINGS_NAME} names {name} as {role.value}; it is not there")
    candidates: dict[Role, list[Path]] = {role: [] for role in Role}
    hinted: dict[Role, list[Path]] = {role: [] for role in Role}
    for path, kind in found:
        if path in sources.values():
            continue
        words = _words(path.stem)
        said = [role for role in _KINDS[kind] if words & HINTS[role]]
        if kind is Kind.AUDIO and words & HINTS[Role.CONSENT_VIDEO]:
            problems.append(f"{path.name} is audio alone: consent must be given on video")
            continue
        role = said[0] if said else _KINDS[kind][-1]
        (hinted if said else candidates)[role].append(path)
    for role in Role:
        choices = hinted[role] or candidates[role]
        if role in sources or not choices:
            continue
        if len(choices) == 1:
            sources[role] = choices[0]
            continue
        names = ", ".join(path.name for path in choices)
        hints = ", ".join(sorted(HINTS[role]))
        problems.append(
            f"which file is the {role.value}: {names}? Keep one, put one of these words into its "
            f'name alone ({hints}), or write [files] {role.value} = "…" into {SETTINGS_NAME}'
        )
    return sources, tuple(problems)


def name_of(slug: str) -> str:
    """A folder's name as a person's: ``ada-lovelace`` is Ada Lovelace."""
    spaced = re.sub(r"[_\-\s]+", " ", slug).strip() or slug
    return spaced.title() if spaced == spaced.lower() else spaced


def _kind_of(path: Path) -> Kind | None:
    """The kind of media that a file is or at least claims to be; None for anything else."""
    if path.is_dir() or _hidden(path) or path.name == SETTINGS_NAME:
        return None
    try:
        kind = Source.of(path).type.kind
    except MediaError:
        kind = Kind.OTHER
    return _PROMISES.get(path.suffix.lower()) if kind is Kind.OTHER else kind


def _printable(name: str) -> str:
    """The name with a sign for each byte that is not UTF-8. File systems allow any byte."""
    return os.fsencode(name).decode("utf-8", "replace")


def _hidden(path: Path) -> bool:
    return path.name.startswith((".", "__")) or path.name.lower() in {"thumbs.db", "desktop.ini"}


def _words(stem: str) -> frozenset[str]:
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", stem)
    return frozenset(re.findall(r"[a-z]+", parted.lower()))
