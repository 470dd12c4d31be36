"""The checks of the service's face image validation, foretold from what the picture shows.

Ids are the service's own, so that local and remote verdicts join. Some of the service's ids
name a problem (``appears_under_18``); here ``pass`` always means that all is well.
"""

from __future__ import annotations

from abc import abstractmethod

from palprep.rules.facts import Facts
from palprep.rules.report import Region
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.vision.facts import (
    Box,
    Framing,
    PictureFacts,
    SubjectFacts,
    counts_as_person,
)
from palprep.vision.scores import quality_scores

NO_PERSON = 0.1
DOUBTED_FACE = 0.7
"""A face that is less likely than the first a photographed person's, and of which the detector
is less sure than the second, is an animal or a thing: it is not counted."""

BARELY_VISIBLE = 0.5
"""A face less visible than this is not asked for its age, nor whether it is photographed."""


class PictureRule(Rule):
    """A rule that needs what was seen in the picture."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.still is None:
            return None
        if facts.picture is None:
            return Unmeasured(reason="The picture was not looked at.")
        return self.measure_picture(facts.picture)

    @abstractmethod
    def measure_picture(self, picture: PictureFacts) -> Measured | Unmeasured:
        """The measure of a picture."""


class FramingRule(PictureRule):
    """A rule about where the largest face stands; unknown where there is none."""

    def measure_picture(self, picture: PictureFacts) -> Measured | Unmeasured:
        if picture.framing is None:
            return Unmeasured(reason="No face was found, so there is nothing to measure.")
        return self.measure_framing(picture.framing)

    @abstractmethod
    def measure_framing(self, framing: Framing) -> Measured:
        """The measure of the framing."""


class SubjectRule(PictureRule):
    """A rule about the points of the largest face."""

    def measure_picture(self, picture: PictureFacts) -> Measured | Unmeasured:
        if picture.framing is None:
            return Unmeasured(reason="No face was found, so there is nothing to measure.")
        region = _region(picture.framing.face)
        if picture.subject is None:
            return self.measure_hidden(region)
        return self.measure_subject(picture.subject, region)

    @abstractmethod
    def measure_subject(self, subject: SubjectFacts, region: Region) -> Measured | Unmeasured:
        """The measure of a face."""

    def measure_hidden(self, region: Region) -> Measured | Unmeasured:  # noqa: ARG002
        """For a face that is certainly there and cannot be made out."""
        return Unmeasured(reason="The face is covered or turned away too far to tell: retake it.")


class ImageQuality(PictureRule):
    """The face is sharp, evenly lit, neither too dark nor burnt out, in natural colours.

    The measure is the worst of several component scores, 0 to 100, each a smooth step around
    its own limit as in BSI's OFIQ; the raw values stand in the facts.
    """

    id = "image_quality_acceptable"
    label = "Picture quality"
    predicts = "image_quality_acceptable"
    advice = (
        "Retake it in soft, even light from the front, with the face in focus and no filter; "
        "palprep fix can only mend moderate exposure and white balance."
    )

    def measure_picture(self, picture: PictureFacts) -> Measured:
        name, score = min(quality_scores(picture.quality).items(), key=lambda item: item[1])
        return Measured(
            value=round(score),
            shown=f"{round(score)} of 100 ({name})",
            region=_region(picture.framing.face) if picture.framing else None,
        )


class HumanLikeSubject(SubjectRule):
    """The subject is a photographed person: no animal, statue, painting, cartoon or rendering."""

    id = "human_like_subject"
    label = "A photographed person"
    predicts = "human_like_subject"
    advice = "Use a camera photograph of the person, unretouched, with the face uncovered."

    def measure_picture(self, picture: PictureFacts) -> Measured | Unmeasured:
        if picture.framing is None:
            return Measured(value=0.0, shown="no face was found")
        return super().measure_picture(picture)

    def measure_subject(self, subject: SubjectFacts, region: Region) -> Measured | Unmeasured:
        likelihood = subject.human.likelihood
        if subject.visibility.least < BARELY_VISIBLE and likelihood > NO_PERSON:
            return self.measure_hidden(region)
        return Measured(value=round(likelihood, 3), region=region)


class AppearsUnder18(SubjectRule):
    """The person looks grown up.

    Apparent ages err by several years, so that adults who look young are asked about. A
    covered face is judged only where even what is seen looks younger than 18.
    """

    id = "appears_under_18"
    label = "Looks 18 or older"
    unit = "years"
    predicts = "appears_under_18"
    advice = (
        "The service refuses pictures of minors. For an adult, retake in even light from the "
        "front, with a neutral face and nothing covering it."
    )

    def measure_subject(self, subject: SubjectFacts, region: Region) -> Measured | Unmeasured:
        if subject.visibility.least < BARELY_VISIBLE and subject.age_years >= 18:
            return self.measure_hidden(region)
        return Measured(
            value=round(subject.age_years, 1),
            shown=f"about {subject.age_years:.0f}",
            region=region,
        )


class OnlyOnePerson(PictureRule):
    """Exactly one person is visible; faces less than a quarter as high as the largest one are
    passers-by, and what is clearly no person does not count.
    """

    id = "only_one_person_visible"
    label = "One person"
    unit = "person"
    predicts = "only_one_person_visible"
    advice = "Retake it alone, before a background without people or pictures of people."

    def measure_picture(self, picture: PictureFacts) -> Measured:
        faces = [face for face in picture.faces if counts_as_person(face, picture.faces[0])]
        return Measured(
            value=len(faces) - (1 if _no_person(picture.subject) else 0),
            region=_region(faces[1].box) if len(faces) > 1 else None,
        )


class PersonCentered(FramingRule):
    """The face is near the middle between the left and the right border."""

    id = "person_centered"
    label = "Person in the middle"
    unit = "of the width"
    predicts = "person_centered"
    advice = "Move the face to the middle; palprep fix crops where the picture is wide enough."

    def measure_framing(self, framing: Framing) -> Measured:
        offset = framing.centre_x - 0.5
        side = "right" if offset > 0 else "left"
        return Measured(
            value=round(abs(offset), 3),
            shown=f"{abs(offset):.0%} of the width to the {side}",
            region=_region(framing.face),
        )


class HeadFullyInFrame(FramingRule):
    """The whole head with its hair is inside of the picture.

    The measure is the smallest distance from head to border in face heights (hairline to
    chin), negative when something is cut.
    """

    id = "head_fully_in_frame"
    label = "Whole head in the picture"
    unit = "face heights"
    predicts = "head_fully_in_frame"
    advice = (
        "Step back or tilt the camera up: the whole head and hair need some room, and no crop "
        "can add it."
    )

    def measure_framing(self, framing: Framing) -> Measured:
        margin = framing.margin
        shown = f"{margin:.2f} face heights of room" if margin >= 0 else "cut by the border"
        return Measured(value=round(margin, 3), shown=shown, region=_region(framing.head))


class PoseSuitable(SubjectRule):
    """The head faces the camera: the larger of yaw and pitch. How it leans is head_level."""

    id = "pose_suitable_for_replica"
    label = "Head towards the camera"
    unit = "degrees"
    predicts = "pose_suitable_for_replica"
    advice = "Retake it with the head straight towards the camera, at eye height."

    def measure_subject(self, subject: SubjectFacts, region: Region) -> Measured:
        pose = subject.pose
        return Measured(
            value=round(pose.turn_deg, 1),
            shown=f"yaw {pose.yaw_deg:+.0f}, pitch {pose.pitch_deg:+.0f} degrees",
            region=region,
        )

    def measure_hidden(self, region: Region) -> Measured:
        return Measured(value=90.0, shown="covered, or turned away too far", region=region)


class HeadLevel(SubjectRule):
    """The head stands upright: its roll in degrees."""

    id = "head_level"
    label = "Head upright"
    unit = "degrees"
    predicts = "pose_suitable_for_replica"
    advice = "Hold the head upright; palprep fix levels a moderate lean."

    def measure_subject(self, subject: SubjectFacts, region: Region) -> Measured:
        roll = subject.pose.roll_deg
        return Measured(value=round(abs(roll), 1), shown=f"{roll:+.0f} degrees", region=region)


class LookingStraight(SubjectRule):
    """The eyes are open and look into the lens: head turn and irises together."""

    id = "looking_straight_at_camera"
    label = "Looking into the camera"
    unit = "degrees off"
    predicts = "looking_straight_at_camera"
    advice = "Retake it looking into the lens, not at the screen, with the eyes open."

    def measure_subject(self, subject: SubjectFacts, region: Region) -> Measured:
        eyes = subject.eyes
        if eyes.openness < BARELY_VISIBLE:
            return Measured(value=90.0, shown="eyes shut", region=region)
        return Measured(
            value=round(eyes.gaze_off_deg, 1),
            shown=f"{eyes.gaze_yaw_deg:+.0f} across, {eyes.gaze_pitch_deg:+.0f} up, in degrees",
            region=region,
        )

    def measure_hidden(self, region: Region) -> Measured:
        return Measured(value=90.0, shown="covered, or turned away too far", region=region)


class FaceObscured(SubjectRule):
    """Nothing covers the face: no mask, sunglasses, hand or phone; glasses are fine.

    The measure is how much the most covered of eyes, nose, mouth and cheeks looks like bare
    skin, 0 to 1.
    """

    id = "face_substantially_obscured"
    label = "Face uncovered"
    predicts = "face_substantially_obscured"
    advice = "Retake it without mask, sunglasses, hands or hair over the face."

    def measure_subject(self, subject: SubjectFacts, region: Region) -> Measured:
        return Measured(
            value=round(subject.visibility.least, 2),
            shown=subject.visibility.words(),
            region=region,
        )

    def measure_hidden(self, region: Region) -> Measured:
        return Measured(value=0.0, shown="a face whose parts cannot be made out", region=region)


class ChestUpFraming(FramingRule):
    """The picture spans head, shoulders and chest: the face, from hairline to chin, takes
    about a third of its height. More is a face alone, less is half a body or all of it.
    """

    id = "chest_up_framing_acceptable"
    label = "Framed from the chest up"
    unit = "of the height"
    predicts = "chest_up_framing_acceptable"
    advice = (
        "Frame it from the chest up. palprep fix crops a picture that shows too much; one that "
        "shows too little needs a retake from further away."
    )

    def measure_framing(self, framing: Framing) -> Measured:
        return Measured(
            value=round(framing.face_height_share, 3),
            shown=f"face {framing.face_height_share:.0%} of the height",
            region=_region(framing.face),
        )


class ShouldersVisible(FramingRule):
    """Shoulders and upper chest are seen: how far the person reaches below the chin."""

    id = "shoulders_visible"
    label = "Shoulders and chest"
    unit = "face heights below the chin"
    predicts = "chest_up_framing_acceptable"
    advice = "Retake it from further away, or lower: shoulders and upper chest belong in it."

    def measure_framing(self, framing: Framing) -> Measured:
        return Measured(value=round(framing.body_below, 2), region=_region(framing.face))


class NoNudity(PictureRule):
    """The person is dressed. Nothing local judges this, so it stays unknown."""

    id = "no_nudity"
    label = "No nudity"
    predicts = "no_nudity"
    advice = "Use a picture with clothed shoulders and chest."

    def measure_picture(self, picture: PictureFacts) -> Unmeasured:  # noqa: ARG002
        return Unmeasured(reason="Only the service judges this: ask it with validate_image.")


class CelebrityOrCharacter(PictureRule):
    """Neither a celebrity nor a protected character. Only the service can know."""

    id = "celebrity_or_copyright_character"
    label = "No celebrity or protected character"
    predicts = "celebrity_or_copyright_character"
    advice = "Use a person who agreed, and no public figure or character."

    def measure_picture(self, picture: PictureFacts) -> Unmeasured:  # noqa: ARG002
        return Unmeasured(reason="Only the service judges this: ask it with validate_image.")


def _no_person(subject: SubjectFacts | None) -> bool:
    return (
        subject is not None
        and subject.human.likelihood < NO_PERSON
        and subject.visibility.whole < DOUBTED_FACE
    )


def _region(box: Box) -> Region:
    return Region(x=box.x, y=box.y, width=box.width, height=box.height)


FACE_RULES: tuple[type[Rule], ...] = (
    HumanLikeSubject,
    OnlyOnePerson,
    AppearsUnder18,
    ImageQuality,
    PersonCentered,
    HeadFullyInFrame,
    PoseSuitable,
    HeadLevel,
    LookingStraight,
    FaceObscured,
    ChestUpFraming,
    ShouldersVisible,
    NoNudity,
    CelebrityOrCharacter,
)
