"""The states of a creation: what is in doubt, what is proved, what may be repeated."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import get_args

import pytest
from folded import fold
from hypothesis import given, strategies as st

from palprep.journal.creations.states import (
    TRANSITIONS,
    Creation,
    CreationState,
    Event,
    creation_key,
    doubt_words,
    error_words,
)
from palprep.journal.entries.bodies import (
    Body,
    CalledBack,
    Created,
    Doubt,
    Entry,
    Intent,
    NotCreated,
    Polled,
    Resolved,
    Snapshot,
)

KEY = "voice-0123"


def entries(*bodies: Body) -> list[Entry]:
    seq = count(1)
    return [
        Entry(seq=next(seq), at=f"2026-11-21T05:00:{n:02d}+00:00", person="ada", key=KEY, body=body)
        for n, body in enumerate(bodies)
    ]


def told(status: str, resource_id: str = "v1", why: str | None = None) -> Snapshot:
    return Snapshot(id=resource_id, status=status, error_message=why)


INTENT = Intent(what="voice", request={"voice_name": "Ada"})
CREATED = Created(snapshot=told("started"))
DONE = CalledBack(snapshot=told("completed"))
REFUSED = NotCreated(code="service_refused", message="no")
LOST = Doubt(code="outcome_unknown", message="connection lost")


def after(*bodies: Body) -> Creation:
    return fold(entries(*bodies))[KEY]


REACHED: dict[CreationState, tuple[Body, ...]] = {
    CreationState.ABSENT: (INTENT, REFUSED),
    CreationState.IN_DOUBT: (INTENT,),
    CreationState.STARTED: (INTENT, CREATED),
    CreationState.COMPLETED: (INTENT, CREATED, DONE),
    CreationState.ERROR: (INTENT, CREATED, Polled(snapshot=told("error"))),
}
"""A way to each state."""

SAYING: dict[Event, tuple[Body, ...]] = {
    "intent": (INTENT,),
    "not_created": (REFUSED,),
    "doubt": (LOST,),
    "started": (Polled(snapshot=told("started")), CalledBack(snapshot=told("started"))),
    "completed": (Polled(snapshot=told("completed")), DONE),
    "error": (Polled(snapshot=told("error")), CalledBack(snapshot=told("error"))),
    "found": (Resolved(found_id="v1"),),
    "retry": (Resolved(),),
}
"""The entries that are each event."""


@pytest.mark.parametrize("before", CreationState)
@pytest.mark.parametrize("event", SAYING)
def test_every_cell_of_the_table(before: CreationState, event: Event) -> None:
    assert after(*REACHED[before]).state is before
    for body in SAYING[event]:
        creation = after(*REACHED[before], body)
        assert creation.state is TRANSITIONS[before, event]
        assert (creation.id is None) == (creation.status is None)


def test_the_table_has_no_other_cells() -> None:
    assert len(TRANSITIONS) == len(CreationState) * len(get_args(Event))


def test_what_the_service_told_is_never_taken_back() -> None:
    """But by an intent, and where a training that ended in error is freed to be tried again."""
    known = (CreationState.STARTED, CreationState.COMPLETED, CreationState.ERROR)
    back = {
        (before, event)
        for before in known
        for event in get_args(Event)
        if TRANSITIONS[before, event] not in known
    }
    intents = {(before, "intent") for before in known}
    assert back == intents | {(CreationState.ERROR, "retry")}


def test_an_intent_without_an_answer_is_in_doubt():
    creation = after(INTENT)
    assert creation.state is CreationState.IN_DOUBT
    assert creation.id is None
    assert creation.request == {"voice_name": "Ada"}


def test_a_proof_that_nothing_was_created_allows_another_try():
    assert after(INTENT, REFUSED).state is CreationState.ABSENT
    assert after(INTENT, REFUSED).why == "no"
    assert after(INTENT, REFUSED, INTENT).state is CreationState.IN_DOUBT


def test_an_unknown_outcome_stays_in_doubt_and_says_why():
    creation = after(INTENT, LOST)
    assert creation.state is CreationState.IN_DOUBT
    assert creation.why == "connection lost"


def test_a_doubt_is_told_in_whole_sentences():
    lost = Doubt(code="outcome_unknown", message="POST /v2/voices: the service answered 502.")
    assert doubt_words(after(INTENT, lost)) == (
        "The request to create the voice was sent or about to be sent, and its outcome is not "
        "known. POST /v2/voices: the service answered 502. Look for the voice at the service, then "
        f"run `palprep status` to resolve {KEY}"
    )
    told = doubt_words(after(INTENT, lost), Path("my out/journal.sqlite"))
    assert told.endswith(f"then run `palprep status 'my out'` to resolve {KEY}")


@pytest.mark.parametrize("said", ["No face.", "Required is: “I agree.”", "No face"])
def test_an_error_is_told_in_whole_sentences(said):
    failed = after(INTENT, CREATED, Polled(snapshot=told("error", why=said)))
    assert f"ended in error: {said.removesuffix('.')}" in error_words(failed)
    assert ".. " not in error_words(failed)
    assert ".”. " not in error_words(failed)


def test_polling_tells_when_the_training_has_ended():
    creation = after(INTENT, CREATED, Polled(snapshot=told("completed")))
    assert (creation.state, creation.id, creation.status) == ("completed", "v1", "completed")
    assert creation.ended
    assert creation.ended_at == "2026-11-21T05:00:02+00:00"


def test_a_callback_proves_a_creation_in_doubt():
    creation = after(INTENT, DONE)
    assert creation.state is CreationState.COMPLETED
    assert (creation.id, creation.status) == ("v1", "completed")


def test_a_callback_faster_than_the_answer_is_not_forgotten():
    assert after(INTENT, DONE, CREATED).status == "completed"


def test_an_answer_that_is_lost_after_its_callback_leaves_no_doubt():
    assert after(INTENT, DONE, LOST).state is CreationState.COMPLETED
    assert after(INTENT, DONE, REFUSED).state is CreationState.COMPLETED


def test_the_answer_to_a_second_request_counts():
    first, second = told("completed", "v1"), told("started", "v2")
    creation = after(
        INTENT, Resolved(), INTENT, CalledBack(snapshot=first), Created(snapshot=second)
    )
    assert (creation.state, creation.id) == ("started", "v2")


@pytest.mark.parametrize("then", [(), (INTENT,), (INTENT, LOST)])
def test_a_callback_of_what_was_let_go_says_nothing_of_what_is_asked_for_next(then):
    failed = CalledBack(snapshot=told("error", "v1"))
    before = INTENT, CREATED, failed, Resolved(), *then
    assert after(*before, failed) == after(*before)
    assert after(*before, failed, CalledBack(snapshot=told("completed", "v2"))).id == "v2"
    assert after(*before, Resolved(found_id="v1"), failed).id == "v1"


def test_a_callback_about_another_resource_changes_nothing():
    other = CalledBack(snapshot=told("completed", "v2"))
    assert after(INTENT, CREATED, other).status == "started"


def test_a_callback_of_unknown_shape_changes_nothing():
    assert after(INTENT, CalledBack(received="?")).state is CreationState.IN_DOUBT


def test_a_training_that_ended_does_not_go_back():
    late = CalledBack(snapshot=told("started"))
    assert after(INTENT, CREATED, DONE, late).status == "completed"


def test_an_error_keeps_its_message():
    said = CalledBack(snapshot=told("error", why="too quiet"))
    assert after(INTENT, CREATED, said).error_message == "too quiet"


def test_decisions():
    assert after(INTENT, Resolved(found_id="v9")).id == "v9"
    assert after(INTENT, CREATED, Resolved(found_id="v9")).id == "v1"
    assert after(INTENT, Resolved()).state is CreationState.ABSENT
    retried = after(INTENT, CREATED, Polled(snapshot=told("error")), Resolved())
    assert (retried.state, retried.id, retried.status) == (CreationState.ABSENT, None, None)


def test_a_callback_under_an_unknown_tag_makes_no_creation():
    assert fold(entries(DONE)) == {}


def test_the_key_tells_what_is_asked_for_from_what_is_incidental():
    key = creation_key("voice", {"voice_name": "Ada", "tags": ("a",)}, {"voice-audio": "ff"})
    assert key == creation_key(
        "voice", {"tags": ("a",), "voice_name": "Ada"}, {"voice-audio": "ff"}
    )
    # Journals on disk hold it: another formula would create everything once more.
    assert key == "voice-344286bfa32751282ceb2dcd55bca8af"
    others = [
        creation_key("replica", {"voice_name": "Ada", "tags": ("a",)}, {"voice-audio": "ff"}),
        creation_key("voice", {"voice_name": "Bob", "tags": ("a",)}, {"voice-audio": "ff"}),
        creation_key("voice", {"voice_name": "Ada", "tags": ("a",)}, {"voice-audio": "fe"}),
    ]
    assert len({key, *others}) == 4


STEPS = st.sampled_from([
    INTENT, CREATED, REFUSED, LOST, Polled(snapshot=told("completed")), DONE,
    CalledBack(snapshot=told("started")), CalledBack(),
])  # fmt: skip


@given(st.lists(STEPS, max_size=12))
def test_never_absent_while_the_last_intent_is_unanswered(steps):
    creation = fold(entries(INTENT, *steps))[KEY]
    newest_first = steps[::-1]
    since = newest_first[: newest_first.index(INTENT)] if INTENT in steps else newest_first
    if REFUSED not in since:
        assert creation.state is not CreationState.ABSENT
    if creation.status is not None:
        assert creation.id == "v1"
