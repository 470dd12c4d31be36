"""Making and waiting apart: everything is asked for, and trainings are watched by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from scripted_engine import Scripted
from standings import status

from palprep.batch.work.connection import Connection, Remote
from palprep.batch.work.context import Reporter, Stop, Tell
from palprep.batch.work.pace import Pace
from palprep.batch.work.waiting import Watch, watch
from palprep.errors import (
    AuthenticationError,
    CreationUnrecorded,
    InvalidRequest,
    JournalError,
    UsageError,
)
from palprep.journal import Journal
from palprep.journal.entries.bodies import CalledBack, Created, Intent, Snapshot
from palprep.journal.runs import PersonOutcome
from palprep.sandbox import Sandbox

from .conftest import another_recording

NOT_AT_ALL = Pace(wait_s=0, doubt_wait_s=0)


@pytest.fixture
def sandbox(tmp_path) -> Iterator[Sandbox]:
    """A service whose trainings end when the test says so."""
    with Sandbox(data=tmp_path / "service", clock="virtual") as running:
        yield running


@pytest.fixture
def mute(connection: Connection) -> Connection:
    """No callback arrives: the service is asked."""
    return replace(connection, callback_url="http://127.0.0.1:9")


def advance(sandbox: Sandbox, seconds: float) -> None:
    reply = httpx.post(f"{sandbox.url}/_sandbox/clock", json={"advance": seconds}, trust_env=False)
    assert reply.is_success, reply.text


def statuses(seen) -> set[str]:
    return {person.status for person in seen.people}


def questions(log) -> int:
    return sum(request.startswith("GET /v2/voices/") for request in log.requests)


def test_more_people_than_threads_are_asked_for_before_any_training_ends(go, add, log, mute):
    for number in range(20):
        add(f"person-{number:02}", settings=f'name = "P{number}"')
    seen = go(connection=mute, pace=NOT_AT_ALL)
    assert statuses(seen) == {"waiting"}
    assert log.creates == {"voice": 20}
    assert all("is in training: `palprep watch`" in p.reasons[0] for p in seen.people)


def test_watch_goes_on_later_and_asks_each_once_when_there_is_no_time(
    go, add, log, mute, sandbox, out
):
    add("ada")
    add("bob", settings='name = "Bob"')
    go(connection=mute, pace=NOT_AT_ALL)
    before, asked = (out / "results.jsonl").read_bytes(), questions(log)
    assert statuses(watch(out, connection=mute, pace=NOT_AT_ALL)) == {"waiting"}
    assert questions(log) == asked + 2
    assert (out / "results.jsonl").read_bytes() == before
    advance(sandbox, 100_000)
    told = []
    seen = watch(out, connection=mute, pace=NOT_AT_ALL, tell=told.append)
    assert statuses(seen) == {"voice_only"}
    assert {(p.person, p.status) for p in told if p.status} == {
        ("ada", "voice_only"),
        ("bob", "voice_only"),
    }
    assert (out / "results.jsonl").read_bytes() != before
    assert statuses(status(out)) == {"voice_only"}
    assert log.creates == {"voice": 2}


def test_a_training_of_hours_is_asked_about_ever_more_rarely(go, add, log, mute, out, monkeypatch):
    add("ada")
    go(connection=mute, pace=NOT_AT_ALL)
    asked = questions(log)
    monkeypatch.setattr("palprep.batch.work.waiting.LOOK_EVERY_S", 0.0)
    clock = itertools.count(step=5.0)
    hours = replace(mute, clock=lambda: float(next(clock)), random=lambda: 1.0)
    watch(out, connection=hours, pace=Pace(wait_s=4 * 3600))
    # After 1 s, 2.5 s, 4.75 s ..., at last every 300 s; a look at the clock moves it.
    assert 30 < questions(log) - asked < 70


def test_many_trainings_share_the_questions(go, add, log, mute, out, monkeypatch):
    for number in range(10):
        add(f"person-{number}", settings=f'name = "P{number}"')
    go(connection=mute, pace=NOT_AT_ALL)
    # What has just begun is asked about when its turn comes.
    assert questions(log) == 0
    monkeypatch.setattr("palprep.batch.work.waiting.LOOK_EVERY_S", 0.0)
    monkeypatch.setattr("palprep.batch.work.waiting._QUESTIONS_PER_S", 0.05)
    clock = itertools.count(step=1.0)
    hours = replace(mute, clock=lambda: float(next(clock)), random=lambda: 1.0)
    watch(out, connection=hours, pace=Pace(wait_s=1000))
    # One whether it answers at all. Each at once, and then every 200 s; alone, some 15 times.
    assert 1 + 10 * 3 <= questions(log) <= 1 + 10 * 7


def test_a_service_that_asks_to_wait_is_asked_no_earlier(go, add, log, mute, out, monkeypatch):
    add("ada")
    go(connection=mute, pace=NOT_AT_ALL)
    log.fault(
        on="request", endpoint="voices.get", status=429, times=1000,
        headers={"retry-after": "3600"}, body={"error": "full"}, skip=1,
    )  # fmt: skip
    asked = questions(log)
    monkeypatch.setattr("palprep.batch.work.waiting.LOOK_EVERY_S", 0.0)
    clock = itertools.count(step=5.0)
    hours = replace(mute, clock=lambda: float(next(clock)), random=lambda: 1.0)
    watch(out, connection=hours, pace=Pace(wait_s=4 * 3600))
    # One whether it answers at all.
    assert 1 + 3 <= questions(log) - asked <= 1 + 4


def test_a_watch_needs_a_run_of_the_same_service(go, add, mute, out, tmp_path):
    with pytest.raises(JournalError, match="There is no journal"):
        watch(tmp_path / "gone", connection=mute)
    add("ada")
    go(connection=mute, pace=NOT_AT_ALL)
    with pytest.raises(UsageError, match=f"The last run used {mute.base_url}"):
        watch(out, connection=replace(mute, base_url="https://api.example.com"))
    with pytest.raises(UsageError, match="No API key for"):  # The same service.
        watch(out)
    assert watch(out, connection=replace(mute, base_url=None), pace=NOT_AT_ALL).people


def test_only_so_many_are_created_and_the_next_run_goes_on(go, add, log, mute):
    for number in range(3):
        place = add(f"person-{number}", settings=f'name = "P{number}"')
        another_recording(place, at=5000 + number)
    seen = go(connection=mute, pace=replace(NOT_AT_ALL, max_creates=2))
    assert log.creates == {"voice": 2}
    assert statuses(seen) == {"waiting"}
    held = [person for person in seen.people if person.voice is None or not person.voice.id]
    assert len(held) == 1
    assert held[0].reasons == (
        "Not asked for: this run may create 2 at most. Run the same command again",
    )
    go(connection=mute, pace=replace(NOT_AT_ALL, max_creates=2))
    assert log.creates == {"voice": 3}


def test_a_voice_that_is_refused_keeps_no_replica_from_being_asked_for(go, add, log, mute):
    add("ada", portrait=True, settings='stock_voice = "gloria"')
    log.fault(on="request", endpoint="voices.create", status=400, body={"error": "not today"})
    [person] = go(connection=mute, pace=NOT_AT_ALL).people
    assert person.status == "failed"
    assert "not today" in person.reasons[0]
    assert log.creates == {"replica": 1}


def test_what_the_service_takes_no_more_of_is_not_asked_for_again(go, add, log, mute):
    for number in range(20):
        add(f"person-{number:02}", settings=f'name = "P{number}"')
    log.fault(
        on="request", endpoint="voices.create", status=429, times=1000,
        headers={"retry-after": "86400"}, body={"error": "full"},
    )  # fmt: skip
    seen = go(connection=mute, pace=NOT_AT_ALL)
    sent = sum(request == "POST /v2/voices" for request in log.requests)
    assert 0 < sent < 20
    assert log.creates == {}
    assert any("The service takes no more for now" in p.reasons[0] for p in seen.people)
    assert statuses(seen) == {"waiting"}


def test_a_verdict_that_the_service_takes_no_question_about_now_is_asked_for_again(
    go, add, log, mute
):
    add("ada", portrait=True, settings='stock_voice = "gloria"')
    log.fault(
        on="request", endpoint="faces.validate_image", status=429,
        headers={"retry-after": "3600"}, body={"error": "full"},
    )  # fmt: skip
    [ada] = go(connection=mute, pace=NOT_AT_ALL).people
    assert (ada.status, log.creates) == ("waiting", {})
    assert "wait 1 h" in ada.reasons[0]
    go(connection=mute, pace=NOT_AT_ALL)
    assert log.creates == {"voice": 1, "replica": 1}


def test_ids_that_could_not_be_recorded_are_all_told(go, add, log, mute, monkeypatch):
    for name in ("ada", "bob"):
        add(name)
    append = Journal.append

    def full(self, body, **options):
        if isinstance(body, Created):
            raise JournalError("The disk is full: free some space")
        return append(self, body, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", full)
        with pytest.raises(CreationUnrecorded) as caught:
            go(connection=mute, pace=NOT_AT_ALL)
    ids = log.voice_ids()
    assert len(ids) >= 1
    assert all(f"{each} was created for" in caught.value.message for each in ids)


def test_a_voice_that_the_service_does_not_tell_of_is_said_so(go, add, log, mute, out):
    add("ada")
    log.fault(on="request", endpoint="voices.get", status=404, body={"message": "gone"}, skip=1)
    told = []
    [person] = go(connection=mute, pace=Pace(wait_s=5), tell=told.append).people
    assert person.status == "failed"
    assert "gone" in person.reasons[0]
    assert (told[-1].person, told[-1].status) == ("ada", "failed")
    assert statuses(go(connection=mute, pace=NOT_AT_ALL)) == {"waiting"}
    assert log.creates == {"voice": 1}


WAITS = PersonOutcome(status="waiting", complete=True)


@pytest.fixture
def journal():
    with Journal() as opened:
        yield opened


def watching_ada(journal: Journal, tell: Tell) -> Watch:
    """Whose voice is in training."""
    journal.append(Intent(what="voice", request={}), person="ada", key="v")
    journal.append(Created(snapshot=Snapshot(id="v1", status="started")), person="ada", key="v")
    remote = Remote(Connection(), None, None)
    made = Watch(journal, remote, Pace(), lambda who: Reporter(who, tell, Stop()))
    made.add("ada", WAITS, journal.creations())
    return made


def test_a_journal_that_cannot_be_written_is_no_persons_failure(journal, monkeypatch):
    def full(*_):
        raise JournalError("The disk is full")

    told = []
    made = watching_ada(journal, told.append)
    monkeypatch.setattr("palprep.batch.work.waiting.ask_state", full)
    with pytest.raises(JournalError, match="disk is full"):
        made.step()
    assert {each.status for each in told} == {None}


def test_an_error_about_a_training_that_ended_meanwhile_is_nobodys(journal, monkeypatch):
    """Two people share the voice. The second one comes while the service is asked about it."""
    told = []
    made = watching_ada(journal, told.append)

    def asked(*_):
        ended = CalledBack(snapshot=Snapshot(id="v1", status="completed"))
        journal.append(ended, person="ada", key="v")
        made.add("bob", WAITS, before)
        raise InvalidRequest("gone")

    before = journal.creations()
    monkeypatch.setattr("palprep.batch.work.waiting.ask_state", asked)
    made.step()
    made.close()
    assert {(each.person, each.status) for each in told if each.status} == {
        ("ada", "voice_only"),
        ("bob", "voice_only"),
    }


def test_a_watch_with_a_wrong_key_fails_nobody(go, add, log, mute, sandbox, out):
    add("ada")
    go(connection=mute, pace=NOT_AT_ALL)
    with pytest.raises(AuthenticationError):
        watch(out, connection=replace(mute, api_key="wrong"), pace=NOT_AT_ALL)
    advance(sandbox, 100_000)
    assert statuses(watch(out, connection=mute, pace=NOT_AT_ALL)) == {"voice_only"}


def test_a_watch_tells_what_is_left_to_redo(go, add, log, mute, sandbox, out):
    add("ada", training=True)
    go(connection=mute, pace=NOT_AT_ALL, engine=Scripted("fail"))
    advance(sandbox, 100_000)
    told = []
    [person] = watch(out, connection=mute, pace=NOT_AT_ALL, tell=told.append).people
    assert (person.status, told[-1].status) == ("redo", "redo")
    assert told[-1].reasons == person.reasons


def test_who_cannot_be_asked_about_still_has_the_rest_to_redo(go, add, log, mute, out):
    add("ada", training=True)
    go(connection=mute, pace=NOT_AT_ALL, engine=Scripted("fail"))
    log.fault(on="request", endpoint="voices.get", status=404, body={"message": "gone"}, skip=1)
    [person] = watch(out, connection=mute, pace=NOT_AT_ALL).people
    assert person.status == "failed"
    assert "Only the voice is made" in " ".join(person.reasons)


def test_under_test_run_and_watch_wait_by_the_clock_of_the_sandbox(
    go, add, out, sandbox, monkeypatch
):
    """Nobody else moves it: by a clock of their own, they would wait in vain."""
    monkeypatch.setenv("PALPREP_TIME", "sandbox")
    there, minute = Connection(base_url=sandbox.url, api_key=sandbox.user_key), Pace(wait_s=60)
    add("ada")
    assert statuses(go(connection=there, pace=minute)) == {"voice_only"}
    add("grace")
    assert statuses(go(connection=there, pace=NOT_AT_ALL)) == {"voice_only", "waiting"}
    assert statuses(watch(out, connection=there, pace=minute)) == {"voice_only"}
