"""Google Cloud Storage: files, links, and what is wrong, at a double that checks signatures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from google_store import google_bucket, write_account

from palprep.errors import PublishError
from palprep.publish import ObjectStorePublisher

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture(scope="module")
def account(tmp_path_factory) -> Iterator[Path]:
    with google_bucket(tmp_path_factory.mktemp("google")) as path:
        yield path


@pytest.fixture
def variables(account, monkeypatch) -> None:
    """What `palprep run --publish-to gs://media/people` finds in its environment."""
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(account))
    monkeypatch.setenv("GOOGLE_ALLOW_HTTP", "true")


@pytest.fixture
def opened() -> Iterator[Callable[..., ObjectStorePublisher]]:
    """Opens publishers."""
    with contextlib.ExitStack() as stack:
        yield lambda url="gs://media/people": stack.enter_context(ObjectStorePublisher(url))


def test_files_are_handed_to_whoever_has_the_link(opened, variables, tmp_path):
    clip = tmp_path / "Zoë's clip.mp4"
    clip.write_bytes(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"x" * 100_000)
    publisher = opened()
    assert publisher.probe() == ()
    url = publisher.publish(clip)
    assert httpx.get(url).content == clip.read_bytes()
    assert httpx.get(url).headers["content-type"] == "video/mp4"
    assert "X-Goog-Expires=172800" in url
    assert httpx.get(url.partition("?")[0]).status_code == 403
    assert httpx.get(url.replace("Expires=172800", "Expires=172801")).status_code == 403
    assert urlsplit(publisher.publish(clip)).path == urlsplit(url).path


def test_another_accounts_key(opened, variables, account, tmp_path, monkeypatch):
    port = urlsplit(opened().publish(b"RIFF\x24\0\0\0WAVEfmt ", "a.wav")).port
    assert port is not None
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path = write_account(tmp_path / "other.json", other, port)
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(path))
    with pytest.raises(PublishError, match=r"lack the right for this \(AccessDenied\)"):
        opened().probe()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"GOOGLE_SERVICE_ACCOUNT": "/nowhere.json"}, "Check GOOGLE_SERVICE_ACCOUNT"),
        ({"GOOGLE_SERVICE_ACCOUNT": __file__}, "the credentials cannot be read"),
        ({"GOOGLE_ALLOW_HTTP": "false"}, "set GOOGLE_ALLOW_HTTP=true"),
    ],
)
def test_what_is_wrong_is_said(opened, variables, monkeypatch, changed, said):
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(PublishError, match=said) as caught:
        opened().probe()
    assert "PRIVATE KEY" not in str(caught.value)


def test_a_bucket_that_is_missing(opened, variables):
    with pytest.raises(PublishError, match="there is no such bucket"):
        opened("gs://nowhere/people").probe()
