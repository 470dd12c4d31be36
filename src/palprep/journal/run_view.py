"""The journal read back: what happened to each person in the last run.

Results, the report page and ``palprep status`` are all made from these views, so a page
written again from the journal shows what the run showed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from palprep.errors import JournalError
from palprep.journal.creations import Creation, CreationState, doubt_words, error_words
from palprep.journal.entries import (
    AssetPrepared,
    Body,
    ConsentWaived,
    CreationUsed,
    FaceValidated,
    Former,
    PersonEnded,
    PersonNames,
    Reused,
    RunStarted,
)
from palprep.journal.results import FaceVerdict, PersonOutcome, PersonStatus
from palprep.journal.store import Journal
from palprep.preflight.asset import Asset
from palprep.rules.report import Report
from palprep.values import Role, Value

CUT_OFF = PersonOutcome(
    status="waiting",
    reasons=("The run ended before this person was finished: run the same command again",),
)
RESOLVED = PersonOutcome(
    status="waiting", reasons=("The doubt is resolved: run the same command again",)
)
IN_TRAINING = PersonOutcome(
    status="waiting", reasons=("The end of the training is not known yet",), complete=True
)


class PersonResult(Value):
    """One line of results.jsonl."""

    person: str
    status: PersonStatus
    voice_id: str | None
    voice_status: str | None
    replica_id: str | None
    replica_status: str | None
    reasons: tuple[str, ...]
    assets: tuple[Report, ...]
    at_service: bool = Field(default=False, exclude=True)
    """The service refused or could not be reached. Not part of the line."""

    def to_json(self) -> dict[str, Any]:
        """As documented, each asset as ``palprep check --json`` prints it."""
        data = super().to_json()
        return {**data, "assets": [report.to_json() for report in self.assets]}


class Timing(Value):
    """How long one step took, in seconds."""

    step: str
    seconds: float


class PersonView(Value):
    """Everything the journal knows of one person in the last run."""

    slug: str
    name: str
    full_name: str
    status: PersonStatus
    reasons: tuple[str, ...]
    assets: tuple[Asset, ...] = ()
    face: FaceVerdict | None = None
    voice: Creation | None = None
    replica: Creation | None = None
    timings: tuple[Timing, ...] = ()
    waived: tuple[str, ...] = ()
    """What is missing of the consent, where the run was told to go on regardless."""
    at_service: bool = False
    """The service refused, or could not be reached."""

    @property
    def consent(self) -> Asset | None:
        """The video in which the consent statement was listened for."""
        return next((asset for asset in self.assets if asset.consent is not None), None)

    @property
    def result(self) -> PersonResult:
        """The line of results.jsonl."""
        return PersonResult(
            person=self.slug,
            status=self.status,
            voice_id=self.voice.id if self.voice else None,
            voice_status=self.voice.status if self.voice else None,
            replica_id=self.replica.id if self.replica else None,
            replica_status=self.replica.status if self.replica else None,
            reasons=(*(f"Gone on without consent: {why}" for why in self.waived), *self.reasons),
            assets=tuple(asset.report for asset in self.assets),
            at_service=self.at_service,
        )


class RunView(Value):
    """The last run of a journal."""

    started_at: str
    updated_at: str
    target: str
    """Where the voices and replicas are made: a base URL, or ``embedded sandbox``."""
    profile: str
    dry_run: bool
    version: str
    people: tuple[PersonView, ...]


def view(journal: Journal) -> RunView | None:
    """The last run, or None when there was none.

    Raises JournalError when another version of palprep recorded it in a way that this one
    cannot read.
    """
    entries = journal.last_run()
    if not entries:
        return None
    started = entries[0].body
    if not isinstance(started, RunStarted):
        raise _outdated()
    creations = {creation.key: creation for creation in journal.creations()}
    own: dict[str, _Person] = {each.slug: _Person(each) for each in started.people}
    for entry in entries:
        if entry.person in own:
            own[entry.person].take(_counted(journal, entry.body), creations.get(entry.key or ""))
    return RunView(
        started_at=entries[0].at,
        updated_at=entries[-1].at,
        target=started.target,
        profile=started.profile,
        dry_run=started.dry_run,
        version=started.palprep_version,
        people=tuple(person.view() for person in own.values()),
    )


def results_without_run(creations: Iterable[Creation]) -> tuple[PersonResult, ...]:
    """What stands in a journal that no run has written: what programs have made, by person.

    Of several voices or replicas of one person the last one counts.
    """
    made: dict[str, _Person] = {}
    for each in creations:
        names = PersonNames(slug=each.person, name=each.person, full_name=each.person)
        person = made.setdefault(each.person, _Person(names))
        person.take(CreationUsed(what=each.what), each)
        person.take(PersonEnded(outcome=IN_TRAINING), None)
    return tuple(person.view().result for person in made.values())


def _outdated() -> JournalError:
    return JournalError(
        "The last run was recorded by another version of palprep, which this one does not read: "
        "run the same command again, which repeats no creation"
    )


def _counted(journal: Journal, body: Body) -> Body:
    """The body itself, or the earlier one that it points back to."""
    if isinstance(body, Reused):
        earlier = journal.entry(body.seq)
        body = earlier.body if earlier else Former(was="missing")
    if isinstance(body, Former):
        raise _outdated()
    return body


class _Person:
    """Gathers what the entries of a run say of one person."""

    def __init__(self, names: PersonNames) -> None:
        self._names = names
        self._assets: dict[Role, Asset] = {}
        self._used: dict[str, Creation] = {}
        self._face: FaceVerdict | None = None
        self._waived: tuple[str, ...] = ()
        self._outcome: PersonOutcome | None = None

    def take(self, body: Body, creation: Creation | None) -> None:
        """Take in one entry; ``creation`` is the one under its key, as it stands today."""
        match body:
            case AssetPrepared(asset=asset):
                self._assets[asset.role] = asset
            case CreationUsed(what=what) if creation is not None:
                self._used[what] = creation
            case FaceValidated(verdict=verdict):
                self._face = verdict
            case ConsentWaived(why=why):
                self._waived = why
            case PersonEnded(outcome=outcome):
                self._outcome = outcome

    def view(self) -> PersonView:
        """Everything taken in."""
        outcome = _up_to_date(self._outcome, tuple(self._used.values()))
        return PersonView(
            slug=self._names.slug,
            name=self._names.name,
            full_name=self._names.full_name,
            status=outcome.status,
            reasons=outcome.reasons,
            at_service=outcome.at_service,
            waived=self._waived,
            assets=tuple(self._assets[role] for role in Role if role in self._assets),
            face=self._face,
            voice=self._used.get("voice"),
            replica=self._used.get("replica"),
            timings=tuple(_timings(self._assets.values(), self._used)),
        )


def _up_to_date(recorded: PersonOutcome | None, creations: Sequence[Creation]) -> PersonOutcome:
    """The recorded outcome, changed by what has arrived since."""
    doubts = tuple(doubt_words(c) for c in creations if c.state is CreationState.IN_DOUBT)
    if doubts:
        reasons = recorded.reasons if recorded else ()
        return PersonOutcome(status="in_doubt", reasons=tuple(dict.fromkeys((*reasons, *doubts))))
    if recorded is None:
        return CUT_OFF
    if recorded.complete and recorded.status in {"waiting", "in_doubt"}:
        return _as_trained(creations) or recorded
    # The doubt that ended the work is resolved; what was left to do is not done yet.
    return RESOLVED if recorded.status == "in_doubt" else recorded


def _as_trained(creations: Sequence[Creation]) -> PersonOutcome | None:
    """The outcome that follows from how the trainings ended; None while one goes on."""
    errors = tuple(error_words(c) for c in creations if c.state is CreationState.ERROR)
    if errors:
        return PersonOutcome(status="failed", reasons=errors, at_service=True)
    ended_well = creations and all(c.state is CreationState.COMPLETED for c in creations)
    return PersonOutcome(status="done") if ended_well else None


def _timings(assets: Iterable[Asset], used: Mapping[str, Creation]) -> Iterable[Timing]:
    for asset in assets:
        yield Timing(step=f"prepare {asset.role.value}", seconds=asset.seconds)
    for what, creation in used.items():
        if creation.intended_at and creation.ended_at:
            seconds = _seconds_between(creation.intended_at, creation.ended_at)
            yield Timing(step=f"train {what}", seconds=seconds)


def _seconds_between(start: str, end: str) -> float:
    first, second = dt.datetime.fromisoformat(start), dt.datetime.fromisoformat(end)
    return round((second - first).total_seconds(), 3)
