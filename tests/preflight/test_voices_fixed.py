"""Recordings with a defect that a fix mends or hides, fixed and proved."""

import wave

import numpy as np

from palprep import preflight
from palprep.values import Outcome

RATE = 16_000


def test_a_recording_comes_out_without_its_hum_and_at_its_level(speech, tmp_path):
    """The hum made it pass for loud enough: to take it out was called worse, and it stayed."""
    time_s = np.arange(len(speech)) / RATE
    hum = 0.05 * np.sin(2 * np.pi * 60 * time_s) + 0.055 * np.sin(2 * np.pi * 180 * time_s)
    voice = speech * (10 ** (-24.3 / 20) / float(np.sqrt(np.mean(np.square(speech)))))
    path = tmp_path / "humming.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(np.rint((voice + hum) * 32767).astype("<i2").tobytes())
    before = preflight.check(path)
    assert before.check("voice_hum").outcome is Outcome.WARN
    assert before.check("voice_snr").outcome is Outcome.FAIL
    assert before.check("voice_level").outcome is Outcome.PASS
    ready = preflight.prepare(path, into=tmp_path / "out")
    assert [fix.id for fix in ready.fixes][:2] == ["high_pass", "level"]
    assert ready.report.check("voice_hum").outcome is Outcome.PASS
    assert ready.report.check("voice_level").outcome is Outcome.PASS
    assert ready.report.check("voice_snr").outcome is not Outcome.FAIL


def test_soft_moments_of_8_bits_are_no_holes(speech, tmp_path):
    """What is softer than one of their steps is zero, and stays so once it is levelled."""
    path = tmp_path / "coarse.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 1, RATE, 0, "NONE", ""))
        soft = np.tile(speech, 4) * 0.1 / float(np.abs(speech).max())
        file.writeframes((np.rint(soft * 127) + 128).astype("u1").tobytes())
    report = preflight.check(path)
    before, noise = report.check("voice_dropouts"), report.check("voice_snr")
    assert (before.outcome, "8 bits" in before.sentence) == (Outcome.UNKNOWN, True)
    assert (noise.outcome, "16 bits" in (noise.advice or "")) == (Outcome.FAIL, True)
    ready = preflight.prepare(path, into=tmp_path / "out")
    assert "level" in {fix.id for fix in ready.fixes}
    assert ready.report.check("voice_dropouts") == before
    assert ready.report.check("voice_snr") == noise


def test_that_a_recording_was_cut_off_is_told_of_what_is_made_of_it(speech, tmp_path):
    path = tmp_path / "cut.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(np.rint(np.tile(speech, 4) * 9000).astype("<i2").tobytes())
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    before = preflight.check(path).check("audio_duration")
    ready = preflight.prepare(path, into=tmp_path / "out")
    assert "level" in {fix.id for fix in ready.fixes}
    assert "cut off" in before.sentence
    assert ready.report.check("audio_duration").sentence == before.sentence
