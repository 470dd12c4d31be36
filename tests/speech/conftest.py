"""The spoken consent of a sample person."""

from __future__ import annotations

import pytest
from measured_once import RememberedNetwork
from spoken import decode, speech, spoken_consent

__all__ = ["decode", "speech", "spoken_consent"]


@pytest.fixture(autouse=True)
def _networks_run_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured is tested here: nothing is taken from what another test has measured."""
    monkeypatch.setattr(RememberedNetwork, "run", RememberedNetwork.run_anew)
