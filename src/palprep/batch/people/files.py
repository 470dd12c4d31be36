"""A person's files: where they are, and which role each of them plays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from pydantic import Field

from palprep.api import is_https
from palprep.batch.people.settings import SETTINGS_NAME, NamedFiles, leads_out
from palprep.errors import MediaError
from palprep.media import Source
from palprep.storage import without_secrets
from palprep.values import Kind, Role, Value


def is_url(text: str) -> bool:
    """Whether it is a URL, of whatever kind, and no path."""
    return "://" in text


def is_web(url: str) -> bool:
    """Whether it is an address that files are fetched from: HTTPS, or HTTP on this machine."""
    return is_https(url, loopback=True)


class RemoteFile(Value):
    """A file at a URL: in a bucket, or on the web.

    ``size_bytes`` and ``etag`` are known of one that a bucket has listed.
    """

    url: str = Field(repr=False)
    """With its query, which may be a signature: nothing shows or records it."""
    size_bytes: int | None = None
    etag: str | None = None

    @property
    def shown(self) -> str:
        """The address without what may be secret: user, password, query and fragment."""
        # A name in a bucket may hold a question mark.
        return without_secrets(self.url) if is_web(self.url) else self.url

    @property
    def name(self) -> str:
        """What the file is called where it lies."""
        path = self.shown.partition("://")[2].partition("/")[2]
        last = path.rstrip("/").rpartition("/")[2]
        return unquote(last) if is_web(self.url) else last

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The name's suffix, with its dot."""
        return PurePosixPath(self.name).suffix

    def __str__(self) -> str:
        return self.shown


File = Path | RemoteFile

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


class Assignment(NamedTuple):
    """The roles of a person's files.

    ``portraits`` holds several images of which one must be picked. ``unused`` says of each
    media file without a role why it has none. ``problems`` says what stayed ambiguous.
    """

    files: tuple[AssignedFile, ...]
    portraits: tuple[File, ...]
    unused: tuple[str, ...]
    problems: tuple[str, ...]


def kind_of(path: Path) -> Kind | None:
    """The kind of media that a file is, or claims to be by its name; None for anything else."""
    if path.is_dir():
        return None
    try:
        kind = Source.of(path).type.kind
    except MediaError:
        kind = Kind.OTHER
    return promised_kind(path.name) if kind is Kind.OTHER else kind


def promised_kind(name: str) -> Kind | None:
    """The kind of media that a file's name promises; None where it promises none."""
    return _PROMISES.get(PurePosixPath(name).suffix.lower())


def assign(
    found: Sequence[tuple[File, Kind]], named: NamedFiles, look_up: Callable[[str], File | None]
) -> Assignment:
    """Each role's file: what person.toml names, then what names say, then what is left.

    ``look_up`` gives the file that lies under a name in the person's folder, None for none.
    """
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
            problems.append(_which(role, choices))
    return Assignment(
        tuple(assigned), portraits, tuple(_unused(assigned, portraits, by_content)), tuple(problems)
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
    """NamedFiles that their content alone would have given a role which another file has."""
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
