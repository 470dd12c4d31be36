"""How far off the gaze is read."""

from __future__ import annotations

import importlib

import pytest

from palprep.vision.facts import Eyes, Pose


@pytest.fixture
def script():
    return importlib.import_module("research.evaluation.gaze")


def face(script, gaze_yaw_deg, distance_px=60.0, openness=0.9):
    eyes = Eyes(
        distance_px=distance_px, openness=openness, gaze_yaw_deg=gaze_yaw_deg, gaze_pitch_deg=0.0
    )
    return script.Face(eyes, Pose(yaw_deg=0.0, pitch_deg=0.0, roll_deg=0.0), None)


def test_the_width_of_an_iris_is_told_by_the_distance_of_the_eyes(script):
    assert face(script, 0.0, distance_px=63.0).iris_px == pytest.approx(11.7)


def test_faces_are_counted_in_every_group_they_belong_to(script):
    small = [face(script, yaw, distance_px=25.0) for yaw in (-2.0, 2.0)]
    large = [face(script, yaw, distance_px=200.0, openness=0.6) for yaw in (-8.0, 8.0)]
    lines = {line.split(" | ")[0].strip("| "): line for line in script.table([*small, *large])}
    assert "| 4 | 5.8° |" in lines["all"]
    assert "| 2 | 2.0° |" in lines["iris up to 6 px wide"]
    assert "| 2 | 8.0° |" in lines["eyes narrowed, as by a smile"]
    assert "spectacles" not in lines
