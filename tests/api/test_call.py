"""Declarations in both directions: arguments to wire, wire to request."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from dataclasses import replace
from typing import Any

import httpx
import pytest
from hypothesis import given, strategies as st

from palprep.api import calls
from palprep.api.request import UNSET
from palprep.errors import InvalidRequest, UnexpectedReply

ids = (
    st.text(min_size=1)
    .filter(lambda text: "\x00" not in text)
    .map(lambda text: text.encode("utf-8", "ignore").decode())
    .filter(bool)
)


@given(ids)
def test_any_id_survives_the_path(voice_id: str) -> None:
    call = calls.get_voice(voice_id)
    assert re.fullmatch(r"/v2/voices/[A-Za-z0-9._~%-]+", call.path)
    assert calls.get_voice.match(call.path) == {"voice_id": voice_id}


def test_paths_do_not_match_each_other() -> None:
    for endpoint in calls.ENDPOINTS:
        sample = endpoint.path.replace("{", "").replace("}", "")
        matching = [
            e
            for e in calls.ENDPOINTS
            if e.method == endpoint.method and e.match(sample) is not None
        ]
        assert matching == [endpoint]


def test_absent_differs_from_null() -> None:
    assert calls.update_voice("v", voice_name="Ada").body == {"voice_name": "Ada"}
    assert calls.update_voice("v", description=None).body == {"description": None}
    arrived = calls.update_voice.parse({"voice_id": "v"}, {"description": None})
    assert arrived.description is None
    assert arrived.voice_name is UNSET


def test_headers_query_and_whole_bodies_have_their_places() -> None:
    operations = [{"op": "replace", "path": "/name", "value": "New"}]
    call = calls.patch_deployment("d", operations, if_match='"7"')  # type: ignore[arg-type]
    assert call.headers == {"If-Match": '"7"'}
    assert call.body == operations
    for tag in ("a&b", "True", "None"):
        assert calls.list_voices(tag=tag).query == (("tag", tag),)
    arrived = calls.patch_deployment.parse(
        {"deployment_id": "d"}, operations, headers=httpx.Headers({"if-match": '"7"'})
    )
    assert (arrived.if_match, arrived.operations) == ('"7"', operations)


def test_members_that_the_specification_leaves_open_pass_through() -> None:
    call = calls.create_conversation(face_id="f", other={"properties": {"max": 3}})
    assert call.body == {"face_id": "f", "properties": {"max": 3}}
    arrived = calls.create_conversation.parse({}, call.body)
    assert (arrived.face_id, arrived.other) == ("f", {"properties": {"max": 3}})


@pytest.mark.parametrize("body", [[], "x", 3, None])
def test_a_body_that_is_no_object_is_refused(body: object) -> None:
    with pytest.raises(InvalidRequest, match="JSON object"):
        calls.create_voice.parse({}, body)


def test_unknown_members_that_arrive_are_refused() -> None:
    with pytest.raises(InvalidRequest) as refused:
        calls.update_voice.parse({"voice_id": "v"}, {"voice_id": "w", "description": None})
    assert refused.value.field == "voice_id"


def test_content_is_compact_json_in_utf8() -> None:
    assert calls.update_voice("v", voice_name="Añu").content() == '{"voice_name":"Añu"}'.encode()
    assert calls.get_voice("v").content() is None


def test_content_that_json_cannot_say_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="JSON"):
        calls.create_conversation(other={"x": float("inf")}).content()
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"type": "object", "a": deep}
    with pytest.raises(InvalidRequest, match="JSON"):
        calls.create_conversation(other=deep).content()
    with pytest.raises(InvalidRequest, match="JSON"):
        calls.create_tool(name="a", description="b", parameters=deep)


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("other", [[1], [["a", 1]], "ab", 5, None])
def test_further_members_are_an_object(other: Any, validate: bool) -> None:
    with pytest.raises(InvalidRequest, match="other must be an object"):
        calls.create_conversation(pal_id="p", other=other, validate=validate)


def test_the_body_limit_is_counted_in_bytes() -> None:
    small = replace(calls.rename_video, max_body_bytes=len('{"video_name":"é"}'.encode()))
    assert small("v", "é").content()
    with pytest.raises(InvalidRequest, match="bytes"):
        small("v", "éx").content()


def test_missing_arguments_are_type_errors() -> None:
    with pytest.raises(TypeError, match="voice_id"):
        calls.get_voice()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="bogus"):
        calls.get_voice("v", bogus=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (None, "empty"),
        ("<html>\x9b", r'"<html>\x9b"'),
        ([], "[]"),
        (7, "7"),
        ("x" * 501, '"<501 c'),
    ],
)
def test_a_success_of_another_shape_is_told(body: object, told: str) -> None:
    with pytest.raises(UnexpectedReply) as unexpected:
        calls.get_voice.read(body)
    assert (unexpected.value.body, unexpected.value.carried_out) == (body, False)
    assert f"The body is {told}" in str(unexpected.value)
    assert "carried out" not in str(unexpected.value)


def test_a_create_without_an_id_is_not_to_be_sent_again_unseen_and_tells_what_came() -> None:
    body = {"id": "v_17", "token": "KEY", "url": "https://e.com/a?sig=KEY", "all": ["x"] * 500}
    with pytest.raises(
        UnexpectedReply, match=r'look it up on.*before you send it again.*"id":"v_17"'
    ) as unexpected:
        calls.create_voice.read(body)
    assert unexpected.value.carried_out
    assert "KEY" not in str(unexpected.value)
    assert len(str(unexpected.value)) < 800


def test_a_deployment_carries_its_etag_and_never_sends_it_back() -> None:
    body = {"deployment_id": "d", "status": "draft"}
    deployment = calls.get_deployment.read(body, {"etag": '"3"'})
    assert deployment.etag == '"3"'
    assert deployment.model_dump(mode="json", exclude_unset=True) == body


@pytest.mark.parametrize("key", ["pose_suitable_for_face", "pose_suitable_for_replica"])
def test_both_names_of_the_pose_observation_are_read(key: str) -> None:
    result = calls.validate_face_image.read(
        {"passed": False, "checks": [{"id": "a", "passed": False}], "details": {key: True}}
    )
    assert result.pose_suitable is True
    assert [check.id for check in result.checks if not check.passed] == ["a"]


def test_only_what_creates_or_patches_may_not_be_repeated() -> None:
    unrepeatable = {e.name for e in calls.ENDPOINTS if not e.repeatable}
    assert unrepeatable == {
        "tools.create",
        "voices.create",
        "replicas.create",
        "conversations.create",
        "deployments.patch",
    }


def test_the_public_signature_is_what_a_reader_expects() -> None:
    signature = calls.update_voice.shape.client_signature
    assert list(signature.parameters) == [
        *("voice_id", "voice_name", "description", "tags"),
        *("timeout", "validate", "deadline", "extra_headers", "extra_query", "extra_body"),
    ]
    assert signature.parameters["voice_id"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert signature.parameters["description"].annotation == (str | None)


def test_what_a_call_shows_holds_no_secret() -> None:
    call = calls.create_tool(
        name="a",
        description="b",
        parameters={},
        delivery={
            "app_message": False,
            "api": {
                "url": "https://example.com/hook?signature=hush",
                "headers": {"Authorization": "hush"},
                "auth": {"type": "bearer", "token": "hush"},
            },
        },
    )
    shown = repr(call)
    assert "hush" not in shown
    assert "example.com/hook" in shown
    voice = calls.create_voice(callback_url="https://example.com/hush/hush", voice_name="Ada")
    assert "hush" not in repr(voice)
    assert "Ada" in repr(voice)
    image = calls.validate_face_image(image_base64="A" * 4000)
    assert len(repr(image)) < 300


def test_a_call_that_a_hook_was_given_can_be_copied_and_sent_to_another_process():
    call = calls.get_voice("v1", timeout=3.0)
    sent = pickle.loads(pickle.dumps(call))  # noqa: S301 -- of this test's own
    for same in (copy.copy(call), copy.deepcopy(call), sent):
        assert repr(same) == repr(call)
        assert same.timeout == 3.0
        assert same.endpoint.call(("v1",), {}).path == call.path
