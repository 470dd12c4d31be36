"""What the tests of research share. They run in .ci/run, and not with the package's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from development_corpora import checkout, corpora, pytest_runtest_setup

__all__ = ["checkout", "corpora", "pytest_runtest_setup"]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Not even loaded where they are not asked for."""
    return "not research" in config.getoption("markexpr") or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.research)
