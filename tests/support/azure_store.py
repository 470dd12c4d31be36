"""Azure's Blob service on loopback: Azurite, Microsoft's own emulator."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import os
import shutil
import subprocess
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import httpx
import pytest
from bucket import free_ports, wait_for

ACCOUNT = "palprep"
KEY = base64.b64encode(b"very secret, and long enough for a key").decode()


@contextlib.contextmanager
def real_container(home: Path) -> Iterator[str]:
    """The endpoint of an account with an empty container ``media``; the test is skipped where
    Azurite is not installed.
    """
    azurite = shutil.which("azurite-blob")
    if azurite is None:
        pytest.skip("azurite-blob is not on PATH (npm install --global azurite)")
    [port] = free_ports(1)
    server = subprocess.Popen(
        [azurite, "--silent", "--disableTelemetry", "--inMemoryPersistence",
         "--skipApiVersionCheck", "--blobHost", "127.0.0.1", "--blobPort", str(port)],
        cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"},
    )  # fmt: skip
    endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
    try:
        wait_for(f"http://127.0.0.1:{port}/", server, answers=True)
        made = _make_container(endpoint, "media")
        assert made.status_code == httpx.codes.CREATED, made.text
        yield endpoint
    finally:
        server.kill()
        server.wait()


def _make_container(endpoint: str, name: str) -> httpx.Response:
    """Signed as "Authorize with Shared Key" of the Blob service's documentation says."""
    sent = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
    named = "".join(f"{key}:{value}\n" for key, value in sent.items())
    resource = f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    signed = "PUT" + "\n" * 12 + named + resource
    digest = hmac.digest(base64.b64decode(KEY), signed.encode(), hashlib.sha256)
    sent["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    return httpx.put(f"{endpoint}/{name}", params={"restype": "container"}, headers=sent)
