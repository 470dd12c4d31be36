"""Where a head is against what surrounds it, in pictures that are made up: a disc before a wall."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from palprep.vision.landmarks import Landmarks
from palprep.vision.surroundings import Surroundings

WIDTH, HEIGHT, FACE = 480, 320, 60.0


def wall(seed=3):
    rng = np.random.default_rng(seed)
    rough = rng.uniform(0, 255, (HEIGHT // 8, WIDTH // 8, 3)).astype(np.float32)
    return cv2.resize(rough, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC).clip(0, 255)


def marks_at(middle, turn=None):
    """Points of a face all over a square, as a camera with that homography sees them."""
    grid = np.random.default_rng(5).uniform(-0.5, 0.5, (478, 2))
    grid[0], grid[1] = (-0.5, -0.5), (0.5, 0.5)
    points = grid * FACE + middle
    if turn is not None:
        points = cv2.perspectiveTransform(points[None], turn)[0]
    return Landmarks(np.column_stack([points, np.zeros(478)]), 1.0, {})


def shown(picture, middle, turn=None):
    frame = picture.copy()
    cv2.circle(frame, tuple(map(round, middle)), int(FACE / 2), (200, 150, 120), cv2.FILLED)
    if turn is not None:
        frame = cv2.warpPerspective(frame, turn, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REPLICATE)
    return frame.astype(np.uint8)


def camera(at):
    """Shifted, turned, and slanted, a little more each time."""
    turn = np.vstack(
        (cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), at * 0.2, 1 + at * 0.003), (0, 0, 1))
    )
    turn[:2, 2] += (at * 0.8, at * 0.3)
    turn[2, :2] = at * 4e-6, at * 2e-6
    return turn


def course(picture, middles, turns):
    around = Surroundings()
    return np.array(
        [
            around.place_of(shown(picture, middle, turn), marks_at(middle, turn))
            for middle, turn in zip(middles, turns, strict=True)
        ]
    )


def test_a_head_that_moves_is_followed_in_widths_of_the_face():
    middles = [(240 + 0.6 * at, 150 - 0.3 * at) for at in range(30)]
    places = course(wall(), middles, [None] * 30)
    assert places[0] == pytest.approx((0, 0))
    assert places[-1] == pytest.approx((29 * 0.6 / FACE, -29 * 0.3 / FACE), abs=0.01)


def test_a_camera_that_moves_moves_no_head():
    places = course(wall(), [(240, 150)] * 30, [camera(at) for at in range(30)])
    assert np.abs(places).max() < 0.02


def test_a_head_is_followed_through_a_camera_that_moves():
    middles = [(240 + 0.6 * at, 150) for at in range(30)]
    places = course(wall(), middles, [camera(at) for at in range(30)])
    assert places[-1] == pytest.approx((29 * 0.6 / FACE, 0), abs=0.03)


def test_before_a_bare_wall_nothing_is_known():
    bare = np.full((HEIGHT, WIDTH, 3), 180, np.float32)
    assert np.isnan(course(bare, [(240, 150)] * 3, [None] * 3)).all()


def test_after_a_cut_the_course_goes_on_from_where_the_head_was():
    around = Surroundings()
    for at in range(10):
        middle = (200 + at, 150)
        before = around.place_of(shown(wall(), middle), marks_at(middle))
    after = around.place_of(shown(wall(seed=9), (300, 150)), marks_at((300, 150)))
    assert after == pytest.approx(before)
    moved = around.place_of(shown(wall(seed=9), (306, 150)), marks_at((306, 150)))
    assert moved[0] - after[0] == pytest.approx(0.1, abs=0.01)
