"""Who needs no work: everything of theirs was made, and nothing of theirs has changed since.

Whoever cannot be told to be unchanged is worked on; every step then looks at the content itself.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from palprep._version import __version__
from palprep.batch.kept_files import KeptFiles
from palprep.batch.seen import Seen, state_of
from palprep.batch.starting import RunOptions
from palprep.journal.run_view import PersonOverview


class Named(Protocol):
    """Somebody whom a run was given, with what was seen of the files; None where that tells no
    change."""

    @property
    def slug(self) -> str: ...
    @property
    def seen(self) -> Seen | None: ...


@dataclass(frozen=True)
class Unchanged:
    """Tells a person's state, which a run records with how the person ended.

    It covers what the person gave, what was prepared of it, and what holds for everybody in a run:
    ``conditions``.
    """

    conditions: str
    into: Path
    files: KeptFiles

    @classmethod
    def of_run(
        cls,
        into: Path,
        files: KeptFiles,
        options: RunOptions,
        limits: str,
    ) -> Unchanged:
        """For a run with these options into this folder; ``limits`` are those of its profile."""
        return cls(state_of([__version__, limits, dict(options)]), into, files)

    def to_record(self, person: Named, at: dt.datetime) -> str | None:
        """The person's state, ``at`` the end of the work; None where a change would not show."""
        found = self._both(person, at)
        return self._state(found) if found and all(each.sure for each in found) else None

    def among(
        self, people: Iterable[Named], last: Iterable[PersonOverview], at: dt.datetime
    ) -> dict[str, PersonOverview]:
        """Those who are done and as they were when that was recorded, by their slugs.

        ``last`` are the people of the last run. Where the consent was waived, somebody may be able
        to listen for it now: nobody is passed over for that.
        """
        done = {each.slug: each for each in last if each.status == "done" and not each.waived}
        return {
            person.slug: done[person.slug]
            for person in people
            if person.slug in done
            and done[person.slug].state is not None
            and (found := self._both(person, at)) is not None
            and self._state(found) == done[person.slug].state
        }

    def _both(self, person: Named, at: dt.datetime) -> tuple[Seen, Seen] | None:
        prepared = person.seen and self.files.seen(self.into / "prepared" / person.slug, at)
        return (person.seen, prepared) if person.seen and prepared else None

    def _state(self, found: tuple[Seen, Seen]) -> str:
        return state_of([self.conditions, *(each.state for each in found)])
