"""Post-call tools: one HTTPS request each, once the conversation has ended."""

from __future__ import annotations

import contextlib
import socket
import time
from urllib.parse import parse_qsl, unquote

import pytest
from receiver import receiving
from tls import loopback_tls

from palprep.sandbox import Sandbox


@pytest.fixture(scope="module")
def desk(through, tmp_path_factory):
    """A sandbox that trusts the webhooks' certificate, and an HTTPS receiver with it."""
    server, certificate = loopback_tls(tmp_path_factory.mktemp("tls"))
    with pytest.MonkeyPatch.context() as trusting, contextlib.ExitStack() as stack:
        hook = stack.enter_context(receiving(server))
        trusting.setenv("SSL_CERT_FILE", str(certificate))
        sandbox = stack.enter_context(Sandbox(clock="virtual"))
        trusting.undo()
        api = stack.enter_context(through(sandbox))
        api.hook = hook
        yield api


def post_call(desk, path="/x", **api):
    delivery = {"app_message": False, "api": {"url": desk.hook.url + path, **api}}
    properties = {"who": {"type": "string"}, "score": {"type": "integer"}}
    return desk.tool(
        trigger_type="post_call",
        delivery=delivery,
        parameters={"type": "object", "properties": properties},
    )


def converse(desk, *tools):
    """Start a conversation with a PAL that has these tools; its id."""
    pal = desk.fresh("p")
    desk.seed(pals=[{"pal_id": pal, "tool_ids": [tool["tool_id"] for tool in tools]}])
    return desk.ok("POST", "/v2/conversations", {"pal_id": pal})["conversation_id"]


def end(desk, conversation, **arguments):
    ended = desk.ok("POST", f"/_sandbox/conversations/{conversation}/end", {"arguments": arguments})
    desk.sandbox.advance(0)
    return ended


@pytest.fixture(autouse=True)
def _empty(desk):
    desk.hook.requests.clear()
    desk.hook.answers.clear()


@pytest.mark.clause("create-tool.9")
@pytest.mark.clause("delivery.3")
@pytest.mark.clause("delivery.4")
@pytest.mark.clause("delivery.5")
@pytest.mark.clause("delivery.7")
@pytest.mark.clause("delivery.9")
@pytest.mark.clause("delivery.10")
@pytest.mark.clause("delivery.11")
@pytest.mark.clause("delivery.8")
def test_the_request_is_the_one_that_delivery_describes(desk):
    tool = post_call(
        desk,
        "/people/{who}?fixed=1",
        method="POST",
        headers={"X-Source": "palprep"},
        auth={"type": "bearer", "token": "t0k"},
        body_template={"text": "{who} scored {score}", "score": "{score}"},
        query_params={"name": "{who}"},
        content_type="application/vnd.score+json",
    )
    conversation = converse(desk, tool)
    assert desk.hook.requests == []
    end(desk, conversation, **{tool["name"]: {"who": "Ada L", "score": 9}})
    (request,) = desk.hook.wait(1)
    assert request.method == "POST"
    assert request.path == "/people/Ada%20L?fixed=1&name=Ada+L"
    assert request.json == {"text": "Ada L scored 9", "score": 9}
    assert request.headers["x-source"] == "palprep"
    assert request.headers["authorization"] == "Bearer t0k"
    assert request.headers["content-type"] == "application/vnd.score+json"


@pytest.mark.clause("create-tool.9")
def test_it_runs_once_whatever_its_server_answers_and_only_after_the_end(desk):
    tool, other = post_call(desk), post_call(desk, "/other")
    conversation = converse(desk, tool)
    desk.hook.answers.append((500, b""))
    desk.sandbox.advance(100)
    assert desk.hook.requests == []
    assert end(desk, conversation)["status"] == "ended"
    desk.sandbox.advance(10_000)
    assert [request.path for request in desk.hook.requests] == ["/x"]
    again = desk.send("POST", f"/_sandbox/conversations/{conversation}/end")
    assert again.status_code == 404
    log = desk.ok("GET", "/_sandbox/log")["callbacks"]
    assert [c["status"] for c in log if c["event"] == f"tool:{tool['name']}"] == [500]
    assert not [c for c in log if c["event"] == f"tool:{other['name']}"]


@pytest.mark.clause("create-tool.9")
def test_a_conversation_ends_by_the_clock_too_and_in_call_tools_do_not_run(desk):
    in_call = desk.tool(delivery={"app_message": False, "api": {"url": desk.hook.url + "/in"}})
    converse(desk, post_call(desk), in_call)
    desk.sandbox.advance(3599)
    assert desk.hook.requests == []
    desk.sandbox.advance(1)
    (request,) = desk.hook.wait(1)
    assert (request.path, request.json) == ("/x", {})


@pytest.mark.clause("delivery.6")
def test_a_server_that_takes_too_long_is_given_up(desk):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tool = post_call(desk, timeout=1)
        tool["delivery"]["api"]["url"] = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        desk.seed(tools=[tool])
        conversation = converse(desk, tool)
        started = time.monotonic()
        end(desk, conversation)
        assert 0.9 < time.monotonic() - started < 8
    log = desk.ok("GET", "/_sandbox/log")["callbacks"]
    (entry,) = [c for c in log if c["event"] == f"tool:{tool['name']}"]
    assert entry["status"] is None
    assert "Timeout" in entry["error"]


@pytest.mark.clause("delivery.14")
def test_arguments_that_are_no_strings_stand_as_json_everywhere(desk):
    query = {"flag": "{flag}", "list": "{list}", "said": "x{flag}", "who": "{who}"}
    template = {"said": "{flag} {list}", "flag": "{flag}"}
    tool = post_call(desk, "/{flag}/{list}", query_params=query, body_template=template)
    arguments = {"flag": True, "list": ["a", "b"], "who": "true"}
    end(desk, converse(desk, tool), **{tool["name"]: arguments})
    (request,) = desk.hook.wait(1)
    path, _, sent = request.path.partition("?")
    assert unquote(path) == '/true/["a", "b"]'
    assert dict(parse_qsl(sent)) == {
        "flag": "true", "list": '["a", "b"]', "said": "xtrue", "who": "true"
    }  # fmt: skip
    assert request.json == {"said": 'true ["a", "b"]', "flag": True}


@pytest.mark.clause("create-tool.9")
def test_a_tool_that_cannot_be_sent_is_in_the_log(desk):
    tool = post_call(desk, auth={"type": "api_key", "name": "x-key", "value": "schlüssel"})
    end(desk, converse(desk, tool))
    log = desk.ok("GET", "/_sandbox/log")["callbacks"]
    (entry,) = [c for c in log if c["event"] == f"tool:{tool['name']}"]
    assert entry["status"] is None
    assert "ascii" in entry["error"]
