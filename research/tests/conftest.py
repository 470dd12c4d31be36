"""What the tests of research share. They run in .ci/run, and not with the package's own."""

from __future__ import annotations

from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
CORPORA = CHECKOUT.parent / "shared" / "corpora"


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("corpus") and not CORPORA.is_dir():
        pytest.skip("the development corpora are not beside this checkout")


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the project."""
    return CHECKOUT


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The development corpora; mark tests that use them with ``pytest.mark.corpus``."""
    return CORPORA
