"""Listening to whole files."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from palprep.errors import UnsupportedMedia
from palprep.media.sources import Source
from palprep.speech.spectrum import Bandwidth
from palprep.speech.voice_meter import VoiceMeter, codec_hints, measure_voice, mix_down

RATE = 24_000


def write(path: Path, samples: np.ndarray, rate: int = RATE) -> Path:
    shaped = np.atleast_2d(samples)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(shaped))
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.round(np.clip(shaped, -1, 1) * 32767).astype("<i2").T.tobytes())
    return path


def heard(path: Path):
    return measure_voice(Source.of(path))[1]


def test_a_spoken_clip(spoken_consent):
    voice = heard(spoken_consent)
    assert voice.content == "speech"
    assert 0.7 < voice.speech_s / voice.duration_s <= 1.0
    assert voice.snr_db > 20
    assert -40 < voice.speech_rms_dbfs < -10
    assert voice.true_peak_dbtp > voice.speech_rms_dbfs
    assert voice.speech[0].start_s < 1.5
    assert sum(span.duration_s for span in voice.speech) == pytest.approx(voice.speech_s)
    assert type(voice).model_validate(voice.to_json()) == voice


def test_the_levels_are_those_of_all_that_was_pushed():
    meter = VoiceMeter(RATE, 1)
    meter.push(np.full(RATE, 0.5, np.float32))
    assert meter.levels().peak_dbfs == pytest.approx(-6.02, abs=0.01)


def test_noise_between_words_is_what_was_put_there(tmp_path, speech):
    random = np.random.default_rng(2)
    padded = np.concatenate((np.zeros(16_000, np.float32), speech, np.zeros(16_000, np.float32)))
    loud = 0.1 * padded / np.sqrt((speech**2).mean())
    noise = 10 ** (-50 / 20) * random.standard_normal(len(loud))
    voice = heard(write(tmp_path / "noisy.wav", loud + noise, 16_000))
    assert voice.noise_floor_dbfs == pytest.approx(-50, abs=1.5)
    assert voice.snr_db == pytest.approx(30, abs=2.5)


def test_rumble_below_all_voices_is_no_noise(tmp_path, speech):
    time = np.arange(len(speech)) / 16_000
    rumble = 0.1 * np.sin(2 * np.pi * 30 * time + 3 * np.sin(time))
    plain = heard(write(tmp_path / "plain.wav", 0.5 * speech, 16_000))
    rumbling = heard(write(tmp_path / "rumbling.wav", 0.5 * speech + rumble, 16_000))
    # The rumble is 7 dB louder than the speech.
    assert rumbling.snr_db > 25
    assert rumbling.speech_rms_dbfs == pytest.approx(plain.speech_rms_dbfs, abs=0.5)


def test_direct_current_is_no_noise(tmp_path, speech):
    random = np.random.default_rng(2)
    noisy = speech + 0.001 * random.standard_normal(len(speech))
    plain = heard(write(tmp_path / "plain.wav", noisy, 16_000))
    shifted = heard(write(tmp_path / "shifted.wav", 0.05 + noisy, 16_000))
    assert shifted.dc_offset == pytest.approx(0.05, abs=0.002)
    assert shifted.snr_db == pytest.approx(plain.snr_db, abs=4.0)


def echoing(speech: np.ndarray, reverberation_s: float) -> np.ndarray:
    """Speech in a room: noise that falls by 60 dB in that time, 6 dB below the voice itself."""
    time = np.arange(int(reverberation_s * 16_000)) / 16_000
    tail = np.random.default_rng(4).standard_normal(len(time)) * np.exp(
        -6.9 * time / reverberation_s
    )
    tail *= 0.5 / np.sqrt((tail**2).sum())
    tail[0] = 1.0
    length = len(speech) + len(tail)
    return np.fft.irfft(np.fft.rfft(speech, length) * np.fft.rfft(tail, length), length)


@pytest.mark.parametrize(("room_s", "least_s", "most_s"), [(0.2, 0.0, 0.4), (0.8, 0.41, 0.9)])
def test_the_echo_of_a_room_is_measured(tmp_path, speech, room_s, least_s, most_s):
    voice = heard(write(tmp_path / "room.wav", 0.5 * echoing(speech, room_s), 16_000))
    assert least_s < voice.reverberation_s <= most_s


def test_an_echo_that_noise_hides_is_not_measured(tmp_path, speech):
    noise = (
        0.3 * np.sqrt((speech**2).mean()) * np.random.default_rng(2).standard_normal(len(speech))
    )
    assert (
        heard(write(tmp_path / "noisy.wav", 0.5 * (speech + noise), 16_000)).reverberation_s is None
    )


@pytest.mark.parametrize(
    ("tones_hz", "expected"),
    [((), "noise"), ((262, 330, 392, 523), "music"), ((50, 100, 150, 200, 250, 300), "hum")],
)
def test_what_sounds_between_the_words_is_named(tmp_path, speech, tones_hz, expected):
    padded = np.concatenate((speech, np.zeros(24_000, np.float32)))
    time = np.arange(len(padded)) / 16_000
    under = 0.0005 * np.random.default_rng(2).standard_normal(len(time))
    under += sum(0.01 * np.sin(2 * np.pi * tone * time) for tone in tones_hz)
    assert heard(write(tmp_path / "under.wav", padded + under, 16_000)).background == expected


@pytest.mark.parametrize("mains", [50, 60])
def test_hum_is_heard_under_speech(tmp_path, speech, mains):
    time = np.arange(len(speech)) / 16_000
    hum = sum(0.003 / k * np.sin(2 * np.pi * mains * k * time) for k in (1, 2, 3, 4))
    voice = heard(write(tmp_path / "hum.wav", speech + hum, 16_000))
    assert voice.hum_hz == mains
    assert voice.hum_dbfs == pytest.approx(-53, abs=3)
    assert heard(write(tmp_path / "clean.wav", speech, 16_000)).hum_hz is None


@pytest.mark.parametrize("inverted", [False, True])
def test_an_inverted_channel_hides_no_speech(tmp_path, speech, inverted):
    pair = np.stack((speech, -speech if inverted else speech))
    voice = heard(write(tmp_path / "pair.wav", pair, 16_000))
    assert voice.inverted is inverted
    assert voice.silent_channel is None
    assert voice.speech_s > 5


def test_a_silent_channel_is_named(tmp_path, speech):
    voice = heard(write(tmp_path / "left.wav", np.stack((speech, 0 * speech)), 16_000))
    assert voice.silent_channel == 1
    faint = heard(write(tmp_path / "faint.wav", np.stack((speech, 0 * speech)) / 1000, 16_000))
    assert faint.silent_channel is None
    assert voice.speech_s > 5


def test_silence_noise_and_chords_are_told_apart(tmp_path):
    random = np.random.default_rng(3)
    time = np.arange(RATE * 6) / RATE
    chord = 0.1 * sum(np.sin(2 * np.pi * hz * time) for hz in (262, 330, 392))
    hiss = 0.05 * random.standard_normal(len(time))
    names = {"silence": 0 * time, "noise": hiss, "music": chord}
    for content, samples in names.items():
        voice = heard(write(tmp_path / f"{content}.wav", samples))
        assert voice.content == content
        assert voice.speech == ()
        assert voice.snr_db is None


def test_a_blink_of_sound_is_measured_without_invention(tmp_path):
    voice = heard(write(tmp_path / "short.wav", np.full(10, 0.1)))
    assert voice.duration_s == pytest.approx(10 / RATE)
    assert voice.integrated_lufs is None
    assert voice.speakers.several is None


def test_a_video_without_sound_is_refused(sample_media):
    silent = sample_media / "broken" / "silent-training.mp4"
    with pytest.raises(UnsupportedMedia):
        heard(silent)


def test_a_mixdown_keeps_what_would_cancel():
    left = np.sin(np.arange(1000) * 0.1).astype(np.float32)
    assert np.allclose(mix_down(np.stack((left, -left))), left)
    assert np.allclose(mix_down(np.stack((left, left))), left)
    assert np.allclose(mix_down(left[None, :]), left)


@pytest.mark.parametrize(
    ("band", "rate", "words"),
    [
        (Bandwidth(7_900, cliff=True), 48_000, "recorded at 16000 Hz"),
        (Bandwidth(3_700, cliff=True), 44_100, "recorded at 8000 Hz"),
        (Bandwidth(13_100, cliff=True), 44_100, "lossy"),
    ],
)
def test_an_edge_in_the_spectrum_hints_at_an_earlier_conversion(band, rate, words):
    (hint,) = codec_hints(band, rate)
    assert words in hint


@pytest.mark.parametrize(
    ("band", "rate"),
    [
        (None, 48_000),
        (Bandwidth(7_900, cliff=False), 48_000),
        (Bandwidth(7_900, cliff=True), 16_000),
        (Bandwidth(17_000, cliff=True), 48_000),
    ],
)
def test_no_edge_no_hint(band, rate):
    assert codec_hints(band, rate) == ()


@pytest.mark.parametrize("rate", [1_000, 1_500, 768_000])
def test_rates_at_the_rim_are_measured(tmp_path, rate):
    times = np.arange(2 * rate) / rate
    path = write(
        tmp_path / "a.wav", (0.3 * np.sin(2 * np.pi * 200 * times)).astype(np.float32), rate
    )
    recording, voice = measure_voice(Source.of(path))
    assert (recording.stream.sample_rate_hz, voice.duration_s) == (rate, pytest.approx(2.0))
    assert recording.levels is not None
    assert recording.levels.peak_dbfs == pytest.approx(-10.46, abs=0.5)
    assert recording.levels.rms_dbfs == pytest.approx(-13.47, abs=0.1)
    # The weighting's shelf at 1.7 kHz lies above half of the lowest rates.
    assert voice.integrated_lufs == pytest.approx(-13.5, abs=4)
