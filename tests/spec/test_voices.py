"""Voices: their record, their states, and their three endpoints."""

from __future__ import annotations

import re

import pytest
from raw import MP4, WAV

from palprep.sandbox import SERVICE_KEY, Choices

MEMBERS = {
    "voice_id",
    "voice_name",
    "description",
    "voice_type",
    "status",
    "tags",
    "created_at",
}
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")


def read(api, voice):
    return api.ok("GET", f"/v2/voices/{voice['voice_id']}")


@pytest.mark.clause("voice.1")
@pytest.mark.clause("voice.3")
@pytest.mark.clause("voice.6")
@pytest.mark.clause("create-voice.8")
@pytest.mark.clause("voice-states.1")
@pytest.mark.clause("general.2")
def test_create_answers_at_once_with_the_whole_record(api):
    voice = api.voice(description="d", tags=["a", "b"])
    assert voice.keys() == MEMBERS
    assert voice["voice_id"]
    assert isinstance(voice["voice_id"], str)
    assert (voice["voice_name"], voice["description"]) == ("Ada", "d")
    assert (voice["voice_type"], voice["status"], voice["tags"]) == ("user", "started", ["a", "b"])
    assert STAMP.fullmatch(voice["created_at"])


@pytest.mark.clause("voice.2")
@pytest.mark.clause("voice.4")
@pytest.mark.clause("get-voice.1")
@pytest.mark.clause("voice-states.3")
@pytest.mark.clause("voice-states.7")
def test_get_shows_the_current_status(api):
    voice = api.voice()
    assert voice["description"] is None
    assert read(api, voice) == voice
    api.sandbox.advance(5)
    assert read(api, voice) == voice | {"status": "completed"}
    api.sandbox.advance(5000)
    assert read(api, voice)["status"] == "completed"


@pytest.mark.clause("voice.3")
def test_a_catalogue_voice_is_of_type_system(api):
    voice = {"voice_id": api.fresh("v"), "voice_name": "n", "voice_type": "system"}
    api.seed(voices=[voice | {"status": "completed", "tags": []}])
    assert read(api, voice)["voice_type"] == "system"


@pytest.mark.clause("voice.5")
@pytest.mark.clause("voice-states.4")
@pytest.mark.clause("voice-states.6")
@pytest.mark.clause("events.1")
def test_failed_cloning_is_an_error_with_its_message(api, receiver):
    good = api.voice(callback_url=receiver.url)
    bad = api.voice(training_audio_url=api.publish("a.wav", b"no sound"), callback_url=receiver.url)
    assert "error_message" not in bad
    api.sandbox.advance(5)
    assert "error_message" not in read(api, good)
    failed = read(api, bad)
    assert failed["status"] == "error"
    assert failed["error_message"]
    first, second = (request.json for request in receiver.wait(2))
    assert first == {"voice_id": good["voice_id"], "voice_name": "Ada", "status": "completed"}
    assert second == {
        "voice_id": bad["voice_id"],
        "voice_name": "Ada",
        "status": "error",
        "error_message": failed["error_message"],
    }


@pytest.mark.clause("voice-states.5")
@pytest.mark.clause("events.2")
def test_the_event_is_posted_to_callback_url_and_a_duplicate_is_the_same_snapshot(api, receiver):
    api.faults({"on": "callback", "copies": 2})
    api.voice(callback_url=receiver.url + "/here")
    api.sandbox.advance(5)
    one, two = receiver.wait(2)
    assert (one.method, one.path) == ("POST", "/here")
    assert one.headers["content-type"].startswith("application/json")
    assert one.json == two.json


