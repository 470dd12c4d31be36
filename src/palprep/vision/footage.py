"""A person over time: what sampled frames of a video show, whether it is one person, and how lips
move from frame to frame.

A seated person moves little, so the points of the face are looked for where they were a moment
ago. About once a second a search at low resolution tells whether the person is still there, and
who else is; where it finds no large face, the frame is searched as thoroughly as an image. A few
frames, spread evenly, get the full analysis of an image: the close looks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from palprep.media.images import SampledFrame
from palprep.vision import landmarks
from palprep.vision.analysis import analyse_portrait, upright_turn
from palprep.vision.arrays import Floats, Pixels, turned
from palprep.vision.detect import NEAR, Detection, find_faces, recount_faces
from palprep.vision.facts import NOTICEABLE, SURE_PRESENCE, SURE_SCORE, FootageFacts, FrameSample
from palprep.vision.framing import face_box
from palprep.vision.identity import embed_crop, face_crop
from palprep.vision.models import Models
from palprep.vision.overlay import FEWEST_FRAMES, find_overlay
from palprep.vision.pose import measure_head, nose_parallax
from palprep.vision.surroundings import Surroundings

DETECT_EVERY_S = 1.0
"""Between detections a face is followed by its own points."""

COMPARED = 24
"""Faces of a video that are compared with each other, evenly spread over it; of a short one all
that are searched for. Half of a statement lasts a few seconds, and somebody else can say it in the
same seat. A face elsewhere is compared at once."""

COMPARED_WITHIN_S = 4.0
"""The longest time between two compared faces, if samples are no further apart: one face alone may
be odd, and somebody else can say the whole statement."""

SAME_PLACE = 0.25
"""Share of its size that a face may have moved for its points to be looked for where they were:
the crop is half as wide again as the face. Beyond that the detector's box says where to look,
which is less exact than the last points of a face that hardly moved."""

ELSEWHERE = 1.0
"""Faces that far apart, in sizes, do not overlap: between two samples no one moves that far."""

FRAMES_TO_TURN = 8
"""Frames, at most, that are looked at to tell whether the video is upright."""

CLOSE_LOOKS = 5
"""Frames that get every measure of an image, unless told otherwise."""

_DIGITS = 3


def analyse_footage(
    frames: Iterable[SampledFrame],
    models: Models,
    *,
    every_s: float,
    count: int,
    close_looks: int = CLOSE_LOOKS,
) -> FootageFacts:
    """Measure sampled frames in their order, keeping only those for a close look.

    ``every_s`` is their distance and ``count`` about how many will come: the ``close_looks`` are
    spread over them, and one is taken at the least. They are taken when all frames have passed, and
    faces are compared then. By that time the decoder is done, and the large networks load into its
    memory. A video that lies on its side or is upside down is measured as it is turned upright.
    """
    turned_deg, frames = _upright(frames, models)
    follower = _Follower(models, compare_every_s=min(count * every_s / COMPARED, COMPARED_WITHIN_S))
    closely = {int((index + 0.5) * count / close_looks) for index in range(close_looks)}
    kept: list[Pixels] = []
    last: list[Pixels] = []
    samples: list[FrameSample] = []
    for index, frame in enumerate(frames):
        samples.append(follower.sample(index, frame))
        last = [frame.rgb]
        if index in closely:
            kept += last
    kept = kept or last  # Where far fewer frames came, none was among those.
    alike = follower.similarities()
    return FootageFacts(
        every_s=every_s,
        samples=tuple(
            sample.model_copy(update={"similarity": alike.get(index)})
            for index, sample in enumerate(samples)
        ),
        looks=tuple(analyse_portrait(rgb, models) for rgb in kept),
        overlay=find_overlay(kept, models.text) if len(kept) >= FEWEST_FRAMES else None,
        turned_deg=turned_deg,
    )


def _upright(frames: Iterable[SampledFrame], models: Models) -> tuple[int, Iterator[SampledFrame]]:
    """How far the frames must be turned clockwise, and all of them turned so. The first two that
    show an upright face in any turn must agree."""
    rest = iter(frames)
    first: list[SampledFrame] = []
    turns: list[int] = []
    for frame in itertools.islice(rest, FRAMES_TO_TURN):
        first.append(frame)
        turn = upright_turn(frame.rgb, models)
        turns += [] if turn is None else [turn]
        if turn == 0 or len(turns) == 2:
            break
    turned_deg = turns[0] if len(turns) == 2 and len({*turns}) == 1 else 0
    return turned_deg, turned_frames(itertools.chain(first, rest), turned_deg)


def turned_frames(frames: Iterable[SampledFrame], degrees: int) -> Iterator[SampledFrame]:
    """The frames turned clockwise by 0, 90, 180 or 270 degrees."""
    return (each._replace(rgb=turned(each.rgb, degrees)) if degrees else each for each in frames)


class _Follower:
    """Follows one face from sample to sample, and keeps crops of it to compare."""

    def __init__(self, models: Models, *, compare_every_s: float) -> None:
        self._models = models
        self._compare_every_s = compare_every_s
        self._people = 0
        self._detected_at = float("-inf")
        self._compared_at = float("-inf")
        self._last: landmarks.Landmarks | None = None
        self._faces: dict[int, Pixels] = {}
        """Crops to compare, 37 kB each, by the index of the frame that they are of."""

    def sample(self, index: int, frame: SampledFrame) -> FrameSample:
        """Everything but who it is: :meth:`similarities` says that in the end."""
        found, marks = self._find(frame)
        self._last = marks
        if marks is None:
            return FrameSample(at_s=round(frame.at_s, _DIGITS), people=self._people)
        if found is not None and frame.at_s - self._compared_at >= self._compare_every_s:
            self._compared_at = frame.at_s
            self._faces[index] = face_crop(frame.rgb, found)
        return self._measured(frame, marks)

    def similarities(self) -> dict[int, float]:
        """Cosine to the face that is most like all others, by the index of the sample. The first
        face would not do: it may be one odd frame."""
        if len(self._faces) < 2:
            return {}
        faces = np.stack([embed_crop(crop, self._models.identity) for crop in self._faces.values()])
        alike = faces @ faces.T
        typical = int(alike.sum(axis=1).argmax())
        return {
            index: round(float(cosine), _DIGITS)
            for at, (index, cosine) in enumerate(zip(self._faces, alike[typical], strict=True))
            if at != typical
        }

    def _find(self, frame: SampledFrame) -> tuple[Detection | None, landmarks.Landmarks | None]:
        if self._last is not None and frame.at_s - self._detected_at < DETECT_EVERY_S:
            marks = landmarks.follow_landmarks(frame.rgb, self._last, self._models)
            if marks.presence >= SURE_PRESENCE:
                return None, marks
        self._detected_at = frame.at_s
        faces = self._search(frame)
        sizes = [face.size for face in faces if face.score >= SURE_SCORE]
        # As in an image: faces that are certain and not much smaller than the largest one.
        self._people = sum(size >= NOTICEABLE * max(sizes) for size in sizes)
        for face in faces[:2]:
            marks = self._points(frame, face)
            if marks.presence >= SURE_PRESENCE:
                return face, marks
        return None, None

    def _search(self, frame: SampledFrame) -> tuple[Detection, ...]:
        """All faces; at low resolution where the largest was found before and is found again."""
        if self._last is not None:
            faces = recount_faces(frame.rgb, self._models.detector)
            near = NEAR * max(frame.rgb.shape[:2])
            if faces and faces[0].size >= near and faces[0].score >= SURE_SCORE:
                return faces
        return find_faces(frame.rgb, self._models.detector)

    def _points(self, frame: SampledFrame, face: Detection) -> landmarks.Landmarks:
        if self._last is not None:
            points = self._last.points
            middle = (points[:, :2].min(0) + points[:, :2].max(0)) / 2
            moved = np.array(face.middle, np.float32) - middle
            distance = float(np.hypot(*moved)) / face.size
            if distance <= ELSEWHERE:
                there = points + np.append(moved, np.float32(0))
                start = self._last if distance <= SAME_PLACE else replace(self._last, points=there)
                marks = landmarks.follow_landmarks(frame.rgb, start, self._models)
                if marks.presence >= SURE_PRESENCE:
                    return marks
        self._compared_at = float("-inf")
        return landmarks.find_landmarks(frame.rgb, face, self._models)

    def _measured(self, frame: SampledFrame, marks: landmarks.Landmarks) -> FrameSample:
        height, width = frame.rgb.shape[:2]
        box = face_box(marks)
        _, pose, eyes = measure_head(marks, self._models.geometry)
        measures = {
            "face_height_share": box.height / height,
            "centre_x": (box.x + box.width / 2) / width,
            "yaw_deg": pose.yaw_deg,
            "pitch_deg": pose.pitch_deg,
            "gaze_off_deg": eyes.gaze_off_deg,
            "mouth_open": mouth_open(marks),
        }
        return FrameSample(
            at_s=round(frame.at_s, _DIGITS),
            people=max(1, self._people),
            **{name: round(value, _DIGITS) for name, value in measures.items()},
        )


def mouth_open(marks: landmarks.Landmarks) -> float:
    """Distance of the inner lips over the distance of the mouth's corners, 0 or more."""
    upper, lower, right, left = marks.at(
        landmarks.LIP_UPPER, landmarks.LIP_LOWER, landmarks.MOUTH_RIGHT, landmarks.MOUTH_LEFT
    )
    return float(np.linalg.norm(upper - lower) / max(float(np.linalg.norm(left - right)), 1e-6))


