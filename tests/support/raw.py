"""Plain HTTP for tests: raw JSON in, raw JSON out, no model in between."""

from __future__ import annotations

import itertools
from typing import Any, Self

import httpx

from palprep.sandbox import Sandbox

JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(2000)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(100)
MP4 = b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00" + bytes(100)


class Raw:
    """A sandbox and a bare HTTP client with one of its keys."""

    def __init__(self, sandbox: Sandbox, key: str | None = None) -> None:
        self.sandbox = sandbox
        key = key or sandbox.user_key
        self.http = httpx.Client(
            base_url=sandbox.url, headers={"x-api-key": key}, timeout=30, trust_env=False
        )
        self._numbers = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def send(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
        return self.http.request(method, path, **options)

    def ok(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The parsed body of a success."""
        response = self.send(method, path, body, **options)
        assert response.is_success, (response.status_code, response.text)
        return response.json() if response.content else None

    def refused(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """The parsed body of a refusal, whatever its status from 400 to 499."""
        response = self.send(method, path, body, **options)
        assert 400 <= response.status_code < 500, (response.status_code, response.text)
        return response.json()

    def fresh(self, word: str = "n") -> str:
        """A name or id that no other test uses."""
        return f"{word}_{next(self._numbers)}_{id(self):x}"

    def seed(self, **kinds: list[dict[str, Any]]) -> None:
        self.ok("POST", "/_sandbox/seed", kinds)

    def faults(self, *faults: dict[str, Any]) -> None:
        self.ok("POST", "/_sandbox/faults", list(faults))

    def publish(self, name: str, content: bytes) -> str:
        """The URL of a file on the asset host."""
        url: str = self.ok("PUT", f"/_sandbox/assets/{name}", content=content)["url"]
        return url

    def voice(self, **members: Any) -> Any:
        """A voice just created, from a sound that can be fetched."""
        body = {"voice_name": "Ada", "training_audio_url": self.publish("a.wav", WAV)}
        return self.ok("POST", "/v2/voices", body | members)

    def tool(self, **members: Any) -> Any:
        return self.ok("POST", "/v2/tools", self.tool_body(**members))

    def tool_body(self, **members: Any) -> dict[str, Any]:
        """A body of Create Tool that is accepted, with members replaced; None leaves one out."""
        body = {
            "name": self.fresh("tool"),
            "description": "Looks up an order.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        }
        return {k: v for k, v in (body | members).items() if v is not ...}
