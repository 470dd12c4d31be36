"""The service as a stranger sees it: raw JSON in, raw JSON out, time moved by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from raw import Raw
from receiver import Receiver, receiving
from through import ThroughAsyncClient, ThroughClient

from palprep.sandbox import Sandbox

WAYS = {"http": Raw, "client": ThroughClient, "async-client": ThroughAsyncClient}


@pytest.fixture(scope="package", params=WAYS.values(), ids=WAYS)
def through(request: pytest.FixtureRequest) -> type[Raw]:
    """Plain HTTP, and both of palprep's clients: every clause is shown by each."""
    way: type[Raw] = request.param
    return way


@pytest.fixture(scope="package")
def api(through: type[Raw]) -> Iterator[Raw]:
    """One sandbox for all clauses: every test makes resources of its own."""
    with Sandbox(clock="virtual") as sandbox, through(sandbox) as raw:
        yield raw


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running
