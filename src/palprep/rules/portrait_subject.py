"""The checks of the service's face image validation, predicted from what the portrait shows.

Ids are the service's own, so that local and remote verdicts join. Some of the service's ids
name a problem (``appears_under_18``); here ``pass`` always means that all is well. Rules on
framing, on light and on who is seen stand in modules of their own.
"""

from __future__ import annotations

from palprep.facts import Facts
from palprep.rules.measures import degrees
from palprep.rules.needs import BARELY_VISIBLE, FACE, HIDDEN, NO_FACE, PORTRAIT, Face, face_or
from palprep.rules.rule import Answer, Measured, Need, Rule, Unmeasured
from palprep.rules.sentences import ByLevel, Sentences
from palprep.values import Rect
from palprep.vision import PortraitFacts
from palprep.vocabulary import install_advice

NO_PERSON = 0.15
"""Likelihood of a photographed person below which a face can be that of an animal or a thing."""

UNDECIDED_COVERED = (0.05, 0.25)
"""Between these likelihoods of a photographed person no verdict is given on a covered face. Less of
it is seen: one in fifty people with masks is below 0.15."""

PERSON_THERE = 0.25
"""Least share of a portrait that the mask of a person covers."""

AWAY = 90.0
"""Degrees off, for a face that is hidden, turned from the camera, or not found at all."""

SHUT = 0.38
"""Openness below which eyes are shut or look down."""

NARROWED = 0.5
"""Below it, eyes are as often narrowed by a smile as they look down."""

SMILING = 0.7
"""From there up to this openness a smile or hard light hides so much of the iris that only what is
far off is surely so."""

DOUBTED_DEG = 6.0
"""Degrees off that such eyes count as: narrowed ones at the least, and smiling ones at the most
unless they are :data:`FAR_OFF_DEG` off. A doubt and no proof."""

FAR_OFF_DEG = 12.0

ONLY_THE_SERVICE = Unmeasured(
    reason="Only the service can tell a celebrity or a protected character.",
    advice="Ask it with validate_image.",
)


def _facing_away(region: Rect) -> Measured:
    return Measured(
        value=AWAY, shown="covered, or turned away too far", region=region, cause=HIDDEN
    )


FACING = face_or(
    lambda portrait: Measured(  # noqa: ARG005
        value=AWAY, shown="no face was found", cause=NO_FACE
    ),
    _facing_away,
)
"""A face that cannot be seen points away from the camera."""


def _nobody(portrait: PortraitFacts) -> Measured | Unmeasured:
    if portrait.person_share < PERSON_THERE:
        return Measured(value=0.0, shown="no face was found", cause=NO_FACE)
    return NO_FACE


def _nobody_or_covered(portrait: PortraitFacts) -> Measured | Unmeasured:
    if portrait.person_share < PERSON_THERE:
        return NO_FACE
    return Measured(value=0.0, shown="somebody is there, but no face was found", cause=NO_FACE)


def _nudity(facts: Facts) -> float | Answer:
    if facts.footage is None:
        return PORTRAIT.then(lambda portrait: portrait.nudity, NOT_SCORED).get(facts)
    return NOT_SCORED if facts.footage.nudity is None else facts.footage.nudity


NOT_SCORED = Unmeasured(
    reason="The model that looks for nudity is not installed.",
    advice=f"To install it, {install_advice('nsfw')}. Or ask the service with validate_image.",
)


class HumanLikeSubject(Rule[Face]):
    """The subject is a photographed person: no animal, statue, painting, cartoon or rendering."""

    needs = face_or(_nobody, lambda region: HIDDEN)  # noqa: ARG005
    id = "human_like_subject"
    label = "A photographed person"
    predicts = "human_like_subject"
    sentences = Sentences(
        "This is a photographed person.",
        below=ByLevel(
            fail="This does not look like a photographed person.",
            warn="This may not be a photographed person.",
        ),
    )
    advice = "Use a photograph of the person from a camera, unretouched, with the face uncovered."

    def measure(self, face: Face) -> Measured | Unmeasured:
        likelihood = face.subject.human.likelihood
        low, high = UNDECIDED_COVERED
        if face.subject.visibility.whole < BARELY_VISIBLE and low < likelihood < high:
            return HIDDEN
        return Measured(value=round(likelihood, 3), region=face.region)


class PoseSuitable(Rule[Face]):
    """The head faces the camera: the larger of yaw and pitch. How it leans is head_level."""

    needs = FACING
    id = "pose_suitable_for_replica"
    label = "Head towards the camera"
    unit = "degrees"
    predicts = "pose_suitable_for_replica"
    sentences = Sentences(
        "The head faces the camera, within {degrees}.",
        left="The head is turned too far to the left of the image, by {degrees}.",
        right="The head is turned too far to the right of the image, by {degrees}.",
        up="The head is raised too far, by {degrees}.",
        down="The head is lowered too far, by {degrees}.",
    )
    advice = "Retake it with the head straight towards the camera, at eye height."

    def measure(self, face: Face) -> Measured:
        pose = face.subject.pose
        if abs(pose.yaw_deg) >= abs(pose.pitch_deg):
            way = "right" if pose.yaw_deg > 0 else "left"
        else:
            way = "up" if pose.pitch_deg > 0 else "down"
        return Measured(
            value=round(pose.turn_deg, 1),
            shown=f"yaw {pose.yaw_deg:+.0f}, pitch {pose.pitch_deg:+.0f} degrees",
            way=way,
            words={"degrees": degrees(pose.turn_deg)},
            region=face.region,
        )


