"""Creations without a known outcome, failed trainings and callbacks that come late."""

from __future__ import annotations

import time
from dataclasses import replace

from standings import status

from palprep.api.records.replies import parse_event
from palprep.batch.outputs import write_report
from palprep.batch.work import pace
from palprep.batch.work.pace import Pace
from palprep.batch.work.waiting import watch
from palprep.callbacks import Delivery
from palprep.journal import Journal
from palprep.journal.creations import resolve_retry
from palprep.journal.inbox import into_journal

from .conftest import PACE


def test_a_lost_answer_is_in_doubt_and_not_repeated(go, add, log, out, connection):
    add("ada")
    log.fault(on="request", endpoint="voices.create", drop="after_commit")
    mute = replace(connection, callback_url="http://127.0.0.1:9")
    [person] = go(connection=mute).people
    assert person.status == "in_doubt"
    assert log.creates == {"voice": 1}
    [again] = go(connection=mute).people
    assert again.status == "in_doubt"
    assert go(connection=mute, dry_run=True).people[0].reasons == again.reasons
    assert log.creates == {"voice": 1}
    standing = status(out)
    assert not standing.head.running
    [creation] = standing.head.in_doubt
    assert creation.request["voice_name"] == "Ada"
    assert f"resolve {creation.key}" in again.reasons[0]
    with Journal.of(out) as journal:
        resolve_retry(journal, creation.key)
    [resolved] = status(out).people
    assert resolved.status == "waiting"
    assert "run the same command again" in resolved.reasons[0]
    assert go(connection=mute).people[0].status == "voice_only"
    assert log.creates == {"voice": 2}


def test_beside_a_doubt_no_training_is_told_that_has_ended(go, add, log):
    add("ada", portrait=True, settings='stock_voice = "gloria"')
    log.fault(on="request", endpoint="replicas.create", status=503)
    [person] = go(pace=Pace(wait_s=20, doubt_wait_s=2)).people
    assert (person.status, person.voice.status) == ("in_doubt", "completed")
    assert len(person.reasons) == 1
    assert "create the replica was sent" in person.reasons[0]


def test_a_service_that_fails_at_everything_leaves_few_doubts(go, add, log, monkeypatch):
    """Somebody must decide about each of them."""
    monkeypatch.setattr(pace, "_MOST_DOUBTS", 1)
    add("ada", portrait=True, settings='stock_voice = "gloria"')
    log.fault(on="request", endpoint="*", method="POST", path="/v2/voices", status=503)
    [person] = go(pace=Pace(wait_s=0, doubt_wait_s=0)).people
    assert (person.status, person.replica) == ("in_doubt", None)
    assert any("when the service works" in each for each in person.reasons)
    assert log.creates == {}


def test_a_callback_resolves_the_doubt(go, add, log, connection):
    add("ada")
    log.fault(on="request", endpoint="voices.create", drop="after_commit")
    [person] = go(pace=Pace(wait_s=20, doubt_wait_s=20)).people
    assert (person.status, person.reasons) == ("voice_only", ())
    assert log.voice_ids() == [person.voice.id]
    assert log.creates == {"voice": 1}


def test_a_request_that_never_arrived_is_asked_again(go, add, log):
    add("ada")
    log.fault(on="request", endpoint="voices.create", status=400, body={"error": "not today"})
    [person] = go().people
    assert person.status == "failed"
    assert "not today" in person.reasons[0]
    assert go().people[0].status == "voice_only"
    assert log.creates == {"voice": 1}


def test_a_failed_training_is_not_repeated_unless_told(go, add, log, out):
    add("ada")
    log.fault(on="asset", effect="expired")
    [person] = go().people
    assert (person.status, person.voice.status) == ("failed", "error")
    assert person.voice.error_message in person.reasons[0]
    assert go().people[0].status == go(dry_run=True).people[0].status == "failed"
    assert log.creates == {"voice": 1}
    with Journal.of(out) as journal:
        resolve_retry(journal, person.voice.key)
    assert go().people[0].status == "voice_only"
    assert log.creates == {"voice": 2}


def test_a_key_that_may_not_create_voices(go, add, log, connection, sandbox):
    add("ada")
    [person] = go(connection=replace(connection, api_key=sandbox.service_key)).people
    assert person.status == "failed"
    assert "user-scoped" in person.reasons[0]
    assert go().people[0].status == "voice_only"


def test_without_a_callback_a_replica_is_left_waiting(go, add, log, out, connection):
    add("ada", voice=False, portrait=True, settings='stock_voice = "gloria"')
    mute = replace(connection, callback_url="http://127.0.0.1:9")
    [person] = go(connection=mute, pace=Pace(wait_s=0.1)).people
    assert (person.status, person.replica.status) == ("waiting", "started")
    assert "no callback has told its end yet" in person.reasons[0]
    body = {"replica_id": person.replica.id, "status": "completed"}
    with Journal.of(out) as journal:
        into_journal(journal)(Delivery(tag=None, event=None, body=body))
        assert status(out).people[0].status == "waiting"
        assert status(out).head.unclaimed_callbacks == 1


def test_a_late_callback_turns_waiting_into_done(go, add, out, connection, sandbox):
    add("ada", voice=False, portrait=True, settings='stock_voice = "gloria"')
    mute = replace(connection, callback_url="http://127.0.0.1:9")
    [person] = go(connection=mute, pace=Pace(wait_s=0.1)).people
    body = {"replica_id": person.replica.id, "status": "error", "error_message": "no consent"}
    with Journal.of(out) as journal:
        into_journal(journal)(Delivery(tag=None, event=parse_event(body), body=body))
    [result] = status(out).people
    assert (result.status, result.replica_status) == ("failed", "error")
    assert "no consent" in result.reasons[0]
    report = write_report(out)
    assert "no consent" in report.read_text()


def test_a_persons_own_callback_is_not_waited_for(go, add, log):
    add("ada", portrait=True, voice=False,
        settings='stock_voice = "gloria"\ncallback_url = "http://127.0.0.1:9/mine"')  # fmt: skip
    [person] = go().people
    assert person.status == "waiting"
    # By these words `palprep run` knows what comes next.
    assert "is in training: the service will tell http://127.0.0.1:9/mine" in person.reasons[0]


def test_nobody_waits_later_for_a_callback_that_goes_elsewhere(go, add, out, connection):
    own = 'callback_url = "http://127.0.0.1:9/mine"'
    ada = add("ada", portrait=True, voice=False, settings=f'stock_voice = "gloria"\n{own}')
    [person] = go().people
    began = time.monotonic()
    watch(out, connection=connection, pace=PACE)
    assert time.monotonic() - began < PACE.wait_s / 2
    # The address of the request counts, and not what person.toml says by now.
    (ada / "person.toml").write_text('stock_voice = "gloria"')
    add("bob")
    ada, bob = go().people
    assert (ada.replica.id, bob.status) == (person.replica.id, "voice_only")
    assert "will tell your own address" in ada.reasons[0]
