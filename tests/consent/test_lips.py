"""What the course of lips tells, from tracks that are made up: rests, and what comes again."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.consent import LipsFacts, StatementReading, measure_lips, stretch_of
from palprep.consent.facts import AlignedWord, PartReading
from palprep.consent.lips import LipSync
from palprep.values import Span
from palprep.vision import FaceTrack

RATE = 12.5
ALL = Span(start_s=0.0, end_s=10.0)
SILENCE = np.zeros(16_000)
SYNC = LipSync(lambda samples: None, np.zeros((1152, 4)), np.zeros((41, 8)), np.zeros((40, 4)))
"""So short a sound is not held against lips: nothing is asked of it."""


@pytest.fixture(autouse=True)
def _asks_nothing(monkeypatch):
    monkeypatch.setattr(LipSync, "load", lambda: SYNC)


def talk(seconds=10.0, seed=1):
    """Six distances that change as in speech: smooth noise of some hertz."""
    rng = np.random.default_rng(seed)
    count = int(seconds * RATE)
    rough = rng.standard_normal((count + 2, 6))
    return 0.3 + 0.08 * (rough[:-2] + 2 * rough[1:-1] + rough[2:]) / 2


def track(times, shape, eyes=None, head=None, nose=None):
    count = len(times)
    eyes = np.full(count, 0.3) if eyes is None else eyes
    head, nose = (np.zeros((count, 2)) if each is None else each for each in (head, nose))
    return FaceTrack(times, shape, np.zeros((count, 41)), eyes, head, nose)


def measured(shape, *, speech=(ALL,), stated=True, times=None, **face):
    times = np.arange(len(shape)) / RATE if times is None else times
    seen = track(times, shape, **face)
    return measure_lips(seen, ALL, speech, SILENCE, stated=stated)


def looped(shape, steps):
    return shape[np.arange(len(shape)) % steps]


def back_and_forth(shape, steps):
    at = np.arange(len(shape)) % (2 * steps)
    return shape[np.where(at < steps, at, 2 * steps - 1 - at)]


def test_lips_that_speak_neither_rest_nor_come_again():
    for seed in range(10):
        lips = measured(talk(seed=seed))
        assert lips.motion > 0.05
        assert lips.repeat > 0.6


@pytest.mark.parametrize("steps", [8, 14, 25, 40, 60])
@pytest.mark.parametrize("made", [looped, back_and_forth])
def test_a_loop_comes_again_whatever_its_length(made, steps):
    noise = 0.005 * np.random.default_rng(9).standard_normal((125, 6))
    lips = measured(made(talk(), steps) + noise)
    assert lips.repeat < 0.3
    assert lips.repeats_at_s >= 0.5


def test_a_loop_of_part_of_it_is_found_where_it_comes_again():
    shape = talk()
    shape[75:105] = shape[20:50]
    lips = measured(shape)
    assert lips.repeat < 0.2
    assert 5.9 < lips.repeats_at_s < 6.5


def test_a_picture_that_freezes_halfway_rests_from_there():
    shape = talk()
    shape[60:] = shape[60]
    lips = measured(shape)
    assert lips.motion < 0.001
    assert 4.7 < lips.rests_at_s < 7.1


def test_a_rest_counts_only_while_somebody_speaks():
    shape = talk()
    shape[60:] = shape[60]
    until = measured(shape, speech=(Span(start_s=0.0, end_s=5.0),))
    assert until.motion > 0.04
    assert measured(shape, speech=(Span(start_s=0.0, end_s=2.0),)).motion is None


def test_frames_without_a_face_leave_it_open():
    times = np.arange(125) / RATE
    seen = (times < 2.0) | (times > 8.0)
    lips = measured(talk()[seen], times=times[seen])
    assert lips.motion is None
    assert lips.repeat > 0.6
    empty = measure_lips(track(np.zeros(0), np.zeros((0, 6))), ALL, (ALL,), SILENCE, stated=True)
    assert empty == LipsFacts(stated=True, span=ALL)


def test_a_blink_is_told_by_more_than_one_odd_frame():
    eyes = 0.3 + 0.005 * np.random.default_rng(2).standard_normal(125)
    assert measured(talk(), eyes=eyes).blink < 0.02
    odd = eyes.copy()
    odd[60] = 0.22
    assert measured(talk(), eyes=odd).blink < 0.04
    eyes[60:63] = (0.15, 0.05, 0.2)
    assert measured(talk(), eyes=eyes).blink == pytest.approx(0.3 - 0.4 / 3, abs=0.01)


def test_eyes_that_narrow_slowly_do_not_blink():
    eyes = 0.3 + 0.06 * np.sin(np.arange(125) / RATE)
    assert measured(talk(), eyes=eyes).blink < 0.02


@pytest.mark.parametrize(("seconds", "told"), [(7.8, False), (8.2, True)])
def test_a_few_seconds_tell_neither_of_eyes_nor_of_head_and_nose(seconds, told):
    shape = talk(seconds)
    lips = measured(shape)
    assert (lips.blink is not None) is told
    assert (lips.head is not None) is told
    assert (lips.parallax is not None) is told


def test_a_head_that_trembles_does_not_move():
    rng = np.random.default_rng(4)
    tremble = 0.01 * rng.standard_normal((125, 2))
    assert measured(talk(), head=tremble).head < 0.01
    swing = 0.1 * np.sin(np.arange(125) / RATE)
    moving = tremble + np.column_stack([swing, np.zeros(125)])
    assert measured(talk(), head=moving).head == pytest.approx(0.07, abs=0.01)


def test_a_nose_that_trembles_does_not_move_against_the_face():
    tremble = 0.01 * np.random.default_rng(5).standard_normal((125, 2))
    assert measured(talk(), nose=tremble).parallax < 0.009
    swing = np.column_stack([np.zeros(125), 0.03 * np.sin(2 * np.arange(125) / RATE)])
    assert measured(talk(), nose=tremble + swing).parallax == pytest.approx(0.021, abs=0.003)


def test_one_jump_is_no_motion_and_gaps_leave_it_open():
    """At a cut, or where the camera is covered for a moment, the place of the head is not known."""
    jump = np.zeros((200, 2))
    jump[150:] = 1.0
    long = Span(start_s=0.0, end_s=16.0)
    seen = track(np.arange(200) / RATE, talk(16.0), head=jump)
    assert measure_lips(seen, long, (long,), SILENCE, stated=True).head < 0.01
    jump[60:70] = np.nan
    seen = track(np.arange(200) / RATE, talk(16.0), head=jump)
    assert measure_lips(seen, long, (long,), SILENCE, stated=True).head is not None
    jump[100:110] = np.nan
    seen = track(np.arange(200) / RATE, talk(16.0), head=jump)
    assert measure_lips(seen, long, (long,), SILENCE, stated=True).head is None


@pytest.mark.parametrize(("seconds", "held"), [(4.8, False), (5.2, True)])
def test_less_than_five_seconds_of_lips_are_not_held_against_the_sound(seconds, held, monkeypatch):
    heard = []

    class Hears:
        def encode(self, samples, positions):
            heard.append(samples)
            return np.zeros((1, positions, 384))

    span = Span(start_s=0.0, end_s=seconds)
    seen = track(np.arange(int(seconds * RATE)) / RATE, talk(seconds))
    sound = np.zeros(8 * 16_000)
    sync = SYNC._replace(encoder=Hears())
    monkeypatch.setattr(LipSync, "load", lambda: sync)
    measure_lips(seen, span, (span,), sound, stated=True)
    assert bool(heard) is held


def test_two_seconds_are_too_short_to_tell():
    short = Span(start_s=0.0, end_s=2.0)
    lips = measure_lips(
        track(np.arange(25) / RATE, talk(2.0)),
        short,
        (short,),
        SILENCE,
        stated=True,
    )
    assert (lips.motion, lips.repeat) == (None, None)


def test_all_of_a_statement_of_more_than_twelve_seconds_is_looked_at():
    still = talk(18.0)
    still[int(13.0 * RATE) :] = still[int(13.0 * RATE)]
    span = Span(start_s=0.0, end_s=18.0)
    lips = measure_lips(
        track(np.arange(len(still)) / RATE, still),
        span,
        (span,),
        SILENCE,
        stated=True,
    )
    assert lips.span == span
    assert lips.motion < 0.02
    assert lips.rests_at_s > 12.0


def test_the_statement_is_looked_at_where_it_was_read():
    def word(start, end):
        return AlignedWord(expected="x", start=start, end=end, probability=0.9)

    reading = StatementReading(
        statement="x", full_name="Ada", language="en",
        parts=(
            PartReading(first_word=0, expected=("x",), aligned=(word(3.0, 3.5),)),
            PartReading(first_word=1, expected=("x",), aligned=(word(8.0, 9.0),)),
        ),
    )  # fmt: skip
    speech = (Span(start_s=0.0, end_s=30.0),)
    assert stretch_of(reading, speech) == (Span(start_s=3.0, end_s=9.0), True)
    late = reading.parts[1].model_copy(update={"aligned": (word(19.0, 20.0),)})
    longer = reading.model_copy(update={"parts": (reading.parts[0], late)})
    assert stretch_of(longer, speech) == (Span(start_s=3.0, end_s=20.0), True)


def test_else_the_densest_speech_is_looked_at():
    speech = [
        Span(start_s=start, end_s=end) for start, end in ((0, 2), (20, 25), (26, 40), (60, 63))
    ]
    assert stretch_of(None, speech) == (Span(start_s=26.0, end_s=38.0), False)
    assert stretch_of(None, speech[:2]) == (Span(start_s=20.0, end_s=25.0), False)
    assert stretch_of(None, ()) is None
