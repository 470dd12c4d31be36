"""From prepared files to a verdict, a voice and a replica, against a real sandbox.

Every test is done by both clients: the functions are the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import threading

import anyio
import httpx
import pytest
from likeness import judge_likeness
from raw import JPEG, MP4, WAV

from palprep.client import AsyncClient, Client
from palprep.consent.facts import ConsentFacts
from palprep.dossier.files import keep_dossier, read_dossier
from palprep.errors import JournalError, OutcomeUnknown, PublishError, UsageError, WaitTimeout
from palprep.facts.facts import Facts
from palprep.journal.creations import Creation, CreationState
from palprep.journal.entries import ConsentWaived
from palprep.journal.inbox import callback_server
from palprep.journal.resolve import resolve_retry
from palprep.journal.store import Journal
from palprep.media.source import Source
from palprep.pipelines import make as pipelines
from palprep.pipelines.creation import MakeOptions
from palprep.pipelines.make import make_replica, make_voice, validate_face
from palprep.pipelines.requests import ReplicaRequest, VoiceRequest
from palprep.preflight.prepared import Prepared
from palprep.publish.publishers import SandboxPublisher
from palprep.rules.consent import CONSENT_CHECKS
from palprep.rules.report import Check, Report
from palprep.sandbox import Choices, Sandbox
from palprep.values import Outcome

ADA = VoiceRequest(voice_name="Ada")


def spoken(outcome):
    """The check of the statement's words."""
    return Check(id="consent_spoken", label="Consent statement", outcome=outcome, measured="x")


GIVEN = (spoken(Outcome.PASS),)
"""The checks of a video in which consent was heard."""


@pytest.fixture
def sandbox():
    with Sandbox(choices=Choices(voice_seconds=0.2, replica_seconds=0.2)) as running:
        yield running


@pytest.fixture
def client(sandbox):
    with Client(api_key=sandbox.user_key, base_url=sandbox.url) as opened:
        yield opened


@pytest.fixture(params=["sync", "async"])
def call(request, sandbox, client):
    """``call(function, *arguments)``: with the one client or the other."""

    def with_client(function, *arguments, **options):
        return function(client, *arguments, **options)

    def with_async_client(function, *arguments, **options):
        async def go():
            async with AsyncClient(api_key=sandbox.user_key, base_url=sandbox.url) as opened:
                return await function(opened, *arguments, **options)

        return asyncio.run(go())

    return with_client if request.param == "sync" else with_async_client


@pytest.fixture
def publisher(sandbox):
    with SandboxPublisher(sandbox.url) as opened:
        yield opened


@pytest.fixture
def journal():
    with Journal() as opened:
        yield opened


@pytest.fixture
def callbacks(journal):
    with callback_server(journal) as server:
        yield server


@pytest.fixture
def ready(tmp_path):
    """``ready(name, content, checks)``: a prepared file; without checks its consent is apart."""

    def prepared(name, content, checks=()):
        path = tmp_path / name
        path.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        return Prepared(
            source=str(path), path=str(path), fixes=(),
            report=Report(path=str(path), role=None, profile="core-4", checks=checks or (),
                          left_out=() if checks is not None else tuple(CONSENT_CHECKS)),
            sha256=digest, source_sha256=digest,
        )  # fmt: skip

    return prepared


def fault(sandbox, **wanted):
    reply = httpx.post(f"{sandbox.url}/_sandbox/faults", json=[wanted], trust_env=False)
    assert reply.is_success, reply.text


def creates(sandbox):
    log = httpx.get(f"{sandbox.url}/_sandbox/log", trust_env=False).json()
    return {kind: count for kind, count in log["creates"].items() if count}


def test_the_services_verdict_on_a_portrait(call, ready):
    verdict = call(validate_face, ready("face.jpg", JPEG))
    assert verdict.passed
    assert verdict.model == "core-4"
    assert [check.id for check in verdict.checks] == ["image_quality_acceptable"]
    small = call(validate_face, ready("small.jpg", JPEG[:200]), model="core-4.5")
    assert not small.passed
    assert not small.checks[0].passed


