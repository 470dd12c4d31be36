from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palprep.vision.geometry import read_geometry
from palprep.vision.landmarks import Landmarks
from palprep.vision.models import Models
from palprep.vision.pose import NEUTRAL_PITCH_DEG, fit_head, head_pose

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


def test_an_unknown_wire_type_is_refused() -> None:
    with pytest.raises(ValueError, match="wire type 1"):
        read_geometry(b"\x09" + bytes(8))


@settings(max_examples=60, deadline=None)
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
@settings(max_examples=30, deadline=None)
def test_a_lean_is_no_turn(roll: float) -> None:
    pose = head_pose(fit_head(turned(0, 0, roll, 10, 100), GEOMETRY))
    assert pose.roll_deg == pytest.approx(roll, abs=0.2)
    assert pose.yaw_deg == pytest.approx(0, abs=0.2)


def test_points_return_to_the_mesh() -> None:
    marks = turned(25, -10, 5, 33, 400)
    fit = fit_head(marks, GEOMETRY)
    np.testing.assert_allclose(fit.to_mesh(marks.points)[:468], GEOMETRY.vertices, atol=0.02)
