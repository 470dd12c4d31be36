"""Whether lips and sound go together: a mouth that follows the loudness of real speech."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.consent.lips import STEP_S, LipSync, sound_rows, synchrony_of
from palprep.speech import RATE_HZ
from palprep.vision.footage import LIPS

SHOWN = slice(25, 300)
"""Steps of the speech that the mouth is seen for."""


@pytest.fixture(scope="module")
def sync():
    return LipSync.load()


@pytest.fixture(scope="module")
def puppet(speech):
    """Lips that open with the loudness of each 40 ms of the speech: the lower ones and the chin."""
    step = round(STEP_S * RATE_HZ)
    loud = np.sqrt((speech[: len(speech) // step * step].reshape(-1, step) ** 2).mean(axis=1))
    opened = np.convolve(loud / loud.max(), [0.25, 0.5, 0.25], mode="same")[SHOWN]
    lower = np.zeros(LIPS)
    lower[[19, 20, 21, 22, 28, 29, 30, 31, 37, 39, 40]] = 0.3
    return opened[:, None] * lower + 0.5


@pytest.fixture(scope="module")
def mouth(speech, sync):
    """A mouth of which each sum, now and a step later, is what the sum of the speech is."""
    heard = sound_rows(speech, sync.encoder)[SHOWN] @ sync.sound
    now = sync.lips.reshape(5, 8, -1)[2:4].sum(axis=0)
    return heard @ np.linalg.pinv(now) @ np.linalg.pinv(sync.ways)


def held(mouth, sound, sync, known=None):
    known = np.ones(len(mouth), bool) if known is None else known
    return synchrony_of(mouth, known, sound, 25.5 * STEP_S, sync)


def test_a_mouth_goes_with_its_own_sound(mouth, speech, sync):
    found = held(mouth, speech, sync)
    assert found.correlation > 0.6
    assert found.margin > 0.4
    assert abs(found.lag_s) <= 0.12


@pytest.mark.parametrize("late_s", [0.48, 1.0, -0.6])
def test_a_shift_is_found_and_measured(mouth, speech, sync, late_s):
    found = held(mouth, np.roll(speech, round(late_s * RATE_HZ)), sync)
    assert found.margin < -0.05
    assert found.lag_s == pytest.approx(late_s, abs=0.13)


def test_loudness_alone_moves_no_lips_as_speech_does(mouth, puppet, speech, sync):
    one, other = (held(each, speech, sync) for each in (mouth, puppet))
    assert other.correlation + other.margin < 0.6 * (one.correlation + one.margin)


def test_other_sound_goes_with_nothing(mouth, speech, sync):
    assert held(mouth, speech[::-1].copy(), sync).correlation < 0.15


def test_too_little_of_either_is_left_open(mouth, speech, sync):
    assert held(mouth, speech[: 4 * RATE_HZ], sync) is None
    assert held(mouth, np.zeros(0, np.float32), sync) is None
    assert held(mouth, speech, sync, known=np.arange(len(mouth)) % 2 == 0) is None


def test_rows_of_sound_are_forty_milliseconds_apart(sync):
    assert sound_rows(np.ones(2 * RATE_HZ, np.float32), sync.encoder).shape == (50, 3 * 384)
