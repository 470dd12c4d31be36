"""The turn of a head and the direction of its eyes, in degrees; and whether the nose moves against
the rest of the face, as it does on a head that turns."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from palprep.vision import landmarks
from palprep.vision.arrays import Floats, fit_similarity
from palprep.vision.facts import Eyes, Pose
from palprep.vision.models import FaceGeometry

NEUTRAL_PITCH_DEG = -5.0
"""Pitch of the mesh on a head held straight, since the mesh leans: median of frontal portraits."""

# The eyes' turn in the head, fitted on people who look into the lens: there the eyes undo the
# turn of the head. An eyeball of 24 mm in an opening of 30 mm would give 143 for the first.
IRIS_TURN_DEG = (124.0, 108.0)
"""Turn of the eye per iris offset of one eye's width, across and up."""

IRIS_REST = (0.007, 0.074)
"""Where the irises rest from the middle between the corners, likewise."""

LIDS_FOLLOW = 0.8
"""Share of the head's pitch that the eyes undo and the irises do not show: the lids go with them.
It was 0.81 for 444 people who look into the lens, and 0.74 for 456 others who do."""

LOOK_TURN_DEG, LOOK_REST = 25.0, 0.10
"""Turn across per unit of the expression coefficients eyeLookIn and eyeLookOut, and what they
read for eyes at rest: the net is not quite symmetric."""

SMALL_EYES_DEG, NARROW_EYES_DEG = 15.0, 6.0
"""Doubt about the gaze: over the iris's width in pixels, and times how far the eyes are from wide
open. research/evaluation/gaze.py shows how far readings of eyes that look into the lens are off."""


@dataclass(frozen=True)
class HeadFit:
    """A similarity from the canonical mesh (centimetres, y up, z towards the camera) to the
    picture: ``picture = scale * rotation @ (mesh - mesh_centre) + picture_centre``, where the
    picture's y points up and z towards the camera.
    """

    rotation: Floats
    scale: float
    mesh_centre: Floats
    picture_centre: Floats

    def to_mesh(self, points: Floats) -> Floats:
        """Points of the picture (y down, z away) in the head's own frame."""
        flipped = points * np.array([1, -1, -1], np.float32)
        local = (flipped - self.picture_centre) @ self.rotation / self.scale
        return np.asarray(local + self.mesh_centre, np.float32)


def measure_head(face: landmarks.Landmarks, geometry: FaceGeometry) -> tuple[HeadFit, Pose, Eyes]:
    """The turn of a head and the direction of its eyes, from the points of its face."""
    fit = fit_head(face, geometry)
    pose = head_pose(fit)
    return fit, pose, measure_eyes(face, fit, pose)


def fit_head(face: landmarks.Landmarks, geometry: FaceGeometry) -> HeadFit:
    """The fit by the points that expressions hardly move."""
    points = face.points[: len(geometry.vertices)] * np.array([1, -1, -1], np.float32)
    return HeadFit(*fit_similarity(geometry.vertices, points, geometry.weights))


def head_pose(fit: HeadFit) -> Pose:
    """Yaw and pitch of the face's normal and the lean of its upright axis."""
    turn = fit.rotation
    forward = turn[:, 2]
    return Pose(
        yaw_deg=_degrees(forward[0], forward[2]),
        pitch_deg=_degrees(forward[1], np.hypot(forward[0], forward[2])) - NEUTRAL_PITCH_DEG,
        roll_deg=_degrees(turn[1, 0], turn[1, 1]),
    )


