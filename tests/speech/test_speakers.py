"""One voice or several, by construction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from palprep.speech import RATE_HZ
from palprep.speech.voiceprint import (
    LEAST,
    MOST,
    SpeakerMeter,
    Voiceprint,
    alikeness,
    judge_voices,
)

RANDOM = np.random.default_rng(9)


def voices(*counts: int, spread: float = 0.05) -> np.ndarray:
    """Directions of as many pieces of each voice."""
    parts = []
    for count in counts:
        own = RANDOM.standard_normal(192) / 192**0.5
        parts.append(own + spread * RANDOM.standard_normal((count, 192)))
    joined = np.concatenate(parts)
    return (joined / np.linalg.norm(joined, axis=1, keepdims=True)).astype(np.float32)


def test_one_voice_is_one():
    for _ in range(20):
        found = judge_voices(voices(12))
        assert found.several is False
        assert found.confidence > 0.75


@pytest.mark.parametrize("counts", [(6, 6), (11, 1), (2, 2), (4, 4, 4)])
def test_two_voices_are_several_however_little_one_says(counts):
    found = judge_voices(voices(*counts))
    assert found.several is True
    assert 0.9 < found.confidence <= 0.99


def test_voices_that_are_rather_alike_are_not_told_apart():
    one, other = np.eye(192, dtype=np.float32)[:2]
    like = 0.36 * one + (1 - 0.36**2) ** 0.5 * other
    mixed = np.stack([one] * 5 + [like] * 5)
    assert alikeness(mixed) == pytest.approx(0.36, abs=1e-3)
    assert judge_voices(mixed).several is None


def test_a_few_words_of_another_are_told_in_a_voice_that_varies():
    """The two groups that are least alike are then two moods of the speaker."""
    calm, other, stranger = np.eye(192, dtype=np.float32)[:3]
    lively = 0.6 * calm + 0.8 * other
    varied = np.stack([calm] * 10 + [lively] * 9)
    assert judge_voices(varied).several is False
    found = judge_voices(np.stack([*varied, stranger]))
    assert (found.several, found.confidence) == (True, 0.99)


def test_equal_pieces_are_one_voice():
    assert alikeness(np.tile(voices(1), (5, 1))) == pytest.approx(1.0)


def test_too_little_speech_tells_nothing():
    meter = SpeakerMeter()
    for _ in range(LEAST - 1):
        meter.push(np.zeros(20_000, np.float32))
    meter.push(np.zeros(15_000, np.float32))  # Under a second.
    assert meter.facts(lambda pieces: voices(len(pieces))).several is None


def test_a_long_recording_is_heard_at_as_many_places():
    meter, heard = SpeakerMeter(), []
    for minute in range(200):
        meter.push(np.full(32_000, minute, np.float32))

    def embed_each(pieces: Sequence[np.ndarray]) -> np.ndarray:
        heard.extend(int(piece[0]) for piece in pieces)
        return voices(len(pieces))

    meter.facts(embed_each)
    assert len(heard) == MOST
    assert min(heard) < 10
    assert max(heard) > 180
    assert min(np.diff(heard)) >= 8


def test_the_middle_of_a_piece_is_heard():
    meter, heard = SpeakerMeter(), []
    for _ in range(LEAST):
        meter.push(np.arange(2.0 * RATE_HZ, dtype=np.float32))

    def embed_each(pieces: Sequence[np.ndarray]) -> np.ndarray:
        heard.extend((piece[0], piece[-1]) for piece in pieces)
        return voices(len(pieces))

    meter.facts(embed_each)
    assert set(heard) == {(0.25 * RATE_HZ, 1.75 * RATE_HZ - 1)}


def test_a_real_voice_is_not_several(speech):
    meter = SpeakerMeter()
    meter.push(np.concatenate((speech, speech)))
    assert meter.facts(Voiceprint().embed_each).several is False
