"""What each error of a create request says about the resource, and what is sent when."""

from __future__ import annotations

import threading

import pytest

from palprep.errors import (
    BadRequest,
    InvalidRequest,
    JournalError,
    OutcomeUnknown,
    PermissionDenied,
    RateLimited,
    ServiceUnavailable,
    ServiceUnreachable,
    TimedOut,
    TransportError,
    UnexpectedReply,
)
from palprep.journal.at_most_once import Creator, fate_of
from palprep.journal.creations import CreationState
from palprep.journal.store import JOURNAL_NAME, Journal
from palprep.pipelines.steps import Made

WISH = {"person": "ada", "what": "voice", "request": {"voice_name": "Ada"}}


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / JOURNAL_NAME, lock=True, create=True) as opened:
        yield opened


@pytest.fixture
def creator(journal):
    return Creator(journal)


@pytest.mark.parametrize(
    ("error", "fate"),
    [
        (InvalidRequest("x", field="voice_name"), "unsent"),
        (ServiceUnreachable("x"), "unsent"),
        (BadRequest("x", status=400), "refused"),
        (PermissionDenied("x", status=403), "refused"),
        (RateLimited("x", status=429), "refused"),
        (ServiceUnavailable("x", status=501), "refused"),
        (ServiceUnavailable("x", status=500), "unknown"),
        (ServiceUnavailable("x", status=503), "unknown"),
        (OutcomeUnknown("x"), "unknown"),
        (TimedOut("x"), "unknown"),
        (TransportError("x"), "unknown"),
        (UnexpectedReply("x"), "unknown"),
    ],
)
def test_fates(creator, journal, error, fate):
    assert fate_of(error) == fate
    sent = []

    def send():
        sent.append(1)
        raise error

    if fate == "unknown":
        for _ in range(3):
            assert creator.create("k", send=send, **WISH).state is CreationState.IN_DOUBT
        assert len(sent) == 1
    else:
        for _ in range(3):
            with pytest.raises(type(error)):
                creator.create("k", send=send, **WISH)
        assert len(sent) == 3
    assert journal.entries(key="k")[-1].kind == fate


def test_the_intent_is_recorded_before_the_request_leaves(creator, journal):
    def send():
        [entry] = journal.entries(key="k")
        assert (entry.kind, entry.body["request"]) == ("intent", {"voice_name": "Ada"})
        return Made(id="v1", status="started")

    assert creator.create("k", send=send, **WISH).id == "v1"


def test_nothing_leaves_when_the_intent_cannot_be_recorded(creator, journal):
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {pages}")
    sent = []
    big = {**WISH, "request": {"text": "x" * 100_000}}
    with pytest.raises(JournalError, match="free some space"):
        creator.create("k", send=lambda: sent.append(1), **big)
    assert sent == []


def test_an_answer_that_cannot_be_recorded_is_told_to_the_user(creator, journal):
    def send():
        pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
        journal._connection.execute(f"PRAGMA max_page_count = {pages}")
        return Made(id="v-" + "7" * 50_000, status="started")

    with pytest.raises(JournalError, match=r"v-7+ was created for ada.*settle k with this id"):
        creator.create("k", send=send, **WISH)
    assert journal.creation("k").state is CreationState.IN_DOUBT


def test_a_defect_in_between_leaves_a_doubt(creator, journal):
    def send():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        creator.create("k", send=send, **WISH)
    assert journal.creation("k").state is CreationState.IN_DOUBT


def test_equal_wishes_at_the_same_time_become_one(creator):
    sent, made = [], []
    gate = threading.Barrier(6)

    def send():
        sent.append(1)
        return Made(id="v1", status="started")

    def ask():
        gate.wait()
        made.append(creator.create("k", send=send, **WISH))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == 1
    assert {creation.id for creation in made} == {"v1"}
