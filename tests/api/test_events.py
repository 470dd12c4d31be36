"""Callbacks: read, and applied so that repeats and stragglers change nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palprep.api.events import (
    AnyEvent,
    DocumentChanged,
    ReplicaTraining,
    VoiceStatusChanged,
    apply,
    parse_event,
)
from palprep.errors import UnexpectedReply

VOICE = {"voice_id": "v", "voice_name": "Ada", "status": "completed"}


def test_the_voice_event() -> None:
    event = parse_event(json.dumps(VOICE | {"event": "ignored"}).encode())
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
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        "[]",
        "3",
        "{}",
        {"voice_id": "v", "status": "almost"},
        {"voice_id": 7, "status": "completed"},
        {"replica_id": "r"},
    ],
)
def test_what_is_no_event_is_refused(payload: bytes | str | dict[str, object]) -> None:
    with pytest.raises(UnexpectedReply):
        parse_event(payload)


EVENTS = st.lists(
    st.builds(
        lambda i, s: parse_event({"voice_id": i, "status": s}),
        st.sampled_from("abc"),
        st.sampled_from(["started", "completed", "error"]),
    )
)


def _applied(events: list[AnyEvent]) -> Mapping[str, AnyEvent]:
    known: Mapping[str, AnyEvent] = {}
    for event in events:
        known = apply(known, event)
    return known


@given(EVENTS)
def test_applying_everything_twice_changes_nothing(events: list[AnyEvent]) -> None:
    assert _applied([e for e in events for _ in range(2)]) == _applied(events)


@given(EVENTS)
def test_the_end_of_a_training_stays(events: list[AnyEvent]) -> None:
    known = _applied([parse_event(VOICE | {"voice_id": "a"}), *events])
    assert known["a"].status == "completed"
