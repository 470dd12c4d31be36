"""Tools: their record, defaults, rules, and the request that a post-call tool makes."""

from __future__ import annotations

import json

import pytest

from palprep.sandbox.choices import AUTH_TYPES

MEMBERS = {
    "tool_id",
    "owner_id",
    "name",
    "description",
    "parameters",
    "delivery",
    "is_system_tool",
    "trigger_type",
    "origin",
    "on_call",
    "on_resolve",
    "static_filler",
    "created_at",
    "updated_at",
}
API = {"app_message": False, "api": {"url": "https://hook.example/x"}}


@pytest.mark.clause("tool.1")
@pytest.mark.clause("tool.2")
@pytest.mark.clause("tool.10")
@pytest.mark.clause("tool.12")
@pytest.mark.clause("tool.14")
@pytest.mark.clause("tool.15")
@pytest.mark.clause("tool.16")
@pytest.mark.clause("delivery.1")
@pytest.mark.clause("create-tool.2")
@pytest.mark.clause("create-tool.3")
@pytest.mark.clause("create-tool.10")
def test_create_answers_the_record_with_defaults_filled_in(api):
    body = api.tool_body()
    tool = api.ok("POST", "/v2/tools", body)
    assert tool.keys() == MEMBERS
    assert isinstance(tool["owner_id"], int)
    assert tool["created_at"] == tool["updated_at"]
    assert tool["created_at"][10] == "T"
    shown = {name: tool[name] for name in MEMBERS - {"tool_id", "owner_id"}}
    assert shown == body | {
        "delivery": {"app_message": True},
        "is_system_tool": False,
        "trigger_type": "in_call",
        "origin": "llm",
        "on_call": "generate_filler",
        "on_resolve": "generate_response",
        "static_filler": None,
        "created_at": tool["created_at"],
        "updated_at": tool["updated_at"],
    }


@pytest.mark.clause("tool.1")
@pytest.mark.clause("tool.2")
@pytest.mark.clause("tool.3")
@pytest.mark.clause("tool.9")
def test_system_tools_are_named_by_themselves_and_protected(api):
    tools = api.ok("GET", "/v2/tools")["data"]
    system = [tool for tool in tools if tool["is_system_tool"]]
    assert system
    for tool in system:
        assert tool.keys() == MEMBERS
        assert tool["tool_id"] == tool["name"]
        assert tool["owner_id"] is None
        path = f"/v2/tools/{tool['tool_id']}"
        assert api.refused("DELETE", path).keys() == {"error"}
        assert api.ok("GET", path) == tool


@pytest.mark.clause("tool.1")
def test_every_tool_endpoint_shows_the_same_record(api):
    tool = api.tool()
    path = f"/v2/tools/{tool['tool_id']}"
    assert api.ok("GET", path) == tool
    assert tool in api.ok("GET", "/v2/tools")["data"]
    api.ok("DELETE", path)
    assert api.send("GET", path).status_code == 404
    assert tool not in api.ok("GET", "/v2/tools")["data"]


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("_a9_", True),
        ("x" * 64, True),
        ("A", True),
        ("x" * 65, False),
        ("", False),
        ("9a", False),
        ("a-b", False),
        ("a b", False),
        ("ä", False),
        ("a\n", False),
        (None, False),
    ],
)
@pytest.mark.clause("tool.4")
@pytest.mark.clause("tool.5")
@pytest.mark.clause("errors.1")
def test_names(api, name, fine):
    reply = api.send("POST", "/v2/tools", api.tool_body(name=name))
    if fine:
        assert reply.json()["name"] == name
        return
    assert reply.json().keys() == {"error"}
    assert "name" in reply.json()["error"]


@pytest.mark.clause("tool.6")
@pytest.mark.clause("errors.6")
def test_a_name_is_used_once_and_free_again_after_deletion(api):
    tool = api.tool()
    error = api.refused("POST", "/v2/tools", api.tool_body(name=tool["name"]))
    assert error.keys() == {"error"}
    assert "tool with this name already exists" in error["error"]
    assert (
        "already exists"
        in api.refused("POST", "/v2/tools", api.tool_body(name="end_call"))["error"]
    )
    api.ok("DELETE", f"/v2/tools/{tool['tool_id']}")
    assert api.tool(name=tool["name"])["tool_id"] != tool["tool_id"]


