"""The states of a creation (one voice or replica) as one table, how entries change its state, and
what the state means for a person. An intent that no later entry answers is in doubt: the request
may have left this machine and may have been carried out."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import computed_field

from palprep.journal.entries import bodies as entries
from palprep.journal.runs.outcome import PersonOutcome
from palprep.values import Value


class CreationState(StrEnum):
    """Where one creation stands."""

    ABSENT = "absent"
    """Certainly not created: refused, or the request never left, or free to be tried again."""
    IN_DOUBT = "in_doubt"
    """Asked for without a known outcome. Never repeated without a decision."""
    STARTED = "started"
    """Created, and in training."""
    COMPLETED = "completed"
    """Training ended well."""
    ERROR = "error"
    """Training ended in an error."""


Event = Literal["intent", "not_created", "doubt", "started", "completed", "error", "found", "retry"]
"""What an entry says about a creation. An entry with a state of the service has its name."""


def _table(drawn: str) -> dict[tuple[CreationState, str], CreationState]:
    header, *rows = (line.split() for line in drawn.strip().splitlines())
    return {
        (CreationState(before), event): CreationState(after)
        for event, *cells in rows
        for before, after in zip(header, cells, strict=True)
    }


TRANSITIONS: Mapping[tuple[CreationState, str], CreationState] = _table("""
                absent     in_doubt   started    completed  error
    intent      in_doubt   in_doubt   in_doubt   in_doubt   in_doubt
    not_created absent     absent     started    completed  error
    doubt       in_doubt   in_doubt   started    completed  error
    started     started    started    started    completed  error
    completed   completed  completed  completed  completed  completed
    error       error      error      error      error      error
    found       started    started    started    completed  error
    retry       absent     absent     started    completed  absent
""")
"""Columns are the state before, rows the event, cells the state after.

A state that the service told is a proof that the resource exists: neither a lost answer nor
a late snapshot takes it back.
"""


class Creation(Value):
    """What the journal knows of one voice or replica."""

    key: str
    person: str
    what: entries.What
    state: CreationState
    id: str | None = None
    error_message: str | None = None
    request: Mapping[str, Any] = {}
    """What was sent, as recorded before it was sent; addresses are left out."""
    intended_at: str | None = None
    ended_at: str | None = None
    """When the end of its training was recorded."""
    why: str | None = None
    """The error that left it in doubt or refused it, if one was seen."""
    let_go: tuple[str, ...] = ()
    """The ids of earlier resources that ended in error and were to be tried again. What the service
    tells of them later does not concern this creation."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def status(self) -> entries.ResourceStatus | None:
        """The status that the service told last, None where it told none."""
        told: tuple[entries.ResourceStatus, ...] = get_args(entries.ResourceStatus)
        return next((each for each in told if each == self.state), None)

    @property
    def voice_id(self) -> str | None:
        """Its ``id`` where it is a voice."""
        return self.id if self.what == "voice" else None

    @property
    def replica_id(self) -> str | None:
        """Its ``id`` where it is a replica."""
        return self.id if self.what == "replica" else None

    @property
    def told_elsewhere(self) -> bool:
        """Whether the service tells its end to an address of the user's own, by the ``request``."""
        return "told_elsewhere" in self.request

    @property
    def ended(self) -> bool:
        return self.state in {CreationState.COMPLETED, CreationState.ERROR}


