"""One image or frame, analysed once: every network and every measure.

:func:`analyse_portrait` gives the facts. :func:`detect_subject` gives what was found (points,
mask), for those who draw it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, ParamSpec, TypeVar

import cv2

from palprep.values import Rect
from palprep.vision import facts, scene
from palprep.vision.arrays import Floats, Mask, Pixels, shrunk, turned
from palprep.vision.detect import Detection, find_faces
from palprep.vision.framing import (
    bust_mask,
    detected_face_box,
    face_box,
    measure_framing,
    person_mask,
)
from palprep.vision.identity import embed, perceptual_hash
from palprep.vision.landmarks import Landmarks, find_landmarks
from palprep.vision.models import Models
from palprep.vision.pose import measure_head
from palprep.vision.quality import measure_quality

MAX_SIDE = 1000
"""Larger pictures are shrunk to this longest side first: a face of a sixth of the height still
has 125 px then. Callers may decode as small as this; 12-megapixel JPEGs decode at a quarter."""

COVERED_BY_BUST = 0.6
"""Share of the picture that the bust must cover to be taken for all that shows a person."""

MAX_FACES = 8
"""Faces whose points are looked for; the rest count by the detector's score alone."""


@dataclass(frozen=True)
class Detections:
    """What the networks found, in pixels of ``rgb``; ``scale`` is full-size pixels per pixel."""

    rgb: Pixels
    scale: float
    width: int
    height: int
    detections: tuple[Detection, ...]
    landmarks: tuple[Landmarks, ...]
    """Of the first :data:`MAX_FACES` detections."""
    person: Floats | None
    """Person mask of the whole picture, 256 x 256, None where ``bust`` says as much."""
    bust: Mask | None
    """Person mask around the subject, in the size of ``rgb``."""

    @property
    def subject(self) -> int | None:
        """Index of the largest certain face."""
        for index, found in enumerate(self.detections):
            if facts.is_certain(self.presence(index), found.score):
                return index
        return None

    def presence(self, index: int) -> float:
        """How sure the landmark net is of a face, 0 to 1."""
        return self.landmarks[index].presence if index < len(self.landmarks) else 0.0

    def marks(self, index: int) -> Landmarks | None:
        """The points of a face, None when they cannot be made out."""
        return self.landmarks[index] if self.presence(index) >= facts.SURE_PRESENCE else None

    def box(self, index: int) -> Rect:
        """Hairline to chin, from the points or else from the detector's box."""
        marks = self.marks(index)
        return face_box(marks) if marks else detected_face_box(self.detections[index])


def analyse_portrait(
    rgb: Pixels, models: Models, *, size: tuple[int, int] | None = None
) -> facts.PortraitFacts:
    """The facts of one upright sRGB picture (height x width x 3, red first).

    ``size`` is the full width and height when ``rgb`` was decoded smaller; facts are then in
    pixels of the full picture.
    """
    size = size or (rgb.shape[1], rgb.shape[0])
    rgb = _small_enough(rgb)
    # A network leaves a second core idle about half of the time: independent work runs beside it.
    with second_thread() as other:
        nudity = beside(other, lambda: scene.nudity_score(rgb, models.nudity))
        faces = find_faces(rgb, models.detector)
        look = beside(other, _look, rgb, faces[0], models) if faces else None
        return _measure(_detections(rgb, faces, models, size), models, other, nudity, look)


def analyse_image(
    rgb: Pixels, models: Models, *, size: tuple[int, int] | None = None
) -> facts.PortraitFacts:
    """As :func:`analyse_portrait`, for an image that may lie on its side or be upside down. Where a
    face stands upright in the turned image alone, the facts are of that."""
    found = analyse_portrait(rgb, models, size=size)
    if any(facts.stands_upright(face.presence, face.score) for face in found.faces):
        return found
    degrees = upright_turn(rgb, models)
    if not degrees:
        return found
    of_turned = size[::-1] if size and degrees % 180 else size
    again = analyse_portrait(turned(rgb, degrees), models, size=of_turned)
    return again.turned(degrees) if again.subject else found


def upright_turn(rgb: Pixels, models: Models) -> int | None:
    """By how many degrees the picture must be turned clockwise for its largest face to stand
    upright: 0, 90, 180 or 270; None where no turn shows one."""
    scores: dict[int, float] = {}
    for degrees in (0, 90, 180, 270):
        picture = turned(rgb, degrees)
        for face in find_faces(picture, models.detector)[:1]:
            if facts.stands_upright(find_landmarks(picture, face, models).presence, face.score):
                scores[degrees] = face.score
        if 0 in scores:
            return 0
    return max(scores, key=lambda each: scores[each], default=None)


def detect_subject(
    rgb: Pixels, models: Models, *, size: tuple[int, int] | None = None
) -> Detections:
    """What the networks find in a picture. The arguments are those of :func:`analyse_portrait`."""
    size = size or (rgb.shape[1], rgb.shape[0])
    rgb = _small_enough(rgb)
    return _detections(rgb, find_faces(rgb, models.detector), models, size)


class _Look(NamedTuple):
    """What a face tells by its detection alone."""

    embedding: Floats
    human: float
    visibility: facts.Visibility
    others: float


