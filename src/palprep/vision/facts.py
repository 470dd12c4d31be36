"""What can be seen in an image, a frame or the frames of a video, without judging it.

Lengths are pixels of the picture as shown at full size, angles degrees, shares 0 to 1.
"Left" and "right" are the picture's unless a name says the subject's. Every measure stands
next to the others raw; what could not be measured is None. Points, masks and embeddings stay
out: they are large, and an embedding identifies a person.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import Final, Self

from palprep.values import Rect, Value


class Pose(Value):
    """How the head is turned, relative to the line to the camera."""

    yaw_deg: float
    """Positive when the face turns to the picture's right."""
    pitch_deg: float
    """Positive when the face looks up."""
    roll_deg: float
    """Positive when the head leans counter-clockwise, to the picture's left."""

    @property
    def turn_deg(self) -> float:
        """How far the face is turned from the line to the camera, whether it leans or not."""
        return math.hypot(self.yaw_deg, self.pitch_deg)


class Eyes(Value):
    """Both eyes together."""

    distance_px: float
    """Between the middles of the irises."""
    openness: float
    """1 wide open, 0 shut; the less open eye."""
    gaze_yaw_deg: float
    """Where the eyes look from the camera: 0 into the lens, positive to the picture's right."""
    gaze_pitch_deg: float
    """Likewise, positive up."""
    gaze_doubt_deg: float = 0.0
    """How far small or narrowed eyes can put the reading off, beyond the least error."""

    @property
    def gaze_off_deg(self) -> float:
        """How far the gaze misses the lens. Pitch counts by two fifths: it follows the shape of the
        face and the lids more than the eyes (research/evaluation/gaze.py). A half found those who
        look away no better."""
        return math.hypot(self.gaze_yaw_deg, self.gaze_pitch_deg / 2.5)

    @property
    def gaze_surely_off_deg(self) -> float:
        """How far it misses the lens at the least, with the doubt in its favour."""
        return max(0.0, self.gaze_off_deg - self.gaze_doubt_deg)


class FaceFacts(Value):
    """One face that was found."""

    box: Rect
    score: float
    """The detector's confidence."""
    presence: float
    """The landmark net's probability that there is a face: low for false alarms, and for
    faces that are covered or seen from the side."""
    adult: float | None = None
    """Likelihood that this person is 18 or older; the subject has facts of its own."""


class Framing(Value):
    """Where the subject's head and body stand in the picture.

    "Face heights" measure in units of the face from hairline to chin, so that they do not
    depend on resolution.
    """

    face: Rect
    """Around the points of the face, hairline to chin."""
    head: Rect
    """The head with its hair, by the person mask."""
    centre_x: float
    """The face's middle as a share of the picture's width."""
    face_height_share: float
    """Face height over picture height."""
    margin_top: float
    """From the top of the head to the border, in face heights; negative when cut."""
    margin_side: float
    """From the head to the nearer side, in face heights; negative when cut."""
    margin_bottom: float
    """From the chin to the lower border, in face heights; negative when cut."""

    @property
    def margin(self) -> float:
        return min(self.margin_top, self.margin_side, self.margin_bottom)


