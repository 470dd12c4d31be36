from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from palprep.vision.facts import Eyes
from palprep.vision.landmarks import (
    IRIS_WIDTHS,
    LEFT_EYE_INNER,
    LEFT_EYE_OUTER,
    LEFT_IRIS,
    RIGHT_EYE_INNER,
    RIGHT_EYE_OUTER,
    RIGHT_IRIS,
    SHAPES,
    Landmarks,
)
from palprep.vision.models import Models
from palprep.vision.pose import (
    IRIS_REST,
    IRIS_TURN_DEG,
    LIDS_FOLLOW,
    LOOK_REST,
    LOOK_TURN_DEG,
    NEUTRAL_PITCH_DEG,
    fit_head,
    head_pose,
    measure_eyes,
    nose_parallax,
)

GEOMETRY = Models().geometry


def turned(yaw: float, pitch: float, roll: float, scale: float, shift: float) -> Landmarks:
    """The canonical face, turned, as the points of a picture (y down, z away)."""
    y, p, r = np.radians([yaw, pitch, roll])
    about_y = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(p), np.sin(p)], [0, -np.sin(p), np.cos(p)]])
    about_z = np.array([[np.cos(r), -np.sin(r), 0], [np.sin(r), np.cos(r), 0], [0, 0, 1]])
    mesh = GEOMETRY.vertices @ (about_y @ about_x @ about_z).T * scale + shift
    points = np.zeros((478, 3), np.float32)
    points[:468] = mesh * [1, -1, -1]
    return Landmarks(points, 1.0, {})


def test_the_canonical_mesh_is_a_face() -> None:
    assert GEOMETRY.vertices.shape == (468, 3)
    assert np.count_nonzero(GEOMETRY.weights) == 33
    chin, brow = GEOMETRY.vertices[152], GEOMETRY.vertices[10]
    assert chin[1] < 0 < brow[1]


@settings(max_examples=60)
@given(
    yaw=st.floats(-70, 70),
    pitch=st.floats(-40, 40),
    scale=st.floats(0.5, 80),
    shift=st.floats(-500, 3000),
)
def test_a_turn_is_found_whatever_size_and_place(
    yaw: float, pitch: float, scale: float, shift: float
) -> None:
    pose = head_pose(fit_head(turned(yaw, pitch, 0, scale, shift), GEOMETRY))
    assert pose.yaw_deg == pytest.approx(yaw, abs=0.2)
    assert pose.pitch_deg + NEUTRAL_PITCH_DEG == pytest.approx(pitch, abs=0.2)


@given(roll=st.floats(-80, 80))
@settings(max_examples=30)
def test_a_lean_is_no_turn(roll: float) -> None:
    pose = head_pose(fit_head(turned(0, 0, roll, 10, 100), GEOMETRY))
    assert pose.roll_deg == pytest.approx(roll, abs=0.2)
    assert pose.yaw_deg == pytest.approx(0, abs=0.2)


def test_points_return_to_the_mesh() -> None:
    marks = turned(25, -10, 5, 33, 400)
    fit = fit_head(marks, GEOMETRY)
    np.testing.assert_allclose(fit.to_mesh(marks.points)[:468], GEOMETRY.vertices, atol=0.02)


IRIS_CM = 1.17
"""An iris measures 11.7 mm across."""


