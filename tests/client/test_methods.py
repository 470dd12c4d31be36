"""Methods look like what they are declared as, on both clients, and do what it says."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from palprep.api import calls
from palprep.api.calls import ENDPOINTS
from palprep.client import AsyncClient, Client, RawResponse


@pytest.fixture(params=[Client, AsyncClient])
def client(request: pytest.FixtureRequest) -> Client | AsyncClient:
    made: Client | AsyncClient = request.param(api_key="k", base_url="http://127.0.0.1:1")
    return made


def test_signatures_and_documentation(client: Client | AsyncClient) -> None:
    update = inspect.signature(client.voices.update)
    assert list(update.parameters)[:2] == ["voice_id", "voice_name"]
    assert update.return_annotation.__name__ == "Voice"
    assert "At least one must be given" in (client.voices.update.__doc__ or "")
    wait = inspect.signature(client.voices.wait)
    assert list(wait.parameters) == ["voice_id", "timeout"]
    assert wait.return_annotation.__name__ == "Voice"
    upload = inspect.signature(client.faces.validate_image)
    assert list(upload.parameters) == [
        *("image", "model", "mime_type"),
        *("timeout", "validate", "deadline", "extra_headers", "extra_query", "extra_body"),
    ]


def test_every_endpoint_has_its_method(client: Client | AsyncClient) -> None:
    """Under its own resource and action; the unspecified ones by the name of their call."""
    for endpoint in ENDPOINTS:
        resource, action = endpoint.offered_as
        if endpoint.unspecified:
            assert (resource, getattr(calls, action)) == ("unspecified", endpoint)
        else:
            assert (resource, action) == (endpoint.resource, endpoint.action)
        method = getattr(getattr(client, resource), action)
        assert method.__doc__ == endpoint.description
        assert inspect.signature(method).return_annotation is endpoint.reply


def test_a_method_returns_the_record_and_send_raw_the_response(api: Any, service: Any) -> None:
    service.will(httpx.Response(200, headers={"x-request-id": "7"}, json={"data": []}))
    assert api("unspecified.list_tools").data == ()
    raw = api("send_raw", calls.list_tools())
    assert isinstance(raw, RawResponse)
    assert (raw.status, raw.headers["x-request-id"], raw.record.data) == (200, "7", ())


def test_wrong_arguments_are_a_type_error_as_for_any_function(api: Any, service: Any) -> None:
    for name, arguments in (
        ("voices.get", {}),
        ("voices.get", {"voice_id": "v", "colour": "red"}),
        ("faces.validate_image", {}),
        ("faces.validate_image", {"image_base64": "AA=="}),
    ):
        with pytest.raises(TypeError, match="argument"):
            api(name, **arguments)
    assert service.requests == []


PROGRAM = """
import asyncio
import palprep

LIMITS = palprep.Limits(time_s=60), palprep.Limits(memory_bytes=1 << 30)

class Fixed:
    def publish(self, file: palprep.Prepared, name: str | None = None) -> str:
        return f"https://media.example.org/{file.path.name}"

PUBLISHER: palprep.Publisher = Fixed()
AT_SERVICE = palprep.errors.AT_SERVICE

async def main(client: palprep.AsyncClient) -> str:
    async with asyncio.TaskGroup() as group:
        read = group.create_task(client.voices.get("v"))
        ended = group.create_task(client.voices.wait("v"))
    return read.result().voice_id + ended.result().voice_id
"""


@pytest.mark.static
def test_type_checkers_know_tasks_and_defaults(checkout: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