class Quality(Value):
    """Measures of the face, and of the whole picture where it says so. Where there is no face,
    the whole picture is measured instead."""

    face_px: float
    """Height in pixels."""
    sharpness: float
    """0 to 1: the share of contrast lost when the face, brought to a fixed size, is blurred
    again (Crete et al., "The blur effect", 2007). Sharp faces lose much."""
    brightness: float
    """Luma, 0 to 1, that a quarter of the face exceeds: a dark mask or beard makes no face dark."""
    peak: float
    """Luma that 1 in 100 of the face's pixels exceeds, 0 to 1. In enough light the eyes, the lips
    and the gloss of the skin are bright in faces of every tone."""
    saturated: float
    """Share of the face's pixels with any channel at 254 or more: colour and form are lost."""
    clipped_highlights: float
    """Share of the face's pixels with every channel at 250 or more."""
    clipped_shadows: float
    """Share of the face's pixels with every channel at 5 or less."""
    contrast: float
    """Luma between the 5th and 95th percentile of the face, 0 to 1."""
    noise: float
    """Standard deviation of noise over the whole picture in 8-bit levels (Immerkaer 1996)."""
    skin_hue_deg: float | None
    """CIELAB hue of the face's median colour, -180 to 180; skin of every tone lies near 25 to 85.
    This and what follows is None where there is no face with known points."""
    skin_chroma: float | None
    """Its CIELAB chroma."""
    skin_gains: tuple[float, float, float] | None
    """Factors of R, G and B in linear light that bring it to the nearest hue of 25 to 85 degrees,
    lightness and chroma unchanged; None also where that leaves a channel empty."""
    vivid_chroma: float | None
    """The CIELAB chroma that 5 in 100 of the face's pixels exceed, lips and make-up included."""
    white: float = 0.0
    """Share of the whole picture that is white or nearly so, without a cast."""
    blocking: float | None
    """Steps across 8x8 JPEG block borders over steps inside blocks; 1 is none. None when the
    picture was decoded at reduced size, which blurs the grid."""

    @property
    def scores(self) -> dict[str, float]:
        """The score of everything that was measured, 0 to 100, by its name in words."""
        return {
            # Beyond 40 the logistic function is 0 or 1 to double precision, and exp overflows.
            name: 100 / (1 + math.exp(-max(-40.0, min(40.0, (value - half) / spread))))
            for name, (measure, half, spread) in STEPS.items()
            if (value := getattr(self, measure)) is not None
        }


class Visibility(Value):
    """How likely the face and its parts are bare, each 0 to 1. Beards, spectacles and headscarves
    around the face cover nothing."""

    whole: float
    """That nothing covers any part. This one is judged."""
    eyes: float
    nose: float
    mouth: float

    @property
    def most_covered(self) -> str:
        """Which part is rather covered than bare, and most of all: ``eyes``, ``nose`` or ``mouth``;
        ``whole`` where none is."""
        parts = {"eyes": self.eyes, "nose": self.nose, "mouth": self.mouth}
        name = min(parts, key=parts.__getitem__)
        return name if parts[name] < 0.5 else "whole"


class SubjectFacts(Value):
    """The largest face, as far as its points tell."""

    pose: Pose
    eyes: Eyes
    mouth_open: float
    """0 shut, 1 wide open."""
    adult: float
    """Likelihood that the person is 18 or older, 0 to 1."""
    visibility: Visibility
    human: float
    """Likelihood that a person was photographed, 0 to 1; true as often as docs/accuracy.md says."""
    turned_deg: int = 0
    """How far the image was turned clockwise before anything was measured, 0, 90, 180 or 270: it
    lies on its side, or is upside down. All places are of the turned image."""


class PortraitFacts(Value):
    """One image or frame."""

    width: int
    height: int
    faces: tuple[FaceFacts, ...]
    """Largest first, false alarms included: see ``presence`` and :attr:`people`."""
    person_share: float
    """Share of the picture that the person mask covers."""
    fingerprint: str
    """64-bit perceptual hash in hexadecimal; near-duplicates differ in few bits."""
    quality: Quality
    """Of the largest certain face, or of the whole picture where there is none."""
    framing: Framing | None
    """Of the largest certain face; None where there is none."""
    subject: SubjectFacts | None
    """The same face; None also when it is covered, or turned too far to make its points out."""
    others: float | None = None
    """Likelihood that somebody else is seen around the largest certain face, 0 to 1: a cut face,
    the back of a head, a shoulder. None where there is no such face."""
    nudity: float | None = None
    """How pornographic the picture is, 0 to 1; None where the extra ``nsfw`` is missing."""

    def turned(self, degrees: int) -> Self:
        """The same facts, of an image that was turned clockwise by so much for them."""
        subject = self.subject and self.subject.model_copy(update={"turned_deg": degrees})
        return self.model_copy(update={"subject": subject})

    @property
    def people(self) -> int:
        """How many faces count."""
        return len(self.certain_faces)

    @property
    def certain_faces(self) -> tuple[FaceFacts, ...]:
        """The faces that count: see :func:`counts_as_person`."""
        return tuple(face for face in self.faces if counts_as_person(face, self.faces[0]))

    @property
    def doubtful_faces(self) -> tuple[FaceFacts, ...]:
        """The faces that would count if they were certain. One that the border cuts seldom is: the
        landmark net needs all of it."""
        return tuple(
            face
            for face in self.faces
            if _is_near(face, self.faces[0]) and not is_certain(face.presence, face.score)
        )


