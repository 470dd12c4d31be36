"""What both clients put on the wire and give back, over httpx.MockTransport."""

from __future__ import annotations

import inspect
import json
import logging
import pickle
import pydoc
from typing import Any, get_type_hints

import httpx
import pytest

from palprep import errors
from palprep._version import __version__
from palprep.api import Unspecified, calls
from palprep.client import AsyncClient, Client
from palprep.client.client import AsyncClientOptions, ClientOptions
from palprep.client.resources import Resource

VOICE = {"voice_id": "v1", "voice_name": "Ada", "status": "started", "tags": []}

# Every endpoint of the specification: how it is called, and what must travel.
EVERY: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str, Any, Any]] = [
    (
        "connectors.runtime_check", ("c",), {},
        "POST", "/v2/connectors/c/runtime_check", None,
        {"ok": True, "tool_count": 1, "tool_names": ["a"], "latency_ms": 5, "error": None},
    ),
    (
        "tools.create", (), {"name": "a", "description": "b", "parameters": {"type": "object"}},
        "POST", "/v2/tools",
        {"name": "a", "description": "b", "parameters": {"type": "object"}},
        {"tool_id": "t", "name": "a"},
    ),
    (
        "faces.validate_image", (b"\xff\xd8\xff",), {"model": "core-4.5"},
        "POST", "/v2/faces/image-validation",
        {"imageBase64": "/9j/", "mimeType": "image/jpeg", "model": "core-4.5"},
        {"passed": True, "message": "", "checks": [], "details": {}},
    ),
    (
        "replicas.validate_image", (b"\xff\xd8\xff",), {"mime_type": "image/png"},
        "POST", "/v2/replicas/image-validation",
        {"imageBase64": "/9j/", "mimeType": "image/png"},
        {"passed": False},
    ),
    (
        "voices.create", (), {"voice_name": "Ada", "training_audio_url": "https://e.com/a.wav"},
        "POST", "/v2/voices",
        {"voice_name": "Ada", "training_audio_url": "https://e.com/a.wav"},
        VOICE,
    ),
    ("voices.get", ("v/1",), {}, "GET", "/v2/voices/v%2F1", None, VOICE),
    (
        "voices.update", ("v1",), {"description": None},
        "PATCH", "/v2/voices/v1", {"description": None}, VOICE,
    ),
    (
        "pals.replace_skills", ("p", {"internet_search": {}}), {},
        "PUT", "/v2/pals/p/skills", {"skills": {"internet_search": {}}},
        {"data": {"internet_search": {}}},
    ),
    ("pals.delete", ("p",), {}, "DELETE", "/v2/pals/p", None, None),
    (
        "deployments.patch",
        ("d", [{"op": "replace", "path": "/name", "value": "x"}]), {"if_match": '"1"'},
        "PATCH", "/v2/deployments/d", [{"op": "replace", "path": "/name", "value": "x"}],
        {"deployment_id": "d", "status": "draft"},
    ),
    ("deployments.delete", ("d",), {}, "DELETE", "/v2/deployments/d", None, None),
    (
        "videos.rename", ("v", "New name"), {},
        "PATCH", "/v2/videos/v/name", {"video_name": "New name"}, None,
    ),
    (
        "documents.get", ("d",), {},
        "GET", "/v2/documents/d", None, {"document_id": "d", "status": "ready"},
    ),
    (
        "pronunciation_dictionaries.get", ("d",), {},
        "GET", "/v2/pronunciation-dictionaries/d", None,
        {"pronunciation_dictionary_id": "d", "rules": [{"text": "a", "type": "alias"}]},
    ),
    (
        "replicas.create", (), {"replica_name": "Ada", "train_video_url": "https://e.com/a.mp4"},
        "POST", "/v2/replicas",
        {"replica_name": "Ada", "train_video_url": "https://e.com/a.mp4"},
        {"replica_id": "r", "status": "started"},
    ),
    (
        "conversations.create", (), {"face_id": "f", "other": {"x": 1}},
        "POST", "/v2/conversations", {"face_id": "f", "x": 1}, {"anything": True},
    ),
    (
        "unspecified.get_replica", ("r",), {},
        "GET", "/v2/replicas/r", None, {"replica_id": "r", "status": "completed"},
    ),
    ("unspecified.list_voices", (), {"tag": "a b"}, "GET", "/v2/voices", None, {"data": [VOICE]}),
    (
        "unspecified.get_deployment", ("d",), {},
        "GET", "/v2/deployments/d", None, {"deployment_id": "d", "status": "active"},
    ),
    ("unspecified.list_tools", (), {}, "GET", "/v2/tools", None, {"data": []}),
    (
        "unspecified.get_tool", ("t",), {},
        "GET", "/v2/tools/t", None, {"tool_id": "t", "name": "a"},
    ),
    ("unspecified.delete_tool", ("t",), {}, "DELETE", "/v2/tools/t", None, None),
]  # fmt: skip