_INNER_UPPER, _INNER_LOWER = (13, 82, 312), (14, 87, 317)
"""Points of the inner lips, those that face each other."""
_OUTER_UPPER, _OUTER_LOWER = 0, 17
_INNER_RIGHT, _INNER_LEFT = 78, 308
_CHIN = 152
_EYES = (
    (landmarks.RIGHT_EYE_OUTER, landmarks.RIGHT_EYE_INNER, 159, 145),
    (landmarks.LEFT_EYE_OUTER, landmarks.LEFT_EYE_INNER, 386, 374),
)
"""Of each eye its corners, and the middles of its upper and its lower lid."""

_LIP_PAIRS = (
    *((61, 291), (146, 375), (91, 321), (181, 405), (84, 314), (185, 409), (40, 270), (39, 269)),
    *((37, 267), (78, 308), (95, 324), (88, 318), (178, 402), (87, 317), (191, 415), (80, 310)),
    *((81, 311), (82, 312)),
)
"""Points of the outer and the inner lips, right and left."""
_LIP_MIDDLES = (_OUTER_UPPER, _OUTER_LOWER, landmarks.LIP_UPPER, landmarks.LIP_LOWER, _CHIN)

SHAPE = 6
LIPS = 2 * len(_LIP_PAIRS) + len(_LIP_MIDDLES)


