"""People in a folder, on this machine or in a bucket: one subfolder for each."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from palprep.batch.people import files, settings
from palprep.batch.people.manifest_rows import why_no_folder_name
from palprep.batch.people.person import Person, Roster, RosterEntry, person_of
from palprep.errors import UsageError
from palprep.journal import JOURNAL_NAME
from palprep.rules.texts import counted
from palprep.storage import Bucket, Stored, atomic_output, is_file, is_folder, is_there
from palprep.values import Kind, typed_fields
from palprep.vocabulary import MOST_TEXT_BYTES, by_name, same_name

DEFAULT_INTO = "palprep-out"

_ABSENT = {
    re.compile(r"\.(.+)\.icloud"): "lies in iCloud, and not here: download it",
    re.compile(r"(.+\.(?:part|partial|crdownload|opdownload|download))", re.IGNORECASE): (
        "is a download that has not ended: wait for it, or download it again and remove this one"
    ),
}
"""Names that macOS gives to files that only iCloud holds, and browsers to unfinished downloads."""

_INDEXES = ("JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX")


@typed_fields
@dataclass(frozen=True)
class Shard:
    """Part ``number``, from 1, of the ``count`` parts of all people. No person is in two parts, and
    together the parts hold everybody. Only a person's name decides the part, so people who join
    later move nobody else."""

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise UsageError(
                f"There is no shard {self}: give I/N with I from 1 to N, such as 1/4 to 4/4"
            )

    @classmethod
    def parse(cls, text: str, environment: Mapping[str, str]) -> Self:
        """``2/8`` is the second of eight. Raises UsageError.

        ``auto/8`` is the part whose number from 0 a Kubernetes Job or an AWS Batch array has put
        into the ``environment`` of this process.
        """
        found = re.fullmatch(r"(auto|[0-9]{1,6})/([0-9]{1,6})", text)
        if found is None:
            raise UsageError(f"--shard needs I/N, such as 1/4, or auto/N, not {text!r}")
        if found[1] != "auto":
            return cls(int(found[1]), int(found[2]))
        index = next(filter(None, map(environment.get, _INDEXES)), "")
        if not re.fullmatch(r"[0-9]{1,6}", index):
            raise UsageError(f"--shard auto/N needs {' or '.join(_INDEXES)}: a number from 0")
        return cls(int(index) + 1, int(found[2]))

    @classmethod
    def of_folder(cls, name: str) -> Self | None:
        """The part whose output folder has this name; None for another name."""
        found = re.fullmatch(r"shard-([0-9]{1,6})-of-([0-9]{1,6})", name)
        return cls(int(found[1]), int(found[2])) if found else None

    @property
    def folder(self) -> str:
        """The name of its output folder, within that of the run."""
        return f"shard-{self.number}-of-{self.count}"

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def holds(self, slug: str) -> bool:
        # Not hash(), which is another one in every process.
        digest = hashlib.sha256(slug.encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:8]) % self.count == self.number - 1


def shards_in(into: Path) -> list[Shard]:
    """The shards with a run in the folder ``into``, in order."""
    found = into.glob(f"shard-*/{JOURNAL_NAME}") if is_folder(into) else ()
    names = (each.parent.name for each in found)
    return sorted(filter(None, map(Shard.of_folder, names)), key=lambda each: each.number)


def holds_run(folder: str | Path) -> bool:
    """Whether it is the output folder of a run; or one of shards, with the default name."""
    return is_there(f"{folder}/{JOURNAL_NAME}") or (
        os.path.basename(folder) == DEFAULT_INTO and bool(shards_in(Path(folder)))  # noqa: PTH119
    )


def find_people(folder: str | Path) -> Roster:
    """The people of a folder, one per subfolder, sorted by name. The output folder of a run is
    nobody. What is wrong in one person's subfolder is that person's problem. Raises UsageError when
    there is no such folder, or no one in it."""
    root = Path(folder)
    if not is_folder(root):
        what = "a file, not a folder" if is_there(root) else "not there"
        raise UsageError(
            f"{root} is {what}: give a folder with one subfolder per person, or a manifest that "
            "ends with .csv, .jsonl or .parquet"
        )
    if holds_run(root):
        raise UsageError(
            f"{root} is the output folder of a run: give the folder of the people. To see what was "
            f"made of them: palprep status {shlex.quote(str(root))}"
        )
    try:
        # Resolved, so that the journal recognises the folder however its path is written.
        real = root.resolve()
        with os.scandir(real) as found:
            entries = sorted(
                (e for e in found if not files.is_hidden(e.name)), key=lambda e: by_name(e.name)
            )
        people = _told_apart(
            _entry(each, real)
            for each in entries
            if is_folder(each.path) and not holds_run(each.path)
        )
        loose = [Path(each.path) for each in entries if not is_folder(each.path)]
        media = 0 if people else sum(files.promised_kind(each.name) is not None for each in loose)
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}") from None
    if not people:
        above = root.parent if root.name.strip(".") else root / ".."
        alone = ["palprep", "run", str(above), "--only", root.resolve().name]
        raise _nobody_in(str(root), media, shlex.join(alone))
    return Roster(people, tuple(files.printable(each.name) for each in loose))


def _entry(found: os.DirEntry[str], root: Path) -> RosterEntry:
    path = Path(found.path)
    why = _wrong_link(path.resolve(), root) if found.is_symlink() else None
    if why is not None:
        return _refused(files.printable(found.name), f"the folder is a link that {why}")
    return RosterEntry(
        files.printable(found.name),
        files.folder_fingerprint(found.path),
        partial(read_person, path),
    )


def _wrong_link(target: Path, root: Path) -> str | None:
    """Why a link to this target is nobody's folder; None where it may be one. Whoever made the link
    could have any folder listed and sent; and a person with two folders would be created twice."""
    if not target.is_relative_to(root):
        return "leads out of the people's folder: copy or mount it there"
    owner = target.relative_to(root).parts[:1]
    if owner and files.is_hidden(owner[0]):
        return None
    return "leads to somebody who is there already: remove the link"


def _told_apart(people: Iterable[RosterEntry]) -> tuple[RosterEntry, ...]:
    """All people; of several whose names many disks take for one, only the first is accepted."""
    first: dict[str, str] = {}

    def taken(each: RosterEntry) -> RosterEntry:
        before = first.setdefault(same_name(each.slug), each.slug)
        if before == each.slug:
            return each
        both = f"this folder's name and {before} for one"
        return _refused(each.slug, f"many disks take {both}: rename one of the two")

    return tuple(map(taken, people))


def _refused(slug: str, why: str) -> RosterEntry:
    """A person of whom nothing is read, and why."""
    person = Person(slug=slug, problems=(why,))
    return RosterEntry(slug, None, lambda _: person)


def read_person(folder: Path, kinds_of: files.KindsOf) -> Person:
    slug = files.printable(folder.name)
    if slug != folder.name:
        return Person(slug=slug, problems=(f"the folder's name {files.misread(folder.name)}",))
    if not slug.strip():
        return Person(slug=slug, problems=("the folder's name is blank: rename it",))
    try:
        entries = sorted(folder.iterdir())
        kinds = files.kinds_in(
            (path for path in entries if not files.is_hidden(path.name)), kinds_of
        )
    except OSError as error:
        return Person(slug=slug, problems=(f"{folder} cannot be read: {error.strerror}",))

    def look_up(name: str) -> Path | None:
        path = folder / name
        return path if is_file(path) else None

    read = partial(settings.read_settings, folder)
    person = person_of(slug, read, kinds.items(), look_up, statement=look_up)
    return _with_absent(person, (path.name for path in entries))


def _with_absent(person: Person, names: Iterable[str]) -> Person:
    """The person, with a problem for each of the files that is not here, or not complete."""
    away = tuple(
        f"{found[1]} {what}"
        for name in names
        for pattern, what in _ABSENT.items()
        if (found := pattern.fullmatch(name))
    )
    return person.model_copy(update={"problems": (*person.problems, *away)})


def _nobody_in(place: str, media: int, alone: str = "") -> UsageError:
    """The error for a folder without people, with the number of media files in it. ``alone`` is the
    command for the one person whose folder it may be."""
    found = counted(media, "media file", "media files")
    hint = f", and move its {found} there" if media else ""
    meant = f". If this is one person: {alone}" if media and alone else ""
    return UsageError(f"{place} holds nobody: make one subfolder per person{hint}{meant}")


def people_in_bucket(url: str, into: Path) -> Roster:
    """The people below the prefix that ``url`` names, one per folder, sorted by name. A file's kind
    is that of its name, since none is opened. People's own statements are fetched into ``into``.

    Raises UsageError where there is no one, StorageError where the bucket cannot be read.
    """
    bucket = Bucket(url)
    folders: dict[str, dict[str, Stored]] = {}
    loose: list[str] = []
    for stored in bucket.below():
        if stored.may_mark_folder:
            continue
        slug, slash, name = stored.name.partition("/")
        if slash and name and not files.is_hidden(slug):
            folders.setdefault(slug, {})[name] = stored
        elif not slash and not files.is_hidden(slug):
            loose.append(slug)
    if not folders:
        raise _nobody_in(url, sum(files.promised_kind(name) is not None for name in loose))
    people = _told_apart(
        RosterEntry(
            slug, _fingerprint(bucket, stored), partial(_person, bucket, slug, stored, into / slug)
        )
        for slug, stored in sorted(folders.items(), key=lambda each: by_name(each[0]))
    )
    return Roster(people, tuple(loose))


def _fingerprint(bucket: Bucket, folder: Mapping[str, Stored]) -> str | None:
    if any(each.etag is None for each in folder.values()):
        return None
    listed = sorted((each.name, each.size_bytes, each.etag) for each in folder.values())
    return files.digest_of([bucket.url, listed])


def _person(
    bucket: Bucket, slug: str, stored: Mapping[str, Stored], into: Path, _: files.KindsOf
) -> Person:
    problem = why_no_folder_name(slug)
    if problem is not None:
        return Person(slug=slug, problems=(f"the folder's name {problem}",))
    remote = {
        name: files.RemoteFile(
            url=f"{bucket.url}/{each.name}", size_bytes=each.size_bytes, etag=each.etag
        )
        for name, each in stored.items()
    }
    here: dict[files.File, Kind | None] = {}
    for name, file in sorted(remote.items()):
        first, *deeper = name.split("/")
        if not files.is_hidden(first):
            found = files.RemoteFile(url=f"{bucket.url}/{slug}/{first}/") if deeper else file
            here[found] = None if deeper else files.promised_kind(name)

    def beginning(name: str) -> bytes:
        # One byte more than is allowed: what is larger is refused in the same words as a file.
        most, empty = MOST_TEXT_BYTES + 1, not stored[name].size_bytes
        return b"" if empty else bucket.beginning(stored[name].name, most)[0]

    def read() -> settings.SettingsFile:
        if settings.SETTINGS_NAME not in stored:
            return settings.SettingsFile()
        return settings.parse_settings(beginning(settings.SETTINGS_NAME))

    def statement(name: str) -> Path | None:
        if name not in stored:
            return None
        path = into / f"statement{Path(name).suffix}"
        with atomic_output(path, lasting=False) as part:
            part.write_bytes(beginning(name))
        return path

    return _with_absent(
        person_of(slug, read, here.items(), remote.get, statement=statement), remote
    )
