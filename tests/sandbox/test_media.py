"""Published media: hosted, fetched over HTTP, handed to whoever trains."""

from __future__ import annotations

import base64
import sqlite3
import threading
from pathlib import Path

import pytest
from raw import JPEG, MP4, WAV, Raw

from palprep.errors import DamagedMedia, OutputUnwritable
from palprep.sandbox import Choices, Sandbox
from palprep.sandbox.handlers.likenesses import judge_by_bytes, train_by_bytes


def trained(raw, voice):
    raw.sandbox.advance(5)
    return raw.ok("GET", f"/v2/voices/{voice['voice_id']}")


@pytest.mark.parametrize(
    ("suffix", "content_type"),
    [
        (".jpg", "image/jpeg"),
        (".PNG", "image/png"),
        (".mp3", "audio/mpeg"),
        (".mp4", "video/mp4"),
        (".mov", "video/quicktime"),
        (".strange", "application/octet-stream"),
    ],
)
def test_an_asset_comes_back_whole_with_the_type_of_its_name(raw, suffix, content_type):
    url = raw.publish(f"a b{suffix}", MP4)
    reply = raw.http.get(url, headers={"x-api-key": ""})
    assert reply.content == MP4
    assert reply.headers["content-type"] == content_type


def test_ranges_are_served_and_bad_ones_refused(raw):
    url = raw.publish("a.mp4", bytes(range(100)))
    part = raw.http.get(url, headers={"range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, bytes(range(10, 20)))
    assert part.headers["content-range"] == "bytes 10-19/100"
    tail = raw.http.get(url, headers={"range": "bytes=-5"})
    assert tail.content == bytes(range(95, 100))
    assert raw.http.get(url, headers={"range": "bytes=200-"}).status_code == 416
    assert raw.http.head(url).headers["content-length"] == "100"


def test_a_url_is_not_guessed_from_its_name_and_expires_by_the_clock(raw):
    url = raw.ok("PUT", "/_sandbox/assets/a.wav", content=WAV)["url"]
    token, name = url.rsplit("/", 2)[1:]
    assert len(token) >= 20
    assert raw.send("GET", f"/assets/{token}/other.wav").status_code == 404
    assert raw.send("GET", f"/assets/nothing/{name}").status_code == 404
    assert raw.send("GET", f"/assets/../{token}").status_code == 404
    raw.sandbox.advance(24 * 3600 - 1)
    assert raw.http.get(url).status_code == 200
    raw.sandbox.advance(1)
    assert raw.http.get(url).status_code == 403


def test_what_has_expired_is_not_kept_beyond_the_next_start(tmp_path):
    for count, hours in ((1, 16), (2, 32)):
        with Sandbox(tmp_path, clock="virtual") as sandbox:
            sandbox.put_asset("ada.wav", WAV)
            assert len(list((tmp_path / "assets").iterdir())) == count
            sandbox.advance(hours * 3600)
    with Sandbox(tmp_path, clock="virtual"):
        assert list((tmp_path / "assets").iterdir()) == []


def test_the_trainer_gets_the_very_bytes_that_were_published():
    seen = []

    def trainer(kind, paths):
        assert threading.current_thread().name != "palprep-sandbox"
        seen.append((kind, [(path.suffix, path.read_bytes()) for path in paths]))

    with Sandbox(clock="virtual", trainer=trainer) as sandbox, Raw(sandbox) as raw:
        voice = raw.voice(training_audio_url=raw.publish("a.wav", WAV))
        video, consent, image = (
            raw.publish(name, content)
            for name, content in (("v.mp4", MP4), ("c.mp4", MP4 + b"consent"), ("i.jpg", JPEG))
        )
        bodies = (
            {"train_video_url": video},
            {"train_video_url": video, "consent_video_url": consent},
            {"train_image_url": image, "voice_name": "ANNA"},
        )
        for body in bodies:
            raw.ok("POST", "/v2/replicas", body)
        assert seen == []
        assert trained(raw, voice)["status"] == "completed"
    assert seen == [
        ("voice", [(".wav", WAV)]),
        ("replica-video", [(".mp4", MP4)]),
        ("replica-video", [(".mp4", MP4), (".mp4", MP4 + b"consent")]),
        ("replica-image", [(".jpg", JPEG)]),
    ]


M4A = b"\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00M4A mp42isom"


def test_a_training_goes_on_when_the_disk_has_room_again(monkeypatch):
    monkeypatch.setattr("palprep.sandbox.clock._AGAIN_S", 0.02)
    asked = []

    def trainer(kind, paths):
        asked.append(kind)
        if len(asked) == 1:
            raise OutputUnwritable("the disk is full; free some space", disk_full=True)

    with Sandbox(clock="virtual", trainer=trainer) as sandbox, Raw(sandbox) as raw:
        voice = raw.voice(training_audio_url=raw.publish("a.wav", WAV))
        sandbox.advance(100)
        assert raw.ok("GET", f"/v2/voices/{voice['voice_id']}")["status"] == "completed"
    assert asked == ["voice", "voice"]


def test_a_link_without_an_ending_is_the_same_to_every_trainer():
    """Trainers see the ending that the content has: they may go by names, as the checks do."""
    seen = []

    def trainer(kind, paths):
        seen.append((kind, [path.suffix for path in paths]))

    with Sandbox(clock="virtual", trainer=trainer) as sandbox, Raw(sandbox) as raw:
        video, image = raw.publish("video", MP4), raw.publish("image", PNG) + "?a=b.c"
        replicas = [
            raw.ok("POST", "/v2/replicas", body)["replica_id"]
            for body in (
                {"train_video_url": video, "consent_video_url": raw.publish("c.mov", MP4)},
                {"train_image_url": image, "voice_name": "anna"},
            )
        ]
        voice = raw.voice(training_audio_url=raw.publish("voice", M4A))
        ended = [trained(raw, voice)]
        ended += [raw.ok("GET", f"/v2/replicas/{each}") for each in replicas]
    assert [each["status"] for each in ended] == ["completed"] * 3
    assert sorted(seen) == [
        ("replica-image", [".png"]), ("replica-video", [".mp4", ".mov"]), ("voice", [".m4a"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "kind"),
    [(True, "replica-image-auto-fix"), (False, "replica-image"), (None, "replica-image")],
)
def test_a_trainer_is_told_that_it_may_fix_the_image(asked, kind):
    seen = []

    def trainer(kind, paths):
        seen.append(kind)

    with Sandbox(clock="virtual", trainer=trainer) as sandbox, Raw(sandbox) as raw:
        body = {"train_image_url": raw.publish("a.png", PNG), "voice_name": "anna"}
        body |= {} if asked is None else {"auto_fix_training_image": asked}
        raw.ok("POST", "/v2/replicas", body)
        sandbox.advance(5)
    assert seen == [kind]


def refuse(kind, paths):
    """A trainer that fails everything."""
    return "No."


@pytest.mark.parametrize(
    ("trainer", "choices", "status", "in_force"),
    [
        (None, None, "completed", "bytes"),
        (refuse, None, "error", "given"),
        (refuse, Choices(trainer="bytes"), "completed", "bytes"),
    ],
)
def test_a_key_chooses_the_trainer_by_bytes(trainer, choices, status, in_force):
    with (
        Sandbox(clock="virtual", trainer=trainer, choices=choices) as sandbox,
        Raw(sandbox) as raw,
    ):
        assert trained(raw, raw.voice())["status"] == status
        listed = {each["id"]: each for each in raw.ok("GET", "/_sandbox/choices")["choices"]}
    assert listed["trainer"]["value"] == in_force
    told = {"training-by-media", "training-consent", "training-unknown"} & listed.keys()
    assert len(told) == (3 if in_force == "given" else 0)


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ("Too quiet.", "Too quiet."),
        (DamagedMedia("It does not decode."), "It does not decode."),
        (ZeroDivisionError("oops"), "Training failed: ZeroDivisionError: oops"),
    ],
)
def test_whatever_the_trainer_does_training_ends(outcome, message):
    def trainer(kind, paths):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    with Sandbox(clock="virtual", trainer=trainer) as sandbox, Raw(sandbox) as raw:
        voice = trained(raw, raw.voice())
    assert (voice["status"], voice["error_message"]) == ("error", message)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:1/a.wav", "cannot be fetched"),
        ("{base}/assets/no/a.wav", "with status 404"),
        ("{base}/v2/tools/a.txt", "file type .txt is not accepted"),
        ("{base}/assets/no/a", "with status 404"),
    ],
)
def test_media_that_cannot_be_had_end_in_error(raw, url, reason):
    voice = raw.voice(training_audio_url=url.format(base=raw.sandbox.url))
    assert reason in trained(raw, voice)["error_message"]