def test_the_table_holds_every_endpoint() -> None:
    seen = {(row[3], row[4].replace("v%2F1", "x")) for row in EVERY}
    assert len(seen) == len(calls.ENDPOINTS)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "method", "path", "body", "reply"), EVERY, ids=lambda v: str(v)[:24]
)
def test_every_endpoint(
    api, service, name, args, kwargs, method, path, body, reply
) -> None:  # fmt: skip
    content = b"" if reply is None else json.dumps(reply).encode()
    service.will(httpx.Response(200, content=content))
    record = api(name, *args, **kwargs)
    [request] = service.requests
    assert (request.method, request.url.raw_path.partition(b"?")[0]) == (
        method,
        b"/base" + path.encode(),
    )
    assert request.headers["x-api-key"] == "hush-hush-key"
    assert request.headers["user-agent"] == f"palprep/{__version__}"
    sent = request.read()
    assert (json.loads(sent) if sent else None) == body
    if sent:
        assert request.headers["content-type"] == "application/json"
        assert request.headers["content-length"] == str(len(sent))
    dumped = record.model_dump(mode="json", exclude_unset=True, warnings=False)
    shown = dumped["body"] if isinstance(record, Unspecified) else dumped
    if not isinstance(shown, dict):
        assert shown == reply
    for key, value in (shown or {}).items():
        assert value == reply[key]


def test_query_and_if_match_travel(api, service) -> None:
    service.will(httpx.Response(200, json={"data": []}))
    api("unspecified.list_voices", tag="a&b")
    assert service.requests[0].url.query == b"tag=a%26b"
    service.will(httpx.Response(200, json={"deployment_id": "d", "status": "draft"}))
    api("deployments.patch", "d", [], if_match='"7"')
    assert service.requests[1].headers["if-match"] == '"7"'


def test_raw_gives_status_headers_body_and_record(api, service) -> None:
    service.will(httpx.Response(201, json=VOICE | {"new": 1}, headers={"X-Request-Id": "r"}))
    raw = api("send_raw", calls.create_voice(voice_name="Ada"))
    assert (raw.status, raw.headers["x-request-id"]) == (201, "r")
    assert raw.json()["new"] == 1
    assert raw.record.voice_id == "v1"


def test_nothing_is_sent_when_a_rule_is_broken(api, service) -> None:
    with pytest.raises(errors.InvalidRequest):
        api("voices.create", voice_name="")
    assert service.requests == []
    service.will(httpx.Response(400, json={"error": "voice_name"}))
    with pytest.raises(errors.BadRequest):
        api("voices.create", voice_name="", validate=False)
    assert json.loads(service.requests[0].content) == {"voice_name": ""}


def test_a_failure_is_typed_and_pickles_without_the_key(api, service) -> None:
    service.will(
        httpx.Response(
            401, json={"message": "Invalid access token"}, headers={"x-request-id": "r9"}
        )
    )
    with pytest.raises(errors.AuthenticationError) as refused:
        api("voices.get", "v")
    again = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 -- our own bytes
    assert (again.status, again.shape, again.request_id) == (401, "message", "r9")
    assert b"hush" not in pickle.dumps(refused.value)


