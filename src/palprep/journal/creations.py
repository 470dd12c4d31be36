"""What the journal's entries mean for the resources that were to be created.

Pure functions of entries. The rule behind all of them: an intent that no later entry
answers is in doubt, because the request may have left this machine and may have been
carried out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Literal

from palprep.values import Value

What = Literal["voice", "replica"]


class Entry(Value):
    """One line of the journal. Entries are appended and never change.

    ``key`` names the creation, or the input of a stage; ``at`` is in UTC, ISO 8601.
    """

    seq: int
    at: str
    person: str | None
    kind: str
    key: str | None
    body: Mapping[str, Any]


class CreationState(StrEnum):
    """Where one creation stands."""

    ABSENT = "absent"
    """Certainly not created: never asked for, refused, or the request never left."""
    IN_DOUBT = "in_doubt"
    """Asked for without a known outcome. Never repeated without a decision."""
    CREATED = "created"


class Creation(Value):
    """One voice or replica, from the intent to its last known status."""

    key: str
    person: str
    what: What
    state: CreationState
    id: str | None = None
    status: Literal["started", "completed", "error"] | None = None
    error_message: str | None = None
    request: Mapping[str, Any] = {}
    """What was sent, as recorded before it was sent; addresses are left out."""
    intended_at: str | None = None
    settled_at: str | None = None
    why: str | None = None
    """The error that left it in doubt or refused it, if one was seen."""

    @property
    def settled(self) -> bool:
        """True when the service has said how it ended."""
        return self.status in {"completed", "error"}


CREATION_KINDS = frozenset(
    {"intent", "created", "refused", "unsent", "unknown", "status", "callback", "settled"}
)


def creation_key(what: What, fields: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """The identity of a creation: what, at which service, from which content.

    ``fields`` are those of the request that say what is wanted, without addresses, which
    change from run to run; ``sources`` maps each role to the SHA-256 of the user's own file,
    so that preparing it differently one day is not taken for a new wish.
    """
    wish = json.dumps([what, dict(fields), dict(sources)], sort_keys=True, ensure_ascii=True)
    return f"{what}-{hashlib.sha256(wish.encode()).hexdigest()[:32]}"


def fold(entries: Iterable[Entry]) -> dict[str, Creation]:
    """Every creation by key, in the order of the first intents."""
    creations: dict[str, Creation] = {}
    for entry in entries:
        if entry.kind not in CREATION_KINDS or entry.key is None:
            continue
        before = creations.get(entry.key)
        if before is None and entry.kind != "intent":
            continue  # A callback under a tag that this journal never gave out.
        creations[entry.key] = _after(before, entry)
    return creations


def _after(before: Creation | None, entry: Entry) -> Creation:
    body = entry.body
    if before is None or entry.kind == "intent":
        return Creation(
            key=entry.key or "",
            person=entry.person or "",
            what=body["what"],
            state=CreationState.IN_DOUBT,
            request=body.get("request", {}),
            intended_at=entry.at,
        )
    after: dict[str, Any]
    match entry.kind:
        case "created" if before.settled and before.id == body["id"]:
            after = {}  # Its callback was faster than the answer to the request.
        case "created":
            after = {"state": CreationState.CREATED, "id": body["id"], "status": body["status"]}
        case "refused" | "unsent":
            after = {"state": CreationState.ABSENT, "why": body.get("message")}
        case "unknown":
            after = {"state": CreationState.IN_DOUBT, "why": body.get("message")}
        case "settled" if body["decision"] == "found":
            after = {"state": CreationState.CREATED, "id": body["id"], "status": "started"}
        case "settled":
            after = {"state": CreationState.ABSENT, "id": None, "status": None}
        case _:
            return _told(before, entry)
    return before.model_copy(update=after)


def _told(before: Creation, entry: Entry) -> Creation:
    """After a status that was polled, or a callback."""
    told_id, status = entry.body.get("id"), entry.body.get("status")
    if status is None or (before.id is not None and told_id not in {None, before.id}):
        return before
    if before.id is None and told_id is None:
        return before
    if before.settled and status == "started":
        return before  # A late snapshot; a settled state does not go back.
    return before.model_copy(
        update={
            # A callback under the tag of a creation in doubt proves that it was carried out.
            "state": CreationState.CREATED,
            "id": before.id or told_id,
            "status": status,
            "error_message": entry.body.get("error_message"),
            "settled_at": entry.at if status != "started" else None,
        }
    )
