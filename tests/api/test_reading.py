"""Records are read leniently, and strictly where that is asked for."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

from palprep.api import calls
from palprep.api.call import Endpoint
from palprep.api.records.replies import Deployment, Tool, Voice
from palprep.errors import UnexpectedReply

VOICE = {"voice_id": "v", "status": "completed"}
TOOL = {"tool_id": "t", "name": "look_up"}
RESULT = {"passed": True, "checks": [{"id": "a", "label": "A", "passed": True}], "details": {}}
CHECK = {"ok": False, "error": {"http_status": 424, "message": "no"}}

STRANGE: list[tuple[Endpoint[..., Any], dict[str, Any]]] = [
    (calls.get_voice, VOICE | {"status": "paused"}),
    (calls.get_voice, VOICE | {"voice_type": "borrowed"}),
    (calls.get_voice, VOICE | {"voice_name": 7}),
    (calls.get_voice, VOICE | {"new_member": {"a": [1]}}),
    (calls.get_voice, VOICE | {"status": "paused", "cls": 1, "_fields_set": ["a"]}),
    (calls.list_voices, {"data": [VOICE, VOICE | {"status": "paused"}]}),
    (calls.get_tool, TOOL | {"trigger_type": "pre_call"}),
    (calls.get_tool, TOOL | {"origin": "touch"}),
    (calls.get_tool, TOOL | {"on_call": "sing"}),
    (calls.get_tool, TOOL | {"on_resolve": "sing"}),
    (calls.get_tool, TOOL | {"owner_id": "acc_1"}),
    (calls.get_tool, TOOL | {"delivery": {"api": {"url": "https://a.example", "timeout": 2.5}}}),
    (calls.get_replica, {"replica_id": "r", "status": "queued"}),
    (calls.get_deployment, {"deployment_id": "d", "status": "paused"}),
    (calls.get_deployment, {"deployment_id": "d", "status": "draft", "channel": "kiosk"}),
    (calls.get_deployment, {"deployment_id": "d", "status": "draft", "name": 5}),
    (calls.get_document, {"document_id": "d", "status": "archived"}),
    (calls.get_document, {"document_id": "d", "status": "ready", "progress": 100.5}),
    (calls.runtime_check_connector, CHECK | {"latency_ms": 5.5}),
    (calls.runtime_check_connector, CHECK | {"error": {"message": "m" * 600}}),
    (calls.validate_face_image, RESULT | {"checks": [{"id": "a", "passed": "perhaps"}]}),
]
NULL: list[tuple[Endpoint[..., Any], dict[str, Any], str, Any]] = [
    (calls.get_voice, VOICE, "tags", ()),
    (calls.get_voice, VOICE, "status", None),
    (calls.validate_face_image, RESULT, "details", {}),
    (calls.validate_face_image, RESULT, "checks", ()),
    (calls.validate_face_image, RESULT, "passed", None),
    (calls.runtime_check_connector, CHECK, "tool_names", ()),
    (calls.get_tool, TOOL, "is_system_tool", False),
]


@pytest.mark.parametrize(("endpoint", "body"), STRANGE)
def test_what_is_new_is_kept_as_it_came(endpoint: Endpoint[..., Any], body: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        record = endpoint.read(copy.deepcopy(body))
        assert record.model_dump(mode="json", exclude_unset=True, warnings=False) == body
        assert record.to_json()


def test_records_inside_a_record_are_records_whatever_is_new_in_them() -> None:
    check = calls.runtime_check_connector.read(CHECK | {"error": {"message": "m" * 600}})
    assert (check.error.message, check.error.http_status) == ("m" * 600, None)
    voices = calls.list_voices.read({"data": [VOICE, VOICE | {"status": "paused"}]})
    assert [each.status for each in voices.data] == ["completed", "paused"]
    checks = [{"id": "a", "passed": "perhaps"}, {"id": "b", "passed": False}]
    result = calls.validate_face_image.read(RESULT | {"checks": checks})
    assert [each.id for each in result.checks if each.passed is False] == ["b"]


@pytest.mark.parametrize(("endpoint", "body"), STRANGE)
def test_read_strictly_the_same_is_told(endpoint: Endpoint[..., Any], body: Any) -> None:
    if endpoint.unspecified and "new_member" in body:
        pytest.skip("what the specification does not show can have any member")
    with pytest.raises(UnexpectedReply) as unexpected:
        endpoint.read(body, strict=True)
    assert unexpected.value.body == body


@pytest.mark.parametrize(("endpoint", "body", "member", "stands_at"), NULL)
def test_null_stands_at_the_default(
    endpoint: Endpoint[..., Any], body: dict[str, Any], member: str, stands_at: Any
) -> None:
    assert getattr(endpoint.read(body | {member: None}), member) == stands_at
    with pytest.raises(UnexpectedReply, match=member):
        endpoint.read(body | {member: None}, strict=True)


@pytest.mark.parametrize("body", [VOICE, VOICE | {"tags": ["a"], "description": None}])
def test_what_is_as_specified_passes_strictly(body: dict[str, Any]) -> None:
    assert calls.get_voice.read(body, strict=True) == calls.get_voice.read(body)


def test_a_member_that_is_missing_is_none() -> None:
    voice = calls.get_voice.read({})
    assert (voice.voice_id, voice.status) == (None, None)
    with pytest.raises(UnexpectedReply, match="voice_id is required"):
        calls.get_voice.read({}, strict=True)


def test_unknown_members_are_attributes() -> None:
    voice = calls.get_voice.read(VOICE | {"language": "en"})
    assert voice.language == "en"
    assert voice.model_extra == {"language": "en"}


@pytest.mark.parametrize(
    ("endpoint", "body"),
    [
        (calls.create_voice, {"status": "started"}),
        (calls.create_tool, {"name": "look_up"}),
        (calls.create_replica, {"replica_id": None, "status": "started"}),
    ],
)
def test_a_creation_without_an_id_is_an_error(endpoint: Endpoint[..., Any], body: Any) -> None:
    with pytest.raises(UnexpectedReply, match=r"_id.*calls the request r7") as unexpected:
        endpoint.read(body, {"x-request-id": "r7"})
    assert (unexpected.value.body, unexpected.value.request_id) == (body, "r7")


def test_an_id_that_is_a_number_is_read_as_a_string() -> None:
    created = calls.create_voice.read({"voice_id": 7, "status": "new", "language": "en"})
    assert (created.voice_id, created.status) == ("7", "new")
    assert created.model_extra == {"language": "en"}


def test_each_record_knows_its_request() -> None:
    headers = {"x-request-id": "r1", "x-served-by": "a"}
    voice = calls.get_voice.read(VOICE, headers)
    assert (voice.request_id, voice.response_headers) == ("r1", headers)
    again = pickle.loads(pickle.dumps(voice))  # noqa: S301 -- our own bytes
    assert (again, again.request_id) == (voice, "r1")
    assert voice == Voice(**VOICE) != Tool(**TOOL)
    assert Deployment(deployment_id="d", status="draft").request_id is None
