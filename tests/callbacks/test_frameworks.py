"""Callbacks in other people's servers, as the guide shows them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PARTS = {
    "fastapi": """
import asyncio
import httpx

async def ask(path, **body):
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://e.com") as client:
        return (await client.post(path, **body)).status_code

def post(path, **body):
    return asyncio.run(ask(path, **body))
""",
    "flask": """
def post(path, content=None, json=None):
    return server.test_client().post(path, data=content, json=json).status_code
""",
    "django": """
from django.conf import settings
settings.configure(ROOT_URLCONF="__main__", ALLOWED_HOSTS=["testserver"], SECRET_KEY="s")
import django
django.setup()
from django.test import Client

def post(path, content=None, json=None):
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    body = content if json is None else json
    return client.post(path, body, content_type="application/json").status_code
""",
}

SHOWN = """
import palprep

voice = {"voice_id": "v1", "voice_name": "Ada", "status": "completed"}
assert post(f"/hooks/{secret}/order-7", json=voice) == 204
assert post(f"/hooks/{secret}/order-7", json=voice) == 204
assert post("/hooks/guessed/order-7", json=voice) == 404
assert post(f"/hooks/{secret}/order-7", content=b"{") >= 400
from palprep.journal.entries.bodies import CalledBack
told = [entry.body.snapshot for entry in journal.one_by_one(CalledBack)]
print([(each.id, each.status) for each in told])
assert palprep.parse_event(voice).resource_id == "v1"
assert callbacks.url_for("order-7") == f"https://example.org/hooks/{secret}/order-7"
assert secret not in repr(callbacks)
"""


def blocks(checkout: Path) -> list[str]:
    page = (checkout / "docs/guides/callbacks.md").read_text()
    return re.findall(r"^```python$(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", PARTS)
def test_a_callback_reaches_the_journal(checkout: Path, tmp_path: Path, name: str) -> None:
    [common] = [each for each in blocks(checkout) if "into_journal" in each]
    [recipe] = [each for each in blocks(checkout) if f"from {name}" in each]
    program = "import palprep\n" + common + recipe + PARTS[name] + SHOWN
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n")[0] == "[('v1', 'completed'), ('v1', 'completed')]", done.stderr
