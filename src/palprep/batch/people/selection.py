"""Everybody whom a run is given, and who of them is worked on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from unicodedata import normalize

from palprep.batch.people.folder import Shard, find_people, people_in_bucket, shards_in
from palprep.batch.people.manifest import people_of_manifest, people_of_rows
from palprep.batch.people.manifest_rows import ManifestRow, is_manifest
from palprep.batch.people.person import Roster, RosterEntry
from palprep.errors import UsageError
from palprep.journal import JOURNAL_NAME, PersonStatus
from palprep.rules import some_of
from palprep.storage import is_bucket
from palprep.vocabulary import did_you_mean

People = str | os.PathLike[str] | Iterable[ManifestRow]
"""A folder with one subfolder for each person, here or in a bucket; a manifest; or the rows of
one."""


def find_everybody(people: People, into: Path) -> Roster:
    """Everybody who is given. No media is fetched; what must be read of a bucket before the work
    begins goes into the folder ``into``.

    Raises UsageError where there is nobody, ManifestError, and StorageError.
    """
    if not isinstance(people, str | os.PathLike):
        return people_of_rows(people)
    if isinstance(people, str) and is_bucket(people):
        return people_in_bucket(people, into)
    path = Path(people)
    if is_manifest(path) and path.is_file():
        return people_of_manifest(path)
    return find_people(path)


WENT_WRONG = frozenset[PersonStatus]({"failed", "redo", "needs_answer", "needs_decision"})
"""How somebody ended whom ``failed`` selects."""


@dataclass(frozen=True)
class Selection:
    """Who is worked on. Conditions add up; without any it is everybody.

    ``only`` holds names or patterns (``*``, ``?``, ``[a-z]``). One of them must match the person's
    name. ``failed`` takes those who failed, or needed files, an answer or a decision when they were
    last worked on. ``shard`` takes one of several parts. ``limit`` takes the first so many of those
    who are left.
    """

    only: Sequence[str] = ()
    limit: int | None = None
    failed: bool = False
    shard: Shard | None = None

    def __post_init__(self) -> None:
        if isinstance(self.only, str):
            raise UsageError(f"only takes a list of names: only=({self.only!r},)")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"A limit must be at least 1, not {self.limit}")

    @property
    def everybody(self) -> bool:
        """Whether nobody is left out, other shards' people aside."""
        return not self.only and self.limit is None and not self.failed

    def place(self, into: Path) -> Path:
        """The output folder: ``into``, or the shard's own in it.

        Raises UsageError where ``into`` holds a run of another division of the people, whose
        journal would not know what this one creates.
        """
        shard, others = self.shard, shards_in(into)
        if shard is None:
            if others:
                raise UsageError(
                    f"{into} holds {others[0].folder}, and a run without --shard would create the "
                    "same again: give --shard as before, or another --into folder"
                )
            return into
        if (into / JOURNAL_NAME).exists():
            raise UsageError(
                f"{into} holds a run without shards, and a shard in it would create the same "
                "again: give another --into folder"
            )
        for other in others:
            if other.count != shard.count:
                raise UsageError(
                    f"{into} holds {other.folder}, a part of another division of the people. "
                    f"Divide by the same number as before, or give another --into folder"
                )
        return into / shard.folder

    def of(
        self, people: Sequence[RosterEntry], ended: Mapping[str, PersonStatus] | None
    ) -> tuple[RosterEntry, ...]:
        """The people who are selected, in their order. ``ended`` says how each person of the last
        run ended; None: there was none. Raises UsageError for a pattern that matches nobody, and
        for ``failed`` without a run.
        """
        if self.failed and ended is None:
            raise UsageError(
                "--failed works on those who failed in an earlier run, and there was none here: "
                "run without it, or name the --into folder of that run"
            )
        known = [each.slug for each in people]
        # Unicode has two forms of many letters, which look the same.
        names = {slug: normalize("NFC", slug) for slug in known}
        only, there = [normalize("NFC", one) for one in self.only], frozenset(names.values())

        def is_meant(slug: str, one: str) -> bool:
            return names[slug] == one if one in there else fnmatchcase(names[slug], one)

        for pattern in only:
            if not any(is_meant(slug, pattern) for slug in known):
                hint = did_you_mean(pattern, known, f"there are {some_of(known)}")
                raise UsageError(f"--only {pattern} names nobody; {hint}")
        found = [
            each
            for each in people
            if (self.shard is None or self.shard.holds(each.slug))
            and (not only or any(is_meant(each.slug, one) for one in only))
            and (ended is None or not self.failed or ended.get(each.slug) in WENT_WRONG)
        ]
        return tuple(found[: self.limit])
