"""The journal read back: what happened to each person. Pure functions of entries.

Results, the report page and ``palprep status`` are all made from these views, so a page
written again from the journal shows what the run showed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from palprep.batch.tasks import Asset
from palprep.errors import JournalError
from palprep.journal.creations import Creation, CreationState, Entry, fold
from palprep.pipelines.steps import FaceVerdict
from palprep.rules.report import Report
from palprep.values import Role, Value

Status = Literal["done", "refused", "failed", "in_doubt", "waiting"]

CUT_OFF = "The run ended before this person was finished: run the same command again"


class PersonResult(Value):
    """One line of results.jsonl."""

    person: str
    status: Status
    voice_id: str | None
    voice_status: str | None
    replica_id: str | None
    replica_status: str | None
    reasons: tuple[str, ...]
    assets: tuple[Report, ...]
    at_service: bool = Field(default=False, exclude=True)
    """What went wrong did so at the service, or on the way to it; not in the line."""

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
    status: Status
    reasons: tuple[str, ...]
    assets: tuple[Asset, ...] = ()
    face: FaceVerdict | None = None
    voice: Creation | None = None
    replica: Creation | None = None
    timings: tuple[Timing, ...] = ()
    waived: tuple[str, ...] = ()
    """What is amiss with the consent, where the run was told to go on regardless."""
    at_service: bool = False
    """Refused or failed: at the service, or on the way to it."""

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
            reasons=(*self.reasons, *(f"Gone on without consent: {why}" for why in self.waived)),
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


def view(entries: Sequence[Entry]) -> RunView | None:
    """The last run, or None when there was none.

    Raises JournalError when another version of palprep recorded it in a way that this one
    cannot read.
    """
    try:
        return _view(entries)
    except (ValidationError, KeyError) as error:
        raise JournalError(
            "The last run was recorded by another version of palprep "
            f"({type(error).__name__}): run the same command again, which repeats no creation"
        ) from None


def _view(entries: Sequence[Entry]) -> RunView | None:
    started = next((entry for entry in reversed(entries) if entry.kind == "run"), None)
    if started is None:
        return None
    by_seq = {entry.seq: entry for entry in entries}
    creations = fold(entries)
    own: dict[str, list[Entry]] = {slug: [] for slug in started.body["people"]}
    for entry in entries:
        if entry.seq > started.seq and entry.person in own:
            own[entry.person].append(_original(entry, by_seq))
    return RunView(
        started_at=started.at,
        updated_at=entries[-1].at,
        target=started.body["target"],
        profile=started.body["profile"],
        dry_run=started.body["dry_run"],
        version=started.body["version"],
        people=tuple(_person(slug, found, creations) for slug, found in own.items()),
    )


def _original(entry: Entry, by_seq: Mapping[int, Entry]) -> Entry:
    """The entry that a reused stage points back to."""
    return by_seq[entry.body["seq"]] if entry.kind == "reused" else entry


def _person(slug: str, entries: Iterable[Entry], creations: Mapping[str, Creation]) -> PersonView:
    last: dict[str, Entry] = {}
    assets: dict[str, Asset] = {}
    used: dict[str, Creation] = {}
    for entry in entries:
        if entry.kind == "prepared":
            assets[entry.body["role"]] = Asset.model_validate(entry.body)
        elif entry.kind == "uses" and entry.key is not None and entry.key in creations:
            used[entry.body["what"]] = creations[entry.key]
        last[entry.kind] = entry
    person = last["person"].body if "person" in last else {}
    standing = _standing(last.get("outcome"), tuple(used.values()))
    waived = last["waived"].body["why"] if "waived" in last else ()
    face = last["validated"].body if "validated" in last else None
    return PersonView(
        slug=slug,
        name=person.get("name", slug),
        full_name=person.get("full_name", slug),
        status=standing.status,
        reasons=standing.reasons,
        at_service=standing.at_service,
        waived=tuple(waived),
        assets=tuple(assets[role] for role in Role if role in assets),
        face=FaceVerdict.model_validate(face) if face else None,
        voice=used.get("voice"),
        replica=used.get("replica"),
        timings=tuple(_timings(assets.values(), used)),
    )


class _Standing(NamedTuple):
    status: Status
    reasons: tuple[str, ...]
    at_service: bool = False


def _standing(outcome: Entry | None, creations: Sequence[Creation]) -> _Standing:
    """The recorded outcome, brought up to date by what has arrived since."""
    if any(creation.state is CreationState.IN_DOUBT for creation in creations):
        recorded = tuple(outcome.body["reasons"]) if outcome else ()
        doubts = tuple(doubt(c) for c in creations if c.state is CreationState.IN_DOUBT)
        return _Standing("in_doubt", tuple(dict.fromkeys((*recorded, *doubts))))
    if outcome is None:
        return _Standing("waiting", (CUT_OFF,))
    status, at_service = outcome.body["status"], outcome.body.get("at_service", False)
    said = _Standing(status, tuple(outcome.body["reasons"]), at_service)
    if status not in {"waiting", "in_doubt"} or not outcome.body.get("complete", False):
        return said
    failed = tuple(failure(creation) for creation in creations if creation.status == "error")
    if failed:
        return _Standing("failed", failed, at_service=True)
    if creations and all(creation.status == "completed" for creation in creations):
        return _Standing("done", ())
    return said


def doubt(creation: Creation) -> str:
    """What to say about a creation in doubt, and how to settle it."""
    why = f" ({creation.why})" if creation.why else ""
    return (
        f"The request to create the {creation.what} was sent or about to be sent, and no answer "
        f"is known{why}. Look for it at the service, then run `palprep status` to settle "
        f"{creation.key}"
    )


def failure(creation: Creation) -> str:
    """What to say about a creation that ended in error."""
    said = creation.error_message or "the service gave no reason"
    return (
        f"The {creation.what} {creation.id} ended in error: {said}. Mend the source, or settle "
        f"{creation.key} with retry to try the same again"
    )


def _timings(assets: Iterable[Asset], used: Mapping[str, Creation]) -> Iterable[Timing]:
    for asset in assets:
        yield Timing(step=f"prepare {asset.role.value}", seconds=asset.seconds)
    for what, creation in used.items():
        if creation.intended_at and creation.settled_at:
            seconds = _seconds_between(creation.intended_at, creation.settled_at)
            yield Timing(step=f"train {what}", seconds=seconds)


def _seconds_between(start: str, end: str) -> float:
    first, second = dt.datetime.fromisoformat(start), dt.datetime.fromisoformat(end)
    return round((second - first).total_seconds(), 3)