class HeadLevel(Rule[Face]):
    """The head is upright: its roll in degrees."""

    needs = FACE
    id = "head_level"
    label = "Head upright"
    unit = "degrees"
    predicts = "pose_suitable_for_replica"
    sentences = Sentences(
        "The head is upright, within {degrees}.",
        left="The head leans to the left of the image, by {degrees}.",
        right="The head leans to the right of the image, by {degrees}.",
    )
    advice = "Hold the head upright. palprep fix levels a moderate lean."

    def measure(self, face: Face) -> Measured:
        roll = face.subject.pose.roll_deg
        return Measured(
            value=round(abs(roll), 1),
            shown=f"{roll:+.0f} degrees",
            way="left" if roll > 0 else "right",
            words={"degrees": degrees(roll)},
            region=face.region,
        )


class LookingStraight(Rule[Face]):
    """The eyes are open and look into the lens: head turn and irises together. What small or
    narrowed eyes leave in doubt is taken off."""

    needs = FACING
    id = "looking_straight_at_camera"
    label = "Looking into the camera"
    unit = "degrees off"
    predicts = "looking_straight_at_camera"
    sentences = Sentences(
        "The eyes look into the lens, within {degrees}.",
        above=ByLevel(
            fail="The eyes look past the lens, by about {degrees}.",
            warn="The eyes may look past the lens, by about {degrees}.",
        ),
        narrowed="The eyes are narrowed, and may look down.",
        shut="The eyes are shut, or look down.",
    )
    advice = "Retake it looking into the lens, not at the screen, with the eyes open."

    def measure(self, face: Face) -> Measured:
        eyes = face.subject.eyes
        if eyes.openness < SHUT:
            return Measured(
                value=AWAY,
                shown="eyes shut",
                way="shut",
                words={"degrees": degrees(AWAY)},
                region=face.region,
            )
        off = eyes.gaze_surely_off_deg
        if NARROWED <= eyes.openness < SMILING and off < FAR_OFF_DEG:
            off = min(off, DOUBTED_DEG)
        narrowed = eyes.openness < NARROWED and off <= DOUBTED_DEG
        return Measured(
            value=round(DOUBTED_DEG if narrowed else off, 1),
            shown=f"{eyes.gaze_yaw_deg:+.0f} across, {eyes.gaze_pitch_deg:+.0f} up, in degrees",
            way="narrowed" if narrowed else None,
            words={"degrees": degrees(eyes.gaze_off_deg)},
            region=face.region,
        )


class FaceObscured(Rule[Face]):
    """Nothing covers the face: no mask, sunglasses, hand or phone; glasses are fine.

    The measure is how likely nothing covers the face, 0 to 1. Where a person is seen but no face,
    all of it counts as covered.
    """

    needs = face_or(
        _nobody_or_covered,
        lambda region: Measured(
            value=0.0, shown="a face whose parts cannot be made out", region=region, cause=HIDDEN
        ),
    )
    id = "face_substantially_obscured"
    label = "Face uncovered"
    predicts = "face_substantially_obscured"
    sentences = Sentences(
        "The face is uncovered.",
        eyes=ByLevel("The eyes are covered.", "The eyes may be covered."),
        nose=ByLevel("The nose is covered.", "The nose may be covered."),
        mouth=ByLevel("The mouth is covered.", "The mouth may be covered."),
        whole=ByLevel("Much of the face is covered.", "Part of the face may be covered."),
    )
    advice = "Retake it without a mask, sunglasses, hands or hair over the face."

    def measure(self, face: Face) -> Measured:
        visibility = face.subject.visibility
        return Measured(
            value=round(visibility.whole, 2),
            shown=visibility.words(),
            way=visibility.most_covered,
            region=face.region,
        )


class NoNudity(Rule[float]):
    """The image is not pornographic: the score of open_nsfw, 0 to 1. Of a video it is the worst
    of the frames that are looked at closely.

    The score is of the whole image, so a pass does not prove that the person is dressed. The
    service has the last word.
    """

    needs = Need(_nudity)
    id = "no_nudity"
    label = "No nudity"
    predicts = "no_nudity"
    sentences = Sentences(
        "This does not look like nudity.",
        above=ByLevel(fail="This looks like nudity.", warn="This may be taken for nudity."),
    )
    advice = "Use an image with clothed shoulders and chest."

    def measure(self, score: float) -> Measured:
        return Measured(value=round(score, 3))


class CelebrityOrCharacter(Rule[PortraitFacts]):
    """Neither a celebrity nor a protected character. Only the service can know."""

    needs = PORTRAIT
    id = "celebrity_or_copyright_character"
    label = "No celebrity or protected character"
    predicts = "celebrity_or_copyright_character"
    advice = "Use a person who agreed, and no public figure or character."

    def measure(self, portrait: PortraitFacts) -> Unmeasured:  # noqa: ARG002
        return ONLY_THE_SERVICE