ENOUGH_LOOKS = 4
"""Close looks of which one may err."""

MOUTH_WINDOW_S = 1.0
"""Mouth motion is measured over this much to both sides of a moment."""


class FrameSample(Value):
    """One sampled frame. Everything but the time and the count is None without a face."""

    at_s: float
    people: int
    """Faces large enough to count; carried over from the last detection."""
    face_height_share: float | None = None
    """Face height, hairline to chin, over picture height."""
    centre_x: float | None = None
    """The face's middle as a share of the picture's width."""
    yaw_deg: float | None = None
    pitch_deg: float | None = None
    gaze_off_deg: float | None = None
    """How far the eyes miss the lens: see :class:`Eyes`."""
    mouth_open: float | None = None
    """Distance of the inner lips over the width of the mouth; 0 is shut."""
    similarity: float | None = None
    """Cosine similarity to the face most like all others, where it was compared."""

    @property
    def head_off_deg(self) -> float:
        """How far the head is off the lens: the larger of yaw and pitch. 0 without a face."""
        return max(abs(self.yaw_deg or 0.0), abs(self.pitch_deg or 0.0))


class OverlayFacts(Value):
    """Text that was laid over the frames of a video: subtitles, a ticker, a name plate."""

    frames: int
    """How many were looked at."""
    with_text: int
    """In how many there is such text."""
    region: Rect | None
    """Around all of it, as shares of the sides; None where there is none."""


