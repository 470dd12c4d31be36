"""Loudness and true peak, against EBU Tech 3341's signals and FFmpeg's own meter; and waveforms."""

from __future__ import annotations

import re
import subprocess
import wave
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from palprep.media.sound import stream_samples
from palprep.media.sources import Source
from palprep.speech.loudness import LoudnessMeter, TruePeakMeter, _interpolator
from palprep.speech.voice_meter import measure_voice


def sine(level_dbfs: float, seconds: float, rate: int = 48_000, hz: float = 1000.0) -> np.ndarray:
    time = np.arange(int(seconds * rate)) / rate
    return (10 ** (level_dbfs / 20) * np.sin(2 * np.pi * hz * time)).astype(np.float32)


def metered(samples: np.ndarray, rate: int = 48_000, block: int = 48_000) -> LoudnessMeter:
    shaped = np.atleast_2d(samples)
    meter = LoudnessMeter(rate, len(shaped))
    for at in range(0, shaped.shape[1], block):
        meter.push(shaped[:, at : at + block])
    return meter


@pytest.mark.parametrize("rate", [16_000, 22_050, 44_100, 48_000, 96_000])
def test_a_stereo_sine_at_minus_23_reads_minus_23(rate):
    tone = sine(-23.0, 5.0, rate)
    assert metered(np.stack((tone, tone)), rate).integrated_lufs() == pytest.approx(-23.0, abs=0.1)


@pytest.mark.parametrize("begins_s", [1.0, 3.0, 4.0])
def test_digital_silence_after_speech_is_faint(sample_media, begins_s):
    """FFmpeg's meter says "nan" of some of it, as a sum that rounding has left below zero."""
    source = Source.of(sample_media / "people" / "jane-carter" / "consent.mp4")
    speech = np.concatenate([*stream_samples(source, rate_hz=48_000, channels=1)])
    said = speech[round(begins_s * 40_000) :][:300_000]
    meter = metered(np.concatenate((said, np.zeros(8 * 48_000, np.float32))))
    levels = meter.waveform(np.abs(said[::48])).short_term_lufs
    assert np.isfinite(levels).all()
    assert set(levels[-20:]) == {-100.0}


def test_a_very_low_rate_reads_as_any_other():
    """FFmpeg's filters are not stable below 8 kHz."""
    low, usual = (metered(sine(-20.0, 5.0, rate, hz=250.0), rate) for rate in (2_000, 48_000))
    assert low.integrated_lufs() == pytest.approx(usual.integrated_lufs(), abs=0.3)


def test_quiet_parts_are_gated():
    # EBU Tech 3341, test signal 3: the gate leaves the loud middle alone.
    parts = [sine(-36.0, 10.0), sine(-23.0, 60.0), sine(-36.0, 10.0)]
    tone = np.concatenate(parts)
    assert metered(np.stack((tone, tone))).integrated_lufs() == pytest.approx(-23.0, abs=0.1)


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_silence_and_a_blink_have_no_loudness(seconds):
    meter = metered(np.zeros((1, int(seconds * 48_000)), np.float32))
    assert meter.integrated_lufs() is None
    assert metered(np.zeros((1, 480_000), np.float32)).integrated_lufs() is None


def test_blocks_of_any_size_give_the_same():
    noise = np.random.default_rng(1).uniform(-0.3, 0.3, (2, 200_000)).astype(np.float32)
    whole, parts = metered(noise), metered(noise, block=7_001)
    assert parts.integrated_lufs() == pytest.approx(whole.integrated_lufs(), abs=1e-6)


def test_the_true_peak_stands_between_the_samples():
    # A quarter of the sample rate, 45 degrees off: every sample is 3 dB under the peak.
    tone = np.sin(np.pi / 2 * np.arange(48_000) + np.pi / 4).astype(np.float32)
    meter = TruePeakMeter(1)
    meter.push(tone[None, :])
    assert meter.sample_peak == pytest.approx(0.7071, abs=1e-3)
    assert meter.peak_dbtp() == pytest.approx(0.0, abs=0.2)


