"""The journal read back: what happened to each person in the last run.

Results, the report page and ``palprep status`` are all made from these views, so a page
written again from the journal shows what the run showed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from palprep.errors import JournalError
from palprep.journal.creations import Creation, CreationState, doubt_words, error_words
from palprep.journal.entries import (
    AssetPrepared,
    Body,
    ConsentWaived,
    CreationUsed,
    Entry,
    FaceValidated,
    Former,
    PersonEnded,
    PersonNames,
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


class PersonStanding(Value):
    """Where one person stands in the last run."""

    person: str
    status: PersonStatus
    voice_id: str | None
    voice_status: str | None
    replica_id: str | None
    replica_status: str | None
    reasons: tuple[str, ...]
    at_service: bool = Field(default=False, exclude=True)
    """The service refused or could not be reached. Not part of the line."""


class PersonResult(PersonStanding):
    """One line of results.jsonl."""

    assets: tuple[Report, ...]

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
    assets: tuple[Asset, ...] = Field(default=(), repr=False)
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
    def standing(self) -> PersonStanding:
        """The same in short."""
        outcome = PersonOutcome(
            status=self.status, reasons=self.reasons, at_service=self.at_service
        )
        used = {"voice": self.voice, "replica": self.replica}
        return _standing(self.slug, outcome, self.waived, used)

    @property
    def result(self) -> PersonResult:
        """The line of results.jsonl."""
        reports = tuple(asset.report for asset in self.assets)
        return PersonResult(**dict(self.standing), assets=reports)


class RunHead(Value):
    """What is the same for all people of a run."""

    started_at: str
    updated_at: str
    target: str
    """Where the voices and replicas are made: a base URL, or ``embedded sandbox``."""
    profile: str
    dry_run: bool
    version: str


class RunView(RunHead):
    """The last run of a journal, with all that is known of each person."""

    people: tuple[PersonView, ...] = Field(repr=False)


class RunStanding(RunHead):
    """The last run of a journal, with where each person stands."""

    people: tuple[PersonStanding, ...]


def view(journal: Journal) -> RunView | None:
    """The last run, or None when there was none.

    Raises JournalError when another version of palprep recorded it in a way that this one
    cannot read.
    """
    started = _started(journal)
    if started is None:
        return None
    return RunView(**_head(journal, started), people=tuple(people(journal)))


def people(journal: Journal) -> Iterator[PersonView]:
    """Everything about each person of the last run, read when it is that person's turn.

    Raises JournalError as :func:`view` does.
    """
    started = _started(journal)
    for names in started.body.people if started else ():
        person = _Person(names)
        for entry in journal.standing(person=names.slug):
            uses = isinstance(entry.body, CreationUsed)
            person.take(entry.body, journal.creation(entry.key or "") if uses else None)
        yield person.view()


def standing(journal: Journal) -> RunStanding | None:
    """The last run without its reports, read at once for however many people.

    Returns None and raises as :func:`view` does.
    """
    started = _started(journal)
    if started is None:
        return None
    own = {names.slug: _Person(names) for names in started.body.people}
    creations = {creation.key: creation for creation in journal.creations()}
    for entry in journal.standing(*_STANDING):
        if entry.person in own:
            own[entry.person].take(entry.body, creations.get(entry.key or ""))
    return RunStanding(
        **_head(journal, started), people=tuple(person.standing() for person in own.values())
    )


_STANDING = ("creation:voice", "creation:replica", "consent_waived", "person_ended")
"""The slots that say where a person stands."""


def _started(journal: Journal) -> Entry[RunStarted] | None:
    entry = journal.last_run()
    if entry is not None and not isinstance(entry.body, RunStarted):
        raise _outdated()
    return entry  # type: ignore[return-value]


def _head(journal: Journal, started: Entry[RunStarted]) -> dict[str, Any]:
    newest = journal.newest()
    return {
        "started_at": started.at,
        "updated_at": newest.at if newest else started.at,
        "target": started.body.target,
        "profile": started.body.profile,
        "dry_run": started.body.dry_run,
        "version": started.body.palprep_version,
    }


def results_without_run(creations: Iterable[Creation]) -> tuple[PersonStanding, ...]:
    """What stands in a journal that no run has written: what programs have made, by person.

    Of several voices or replicas of one person the last one counts.
    """
    made: dict[str, _Person] = {}
    for each in creations:
        names = PersonNames(slug=each.person, name=each.person, full_name=each.person)
        person = made.setdefault(each.person, _Person(names))
        person.take(CreationUsed(what=each.what), each)
        person.take(PersonEnded(outcome=IN_TRAINING), None)
    return tuple(person.standing() for person in made.values())


def _outdated() -> JournalError:
    return JournalError(
        "The last run was recorded by another version of palprep, which this one does not read: "
        "run the same command again, which repeats no creation"
    )


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
            case Former():
                raise _outdated()
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

    def standing(self) -> PersonStanding:
        """Where the person stands."""
        return _standing(self._names.slug, self._today, self._waived, self._used)

    @property
    def _today(self) -> PersonOutcome:
        return up_to_date(self._outcome, tuple(self._used.values()))

    def view(self) -> PersonView:
        """Everything taken in."""
        outcome = self._today
        return PersonView(
            slug=self._names.slug,
            name=self._names.name,
            full_name=self._names.full_name,
            status=outcome.status,
            reasons=outcome.words,
            at_service=outcome.at_service,
            waived=self._waived,
            assets=tuple(self._assets[role] for role in Role if role in self._assets),
            face=self._face,
            voice=self._used.get("voice"),
            replica=self._used.get("replica"),
            timings=tuple(_timings(self._assets.values(), self._used)),
        )


def _standing(
    person: str,
    outcome: PersonOutcome,
    waived: Sequence[str],
    used: Mapping[str, Creation | None],
) -> PersonStanding:
    voice, replica = used.get("voice"), used.get("replica")
    return PersonStanding(
        person=person,
        status=outcome.status,
        voice_id=voice.id if voice else None,
        voice_status=voice.status if voice else None,
        replica_id=replica.id if replica else None,
        replica_status=replica.status if replica else None,
        reasons=(*(f"Gone on without consent: {why}" for why in waived), *outcome.words),
        at_service=outcome.at_service,
    )


def up_to_date(recorded: PersonOutcome | None, creations: Sequence[Creation]) -> PersonOutcome:
    """The recorded outcome, changed by what has arrived since.

    ``creations`` are the person's own, as they stand now.
    """
    doubts = tuple(doubt_words(c) for c in creations if c.state is CreationState.IN_DOUBT)
    if doubts:
        before = recorded or PersonOutcome(status="in_doubt")
        reasons = tuple(dict.fromkeys((*before.reasons, *doubts)))
        return before.model_copy(update={"status": "in_doubt", "reasons": reasons})
    if recorded is None:
        return CUT_OFF
    if recorded.complete and recorded.status in {"waiting", "in_doubt"}:
        return _as_trained(recorded, creations)
    # The doubt that ended the work is resolved; what was left to do is not done yet.
    return _changed(recorded, RESOLVED) if recorded.status == "in_doubt" else recorded


def _as_trained(recorded: PersonOutcome, creations: Sequence[Creation]) -> PersonOutcome:
    """The outcome that follows from how the trainings stand."""
    if any(c.state is CreationState.ABSENT for c in creations):
        return _changed(recorded, RESOLVED)
    errors = tuple(error_words(c) for c in creations if c.state is CreationState.ERROR)
    if errors:
        return _changed(
            recorded, PersonOutcome(status="failed", reasons=errors, complete=True, at_service=True)
        )
    if creations and all(c.state is CreationState.COMPLETED for c in creations):
        return recorded.ended_well()
    return recorded if recorded.status == "waiting" else _changed(recorded, IN_TRAINING)


def _changed(recorded: PersonOutcome, now: PersonOutcome) -> PersonOutcome:
    """What holds now, with what was decided on the way."""
    return now.model_copy(update={"notes": recorded.notes, "not_made": recorded.not_made})


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
