"""Level over time, by construction."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.speech.envelope import EnvelopeMeter, dropouts


def envelope_of(samples: np.ndarray, rate_hz: int, block: int = 1_000_000):
    meter = EnvelopeMeter(rate_hz)
    shaped = np.atleast_2d(samples)
    for at in range(0, shaped.shape[1], block):
        meter.push(shaped[:, at : at + block])
    return meter.envelope()


def talk(rate_hz: int, seconds: float = 6.0) -> np.ndarray:
    """Noise that swells and fades, with two real pauses."""
    time = np.arange(int(rate_hz * seconds)) / rate_hz
    noise = np.random.default_rng(7).uniform(-1, 1, len(time))
    shape = np.where((time % 2.5) < 1.2, 0.3, 0.0005) * (1.1 + np.sin(17 * time))
    return (np.round(noise * shape * 32767) / 32768).astype(np.float32)


@pytest.mark.parametrize("block", [1, 17, 441, 44_100])
def test_blocks_of_any_size_give_the_same(block):
    samples = talk(44_100, 0.2)
    whole, parts = envelope_of(samples, 44_100), envelope_of(samples, 44_100, block)
    assert np.array_equal(whole.peak, parts.peak)
    assert np.allclose(whole.power, parts.power)
    assert len(whole.power) == 200


@pytest.mark.parametrize(("length_ms", "count"), [(1, 0), (5, 1), (200, 1), (900, 0)])
def test_a_hole_in_loud_sound_is_a_dropout(length_ms, count):
    rate = 48_000
    samples = (0.3 * np.sin(np.arange(3 * rate) * 0.05)).astype(np.float32)
    samples[rate : rate + rate * length_ms // 1000] = 0.0
    found = dropouts(envelope_of(samples, rate))
    assert len(found) == count
    if found:
        assert found[0].start_s == pytest.approx(1.0, abs=0.002)
        assert found[0].duration_s == pytest.approx(length_ms / 1000, abs=0.002)


def test_a_pause_that_fades_is_no_dropout():
    rate = 48_000
    time = np.arange(2 * rate) / rate
    shape = np.clip(np.abs(time - 1.0) * 4 - 0.4, 0, 1)
    samples = (0.3 * shape * np.sin(time * 2000)).astype(np.float32)
    assert dropouts(envelope_of(samples, rate)) == ()
