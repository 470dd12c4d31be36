"""The checks of the face image validation that the specification shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LABELS: Final[Mapping[str, str]] = {
    "image_quality_acceptable": "Image quality is acceptable",
    "human_like_subject": "Subject is human-like",
    "appears_under_18": "Subject does not appear to be under 18",
    "only_one_person_visible": "Only one person is visible",
    "person_centered": "Person is centered",
    "head_fully_in_frame": "Head is fully in frame",
    "looking_straight_at_camera": "Looking straight at the camera",
    "pose_suitable_for_replica": "Pose is suitable",
    "face_substantially_obscured": "Face is not substantially obscured",
    "chest_up_framing_acceptable": "Chest-up framing is acceptable",
    "no_nudity": "No nudity",
    "celebrity_or_copyright_character": "Not a celebrity or copyright character",
}
"""Check id to a label for people, in the specification's order."""

SERVICE_CHECKS: Final = tuple(LABELS)
"""The check ids, in the specification's order."""

PROBLEMS: Final = frozenset(
    {"appears_under_18", "face_substantially_obscured", "celebrity_or_copyright_character"}
)
"""Ids under which ``details`` describes a problem: true where the check did not pass."""
