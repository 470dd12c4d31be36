"""A sandbox on this machine has an asset host; another service needs a bucket."""

from __future__ import annotations

import pytest

from palprep.errors import UsageError
from palprep.publish import (
    ObjectStorePublisher,
    SandboxPublisher,
    publisher_for,
    publisher_from_env,
)

S3 = {"aws_access_key_id": "a", "aws_secret_access_key": "s", "aws_region": "eu-west-1"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.8.9.1"])
def test_a_sandbox_here_is_its_own_host(host: str) -> None:
    environ = {"PALPREP_BASE_URL": f"http://{host}:8700", "PALPREP_PUBLISH_TO": " "}
    with publisher_from_env(environ) as publisher:
        assert isinstance(publisher, SandboxPublisher)


def test_a_bucket_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in S3.items():
        monkeypatch.setenv(name.upper(), value)
    environ = {"PALPREP_BASE_URL": "https://e.com", "PALPREP_PUBLISH_TO": "s3://bucket/people"}
    with publisher_from_env(environ) as publisher:
        assert isinstance(publisher, ObjectStorePublisher)


def test_what_is_missing_is_said() -> None:
    with pytest.raises(UsageError, match="PALPREP_BASE_URL is not set"):
        publisher_from_env({})
    with pytest.raises(UsageError, match="--publish-to or in PALPREP_PUBLISH_TO"):
        publisher_for("https://example.com")
    with pytest.raises(UsageError, match="give one of s3://"):
        publisher_for("https://example.com", "ftp://example.com")


@pytest.mark.parametrize(
    "url", ["https://example.com", "http://10.0.0.1", "http://127.0.0.1.nip.io"]
)
def test_other_machines_are_not_here(url: str) -> None:
    with pytest.raises(UsageError, match="--publish-to"):
        publisher_for(url)
