"""What is kept of a file's sound for who listens to one channel."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from palprep.media.sources import Source
from palprep.speech import RATE_HZ, mono_of


@pytest.mark.parametrize("side", [1.0, -1.0, 0.0])
def test_what_each_side_plays_is_heard_whatever_its_phase(tmp_path: Path, side: float) -> None:
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(2 * RATE_HZ) / RATE_HZ)
    path = tmp_path / "both.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE_HZ, 0, "NONE", ""))
        file.writeframes((np.stack((tone, side * tone), axis=1) * 32767).astype("<i2").tobytes())
    samples = mono_of(Source.of(path), 60.0)
    assert len(samples) == 2 * RATE_HZ
    assert np.abs(samples).max() == pytest.approx(0.5 if side else 0.25, abs=0.01)
