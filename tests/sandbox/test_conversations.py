"""Who may converse, and what a conversation's record holds."""

from __future__ import annotations

import pytest
from raw import MP4


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "pal_id"),
        ({"pal_id": "never"}, "Invalid pal_id"),
        ({"pal_id": ""}, "Invalid pal_id"),
        ({"face_id": "never"}, "Invalid face_id"),
        ({"pal_id": 7}, "pal_id"),
        ({"conversation_name": "n"}, "pal_id"),
    ],
)
def test_refusals(raw, body, says):
    error = raw.refused("POST", "/v2/conversations", body)
    assert error.keys() == {"error"}
    assert says in error["error"]


def test_a_replica_is_a_face_once_it_is_trained(raw):
    url = raw.publish("v.mp4", MP4)
    replica_id = raw.ok("POST", "/v2/replicas", {"train_video_url": url})["replica_id"]
    error = raw.refused("POST", "/v2/conversations", {"face_id": replica_id})
    assert f"{replica_id} is not ready" in error["error"]
    raw.sandbox.advance(3)
    started = raw.ok("POST", "/v2/conversations", {"face_id": replica_id})
    assert (started["status"], started["face_id"]) == ("active", replica_id)


def test_a_voice_that_failed_or_does_not_exist_is_refused(raw):
    voice = raw.voice(training_audio_url="http://127.0.0.1:1/a.wav")
    raw.sandbox.advance(2)
    for voice_id, says in ((voice["voice_id"], "status is error"), ("never", "does not exist")):
        pal_id = raw.fresh("p")
        raw.seed(pals=[{"pal_id": pal_id, "layers": {"tts": {"voice_id": voice_id}}}])
        assert says in raw.refused("POST", "/v2/conversations", {"pal_id": pal_id})["error"]


def test_other_members_are_kept_and_cannot_replace_the_records_own(raw):
    pal_id = raw.fresh("p")
    raw.seed(pals=[{"pal_id": pal_id}])
    body = {"pal_id": pal_id, "language": "en", "status": "ended", "conversation_id": "mine"}
    started = raw.ok("POST", "/v2/conversations", body)
    assert (started["language"], started["status"]) == ("en", "active")
    assert started["conversation_id"] != "mine"


@pytest.mark.parametrize("body", [[], {"arguments": 7}, {"arguments": []}])
def test_arguments_that_are_none_are_said(raw, body):
    reply = raw.send("POST", "/_sandbox/conversations/x/end", body)
    assert reply.status_code == 400
