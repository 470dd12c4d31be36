"""Rules of the person in a video: one, the same one, near enough, facing the lens."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from palprep.facts import FacingLimits
from palprep.rules.measures import degrees
from palprep.rules.needs import FOOTAGE, NO_FACE, SEEN
from palprep.rules.report import Report
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.rules.sentences import ByLevel, Sentences
from palprep.vision import FootageFacts, FrameSample

MOST_OF_THE_TIME = 0.8
"""Share of the samples in which head and eyes must be steady: people who speak look aside now
and then."""


TOO_SHORT_TO_COMPARE = Unmeasured(reason="The video is too short to compare the face with itself.")


class FaceSeenThroughout(Rule[FootageFacts]):
    """The face is visible all the time: no hand in front of it, no turning away, no leaving."""

    needs = FOOTAGE
    id = "face_seen_throughout"
    label = "Face seen throughout"
    unit = "of the samples"
    predicts = "only_one_person_visible"
    sentences = Sentences(
        "The face is seen in {seen} of {total} samples.",
        below="The face is not seen all the time: only in {seen} of {total} samples.",
    )
    advice = "Retake it. Stay in view, and keep hands and objects away from the face."

    def measure(self, footage: FootageFacts) -> Measured:
        seen, total = len(footage.seen), len(footage.samples)
        return Measured(
            value=round(seen / total, 3) if total else 0.0,
            shown=f"in {seen} of {total} samples",
            words={"seen": str(seen), "total": str(total)},
            cause=None if seen else NO_FACE,
        )


class OnePersonThroughout(Rule[FootageFacts]):
    """No one else is in view, not even for a moment."""

    needs = FOOTAGE
    id = "one_person_throughout"
    label = "One person throughout"
    unit = "of the samples"
    predicts = "only_one_person_visible"
    sentences = Sentences(
        "More than one person is seen in {share} of the samples.",
        above="Up to {most} people are seen, first at {first}.",
    )
    advice = "Retake it alone, in front of a background without people or pictures of people."

    def measure(self, footage: FootageFacts) -> Measured:
        crowded = [sample for sample in footage.samples if sample.people > 1]
        share = len(crowded) / len(footage.samples) if footage.samples else 0.0
        most = max((sample.people for sample in footage.samples), default=0)
        first = f"{crowded[0].at_s:.1f} s" if crowded else ""
        return Measured(
            value=round(share, 3),
            shown=f"up to {most} people, first at {first}" if crowded else "never more than one",
            words={"share": f"{share:.0%}", "most": str(most), "first": first},
        )


class SamePersonThroughout(Rule[tuple[FrameSample, ...]]):
    """The face at the start is the face at the end: cosine similarity of SFace embeddings.

    One odd frame proves nothing, so the second lowest similarity counts.
    """

    needs = SEEN
    id = "same_person_throughout"
    label = "Same person throughout"
    unit = "cosine similarity"
    predicts = "consent"
    sentences = Sentences(
        "The same face is seen throughout.",
        below=ByLevel(
            fail="Different faces are seen: this is more than one person.",
            warn="The face changes: this may be more than one person.",
        ),
    )
    advice = "Use footage of one person only. A replica is trained from one face."

    def measure(self, seen: tuple[FrameSample, ...]) -> Measured | Unmeasured:
        compared = sorted(each.similarity for each in seen if each.similarity is not None)
        if not compared:
            return TOO_SHORT_TO_COMPARE
        return Measured(value=compared[min(1, len(compared) - 1)])


class FaceSize(Rule[tuple[FrameSample, ...]]):
    """The face fills enough of the frame: its height from hairline to chin, the median over the
    video."""

    needs = SEEN
    id = "face_size"
    label = "Face height"
    unit = "of the frame's height"
    predicts = "chest_up_framing_acceptable"
    sentences = Sentences(
        "The face takes {share} of the frame's height.",
        below=ByLevel(
            fail="The face is too small: it takes {share} of the frame's height.",
            warn="The face is rather small: it takes {share} of the frame's height.",
        ),
        above="The face is too large: it takes {share} of the frame's height.",
    )
    advice = "Move nearer to the camera, or use a longer lens. Best is a frame from the chest up."

    def measure(self, seen: tuple[FrameSample, ...]) -> Measured:
        share = statistics.median(each.face_height_share or 0.0 for each in seen)
        return Measured(
            value=round(share, 3),
            shown=f"{share:.0%} of the height",
            words={"share": f"{share:.0%}"},
        )


class HeadTowardsLens(Rule[tuple[FrameSample, ...]]):
    """The head faces the lens. The measure is the larger of yaw and pitch that is not exceeded in
    four fifths of the samples."""

    needs = SEEN
    id = "head_towards_lens"
    label = "Head towards the lens"
    unit = "degrees"
    predicts = "pose_suitable_for_replica"
    sentences = Sentences(
        "The head faces the lens most of the time, within {degrees}.",
        above="The head often turns away from the lens, by {degrees} and more.",
    )
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
    sentences = Sentences(
        "The eyes look into the lens most of the time, within {degrees}.",
        above="The eyes often look past the lens, by {degrees} and more.",
    )
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
        value=round(kept, 1),
        shown=f"{kept:.0f} degrees or less {MOST_OF_THE_TIME:.0%} of the time",
        words={"degrees": degrees(kept)},
    )
