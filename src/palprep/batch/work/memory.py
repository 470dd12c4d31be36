"""What earlier runs did, as the journal has it, so that nothing is done again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from palprep._version import __version__
from palprep.batch.engines.files import Files
from palprep.batch.engines.tasks import AssetTask
from palprep.batch.fingerprint import Fingerprint, digest_of
from palprep.batch.people.person import Person
from palprep.batch.work.sandbox_judges import RequiredStatement
from palprep.journal import (
    AboutRun,
    AssetPrepared,
    Journal,
    PersonNames,
    PersonOverview,
    PersonStatus,
    Reused,
    RunReader,
    RunStarted,
    SandboxStatement,
)
from palprep.preflight import Asset, Prepared
from palprep.values import Value

B = TypeVar("B", bound=AboutRun)


def reused(
    journal: Journal, kind: type[B], key: str, person: str, fits: Callable[[B], bool]
) -> B | None:
    """The latest recorded result of the stage ``key`` for this person that ``fits`` takes.

    It is then recorded as reused.
    """
    for entry in reversed(journal.entries(kind, key=key, person=person)):
        if fits(entry.body):
            journal.append(Reused(seq=entry.seq), person=person, key=key)
            return entry.body
    return None


def still_good(found: AssetPrepared, task: AssetTask, files: Files) -> bool:
    """Whether an earlier result still holds for the task: its outputs are there, unchanged; or
    there are none because of the file itself.
    """
    asset = found.asset
    if asset.source != task.source or (asset.prepared is None and not asset.problem_in_file):
        return False
    if task.speaker is not None and _unheard(asset):
        return False  # What could not listen then may be installed now.
    prepared = asset.prepared
    outputs = (each for each in (prepared, prepared and prepared.consent) if each is not None)
    return all(map(files.holds, outputs))


def _unheard(asset: Asset) -> bool:
    """Whether no one listened for consent in a file that could be read."""
    clip = asset.prepared.consent if asset.prepared else None
    report = clip.report if clip else asset.report
    consent = report.facts.consent if report.facts else None
    return report.error is None and (consent is None or consent.outcome == "unknown")


class RunOptions(Value):
    """What holds for everybody in a run, and what becomes of them depends on."""

    target: str
    """Where voices and replicas are made: a base URL, or ``embedded sandbox``."""
    profile: str
    dry_run: bool
    without_consent: bool


def how_they_ended(journal: Journal) -> dict[str, PersonStatus] | None:
    """The status of each person of the last run; None without a run."""
    last = last_run(journal)
    return None if last is None else {each.slug: each.status for each in last.people}


def last_run(journal: Journal) -> RunReader | None:
    """The last run; None without one."""
    return None if journal.last_run() is None else RunReader(journal)


def record_start(
    journal: Journal,
    people: Sequence[Person | PersonOverview],
    statements: Sequence[RequiredStatement],
    options: RunOptions,
    *,
    at_work: Sequence[str],
    everybody: bool,
) -> None:
    """Record that a run for these people begins, who are worked on where they are ``at_work``.

    The others stay as the last run left them, and so do all others of that run unless these are
    ``everybody``. A run that is like the last one, and works on nobody, is none.
    """
    started = RunStarted(
        people=tuple(
            PersonNames(slug=each.slug, name=each.name, full_name=each.full_name) for each in people
        ),
        only=None if everybody and len(at_work) == len(people) else tuple(at_work),
        **dict(options),
        statements=tuple(
            SandboxStatement(text=each.text, language=each.language, model=each.model)
            for each in statements
        ),
        palprep_version=__version__,
    )
    last = journal.last_run()
    if last is not None and _is_like(last.body, started):
        if not everybody:
            started = _beside_others(started, last.body)
        if not at_work and started.people == last.body.people:
            return
    journal.append(started)


def _beside_others(started: RunStarted, last: RunStarted) -> RunStarted:
    own = {each.slug: each for each in started.people}
    stay = tuple(own.pop(each.slug, each) for each in last.people)
    return started.model_copy(update={"people": (*stay, *own.values())})


def _is_like(last: RunStarted, now: RunStarted) -> bool:
    """Whether results of the last run may stand next to those of this one.

    Those of another service, or of a dry run, would be mistaken for this one's; those of another
    version may not be readable.
    """
    return (last.target, last.dry_run, last.palprep_version) == (
        now.target,
        now.dry_run,
        now.palprep_version,
    )


class Named(Protocol):
    """Somebody whom a run was given, with a fingerprint of the files; None where it would not show
    a change."""

    @property
    def slug(self) -> str: ...
    @property
    def fingerprint(self) -> Fingerprint | None: ...


@dataclass(frozen=True)
class Unchanged:
    """Tells a person's state, which a run records with how the person ended.

    It covers what the person gave, what was prepared of it, and what holds for everybody in a run:
    ``conditions``.
    """

    conditions: str
    into: Path
    files: Files
    journal: Journal

    @classmethod
    def of_run(
        cls, journal: Journal, into: Path, files: Files, options: RunOptions, limits: str
    ) -> Unchanged:
        """For a run with these options into this folder; ``limits`` are those of its profile."""
        return cls(digest_of([__version__, limits, dict(options)]), into, files, journal)

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

    def _both(self, person: Named, at: dt.datetime) -> tuple[Fingerprint, Fingerprint] | None:
        folder = self.into / "prepared" / person.slug
        prepared = person.fingerprint and self.files.fingerprint(
            folder, lambda: self._prepared(person.slug), at
        )
        return (person.fingerprint, prepared) if person.fingerprint and prepared else None

    def _prepared(self, slug: str) -> Iterator[Prepared]:
        """All files that were ever prepared of this person; split out clips are among them."""
        for entry in self.journal.entries(AssetPrepared, person=slug):
            if entry.body.asset.prepared is not None:
                yield entry.body.asset.prepared

    def _state(self, found: tuple[Fingerprint, Fingerprint]) -> str:
        return digest_of([self.conditions, *(each.digest for each in found)])
