"""A portrait moved by the test stands in for a video, with and without text on it."""

import cv2
import numpy as np
import pytest

from palprep.media.images import SampledFrame
from palprep.vision.footage import analyse_footage
from palprep.vision.overlay import find_lines, find_overlay

HEIGHT, WIDTH = 540, 960
SAID = ("We met last year", "in a town by the sea", "and stayed", "there until now", "It was cold")


@pytest.fixture(scope="module")
def frames(portrait):
    """Five moments of a person who sways, in a picture that is wider than the portrait."""
    shown = cv2.resize(portrait, (HEIGHT, HEIGHT))
    room = np.full((5, HEIGHT, WIDTH, 3), 120, np.uint8)
    for index, frame in enumerate(room):
        frame[:, 200 + 6 * index :][:, :HEIGHT] = shown
    return room


def written(frame, text, left, bottom, size=1.0):
    """The frame with a text whose middle is ``left`` where that is None."""
    (width, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 2)
    place = (round((WIDTH - width) / 2) if left is None else left, bottom)
    ink = (cv2.FONT_HERSHEY_SIMPLEX, size)
    drawn = cv2.putText(frame.copy(), text, place, *ink, (0, 0, 0), 6, cv2.LINE_AA)
    return cv2.putText(drawn, text, place, *ink, (255, 255, 255), 2, cv2.LINE_AA)


def test_subtitles_that_change_are_seen(frames, models):
    boxed = frames.copy()
    boxed[:, 465:515, 250:710] = 20
    shown = [written(frame, text, None, 500) for frame, text in zip(boxed, SAID, strict=True)]
    shown[2] = frames[2]
    found = find_overlay(shown, models.text)
    assert (found.frames, found.with_text) == (5, 4)
    assert found.region.y == pytest.approx(0.89, abs=0.03)
    assert found.region.x + found.region.width / 2 == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("left", "bottom"), [(40, 60), (700, 60), (40, 500)])
def test_a_name_or_a_mark_that_stays_is_seen(frames, models, left, bottom):
    shown = [written(frame, "CHANNEL 5", left, bottom) for frame in frames]
    assert find_overlay(shown, models.text).with_text == 5


def test_a_text_that_runs_along_the_bottom_is_seen(frames, models):
    news = "rain in the north, sun in the south, snow on the hills, wind at the coast, fog at night"
    shown = [
        written(frame, news, -80 * index, 520, 0.8) for index, frame in enumerate(frames, start=1)
    ]
    assert find_overlay(shown, models.text).with_text == 5


def test_text_that_moves_with_the_person_or_hangs_in_the_room_is_none(frames, models):
    shirts = [
        written(frame, "ROCKET CLUB", 300 + 15 * index, 440, 1.5)
        for index, frame in enumerate(frames)
    ]
    posters = [written(frame, "EXHIBITION", 40, 250) for frame in frames]
    for shown in (shirts, posters):
        assert len(find_lines(shown[0], models.text)) == 1
        found = find_overlay(shown, models.text)
        assert (found.with_text, found.region) == (0, None)


def test_a_picture_without_text_has_none_and_too_few_frames_do_not_tell(frames, models):
    assert find_overlay(frames, models.text).with_text == 0
    sampled = [SampledFrame(float(index), frame) for index, frame in enumerate(frames)]
    few = analyse_footage(sampled, models, every_s=1.0, count=5, close_looks=2)
    assert few.overlay is None
    assert len(few.looks) == 2
