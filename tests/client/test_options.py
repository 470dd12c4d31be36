"""What a caller may add to a call and hear of it: headers, query, hooks, the log."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle

import httpx
import pytest

from palprep import errors
from palprep.api import calls
from palprep.client import AsyncClient, Client, NoAnswer
from palprep.client.client import log_as_asked

VOICE = {"voice_id": "v1", "status": "started"}


def test_extra_headers_and_query_travel(api, service):
    service.will(httpx.Response(200, json={"data": []}))
    api("unspecified.list_voices", tag="a", extra_headers={"X-Trace": "7"}, extra_query={"n": 2})
    (request,) = service.requests
    assert request.headers["x-trace"] == "7"
    assert dict(request.url.params) == {"tag": "a", "n": "2"}


def test_an_array_in_a_query_travels_as_several_pairs(api, service):
    service.will(httpx.Response(200, json={"data": []}))
    api.options |= {"query": {"team": ["x", "y"]}}
    api("request", "GET", "/v2/voices", query={"tag": ["a", "b c"], "n": (1, True)})
    assert service.requests[-1].url.query == b"team=x&team=y&tag=a&tag=b+c&n=1&n=true"


def test_a_query_of_the_path_travels_beside_others_and_shows_no_secret(api, service, caplog):
    service.will(httpx.Response(404))
    api.options |= {"query": {"team": True, "a": "0"}}
    with pytest.raises(errors.NotFound) as caught:
        api("request", "GET", "/v2/x?a=1&a=%202&token=hush", query={"b": False, "secret": "hush"})
    (request,) = service.requests
    assert request.url.params.multi_items() == [
        ("team", "true"), ("a", "1"), ("a", " 2"), ("token", "hush"), ("b", "false"),
        ("secret", "hush"),
    ]  # fmt: skip
    assert "hush" not in f"{caught.value}{caught.value.call}{caplog.text}"


def test_a_header_of_a_call_replaces_that_of_the_client_however_it_is_spelt(api, service):
    service.will(httpx.Response(200, json={"deployment_id": "d", "status": "draft"}))
    api.options |= {"headers": {"if-match": '"1"'}}
    api("deployments.patch", "d", [], if_match='"2"')
    assert service.requests[0].headers.get_list("if-match") == ['"2"']


@pytest.mark.parametrize(
    "headers",
    [{"x-api-key": "other"}, {"Host": "h"}, {"content-length": "1"}, {"x": "ä"}, {"x": "a\r\nb: c"},
     {"x y": "a"}, {"x": 7}],
)  # fmt: skip
def test_extra_headers_that_cannot_travel_are_refused(api, service, headers):
    with pytest.raises(errors.InvalidRequest):
        api("voices.get", "v", extra_headers=headers, validate=False)
    assert service.requests == []


@pytest.mark.parametrize("etag", ["ä", '"1"\r\nx: y', "a\x00b", " "])
def test_an_etag_that_no_header_can_carry_is_refused_by_name(api, service, etag):
    with pytest.raises(errors.InvalidRequest, match="If-Match must be a header"):
        api("deployments.patch", "d", [], if_match=etag)
    assert service.requests == []


@pytest.mark.parametrize("value", [".", "..", "a/..", "../x", "%2e%2e", "?", "#"])
def test_an_id_leads_to_no_other_path(api, service, value):
    service.will(httpx.Response(204))
    api("pals.delete", value)
    (request,) = service.requests
    raw = request.url.raw_path.decode()
    assert raw.startswith("/base/v2/pals/")
    assert raw.count("/") == 4
    assert calls.delete_pal.match(raw.removeprefix("/base")) == {"pal_id": value}


@pytest.mark.parametrize(
    ("method", "sent", "times"),
    [("GET", None, 3), ("PUT", {"a": 1}, 3), ("POST", {"a": 1}, 1), ("PATCH", [1], 1)],
)
def test_what_has_no_method_yet_can_be_asked_for(api, service, method, sent, times):
    service.will(httpx.Response(503))
    body = {} if sent is None else {"body": sent}
    with pytest.raises((errors.ServiceUnavailable, errors.OutcomeUnknown)):
        api("request", method, "/v2/new%2Fthings", query={"n": 1}, headers={"x-a": "b"}, **body)
    assert len(service.requests) == times
    request = service.requests[0]
    assert request.url.raw_path == b"/base/v2/new%2Fthings?n=1"
    assert request.headers["x-a"] == "b"
    service.will(httpx.Response(200, json={"a": 1}, headers={"x-request-id": "r1"}))
    reply = api("request", "GET", "/v2/things")
    assert (reply.status, reply.json(), reply.record.request_id) == (200, {"a": 1}, "r1")


@pytest.mark.parametrize(("method", "path"), [("TRACE", "/v2"), ("GET", "v2"), ("GET", "")])
def test_what_is_no_method_or_no_path_is_refused(api, method, path):
    with pytest.raises(errors.UsageError, match="path"):
        api("request", method, path)


def test_strictly_a_reply_that_is_not_as_specified_is_an_error(api, service):
    service.will(httpx.Response(200, json=VOICE | {"mood": "good"}))
    assert api("voices.get", "v1").mood == "good"
    api.options["strict"] = True
    with pytest.raises(errors.UnexpectedReply, match="mood") as unexpected:
        api("voices.get", "v1")
    assert unexpected.value.call["path"] == "/v2/voices/v1"


def test_a_creation_that_cannot_be_read_names_its_call_and_request(api, service):
    service.will(httpx.Response(200, json={"ok": True}, headers={"x-request-id": "r9"}))
    with pytest.raises(errors.UnexpectedReply, match="r9") as unexpected:
        api("voices.create", voice_name="Ada")
    error = unexpected.value
    assert (error.request_id, error.body) == ("r9", {"ok": True})
    assert error.call["body"] == {"voice_name": "Ada"}
    assert len(service.requests) == 1


def test_hooks_are_told_of_missing_answers(api, service):
    told = []
    api.options |= {"on_failure": [lambda call, failed: told.append(failed)]}
    service.will(httpx.ReadTimeout("slow"), httpx.Response(503), httpx.Response(200, json=VOICE))
    api("voices.get", "v1")
    (failed,) = told
    assert isinstance(failed, NoAnswer)
    assert (failed.sent, failed.timed_out) == (True, True)


async def test_async_hooks_are_awaited(service):
    told = []

    async def hook(*about):
        told.append(len(about))

    service.will(httpx.Response(503), httpx.Response(200, json=VOICE))
    hooks = {name: [hook] for name in ("on_request", "on_reply", "on_failure")}
    async with AsyncClient(
        api_key="k", base_url="https://e.com", transport=httpx.MockTransport(service),
        sleep=service.time.sleep_async, **hooks,
    ) as client:  # fmt: skip
        await client.voices.get("v1")
    assert told == [1, 2, 1, 2]


def test_a_hook_may_be_a_function_by_itself(api, service):
    told = []
    api.options |= {"on_request": told.append, "on_reply": lambda call, answer: told.append(answer)}
    service.will(httpx.Response(200, json=VOICE))
    api("voices.get", "v1")
    assert [each.path if hasattr(each, "path") else each.status for each in told] == [
        "/v2/voices/v1",
        200,
    ]
    api.options["on_failure"] = ["print"]
    with pytest.raises(errors.UsageError, match="on_failure takes a function"):
        api("voices.get", "v1")


def test_an_extra_body_keeps_the_typed_record(api, service):
    service.will(httpx.Response(200, json=VOICE))
    voice = api("voices.create", voice_name="Ada", extra_body={"accent": {"is": "new"}})
    assert voice.voice_id == "v1"
    assert json.loads(service.requests[0].content) == {"voice_name": "Ada", "accent": {"is": "new"}}
    api("voices.get", "v1", extra_body={"a": 1})
    assert json.loads(service.requests[1].content) == {"a": 1}
    service.will(httpx.Response(200, json={"passed": True}))
    assert api("faces.validate_image", b"\xff\xd8\xff", extra_body={"strict": True}).passed
    assert json.loads(service.requests[2].read()) == {
        "imageBase64": "/9j/", "mimeType": "image/jpeg", "strict": True,
    }  # fmt: skip
    with pytest.raises(errors.InvalidRequest, match="extra_body needs a body that is an object"):
        api("deployments.patch", "d", [], extra_body={"a": 1})


def test_headers_and_query_of_the_client_travel_with_every_request(api, service):
    service.will(httpx.Response(200, json={"data": []}))
    api.options |= {
        "headers": {"X-Team": "a", "X-Trace": "0"},
        "query": {"tenant": "t", "tag": "b"},
    }
    api("unspecified.list_voices", tag="c", extra_headers={"x-trace": "7"})
    (request,) = service.requests
    assert (request.headers["x-team"], request.headers["x-trace"]) == ("a", "7")
    assert dict(request.url.params) == {"tenant": "t", "tag": "c"}
    api.options["headers"] = {"x-api-key": "other"}
    with pytest.raises(errors.InvalidRequest, match="set by the client"):
        api("unspecified.list_voices")


def test_a_copy_has_what_it_is_given_of_its_own(service):
    service.will(httpx.Response(200, json=VOICE | {"mood": "good"}))
    told = []
    with Client(
        api_key="k", base_url="https://e.com", transport=httpx.MockTransport(service),
        headers={"x-a": "1"}, query={"a": "1"}, on_reply=lambda *_: told.append("first"),
    ) as client:  # fmt: skip
        copy = client.with_options(
            api_key="k2", headers={"x-b": "2"}, query={"b": "2"}, strict=True,
            on_request=[lambda _: told.append("copy")],
        )  # fmt: skip
        with pytest.raises(errors.UnexpectedReply, match="mood"):
            copy.voices.get("v")
        assert client.voices.get("v").mood == "good"
        assert told == ["copy", "first", "first"]
        of_copy, of_client = service.requests
        assert [of_copy.headers[name] for name in ("x-api-key", "x-a", "x-b")] == ["k2", "1", "2"]
        assert dict(of_copy.url.params) == {"a": "1", "b": "2"}
        assert (of_client.headers["x-api-key"], "x-b" in of_client.headers) == ("k", False)
        assert client.voices.get("v").voice_id == "v1"
        for wrong in ({"api_key": ""}, {"on_request": 3}, {"query": 3}):
            with pytest.raises(errors.UsageError):
                client.with_options(**wrong)


def test_an_error_holds_what_was_sent_and_what_came(api, service):
    service.will(httpx.Response(400, headers={"X-Trace": "t"}, json={"error": "bad"}))
    with pytest.raises(errors.BadRequest) as refused:
        api("voices.create", voice_name="Ada", callback_url="https://e.com/nonce")
    error = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 -- our own bytes
    assert error.headers["x-trace"] == "t"
    assert error.call == {
        "method": "POST", "path": "/v2/voices",
        "body": {"voice_name": "Ada", "callback_url": "https://e.com/***"},
    }  # fmt: skip


def test_a_forked_process_has_a_client_of_its_own(service, monkeypatch):
    """The two would write to one connection, and each read what the other was answered."""
    service.will(httpx.Response(200, json=VOICE))
    transport = httpx.MockTransport(service)
    shared = Client(api_key="k", base_url="https://e.com", transport=transport)
    assert shared.voices.get("v1").voice_id == "v1"
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(errors.UsageError, match="one for each process"):
        shared.voices.get("v1")
    assert len(service.requests) == 1


def test_one_client_in_two_event_loops_is_told_so(service):
    service.will(httpx.Response(200, json=VOICE))
    transport = httpx.MockTransport(service)
    client = AsyncClient(api_key="k", base_url="https://e.com", transport=transport)

    async def go(which):
        return await which.voices.get("v")

    assert asyncio.run(go(client)).voice_id == "v1"
    with pytest.raises(errors.UsageError, match=r"another event loop.*asyncio\.run"):
        asyncio.run(go(client))
    assert len(service.requests) == 1
    elsewhere = AsyncClient(api_key="k", base_url="https://e.com", transport=transport)
    assert asyncio.run(go(elsewhere)).voice_id == "v1"


def test_a_sync_client_refuses_a_hook_that_no_one_would_await():
    async def hook(call):
        raise AssertionError(call)

    with pytest.raises(errors.UsageError, match="AsyncClient"):
        Client(api_key="k", base_url="https://e.com", on_request=[hook])


def test_a_hook_that_waits_is_told_to_take_an_async_client(service):
    service.will(httpx.Response(200, json=VOICE))
    with (
        Client(
            api_key="k", base_url="https://e.com", transport=httpx.MockTransport(service),
            on_request=lambda _: asyncio.sleep(0),
        ) as client,
        pytest.raises(errors.UsageError, match="AsyncClient"),
    ):  # fmt: skip
        client.voices.get("v")
    assert service.requests == []


@pytest.mark.parametrize("reads", [True, False])
def test_an_answer_at_which_the_callers_own_client_raises_is_that_answer(service, reads):
    """httpx shows such a hook: response.raise_for_status()."""

    def hook(response: httpx.Response) -> None:
        if reads:
            response.read()
        response.raise_for_status()

    service.will(lambda _: httpx.Response(400, content=iter([b'{"error": "bad"}'])))
    http = httpx.Client(transport=httpx.MockTransport(service), event_hooks={"response": [hook]})
    with http, pytest.raises(errors.BadRequest, match="bad" if reads else "no explanation"):
        Client(api_key="k", base_url="https://e.com", http_client=http).voices.create()
    assert len(service.requests) == 1


async def test_a_closed_client_says_so():
    client = Client(api_key="k", base_url="https://e.com")
    client.close()
    with pytest.raises(errors.UsageError, match="closed"):
        client.voices.get("v")
    asynchronous = AsyncClient(api_key="k", base_url="https://e.com")
    await asynchronous.close()
    with pytest.raises(errors.UsageError, match="closed"):
        await asynchronous.voices.get("v")


@pytest.mark.parametrize(
    "url",
    [
        *("https://user:SECRET@h", "user:SECRET@h", "https://u:SECRET/x@h", "ftp://a@SECRET@h?q"),
        *("https://u:SECRET?x@h", "https://u@h?token=SECRET"),
    ],
)
def test_a_password_in_an_address_is_not_repeated(url):
    with pytest.raises(errors.UsageError, match=r"\*\*\*@h") as refused:
        Client(api_key="k", base_url=url)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("url", ["https://h:port", "https://h:99999", "https://h:0"])
def test_a_port_that_is_none_is_found_at_once(url):
    with pytest.raises(errors.UsageError, match="not of the form"):
        Client(api_key="k", base_url=url)


def test_a_pipe_by_its_path_does_not_hang(tmp_path):
    path = tmp_path / "pipe.jpg"
    os.mkfifo(path)
    client = Client(api_key="k", base_url="http://127.0.0.1:1")
    with client, pytest.raises(errors.FileUnreadable, match="no regular file"):
        client.faces.validate_image(path)


def test_the_log_is_shown_as_the_environment_asks(capsys):
    log = logging.getLogger("a.log.of.its.own")
    log_as_asked({}, log)
    log.propagate = False
    assert log.handlers == []
    for _ in range(2):
        log_as_asked({"PALPREP_LOG": "info"}, log)
    assert len(log.handlers) == 1
    log.info("a line")
    log.debug("no line")
    assert capsys.readouterr().err.count("line") == 1
    with pytest.raises(errors.UsageError, match="PALPREP_LOG"):
        log_as_asked({"PALPREP_LOG": "loud"}, log)


@pytest.mark.parametrize("url", [None, ""])
def test_an_address_that_is_not_set_is_told(url):
    with pytest.raises(errors.UsageError, match="Check base_url, or PALPREP_BASE_URL"):
        Client(api_key="k", base_url=url)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"timeout": "5"}, "timeout takes float or Timeout or None, not str"),
        ({"timeout": -1}, "timeout takes more than 0 seconds, not -1"),
        ({"deadline": "5"}, "deadline takes float or None, not str"),
    ],
)
def test_a_time_that_is_none_is_told_in_words(api, options, says):
    with pytest.raises(errors.UsageError, match=says):
        Client(api_key="k", base_url="http://127.0.0.1:9", **options)
    with pytest.raises(errors.UsageError, match=says):
        api("voices.get", "v1", **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"retries": "2"}, "retries takes int, not str"),
        ({"headers": "x"}, "headers takes Mapping or None, not str"),
        ({"query": [1]}, "query takes Mapping or None, not list"),
        ({"clock": 5}, "clock takes Callable or None, not int"),
        ({"api_key": 5}, "The API key is empty or holds"),
        ({"base_url": 5}, "The base URL '5' is not of the form"),
    ],
)
def test_an_option_of_a_wrong_type_is_told_in_words(options, says):
    with pytest.raises(errors.UsageError, match=says):
        Client(**({"api_key": "k", "base_url": "http://127.0.0.1:9"} | options))


def test_a_wait_without_a_number_of_seconds_is_told_in_words(api):
    with pytest.raises(errors.UsageError, match="timeout takes float, not str"):
        api("voices.wait", "v1", timeout="5")
