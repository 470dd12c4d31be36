"""Which stretches of a recording to keep."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given, strategies as st
from voices import voice_of

from palprep.rules.plans.voice import choose_spans
from palprep.values import Span


def chosen(*speech, min_s, max_s, **other) -> list[tuple[float, float]]:
    spans = choose_spans(voice_of(*speech, **other), min_s=min_s, max_s=max_s)
    return [(span.start_s, span.end_s) for span in spans]


def test_one_contiguous_run_is_kept_whole_with_its_pauses():
    assert chosen((1, 20), (20.5, 40), (60, 70), min_s=30, max_s=60) == [(0.85, 40.15)]


def test_a_long_run_is_cut_in_a_pause():
    assert chosen((0, 50), (50.6, 90), min_s=10, max_s=55) == [(0.0, 50.15)]


def test_a_run_without_a_pause_near_the_end_is_cut_at_the_limit():
    assert chosen((0, 90), min_s=10, max_s=60) == [(0.0, 60.0)]


def test_short_runs_are_joined_longest_first_in_order():
    found = chosen((5, 12), (20, 40), (60, 61), (70, 85), min_s=30, max_s=40)
    assert found == [(19.85, 40.15), (69.85, 85.15)]


def test_runs_end_before_a_dropout():
    hole = (Span(start_s=30.0, end_s=30.1),)
    assert chosen((1, 60), min_s=20, max_s=60, dropouts=hole) == [(30.2, 60.15)]


def test_an_hour_of_a_bad_call_is_planned_at_once():
    """A hole in every word: they were compared with all words, which took a minute."""
    words = [(0.9 * at, 0.9 * at + 0.7) for at in range(4000)]
    holes = tuple(Span(start_s=start + 0.33, end_s=start + 0.34) for start, _ in words)
    began = time.process_time()
    found = chosen(*words, min_s=90, max_s=179, duration_s=3600.0, dropouts=holes)
    assert len(found) > 100
    assert time.process_time() - began < 5


def test_nobody_speaks():
    assert chosen(min_s=10, max_s=60) == []


@given(
    st.lists(st.tuples(st.floats(0.2, 30), st.floats(0.1, 5)), max_size=12),
    st.floats(10, 60),
    st.floats(0, 60),
)
def test_what_is_kept_is_speech_in_order_and_no_longer_than_wanted(lengths, min_s, more):
    speech, at = [], 0.0
    for length, pause in lengths:
        speech.append((at + pause, at + pause + length))
        at += pause + length
    duration = at + 1.0
    spans = choose_spans(voice_of(*speech, duration_s=duration), min_s=min_s, max_s=min_s + more)
    assert sum(span.duration_s for span in spans) <= min_s + more + 0.01 * len(spans) + 0.01
    for before, after in pairwise(spans):
        assert before.end_s <= after.start_s
    assert all(0 <= span.start_s < span.end_s <= duration + 1e-3 for span in spans)
    assert bool(spans) == bool(speech)