def test_a_voice_of_which_nothing_must_be_sent_ends_too():
    choices = Choices(required_voice_fields=())
    with Sandbox(clock="virtual", choices=choices) as sandbox, Raw(sandbox) as raw:
        created = raw.ok("POST", "/v2/voices", json={})
        assert created["voice_name"]
        ended = trained(raw, created)
    assert (ended["status"], ended["error_message"]) == ("error", "No file was sent to train from.")


def test_empty_and_oversized_media_end_in_error():
    choices = Choices(media_bytes=50)
    with Sandbox(clock="virtual", choices=choices) as sandbox, Raw(sandbox) as raw:
        large = raw.voice(training_audio_url=raw.publish("a.wav", WAV))
        empty = raw.voice(training_audio_url=raw.publish("b.wav", b""))
        assert "more than 50 bytes" in trained(raw, large)["error_message"]
        assert "empty" in trained(raw, empty)["error_message"]


def test_a_full_disk_is_told_in_one_line(tmp_path, monkeypatch, caplog):
    with Sandbox(data=tmp_path / "data") as sandbox, Raw(sandbox) as raw:
        voice = raw.voice()["voice_id"]

        def full(*_):
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as patch:
            patch.setattr("palprep.sandbox.dispatch.note_request", full)
            answer = raw.send("GET", f"/v2/voices/{voice}")
            refused = raw.send("GET", f"/v2/voices/{voice}", headers={"x-api-key": "wrong"})
        assert raw.ok("GET", f"/v2/voices/{voice}")["voice_id"] == voice
    said = "The sandbox failed: database or disk is full."
    assert (answer.status_code, answer.json()) == (500, {"error": said})
    assert refused.status_code == 401
    assert [each.message for each in caplog.records] == [f"{said} (voices.get)"]


