"""Callbacks: read, and applied so that repeats and stragglers change nothing."""

from __future__ import annotations

import pytest

from palprep.api.records.replies import (
    DocumentChanged,
    ReplicaTraining,
    VoiceStatusChanged,
    parse_event,
)
from palprep.errors import UnexpectedReply

VOICE = {"voice_id": "v", "voice_name": "Ada", "status": "completed"}


def test_the_voice_event() -> None:
    event = parse_event(VOICE | {"event": "ignored"})
    assert isinstance(event, VoiceStatusChanged)
    assert (event.resource_id, event.status, event.error_message) == ("v", "completed", None)
    assert event.payload["event"] == "ignored"


def test_a_failed_voice_says_why() -> None:
    event = parse_event(VOICE | {"status": "error", "error_message": "no speech"})
    assert isinstance(event, VoiceStatusChanged)
    assert event.error_message == "no speech"


def test_replicas_and_documents_are_told_by_their_ids() -> None:
    assert isinstance(parse_event({"replica_id": "r", "status": "error"}), ReplicaTraining)
    document = parse_event({"document_id": "d", "status": "processing", "progress": 40})
    assert isinstance(document, DocumentChanged)
    assert document.progress == 40


@pytest.mark.parametrize(
    "payload",
    [
        None,
        "",
        [],
        3,
        {},
        {"voice_id": None, "status": "completed"},
        {"voice_id": {}, "status": "completed"},
    ],
)
def test_what_is_no_event_is_refused(payload: object) -> None:
    with pytest.raises(UnexpectedReply):
        parse_event(payload)


def test_a_status_that_is_new_is_kept() -> None:
    event = parse_event({"voice_id": "v", "status": "almost"})
    assert event.status == "almost"
