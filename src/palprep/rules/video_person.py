"""Rules of the person in a video: one, the same one, near enough, facing the lens."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from palprep.facts.timeline import FacingLimits
from palprep.rules.needs import FOOTAGE, SEEN
from palprep.rules.report import Report
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.vision.footage_facts import FootageFacts, FrameSample

MOST_OF_THE_TIME = 0.8
"""Share of the samples in which head and eyes must be steady: people who speak look aside now
and then."""


class FaceSeenThroughout(Rule[FootageFacts]):
    """The face is visible all the time: no hand in front of it, no turning away, no leaving."""

    needs = FOOTAGE
    id = "face_seen_throughout"
    label = "Face seen throughout"
    unit = "of the samples"
    predicts = "only_one_person_visible"
    advice = "Retake it: stay in view, and keep hands and objects away from the face."

    def measure(self, footage: FootageFacts) -> Measured:
        total = len(footage.samples)
        share = len(footage.seen) / total if total else 0.0
        return Measured(value=round(share, 3), shown=f"in {len(footage.seen)} of {total} samples")


class OnePersonThroughout(Rule[FootageFacts]):
    """No one else is in view, not even for a moment."""

    needs = FOOTAGE
    id = "one_person_throughout"
    label = "One person throughout"
    unit = "of the samples"
    predicts = "only_one_person_visible"
    advice = "Retake it alone, in front of a background without people or pictures of people."

    def measure(self, footage: FootageFacts) -> Measured:
        crowded = [sample for sample in footage.samples if sample.people > 1]
        share = len(crowded) / len(footage.samples) if footage.samples else 0.0
        shown = "never more than one"
        if crowded:
            most = max(sample.people for sample in crowded)
            shown = f"up to {most} people, first at {crowded[0].at_s:.1f} s"
        return Measured(value=round(share, 3), shown=shown)


class SamePersonThroughout(Rule[tuple[FrameSample, ...]]):
    """The face at the start is the face at the end: cosine similarity of SFace embeddings.

    One odd frame proves nothing, so the second lowest similarity counts.
    """

    needs = SEEN
    id = "same_person_throughout"
    label = "Same person throughout"
    unit = "cosine similarity"
    predicts = "consent"
    advice = "Use footage of one person only; a replica is trained from one face."

    def measure(self, seen: tuple[FrameSample, ...]) -> Measured | Unmeasured:
        compared = sorted(each.similarity for each in seen if each.similarity is not None)
        if not compared:
            return Unmeasured(reason="Too short to compare the face with itself.")
        return Measured(value=compared[min(1, len(compared) - 1)])


class FaceSize(Rule[tuple[FrameSample, ...]]):
    """The face fills enough of the frame: its height from hairline to chin, the median over the
    video."""

    needs = SEEN
    id = "face_size"
    label = "Face height"
    unit = "of the frame's height"
    predicts = "chest_up_framing_acceptable"
    advice = "Move nearer to the camera, or use a longer lens: best is a frame from the chest up."

    def measure(self, seen: tuple[FrameSample, ...]) -> Measured:
        share = statistics.median(each.face_height_share or 0.0 for each in seen)
        return Measured(value=round(share, 3), shown=f"{share:.0%} of the height")


class HeadTowardsLens(Rule[tuple[FrameSample, ...]]):
    """The head faces the lens. The measure is the larger of yaw and pitch that is not exceeded in
    four fifths of the samples."""

    needs = SEEN
    id = "head_towards_lens"
    label = "Head towards the lens"
    unit = "degrees"
    predicts = "pose_suitable_for_replica"
    advice = "Place the lens at eye height and face it, not a screen next to it."

    def measure(self, seen: tuple[FrameSample, ...]) -> Measured:
        return _kept(sample.head_off_deg for sample in seen)


class GazeAtLens(Rule[tuple[FrameSample, ...]]):
    """The eyes look into the lens. The measure is how far off they look, not exceeded in four
    fifths of the samples."""

    needs = SEEN
    id = "gaze_at_lens"
    label = "Eyes on the lens"
    unit = "degrees"
    predicts = "looking_straight_at_camera"
    advice = "Speak to the lens, with any text right next to it."

    def measure(self, seen: tuple[FrameSample, ...]) -> Measured:
        return _kept(sample.gaze_off_deg or 0.0 for sample in seen)


def facing_limits(report: Report) -> FacingLimits:
    """How far head and eyes may be off the lens, by the checks of a report."""
    at_most = {check.id: check.at_most for check in report.checks}
    return FacingLimits(
        head_deg=at_most.get(HeadTowardsLens.id), gaze_deg=at_most.get(GazeAtLens.id)
    )


def _kept(angles_deg: Iterable[float]) -> Measured:
    """The angle that is not exceeded most of the time."""
    angles = sorted(angles_deg)
    kept = angles[math.ceil(MOST_OF_THE_TIME * len(angles)) - 1]
    return Measured(
        value=round(kept, 1), shown=f"{kept:.0f} degrees or less {MOST_OF_THE_TIME:.0%} of the time"
    )