def measure_eyes(face: landmarks.Landmarks, fit: HeadFit, pose: Pose) -> Eyes:
    """Gaze as the head's pose plus the turn of the eyes in it.

    Across, the turn is the mean of two readings, the irises' place between the corners and the
    expression net's: their errors have little in common. The net's reading up and down follows
    the lids, which smiles move as well, and is left out. The head's pitch counts for what
    :data:`LIDS_FOLLOW` leaves of it.
    """
    across, up = _iris_offset(face, fit) - np.array(IRIS_REST)
    shapes = face.shapes
    outward = shapes["eyeLookOutLeft"] + shapes["eyeLookInRight"]
    inward = shapes["eyeLookInLeft"] + shapes["eyeLookOutRight"]
    by_iris = IRIS_TURN_DEG[0] * float(across)
    by_shape = LOOK_TURN_DEG * ((outward - inward) / 2 - LOOK_REST)
    span = face.points[landmarks.LEFT_IRIS, :2] - face.points[landmarks.RIGHT_IRIS, :2]
    widths = [np.hypot(*(face.points[a] - face.points[b])[:2]) for a, b in landmarks.IRIS_WIDTHS]
    openness = 1 - max(shapes["eyeBlinkLeft"], shapes["eyeBlinkRight"])
    return Eyes(
        distance_px=float(np.hypot(*span)),
        openness=openness,
        gaze_yaw_deg=pose.yaw_deg + (by_iris + by_shape) / 2,
        gaze_pitch_deg=(1 - LIDS_FOLLOW) * pose.pitch_deg + IRIS_TURN_DEG[1] * float(up),
        gaze_doubt_deg=SMALL_EYES_DEG / max(float(np.mean(widths)), 1.0)
        + NARROW_EYES_DEG * (1 - openness),
    )


def _iris_offset(face: landmarks.Landmarks, fit: HeadFit) -> Floats:
    """Irises from the eyes' middles (x, y) in eye widths of the head; the larger counts more."""
    local = fit.to_mesh(face.points)
    offsets, seen = [], []
    for iris, outer, inner in (
        (landmarks.RIGHT_IRIS, landmarks.RIGHT_EYE_OUTER, landmarks.RIGHT_EYE_INNER),
        (landmarks.LEFT_IRIS, landmarks.LEFT_EYE_OUTER, landmarks.LEFT_EYE_INNER),
    ):
        width = np.hypot(*(local[outer] - local[inner])[:2])
        offsets.append((local[iris] - (local[outer] + local[inner]) / 2)[:2] / width)
        seen.append(float(np.hypot(*(face.points[outer] - face.points[inner])[:2])))
    return np.asarray(np.average(offsets, axis=0, weights=seen))


def _degrees(y: float, x: float) -> float:
    return float(np.degrees(np.arctan2(y, x)))


_PLANE = (
    *(33, 133, 263, 362, 168, 9, 8, 151, 10, 67, 297, 109, 338),
    *(127, 356, 234, 454, 93, 323, 117, 346, 123, 352),
)
"""Points that no expression moves much: corners of the eyes, forehead, temples, cheekbones."""
_NOSE = (1, 4, 5, 2, 98, 327, 49, 279, 48, 278)
"""Tip, base and wings of the nose, which stand out from them."""
_TEMPLES = (127, 356)


def nose_parallax(face: landmarks.Landmarks, first: landmarks.Landmarks) -> tuple[float, float]:
    """How far the nose has moved against the rest of the face since the ``first`` frame, across and
    down, in widths of the face.

    A homography takes any view of a plane to any other (Hartley and Zisserman, "Multiple View
    Geometry", 2004). So on a flat picture of a face the nose stays where it is, however the picture
    is moved, turned or slanted; before a head that turns it does not.
    """
    view, _ = cv2.findHomography(face.at(*_PLANE), first.at(*_PLANE))
    if view is None or not np.isfinite(view).all():
        return 0.0, 0.0
    nose = cv2.perspectiveTransform(face.at(*_NOSE)[None], view)[0].mean(axis=0)
    one, other = first.at(*_TEMPLES)
    moved = (nose - first.at(*_NOSE).mean(axis=0)) / max(float(np.hypot(*(one - other))), 1.0)
    return float(moved[0]), float(moved[1])