def looking(marks: Landmarks, across_deg: float, up_deg: float, blink: float = 0.0) -> Eyes:
    """The eyes of a head, turned in it by these angles, as an ideal net would see them."""
    fit = fit_head(marks, GEOMETRY)
    points = marks.points.copy()
    offset = np.array([across_deg, up_deg]) / IRIS_TURN_DEG + IRIS_REST
    mesh = GEOMETRY.vertices
    for iris, borders, outer, inner in (
        (RIGHT_IRIS, IRIS_WIDTHS[0], RIGHT_EYE_OUTER, RIGHT_EYE_INNER),
        (LEFT_IRIS, IRIS_WIDTHS[1], LEFT_EYE_OUTER, LEFT_EYE_INNER),
    ):
        place = (mesh[outer] + mesh[inner]) / 2
        place[:2] += offset * np.hypot(*(mesh[outer] - mesh[inner])[:2])
        for point, aside_cm in zip((iris, *borders), (0, -IRIS_CM / 2, IRIS_CM / 2), strict=True):
            local = place + np.array([aside_cm, 0, 0]) - fit.mesh_centre
            turned_place = local @ fit.rotation.T * fit.scale + fit.picture_centre
            points[point] = turned_place * [1, -1, -1]
    sideways = across_deg / LOOK_TURN_DEG + LOOK_REST
    shapes = dict.fromkeys(SHAPES, 0.0) | {
        "eyeLookOutLeft": max(sideways, 0.0), "eyeLookInRight": max(sideways, 0.0),
        "eyeLookInLeft": max(-sideways, 0.0), "eyeLookOutRight": max(-sideways, 0.0),
        "eyeBlinkLeft": blink,
    }  # fmt: skip
    return measure_eyes(Landmarks(points, 1.0, shapes), fit, head_pose(fit))


@settings(max_examples=40)
@given(
    yaw=st.floats(-30, 30),
    pitch=st.floats(-20, 20),
    across=st.floats(-25, 25),
    up=st.floats(-20, 20),
)
def test_gaze_is_the_heads_turn_and_the_eyes_whose_lids_follow_its_pitch(
    yaw: float, pitch: float, across: float, up: float
) -> None:
    eyes = looking(turned(yaw, pitch, 0, 20, 300), across, up)
    assert eyes.gaze_yaw_deg == pytest.approx(yaw + across, abs=0.6)
    raised = (1 - LIDS_FOLLOW) * (pitch - NEUTRAL_PITCH_DEG)
    assert eyes.gaze_pitch_deg == pytest.approx(raised + up, abs=0.6)


def test_eyes_that_undo_the_turn_of_the_head_look_into_the_lens() -> None:
    marks = turned(15, 5 + NEUTRAL_PITCH_DEG, 0, 20, 300)
    assert looking(marks, -15, -1).gaze_off_deg < 1
    assert looking(marks, 0, 0).gaze_off_deg > 14


def test_one_shut_eye_counts() -> None:
    assert looking(turned(0, 0, 0, 20, 300), 0, 0, blink=0.9).openness == pytest.approx(0.1)


def test_the_gaze_of_small_or_narrowed_eyes_is_in_doubt() -> None:
    wide = looking(turned(0, 0, 0, 20, 300), 0, 0)
    small = looking(turned(0, 0, 0, 3, 300), 0, 0)
    narrowed = looking(turned(0, 0, 0, 20, 300), 0, 0, blink=0.5)
    assert wide.gaze_doubt_deg < small.gaze_doubt_deg
    assert narrowed.gaze_doubt_deg == pytest.approx(wide.gaze_doubt_deg + 3)
    assert looking(turned(30, 0, 0, 3, 300), 0, 0).gaze_surely_off_deg < 30


def test_a_nose_keeps_its_place_on_a_flat_picture_that_is_slanted() -> None:
    face = turned(8.0, -5.0, 3.0, 20.0, 300.0)
    slant = np.array([(0.97, 0.04, 5.0), (-0.05, 1.02, -8.0), (1e-4, -8e-5, 1.0)])
    seen = np.column_stack([face.points[:, :2], np.ones(len(face.points))]) @ slant.T
    moved = replace(face, points=np.column_stack([seen[:, :2] / seen[:, 2:], face.points[:, 2]]))
    assert nose_parallax(moved, face) == pytest.approx((0.0, 0.0), abs=1e-3)


@pytest.mark.parametrize(("yaw", "pitch"), [(5.0, 0.0), (0.0, 5.0)])
def test_a_nose_moves_against_a_face_that_turns(yaw: float, pitch: float) -> None:
    straight = turned(0.0, 0.0, 0.0, 20.0, 300.0)
    across, down = map(abs, nose_parallax(turned(yaw, pitch, 0.0, 20.0, 300.0), straight))
    along, aside = (across, down) if yaw else (down, across)
    assert 0.01 < along < 0.06
    assert aside < 0.3 * along
