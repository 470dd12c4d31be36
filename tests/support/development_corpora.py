"""Where this checkout lies, and the development corpora when they are beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
CORPORA = CHECKOUT.parent / "shared" / "corpora"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs the corpora where they are not."""
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
