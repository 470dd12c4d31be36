"""One picture, looked at once: every network and every measure.

:func:`see` runs the networks that find things, :func:`measure` turns what they found into
facts, :func:`look` is both. What was seen (points, mask) is kept apart from the facts, for
those who draw it.
"""

from __future__ import annotations

from dataclasses import dataclass

from palprep.vision.age import apparent_age
from palprep.vision.arrays import Floats, Mask, Pixels, shrunk
from palprep.vision.detect import Detection, find_faces
from palprep.vision.facts import Box, FaceFacts, PictureFacts, SubjectFacts
from palprep.vision.fingerprint import fingerprint
from palprep.vision.framing import bust_mask, face_box, measure_framing
from palprep.vision.human import measure_human
from palprep.vision.landmarks import Landmarks, find_landmarks
from palprep.vision.mask import person_mask
from palprep.vision.models import Models
from palprep.vision.occlusion import measure_visibility
from palprep.vision.pose import fit_head, head_pose, measure_eyes
from palprep.vision.quality import measure_quality

MAX_SIDE = 1600
"""Larger pictures are shrunk to this longest side first: no measure needs more, and callers
may decode as small as this."""

MAX_FACES = 8
"""Faces whose points are sought; the rest only count by the detector's score."""


@dataclass(frozen=True)
class Sight:
    """What the networks saw, in pixels of ``rgb``; ``scale`` is full-size pixels per pixel."""

    rgb: Pixels
    scale: float
    width: int
    height: int
    detections: tuple[Detection, ...]
    landmarks: tuple[Landmarks, ...]
    """Of the first :data:`MAX_FACES` detections."""
    person: Floats
    """Person mask of the whole picture, 256 x 256."""
    bust: Mask | None
    """Person mask around the subject, in the size of ``rgb``."""

    @property
    def subject(self) -> int | None:
        """Index of the largest face that the landmark net is sure of."""
        for index, face in enumerate(self.landmarks):
            if face.presence >= 0.5:
                return index
        return None


def look(rgb: Pixels, models: Models, *, size: tuple[int, int] | None = None) -> PictureFacts:
    """The facts of one upright sRGB picture (height x width x 3, red first).

    ``size`` is the full width and height when ``rgb`` was decoded smaller; facts are then in
    pixels of the full picture. 1600 px on the longest side lose nothing.
    """
    return measure(see(rgb, models, size=size), models)


def see(rgb: Pixels, models: Models, *, size: tuple[int, int] | None = None) -> Sight:
    """Find faces, their points, and persons."""
    width, height = size or (rgb.shape[1], rgb.shape[0])
    longest = max(rgb.shape[:2])
    if longest > MAX_SIDE:
        rgb = shrunk(rgb, MAX_SIDE / longest)
    detections = find_faces(rgb, models.detector)
    landmarks = tuple(find_landmarks(rgb, face, models) for face in detections[:MAX_FACES])
    sight = Sight(
        rgb=rgb,
        scale=width / rgb.shape[1],
        width=width,
        height=height,
        detections=detections,
        landmarks=landmarks,
        person=person_mask(rgb, models.mask),
        bust=None,
    )
    if sight.subject is None:
        return sight
    box = face_box(landmarks[sight.subject])
    return Sight(**{**vars(sight), "bust": bust_mask(rgb, box, models.mask)})


def measure(sight: Sight, models: Models) -> PictureFacts:
    """Facts from what was seen."""
    faces = []
    for index, found in enumerate(sight.detections):
        marks = sight.landmarks[index] if index < len(sight.landmarks) else None
        sure = marks is not None and marks.presence >= 0.5
        faces.append(
            FaceFacts(
                box=_scaled(
                    Box(**dict(zip(("x", "y", "width", "height"), found.box, strict=True))),
                    sight.scale,
                ),
                score=found.score,
                presence=marks.presence if marks else 0.0,
                pose=head_pose(fit_head(marks, models.geometry)) if marks and sure else None,
            )
        )
    return PictureFacts(
        width=sight.width,
        height=sight.height,
        faces=tuple(faces),
        person_share=float((sight.person > 0.5).mean()),
        fingerprint=fingerprint(sight.rgb),
        subject=_measure_subject(sight, models),
    )


def _measure_subject(sight: Sight, models: Models) -> SubjectFacts | None:
    if sight.subject is None or sight.bust is None:
        return None
    marks = sight.landmarks[sight.subject]
    found = sight.detections[sight.subject]
    box = face_box(marks)
    fit = fit_head(marks, models.geometry)
    pose = head_pose(fit)
    eyes = measure_eyes(marks, fit, pose)
    framing = measure_framing(box, sight.bust)
    years, spread = apparent_age(sight.rgb, marks, models.age)
    return SubjectFacts(
        pose=pose,
        eyes=eyes.model_copy(update={"distance_px": eyes.distance_px * sight.scale}),
        mouth_open=marks.shapes["jawOpen"],
        age_years=years,
        age_spread_years=spread,
        framing=framing.model_copy(
            update={
                "face": _scaled(framing.face, sight.scale),
                "head": _scaled(framing.head, sight.scale),
            }
        ),
        quality=measure_quality(sight.rgb, marks, box, sight.scale),
        visibility=measure_visibility(sight.rgb, marks, box, found.score),
        human=measure_human(sight.rgb, found, marks, fit, models),
    )


def _box(found: Detection, scale: float) -> Box:
    x, y, width, height = found.box
    return _scaled(Box(x=x, y=y, width=width, height=height), scale)


def _scaled(box: Box, scale: float) -> Box:
    return Box(x=box.x * scale, y=box.y * scale, width=box.width * scale, height=box.height * scale)
