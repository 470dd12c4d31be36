"""What is sent again, when, and what is never sent again."""

from __future__ import annotations

import pickle
import ssl
from email.utils import formatdate
from time import time as wall_time

import httpx
import pytest

from palprep import errors
from palprep.client import Client

VOICE = {"voice_id": "v1", "status": "started"}
OK = httpx.Response(200, json=VOICE)
TOOL = {"name": "a", "description": "b", "parameters": {}}

CREATES = [
    ("voices.create", (), {"voice_name": "Ada"}),
    ("replicas.create", (), {"replica_name": "Ada"}),
    ("tools.create", (), TOOL),
    ("conversations.create", (), {"face_id": "f"}),
    ("deployments.patch", ("d", [{"op": "add", "path": "/x/-", "value": 1}]), {}),
]
SAFE = [
    ("voices.get", ("v1",), {}),
    ("voices.update", ("v1",), {"voice_name": "Ada"}),
    ("pals.delete", ("p",), {}),
    ("pals.replace_skills", ("p", {}), {}),
    ("faces.validate_image", (b"\xff\xd8\xff",), {}),
]
AFTER_SENDING = [
    httpx.ReadTimeout("slow"),
    httpx.ReadError("reset"),
    httpx.WriteError("broken pipe"),
    httpx.WriteTimeout("slow"),
    httpx.RemoteProtocolError("Server disconnected without sending a response."),
    ssl.SSLError("decryption failed or bad record mac"),  # As httpcore leaves it in async code.
]
BEFORE_SENDING = [
    httpx.ConnectError("refused"),
    httpx.ConnectTimeout("slow"),
    httpx.PoolTimeout("busy"),
    httpx.ProxyError("refused"),
]


