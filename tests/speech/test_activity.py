"""Probabilities to stretches of speech."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.speech.activity import Activity, spans_of, speech_spans
from palprep.speech.silero import Silero


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
    activity = Activity(Silero.load())
    for at in range(0, len(speech), 7_777):
        activity.push(speech[at : at + 7_777])
    assert activity.spans() == speech_spans(speech)
    assert sum(span.duration_s for span in activity.spans()) > 5.0


def test_nothing_is_no_speech():
    assert speech_spans(np.zeros(0, np.float32)) == ()
