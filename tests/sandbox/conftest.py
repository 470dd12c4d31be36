"""A sandbox whose time stands still, plain HTTP to it, and a receiver for what it sends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from raw import Raw
from receiver import Receiver, receiving

from palprep.sandbox import Sandbox
from palprep.sandbox.store import Store


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(clock="virtual") as running:
        yield running


@pytest.fixture(scope="module")
def raw(sandbox: Sandbox) -> Iterator[Raw]:
    with Raw(sandbox) as client:
        yield client


@pytest.fixture
def store() -> Iterator[Store]:
    with closing(Store(None)) as kept:
        yield kept


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running
