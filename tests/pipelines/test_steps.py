"""The steps from prepared files to a verdict, a voice and a replica, against a real sandbox."""

from __future__ import annotations

import hashlib
import threading

import httpx
import pytest
from pydantic import ValidationError
from raw import JPEG, MP4, WAV

from palprep.callbacks.server import CallbackServer, Inbox
from palprep.client import Client
from palprep.errors import PublishError, UsageError, WaitTimeout
from palprep.pipelines import steps as pipelines
from palprep.pipelines.steps import (
    ReplicaRequest,
    ReplicaUrls,
    VoiceRequest,
    make_replica,
    make_voice,
    validate_face,
    wait_for_callback,
)
from palprep.preflight.prepared import Prepared
from palprep.publish.publishers import SandboxPublisher
from palprep.rules.report import Check, Report
from palprep.rules.same_person import judge_likeness
from palprep.sandbox import Choices, Sandbox
from palprep.values import Outcome


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(choices=Choices(voice_seconds=0.2, replica_seconds=0.2)) as running:
        yield running


@pytest.fixture
def client(sandbox):
    with Client(api_key=sandbox.user_key, base_url=sandbox.url) as opened:
        yield opened


@pytest.fixture
def publisher(sandbox):
    opened = SandboxPublisher(sandbox.url)
    yield opened
    opened.close()


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def callbacks(inbox):
    with CallbackServer(inbox, nonce="nonce") as server:
        yield server, inbox


@pytest.fixture
def ready(tmp_path):
    """``ready(name, content)``: a prepared file."""

    def prepared(name, content, checks=()):
        path = tmp_path / name
        path.write_bytes(content)
        return Prepared(
            source=str(path), source_sha256=hashlib.sha256(content).hexdigest(),
            path=str(path), fixes=(),
            report=Report(path=str(path), role=None, profile="core-4", checks=checks),
            sha256=hashlib.sha256(content).hexdigest(),
        )  # fmt: skip

    return prepared


def test_the_services_verdict_on_a_portrait(client, ready):
    verdict = validate_face(client, ready("face.jpg", JPEG))
    assert verdict.passed
    assert verdict.model == "core-4"
    assert [check.id for check in verdict.checks] == ["image_quality_acceptable"]
    small = validate_face(client, ready("small.jpg", JPEG[:200]), model="core-4.5")
    assert not small.passed
    assert not small.checks[0].passed


def test_a_voice_is_waited_for(client, publisher, ready):
    wish = VoiceRequest(voice_name="Ada", description="d", tags=("one", "two"))
    made = make_voice(client, publisher, ready("voice.wav", WAV), wish)
    assert made.settled
    record = client.voices.get(made.id)
    assert (made.status, record.status) == ("completed", "completed")
    assert (record.voice_name, record.description, record.tags) == ("Ada", "d", ("one", "two"))


def test_a_voice_that_fails_says_why(client, publisher, ready):
    made = make_voice(
        client, publisher, ready("voice.wav", b"no sound"), VoiceRequest(voice_name="A")
    )
    assert made.status == "error"
    assert made.error_message


def test_a_voice_that_takes_too_long(client, publisher, ready):
    with pytest.raises(WaitTimeout):
        make_voice(
            client, publisher, ready("v.wav", WAV), VoiceRequest(voice_name="A"), timeout_s=0
        )


@pytest.fixture
def alike(monkeypatch):
    """``alike(cosine)``: what the comparison of any two faces gives."""

    def say(cosine):
        checks = (judge_likeness("one", "other", cosine),)
        monkeypatch.setattr(pipelines, "same_person", lambda paths: checks)

    return say


def test_a_replica_is_waited_for_by_its_callback(client, publisher, callbacks, ready, alike):
    alike(0.9)
    made = make_replica(
        client, publisher, ReplicaRequest(replica_name="Ada"),
        video=ready("training.mp4", MP4), consent=ready("consent.mp4", MP4 + b"1"),
        callbacks=callbacks, timeout_s=20,
    )  # fmt: skip
    assert made.status == "completed"
    assert client.unspecified.get_replica(made.id).status == "completed"


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.UNKNOWN])
def test_a_video_without_consent_is_not_even_uploaded(client, ready, outcome):
    spoken = Check(id="consent_spoken", label="Consent statement", outcome=outcome, measured="no")
    video, wish = ready("t.mp4", MP4, (spoken,)), ReplicaRequest(replica_name="Ada")
    publisher = Refusing()
    with pytest.raises(UsageError, match=r"No replica is made of t.mp4: .*without_consent=True"):
        make_replica(client, publisher, wish, video=video)
    with pytest.raises(PublishError):
        make_replica(client, publisher, wish, video=video, without_consent=True)


def test_a_consent_video_of_somebody_else_is_refused(client, ready, alike):
    alike(0.1)
    video, consent = ready("t.mp4", MP4), ready("c.mp4", MP4 + b"1")
    with pytest.raises(UsageError, match=r"shows somebody else, cosine similarity 0\.1"):
        make_replica(
            client, Refusing(), ReplicaRequest(replica_name="Ada"), video=video, consent=consent
        )


class Refusing:
    """A publisher that tells when it is asked."""

    def publish(self, path, name):
        raise PublishError(f"asked to publish {name}")


def test_a_replica_from_an_image(client, publisher, callbacks, ready):
    wish = ReplicaRequest(replica_name="Ada", voice_name="gloria", auto_fix_training_image=True)
    portrait = ready("face.jpg", JPEG)
    made = make_replica(client, publisher, wish, image=portrait, callbacks=callbacks, timeout_s=20)
    assert made.status == "completed"


def test_without_callbacks_nothing_is_waited_for(client, publisher, ready):
    made = make_replica(
        client, publisher, ReplicaRequest(replica_name="Ada"), video=ready("t.mp4", MP4)
    )
    assert (made.status, made.settled) == ("started", False)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((), "Give a video"),
        (("video", "image"), "Give a video"),
        (("consent",), "Give a video"),
    ],
)
def test_a_replica_has_one_source(client, publisher, ready, files, said):
    media = {name: ready(f"{name}.mp4", MP4) for name in files}
    wish = ReplicaRequest(replica_name="Ada", voice_name="gloria")
    with pytest.raises(UsageError, match=said):
        make_replica(client, publisher, wish, **media)


def test_an_image_needs_a_stock_voice(client, publisher, ready):
    with pytest.raises(UsageError, match="needs voice_name"):
        make_replica(
            client, publisher, ReplicaRequest(replica_name="Ada"), image=ready("f.jpg", JPEG)
        )


def test_urls_that_cannot_go_together():
    for urls in ({}, {"train_video_url": "a", "train_image_url": "b"},
                 {"train_image_url": "a", "consent_video_url": "b"}):  # fmt: skip
        with pytest.raises(ValidationError):
            ReplicaUrls(**urls)


def test_waiting_for_a_callback_ends(inbox):
    with pytest.raises(WaitTimeout, match="No callback came within"):
        wait_for_callback(inbox, "tag", timeout_s=0.05)


def test_waiting_ignores_what_has_not_settled(callbacks):
    server, inbox = callbacks

    def post(status):
        httpx.post(server.url_for("tag"), json={"voice_id": "v", "status": status}, trust_env=False)

    post("started")
    sender = threading.Timer(0.1, post, ["error"])
    sender.start()
    assert wait_for_callback(inbox, "tag", timeout_s=20).status == "error"
    sender.join()
