"""Bandwidth, hum, tones."""

from __future__ import annotations

import av
import numpy as np
import pytest

from palprep.speech.activity import Activity
from palprep.speech.spectrum import SpectrumMeter, ToneMeter, bandwidth_of


def judged(*probabilities: float) -> Activity:
    """What holds each chunk of sound for speech, or not, as it was told."""
    activity = Activity()
    activity.probabilities.extend(probabilities)
    return activity


ALL_SPEECH = judged(1.0)
RANDOM = np.random.default_rng(11)


def pink(seconds: float, rate: int) -> np.ndarray:
    """Noise that falls by 6 dB an octave above 500 Hz, as speech does."""
    spectrum = np.fft.rfft(RANDOM.standard_normal(int(seconds * rate)))
    frequency = np.fft.rfftfreq(int(seconds * rate), 1 / rate)
    shaped = np.fft.irfft(spectrum / np.maximum(1.0, frequency / 500), int(seconds * rate))
    return (0.1 * shaped / shaped.std()).astype(np.float32)


def resampled(samples: np.ndarray, rate: int, to: int) -> np.ndarray:
    resampler = av.AudioResampler(format="flt", layout="mono", rate=to)
    frame = av.AudioFrame.from_ndarray(samples[None, :], format="flt", layout="mono")
    frame.sample_rate = rate
    frames = [*resampler.resample(frame), *resampler.resample(None)]
    return np.concatenate([part.to_ndarray()[0] for part in frames])


def bandwidth(samples: np.ndarray, rate: int):
    meter = SpectrumMeter(rate)
    for at in range(0, len(samples), rate):
        meter.push(samples[at : at + rate], ALL_SPEECH)
    return meter.bandwidth()


@pytest.mark.parametrize("rate", [22_050, 44_100, 48_000])
def test_full_band_sound_reaches_half_its_rate(rate):
    found = bandwidth(pink(4, rate), rate)
    assert found.hz == pytest.approx(rate / 2, rel=0.03)
    assert not found.cliff


@pytest.mark.parametrize(("earlier", "edge"), [(8_000, 4_000), (16_000, 8_000), (24_000, 12_000)])
def test_a_resampled_recording_shows_its_earlier_rate(earlier, edge):
    samples = resampled(pink(4, earlier), earlier, 48_000)
    stored = np.round(samples * 32767).astype(np.float32) / 32768
    found = bandwidth(stored, 48_000)
    assert found.hz == pytest.approx(edge, rel=0.06)
    assert found.cliff


def test_of_two_edges_the_higher_one_is_the_width():
    hz = np.linspace(0, 24_000, 1025)
    found = bandwidth_of(np.where(hz < 4_000, -20.0, np.where(hz < 8_000, -45.0, -120.0)), 48_000)
    assert found.hz == pytest.approx(8_000, rel=0.03)
    assert found.cliff


def test_only_what_is_spoken_counts_when_somebody_speaks():
    rate = 16_000
    meter = SpectrumMeter(rate)
    quiet, loud = pink(2, rate) * 0.001, pink(2, rate)
    activity = judged(*np.repeat([0.0, 1.0], 63))
    meter.push(np.concatenate((quiet, loud)), activity)
    speech, pause = meter.spectrum_db(speech=True), meter.spectrum_db(speech=False)
    assert float(np.median(speech - pause)) == pytest.approx(60, abs=3)


def test_nothing_pushed_has_no_bandwidth():
    assert SpectrumMeter(48_000).bandwidth() is None


@pytest.mark.parametrize("mains", [50.0, 60.0])
def test_hum_is_found_under_noise(mains):
    time = np.arange(16_000 * 6) / 16_000
    hum = sum(0.01 / k * np.sin(2 * np.pi * mains * k * time) for k in (1, 2, 3, 4))
    meter, unheard = ToneMeter(), ToneMeter()
    sound = (0.002 * RANDOM.standard_normal(len(time)) + hum).astype(np.float32)
    meter.push(sound)
    unheard.push(sound / 1000)
    assert unheard.hum() is None
    found = meter.hum()
    assert found.hz == mains
    assert found.dbfs == pytest.approx(-42.0, abs=3.0)


@pytest.mark.parametrize(("hz", "mains"), [(50, 50), (60, 60), (55, None), (100, None)])
def test_the_lowest_line_hums_by_itself_and_no_other(hz, mains):
    time, meter = np.arange(16_000 * 8) / 16_000, ToneMeter()
    line = 0.01 * np.sin(2 * np.pi * hz * time) + 0.002 * RANDOM.standard_normal(len(time))
    meter.push(line.astype(np.float32))
    found = meter.hum()
    assert (found and found.hz) == mains


def test_noise_and_a_moving_voice_do_not_hum():
    time = np.arange(16_000 * 6) / 16_000
    pitch = 120 + 30 * np.sin(2 * np.pi * 0.5 * time)
    voice = sum(0.1 / k * np.sin(2 * np.pi * k * np.cumsum(pitch) / 16_000) for k in range(1, 6))
    for samples in (0.01 * RANDOM.standard_normal(len(time)), voice):
        meter = ToneMeter()
        meter.push(samples.astype(np.float32))
        assert meter.hum() is None


def test_tones_are_less_flat_than_noise():
    time = np.arange(16_000 * 3) / 16_000
    chord = sum(np.sin(2 * np.pi * hz * time) for hz in (262, 330, 392, 523))
    flat, tonal = ToneMeter(), ToneMeter()
    flat.push(RANDOM.standard_normal(len(time)).astype(np.float32))
    tonal.push(chord.astype(np.float32))
    assert min(flat.flatness_db) > -5 > -20 > max(tonal.flatness_db)