@pytest.mark.clause("tool.7")
def test_description_and_parameters_share_ten_thousand_characters(api):
    parameters = {"type": "object", "properties": {"ü": {"type": "string"}}}
    room = 10_000 - len(json.dumps(parameters, separators=(",", ":"), ensure_ascii=False))
    assert api.tool(description="x" * room, parameters=parameters)["description"] == "x" * room
    body = api.tool_body(description="x" * (room + 1), parameters=parameters)
    assert "10,000" in api.refused("POST", "/v2/tools", body)["error"]


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"type": "array"}, "parameters.type"),
        ({"type": "string"}, "parameters.type"),
        ({"type": ["object", "null"]}, "parameters.type"),
        ({"properties": []}, "parameters.properties"),
        ({"required": "x"}, "parameters.required"),
        ({"required": ["x"]}, "parameters.required"),
        ({"required": [7], "properties": {"x": {}}}, "parameters.required"),
        ({"properties": {"a": 5}}, "parameters.properties.a"),
        ({"properties": {"a": "string"}}, "parameters.properties.a"),
    ],
)
@pytest.mark.clause("tool.26")
def test_parameters_are_the_arguments_of_a_function(api, parameters, named):
    error = api.refused("POST", "/v2/tools", api.tool_body(parameters=parameters))
    assert named in error["error"]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {}, "required": []},
        {"type": "object", "properties": {"a": {"type": "string"}, "b": True}, "required": ["a"]},
        {"type": "object", "properties": {"type": {"enum": [1]}}, "additionalProperties": False},
    ],
)
@pytest.mark.clause("tool.26")
def test_parameters_that_a_function_may_have(api, parameters):
    assert api.tool(parameters=parameters)["parameters"] == parameters


@pytest.mark.clause("tool.8")
def test_reserved_property_names_are_rejected_at_any_depth(api):
    choices = api.ok("GET", "/_sandbox/choices")["choices"]
    prefix = next(c["value"] for c in choices if c["id"] == "reserved-prefix")
    inner = {"type": "object", "properties": {f"{prefix}_id": {"type": "string"}}}
    for parameters in (inner, {"type": "object", "properties": {"deep": inner}}):
        error = api.refused("POST", "/v2/tools", api.tool_body(parameters=parameters))
        assert f"{prefix}_id" in error["error"]
    fine = {"type": "object", "properties": {f"my_{prefix}_id": {"type": "string"}}}
    assert api.tool(parameters=fine)["parameters"] == fine


@pytest.mark.parametrize("missing", ["name", "description", "parameters"])
@pytest.mark.clause("create-tool.1")
def test_required_members(api, missing):
    error = api.refused("POST", "/v2/tools", api.tool_body(**{missing: ...}))
    assert missing in error["error"]


@pytest.mark.parametrize(
    ("members", "shown"),
    [
        ({"on_call": "silent"}, {"on_call": "silent"}),
        ({"on_call": "passthrough"}, {"on_call": "passthrough"}),
        (
            {"on_call": "static_filler", "static_filler": "One moment."},
            {"on_call": "static_filler", "static_filler": "One moment."},
        ),
        ({"on_resolve": "response_in_result"}, {"on_resolve": "response_in_result"}),
        ({"on_resolve": "add_to_context"}, {"on_resolve": "add_to_context"}),
        ({"on_resolve": "fire_and_forget"}, {"on_resolve": "fire_and_forget"}),
        (
            {"origin": "vision"},
            {"origin": "vision", "on_call": None, "on_resolve": "fire_and_forget"},
        ),
        (
            {"origin": "audio", "on_call": None, "static_filler": None},
            {"origin": "audio", "on_call": None, "static_filler": None},
        ),
        ({"trigger_type": "in_call", "origin": "llm"}, {"origin": "llm"}),
        ({"trigger_type": "post_call", "delivery": API}, {"origin": None}),
        ({"trigger_type": "post_call", "origin": None, "delivery": API}, {"origin": None}),
        ({"delivery": {"app_message": True}}, {"delivery": {"app_message": True}}),
        ({"delivery": {}}, {"delivery": {"app_message": True}}),
    ],
)
@pytest.mark.clause("tool.10")
@pytest.mark.clause("tool.11")
@pytest.mark.clause("tool.12")
@pytest.mark.clause("tool.13")
@pytest.mark.clause("tool.14")
@pytest.mark.clause("tool.15")
@pytest.mark.clause("delivery.2")
@pytest.mark.clause("create-tool.6")
@pytest.mark.clause("create-tool.7")
def test_combinations_that_are_accepted(api, members, shown):
    tool = api.tool(**members)
    assert {name: tool[name] for name in shown} == shown


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"trigger_type": "later"}, "trigger_type"),
        ({"origin": "smell"}, "origin"),
        ({"on_call": "sing"}, "on_call"),
        ({"on_resolve": "panic"}, "on_resolve"),
        ({"origin": "vision", "on_call": "silent"}, "on_call"),
        ({"origin": "audio", "on_resolve": "generate_response"}, "on_resolve"),
        ({"origin": "vision", "static_filler": "x"}, "static_filler"),
        ({"on_call": "static_filler"}, "static_filler"),
        ({"trigger_type": "post_call", "origin": "llm", "delivery": API}, "origin"),
        ({"trigger_type": "post_call"}, "delivery.api"),
        ({"trigger_type": "post_call", "delivery": {"app_message": True}}, "delivery.api"),
        ({"delivery": {"app_message": False}}, "delivery"),
        ({"delivery": {**API, "app_message": True}}, "delivery"),
        ({"delivery": {"api": API["api"], "app_message": "no"}}, "delivery.app_message"),
        ({"surprise": 1}, "surprise"),
        ({"is_system_tool": True}, "is_system_tool"),
    ],
)
@pytest.mark.clause("tool.11")
@pytest.mark.clause("tool.13")
@pytest.mark.clause("delivery.2")
@pytest.mark.clause("create-tool.4")
@pytest.mark.clause("create-tool.5")
@pytest.mark.clause("create-tool.6")
@pytest.mark.clause("create-tool.7")
@pytest.mark.clause("create-tool.8")
@pytest.mark.clause("create-tool.9")
def test_combinations_that_are_refused_name_the_field(api, members, named):
    error = api.refused("POST", "/v2/tools", api.tool_body(**members))
    assert error.keys() == {"error"}
    assert f'"{named}"' in error["error"]