def test_a_voice_is_waited_for(call, client, publisher, ready):
    request = VoiceRequest(voice_name="Ada", description="d", tags=("one", "two"))
    voice = call(make_voice, publisher, ready("voice.wav", WAV), request)
    assert voice.ended
    record = client.voices.get(voice.id)
    assert (voice.state, record.status) == ("completed", "completed")
    assert (record.voice_name, record.description, record.tags) == ("Ada", "d", ("one", "two"))


def test_a_voice_that_fails_says_why(call, publisher, ready):
    voice = call(make_voice, publisher, ready("voice.wav", b"no sound"), ADA)
    assert voice.state == "error"
    assert voice.error_message


def test_a_voice_that_takes_too_long(call, publisher, ready):
    with pytest.raises(WaitTimeout, match=r"training of the voice .* not ended after 0 s") as late:
        call(make_voice, publisher, ready("v.wav", WAV), ADA, timeout_s=0)
    assert late.value.last.state == "started"


def test_a_callback_is_heard_before_the_next_poll(
    call, sandbox, client, publisher, callbacks, journal, ready
):
    call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=journal, callbacks=callbacks)
    log = httpx.get(f"{sandbox.url}/_sandbox/log", trust_env=False).json()
    polls = [each for each in log["requests"] if each["method"] == "GET"]
    assert len(polls) == 1


@pytest.mark.parametrize("kept", ["journal", "folder"])
def test_with_a_journal_nothing_is_created_twice(
    call, sandbox, publisher, journal, ready, tmp_path, kept
):
    given = journal if kept == "journal" else tmp_path / "made"
    first = call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=given)
    again = call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=given)
    assert (again.id, again.state) == (first.id, "completed")
    assert creates(sandbox) == {"voice": 1}
    call(make_voice, publisher, ready("v.wav", WAV + b"1"), ADA, journal=given)
    assert creates(sandbox) == {"voice": 2}


def test_a_folder_that_another_process_makes_in_is_named(call, publisher, ready, tmp_path):
    with (
        Journal.of(tmp_path, lock=True, create=True),
        pytest.raises(JournalError, match="Another run is using"),
    ):
        call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=tmp_path)


def test_a_lost_answer_is_raised_and_not_repeated(call, sandbox, publisher, journal, ready):
    fault(sandbox, on="request", endpoint="voices.create", drop="after_commit")
    for _ in range(2):
        with pytest.raises(OutcomeUnknown, match="`palprep status` to resolve voice-") as lost:
            call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=journal)
        assert lost.value.call["voice_name"] == "Ada"
    assert creates(sandbox) == {"voice": 1}
    [creation] = journal.creations()
    resolve_retry(journal, creation.key)
    call(make_voice, publisher, ready("v.wav", WAV), ADA, journal=journal)
    assert creates(sandbox) == {"voice": 2}


def test_a_callback_resolves_a_lost_answer(call, sandbox, publisher, callbacks, journal, ready):
    fault(sandbox, on="request", endpoint="voices.create", drop="after_commit")
    voice = call(
        make_voice, publisher, ready("v.wav", WAV), ADA, journal=journal, callbacks=callbacks
    )
    assert voice.state == "completed"
    assert creates(sandbox) == {"voice": 1}


@pytest.fixture
def alike(monkeypatch):
    """``alike(cosine)``: what the comparison of any two faces gives."""

    def say(cosine):
        checks = (judge_likeness("one", "other", cosine),)
        monkeypatch.setattr(pipelines, "same_person", lambda paths: checks)

    return say


def test_a_replica_is_waited_for_by_its_callback(
    call, client, publisher, callbacks, journal, ready, alike
):
    alike(0.9)
    replica = call(
        make_replica, publisher, ReplicaRequest(replica_name="Ada"),
        video=ready("training.mp4", MP4, None), consent=ready("consent.mp4", MP4 + b"1", GIVEN),
        journal=journal, callbacks=callbacks, timeout_s=20,
    )  # fmt: skip
    assert replica.state == "completed"
    assert client.unspecified.get_replica(replica.id).status == "completed"


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
    with pytest.raises(UsageError, match=r"Same person in one and other is 0\.1"):
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


