"""What earlier runs did, by the journal, so that nothing is done twice."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from palprep._version import __version__
from palprep.batch.engines.files import Files
from palprep.batch.engines.tasks import AssetTask
from palprep.batch.people.files import digest_of
from palprep.batch.people.person import Person, RosterEntry
from palprep.batch.work.consent import spoken_by
from palprep.batch.work.context import PREPARED_NAME, RunContext
from palprep.errors import UsageError
from palprep.journal import entries, runs
from palprep.pipelines import stopped_at
from palprep.preflight import Asset, Prepared
from palprep.rules import BUILT_IN


def still_good(found: entries.AssetPrepared, task: AssetTask, files: Files) -> bool:
    """Whether an earlier result still holds for the task: its outputs are there, unchanged; or
    there are none because of the file itself."""
    asset = found.asset
    if asset.source != task.source or (asset.prepared is None and not asset.problem_in_file):
        return False
    if task.speaker is not None and _unheard(asset):
        return False  # What could not listen then may be installed now.
    return all(map(files.holds, asset.prepared.files if asset.prepared else ()))


def _unheard(asset: Asset) -> bool:
    """Whether no one listened for consent in a file that could be read."""
    clip = asset.prepared.consent if asset.prepared else None
    report = clip.report if clip else asset.report
    consent = report.consent
    return report.error is None and (consent is None or consent.outcome == "unknown")


def _names_of(person: Person | runs.PersonView) -> entries.PersonNames:
    names = entries.PersonNames.model_fields
    known = {name: getattr(person, name, None) for name in names}
    if isinstance(person, Person) and person.statement is not None:
        with contextlib.suppress(UsageError):
            known["own_statement"] = spoken_by(person).required.text
    return entries.PersonNames(**known)


def record_start(
    run: RunContext,
    people: Sequence[Person | runs.PersonView],
    statements: tuple[entries.SandboxStatement, ...],
    *,
    at_work: Sequence[str],
    source: str | None,
) -> None:
    """Record that a run for these people begins. The slugs ``at_work`` are worked on; the others
    stay as the last run left them, and so do the other people of that run unless everybody is
    selected. A run that works on nobody and is otherwise like the last one is not recorded."""
    options, everybody = run.options, run.options.select.everybody
    profile = options.profile
    if profile not in BUILT_IN:  # Whoever goes on with this run may work in another folder.
        profile = Path(profile).absolute()
    started = entries.RunStarted(
        people=tuple(map(_names_of, people)),
        only=None if everybody and len(at_work) == len(people) else tuple(at_work),
        target=options.connection.target,
        profile=str(profile),
        dry_run=options.dry_run,
        without_consent=options.without_consent,
        source=source,
        statements=statements,
        palprep_version=__version__,
    )
    entry = run.journal.last_run()
    last = entry and entry.body
    # Results for another service, or of a dry run, would be mistaken for this one's; those of
    # another version may not be readable.
    same = ("target", "dry_run", "palprep_version")
    if last and all(getattr(last, each) == getattr(started, each) for each in same):
        if not everybody:
            own = {each.slug: each for each in started.people}
            stay = tuple(own.pop(each.slug, each) for each in last.people)
            started = started.model_copy(update={"people": (*stay, *own.values())})
        if not at_work and started.people == last.people:
            return
    run.journal.append(started)


@dataclass(frozen=True)
class Unchanged:
    """Tells who is done and has not changed since, by a state that a run records with a person's
    outcome. It is a digest of what the person gave, of the run's options and the limits of its
    profile; and another of what was prepared."""

    run: RunContext

    def to_record(self, person: RosterEntry) -> str | None:
        """The person's state at the end of the work; None where a change would not show."""
        given, prepared = self._digest_of_input(person), self._digest_of_output(person.slug)
        return None if given is None or prepared is None else f"{given}.{prepared}"

    def among(
        self, people: Iterable[RosterEntry], last: Iterable[runs.PersonView]
    ) -> dict[str, runs.PersonView]:
        """Those of the ``last`` run's people who are done and unchanged since, by their slugs. Left
        out are people whose consent was waived, since it may be listened for now; and people whose
        consent was taken back or refused since: once prepared files were removed, a dossier that
        has changed is no change of the state."""
        done = {each.slug: each for each in last if each.status in runs.READY and not each.waived}
        for slug, stopped in stopped_at(self.run.journal).items():
            ended = self.run.journal.entries(entries.PersonEnded, person=slug)
            if ended and ended[-1].seq < stopped:
                done.pop(slug, None)
        return {
            person.slug: done[person.slug]
            for person in people
            if person.slug in done and self._is_as_it_was(person, done[person.slug])
        }

    def _is_as_it_was(self, person: RosterEntry, ended: runs.PersonView) -> bool:
        given, _, prepared = (ended.state or "").partition(".")
        if self._digest_of_input(person) != given:
            return False
        # What was removed on purpose need not be there.
        return ended.files_removed or self._digest_of_output(person.slug) == prepared

    def _digest_of_input(self, person: RosterEntry) -> str | None:
        files = person.fingerprint
        return None if files is None else digest_of([self._conditions, files])

    def _digest_of_output(self, slug: str) -> str | None:
        def ever_prepared() -> Iterator[Prepared]:
            for entry in self.run.journal.entries(entries.AssetPrepared, person=slug):
                if entry.body.asset.prepared is not None:
                    yield from entry.body.asset.prepared.files

        folder = self.run.place / PREPARED_NAME / slug
        return self.run.files.fingerprint(folder, ever_prepared)

    @functools.cached_property
    def _conditions(self) -> str:
        options = self.run.options
        own = [options.connection.target, options.dry_run, options.without_consent]
        limits = self.run.profiles[options.profile].model_dump_json()
        return digest_of([__version__, limits, own])
