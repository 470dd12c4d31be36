"""What the tests of research share. They run in .ci/run, and not with the package's own."""

from __future__ import annotations

from development_corpora import checkout, corpora, pytest_runtest_setup

__all__ = ["checkout", "corpora", "pytest_runtest_setup"]
