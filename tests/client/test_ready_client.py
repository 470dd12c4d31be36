"""A ready client of httpx carries every call, and stays its owner's."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from loopback import answer, hang_up, loopback

from palprep import errors
from palprep.client import AsyncClient, Client

VOICE = {"voice_id": "v1", "status": "started"}


class Service:
    """Answers over the library's own mock transport, and keeps what arrived."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request):
        request.read()
        return self._answer(request)

    async def awaited(self, request):
        await request.aread()
        return self._answer(request)

    def _answer(self, request):
        self.requests.append(request)
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(body, str):
            raise getattr(httpx, body)("as told")
        return httpx.Response(status, json=body)


def options(http):
    return {"api_key": "k", "base_url": "https://api.example.com/base", "http_client": http}


def test_calls_uploads_and_retries():
    service = Service((200, {"passed": True}), (503, {}), (200, VOICE))
    transport = httpx.MockTransport(service)
    with httpx.Client(transport=transport, headers={"x-team": "a"}) as http:
        with Client(**options(http), sleep=lambda _: None) as client:
            assert client.faces.validate_image(b"\xff\xd8\xff").passed is True
            assert client.voices.get("v1").voice_id == "v1"
        assert not http.is_closed
    upload, first, again = service.requests
    assert json.loads(upload.content) == {"imageBase64": "/9j/", "mimeType": "image/jpeg"}
    assert upload.headers["content-length"] == str(len(upload.content))
    assert upload.headers["host"] == "api.example.com"
    assert str(first.url) == str(again.url) == "https://api.example.com/base/v2/voices/v1"
    for request in service.requests:
        assert request.headers["x-team"] == "a"
        assert request.headers["x-api-key"] == "k"
        assert request.headers["user-agent"].startswith("palprep/")


async def test_the_same_asynchronously():
    service = Service((200, {"passed": True}), (503, {}), (200, VOICE))

    async def no_sleep(_):
        return

    transport = httpx.MockTransport(service.awaited)
    async with httpx.AsyncClient(transport=transport) as http:
        async with AsyncClient(**options(http), sleep=no_sleep) as client:
            assert (await client.faces.validate_image(b"\xff\xd8\xff")).passed is True
            assert (await client.voices.get("v1")).voice_id == "v1"
        assert not http.is_closed
    assert json.loads(service.requests[0].content)["imageBase64"] == "/9j/"


async def test_a_client_that_is_closed_while_calls_wait_their_turn_says_so():
    full, go_on = asyncio.Barrier(101), asyncio.Event()

    async def slow(_):
        await full.wait()
        await go_on.wait()
        return httpx.Response(200, json=VOICE)

    transport = httpx.MockTransport(slow)
    client = AsyncClient(api_key="k", base_url="https://e.com", transport=transport)
    calls = [asyncio.create_task(client.voices.get("v1")) for _ in range(102)]
    await full.wait()
    await client.close()
    go_on.set()
    ends = await asyncio.gather(*calls, return_exceptions=True)
    assert [str(each).partition(".")[0] for each in ends[100:]] == ["The client is closed"] * 2
    assert {type(each) for each in ends[100:]} == {errors.UsageError}


def test_a_sync_client_refuses_a_sleep_that_no_one_would_await():
    with pytest.raises(errors.UsageError, match="AsyncClient"):
        Client(api_key="k", base_url="https://e.com", sleep=asyncio.sleep)


async def test_an_async_client_sleeps_by_a_plain_function_too():
    service, slept = Service((503, {}), (200, VOICE)), []
    transport = httpx.MockTransport(service.awaited)
    async with (
        httpx.AsyncClient(transport=transport) as http,
        AsyncClient(**options(http), sleep=slept.append) as client,
    ):
        assert (await client.voices.get("v1")).voice_id == "v1"
    assert len(slept) == 1


@pytest.mark.parametrize(
    ("failing", "kind"),
    [
        ("ConnectError", errors.ServiceUnreachable),
        ("PoolTimeout", errors.ServiceUnreachable),
        ("ReadTimeout", errors.OutcomeUnknown),
        ("ReadError", errors.OutcomeUnknown),
        ("RemoteProtocolError", errors.OutcomeUnknown),
    ],
)
def test_what_goes_wrong_means_the_same(failing, kind):
    service = Service((0, failing))
    with httpx.Client(transport=httpx.MockTransport(service)) as http:
        client = Client(**options(http), retries=0)
        with pytest.raises(kind):
            client.voices.create(voice_name="Ada")


def test_real_sockets():
    body = json.dumps(VOICE).encode()
    with loopback(answer(body), hang_up) as server, httpx.Client(trust_env=False) as http:
        client = Client(api_key="k", base_url=server.url, http_client=http, retries=0)
        assert client.voices.get("v1").voice_id == "v1"
        with pytest.raises(errors.OutcomeUnknown):
            client.voices.create(voice_name="Ada")


def test_its_timeout_counts_where_none_is_given_here():
    with httpx.Client(timeout=3.5) as http:
        assert Client(**options(http))._sender.timeout["read"] == 3.5
        assert Client(**options(http), timeout=1)._sender.timeout["read"] == 1


def test_no_redirect_is_followed_though_the_client_would():
    moved = httpx.Response(302, headers={"location": "https://elsewhere.example/"})
    transport = httpx.MockTransport(lambda _: moved)
    http = httpx.Client(transport=transport, follow_redirects=True)
    with http, pytest.raises(errors.ApiError, match="redirects"):
        Client(**options(http)).voices.get("v1")


def test_a_client_of_the_wrong_kind_is_refused():
    with httpx.Client() as http:
        with pytest.raises(errors.UsageError, match="http_client takes AsyncClient"):
            AsyncClient(**options(http))
        with pytest.raises(errors.UsageError, match="transport"):
            Client(**options(http), proxy="http://127.0.0.1:1")
    with pytest.raises(errors.UsageError, match="not dict"):
        Client(**options({"not": "a client"}))