@pytest.mark.clause("create-voice.10")
@pytest.mark.clause("create-voice.4")
def test_the_service_fetches_the_audio_or_the_video_by_its_url(api, receiver):
    receiver.answers += [(200, WAV), (200, MP4)]
    voices = [api.voice(training_audio_url=f"{receiver.url}/{name}") for name in ("a.wav", "v.mp4")]
    api.sandbox.advance(5)
    assert [(r.method, r.path) for r in receiver.wait(2)] == [("GET", "/a.wav"), ("GET", "/v.mp4")]
    assert [read(api, voice)["status"] for voice in voices] == ["completed", "completed"]


ACCEPTED = ("mp3", "wav", "m4a", "flac", "ogg", "oga", "webm", "mp4", "mov", "MP3")


@pytest.mark.parametrize("suffix", ACCEPTED)
@pytest.mark.clause("create-voice.3")
def test_accepted_file_types(api, suffix):
    voice = api.voice(training_audio_url=api.publish(f"a.{suffix}", WAV))
    api.sandbox.advance(5)
    assert read(api, voice)["status"] == "completed"


@pytest.mark.parametrize("suffix", ["aac", "txt", "mkv", "jpg"])
@pytest.mark.clause("create-voice.3")
def test_other_file_types_are_not_accepted(api, suffix):
    voice = api.voice(training_audio_url=api.publish(f"a.{suffix}", WAV))
    api.sandbox.advance(5)
    assert read(api, voice)["status"] == "error"


URL = "https://media.example/a.wav"


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"voice_name": ""}, "voice_name"),
        ({"voice_name": "x" * 256}, "voice_name"),
        ({"training_audio_url": URL + "x" * 2048}, "training_audio_url"),
        ({"training_audio_url": "no link"}, "training_audio_url"),
        ({"description": "x" * 1001}, "description"),
        ({"callback_url": URL + "x" * 2048}, "callback_url"),
        ({"tags": ["t"] * 51}, "tags"),
        ({"tags": ["x" * 65]}, "tags"),
        ({"tags": "t"}, "tags"),
        ({"voice_name": None}, "voice_name"),
    ],
)
@pytest.mark.clause("create-voice.1")
@pytest.mark.clause("create-voice.2")
@pytest.mark.clause("create-voice.5")
@pytest.mark.clause("create-voice.6")
@pytest.mark.clause("create-voice.7")
@pytest.mark.clause("errors.1")
def test_limits_of_create_voice(api, members, named):
    error = api.refused(
        "POST", "/v2/voices", {"voice_name": "Ada", "training_audio_url": URL} | members
    )
    assert error.keys() == {"error"}
    assert named in error["error"]


@pytest.mark.clause("create-voice.1")
@pytest.mark.clause("create-voice.2")
@pytest.mark.clause("create-voice.5")
@pytest.mark.clause("create-voice.6")
@pytest.mark.clause("create-voice.7")
def test_exactly_at_the_limits_is_accepted(api):
    voice = api.voice(
        voice_name="x" * 255,
        training_audio_url=(URL + "?" + "x" * 2048)[:2048],
        callback_url=("http://127.0.0.1:1/" + "x" * 2048)[:2048],
        description="x" * 1000,
        tags=["x" * 64] * 50,
    )
    assert voice["tags"] == ["x" * 64] * 50
    assert len(voice["voice_name"]) == 255


@pytest.mark.clause("create-voice.9")
@pytest.mark.clause("auth.3")
@pytest.mark.clause("errors.1")
def test_a_key_that_is_not_user_scoped_cannot_create_voices_and_can_do_the_rest(api):
    service = {"x-api-key": SERVICE_KEY}
    body = {"voice_name": "Ada", "training_audio_url": URL}
    error = api.refused("POST", "/v2/voices", body, headers=service)
    assert error.keys() == {"error"}
    assert "user-scoped API key" in error["error"]
    voice = api.voice()
    path = f"/v2/voices/{voice['voice_id']}"
    assert api.ok("GET", path, headers=service) == voice
    assert api.ok("PATCH", path, {"voice_name": "n"}, headers=service)["voice_name"] == "n"
    assert api.send("POST", "/v2/tools", api.tool_body(), headers=service).is_success


