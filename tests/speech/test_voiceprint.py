"""Whose voice it is, in real recordings and through a telephone."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from palprep.media import run_ffmpeg
from palprep.media.sound import probe_audio
from palprep.media.sources import Source
from palprep.speech import voice_of
from palprep.speech.voiceprint import LEAST_S, MOST_S, Voiceprint, speech_of

RATE_HZ = 16_000


@pytest.fixture(scope="module")
def voiceprint() -> Voiceprint:
    return Voiceprint()


@pytest.fixture(scope="module")
def spoken(sample_media: Path) -> np.ndarray:
    return speech_of(Source.of(sample_media / "people" / "jane-carter" / "recording.m4a"))


def test_speech_is_taken_without_pauses_from_the_whole_minute(spoken):
    assert len(spoken) == MOST_S * RATE_HZ
    quarters = spoken.reshape(4, -1)
    assert min(np.sqrt((quarter**2).mean()) for quarter in quarters) > 0.02


def test_a_voice_keeps_its_direction_whatever_its_level(voiceprint, spoken):
    whole = voiceprint.embed(spoken)
    assert whole.shape == (192,)
    assert np.linalg.norm(whole) == pytest.approx(1.0, abs=1e-5)
    assert whole @ voiceprint.embed(spoken * 0.1) > 0.999
    first, last = (voiceprint.embed(half) for half in np.split(spoken, 2))
    assert first @ last > 0.8


def test_pieces_of_one_length_and_others_come_out_as_each_does_alone(voiceprint, spoken):
    lengths = (32_000, 24_000, 32_000, 24_000, 24_000, 24_000, 24_000, 24_000, 20_000)
    pieces = [spoken[9_000 * at :][:length] for at, length in enumerate(lengths)]
    alone = np.stack([voiceprint.embed(piece) for piece in pieces])
    assert voiceprint.embed_each(pieces) == pytest.approx(alone, abs=1e-5)
    assert len(np.unique(alone.round(4), axis=0)) == len(pieces)


def test_another_voice_has_another_direction(voiceprint, spoken, sample_media):
    woman = Source.of(sample_media / "people" / "anna-miller" / "recording.mov")
    other = voice_of(woman)
    assert other is not None
    assert voiceprint.embed(spoken) @ other < 0.1


def test_without_sound_or_speech_there_is_no_voice(sample_media):
    silent = Source.of(sample_media / "broken" / "silent-training.mp4")
    assert voice_of(silent) is None
    assert LEAST_S < MOST_S


def test_the_voice_is_that_of_the_track_which_a_player_plays(tmp_path, sample_media):
    recording = sample_media / "people" / "jane-carter" / "recording.m4a"
    both = tmp_path / "both.mkv"
    run_ffmpeg(
        [
            *("-f", "lavfi", "-t", "5", "-i", "anullsrc=r=48000:cl=mono"),
            *("-f", "mov", "-protocol_whitelist", "file", "-t", "8", "-i", str(recording)),
            *("-f", "lavfi", "-t", "1", "-i", "color=s=64x64"),
            *("-map", "2", "-map", "0", "-map", "1", "-c:a", "flac", "-c:v", "libx264"),
            *("-disposition:a:0", "0", "-disposition:a:1", "default", str(both)),
        ]
    )
    source = Source.of(both)
    assert probe_audio(source).chosen == 1
    assert len(speech_of(source)) > LEAST_S * RATE_HZ


def test_a_recording_of_some_samples_holds_no_voice(tmp_path):
    clipped = tmp_path / "clipped.wav"
    with wave.open(str(clipped), "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", "not compressed"))
        file.writeframes(bytes(2 * 3))
    assert voice_of(Source.of(clipped)) is None
