"""What the service posts to callback URLs.

The specification shows the payload of the voice event alone: a state snapshot, so that a
duplicate delivery changes nothing. The payloads of replica and document callbacks are not
shown; they are recognised by the id that they must carry, and everything else in them is
kept in ``payload``. Signing, retries and ordering are not specified either.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Literal

from pydantic import Field

from palprep.api.records import DocumentStatus, TrainingStatus
from palprep.api.reply import Reply, read_leniently
from palprep.errors import UnexpectedReply


class EventName(StrEnum):
    """Names of events. The specification shows the first and the last; palprep's sandbox calls the
    other two so."""

    VOICE_STATUS_CHANGED = "application.voice_status_changed"
    REPLICA_STATUS_CHANGED = "application.replica_status_changed"
    DOCUMENT_STATUS_CHANGED = "application.document_status_changed"
    TOOL_CALL = "conversation.tool_call"


class Event(Reply):
    """A snapshot of one resource's state, read as leniently as a record. ``payload`` is
    everything that arrived."""

    kind: str
    status: str
    error_message: str | None = None
    updated_at: str | None = None
    """When the state was so, where the service says it."""
    payload: Mapping[str, Any] = Field(default_factory=dict, repr=False)

    @property
    def resource_id(self) -> str:
        """The id of the resource that it is about."""
        return str(getattr(self, self.id_member or ""))


class VoiceStatusChanged(Event):
    """``application.voice_status_changed``: the training of a voice ended."""

    id_member: ClassVar[str | None] = "voice_id"

    kind: Literal["voice"] = "voice"
    voice_id: str
    voice_name: str | None = None
    status: TrainingStatus


class ReplicaTraining(Event):
    """The training of a replica ended. Its payload is not specified."""

    id_member: ClassVar[str | None] = "replica_id"

    kind: Literal["replica"] = "replica"
    replica_id: str
    status: TrainingStatus


class DocumentChanged(Event):
    """A document's status moved. Its payload is not specified."""

    id_member: ClassVar[str | None] = "document_id"

    kind: Literal["document"] = "document"
    document_id: str
    status: DocumentStatus
    progress: float | None = None


AnyEvent = VoiceStatusChanged | ReplicaTraining | DocumentChanged

EVENTS: tuple[type[AnyEvent], ...] = (VoiceStatusChanged, ReplicaTraining, DocumentChanged)
"""Every kind of event."""


def parse_event(payload: Any) -> AnyEvent:
    """The event in a callback's body, which is parsed JSON.

    A status that the specification does not know is kept as it came. Raises
    :class:`~palprep.errors.UnexpectedReply` when the body is no JSON object or carries no known
    id.
    """
    if not isinstance(payload, Mapping):
        raise UnexpectedReply("The callback's body is not a JSON object.", body=payload)
    for kind in EVENTS:
        if isinstance(payload.get(kind.id_member or ""), str | int):
            known = kind.model_fields.keys() - {"kind"}
            members = {name: payload[name] for name in known if name in payload}
            return read_leniently(kind, members | {"payload": dict(payload)})
    raise UnexpectedReply(
        "The callback is about no voice, replica or document: it has none of voice_id, "
        "replica_id and document_id.",
        body=dict(payload),
    )