@pytest.mark.clause("update-voice.2")
@pytest.mark.clause("update-voice.4")
@pytest.mark.clause("update-voice.5")
@pytest.mark.clause("voice.2")
def test_update_changes_what_is_sent_and_nothing_else(api):
    voice = api.voice(description="d", tags=["a"])
    path = f"/v2/voices/{voice['voice_id']}"
    assert api.ok("PATCH", path, {"voice_name": "New"}) == voice | {"voice_name": "New"}
    assert api.ok("PATCH", path, {"tags": []})["tags"] == []
    assert api.ok("PATCH", path, {"description": None})["description"] is None
    assert read(api, voice) == voice | {"voice_name": "New", "tags": [], "description": None}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"voice_name": None},
        {"tags": None},
        {"voice_name": ""},
        {"tags": ["x" * 65]},
        {"description": "x" * 1001},
        {"status": "completed"},
    ],
)
@pytest.mark.clause("update-voice.1")
@pytest.mark.clause("update-voice.3")
def test_updates_that_are_rejected_change_nothing(api, body):
    voice = api.voice(description="d", tags=["a"])
    error = api.refused("PATCH", f"/v2/voices/{voice['voice_id']}", body)
    assert error.keys() == {"error"}
    assert read(api, voice) == voice


@pytest.mark.clause("voice.7")
@pytest.mark.clause("voice-states.2")
@pytest.mark.clause("conversation.1")
def test_a_voice_that_is_not_completed_is_resolved_by_no_conversation(api):
    voice = api.voice()
    pal, face = api.fresh("p"), api.fresh("f")
    api.seed(
        pals=[{"pal_id": pal, "layers": {"tts": {"voice_id": voice["voice_id"]}}}],
        faces=[{"face_id": face, "default_voice_id": voice["voice_id"]}],
    )
    bodies = ({"pal_id": pal}, {"face_id": face}, {"pal_id": pal, "face_id": face})
    for body in bodies:
        error = api.refused("POST", "/v2/conversations", body)
        assert voice["voice_id"] in error["error"]
    api.sandbox.advance(5)
    for body in bodies:
        started = api.ok("POST", "/v2/conversations", body | {"conversation_name": "c"})
        assert started["conversation_id"]
        assert started["conversation_name"] == "c"
        assert started["pal_id"] == body.get("pal_id")
        assert started["face_id"] == body.get("face_id")


@pytest.mark.clause("voice.5")
def test_an_error_message_is_shown_in_error_alone(api):
    voice = {"voice_id": api.fresh("v"), "error_message": "no speech"}
    path = f"/v2/voices/{voice['voice_id']}"
    for status, shows in (("error", True), ("started", False), ("completed", False)):
        api.seed(voices=[voice | {"status": status}])
        listed = api.ok("GET", "/v2/voices")["data"]
        for shown in (api.ok("GET", path), *(v for v in listed if v["voice_id"] in path)):
            assert ("error_message" in shown) is shows


@pytest.mark.clause("voice-states.8")
def test_training_takes_the_time_that_is_chosen(api):
    voice = api.voice()
    api.sandbox.advance(Choices().voice_seconds - 0.1)
    assert api.ok("GET", f"/v2/voices/{voice['voice_id']}")["status"] == "started"
    api.sandbox.advance(0.1)
    assert api.ok("GET", f"/v2/voices/{voice['voice_id']}")["status"] == "completed"


@pytest.mark.parametrize(("content", "status"), [(WAV, "completed"), (b"%PDF-1.7 no", "error")])
@pytest.mark.clause("create-voice.11")
def test_a_link_without_an_ending_is_judged_by_its_content(api, content, status):
    voice = api.voice(training_audio_url=api.publish("download", content) + "?sig=abc")
    api.sandbox.advance(10)
    shown = api.ok("GET", f"/v2/voices/{voice['voice_id']}")
    assert shown["status"] == status, shown
