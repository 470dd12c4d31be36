"""A sandbox, both clients of it, and prepared files."""

from __future__ import annotations

import asyncio
import hashlib

import pytest
from likeness import judge_likeness, judge_voices

from palprep.client import AsyncClient, Client
from palprep.journal import Journal, callback_server
from palprep.preflight import Prepared
from palprep.publish import SandboxPublisher
from palprep.rules import Report
from palprep.rules.consent.checks import CONSENT_CHECKS
from palprep.sandbox import Choices, Sandbox


@pytest.fixture
def sandbox():
    with Sandbox(choices=Choices(voice_seconds=0.2, replica_seconds=0.2)) as running:
        yield running


@pytest.fixture
def client(sandbox):
    with Client(api_key=sandbox.user_key, base_url=sandbox.url) as opened:
        yield opened


@pytest.fixture(params=["sync", "async"])
def call(request, sandbox, client):
    """``call(function, *arguments)``: with the one client or the other."""

    def with_client(function, *arguments, **options):
        return function(client, *arguments, **options)

    def with_async_client(function, *arguments, **options):
        async def go():
            async with AsyncClient(api_key=sandbox.user_key, base_url=sandbox.url) as opened:
                return await function(opened, *arguments, **options)

        return asyncio.run(go())

    return with_client if request.param == "sync" else with_async_client


@pytest.fixture
def publisher(sandbox):
    with SandboxPublisher(sandbox.url) as opened:
        yield opened


@pytest.fixture
def journal():
    with Journal() as opened:
        yield opened


@pytest.fixture
def callbacks(journal):
    with callback_server(journal) as server:
        yield server


@pytest.fixture
def ready(tmp_path):
    """``ready(name, content, checks)``: a prepared file; without checks its consent is apart."""

    def prepared(name, content, checks=()):
        path = tmp_path / name
        path.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        return Prepared(
            source=str(path), path=str(path), fixes=(),
            report=Report(path=str(path), role=None, profile="core-4", checks=checks or (),
                          left_out=() if checks is not None else tuple(CONSENT_CHECKS)),
            sha256=digest, source_sha256=digest,
        )  # fmt: skip

    return prepared


@pytest.fixture
def alike(monkeypatch):
    """``alike(cosine, voices)``: what the comparison of any two files gives."""

    def say(cosine, voices=0.9):
        checks = (judge_likeness("one", "other", cosine), judge_voices("one", "other", voices))
        monkeypatch.setattr("palprep.preflight.same_person", lambda paths: checks)

    return say
