"""Level over time, and speech against the noise between the words, by construction."""

from __future__ import annotations

import math

import numpy as np
import pytest

from palprep.speech.waveform import Envelope, EnvelopeMeter, dropouts, noise_facts
from palprep.values import Span


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
    shape = np.where(time < 1.0, 1.0, np.clip(time * 4 - 4.8, 0, 1))  # Ends at once, fades in.
    samples = (0.3 * shape * np.sin(time * 2000)).astype(np.float32)
    assert dropouts(envelope_of(samples, rate)) == ()


def test_soft_moments_of_8_bits_that_were_resampled_are_no_dropouts():
    random, time = np.random.default_rng(3), np.arange(4 * 22_050) / 22_050
    swells = np.clip(4 * np.sin(2 * np.pi * 9 * time), 0, 1)  # Within 5 ms.
    voice = 0.016 * swells * np.sin(2 * np.pi * 220 * time)
    steps = np.round((voice + 0.0005 * random.standard_normal(len(time))) * 128) / 128
    resampled = np.interp(np.arange(0, len(steps) - 1, 0.5), np.arange(len(steps)), steps)
    assert dropouts(envelope_of(resampled.astype(np.float32), 44_100)) == ()
    resampled[44_100:45_100] = 0.5 * np.sin(np.arange(1000))
    resampled[44_500:44_700] = 0.0
    assert len(dropouts(envelope_of(resampled.astype(np.float32), 44_100))) == 1


SPEECH = (Span(start_s=1.0, end_s=3.0), Span(start_s=4.0, end_s=6.0))


def envelope(noise_dbfs: float, speech_dbfs: float = -26.0, length_s: float = 7.0) -> Envelope:
    power = np.full(int(length_s * 1000), 10 ** (noise_dbfs / 10), np.float32)
    for span in SPEECH:
        power[int(span.start_s * 1000) : int(span.end_s * 1000)] += 10 ** (speech_dbfs / 10)
    return Envelope(np.sqrt(power), power)


@pytest.mark.parametrize("noise", [-70.0, -56.0, -36.0])
def test_signal_and_noise_are_taken_apart(noise):
    facts = noise_facts(envelope(noise), SPEECH)
    assert facts.noise_floor_dbfs == pytest.approx(noise, abs=0.05)
    assert facts.snr_db == pytest.approx(-26.0 - noise, abs=0.1)
    # Speech at -26 is raised by 6 dB to reach -20, and the noise with it.
    assert facts.noise_after_gain_dbfs == pytest.approx(noise + 6.0, abs=0.5)


def test_a_cough_does_not_move_the_floor():
    noisy = envelope(-70.0)
    noisy.power[3300:3500] = 0.01
    assert noise_facts(noisy, SPEECH).noise_floor_dbfs == pytest.approx(-70.0, abs=0.1)


def test_words_that_were_missed_in_most_of_the_pauses_do_not_move_it_either():
    noisy = envelope(-70.0)
    noisy.power[:900] = noisy.power[3100:3900] = 0.001
    assert noise_facts(noisy, SPEECH).noise_floor_dbfs == pytest.approx(-70.0, abs=0.1)


def test_emptied_pauses_do_not_hide_the_room():
    gated = envelope(-60.0)
    gated.power[:900] = 0.0
    gated.power[6100:] = 0.0
    assert noise_facts(gated, SPEECH).noise_floor_dbfs == pytest.approx(-60.0, abs=0.1)


def test_pauses_of_zeros_do_not_hide_the_noise_of_8_bits():
    silent = envelope(-math.inf)
    assert noise_facts(silent, SPEECH).snr_db > 90.0
    assert noise_facts(silent, SPEECH, coarse=True).snr_db == pytest.approx(26.9, abs=0.1)
    louder = noise_facts(envelope(-40.0), SPEECH, coarse=True)
    assert louder.noise_floor_dbfs == pytest.approx(-40.0, abs=0.1)


def test_without_a_pause_the_quietest_moments_bound_the_noise():
    facts = noise_facts(envelope(-40.0), (Span(start_s=0.0, end_s=7.0),))
    assert facts.noise_floor_dbfs == pytest.approx(-40.0, abs=0.1)


def test_silence_before_and_after_all_sound_is_no_pause():
    loud = envelope(-36.0)
    quiet = np.zeros(400, np.float32)
    padded = Envelope(*(np.concatenate((quiet, each, quiet)) for each in loud))
    # Speech throughout, as the network hears it in noise.
    facts = noise_facts(padded, (Span(start_s=0.4, end_s=7.4),))
    assert facts.noise_floor_dbfs == pytest.approx(-36.0, abs=0.1)


def test_a_second_of_speech_without_a_pause_has_no_floor():
    facts = noise_facts(envelope(-60.0, length_s=1.0), (Span(start_s=0.0, end_s=1.0),))
    assert facts.speech_rms_dbfs is not None
    assert (facts.noise_floor_dbfs, facts.snr_db, facts.noise_after_gain_dbfs) == (None, None, None)


def test_a_pause_without_speech_has_only_a_floor():
    facts = noise_facts(envelope(-60.0), ())
    assert facts.speech_rms_dbfs is None
    assert facts.noise_floor_dbfs is not None
    assert facts.snr_db is None


def test_nothing_has_neither():
    empty = np.zeros(0, np.float32)
    assert noise_facts(Envelope(empty, empty), ()) == (None, None, None, None)
