"""The journal read back: what happened to each person in the last run.

Results, the report page and ``palprep status`` are all made from these views, so a page
written again from the journal shows what the run showed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Protocol

from pydantic import Field

from palprep.errors import JournalError
from palprep.journal.creations import Creation
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
from palprep.journal.outcomes import IN_TRAINING, up_to_date
from palprep.journal.results import FaceVerdict, PersonOutcome, PersonStatus
from palprep.journal.store import Journal
from palprep.preflight.asset import Asset
from palprep.rules.report import Report
from palprep.values import Role, Value


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


class PersonOverview(Value):
    """What a list of everybody shows of one person. No report is read for it."""

    slug: str
    name: str
    full_name: str
    status: PersonStatus
    reasons: tuple[str, ...]
    voice: Creation | None = None
    replica: Creation | None = None
    waived: tuple[str, ...] = ()
    """What is missing of the consent, where it was waived."""
    at_service: bool = False
    """The service refused, or could not be reached."""
    state: str | None = Field(default=None, exclude=True)
    """What the outcome came from, as recorded with it. Nothing shows this."""

    @property
    def standing(self) -> PersonStanding:
        """The same in short."""
        outcome = PersonOutcome(
            status=self.status, reasons=self.reasons, at_service=self.at_service
        )
        used = {"voice": self.voice, "replica": self.replica}
        return _standing(self.slug, outcome, self.waived, used)


class PersonView(PersonOverview):
    """Everything the journal knows of one person in the last run."""

    assets: tuple[Asset, ...] = Field(default=(), repr=False)
    face: FaceVerdict | None = None
    timings: tuple[Timing, ...] = ()

    @property
    def consent(self) -> Asset | None:
        """The video in which the consent statement was listened for."""
        return next((asset for asset in self.assets if asset.consent is not None), None)

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

    @property
    def head(self) -> RunHead:
        """What is the same for all people."""
        return RunHead(**{name: getattr(self, name) for name in RunHead.model_fields})

    def mark(self, slug: str) -> str:
        """What changes when anything changes that is known of the person."""
        return self.person(slug).model_dump_json()

    def person(self, slug: str) -> PersonView:
        """Everything that is known of the person."""
        return next(person for person in self.people if person.slug == slug)


class RunStanding(RunHead):
    """The last run of a journal, with where each person stands."""

    people: tuple[PersonStanding, ...]


class ReadableRun(Protocol):
    """A run that results and pages are made of, one person after the other."""

    @property
    def head(self) -> RunHead: ...
    @property
    def people(self) -> Sequence[PersonOverview]: ...
    def mark(self, slug: str) -> str:
        """See :meth:`RunView.mark`."""

    def person(self, slug: str) -> PersonView:
        """See :meth:`RunView.person`."""


class RunReader:
    """The last run of a journal that stays open, as it stood when this was made.

    A report is read for the person whose report is asked for, and for no one else: memory grows
    with the number of people and not with what is known of them.

    ``running``: a run is at work on it. Raises JournalError when there was no run, or when another
    version of palprep recorded it in a way that this one cannot read.
    """

    def __init__(self, journal: Journal, *, running: bool = False) -> None:
        started = _started(journal)
        if started is None:
            where = journal.path.parent if journal.path else "memory"
            raise JournalError(f"The journal in {where} holds no run yet")
        self.head = RunHead(**_head(journal, started))
        gathered = _gathered(journal, started, running=running)
        self.people = tuple(person.overview() for person in gathered.values())
        self._journal = journal
        self._running = running
        self._names = {names.slug: names for names in started.body.people}
        self._own = {person.slug: person for person in self.people}
        self._numbers = journal.standing_numbers()
        self._newest = _newest(journal)

    @property
    def is_current(self) -> bool:
        """Whether the journal holds no later entry."""
        return self._newest == _newest(self._journal)

    def mark(self, slug: str) -> str:
        """See :meth:`RunView.mark`. Reports never change: the numbers of their entries will do."""
        numbers = [each for each in self._numbers.get(slug, ()) if each[0] not in _STANDING]
        return f"{self._own[slug].model_dump_json()} {numbers}"

    def person(self, slug: str) -> PersonView:
        """See :meth:`RunView.person`."""
        person = _Person(self._names[slug], running=self._running)
        for entry in self._journal.standing(person=slug):
            uses = isinstance(entry.body, CreationUsed)
            person.take(entry.body, self._journal.creation(entry.key or "") if uses else None)
        return person.view()

    def view(self, slugs: Container[str] | None = None, *, with_reports: bool = True) -> RunView:
        """All of it at once, or the people of these slugs; without reports, what lists show."""
        wanted = (each for each in self.people if slugs is None or each.slug in slugs)
        people = (
            self.person(each.slug) if with_reports else PersonView(**dict(each)) for each in wanted
        )
        return RunView(**dict(self.head), people=tuple(people))


def view(journal: Journal) -> RunView | None:
    """The last run, or None when there was none.

    Raises JournalError when another version of palprep recorded it in a way that this one
    cannot read.
    """
    return RunReader(journal).view() if _started(journal) is not None else None


def standing(journal: Journal, *, running: bool = False) -> RunStanding | None:
    """The last run without its reports, read at once for however many people. ``running``: a run
    is at work on it.

    Returns None and raises as :func:`view` does.
    """
    started = _started(journal)
    if started is None:
        return None
    people = _gathered(journal, started, running=running).values()
    return RunStanding(
        **_head(journal, started), people=tuple(person.standing() for person in people)
    )


def _gathered(journal: Journal, started: Entry[RunStarted], *, running: bool) -> dict[str, _Person]:
    """Everybody, without reports."""
    own = {names.slug: _Person(names, running=running) for names in started.body.people}
    creations = {creation.key: creation for creation in journal.creations()}
    for entry in journal.standing(*_STANDING):
        if entry.person in own:
            own[entry.person].take(entry.body, creations.get(entry.key or ""))
    return own


_STANDING = ("creation:voice", "creation:replica", "consent_waived", "person_ended")
"""The slots that say where a person stands."""


def _started(journal: Journal) -> Entry[RunStarted] | None:
    entry = journal.last_run()
    if entry is not None and not isinstance(entry.body, RunStarted):
        raise _outdated()
    return entry  # type: ignore[return-value]


def _newest(journal: Journal) -> int | None:
    newest = journal.newest()
    return newest.seq if newest is not None else None


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

    def __init__(self, names: PersonNames, *, running: bool = False) -> None:
        self._names = names
        self._running = running
        self._assets: dict[Role, Asset] = {}
        self._used: dict[str, Creation] = {}
        self._face: FaceVerdict | None = None
        self._waived: tuple[str, ...] = ()
        self._outcome: PersonOutcome | None = None
        self._state: str | None = None

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
            case PersonEnded(outcome=outcome, state=state):
                self._outcome, self._state = outcome, state

    def standing(self) -> PersonStanding:
        """Where the person stands."""
        return _standing(self._names.slug, self._today, self._waived, self._used)

    @property
    def _today(self) -> PersonOutcome:
        return up_to_date(self._outcome, tuple(self._used.values()), running=self._running)

    def overview(self) -> PersonOverview:
        """What was taken in, without reports."""
        outcome = self._today
        return PersonOverview(
            **dict(self._names),
            status=outcome.status,
            reasons=outcome.words,
            at_service=outcome.at_service,
            waived=self._waived,
            voice=self._used.get("voice"),
            replica=self._used.get("replica"),
            state=self._state,
        )

    def view(self) -> PersonView:
        """Everything taken in."""
        return PersonView(
            **dict(self.overview()),
            assets=tuple(self._assets[role] for role in Role if role in self._assets),
            face=self._face,
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
