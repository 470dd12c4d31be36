"""Every rule of the specification on requests: what is accepted, and which path is named."""

from __future__ import annotations

from typing import Any

import pytest

from palprep.api import calls
from palprep.api.call import Endpoint
from palprep.errors import InvalidRequest

API = {"url": "https://example.com/hook"}
TOOL: dict[str, Any] = {"name": "look_up", "description": "Looks up.", "parameters": {}}
WEBHOOK = {"app_message": False, "api": API}


def tool(**more: Any) -> dict[str, Any]:
    return TOOL | more


ACCEPTED: list[tuple[Endpoint[..., Any], dict[str, Any]]] = [
    (calls.create_voice, {"voice_name": "x" * 255}),
    (calls.create_voice, {"description": "x" * 1000, "tags": ["x" * 64] * 50}),
    (calls.create_voice, {"training_audio_url": "https://example.com/" + "a" * 2028}),
    (calls.update_voice, {"voice_id": "v", "description": None}),
    (calls.update_voice, {"voice_id": "v", "tags": []}),
    (calls.create_tool, tool(name="_" + "a" * 63)),
    (calls.create_tool, tool(description="x" * 9998)),
    (calls.create_tool, tool(delivery={"app_message": True})),
    (calls.create_tool, tool(delivery={})),
    (calls.create_tool, tool(delivery=WEBHOOK)),
    (calls.create_tool, tool(delivery=WEBHOOK, trigger_type="post_call")),
    (calls.create_tool, tool(delivery=WEBHOOK, trigger_type="post_call", origin=None)),
    (calls.create_tool, tool(origin="vision", on_call=None, on_resolve="fire_and_forget")),
    (calls.create_tool, tool(on_call="static_filler", static_filler="One moment.")),
    (calls.validate_face_image, {"image_base64": " AA==\n", "mime_type": "image/heif"}),
    (calls.validate_face_image, {"image_base64": "A" * 29_360_128, "model": "core-4.5"}),
    (calls.create_replica, {"train_image_url": "https://e.com/a.jpg", "voice_name": "anna"}),
    (calls.create_replica, {"train_video_url": "https://e.com/a.mp4", "voice_name": "anna"}),
    (calls.replace_skills, {"pal_id": "p", "skills": {}}),
    (calls.replace_skills, {"pal_id": "p", "skills": {"internet_search": {"config": {}}}}),
    (
        calls.replace_skills,
        {"pal_id": "p", "skills": {"presentation": {"config": {"document_ids": ["d"]}}}},
    ),
    (
        calls.patch_deployment,
        {
            "deployment_id": "d",
            "operations": [
                {"op": "replace", "path": "/name", "value": None},
                {"op": "move", "path": "/a", "from": "/b"},
                {"op": "remove", "path": ""},
            ],
        },
    ),
    (calls.create_conversation, {"other": {"anything": [1, {"at": "all"}]}}),
]

