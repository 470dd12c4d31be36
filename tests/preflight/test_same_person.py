"""Faces compared pair by pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from palprep.errors import UsageError
from palprep.preflight import same_person
from palprep.values import Outcome
from palprep.vision import Models


def test_a_person_is_the_same_on_two_pictures(folder: Path, models: Models) -> None:
    twin, blurred, nobody = same_person(
        [folder / "good.jpg", folder / "twin.jpg", folder / "nobody.png"], models=models
    )
    assert twin.outcome is Outcome.PASS
    assert blurred.outcome is nobody.outcome is Outcome.UNKNOWN
    with pytest.raises(UsageError):
        same_person([folder / "good.jpg"], models=models)
