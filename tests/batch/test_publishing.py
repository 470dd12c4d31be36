"""A run into a bucket: what is wrong with it is said before any work, and nothing is recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bucket import KEYS
from scripted_bucket import answering

from palprep.errors import PublishError, UsageError
from palprep.journal import Journal


def set_up(monkeypatch, endpoint: str) -> None:
    for name, value in (*KEYS.items(), ("endpoint", endpoint), ("allow_http", "true")):
        monkeypatch.setenv(f"AWS_{name.upper()}", value)


def test_a_missing_bucket_ends_the_run_before_the_work(go, add, out, connection, log, monkeypatch):
    add("ada")
    with answering(404, "NoSuchBucket") as endpoint:
        set_up(monkeypatch, endpoint)
        with pytest.raises(PublishError, match="there is no such bucket"):
            go(connection=replace(connection, publish_to="s3://media/people"))
    assert not (out / "prepared").exists()
    assert not (out / "results.jsonl").exists()
    assert log.creates == {}
    with Journal.of(out) as journal:
        assert journal.last_run() is None


def test_what_is_no_bucket_ends_it_too(go, add, out, connection):
    add("ada")
    with pytest.raises(UsageError, match="names no bucket"):
        go(connection=replace(connection, publish_to="s4://media"))
    with Journal.of(out) as journal:
        assert journal.last_run() is None


def test_a_dry_run_needs_no_bucket(go, add, connection):
    add("ada")
    [person] = go(dry_run=True, connection=replace(connection, publish_to="s3://media")).people
    assert person.reasons[0].startswith("Dry run")
