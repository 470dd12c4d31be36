"""Levels over time of a recording, for drawing."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from palprep.media.source import Source
from palprep.speech.levels import measure_levels

RATE = 16_000


@pytest.fixture
def rising(tmp_path: Path) -> Source:
    """Four seconds of silence, then six of a tone at half of full scale."""
    times = np.arange(6 * RATE) / RATE
    tone = np.concatenate((np.zeros(4 * RATE), 0.5 * np.sin(2 * np.pi * 1000 * times)))
    path = tmp_path / "rising.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes((tone * 32767).astype("<i2").tobytes())
    return Source.of(path)


def test_peaks_are_those_of_equal_parts(rising: Source) -> None:
    levels = measure_levels(rising, parts=10)
    assert levels.duration_s == pytest.approx(10.0)
    assert levels.peaks == pytest.approx([0, 0, 0, 0, *[0.5] * 6], abs=0.01)


def test_loudness_is_that_of_the_tone(rising: Source) -> None:
    """A sine of 1 kHz at full scale reads -3.01 LUFS (BS.1770); half of it 6.02 less."""
    levels = measure_levels(rising, parts=10)
    assert levels.integrated_lufs == pytest.approx(-9.0, abs=0.2)
    at_s, lufs = levels.short_term[-1]
    assert (at_s, lufs) == (pytest.approx(8.5, abs=0.11), pytest.approx(-9.0, abs=0.1))
    at_s, lufs = levels.short_term[0]
    assert at_s == 1.5
    assert lufs < -100


def test_a_short_recording_has_fewer_parts(rising: Source) -> None:
    assert len(measure_levels(rising, parts=100_000).peaks) == 10_000