class FootageFacts(Value):
    """The person in a video, sampled every ``every_s`` seconds."""

    every_s: float
    samples: tuple[FrameSample, ...]
    looks: tuple[PortraitFacts, ...]
    """Close looks at a few frames, evenly spread."""
    overlay: OverlayFacts | None = None
    """Of the same frames; None where they are too few."""
    turned_deg: int = 0
    """How far all frames were turned clockwise before: see :class:`SubjectFacts`."""

    @property
    def seen(self) -> tuple[FrameSample, ...]:
        """The samples in which a face was measured."""
        return tuple(sample for sample in self.samples if sample.face_height_share is not None)

    @property
    def nudity(self) -> float | None:
        """How pornographic the video is: as its worst close look, or the second worst of four and
        more, since a single one can err. None without the extra ``nsfw``."""
        scores = sorted(look.nudity for look in self.looks if look.nudity is not None)
        return scores[-2 if len(scores) >= ENOUGH_LOOKS else -1] if scores else None

    def typical(self) -> PortraitFacts | None:
        """The close look whose head is turned the least. What a single look can err in comes from
        all that have a subject: the medians of lean, age, light and likelihood of a person; and the
        visibility of the second most covered of four looks or more, or of the middle one of fewer.
        """
        shown = [(each.subject, each) for each in self.looks if each.subject]
        if not shown:
            return next(iter(self.looks), None)
        subject, look = min(shown, key=lambda one: one[0].pose.turn_deg)
        seen = [each for each, _ in shown]
        bare = sorted((each.visibility for each in seen), key=lambda each: each.whole)
        pose = {"roll_deg": statistics.median(each.pose.roll_deg for each in seen)}
        lit = ("brightness", "peak")
        light = {at: statistics.median(getattr(one.quality, at) for _, one in shown) for at in lit}
        quality = look.quality.model_copy(update=light)
        usual = {
            "pose": subject.pose.model_copy(update=pose),
            "human": statistics.median(each.human for each in seen),
            "adult": statistics.median(each.adult for each in seen),
            "visibility": bare[1 if len(bare) >= ENOUGH_LOOKS else (len(bare) - 1) // 2],
        }
        seen_as = {"subject": subject.model_copy(update=usual), "quality": quality}
        return look.model_copy(update=seen_as).turned(self.turned_deg)

    def mouth_motion(self) -> tuple[tuple[float, float], ...]:
        """(time, range of mouth opening within a second to both sides) per measured sample."""
        seen = [(sample.at_s, sample.mouth_open or 0.0) for sample in self.seen]
        reach = max(MOUTH_WINDOW_S, self.every_s)
        motion = []
        for moment, _ in seen:
            near = [opened for at_s, opened in seen if abs(at_s - moment) <= reach]
            motion.append((moment, max(near) - min(near)))
        return tuple(motion)


SURE_PRESENCE = 0.5
SURE_SCORE = 0.85
NOTICEABLE = 0.25


def counts_as_person(face: FaceFacts, largest: FaceFacts) -> bool:
    """True when the face is certain and not a mere passer-by in the background.

    Certain means that the landmark net sees a face too, or that the detector is so sure that a
    mask or a profile explains why the landmark net does not. A face less than a quarter as
    high as the largest is background.
    """
    return _is_near(face, largest) and is_certain(face.presence, face.score)


def _is_near(face: FaceFacts, largest: FaceFacts) -> bool:
    return face.box.height >= NOTICEABLE * largest.box.height


UPRIGHT_SCORE = 0.88
"""The detector's sureness of faces that stand upright: of 471 turned images 422 are turned back by
it, none wrongly, and none of 609 as they were (docs/accuracy.md)."""


def stands_upright(presence: float, score: float) -> bool:
    """True for a face of which both nets are so sure as they seldom are of one upside down."""
    return presence >= SURE_PRESENCE and score >= UPRIGHT_SCORE


def is_certain(presence: float, score: float) -> bool:
    """True for a face that the landmark net sees, or of which the detector is very sure."""
    return presence >= SURE_PRESENCE or score >= SURE_SCORE


# What scores 50 lies beyond the measures of 280 fit portraits of four sources, and short of those
# of the same portraits blurred, noisy, dark, burnt out or strongly compressed
# (research/evaluation/quality.py). For darkness, resolution, noise and blocks it lies beyond all
# but 1 in 100 of 456 portraits of every complexion (docs/accuracy.md). Black and white is no fault.
# Nor is light from one side: hair next to the face reads alike.
STEPS: Final[Mapping[str, tuple[str, float, float]]] = {
    "sharpness": ("sharpness", 0.37, 0.03),
    "face resolution": ("face_px", 55, 12),
    "too dark": ("peak", 0.45, 0.025),
    "too bright": ("brightness", 0.96, -0.02),
    "burnt-out highlights": ("saturated", 0.50, -0.06),
    "blocked-up shadows": ("clipped_shadows", 0.15, -0.03),
    "contrast": ("contrast", 0.22, 0.02),
    "noise": ("noise", 6.15, -1.0),
    "unnatural skin colour": ("vivid_chroma", 76, -3),
    "JPEG blocks": ("blocking", 2.35, -0.15),
}
"""A measure, the value that scores 50, and the distance to the value that scores 73 (twice as far
scores 88), negative where less is better. Smooth steps as in ISO/IEC 29794-5 and BSI's OFIQ."""


def overall_score(scores: Mapping[str, float]) -> float:
    """0 to 100: the product of the scores, as if each were the chance in 100 that no one finds
    fault with it. A face that is a little soft, dark and one-sided is worse than each alone.
    """
    return 100 * math.prod(score / 100 for score in scores.values())
