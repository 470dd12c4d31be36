"""Rules of the person in a video: one, the same, near, facing the lens, speaking and listening."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from palprep.consent import LEAST_TO_SYNC_S, LipsFacts
from palprep.facts import FacingLimits, Timeline, share_held
from palprep.media import VideoFacts
from palprep.rules.needs import FOOTAGE, LIPS, NO_FACE, SEEN, STRUCTURE, TIMELINE, VIDEO
from palprep.rules.report import Report
from palprep.rules.rule import Answer, Measured, Need, rule
from palprep.rules.texts.words import REASONS, Unmeasured, degrees
from palprep.vision import FootageFacts, FrameSample

_LIPS_IF_SEEN: Need[LipsFacts] = Need(lambda facts: facts.lips)

MOST_OF_THE_TIME = 0.8
"""Share of the samples in which head and eyes must be steady: talkers look aside at times."""

NOT_STILL = 0.01
"""The least share of a mouth that is not still, even if it hardly moves or is hardly seen. So only
a still mouth breaks a limit of this size."""


@rule(FOOTAGE)
def face_seen_throughout(footage: FootageFacts) -> Measured:
    seen, total = len(footage.seen), len(footage.samples)
    return Measured(
        value=round(seen / total, 3) if total else 0.0,
        shown=f"in {seen} of {total} samples",
        cause=None if seen else NO_FACE,
    )


@rule(FOOTAGE.beside(TIMELINE))
def one_person_throughout(seen: tuple[FootageFacts, Timeline]) -> Measured:
    footage, line = seen
    crowded = [sample for sample in footage.samples if sample.people > 1]
    share = len(crowded) / len(footage.samples) if footage.samples else 0.0
    most = max((sample.people for sample in footage.samples), default=0)
    first = f"{crowded[0].at_s - line.starts_s:.1f} s" if crowded else ""
    return Measured(
        value=round(share, 3),
        shown=f"up to {most} people, first at {first}" if crowded else "never more than one",
        words={"share": f"{share:.0%}", "most": str(most), "first": first},
    )


@rule(SEEN)
def same_person_throughout(seen: tuple[FrameSample, ...]) -> Measured | Unmeasured:
    """Cosine to the face most like all others (SFace). One odd frame proves nothing: the second
    lowest counts."""
    compared = sorted(each.similarity for each in seen if each.similarity is not None)
    if not compared:
        return REASONS["too_short_to_compare"]
    return Measured(value=compared[min(1, len(compared) - 1)])


@rule(FOOTAGE.beside(VIDEO))
def face_size(framed: tuple[FootageFacts, VideoFacts]) -> Measured | Unmeasured:
    """Over the shorter side: in an upright video a quarter of the height is half of the width."""
    footage, video = framed
    if not footage.seen:
        return NO_FACE
    share = statistics.median(each.face_height_share or 0.0 for each in footage.seen)
    height = video.width if footage.turned_deg in {90, 270} else video.height
    upright = height / min(video.width, video.height)
    return _share(share * upright, "of the shorter side")


@rule(SEEN)
def head_towards_lens(seen: tuple[FrameSample, ...]) -> Measured:
    return _kept(sample.head_off_deg for sample in seen)


@rule(SEEN)
def gaze_at_lens(seen: tuple[FrameSample, ...]) -> Measured:
    return _kept(sample.gaze_off_deg or 0.0 for sample in seen)


def facing_limits(report: Report) -> FacingLimits:
    """How far head and eyes may be off the lens, by the checks of a report."""
    at_most = {check.id: check.at_most for check in report.checks}
    return FacingLimits(
        head_deg=at_most.get(head_towards_lens.id), gaze_deg=at_most.get(gaze_at_lens.id)
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


@rule(STRUCTURE)
def video_speaking_share(line: Timeline) -> Measured | Unmeasured:
    share = share_held(second.speaking for second in line.seconds)
    return REASONS["no_speaking"] if share is None else _share(share, "of the time speaking")


@rule(STRUCTURE)
def video_still_share(line: Timeline) -> Measured | Unmeasured:
    share = share_held(second.still for second in line.seconds)
    return REASONS["no_listening"] if share is None else _share(share, "of the time still")


@rule(STRUCTURE)
def mouth_moves(line: Timeline) -> Measured | Unmeasured:
    stated = line.consent
    spoken = [second for second in line.seconds if second.speaking]
    if stated is not None:
        spoken = [
            second for second in line.seconds if stated.start_s <= second.at_s + 0.5 <= stated.end_s
        ]
    share = share_held(second.mouth_moves for second in spoken)
    if share is None:
        return REASONS["no_mouth"] if stated is None else REASONS["no_stating_mouth"]
    when = "somebody speaks" if stated is None else "the statement is spoken"
    value, way = max(NOT_STILL, round(share, 3)), None if stated is None else "statement"
    shown = f"{share:.0%} of the time while {when}"
    if line.mouth is not None and line.mouth.still:
        value, way = 0.0, "still_statement" if line.mouth.stated else "still"
        shown = f"its opening varies by {line.mouth.variation:.1%}"
    return Measured(
        value=value,
        shown=shown,
        way=way,
        words={"share": f"{share:.0%}", "seen": f"{line.mouth.seen_s if line.mouth else 0:.1f}"},
    )


@rule(LIPS)
def lips_keep_moving(lips: LipsFacts) -> Answer:
    """While somebody else is heard a person may rest. So it is asked of the statement alone."""
    if not lips.stated:
        return None
    if lips.motion is None:
        return REASONS["no_lips"]
    return _lips_at(lips.motion, lips.rests_at_s)


@rule(LIPS)
def lips_not_repeated(lips: LipsFacts) -> Measured | Unmeasured:
    if lips.repeat is None:
        return REASONS["no_lips"]
    return _lips_at(lips.repeat, lips.repeats_at_s)


@rule(_LIPS_IF_SEEN)
def eyes_blink(lips: LipsFacts) -> Answer:
    """Asked of a statement alone, and of no short one: in a few seconds not everybody blinks."""
    return Measured(value=round(lips.blink, 3)) if lips.stated and lips.blink is not None else None


@rule(_LIPS_IF_SEEN)
def head_moves(lips: LipsFacts) -> Answer:
    """Asked of a statement alone: who listens may hold the head still."""
    return Measured(value=round(lips.head, 3)) if lips.stated and lips.head is not None else None


@rule(_LIPS_IF_SEEN)
def face_has_depth(lips: LipsFacts) -> Answer:
    """Asked of a statement alone, as :func:`head_moves`."""
    found = lips.parallax
    return Measured(value=round(found, 4)) if lips.stated and found is not None else None


@rule(_LIPS_IF_SEEN)
def lip_sync(lips: LipsFacts) -> Answer:
    """The correlation, plus how much it exceeds the best with the sound shifted, which the clip has
    by chance. Unknown for a statement that is long enough, but whose lips are hidden.
    """
    found = lips.synchrony
    if found is None:
        hidden = lips.stated and lips.span.duration_s >= LEAST_TO_SYNC_S
        return REASONS["no_lips"] if hidden else None
    start, end = (f"{at:.1f}" for at in (lips.span.start_s, lips.span.end_s))
    return Measured(
        value=round(found.correlation + found.margin, 3),
        shown=f"correlation {found.correlation:.2f}, best with the sound {found.lag_s:+.2f} s off",
        way="late" if found.margin < 0 else None,
        words={"lag": f"{abs(found.lag_s):.1f} s", "start": start, "end": end},
    )


def _lips_at(value: float, at_s: float | None) -> Measured:
    return Measured(value=round(value, 3), words={"at": f"{at_s or 0.0:.1f} s"})


def _share(share: float, of_what: str) -> Measured:
    told = f"{share:.0%}"
    return Measured(value=round(share, 3), shown=f"{told} {of_what}", words={"share": told})
