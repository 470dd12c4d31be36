"""The checks of the service's face image validation, foretold from what the picture shows.

Ids are the service's own, so that local and remote verdicts join. Some of the service's ids
name a problem (``appears_under_18``); here ``pass`` always means that all is well. The checks
on framing and light stand in their own modules.
"""

from __future__ import annotations

from palprep.facts.facts import Facts
from palprep.rules.framing import FRAMING_RULES
from palprep.rules.light import LIGHT_RULES
from palprep.rules.picture import BARELY_VISIBLE, PortraitRule, SubjectRule, region_of
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.values import Rect
from palprep.vision.facts import PortraitFacts, SubjectFacts, counts_as_person

NO_PERSON = 0.15
DOUBTED_FACE = 0.7
"""A face that is less likely than the first a photographed person's, and of which the detector
is less sure than the second, is an animal or a thing: it is not counted."""

GROWN_UP = 18.0
"""Years."""

UNDECIDED = (0.4, 0.5)
"""Likelihoods of a photographed person about which nothing is said: of the faces that the model
was not fitted on, real and depicted ones lie here equally often."""

UNDECIDED_COVERED = (NO_PERSON, 0.65)
"""Likewise for a covered face, of which less is seen."""

PERSON_THERE = 0.25
"""Share of the picture that the person mask covers in a portrait at the least."""

AWAY = 90.0
"""Degrees off, for a face that is hidden, turned from the camera, or not found at all."""


UNTOLD = Unmeasured(
    reason="This may be a photograph or a picture of a person: look at it, or ask the service "
    "with validate_image."
)


class HumanLikeSubject(SubjectRule):
    """The subject is a photographed person: no animal, statue, painting, cartoon or rendering."""

    id = "human_like_subject"
    label = "A photographed person"
    predicts = "human_like_subject"
    advice = "Use a camera photograph of the person, unretouched, with the face uncovered."

    def measure_portrait(self, picture: PortraitFacts) -> Measured | Unmeasured:
        if picture.framing is None:
            return Measured(value=0.0, shown="no face was found")
        return super().measure_portrait(picture)

    def measure_subject(self, subject: SubjectFacts, region: Rect) -> Measured | Unmeasured:
        likelihood = subject.human.likelihood
        covered = subject.visibility.least < BARELY_VISIBLE
        low, high = UNDECIDED_COVERED if covered else UNDECIDED
        if not low < likelihood < high:
            return Measured(value=round(likelihood, 3), region=region)
        return self.measure_hidden(region) if covered else UNTOLD


class OnlyOnePerson(PortraitRule):
    """Exactly one person is visible; faces less than a quarter as high as the largest one are
    passers-by, and what is clearly no person does not count.
    """

    id = "only_one_person_visible"
    label = "One person"
    unit = "person"
    predicts = "only_one_person_visible"
    advice = "Retake it alone, before a background without people or pictures of people."

    def measure_portrait(self, picture: PortraitFacts) -> Measured:
        faces = [face for face in picture.faces if counts_as_person(face, picture.faces[0])]
        return Measured(
            value=len(faces) - (1 if _no_person(picture.subject) else 0),
            region=region_of(faces[1].box) if len(faces) > 1 else None,
        )


class AppearsUnder18(SubjectRule):
    """Everybody in the picture looks grown up.

    Apparent ages err by several years, so that adults who look young are asked about. A
    covered face tells no age and is judged only where even what is seen looks younger than 18.
    """

    id = "appears_under_18"
    label = "Looks 18 or older"
    unit = "years"
    predicts = "appears_under_18"
    advice = (
        "The service refuses pictures of minors. For an adult, retake in even light from the "
        "front, with a neutral face and nothing covering it."
    )

    def measure_portrait(self, picture: PortraitFacts) -> Measured | Unmeasured:
        found = super().measure_portrait(picture)
        others = [(face.age_years, face) for face in picture.faces if face.age_years is not None]
        if not others:
            return found
        years, youngest = min(others, key=lambda other: other[0])
        told = picture.subject if isinstance(found, Measured) else None
        if years >= (told.age_years if told else GROWN_UP):
            return found
        return Measured(
            value=round(years, 1),
            shown=f"about {years:.0f}, the youngest of several people",
            region=region_of(youngest.box),
        )

    def measure_subject(self, subject: SubjectFacts, region: Rect) -> Measured | Unmeasured:
        if subject.visibility.least < BARELY_VISIBLE and subject.age_years >= GROWN_UP:
            return self.measure_hidden(region)
        return Measured(
            value=round(subject.age_years, 1),
            shown=f"about {subject.age_years:.0f}",
            region=region,
        )


class TowardsCamera(SubjectRule):
    """Where the face or the eyes point: a face that is not to be seen points elsewhere."""

    def measure_faceless(self, picture: PortraitFacts) -> Measured:  # noqa: ARG002
        return Measured(value=AWAY, shown="no face was found")

    def measure_hidden(self, region: Rect) -> Measured:
        return Measured(value=AWAY, shown="covered, or turned away too far", region=region)


