"""Speech for the tests: a short voice from the sample media, decoded once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from palprep.media import Source, stream_samples


def decode(path: Path, rate_hz: int = 16_000) -> NDArray[np.float32]:
    """All of a file's sound as one channel."""
    return np.concatenate(list(stream_samples(Source.of(path), rate_hz=rate_hz, channels=1)))


@pytest.fixture(scope="session")
def spoken_consent(light_people: Path) -> Path:
    """A video in which the default statement is spoken, by a synthetic voice."""
    return light_people / "jane-carter" / "consent.mp4"


@pytest.fixture(scope="session")
def speech(spoken_consent: Path) -> NDArray[np.float32]:
    """Its sound at 16 kHz."""
    return decode(spoken_consent)


@pytest.fixture(scope="session")
def other_talk(light_people: Path) -> NDArray[np.float32]:
    """Speech of the same voice that is no statement, at 16 kHz."""
    return decode(light_people / "jane-carter" / "recording.m4a")
