"""The picture of a timeline: colours stand where things happen."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.values import Span
from palprep.views.drawings.over_time import (
    FAINT,
    GAP,
    LABEL_WIDTH,
    ROW_HEIGHT,
    STRIP_HEIGHT,
    SUMMARY_WIDTH,
    WIDTH,
    draw_rows,
)
from palprep.views.drawings.svg import PAPER
from palprep.views.drawings.timeline_rows import Row
from palprep.views.outcomes import VERMILION
from tests.support.drawn import boxes, elements, paths, pictures, points

BLUE = (0, 0, 200)
DURATION_S = 40.0
RIGHT = WIDTH - SUMMARY_WIDTH


def span(start_s, end_s):
    return Span(start_s=start_s, end_s=end_s)


def drawn(rows, frames=()):
    return draw_rows(frames, rows, DURATION_S)


def at(moment_s):
    return pytest.approx(LABEL_WIDTH + (RIGHT - LABEL_WIDTH) * moment_s / DURATION_S, abs=0.1)


def row(number, *, strip=False):
    top = (STRIP_HEIGHT + GAP if strip else 0) + number * (ROW_HEIGHT + GAP)
    return top, top + ROW_HEIGHT


def test_spans_marks_and_what_is_unknown_stand_where_they_are():
    one = Row("One", BLUE, spans=[span(10.0, 20.0)], marks=[30.0], unknown=[span(34.0, 40.0)])
    picture = drawn([one, Row("Two", BLUE)])
    (top, bottom), (top2, bottom2) = row(0), row(1)
    assert boxes(picture, FAINT) == [
        (LABEL_WIDTH, top, RIGHT, bottom),
        (LABEL_WIDTH, top2, RIGHT, bottom2),
    ]
    assert boxes(picture, BLUE) == [(at(10.0), top, at(20.0), bottom)]
    [(left, above, right, below)] = boxes(picture, VERMILION)
    assert (left + 2, right - 2) == (at(30.0), at(30.0))
    assert above < top
    assert below > bottom
    assert boxes(picture, PAPER)[1:] == [(at(34.0), top + 2, at(40.0), bottom - 2)]
    assert boxes(picture, PAPER)[0][2] == WIDTH


def test_a_moment_beyond_the_end_stays_inside():
    picture = drawn([Row("One", BLUE, spans=[span(30.0, 90.0)], marks=[500.0])])
    assert boxes(picture, BLUE) == [(at(30.0), 0, RIGHT, ROW_HEIGHT)]
    assert boxes(picture, VERMILION)[0][2] == RIGHT + 2


def test_a_curve_is_filled_up_to_its_level():
    picture = drawn([Row("Light", BLUE, levels=[(0.0, 0.2), (40.0, 0.2)])])
    [curve] = paths(picture, BLUE)
    assert points(curve).tolist() == [[LABEL_WIDTH, 22.4], [RIGHT, 22.4]]
    [ground] = elements(picture, "path", **{"fill-opacity": "0.35"})
    assert ground["d"] == f"{curve}V{ROW_HEIGHT}H{LABEL_WIDTH:.1f}Z"


@pytest.mark.parametrize("shape", [(90, 160, 3), (160, 90, 3)])
def test_frames_start_at_their_times_and_are_not_enlarged(shape):
    frames = [(at_s, np.full(shape, shade, np.uint8)) for at_s, shade in ((0.0, 60), (20.0, 120))]
    picture = drawn([Row("One", BLUE, spans=[span(0.0, 40.0)])], frames)
    (first, width, pixels), (second, _, others) = pictures(picture)
    assert (first, second) == (at(0.0), at(20.0))
    assert width == pytest.approx(STRIP_HEIGHT * shape[1] / shape[0], abs=0.1)
    assert pixels.shape == others.shape == shape
    assert (np.abs(pixels - 60.0) < 3).all()
    assert (np.abs(others - 120.0) < 3).all()
    assert boxes(picture, BLUE)[0][1] == row(0, strip=True)[0]


def test_a_frame_in_a_narrow_part_is_cut_around_its_middle():
    """Of ten frames in a second of forty, each has two and a half pixels; of ten in all, 106."""
    pixels = np.zeros((90, 160, 3), np.uint8)
    pixels[:, 80:] = 200
    shown = [*pictures(drawn([], [(each * 4.0, pixels) for each in range(10)]))]
    assert len(shown) == 10
    for left, width, cut in shown:
        assert left + width < left + 106
        assert cut.shape[1] / cut.shape[0] == pytest.approx(width / STRIP_HEIGHT, abs=0.02)
        assert cut[:, :30].max() < 60
        assert cut[:, -30:].min() > 140
    assert len([*pictures(drawn([], [(each / 10, pixels) for each in range(10)]))]) == 1


def test_words_are_written_left_and_right():
    label, summary, *ticks = elements(drawn([Row("Speech", BLUE, summary="47% & <more>")]), "text")
    assert (label["text"], float(label["x"])) == ("Speech", 0)
    assert summary["text"] == "47% & <more>"
    assert RIGHT < float(summary["x"]) < WIDTH
    assert [each["text"] for each in ticks[:2]] == ["0:00", "0:05"]
    assert float(ticks[1]["x"]) == at(5.0)
