"""``palprep listen``: callbacks into a journal, while nobody runs or beside a run."""

from __future__ import annotations

import json

import httpx
import pytest

from palprep.journal.creations.states import CreationState
from palprep.journal.entries.bodies import CalledBack, Created, Intent, Snapshot
from palprep.journal.inbox import callback_server, secret_path
from palprep.journal.store import Journal

INTENT = Intent(what="replica", request={})


@pytest.fixture
def journal(tmp_path):
    with Journal.of(tmp_path, lock=True, create=True) as run:
        yield run


@pytest.fixture
def listening(journal, tmp_path):
    """The address of a listener beside a run, and what it was told."""
    told = []
    with Journal.of(tmp_path) as opened, callback_server(opened, then=told.append) as server:
        yield server.url_for(), told


def post(url, **body):
    reply = httpx.post(url, content=json.dumps(body), trust_env=False)
    assert reply.status_code == 204


def test_the_address_is_secret_and_stays(journal, listening):
    address, _ = listening
    assert address.rsplit("/", 1)[1] == secret_path(journal)
    assert len(secret_path(journal)) >= 32


def test_the_tag_proves_what_was_in_doubt(journal, listening):
    address, told = listening
    journal.append(INTENT, person="ada", key="replica-1")
    post(f"{address}/replica-1", replica_id="r9", status="completed")
    creation = journal.creation("replica-1")
    assert (creation.state, creation.id) == (CreationState.COMPLETED, "r9")
    [entry] = journal.entries(CalledBack)
    assert entry.person == "ada"
    assert entry.body.received == {"replica_id": "r9", "status": "completed"}
    assert [delivery.tag for delivery in told] == ["replica-1"]


def test_no_presigned_link_that_the_service_quotes_is_kept(journal, listening):
    address, _ = listening
    journal.append(INTENT, person="ada", key="replica-1")
    why = "https://bucket.example/ada.mp4?X-Amz-Signature=hush cannot be fetched"
    post(f"{address}/replica-1", replica_id="r9", status="error", error_message=why)
    assert journal.creation("replica-1").error_message == why.replace("X-Amz-Signature=hush", "***")
    [entry] = journal.entries(CalledBack)
    assert "hush" not in str(entry)


@pytest.mark.parametrize("tag", ["", "/my-own-tag"])
def test_without_a_known_tag_the_id_tells(journal, listening, tag):
    address, _ = listening
    journal.append(INTENT, person="ada", key="replica-1")
    journal.append(Created(snapshot=Snapshot(id="r1", status="started")), key="replica-1")
    post(f"{address}{tag}", replica_id="r1", status="error", error_message="no consent")
    creation = journal.creation("replica-1")
    assert (creation.status, creation.error_message) == ("error", "no consent")


def test_delivered_twice_is_as_good_as_once(journal, listening):
    address, _ = listening
    journal.append(INTENT, person="ada", key="replica-1")
    for _ in range(2):
        post(f"{address}/replica-1", replica_id="r9", status="completed")
    assert journal.creation("replica-1").id == "r9"


def test_what_belongs_to_nothing_is_kept(journal, listening):
    address, _ = listening
    post(f"{address}/unknown", hello="\ud800")
    [entry] = journal.entries(CalledBack)
    assert (entry.person, entry.key, entry.body) == (
        None, "unknown", CalledBack(received={"hello": "\ufffd"}),
    )  # fmt: skip
    assert journal.creations() == ()