REFUSED: list[tuple[Endpoint[..., Any], dict[str, Any], str | None]] = [
    (calls.get_voice, {"voice_id": ""}, "voice_id"),
    (calls.get_voice, {"voice_id": 3}, "voice_id"),
    (calls.create_voice, {"voice_name": ""}, "voice_name"),
    (calls.create_voice, {"voice_name": "x" * 256}, "voice_name"),
    (calls.create_voice, {"description": "x" * 1001}, "description"),
    (calls.create_voice, {"description": None}, "description"),
    (calls.create_voice, {"tags": ["x"] * 51}, "tags"),
    (calls.create_voice, {"tags": ["ok", "x" * 65]}, "tags.1"),
    (calls.create_voice, {"tags": "abc"}, "tags"),
    (calls.create_voice, {"training_audio_url": "ftp://example.com/a"}, "training_audio_url"),
    (calls.create_voice, {"training_audio_url": "https://[::"}, "training_audio_url"),
    (
        calls.create_voice,
        {"training_audio_url": "https://example.com/" + "a" * 2029},
        "training_audio_url",
    ),
    (calls.create_voice, {"callback_url": "https://e.com/" + "a" * 2048}, "callback_url"),
    (calls.update_voice, {"voice_id": "v"}, None),
    (calls.update_voice, {"voice_id": "v", "voice_name": None}, "voice_name"),
    (calls.update_voice, {"voice_id": "v", "tags": None}, "tags"),
    (calls.create_tool, tool(name="9lives"), "name"),
    (calls.create_tool, tool(name="a-b"), "name"),
    (calls.create_tool, tool(name="a\n"), "name"),
    (calls.create_tool, tool(name="a" * 65), "name"),
    (calls.create_tool, tool(description="x" * 9999), "description"),
    (calls.create_tool, tool(parameters={"n": float("nan")}), "parameters"),
    (calls.create_tool, tool(parameters=[]), "parameters"),
    (calls.create_tool, tool(delivery={"app_message": False}), "delivery"),
    (calls.create_tool, tool(delivery={"api": API}), "delivery"),
    (calls.create_tool, tool(delivery={"app_message": True, "api": API}), "delivery"),
    (calls.create_tool, tool(delivery={"app_message": "yes"}), "delivery.app_message"),
    (
        calls.create_tool,
        tool(delivery={"app_message": False, "api": {"url": "http://example.com"}}),
        "delivery.api.url",
    ),
    (
        calls.create_tool,
        tool(delivery={"app_message": False, "api": API | {"uri": "x"}}),
        "delivery.api.uri",
    ),
    *(
        (
            calls.create_tool,
            tool(delivery={"app_message": False, "api": API | {member: value}}),
            f"delivery.api.{member}",
        )
        for member, value in (
            ("method", "PÖST"),
            ("method", "GET /"),
            ("content_type", "text/plain\r\nx: y"),
        )
    ),
    (calls.create_tool, tool(trigger_type="post_call"), "delivery.api"),
    (
        calls.create_tool,
        tool(delivery=WEBHOOK, trigger_type="post_call", origin="llm"),
        "origin",
    ),
    (calls.create_tool, tool(trigger_type="never"), "trigger_type"),
    (calls.create_tool, tool(origin=None), "origin"),
    (calls.create_tool, tool(origin="smell"), "origin"),
    (calls.create_tool, tool(origin="vision", on_call="silent"), "on_call"),
    (calls.create_tool, tool(origin="audio", on_resolve="generate_response"), "on_resolve"),
    (calls.create_tool, tool(origin="audio", static_filler="hm"), "static_filler"),
    (calls.create_tool, tool(on_call="static_filler"), "static_filler"),
    (calls.create_tool, tool(on_call="static_filler", static_filler=None), "static_filler"),
    (calls.validate_face_image, {"image_base64": "  "}, "imageBase64"),
    (calls.validate_face_image, {"image_base64": "A" * 29_360_129}, "imageBase64"),
    (calls.validate_face_image, {"image_base64": "data:image/png;base64,AA=="}, "imageBase64"),
    (calls.validate_face_image, {"image_base64": "AA==", "mime_type": "image/gif"}, "mimeType"),
    (calls.validate_face_image, {"image_base64": "AA==", "model": "core-3"}, "model"),
    (calls.create_replica, {"train_image_url": "https://e.com/a.jpg"}, "voice_name"),
    (
        calls.create_replica,
        {
            "train_image_url": "https://e.com/a.jpg",
            "train_video_url": "https://e.com/a.mp4",
            "voice_name": "anna",
        },
        "train_image_url",
    ),
    (calls.create_replica, {"auto_fix_training_image": "true"}, "auto_fix_training_image"),
    (calls.replace_skills, {"pal_id": "p", "skills": {"juggling": {}}}, "skills.juggling"),
    (
        calls.replace_skills,
        {"pal_id": "p", "skills": {"presentation": {}}},
        "skills.presentation.config.document_ids",
    ),
    (
        calls.replace_skills,
        {"pal_id": "p", "skills": {"presentation": {"config": {"document_ids": [1]}}}},
        "skills.presentation.config.document_ids.0",
    ),
    (
        calls.replace_skills,
        {"pal_id": "p", "skills": {"magic_canvas": {"config": {"size": 1}}}},
        "skills.magic_canvas.config.size",
    ),
    (
        calls.patch_deployment,
        {"deployment_id": "d", "operations": [{"op": "rename", "path": "/name"}]},
        "0.op",
    ),
    (
        calls.patch_deployment,
        {"deployment_id": "d", "operations": [{"op": "remove", "path": "name"}]},
        "0.path",
    ),
    (
        calls.patch_deployment,
        {"deployment_id": "d", "operations": [{"op": "replace", "path": "/name"}]},
        "0.value",
    ),
    (
        calls.patch_deployment,
        {"deployment_id": "d", "operations": [{"op": "copy", "path": "/name"}]},
        "0.from",
    ),
    (calls.rename_video, {"video_id": "v", "video_name": None}, "video_name"),
]


