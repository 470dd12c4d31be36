"""The picture of a timeline: colours stand where things happen."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.values import Span
from palprep.views.outcomes import VERMILION
from palprep.views.timeline_image import (
    FAINT,
    GAP,
    LABEL_WIDTH,
    PAPER,
    ROW_HEIGHT,
    STRIP_HEIGHT,
    SUMMARY_WIDTH,
    WIDTH,
    draw_rows,
)
from palprep.views.timeline_rows import Row

BLUE = (0, 0, 200)
DURATION_S = 40.0


def span(start_s, end_s):
    return Span(start_s=start_s, end_s=end_s)


def drawn(rows, frames=()):
    return np.asarray(draw_rows(frames, rows, DURATION_S))


def pixel(picture, row, moment_s, *, strip=False):
    top = (STRIP_HEIGHT + GAP if strip else 0) + row * (ROW_HEIGHT + GAP)
    across = (WIDTH - SUMMARY_WIDTH - LABEL_WIDTH) * moment_s / DURATION_S
    return tuple(int(value) for value in picture[top + ROW_HEIGHT // 2, int(LABEL_WIDTH + across)])


def test_spans_marks_and_what_is_unknown_stand_where_they_are():
    row = Row("One", BLUE, spans=[span(10.0, 20.0)], marks=[30.0], unknown=[span(34.0, 40.0)])
    picture = drawn([row, Row("Two", BLUE)])
    assert picture.shape[1] == WIDTH
    seen = [pixel(picture, 0, moment) for moment in (5.0, 15.0, 25.0, 30.0, 37.0)]
    assert seen == [FAINT, BLUE, FAINT, VERMILION, PAPER]
    assert pixel(picture, 1, 15.0) == FAINT


def test_a_moment_beyond_the_end_stays_inside():
    picture = drawn([Row("One", BLUE, spans=[span(30.0, 90.0)], marks=[500.0])])
    assert (picture[: ROW_HEIGHT // 2, WIDTH - SUMMARY_WIDTH + 8 :] == 255).all()
    assert pixel(picture, 0, 35.0) == BLUE


def test_a_curve_is_filled_up_to_its_level():
    picture = drawn([Row("Light", BLUE, levels=[(0.0, 0.2), (40.0, 0.2)])])
    middle = (WIDTH - SUMMARY_WIDTH + LABEL_WIDTH) // 2
    assert tuple(picture[4, middle]) == FAINT
    assert tuple(picture[ROW_HEIGHT - 2, middle]) not in {FAINT, PAPER, BLUE}


@pytest.mark.parametrize("shape", [(90, 160, 3), (160, 90, 3)])
def test_frames_start_at_their_times_and_are_not_enlarged(shape):
    frames = [(at, np.full(shape, shade, np.uint8)) for at, shade in ((0.0, 60), (20.0, 120))]
    picture = drawn([Row("One", BLUE, spans=[span(0.0, 40.0)])], frames)
    middle = (WIDTH - SUMMARY_WIDTH + LABEL_WIDTH) // 2
    assert picture[60, LABEL_WIDTH + 10, 0] == 60
    assert picture[60, middle + 10, 0] == 120
    assert picture[60, middle - 20, 0] == 255
    assert pixel(picture, 0, 20.0, strip=True) == BLUE


def test_words_are_written_left_and_right():
    bare = drawn([Row("", BLUE)])
    said = drawn([Row("Speech", BLUE, summary="47%")])
    changed = (bare != said).any(axis=2).any(axis=0)
    assert changed[:LABEL_WIDTH].any()
    assert changed[WIDTH - SUMMARY_WIDTH :].any()
    assert not changed[LABEL_WIDTH : WIDTH - SUMMARY_WIDTH].any()
