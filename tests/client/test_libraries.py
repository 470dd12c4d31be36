"""A ready client of httpx or of httpx2 carries every call, and stays its owner's."""

from __future__ import annotations

import json

import httpx
import httpx2
import pytest
from loopback import answer, hang_up, loopback

from palprep import errors
from palprep.client import AsyncClient, Client

VOICE = {"voice_id": "v1", "status": "started"}
LIBRARIES = [httpx, httpx2]


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.__name__)
def library(request):
    return request.param


class Service:
    """Answers over the library's own mock transport, and keeps what arrived."""

    def __init__(self, library, *answers):
        self.library, self.answers, self.requests = library, list(answers), []

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
            raise getattr(self.library, body)("as told")
        return self.library.Response(status, json=body)


def options(http):
    return {"api_key": "k", "base_url": "https://api.example.com/base", "http_client": http}


def test_calls_uploads_and_retries(library):
    service = Service(library, (200, {"passed": True}), (503, {}), (200, VOICE))
    transport = library.MockTransport(service)
    with library.Client(transport=transport, headers={"x-team": "a"}) as http:
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


async def test_the_same_asynchronously(library):
    service = Service(library, (200, {"passed": True}), (503, {}), (200, VOICE))

    async def no_sleep(_):
        return

    transport = library.MockTransport(service.awaited)
    async with library.AsyncClient(transport=transport) as http:
        async with AsyncClient(**options(http), sleep=no_sleep) as client:
            assert (await client.faces.validate_image(b"\xff\xd8\xff")).passed is True
            assert (await client.voices.get("v1")).voice_id == "v1"
        assert not http.is_closed
    assert json.loads(service.requests[0].content)["imageBase64"] == "/9j/"


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
def test_what_goes_wrong_means_the_same(library, failing, kind):
    service = Service(library, (0, failing))
    with library.Client(transport=library.MockTransport(service)) as http:
        client = Client(**options(http), retries=0)
        with pytest.raises(kind):
            client.voices.create(voice_name="Ada")


def test_real_sockets(library):
    body = json.dumps(VOICE).encode()
    with loopback(answer(body), hang_up) as server, library.Client(trust_env=False) as http:
        client = Client(api_key="k", base_url=server.url, http_client=http, retries=0)
        assert client.voices.get("v1").voice_id == "v1"
        with pytest.raises(errors.OutcomeUnknown):
            client.voices.create(voice_name="Ada")


def test_its_timeout_counts_where_none_is_given_here(library):
    with library.Client(timeout=3.5) as http:
        assert Client(**options(http))._sender.timeout["read"] == 3.5
        assert Client(**options(http), timeout=1)._sender.timeout["read"] == 1


def test_no_redirect_is_followed_though_the_client_would(library):
    moved = library.Response(302, headers={"location": "https://elsewhere.example/"})
    transport = library.MockTransport(lambda _: moved)
    http = library.Client(transport=transport, follow_redirects=True)
    with http, pytest.raises(errors.ApiError, match="redirects"):
        Client(**options(http)).voices.get("v1")


def test_a_client_of_the_wrong_kind_is_refused(library):
    with library.Client() as http:
        with pytest.raises(errors.UsageError, match=r"httpx\.AsyncClient"):
            AsyncClient(**options(http))
        with pytest.raises(errors.UsageError, match="transport"):
            Client(**options(http), proxy="http://127.0.0.1:1")
    with pytest.raises(errors.UsageError, match="not dict"):
        Client(**options({"not": "a client"}))
