"""The developer's own routes under /_sandbox."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import httpx
import pytest
from raw import Raw

import palprep.sandbox
from palprep.sandbox import Choices, Sandbox
from palprep.sandbox.choices import conduct
from palprep.sandbox.control import CONTROLS
from palprep.sandbox.store import Store

ADMIN = ["/_sandbox/log", "/_sandbox/choices", "/_sandbox/faults", "/_sandbox/clock"]

NOON = "2026-01-01T12:00:00.000000"


def test_a_sandbox_has_every_control_as_a_method():
    methods = {name for name in CONTROLS if not name.startswith("_")}
    assert len(methods) >= 10
    assert {name for name in methods if not callable(getattr(Sandbox(), name))} == set()


@pytest.mark.parametrize("path", ADMIN)
def test_no_key_is_asked(raw, path):
    assert raw.send("GET", path, headers={"x-api-key": ""}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "rebound.example"},
        {"host": "rebound.example:8700"},
        {"origin": "https://page.example"},
        {"origin": "null"},
    ],
)
def test_no_web_page_reaches_them(raw, headers):
    for path in ADMIN:
        assert raw.send("GET", path, headers=headers).status_code == 403
    reply = raw.send("POST", "/_sandbox/clock", {"advance": 1}, headers=headers)
    assert reply.status_code == 403


def test_a_page_of_this_machine_may(raw):
    headers = {"origin": "http://localhost:8888"}
    assert raw.send("GET", "/_sandbox/log", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("clock", {"advance": -1}, "how far"),
        ("clock", {"advance": "1"}, "advance: Input should be a valid number"),
        ("clock", {"advance": True}, "advance: Input should be a valid number"),
        ("clock", {}, "advance: Input should be a valid number"),
        ("clock", [], "object"),
        ("clock", {"advance": 1, "answered_wihtin": 1}, "did you mean answered_within?"),
        (
            "trainings/v/end",
            {"error": "Too dark."},
            "error is no member here; did you mean error_m",
        ),
        ("seed", [], "object"),
        ("seed", {"planets": []}, "planets"),
        ("seed", {"pals": {}}, "array"),
        ("seed", {"pals": [{"name": "x"}]}, "pals[0]"),
        ("seed", {"pals": [7]}, "pals[0]"),
        ("seed", {"tools": [{"tool_id": "t", "name": "end_call"}]}, "end_call"),
        (
            "seed",
            {"voices": [{"voice_id": "v", "status": "flying"}]},
            "voices[0] in the seed",
        ),
        ("seed", {"documents": [{"document_id": "d", "progress": 900}]}, "progress"),
        ("seed", {"voices": [{"voice_id": "v", "voice_nmae": "A"}]}, "did you mean voice_name"),
        ("seed", {"tools": [{"tool_id": "t", "parameters": 7}]}, "parameters must be an object"),
        ("seed", {"voices": [{"voice_id": ""}]}, "no voice_id"),
        ("seed", {"voices": [{"voice_id": "v", "voice_name": "x" * 300}]}, "voice_name"),
        ("seed", {"voices": [{"voice_id": "v", "tags": ["x"] * 60}]}, "tags"),
        ("seed", {"voices": [{"voice_id": "v", "tags": ["x" * 65]}]}, "tags.0"),
        ("seed", {"voices": [{"voice_id": "v", "description": "x" * 1001}]}, "description"),
        ("seed", {"voices": [{"voice_id": "v", "created_at": "2026-01-01"}]}, "created_at"),
        ("seed", {"voices": [{"voice_id": "v", "created_at": f"{NOON}Z"}]}, "created_at"),
        ("seed", {"tools": [{"tool_id": "t", "updated_at": "yesterday"}]}, "updated_at"),
        ("seed", {"tools": [{"tool_id": "t", "name": "1 bad"}]}, "name"),
        ("seed", {"tools": [{"tool_id": "t", "parameters": {"type": "array"}}]}, "parameters.type"),
        ("seed", {"tools": [{"tool_id": "t", "description": "x" * 10_000}]}, "10,000"),
        ("seed", {"tools": [{"tool_id": "t", "on_call": "static_filler"}]}, "static_filler"),
        ("seed", {"tools": [{"tool_id": "t", "trigger_type": "post_call"}]}, "delivery.api"),
        ("seed", {"documents": [{"document_id": "d", "progress": 40}]}, "progress must be null"),
        (
            "seed",
            {"documents": [{"document_id": "d", "status": "started", "progress": 0}]},
            "progress must be null while status is started",
        ),
        ("seed", {"voices": [{"voice_id": "v", "tags": None}]}, "tags"),
        (
            "seed",
            {"tools": [{"tool_id": "t", "description": None}]},
            "description must not be null",
        ),
        (
            "seed",
            {"documents": [{"document_id": "d", "crawl_config": {"depth": None}}]},
            "crawl_config.depth must not be null",
        ),
        (
            "seed",
            {
                "pronunciation_dictionaries": [
                    {"pronunciation_dictionary_id": "p", "rules": [{"text": "a", "type": None}]}
                ]
            },
            "rules.0.type must not be null",
        ),
        ("seed", {"deployments": [{"deployment_id": "d", "name": None}]}, "name must not be null"),
        ("faults", {"faults": 1}, "wrong at faults"),
        ("faults", [{"on": "request", "variant": "x"}], "undecodable_image"),
    ],
)
def test_what_cannot_be_meant_is_said(raw, path, body, says):
    reply = raw.send("POST", f"/_sandbox/{path}", body)
    assert reply.status_code == 400
    assert says in reply.json()["error"]


def test_an_unknown_parameter_is_refused_by_every_route(raw):
    assert len(CONTROLS) >= 10
    for each in CONTROLS.values():
        path = "/_sandbox" + re.sub(r"\{\w+\}", "x", each.path)
        reply = raw.send(each.method, f"{path}?expires_in=5", content=b"{}")
        assert (reply.status_code, reply.json()) == (
            400,
            {"error": "expires_in is no parameter here; this route takes no parameters"},
        )
    assert raw.send("POST", "/_sandbox/clock?advance=60", {"advance": 1}).status_code == 400


def test_a_body_that_means_nothing_is_refused(raw):
    for method, path in [("POST", "reset"), ("GET", "clock"), ("GET", "log")]:
        reply = raw.send(method, f"/_sandbox/{path}", {"limit": 3})
        assert reply.status_code == 400
        assert reply.json()["error"] == "limit is no member here; this route takes no members"


@pytest.mark.parametrize("content", [b"{", b'{"advance": NaN}', b'{"advance": 1e999}', b"\xff"])
def test_what_is_no_number_or_no_json_is_said(raw, content):
    assert raw.send("POST", "/_sandbox/clock", content=content).status_code == 400


def test_a_seed_is_all_or_nothing(raw):
    pal_id = raw.fresh("p")
    body = {"pals": [{"pal_id": pal_id}], "videos": [{}]}
    assert raw.send("POST", "/_sandbox/seed", body).status_code == 400
    assert raw.send("DELETE", f"/v2/pals/{pal_id}").status_code == 400
    stored = raw.ok("POST", "/_sandbox/seed", {"pals": [{"pal_id": pal_id}]})
    assert stored == {"stored": {"pals": 1}}
    assert raw.send("DELETE", f"/v2/pals/{pal_id}").status_code == 204


@pytest.mark.parametrize(
    ("kind", "members", "member"),
    [
        ("pals", {"layers": []}, "layers"),
        ("pals", {"layers": {"tts": {"voice_id": ["v"]}}}, "layers.tts.voice_id"),
        ("pals", {"tool_ids": 5}, "tool_ids"),
        ("faces", {"default_voice_id": {}}, "default_voice_id"),
        ("replicas", {"default_voice_id": {}}, "default_voice_id"),
        ("connectors", {"auth": "oauth"}, "auth"),
        ("connectors", {"auth": {"client_id": 7}}, "auth.client_id"),
        ("connectors", {"headers": "x"}, "headers"),
    ],
)
def test_a_seed_that_could_not_be_read_later_is_refused(raw, kind, members, member):
    own = {f"{kind[:-1]}_id": raw.fresh(kind[0])}
    refused = raw.refused("POST", "/_sandbox/seed", {kind: [own | members]})
    assert f"{kind}[0] in the seed: {member}" in refused["error"]
    raw.seed(**{kind: [own | {member.partition(".")[0]: None, "anything": [1]}]})


def test_what_a_seed_leaves_out_goes_with_its_state(raw):
    ids = {kind: raw.fresh(kind[0]) for kind in ("voice", "replica", "document", "deployment")}
    gone = {"replica_thumbnail_video_url": "https://media.example/gone.mp4"}
    raw.seed(
        voices=[{"voice_id": ids["voice"], "status": "error", "created_at": NOON}],
        replicas=[{"replica_id": ids["replica"], "status": "error"}],
        documents=[{"document_id": ids["document"], "status": "processing"}],
        deployments=[{"deployment_id": ids["deployment"], **gone}],
    )
    shown = {kind: raw.ok("GET", f"/v2/{kind}s/{own}") for kind, own in ids.items()}
    assert shown["voice"]["error_message"] == "The training failed."
    assert shown["voice"]["created_at"] == NOON
    assert shown["replica"]["error_message"] == "The training failed."
    assert shown["document"]["progress"] == 0
    assert shown["deployment"].keys().isdisjoint(gone)


def test_a_step_that_was_done_before_a_kill_is_not_done_again(raw, monkeypatch):
    """The job is removed after it was done: a kill in between leaves it."""
    left, finish = [], Store.finish
    monkeypatch.setattr(
        Store, "finish", lambda self, job: finish(self, job) if job in left else left.append(job)
    )
    document = {"document_id": raw.fresh("d"), "status": "started", "crawl_config": {"depth": 1}}
    raw.seed(documents=[document])
    raw.sandbox.advance(4)
    assert len(left) == 4
    shown = raw.ok("GET", f"/v2/documents/{document['document_id']}")
    assert (shown["status"], shown["crawl_count"]) == ("ready", 1)
    raw.sandbox.advance(1)
    assert len(left) == 4


def test_a_document_seeded_twice_walks_once(raw):
    document = {"document_id": raw.fresh("d"), "status": "started"}
    raw.seed(documents=[document])
    raw.sandbox.advance(0.5)
    raw.seed(documents=[document])
    raw.sandbox.advance(1.5)
    shown = raw.ok("GET", f"/v2/documents/{document['document_id']}")
    assert (shown["status"], shown["progress"]) == ("processing", 0)


def test_the_log_shows_requests_and_no_secrets(raw):
    raw.send("GET", "/v2/tools", headers={"x-api-key": "a-secret-of-mine"})
    auth = {"type": "bearer", "token": "a-token-of-mine"}
    api = {"url": "https://me.example/x?sig=a-signature", "auth": auth}
    raw.tool(name="logged", delivery={"app_message": False, "api": api})
    raw.send("POST", "/v2/voices", {"voice_name": "Ada", "callback_url": "https://h/a-path"})
    text = raw.send("GET", "/_sandbox/log").text
    for secret in ("a-secret-of-mine", "a-token-of-mine", "a-signature", "a-path"):
        assert secret not in text
    assert raw.sandbox.user_key not in text
    listing = raw.send("GET", "/v2/tools")
    first, tool, second, third = raw.ok("GET", "/_sandbox/log")["requests"][-4:]
    assert (first["key"], first["status"], first["endpoint"]) == (None, 401, "tools.list")
    assert tool["body"]["delivery"]["api"]["url"] == "https://me.example/x?***"
    assert (second["body"]["voice_name"], third["body"]) == ("Ada", None)
    assert str(third["seq"]) == listing.headers["x-request-id"]
    assert (second["key"], second["status"], second["method"]) == ("user", 400, "POST")


def test_the_log_shows_what_was_answered(raw):
    raw.send("GET", "/v2/tools", headers={"x-mine": "yes", "cookie": "a-cookie"})
    raw.send("GET", "/v2/tools", headers={"x-api-key": "wrong"})
    raw.faults({"on": "request", "status": 429, "headers": {"Retry-After": "7"}})
    raw.send("GET", "/v2/tools")
    raw.faults({"on": "request", "drop": "before_commit"})
    with pytest.raises(httpx.TransportError):
        raw.send("GET", "/v2/tools")
    read, refused, limited, lost = raw.ok("GET", "/_sandbox/log")["requests"][-4:]
    assert (read["headers"]["x-mine"], read["headers"]["cookie"]) == ("yes", "***")
    assert (read["headers"]["x-api-key"], read["answer"].keys()) == ("***", {"data"})
    assert refused["answer"] == {"message": "Invalid access token."}
    assert limited["answer_headers"] == {"Retry-After": "7"}
    assert (lost["answer"], lost["answer_headers"], lost["status"]) == (None, None, None)


def test_who_has_the_sandbox_sees_addresses_unless_they_are_kept(raw, tmp_path):
    url = "https://app.example/path?sig=a-signature"
    sent = {"voice_name": "Ada", "training_audio_url": url, "callback_url": url}
    raw.send("POST", "/v2/voices", sent)
    assert raw.sandbox.log()["requests"][-1]["body"] == sent
    assert "a-signature" not in raw.send("GET", "/_sandbox/log").text
    for _ in range(2):
        with Sandbox(tmp_path, clock="virtual") as kept, Raw(kept) as asked:
            asked.send("POST", "/v2/voices", sent)
            assert "a-signature" not in str(kept.log()["requests"])


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"{", "<1 bytes, not JSON>"),
        (b"[" * 500 + b"]" * 500, "<1000 bytes, not JSON>"),
        (b'{"description":"' + b"x" * 70_000 + b'"}', "<70018 bytes>"),
        (b'{"description":"' + b"x" * 600 + b'"}', {"description": "<600 characters>"}),
    ],
)
def test_whatever_a_body_is_the_log_stays_short(raw, content, shown):
    raw.send("POST", "/v2/voices", content=content)
    logged = raw.ok("GET", "/_sandbox/log")["requests"][-1]["body"]
    assert logged == shown or isinstance(logged, list)


def test_every_choice_has_a_place_and_a_text(raw):
    choices = raw.ok("GET", "/_sandbox/choices")["choices"]
    ids = [choice["id"] for choice in choices]
    assert len(ids) == len(set(ids))
    # What goes with a judge or trainer of other people's is not told of this sandbox's own.
    elsewhere = {name for name, each in conduct().items() if "goes_with" in each} - set(ids)
    assert len(ids) == len(Choices.model_fields) + len(conduct()) - len(elsewhere) + 1
    assert 0 < len(elsewhere) < 5
    assert all(choice["where"] and choice["what"] for choice in choices)


def test_every_choice_that_is_a_value_is_asked_for_somewhere():
    package = Path(palprep.sandbox.__file__).parent
    names = {
        node.attr
        for path in package.rglob("*.py")
        if path.name != "choices.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert sorted(Choices.model_fields.keys() - names) == []


def test_a_seed_with_half_a_character(raw):
    refused = raw.send("POST", "/_sandbox/seed", content=b'{"pals": [{"pal_id": "\\ud800"}]}')
    assert refused.status_code == 400
    assert "The body is not JSON" in refused.json()["error"]
