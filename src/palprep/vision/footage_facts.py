"""What sampled frames of a video show of a person, without judging it."""

from __future__ import annotations

from palprep.values import Value
from palprep.vision.facts import PortraitFacts

MOUTH_WINDOW_S = 1.0
"""Mouth motion is measured over this much to both sides of a moment."""


class FrameSample(Value):
    """One sampled frame. Everything but the time and the count is None without a face."""

    at_s: float
    """Presentation timestamp."""
    people: int
    """Faces large enough to count; carried over from the last detection."""
    face_height_share: float | None = None
    """Face height, hairline to chin, over picture height."""
    centre_x: float | None = None
    """The face's middle as a share of the picture's width."""
    yaw_deg: float | None = None
    pitch_deg: float | None = None
    roll_deg: float | None = None
    gaze_off_deg: float | None = None
    """How far the eyes miss the lens: see :class:`~palprep.vision.facts.Eyes`."""
    eyes_open: float | None = None
    """The less open eye, 0 to 1. Reported only: no rule judges it."""
    mouth_open: float | None = None
    """Distance of the inner lips over the width of the mouth; 0 is shut."""
    similarity: float | None = None
    """Cosine similarity to the first frame's face, where it was compared."""

    @property
    def head_off_deg(self) -> float:
        """How far the head is turned from the lens: the larger of yaw and pitch. 0 without a
        face."""
        return max(abs(self.yaw_deg or 0.0), abs(self.pitch_deg or 0.0))


class FootageFacts(Value):
    """The person in a video, sampled every ``every_s`` seconds."""

    every_s: float
    samples: tuple[FrameSample, ...]
    looks: tuple[PortraitFacts, ...]
    """Close looks at a few frames, evenly spread."""

    @property
    def seen(self) -> tuple[FrameSample, ...]:
        """The samples in which a face was measured."""
        return tuple(sample for sample in self.samples if sample.face_height_share is not None)

    @property
    def nudity(self) -> float | None:
        """How pornographic the worst of the close looks is; None without the extra ``nsfw``."""
        scores = [look.nudity for look in self.looks if look.nudity is not None]
        return max(scores, default=None)

    def typical(self) -> PortraitFacts | None:
        """The close look that shows the most: with a subject, and turned the least."""
        shown = [each for each in self.looks if each.subject is not None]
        return min(
            shown, key=lambda each: each.subject.pose.turn_deg if each.subject else 0.0,
            default=self.looks[0] if self.looks else None,
        )  # fmt: skip

    def mouth_motion(self) -> tuple[tuple[float, float], ...]:
        """(time, range of mouth opening within a second to both sides) per measured sample."""
        seen = [(sample.at_s, sample.mouth_open or 0.0) for sample in self.seen]
        reach = max(MOUTH_WINDOW_S, self.every_s)
        motion = []
        for moment, _ in seen:
            near = [opened for at_s, opened in seen if abs(at_s - moment) <= reach]
            motion.append((moment, max(near) - min(near)))
        return tuple(motion)
