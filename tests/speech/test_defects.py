"""Clipping, direct current, channels that do not belong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from palprep.speech.waveform import DefectMeter, Runs

RATE = 48_000


def measured(samples: np.ndarray, block: int = 10_000) -> DefectMeter:
    shaped = np.atleast_2d(samples).astype(np.float32)
    meter = DefectMeter(len(shaped), exceeds=False)
    for at in range(0, shaped.shape[1], block):
        meter.push(shaped[:, at : at + block])
    return meter


def tone(level: float, seconds: float = 1.0) -> np.ndarray:
    return level * np.sin(2 * np.pi * 200 * np.arange(int(RATE * seconds)) / RATE)


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 7))
def test_runs_are_found_across_blocks(values, block):
    runs, begun = Runs(channels=1), 0
    for at in range(0, len(values), block):
        begun += int(runs.push(np.array([values[at : at + block]], bool)).sum())
    text = "".join("x" if value else "." for value in values)
    assert begun == sum(len(run) >= 3 for run in text.split("."))


def test_a_clean_tone_at_full_scale_is_not_clipped():
    assert measured(tone(0.98)).clipped_runs() == 0


def test_a_round_wave_that_is_brought_to_full_scale_is_not_clipped():
    assert measured(tone(0.99997)).clipped_runs() == 0


def test_lossy_coding_of_a_cut_top_is_counted():
    wavy = 0.01 * np.sin(2 * np.pi * 7000 * np.arange(RATE) / RATE)
    assert measured(np.clip(tone(2.0), -1.02, 1.02) + wavy).clipped_runs() >= 400


@pytest.mark.parametrize("level", [1.0, 0.5], ids=["at full scale", "turned down afterwards"])
@pytest.mark.parametrize("block", [333, 10_000])
def test_every_cut_top_is_counted(level, block):
    cut = level * np.clip(tone(2.0), -1, 1)
    assert measured(cut, block).clipped_runs() == pytest.approx(400, abs=2)


@pytest.mark.parametrize("level", [1.0, 0.5], ids=["at full scale", "turned down afterwards"])
def test_a_top_that_both_channels_have_is_counted_once(level):
    cut = level * np.clip(tone(2.0), -1, 1)
    alone = measured(cut).clipped_runs()
    assert measured(np.stack([cut, cut])).clipped_runs() == alone
    assert measured(np.stack([0.1 * cut, cut])).clipped_runs() == alone


def test_silence_is_no_flat_top():
    assert measured(np.zeros(RATE)).clipped_runs() == 0


def test_direct_current_is_the_mean():
    assert measured(tone(0.3) + 0.05).dc_offset() == pytest.approx(0.05, abs=1e-4)
    assert measured(np.stack((tone(0.3), tone(0.3) - 0.1))).dc_offset() == pytest.approx(
        0.1, abs=1e-4
    )


@pytest.mark.parametrize(("other", "expected"), [(1.0, 1.0), (-1.0, -1.0), (0.2, 1.0)])
def test_correlation_tells_an_inverted_channel(other, expected):
    left = tone(0.3)
    assert measured(np.stack((left, other * left))).correlation() == pytest.approx(expected)


def test_one_channel_or_a_silent_one_has_no_correlation():
    assert measured(tone(0.3)).correlation() is None
    assert measured(np.stack((tone(0.3), np.zeros(RATE)))).correlation() is None


def test_levels_are_per_channel():
    left, right = measured(np.stack((tone(0.1), np.zeros(RATE)))).channel_levels_dbfs()
    assert left == pytest.approx(-23.0, abs=0.1)
    assert right == -120.0
