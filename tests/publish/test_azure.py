"""Azure, spoken to Microsoft's own emulator: files, links, and what is wrong."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from azure_store import ACCOUNT, KEY, real_container

from palprep.errors import PublishError
from palprep.publish import ObjectStorePublisher
from palprep.storage import Bucket

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture(scope="module")
def account(tmp_path_factory) -> Iterator[str]:
    with real_container(tmp_path_factory.mktemp("azure")) as endpoint:
        yield endpoint


@pytest.fixture
def variables(account, monkeypatch) -> None:
    """What `palprep run --publish-to az://media/people` finds in its environment."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", KEY)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", account)
    monkeypatch.setenv("AZURE_ALLOW_HTTP", "true")


@pytest.fixture
def opened() -> Iterator[Callable[..., ObjectStorePublisher]]:
    """Opens publishers."""
    with contextlib.ExitStack() as stack:
        yield lambda url="az://media/people": stack.enter_context(ObjectStorePublisher(url))


def test_files_are_handed_to_whoever_has_the_link(opened, variables, tmp_path):
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"x" * 6_000_000)
    publisher = opened()
    assert publisher.probe() == ()
    url = publisher.publish(clip)
    fetched = httpx.get(url)
    assert fetched.content == clip.read_bytes()
    assert fetched.headers["content-type"] == "video/mp4"
    assert httpx.get(url.partition("?")[0]).status_code in {403, 404}
    [probe, stored] = sorted(Bucket("az://media").below("people"), key=lambda each: each.size_bytes)
    assert probe.name == "people/palprep-probe.txt"
    back = Bucket("az://media").fetch(stored.name, Path(tmp_path / "back"), max_bytes=10_000_000)
    assert back.size_bytes == clip.stat().st_size


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"AZURE_STORAGE_ACCOUNT_KEY": base64.b64encode(b"wrong" * 8).decode()},
            "Check AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        ),
        ({"AZURE_STORAGE_ACCOUNT_KEY": "no base64"}, "the credentials cannot be read"),
        ({"AZURE_ALLOW_HTTP": "false"}, "set AZURE_ALLOW_HTTP=true"),
        ({"AZURE_STORAGE_ENDPOINT": "http://127.0.0.1:9/palprep"}, "does not answer"),
    ],
)
def test_what_is_wrong_is_said(opened, variables, monkeypatch, changed: dict[str, Any], said):
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(PublishError, match=said) as caught:
        opened().probe()
    assert KEY not in str(caught.value)


def test_a_container_that_is_missing(opened, variables):
    with pytest.raises(PublishError, match="there is no such container"):
        opened("az://nowhere/people").probe()
