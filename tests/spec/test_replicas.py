"""Replicas: what may be asked, and how training ends."""

from __future__ import annotations

import pytest
from raw import JPEG, MP4, Raw
from receiver import receiving

from palprep.batch.work.sandbox_judges import train
from palprep.sandbox import Sandbox

VIDEO = {"train_video_url": "https://media.example/v.mp4"}
IMAGE = {"train_image_url": "https://media.example/i.jpg", "voice_name": "anna"}


@pytest.fixture(scope="module")
def studio(through):
    """A sandbox whose trainer wants consent: in the second file, or else in the first."""

    def train(kind, paths):
        if kind == "replica-video" and b"I consent" not in paths[-1].read_bytes():
            return "The consent statement is missing."
        return None

    with Sandbox(clock="virtual", trainer=train) as sandbox, through(sandbox) as raw:
        yield raw


def trained(studio, body):
    """The callback's payload once training has ended."""
    with receiving() as receiver:
        created = studio.ok("POST", "/v2/replicas", body | {"callback_url": receiver.url})
        studio.sandbox.advance(10)
        payload = receiver.wait(1)[0].json
    assert payload["replica_id"] == created["replica_id"]
    shown = studio.ok("GET", f"/v2/replicas/{created['replica_id']}")
    assert shown["status"] == payload["status"]
    return payload


@pytest.mark.clause("create-replica.1")
@pytest.mark.clause("create-replica.11")
def test_creation_answers_id_and_started(api):
    for body in (VIDEO, IMAGE):
        created = api.ok("POST", "/v2/replicas", body)
        assert created.keys() == {"replica_id", "status"}
        assert isinstance(created["replica_id"], str)
        assert created["status"] == "started"


@pytest.mark.clause("create-replica.9")
@pytest.mark.clause("create-replica.10")
@pytest.mark.clause("create-replica.8")
@pytest.mark.clause("create-replica.11")
def test_consent_in_the_opening_or_in_its_own_video(studio):
    plain = studio.publish("v.mp4", MP4)
    consenting = studio.publish("c.mp4", MP4 + b"I consent")
    assert trained(studio, {"train_video_url": consenting})["status"] == "completed"
    both = {"train_video_url": plain, "consent_video_url": consenting}
    assert trained(studio, both)["status"] == "completed"
    failed = trained(studio, {"train_video_url": plain})
    assert failed["status"] == "error"
    assert "consent statement" in failed["error_message"]


@pytest.mark.clause("create-replica.8")
@pytest.mark.clause("create-replica.10")
@pytest.mark.clause("create-replica.13")
@pytest.mark.clause("create-replica.14")
@pytest.mark.clause("create-replica.15")
@pytest.mark.clause("create-replica.16")
def test_spoken_consent_is_listened_for(light_people):
    """With the trainer of `palprep sandbox` and `palprep run`, and real videos."""
    person = light_people / "jane-carter"
    with Sandbox(clock="virtual", trainer=train) as sandbox, Raw(sandbox) as raw:
        video = raw.publish("training.mp4", (person / "training.mp4").read_bytes())
        consent = raw.publish("consent.mp4", (person / "consent.mp4").read_bytes())
        failed = trained(raw, {"train_video_url": video})
        assert failed["status"] == "error"
        assert "the required statement was not heard in the opening" in failed["error_message"]
        both = {"train_video_url": video, "consent_video_url": consent}
        assert trained(raw, both)["status"] == "completed"


@pytest.mark.clause("create-replica.9")
def test_training_from_an_image(studio):
    body = {"train_image_url": studio.publish("i.jpg", JPEG), "voice_name": "Gloria"}
    assert trained(studio, body)["status"] == "completed"


@pytest.mark.clause("create-replica.10")
def test_media_that_cannot_be_fetched_end_in_error(studio):
    missing = f"{studio.sandbox.url}/assets/no/v.mp4"
    assert trained(studio, {"train_video_url": missing})["status"] == "error"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (VIDEO | IMAGE, "train_image_url"),
        ({"train_image_url": IMAGE["train_image_url"]}, "voice_name"),
        (IMAGE | {"voice_name": "nobody"}, "voice_name"),
        (VIDEO | {"voice_name": "nobody"}, "voice_name"),
        (VIDEO | {"auto_fix_training_image": "yes"}, "auto_fix_training_image"),
        (VIDEO | {"properties": []}, "properties"),
        (VIDEO | {"surprise": 1}, "surprise"),
        (VIDEO | {"callback_url": "no link"}, "callback_url"),
        ({"replica_name": "n"}, "train_video_url"),
    ],
)
@pytest.mark.clause("create-replica.2")
@pytest.mark.clause("create-replica.3")
@pytest.mark.clause("create-replica.4")
@pytest.mark.clause("create-replica.5")
@pytest.mark.clause("create-replica.6")
def test_refusals_name_the_field_and_create_nothing(api, body, named):
    before = api.ok("GET", "/_sandbox/log")["creates"].get("replica", 0)
    error = api.refused("POST", "/v2/replicas", body)
    assert error.keys() == {"error"}
    assert named in error["error"]
    assert api.ok("GET", "/_sandbox/log")["creates"].get("replica", 0) == before


@pytest.mark.clause("create-replica.4")
@pytest.mark.clause("create-replica.5")
@pytest.mark.clause("create-replica.6")
@pytest.mark.clause("create-replica.7")
@pytest.mark.clause("create-replica.12")
def test_everything_that_may_be_sent(api):
    body = VIDEO | {
        "replica_name": "Ada",
        "consent_video_url": "https://media.example/c.mp4",
        "voice_name": "ANNA",
        "model_name": "core-3",
        "properties": {"anything": [1]},
    }
    created = api.ok("POST", "/v2/replicas", body)
    shown = api.ok("GET", f"/v2/replicas/{created['replica_id']}")
    assert (shown["replica_name"], shown["model_name"]) == ("Ada", "core-3")
    default = api.ok("POST", "/v2/replicas", IMAGE | {"auto_fix_training_image": True})
    shown = api.ok("GET", f"/v2/replicas/{default['replica_id']}")
    assert shown["model_name"] == "core-4"


@pytest.mark.clause("create-replica.17")
def test_an_image_is_fixed_where_that_is_asked_for(through):
    def trainer(kind, paths):
        return None if kind == "replica-image-auto-fix" else "The person is not centered."

    with Sandbox(clock="virtual", trainer=trainer) as sandbox, through(sandbox) as raw:
        image = {"train_image_url": raw.publish("a.jpg", JPEG), "voice_name": "anna"}
        ids = [
            raw.ok("POST", "/v2/replicas", image | {"auto_fix_training_image": fix})["replica_id"]
            for fix in (True, False)
        ]
        sandbox.advance(10)
        shown = [raw.ok("GET", f"/v2/replicas/{each}")["status"] for each in ids]
    assert shown == ["completed", "error"]