class PoseSuitable(TowardsCamera):
    """The head faces the camera: the larger of yaw and pitch. How it leans is head_level."""

    id = "pose_suitable_for_replica"
    label = "Head towards the camera"
    unit = "degrees"
    predicts = "pose_suitable_for_replica"
    advice = "Retake it with the head straight towards the camera, at eye height."

    def measure_subject(self, subject: SubjectFacts, region: Rect) -> Measured:
        pose = subject.pose
        return Measured(
            value=round(pose.turn_deg, 1),
            shown=f"yaw {pose.yaw_deg:+.0f}, pitch {pose.pitch_deg:+.0f} degrees",
            region=region,
        )


class HeadLevel(SubjectRule):
    """The head stands upright: its roll in degrees."""

    id = "head_level"
    label = "Head upright"
    unit = "degrees"
    predicts = "pose_suitable_for_replica"
    advice = "Hold the head upright; palprep fix levels a moderate lean."

    def measure_subject(self, subject: SubjectFacts, region: Rect) -> Measured:
        roll = subject.pose.roll_deg
        return Measured(value=round(abs(roll), 1), shown=f"{roll:+.0f} degrees", region=region)


class LookingStraight(TowardsCamera):
    """The eyes are open and look into the lens: head turn and irises together."""

    id = "looking_straight_at_camera"
    label = "Looking into the camera"
    unit = "degrees off"
    predicts = "looking_straight_at_camera"
    advice = "Retake it looking into the lens, not at the screen, with the eyes open."

    def measure_subject(self, subject: SubjectFacts, region: Rect) -> Measured:
        eyes = subject.eyes
        if eyes.openness < BARELY_VISIBLE:
            return Measured(value=AWAY, shown="eyes shut", region=region)
        return Measured(
            value=round(eyes.gaze_off_deg, 1),
            shown=f"{eyes.gaze_yaw_deg:+.0f} across, {eyes.gaze_pitch_deg:+.0f} up, in degrees",
            region=region,
        )


class FaceObscured(SubjectRule):
    """Nothing covers the face: no mask, sunglasses, hand or phone; glasses are fine.

    The measure is how much the most covered of eyes, nose, mouth and cheeks looks like bare
    skin, 0 to 1. A person without a face to be found is covered altogether.
    """

    id = "face_substantially_obscured"
    label = "Face uncovered"
    predicts = "face_substantially_obscured"
    advice = "Retake it without mask, sunglasses, hands or hair over the face."

    def measure_subject(self, subject: SubjectFacts, region: Rect) -> Measured:
        return Measured(
            value=round(subject.visibility.least, 2),
            shown=subject.visibility.words(),
            region=region,
        )

    def measure_faceless(self, picture: PortraitFacts) -> Measured | Unmeasured:
        if picture.person_share < PERSON_THERE:
            return super().measure_faceless(picture)
        return Measured(value=0.0, shown="somebody is there, but no face was found")

    def measure_hidden(self, region: Rect) -> Measured:
        return Measured(value=0.0, shown="a face whose parts cannot be made out", region=region)


class NoNudity(PortraitRule):
    """The picture is not pornographic, by the score of open_nsfw, 0 to 1; of a video, the worst
    of the frames that are looked at closely.

    The score knows the whole picture, not its parts: a pass is no proof that everybody would
    call the person dressed, so the service has the last word.
    """

    id = "no_nudity"
    label = "No nudity"
    predicts = "no_nudity"
    advice = "Use a picture with clothed shoulders and chest."

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.footage is None:
            return super().measure(facts)
        return self._measure_score(facts.footage.nudity)

    def measure_portrait(self, picture: PortraitFacts) -> Measured | Unmeasured:
        return self._measure_score(picture.nudity)

    @staticmethod
    def _measure_score(score: float | None) -> Measured | Unmeasured:
        if score is None:
            return Unmeasured(
                reason='Install what scores it, pip install "palprep[nsfw]", or ask the service '
                "with validate_image."
            )
        return Measured(value=round(score, 3))


class CelebrityOrCharacter(PortraitRule):
    """Neither a celebrity nor a protected character. Only the service can know."""

    id = "celebrity_or_copyright_character"
    label = "No celebrity or protected character"
    predicts = "celebrity_or_copyright_character"
    advice = "Use a person who agreed, and no public figure or character."

    def measure_portrait(self, picture: PortraitFacts) -> Unmeasured:  # noqa: ARG002
        return Unmeasured(reason="Only the service judges this: ask it with validate_image.")


def _no_person(subject: SubjectFacts | None) -> bool:
    return (
        subject is not None
        and subject.human.likelihood < NO_PERSON
        and subject.visibility.whole < DOUBTED_FACE
    )


FACE_RULES: tuple[type[Rule], ...] = (
    HumanLikeSubject,
    OnlyOnePerson,
    AppearsUnder18,
    *LIGHT_RULES,
    *FRAMING_RULES,
    PoseSuitable,
    HeadLevel,
    LookingStraight,
    FaceObscured,
    NoNudity,
    CelebrityOrCharacter,
)
