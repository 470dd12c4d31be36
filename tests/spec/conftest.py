"""The service as a stranger sees it: raw JSON in, raw JSON out, time moved by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from raw import Raw
from receiver import Receiver, receiving

from palprep.sandbox import Sandbox


@pytest.fixture(scope="package")
def api() -> Iterator[Raw]:
    """One sandbox for all clauses: every test makes resources of its own."""
    with Sandbox(clock="virtual") as sandbox, Raw(sandbox) as raw:
        yield raw


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running
