"""The consent gate of make_replica, with both clients: what goes on, and what a waiver records."""

from __future__ import annotations

import hashlib

import pytest
from raw import MP4
from refusing import Refusing
from stated import GIVEN, spoken

from palprep.consent.facts import ConsentFacts
from palprep.dossier.files import keep_dossier, read_dossier
from palprep.errors import PublishError, UsageError
from palprep.facts.facts import Facts
from palprep.journal.entries import ConsentWaived
from palprep.media.source import Source
from palprep.pipelines import make as pipelines
from palprep.pipelines.make import make_replica
from palprep.pipelines.requests import ReplicaRequest
from palprep.preflight.prepared import Prepared
from palprep.rules.report import Report
from palprep.values import Outcome

HEARD = {
    **{outcome.value: (spoken(outcome),) for outcome in Outcome},
    "no check": (),
    "left out": None,
}
"""What the report of a video can hold of the statement."""


def in_either(ready, heard, *, apart):
    """A video that states its consent, or a consent video next to one that nobody asked."""
    if not apart:
        return {"video": ready("t.mp4", MP4, HEARD[heard])}
    asked_no_one = ready("t.mp4", MP4, (spoken(Outcome.UNKNOWN),))
    return {"video": asked_no_one, "consent": ready("c.mp4", MP4 + b"1", HEARD[heard])}


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("heard", HEARD)
def test_only_heard_and_matching_consent_is_even_uploaded(call, ready, alike, heard, apart):
    alike(0.9)
    files, request = in_either(ready, heard, apart=apart), ReplicaRequest(replica_name="Ada")
    goes_on = heard in {"pass", "warn"}
    refusal = r"No replica is made: .*\.mp4: .*without_consent=True"
    expected = (PublishError, "asked to publish") if goes_on else (UsageError, refusal)
    with pytest.raises(expected[0], match=expected[1]):
        call(make_replica, Refusing(), request, **files)
    with pytest.raises(PublishError):
        call(make_replica, Refusing(), request, without_consent=True, **files)


def test_without_consent_no_face_is_compared(call, ready, monkeypatch):
    monkeypatch.setattr(pipelines, "same_person", None)
    files = in_either(ready, "unknown", apart=True)
    with pytest.raises(UsageError, match="is not known"):
        call(make_replica, Refusing(), ReplicaRequest(replica_name="Ada"), **files)


@pytest.mark.parametrize("heard", ["pass", "fail", "no check"])
def test_a_waiver_is_in_the_journal(call, publisher, journal, ready, heard):
    files, request = in_either(ready, heard, apart=False), ReplicaRequest(replica_name="Ada")
    replica = call(make_replica, publisher, request, without_consent=True, journal=journal, **files)
    waived = [entry for entry in journal.entries(ConsentWaived) if entry.key == replica.key]
    assert len(waived) == (0 if heard == "pass" else 1)
    assert all("t.mp4: " in entry.body.why[0] for entry in waived)


@pytest.mark.parametrize("without_consent", [True, False])
def test_a_consent_video_of_another_person_is_refused(call, ready, alike, without_consent):
    alike(0.1)
    video, consent = ready("t.mp4", MP4), ready("c.mp4", MP4 + b"1", GIVEN)
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(UsageError, match="one and other show different people"):
        call(
            make_replica, Refusing(), request, video=video, consent=consent,
            without_consent=without_consent,
        )  # fmt: skip


def test_faces_that_were_compared_before_are_not_compared_again(call, ready, monkeypatch):
    monkeypatch.setattr(pipelines, "same_person", None)
    video, consent = ready("t.mp4", MP4), ready("c.mp4", MP4 + b"1", GIVEN)
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(PublishError):
        call(make_replica, Refusing(), request, video=video, consent=consent, compared=())


def test_a_waiver_is_in_the_dossier_next_to_the_video(call, publisher, journal, tmp_path):
    heard = ConsentFacts(
        outcome="fail", transcript="", starts_at=None, ends_at=None, words=(), reasons=("No.",),
        statement="I", full_name="Ada", language="en",
    )  # fmt: skip
    path = tmp_path / "t.mp4"
    path.write_bytes(MP4)
    digest = hashlib.sha256(MP4).hexdigest()
    facts = Facts(file=Source.of(path).facts, consent=heard)
    video = Prepared(
        source=str(path), path=str(path), fixes=(), sha256=digest, source_sha256=digest,
        report=Report(path=str(path), role=None, profile="core-4", facts=facts,
                      checks=(spoken(Outcome.FAIL),)),
    )  # fmt: skip
    dossier = keep_dossier(video, person="ada", written_at=journal.now())
    request = ReplicaRequest(replica_name="Ada")
    for _ in range(2):
        call(make_replica, publisher, request, video=video, without_consent=True, journal=journal)
        assert [entry.kind for entry in read_dossier(dossier).entries] == ["evidence", "waiver"]
