"""Whether lips and sound go together: a mouth that follows the loudness of real speech."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.consent.lips import STEP_S, Sums, sound_rows, synchrony_of
from palprep.speech import RATE_HZ


@pytest.fixture(scope="module")
def sums():
    return Sums.load()


@pytest.fixture
def mouth(speech):
    """Six distances of a mouth that opens with the loudness of each 40 ms of the speech."""
    step = round(STEP_S * RATE_HZ)
    loud = np.sqrt((speech[: len(speech) // step * step].reshape(-1, step) ** 2).mean(axis=1))
    opened = np.convolve(loud / loud.max(), [0.25, 0.5, 0.25], mode="same")[25:300]
    return opened[:, None] * np.array([0.3, 0.3, -0.05, -0.05, 0.25, 0.02]) + 0.5


def held(mouth, sound, sums, known=None):
    known = np.ones(len(mouth), bool) if known is None else known
    return synchrony_of(mouth, known, sound, 25.5 * STEP_S, sums)


def test_a_mouth_goes_with_its_own_sound(mouth, speech, sums):
    found = held(mouth, speech, sums)
    assert found.correlation > 0.2
    assert found.margin > 0.05
    assert abs(found.lag_s) <= 0.12
    assert found.seconds == pytest.approx(11.0)


@pytest.mark.parametrize("late_s", [0.48, 1.0, -0.6])
def test_a_shift_is_found_and_measured(mouth, speech, sums, late_s):
    found = held(mouth, np.roll(speech, round(late_s * RATE_HZ)), sums)
    assert found.margin < -0.05
    assert found.lag_s == pytest.approx(late_s, abs=0.13)


def test_other_sound_goes_with_nothing(mouth, speech, sums):
    assert held(mouth, speech[::-1].copy(), sums).correlation < 0.15


def test_too_little_of_either_is_left_open(mouth, speech, sums):
    assert held(mouth, speech[: 4 * RATE_HZ], sums) is None
    assert held(mouth, np.zeros(0, np.float32), sums) is None
    assert held(mouth, speech, sums, known=np.arange(len(mouth)) % 2 == 0) is None


def test_rows_of_sound_are_forty_milliseconds_apart():
    assert sound_rows(np.ones(2 * RATE_HZ, np.float32)).shape == (50, 19 * 11)
