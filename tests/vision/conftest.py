"""A sample portrait and what is seen in it."""

from __future__ import annotations

import pytest
from measured_once import RememberedNetwork
from seen_portrait import models, picture, portrait, sight

__all__ = ["models", "picture", "portrait", "sight"]


@pytest.fixture(autouse=True)
def _networks_run_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured is tested here: nothing is taken from what another test has measured."""
    monkeypatch.setattr(RememberedNetwork, "run", RememberedNetwork.run_anew)