def test_the_peak_is_that_of_every_place_however_the_sound_comes() -> None:
    """The loudest runs are looked at first, and most are not."""
    random = np.random.default_rng(3)
    noise = random.uniform(-1, 1, (2, 50_000)) * np.abs(np.sin(np.arange(50_000) / 900))
    sound = noise.astype(np.float32)
    padded = np.pad(sound, ((0, 0), (23, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 24, axis=1)
    highest = 20 * np.log10(np.abs(windows @ _interpolator().T).max())
    for block in (50_000, 4_096, 7_001):
        meter = TruePeakMeter(2)
        for at in range(0, sound.shape[1], block):
            meter.push(sound[:, at : at + block])
        assert meter.peak_dbtp() == pytest.approx(highest, abs=1e-5)


def test_the_last_sample_counts_although_none_follows():
    meter = TruePeakMeter(1)
    meter.push(np.array([[*[0.0] * 100, 0.5]], np.float32))
    assert meter.peak_dbtp() == pytest.approx(-6.02, abs=0.01)


def test_silence_has_the_floor_for_a_peak():
    meter = TruePeakMeter(2)
    meter.push(np.zeros((2, 1000), np.float32))
    assert meter.peak_dbtp() == -120.0


@pytest.mark.parametrize(("rate", "channels"), [(44_100, 2), (22_050, 1)])
def test_ffmpeg_measures_the_same(tmp_path, rate, channels):
    random = np.random.default_rng(5)
    time = np.arange(12 * rate) / rate
    shape = 0.05 + 0.4 * np.abs(np.sin(0.7 * time)) * (np.sin(3 * time) > -0.5)
    samples = (random.standard_normal((channels, len(time))) * 0.2 * shape).astype(np.float32)
    path = tmp_path / "noise.wav"
    _write(path, samples, rate)
    expected = _ebur128(path)
    exact = np.round(samples * 32767).astype(np.float32) / 32768
    meter, peaks = metered(exact, rate), TruePeakMeter(channels)
    peaks.push(exact)
    assert meter.integrated_lufs() == pytest.approx(expected["I"], abs=0.1)
    assert peaks.peak_dbtp() == pytest.approx(expected["Peak"], abs=0.3)


def _write(path: Path, samples: np.ndarray, rate: int) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(samples))
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(samples * 32767).astype("<i2").T.tobytes())


def _ebur128(path: Path) -> dict[str, float]:
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(path)]
    command += ["-af", "ebur128=peak=true", "-f", "null", "-"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    summary = said.split("Summary:")[-1]
    return {
        key: float(re.search(rf"{key}:\s+(-?[\d.]+)", summary)[1]) for key in ("I", "LRA", "Peak")
    }


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
    _, voice = measure_voice(rising)
    assert voice.duration_s == pytest.approx(10.0)
    peaks = voice.waveform.peaks
    assert len(peaks) == 300
    assert peaks[:119] == (0.0,) * 119
    assert peaks[121:] == pytest.approx([0.5] * 179, abs=0.01)


def test_loudness_is_that_of_the_tone(rising: Source) -> None:
    """A sine of 1 kHz at full scale reads -3.01 LUFS (BS.1770); half of it 6.02 less."""
    _, voice = measure_voice(rising)
    assert voice.integrated_lufs == pytest.approx(-9.0, abs=0.2)
    levels = voice.waveform.short_term_lufs
    assert 1.5 + (len(levels) - 1) * voice.waveform.step_s == pytest.approx(8.5)
    assert levels[-1] == pytest.approx(-9.0, abs=0.1)
    assert levels[0] == -100.0


def test_an_hour_has_no_more_points_than_a_minute() -> None:
    meter = metered(np.tile(sine(-20.0, 1.0, 8_000), 600), 8_000)
    drawn = meter.waveform(np.full(600_000, 0.1, np.float32))
    assert len(drawn.peaks) == 300
    assert 100 < len(drawn.short_term_lufs) <= 120
    assert 1.5 + (len(drawn.short_term_lufs) - 1) * drawn.step_s == pytest.approx(598.5, abs=5.1)


def test_a_short_recording_has_fewer_parts_and_silence_has_none() -> None:
    assert len(metered(sine(-20.0, 0.2)).waveform(np.ones(200, np.float32)).peaks) == 200
    assert metered(np.zeros((1, 0), np.float32)).waveform(np.zeros(0, np.float32)).peaks == ()
