"""Rules of the person in a video: one, the same one, near enough, facing the lens, speaking."""

from __future__ import annotations

import math
import statistics
from abc import abstractmethod

from palprep.facts.facts import Facts
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.vision.footage_facts import FootageFacts, FrameSample

MOST_OF_THE_TIME = 0.8
"""Share of the samples in which head and eyes must be steady: people who speak look aside now
and then."""


NO_FACE = "No face was found in any frame."


class FootageRule(Rule):
    """A rule of the sampled frames of a video."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.video is None:
            return None
        if facts.footage is None:
            return Unmeasured(reason="Frames were not looked at; run the check without --quick.")
        return self.measure_footage(facts.footage)

    @abstractmethod
    def measure_footage(self, footage: FootageFacts) -> Measured | Unmeasured:
        """The measure of the footage."""


class PersonRule(FootageRule):
    """A rule of the frames that show a face."""

    def measure_footage(self, footage: FootageFacts) -> Measured | Unmeasured:
        if not footage.seen:
            return Unmeasured(reason=NO_FACE)
        return self.measure_person(footage.seen)

    @abstractmethod
    def measure_person(self, seen: tuple[FrameSample, ...]) -> Measured | Unmeasured:
        """The measure of a person who is seen at least once."""


class FaceSeenThroughout(FootageRule):
    """The face is visible all the time: no hand before it, no turning away, no leaving."""

    id = "face_seen_throughout"
    label = "Face seen throughout"
    unit = "of the samples"
    predicts = "only_one_person_visible"
    advice = "Stay in the picture and keep hands and objects away from the face; retake it."

    def measure_footage(self, footage: FootageFacts) -> Measured:
        total = len(footage.samples)
        share = len(footage.seen) / total if total else 0.0
        return Measured(value=round(share, 3), shown=f"in {len(footage.seen)} of {total} samples")


class OnePersonThroughout(FootageRule):
    """Nobody else is in the picture, not even for a moment."""

    id = "one_person_throughout"
    label = "One person throughout"
    unit = "of the samples"
    predicts = "only_one_person_visible"
    advice = "Retake it alone, before a background without people or pictures of people."

    def measure_footage(self, footage: FootageFacts) -> Measured:
        crowded = [sample for sample in footage.samples if sample.people > 1]
        share = len(crowded) / len(footage.samples) if footage.samples else 0.0
        shown = "never more than one"
        if crowded:
            most = max(sample.people for sample in crowded)
            shown = f"up to {most} people, first at {crowded[0].at_s:.1f} s"
        return Measured(value=round(share, 3), shown=shown)


class SamePersonThroughout(PersonRule):
    """The face at the start is the face at the end: cosine similarity of SFace embeddings.

    One odd frame proves nothing, so the second lowest similarity counts.
    """

    id = "same_person_throughout"
    label = "Same person throughout"
    unit = "cosine similarity"
    predicts = "consent"
    advice = "Use footage of one person only; a replica is trained from one face."

    def measure_person(self, seen: tuple[FrameSample, ...]) -> Measured | Unmeasured:
        compared = sorted(each.similarity for each in seen if each.similarity is not None)
        if not compared:
            return Unmeasured(reason="Too short to compare the face with itself.")
        return Measured(value=compared[min(1, len(compared) - 1)])


class FaceHeight(PersonRule):
    """The face fills enough of the frame; the median over the video, hairline to chin."""

    id = "face_height"
    label = "Face height"
    unit = "of the picture's height"
    predicts = "chest_up_framing_acceptable"
    advice = "Move nearer to the camera, or use a longer lens: chest up fills the frame best."

    def measure_person(self, seen: tuple[FrameSample, ...]) -> Measured:
        share = statistics.median(each.face_height_share or 0.0 for each in seen)
        return Measured(value=round(share, 3), shown=f"{share:.0%} of the height")


class SteadyRule(PersonRule):
    """A rule about an angle that is kept most of the time."""

    unit = "degrees"

    def measure_person(self, seen: tuple[FrameSample, ...]) -> Measured:
        angles = sorted(self.angle_deg(sample) for sample in seen)
        kept = angles[math.ceil(MOST_OF_THE_TIME * len(angles)) - 1]
        return Measured(
            value=round(kept, 1),
            shown=f"{kept:.0f} degrees or less {MOST_OF_THE_TIME:.0%} of the time",
        )

    @abstractmethod
    def angle_deg(self, sample: FrameSample) -> float:
        """The angle in a frame that shows a face."""


class FacesTheLens(SteadyRule):
    """The head is turned to the lens: the larger of yaw and pitch that is not exceeded in four
    fifths of the samples.
    """

    id = "faces_the_lens"
    label = "Faces the lens"
    predicts = "pose_suitable_for_replica"
    advice = "Place the lens at eye height and turn to it, not to a screen beside it."

    def angle_deg(self, sample: FrameSample) -> float:
        return max(abs(sample.yaw_deg or 0.0), abs(sample.pitch_deg or 0.0))


class LooksAtTheLens(SteadyRule):
    """The eyes look into the lens: how far they miss it at the most in four fifths of the
    samples.
    """

    id = "looks_at_the_lens"
    label = "Looks at the lens"
    predicts = "looking_straight_at_camera"
    advice = "Speak to the lens, with any text right beside it."

    def angle_deg(self, sample: FrameSample) -> float:
        return sample.gaze_off_deg or 0.0


FOOTAGE_RULES: tuple[type[Rule], ...] = (
    FaceSeenThroughout,
    OnePersonThroughout,
    SamePersonThroughout,
    FaceHeight,
    FacesTheLens,
    LooksAtTheLens,
)
