"""One voice or several, by construction."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.speech.speakers import (
    SAME,
    SpeakerMeter,
    judge_units,
    likelihood,
    spoken_runs,
    traits,
)

RANDOM = np.random.default_rng(9)


def units(*centres: float, count: int = 40) -> np.ndarray:
    """Half seconds of speech by voices that differ in half of their features."""
    parts = []
    for centre in centres:
        part = RANDOM.standard_normal((count, 16))
        part[:, ::2] += centre
        parts.append(part)
    return np.concatenate(parts).astype(np.float32)


def test_one_voice_is_one():
    found = judge_units(units(0.0, count=60))
    assert found.several is False
    assert found.confidence > 0.75


def test_two_voices_far_apart_are_several():
    found = judge_units(units(-3.0, 3.0))
    assert found.several is True
    assert found.confidence > 0.9


def test_sounds_that_alternate_are_less_likely_two_people_than_turns():
    turns = units(-1.0, 1.0, count=20)
    alternating = turns.reshape(2, 20, 16).swapaxes(0, 1).reshape(40, 16)
    assert traits(alternating).separation == pytest.approx(traits(turns).separation, rel=1e-3)
    assert traits(turns).steadiness > 0.8
    assert traits(alternating).steadiness < 0
    assert likelihood(traits(turns)) > 0.95
    assert likelihood(traits(alternating)) < 0.2


def test_a_little_speech_of_one_voice_is_not_several():
    for _ in range(20):
        assert judge_units(units(0.0, count=16)).several is not True


def test_too_little_speech_tells_nothing():
    meter = SpeakerMeter()
    meter.push(RANDOM.standard_normal(16_000 * 3).astype(np.float32))
    assert judge_units(meter.units()).several is None
    assert traits(meter.units()) == SAME


def test_a_real_voice_is_not_several(speech):
    meter = SpeakerMeter()
    meter.push(speech)
    assert judge_units(meter.units()).several is False


@pytest.mark.parametrize(
    ("probabilities", "lengths"),
    [([0.9, 0.9, 0.1, 0.9], [2, 1]), ([0.1, 0.2], []), ([], []), ([0.9] * 3, [3])],
)
def test_only_sure_speech_is_compared(probabilities, lengths):
    samples = np.zeros(len(probabilities) * 4, np.float32)
    assert [len(run) // 4 for run in spoken_runs(samples, np.array(probabilities), 4)] == lengths
