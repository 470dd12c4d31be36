"""The best take of a timeline: scored, and cut in pauses."""

from __future__ import annotations

import math

import pytest

from palprep.facts import FacingLimits, Timeline
from palprep.facts.facts import Second
from palprep.rules.plans import takes
from palprep.rules.plans.takes import before_word, possible_starts
from palprep.values import Span


def line(duration, *speech, facing=(), seen=None, **more):
    """A timeline whose mouth moves when it speaks; ``facing`` lists the seconds turned away."""
    spans = tuple(Span(start_s=start, end_s=end) for start, end in speech)
    spoken = {
        at
        for start, end in speech
        for at in range(math.floor(start - 0.7) + 1, math.ceil(end - 0.3))
    }
    seconds = tuple(
        Second(
            at_s=at, speaking=at in spoken, mouth_moves=at in spoken,
            seen=at not in (seen or ()), head_off_deg=40.0 if at in facing else 0.0,
            gaze_off_deg=0.0,
        )
        for at in range(int(duration))
    )  # fmt: skip
    return Timeline(duration_s=float(duration), seconds=seconds, speech=spans, **more)


def best_take(line, *, shortest_s=0.0, longest_s=math.inf, wanted_s=0.0, starts=None):
    return takes.best_take(
        line, shortest_s=shortest_s, longest_s=longest_s, wanted_s=wanted_s,
        facing=FacingLimits(20.0, 10.0),
        starts=possible_starts(line) if starts is None else starts,
    )  # fmt: skip


def window(take):
    return take.start_s, take.end_s


def test_the_whole_is_best_where_nothing_speaks_against_it():
    whole = line(100, (0.5, 50.0))
    take = best_take(whole, shortest_s=60, longest_s=120, wanted_s=90)
    assert window(take) == (0.0, 100.0)
    assert (take.structure, take.seen, take.facing, take.length, take.breaks) == (1, 1, 1, 1, 0)
    assert take.score == 1.0


def test_speaking_then_listening_is_chosen_out_of_a_long_recording():
    # Two minutes of talk, one of silence: half a minute of talk belongs to the last minute.
    spoken = [(start + 0.4, start + 9.6) for start in range(0, 120, 10)]
    take = best_take(line(180, *spoken), shortest_s=60, longest_s=120, wanted_s=90)
    assert window(take) == (pytest.approx(60.1), 180.0)
    assert take.structure == 1.0
    assert "speaking first, then still 100%" in take.words()


def test_no_take_starts_or_ends_inside_speech():
    spoken = [(0.2, 31.0), (31.4, 66.6), (67.5, 131.0), (131.2, 150.0)]
    for facing in ((), range(40), range(90, 150)):
        take = best_take(
            line(150, *spoken, facing=facing), shortest_s=20, longest_s=120, wanted_s=90
        )
        for moment in window(take):
            assert not any(start < moment < end for start, end in spoken)


def test_a_take_may_end_at_its_limit_in_the_middle_of_a_breath():
    take = best_take(line(200, (0.0, 119.9), (120.4, 200.0)), shortest_s=60, longest_s=120)
    assert window(take) == (0.0, 120.0)


def test_talk_without_a_pause_gives_no_take():
    assert best_take(line(200, (0.0, 200.0)), shortest_s=60, longest_s=120) is None


def test_a_take_lies_between_two_cuts_when_that_leaves_enough():
    cut = line(120, (1.0, 8.0), (12.0, 60.0), cuts=(10.0,))
    take = best_take(cut, shortest_s=60, longest_s=120, wanted_s=90)
    assert take.breaks == 0
    # The first frame after the cut is shown, and none before it.
    assert take.start_s == 9.999
    assert best_take(cut, shortest_s=115, longest_s=120).breaks == 1


def test_black_and_frozen_stretches_are_left_out():
    black = Span(start_s=0.0, end_s=3.0)
    frozen = Span(start_s=95.0, end_s=100.0)
    dark = line(100, (5.0, 50.0), black=(black,), freezes=(frozen,))
    take = best_take(dark, shortest_s=60, longest_s=120, wanted_s=90)
    # Up to three frames before the one that shows the break are not looked at.
    assert window(take) == (4.7, 94.8)


@pytest.mark.parametrize("wrong", ["facing", "seen"])
def test_a_face_that_is_there_and_turned_to_the_lens_decides(wrong):
    spoken = [(start + 0.5, start + 9.5) for start in range(0, 200, 10)]
    away = line(200, *spoken, **{wrong: range(80)})
    take = best_take(away, shortest_s=60, longest_s=120, wanted_s=90)
    assert take.start_s >= 79


def test_where_nothing_was_measured_the_length_alone_counts():
    bare = Timeline(duration_s=150.0, seconds=tuple(Second(at_s=at) for at in range(150)))
    take = best_take(bare, longest_s=120, wanted_s=90)
    assert window(take) == (0.0, 120.0)
    assert (take.structure, take.seen, take.facing) == (None, None, None)


def test_many_breaks_are_counted_right():
    flickering = line(60, cuts=tuple(range(5, 55, 5)))
    assert best_take(flickering, shortest_s=60).breaks == 10
    assert best_take(flickering, shortest_s=20, starts=[22.5]).breaks == 4


def test_a_word_is_cut_before_in_its_pause_or_right_before_it():
    spoken = line(30, (2.0, 6.0), (6.2, 20.0))
    assert before_word(spoken, 2.05) == pytest.approx(1.7)
    assert before_word(spoken, 6.2) == pytest.approx(6.1)
    assert before_word(spoken, 12.0) == pytest.approx(11.95)
    assert before_word(spoken, 25.0) == pytest.approx(24.7)
    assert before_word(line(30, (0.1, 9.0)), 0.1) == pytest.approx(0.05)
    assert possible_starts(spoken) == pytest.approx((0.0, 1.7, 6.1, 29.7))


def test_an_hour_takes_no_time():
    spoken = [(at + 0.3, at + 2.7) for at in range(0, 3600, 3)]
    hour = line(3600, *spoken, cuts=tuple(range(7, 3600, 7)))
    take = best_take(hour, shortest_s=60, longest_s=120, wanted_s=90)
    assert take.end_s - take.start_s >= 60