def creation_key(what: entries.What, fields: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """The identity of a creation: what, at which service, from which content. ``fields`` are those
    of the request, without addresses, which change from run to run. ``sources`` maps each role to
    the SHA-256 of the user's own file: the same prepared differently is no new request."""
    # Journals on disk hold these keys: another formula would create everything once more.
    asked = json.dumps([what, dict(fields), dict(sources)], sort_keys=True, ensure_ascii=True)
    return f"{what}-{hashlib.sha256(asked.encode()).hexdigest()[:32]}"


def advanced(before: Creation | None, entry: entries.Entry[entries.Body]) -> Creation | None:
    """The creation under the entry's key, after the entry; None where the key was never intended,
    as of a callback under a tag that this journal never gave out."""
    if entry.key is not None and isinstance(entry.body, entries.Intent):
        return Creation(
            key=entry.key,
            person=entry.person or "",
            what=entry.body.what,
            state=CreationState.IN_DOUBT,
            request=entry.body.request,
            intended_at=entry.at,
            let_go=before.let_go if before else (),
        )
    if before is not None and isinstance(entry.body, entries.AboutCreation):
        return _after(before, entry.body, entry.at)
    return before


def _after(before: Creation, body: entries.AboutCreation, at: str) -> Creation:
    match body:
        case entries.Created(snapshot=told) if told.id != before.id:
            # The answer to the last request. The earlier id is that of an earlier resource.
            fresh = before.model_copy(update={"state": CreationState.IN_DOUBT, "id": None})
            return _with_snapshot(_taken_up(fresh, told.id), told, at)
        case (
            entries.Created(snapshot=told)
            | entries.Polled(snapshot=told)
            | entries.CalledBack(snapshot=told)
        ):
            return _with_snapshot(before, told, at)
        case entries.NotCreated(message=why):
            return _moved(before, "not_created", why=why)
        case entries.Doubt(message=why):
            return _moved(before, "doubt", why=why)
        case entries.Resolved():
            return _resolved(before, body, at)
    return before


def _with_snapshot(before: Creation, snapshot: entries.Snapshot | None, at: str) -> Creation:
    if snapshot is None or snapshot.id in before.let_go or before.id not in {None, snapshot.id}:
        return before
    after = _moved(before, snapshot.status, id=snapshot.id)
    if after.state != snapshot.status or after.state is before.state:
        return after
    ended_at = at if snapshot.ended else None
    update = {"error_message": snapshot.error_message, "ended_at": ended_at}
    return after.model_copy(update=update)


def _resolved(before: Creation, decided: entries.Resolved, at: str) -> Creation:
    if (found_id := decided.found_id) is not None:
        before = _taken_up(before, found_id)
        if decided.status is not None:
            snapshot = entries.Snapshot(id=found_id, status=decided.status)
            return _with_snapshot(before, snapshot, at)
        return _moved(before, "found", id=before.id or found_id)
    after = _moved(before, "retry")
    if after.state is not CreationState.ABSENT:
        return after
    let_go = (*before.let_go, *filter(None, (before.id,)))
    return after.model_copy(update={"id": None, "let_go": let_go})


def _taken_up(before: Creation, found_id: str) -> Creation:
    """The creation, from which the resource of that id is not let go any more."""
    let_go = tuple(each for each in before.let_go if each != found_id)
    return before.model_copy(update={"let_go": let_go})


def _moved(before: Creation, event: Event, **changes: Any) -> Creation:
    state = TRANSITIONS[before.state, event]
    return before.model_copy(update={"state": state, **changes})


def status_command(journal: Path | None) -> str:
    """The command that resolves doubts in the journal at this path; None for one in memory."""
    return shlex.join(["palprep", "status", *([str(journal.parent)] if journal else [])])


def doubt_words(creation: Creation, journal: Path | None = None) -> str:
    why = f" {_sentence(creation.why)}" if creation.why else ""
    return (
        f"The request to create the {creation.what} was sent or about to be sent, and its outcome "
        f"is not known.{why} Look for the {creation.what} at the service, then run "
        f"`{status_command(journal)}` to resolve {creation.key}"
    )


def error_words(creation: Creation) -> str:
    reason = creation.error_message or "the service gave no reason"
    return (
        f"The {creation.what} {creation.id} ended in error: {_sentence(reason)} Fix the source; or "
        f"run `palprep status` with --retry {creation.key} to try the same again"
    )


def _sentence(text: str) -> str:
    """The text with one full stop at its end."""
    return text if text.rstrip("”\"'").endswith((".", "!", "?")) else f"{text}."


CUT_OFF = PersonOutcome(
    status="waiting",
    reasons=("The run ended before this person was finished: run the same command again",),
)
AT_WORK = PersonOutcome(
    status="waiting", reasons=("A run is at work, and this person is not finished yet",)
)
RESOLVED = PersonOutcome(
    status="waiting", reasons=("The doubt is resolved: run the same command again",)
)
IN_TRAINING = PersonOutcome(
    status="waiting", reasons=("The end of the training is not known yet",), complete=True
)


def up_to_date(
    recorded: PersonOutcome | None, creations: Sequence[Creation], *, running: bool = False
) -> PersonOutcome:
    """The recorded outcome of a person, changed by how the person's own ``creations`` stand now.
    While a run is ``running``, what would be in doubt may be a request under way."""
    if recorded is None and running:
        return AT_WORK
    if recorded is not None and recorded.status in {"waiting", "in_doubt"}:
        # Without the reasons of trainings that have ended since.
        ended = [c.id for c in creations if c.ended and c.id]
        left = tuple(each for each in recorded.reasons if not any(one in each for one in ended))
        recorded = recorded.model_copy(update={"reasons": left})
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
    return recorded.becomes(RESOLVED) if recorded.status == "in_doubt" else recorded


def _as_trained(recorded: PersonOutcome, creations: Sequence[Creation]) -> PersonOutcome:
    """The outcome that follows from how the trainings stand."""
    if any(c.state is CreationState.ABSENT for c in creations):
        return recorded.becomes(RESOLVED)
    errors = tuple(error_words(c) for c in creations if c.state is CreationState.ERROR)
    if errors:
        return recorded.becomes(PersonOutcome(status="failed", reasons=errors, complete=True))
    if creations and all(c.state is CreationState.COMPLETED for c in creations):
        return recorded.ended_well(replica=any(c.what == "replica" for c in creations))
    return recorded if recorded.status == "waiting" else recorded.becomes(IN_TRAINING)
