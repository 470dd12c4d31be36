"""Callbacks: read, and applied so that repeats and stragglers change nothing."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from palprep.api.events import (
    AnyEvent,
    DocumentChanged,
    Known,
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
        {"voice_id": None, "status": "completed"},
        {"voice_id": {}, "status": "completed"},
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


def _applied(events: list[AnyEvent]) -> Known:
    known: Known = {}
    for event in events:
        known = apply(known, event)
    return known


@given(EVENTS)
def test_applying_everything_twice_changes_nothing(events: list[AnyEvent]) -> None:
    assert _applied([e for e in events for _ in range(2)]) == _applied(events)


@given(EVENTS)
def test_the_end_of_a_training_stays(events: list[AnyEvent]) -> None:
    known = _applied([parse_event(VOICE | {"voice_id": "a"}), *events])
    assert known["voice", "a"].status == "completed"


def test_a_status_that_is_new_is_kept_and_ends_nothing() -> None:
    event = parse_event(bytearray(b'{"voice_id": "v", "status": "almost"}'))
    assert (event.status, event.ended) == ("almost", False)
    assert _applied([event, parse_event(VOICE)])["voice", "v"].ended


def test_in_whatever_order_documents_are_told_the_youngest_snapshot_stays() -> None:
    told = [
        parse_event({"document_id": "d", "status": status, "updated_at": f"2026-08-01T12:00:0{n}"})
        for n, status in enumerate(["processing", "processing", "ready", "recrawling"])
    ]
    for order in permutations(told):
        assert _applied(list(order))["document", "d"] == told[-1]


def test_without_a_time_the_last_that_came_stays() -> None:
    first = parse_event(
        {"document_id": "d", "status": "ready", "updated_at": "2026-08-01T12:00:00Z"}
    )
    last = parse_event({"document_id": "d", "status": "recrawling", "updated_at": "once"})
    assert _applied([first, last])["document", "d"] is last


def test_a_voice_and_a_replica_of_one_id_do_not_meet() -> None:
    voice = parse_event({"voice_id": "x", "status": "completed"})
    replica = parse_event({"replica_id": "x", "status": "started"})
    known = _applied([voice, replica])
    assert known == {("voice", "x"): voice, ("replica", "x"): replica}