class Refusing:
    """A publisher that tells when it is asked."""

    def publish(self, file, name=None):
        raise PublishError(f"asked to publish {file.path}")


def test_a_replica_from_an_image(call, publisher, callbacks, journal, ready):
    request = ReplicaRequest(replica_name="Ada", voice_name="gloria", auto_fix_training_image=True)
    replica = call(
        make_replica, publisher, request, image=ready("face.jpg", JPEG), journal=journal,
        callbacks=callbacks, timeout_s=20,
    )  # fmt: skip
    assert replica.state == "completed"


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


def test_without_callbacks_nothing_is_waited_for(call, publisher, ready):
    video, request = ready("t.mp4", MP4, GIVEN), ReplicaRequest(replica_name="Ada")
    replica = call(make_replica, publisher, request, video=video)
    assert (replica.state, replica.ended) == ("started", False)


def test_a_replica_can_be_asked_for(call, publisher, ready):
    video, request = ready("t.mp4", MP4, GIVEN), ReplicaRequest(replica_name="Ada")
    asking = MakeOptions(ask_for_replicas=True)
    assert call(make_replica, publisher, request, video=video, options=asking).state == "completed"


def test_callbacks_need_their_journal(call, publisher, callbacks, ready):
    with pytest.raises(UsageError, match="give the same journal"):
        call(make_voice, publisher, ready("v.wav", WAV), ADA, callbacks=callbacks)


@pytest.mark.parametrize("files", [(), ("video", "image"), ("consent",), ("consent", "image")])
def test_a_replica_has_one_source(call, publisher, ready, files):
    media = {name: ready(f"{name}.mp4", MP4) for name in files}
    request = ReplicaRequest(replica_name="Ada", voice_name="gloria")
    with pytest.raises(UsageError, match="Give a video"):
        call(make_replica, publisher, request, **media)


def test_an_image_needs_a_stock_voice(call, publisher, ready):
    request = ReplicaRequest(replica_name="Ada")
    with pytest.raises(UsageError, match="needs voice_name"):
        call(make_replica, publisher, request, image=ready("f.jpg", JPEG))


def test_steps_are_told_and_can_be_stopped(call, publisher, callbacks, journal, ready):
    told = []
    options = MakeOptions(person="ada", tell=told.append)
    wav, kept = ready("v.wav", WAV), {"journal": journal, "callbacks": callbacks}
    call(make_voice, publisher, wav, ADA, options=options, **kept)
    assert told == ["publish for voice", "create voice", "wait for voice"]
    assert [creation.person for creation in journal.creations()] == ["ada"]

    def stop():
        raise PublishError("stopped")

    with pytest.raises(PublishError, match="stopped"):
        call(
            make_voice, publisher, ready("w.wav", WAV + b"1"), ADA,
            options=MakeOptions(checkpoint=stop), **kept,
        )  # fmt: skip
    assert len(journal.creations()) == 1


async def test_an_upload_does_not_hold_up_other_tasks(sandbox, publisher, ready):
    """A publisher that waits for another task of the same event loop would wait for ever."""
    other_ran = threading.Event()

    class Patient:
        def publish(self, file, name=None):
            assert other_ran.wait(10)
            return publisher.publish(file, name)

    async def other():
        await anyio.sleep(0.05)
        other_ran.set()

    async with (
        AsyncClient(api_key=sandbox.user_key, base_url=sandbox.url) as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(other)
        voice = await make_voice(client, Patient(), ready("v.wav", WAV), ADA)
    assert voice.state is CreationState.COMPLETED


def test_signatures_say_what_comes_out():
    signature = inspect.signature(make_voice)
    assert signature.return_annotation is Creation
    assert list(signature.parameters)[:4] == ["client", "publisher", "prepared", "request"]
    assert make_voice.__doc__.startswith("Publish a recording")