@pytest.mark.parametrize("error", AFTER_SENDING, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(("name", "args", "kwargs"), CREATES, ids=lambda v: str(v)[:20])
def test_a_create_without_an_answer_is_never_repeated(api, service, name, args, kwargs, error):
    service.will(error)
    with pytest.raises(errors.OutcomeUnknown) as unknown:
        api(name, *args, **kwargs)
    assert len(service.requests) == 1
    assert unknown.value.call["method"] in {"POST", "PATCH"}
    assert unknown.value.call["path"].startswith("/v2/")
    again = pickle.loads(pickle.dumps(unknown.value))  # noqa: S301 -- our own bytes
    assert again.call == unknown.value.call


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_fault_after_a_create_leaves_its_outcome_open(api, service, status):
    body = {"error": "upstream"}
    service.will(httpx.Response(status, json=body, headers={"request-id": "r"}))
    with pytest.raises(errors.OutcomeUnknown) as unknown:
        api("voices.create", voice_name="Ada", callback_url="https://e.com/nonce")
    assert len(service.requests) == 1
    assert (unknown.value.status, unknown.value.body) == (status, body)
    assert unknown.value.request_id == "r"
    assert f"answered {status}: upstream. It may or may not" in str(unknown.value)
    assert unknown.value.call["body"] == {
        "voice_name": "Ada",
        "callback_url": "https://e.com/***",
    }


@pytest.mark.parametrize("error", BEFORE_SENDING, ids=lambda e: type(e).__name__)
def test_a_create_that_never_left_is_sent_again(api, service, error):
    service.will(error, error, OK)
    assert api("voices.create", voice_name="Ada").voice_id == "v1"
    assert len(service.requests) == 3


def test_a_service_out_of_reach_is_told_after_the_last_attempt(api, service):
    service.will(httpx.ConnectError("refused"))
    with pytest.raises(errors.ServiceUnreachable, match="Nothing was carried out"):
        api("voices.create", voice_name="Ada")
    assert len(service.requests) == 3


def test_a_certificate_of_a_company_is_led_to_its_variable(api, service):
    service.will(httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate"))
    with pytest.raises(errors.ServiceUnreachable, match="authority in SSL_CERT_FILE"):
        api("voices.get", "v")


@pytest.mark.parametrize("error", AFTER_SENDING, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(("name", "args", "kwargs"), SAFE, ids=lambda v: str(v)[:20])
def test_what_is_safe_is_sent_again(api, service, name, args, kwargs, error):
    reply = VOICE | {"data": {}, "passed": True}
    service.will(error, httpx.Response(502), httpx.Response(200, json=reply))
    assert api(name, *args, **kwargs)
    assert len(service.requests) == 3
    assert len({request.read() for request in service.requests}) == 1


@pytest.mark.parametrize(
    "lost", [httpx.ReadError("reset"), httpx.ReadTimeout("slow"), httpx.Response(504)], ids=str
)
def test_a_deletion_whose_answer_was_lost_has_succeeded(api, service, lost):
    gone = httpx.Response(404, json={"error": "PAL not found."})
    invalid = httpx.Response(400, json={"error": "Invalid pal_id."})
    for before in ((), (httpx.ConnectError("refused"),), (httpx.Response(429),)):
        service.will(*before, gone)
        with pytest.raises(errors.NotFound):
            api("pals.delete", "p")
    service.will(lost, httpx.Response(429), gone)
    assert api("pals.delete", "p").body is None
    service.will(lost, invalid)
    assert api("pals.delete", "p").body is None
    service.will(lost, gone)
    with pytest.raises(errors.NotFound):
        api("voices.get", "v")


def test_safe_attempts_end_with_an_error_that_says_so(api, service):
    service.will(httpx.ReadTimeout("slow"))
    with pytest.raises(errors.TimedOut, match="safe to repeat"):
        api("voices.get", "v")
    service.will(httpx.ReadError("reset"))
    with pytest.raises(errors.TransportError) as lost:
        api("voices.get", "v")
    assert type(lost.value) is errors.TransportError


def test_backoff_has_full_jitter_and_a_cap(api, service, time):
    service.will(httpx.Response(503))
    api.options |= {"retries": 6, "random": iter([1, 0.5, 1, 0, 1, 1, 1]).__next__}
    with pytest.raises(errors.ServiceUnavailable):
        api("voices.get", "v")
    # Halves of a second doubling to 8, times the random part.
    assert time.slept == [0.5, 0.5, 2.0, 0.0, 8.0, 8.0]


def test_retry_after_is_honoured_even_for_creates(api, service, time):
    busy = httpx.Response(429, headers={"Retry-After": "7"}, json={"error": "slow down"})
    busier = httpx.Response(429, headers={"Retry-After": "30"})
    service.will(busy, busier, OK)
    assert api("voices.create", voice_name="Ada").voice_id == "v1"
    assert time.slept == [7.0, 30.0]


def test_a_date_to_wait_for_counts_from_now_where_the_answer_has_none(api, service, time):
    soon = formatdate(wall_time() + 20, usegmt=True)
    service.will(httpx.Response(429, headers={"Retry-After": soon}), OK)
    assert api("voices.get", "v").voice_id == "v1"
    assert time.slept == [pytest.approx(20, abs=3)]


def test_what_the_service_asks_one_create_to_wait_the_next_ones_wait_too(service, time):
    busy = httpx.Response(429, headers={"Retry-After": "7"}, json={"error": "slow down"})
    with Client(
        api_key="k", base_url="https://e.com", transport=httpx.MockTransport(service),
        clock=time.clock, sleep=time.sleep, retries=0,
    ) as client:  # fmt: skip
        service.will(busy, OK)
        with pytest.raises(errors.RateLimited):
            client.voices.create(voice_name="Ada")
        client.voices.get("v")
        client.with_options(api_key="another").voices.create(voice_name="Ada")
        in_time = client.with_options(deadline=5)
        with pytest.raises(errors.ServiceUnreachable, match="deadline"):
            in_time.voices.create(voice_name="Ada")
        assert (time.slept, len(service.requests)) == ([], 3)
        client.voices.create(voice_name="Ada")
        client.voices.create(voice_name="Ada")
        assert (time.slept, len(service.requests)) == ([7.0], 5)


def test_a_long_retry_after_is_the_callers_decision(api, service, time):
    service.will(httpx.Response(429, headers={"Retry-After": "3600"}))
    with pytest.raises(errors.RateLimited) as limited:
        api("voices.get", "v")
    assert limited.value.retry_after == 3600
    assert time.slept == []


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, json={"error": "Voice not found."}),
        httpx.Response(200, json=["v1"]),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.ReadError("reset"),
    ],
    ids=lambda each: getattr(each, "status_code", None) or type(each).__name__,
)
def test_an_error_names_what_was_asked_for(api, service, answer):
    service.will(answer)
    with pytest.raises(errors.PalprepError, match=r"^GET /v2/voices/v1[: ]"):
        api("voices.get", "v1")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 413, 422, 501])
def test_refusals_are_not_repeated(api, service, status):
    service.will(httpx.Response(status, json={"error": "no"}))
    with pytest.raises(errors.ApiError) as refused:
        api("voices.create", voice_name="Ada")
    assert refused.value.status == status
    assert len(service.requests) == 1


def test_no_retries_when_none_are_wanted(api, service):
    service.will(httpx.Response(503))
    api.options["retries"] = 0
    with pytest.raises(errors.ServiceUnavailable):
        api("voices.get", "v")
    assert len(service.requests) == 1


def test_a_redirect_is_no_success(api, service):
    service.will(httpx.Response(308, headers={"location": "https://elsewhere.example"}))
    with pytest.raises(errors.ApiError, match="base URL"):
        api("voices.get", "v")
    assert len(service.requests) == 1


def test_a_success_of_another_shape_is_not_repeated(api, service):
    service.will(httpx.Response(200, text="<html>login</html>"))
    with pytest.raises(errors.UnexpectedReply) as unexpected:
        api("voices.create", voice_name="Ada")
    assert unexpected.value.body == "<html>login</html>"
    assert len(service.requests) == 1


def test_a_stated_503_of_the_connector_check_is_an_answer(api, service):
    service.will(httpx.Response(503, json={"error": "not available"}))
    with pytest.raises(errors.ServiceUnavailable, match="not available"):
        api("connectors.runtime_check", "c")
    assert len(service.requests) == 1