def test_a_service_that_quotes_the_key_shows_it_to_nobody(api, service) -> None:
    seen: list[Any] = []
    api.options["on_reply"] = lambda _, answer: seen.append(answer)
    said = {"error": "The key hush-hush-key is not known"}
    headers = {"X-Request-Id": "r9 of hush-hush-key", "X-Asked-With": "hush-hush-key"}
    service.will(httpx.Response(401, json=said, headers=headers))
    with pytest.raises(errors.AuthenticationError, match=r"The key \*\*\* is not known") as refused:
        api("voices.get", "v")
    assert b"hush" not in pickle.dumps([refused.value, seen])
    assert refused.value.request_id == "r9 of ***"
    assert len(service.requests) == 1


def test_timeouts_of_the_client_and_of_the_call(api, service) -> None:
    service.will(httpx.Response(200, json=VOICE))
    api.options["timeout"] = 7
    api("voices.get", "v")
    api("voices.get", "v", timeout=2.5)
    api("voices.get", "v", timeout=None)
    reads = [request.extensions["timeout"]["read"] for request in service.requests]
    assert reads == [7, 2.5, None]


def test_hooks_see_calls_and_answers_without_the_key(api, service) -> None:
    seen: list[str] = []
    api.options["on_request"] = [lambda call: seen.append(repr(call))]
    api.options["on_reply"] = [lambda call, answer: seen.append(f"{call.path} {answer!r}")]
    service.will(httpx.Response(503), httpx.Response(200, json=VOICE))
    api("voices.get", "v")
    assert [s.partition(" ")[0] for s in seen] == ["Call({'method':", "/v2/voices/v"] * 2
    assert "hush" not in "".join(seen)


def test_logs_say_what_happened_and_never_the_key(api, service, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    service.will(httpx.ConnectError("refused"), httpx.Response(200, json=VOICE))
    api("voices.create", voice_name="secret name", training_audio_url="https://e.com/?sig=hush")
    assert "POST /v2/voices: no answer (ConnectError: refused)" in caplog.text
    assert "POST /v2/voices: 200 in" in caplog.text
    assert "hush" not in caplog.text
    assert "secret name" not in caplog.text


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_the_key_cannot_be_seen(kind) -> None:
    client = kind(api_key="hush-hush", base_url="http://127.0.0.1:1")
    shown = [client, client.voices, client.voices.get, client._sender]
    assert "hush" not in "".join(f"{x!r}{x!s}" for x in shown)
    assert "hush" not in repr(vars(client)) + repr(client._sender.http.headers)
    assert repr(client) == f"{kind.__name__}(base_url={client.base_url!r})"
    with pytest.raises(TypeError):
        pickle.dumps(client)


@pytest.mark.parametrize(
    "base_url",
    ["", "api.example.com", "ftp://e.com", "https://", "https://e.com/v2", "https://e.com?x=1",
     "https://e.com?", "https://e.com/#", "https://user:pw@e.com", "https://user:p\nw@e.com",
     "http://[::1"],
)  # fmt: skip
def test_unusable_base_urls_are_refused(base_url) -> None:
    with pytest.raises(errors.UsageError, match=r"[Bb]ase URL") as caught:
        Client(api_key="k", base_url=base_url)
    assert "user" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "spelt"),
    [("HTTPS://API.Example.com:443/A/", "https://api.example.com/A"), ("http://[::1]:80", "http://[::1]"),
     ("http://[::80]:8080//", "http://[::80]:8080")],
)  # fmt: skip
def test_one_service_has_one_address_however_it_is_written(written, spelt) -> None:
    with Client(api_key="k", base_url=written) as client:
        assert client.base_url == spelt


@pytest.mark.parametrize("key", ["", " ", "k\n", "é", " k"])
def test_unusable_keys_are_refused_without_showing_them(key) -> None:
    with pytest.raises(errors.UsageError, match="PALPREP_API_KEY"):
        Client(api_key=key, base_url="https://e.com")


def test_a_key_that_travels_unencrypted_is_warned_of(caplog) -> None:
    Client(api_key="hush", base_url="http://127.0.0.1:9").close()
    assert caplog.text == ""
    Client(api_key="hush", base_url="http://example.com").close()
    assert "unencrypted to example.com" in caplog.text
    assert "hush" not in caplog.text


