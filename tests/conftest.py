"""What all tests share: sample media, corpora when present, and no network but loopback."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
CORPORA = CHECKOUT.parent / "shared" / "corpora"


SPREAD = {"test_blocks.py", "test_layers.py", "test_notebooks.py"}
"""Files of few and long tests that share nothing: each of them may go to another worker."""


# Before xdist's own, which reads the marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one file share costly fixtures, a whole run for one: they stay on one worker."""
    for item in items:
        if item.path.name not in SPREAD:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("corpus") and not CORPORA.is_dir():
        pytest.skip("the development corpora are not beside this checkout")


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the project."""
    return CHECKOUT


@pytest.fixture(scope="session")
def sample_media() -> Path:
    """The committed sample media."""
    return CHECKOUT / "sample_media"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The development corpora; mark tests that use them with ``pytest.mark.corpus``."""
    return CORPORA


@pytest.fixture(scope="session", autouse=True)
def _own_environment() -> Iterator[None]:
    """No setting of the developer's own shell reaches a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("PALPREP_"):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def _loopback_only() -> Iterator[None]:
    """Connecting anywhere but to this machine is an error, in every test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6} and isinstance(address, tuple):
            host = str(address[0])
            if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
                raise RuntimeError(f"a test tried to reach {host}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield
