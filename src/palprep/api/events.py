"""What the service posts to callback URLs, and how to apply it.

The specification shows the payload of the voice event alone: a state snapshot, so that a
duplicate delivery changes nothing. The payloads of replica and document callbacks are not
shown; they are recognised by the id that they must carry, and everything else in them is
kept in ``payload``. Signing, retries and ordering are not specified either. A snapshot that
comes late must therefore not undo the end of a training.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from palprep.api.records import DocumentStatus, TrainingStatus
from palprep.errors import UnexpectedReply
from palprep.values import Value

VOICE_STATUS_CHANGED = "application.voice_status_changed"


class Event(Value):
    """A snapshot of one resource's state. ``payload`` is everything that arrived."""

    model_config = ConfigDict(extra="ignore")

    payload: Mapping[str, Any] = Field(default_factory=dict, repr=False)

    @property
    def resource_id(self) -> str:
        """The id of the resource that it is about."""
        raise NotImplementedError

    @property
    def ended(self) -> bool:
        """Whether training has ended, so that the resource stays in this state."""
        raise NotImplementedError


class VoiceStatusChanged(Event):
    """``application.voice_status_changed``: the training of a voice ended."""

    kind: Literal["voice"] = "voice"
    voice_id: str
    voice_name: str | None = None
    status: TrainingStatus
    error_message: str | None = None

    @property
    def resource_id(self) -> str:
        """``voice_id``."""
        return self.voice_id

    @property
    def ended(self) -> bool:
        """Whether training has ended: completed, or in error."""
        return self.status != "started"


class ReplicaTraining(Event):
    """The training of a replica ended. Its payload is not specified."""

    kind: Literal["replica"] = "replica"
    replica_id: str
    status: TrainingStatus
    error_message: str | None = None

    @property
    def resource_id(self) -> str:
        """``replica_id``."""
        return self.replica_id

    @property
    def ended(self) -> bool:
        """Whether training has ended: completed, or in error."""
        return self.status != "started"


class DocumentChanged(Event):
    """A document's status moved. Its payload is not specified."""

    kind: Literal["document"] = "document"
    document_id: str
    status: DocumentStatus
    progress: float | None = None
    error_message: str | None = None

    @property
    def resource_id(self) -> str:
        """``document_id``."""
        return self.document_id

    @property
    def ended(self) -> bool:
        """Never: a document can be crawled again."""
        return False


AnyEvent = VoiceStatusChanged | ReplicaTraining | DocumentChanged

_BY_MEMBER: tuple[tuple[str, type[AnyEvent]], ...] = (
    ("voice_id", VoiceStatusChanged),
    ("replica_id", ReplicaTraining),
    ("document_id", DocumentChanged),
)


def parse_event(payload: bytes | str | Mapping[str, Any]) -> AnyEvent:
    """The event in a callback's body.

    Raises :class:`~palprep.errors.UnexpectedReply` when it is not a JSON object, carries no
    known id, or has a status that the specification does not know.
    """
    if isinstance(payload, bytes | str):
        try:
            parsed = json.loads(payload)
        except (ValueError, RecursionError):
            raise UnexpectedReply("The callback's body is not JSON.", body=None) from None
    else:
        parsed = payload
    if not isinstance(parsed, Mapping):
        raise UnexpectedReply("The callback's body is not a JSON object.", body=parsed)
    for member, kind in _BY_MEMBER:
        if member in parsed:
            return _build(kind, parsed)
    raise UnexpectedReply(
        "The callback is about no voice, replica or document: it has none of voice_id, "
        "replica_id and document_id.",
        body=dict(parsed),
    )


def _build(kind: type[AnyEvent], parsed: Mapping[str, Any]) -> AnyEvent:
    members = {name: parsed[name] for name in kind.model_fields if name in parsed}
    members.pop("kind", None)
    try:
        return kind.model_validate(members | {"payload": dict(parsed)})
    except ValidationError as error:
        first = error.errors()[0]
        raise UnexpectedReply(
            f"The callback's {'.'.join(map(str, first['loc']))} is not as specified: "
            f"{first['msg']}.",
            body=dict(parsed),
        ) from None


def apply(known: Mapping[str, AnyEvent], event: AnyEvent) -> Mapping[str, AnyEvent]:
    """The newest snapshot of every resource, after ``event``.

    Applying an event twice equals applying it once: the same mapping comes back. The end of
    a training stays, whatever arrives late.
    """
    before = known.get(event.resource_id)
    if before is not None and (before == event or before.ended):
        return known
    return {**known, event.resource_id: event}
