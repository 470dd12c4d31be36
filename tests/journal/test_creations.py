"""The fold of entries into creations: what is in doubt, what is proved, what may be repeated."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palprep.journal.creations import Creation, CreationState, Entry, creation_key, fold

KEY = "voice-0123"


def entries(*steps: tuple[str, dict]) -> list[Entry]:
    seq = count(1)
    return [
        Entry(seq=next(seq), at=f"2026-11-21T05:00:{n:02d}+00:00", person="ada", kind=kind,
              key=KEY, body=body)
        for n, (kind, body) in enumerate(steps)
    ]  # fmt: skip


INTENT = ("intent", {"what": "voice", "request": {"voice_name": "Ada"}})
CREATED = ("created", {"id": "v1", "status": "started"})
DONE = {"id": "v1", "status": "completed"}


def after(*steps: tuple[str, dict]) -> Creation:
    return fold(entries(*steps))[KEY]


def test_an_intent_without_an_answer_is_in_doubt():
    creation = after(INTENT)
    assert creation.state is CreationState.IN_DOUBT
    assert creation.id is None
    assert creation.request == {"voice_name": "Ada"}


@pytest.mark.parametrize("kind", ["refused", "unsent"])
def test_a_proof_that_nothing_was_created_allows_another_try(kind):
    assert after(INTENT, (kind, {"message": "no"})).state is CreationState.ABSENT
    assert after(INTENT, (kind, {"message": "no"}), INTENT).state is CreationState.IN_DOUBT


def test_an_unknown_outcome_stays_in_doubt_and_says_why():
    creation = after(INTENT, ("unknown", {"message": "connection lost"}))
    assert creation.state is CreationState.IN_DOUBT
    assert creation.why == "connection lost"


def test_a_created_resource_settles_by_polling():
    creation = after(INTENT, CREATED, ("status", DONE))
    assert (creation.state, creation.id, creation.status) == (
        CreationState.CREATED, "v1", "completed",
    )  # fmt: skip
    assert creation.settled_at == "2026-11-21T05:00:02+00:00"


def test_a_callback_proves_a_creation_in_doubt():
    creation = after(INTENT, ("callback", DONE))
    assert creation.state is CreationState.CREATED
    assert (creation.id, creation.status) == ("v1", "completed")


def test_a_callback_faster_than_the_answer_is_not_forgotten():
    assert after(INTENT, ("callback", DONE), CREATED).status == "completed"


def test_a_callback_about_another_resource_changes_nothing():
    other = ("callback", {"id": "v2", "status": "completed"})
    assert after(INTENT, CREATED, other).status == "started"


def test_a_callback_of_unknown_shape_changes_nothing():
    assert after(INTENT, ("callback", {"received": "?"})).state is CreationState.IN_DOUBT


def test_a_settled_state_does_not_go_back():
    late = ("callback", {"id": "v1", "status": "started"})
    assert after(INTENT, CREATED, ("callback", DONE), late).status == "completed"


def test_an_error_keeps_its_message():
    said = ("callback", {"id": "v1", "status": "error", "error_message": "too quiet"})
    assert after(INTENT, CREATED, said).error_message == "too quiet"


def test_decisions():
    assert after(INTENT, ("settled", {"decision": "found", "id": "v9"})).id == "v9"
    assert after(INTENT, ("settled", {"decision": "retry"})).state is CreationState.ABSENT
    error = ("status", {"id": "v1", "status": "error"})
    retried = after(INTENT, CREATED, error, ("settled", {"decision": "retry"}))
    assert (retried.state, retried.id, retried.status) == (CreationState.ABSENT, None, None)


def test_a_callback_under_an_unknown_tag_makes_no_creation():
    assert fold(entries(("callback", DONE))) == {}


def test_the_key_tells_what_is_wanted_from_what_is_incidental():
    key = creation_key("voice", {"voice_name": "Ada", "tags": ("a",)}, {"voice-audio": "ff"})
    assert key == creation_key(
        "voice", {"tags": ("a",), "voice_name": "Ada"}, {"voice-audio": "ff"}
    )
    others = [
        creation_key("replica", {"voice_name": "Ada", "tags": ("a",)}, {"voice-audio": "ff"}),
        creation_key("voice", {"voice_name": "Bob", "tags": ("a",)}, {"voice-audio": "ff"}),
        creation_key("voice", {"voice_name": "Ada", "tags": ("a",)}, {"voice-audio": "fe"}),
    ]
    assert len({key, *others}) == 4


STEPS = st.sampled_from([
    INTENT, CREATED, ("refused", {}), ("unsent", {}), ("unknown", {}), ("status", DONE),
    ("callback", DONE), ("callback", {"id": "v1", "status": "started"}), ("callback", {}),
])  # fmt: skip


@given(st.lists(STEPS, max_size=12))
def test_never_absent_while_the_last_intent_is_unanswered(steps):
    creation = fold(entries(INTENT, *steps)).get(KEY)
    answered = steps[::-1]
    since = answered[: answered.index(INTENT)] if INTENT in answered else answered
    kinds = {kind for kind, _ in since}
    if not kinds & {"refused", "unsent"}:
        assert creation.state is not CreationState.ABSENT
    if creation.state is CreationState.CREATED:
        assert creation.id == "v1"