def _detections(
    rgb: Pixels, detections: tuple[Detection, ...], models: Models, size: tuple[int, int]
) -> Detections:
    width, height = size
    seen = Detections(
        rgb=rgb,
        scale=width / rgb.shape[1],
        width=width,
        height=height,
        detections=detections,
        landmarks=tuple(find_landmarks(rgb, face, models) for face in detections[:MAX_FACES]),
        person=None,
        bust=None,
    )
    if seen.subject is None:
        return replace(seen, person=person_mask(rgb, models.mask))
    bust, covered = bust_mask(rgb, seen.box(seen.subject), models.mask)
    # Around a face of portrait size the bust is most of the picture: one run of the net will do.
    person = None if covered >= COVERED_BY_BUST else person_mask(rgb, models.mask)
    return replace(seen, bust=bust, person=person)


def _measure(
    seen: Detections,
    models: Models,
    other: Executor | None,
    nudity: Callable[[], float | None],
    first_look: Callable[[], _Look] | None,
) -> facts.PortraitFacts:
    """``first_look`` is at the largest face, certain or not: nearly always it is the subject's."""
    index, framing, subject, others = seen.subject, None, None, None
    marks = None if index is None else seen.marks(index)
    mask = seen.bust if seen.person is None else seen.person > 0.5
    height, width = seen.rgb.shape[:2]
    box = Rect(x=0, y=0, width=width, height=height) if index is None else seen.box(index)
    quality = beside(other, measure_quality, seen.rgb, box, marks, seen.scale)
    if index is not None and seen.bust is not None:
        found = measure_framing(box, seen.bust)
        scaled = {name: _scaled(getattr(found, name), seen.scale) for name in ("face", "head")}
        framing = found.model_copy(update=scaled)
        face = seen.detections[index]
        # The age first: another thread may be looking meanwhile.
        classes = scene.age_classes(seen.rgb, face, models.age) if marks else None
        look = first_look() if first_look and index == 0 else _look(seen.rgb, face, models)
        others = look.others
        if marks is not None and classes is not None:
            _, pose, eyes = measure_head(marks, models.geometry)
            subject = facts.SubjectFacts(
                pose=pose,
                eyes=eyes.model_copy(update={"distance_px": eyes.distance_px * seen.scale}),
                mouth_open=marks.shapes["jawOpen"],
                adult=models.adult.likelihood(scene.describe_age(classes, look.embedding)),
                visibility=look.visibility,
                human=look.human,
            )
    return facts.PortraitFacts(
        width=seen.width,
        height=seen.height,
        faces=_measure_faces(seen, models),
        person_share=0.0 if mask is None else float(mask.mean()),
        fingerprint=perceptual_hash(seen.rgb),
        quality=quality(),
        framing=framing,
        subject=subject,
        others=others,
        nudity=nudity(),
    )


def _small_enough(rgb: Pixels) -> Pixels:
    longest = max(rgb.shape[:2])
    return shrunk(rgb, MAX_SIDE / longest) if longest > MAX_SIDE else rgb


def _look(rgb: Pixels, face: Detection, models: Models) -> _Look:
    embedding = embed(rgb, face, models.identity)
    maps = scene.scene_maps(scene.scene_crop(rgb, face), models.scene)
    return _Look(
        embedding,
        models.human.likelihood(scene.describe_human(embedding, maps)),
        scene.measure_visibility(maps, models.covering),
        models.others.likelihood({"scene": scene.summarise(maps)}),
    )


def _measure_faces(seen: Detections, models: Models) -> tuple[facts.FaceFacts, ...]:
    faces: list[facts.FaceFacts] = []
    for index, found in enumerate(seen.detections):
        x, y, width, height = found.box
        box = _scaled(Rect(x=x, y=y, width=width, height=height), seen.scale)
        face = facts.FaceFacts(box=box, score=found.score, presence=seen.presence(index))
        faces.append(face)
        marks = seen.marks(index)
        if index != seen.subject and marks and facts.counts_as_person(face, faces[0]):
            classes = scene.age_classes(seen.rgb, found, models.age)
            described = scene.describe_age(classes, embed(seen.rgb, found, models.identity))
            faces[-1] = face.model_copy(update={"adult": models.adult.likelihood(described)})
    return tuple(faces)


def _scaled(box: Rect, scale: float) -> Rect:
    return Rect(**{side: length * scale for side, length in box})


P = ParamSpec("P")
T = TypeVar("T")


def second_thread() -> AbstractContextManager[Executor | None]:
    """One more thread, for work that does not depend on the caller's.

    None where OpenCV may take one thread only (``cv2.setNumThreads``, ``OPENCV_FOR_THREADS_NUM``).
    A worker that has a core to itself is told so: a second thread would slow another worker.
    """
    return ThreadPoolExecutor(max_workers=1) if cv2.getNumThreads() > 1 else nullcontext()


def beside(
    other: Executor | None, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> Callable[[], T]:
    """Start the function in the other thread, and give what waits for its value. Without another
    thread, give what calls it."""
    if other is None:
        return partial(function, *args, **kwargs)
    return other.submit(function, *args, **kwargs).result