@pytest.mark.parametrize(
    "url", ["http://hook.example/x", "ftp://hook.example", "hook.example", "http://127.0.0.1/x"]
)
@pytest.mark.clause("delivery.3")
@pytest.mark.clause("errors.5")
def test_a_webhook_must_be_https(api, url):
    body = api.tool_body(delivery={"app_message": False, "api": {"url": url}})
    error = api.refused("POST", "/v2/tools", body)
    assert error.keys() == {"error"}
    assert error["error"].startswith("Bad Request")
    assert "delivery.api.url" in error["error"]


@pytest.mark.clause("delivery.8")
@pytest.mark.clause("delivery.5")
def test_delivery_comes_back_as_it_was_given(api):
    auth = dict.fromkeys(
        [
            "token",
            "username",
            "password",
            "name",
            "value",
            "location",
            "secret",
            "token_url",
            "client_id",
            "client_secret",
            "scope",
        ],
        "x",
    )
    delivery = {
        "app_message": False,
        "api": {
            "url": "https://hook.example/{id}",
            "method": "POST",
            "timeout": 5,
            "headers": {"X-A": "b"},
            "auth": {"type": "none", **auth},
            "body_template": {"a": "{id}"},
            "query_params": {"q": "{id}"},
            "content_type": "application/json",
        },
    }
    assert api.tool(delivery=delivery)["delivery"] == delivery
    wrong = {**delivery, "api": {**delivery["api"], "auth": {"type": "none", "pin": "1"}}}
    body = api.tool_body(delivery=wrong)
    assert "delivery.api.auth.pin" in api.refused("POST", "/v2/tools", body)["error"]


@pytest.mark.clause("delivery.12")
def test_five_auth_types_are_taken_and_no_other(api):
    def body(kind):
        sent = {"url": "https://me.example", "auth": {"type": kind}}
        return api.tool_body(delivery={"app_message": False, "api": sent})

    for kind in AUTH_TYPES:
        assert api.ok("POST", "/v2/tools", body(kind))["delivery"]["api"]["auth"]["type"] == kind
    assert len(AUTH_TYPES) == 5
    error = api.refused("POST", "/v2/tools", body("telepathy"))
    assert "delivery.api.auth.type" in error["error"]


@pytest.mark.parametrize(
    "headers", [{"x-a": "käse"}, {"x-a": "a\r\nb: c"}, {"x a": "b"}, {"": "b"}, {"x-a": " b"}]
)
@pytest.mark.clause("delivery.13")
def test_what_no_header_can_carry_is_refused(api, headers):
    sent = {"url": "https://me.example", "headers": headers}
    body = api.tool_body(delivery={"app_message": False, "api": sent})
    assert "delivery.api.headers" in api.refused("POST", "/v2/tools", body)["error"]


@pytest.mark.clause("tool.25")
def test_the_built_in_tool_is_listed(api):
    listed = api.ok("GET", "/v2/tools")["data"]
    assert [tool["tool_id"] for tool in listed if tool["is_system_tool"]] == ["end_call"]


@pytest.mark.clause("events.3")
def test_a_tool_for_the_frontend_emits_an_event_when_it_is_called(api):
    tool, pal = api.tool(), api.fresh("p")
    api.seed(pals=[{"pal_id": pal, "tool_ids": [tool["tool_id"]]}])
    conversation = api.ok("POST", "/v2/conversations", {"pal_id": pal})["conversation_id"]
    call = {"name": tool["name"], "arguments": {"order": 7}}
    called = api.ok("POST", f"/_sandbox/conversations/{conversation}/call_tool", call)
    assert called["event"] == "conversation.tool_call"
    assert called["payload"].items() >= call.items()