def test_a_disk_that_fails_is_told_in_words(tmp_path, caplog):
    with Sandbox(data=tmp_path) as sandbox, Raw(sandbox) as raw:
        (tmp_path / "scratch").rmdir()
        image = base64.b64encode(JPEG).decode()
        reply = raw.send("POST", "/v2/faces/image-validation", json={"imageBase64": image})
    said = "The sandbox failed: No such file or directory."
    assert (reply.status_code, reply.json()["error"]) == (500, said)
    assert [(each.message, each.exc_info) for each in caplog.records if said in each.message] == [
        (f"{said} (faces.validate_image)", None)
    ]


def test_nothing_stays_in_the_scratch_folder(tmp_path):
    with Sandbox(tmp_path, clock="virtual") as sandbox, Raw(sandbox) as raw:
        trained(raw, raw.voice())
        assert list((tmp_path / "scratch").iterdir()) == []


def test_media_of_any_other_server_are_fetched_too(raw, receiver):
    voice = raw.voice(training_audio_url=f"{receiver.url}/a.wav")
    receiver.answers.append((200, WAV))
    assert trained(raw, voice)["status"] == "completed"
    assert receiver.wait(1)[0].method == "GET"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
WEBP = b"RIFF\x00\x00\x00\x00WEBP" + bytes(20)
HEIC = b"\x00\x00\x00\x10ftypheic" + bytes(20)
MP3 = b"ID3\x04\x00\x00\x00\x00\x00\x00" + 2 * (b"\xff\xfb\x90\x64" + bytes(413))
WEBM = b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm"
EMPTY, PAGE = b"", b"<html>"


@pytest.mark.parametrize("content", [JPEG, PNG, WEBP, HEIC])
def test_the_default_judge_looks_at_the_first_bytes_and_says_no_more(tmp_path: Path, content):
    path = tmp_path / "image"
    path.write_bytes(content)
    assert judge_by_bytes(path, "core-4") == {"image_quality_acceptable": len(content) >= 1024}


@pytest.mark.parametrize("content", [MP4, WAV, PAGE])
def test_what_is_no_image_is_refused(raw, content):
    body = {"imageBase64": base64.b64encode(content).decode()}
    reply = raw.send("POST", "/v2/faces/image-validation", body)
    assert (reply.status_code, reply.json()["code"]) == (422, "undecodable_image")
    assert "not image/jpeg" in reply.text


