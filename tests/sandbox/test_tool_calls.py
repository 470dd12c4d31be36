"""Outbound tool requests are built from the tool's own delivery."""

from __future__ import annotations

import json

import httpx
import pytest

from palprep.sandbox.handlers.tools import build_request, fill


def test_placeholders_are_filled_at_any_depth_and_keep_their_type_when_alone():
    template = {"who": "Dear {name}", "n": "{count}", "list": ["{count}", {"deep": "{missing}"}]}
    filled = fill(template, {"name": "Ada", "count": 3})
    assert filled == {"who": "Dear Ada", "n": 3, "list": [3, {"deep": "{missing}"}]}


def test_arguments_in_a_url_are_encoded():
    url = fill("https://h/{a}?q={b}", {"a": "x/y", "b": "1&2"}, in_url=True)
    assert url == "https://h/x%2Fy?q=1%262"


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ({"type": "bearer", "token": "t0k"}, "authorization", "Bearer t0k"),
        ({"type": "basic", "username": "u", "password": "p"}, "authorization", "Basic dTpw"),
        ({"type": "api_key", "name": "X-K", "value": "v"}, "x-k", "v"),
        ({"type": "none"}, "authorization", None),
    ],
)
async def test_auth_types_travel_as_headers(auth, header, value):
    async with httpx.AsyncClient() as http:
        request = await build_request({"url": "https://h/", "auth": auth}, {}, http)
    assert request.headers.get(header) == value


async def test_everything_that_delivery_says_reaches_the_request():
    api = {
        "url": "https://h/{who}?keep=1",
        "method": "PUT",
        "headers": {"X-Extra": "yes"},
        "query_params": {"q": "{who}"},
        "body_template": {"summary": "{summary}"},
        "content_type": "application/vnd.x+json",
        "auth": {"type": "api_key", "location": "query", "name": "k", "value": "v"},
    }
    async with httpx.AsyncClient() as http:
        request = await build_request(api, {"who": "ada", "summary": "s"}, http)
    assert request.method == "PUT"
    assert request.url == "https://h/ada?keep=1&q=ada&k=v"
    assert request.headers["x-extra"] == "yes"
    assert request.headers["content-type"] == "application/vnd.x+json"
    assert json.loads(request.content) == {"summary": "s"}


async def test_without_a_template_the_arguments_are_the_body():
    async with httpx.AsyncClient() as http:
        request = await build_request({"url": "https://h/"}, {"a": [1]}, http)
    assert request.method == "POST"
    assert json.loads(request.content) == {"a": [1]}