def _label(value: Any) -> str | None:
    return value.name if isinstance(value, Endpoint) else None


@pytest.mark.parametrize(("endpoint", "given"), ACCEPTED, ids=_label)
def test_accepts(endpoint: Endpoint[..., Any], given: dict[str, Any]) -> None:
    call = endpoint(**given)
    assert call.path.startswith("/v2/")
    # What was built is what a server reads back.
    path = endpoint.match(call.path)
    assert path is not None
    assert list(endpoint.parse(path, call.body).problems()) == []


@pytest.mark.parametrize(("endpoint", "given", "field"), REFUSED, ids=_label)
def test_refuses_and_names_the_field(
    endpoint: Endpoint[..., Any], given: dict[str, Any], field: str | None
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        endpoint(**given)
    assert refused.value.field == field
    assert field is None or field in str(refused.value)
    assert refused.value.problems[0].field == (field or "")


def test_a_text_in_place_of_an_array_is_told_as_that() -> None:
    with pytest.raises(InvalidRequest, match="tags must be an array"):
        calls.create_voice(tags="abc")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"voice_name": ""}, "voice_name must have at least 1 character"),
        ({"voice_name": "a" * 256}, "voice_name must have at most 255 characters"),
        ({"tags": ["a"] * 51}, "tags must have at most 50 items, not 51"),
        ({"tags": ["a" * 65]}, "tags.0 must have at most 64 characters"),
    ],
)
def test_a_rule_of_length_is_told_as_what_must_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        calls.create_voice(**given)
    assert str(refused.value) == f"Nothing was sent: {message}."


def test_names_every_broken_rule_at_once() -> None:
    with pytest.raises(InvalidRequest) as refused:
        calls.create_voice(voice_name="", tags=["x" * 65], training_audio_url="here")
    assert {p.field for p in refused.value.problems} == {
        "voice_name",
        "tags.0",
        "training_audio_url",
    }


def test_a_local_service_may_take_loopback_webhooks() -> None:
    given = tool(delivery={"app_message": False, "api": {"url": "http://127.0.0.1:9/hook"}})
    assert calls.create_tool.call((), given)
    given["delivery"]["api"]["url"] = "http://example.com/hook"
    with pytest.raises(InvalidRequest, match="HTTPS"):
        calls.create_tool.call((), given)


def test_validate_false_sends_it_raw() -> None:
    call = calls.create_tool(  # type: ignore[call-arg]
        name="9lives", description=3, bogus=[1], validate=False
    )
    assert call.body == {"name": "9lives", "description": 3, "bogus": [1]}


@pytest.mark.parametrize(
    "url", ["https://e.com/my file.wav", " https://e.com/a.wav", "https://e.com/a\t.wav"]
)
def test_a_link_with_a_space_is_told_its_own_fault(url: str) -> None:
    with pytest.raises(InvalidRequest, match=r"must hold no white space: write a space as %20"):
        calls.create_voice(training_audio_url=url)
    with pytest.raises(InvalidRequest, match="starts with https"):
        calls.create_voice(training_audio_url="a " + url)


@pytest.mark.parametrize(
    ("text", "rule"), [(" ", "least 1 ch"), ("A" * 29_360_129, "most 29360128 ch")]
)
def test_the_base64_of_an_image_is_counted_in_characters(text: str, rule: str) -> None:
    with pytest.raises(InvalidRequest, match=rf"imageBase64 must have at {rule}"):
        calls.validate_face_image(image_base64=text)