class FaceTrack(NamedTuple):
    """Mouth, eyes and head in n frames, in their order; frames without a face are left out."""

    at_s: Floats
    """Presentation times, shape (n,)."""
    shape: Floats
    """Shape (n, :data:`SHAPE`): the opening between the inner lips, the height of the outer lips,
    the mouth's width inside and outside, and how far the chin and the upper lip are from the nose.
    Upright distances are in lengths of the nose, those across in distances of the eyes."""
    lips: Floats
    """Shape (n, :data:`LIPS`): how far the right and the left point of each pair are apart, how far
    they are from the nose in the mean, and so of each point in the middle; in the same units. Both
    sides as one are known better than each."""
    eyes: Floats
    """How far the eyes are open, shape (n,): the distance of the lids over the width of the eye, in
    the mean of both."""
    head: Floats
    """Where the head is against its surroundings, shape (n, 2), as
    :meth:`palprep.vision.surroundings.Surroundings.place_of` says it."""
    nose: Floats
    """How far the nose has moved against the rest of the face, shape (n, 2), as
    :func:`palprep.vision.pose.nose_parallax` says it."""


def follow_face(frames: Iterable[SampledFrame], models: Models) -> FaceTrack:
    """Follow the largest face through frames that are close to each other. Frames that lie on their
    side or are upside down are turned upright first."""
    first: landmarks.Landmarks | None = None
    last: landmarks.Landmarks | None = None
    around, rows = Surroundings(), []
    for frame in _upright(frames, models)[1]:
        last = _face_in(frame.rgb, last, models)
        if last is not None:
            first = first or last
            moved = (*around.place_of(frame.rgb, last), *nose_parallax(last, first))
            rows.append((frame.at_s, _eyes_open(last), *moved, *_mouth(last)))
    table = np.array(rows, np.float64).reshape(-1, 6 + SHAPE + LIPS)
    at_s, eyes, head, nose, shape, lips = np.split(table, np.cumsum((1, 1, 2, 2, SHAPE)), axis=1)
    return FaceTrack(at_s[:, 0], shape, lips, eyes[:, 0], head, nose)


def _face_in(
    rgb: Pixels, last: landmarks.Landmarks | None, models: Models
) -> landmarks.Landmarks | None:
    if last is not None:
        marks = landmarks.follow_landmarks(rgb, last, models, points_alone=True)
        if marks.presence >= SURE_PRESENCE:
            return marks
    for face in find_faces(rgb, models.detector)[:1]:
        marks = landmarks.find_landmarks(rgb, face, models)
        if marks.presence >= SURE_PRESENCE:
            return marks
    return None


def _eyes_open(marks: landmarks.Landmarks) -> float:
    outer, inner, upper, lower = (marks.at(*points) for points in zip(*_EYES, strict=True))
    widths = np.maximum(np.linalg.norm(outer - inner, axis=1), 1e-6)
    return float((np.linalg.norm(upper - lower, axis=1) / widths).mean())


def _mouth(marks: landmarks.Landmarks) -> Floats:
    """The shape of the mouth and its lips, as a row of :class:`FaceTrack` has them."""
    right, left = marks.at(landmarks.RIGHT_EYE_OUTER, landmarks.LEFT_EYE_OUTER)
    eyes = max(float(np.hypot(*(left - right))), 1e-6)
    along = (left - right) / eyes
    # Turned so that the line of the eyes is level, from the middle between them.
    level = (marks.points[:, :2] - (right + left) / 2) @ np.array([along, (-along[1], along[0])]).T
    nose = max(float(level[landmarks.NOSE_BASE, 1]), 0.2 * eyes)
    across, down = (level / (eyes, nose)).T
    down = down - down[landmarks.NOSE_BASE]
    distances = (
        down[[*_INNER_LOWER]].mean() - down[[*_INNER_UPPER]].mean(),
        down[_OUTER_LOWER] - down[_OUTER_UPPER],
        across[_INNER_LEFT] - across[_INNER_RIGHT],
        across[landmarks.MOUTH_LEFT] - across[landmarks.MOUTH_RIGHT],
        down[_CHIN],
        down[_OUTER_UPPER],
    )
    one, other = np.array(_LIP_PAIRS).T
    apart, below = across[other] - across[one], (down[other] + down[one]) / 2
    return np.concatenate((distances, apart, below, down[[*_LIP_MIDDLES]]))
