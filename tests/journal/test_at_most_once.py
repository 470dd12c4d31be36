"""What each error of a create request says about the resource, and what is sent when."""

from __future__ import annotations

import threading
from collections import Counter

import anyio
import httpx
import pytest

from palprep.client import AsyncClient, Client, answered, routine, work
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
from palprep.journal.creations.at_most_once import create_once, fate_of
from palprep.journal.creations.states import Creation, CreationState
from palprep.journal.entries.bodies import AboutCreation, Intent, Snapshot
from palprep.journal.store import JOURNAL_NAME, Journal

REQUEST = {"person": "ada", "what": "voice", "request": {"voice_name": "Ada"}}


@pytest.fixture(params=["file", "memory"])
def journal(request, tmp_path):
    place = tmp_path / JOURNAL_NAME if request.param == "file" else None
    with Journal(place, lock=True, create=True) as opened:
        yield opened


@routine
async def created(client, journal, send, **request) -> Creation:
    """By ``send``, at most once under the key k."""
    request = {**REQUEST, **request}
    return await create_once(client, journal, "k", send=lambda: work(client, send), **request)


@pytest.fixture
def create(journal):
    """``create(send, **request)``: at most once under the key k."""
    with Client(api_key="k", base_url="http://127.0.0.1:9") as client:
        yield lambda send, **request: created(client, journal, send, **request)


@pytest.mark.parametrize(
    ("error", "fate"),
    [
        (InvalidRequest("x", field="voice_name"), "not_created"),
        (ServiceUnreachable("x"), "not_created"),
        (BadRequest("x", status=400), "not_created"),
        (PermissionDenied("x", status=403), "not_created"),
        (RateLimited("x", status=429), "not_created"),
        (ServiceUnavailable("x", status=501), "not_created"),
        (ServiceUnavailable("x", status=500), "doubt"),
        (ServiceUnavailable("x", status=503), "doubt"),
        (OutcomeUnknown("x"), "doubt"),
        (TimedOut("x"), "doubt"),
        (TransportError("x"), "doubt"),
        (UnexpectedReply("x"), "doubt"),
    ],
)
def test_fates(create, journal, error, fate):
    assert fate_of(error).kind == fate
    sent = []

    def send():
        sent.append(1)
        raise error

    if fate == "doubt":
        for _ in range(3):
            assert create(send).state is CreationState.IN_DOUBT
        assert len(sent) == 1
    else:
        for _ in range(3):
            with pytest.raises(type(error)):
                create(send)
        assert len(sent) == 3
    last = journal.entries(AboutCreation, key="k")[-1].body
    assert (last.kind, last.code, last.message) == (fate, error.code, "x")


def test_a_doubt_keeps_what_happened_and_not_the_advice():
    error = OutcomeUnknown("No answer. Look it up.", reason="No answer.")
    assert fate_of(error).message == "No answer."


def test_the_intent_is_recorded_before_the_request_leaves(create, journal):
    def send():
        [entry] = journal.entries(AboutCreation, key="k")
        assert entry.body == Intent(what="voice", request={"voice_name": "Ada"})
        return Snapshot(id="v1", status="started")

    assert create(send).id == "v1"


def test_nothing_leaves_when_the_intent_cannot_be_recorded(create, journal):
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {pages}")
    sent = []
    with pytest.raises(JournalError, match="free some space") as full:
        create(lambda: sent.append(1), request={"text": "x" * 100_000})
    assert (sent, full.value.disk_full) == ([], True)


def test_an_answer_that_cannot_be_recorded_is_told_to_the_user(create, journal):
    def send():
        pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
        journal._connection.execute(f"PRAGMA max_page_count = {pages}")
        return Snapshot(id="v-" + "7" * 50_000, status="started")

    with pytest.raises(JournalError, match=r"v-7+ was created for ada.*--found k=v-7+"):
        create(send)
    assert journal.creation("k").state is CreationState.IN_DOUBT


def test_a_defect_in_between_leaves_a_doubt(create, journal):
    def send():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        create(send)
    assert journal.creation("k").state is CreationState.IN_DOUBT


def test_equal_requests_at_the_same_time_become_one(create):
    sent, made = [], []
    gate = threading.Barrier(6)

    def send():
        sent.append(1)
        return Snapshot(id="v1", status="started")

    def ask_for_it():
        gate.wait()
        made.append(create(send))

    threads = [threading.Thread(target=ask_for_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == 1
    assert {creation.id for creation in made} == {"v1"}


@routine
async def create_voice(client, journal) -> Creation:
    """A voice, created at most once under the key k."""

    async def send() -> Snapshot:
        voice = await answered(client.voices.create(voice_name="Ada"))
        return Snapshot.told(voice.voice_id, voice.status, None)

    return await create_once(client, journal, "k", send=send, **REQUEST)


def client_of(answer):
    """A client whose requests ``answer`` answers."""
    transport = httpx.MockTransport(answer)
    return AsyncClient(api_key="k", base_url="http://127.0.0.1:9", transport=transport)


async def test_equal_requests_of_tasks_in_one_thread_become_one(journal):
    sent, made = [], []

    async def answer(_):
        sent.append(1)
        await anyio.sleep(0.05)
        return httpx.Response(200, json={"voice_id": "v1", "status": "started"})

    async with client_of(answer) as client:

        async def ask_for_it():
            made.append(await create_voice(client, journal))

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                for _ in range(60):
                    tasks.start_soon(ask_for_it)
    assert len(sent) == 1
    assert [creation.id for creation in made] == ["v1"] * 60


async def test_a_task_that_is_cancelled_while_the_request_is_away_leaves_a_doubt(journal):
    async def never(_):
        await anyio.sleep_forever()

    async with client_of(never) as client:
        with anyio.move_on_after(0.2):
            await create_voice(client, journal)
    assert journal.creation("k").state is CreationState.IN_DOUBT
    assert journal.turn("k").acquire(blocking=False)


@routine
async def counted(client, journal, key, sent) -> Creation:
    """A creation under the key; how often it was sent is counted."""

    async def send() -> Snapshot:
        sent[key] += 1
        return Snapshot(id=f"v-{key}", status="started")

    return await create_once(client, journal, key, send=send, **REQUEST)


def test_equal_requests_in_two_journals_of_one_file_become_one(tmp_path):
    """As of two processes: no lock of Python's is between them."""
    Journal.of(tmp_path, create=True).close()
    gate, sent = threading.Barrier(2), Counter()

    def ask_for_all():
        with (
            Journal.of(tmp_path) as journal,
            Client(api_key="k", base_url="http://127.0.0.1:9") as client,
        ):
            for number in range(40):
                gate.wait(30)
                counted(client, journal, str(number), sent)

    threads = [threading.Thread(target=ask_for_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(sent.values()) == [1] * 40
