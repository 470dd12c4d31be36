"""Choices from words."""

from __future__ import annotations

import pytest
from raw import JPEG, Raw

from palprep.errors import UsageError
from palprep.sandbox import Choices, Sandbox, parse_choices


def test_words_are_values_by_their_names():
    words = ["voice-seconds=1.5", "outbound=anywhere", 'stock_voices=["iris"]', "trainer=bytes"]
    choices = parse_choices(words)
    assert (choices.voice_seconds, choices.replica_seconds) == (1.5, 3.0)
    assert (choices.outbound, choices.trainer) == ("anywhere", "bytes")
    assert choices.stock_voices == ("iris",)
    assert parse_choices([]).voice_seconds == 2.0


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("voice-secnods=1", "did you mean voice_seconds"),
        ("voice-seconds", "NAME=VALUE"),
        ("=1", "NAME=VALUE"),
        ("voice-seconds=soon", "Choices: voice_seconds must be a valid number"),
        ("outbound=mars", "Choices: outbound must be"),
        ("bad-request-status=700", "Choices: bad_request_status must be"),
        ("replica-seconds=-1", "Choices: replica_seconds must be greater"),
        ("voice-seconds=nan", "Choices: voice_seconds must be a finite number"),
        ("media-bytes=0", "Choices: media_bytes must be greater"),
        ("created-status=404", "Choices: created_status must be"),
    ],
)
def test_what_is_no_choice_is_said(word, says):
    with pytest.raises(UsageError, match=says):
        parse_choices([word])


def test_a_status_without_a_name_is_documented_and_a_stock_voice_is_found_in_any_case():
    choices = Choices(bad_request_status=499, stock_voices=("Iris",))
    with Sandbox(choices=choices) as sandbox, Raw(sandbox) as raw:
        operation = raw.ok("GET", "/openapi.json")["paths"]["/v2/replicas"]["post"]
        assert "499" in operation["responses"]
        sent = {"train_image_url": raw.publish("a.jpg", JPEG), "voice_name": "iRiS"}
        assert raw.ok("POST", "/v2/replicas", sent)["status"] == "started"
        assert raw.send("POST", "/v2/replicas", {}).status_code == 499


def test_what_is_told_of_judge_and_trainer_is_in_force():
    def listed(**given):
        with Sandbox(clock="virtual", **given) as sandbox:
            return {choice["id"]: choice["value"] for choice in sandbox.choices()}

    def judge(data, mime, model):
        raise AssertionError("is not asked")

    plain = listed()
    assert (plain["judge"], plain["trainer"]) == ("bytes", "bytes")
    assert plain.keys() >= {"default-judge", "default-trainer"}
    assert not plain.keys() & {"training-by-media", "training-consent", "training-unknown"}
    own = listed(judge_image=judge, trainer=judge)
    assert (own["judge"], own["trainer"]) == ("given", "given")
    assert own.keys() >= {"training-by-media", "training-consent", "training-unknown"}
    assert not own.keys() & {"default-judge", "default-trainer"}
    told = listed(judge_image=judge, trainer=judge, choices=Choices(judge="bytes"))
    assert (told["judge"], told["trainer"]) == ("bytes", "given")