@pytest.mark.parametrize(
    ("client", "options"), [(Client, ClientOptions), (AsyncClient, AsyncClientOptions)]
)
def test_type_checkers_know_the_options_of_from_env(client, options) -> None:
    assert get_type_hints(options).keys() | {"api_key", "base_url"} == (
        inspect.signature(client).parameters.keys()
    )
    assert get_type_hints(options).keys() | {"environ"} == (
        inspect.signature(client.from_env).parameters.keys()
    )


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_an_option_that_there_is_not_is_a_type_error(client) -> None:
    named = {"api_key": "k", "base_url": "https://e.com"}
    with pytest.raises(TypeError, match="retrys"):
        client(**named, retrys=3)
    with pytest.raises(TypeError, match="retrys"):
        client.from_env({}, retrys=3)
    with pytest.raises(TypeError, match="proxy"):
        client(**named).with_options(proxy="http://e.com")
    with pytest.raises(TypeError, match="base_url"):
        client(api_key="k")


def test_help_names_the_resources_and_no_address() -> None:
    text = pydoc.render_doc(Client, renderer=pydoc.plaintext)
    assert " at 0x" not in text
    with Client(api_key="k", base_url="https://e.com") as client:
        resources = [name for name, each in vars(client).items() if isinstance(each, Resource)]
    assert "voices" in resources
    assert [name for name in resources if f"``{name}``" not in text] == []


@pytest.mark.parametrize(
    ("resource", "name", "where"),
    [
        ("voices", "list", "list_voices"),
        ("replicas", "get", "get_replica"),
        ("replicas", "wait", "wait_replica"),
        ("tools", "delete", "delete_tool"),
    ],
)
def test_an_operation_that_is_not_specified_is_led_to(resource, name, where) -> None:
    with Client(api_key="k", base_url="https://e.com") as client:
        with pytest.raises(AttributeError, match=rf"as client\.unspecified\.{where}"):
            getattr(getattr(client, resource), name)
        assert callable(getattr(client.unspecified, where))
        with pytest.raises(AttributeError, match="has no method 'creat'"):
            _ = getattr(client, resource).creat


def test_from_env() -> None:
    environ = {"PALPREP_API_KEY": "k", "PALPREP_BASE_URL": "https://e.com/x/"}
    with Client.from_env(environ, retries=0) as client:
        assert client.base_url == "https://e.com/x"
    with pytest.raises(errors.UsageError, match="PALPREP_BASE_URL is not set"):
        AsyncClient.from_env({"PALPREP_API_KEY": "k"})
    with pytest.raises(errors.UsageError, match="PALPREP_API_KEY is not set"):
        Client.from_env({"PALPREP_BASE_URL": "https://e.com", "PALPREP_API_KEY": " "})


def test_options_make_a_copy_that_shares_connections(service) -> None:
    service.will(httpx.Response(503))
    with Client(
        api_key="k",
        base_url="https://e.com",
        transport=httpx.MockTransport(service),
        sleep=service.time.sleep,
    ) as client:
        hasty = client.with_options(retries=0, timeout=1)
        with pytest.raises(errors.ServiceUnavailable):
            hasty.voices.get("v")
        assert len(service.requests) == 1
        assert service.requests[0].extensions["timeout"]["read"] == 1
        with pytest.raises(errors.ServiceUnavailable):
            client.voices.get("v")
        assert len(service.requests) == 4


def test_a_call_built_from_the_declarations_can_be_sent(api, service) -> None:
    service.will(httpx.Response(200, json=VOICE))
    raw = api("send_raw", calls.get_voice("v"))
    assert (raw.status, raw.record.voice_id) == (200, "v1")


def test_an_id_that_no_url_can_hold_is_refused(api, service) -> None:
    with pytest.raises(errors.UsageError, match="no URL"):
        api("voices.get", "v" * 70_000)
    with pytest.raises(TypeError, match="voice_id"):
        api("voices.get", validate=False)
    assert service.requests == []


def test_a_reply_nested_beyond_reason_is_no_traceback(api, service) -> None:
    service.will(httpx.Response(200, content=b"[" * 200_000))
    with pytest.raises(errors.UnexpectedReply):
        api("voices.get", "v")
