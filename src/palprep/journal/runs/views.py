"""The journal read back: the last run, or what programs have made, and how far everybody is.

Results, the report page and ``palprep status`` are all made from these views, so a page
written again from the journal shows what the run showed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import Field

from palprep.errors import JournalError
from palprep.journal.creations.states import CUT_OFF, IN_TRAINING, Creation, up_to_date
from palprep.journal.entries import bodies as entries
from palprep.journal.runs.outcome import READY, PersonStatus, exit_code
from palprep.journal.store import Journal
from palprep.preflight import Asset
from palprep.rules import Report
from palprep.rules.consent import ConsentEvidence, ConsentState, consent_state
from palprep.values import Role, Value

B = TypeVar("B", bound=entries.Body)


class PersonStanding(Value):
    """Where one person stands, as ``palprep status --json`` prints it."""

    person: str
    status: PersonStatus
    voice_id: str | None
    voice_status: str | None
    replica_id: str | None
    replica_status: str | None
    reasons: tuple[str, ...]


class PersonResult(PersonStanding):
    """One line of results.jsonl."""

    assets: tuple[Report, ...]

    def to_json(self) -> dict[str, Any]:
        data = super().to_json()
        return {**data, "assets": [report.to_json() for report in self.assets]}


class PersonView(entries.PersonNames):
    """What the journal knows of one person in the last run. A row in a list of everybody has no
    assets and no verdict: no report is read for it. ``blocked_by``, ``asked`` and ``held`` are as
    in :class:`PersonOutcome`."""

    status: PersonStatus
    reasons: tuple[str, ...]
    voice: Creation | None = None
    replica: Creation | None = None
    waived: tuple[str, ...] = ()
    """What is missing of the consent or in doubt, where it was waived."""
    blocked_by: tuple[str, ...] = ()
    asked: Mapping[Role, tuple[str, ...]] = {}
    held: bool = False
    consent_state: ConsentState = ConsentState(state="holds")
    """Whether the consent holds, and what was decided about it."""
    state: str | None = Field(default=None, exclude=True)
    """The digest of :class:`PersonEnded`. Nothing shows it."""
    files_removed: bool = False
    """The prepared files were removed on purpose, some time after the end."""
    given_twice: bool = Field(default=False, exclude=True)
    """Somebody else has given one of the files, too, as the reasons say."""
    assets: tuple[Asset, ...] = Field(default=(), repr=False)
    face: entries.FaceVerdict | None = None
    reports: str = Field(default="", exclude=True, repr=False)
    """The numbers of the entries that hold assets and verdict, which never change."""

    @property
    def mark(self) -> str:
        """A text that changes when anything changes that is known of the person."""
        return f"{self.model_dump_json()} {self.reports}"

    @property
    def blocker(self) -> str | None:
        """The id of the finding to be removed first, or else the status; None if nothing blocks."""
        if self.status in READY | {"waiting"}:
            return None
        return next(iter(self.blocked_by), self.status)

    @property
    def ending(self) -> str:
        """What the exit code goes by: see :func:`~palprep.journal.runs.outcome.exit_code`."""
        if self.held:  # Even while a voice of the same person is in training.
            return "needs_decision"
        cut_off = self.status == "waiting" and CUT_OFF.reasons[0] in self.reasons
        return "cut_off" if cut_off else self.status

    @property
    def consent(self) -> Asset | None:
        """The video in which the consent statement was listened for."""
        return next((asset for asset in self.assets if asset.report.consent is not None), None)

    @property
    def standing(self) -> PersonStanding:
        voice, replica = self.voice, self.replica
        return PersonStanding(
            person=self.slug,
            status=self.status,
            voice_id=voice.id if voice else None,
            voice_status=voice.status if voice else None,
            replica_id=replica.id if replica else None,
            replica_status=replica.status if replica else None,
            reasons=(
                *(f"Gone on without consent: {why}" for why in self.waived),
                *(self.consent_state.reasons if self.consent_state.state == "holds" else ()),
                *self.reasons,
            ),
        )

    @property
    def result(self) -> PersonResult:
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


class RunView(Value):
    """The last run of a journal, with all that is known of each person. Its length is the number of
    people, and it gives one after the other."""

    head: RunHead
    people: tuple[PersonView, ...] = Field(repr=False)

    def __iter__(self) -> Iterator[PersonView]:  # type: ignore[override]
        return iter(self.people)

    def __len__(self) -> int:
        return len(self.people)

    @property
    def exit_code(self) -> int:
        """The code with which ``palprep run`` ends after this run: 0 when everybody is done."""
        endings = {each.ending for each in self.people}
        return exit_code(endings, rehearsed=self.head.dry_run)


class ReadableRun(Protocol):
    """A run that results and pages are made of, one person after the other."""

    @property
    def head(self) -> RunHead: ...
    def rows(self, slugs: Sequence[str] | None = None) -> Iterator[PersonView]:
        """Everybody, or the people with these slugs in their order. Reports may be left out."""

    def person(self, slug: str) -> PersonView: ...


class RunReader:
    """The last run of an open journal. Reports are read one person at a time, when :meth:`person`
    asks for them. So memory grows with the number of people, and not with what is known about them;
    with :meth:`rows`, asked before :attr:`people`, hardly with either. Raises JournalError when
    there was no run."""

    def __init__(self, journal: Journal) -> None:
        # Read first: if the run ends meanwhile, its open requests must not look in doubt.
        self.running = journal.is_running
        started, newest = journal.last_run(), journal.newest()
        if started is None or newest is None:
            where = journal.path.parent if journal.path else "memory"
            raise JournalError(f"The journal in {where} holds no run yet")
        self.started = started.body
        self.head = RunHead(
            started_at=started.at,
            updated_at=newest.at,
            **started.body.model_dump(include={"target", "profile", "dry_run"}),
            version=started.body.palprep_version,
        )
        self._journal = journal
        self._newest = newest.seq
        self._names = {each.slug: each for each in started.body.people}
        self._read: dict[str, PersonView] | None = None

    @cached_property
    def _given_twice(self) -> dict[str, list[str]]:
        return self._journal.given_twice()

    def rows(self, slugs: Sequence[str] | None = None) -> Iterator[PersonView]:
        """See :meth:`ReadableRun.rows`: without their reports, as they stand when their turn comes;
        or as :attr:`people` has them, once that was asked for."""
        if self._read is not None:
            yield from map(self._read.__getitem__, self._read if slugs is None else slugs)
            return
        asked = [self._names[slug] for slug in (self._names if slugs is None else slugs)]
        for at in range(0, len(asked), _AT_ONCE):
            some = asked[at : at + _AT_ONCE]
            known: dict[str, list[BodyAndCreation]] = {names.slug: [] for names in some}
            found = self._journal.standing(*_STANDING, people=tuple(known))
            reports = self._journal.numbers_besides(*_STANDING, people=tuple(known))
            used = [each.key or "" for each in found if isinstance(each.body, entries.CreationUsed)]
            creations = {each.key: each for each in self._journal.creations_of(used)}
            for entry in found:
                known[entry.person or ""].append((entry.body, creations.get(entry.key or "")))
            for names in some:
                own, numbers = known[names.slug], reports.get(names.slug, "")
                twice = self._given_twice.get(names.slug, ())
                yield person_view(
                    names, own, running=self.running, reports=numbers, given_twice=twice
                )

    @property
    def people(self) -> tuple[PersonView, ...]:
        """Everybody, without their reports, as they stood when this was first asked for."""
        if self._read is None:
            self._read = {each.slug: each for each in self.rows()}
        return tuple(self._read.values())

    @property
    def is_current(self) -> bool:
        """Whether the journal holds no later entry."""
        newest = self._journal.newest()
        return newest is not None and newest.seq == self._newest

    def person(self, slug: str) -> PersonView:
        bodies = [entry.body for entry in self._journal.standing(people=[slug])]
        prepared = (each.asset for each in bodies if isinstance(each, entries.AssetPrepared))
        assets = {asset.role: asset for asset in prepared}
        ordered = tuple(assets[role] for role in Role if role in assets)
        validated = _last(bodies, entries.FaceValidated)
        update = {"assets": ordered, "face": validated.verdict if validated else None}
        return next(self.rows([slug])).model_copy(update=update)

    def view(self, slugs: Container[str] | None = None, *, with_reports: bool = True) -> RunView:
        """Everybody at once, or the people with these slugs. Without reports, only their rows."""
        wanted = (each for each in self.people if slugs is None or each.slug in slugs)
        people = (self.person(each.slug) if with_reports else each for each in wanted)
        return RunView(head=self.head, people=tuple(people))


_STANDING = (
    "creation:voice",
    "creation:replica",
    *("consent_found", "consent_decided", "consent_waived"),
    "person_ended",
    "files_removed",
)
"""The slots that say how far a person is."""

_AT_ONCE = 500
"""People whose entries are read together."""

BodyAndCreation = tuple[entries.Body, Creation | None]
"""An entry about a person, and the creation under its key as it stands today."""


def person_view(
    names: entries.PersonNames,
    known: Sequence[BodyAndCreation],
    *,
    running: bool = False,
    reports: str = "",
    given_twice: Sequence[str] = (),
) -> PersonView:
    """The view of a person by these entries, without reports. ``running``: a run is at work.
    ``given_twice`` are sentences about files that somebody else has given, too."""
    bodies = [body for body, _ in known]
    used = {
        body.what: creation
        for body, creation in known
        if isinstance(body, entries.CreationUsed) and creation is not None
    }
    ended, found = _last(bodies, entries.PersonEnded), _last(bodies, entries.ConsentFound)
    decided, waived = _last(bodies, entries.ConsentDecided), _last(bodies, entries.ConsentWaived)
    consent = consent_state(
        found.evidence if found else ConsentEvidence(), decided.decision if decided else None
    )
    outcome = up_to_date(ended.outcome if ended else None, tuple(used.values()), running=running)
    outcome = outcome.decided(consent, made="replica" in used)
    ends = (entries.PersonEnded, entries.FilesRemoved)
    last = _last([each for each in bodies if isinstance(each, ends)], entries.Body)
    return PersonView(
        **dict(names),
        status=outcome.status,
        reasons=(*outcome.words, *given_twice),
        given_twice=bool(given_twice),
        blocked_by=outcome.blocked_by,
        asked=outcome.asked,
        held=outcome.held,
        consent_state=consent,
        waived=waived.why if waived else (),
        state=ended.state if ended else None,
        files_removed=isinstance(last, entries.FilesRemoved),
        voice=used.get("voice"),
        replica=used.get("replica"),
        reports=reports,
    )


def _last(bodies: Sequence[entries.Body], kind: type[B]) -> B | None:
    return next((each for each in reversed(bodies) if isinstance(each, kind)), None)


class JournalHead(Value):
    """A journal at one moment. ``palprep status --json`` prints it with the people."""

    directory: str
    target: str
    started_at: str
    updated_at: str
    running: bool
    """A run is at work on it. What looks in doubt may just be under way."""
    in_doubt: tuple[Creation, ...]
    """Of this and earlier runs; each must be resolved."""
    unclaimed_callbacks: int
    """Callbacks that belong to no creation of this journal."""
    unread: tuple[str, Any] | None = Field(default=None, exclude=True)
    """The person and the body of the last callback from which no end could be read. Not printed."""
    dry_run: bool = Field(default=False, exclude=True)
    """Nothing was sent, and nothing is waited for. Not printed."""
    has_run: bool = Field(default=True, exclude=True)
    """There was a run, which writes a page, and not only calls of a program. Not printed."""


@contextmanager
def status(directory: str | Path) -> Iterator[tuple[JournalHead, Iterator[PersonView]]]:
    """Read the journal of an output folder, and the people in it one after the other, so that any
    number of them takes the memory of a few. Raises JournalError when there is no journal."""
    with Journal.of(directory) as journal:
        running = journal.is_running
        made = () if journal.last_run() else journal.creations()
        if made:
            fields: dict[str, Any] = {
                "target": str(made[-1].request.get("target", "")),
                "started_at": made[0].intended_at or "",
                "updated_at": max(each.ended_at or each.intended_at or "" for each in made),
            }
            people, fields["has_run"] = _made_without_run(made), False
        else:
            run = RunReader(journal)
            fields = run.head.model_dump(include={"target", "started_at", "updated_at", "dry_run"})
            running, people = run.running, run.rows()
        unread = journal.unread_callback()
        if unread is not None and isinstance(unread.body, entries.CalledBack):
            fields["unread"] = unread.person or "", unread.body.received
        head = JournalHead(
            directory=str(directory),
            running=running,
            in_doubt=journal.in_doubt(),
            unclaimed_callbacks=journal.unclaimed_callbacks(),
            **fields,
        )
        yield head, people


def _made_without_run(creations: Iterable[Creation]) -> Iterator[PersonView]:
    """What programs have made without a run, by person: the last voice and replica of each."""
    known: dict[str, list[BodyAndCreation]] = {}
    for each in creations:
        theirs = known.setdefault(each.person, [(entries.PersonEnded(outcome=IN_TRAINING), None)])
        theirs.append((entries.CreationUsed(what=each.what), each))
    for person, own in known.items():
        yield person_view(entries.PersonNames(slug=person, name=person, full_name=person), own)
