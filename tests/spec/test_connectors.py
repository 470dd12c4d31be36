"""Runtime checks against a real server of the Model Context Protocol, and against bad ones."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time

import pytest
from raw import Raw
from toolserver import serving_tools

from palprep.sandbox import Choices, Sandbox
from palprep.sandbox.handlers import conversations


@pytest.fixture(scope="module")
def tools():
    with serving_tools() as running:
        yield running


@pytest.fixture
def check(api):
    """Seed a connector and check it, in a minute of its own."""

    def run(**members):
        api.sandbox.advance(61)
        connector_id = api.fresh("c")
        api.seed(connectors=[{"connector_id": connector_id, **members}])
        return api.ok("POST", f"/v2/connectors/{connector_id}/runtime_check")

    return run


@pytest.mark.clause("connector.1")
@pytest.mark.clause("connector.2")
@pytest.mark.clause("connector.12")
def test_the_tools_of_a_real_server_are_listed_and_none_is_called(check, tools):
    result = check(url=tools.url)
    assert result.keys() == {"ok", "tool_count", "tool_names", "latency_ms", "error"}
    assert (result["ok"], result["error"]) == (True, None)
    assert (result["tool_count"], sorted(result["tool_names"])) == (2, ["cancel", "look_up"])
    assert isinstance(result["latency_ms"], int)
    assert 0 < result["latency_ms"] < 10_000
    assert tools.called == 0


@pytest.mark.clause("connector.3")
@pytest.mark.clause("connector.4")
def test_a_server_that_cannot_be_reached_is_a_200_with_424_inside(check):
    result = check(url="http://127.0.0.1:1/mcp")
    assert (result["ok"], result["tool_count"], result["tool_names"]) == (False, 0, [])
    assert result["error"].keys() == {"http_status", "message"}
    assert result["error"]["http_status"] == 424
    assert result["error"]["message"]


@pytest.mark.clause("connector.3")
def test_a_server_that_answers_with_an_error(check, receiver):
    receiver.answers += [(500, b"{}")] * 4
    result = check(url=receiver.url)
    assert (result["ok"], result["error"]["http_status"]) == (False, 500)


@pytest.mark.clause("connector.13")
def test_a_server_that_speaks_something_else(check, receiver, caplog):
    receiver.answers += [(200, b"<html>")] * 4
    result = check(url=receiver.url)
    assert (result["ok"], result["error"]["http_status"]) == (False, None)
    # No traceback in the terminal of the sandbox.
    assert [each for each in caplog.records if each.exc_info] == []


@pytest.mark.clause("connector.13")
def test_a_connector_without_a_server(check):
    error = {"http_status": None, "message": "The connector's record has no url."}
    assert check()["error"] == error


@pytest.mark.clause("connector.5")
@pytest.mark.clause("connector.6")
def test_a_token_endpoint_that_refuses(check, receiver, tools):
    receiver.answers.append((403, json.dumps({"error": "x" * 900}).encode()))
    auth = {"type": "client_credentials", "token_url": receiver.url, "client_id": "i"}
    result = check(url=tools.url, auth=auth)
    assert (result["ok"], result["error"]["http_status"]) == (False, 403)
    assert len(result["error"]["message"]) == 500


@pytest.mark.clause("connector.5")
def test_a_token_is_fetched_and_shown_to_the_server(check, receiver):
    receiver.answers += [(200, b'{"access_token":"t0k"}'), (500, b"{}"), (500, b"{}")]
    auth = {
        "type": "client_credentials",
        "token_url": receiver.url + "/token",
        "client_id": "i",
        "client_secret": "s",
        "scope": "tools",
    }
    assert check(url=receiver.url + "/mcp", auth=auth)["ok"] is False
    token, listing = receiver.requests[:2]
    assert token.path == "/token"
    assert token.body == b"grant_type=client_credentials&scope=tools"
    assert token.headers["authorization"] == "Basic aTpz"
    assert listing.headers["authorization"] == "Bearer t0k"


@pytest.mark.clause("connector.5")
def test_a_token_endpoint_without_a_token(check, receiver):
    auth = {"type": "client_credentials", "token_url": receiver.url}
    error = check(url="http://127.0.0.1:1/", auth=auth)["error"]
    assert error == {
        "http_status": 200,
        "message": "The token endpoint's answer holds no access_token.",
    }


@pytest.mark.clause("connector.7")
@pytest.mark.clause("connector.8")
def test_unknown_and_unfinished(api):
    unknown = api.send("POST", "/v2/connectors/never/runtime_check")
    assert (unknown.status_code, unknown.json().keys()) == (404, {"error"})
    connector_id = api.fresh("c")
    auth = {"type": "oauth", "finished": False}
    record = {"connector_id": connector_id, "url": "http://127.0.0.1:1/", "auth": auth}
    path = f"/v2/connectors/{connector_id}/runtime_check"
    api.seed(connectors=[record])
    assert api.send("POST", path).status_code == 409
    api.sandbox.advance(61)
    api.seed(connectors=[record | {"auth": auth | {"finished": True}}])
    assert api.send("POST", path).status_code == 200


@pytest.mark.clause("connector.9")
def test_the_eleventh_check_in_a_minute_is_too_many(api):
    api.sandbox.advance(61)
    paths = []
    for _ in range(2):
        connector_id = api.fresh("c")
        api.seed(connectors=[{"connector_id": connector_id, "url": "http://127.0.0.1:1/"}])
        paths.append(f"/v2/connectors/{connector_id}/runtime_check")
    for number in range(10):
        assert api.send("POST", paths[number % 2]).status_code == 200
        api.sandbox.advance(1)
    refused = api.send("POST", paths[0])
    assert (refused.status_code, refused.json().keys()) == (429, {"error"})
    assert refused.headers["retry-after"] == "50"
    api.sandbox.advance(0.6)
    refused = api.send("POST", paths[0])
    api.sandbox.advance(float(refused.headers["retry-after"]))
    assert api.send("POST", paths[0]).status_code == 200
    assert api.send("POST", paths[0]).status_code == 429


@pytest.mark.clause("connector.10")
@pytest.mark.clause("connector.4")
def test_while_one_check_runs_another_is_refused_and_silence_has_an_end(through):
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        Sandbox(choices=Choices(connector_seconds=1.0)) as sandbox,
        through(sandbox) as api,
        Raw(sandbox) as other,
    ):
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        api.seed(connectors=[{"connector_id": "c", "url": url}])
        path = "/v2/connectors/c/runtime_check"
        first = []
        thread = threading.Thread(target=lambda: first.append(api.ok("POST", path)))
        thread.start()
        deadline = time.monotonic() + 0.9
        statuses = []
        while 429 not in statuses and time.monotonic() < deadline and not first:
            time.sleep(0.1)
            statuses.append(other.send("POST", path).status_code)
        thread.join()
    assert 429 in statuses
    assert first[0]["error"]["http_status"] == 424
    assert first[0]["latency_ms"] >= 900


@pytest.mark.clause("connector.11")
def test_without_the_protocol_checks_are_not_available(api, monkeypatch):
    connector_id = api.fresh("c")
    api.seed(connectors=[{"connector_id": connector_id, "url": "http://127.0.0.1:1/"}])
    monkeypatch.setattr(conversations, "find_spec", lambda _: None)
    reply = api.send("POST", f"/v2/connectors/{connector_id}/runtime_check")
    assert (reply.status_code, reply.json().keys()) == (503, {"error"})


@pytest.mark.clause("connector.14")
def test_loading_the_protocol_is_no_part_of_a_check_and_stops_no_one(tools):
    """In a process of its own, in which the package has not been loaded."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CHECK, tools.url], capture_output=True, text=True, check=True
    )
    took, latency, slowest = json.loads(done.stdout)
    assert latency < 0.6 * took, (took, latency)
    assert slowest < 0.6 * took, (took, slowest)


FIRST_CHECK = """
import json, sys, threading, time
import httpx
from palprep.sandbox import Sandbox
with Sandbox() as sandbox:
    http = httpx.Client(base_url=sandbox.url, headers={"x-api-key": sandbox.user_key}, timeout=60)
    seed = {"connectors": [{"connector_id": "c", "url": sys.argv[1]}]}
    http.post("/_sandbox/seed", json=seed).raise_for_status()
    assert "mcp" not in sys.modules
    over, slowest = threading.Event(), [0.0]
    def others():
        with httpx.Client(base_url=sandbox.url, headers=http.headers, timeout=60) as other:
            while not over.is_set():
                started = time.monotonic()
                other.get("/v2/voices")
                slowest[0] = max(slowest[0], time.monotonic() - started)
                time.sleep(0.02)
    asking = threading.Thread(target=others)
    asking.start()
    started = time.monotonic()
    result = http.post("/v2/connectors/c/runtime_check").json()
    took = time.monotonic() - started
    over.set(); asking.join()
    assert result["ok"], result
    print(json.dumps([took, result["latency_ms"] / 1000, slowest[0]]))
"""