@pytest.mark.parametrize(("redirects", "status"), [(5, "completed"), (6, "error")])
def test_five_redirects_are_followed_and_no_sixth(raw, receiver, redirects, status):
    receiver.moved = redirects
    receiver.answers.append((200, WAV))
    voice = trained(raw, raw.voice(training_audio_url=f"{receiver.url}/a.wav"))
    assert voice["status"] == status
    if status == "error":
        assert "redirects more than 5 times" in voice["error_message"]


def test_what_a_file_is_can_be_seen_elsewhere():
    def recognise(path: Path):
        raise DamagedMedia("the worker that looked at it died")

    body = {"imageBase64": base64.b64encode(JPEG).decode()}
    with Sandbox(recognise=recognise) as sandbox, Raw(sandbox) as raw:
        reply = raw.send("POST", "/v2/faces/image-validation", body)
    assert (reply.status_code, reply.json()["code"]) == (422, "undecodable_image")
    assert "died" in reply.text


def test_a_judge_that_cannot_read_the_picture_makes_it_undecodable():
    def judge(path, model):
        raise DamagedMedia("The picture ends in the middle.")

    body = {"imageBase64": base64.b64encode(JPEG).decode()}
    with Sandbox(judge_image=judge) as sandbox, Raw(sandbox) as raw:
        reply = raw.send("POST", "/v2/faces/image-validation", body)
    assert (reply.status_code, reply.json()["code"]) == (422, "undecodable_image")
    assert "ends in the middle" in reply.json()["message"]


def test_a_judge_that_breaks_is_a_json_500_and_the_server_goes_on():
    def judge(path, model):
        raise ZeroDivisionError

    body = {"imageBase64": base64.b64encode(JPEG).decode()}
    with Sandbox(judge_image=judge) as sandbox, Raw(sandbox) as raw:
        reply = raw.send("POST", "/v2/faces/image-validation", body)
        assert (reply.status_code, reply.json().keys()) == (500, {"error"})
        assert raw.send("GET", "/v2/tools").status_code == 200


def test_an_unmeasured_check_is_left_out():
    def judge(path, model):
        return {"no_nudity": None, "person_centered": True}

    body = {"imageBase64": base64.b64encode(JPEG).decode()}
    with Sandbox(judge_image=judge) as sandbox, Raw(sandbox) as raw:
        result = raw.ok("POST", "/v2/faces/image-validation", body)
    assert [check["id"] for check in result["checks"]] == ["person_centered"]
    assert "no_nudity" not in result["details"]
    assert result["details"]["scene_description"].startswith("1 of 12")


@pytest.mark.parametrize(
    ("kind", "content", "fine"),
    [
        ("replica-image", JPEG, True),
        ("replica-image", WAV, False),
        ("replica-image-auto-fix", JPEG, True),
        ("replica-image-auto-fix", WAV, False),
        ("replica-video", MP4, True),
        ("replica-video", JPEG, False),
        ("voice", WAV, True),
        ("voice", MP3, True),
        ("voice", MP3[10:], True),
        ("voice", b"fLaC", True),
        ("voice", b"OggS" + bytes(24), True),
        ("voice", WEBM, True),
        ("voice", EMPTY, False),
        ("voice", PAGE, False),
        ("voice", HEIC, False),
        ("replica-image", PNG, True),
        ("replica-image", HEIC, False),
    ],
)
def test_the_default_trainer_tells_pictures_from_what_plays(tmp_path, kind, content, fine):
    path = tmp_path / "media"
    path.write_bytes(content)
    assert (train_by_bytes(kind, (path,)) is None) is fine


def test_torn_uploads_and_fetched_media_of_a_killed_sandbox_are_swept_away(tmp_path):
    with Sandbox(tmp_path):
        pass
    for left in (tmp_path / "assets" / "torn.part", tmp_path / "scratch" / "tmp1" / "media-0.mp4"):
        left.parent.mkdir(parents=True, exist_ok=True)
        left.write_bytes(b"half")
    with Sandbox(tmp_path):
        assert list((tmp_path / "assets").iterdir()) == []
        assert list((tmp_path / "scratch").iterdir()) == []
